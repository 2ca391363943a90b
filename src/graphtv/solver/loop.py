"""The loop that drives every method, and the certificate at its end."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._memory import DOUBLES_PER_EDGE, DOUBLES_PER_VERTEX, check_memory, give_back
from graphtv._validate import Floats, as_callable, as_count, as_flag, as_real, brief
from graphtv.problem import Problem, relative_gap
from graphtv.result import History, Record, Result, Status
from graphtv.solver.certificate import (
    WITHIN,
    Certificate,
    Polish,
    certify_in_time,
    without_variation,
)
from graphtv.solver.closing import Closing
from graphtv.solver.descent import Descent
from graphtv.solver.engine import Engine, rounded
from graphtv.solver.exact import EXACT_GAP, SHORTEST_CHEAP_START, Exact
from graphtv.solver.factory import make_engine
from graphtv.solver.log import Log
from graphtv.solver.options import PDHG
from graphtv.solver.plan import Plan, choose
from graphtv.solver.progress import Info, Limits, Progress
from graphtv.solver.relay import Relay
from graphtv.terms import LogisticLoss, PoissonLoss
from graphtv.terms._arrays import from_core, to_core

KEEP_FROM = 500
"""Iterations from which good points are kept, since gaps of PDHG rise and fall on long runs."""

Callback = Callable[[Info], Any]


def solve(
    problem: Problem,
    *,
    preconditioner: Any = "auto",
    method: str | PDHG = "auto",
    tol: float = 1e-6,
    max_iterations: int = 100_000,
    time_limit: float | None = None,
    warm_start: Any = None,
    callback: Callback | None = None,
    stop: Callable[[], Any] | None = None,
    verbose: bool = False,
    n_threads: int | None = None,
) -> Result:
    """Minimise G(u) + F(Ku), and prove how good the answer is.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    preconditioner : str or ForestPartition
        ``none``, ``diagonal``, ``chains``, ``linear``, ``nested``, ``matroid``, ``auto``, or a
        partition of the problem's graph.
    method : {'auto', 'pdhg', 'descent', 'exact'}
        ``pdhg``: the paper's primal-dual method [1]_, for every problem. ``descent``: accelerated
        block descent over forests, for the squared loss. ``exact``: a few iterations of one of
        these, then maximum flows; for smooth losses and total variation. ``auto``: the cheapest
        way to `tol`. A `PDHG` object is ``pdhg`` with settings of one's own.
    tol : float
        Relative gap (primal - dual) / max(|primal|, |dual|) to prove. 0 asks for the exact answer,
        which means a gap of at most 1e-12.
    max_iterations : int
        Iterations after which to give up.
    time_limit : float, optional
        Seconds after which to give up.
    warm_start : Result or (u, p), optional
        Where to start: the result of a problem on the same graph with other data, weights or
        tolerance.
    callback : callable, optional
        Called with an object `info` whenever the gap was computed: `info.iteration`, `sweeps`,
        `time`, `primal`, `dual`, `relative_gap`, `step`, `restarts`, and `u`, which is computed
        when asked for. Returning True ends the run. The longer a run lasts, the rarer these calls
        are.
    stop : callable, optional
        Asked every 20 ms or so, also in the midst of an iteration; what is true ends the run with
        status ``interrupted``. ``threading.Event().is_set`` lets another thread end it. Whatever it
        does, a run that it does not end is the same to the last bit.
    verbose : bool
        Print a table while solving.
    n_threads : int, optional
        Threads; by default all processors that the process may use. The result does not depend
        on it, to the last bit.

    Returns
    -------
    Result
        The primal and the dual point, with the gap they prove and how the run went.

    Notes
    -----
    Status ``optimal`` is a proof: both objectives are recomputed from the returned points. Every
    other status comes with the best point so far, and its certificate. Ctrl-C ends the run with
    status ``interrupted``, as `stop` and `callback` do; but it is answered at once, if need be with
    an earlier point, where these are given the last one, whose certificate takes a few passes.

    References
    ----------
    .. [1] T. Möllenhoff, Z. Ye, T. Wu, D. Cremers, "Combinatorial Preconditioners for Proximal
       Algorithms on Graphs", AISTATS 2018.

    Examples
    --------
    >>> from graphtv import SquaredLoss, grid_graph
    >>> result = solve(Problem(grid_graph((4,)), SquaredLoss([0.0, 0.0, 3.0, 3.0])))
    >>> result.u, result.status
    (array([0.5, 0.5, 2.5, 2.5]), 'optimal')
    """
    start = time.perf_counter()
    if not isinstance(problem, Problem):
        raise ValueError(f"problem must be a Problem, got {problem!r}")
    tolerance = as_real(tol, "tol", minimum=0.0)
    limit = as_count(max_iterations, "max_iterations")
    seconds = math.inf if time_limit is None else as_real(time_limit, "time_limit", minimum=0.0)
    threads = 0 if n_threads is None else as_count(n_threads, "n_threads", minimum=1)
    as_callable(callback, "callback")
    as_callable(stop, "stop")
    log = Log(as_flag(verbose, "verbose"))
    watch = _core.Watch(seconds, stop)
    limits = Limits(tolerance or EXACT_GAP, limit, watch, seconds)
    check_memory(
        8 * DOUBLES_PER_VERTEX * math.prod(problem.shape)
        + 8 * DOUBLES_PER_EDGE * math.prod(problem.dual_shape),
        "solve",
    )
    points = _as_warm_start(warm_start, problem)
    closing = Closing(problem, watch, seconds, threads)

    with _interrupting(watch):
        warm = None if points is None else certify_in_time(problem, *points, threads, watch)
        plan = choose(problem, method, preconditioner, tolerance, watch)
        engine = make_engine(problem, plan, limits.tolerance, watch, threads, warm)
        setup_time = time.perf_counter() - start
        log.header(**_facts(problem, plan, limits, tolerance))
        plan = plan.without_forests()  # the engine has what it needs of them
        give_back(problem.graph.n_edges)
        progress = Progress(limits, time.perf_counter())
        status, certificate = _run(problem, engine, progress, closing, log, callback, threads, warm)

    result = Result(
        u=from_core(certificate.u, problem.shape),
        p=from_core(certificate.p, problem.dual_shape),
        primal=certificate.primal,
        dual=certificate.dual,
        status=status,
        tolerance=tolerance,
        method=plan.method,
        preconditioner=_name(plan, engine),
        reason=plan.reason,
        iterations=engine.iterations,
        sweeps=engine.sweeps,
        setup_time=setup_time,
        solve_time=time.perf_counter() - start - setup_time,
        history=History(progress.records),
        error_bound=_error_bound(problem, certificate),
    )
    log.footer(result)
    return result


def _run(
    problem: Problem,
    engine: Engine,
    progress: Progress,
    closing: Closing,
    log: Log,
    callback: Callback | None,
    n_threads: int,
    best: Certificate | None,
) -> tuple[Status, Certificate]:
    """Iterate until something is proved or a limit is met; `best` is what is known beforehand."""
    tolerance, watch = progress.limits.tolerance, progress.limits.watch
    # On the way to flows, cheap iterations are better spent on a better start.
    first = SHORTEST_CHEAP_START if engine.target and engine.is_cheap else 0
    polish = Polish(problem, watch, n_threads, first)
    # What is exact has exact pieces, too, which the start before the flows has not.
    may_end = tolerance > EXACT_GAP or not engine.target
    if isinstance(engine, Exact):
        engine.on_start = closing.take_start
    # Whether older dual points are worse ones, of which no memory need be kept.
    ascends = bool(engine.target) or isinstance(engine, Descent | Relay)
    status: Status | None = None
    guess: tuple[Floats, float] | None = None  # on the way to flows, a primal point and its value
    best = best or without_variation(problem, watch, n_threads)
    if best is not None and best.relative_gap <= tolerance:
        status = "optimal"
    while status is None:
        status = progress.ended_early(engine.iterations)
        if status is None:
            closing.advance(engine, progress.limits.max_iterations - engine.iterations)
        elif not closing.fits(status):
            best = closing.fall_back(best)
            progress.conclude(engine.iterations, engine.sweeps, best.primal, best.dual)
            continue
        if status is not None or engine.is_final or progress.is_due(engine.iterations):
            is_news = progress.is_news(engine.iterations)
            candidate, is_polished = None, False
            if status is not None or engine.is_final:  # what is returned need not be valued twice
                candidate = closing.certify(engine)
                if guess is not None and candidate.relative_gap > tolerance:
                    candidate = candidate.with_better(*guess)
                values = candidate.primal, candidate.dual
            else:
                try:
                    values = closing.evaluate(engine)
                except _core.Expired:
                    continue
                if guess is not None and not engine.target:
                    # A gap that rose again after a polish would make a method seem to be at an end.
                    values = min(guess[1], values[0]), values[1]
            record = progress.record(engine.iterations, engine.sweeps, *values)
            if candidate is None and (
                (record.relative_gap <= tolerance and may_end) or _is_to_be_kept(record, best)
            ):
                candidate = closing.certify(engine, record.relative_gap <= tolerance)
                if guess is not None and candidate.relative_gap > tolerance:
                    candidate = candidate.with_better(*guess)
                # The method may have been too sure: its own values are only good to its precision.
                record = progress.record(
                    engine.iterations, engine.sweeps, candidate.primal, candidate.dual
                )
            elif candidate is None and polish.is_due(
                record,
                min(engine.pattern_gap, WITHIN * max(tolerance, engine.target)),
                progress.ahead(tolerance),
                engine.polish_price,
            ):
                polished = polish(engine, record)
                if polished is not None and (
                    not ascends
                    or relative_gap(polished.primal, record.dual) <= max(tolerance, EXACT_GAP)
                ):
                    with suppress(_core.Expired), watch:
                        found = closing.certify(engine, is_last=ascends)
                        candidate = found.with_better(polished.u, polished.primal)
                elif polished is not None:
                    if guess is None or polished.primal < guess[1]:
                        guess = polished.u, polished.primal
                    closing.take(*polished)
                    record = progress.improve(polished.primal, record.dual)
                is_polished = polished is not None
                polished = None
            if candidate is None:
                if not is_polished:
                    closing.hold(engine)
            elif (
                best is None
                or candidate.gap < best.gap
                or candidate.relative_gap <= tolerance < best.relative_gap
            ):
                best = candidate
                record = progress.improve(best.primal, best.dual)
                is_over = status is not None or engine.is_final or best.relative_gap <= tolerance
                if engine.target and not is_over:
                    # The dual point gets better anyway: the flows will need its memory.
                    guess = best.u, best.primal
                    closing.take(best.u, rounded(best.p, n_threads), best.primal)
                    best = None
            candidate = None
            engine.observe(record.relative_gap)
            progress.plan_next(max(tolerance, engine.target), engine.is_cheap)
            if is_news:
                log.row(record, engine.step_size, engine.restarts, engine.phase)
            if is_news and callback is not None:
                answer = callback(_info(record, engine, problem))
                if isinstance(answer, bool | np.bool_) and answer:
                    closing.has_time = True
                    watch.interrupt()
            if best is not None and best.relative_gap <= tolerance:
                status = "optimal"
            elif engine.is_final:
                status = status or "stalled"
    assert best is not None
    return status, best


def _is_to_be_kept(record: Record, best: Certificate | None) -> bool:
    """Whether a point may turn out to be the best of a long run."""
    is_better = best is None or record.primal - record.dual < 0.5 * best.gap
    return record.iteration >= KEEP_FROM and is_better


def _name(plan: Plan, engine: Engine) -> str:
    """Return the name of the preconditioner that was used in the end."""
    made = plan.preconditioner or engine.preconditioner
    return "none" if made is None else made.name


@contextmanager
def _interrupting(watch: _core.Watch) -> Iterator[None]:
    """Let Ctrl-C set the watch off, unless somebody else handles it or this is no main thread."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if is_ours:
        signal.signal(signal.SIGINT, lambda *_: watch.interrupt())
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _as_warm_start(warm_start: Any, problem: Problem) -> tuple[Floats, Floats] | None:
    """Return the points to start from."""
    if warm_start is None:
        return None
    if isinstance(warm_start, Result):
        u, p = warm_start.u, warm_start.p
    elif isinstance(warm_start, tuple) and len(warm_start) == 2:
        u, p = warm_start
    else:
        raise ValueError(f"warm_start must be a Result or a pair (u, p), got {brief(warm_start)}")
    try:
        u = to_core(problem._check(u, "u", problem.shape)).copy()  # it may become the result's
        p = to_core(problem._check(p, "p", problem.dual_shape))
    except ValueError as error:
        raise ValueError(f"warm_start does not fit the problem: {error}") from None
    p = p.copy()
    problem.core_penalty.project(p)
    return u, p


