"""Figure 2: a photograph with scribbles, and its segmentation after eleven iterations.

The paper shows one image of the ICG benchmark after 11 iterations with chains. Here it is shown
next to the result of PDHG without preconditioner after as many iterations, and to the converged
labels. An image of the benchmark is drawn if its folder is given (the paper does not name its
image). A photograph that comes with scikit-image is always drawn. The problems are those of Table
3.
"""

from __future__ import annotations

import functools
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphtv.paper.drawing import LABELS, picture
from graphtv.paper.experiment import (
    Cell,
    Claim,
    Column,
    Entry,
    Experiment,
    Outcome,
    Outcomes,
    Picture,
    Progress,
    Row,
    Table,
)
from graphtv.paper.measurement import count
from graphtv.paper.multiclass import EPSILON, image_problem, labels_of, mean_dice
from graphtv.paper.photographs import Labels, Photograph, coffee, read_icg
from graphtv.solver import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ITERATIONS = 11
"""As in the paper."""

CONVERGED = 1e-6
"""The relative gap at which the labels have converged."""

MOST_UNLIKE = 0.01
"""The segmentation counts as found if at most this fraction of labels differs."""

METHODS = ("chains", "nested", "diagonal", "none")
PHOTOGRAPHS = ("image_0001", "coffee")

WIDTH = 300
"""The approximate width of a panel in pixels: visible details must not be thinner."""

COLOURS = ("#2f6fb0", "#e0559b", "#f2f2e6", "#f5c518", "#3fb68b", "#8b5fbf", "#e8743b", "#5f6b78")
"""One colour per class; they repeat from the ninth class on."""


class Figure2(Experiment):
    """Segmentations after few iterations."""

    name = "figure2"
    title = "Figure 2: interactive segmentation after eleven iterations"

    def __init__(self, quick: bool = False, data: Path | None = None) -> None:
        super().__init__(quick, data)
        self.step = 4 if quick else 1

    def cells(self) -> list[Cell]:
        """Return a cell per photograph and preconditioner, and one for the converged labels."""
        return [
            Cell(f"{name}/{method}", functools.partial(self.measure, name, method))
            for name in PHOTOGRAPHS
            for method in (*METHODS, "converged")
        ]

    def photograph(self, name: str) -> Photograph:
        """Return a photograph in the size of this run."""
        return coffee(self.step) if name == "coffee" else read_icg(self.data, name).every(self.step)

    def measure(self, name: str, method: str, progress: Progress) -> Outcome:
        """Return the run-length encoded labels after the iterations, and their proved gap."""
        photograph = self.photograph(name)
        problem = image_problem(photograph)
        if method == "converged":
            result = solve(
                problem,
                tol=CONVERGED,
                n_threads=1,
                callback=lambda info: progress(f"gap {info.relative_gap:.1e}"),
            )
            if result.status == "interrupted":
                raise KeyboardInterrupt
            found: Outcome = {"iterations": result.iterations, "gap": result.relative_gap}
            u = result.u
        else:
            run, u = count(
                problem,
                method,
                tolerance=0.0,
                cap=ITERATIONS,
                progress=progress,
                gamma=EPSILON,
                first_gap=1.0,
            )
            found = {key: run[key] for key in ("iterations", "gap", "seconds")}
        labels = labels_of(u, photograph.scribbles.shape)
        found |= {"labels": to_runs(labels), "shape": list(labels.shape)}
        if photograph.truth is not None:
            found["dice"] = mean_dice(labels, photograph.truth)
        return found

    def tables(self, outcomes: Outcomes) -> list[Table]:
        """Return the gaps, and the distance of the labels from the converged ones."""
        columns = [
            Column("", "preconditioner"),
            Column("", "it"),
            Column("", "relative gap"),
            Column("", "labels unlike the converged"),
            Column("", "Dice"),
        ]
        rows: list[Row] = []
        for name in PHOTOGRAPHS:
            converged = outcomes.get(f"{name}/converged")
            section = name
            for method in (*METHODS, "converged"):
                found = outcomes.get(f"{name}/{method}")
                if found is None:
                    continue
                rows.append(_row(method, found, converged, section))
                section = ""
            if section and (reason := outcomes.reasons.get(f"{name}/converged")):
                rows.append(Row([Entry(name), *[Entry()] * 4], note=reason))
        caption = f"Figure 2: after {ITERATIONS} iterations of PDHG"
        notes = [
            "Dice's coefficient, mean over the classes, where the truth is known. The paper shows"
            " its labels after 11 iterations, and gives no figures."
        ]
        return [Table("figure2", caption, columns, rows, notes)]

    def claims(self, outcomes: Outcomes) -> list[Claim]:
        """Compare the labels with chains to the converged ones."""
        shares = {}
        for name in PHOTOGRAPHS:
            found = [outcomes.get(f"{name}/{method}") for method in ("chains", "converged", "none")]
            if all(found):
                chains, converged, none = (of for of in found if of)
                shares[name] = unlike(chains, converged), unlike(none, converged)
        return [
            Claim(
                f"with chains, {ITERATIONS} iterations give the segmentation"
                f" (here: at most {100 * MOST_UNLIKE:g} % of the labels differ from the converged)",
                all(chains <= MOST_UNLIKE for chains, _ in shares.values()) if shares else None,
                "; ".join(
                    f"{100 * chains:.2f} % on {name}, without preconditioner {100 * none:.2f} %"
                    for name, (chains, none) in shares.items()
                )
                or "nothing has been run",
            )
        ]

    def pictures(self, outcomes: Outcomes, folder: Path) -> list[Picture]:
        """Draw the scribbles and the labels."""
        made = []
        for name in PHOTOGRAPHS:
            shown = {
                method: outcomes[key]
                for method in ("chains", "none", "converged")
                if (key := f"{name}/{method}") in outcomes
            }
            if len(shown) < 3:
                continue
            path = folder / f"figure2-{name}.png"
            _draw(self.photograph(name), shown, path)
            caption = (
                f"{name}: scribbles, the labels after {ITERATIONS} iterations with chains and"
                " without preconditioner, and the converged ones. Pixels that differ from the"
                " converged ones are black in the lower row."
            )
            made.append(Picture(path, caption))
        return made


