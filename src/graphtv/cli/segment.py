"""``graphtv segment``: segment an image from scribbles."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from graphtv.cli.errors import UsageError
from graphtv.cli.files import (
    STANDARD,
    check_distinct,
    check_output,
    format_of,
    read_picture,
    read_scribbles,
    shown,
    write_bytes,
)
from graphtv.cli.solving import (
    EXIT_HELP,
    add_output_options,
    add_solver_options,
    nonnegative,
    positive,
    positive_count,
    report,
    solving,
)

if TYPE_CHECKING:
    from graphtv.io.picture import Picture
    from graphtv.io.scribbles import Scribbles

SUFFIXES = (".npy", ".png", ".tif", ".tiff")
TOLERANCE = 5e-4

DESCRIPTION = """\
Segment an image or a volume from a few scribbles of each class.

The scribbles are an image of the same size. In a grey or palette image (or .npy
file), 0 means none and k means class k. In a colour image, every colour is a class,
and the background is transparent, or else black or white."""

EXAMPLES = """\
examples:
  graphtv segment photo.jpg scribbles.png labels.png
  graphtv segment photo.jpg scribbles.png labels.png --overlay over.png
  graphtv segment volume.npy seeds.npy labels.npy --weight 0.3 --json

The labels are numbered 1, 2, … in the order of the numbers or colour codes of the
scribbles. PNG labels have a palette with the colours of the scribbles.

"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.usage = "graphtv segment IMAGE SCRIBBLES OUT [options]"
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES + EXIT_HELP
    parser.add_argument("input", metavar="IMAGE", help="PNG, JPEG, TIFF or .npy; - for stdin")
    parser.add_argument("scribbles", metavar="SCRIBBLES", help="PNG, TIFF or .npy")
    parser.add_argument("output", metavar="OUT", help="labels: .png, .tif or .npy; - for stdout")
    parser.add_argument(
        "--overlay", metavar="FILE", help="also write a PNG of the image tinted by class"
    )
    parser.add_argument(
        "--background",
        type=_colour,
        metavar="RRGGBB",
        help="colour of pixels without scribbles, in hexadecimal",
    )
    parser.add_argument(
        "--weight",
        type=positive,
        default=0.15,
        metavar="W",
        help="weight of the border length; larger is smoother (default: %(default)s)",
    )
    parser.add_argument(
        "--xi",
        type=nonnegative,
        default=0.1,
        metavar="X",
        help="how strongly borders follow the edges of the image (default: %(default)s)",
    )
    parser.add_argument(
        "--epsilon",
        type=positive,
        default=0.25,
        metavar="E",
        help="entropy weight; larger gives softer assignments (default: %(default)s)",
    )
    parser.add_argument(
        "--connectivity",
        type=positive_count,
        default=1,
        metavar="K",
        help="2 and 3 add diagonals; or the number of neighbours (default: %(default)s)",
    )
    parser.add_argument(
        "--coupled", action="store_true", help="take the Euclidean norm over the classes"
    )
    parser.add_argument(
        "--overrule", action="store_true", help="scribbled pixels may change their class"
    )
    add_solver_options(parser, "5e-4")
    add_output_options(parser)


def _colour(text: str) -> str:
    if not re.fullmatch(r"#?[0-9a-fA-F]{6}", text):
        raise argparse.ArgumentTypeError(f"must be six hexadecimal digits, got {text}")
    return text.removeprefix("#").lower()


