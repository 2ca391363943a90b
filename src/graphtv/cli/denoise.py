"""``graphtv denoise``: total variation denoising of images, volumes and arrays."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Any

from graphtv.cli.batch import is_batch, pairs
from graphtv.cli.errors import UsageError
from graphtv.cli.files import (
    STANDARD,
    check_distinct,
    check_output,
    format_of,
    read_picture,
    shown,
    write_bytes,
)
from graphtv.cli.solving import (
    EXIT_HELP,
    add_output_options,
    add_solver_options,
    exit_code,
    json_text,
    positive,
    positive_count,
    report,
    run_facts,
    solving,
    with_options,
)
from graphtv.io.errors import FileError

FORMATS = ("jpeg", "npy", "png", "tiff")
SUFFIXES = (".jpeg", ".jpg", ".npy", ".png", ".tif", ".tiff")
TOLERANCE = 1e-6

SIDECAR = ".json"
"""Suffix of certificate files, appended to the name of the output."""

INTERRUPTED = 130
"""The exit code after Ctrl-C; remaining files are not processed."""

DESCRIPTION = """\
Denoise an image, a volume or an array of any dimension by total variation.
Unknown pixels (NaN, or 0 in the mask) are filled in.

PNG, JPEG and TIFF need the extra `image`; .npy does not. The output has the
data type of the input, for example 8 bits. Transparency is not changed."""

EXAMPLES = """\
examples:
  graphtv denoise noisy.png clean.png
  graphtv denoise noisy.png clean.png --weight 0.2
  graphtv denoise scan.tif clean.tif --spacing 2,1,1 --json
  graphtv denoise scratched.png repaired.png --mask known.png --weight 0.05
  cat noisy.png | graphtv denoise - - > clean.png
  graphtv denoise scans/ clean/ --weight 0.05
  graphtv denoise "scans/*.tif" clean/ --weight 0.05

several files:
  IN may be a folder, a pattern in quotes, or several files; OUT must then be a
  folder. Each output has the name of its input, and NAME.json contains the
  certificate. A file that cannot be read is reported, and the others are
  processed. The exit code is the largest of all files.

weight:
  A larger weight gives a smoother image. It has the unit of the pixels: uint8 and
  uint16 are scaled to 0 for black and 1 for white, all other types keep their
  values. `auto` estimates the noise and chooses the weight with the smallest
  expected error, on a sample of the pixels if the image is large.

"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.usage = "graphtv denoise IN [IN …] OUT [options]"
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES + EXIT_HELP
    parser.add_argument(
        "input",
        metavar="IN",
        nargs="+",
        help="PNG, JPEG, TIFF or .npy file, folder or pattern; - for standard input",
    )
    parser.add_argument(
        "output",
        metavar="OUT",
        help="file of these formats, chosen by suffix, or folder; - for standard output",
    )
    parser.add_argument(
        "--weight",
        type=_weight,
        default="auto",
        metavar="W",
        help="a number or auto (default: auto)",
    )
    parser.add_argument(
        "--mask", metavar="FILE", help="image or .npy file, 0 for pixels to fill in"
    )
    parser.add_argument(
        "--channel-axis",
        type=_axis,
        default="auto",
        metavar="K",
        help="the axis of the colour channels: a number, none, or auto (from the file; .npy: none)",
    )
    parser.add_argument(
        "--spacing",
        type=_spacing,
        metavar="D,…",
        help="distance between pixels along each axis (default: 1)",
    )
    parser.add_argument(
        "--connectivity",
        type=positive_count,
        default=1,
        metavar="K",
        help="2 and 3 add diagonals; or the number of neighbours: 4, 8, 16 in 2-D, 6, 18, 26 in 3-D"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "--isotropic",
        action="store_true",
        help="isotropic TV: the norm of the differences of each pixel",
    )
    parser.add_argument(
        "--coupled",
        action="store_true",
        help="couple the channels, so that all have their edges at the same places",
    )
    parser.add_argument(
        "--loss",
        choices=("squared", "absolute", "poisson"),
        default="squared",
        help="data term for Gaussian noise (default), impulse noise, or counts",
    )
    parser.add_argument(
        "--huber",
        type=positive,
        metavar="DELTA",
        help="Huber TV: quadratic for differences below DELTA, to avoid staircasing",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="format of standard output (default: format of the input)",
    )
    parser.add_argument(
        "--sidecar",
        action=argparse.BooleanOptionalAction,
        help="write the certificate to OUT.json (default: for several files only)",
    )
    add_solver_options(parser, "1e-6")
    add_output_options(parser)


def _weight(text: str) -> float | str:
    if text == "auto":
        return text
    value = float(text)
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be auto or a number >= 0, got {text}")
    return value


def _axis(text: str) -> int | str | None:
    return text if text == "auto" else None if text == "none" else int(text)


def _spacing(text: str) -> float | list[float]:
    values = [positive(part) for part in text.split(",")]
    return values[0] if len(values) == 1 else values


_weight.__name__, _axis.__name__, _spacing.__name__ = "weight", "axis", "number"


def run(arguments: argparse.Namespace) -> int:
    """Denoise one or several files."""
    _check(arguments)
    if not is_batch(arguments.input, arguments.output):
        one = _of_file(arguments, arguments.input[0], arguments.output)
        _check_file(one)
        return _denoise(one)
    if arguments.format is not None:
        raise UsageError("--format is for standard output; files keep the suffix of their input")
    files = pairs(arguments.input, arguments.output, force=arguments.force, suffixes=SUFFIXES)
    if arguments.sidecar is None:
        arguments.sidecar = True
    each = [_of_file(arguments, *pair) for pair in files]
    for one in each:
        _check_file(one)
    code = 0
    for one in each:
        try:
            ended = _denoise(one)
        except (UsageError, FileError) as error:  # continue with the other files
            print(f"graphtv denoise: error: {error}", file=sys.stderr)
            ended = 2
        code = max(code, ended)
        if ended == INTERRUPTED:
            break
    return code


