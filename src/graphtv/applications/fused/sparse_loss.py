"""A loss and a sparsity term, H(u) = G(u) + Σ_i μ_i |u_i|, as one data term.

G is separable and convex. For u > 0, H is G plus μu, and for u < 0 it is G minus μu. Hence, with
x⁺ = prox_G(v - τμ) ≤ x⁻ = prox_G(v + τμ),

    prox_H(v) = max(x⁺, 0) + min(x⁻, 0).

H*(s) is the minimum of G*(s - r) over |r| ≤ μ (an infimal convolution). It is attained at the r for
which s - r is nearest to the slopes of G at 0.

Conjugates and proximal maps of the losses are taken over a range that contains a solution
(docs/theory/terms.md). The minimisers of H_i lie between those of G_i and 0. Therefore a vertex
with the signal 0 is added to the loss. It extends the range to 0 and adds nothing to any value. For
the logistic loss, the minimiser of H_i is y log((c - μ)/μ) if μ < c/2, and 0 otherwise. Unlike the
minimiser of G_i it is finite. So the range does not depend on the graph, and all labels may be
equal.
"""

from __future__ import annotations

import numpy as np

from graphtv._validate import Floats
from graphtv.terms._arrays import from_core, to_core
from graphtv.terms.weighted_loss import WeightedLoss


class SparseLoss:
    """The data term G(u) + Σ_i μ_i |u_i|.

    Parameters
    ----------
    loss : SquaredLoss, AbsoluteLoss, HuberLoss or LogisticLoss
        The loss G. (A PoissonLoss needs no such term: see its `with_sparsity`.)
    sparsity : ndarray
        μ ≥ 0, one number per entry.
    """

    def __init__(self, loss: WeightedLoss, sparsity: Floats) -> None:
        self.loss, self.sparsity = loss, sparsity
        self._shape = loss.shape
        if len(self._shape) == 2:
            self.n_channels = self._shape[1]
        self._term = loss.with_zero(sparsity)
        is_everywhere = not loss.traits.is_curved_in_domain_only
        self.strong_convexity = (loss if is_everywhere else self._term).strong_convexity
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
        """Return the values with 0 appended for the added vertex."""
        return to_core(np.concatenate([values, np.zeros((1, *self._shape[1:]))]))

    def __repr__(self) -> str:
        return f"SparseLoss({self.loss!r}, sparsity up to {self.sparsity.max(initial=0.0):g})"


def _slopes_at_zero(loss: WeightedLoss) -> tuple[Floats, Floats]:
    """Return the left and the right derivative of every G_i at 0."""
    beside = 0.0 if loss.traits.is_smooth else np.finfo(np.float64).smallest_subnormal
    at = np.full(loss.shape, beside)
    return loss.derivative(-at), loss.derivative(at)
