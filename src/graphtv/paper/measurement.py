"""Count the iterations of the paper's algorithm: accelerated PDHG with a preconditioner.

The additions of `graphtv.solve` (polished points, rare evaluations of the gap) are left out: u and
p are the iterates themselves. The count is that of the first iterate whose relative gap

    (P(u) - D(p)) / max(|P(u)|, |D(p)|)

is at most the tolerance. The paper does not define its gap. The count for another reading is
stored, too: the gap relative to that of u = 0, p = 0, as in the code of the paper's sequel. Seconds
are processor time of the iterations alone, without the evaluation of the gap.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.decomposition.partition import ForestPartition
from graphtv.decomposition.preconditioner import as_preconditioner
from graphtv.objective.proof import relative_gap
from graphtv.paper.experiment import Outcome, Progress
from graphtv.problem import Problem
from graphtv.solver import PDHG, solve
from graphtv.solver.pdhg import Pdhg
from graphtv.terms._arrays import from_core

GAMMA = 0.25
"""The paper's constant of strong convexity for the squared loss."""

POINTS = 160
"""Number of points of a convergence curve."""

NEAR = 10.0
"""Below this multiple of the tolerance, the gap is evaluated in every iteration."""

TELL_EVERY = 0.2
"""Seconds between two reports of progress."""


@dataclass
class Curve:
    """Iterations, seconds and relative gaps, thinned evenly on a logarithmic scale."""

    growth: float
    points: list[tuple[int, float, float]] = field(default_factory=list)
    _next: float = 1.0

    def add(self, iteration: int, seconds: float, gap: float) -> None:
        """Add a point if it is far enough from the last."""
        if iteration >= self._next:
            self.points.append((iteration, round(seconds, 6), float(f"{gap:.4g}")))
            self._next = max(iteration + 1.0, iteration * self.growth)

    def close(self, iteration: int, seconds: float, gap: float) -> None:
        """Add the last point in any case."""
        if not self.points or self.points[-1][0] != iteration:
            self.points.append((iteration, round(seconds, 6), float(f"{gap:.4g}")))


def count(
    problem: Problem,
    preconditioner: str | ForestPartition,
    *,
    tolerance: float,
    cap: int,
    progress: Progress,
    gamma: float = GAMMA,
    every: float = 0.0,
    scheme: str = "accelerated",
    first_gap: float | None = None,
) -> tuple[Outcome, Floats]:
    """Run accelerated PDHG until the iterates reach the tolerance, and return the counts.

    Parameters
    ----------
    problem : Problem
        With a strongly convex data term.
    preconditioner : str or ForestPartition
        As in `graphtv.solve`.
    tolerance : float
        Relative gap to reach.
    cap : int
        Largest number of iterations.
    progress : callable
        Called with a description of the progress.
    gamma : float
        Constant of Algorithm 2 of Chambolle and Pock.
    every : float
        If 0, the gap is evaluated after every iteration. If positive, it is evaluated whenever the
        number of iterations has grown by this fraction, until it is near the tolerance. Gaps rise
        and fall, so less frequent evaluations could miss the first iterate that is good enough by
        more than one interval.
    scheme : str
        As in `graphtv.PDHG`.
    first_gap : float, optional
        The gap that ``gap0_iterations`` is relative to, if the gap of u = 0, p = 0 is infinite.

    Returns
    -------
    outcome : dict
        ``iterations`` and ``reached``; ``gap``, recomputed from the returned points with
        compensated sums; ``gap0_iterations``, to the same tolerance relative to the first gap, or
        None; ``seconds``, ``setup_seconds``, ``sweeps``, ``curve``; of forests also ``forests``
        and ``spanning``.
    u : ndarray
        The last primal iterate.
    """
    start = time.process_time()
    made = as_preconditioner(preconditioner, problem.graph)
    watch = _core.Watch(math.inf)
    is_paper = scheme in ("fixed", "accelerated")
    options = PDHG(scheme=scheme, gamma=gamma, primal_weight=1.0 if is_paper else None)
    engine = Pdhg(problem, made, watch, 1, None, options)
    setup = time.process_time() - start
    if isinstance(preconditioner, ForestPartition):
        setup += preconditioner.setup_time
    if first_gap is None:
        nothing, no_flow = np.zeros(problem.shape), np.zeros(problem.dual_shape)
        first_gap = problem.primal(nothing) - problem.dual(no_flow)
    curve = Curve(cap ** (1.0 / POINTS))
    seconds, next_look, last_tell = 0.0, 1, 0.0
    gap, least_gap, first_hit = math.inf, math.inf, None
    reached = False
    while engine.iterations < cap and not reached:
        start = time.process_time()
        engine.advance(1)
        seconds += time.process_time() - start
        k = engine.iterations
        if k < next_look and k < cap:
            continue
        primal, dual = engine.evaluate()
        gap = relative_gap(primal, dual)
        least_gap = min(gap, least_gap)
        next_look = k + (max(1, int(every * k)) if least_gap > NEAR * tolerance else 1)
        if first_hit is None and primal - dual <= tolerance * first_gap:
            first_hit = k
        if gap <= tolerance:
            # The engine computes its objectives only to its own precision.
            gap = _certified_gap(problem, engine)
            reached = gap <= tolerance
        curve.add(k, seconds, gap)
        now = time.perf_counter()
        if now - last_tell > TELL_EVERY:
            last_tell = now
            progress(f"iteration {k}, gap {gap:.1e}")
    curve.close(engine.iterations, seconds, gap)
    outcome: Outcome = {
        "iterations": engine.iterations,
        "reached": reached,
        "gap": _certified_gap(problem, engine),
        "gap0_iterations": first_hit,
        "seconds": seconds,
        "setup_seconds": setup,
        "sweeps": engine.sweeps,
        "curve": curve.points,
    }
    if made.partition is not None:
        outcome["forests"] = made.partition.n_forests
        outcome["spanning"] = made.partition.n_spanning
    return outcome, from_core(engine.primal_point(), problem.shape)


def count_default(
    problem: Problem, *, tolerance: float, cap: int, progress: Progress
) -> tuple[Outcome, Floats]:
    """Run the default method of `graphtv.solve` on one thread, and return the same as `count`.

    Iterations of different methods are different amounts of work. Compare ``sweeps`` instead.
    """
    start = time.process_time()
    result = solve(
        problem,
        tol=tolerance,
        max_iterations=cap,
        n_threads=1,
        callback=lambda info: progress(f"iteration {info.iteration}, gap {info.relative_gap:.1e}"),
    )
    total = time.process_time() - start
    if result.status == "interrupted":
        raise KeyboardInterrupt
    outcome: Outcome = {
        "iterations": result.iterations,
        "reached": result.relative_gap <= tolerance,
        "gap": result.relative_gap,
        "gap0_iterations": None,
        "seconds": max(total - result.setup_time, 0.0),
        "setup_seconds": result.setup_time,
        "sweeps": result.sweeps,
        "curve": [
            (record.iteration, round(record.time, 6), float(f"{record.relative_gap:.4g}"))
            for record in result.history
        ],
        "method": result.method,
        "preconditioner": result.preconditioner,
    }
    return outcome, result.u


def _certified_gap(problem: Problem, engine: Pdhg) -> float:
    u = from_core(engine.primal_point(), problem.shape)
    p = from_core(engine.dual_point(), problem.dual_shape)
    return problem.relative_gap(u, p)
