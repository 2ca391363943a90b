"""Images of other libraries: the result has the same type as the input.

- `xarray.DataArray`: dimensions, coordinates, attributes and name are kept. Masks and weights that
  are DataArrays are matched by dimension.
- Tensors of PyTorch, and arrays that follow the array API standard (JAX, CuPy, …).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from graphtv._validate import brief, is_dask
from graphtv.graph.labelled import is_xarray, transposed

F = TypeVar("F", bound=Callable[..., Any])

EVEN = 1e-3
"""Largest relative difference of steps between coordinates that count as evenly spaced."""


def keeps_kind(denoise: F) -> F:
    """Let a function of an image accept images of other libraries, and return the same kind."""

    @functools.wraps(denoise)
    def wrapper(image: Any, *args: Any, **options: Any) -> Any:
        if isinstance(image, np.ndarray) or is_dask(image):
            return denoise(image, *args, **options)
        if is_xarray(image):
            args, options = _without_labels(image, args, options)
            denoised = denoise(image.data, *args, **options)
            restore: Callable[[Any], Any] = lambda array: image.copy(data=array)  # noqa: E731
        else:
            denoised = denoise(image, *args, **options)
            restore = _restoration(image)
        if isinstance(denoised, tuple):
            return restore(denoised[0]), *denoised[1:]
        return restore(denoised)

    return wrapper  # type: ignore[return-value]


def keeps_dimensions(segment: F) -> F:
    """Let a function of an image and its scribbles accept DataArrays, and return their kind.

    The dimensions of the image that the scribbles lack are channels.
    """

    @functools.wraps(segment)
    def wrapper(image: Any, scribbles: Any, **options: Any) -> Any:
        if not is_xarray(image) and not is_xarray(scribbles):
            return segment(image, scribbles, **options)
        like = scribbles
        if is_xarray(image) and is_xarray(scribbles):
            channels = tuple(dim for dim in image.dims if dim not in scribbles.dims)
            image = transposed(image, "image", (*scribbles.dims, *channels), scribbles.indexes)
        elif is_xarray(image):
            channels = image.dims[np.ndim(scribbles) :]
            like = image.isel(dict.fromkeys(channels, 0), drop=True)
        plain, marks = (value.data if is_xarray(value) else value for value in (image, scribbles))
        found = segment(plain, marks, **options)
        if isinstance(found, tuple):
            return _labels_like(like, found[0]), *found[1:]
        return _labels_like(like, found)

    return wrapper  # type: ignore[return-value]


def _labels_like(layer: Any, labels: Any) -> Any:
    """Return labels with the dimensions and coordinates of a DataArray."""
    made = layer.copy(data=labels)
    made.attrs, made.name = {}, "labels"
    return made


def _restoration(image: Any) -> Callable[[Any], Any]:
    """Return a function that converts an array to the kind of `image`."""
    if _is_from("torch", "Tensor", image):
        torch = sys.modules["torch"]
        return lambda array: torch.from_numpy(array).to(image.device)
    if hasattr(image, "__array_namespace__"):
        namespace = image.__array_namespace__()
        return lambda array: namespace.asarray(array)
    return lambda array: array


def _is_from(module: str, kind: str, value: Any) -> bool:
    """Return whether `value` is an object of a class of a module, without importing it."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, kind, ()))


# xarray ------------------------------------------------------------------------------------------


def _without_labels(
    image: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments with arrays and numbers in place of DataArrays and dimensions."""
    plain = dict(options)
    axis = options.get("channel_axis")
    if isinstance(axis, str):
        if axis not in image.dims:
            raise ValueError(f"channel_axis must be one of {image.dims}, got {axis!r}")
        plain["channel_axis"] = axis = image.dims.index(axis)
    channel = image.dims[axis] if isinstance(axis, int) and -image.ndim <= axis < image.ndim else ""
    spatial = tuple(dim for dim in image.dims if dim != channel)
    if isinstance(options.get("spacing"), str):
        if options["spacing"] != "coords":
            raise ValueError(f"spacing must be numbers or 'coords', got {options['spacing']!r}")
        plain["spacing"] = [_step(image, dim) for dim in spatial]
    if "mask" in options:
        plain["mask"] = _matched(options["mask"], "mask", image, spatial)
    if "weight" in options:
        plain["weight"] = _matched(options["weight"], "weight", image, spatial)
    return tuple(_matched(value, "weight", image, spatial) for value in args), plain


def _matched(values: Any, name: str, image: Any, spatial: tuple[Any, ...]) -> Any:
    """Return the data of a DataArray with its dimensions in the order of the image."""
    if not is_xarray(values):
        return values
    dims = image.dims if values.ndim == image.ndim else spatial
    return transposed(values, name, dims, image.indexes).data


def _step(image: Any, dim: Any) -> float:
    """Return the distance between neighbours along a dimension."""
    if dim not in image.coords:
        raise ValueError(f"spacing must not be 'coords', since {dim!r} has no coordinates")
    values = image.coords[dim].to_numpy()
    if values.dtype.kind not in "uif":
        raise ValueError(
            f"spacing must not be 'coords', since those of {dim!r} have dtype {values.dtype}"
        )
    steps = np.diff(values.astype(np.float64))
    if steps.size == 0:
        return 1.0
    step = float(steps.mean())
    if step == 0.0 or not (np.abs(steps - step) <= EVEN * abs(step)).all():
        raise ValueError(
            "spacing must not be 'coords', since those of"
            f" {dim!r} are not evenly spaced: {brief(values.tolist())}"
        )
    return abs(step)