def run(arguments: argparse.Namespace) -> int:
    """Segment a file."""
    _check(arguments)
    import numpy as np

    from graphtv.applications.imaging.image_segmentation import segment_image

    picture = read_picture(arguments.input)
    scribbles = read_scribbles(arguments.scribbles, arguments.background)
    pixels = _pixels(picture, scribbles, arguments)
    with solving("segmenting", arguments, TOLERANCE) as options:
        labels, result = segment_image(
            pixels,
            scribbles.marks,
            weight=arguments.weight,
            xi=arguments.xi,
            epsilon=arguments.epsilon,
            connectivity=arguments.connectivity,
            coupled=arguments.coupled,
            hold_scribbles=not arguments.overrule,
            return_result=True,
            **options,
        )
    labels = labels.astype(np.uint8)
    content = _encode(labels, scribbles, arguments.output)
    overlay = None if arguments.overlay is None else _overlay(pixels, labels, scribbles)
    write_bytes(arguments.output, content)
    if overlay is not None:
        write_bytes(arguments.overlay, overlay)
    sizes = np.bincount(labels.ravel(), minlength=len(scribbles.names) + 1)[1:]
    facts: dict[str, Any] = {
        "output": arguments.output,
        "shape": list(labels.shape),
        "classes": [
            {"label": k, "scribbles": name, "pixels": int(size)}
            for k, (name, size) in enumerate(zip(scribbles.names, sizes, strict=True), start=1)
        ],
    }
    if not arguments.json:
        facts = {
            f"class {k} ({name})": f"{100 * size / labels.size:.1f} %"
            for k, (name, size) in enumerate(zip(scribbles.names, sizes, strict=True), start=1)
        }
    return report(arguments, result, shown(arguments.output, "output"), facts)


def _check(arguments: argparse.Namespace) -> None:
    """Raise for errors that can be found before anything is read."""
    check_output(arguments.output, force=arguments.force, suffixes=SUFFIXES)
    outputs = {"OUT": arguments.output}
    if arguments.overlay is not None:
        if arguments.overlay == STANDARD:
            raise UsageError("--overlay must be a file")
        check_output(arguments.overlay, force=arguments.force, suffixes=(".png",))
        outputs["--overlay"] = arguments.overlay
    check_distinct(outputs)
    check_distinct({"IMAGE": arguments.input, "SCRIBBLES": arguments.scribbles})
    if arguments.json and arguments.output == STANDARD:
        raise UsageError("--json and OUT must not both go to standard output; OUT must be a file")


def _pixels(picture: Picture, scribbles: Scribbles, arguments: argparse.Namespace) -> Any:
    """Return the image with channels last; raise if the scribbles have another shape."""
    import numpy as np

    pixels, axis, shape = picture.pixels, picture.channel_axis, scribbles.marks.shape
    if axis is not None:
        pixels = np.moveaxis(pixels, axis, -1)
    fits = shape == (pixels.shape if axis is None else pixels.shape[:-1])
    if not fits and not (picture.format == "npy" and shape == pixels.shape[:-1]):
        size = pixels.shape if axis is None else pixels.shape[:-1]
        raise UsageError(
            f"{shown(arguments.scribbles, 'input')} has shape {shape},"
            f" {shown(arguments.input, 'input')} has {size}; they must be equal"
        )
    is_flat = len(shape) == 2
    if not is_flat and (arguments.output.lower().endswith(".png") or arguments.overlay):
        raise UsageError(f"PNG supports 2-D images only, got shape {shape}; write .npy or .tif")
    return pixels


def _encode(labels: Any, scribbles: Scribbles, path: str) -> bytes:
    from graphtv.io.picture import Picture
    from graphtv.io.pictures import encode, encode_labels

    kind = format_of(path, "png" if labels.ndim == 2 else "npy")
    if kind == "png":
        return encode_labels(labels, [(0, 0, 0), *scribbles.colours])
    return encode(Picture(labels, kind), kind)


def _overlay(pixels: Any, labels: Any, scribbles: Scribbles) -> bytes:
    """Return the image tinted by class, with white borders."""
    import numpy as np

    from graphtv.io.picture import Picture
    from graphtv.io.pictures import encode

    low, high = (float(pixels.min()), float(pixels.max())) if pixels.dtype != np.uint8 else (0, 255)
    grey = (pixels.astype(float) - low) / ((high - low) or 1.0)
    image = grey if grey.ndim == 3 and grey.shape[-1] == 3 else np.dstack([_mean(grey)] * 3)
    tint = np.array([(0, 0, 0), *scribbles.colours])[labels] / 255
    mixed = 0.5 * image + 0.5 * tint
    border = np.zeros(labels.shape, dtype=bool)
    border[1:] |= labels[1:] != labels[:-1]
    border[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    mixed[border] = 1.0
    return encode(Picture(np.rint(255 * mixed).astype(np.uint8), "png", 2), "png")


def _mean(pixels: Any) -> Any:
    return pixels.mean(axis=-1) if pixels.ndim == 3 else pixels
