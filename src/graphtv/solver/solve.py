"""`solve`: check the arguments, run the loop, and build the result."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graphtv import _core
from graphtv._memory import give_back
from graphtv.problem import Problem
from graphtv.result import History, Result, Status
from graphtv.solver.certificate import (
    Certificate,
    certify,
    certify_in_time,
    certify_rounded,
    unrounded,
    without_variation,
)
from graphtv.solver.facts import Facts
from graphtv.solver.incumbent import Incumbent
from graphtv.solver.interrupts import interrupting
from graphtv.solver.level_set import LevelSet
from graphtv.solver.log import Log
from graphtv.solver.loop import Callback, Run
from graphtv.solver.one_step import Work, may_take_one_step, one_step, takes_one_step
from graphtv.solver.options import PDHG
from graphtv.solver.plan import Plan, plan
from graphtv.solver.renumbering import Renumbering, renumbered
from graphtv.solver.request import Request
from graphtv.solver.reserve import Reserve
from graphtv.solver.stages import Stages
from graphtv.solver.strategy import Strategy
from graphtv.solver.termination import CLOSER, EXACT_GAP, exact_gap
from graphtv.solver.ticker import Ticker
from graphtv.solver.tuning import TUNING
from graphtv.terms._arrays import from_core


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
    """Minimise G(u) + F(Ku), and return the solution with its certificate.

    Parameters
    ----------
    problem : Problem
        The problem to solve. On a `PartitionedGraph` it is solved part by part on Dask, and the
        options are those of graphs in parts.
    preconditioner : str or ForestPartition
        ``none``, ``diagonal``, ``chains``, ``linear``, ``nested``, ``matroid``, ``auto``, or a
        partition of the problem's graph.
    method : {'auto', 'pdhg', 'descent', 'exact'}
        ``pdhg``: the paper's primal-dual method [1]_, for every problem. ``descent``: accelerated
        block descent over forests, for the squared loss. ``exact``: a few iterations of one of
        these, then maximum flows; for smooth losses and total variation. ``auto``: the method
        that is expected to be fastest for `tol`. A `PDHG` object is ``pdhg`` with custom settings.
    tol : float
        Relative gap (primal - dual) / max(|primal|, |dual|) to certify. 0 requests the exact
        solution, which means a relative gap of at most 1e-12. For a minimum cut with integer
        data (`LinearBox`) it also means a gap below 1, which proves that the cut is minimal.
    max_iterations : int
        Largest number of iterations.
    time_limit : float, optional
        Time limit in seconds.
    warm_start : Result or (u, p), optional
        The starting point, for example the result of a problem on the same graph with other data,
        weights or tolerance.
    callback : callable, optional
        Called with an object `info` whenever the gap has been computed. Its attributes are
        `iteration`, `sweeps`, `time`, `primal`, `dual`, `relative_gap`, `step`, `restarts` and
        `u`, which is computed on access. Returning True ends the run. The calls become less
        frequent during a long run. During max-flow the callback is called every 0.1 s with
        ``info.settled``, the share of the vertices whose values are final, and with the gap before
        the flow. Otherwise `settled` is None.
    stop : callable, optional
        Called about every 20 ms, also during an iteration. If it returns True, the run ends with
        status ``interrupted``. ``threading.Event().is_set`` lets another thread end the run. It
        does not change the result of a run that it does not end.
    verbose : bool
        Print a table while solving.
    n_threads : int, optional
        Number of threads; by default all processors available to the process. The result is
        bitwise independent of it.

    Returns
    -------
    Result
        The primal and the dual point, their certified gap and the history of the run.

    Notes
    -----
    Status ``optimal`` is a proof: both objectives are recomputed from the returned points. With any
    other status, the result is the best point so far with its certificate. Ctrl-C, `stop` and
    `callback` end the run with status ``interrupted``. After Ctrl-C the run returns at once, if
    necessary with an earlier point. After `stop` and `callback` it returns the last point, whose
    certificate takes a few passes.

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
    if hasattr(problem, "solve_in_parts"):
        found: Result = _solve_in_parts(
            problem,
            preconditioner=preconditioner,
            method=method,
            tol=tol,
            max_iterations=max_iterations,
            time_limit=time_limit,
            warm_start=warm_start,
            callback=callback,
            stop=stop,
            verbose=verbose,
            n_threads=n_threads,
        )
        return found
    request = Request.checked(
        problem,
        preconditioner,
        method,
        tol,
        max_iterations,
        time_limit,
        warm_start,
        callback,
        stop,
        verbose,
        n_threads,
    )
    result = _solve(request, start)
    return result if problem.labelling is None else replace(result, u=problem.labelled(result.u))


