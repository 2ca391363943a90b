"""The decisions of the strategy, and the state of a run on which they depend."""

from __future__ import annotations

import math
from typing import NamedTuple

from graphtv.result import Status


class Continue(NamedTuple):
    """The current stage continues."""

    waits: bool = False  # whether max-flow waits because the stage has almost reached the tolerance
    ready_since: int = 0  # the iteration from which max-flow could have started


class SwitchTo(NamedTuple):
    """Another stage continues."""

    stage: str  # edges, forests, pdhg or flows
    keeps_point: bool = True  # whether it starts from the current point or from scratch
    allowance: float = math.inf  # of max-flow, in arcs per vertex
    preconditioner: str = "auto"  # of forests and PDHG
    ready_since: int = 0


class Stop(NamedTuple):
    """The run ends."""

    status: Status


Decision = Continue | SwitchTo | Stop


class Moment(NamedTuple):
    """The state of a run when a decision is due."""

    iteration: int
    own: int  # iterations without attempts at max-flow
    relative_gap: float = math.inf  # of the best certificate
    is_final: bool = False  # whether another iteration of the stage would change nothing
    is_exhausted: bool = False  # whether its allowance is exhausted
    is_interrupted: bool = False
    is_late: bool = False
    elapsed: float = 0.0
    remaining: float = math.inf  # seconds
