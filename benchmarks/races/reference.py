"""The optimum of an instance, proved: what every accuracy is measured against.

u and p are graphtv's exact answer, but nothing rests on graphtv: with q = Kᵀp and |p| ≤ 1,
    P(u) = ½‖u - f‖² + Σ ω_e |u_i - u_j|  ≥  min P  ≥  D(p) = ⟨f, q⟩ - ½‖q‖²,
both computed here from scratch, in the longest floats of the machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import graphtv
from races.problems import Instance

CERTIFIED = 1e-13
"""The largest relative gap of a reference, a tenth of the finest accuracy that is asked for."""


class Reference(NamedTuple):
    """The minimum lies between `dual` and `primal`."""

    primal: float
    dual: float

    @property
    def relative_gap(self) -> float:
        """How well the minimum is known."""
        return (self.primal - self.dual) / max(abs(self.primal), abs(self.dual), 1e-300)

    @property
    def certified(self) -> bool:
        """Whether that is well enough."""
        return self.relative_gap <= CERTIFIED

    def accuracy(self, instance: Instance, u: NDArray[Any]) -> float:
        """Return the relative primal suboptimality of u, or what of it can be excluded."""
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
    """Return the bound that p proves."""
    if np.abs(p).max(initial=0.0) > 1.0:
        raise ValueError("p must lie in [-1, 1]")
    n, (tail, head) = len(instance.signal), instance.graph.edges.T
    q = np.zeros(n, dtype=np.longdouble)
    flow = instance.graph.weights * p.astype(np.longdouble)
    np.add.at(q, tail, flow)
    np.subtract.at(q, head, flow)
    return float(np.sum(instance.signal * q) - 0.5 * np.sum(q * q))


def prove(instance: Instance) -> Reference:
    """Return the minimum of an instance, with its proof checked."""
    problem = graphtv.Problem(instance.graph, graphtv.SquaredLoss(instance.signal))
    result = graphtv.solve(problem, tol=0.0)
    return Reference(primal(instance, result.u), dual(instance, result.p))
