"""`denoise_tv` and `fused_lasso` for dask arrays."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from graphtv._validate import (
    Floats,
    as_intensities,
    as_observations,
    as_real,
    as_weights,
    brief,
    moderate,
    where_known,
)
from graphtv.applications.imaging.image import as_channel_axis, float_type
from graphtv.applications.imaging.losses import LOSSES, as_loss
from graphtv.applications.imaging.mosaic import MOST_PIXELS, mosaic
from graphtv.applications.imaging.noise import suggest_weight
from graphtv.graph.grid import as_spacing
from graphtv.graph.neighbourhood import crofton_weights, is_axial, neighbour_steps
from graphtv.scale.graph_problem import GraphProblem
from graphtv.scale.grid_problem import GridProblem
from graphtv.scale.loss import Loss
from graphtv.scale.result import PartitionedResult, TiledResult
from graphtv.scale.solve import solve_partitioned, solve_tiled
from graphtv.scale.stepped_grid import SteppedGrid
from graphtv.scale.tiling import Tiling, fitting_chunks, layers
from graphtv.terms import HuberLoss, Penalty, PoissonLoss, SquaredLoss
from graphtv.terms.penalty import edge_delta


def denoise_tiled(
    image: Any,
    weight: Any,
    *,
    mask: Any,
    spacing: Any,
    channel_axis: Any,
    penalty: Penalty,
    coupled: bool,
    loss: Any,
    connectivity: Any = 1,
    **options: Any,
) -> tuple[Any, PartitionedResult]:
    """Denoise a dask array; see `graphtv.denoise_tv`."""
    _check_array(image, "image")
    delta = edge_delta(penalty)
    if delta is None:
        raise ValueError(
            f"penalty must be TotalVariation() or HuberTV(delta) for a dask array, got {penalty!r}"
        )
    axis = as_channel_axis(channel_axis, image.ndim, image.shape)
    couples = coupled and axis is not None  # one channel has nothing to couple
    kind = _loss_of_images(loss)
    if couples and not kind.is_squared:
        raise ValueError(
            f"loss must be 'squared' for a dask array with coupled channels, got {loss!r}"
        )
    shape = tuple(n for k, n in enumerate(image.shape) if k != axis)
    distances = as_spacing(spacing, len(shape))
    known = _known(image, mask, axis)
    dtype = float_type(image.dtype)
    f = da.map_blocks(
        _floats,
        image,
        *(() if known is None else (known,)),
        holds_counts=kind.name == "poisson",
        dtype=dtype,
    )
    if axis is not None:
        f = da.moveaxis(f, axis, -1)
        known = None if known is None else da.moveaxis(known, axis, -1)
    if isinstance(weight, str) and weight == "auto":
        given = spacing, connectivity, options.get("tol", 1e-6)
        weight = _suggested_weight(image, mask, shape, axis, *given)
    if not is_axial(connectivity, len(shape)):
        if couples:
            raise ValueError("coupled must be False unless connectivity is 1 for a dask array")
        u, found = _denoise_stepped(f, known, weight, distances, connectivity, delta, kind, options)
        u = u if axis is None else da.moveaxis(u, -1, axis)
        return u.astype(dtype).rechunk(image.chunks), found
    weights = axis_weights(weight, "weight", shape, f.chunks)
    scaled = tuple(w / h for w, h in zip(weights, distances, strict=True))
    problem = GridProblem.of(f, known, scaled, delta, loss=kind, couples=couples)
    result = solve_tiled(problem, "denoise_tv", options)
    u = result.u if axis is None else da.moveaxis(result.u, -1, axis)
    return u.astype(dtype).rechunk(image.chunks), result


def _denoise_stepped(
    f: Any,
    known: Any,
    weight: Any,
    distances: tuple[float, ...],
    connectivity: Any,
    delta: float,
    loss: Loss,
    options: dict[str, Any],
) -> tuple[Any, PartitionedResult]:
    """Denoise with neighbours in other directions than the axes, on a graph whose parts are tiles.

    Arguments are those of `GridProblem`. The dual point has one row per edge.
    """
    if np.ndim(weight) != 0 or isinstance(weight, str | Sequence):
        raise ValueError(
            "weight must be a number unless connectivity is 1 for a dask array,"
            f" got {brief(weight)}"
        )
    number = float(moderate(as_real(weight, "weight", minimum=0.0), "weight"))
    n_axes = len(distances)
    steps = tuple(neighbour_steps(connectivity, n_axes))
    factors = crofton_weights(steps, distances)
    grid = SteppedGrid(Tiling(fitting_chunks(f.chunks[:n_axes])), steps, factors)
    flat = grid.flat(f)
    c = None if known is None else grid.flat(known)
    graph = grid.graph().merged(math.prod(flat.shape[1:]))
    problem = GraphProblem(graph, flat, c, number, delta, name="image", loss=loss)
    result = solve_partitioned(problem, "denoise_tv", options)
    u = grid.image(result.u)
    return u, dataclasses.replace(result, u=u)


def _loss_of_images(loss: Any) -> Loss:
    """Return the kind of a loss.

    Other callables are refused: they could do anything with the whole image.
    """
    make: Any = as_loss(loss, LOSSES)
    delta: dict[str, Any] = {}
    if isinstance(make, functools.partial) and make.func is HuberLoss and not make.args:
        make, delta = make.func, make.keywords
    if make in (SquaredLoss, PoissonLoss) or (make is HuberLoss and delta.keys() <= {"delta"}):
        kind = Loss.of(make(np.ones(1), **delta))
        assert kind is not None
        return kind
    raise ValueError(
        "loss must be 'squared', 'poisson', HuberLoss or functools.partial(HuberLoss, delta=…)"
        f" for a dask array, got {loss!r}"
    )


def fuse_tiled(
    graph: Any, signal: Any, lam: float, vertex_weights: Any, loss: Loss, **options: Any
) -> TiledResult:
    """Compute the fused lasso of a dask array on a grid; see `graphtv.fused_lasso`."""
    _check_array(signal, "signal")
    if isinstance(graph, str) and graph == "grid":
        graph = [1.0] * signal.ndim
    if not isinstance(graph, list | tuple) or len(graph) != signal.ndim:
        raise ValueError(
            "graph must be 'grid' or a list with the weights of each axis for a dask array,"
            f" got {brief(graph)}"
        )
    weights = axis_weights(list(graph), "graph", signal.shape, signal.chunks)
    f, c = _observations(signal, vertex_weights, loss)
    scaled = tuple(lam * w for w in weights)
    problem = GridProblem.of(f, c, scaled, name="signal", loss=loss)
    return solve_tiled(problem, "fused_lasso", options)


def fuse_partitioned(
    graph: Any, signal: Any, lam: float, vertex_weights: Any, loss: Loss, **options: Any
) -> PartitionedResult:
    """Compute the fused lasso of a dask array on a graph in parts; see `graphtv.fused_lasso`."""
    _check_array(signal, "signal")
    if signal.ndim > 2 or signal.shape[0] != graph.n_vertices:
        raise ValueError(
            f"signal must have shape ({graph.n_vertices},) or ({graph.n_vertices}, C),"
            f" got {signal.shape}"
        )
    observations = _observations(signal, vertex_weights, loss)
    merged = graph.merged(math.prod(signal.shape[1:]))
    problem = GraphProblem(merged, *observations, lam, loss=loss)
    return solve_partitioned(problem, "fused_lasso", options)


def _observations(signal: Any, vertex_weights: Any, loss: Loss) -> tuple[Any, Any]:
    """Return the data of a dask array, and vertex weights that are 0 where there is none."""
    if loss.name == "logistic":
        signal = _labels(signal)
    elif loss.name == "poisson":
        signal = da.map_blocks(_counts, signal, dtype=signal.dtype)
    f = da.map_blocks(_numbers, signal, name_of="signal", dtype=np.float64)
    c = None
    if signal.dtype.kind == "f":
        c = da.map_blocks(_is_known, signal, name_of="signal", dtype=bool)
    if vertex_weights is not None:
        given = _like(vertex_weights, "vertex_weights", signal.shape, signal.chunks)
        given = da.map_blocks(_nonnegative, given, name_of="vertex_weights", dtype=np.float64)
        c = given if c is None else c * given
    return f, c


def _labels(signal: Any) -> Any:
    """Return labels as -1 and 1, and NaN where there is none; see `graphtv.fused_lasso`."""
    if signal.dtype.kind == "b":
        return da.where(signal, 1.0, -1.0)
    values = signal.astype(np.float64)
    is_label = da.isin(values, (-1.0, 0.0, 1.0))
    has_negative, has_positive, has_other = da.compute(
        (values == -1.0).any(), (values == 1.0).any(), (~da.isnan(values) & ~is_label).any()
    )
    if has_other:
        raise ValueError("signal must hold labels: booleans, 0 and 1, or -1 and 1")
    meaning = -1.0 if has_positive and not has_negative else np.nan
    return da.where(values == 0.0, meaning, values)


def _counts(block: NDArray[Any]) -> NDArray[Any]:
    if (block < 0).any():
        raise ValueError(
            f"signal must not be negative for the Poisson loss, got {np.nanmin(block)}"
        )
    return block


def _check_array(values: Any, name: str) -> None:
    if values.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold real numbers, got dtype {values.dtype}")
    if values.ndim == 0 or values.size == 0 or np.isnan(values.size):
        raise ValueError(f"{name} must not be empty, got shape {values.shape}")


def _suggested_weight(
    image: Any,
    mask: Any,
    shape: tuple[int, ...],
    axis: int | None,
    spacing: Any,
    connectivity: Any,
    tol: Any,
) -> float:
    """Return the weight of least risk on a part of the image that fits into memory."""
    chosen = mosaic(shape, MOST_PIXELS)

    def part(values: Any) -> NDArray[Any]:
        if chosen is not None:
            places: list[Any] = list(chosen)
            if axis is not None and values.ndim == image.ndim:
                places.insert(axis, slice(None))
            for along, indices in enumerate(places):
                values = values[layers(along, indices)]
        return np.asarray(values)

    known = None if mask is None else part(mask if isinstance(mask, da.Array) else np.asarray(mask))
    return suggest_weight(
        part(image),
        mask=known,
        channel_axis=axis,
        spacing=spacing,
        connectivity=connectivity,
        tol=tol,
    )


def axis_weights(
    weight: Any, name: str, shape: tuple[int, ...], chunks: tuple[tuple[int, ...], ...]
) -> list[Any]:
    """Return per axis a number, or an array that includes border edges of weight 0."""
    if isinstance(weight, str):
        raise ValueError(f"{name} must be a number or an array for a dask array, got {weight!r}")
    if not isinstance(weight, Sequence):
        if np.ndim(weight) == 0:
            number = moderate(as_real(weight, name, minimum=0.0), name)
            return [float(number)] * len(shape)
        pixels = _nonnegative_array(weight, name, shape, chunks)
        return [
            _padded(
                0.5 * (pixels[layers(axis, slice(-1))] + pixels[layers(axis, slice(1, None))]), axis
            )
            for axis in range(len(shape))
        ]
    if len(weight) != len(shape):
        raise ValueError(
            f"{name} must have one entry for each of the {len(shape)} axes of pixels if it is a"
            f" {type(weight).__name__}, got {len(weight)}"
        )
    made = []
    for axis, entry in enumerate(weight):
        label = f"{name}[{axis}]"
        if np.ndim(entry) == 0:
            made.append(float(moderate(as_real(entry, label, minimum=0.0), label)))
        else:
            sides = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])
            made.append(_padded(_nonnegative_array(entry, label, sides, None), axis))
    return made


def _padded(edges: Any, axis: int) -> Any:
    width = [(0, 0)] * edges.ndim
    width[axis] = (1, 1)
    return da.pad(edges, width)


def _nonnegative_array(values: Any, name: str, shape: tuple[int, ...], chunks: Any) -> Any:
    return da.map_blocks(
        _nonnegative, _like(values, name, shape, chunks), name_of=name, dtype=np.float64
    )


def _like(values: Any, name: str, shape: tuple[int, ...], chunks: Any) -> Any:
    """Return a dask array of this shape."""
    array = values if isinstance(values, da.Array) else np.asarray(values)
    if array.shape != shape:
        raise ValueError(f"{name} must be a number or have shape {shape}, got shape {array.shape}")
    if isinstance(array, da.Array):
        return array
    return da.from_array(array, chunks="auto" if chunks is None else chunks[: len(shape)])


def _known(image: Any, mask: Any, axis: int | None) -> Any:
    """Return a mask of the entries with data; None means all."""
    known = None
    if mask is not None:
        shape = tuple(n for k, n in enumerate(image.shape) if k != axis)
        array = mask if isinstance(mask, da.Array) else np.asarray(mask)
        if array.dtype.kind not in "bui":
            raise ValueError(f"mask must hold booleans, got dtype {array.dtype}")
        if array.shape not in (image.shape, shape):
            raise ValueError(f"mask must have the shape of image, {shape}, got {array.shape}")
        if not isinstance(array, da.Array):
            array = da.from_array(array, chunks="auto")
        if array.shape != image.shape and axis is not None:
            array = da.broadcast_to(da.expand_dims(array, axis), image.shape)
        known = array.astype(bool).rechunk(image.chunks)
    if image.dtype.kind == "f":
        args = () if known is None else (known,)
        known = da.map_blocks(_is_known, image, *args, dtype=bool)
    return known


# Blocks ------------------------------------------------------------------------------------------


def _is_known(
    block: NDArray[Any], given: NDArray[np.bool_] | None = None, *, name_of: str = "image"
) -> NDArray[np.bool_]:
    known = where_known(block, name_of, given)
    return np.ones(block.shape, dtype=bool) if known is None else np.array(known)


def _floats(
    block: NDArray[Any], known: NDArray[np.bool_] | None = None, *, holds_counts: bool = False
) -> NDArray[Any]:
    floats = as_intensities(block, holds_counts=holds_counts)
    floats = floats.astype(float_type(block.dtype), copy=False)
    if known is not None and not known.all():
        floats = np.where(known, floats, floats.dtype.type(0.0))
    if floats.dtype == np.float64:  # the others are never large
        moderate(floats, "image")
    if holds_counts and (floats < 0.0).any():
        raise ValueError(f"image must not be negative for the Poisson loss, got {floats.min()}")
    return floats


def _numbers(block: NDArray[Any], *, name_of: str) -> Floats:
    numbers, _ = as_observations(block, name_of)
    moderate(numbers, name_of)
    return numbers


def _nonnegative(block: NDArray[Any], *, name_of: str) -> Floats:
    return np.asarray(moderate(as_weights(block, name_of, block.shape), name_of))
