"""Custom data terms in Python."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphtv import _core
from graphtv._validate import Floats, as_count, as_floats, as_real
from graphtv.graph.graph import Graph
from graphtv.graph.labelled import Places, places_in
from graphtv.terms._arrays import GridShape, as_objective, from_core, spread, to_core
from graphtv.terms.core_term import CoreTerm
from graphtv.terms.traits import traits_of

__all__ = ["DataTerm"]

LONGEST_STEP = 1e30
"""Largest step that is passed to a custom term. Solvers start with a nearly infinite step, whose
powers would overflow in a user's formula."""


@runtime_checkable
class DataTerm(Protocol):
    """The interface of a data term: any object with these three methods is a data term.

    u has shape (n,), or (n, C) if the object has an attribute `n_channels` = C. The function G must
    be convex. These attributes and methods are optional:

    - `n_channels` : int, the number C of channels.
    - `strong_convexity` : float, a γ for which G - γ/2 ‖u‖² is convex. It makes solvers faster and
      gives an error bound.
    - `domain` : two numbers. For every graph, some solution has all its entries between them.
      Solvers use it to choose the first step sizes.
    - `is_separable` : bool. False if G is not a sum over the vertices. `prox` then receives a
      single number as its step, and ``preconditioner="diagonal"`` is not available.
    - `minimizer(vertices, channel, slope)` : the number m that minimises Σ G_i(m) + slope · m over
      an array of vertices, for a G that is a sum over all entries. With it, the solver computes the
      exact values of regions once it knows which vertices share a value.

    Certificates are correct only if `value` and `conjugate` are. If the conjugate is infinite at
    some dual points, the certificate is delayed. To keep it finite, restrict G to a box that
    contains a solution.

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
        """Return G(u), infinite outside of the domain of G."""
        ...

    def conjugate(self, s: Floats) -> float:
        """Return G*(s) = sup_u ⟨s, u⟩ - G(u)."""
        ...

    def prox(self, v: Floats, step: Floats) -> Floats:
        """Return the minimiser of G(u) + Σ_i ‖u_i - v_i‖²/(2 step_i).

        `step` is a read-only array of positive numbers with the shape of v. All channels of a
        vertex have the same step.
        """
        ...


class _Adapter:
    """Adapts a user's term to the core's flat arrays, and validates its results."""

    def __init__(self, data: DataTerm, shape: tuple[int, ...]) -> None:
        self._data, self._shape = data, shape

    def value(self, u: Floats) -> float:
        return as_objective(self._data.value(from_core(u, self._shape)), "data.value")

    def conjugate(self, s: Floats) -> float:
        return as_objective(self._data.conjugate(from_core(s, self._shape)), "data.conjugate")

    def prox(self, v: Floats, steps: Floats) -> Floats:
        step: Any = np.minimum(steps, LONGEST_STEP)
        if traits_of(self._data).is_separable:
            step = spread(step, self._shape)
        elif steps.size == 1:
            step = float(step[0])
        else:
            raise ValueError("preconditioner must not be 'diagonal': data is not separable")
        u = as_floats(self._data.prox(from_core(v, self._shape), step), "data.prox(v, step)")
        if u.shape != self._shape:
            raise ValueError(f"data.prox(v, step) must have shape {self._shape}, got {u.shape}")
        return to_core(u)

    def minimizer(self, vertices: Floats, channel: int, slope: float) -> float:
        m = self._data.minimizer(vertices, channel, slope)  # type: ignore[attr-defined]
        return as_real(m, "data.minimizer(vertices, channel, slope)")


def shape_of(data: DataTerm, n_vertices: int) -> tuple[int, ...]:
    """Return the shape of u, (n,) or (n, C)."""
    if isinstance(data, CoreTerm):
        if data.shape[0] != n_vertices or len(data.shape) > 2:
            raise ValueError(
                f"data must have {n_vertices} vertices as graph has, or the shape of its grid,"
                f" got shape {data.shape}"
            )
        return data.shape
    n_channels = getattr(data, "n_channels", None)
    if n_channels is None:
        return (n_vertices,)
    return (n_vertices, as_count(n_channels, "data.n_channels", minimum=1))


def on_grid(data: DataTerm, graph: Graph) -> tuple[DataTerm, tuple[int, ...], Places | None]:
    """Return a term with one row per vertex, the shape of u, and the place of each vertex in it.

    The places are None if the rows of the data are in the order of the vertices.

    If the shape of a core term begins with that of the grid and has at most one more axis, every
    pixel is a vertex. Otherwise the first axis numbers the vertices. Both readings are possible
    only on a grid with a single axis longer than 1, where they agree.
    """
    axes = () if graph._grid is None else graph._grid.shape
    d = len(axes)
    if isinstance(data, CoreTerm) and d > 1 and data.shape in (axes, (*axes, *data.shape[d:][:1])):
        return data._with_rows(d), GridShape.of(data.shape, d), None
    if isinstance(data, CoreTerm) and data.labelling is not None:
        places = places_in(graph, data.labelling, "data")
        if places is not None:
            return data._at(places), shape_of(data, graph.n_vertices), places
    return data, shape_of(data, graph.n_vertices), None


def core_term_of(data: DataTerm, graph: Graph, penalty: _core.Penalty) -> _core.DataTerm:
    """Return the core's view of a term on a graph with a penalty."""
    if isinstance(data, CoreTerm):
        return data.core_on(graph, penalty)
    shape = shape_of(data, graph.n_vertices)
    gamma = getattr(data, "strong_convexity", 0.0)
    gamma = as_real(gamma, "data.strong_convexity", minimum=0.0)
    channels = shape[1] if len(shape) == 2 else 1
    kind = _core.PythonSeparableTerm if hasattr(data, "minimizer") else _core.PythonTerm
    return kind(graph.n_vertices, channels, _Adapter(data, shape), gamma, *_domain_of(data))


def _domain_of(data: DataTerm) -> tuple[float, float]:
    given = getattr(data, "domain", (-np.inf, np.inf))
    ends = np.asarray(given, dtype=float)
    if ends.shape != (2,) or not ends[0] <= ends[1]:
        raise ValueError(f"data.domain must be two numbers in order, got {given!r}")
    return float(ends[0]), float(ends[1])
