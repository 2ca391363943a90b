"""Draw the first picture of every page of the theory.

python docs/theory/pictures.py [folder]     # docs/images/theory by default
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphtv import (
    FlowNetwork,
    Graph,
    Problem,
    SquaredLoss,
    condition_number,
    gallery,
    grid_graph,
    solve,
    tv_chain,
)
from graphtv.plot import COLOURS, GREY, INK, draw_convergence, draw_partitions, draw_signal
from graphtv.scale.partition import partition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN = COLOURS[:3]


def noisy_problem(size: int = 48, weight: float = 0.3) -> Problem:
    """Return the problem of denoising a small image."""
    noisy, _ = gallery.piecewise_constant_image((size, size), 1, noise=0.2)
    return Problem(grid_graph(noisy.shape, weight), SquaredLoss(noisy))


def draw_graphs(figure: Figure) -> None:
    """Draw a signal on a planar graph before and after, with its jumps."""
    graph, positions = gallery.delaunay_graph(70, 160, 3)
    rng = np.random.default_rng(0)
    noisy = (positions[:, 0] + positions[:, 1] > 1) + 0.25 * rng.standard_normal(70)
    fused = solve(Problem(Graph(70, graph.edges, 0.4), SquaredLoss(noisy)), tol=0).u
    titles = ("a number per vertex", "total variation counts the jumps (dark edges)")
    for ax, signal, title in zip(figure.subplots(1, 2), (noisy, fused), titles, strict=True):
        draw_signal(graph, signal, positions, ax, limits=(-0.4, 1.4), colorbar=False)
        ax.set_title(title)


def draw_decompositions(figure: Figure) -> None:
    """Draw one graph decomposed into forests by three methods."""
    graph, positions = gallery.delaunay_graph(96, 150, 1)
    draw_partitions(graph, ("linear", "nested", "matroid"), positions, figure)


def draw_condition_numbers(figure: Figure) -> None:
    """Draw κ of square grids over their length."""
    ax, lengths = figure.subplots(), (4, 8, 16, 32)
    for name in ("none", "diagonal", "chains"):
        kappas = [condition_number(grid_graph((n, n)), name) for n in lengths]
        ax.loglog(lengths, kappas, marker="o", label=name)
    ax.set(xlabel="length of a square grid", ylabel="condition number κ")
    ax.set_xticks(lengths, [str(n) for n in lengths])
    ax.minorticks_off()
    ax.legend(title="preconditioner")


def draw_exact_tv(figure: Figure) -> None:
    """Draw a signal with its minimiser, and the taut string that computes it."""
    rng = np.random.default_rng(3)
    f = np.repeat([0.0, 1.2, 0.4], 20) + 0.3 * rng.standard_normal(60)
    u, weight = tv_chain(f, 1.0), 1.0
    left, right = figure.subplots(1, 2)
    left.plot(f, ".", color=GREY)
    left.step(range(60), u, where="mid", color=BLUE)
    left.set_title("the signal and its minimiser")
    sums, string = (np.concatenate([[0.0], np.cumsum(v - f.mean())]) for v in (f, u))
    width = np.full(61, weight)
    width[[0, -1]] = 0
    right.fill_between(range(61), sums - width, sums + width, color=COLOURS[5], alpha=0.35)
    right.plot(string, color=BLUE)
    right.set_title("its sums are a string, pulled taut in a tube")


def draw_terms(figure: Figure) -> None:
    """Draw the losses of one vertex, and the penalties of one edge."""
    left, right = figure.subplots(1, 2)
    r = np.linspace(-3, 3, 301)
    size = np.abs(r)
    losses = {
        "squared": r**2 / 2,
        "absolute": size,
        "Huber": np.where(size < 1, r**2 / 2, size - 0.5),
        "logistic": np.log1p(np.exp(-r)),
    }
    for name, loss in losses.items():
        left.plot(r, loss, label=name)
    left.set(title="data terms G of one vertex", ylim=(0, 4))
    left.legend()
    right.plot(r, size, label="TotalVariation()")
    right.plot(r, np.where(size < 1, r**2 / 2, size - 0.5), label="HuberTV(1)")
    right.set(title="penalties F of one edge", ylim=(0, 4))
    right.legend()


def draw_solver(figure: Figure) -> None:
    """Draw the two objectives of a run, which enclose the minimum."""
    result = solve(noisy_problem(), method="pdhg", preconditioner="chains", tol=1e-6)
    history, ax = result.history, figure.subplots()
    iterations = 1 + history["iteration"]
    ax.semilogx(iterations, history["primal"], color=BLUE, label="primal objective of u")
    ax.semilogx(iterations, history["dual"], color=ORANGE, label="dual objective of p")
    ax.fill_between(iterations, history["dual"], history["primal"], color=GREY, alpha=0.2)
    ax.set(xlabel="iteration", ylim=(0.9 * result.dual, 1.12 * result.dual))
    ax.minorticks_off()
    ax.set_title("the minimum lies in between")
    ax.legend()


def draw_descent(figure: Figure) -> None:
    """Draw the gaps of descent and of PDHG over the iterations."""
    problem = noisy_problem(64)
    runs = {
        "descent over chains": solve(problem, method="descent", preconditioner="chains", tol=1e-4),
        "PDHG over chains": solve(problem, method="pdhg", preconditioner="chains", tol=1e-4),
    }
    draw_convergence(runs, figure.subplots())


def draw_exact_finish(figure: Figure) -> None:
    """Draw the sorted values of a rough and of an exact solution."""
    problem = noisy_problem(32)
    rough, exact = solve(problem, method="descent", tol=1e-2).u, solve(problem, tol=0).u
    order = np.argsort(exact, axis=None, kind="stable")
    for ax, u, title in zip(
        figure.subplots(1, 2, sharey=True),
        (rough, exact),
        ("near the optimum", "after max-flow: pieces of equal value"),
        strict=True,
    ):
        ax.plot(u.ravel()[order], ".", markersize=2, color=BLUE)
        ax.set(title=title, xlabel="pixels, in the order of the exact values")


def draw_pdhg(figure: Figure) -> None:
    """Draw the gaps of PDHG with three preconditioners."""
    problem = noisy_problem(48, 1.0)
    names = ("none", "diagonal", "chains")
    runs = {n: solve(problem, method="pdhg", preconditioner=n, tol=1e-5) for n in names}
    draw_convergence(runs, figure.subplots())


def draw_minimum_cuts(figure: Figure) -> None:
    """Draw a small network with its minimum cut."""
    arcs = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]])
    capacities = [3, 2, 1, 2, 4]
    cut = FlowNetwork(4, arcs, capacities, source=0, sink=3).min_cut()
    places = np.array([(0.0, 0.0), (1.0, 0.6), (1.0, -0.6), (2.0, 0.0)])
    ax = figure.subplots()
    for (i, j), capacity in zip(arcs, capacities, strict=True):
        is_cut = cut.source_side[i] and not cut.source_side[j]
        colour = COLOURS[4] if is_cut else GREY
        style = {"arrowstyle": "-|>", "color": colour, "lw": 2.5 if is_cut else 1.2}
        ax.annotate("", places[j], places[i], arrowprops={**style, "shrinkA": 14, "shrinkB": 14})
        middle = places[[i, j]].mean(axis=0)
        ax.text(*middle, str(capacity), color=colour, ha="center", va="center", backgroundcolor="w")
    colours = np.where(cut.source_side, BLUE, ORANGE)
    ax.scatter(*places.T, 500, colours, zorder=3)
    for place, name in zip(places, ("s", "1", "2", "t"), strict=True):
        ax.text(*place, name, color="white", ha="center", va="center", zorder=4)
    ax.set(title=f"minimum cut {cut.value} = maximum flow", xlim=(-0.3, 2.3), ylim=(-0.9, 0.9))
    ax.set_axis_off()


def draw_operators(figure: Figure) -> None:
    """Draw a signal seen through a blur, and the flow that proves its reconstruction."""
    n, weight = 80, 0.05
    truth = np.repeat([0.2, 1.0, 0.6], (30, 22, 28))
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    A = np.exp(-((distance / 4.0) ** 2))
    A /= A.sum(axis=1, keepdims=True)
    f = A @ truth + 0.02 * np.random.default_rng(0).standard_normal(n)
    problem = Problem(grid_graph((n,), weight), SquaredLoss(f), operator=A)
    result, early = solve(problem, tol=1e-6), solve(problem, max_iterations=3)
    left, right = figure.subplots(1, 2)
    left.plot(f, ".", color=GREY, label="data f")
    left.plot(A @ result.u, color=ORANGE, label="Au")
    left.step(range(n), result.u, where="mid", color=BLUE, label="u")
    left.set_title("Au fits the data, and u is piecewise constant")
    left.legend()
    force = A.T @ (A @ early.u - f)
    flow = np.cumsum(force - force.mean())[:-1] / weight
    sign = np.sign(flow @ result.p)
    right.axhspan(-1, 1, color=COLOURS[5], alpha=0.35)
    right.plot(sign * flow, color=GREY, linestyle="--", label="after 3 iterations, not divided")
    right.plot(result.p, color=BLUE, label="p at the end")
    right.set(title="|p| ≤ 1, with equality where u jumps", ylim=(-1.6, 2.3))
    right.legend(loc="upper left")


def draw_scale(figure: Figure) -> None:
    """Draw a grid in tiles and a graph in parts, with the strip across one border."""
    grid, tiled = figure.subplots(1, 2)
    side = np.arange(12)
    x, y = (values.ravel() for values in np.meshgrid(side, side))
    pixels = grid_graph((12, 12))
    tile = 2 * (y >= 6) + (x >= 6)
    near = (np.abs(x - 5.5) < 2) & (y < 6)
    draw_parts(grid, np.stack([x, -y], axis=1), pixels, tile, near)
    grid.set_title("a grid in tiles: a dask array")
    graph, positions = gallery.delaunay_graph(150, 300, 2)
    part = partition(graph, 4, points=positions)
    tails, heads = graph.edges.T
    is_ours = (part[tails] + part[heads] == 1) & (part[tails] != part[heads])
    near = np.isin(np.arange(150), graph.edges[is_ours])
    near |= np.isin(np.arange(150), graph.edges[near[graph.edges].any(axis=1)]) & (part < 2)
    draw_parts(tiled, positions, graph, part, near)
    tiled.set_title("a graph in parts: a PartitionedGraph")


def draw_parts(ax: Axes, positions: Any, graph: Graph, part: Any, near: Any) -> None:
    """Draw vertices by part, edges across borders dark, and the vertices of a strip with a ring."""
    from matplotlib.collections import LineCollection

    tails, heads = graph.edges.T
    is_across = part[tails] != part[heads]
    for chosen, colour, width in ((~is_across, GREY, 0.7), (is_across, INK, 1.4)):
        lines = positions[graph.edges[chosen]]
        ax.add_collection(LineCollection(lines, colors=colour, linewidths=width, zorder=1))
    colours = np.array(COLOURS[:4])[part]
    ax.scatter(*positions.T, s=16, c=colours, zorder=2)
    ax.scatter(*positions[near].T, s=52, facecolors="none", edgecolors=INK, linewidths=0.9)
    ax.set_aspect("equal")
    ax.set_axis_off()


PICTURES = {
    "graphs": draw_graphs,
    "decompositions": draw_decompositions,
    "condition-numbers": draw_condition_numbers,
    "exact-tv": draw_exact_tv,
    "terms": draw_terms,
    "solver": draw_solver,
    "descent": draw_descent,
    "exact-finish": draw_exact_finish,
    "pdhg": draw_pdhg,
    "minimum-cuts": draw_minimum_cuts,
    "operators": draw_operators,
    "scale": draw_scale,
}


def main(folder: Path) -> None:
    """Draw all pictures, with a palette to keep the files small."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    style = {"axes.spines.top": False, "axes.spines.right": False, "text.color": INK}
    for name, draw in PICTURES.items():
        wide = name not in ("condition-numbers", "solver", "descent", "pdhg", "minimum-cuts")
        with rc_context({**style, "axes.titlesize": 11}):
            figure = Figure(figsize=(9 if wide else 6, 3.2), layout="constrained")
            draw(figure)
            buffer = BytesIO()
            figure.savefig(buffer, dpi=90)
        picture = Image.open(buffer).convert("RGB").quantize(64)
        picture.save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "images" / "theory"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
