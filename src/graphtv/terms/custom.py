"""A user's own data term, in Python."""

from __future__ import annotations

import math
from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, as_count, as_floats, as_real
from graphtv.terms._arrays import from_core, spread, to_core

__all__ = ["DataTerm"]

LONGEST_STEP = 1e30
"""Solvers start with a next to infinite step; a user's formula may take powers of what it gets."""


@runtime_checkable
class DataTerm(Protocol):
    """What a data term must be able to do: any object with these three methods is one.

    u has shape (n,), or (n, C) if the object has an attribute `n_channels` = C. The function G must
    be convex and a sum over the vertices. Two more attributes are optional:

    - `n_channels` : int, the number C of channels;
    - `strong_convexity` : float, a γ for which G - γ/2 ‖u‖² is convex; it makes solvers faster and
      gives an error bound.

    Certificates rest on `value` and `conjugate` being right. A conjugate that is infinite at some
    dual points only delays the certificate; to keep it finite, restrict G to a box that is known to
    hold a solution.

    Examples
    --------
    The loss ¼ Σ (u_i - f_i)⁴:

    >>> import numpy as np
    >>> from graphtv import Problem, grid_graph
    >>> class QuarticLoss:
    ...     def __init__(self, signal):
    ...         self.signal = np.asarray(signal, dtype=float)
    ...
    ...     def value(self, u):
    ...         return np.sum((u - self.signal) ** 4) / 4
    ...
    ...     def conjugate(self, s):  # attained where (u - f)³ = s
    ...         return np.sum(s * self.signal + 0.75 * np.abs(s) ** (4 / 3))
    ...
    ...     def prox(self, v, step):  # the root of r³ + (r - d)/step = 0, r = u - f, d = v - f
    ...         q = (v - self.signal) / (2 * step)
    ...         r = np.sqrt(q**2 + 1 / (27 * step**3))
    ...         return self.signal + np.cbrt(q + r) + np.cbrt(q - r)
    >>> problem = Problem(grid_graph((3,), 0.5), QuarticLoss([0.0, 0.0, 2.0]))
    >>> problem.primal([0.0, 0.0, 2.0]), problem.dual([0.0, 0.0])
    (1.0, 0.0)
    """

    def value(self, u: Floats) -> float:
        """Return G(u), infinite where u is not allowed."""
        ...

    def conjugate(self, s: Floats) -> float:
        """Return G*(s) = sup_u ⟨s, u⟩ - G(u)."""
        ...

    def prox(self, v: Floats, step: Floats) -> Floats:
        """Return the minimiser of G(u) + Σ_i ‖u_i - v_i‖²/(2 step_i).

        `step` is a read-only array of positive numbers, of the shape of v. All channels of a vertex
        have the same step.
        """
        ...


class _Adapter:
    """Stands between the core's flat arrays and a user's term, and checks what that returns."""

    def __init__(self, data: DataTerm, shape: tuple[int, ...]) -> None:
        self._data, self._shape = data, shape

    def value(self, u: Floats) -> float:
        return _as_objective(self._data.value(from_core(u, self._shape)), "value")

    def conjugate(self, s: Floats) -> float:
        return _as_objective(self._data.conjugate(from_core(s, self._shape)), "conjugate")

    def prox(self, v: Floats, steps: Floats) -> Floats:
        step = spread(np.minimum(steps, LONGEST_STEP), self._shape)
        u = as_floats(self._data.prox(from_core(v, self._shape), step), "data.prox(v, step)")
        if u.shape != self._shape:
            raise ValueError(f"data.prox(v, step) must have shape {self._shape}, got {u.shape}")
        return to_core(u)


def core_term_of(data: DataTerm, n_vertices: int) -> tuple[_core.DataTerm, tuple[int, ...]]:
    """Return the core's view of a user's term, and the shape of u."""
    shape: tuple[int, ...] = (n_vertices,)
    n_channels = getattr(data, "n_channels", None)
    if n_channels is not None:
        shape = (n_vertices, as_count(n_channels, "data.n_channels", minimum=1))
    gamma = getattr(data, "strong_convexity", 0.0)
    gamma = as_real(gamma, "data.strong_convexity", minimum=0.0)
    channels = shape[1] if len(shape) == 2 else 1
    return _core.PythonTerm(n_vertices, channels, _Adapter(data, shape), gamma), shape


def _as_objective(value: Any, name: str) -> float:
    array = np.asarray(value)
    if array.ndim != 0 or array.dtype.kind not in "buif" or math.isnan(float(array)):
        raise ValueError(f"data.{name} must return a number, got {value!r}")
    return float(array)
