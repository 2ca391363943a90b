"""Validate arguments of public functions.

Every error names the argument and shows the offending value. Each function takes the user's value
and the name of the argument, and returns the type that the core needs, so that later code need not
check again.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphtv import _core

Floats = NDArray[np.float64]
Rounded = NDArray[np.int16]  # dual points in multiples of 1/32767
Indices = NDArray[np.int32]
Rng: TypeAlias = "int | np.random.Generator | None"
T = TypeVar("T", bound=np.generic)

FLOAT64 = np.dtype(np.float64)

INDEX_LIMIT = 2**31 - 1
"""Largest number of vertices or edges; the core uses 32-bit indices."""

MODERATE = 1e100
"""Largest magnitude that applications accept. A product of three such numbers is finite."""


def moderate(value: Any, name: str, *, divides: bool = False) -> Any:
    """Return `value`, a number or an array, if products of its entries stay finite.

    A number that is a divisor, or an array with `divides`, must not be too small either.
    """
    sizes = np.abs(np.asarray(value))
    bad = sizes > MODERATE
    divides = divides or sizes.ndim == 0
    if divides:
        bad = bad | ((sizes > 0.0) & (sizes < 1.0 / MODERATE))
    if np.any(bad):
        where = first_index(np.asarray(bad))
        least = f"0 or at least {1 / MODERATE:g}, and " if divides else ""
        raise ValueError(
            f"{name} must be {least}at most {MODERATE:g} in size,"
            f" got {np.asarray(value)[where]} at {describe(where)}"
        )
    return value


def as_count(value: Any, name: str, *, minimum: int = 0, maximum: int = INDEX_LIMIT) -> int:
    """Return `value` as an int in [minimum, maximum]."""
    if isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    try:
        count = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, got {value!r}") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {count}")
    if count > maximum:
        raise ValueError(f"{name} must be at most {maximum}, got {count}")
    return count


def as_generator(rng: Any, name: str = "rng") -> np.random.Generator:
    """Return a random generator, from a seed, from a generator, or from None for a random seed."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    try:
        return np.random.default_rng(as_count(rng, name, maximum=2**128 - 1))
    except ValueError as error:
        raise ValueError(f"{error}; a Generator or None is also possible") from None


def as_shape(shape: Any) -> tuple[int, ...]:
    """Return the lengths of the axes of a grid as a tuple; `shape` is an int or a sequence."""
    several = isinstance(shape, Sequence) or as_array(shape, "shape").ndim > 0
    lengths = tuple(
        as_count(length, "shape", minimum=1) for length in (shape if several else [shape])
    )
    if not lengths:
        raise ValueError("shape must have at least one axis, got ()")
    return lengths


def as_real(value: Any, name: str, *, minimum: float = -math.inf, strict: bool = False) -> float:
    """Return `value` as a finite float, at least (if `strict`, above) `minimum`."""
    if type(value) is float and math.isfinite(value):
        real = value
    else:
        array = as_floats(value, name)
        if array.ndim != 0:
            raise ValueError(f"{name} must be a number, got an array of shape {array.shape}")
        real = float(array)
    if real < minimum or (strict and real == minimum):
        raise ValueError(
            f"{name} must be {'above' if strict else 'at least'} {minimum}, got {real}"
        )
    return real


def as_flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def as_callable(value: Any, name: str) -> Any:
    """Return `value` if it is callable or None."""
    if value is not None and not callable(value):
        raise ValueError(f"{name} must be callable, got {brief(value)}")
    return value


def as_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def as_floats(values: Any, name: str) -> Floats:
    """Return `values` as a C-contiguous float64 array of finite numbers, of any shape.

    Booleans, integers and floats of any width and byte order are accepted. Complex numbers, strings
    and objects are errors.
    """
    floats = _converted(values, name)
    if not is_finite(floats):
        where = first_index(~np.isfinite(floats))
        raise ValueError(f"{name} must be finite, got {floats[where]} at {describe(where)}")
    return floats


