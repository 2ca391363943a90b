"""Problems that one step solves: graphs without cycles, and small graphs by max-flow.

There is nothing to decide after the step, so it runs without the loop. On a small problem the loop
takes longer than the step.
"""

from __future__ import annotations

import math
import time
from contextlib import nullcontext
from typing import NamedTuple

from graphtv import _core
from graphtv.decomposition.preconditioner import single_forest
from graphtv.objective.proof import relative_gap
from graphtv.result import Record
from graphtv.result import Stage as StageReport
from graphtv.solver.certificate import Certificate, certify, certify_rounded
from graphtv.solver.facts import Facts
from graphtv.solver.flows import Flows
from graphtv.solver.interrupts import interrupting
from graphtv.solver.plan import Plan, skips_forests
from graphtv.solver.request import Request
from graphtv.solver.stage import rounded
from graphtv.solver.tree_direct import TreeDirect
from graphtv.solver.trivial import Trivial
from graphtv.solver.tuning import Tuning


class Work(NamedTuple):
    """What a run did."""

    preconditioner: str
    iterations: int
    sweeps: int
    records: list[Record]
    stages: list[StageReport]
    operator_calls: int = 0


class OneStep(NamedTuple):
    """The end of a run of one step."""

    found: Certificate
    certificate: Certificate  # of the point that is returned
    work: Work
    setup_time: float


def may_take_one_step(request: Request, tuning: Tuning) -> bool:
    """Whether the size of the problem allows one step, and nobody watches or limits the run."""
    problem = request.problem
    is_watched = request.callback is not None or request.stop is not None or request.verbose
    is_limited = request.seconds < math.inf or request.max_iterations < 1
    if is_watched or is_limited or request.points is not None or problem.misfit is not None:
        return False
    graph, n_entries = problem.graph, math.prod(problem.shape)
    return graph.n_edges < graph.n_vertices or n_entries <= tuning.small_for_pdhg


def takes_one_step(facts: Facts, chosen: Plan, tuning: Tuning) -> bool:
    """Whether the plan is one step."""
    if chosen.is_level_set:
        return False
    if chosen.stage == "flows":
        return facts.n_entries <= tuning.small_for_pdhg
    return chosen.stage == "forests" and skips_forests(facts, tuning)


def one_step(
    request: Request, chosen: Plan, tolerance: float, start: float, tuning: Tuning
) -> OneStep | None:
    """Run the step; return None if it does not reach the tolerance, or if the minimum may be 0."""
    problem, n_threads = request.problem._normal, request.threads
    watch = _core.Watch(math.inf)
    is_quick = math.prod(problem.shape) <= tuning.too_quick_to_stop
    with nullcontext() if is_quick else interrupting(watch):
        step = _made(request, chosen, watch)
        if step is None:
            return None
        began = time.perf_counter()
        step.advance(1)
        if not step.is_final:
            return None
        found = certify(problem, step.primal_point(), step.dual_point(), n_threads)
        certificate = certify_rounded(request.problem, found, n_threads)
    if not certificate.relative_gap <= tolerance or found.primal == 0.0:
        return None
    seconds = time.perf_counter() - began
    proof = found.proof
    name = "none"
    if isinstance(step, TreeDirect):
        name = single_forest(problem.graph, step.is_path).name
    gap = relative_gap(proof.primal, proof.dual)
    record = Record(1, step.sweeps, seconds, proof.primal, proof.dual, gap)
    report = StageReport(step.method, name, 1, seconds, proof.relative_gap)
    return OneStep(
        found, certificate, Work(name, 1, step.sweeps, [record], [report]), began - start
    )


def _made(request: Request, chosen: Plan, watch: _core.Watch) -> TreeDirect | Flows | None:
    """Return the stage; None if there is a cycle in a graph that is not connected."""
    problem, n_threads = request.problem._normal, request.threads
    if chosen.stage == "forests":
        try:
            return TreeDirect(problem, n_threads)
        except ValueError:
            return None
    trivial = Trivial(problem)
    p = trivial.dual_point()
    start = rounded(p, n_threads)
    return Flows(
        problem, trivial.primal_point(), p, start, chosen.first_allowance, watch, n_threads
    )
