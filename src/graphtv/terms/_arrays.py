"""Arrays of a data term: validated, copied, and stored one channel after another for the core."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_floats, as_observations, as_weights, frozen


def as_data(values: Any, name: str) -> Floats:
    """Return a read-only copy of `values` of shape (n,) or (n, C), C ≥ 1."""
    data = as_floats(values, name)
    _check_shape(data, name)
    return frozen(np.array(data))


def as_incomplete_data(values: Any, name: str) -> tuple[Floats, NDArray[np.bool_] | None]:
    """Return a copy like `as_data` with 0 for missing data (NaN or masked), and a mask of the data.

    The mask is None if no data is missing.
    """
    data, known = as_observations(values, name)
    _check_shape(data, name)
    return frozen(np.array(data)), known


def _check_shape(data: Floats, name: str) -> None:
    if data.ndim == 0 or 0 in data.shape[1:]:
        raise ValueError(
            f"{name} must have shape (n,) or (n, C), or that of a grid, got {data.shape}"
        )


def as_data_weights(
    values: Any, name: str, shape: tuple[int, ...], known: NDArray[np.bool_] | None = None
) -> Floats:
    """Return a read-only copy of weights, which are one number, one per vertex or one per entry.

    Where `known` is False, they become 0.
    """
    weights = np.ones(()) if values is None else _checked_weights(values, name, shape)
    if known is not None:
        weights = np.where(known, spread(weights, shape), 0.0)
    return frozen(np.array(weights))


def _checked_weights(values: Any, name: str, shape: tuple[int, ...]) -> Floats:
    weights = as_floats(values, name)
    allowed = ((), shape[:1], shape)
    if weights.shape not in allowed:
        forms = " or ".join(str(form) for form in dict.fromkeys(allowed[1:]))
        raise ValueError(
            f"{name} must be a number or have shape {forms}, got shape {weights.shape}"
        )
    return as_weights(weights, name, weights.shape)


def spread(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return one number per entry, given one number, one per vertex or one per entry; no copy."""
    if 0 < values.ndim < len(shape):
        values = values.reshape(*values.shape, *(1 for _ in shape[values.ndim :]))
    return np.broadcast_to(values, shape)


def as_bound(values: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """Return a read-only copy of bounds, which are one number, one per vertex or one per entry."""
    bound = as_floats(values, name)
    if bound.shape not in ((), shape[:1], shape):
        forms = " or ".join(str(form) for form in dict.fromkeys((shape[:1], shape)))
        raise ValueError(f"{name} must be a number or have shape {forms}, got shape {bound.shape}")
    return frozen(np.array(bound))


def as_objective(value: Any, name: str) -> float:
    """Return the value that the user's method `name` returned, as a float."""
    array = np.asarray(value)
    if array.ndim != 0 or array.dtype.kind not in "buif" or math.isnan(float(array)):
        raise ValueError(f"{name} must return a number, got {value!r}")
    return float(array)


def to_core(values: Floats) -> Floats:
    """Return an array of shape (n,) or (n, C) as the core's flat array; (n,) is not copied."""
    return np.ascontiguousarray(values.T).reshape(-1)


def to_core_entries(values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return one number or one per entry, in the form that the core expects."""
    return values.reshape(1) if values.ndim == 0 else to_core(spread(values, shape))


class GridShape(tuple[int, ...]):
    """Shape of u on a grid: the lengths of the grid's axes, and C if there are channels.

    Attributes
    ----------
    rows : tuple of int
        The shape of the same u with one row per vertex, (n,) or (n, C).
    """

    rows: tuple[int, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...], n_axes: int) -> GridShape:
        """Return the shape whose first axes are those of a grid."""
        made = cls(shape)
        made.rows = (math.prod(shape[:n_axes]), *shape[n_axes:])
        return made


def rows_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of u with one row per vertex, (n,) or (n, C)."""
    return shape.rows if isinstance(shape, GridShape) else shape


def from_core(flat: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the core's flat array as u of this shape, if possible as a view."""
    rows = rows_of(shape)
    u = flat if len(rows) == 1 else flat.reshape(rows[::-1]).T
    return u.reshape(shape)
