"""Plot images before and after denoising, and labels over an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_array, as_flag, as_intensities, as_real
from graphtv.plot.style import axes_or_current, check_axes, palette, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROBUST = (0.5, 99.5)
"""Percentiles of the first image that are drawn black and white, since noise has outliers."""


def draw_before_after(
    before: Any,
    after: Any,
    axes: Sequence[Axes] | None = None,
    *,
    truth: Any = None,
    difference: bool = False,
    channel_axis: int | None = None,
    titles: Sequence[str] = ("Before", "After", "Truth", "Difference"),
    cmap: str = "gray",
) -> NDArray[Any]:
    """Draw an image before and after denoising, with the same colour scale.

    Parameters
    ----------
    before, after : array_like
        Two images of the same shape. For a volume the middle slice is drawn, for a signal a line.
    axes : sequence of matplotlib Axes, optional
        Axes to draw into, one per image; by default a new figure.
    truth : array_like, optional
        A third image.
    difference : bool, optional
        Whether to draw before - after, the removed noise, as well.
    channel_axis : int, optional
        The axis of the colour channels.
    titles : sequence of str, optional
        Titles of before, after, truth and difference.
    cmap : str, optional
        Matplotlib colour map for grey images.

    Returns
    -------
    ndarray of matplotlib Axes

    Examples
    --------
    >>> draw_before_after(noisy, denoise_tv(noisy, "auto"), difference=True)  # doctest: +SKIP
    """
    images = {"before": before, "after": after} | ({} if truth is None else {"truth": truth})
    planes = {name: _as_plane(image, name, channel_axis) for name, image in images.items()}
    first = planes["before"]
    for name, plane in planes.items():
        if plane.shape != first.shape:
            raise ValueError(f"{name} must have the shape of before, got {np.shape(images[name])}")
    names = dict(zip(("before", "after", "truth", "difference"), titles, strict=False))
    if as_flag(difference, "difference"):
        planes["difference"] = first - planes["after"]
    if axes is None:
        width = 3.2 * min(max(first.shape[1] / first.shape[0], 0.5), 2.0) if first.ndim > 1 else 4.0
        figure = pyplot().figure(figsize=(width * len(planes), 3.5), layout="constrained")
        panels = list(figure.subplots(1, len(planes), squeeze=False)[0])
    else:
        panels = list(np.ravel(np.asarray(axes, dtype=object)))
    if len(panels) != len(planes):
        raise ValueError(f"axes must be {len(planes)}, one per image, got {len(panels)}")
    low, high = np.percentile(first, ROBUST)
    for ax, (name, plane) in zip(panels, planes.items(), strict=True):
        check_axes(ax)
        if name == "difference":
            reach = float(np.percentile(np.abs(plane), ROBUST[1])) or 1.0
            _show(ax, plane, -reach, reach, "RdBu_r")
        else:
            _show(ax, plane, float(low), float(high), cmap)
        ax.set_title(names.get(name, name))
    return np.array(panels, dtype=object)


def draw_labels(
    image: Any,
    labels: Any,
    ax: Axes | None = None,
    *,
    scribbles: Any = None,
    names: Sequence[str] | None = None,
    colours: Sequence[Any] | None = None,
    opacity: float = 0.45,
) -> Axes:
    """Draw labels over an image, with a tint per class and lines along the borders.

    Parameters
    ----------
    image : array_like
        A grey image (rows, columns), or a colour image (rows, columns, 3).
    labels : array_like of int, shape (rows, columns)
        The classes, which may be any integers.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes.
    scribbles : array_like of int, optional
        Scribbles to draw over the image without transparency; 0 means none.
    names : sequence of str, optional
        Names of the classes for a legend, in the order of their numbers.
    colours : sequence of matplotlib colours, optional
        Colours of the classes in the same order.
    opacity : float, optional
        Opacity of the tint, from 0 to 1.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> labels = segment_image(image, scribbles)  # doctest: +SKIP
    >>> axes = draw_labels(image, labels, scribbles=scribbles)  # doctest: +SKIP
    """
    classes = as_array(labels, "labels")
    if classes.ndim != 2 or classes.dtype.kind not in "bui":
        raise ValueError(
            f"labels must be integers of shape (rows, columns), got {classes.dtype} of shape"
            f" {classes.shape}"
        )
    pixels = as_array(image, "image")
    if pixels.shape not in (classes.shape, (*classes.shape, 3), (*classes.shape, 4)):
        raise ValueError(f"image must have shape {classes.shape}, got {pixels.shape}")
    share = as_real(opacity, "opacity", minimum=0.0)
    marks = None if scribbles is None else as_array(scribbles, "scribbles")
    if marks is not None and marks.shape != classes.shape:
        raise ValueError(f"scribbles must have shape {classes.shape}, got {marks.shape}")
    check_axes(ax)
    target = axes_or_current(ax)
    from matplotlib.colors import to_rgb

    values, ranks = np.unique(classes, return_inverse=True)
    shades = list(colours) if colours is not None else palette(len(values))
    if len(shades) < len(values):
        raise ValueError(f"colours must be at least {len(values)}, got {len(shades)}")
    table = np.array([to_rgb(shade) for shade in shades])
    ground = _as_colours(pixels)
    mixed = (1.0 - share) * ground + share * table[ranks.reshape(classes.shape)]
    if marks is not None:
        known = np.isin(marks, values) & (marks != 0)
        mixed[known] = table[np.searchsorted(values, marks[known])]
    target.imshow(np.clip(mixed, 0.0, 1.0), interpolation="nearest")
    _draw_borders(target, classes)
    target.set_axis_off()
    if names is not None:
        from matplotlib.patches import Patch

        patches = [
            Patch(facecolor=shade, label=name) for shade, name in zip(shades, names, strict=False)
        ]
        target.legend(
            handles=patches,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=math.ceil(len(patches) / math.ceil(len(patches) / 5)),
            frameon=False,
        )
    return target


def _draw_borders(ax: Any, classes: NDArray[Any]) -> None:
    """Draw the borders between pixels of different classes."""
    from matplotlib.collections import LineCollection

    rows, columns = np.nonzero(classes[1:] != classes[:-1])
    across = np.stack([columns - 0.5, rows + 0.5, columns + 0.5, rows + 0.5], axis=1)
    rows, columns = np.nonzero(classes[:, 1:] != classes[:, :-1])
    down = np.stack([columns + 0.5, rows - 0.5, columns + 0.5, rows + 0.5], axis=1)
    sides = np.concatenate([across, down]).reshape(-1, 2, 2)
    ax.add_collection(
        LineCollection(list(sides), colors="white", linewidths=1.2, capstyle="projecting")
    )


def _as_plane(image: Any, name: str, channel_axis: int | None) -> Floats:
    """Return a signal (n,) or an image (rows, columns) or (rows, columns, 3) to draw."""
    pixels = as_array(image, name)
    if pixels.dtype.kind not in "buif" or pixels.size == 0 or pixels.ndim == 0:
        raise ValueError(f"{name} must be an image of real numbers, got {pixels.dtype}")
    floats = as_intensities(pixels)
    has_colours = channel_axis is not None
    if has_colours:
        floats = np.moveaxis(floats, channel_axis or 0, -1)
        if floats.shape[-1] not in (3, 4):
            floats, has_colours = floats.mean(axis=-1), False
    n_axes = floats.ndim - has_colours
    while n_axes > 2:
        floats, n_axes = floats[floats.shape[0] // 2], n_axes - 1
    return floats[..., :3] if has_colours else floats


def _show(ax: Any, plane: Floats, low: float, high: float, cmap: str) -> None:
    if plane.ndim == 1:
        ax.plot(plane, linewidth=1.0, color="#0072B2")
        ax.set_ylim(min(low, high - 1e-9), high)
        return
    if plane.ndim == 3:
        span = (high - low) or 1.0
        ax.imshow(np.clip((plane - low) / span, 0.0, 1.0), interpolation="nearest")
    else:
        ax.imshow(plane, cmap=cmap, vmin=low, vmax=high, interpolation="nearest")
    ax.set_axis_off()


def _as_colours(pixels: NDArray[Any]) -> Floats:
    """Return an image as RGB between 0 and 1."""
    floats = as_intensities(pixels[..., :3] if pixels.ndim == 3 else pixels)
    if floats.min(initial=0.0) < 0.0 or floats.max(initial=1.0) > 1.0:
        span = float(np.ptp(floats)) or 1.0
        floats = (floats - floats.min()) / span
    return floats if floats.ndim == 3 else np.repeat(floats[..., None], 3, axis=2)