def _solve_in_parts(problem: Any, **options: Any) -> Any:
    """Solve a problem on a graph in parts with the options that are not the defaults."""
    parameters = inspect.signature(solve).parameters
    given = {name: value for name, value in options.items() if value != parameters[name].default}
    return problem.solve_in_parts(given)


def _solve(request: Request, start: float) -> Result:
    """Run until the end, and once more if rounding u takes the result out of the tolerance."""
    if (result := _in_one_step(request, start)) is not None:
        return result
    log, ticker = Log(request.verbose), Ticker(request.stop)
    reports = request.callback is not None or request.verbose
    watch = _core.Watch(request.seconds, ticker if reports else request.stop)
    with interrupting(watch):
        run, chosen, order = _prepare(request, watch, log, ticker)
        setup_time = time.perf_counter() - start
        status, found = run()
        if order is not None:
            found = _in_old_order(request, order, status, found)
        certificate = certify_rounded(request.problem, found, request.threads)
    is_rounded_away = status == "optimal" and certificate.relative_gap > run.tolerance
    solve_time = time.perf_counter() - start - setup_time
    end: Status = "stalled" if is_rounded_away else status
    work = _work_of(run, request.problem)
    result = _outcome(request, chosen, work, found, certificate, end, setup_time, solve_time)
    log.footer(result, result.stages)
    if not is_rounded_away or request.tolerance <= EXACT_GAP:
        return result
    # Rounding is less harmful the closer u is to a solution, whose pieces are flat.
    tolerance = max(CLOSER * request.tolerance, EXACT_GAP)
    limit = request.max_iterations - result.iterations
    rest = request.from_result(result, tolerance, limit, watch.remaining)
    closer = _solve(rest, time.perf_counter())
    return _continued(result, closer, request.problem)


def _in_one_step(request: Request, start: float) -> Result | None:
    """Return the result of a problem that one step solves, otherwise None."""
    if not may_take_one_step(request, TUNING):
        return None
    method, preconditioner, tolerance = request.method, request.preconditioner, request.tolerance
    facts = Facts.of(request.problem._normal, method, preconditioner, tolerance)
    chosen = plan(facts, TUNING)
    if not takes_one_step(facts, chosen, TUNING):
        return None
    step = one_step(request, chosen, tolerance or exact_gap(request.problem), start, TUNING)
    if step is None:
        return None
    solve_time = time.perf_counter() - start - step.setup_time
    return _outcome(
        request,
        chosen,
        step.work,
        step.found,
        step.certificate,
        "optimal",
        step.setup_time,
        solve_time,
    )


def _in_old_order(
    request: Request, order: Renumbering, status: Status, found: Certificate
) -> Certificate:
    """Return a certificate in the order of the user, recomputed unless there is no time for it."""
    old = order.ended(found, request.problem._normal)
    is_hurried = status in ("interrupted", "time_limit")
    return old if is_hurried else certify(old.problem, old.u, old.p, request.threads)


def _prepare(
    request: Request, watch: _core.Watch, log: Log, ticker: Ticker
) -> tuple[Run, Plan, Renumbering | None]:
    """Choose the order of the vertices and the method, and set up its first stage."""
    problem, threads = request.problem._normal, request.threads
    n_entries = math.prod(problem.shape) + problem.dual_size
    reserve = Reserve(n_entries, watch, request.seconds, TUNING)
    points = request.points
    warm = None if points is None else certify_in_time(problem, *points, threads, watch)
    form, order = request.problem._form, None
    if warm is None or warm.relative_gap > request.tolerance:
        order = renumbered(problem, request.preconditioner, request.tolerance, watch, TUNING)
    if order is not None:
        problem, form = order.problem, replace(form, order=order.vertices)
        warm = None if warm is None else order.started(warm)
    facts = Facts.of(
        problem,
        request.method,
        request.preconditioner,
        request.tolerance,
        math.inf if warm is None else warm.relative_gap,
    )
    chosen = plan(facts, TUNING)
    level_set = LevelSet(problem) if chosen.is_level_set else None
    incumbent = Incumbent(problem, level_set, reserve, watch, threads, TUNING)
    inner = problem if level_set is None else level_set.inner
    callback = request.callback
    stages = Stages(inner, chosen, watch, threads, TUNING, form.units)
    is_custom = chosen.preconditioner == "custom"
    asked = request.preconditioner if is_custom else chosen.preconditioner
    options = request.method if isinstance(request.method, PDHG) else PDHG()
    stages.begin(facts, asked, options, warm)
    if request.verbose:
        log.header(**_facts(request, chosen, stages))
    stages.forget_forests()  # the stage has copied what it needs
    give_back(problem.graph.n_edges)
    tolerance = request.tolerance or exact_gap(request.problem)
    strategy = Strategy(chosen, tolerance, request.max_iterations, TUNING)
    incumbent.best = warm or without_variation(problem, watch, threads)
    run = Run(problem, form, strategy, stages, incumbent, reserve, watch, log, callback, ticker)
    return run, chosen, order


