"""The optimum of an instance with a proof: the reference for every accuracy.

u and p come from graphtv, but the proof does not depend on it. With q = Kᵀp and |p| ≤ 1,
    P(u) = ½‖u - f‖² + Σ ω_e |u_i - u_j|  ≥  min P  ≥  D(p) = ⟨f, q⟩ - ½‖q‖²,
and both sides are recomputed here in the longest floats of the machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphtv
from races.problems import Instance

CERTIFIED = 1e-13
"""The largest relative gap of a reference, a tenth of the highest requested accuracy."""


class Reference(NamedTuple):
    """The minimum lies between `dual` and `primal`."""

    primal: float
    dual: float

    @property
    def relative_gap(self) -> float:
        """The relative uncertainty of the minimum."""
        return (self.primal - self.dual) / max(abs(self.primal), abs(self.dual), 1e-300)

    @property
    def certified(self) -> bool:
        """Whether the uncertainty is small enough."""
        return self.relative_gap <= CERTIFIED

    def accuracy(self, instance: Instance, u: NDArray[Any]) -> float:
        """Return the relative primal suboptimality of u, or an upper bound of it."""
        value = primal(instance, u)
        if not np.isfinite(value):
            return float("inf")
        return max(0.0, (value - self.dual) / (abs(self.dual) or 1.0))


def primal(instance: Instance, u: NDArray[Any]) -> float:
    """Return the objective at u."""
    x = np.asarray(u, dtype=np.longdouble).ravel()
    tail, head = instance.graph.edges.T
    fidelity = 0.5 * np.sum((x - instance.signal) ** 2)
    return float(fidelity + np.sum(instance.graph.weights * np.abs(x[tail] - x[head])))


def dual(instance: Instance, p: NDArray[Any]) -> float:
    """Return the lower bound that p proves."""
    if np.abs(p).max(initial=0.0) > 1.0:
        raise ValueError("p must lie in [-1, 1]")
    n, (tail, head) = len(instance.signal), instance.graph.edges.T
    q = np.zeros(n, dtype=np.longdouble)
    flow = instance.graph.weights * p.astype(np.longdouble)
    np.add.at(q, tail, flow)
    np.subtract.at(q, head, flow)
    return float(np.sum(instance.signal * q) - 0.5 * np.sum(q * q))


def prove(instance: Instance) -> Reference:
    """Return the minimum of an instance, with a checked proof."""
    problem = graphtv.Problem(instance.graph, graphtv.SquaredLoss(instance.signal))
    result = graphtv.solve(problem, tol=0.0)
    return Reference(primal(instance, result.u), dual(instance, result.p))
