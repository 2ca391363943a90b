"""The objective of the fused lasso for every λ: a loss and a sparsity term on a graph.

    min_u Σ_i c_i g(u_i; f_i) + λ Σ_e ω_e |u_i - u_j| + Σ_i μ_i |u_i|

There are four ways to solve the problem with sparsity:

- Squared loss and μ = m c for one number m (for example without vertex weights and with one μ). The
  solution is the solution u⁰ without sparsity, soft-thresholded at m (Friedman, Hastie, Höfling &
  Tibshirani 2007). The dual point is the same, because C(f - u⁰) - Kᵀp = 0 and u⁰ - S(u⁰) ∈ m
  ∂|S(u⁰)|. Thresholding preserves the order of u⁰, so p still has the signs of K S(u⁰).
- Poisson loss: u ≥ 0, so c (u - f log u) + μ u is the Poisson loss with weight c + μ and count
  c f / (c + μ).
- Squared loss and any other μ > 0: the parts above, below and at 0 are solved separately
  (`split_at_zero`).
- Anything else: G + μ|·| as one data term (`SparseLoss`), by PDHG.

In all cases the certificate is for the whole problem: primal and dual value include sparsity.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphtv import _core
from graphtv._validate import (
    Floats,
    as_array,
    as_choice,
    as_observations,
    as_real,
    as_weights,
    moderate,
)
from graphtv.applications.fused.sparse_loss import SparseLoss
from graphtv.applications.fused.sparse_squares import split_at_zero
from graphtv.applications.graph_input import scaled
from graphtv.graph.components import connected_components
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import in_order
from graphtv.problem import Problem
from graphtv.result import Result, Status
from graphtv.solver import solve
from graphtv.solver.certificate import certify
from graphtv.solver.termination import EXACT_GAP
from graphtv.terms import (
    AbsoluteLoss,
    CoupledTV,
    DataTerm,
    HuberLoss,
    LogisticLoss,
    PoissonLoss,
    SquaredLoss,
    TotalVariation,
)
from graphtv.terms._arrays import from_core, spread, to_core
from graphtv.terms.likelihood import signs_of_booleans
from graphtv.terms.weighted_loss import Mask, WeightedLoss

LOSSES = ("squared", "absolute", "huber", "logistic", "poisson")

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Largest relative difference of ratios μ/c that count as equal."""

Point = tuple[Floats, Floats]
"""u and p."""

BISECTIONS = 100
"""Number of bisection steps; more than the number of bits of a float."""


