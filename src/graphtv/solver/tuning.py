"""The constants behind every decision of the solver, in one place.

Each line says what the number means and which measurement chose it. "choices", "curved", "latency",
"memory", "sensitivity" and "tolerances" are the scripts of these names in `benchmarks/solver/`,
"isotropic" and "operators" those in `benchmarks/`. "estimate" means that only the order of
magnitude matters: if "sensitivity" halves or doubles one of these numbers, the mean time of twelve
problems changes by at most 6 %, which is within the noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple


class Costs(NamedTuple):
    """The costs of a kernel, the code that does the iterations of a stage."""

    polish: int
    """Number of iterations that cost as much as one polish."""

    flows: int
    """Number of iterations that cost as much as max-flow at best; it often costs more."""

    allowance: float
    """Arcs per vertex that the first max-flow may visit; as expensive as 50 forest iterations."""

    patience: float
    """If edges need more iterations than this, forest descent is faster."""

    pattern_gap: float
    """Relative gap above which the pattern of p is rarely correct, so that a polish fails."""

    is_cheap: bool
    """Whether an iteration costs less than evaluating the gap."""

    newton: int = 0
    """Number of iterations that cost as much as one step of Newton's method, or 0 without it."""

    reduction: int = 0
    """The same for a polish from reduced problems."""


COSTS = MappingProxyType(
    {  # measured per iteration on 512² images, kNN and random graphs; patience by choices
        "edges": Costs(10, 30, 150, 300, math.inf, True, reduction=10),
        "stencil": Costs(20, 100, 150, 600, math.inf, True, reduction=40),
        "lattice": Costs(80, 300, 150, 250, math.inf, True),
        "grid": Costs(80, 300, 80, 250, math.inf, True),
        "volume": Costs(80, 300, 40, 250, math.inf, True),
        "stars": Costs(10, 1, 0, math.inf, math.inf, True, newton=125),
        "coupled": Costs(4, 1, 0, 100, math.inf, True, newton=15),
        "forests": Costs(4, 30, 150, math.inf, 3e-4, False, reduction=8),
        "pdhg": Costs(4, 30, 150, math.inf, math.inf, False),
        "tree": Costs(1, 1, 150, math.inf, 0.0, False),
        "flows": Costs(1, 1, 150, math.inf, 0.0, False),
        "proximal": Costs(1, 1, 0, math.inf, 0.0, False),
        "splitting": Costs(1, 1, 0, math.inf, 0.0, False),
        "rows": Costs(1, 1, 0, math.inf, 0.0, False),
        "trivial": Costs(0, 0, 0, math.inf, 0.0, True),
    }
)
"""The kernels. `stencil` is an image or a volume with diagonal neighbours, `lattice` a grid with
missing edges. `grid` and `volume` are whole grids (see `Tuning.whole_grid`) of two and of more
dimensions."""