def _converted(values: Any, name: str) -> Floats:
    """Return `values` as a C-contiguous float64 array; most are one already."""
    if (
        type(values) is np.ndarray
        and values.dtype == FLOAT64
        and values.flags.c_contiguous
        and values.flags.aligned
    ):
        return values
    array = as_array(values, name)
    if array.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=np.float64, order="C")


def is_finite(floats: Floats) -> bool:
    """Whether a C-contiguous array has finite numbers only.

    If it is aligned, this takes one pass and no other array.
    """
    if not floats.flags.aligned:
        return bool(np.isfinite(floats).all())
    return math.isfinite(_core.largest_size(floats))


def as_observations(values: Any, name: str) -> tuple[Floats, NDArray[np.bool_] | None]:
    """Return `values` as float64, with 0 for missing data, and a mask of the entries with data.

    NaN and the masked entries of a masked array mark missing data. The mask is None if no data is
    missing. Infinite values are errors.
    """
    floats = _converted(unmasked(values), name)
    known = None
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        known = ~np.ma.getmaskarray(values)
    known = where_known(floats, name, known)
    return (floats, None) if known is None else (np.where(known, floats, 0.0), known)


def unmasked(values: Any) -> Any:
    """Return the data of a masked array, including masked entries."""
    return values.data if isinstance(values, np.ma.MaskedArray) else values


def where_known(
    array: NDArray[Any], name: str, known: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_] | None:
    """Return a mask of the entries that are not NaN; raise if one of them is infinite.

    `known` is a mask of entries that are known to have data; None means all of them.
    """
    if array.dtype.kind != "f":
        return known
    if array.dtype == FLOAT64 and array.flags.c_contiguous and is_finite(array):
        return known
    finite = np.isfinite(array)
    if finite.all():
        return known
    infinite = np.isinf(array) if known is None else np.isinf(array) & known
    if infinite.any():
        where = first_index(infinite)
        raise ValueError(
            f"{name} must not be infinite, got {array[where]} at {describe(where)};"
            " NaN marks missing data"
        )
    return np.asarray(finite if known is None else finite & known)


def white_level(dtype: np.dtype[Any], *, holds_counts: bool = False) -> float:
    """Return the value that represents white, by which pixels of this type are divided.

    It is 255 for uint8 and 65535 for uint16, as in scikit-image, since these types usually hold
    grey values. It is 1 for all other types, such as int16 for CT numbers and int64 for
    measurements, and for counts of any type.
    """
    if holds_counts or dtype.kind != "u" or dtype.itemsize > 2:
        return 1.0
    return float(np.iinfo(dtype).max)


def as_intensities(array: NDArray[Any], *, holds_counts: bool = False) -> Floats:
    """Return the pixels divided by their `white_level`."""
    white = white_level(array.dtype, holds_counts=holds_counts)
    if white != 1.0:
        return np.asarray(np.multiply(array, 1.0 / white, dtype=np.float64))
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=np.float64)


def as_signal(values: Any, name: str, n_vertices: int) -> Floats:
    """Return `values` as finite floats of shape (n_vertices,) or (n_vertices, C)."""
    signal = as_floats(values, name)
    if signal.ndim not in (1, 2) or signal.shape[0] != n_vertices:
        raise ValueError(
            f"{name} must have shape ({n_vertices},) or ({n_vertices}, C), got {signal.shape}"
        )
    return signal


