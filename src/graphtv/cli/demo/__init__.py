"""``graphtv demo``: demonstrate the package on generated examples.

First an image is denoised, min ½‖u - f‖² + λ TV(u), to a relative gap of 1e-3 and then exactly. At
any time the primal point u has the objective P(u), and the dual point p has the objective D(p). No
image has an objective below D(p). So the gap P - D bounds how far u is from the optimum. Then a
landscape is segmented, a network is cut, preconditioners are compared, and a graph is decomposed
into forests.
"""

from __future__ import annotations

import argparse
import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphtv.cli.errors import UsageError
from graphtv.cli.files import check_output, write_bytes

if TYPE_CHECKING:
    from graphtv._validate import Floats
    from graphtv.applications.cuts.min_cut import Cut
    from graphtv.gallery.examples import Pipes, Scene
    from graphtv.graph.graph import Graph
    from graphtv.problem import Problem
    from graphtv.result import Result

DEFAULT_PICTURE = Path("graphtv-demo.png")
WEIGHT = 0.2
NOISE = 0.2
TOLERANCE = 1e-3

DESCRIPTION = """\
Denoise an image, segment a landscape, cut a network, compare preconditioners
and decompose a graph into forests, and save a figure. All examples are
generated, and every answer has a certificate."""

EXAMPLES = """\
examples:
  graphtv demo
  graphtv demo --out tour.svg --force
  graphtv demo --no-picture"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    picture = parser.add_mutually_exclusive_group()
    picture.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="file of the figure, with the format given by the suffix (default: "
        "graphtv-demo.png, with a number appended if it exists)",
    )
    picture.add_argument("--no-picture", action="store_true", help="numbers only")
    parser.add_argument("--force", action="store_true", help="overwrite an existing picture")
    parser.add_argument(
        "--size",
        type=_size,
        default=256,
        metavar="N",
        help="height and width of the noisy image in pixels (default: %(default)s)",
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
    from graphtv import gallery
    from graphtv.cli.demo.race import race
    from graphtv.gallery import examples

    noisy, truth = gallery.piecewise_constant_image(
        (arguments.size, arguments.size), rng=7, noise=NOISE, n_regions=12
    )
    runs = _report_denoising(noisy, truth)
    scene, pipes = examples.landscape(), examples.pipes()
    labels = _report_segmentation(scene)
    cut = _report_cut(pipes)
    problem = examples.roads()
    _title("Race of preconditioners")
    graph = problem.graph
    print(f"A graph like a road map, {graph.n_vertices} vertices, {graph.n_edges} edges:")
    print("PDHG until a relative gap of 1e-6 is proved\n")
    results = race(problem)
    graph, positions = gallery.delaunay_graph(96, 150, rng=1)
    _report_forests(graph)
    if out is not None:
        from graphtv.cli.demo.picture import Findings, picture

        denoised = runs[1].u.reshape(noisy.shape)
        found = Findings(
            noisy, denoised, runs, scene, labels, pipes, cut, results, graph, positions
        )
        write_bytes(str(out), picture(found, out.suffix[1:].lower()))
        print(f"\nFigure saved to {out.resolve()}")


def _title(text: str) -> None:
    print(f"\n{text}\n{'─' * len(text)}")


def _report_denoising(noisy: Floats, truth: Floats) -> tuple[Result, Result]:
    """Denoise to the tolerance, then exactly; print both tables and the certificates."""
    import numpy as np

    from graphtv import Problem, SquaredLoss, grid_graph

    height, width = noisy.shape
    _title("Denoise")
    print(f"Image of {height} × {width} pixels, weight λ = {WEIGHT}\n")
    problem = Problem(grid_graph(noisy.shape, WEIGHT), SquaredLoss(noisy.ravel()))
    first = _solve("denoising", problem, TOLERANCE)
    _report_certificate(first)
    print("\nContinue from there to the exact solution\n")
    exact = _solve("exact answer", problem, 0.0, first)
    _report_certificate(exact)
    distance = float(np.linalg.norm(first.u - exact.u))
    print(f"Distance of the first answer: {distance:.3g}; its bound was {first.error_bound:.3g}.")
    before, after = (_root_mean_square(image - truth.ravel()) for image in (noisy.ravel(), exact.u))
    print(f"\nRoot-mean-square error: {before:.4f} noisy, {after:.4f} denoised.")
    return first, exact


def _solve(title: str, problem: Problem, tol: float, warm_start: Result | None = None) -> Result:
    from graphtv.cli.progress import progress_bar
    from graphtv.solver import solve

    with progress_bar(title, tol) as callback:
        result = solve(problem, tol=tol, warm_start=warm_start, callback=callback, verbose=True)
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return result


def _report_certificate(result: Result) -> None:
    print(f"\nCertified: no image has an objective below {result.dual:.10g};", end=" ")
    print(f"this one has {result.primal:.10g}.")
    print(f"It is within ‖u - u*‖ ≤ {result.error_bound:.3g} of the minimiser.")


def _report_segmentation(scene: Scene) -> Any:
    """Segment the landscape; return the labels."""
    from graphtv.applications.imaging.image_segmentation import segment_image
    from graphtv.cli.progress import progress_bar
    from graphtv.gallery.examples import CLASSES

    _title("Segment")
    height, width = scene.truth.shape
    with progress_bar("segmenting", 5e-4) as callback:
        labels, result = segment_image(
            scene.image, scene.scribbles, return_result=True, callback=callback
        )
    if result.status == "interrupted":
        raise KeyboardInterrupt
    marked, right = (scene.scribbles > 0).mean(), (labels == scene.truth).mean()
    print(f"A landscape of {height} × {width} pixels with the classes {', '.join(CLASSES)}:")
    print(f"{100 * marked:.1f} % of the pixels are scribbled, {100 * right:.1f} % are correct.")
    print(f"Relative gap {result.relative_gap:.1e} after {result.iterations} iterations.")
    return labels


def _report_cut(pipes: Pipes) -> Cut:
    """Cut the pipes."""
    from graphtv.applications.cuts.min_cut import min_cut

    _title("Cut")
    cut = min_cut(pipes.graph, pipes.sources, pipes.sinks)
    if not cut.certified:
        raise KeyboardInterrupt
    graph, side = pipes.graph, cut.source_side
    crossing = int((side[graph.edges[:, 0]] != side[graph.edges[:, 1]]).sum())
    print(f"A network of {graph.n_edges} pipes between {graph.n_vertices} points.")
    print(f"The maximum flow from left to right is {cut.flow.value} litres. The minimum cut has")
    print(
        f"{crossing} pipes with {cut.value} litres in total. Each proves that the other is optimal."
    )
    return cut


def _report_forests(graph: Graph) -> None:
    from graphtv import condition_number, decompose
    from graphtv.cli.demo.picture import METHODS

    _title("Forests")
    print(f"A planar graph with {graph.n_vertices} vertices and {graph.n_edges} edges. A smaller")
    print("condition number κ of the preconditioned gradient means fewer iterations.\n")
    print(f"{'preconditioner':<16}{'forests':>8}{'κ':>10}{'κ²':>10}")
    for name in ("none", "diagonal", *METHODS):
        part = decompose(graph, name) if name in METHODS else None
        kappa = condition_number(graph, name if part is None else part)
        count = "" if part is None else str(part.n_forests)
        print(f"{name:<16}{count:>8}{kappa:10.3f}{kappa**2:10.3f}")


def _root_mean_square(values: Floats) -> float:
    import numpy as np

    return math.sqrt(float(np.mean(values**2)))


def _free_name(path: Path, *, taken_too: bool) -> Path:
    """Return `path`, or the first of path-2, path-3, … that does not exist."""
    candidates = (path.with_stem(f"{path.stem}-{k}") for k in itertools.count(2))
    return path if taken_too or not path.exists() else next(c for c in candidates if not c.exists())


def _check(out: Path, *, overwrite: bool) -> Path | None:
    """Return `out` if a figure can be written there, None without matplotlib."""
    check_output(str(out), force=overwrite)
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        print('The figure needs matplotlib: pip install "graphtv[plot]"')
        return None
    formats = FigureCanvasBase.get_supported_filetypes()
    if out.suffix[1:].lower() not in formats:
        raise UsageError(f"{out} must end in one of {', '.join(sorted(formats))}")
    return out
