"""``graphtv demo``: exact total variation at work on an image, forests on a small graph.

The image is denoised on its grid, min ½‖u - f‖² + λ TV(u), with the two forests of its chains. In
vertex space (q_l = K_lᵀ p_l) the dual problem is

    min ½ ‖f - q_1 - q_2‖²   over q_l = K_lᵀ p_l, |p_l| ≤ 1,

and minimising over one block is one exact solve on that block's chains, since the projection of z
is z - prox_{TV_l}(z). Block after block converges (L = 2, the scheme of Dykstra). At any time
u = f - q_1 - q_2 has the primal value P(u), and the blocks the dual value D = ½‖f‖² - ½‖u‖²; no
image has a value below D, so P - D bounds how far u is from optimal.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphtv import condition_number, decompose, gallery, grid_graph, tv_chain
from graphtv._validate import Floats
from graphtv.cli.errors import UsageError
from graphtv.graph import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEFAULT_PICTURE = Path("graphtv-demo.png")
WEIGHT = 0.2
NOISE = 0.2
TOLERANCE = 1e-4
SWEEP_LIMIT = 2000
METHODS = ("linear", "nested", "matroid")


class Sweep(NamedTuple):
    """Where the descent is after a number of sweeps over both directions."""

    number: int
    image: Floats
    primal: float
    dual: float

    @property
    def relative_gap(self) -> float:
        """(P - D) / max(|P|, |D|), which is 0 when both are."""
        scale = max(abs(self.primal), abs(self.dual))
        return (self.primal - self.dual) / scale if scale else 0.0


def run(arguments: argparse.Namespace) -> None:
    """Run the demonstration."""
    out: Path | None = None
    if not arguments.no_picture:
        out = arguments.out or _free_name(DEFAULT_PICTURE, taken_too=arguments.force)
        out = _check(out, overwrite=arguments.force)
    noisy, truth = gallery.piecewise_constant_image(
        (arguments.size, arguments.size), seed=7, noise=NOISE, n_regions=12
    )
    denoised, gaps = _report_denoising(noisy, truth)
    graph, positions = gallery.delaunay_graph(96, 150, seed=1)
    _report_forests(graph)
    if out is not None:
        images = {"Piecewise constant": truth, "Noisy": noisy, "Denoised": denoised}
        _save(out, _picture(images, gaps, graph, positions, out.suffix[1:].lower()))
        print(f"\nThe picture is in {out}")


def descend(noisy: Floats, weight: float) -> Iterator[Sweep]:
    """Minimise ½‖u - f‖² + weight · TV(u) over images, exactly in rows and columns by turns."""
    q_columns = np.zeros_like(noisy)
    number = 0
    while True:
        number += 1
        z = noisy - q_columns
        q_rows = z - tv_chain(z, weight)
        z = noisy - q_rows
        q_columns = z - tv_chain(z.T, weight).T
        u = noisy - q_rows - q_columns
        variation = sum(float(np.abs(np.diff(u, axis=axis)).sum()) for axis in (0, 1))
        primal = 0.5 * float(np.sum((u - noisy) ** 2)) + weight * variation
        dual = 0.5 * (float(np.sum(noisy**2)) - float(np.sum(u**2)))
        yield Sweep(number, u, primal, dual)


def _report_denoising(noisy: Floats, truth: Floats) -> tuple[Floats, list[float]]:
    """Descend to the tolerance, a row of the table now and then; return u and all gaps."""
    height, width = noisy.shape
    chains = decompose(grid_graph(noisy.shape), "chains")
    print(f"Total variation of an image, {height} × {width}, weight λ = {WEIGHT}")
    print(f"Rows and columns by turns, each solved exactly: {chains.n_forests} forests", end="")
    print(f" of chains, κ = {chains.condition_number:.4g}\n")
    print(f"{'sweep':>7} {'primal':>14} {'dual':>14} {'relative gap':>14} {'seconds':>9}")
    gaps: list[float] = []
    start, shown = time.perf_counter(), 0
    for sweep in descend(noisy, WEIGHT):
        gaps.append(sweep.relative_gap)
        done = gaps[-1] <= TOLERANCE or sweep.number == SWEEP_LIMIT
        if done or sweep.number >= 1.6 * shown:
            shown = sweep.number
            print(
                f"{sweep.number:7} {sweep.primal:14.6f} {sweep.dual:14.6f} {gaps[-1]:14.2e}"
                f" {time.perf_counter() - start:9.3f}",
                flush=True,
            )
        if done:
            break
    before, after = (_root_mean_square(image - truth) for image in (noisy, sweep.image))
    print(f"\nCertified: no image has an objective below {sweep.dual:.6f}.")
    print(f"Root mean square error: {before:.4f} noisy, {after:.4f} denoised.")
    return sweep.image, gaps


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
    images: dict[str, Floats], gaps: list[float], graph: Graph, positions: Floats, suffix: str
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
        _draw_gap(axes[-1], gaps)
        draw_partitions(graph, ("none", *METHODS), positions, figure=bottom)
        content = BytesIO()
        figure.savefig(content, format=suffix, dpi=90, bbox_inches="tight", pad_inches=0.1)
    return content.getvalue()


def _draw_gap(ax: Axes, gaps: list[float]) -> None:
    from graphtv.plot import COLOURS, GREY

    ax.loglog(range(1, len(gaps) + 1), gaps, color=COLOURS[0], linewidth=2)
    ax.axhline(TOLERANCE, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    ax.set_title("Certified relative gap, by sweep")
    ax.set_box_aspect(1)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#E3E5E8", linewidth=0.6)