def to_runs(labels: Labels) -> list[int]:
    """Return the labels run-length encoded as value, length, value, length, …, row by row."""
    flat = labels.ravel()
    starts = np.concatenate([[0], np.flatnonzero(np.diff(flat)) + 1, [flat.size]])
    runs = [(int(flat[start]), int(end - start)) for start, end in pairwise(starts)]
    return [number for run in runs for number in run]


def from_runs(found: Outcome) -> Labels:
    """Return the labels of an outcome."""
    value, length = np.array(found["labels"], dtype=np.intp).reshape(-1, 2).T
    return np.repeat(value, length).reshape(found["shape"])


def unlike(found: Outcome, converged: Outcome) -> float:
    """Return the fraction of pixels whose label differs from the converged one."""
    return float(np.mean(from_runs(found) != from_runs(converged)))


def _row(method: str, found: Outcome, converged: Outcome | None, section: str) -> Row:
    is_converged = method == "converged"
    other = "" if converged is None or is_converged else f"{100 * unlike(found, converged):.2f} %"
    entries = [
        Entry("converged" if is_converged else LABELS[method]),
        Entry(str(found["iterations"])),
        Entry(f"{found['gap']:.1e}"),
        Entry(other),
        Entry(f"{found['dice']:.3f}" if "dice" in found else ""),
    ]
    return Row(entries, section)


# Drawing ----------------------------------------------------------------------------------------


def _draw(photograph: Photograph, shown: dict[str, Outcome], path: Path) -> None:
    height, width = photograph.scribbles.shape
    converged = from_runs(shown["converged"])
    panel = 3.3
    with picture(path, 3 * panel, 2 * (panel * height / width + 0.32)) as figure:
        axes = figure.subplots(2, 3)
        _show(axes[0, 0], _scribbled(photograph), f"input ({width} × {height}) and scribbles")
        _show(axes[1, 0], _outlined(photograph.image, converged), "converged, on the photograph")
        _show(
            axes[0, 1],
            _painted(from_runs(shown["chains"])),
            f"chains, {ITERATIONS} iterations, gap {shown['chains']['gap']:.0e}",
        )
        _show(
            axes[0, 2],
            _painted(from_runs(shown["none"])),
            f"no preconditioner, {ITERATIONS} iterations, gap {shown['none']['gap']:.0e}",
        )
        for ax, method in zip(axes[1, 1:], ("chains", "none"), strict=True):
            labels = from_runs(shown[method])
            marked = 0.35 * _painted(converged) + 0.65
            marked[labels != converged] = 0.0
            share = 100 * unlike(shown[method], shown["converged"])
            _show(ax, marked, f"not the converged label: {share:.2f} %")


def _show(ax: Axes, image: NDArray[np.float64], title: str) -> None:
    ax.imshow(image, interpolation="nearest")
    ax.set_title(title, fontsize=9)
    ax.set_axis_off()


def _painted(labels: Labels) -> NDArray[np.float64]:
    """Return the labels in colours, with dark borders."""
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(colour) for colour in COLOURS])
    painted = palette[(labels - 1) % len(palette)]
    painted[_widened(_borders(labels), labels.shape[1] // WIDTH)] = 0.15
    return np.asarray(painted)


def _outlined(image: NDArray[np.uint8], labels: Labels) -> NDArray[np.float64]:
    """Return the photograph with the borders of the labels in white."""
    outlined = image / 255.0
    borders = _widened(_borders(labels), labels.shape[1] // WIDTH)
    outlined[_widened(borders, 1)] *= 0.25
    outlined[borders] = 1.0
    return np.asarray(outlined)


def _scribbled(photograph: Photograph) -> NDArray[np.float64]:
    """Return the lightened photograph with the scribbles in the colours of their classes."""
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(colour) for colour in COLOURS])
    drawn = 0.15 + 0.85 * photograph.image / 255.0
    classes = np.unique(photograph.scribbles[photograph.scribbles > 0])
    for c in classes:
        mark = photograph.scribbles == c
        pixel = mark.shape[1] // WIDTH
        wide = _widened(mark, 2 * pixel)
        drawn[_widened(wide, max(pixel, 1))] = 0.1
        drawn[wide] = palette[(c - 1) % len(palette)]
    return np.asarray(drawn)


def _borders(labels: Labels) -> NDArray[np.bool_]:
    """Return the pixels whose right or lower neighbour has another label."""
    borders = np.zeros(labels.shape, dtype=bool)
    borders[:-1] |= labels[:-1] != labels[1:]
    borders[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    return borders


def _widened(mask: NDArray[np.bool_], n_pixels: int) -> NDArray[np.bool_]:
    """Return the mask, dilated."""
    from scipy.ndimage import binary_dilation

    return np.asarray(binary_dilation(mask, iterations=n_pixels)) if n_pixels else mask


EXPERIMENT = Figure2
