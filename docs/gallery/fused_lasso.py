"""Fuse the unemployment rates of the counties of the United States into regions.

Each county has its rate of 2009, and edges join counties that share a boundary. The fused lasso
replaces the 3109 values by a few hundred regions of equal value. Schwarz's criterion (BIC) selects
their number.

    python docs/gallery/fused_lasso.py [picture.png]
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphtv import FusedLassoPath, fused_lasso_path
from graphtv.datasets import Counties, us_counties

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, BLUE, ORANGE = "#22262B", "#8A8F98", "#0072B2", "#D55E00"
PLACES = {
    "Central Valley": ("Fresno County, California", (22, -92)),
    "Great Plains": ("Hall County, Nebraska", (12, 88)),
    "Michigan": ("Clare County, Michigan", (30, 46)),
    "Black Belt": ("Dallas County, Alabama", (-8, -74)),
}


def main(output: Path, n_lambdas: int = 60) -> FusedLassoPath:
    """Solve the path and save the picture."""
    from matplotlib.figure import Figure

    counties = us_counties()
    path = fused_lasso_path(
        counties.graph, counties.unemployment, n_lambdas=n_lambdas, verbose=True
    )
    print(path)

    figure = Figure(figsize=(12, 6.8), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(2.0, 1))
    left, right = top.subplots(1, 2)
    chosen, fused = path.best_index("bic"), path.best("bic").u
    scale = {"vmin": 2.0, "vmax": 16.0, "cmap": "plasma"}
    draw_map(left, counties, counties.unemployment, scale)
    left.set_title("Unemployment 2009, 3109 counties", color=INK, fontsize=12, pad=24)
    points = draw_map(right, counties, fused, scale)
    label_places(right, counties, fused)
    gap = path.results[chosen].relative_gap
    proof = "certified exact" if gap <= 1e-12 else f"relative gap {gap:.0e}"
    right.set_title(
        f"Fused: {path.df[chosen]} pieces, λ = {path.lambdas[chosen]:.2f} by BIC, {proof}",
        color=INK,
        fontsize=12,
        pad=24,
    )
    bar = top.colorbar(points, ax=[left, right], shrink=0.7, pad=0.01, extend="both")
    bar.set_label("per cent", color=INK)
    bar.outline.set_visible(False)
    draw_path(bottom.subplots(), path, chosen)
    save(figure, output)
    return path


def save(figure: Figure, output: Path) -> None:
    """Save with a palette: a fifth of the size without a visible difference."""
    from PIL import Image

    buffer = BytesIO()
    figure.savefig(buffer, dpi=110)
    Image.open(buffer).convert("RGB").quantize(255).save(output, optimize=True)


def draw_map(ax: Axes, counties: Counties, values: np.ndarray, scale: dict) -> object:
    """Draw a dot per county whose size follows the distance to its neighbours."""
    x, y = albers(counties.coordinates).T
    tail, head = counties.graph.edges.T
    length = np.hypot(x[tail] - x[head], y[tail] - y[head])
    n = len(x)
    total = np.bincount(tail, length, n) + np.bincount(head, length, n)
    degree = np.bincount(tail, minlength=n) + np.bincount(head, minlength=n)
    spacing = np.where(degree > 0, total / np.maximum(degree, 1), np.median(length))
    order = np.argsort(-spacing)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax.scatter(
        x[order], y[order], 2.3e5 * spacing[order] ** 2, values[order], linewidths=0, **scale
    )


def label_places(ax: Axes, counties: Counties, values: np.ndarray) -> None:
    """Label a few regions with their fused value."""
    places = albers(counties.coordinates)
    for name, (county, offset) in PLACES.items():
        (k,) = np.flatnonzero(counties.names == county)
        ax.annotate(
            f"{name} {values[k]:.1f} %",
            places[k],
            offset,
            textcoords="offset points",
            color=INK,
            fontsize=9.5,
            ha="center",
            arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.7, "shrinkA": 0, "shrinkB": 0},
            bbox={"boxstyle": "round,pad=0.25", "fc": "white", "ec": "none", "alpha": 0.85},
        )


def draw_path(ax: Axes, path: FusedLassoPath, chosen: int) -> None:
    """Draw BIC and the degrees of freedom over λ."""
    other = ax.twinx()
    ax.semilogx(path.lambdas, path.bic / 1e3, color=BLUE, lw=2)
    other.loglog(path.lambdas, path.df, color=ORANGE, lw=2)
    lam = path.lambdas[chosen]
    ax.axvline(lam, color=GREY, lw=1, ls=(0, (4, 3)))
    ax.plot(lam, path.bic[chosen] / 1e3, "o", color=BLUE, ms=8)
    other.plot(lam, path.df[chosen], "o", color=ORANGE, ms=8)
    other.annotate(
        f"{path.df[chosen]} pieces",
        (lam, path.df[chosen]),
        (8, 8),
        textcoords="offset points",
        color=ORANGE,
    )
    ax.annotate(
        "least BIC", (lam, path.bic[chosen] / 1e3), (8, 10), textcoords="offset points", color=BLUE
    )
    ax.set_xlabel("λ", color=INK)
    ax.set_ylabel("BIC / 1000", color=BLUE)
    other.set_ylabel("degrees of freedom: pieces", color=ORANGE)
    for axis in (ax, other):
        axis.spines[["top"]].set_visible(False)
        axis.margins(x=0.01)
    ax.grid(alpha=0.25)


def albers(coordinates: np.ndarray) -> np.ndarray:
    """Project longitude and latitude by Albers' equal-area conic for the United States."""
    longitude, latitude = np.radians(coordinates).T
    first, second, middle, origin = np.radians([29.5, 45.5, 37.5, -96.0])
    n = (np.sin(first) + np.sin(second)) / 2
    c = np.cos(first) ** 2 + 2 * n * np.sin(first)
    radius = np.sqrt(c - 2 * n * np.sin(latitude)) / n
    angle = n * (longitude - origin)
    height = np.sqrt(c - 2 * n * np.sin(middle)) / n - radius * np.cos(angle)
    return np.stack([radius * np.sin(angle), height], axis=1)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "fused_lasso.png"))
