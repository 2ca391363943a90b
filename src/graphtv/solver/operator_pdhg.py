"""PDHG for h(Au) + R(u) + F(Ku), for losses and constraints without proximal gradient steps.

The stacked operator (K; A) has the dual variables (p, q). The diagonal preconditioner of Pock and
Chambolle ("Diagonal preconditioning for first order primal-dual algorithms", ICCV 2011, α = 1) is
used for K, and for A if it is a matrix. Otherwise A has one step, from an estimate of its norm.
Every few iterations the method may restart from its iterate or from the average of its iterates,
and the ratio of primal and dual steps is balanced then (Applegate et al., "Practical large-scale
linear programming using primal-dual hybrid gradient", 2021).
"""

from __future__ import annotations

import math

import numpy as np

from graphtv import _core
from graphtv._validate import Floats
from graphtv.operators.inner import length
from graphtv.problem import Problem
from graphtv.solver.certificate import Certificate
from graphtv.solver.composite import Composite
from graphtv.solver.tuning import Tuning

POWER_STEPS = 8
"""Products with A and Aᵀ for an estimate of ‖A‖."""


class OperatorPdhg(Composite):
    """PDHG with the rows of an operator."""

    method = "pdhg"
    kernel = "rows"

    def __init__(
        self,
        problem: Problem,
        watch: _core.Watch,
        n_threads: int,
        warm: Certificate | None,
        tuning: Tuning,
    ) -> None:
        super().__init__(problem, watch, n_threads, warm, tuning)
        self._K = problem.graph.gradient()
        self._Kt = self._K.T.tocsr()
        self._set_metric()
        self._natural = self._ratio = self._first_ratio()
        self._mean: tuple[Floats, ...] | None = None
        self._since = 0
        self._anchor = self.u, self.p, self.q
        self._slope = self._adjoint(self.p, self.q)
        self._first_residual = self._last_residual = math.inf

    @property
    def step_size(self) -> float:
        """The ratio of primal and dual steps."""
        return self._ratio

    def _set_metric(self) -> None:
        """Choose the metrics S of u, T of p and Q of q with ‖(T^-½K; Q^-½A) S^-½‖ ≤ 1."""
        graph, channels = self._problem.graph, self._misfit.n_channels
        weights = graph.weights
        degree = np.bincount(graph.edges.ravel(), np.repeat(weights, 2), graph.n_vertices)
        t = self._by_group(2.0 * weights)
        A = self._misfit.map
        if A.is_matrix:
            columns = np.asarray(A.sizes.T @ np.ones(A.shape[0]))
            rows = np.asarray(A.sizes @ np.ones(A.shape[1]))
            s = degree + columns
        else:
            norm = self._norm()
            share = float(degree.mean()) or norm
            s, rows = degree + share, np.full(A.shape[0], norm**2 / share)
        self._S = np.tile(_away_from_zero(s), channels)
        self._T = t
        self._Q = _away_from_zero(rows)

    def _first_ratio(self) -> float:
        """Return the ratio in the units of the data: the length of q at the start to that of u.

        u has to move by about as much as changes the image to the best value of the loss.
        """
        misfit = self._misfit
        roots = np.sqrt(np.tile(self._Q, misfit.n_channels))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            q = length(roots * misfit.gradient(self.x))
            distance = length((self.x - misfit.best_rows) / roots)
        has_both = 0.0 < q < math.inf and 0.0 < distance < math.inf
        ratio = q / distance if has_both else 1.0
        return ratio if 0.0 < ratio < math.inf else 1.0

    def _by_group(self, t: Floats) -> Floats:
        """Return the metric of the edges, one number for all if edges form groups."""
        if self._problem.delta is None:
            return np.full(len(t), float(t.max(initial=1.0)))
        return t

    def _norm(self) -> float:
        """Return an estimate of ‖A‖ from a few power steps, with a margin."""
        x = np.random.default_rng(0).standard_normal(self._misfit.map.shape[1])
        norm = 0.0
        for _ in range(POWER_STEPS):
            size = length(x)
            if size == 0.0:
                return 1.0
            image = self._misfit.map.apply(x / size)
            norm = length(image)
            x = self._misfit.map.adjoint(image)
        return 1.05 * norm or 1.0

    def _adjoint(self, p: Floats, q: Floats) -> Floats:
        rows = p.reshape(self._misfit.n_channels, -1)
        along = np.asarray((self._Kt @ rows.T).T).reshape(-1)
        return along + self._misfit.map.adjoint(q)

    def _gradient(self, u: Floats) -> Floats:
        rows = u.reshape(self._misfit.n_channels, -1)
        return np.ascontiguousarray((self._K @ rows.T).T).reshape(-1)

    def advance(self, at_most: int) -> None:
        """Do one iteration; if the watch expires, nothing changes."""
        if self._watch.expired:
            return
        ratio = self._ratio
        s, t, rows = self._S * ratio, self._T / ratio, self._Q / ratio
        u = self._problem.constraint.prox(self.u - self._slope / s, 1.0 / s)
        x = self._misfit.map.apply(u)
        p = self._dual_step(self.p, 2.0 * self._gradient(u) - self._gradient(self.u), t)
        q = self._row_step(self.q, 2.0 * x - self.x, rows)
        slope = self._adjoint(p, q)
        moved = (u - self.u, p - self.p, q - self.q)
        self.u, self.x, self.p, self.q, self._slope = u, x, p, q, slope
        self._since += 1
        self._average()
        self._moved()
        self.is_final = not any(part.any() for part in moved)
        if self._since % self._tuning.restart_check == 0:
            self._consider_restart()

    def _dual_step(self, p: Floats, slope: Floats, t: Floats) -> Floats:
        rows = np.tile(t, self._misfit.n_channels)
        out = np.empty_like(p)
        self._problem.core_penalty.prox_conjugate(p + slope / rows, 1.0 / t, out, self._n_threads)
        return out

    def _row_step(self, q: Floats, x: Floats, rows: Floats) -> Floats:
        """Return the proximal step of h*, by Moreau's identity from that of h."""
        metric = np.tile(rows, self._misfit.n_channels)
        v = metric * q + x
        out = np.empty_like(v)
        self._problem.composite.row_term.prox(v, rows, out, self._n_threads)
        return (v - out) / metric

    # Averages and restarts

    def _average(self) -> None:
        state = (self.u, self.x, self.p, self.q, self._slope)
        if self._mean is None:
            self._mean = state
        else:
            share = 1.0 / self._since
            self._mean = tuple(a + share * (b - a) for a, b in zip(self._mean, state, strict=True))

    def _consider_restart(self) -> None:
        """Restart if the better of iterate and average has made progress, or after a while."""
        assert self._mean is not None
        t, state = self._tuning, (self.u, self.x, self.p, self.q, self._slope)
        candidates = [(self._residual(*point), point) for point in (state, self._mean)]
        residual, best = min(candidates, key=lambda pair: pair[0])
        progress = math.sqrt(residual / self._first_residual) if self._first_residual else 0.0
        is_worse, self._last_residual = residual > self._last_residual, residual
        if (
            progress <= t.restart_sufficient
            or (progress <= t.restart_necessary and is_worse)
            or self._since >= t.restart_late * self.iterations
        ):
            self._restart(best)

    def _restart(self, point: tuple[Floats, ...]) -> None:
        """Continue from a point, and balance the steps."""
        self.u, self.x, self.p, self.q, self._slope = point
        u, p, q = self._anchor
        primal = length(np.sqrt(self._S) * (self.u - u))
        duals = np.tile(self._T, self._misfit.n_channels), np.tile(self._Q, self._misfit.n_channels)
        dual = math.hypot(
            length(np.sqrt(duals[0]) * (self.p - p)), length(np.sqrt(duals[1]) * (self.q - q))
        )
        if primal > 0.0 and dual > 0.0:
            change = min(max(dual / primal / self._natural, 1e-8), 1e8)
            self._ratio = self._natural * math.sqrt(self._ratio / self._natural * change)
        self._anchor = self.u, self.p, self.q
        self._mean, self._since = None, 0
        self._first_residual = self._residual(*point)
        self._last_residual = math.inf
        self.restarts += 1

    def _residual(self, u: Floats, x: Floats, p: Floats, q: Floats, slope: Floats) -> float:
        """Return the size of one step from a point, which vanishes at a solution."""
        ratio = self._ratio
        s, t, rows = self._S * ratio, self._T / ratio, self._Q / ratio
        du = u - self._problem.constraint.prox(u - slope / s, 1.0 / s)
        dp = p - self._dual_step(p, self._gradient(u), t)
        dq = q - self._row_step(q, x, rows)
        many = self._misfit.n_channels
        parts = (s * du * du, np.tile(t, many) * dp * dp, np.tile(rows, many) * dq * dq)
        return math.fsum(float(part.sum()) for part in parts)


def _away_from_zero(metric: Floats) -> Floats:
    """Return a metric that is not much smaller than its largest entry, or 1 if that is 0."""
    largest = float(metric.max(initial=0.0))
    return np.maximum(metric, 1e-12 * largest) if largest > 0.0 else np.ones(len(metric))
