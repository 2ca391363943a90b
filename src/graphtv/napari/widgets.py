"""The two widgets of the plugin. napari makes their forms from the annotations.

Each widget runs in a thread, so that the window stays responsive, and adds a layer at its end. The
metadata of this layer contains the certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv._validate import white_level
from graphtv.applications.imaging.denoising import denoise_tv
from graphtv.applications.imaging.image_segmentation import segment_image

if TYPE_CHECKING:
    import napari
    import napari.layers
    import napari.qt.threading
    import napari.types

LOOK = ("colormap", "gamma", "blending", "opacity")
"""Properties of an image layer that its denoised version has too."""

PLACE = ("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels")
"""Properties that place a layer in the world. Older versions of napari have no units."""


def denoise(
    image: napari.layers.Image,
    choose_weight: bool = True,
    weight: float = 0.1,
    isotropic: bool = False,
    couple_colours: bool = False,
    use_scale: bool = True,
    tolerance: float = 1e-3,
) -> napari.qt.threading.FunctionWorker[napari.types.LayerDataTuple]:
    """Denoise the image of a layer by total variation.

    Parameters
    ----------
    image : Image
        The layer, in 2-D or 3-D, with or without colours.
    choose_weight : bool
        Estimate the best weight from the noise. `weight` is then ignored.
    weight : float
        Larger values give a smoother image. It has the unit of the image. Images of type uint8 and
        uint16 are divided by 255 and 65535.
    isotropic : bool
        Treat all directions nearly alike, so that corners become round.
    couple_colours : bool
        Make all colours change at the same places.
    use_scale : bool
        Take the distance between pixels along each axis from the scale of the layer.
    tolerance : float
        The relative gap to certify.

    Returns
    -------
    FunctionWorker
        It adds a layer with the denoised image.
    """
    return _in_thread(
        denoised_layer,
        image,
        "auto" if choose_weight and not (isotropic or couple_colours) else weight,
        isotropic=isotropic,
        coupled=couple_colours,
        use_scale=use_scale,
        tol=tolerance,
    )


def segment(
    image: napari.layers.Image,
    scribbles: napari.layers.Labels,
    smoothness: float = 0.15,
    contrast: float = 0.1,
    keep_scribbles: bool = True,
    tolerance: float = 5e-4,
) -> napari.qt.threading.FunctionWorker[napari.types.LayerDataTuple]:
    """Segment the image of a layer from painted labels.

    Parameters
    ----------
    image : Image
        The layer, in 2-D or 3-D, with or without colours.
    scribbles : Labels
        A labels layer of the same shape, in which some pixels of each class are painted.
    smoothness : float
        Larger values give fewer and smoother regions.
    contrast : float
        How closely borders follow the edges of the image; 0 ignores them.
    keep_scribbles : bool
        Whether painted pixels keep their label.
    tolerance : float
        The relative gap to certify.

    Returns
    -------
    FunctionWorker
        It adds a labels layer with a label for each pixel.
    """
    return _in_thread(
        segmented_layer,
        image,
        scribbles,
        weight=smoothness,
        xi=contrast,
        hold_scribbles=keep_scribbles,
        tol=tolerance,
    )


def denoised_layer(
    image: Any, weight: Any, *, isotropic: bool, coupled: bool, use_scale: bool, tol: float
) -> tuple[Any, dict[str, Any], str]:
    """Return the data, the properties and the type of a layer with the denoised image."""
    pixels = _pixels(image)
    spacing = None
    if use_scale:
        scale = np.abs(np.asarray(image.scale, dtype=float))
        spacing = tuple((scale / scale.min()).tolist())  # the weight is that of the finest axis
    denoised, result = denoise_tv(
        pixels,
        weight,
        spacing=spacing,
        channel_axis=-1 if image.rgb else None,
        isotropic=isotropic,
        coupled=coupled,
        tol=tol,
        return_result=True,
    )
    look = {name: getattr(image, name) for name in LOOK if not (image.rgb and name == "colormap")}
    white = white_level(pixels.dtype)
    if not image.rgb:
        look["contrast_limits"] = [limit / white for limit in image.contrast_limits]
    properties = {**look, **_placed(image, f"{image.name} denoised", result), "rgb": image.rgb}
    return denoised, properties, "image"


def segmented_layer(image: Any, scribbles: Any, **options: Any) -> tuple[Any, dict[str, Any], str]:
    """Return the data, the properties and the type of a layer with a label per pixel.

    Labels may have gaps: `segment_image` numbers classes from 1.
    """
    marks = np.asarray(scribbles.data)
    used, classes = np.unique(marks, return_inverse=True)
    if used[0] != 0:
        used, classes = np.concatenate([[0], used]), classes + 1
    if len(used) < 3:
        raise ValueError(
            "scribbles must contain at least two labels, painted on some pixels of each class,"
            f" got {used[used != 0].tolist()}"
        )
    labels, result = segment_image(
        _pixels(image), classes.reshape(marks.shape), return_result=True, **options
    )
    return used[labels], _placed(scribbles, f"{image.name} segmented", result), "labels"


def _pixels(image: Any) -> Any:
    """Return the pixels of a layer, at full resolution."""
    return np.asarray(image.data[0] if image.multiscale else image.data)


def _placed(layer: Any, name: str, result: Any) -> dict[str, Any]:
    """Return the properties of a layer at the same place, with the certificate."""
    certificate = {
        "status": result.status,
        "relative_gap": result.relative_gap,
        "primal": result.primal,
        "dual": result.dual,
    }
    place = {key: getattr(layer, key) for key in PLACE if hasattr(layer, key)}
    return {**place, "name": name, "metadata": {"graphtv": certificate}}


def _in_thread(
    make: Callable[..., Any], *args: Any, **options: Any
) -> napari.qt.threading.FunctionWorker[napari.types.LayerDataTuple]:
    """Return a worker that computes a layer in another thread; napari starts it."""
    from napari.qt.threading import create_worker

    return create_worker(make, *args, **options, _start_thread=False, _progress=True)
