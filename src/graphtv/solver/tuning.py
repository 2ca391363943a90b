"""The constants behind every decision of the solver, in one place.

Each line says what the number means and which measurement chose it. "choices" is the race of
`benchmarks/solver/choices.py`, "latency" and "memory" are the scripts of these names beside it, and
"estimate" means that the order of magnitude matters and no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple


class Costs(NamedTuple):
    """What is peculiar to a kernel, the code that does the iterations of a stage."""

    polish: int
    """Iterations that cost as much as one polish."""

    flows: int
    """Iterations that cost as little as max-flow may; it often costs more."""

    allowance: float
    """Arcs per vertex that the first max-flow may visit: about 50 iterations of forests."""

    patience: float
    """Forest descent is faster than more further iterations than this."""

    pattern_gap: float
    """Relative gap above which the pattern of p is seldom right, so that a polish fails."""

    is_cheap: bool
    """Whether an iteration costs less than evaluating the gap."""


COSTS = MappingProxyType(
    {  # measured per iteration on 512² images, kNN and random graphs; patience by choices
        "edges": Costs(10, 30, 150, 300, math.inf, True),
        "lattice": Costs(80, 300, 150, 250, math.inf, True),
        "grid": Costs(80, 300, 40, 250, math.inf, True),
        "volume": Costs(80, 300, 40, 250, math.inf, True),
        "forests": Costs(4, 30, 150, math.inf, 3e-4, False),
        "pdhg": Costs(4, 30, 150, math.inf, math.inf, False),
        "tree": Costs(1, 1, 150, math.inf, 0.0, False),
        "flows": Costs(1, 1, 150, math.inf, 0.0, False),
        "trivial": Costs(0, 0, 0, math.inf, 0.0, True),
    }
)
"""The kernels: `lattice` is a grid with holes, `grid` and `volume` are whole ones of two and more
dimensions (see `Tuning.whole_grid`)."""


@dataclass(frozen=True)
class Tuning:
    """All thresholds, with the values that `graphtv.solve` uses."""

    costs: Mapping[str, Costs] = field(default_factory=lambda: COSTS)

    # The plan
    exact_below: float = 2e-4
    """Tolerance below which max-flow may finish the run (choices: descent wins at 1e-3)."""
    largest_tree: int = 1 << 21
    """Entries of u up to which a tree is solved in one step without interrupts (latency: 0.2 s)."""
    shortest_line: int = 12
    """Length of the last axis from which the vectorised grid kernel pays (timings of kernels)."""
    whole_grid: float = 0.9
    """Part of the edges of a grid from which chains are as good on it as on all (choices)."""
    recondition_edges: int = 100_000
    """Edges up to which PDHG rebuilds its forests: 2 µs per edge without interrupts (latency)."""

    stiff_tree: float = 20.0
    """Weight of edges over the slope of the loss from which `HuberTV` on trees takes forests."""
    stiff_grid: float = 10.0
    """The same on grids, for the squared loss (tolerances)."""
    stiff_condition: float = 60.0
    """ω/√(cδ) from which edges take more than ten times the iterations of chains (tolerances)."""
    trial: int = 4
    """Iterations of forest descent that show whether as many more are enough (tolerances)."""

    # From edges to forests
    decomposition: int = 70
    """Iterations over edges that cost as much as a decomposition (kNN and random graphs)."""
    first_doubt: int = 16
    """Iterations over edges before their future is predicted from their past (choices)."""
    second_doubt: int = 32
    """Iterations over forests before they may be found to lag (tolerances: wide weights)."""
    worth_keeping: float = 1e-2
    """Gap above which forests do better from scratch than from the edges' point (choices)."""

    # From descent or PDHG to max-flow
    flows_gap: float = 5e-4
    """Relative gap from which max-flow is usually cheap (choices: flat within a factor of 4)."""
    far_flows_gap: float = 2e-6
    """The same on grids where edges were slow (2048² image with large pieces: 2.4× → 1.1×)."""
    shortest_cheap_start: int = 16
    """Iterations over edges before max-flow or a polish on the way to it is tried (choices)."""
    longest_start: int = 400
    """Iterations after which max-flow is tried whatever the gap (choices)."""
    longest_blind_start: int = 30
    """The same where vertices lack data: descent on a substitute weight ends beside (choices)."""
    volume_price: float = 4.0
    """Max-flow costs this many times as many iterations in three dimensions (tolerances)."""
    allowance_growth: float = 4.0
    """Growth of the allowance from attempt to attempt (estimate)."""
    cheap_retry: int = 2
    """After a failed max-flow, edges go on to this multiple of their iterations (choices)."""
    retry: int = 5
    """The same for forests and PDHG (choices)."""
    polish_speedup: float = 6.0
    """Over edges, polishes end runs this many times sooner than gaps predict (camera to 1e-6)."""
    longest_wait: int = 2
    """A stage that is almost there goes on for this many times the cost of max-flow (choices)."""

    # When to evaluate the gap
    longest_stride: int = 32
    """Most iterations between evaluations while fewer than 8 times as many are done (estimate)."""
    overshoot: float = 0.125
    """Part of the iterations done that always passes between evaluations: the waste at the end."""
    stride_of_forecast: float = 0.6
    """Part of the predicted way to the target before the next evaluation (choices)."""
    stride_of_past: float = 2.0
    """The stride is at most this many times the iterations done (estimate)."""
    blind_stride: float = 0.25
    """Part of the iterations done before the next evaluation, without a forecast (estimate)."""
    cheap_margin: float = 1.1
    """Cheap kernels are evaluated this factor beyond the predicted end (choices)."""
    shortest_cheap_stride: int = 4
    """Fewest iterations of a cheap kernel between evaluations (timings of kernels)."""

    # When to polish
    polish_within: float = 1e3
    """A polish is tried when the gap is at most this many times the target (choices)."""
    polish_after_success: float = 1.3
    """Growth of the iterations to the next polish after one that helped (choices)."""
    polish_after_failure: float = 2.5
    """The same after one that failed (choices)."""

    # When to keep, and when to give up
    keep_from: int = 500
    """Iterations from which points are certified on the way: gaps of PDHG rise and fall."""
    keep_better: float = 0.5
    """A point is kept then if its gap is below this part of the best (estimate)."""
    progress: float = 0.99
    """A gap below this part of the best one counts as progress (estimate)."""
    stall: int = 2000
    """Iterations without progress that end a run; at least half of all (reliability runs)."""
    stall_far: int = 10_000
    """The same while the gap is too large for rounding to be the reason (reliability runs)."""
    near_rounding: float = 1e-10
    """Relative gap below which rounding may be the reason (reliability runs)."""

    # The end of a run, and Ctrl-C
    grace: float = 0.06
    """Seconds that the end may always take after Ctrl-C (latency: 200 ms are promised)."""
    first_hold: float = 4.0
    """The first point is held after this many times the seconds it takes to hold it (latency)."""
    holds: float = 25.0
    """The others follow at this distance: 4 % of a long run (latency)."""
    margin: float = 1.25
    """The time of the end varies by this factor (latency)."""
    excess: float = 0.5
    """Part of the permitted excess of a time limit, max(5 %, 50 ms), that the end may use."""
    seconds_per_entry: float = 40e-9
    """Seconds per entry of u and p for the last certificate, before a measurement (latency)."""
    trivial_seconds_per_entry: float = 6e-9
    """The same for a result that needs no certificate (latency)."""
    least_seconds_per_entry: float = 30e-9
    """The least of it to expect after an evaluation, which may be much cheaper (latency)."""
    evaluations: float = 2.0
    """A certificate with its dual point costs this many evaluations (latency)."""
    nearly: float = 1.1
    """Factor by which a point may be worse to replace one that needs memory of its own (memory)."""


TUNING = Tuning()
"""What `graphtv.solve` uses."""