def as_weights(values: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """Return `values`, a number or an array of shape `shape`, as finite nonnegative floats."""
    weights = as_floats(values, name)
    if weights.ndim != 0 and weights.shape != shape:
        raise ValueError(
            f"{name} must be a number or have shape {shape}, got shape {weights.shape}"
        )
    negative = weights < 0
    if negative.any():
        where = first_index(negative)
        raise ValueError(f"{name} must not be negative, got {weights[where]} at {describe(where)}")
    return weights if weights.shape == shape else np.full(shape, weights)


def as_edges(values: Any, name: str, n_vertices: int) -> Indices:
    """Return `values` as an (m, 2) array of vertices below `n_vertices`."""
    array = as_array(values, name)
    if array.size == 0 and array.shape in ((0,), (0, 2), (1, 0)):
        return np.empty((0, 2), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} must have shape (m, 2), got {array.shape}")
    if array.dtype.kind not in "ui":
        raise ValueError(f"{name} must hold integers, got dtype {array.dtype}")
    if len(array) > INDEX_LIMIT:
        raise ValueError(
            f"{name} must have at most {INDEX_LIMIT} rows, got {len(array)};"
            " PartitionedGraph.from_dask has no such limit"
        )
    if array.size and (array.min() < 0 or array.max() >= n_vertices):
        row, column = first_index((array < 0) | (array >= n_vertices))
        raise ValueError(
            f"{name} must lie in [0, {n_vertices}), got {array[row, column]} in row {row}"
        )
    return np.ascontiguousarray(array, dtype=np.int32)


def first_index(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the index of the first True in `mask`."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def describe(index: tuple[int, ...]) -> str:
    """Return an index in readable form."""
    return f"index {index[0] if len(index) == 1 else index}" if index else "the scalar"


def brief(value: Any) -> str:
    """Return the representation of a value, truncated if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return `values` as an aligned array of any type and shape."""
    if np.ma.is_masked(values):
        where = first_index(np.ma.getmaskarray(values))
        raise ValueError(f"{name} must not be masked, got a masked entry at {describe(where)}")
    try:
        array = _from_library(values)
    except (ValueError, TypeError, RuntimeError, BufferError) as error:
        raise ValueError(f"{name} must be an array: {error}") from None
    return aligned(array)


def _from_library(values: Any) -> NDArray[Any]:
    """Return `values` as an array; arrays of other libraries may offer DLPack alone."""
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return np.from_dlpack(values)
    return np.asarray(values)


def aligned(array: NDArray[T]) -> NDArray[T]:
    """Return `array`, or an aligned copy if it is not aligned; the core needs aligned arrays.

    Buffers from other processes and fields of packed records are often not aligned.
    """
    return array if array.flags.aligned else array.copy()


def frozen(array: NDArray[T]) -> NDArray[T]:
    """Make `array` (or a copy, if it is not aligned) read-only and return it."""
    array = aligned(array)
    array.flags.writeable = False
    return array


def is_dask(values: Any) -> bool:
    """Return whether `values` is a Dask array, without importing Dask."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(values, module.Array)


def is_partitioned(graph: Any) -> bool:
    """Return whether `graph` is a `PartitionedGraph`, without importing its module."""
    module = sys.modules.get("graphtv.scale.partitioned_graph")
    return module is not None and isinstance(graph, module.PartitionedGraph)


def as_capacities(
    values: Any, name: str, shape: tuple[int, ...], *, infinite: bool = False
) -> NDArray[Any]:
    """Return `values`, a number or an array of shape `shape`, as nonnegative int64 or float64.

    Integers are kept exactly and must be below 2⁶³. Infinity is allowed if `infinite` is true.
    """
    array = as_array(values, name)
    if array.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must hold integers below 2⁶³ or real numbers, got dtype {array.dtype}"
        )
    if array.ndim != 0 and array.shape != shape:
        raise ValueError(f"{name} must be a number or have shape {shape}, got shape {array.shape}")
    bad = array < 0
    if array.dtype.kind == "f":
        bad |= np.isnan(array) if infinite else ~np.isfinite(array)
    elif array.dtype == np.uint64:
        bad |= array > np.uint64(2**63 - 1)
    if bad.any():
        where = first_index(bad)
        wanted = "nonnegative" if infinite else "nonnegative and finite"
        if array.dtype.kind != "f":
            wanted = "nonnegative and below 2⁶³"
        raise ValueError(f"{name} must be {wanted}, got {array[where]} at {describe(where)}")
    kind = np.float64 if array.dtype.kind == "f" else np.int64
    return np.array(np.broadcast_to(array, shape), dtype=kind)
