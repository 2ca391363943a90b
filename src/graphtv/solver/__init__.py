"""The solver: one loop, and the methods it drives.

`plan` chooses a method, `factory` makes its `engine`; `descent`, `relay`, `pdhg`, `exact` and
`threshold` are the engines; `certificate` proves, `progress` judges when to end, `log` tells, and
`loop` is the loop. docs/theory/solver.md says how they work together.
"""

from graphtv.solver.loop import solve
from graphtv.solver.options import PDHG

__all__ = ["PDHG", "solve"]
