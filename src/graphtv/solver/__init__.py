"""The solver: a strategy that decides, stages that work, and one loop around them.

`solve` checks its arguments, runs `loop`, and builds the result. `strategy` makes every decision
from `facts` and `progress`, with the thresholds of `tuning`. `termination` decides when a run ends.
The stages are `descent` (over edges or forests), `pdhg`, `flows`, `tree_direct` and `trivial`.
`stages` switches from one stage to the next. `incumbent` keeps the best points, and `certificate`
computes their certificates. docs/theory/solver.md explains how these parts work together.
"""

from graphtv.solver.options import PDHG
from graphtv.solver.solve import solve

__all__ = ["PDHG", "solve"]