class FusedModel:
    """A loss and a sparsity term on a graph; `problem` and `solve` add λ."""

    def __init__(
        self, graph: Graph, loss: WeightedLoss, sparsity: Any = 0.0, *, is_coupled: bool = False
    ) -> None:
        self.graph, self.loss, self._is_coupled = graph, loss, is_coupled
        shape = as_array(sparsity, "sparsity").shape
        given = moderate(as_weights(sparsity, "sparsity", shape), "sparsity")
        if given.shape not in ((), loss.shape[:1], loss.shape):
            raise ValueError(
                f"sparsity must be a number or have shape {loss.shape[:1]}, got {given.shape}"
            )
        self.sparsity = spread(given, loss.shape)
        self.is_sparse = bool((given > 0.0).any())
        # Channels that are coupled keep no order, so there is no threshold for them.
        self._threshold = self._common_ratio() if self.is_sparse and not is_coupled else None
        whole = loss.with_sparsity(self.sparsity) if self.is_sparse else loss
        self._is_weighted_loss = whole is not None  # includes sparsity
        self._data: DataTerm = whole or SparseLoss(loss, np.array(self.sparsity))

    @classmethod
    def of(
        cls,
        graph: Graph,
        signal: Any,
        weights: Any,
        loss: Any,
        delta: Any,
        sparsity: Any,
        *,
        is_coupled: bool = False,
    ) -> FusedModel:
        """Return the model for validated arguments of `fused_lasso`; labels are matched."""
        signal = in_order(signal, "signal", graph)
        weights = in_order(weights, "vertex_weights", graph)
        sparsity = in_order(sparsity, "sparsity", graph)
        made = make_loss(signal, weights, loss, delta)
        return cls(graph, made, sparsity, is_coupled=is_coupled)

    @property
    def is_exact(self) -> bool:
        """Whether max-flow can compute the exact solution."""
        is_split = self._threshold is not None or self._can_split
        is_summed = self._is_weighted_loss or is_split
        return self.loss.traits.is_smooth and is_summed and not self._is_coupled

    @property
    def observed(self) -> Mask:
        """Mask of the entries with data."""
        return self.loss.observed

    def problem(self, lam: float) -> Problem:
        """Return the whole problem at λ."""
        penalty = CoupledTV() if self._is_coupled else TotalVariation()
        return Problem(scaled(self.graph, lam), self._data, penalty)

    def solve(self, lam: float, **options: Any) -> Result:
        """Return the certified solution at λ."""
        problem = self.problem(lam)
        if self._threshold is not None:
            plain = solve(Problem(problem.graph, self.loss), **options)
            u = np.sign(plain.u) * np.maximum(np.abs(plain.u) - self._threshold, 0.0)
            how = f"a soft threshold at {self._threshold:g}"
            result = _certified(problem, u, plain.p, [plain], how, options)
        elif self._can_split and "method" not in options:
            split = split_at_zero(problem.graph, self.loss, np.array(self.sparsity), options)
            result = _certified(problem, *split, "both sides of 0", options)
        else:
            return solve(problem, **options)
        if result.status == "stalled":  # rounding, at a tiny tolerance
            better = solve(problem, **{**options, "warm_start": result})
            result = better if better.gap < result.gap else result
        return result

    def solutions(
        self, lambdas: Floats, options: dict[str, Any], start: Point | None = None
    ) -> Iterator[tuple[int, Result]]:
        """Solve for all λ, given in decreasing order; yield indices and results as they come.

        `start` is a start for the first λ.

        The first two are the largest and the smallest λ. Every other one lies between two that are
        solved, and starts between their solutions. The flow λp is linear there, so this start is
        feasible. With the squared loss it is the solution on every piece that is the same at both
        ends. A graph without cycles is solved directly, without a start.
        """
        last = len(lambdas) - 1
        ends = []
        for k in dict.fromkeys((0, last)):
            result = self._solve_or_raise(float(lambdas[k]), start if k == 0 else None, options)
            ends.append(_point(result))
            yield k, result
        intervals = [(0, last, ends[0], ends[-1])]
        while intervals:
            a, b, here, there = intervals.pop()
            k = (a + b) // 2
            if k == a:
                continue
            between = _between(here, there, lambdas[[a, b]], float(lambdas[k]))
            result = self._solve_or_raise(float(lambdas[k]), between, options)
            middle = _point(result)
            intervals += [(a, k, here, middle), (k, b, middle, there)]
            yield k, result

    def _solve_or_raise(self, lam: float, start: Point | None, options: dict[str, Any]) -> Result:
        result = self.solve(lam, **options, warm_start=start)
        if result.status == "interrupted":
            raise KeyboardInterrupt
        return result

    def without(self, held_out: Any) -> FusedModel:
        """Return the model without the data at some vertices.

        If sparsity is a soft threshold, it remains one: μ is 0 at these vertices.
        """
        keep = spread(np.where(held_out, 0.0, 1.0), self.loss.shape)
        sparsity = self.sparsity if self._threshold is None else self.sparsity * keep
        loss = self.loss.with_weights(self.loss.weights * keep)
        return FusedModel(self.graph, loss, sparsity, is_coupled=self._is_coupled)

    def only(self, held_out: Any) -> WeightedLoss:
        """Return the loss restricted to some vertices."""
        keep = spread(np.where(held_out, 1.0, 0.0), self.loss.shape)
        return self.loss.with_weights(self.loss.weights * keep)

    def constants(self) -> Floats:
        """Return the best u that is constant on every connected component."""
        if not self._is_weighted_loss:
            return self._shrunk_constants()
        term = self.problem(1.0).term
        assert isinstance(term, _core.SeparableTerm)
        u = np.zeros(term.n_vertices * term.n_channels)
        p = np.zeros(self.graph.n_edges * term.n_channels)
        watch = _core.Watch(float("inf"))
        _core.polish(term, self.graph.edges, self.graph.weights, p, 0.5, u, watch)
        return from_core(u, self.loss.shape)

    def _shrunk_constants(self) -> Floats:
        """Return the same with sparsity, by bisection of the sums of slopes.

        It is 0 if the absolute sum of the slopes at 0 is at most μ. Otherwise it is on the side
        towards which the loss decreases.
        """
        n, component = connected_components(self.graph)
        shape, columns = self.loss.shape, (self.graph.n_vertices, -1)

        def sums(values: Any) -> Any:
            return np.stack([np.bincount(component, v, n) for v in values.reshape(columns).T], 1)

        def total(m: Any) -> Any:
            return sums(self.loss.derivative(m[component].reshape(shape)))

        pull = sums(np.array(self.sparsity))
        at_zero = total(np.zeros_like(pull))
        moves = np.abs(at_zero) > pull
        side = np.where(moves, -np.sign(at_zero), 0.0)
        near, far = np.zeros_like(pull), side.copy()
        while (rising := moves & (side * total(far) + pull < 0.0)).any():
            near, far = np.where(rising, far, near), np.where(rising, 2.0 * far, far)
        for _ in range(BISECTIONS):
            middle = 0.5 * (near + far)
            before = side * total(middle) + pull < 0.0
            near, far = np.where(before, middle, near), np.where(before, far, middle)
        return np.asarray(far[component].reshape(shape))

    @property
    def _can_split(self) -> bool:
        """Whether `split_at_zero` applies."""
        is_sparse = self.is_sparse and self.loss.traits.is_quadratic and not self._is_coupled
        return is_sparse and bool((self.sparsity > 0.0).all())

    def _common_ratio(self) -> float | None:
        """Return m if μ = m c and the loss is squared, otherwise None."""
        if not self.loss.traits.is_quadratic:
            return None
        c, mu = self.loss.weights, self.sparsity
        m = float(mu.sum() / c.sum()) if c.any() else 0.0
        fits = np.abs(mu - m * c) <= ROUNDING * np.maximum(mu, m * c)
        return m if fits.all() else None