def _error_bound(problem: Problem, certificate: Certificate) -> float | None:
    """Return √(2 gap/γ) ≥ ‖u - u*‖, with an allowance for the rounding of the two objectives.

    Both are sums of terms up to the size of |u| ω, which may cancel. The curvature of some terms
    fades away, and is known inside their domain only.
    """
    gamma, u = problem.term.strong_convexity, certificate.u
    if gamma == 0.0:
        return None
    if isinstance(problem.data, PoissonLoss | LogisticLoss):
        lower, upper = problem.term.domain
        if u.min(initial=upper) < lower or u.max(initial=lower) > upper:
            return None
    most = max(float(u.max(initial=0.0)), -float(u.min(initial=0.0)))
    largest = most * float(problem.graph.weights.sum())
    size = abs(certificate.primal) + abs(certificate.dual) + largest
    gap = max(certificate.primal - certificate.dual, 0.0) + 4.0 * np.finfo(float).eps * size
    # By Python's numbers, and by parts: the quotient may be beyond the largest.
    return math.sqrt(2.0 * float(gap)) / math.sqrt(gamma)


def _info(record: Record, engine: Engine, problem: Problem) -> Info:
    return Info(
        *record,
        engine.step_size,
        engine.restarts,
        lambda: from_core(engine.primal_point(), problem.shape),
    )


def _facts(problem: Problem, plan: Plan, limits: Limits, tolerance: float) -> dict[str, str]:
    graph = problem.graph
    facts = {
        "problem": f"{problem.data!r} + {problem.penalty!r}",
        "graph": f"{graph.n_vertices} vertices, {graph.n_edges} edges",
        "method": f"{plan.method}: {plan.reason}",
    }
    if plan.preconditioner is not None:
        made = plan.preconditioner
        forests = f", {made.n_forests} forests" if made.partition is not None else ""
        facts["preconditioner"] = f"{made.name}{forests}: {made.reason}"
    facts["tolerance"] = "exact" if tolerance == 0.0 else f"{tolerance:g}"
    if limits.time_limit < math.inf:
        facts["time limit"] = f"{limits.time_limit:g} s"
    return facts
