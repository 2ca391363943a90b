"""``graphtv demo``: an image denoised with a certificate, and forests on a small graph.

The image is denoised on its grid, min ½‖u - f‖² + λ TV(u): first to a relative gap of 1e-3, then,
from there, exactly. At any time u has the primal value P(u), and p the dual value D(p); no image
has a value below D, so P - D bounds how far u is from optimal.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv import (
    Problem,
    Result,
    SquaredLoss,
    condition_number,
    decompose,
    gallery,
    grid_graph,
    solve,
)
from graphtv._validate import Floats
from graphtv.cli.errors import UsageError
from graphtv.cli.progress import progress_bar
from graphtv.graph import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_PICTURE = Path("graphtv-demo.png")
WEIGHT = 0.2
NOISE = 0.2
TOLERANCE = 1e-3
LEAST_GAP = 1e-16
"""Gaps below rounding, 0 among them, are drawn as this."""
METHODS = ("linear", "nested", "matroid")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = (
        "Denoise a seeded image to a certified relative gap of 1e-3 and then exactly,\n"
        "decompose a small graph by every method, and save a picture of both."
    )
    picture = parser.add_mutually_exclusive_group()
    picture.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where the picture goes, its suffix is its format; by default graphtv-demo.png, "
        "numbered if that exists",
    )
    picture.add_argument("--no-picture", action="store_true", help="numbers only")
    parser.add_argument("--force", action="store_true", help="overwrite an existing picture")
    parser.add_argument(
        "--size",
        type=_size,
        default=256,
        metavar="N",
        help="height and width of the image in pixels, by default %(default)s",
    )


def _size(text: str) -> int:
    size = int(text)
    if not 8 <= size <= 4096:
        raise argparse.ArgumentTypeError(f"must lie in [8, 4096], got {size}")
    return size


_size.__name__ = "size"  # argparse names it in its errors


def run(arguments: argparse.Namespace) -> None:
    """Run the demonstration."""
    out: Path | None = None
    if not arguments.no_picture:
        out = arguments.out or _free_name(DEFAULT_PICTURE, taken_too=arguments.force)
        out = _check(out, overwrite=arguments.force)
    noisy, truth = gallery.piecewise_constant_image(
        (arguments.size, arguments.size), seed=7, noise=NOISE, n_regions=12
    )
    first, exact = _report_denoising(noisy, truth)
    graph, positions = gallery.delaunay_graph(96, 150, seed=1)
    _report_forests(graph)
    if out is not None:
        denoised = exact.u.reshape(noisy.shape)
        images = {"Piecewise constant": truth, "Noisy": noisy, "Denoised": denoised}
        _save(out, _picture(images, (first, exact), graph, positions, out.suffix[1:].lower()))
        print(f"\nThe picture is in {out}")


def _report_denoising(noisy: Floats, truth: Floats) -> tuple[Result, Result]:
    """Denoise to the tolerance, then exactly; print both tables and what they prove."""
    height, width = noisy.shape
    print(f"Total variation of an image, {height} × {width}, weight λ = {WEIGHT}\n")
    problem = Problem(grid_graph(noisy.shape, WEIGHT), SquaredLoss(noisy.ravel()))
    first = _solve("denoising", problem, TOLERANCE)
    _report_certificate(first)
    print("\nFrom there to the exact answer\n")
    exact = _solve("exact answer", problem, 0.0, first)
    _report_certificate(exact)
    distance = float(np.linalg.norm(first.u - exact.u))
    print(
        f"The first answer is {distance:.3g} away from it, the bound was {first.error_bound:.3g}."
    )
    before, after = (_root_mean_square(image - truth.ravel()) for image in (noisy.ravel(), exact.u))
    print(f"\nRoot mean square error: {before:.4f} noisy, {after:.4f} denoised.")
    return first, exact


def _solve(title: str, problem: Problem, tol: float, warm_start: Result | None = None) -> Result:
    with progress_bar(title, tol) as callback:
        result = solve(problem, tol=tol, warm_start=warm_start, callback=callback, verbose=True)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return result


def _report_certificate(result: Result) -> None:
    print(f"\nCertified: no image has an objective below {result.dual:.10g};", end=" ")
    print(f"this one has {result.primal:.10g}.")
    print(f"It is within ‖u - u*‖ ≤ {result.error_bound:.3g} of the minimiser.")


def _report_forests(graph: Graph) -> None:
    print(f"\nForests of a planar graph, {graph.n_vertices} vertices, {graph.n_edges} edges")
    kappas = {name: condition_number(graph, name) for name in ("none", "diagonal", *METHODS)}
    for method in METHODS:
        print(f"\n{decompose(graph, method)}")
    print(f"\n{'preconditioner':<16}{'κ':>8}{'κ²':>10}")
    for name, kappa in kappas.items():
        print(f"{name:<16}{kappa:8.3f}{kappa**2:10.3f}")


def _root_mean_square(values: Floats) -> float:
    return math.sqrt(float(np.mean(values**2)))


def _free_name(path: Path, *, taken_too: bool) -> Path:
    """Return `path`, or the first of path-2, path-3, … that does not exist."""
    candidates = (path.with_stem(f"{path.stem}-{k}") for k in itertools.count(2))
    return path if taken_too or not path.exists() else next(c for c in candidates if not c.exists())


def _check(out: Path, *, overwrite: bool) -> Path | None:
    """Return `out` if a picture can go there, None if there is nothing to draw it with."""
    if out.exists() and (not overwrite or not out.is_file()):
        hint = "; --force overwrites it" if out.is_file() else " and is not a file"
        raise UsageError(f"{out} exists{hint}")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is not a directory")
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        print('No picture without matplotlib: pip install "graphtv[plot]"\n')
        return None
    formats = FigureCanvasBase.get_supported_filetypes()
    if out.suffix[1:].lower() not in formats:
        raise UsageError(f"{out} must end in one of {', '.join(sorted(formats))}")
    return out


def _save(out: Path, content: bytes) -> None:
    """Write all of the file or nothing of it."""
    partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        os.replace(partial, out)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UsageError(f"{out} cannot be written: {error.strerror}") from None


def _picture(
    images: dict[str, Floats],
    runs: tuple[Result, Result],
    graph: Graph,
    positions: Floats,
    suffix: str,
) -> bytes:
    """Return the images and the gap, above the partitions of the graph."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from graphtv.plot import INK, draw_partitions

    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    style: dict[Any, Any] = {"font.size": 10, "axes.titlesize": 11, **dict.fromkeys(ink, INK)}
    with rc_context(style):
        figure = Figure(figsize=(12.6, 6.9), layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        halves: Any = figure.subfigures(2, 1, hspace=0.03)
        top, bottom = halves
        axes = top.subplots(1, len(images) + 1, gridspec_kw={"wspace": 0.06})
        for ax, (title, image) in zip(axes, images.items(), strict=False):
            ax.imshow(image, cmap="magma", vmin=-0.1, vmax=1.0, interpolation="nearest")
            ax.set_title(title)
            ax.set_axis_off()
        _draw_gap(axes[-1], *runs)
        draw_partitions(graph, ("none", *METHODS), positions, figure=bottom)
        content = BytesIO()
        figure.savefig(content, format=suffix, dpi=90, bbox_inches="tight", pad_inches=0.1)
    return content.getvalue()


def _draw_gap(ax: Axes, first: Result, exact: Result) -> None:
    """Draw the gap by iteration: of the first run, and of the exact one that goes on from it."""
    from graphtv.plot import COLOURS, GREY

    last: list[tuple[float, float]] = []  # where the run before ended
    for result, colour in zip((first, exact), COLOURS, strict=False):
        before = last[0][0] if last else 0.0
        points = last + [
            (before + record.iteration, max(record.relative_gap, LEAST_GAP))
            for record in result.history
        ]
        ax.semilogy(*zip(*points, strict=True), color=colour, linewidth=2, label=result.method)
        last = points[-1:]
    ax.legend(loc="lower left", frameon=False)
    ax.axhline(TOLERANCE, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    ax.set_title("Certified relative gap, by iteration")
    ax.set_box_aspect(1)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#E3E5E8", linewidth=0.6)
