"""A loss and a sparsity term, H(u) = G(u) + Σ_i μ_i |u_i|, as one data term.

Entry by entry G is convex, so that on the positive side H is G tilted by μ, on the negative side
G tilted by -μ. Hence, with x⁺ = prox_G(v - τμ) ≤ x⁻ = prox_G(v + τμ),

    prox_H(v) = max(x⁺, 0) + min(x⁻, 0).

H*(s) is the least G*(s - r) over |r| ≤ μ (an infimal convolution), attained at the r that brings
s - r as near as it can to the slopes of G at 0.

Conjugates and proximal maps of the losses are taken over a range that holds a solution
(docs/theory/terms.md). The minimisers of H_i lie between those of G_i and 0, so a vertex with the
signal 0 is added to the loss: it widens the range to 0, and adds nothing to any value. Under the
logistic loss the minimiser of H_i is y log((c - μ)/μ), or 0 from μ = c/2 on: finite, unlike that
of G_i, so the range follows without a look at the graph, and labels of one kind are allowed.
"""

from __future__ import annotations

import numpy as np

from graphtv import _core
from graphtv._elementary import log
from graphtv._validate import Floats, describe, first_index
from graphtv.terms import AbsoluteLoss, HuberLoss, LogisticLoss, SquaredLoss
from graphtv.terms._arrays import from_core, to_core

Loss = SquaredLoss | AbsoluteLoss | HuberLoss | LogisticLoss


class SparseLoss:
    """The data term G(u) + Σ_i μ_i |u_i|.

    Parameters
    ----------
    loss : SquaredLoss, AbsoluteLoss, HuberLoss or LogisticLoss
        The loss G. (A Poisson loss needs no such term: u ≥ 0, so μ|u| is part of it.)
    sparsity : ndarray
        μ ≥ 0, one number per entry.
    """

    def __init__(self, loss: Loss, sparsity: Floats) -> None:
        self.loss, self.sparsity = loss, sparsity
        self._shape = loss.shape
        if len(self._shape) == 2:
            self.n_channels = self._shape[1]
        self._term = _with_zero(loss, sparsity)
        is_squared = isinstance(loss, SquaredLoss)
        self.strong_convexity = (loss if is_squared else self._term).strong_convexity
        self._slopes = _slopes_at_zero(loss)

    def value(self, u: Floats) -> float:
        """Return H(u)."""
        return self._term.value(self._extended(u)) + float(np.sum(self.sparsity * np.abs(u)))

    def conjugate(self, s: Floats) -> float:
        """Return H*(s)."""
        r = np.clip(s - np.clip(s, *self._slopes), -self.sparsity, self.sparsity)
        return self._term.conjugate(self._extended(s - r))

    def prox(self, v: Floats, step: Floats) -> Floats:
        """Return the minimiser of H(u) + Σ_i ‖u_i - v_i‖²/(2 step_i)."""
        steps = np.append(step.reshape(len(step), -1)[:, 0], 1.0)
        tilt = step * self.sparsity
        above, below = self._prox(v - tilt, steps), self._prox(v + tilt, steps)
        return np.maximum(above, 0.0) + np.minimum(below, 0.0)

    def _prox(self, v: Floats, steps: Floats) -> Floats:
        given = self._extended(v)
        out = np.empty(given.size)
        self._term.prox(given, steps, out)
        return from_core(out, (self._shape[0] + 1, *self._shape[1:]))[:-1]

    def _extended(self, values: Floats) -> Floats:
        """Return values with 0 at the added vertex, for the core."""
        return to_core(np.concatenate([values, np.zeros((1, *self._shape[1:]))]))

    def __repr__(self) -> str:
        return f"SparseLoss({self.loss!r}, sparsity up to {self.sparsity.max(initial=0.0):g})"


def _with_zero(loss: Loss, sparsity: Floats) -> _core.DataTerm:
    """Return the core's term of the loss with one more vertex, whose signal is 0."""
    zero = np.zeros((1, *loss.shape[1:]))
    weights = np.concatenate([loss.weights, zero + 1.0])
    if isinstance(loss, LogisticLoss):
        longer = LogisticLoss(np.concatenate([loss.labels, zero]), np.append(weights[:-1], zero, 0))
        return longer._restricted(*_logistic_range(loss, sparsity))
    signal = np.concatenate([loss.signal, zero])
    if isinstance(loss, HuberLoss):
        return HuberLoss(signal, loss.delta, weights)._core_term
    return type(loss)(signal, weights)._core_term


def _logistic_range(loss: LogisticLoss, sparsity: Floats) -> tuple[float, float]:
    """Return a range that holds 0 and the minimiser of every H_i."""
    c = np.where(loss.labels == 0.0, 0.0, loss.weights)
    free = (c > 0.0) & (sparsity == 0.0)
    if free.any():
        where = first_index(free)
        raise ValueError(
            "sparsity must be positive at every labelled vertex or 0 everywhere for the logistic"
            f" loss, got 0 at {describe(where)}"
        )
    pulled = c > 2.0 * sparsity
    odds = np.where(pulled, c - sparsity, 1.0) / np.where(pulled, sparsity, 1.0)
    best = loss.labels * log(odds)
    return min(float(best.min(initial=0.0)), 0.0), max(float(best.max(initial=0.0)), 0.0)


def _slopes_at_zero(loss: Loss) -> tuple[Floats, Floats]:
    """Return the left and the right derivative of every G_i at 0."""
    c = loss.weights
    if isinstance(loss, LogisticLoss):
        slope = -0.5 * c * loss.labels
    elif isinstance(loss, SquaredLoss):
        slope = -c * loss.signal
    elif isinstance(loss, HuberLoss):
        slope = -c * np.clip(loss.signal, -loss.delta, loss.delta)
    else:
        left = np.where(loss.signal >= 0.0, -c, c)
        return left, np.where(loss.signal > 0.0, -c, c)
    return slope, slope
