"""The solver: a strategy that decides, stages that work, and one loop around them.

`solve` checks a request and builds the result. In between, `loop` runs. `strategy` makes every
decision, from `facts` and `progress`, with the thresholds of `tuning`; `termination` says when a
run ends. The stages are `descent` (over edges, over forests), `pdhg`, `flows`, `tree_direct` and
`trivial`; `stages` goes from one to the next. `incumbent` keeps the best points, `certificate`
proves what they are worth.
docs/theory/solver.md tells how these parts work together.
"""

from graphtv.solver.options import PDHG
from graphtv.solver.solve import solve

__all__ = ["PDHG", "solve"]