def _work_of(run: Run, problem: Problem) -> Work:
    """Return what a run did."""
    stages, misfit = run.stages, problem.misfit
    made, count = stages.preconditioner, stages.count
    return Work(
        "none" if made is None else made.name,
        count.iterations,
        count.sweeps,
        run.progress.records,
        run.progress.stages,
        0 if misfit is None else misfit.map.calls - stages.calls_before,
    )


def _outcome(
    request: Request,
    chosen: Plan,
    work: Work,
    found: Certificate,
    certificate: Certificate,
    status: Status,
    setup_time: float,
    solve_time: float,
) -> Result:
    """Return the result in the units of the user."""
    problem, form = request.problem, request.problem._form
    bound, proof, misfit = certificate.error_bound, certificate.proof, problem.misfit
    p, q = problem.objective.split(found.p)
    return Result(
        u=from_core(form.restore(found.u), problem.shape),
        p=from_core(p, problem.dual_shape),
        primal=form.objective(proof.primal),
        dual=form.objective(proof.dual),
        gap=form.objective(proof.gap),
        relative_gap=proof.relative_gap,
        rounding=form.objective(proof.rounding),
        status=status,
        tolerance=request.tolerance,
        method=chosen.method,
        preconditioner=work.preconditioner,
        reason=chosen.reason,
        iterations=work.iterations,
        sweeps=work.sweeps,
        setup_time=setup_time,
        solve_time=solve_time,
        history=History([form.record(record) for record in work.records]),
        stages=work.stages,
        error_bound=None if bound is None else form.length(bound),
        residual_dual=None if q is None or misfit is None else from_core(q, misfit.loss.shape),
        operator_calls=work.operator_calls,
        assumptions=_assumptions(problem, found),
        _unrounded=None if form.centre is None else unrounded(found),
    )


def _assumptions(problem: Problem, certificate: Certificate) -> tuple[str, ...]:
    """Return what the certificate relies on besides the returned points."""
    misfit = problem.misfit
    if misfit is None:
        return ()
    found = []
    if not misfit.map.is_matrix:
        found.append("operator: rmatvec is the adjoint of matvec, and both are accurate")
    where = problem.composite.range_of(certificate.u)
    if not where.is_proved:
        found.append(f"solution: one exists with |u| ≤ {where.upper:.3g}")
    return tuple(found)


def _continued(first: Result, second: Result, problem: Problem) -> Result:
    """Return the result of two runs, the second of which continued to a smaller gap."""
    told, count = first.history[-1], first.iterations
    records = [
        record._replace(
            iteration=record.iteration + count,
            sweeps=record.sweeps + first.sweeps,
            time=record.time + told.time,
        )
        for record in second.history
    ]
    tolerance = first.tolerance
    is_met = problem._proof(second.u, second.p, second.residual_dual)[1].proved_gap <= tolerance
    return replace(
        second,
        status="optimal" if is_met else second.status,
        tolerance=tolerance,
        iterations=count + second.iterations,
        sweeps=first.sweeps + second.sweeps,
        setup_time=first.setup_time,
        solve_time=first.solve_time + second.setup_time + second.solve_time,
        history=History([*first.history, *records]),
        stages=first.stages + second.stages,
    )


def _facts(request: Request, chosen: Plan, stages: Stages) -> dict[str, str]:
    """Return what the log tells before the first iteration."""
    problem, made = request.problem, stages.preconditioner
    graph, tolerance = problem.graph, request.tolerance
    facts = {
        "problem": f"{problem.data!r} + {problem.penalty!r}",
        "graph": f"{graph.n_vertices} vertices, {graph.n_edges} edges",
        "method": f"{chosen.method}: {chosen.reason}",
    }
    if made is not None:
        forests = f", {made.n_forests} forests" if made.partition is not None else ""
        facts["preconditioner"] = f"{made.name}{forests}: {made.reason}"
    facts["tolerance"] = "exact" if tolerance == 0.0 else f"{tolerance:g}"
    if request.seconds < math.inf:
        facts["time limit"] = f"{request.seconds:g} s"
    return facts
