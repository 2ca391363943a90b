"""The losses of problems in parts, and the data term of a window for losses that are not squared.

The flows out of a window add a linear term to its loss (see `window`). For the squared loss this
changes the data. For the other losses the core has terms with a tilt.

A dual function is smooth where the loss is strongly convex. Elsewhere block ascent could end at a
point that is not optimal, so windows have a proximal term there: where data is missing, for counts
of 0, and for the Huber loss, which is linear far from the data.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphtv import _core
from graphtv._elementary import exp
from graphtv._validate import Floats
from graphtv.graph.graph import Graph
from graphtv.terms import HuberLoss, LogisticLoss, PoissonLoss
from graphtv.terms._arrays import to_core
from graphtv.terms._units import NO_UNITS, Units, scaled
from graphtv.terms.core_term import CoreTerm
from graphtv.terms.traits import Traits, as_quadratic
from graphtv.terms.weighted_loss import WeightedLoss

NAMES = ("squared", "huber", "logistic", "poisson")

_TILTED = {
    "huber": _core.TiltedHuberTerm,
    "logistic": _core.TiltedLogisticTerm,
    "poisson": _core.TiltedPoissonTerm,
}

_ONE = np.ones(1)


class Loss(NamedTuple):
    """A smooth separable loss: its kind, and an interval that contains a solution.

    Attributes
    ----------
    name : str
        One of NAMES.
    delta : float
        Width of the Huber loss.
    lower, upper : float
        The interval; the squared loss needs none.
    """

    name: str = "squared"
    delta: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf

    @classmethod
    def of(cls, data: Any) -> Loss | None:
        """Return the kind of a data term; None if there is none for problems in parts."""
        if as_quadratic(data) is not None:
            return cls()
        if isinstance(data, HuberLoss):
            return cls("huber", data.delta)
        if isinstance(data, LogisticLoss):
            return cls("logistic")
        return cls("poisson") if isinstance(data, PoissonLoss) else None

    @property
    def is_squared(self) -> bool:
        """Whether this is the squared loss."""
        return self.name == "squared"

    @property
    def is_location(self) -> bool:
        """Whether the loss depends only on u - f."""
        return self.name in ("squared", "huber")

    def between(self, lower: float, upper: float, exponent: int) -> Loss:
        """Return the loss of v, where u is 2^exponent v, on an interval of v."""
        if self.is_squared:
            return self
        delta = float(scaled(np.float64(self.delta), -exponent))
        return self._replace(delta=delta, lower=lower, upper=upper)

    def term(self, f: Floats, c: Floats | None) -> Any:
        """Return the core's term on the interval; not for the squared loss."""
        n, channels = f.shape[0], math.prod(f.shape[1:])
        data = to_core(np.ascontiguousarray(f, dtype=np.float64))
        weights = _ONE if c is None else to_core(np.ascontiguousarray(c, dtype=np.float64))
        ends = self.lower, self.upper
        if self.name == "huber":
            return _core.HuberTerm(n, channels, data, weights, self.delta, ends)
        if self.name == "poisson":
            return _core.PoissonTerm(n, channels, data, weights, 1.0, ends)
        return _core.LogisticTerm(n, channels, data, weights, *ends)

    def is_flat(self, f: Floats, c: Floats | None) -> Any:
        """Return where windows need a proximal term."""
        if self.name == "huber":
            return np.ones(f.shape, dtype=bool)
        missing = np.zeros(f.shape, dtype=bool) if c is None else ~(c > 0.0)
        return missing if self.is_squared else missing | (f == 0.0)

    def start(self, f: Floats, c: Floats | None) -> tuple[Floats, Floats]:
        """Return the data and weights of a squared loss that resembles this one.

        The Poisson loss has the variance of a count near the upper end of the interval.
        """
        weights = np.ones(f.shape) if c is None else c.astype(np.float64)
        if self.name == "logistic":
            return 2.0 * f, 0.25 * weights
        if self.name == "poisson":
            return f, weights / max(self.upper, np.finfo(float).tiny)
        return f, weights

    def near(self, f: Floats, c: Floats | None, u: Floats) -> tuple[Floats, Floats]:
        """Return the data and weights of a squared loss with the same slopes at u.

        Up to a constant, it is at least the Huber and the logistic loss everywhere (P. Huber 1981;
        T. Jaakkola and M. Jordan 2000), so its minimiser decreases these losses. For the Poisson
        loss this need not hold.
        """
        weights = np.ones(f.shape) if c is None else c.astype(np.float64)
        if self.name == "huber":
            away = np.abs(u - f)
            scale = np.where(away > self.delta, self.delta / np.where(away > 0.0, away, 1.0), 1.0)
            return f, weights * scale
        if self.name == "logistic":
            flipped = f * u
            decay = exp(-np.abs(u))
            share = np.where(flipped > 0.0, decay, 1.0) / (1.0 + decay)
            # tanh(u/2)/(2u), and its limit at 0.
            size = np.where(np.abs(u) > 1e-4, np.abs(u), 1.0)
            ratio = np.where(np.abs(u) > 1e-4, (1.0 - decay) / (1.0 + decay) / (2.0 * size), 0.25)
            is_known = (f != 0.0) & (weights > 0.0)
            scaled = np.where(is_known, weights * ratio, 0.0)
            return np.where(is_known, u + f * share / ratio, 0.0), scaled
        safe = np.maximum(u, max(1e-9 * self.upper, np.finfo(float).tiny))
        steep = np.maximum(f / safe, 1.0)
        return safe - (1.0 - f / safe) * safe / steep, weights * steep / safe


SQUARED = Loss()


class TiltedLoss(CoreTerm):
    """The data term of a window: a loss with a linear term, and a proximal term where ρ > 0.

    Parameters
    ----------
    loss : Loss
        The loss, with an interval.
    f, c : ndarray, shape (n,) or (n, C)
        Data and vertex weights; None means 1 everywhere.
    tilt, rho, anchor : ndarray, shape of f
        The term ⟨tilt, u⟩ + ½ Σ ρ (u - anchor)².
    """

    traits = Traits(is_smooth=True, is_curved_in_domain_only=True, has_closed_prox=True)

    def __init__(
        self, loss: Loss, f: Floats, c: Floats | None, tilt: Floats, rho: Floats, anchor: Floats
    ) -> None:
        self._given = loss, f, c, tilt, rho, anchor
        self._shape = f.shape
        arrays = (to_core(np.ascontiguousarray(values)) for values in (tilt, rho, anchor))
        self._core_term = _TILTED[loss.name](loss.term(f, c), *arrays)

    def units(self, graph: Graph, centre: Floats | None, radix: int) -> Units:
        """Return no units: the parts have moderate numbers."""
        return NO_UNITS

    def _arguments(self) -> tuple[Any, ...]:
        return self._given

    def _describe(self) -> str:
        return f"{self._given[0].name}, shape {self._shape}"


def weights_of(data: WeightedLoss) -> Any:
    """Return the vertex weights of a data term, 0 where data is missing; None means 1."""
    if isinstance(data, LogisticLoss):
        is_known = data.observed
        if is_known.all() and data.common_weight == 1.0:
            return None
        return np.where(is_known, data.weights, 0.0)
    return None if data.common_weight == 1.0 else data.weights
