"""The solver: one loop, and the methods it drives.

`plan` chooses a method, `descent`, `pdhg` and `exact` are the methods, `progress` judges when to
end, `log` tells, `loop` is the loop.
"""

from graphtv.solver.loop import solve

__all__ = ["solve"]
