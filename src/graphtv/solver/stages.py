"""Creation of stages, and switches from one stage to the next."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from graphtv import _core
from graphtv._memory import give_back
from graphtv._validate import Floats
from graphtv.decomposition.preconditioner import (
    Preconditioner,
    as_preconditioner,
    single_forest,
)
from graphtv.graph.grid import n_grid_edges, row_major_shape
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.decision import SwitchTo
from graphtv.solver.descent import EdgeDescent, ForestDescent
from graphtv.solver.facts import Facts
from graphtv.solver.flows import Flows
from graphtv.solver.group_descent import GroupDescent
from graphtv.solver.incumbent import Incumbent
from graphtv.solver.operator_pdhg import OperatorPdhg
from graphtv.solver.options import PDHG
from graphtv.solver.pdhg import Pdhg
from graphtv.solver.plan import Plan, edge_kernel, is_solved_directly, skips_forests
from graphtv.solver.progress import Count
from graphtv.solver.proximal_gradient import ProximalGradient
from graphtv.solver.splitting import Splitting
from graphtv.solver.stage import Pausable, Stage, rounded
from graphtv.solver.tree_direct import TreeDirect
from graphtv.solver.trivial import Trivial
from graphtv.solver.tuning import Tuning
from graphtv.terms._units import NO_UNITS, Units


class Stages:
    """The current stage, the work of earlier stages, and the switches between them.

    Attributes
    ----------
    current : Stage
        The current stage.
    preconditioner : Preconditioner or None
        Its preconditioner; None for descent over edges.
    """

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        watch: _core.Watch,
        n_threads: int,
        tuning: Tuning,
        units: Units = NO_UNITS,
    ) -> None:
        self._problem, self._plan, self._tuning, self._units = problem, plan, tuning, units
        self._watch, self._n_threads = watch, n_threads
        self.current: Stage = Trivial(problem)
        self.preconditioner: Preconditioner | None = None
        self._paused: Pausable | None = None  # while max-flow runs
        self.calls_before = 0 if problem.misfit is None else problem.misfit.map.calls
        self._before = Count(0, 0, 0)  # work of the stages that have ended
        self._restarts_before = 0

    def begin(
        self, facts: Facts, preconditioner: Any, options: PDHG, warm: Certificate | None
    ) -> None:
        """Set up the first stage. If the watch expires first, the trivial stage remains."""
        try:
            with self._watch:
                self.current = self._first(facts, preconditioner, options, warm)
        except _core.Expired:
            self.preconditioner = None

    def _first(
        self, facts: Facts, preconditioner: Any, options: PDHG, warm: Certificate | None
    ) -> Stage:
        problem, watch, n_threads = self._problem, self._watch, self._n_threads
        p = None if warm is None else warm.p
        if self._plan.stage == "edges":
            return self._edges(p)
        if self._plan.stage == "groups":
            is_single = facts.tolerance >= self._tuning.single_above
            kernel = facts.group_kernel
            return GroupDescent(problem, kernel, is_single, watch, n_threads, p)
        if self._plan.stage == "flows":
            return self._first_flows(p)
        if self._plan.stage == "rows":
            return OperatorPdhg(problem, watch, n_threads, warm, self._tuning)
        if self._plan.stage in ("proximal", "splitting"):
            kind = ProximalGradient if self._plan.stage == "proximal" else Splitting
            return kind(problem, self._edge_kernel(), watch, n_threads, warm, self._tuning)
        if self._plan.stage == "forests" and skips_forests(facts, self._tuning):
            with suppress(ValueError):  # there is a cycle in a graph that is not connected
                return self._tree()
        made = as_preconditioner(preconditioner, problem.graph, alpha=options.alpha, watch=watch)
        self.preconditioner = made
        if self._plan.stage == "pdhg":
            start = None if warm is None else (warm.u, warm.p)
            return Pdhg(problem, made, watch, n_threads, start, options, self._units)
        assert made.partition is not None
        if is_solved_directly(facts, made.n_forests, self._tuning):
            return TreeDirect(problem, n_threads)
        rests = self._plan.flows or self._plan.is_trial
        return ForestDescent(problem, made.partition, watch, n_threads, p, rests=rests)

    def _tree(self) -> TreeDirect:
        """Return the direct solve of a forest; raise ValueError if the graph has a cycle."""
        graph, stage = self._problem.graph, TreeDirect(self._problem, self._n_threads)
        self.preconditioner = single_forest(graph, stage.is_path)
        return stage

    def _first_flows(self, p: Floats | None) -> Flows:
        u = self.current.primal_point()
        p = self.current.dual_point() if p is None else p.copy()
        start, allowance = rounded(p, self._n_threads), self._plan.first_allowance
        return Flows(self._problem, u, p, start, allowance, self._watch, self._n_threads)

    def _edges(self, p: Floats | None) -> EdgeDescent:
        lattice, kernel = row_major_shape(self._problem.graph), self._edge_kernel()
        return EdgeDescent(self._problem, kernel, lattice, self._watch, self._n_threads, p)

    def _edge_kernel(self) -> str:
        graph = self._problem.graph
        lattice = row_major_shape(graph)
        is_stencil = not lattice and _core.is_stencil(graph.n_vertices, graph.edges)
        n_whole = n_grid_edges(lattice)
        return edge_kernel(lattice, graph.n_edges, n_whole, is_stencil, self._tuning)

    # The work done

    @property
    def count(self) -> Count:
        """The work of all stages."""
        before, stage, attempts = self._before, self.current, 0
        if self._paused is not None:
            stage, attempts = self._paused, stage.iterations
        done = stage.iterations
        return Count(
            before.iterations + done + attempts, before.own + done, before.sweeps + stage.sweeps
        )

    @property
    def step_size(self) -> float:
        """The step size of the stage that iterates."""
        return (self._paused or self.current).step_size

    @property
    def restarts(self) -> int:
        """Restarts of all stages."""
        return self._restarts_before + (self._paused or self.current).restarts

    @property
    def preconditioner_name(self) -> str:
        """The name of the preconditioner of the current stage."""
        is_flowing = self._paused is not None
        return "none" if self.preconditioner is None or is_flowing else self.preconditioner.name

    def forget_forests(self) -> None:
        """Free the forests of the preconditioner, but keep its name and reason."""
        if self.preconditioner is not None:
            self.preconditioner = self.preconditioner.without_forests()

    # Switches; nothing changes if the watch expires first

    def switch(self, decision: SwitchTo, incumbent: Incumbent) -> None:
        """Switch to another stage."""
        if decision.stage == "flows":
            self._to_flows(decision.allowance, incumbent)
        elif self._paused is not None:
            self._back_from_flows(decision, incumbent)
        elif self.current.kernel == "flows":
            self._after_flows(decision.stage)
        else:
            self._to_forests(decision, incumbent)

    def _to_flows(self, allowance: float, incumbent: Incumbent) -> None:
        """Pause the stage and start max-flow. Their memory is never allocated at the same time."""
        points = incumbent.points(self.current)
        try:
            with self._watch:
                u, p = points.primal_point(), points.dual_point()
        except _core.Expired:
            return
        incumbent.end_lead()
        stage = cast(Pausable, self.current)
        stage.rest()
        start = rounded(p, self._n_threads)
        incumbent.hold_start(u, start)
        give_back(len(start))
        self._paused = stage
        self.current = Flows(self._problem, u, p, start, allowance, self._watch, self._n_threads)

    def _back_from_flows(self, decision: SwitchTo, incumbent: Incumbent) -> None:
        """Continue with the paused stage from p, or with another stage."""
        flows, paused = self.current, self._paused
        assert paused is not None
        u, p = flows.primal_point(), flows.dual_point()
        if decision.stage in ("forests", "pdhg") and paused.kernel != decision.stage:
            self._replace(paused, u, p, decision, incumbent)
        else:
            try:
                paused.resume(p)
            except _core.Expired:
                return
            self.current = paused
        self._paused = None
        self._add(flows.iterations, 0, 0, 0)

    def _after_flows(self, stage: str) -> None:
        """Start another stage after max-flow as the first stage: edges, or another from scratch."""
        flows = self.current
        if stage == "edges":
            with suppress(_core.Expired), self._watch:
                self.current = self._edges(flows.dual_point())
                self._add(flows.iterations, 0, 0, 0)
            return
        try:
            with self._watch:
                made = as_preconditioner("auto", self._problem.graph, watch=self._watch)
                self.current = self._over_forests(stage, made, None)
        except _core.Expired:
            return
        self.preconditioner = made.without_forests()
        self._add(flows.iterations, 0, 0, 0)

    def _to_forests(self, decision: SwitchTo, incumbent: Incumbent) -> None:
        """Replace descent over edges by descent over forests, or by PDHG."""
        edges = cast(Pausable, self.current)
        u, p = edges.primal_point(), edges.dual_point()
        edges.rest()
        self._replace(edges, u, p, decision, incumbent)

    def _replace(
        self, edges: Pausable, u: Floats, p: Floats, decision: SwitchTo, incumbent: Incumbent
    ) -> None:
        """Start another stage from (u, p), or from scratch while (u, p) remains the better point.

        If there is no time for this, edge descent, which is paused at p, continues.
        """
        try:
            with self._watch:
                made = as_preconditioner(
                    decision.preconditioner, self._problem.graph, watch=self._watch
                )
                start = (u, p) if decision.keeps_point else None
                self.current = self._over_forests(decision.stage, made, start)
        except _core.Expired:
            edges.resume(p)
            self.current = edges
            return
        self.preconditioner = made.without_forests()
        self._add(edges.iterations, edges.iterations, edges.sweeps, edges.restarts)
        if not decision.keeps_point:
            incumbent.lead(u, p)

    def _over_forests(
        self, stage: str, made: Preconditioner, start: tuple[Floats, Floats] | None
    ) -> Stage:
        problem, watch, n_threads = self._problem, self._watch, self._n_threads
        if stage == "pdhg":
            return Pdhg(problem, made, watch, n_threads, start, PDHG(), self._units)
        assert made.partition is not None
        p = None if start is None else start[1]
        rests = self._plan.flows or self._plan.is_trial
        return ForestDescent(problem, made.partition, watch, n_threads, p, rests=rests)

    def _add(self, iterations: int, own: int, sweeps: int, restarts: int) -> None:
        before = self._before
        self._before = Count(
            before.iterations + iterations, before.own + own, before.sweeps + sweeps
        )
        self._restarts_before += restarts
