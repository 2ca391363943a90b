"""Examples of `graphtv.plot`: runs, images, labels, paths of λ, clusters, maps, meshes and forests.

    python docs/gallery/pictures.py pictures.png

Needs matplotlib.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from graphtv import (
    Graph,
    Problem,
    SquaredLoss,
    convex_clustering_path,
    datasets,
    decompose,
    denoise_tv,
    fused_lasso,
    fused_lasso_path,
    gallery,
    grid_graph,
    segment_image,
    solve,
)
from graphtv.plot import (
    draw_before_after,
    draw_convergence,
    draw_criterion,
    draw_dendrogram,
    draw_labels,
    draw_partition,
    draw_path,
    draw_signal,
)


def sphere(n: int) -> tuple[Graph, np.ndarray, np.ndarray]:
    """Return a mesh of the sphere: its points and its triangles."""
    k = np.arange(n) + 0.5
    height, turn = 1.0 - 2.0 * k / n, np.pi * (1.0 + 5.0**0.5) * k
    radius = np.sqrt(1.0 - height**2)
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1)
    triangles = ConvexHull(points).simplices
    sides = np.concatenate([triangles[:, :2], triangles[:, 1:], triangles[:, ::2]])
    return Graph(n, np.unique(np.sort(sides, axis=1), axis=0)), points, triangles


def main(output: Path, size: int = 96, n_points: int = 2500, n_lambdas: int = 25) -> None:
    """Save the picture; `size` is the size of the image, `n_points` that of the mesh."""
    import matplotlib.pyplot as plt
    from PIL import Image

    rng = np.random.default_rng(0)
    noisy, truth = gallery.piecewise_constant_image((size, size), rng=7, noise=0.2, n_regions=12)
    figure, axes = plt.subplots(3, 4, figsize=(15, 10.5), layout="constrained")

    draw_before_after(noisy, denoise_tv(noisy, "auto"), axes[0, :2], cmap="magma")
    axes[0, 0].set_title("draw_before_after")

    problem = Problem(grid_graph(noisy.shape, 0.5), SquaredLoss(noisy.ravel()))
    runs = {
        name: solve(problem, method="pdhg", preconditioner=name, tol=1e-6)
        for name in ("none", "diagonal", "chains")
    }
    draw_convergence(runs, axes[0, 2]).set_title("draw_convergence")

    scribbles = np.zeros(truth.shape, dtype=int)
    levels = np.quantile(truth, [0.2, 0.5, 0.85])
    for number, level in enumerate(levels, start=1):
        rows, columns = np.nonzero(truth == truth.flat[np.abs(truth - level).argmin()])
        chosen = rng.permutation(len(rows))[:40]
        scribbles[rows[chosen], columns[chosen]] = number
    labels = segment_image(noisy, scribbles)
    draw_labels(noisy, labels, axes[0, 3], scribbles=scribbles, names=["dark", "medium", "bright"])
    axes[0, 3].set_title("draw_labels")

    counties = datasets.us_counties()
    path = fused_lasso_path(counties.graph, counties.unemployment, n_lambdas=n_lambdas)
    draw_path(path, axes[1, 0]).set_title("draw_path", loc="left")
    draw_criterion(path, axes[1, 1]).set_title("draw_criterion", loc="left")
    for ax, values in ((axes[1, 2], counties.unemployment), (axes[1, 3], path.best("bic").u)):
        draw_signal(
            counties.graph,
            values,
            counties.coordinates,
            ax,
            geographic=True,
            limits=(2, 18),
            colorbar=ax is axes[1, 3],
            label="unemployment, %",
        )
    axes[1, 2].set_title("draw_signal: a map")
    axes[1, 3].set_title("fused, λ by BIC")

    graph, points, triangles = sphere(n_points)
    signal = np.where(points[:, 2] > 0.3, 1.0, 0.0) + np.where(points[:, 0] > 0.4, 0.7, 0.0)
    signal += 0.3 * rng.standard_normal(n_points)
    smooth = fused_lasso(graph, signal, lam=0.25).u
    draw_signal(graph, smooth, points, axes[2, 0], triangles=triangles, colorbar=False)
    axes[2, 0].set_title("draw_signal: a mesh")

    centres = [(0, 0), (2.5, 0.5), (1.2, 2.2), (4.5, 2)]
    groups = np.concatenate([rng.normal(centre, 0.3, (20, 2)) for centre in centres])
    clusters = convex_clustering_path(groups, n_lambdas=n_lambdas, tol=1e-4)
    draw_dendrogram(clusters, axes[2, 1]).set_title("", loc="right")
    axes[2, 1].set_title("draw_dendrogram")

    planar, positions = gallery.delaunay_graph(96, 150, rng=1)
    noise = 0.2 * rng.standard_normal(96)
    pieces = fused_lasso(planar, np.where(positions[:, 0] > 0.5, 1.0, 0.0) + noise, lam=0.3).u
    draw_signal(planar, pieces, positions, axes[2, 2], colorbar=False)
    axes[2, 2].set_title("draw_signal: pieces of a graph")
    draw_partition(decompose(planar, "matroid"), axes[2, 3], positions)
    axes[2, 3].set_title("draw_partition")
    buffer = BytesIO()
    figure.savefig(buffer, dpi=70)
    plt.close(figure)
    # A palette: a third of the size without a visible difference.
    Image.open(buffer).convert("RGB").quantize(255, Image.Quantize.MAXCOVERAGE).save(
        output, optimize=True
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