def _of_file(arguments: argparse.Namespace, source: str, target: str) -> argparse.Namespace:
    """Return the arguments for one of the files."""
    return argparse.Namespace(**{**vars(arguments), "input": source, "output": target})


def _denoise(arguments: argparse.Namespace) -> int:
    """Denoise a file and return the exit code."""
    from graphtv.applications.imaging.denoising import denoise_tv
    from graphtv.applications.imaging.noise import suggest_weight
    from graphtv.io.pictures import check_can_hold, encode, of_type
    from graphtv.terms import HuberTV, TotalVariation

    picture = read_picture(arguments.input)
    name = shown(arguments.input, "input")
    axis = picture.channel_axis if arguments.channel_axis == "auto" else arguments.channel_axis
    picture = dataclasses.replace(picture, channel_axis=_as_axis(axis, picture.pixels.ndim))
    kind = arguments.format or format_of(arguments.output, picture.format)
    check_can_hold(picture, kind, shown(arguments.output, "output"))
    mask = None if arguments.mask is None else _read_mask(arguments.mask, picture, name)
    common: dict[str, Any] = {
        "mask": mask,
        "spacing": arguments.spacing,
        "channel_axis": picture.channel_axis,
        "connectivity": arguments.connectivity,
    }
    with solving("denoising", arguments, TOLERANCE) as options:
        weight, search = arguments.weight, {}
        if weight == "auto":
            if arguments.time_limit is not None:
                search["time_limit"] = options["time_limit"] = arguments.time_limit / 2
            weight = suggest_weight(
                picture.pixels,
                verbose=arguments.verbose,
                n_threads=arguments.threads,
                **search,
                **common,
            )
        denoised, result = denoise_tv(
            picture.pixels,
            weight,
            loss=arguments.loss,
            isotropic=arguments.isotropic,
            coupled=arguments.coupled,
            penalty=TotalVariation() if arguments.huber is None else HuberTV(arguments.huber),
            return_result=True,
            **common,
            **options,
        )
    pixels = of_type(denoised, picture.pixels.dtype, holds_counts=arguments.loss == "poisson")
    content = encode(dataclasses.replace(picture, pixels=pixels), kind)
    write_bytes(arguments.output, content)
    facts = {
        "weight": weight,
        "output": arguments.output,
        "shape": list(picture.pixels.shape),
        "channels": picture.n_channels,
        "dtype": str(picture.pixels.dtype),
    }
    if arguments.sidecar:
        told = run_facts(result) | facts | {"exit_code": exit_code(result)}
        write_bytes(
            arguments.output + SIDECAR, f"{json_text(with_options(arguments, told))}\n".encode()
        )
    if not arguments.json:
        facts = {"weight": weight}
    return report(arguments, result, shown(arguments.output, "output"), facts)


def _check(arguments: argparse.Namespace) -> None:
    """Raise if options contradict each other."""
    if arguments.json and arguments.output == STANDARD:
        raise UsageError("--json and OUT must not both go to standard output; OUT must be a file")
    if arguments.sidecar and arguments.output == STANDARD:
        raise UsageError("--sidecar needs an output file; OUT must be a file")
    is_other = arguments.isotropic or arguments.coupled or arguments.huber is not None
    if arguments.weight == "auto" and (arguments.loss != "squared" or is_other):
        raise UsageError(
            "--weight must be a number with --loss, --huber, --isotropic or --coupled;"
            " auto is not supported"
        )
    if arguments.isotropic and arguments.connectivity not in (1, 4, 6):
        raise UsageError("--isotropic needs --connectivity 1")


def _check_file(arguments: argparse.Namespace) -> None:
    """Raise for errors that can be found before the file is read."""
    check_output(arguments.output, force=arguments.force, suffixes=SUFFIXES)
    if arguments.sidecar:
        check_output(arguments.output + SIDECAR, force=arguments.force)
    if arguments.format is not None and arguments.output != STANDARD:
        raise UsageError("--format is for standard output; files have the format of their suffix")
    if arguments.mask is not None:
        check_distinct({"IN": arguments.input, "--mask": arguments.mask})


def _as_axis(axis: int | None, ndim: int) -> int | None:
    """Return an axis counted from the front."""
    if axis is not None and not -ndim <= axis < ndim:
        raise UsageError(f"--channel-axis must lie in [{-ndim}, {ndim}), got {axis}")
    return axis if axis is None else axis % ndim


def _read_mask(path: str, picture: Any, name: str) -> Any:
    """Return the known pixels as booleans: those where the mask is not 0."""
    mask = read_picture(path)
    if mask.format == "jpeg":
        raise UsageError(f"{path} is a JPEG, which is lossy; the mask must be PNG, TIFF or .npy")
    known = mask.pixels != 0
    if mask.channel_axis is not None:
        known = known.any(axis=mask.channel_axis)
    full, axis = picture.pixels.shape, picture.channel_axis
    shape = tuple(n for k, n in enumerate(full) if k != axis)
    if known.shape not in (shape, full):
        raise UsageError(f"{path} has shape {known.shape}, {name} has {shape}; they must be equal")
    if not known.any():
        raise UsageError(f"{path} is 0 everywhere; known pixels must not be 0")
    return known