def make_loss(signal: Any, weights: Any, loss: Any, delta: Any) -> WeightedLoss:
    """Return the data term for the name of a loss."""
    name = as_choice(loss, "loss", LOSSES)
    signal = moderate(_as_signal(signal, is_label=name == "logistic"), "signal")
    if weights is not None:
        shape = as_array(weights, "vertex_weights").shape
        weights = as_weights(weights, "vertex_weights", shape)
        moderate(weights, "vertex_weights", divides=True)
        n = np.shape(signal)[:1]
        if weights.shape not in ((), n, np.shape(signal)):
            raise ValueError(
                f"vertex_weights must be a number or have shape {n}, got shape {weights.shape}"
            )
    if name == "huber":
        return HuberLoss(signal, as_real(delta, "delta", minimum=0.0, strict=True), weights)
    if name == "absolute":
        return AbsoluteLoss(signal, weights)
    if name == "logistic":
        return LogisticLoss(signal, weights)
    return PoissonLoss(signal, weights) if name == "poisson" else SquaredLoss(signal, weights)


def _as_signal(signal: Any, *, is_label: bool) -> Floats:
    """Return the signal with NaN for missing data.

    Labels 0 and 1 become -1 and 1. 0 means no label only if -1 occurs. Otherwise all labels would
    be equal, and such a problem has no solution without sparsity.
    """
    values, known = as_observations(signs_of_booleans(signal) if is_label else signal, "signal")
    given = values if known is None else values[known]
    if is_label and (given == 1.0).any() and ((given == 0.0) | (given == 1.0)).all():
        values = np.where(values == 0.0, -1.0, values) if (given == 0.0).any() else values
    if known is None:
        return values
    empty = np.flatnonzero(~known.reshape(len(known), -1).any(axis=0))
    if empty.size:
        where = f" in channel {empty[0]}" if known.ndim > 1 else ""
        raise ValueError(f"signal must contain a number, got NaN everywhere{where}")
    return np.where(known, values, np.nan)


def _point(result: Result) -> Point | None:
    """Return the points of a result; None if it was solved directly, which uses no start."""
    is_direct = bool(result.stages) and result.stages[-1].method == "direct"
    return None if is_direct else (result.u, result.p)


def _between(
    here: Point | None,
    there: Point | None,
    ends: Floats,
    lam: float,
) -> Point | None:
    """Return the point at λ on the line between two points (u, λp)."""
    if here is None or there is None:
        return None
    share = (lam - ends[0]) / (ends[1] - ends[0]) if ends[1] != ends[0] else 0.0
    flows = (1.0 - share) * ends[0] / lam, share * ends[1] / lam
    u = (1.0 - share) * here[0] + share * there[0]
    return u, np.clip(flows[0] * here[1] + flows[1] * there[1], -1.0, 1.0)


def _certified(
    problem: Problem, u: Floats, p: Floats, runs: list[Result], how: str, options: dict[str, Any]
) -> Result:
    """Return the certified result of the problem with sparsity for points of other runs."""
    certificate = certify(problem, to_core(u), to_core(p), 1)
    tolerance = float(options.get("tol", runs[0].tolerance))
    ends = [run.status for run in runs if run.status not in ("optimal", "stalled")]
    status: Status = ends[0] if ends else "stalled"
    if certificate.relative_gap <= (tolerance or EXACT_GAP):
        status = "optimal"
    return dataclasses.replace(
        runs[0],
        u=u,
        p=p,
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.proof.gap,
        relative_gap=certificate.proof.relative_gap,
        rounding=certificate.proof.rounding,
        status=status,
        tolerance=tolerance,
        reason=f"{runs[0].reason}; sparsity by {how}",
        stages=[stage for run in runs for stage in run.stages],
        iterations=sum(run.iterations for run in runs),
        sweeps=sum(run.sweeps for run in runs),
        setup_time=sum(run.setup_time for run in runs),
        solve_time=sum(run.solve_time for run in runs),
        error_bound=certificate.error_bound,
        _unrounded=None,
    )