@dataclass(frozen=True)
class Tuning:
    """All thresholds, with the values that `graphtv.solve` uses."""

    costs: Mapping[str, Costs] = field(default_factory=lambda: COSTS)

    # The plan
    first_flows: float = 2000.0
    """Arcs per vertex that max-flow may visit as the first stage (quantile: ten times the need)."""
    small: int = 120
    """Entries of u up to which max-flow is the first stage (grids and kNN: it takes 10 to 70 µs;
    descent with its evaluations takes at least 150 µs)."""
    small_for_pdhg: int = 400
    """The same where PDHG would be the first stage (grids and kNN, Huber and Poisson loss: 0.7 to 4
    times as fast as PDHG up to 600 entries, and slower at low accuracy from 1600 on)."""
    near_start: float = 3e-4
    """Relative gap of a warm start from which max-flow is tried at once (paths: about as fast as
    edges before max-flow at 1e-3, twice as fast at 1e-4)."""
    near_flows: float = 40.0
    """Arcs per vertex that it may visit then (paths: 1 to 30 below that gap)."""
    exact_below: float = 2e-4
    """Tolerance below which max-flow may finish the run (choices: descent is faster at 1e-3)."""
    largest_tree: int = 1 << 21
    """Entries of u up to which a tree is solved in one uninterruptible step (latency: 0.2 s)."""
    too_quick_to_stop: int = 1 << 14
    """Entries of u up to which one step ignores Ctrl-C, which Python handles after it (0.5 ms)."""
    shortest_line: int = 12
    """Length of the last axis from which the vectorised grid kernel is faster (kernel timings)."""
    whole_grid: float = 0.9
    """Fraction of the edges of a grid above which it counts as a whole grid (choices)."""
    even_weights: float = 10.0
    """Largest ratio of two weights for which forests precede max-flow at low accuracy (tolerances:
    a torus takes half the time; with wide weights forests would take five times as long)."""
    large_graph: int = 100_000
    """Vertices from which u does not fit into fast caches, so that their order matters (kNN with
    1e5 to 1e6 vertices: 1.2 to 2.8 times as fast at 1e-3, 1.7 to 3.2 times at 1e-6)."""
    few_iterations: float = 3e-3
    """Tolerance from which so few iterations are needed that other numbers cost more (kNN), …"""
    very_large_graph: int = 1 << 19
    """… up to this many vertices."""
    scattered: float = 0.5
    """Misses per edge in a small cache from which vertices get other numbers (0.8 for neighbours in
    random order, 0.05 in the new order; 0.1 to 0.35 for grids and sorted triangulations)."""
    recondition_edges: int = 100_000
    """Edges up to which PDHG rebuilds its forests: 2 µs per edge, uninterruptible (latency)."""

    stiff_tree: float = 20.0
    """Edge weight relative to the slope of the loss, from which `HuberTV` on trees uses forests."""
    stiff_grid: float = 10.0
    """The same on grids, for the squared loss (tolerances)."""
    stiff_condition: float = 60.0
    """ω/√(cδ) from which edges take over ten times as many iterations as chains (tolerances)."""
    stiff_curved_grid: float = 1000.0
    """Like `stiff_grid`, for other curved losses (curved, Poisson: edges are 1.6 times as
    fast at 160, chains 3 times at 16 000 on 128²)."""
    long_side: int = 50
    """Vertices along an axis from which chains are faster there: edges pass values on one by one
    (curved, Poisson: 5 times slower at 14, even at 50, 3 times faster at 128)."""
    stiff_graph: float = 500.0
    """Like `stiff_grid`, on other graphs (curved: too early at 70, due at 4000)."""
    trial: int = 4
    """Iterations of forest descent that show whether as many more are sufficient (tolerances)."""
    pdhg_doubt: int = 200
    """Iterations of PDHG over edges before the number of remaining ones is predicted (curved)."""
    grid_pdhg_doubt: int = 64
    """The same on grids, where chains cost less than other forests (curved)."""
    pdhg_patience: float = 1e4
    """PDHG over forests is faster if this many further iterations over edges are predicted, and the
    proximal map of the data term is not a closed formula (curved: simplex)."""

    # Descent over groups
    single_above: float = 3e-4
    """Tolerance from which single precision is enough (512² images)."""

    dual_share: float = 0.7
    """Newton's method improves u when the predicted error of the dual objective is at most this
    share of the tolerance (isotropic)."""
    newton_steps: float = 2.0
    """It takes about this many steps (isotropic)."""
    most_newton_steps: int = 8
    """The most steps at a time (estimate)."""
    newton_smoothing: float = 0.3
    """The smoothing of the norms may change the objective by this share of the gap (isotropic)."""
    newton_accuracy: float = 0.03
    """The relative residual to which the equation of a step is solved, …"""
    conjugate_gradients: int = 4
    """… and the most iterations of conjugate gradients for it: more gain little (isotropic)."""
    newton_gain: float = 0.6
    """The steps end when one leaves more than this share of the gap: the rest is due to p."""
    newton_margin: float = 0.9
    """The gap is reduced to this share of the goal, since certificates add bounds of rounding."""
    shortest_newton_step: float = 0.1
    """The shortest step of the line search, relative to a full step (estimate)."""

    # From edges to forests
    decomposition: int = 70
    """Iterations over edges that cost as much as a decomposition (kNN and random graphs)."""
    first_doubt: int = 16
    """Iterations over edges before the number of remaining ones is predicted (choices)."""
    second_doubt: int = 32
    """Iterations over forests before they can count as slow (tolerances: wide weights)."""
    worth_keeping: float = 1e-2
    """Gap above which forests are faster from scratch than from the point of edges (choices)."""

    # From descent or PDHG to max-flow
    flows_gap: float = 5e-4
    """Relative gap below which max-flow is usually cheap (choices: flat within a factor of 4)."""
    far_flows_gap: float = 2e-6
    """The same on grids where edges were slow (2048² image with large pieces: 2.4× → 1.1×)."""
    shortest_cheap_start: int = 16
    """Iterations over edges before max-flow, or a polish before max-flow, is tried (choices)."""
    longest_start: int = 400
    """Iterations after which max-flow is tried for any gap (choices)."""
    longest_blind_start: int = 30
    """The same if data is missing: substitute weights do not give the solution (choices)."""
    volume_price: float = 4.0
    """Factor of the cost of max-flow in three dimensions, in iterations (tolerances)."""
    blind_price: float = 2.0
    """The same for PDHG if data is missing (tolerances: max-flow takes 56 to 110 iterations)."""
    allowance_growth: float = 4.0
    """Factor by which the allowance grows from attempt to attempt (estimate)."""
    cheap_retry: int = 2
    """After a failed max-flow, edges continue to this multiple of their iterations (choices)."""
    retry: int = 5
    """The same for forests and PDHG (choices)."""
    polish_speedup: float = 6.0
    """Over edges, polishes end runs this many times earlier than gaps predict (camera to 1e-6)."""
    longest_wait: int = 2
    """A stage that is about to finish may take this many times the cost of max-flow (choices)."""

    # Problems with an operator
    uneven_columns: float = 0.1
    """Smallest over largest square of the columns of an operator, below which each entry of u has a
    step of its own (regression with scaled columns)."""
    very_uneven_columns: float = 1e-6
    """The same, below which PDHG is faster if entries must have the same step (with sparsity)."""
    step_gap: float = 0.5
    """Duality gap of a proximal step, relative to the square of its length (operators)."""
    longest_inner: int = 500
    """Most iterations of a proximal step (estimate)."""
    first_penalty: float = 0.1
    """The first penalty ρ of ADMM, relative to the curvature along the gradient (operators)."""
    first_balance: int = 2
    """The iteration of ADMM after which ρ changes for the first time, …"""
    balance_growth: float = 1.5
    """… and the factor to the next such iteration (operators)."""
    balance: float = 0.5
    """The part of the way to the measured ratio, on a logarithmic scale (as in PDLP)."""
    equation_accuracy: float = 0.5
    """The share of the residual that conjugate gradients may leave (operators)."""
    longest_equation: int = 30
    """Most iterations of conjugate gradients per iteration of ADMM (estimate)."""
    backtracking: float = 1.02
    """Factor of the curvature along a step that was too long, for the next L (operators)."""
    routing_steps: int = 20
    """Most steps that reduce the size of the flow of a certificate (operators)."""
    routing_target: float = 0.25
    """The goal of these steps, as a part of the excess of the size over 1 (operators)."""
    restart_check: int = 20
    """Iterations of PDHG with an operator between checks for a restart (estimate)."""
    restart_sufficient: float = 0.2
    """It restarts if the residual has fallen to this fraction since the last restart, …"""
    restart_necessary: float = 0.8
    """… to this fraction and rises again, …"""
    restart_late: float = 0.36
    """… or after this fraction of all iterations (all three as in PDLP)."""

    # When to evaluate the gap
    longest_stride: int = 32
    """Largest interval of evaluations during the first 8 times as many iterations (estimate)."""
    overshoot: float = 0.125
    """Smallest interval between evaluations, as a fraction of the iterations: wasted at the end."""
    stride_of_forecast: float = 0.6
    """Fraction of the predicted distance to the target before the next evaluation (choices)."""
    stride_of_past: float = 2.0
    """The interval is at most this many times the iterations done (sensitivity: with 4, `HuberTV`
    on a grid takes 1.5 times as long)."""
    blind_stride: float = 0.25
    """Interval as a fraction of the iterations done, without a prediction (estimate)."""
    cheap_margin: float = 1.1
    """Cheap kernels are evaluated at this multiple of the predicted end (choices)."""
    shortest_cheap_stride: int = 4
    """Smallest number of iterations of a cheap kernel between evaluations (kernel timings)."""
    cheap_work: int = 6000
    """Fewest entries of u and p to update between them: on small graphs looks take longer."""

    # When to polish
    polish_within: float = 1e3
    """A polish is tried when the gap is at most this many times the target (choices)."""
    polish_after_success: float = 1.3
    """After a successful polish, the next comes at this multiple of the iterations (choices)."""
    polish_after_failure: float = 2.5
    """The same after a failed polish (choices)."""

    # When to polish from reduced problems
    reduced_above: float = 1e-5
    """Smallest tolerance that such a polish reaches: it solves the reduced problem by descent."""
    reduced_share: float = 0.7
    """Predicted error of the dual objective, relative to the tolerance, at which it is tried: its
    own error is about as large (kNN, Delaunay, surfaces, images)."""
    reduced_flows_gap: float = 3e-5
    """Predicted error of the dual objective below which max-flow is cheap, over edges (kNN,
    Delaunay: flat from 2e-4 to 2e-5; with 8 neighbours twice as long at 9e-5 as at 9e-6)."""
    reduced_doubt: int = 80
    """Like `first_doubt`: the dual objective takes longer to predict, but edges often suffice."""
    reduced_patience: float = 3000.0
    """Iterations over edges that are predicted until the dual objective is accurate, from which
    forests are faster."""
    slow_power: float = 1.0
    """Edges are too slow if the error of the dual objective falls more slowly than iterations to
    this power (0.5 with 8 neighbours and large weights; 1.4 to 2.4 where edges are faster)."""
    reduced_stride: float = 0.5
    """Largest interval between evaluations from `reduced_doubt` / 2 on, per iteration done."""
    reduced_again: float = 1.2
    """After a polish that was not enough, the next comes at this multiple of the iterations."""

    # When to keep, and when to give up
    keep_from: int = 500
    """Iterations from which points are certified during the run: gaps of PDHG rise and fall."""
    keep_better: float = 0.5
    """Such a point is kept if its gap is below this fraction of the best (estimate)."""
    progress: float = 0.99
    """A gap below this fraction of the best counts as progress (estimate)."""
    stall: int = 2000
    """Iterations without progress that end a run; at least half of all (reliability runs)."""
    stall_far: int = 10_000
    """The same while the gap is too large for rounding to be the reason (reliability runs)."""
    rounding: float = 1e-14
    """Relative gap at which a polished point counts as exact (estimate: rounding leaves 1e-15)."""
    near_rounding: float = 1e-10
    """Relative gap below which rounding may be the reason (reliability runs)."""

    # The end of a run, and Ctrl-C
    grace: float = 0.06
    """Seconds that the end may take after Ctrl-C (latency: 200 ms are promised)."""
    first_hold: float = 4.0
    """The first point is held after this many times the time it takes to hold it (latency)."""
    holds: float = 25.0
    """The interval between later ones, in the same unit: 4 % of a long run (latency)."""
    margin: float = 1.25
    """The time of the end varies by this factor (latency)."""
    excess: float = 0.5
    """Fraction of the permitted excess of a time limit, max(5 %, 50 ms), that the end may use."""
    seconds_per_entry: float = 40e-9
    """Seconds per entry of u and p for the last certificate, before a measurement (latency)."""
    trivial_seconds_per_entry: float = 6e-9
    """The same for a result that needs no certificate (latency)."""
    least_seconds_per_entry: float = 30e-9
    """Smallest expected value of it after an evaluation, which may be much cheaper (latency)."""
    evaluations: float = 2.0
    """A certificate with its dual point costs this many evaluations (latency)."""
    nearly: float = 1.1
    """Factor by which a point may be worse to replace one that needs extra memory (memory)."""


TUNING = Tuning()
"""The thresholds of `graphtv.solve`."""
