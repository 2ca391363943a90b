"""Figure 1: four preconditioners of one graph with 96 vertices and 150 edges, and their κ.

The paper does not name the graph. Its κ without preconditioner, 6.41, is typical of an Erdős–Rényi
random graph (5.8 to 9.4 for nine seeds out of ten), while planar graphs of that size have 15 to 36.
Among the seeds 0 to 399 with κ = √3 for greedy nested forests, SEED has the κ nearest to the
paper's two other values. A planar graph is drawn next to it, since its forests are easier to see.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from pathlib import Path

import numpy as np

from graphtv._validate import Floats
from graphtv.decomposition.condition import condition_number
from graphtv.decomposition.partition import decompose
from graphtv.gallery import delaunay_graph, erdos_renyi_graph
from graphtv.graph.graph import Graph
from graphtv.paper.drawing import picture
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
from graphtv.plot import TITLES, draw_partitions

N_VERTICES, N_EDGES = 96, 150
SEED = 347
PLANAR_SEED = 1

METHODS = ("none", "linear", "nested", "matroid")
PAPER = {"none": "6.41", "linear": "5.13", "nested": "√3", "matroid": "√2"}
"""The paper's κ."""

GRAPHS: dict[str, tuple[str, Callable[[], tuple[Graph, Floats | None]]]] = {
    "random": (
        f"Erdős–Rényi, seed {SEED}",
        lambda: (erdos_renyi_graph(N_VERTICES, N_EDGES, SEED), None),
    ),
    "planar": (
        f"Delaunay, seed {PLANAR_SEED}",
        lambda: delaunay_graph(N_VERTICES, N_EDGES, PLANAR_SEED),
    ),
}
"""By key, a name and a function that returns the graph and, if known, its vertex positions."""


class Figure1(Experiment):
    """Drawings of the decompositions of a graph, with their condition numbers."""

    name = "figure1"
    title = "Figure 1: decompositions of a graph"

    def __init__(self, quick: bool = False, data: Path | None = None) -> None:
        super().__init__(quick, data)
        self.n_seeds = 10 if quick else 100

    def cells(self) -> list[Cell]:
        """Return a cell per graph, and one for many seeds."""
        drawn = [Cell(key, functools.partial(self.measure, key)) for key in GRAPHS]
        return [*drawn, Cell("seeds", self.measure_seeds)]

    def measure(self, key: str, progress: Progress) -> Outcome:
        """Return κ of one graph for each preconditioner, and the bound of the theorem."""
        graph, _ = GRAPHS[key][1]()
        return {method: _measure(graph, method) for method in METHODS}

    def measure_seeds(self, progress: Progress) -> Outcome:
        """Return κ of random graphs of the same size."""
        values: dict[str, list[float]] = {method: [] for method in METHODS}
        for seed in range(self.n_seeds):
            progress(f"seed {seed}")
            graph = erdos_renyi_graph(N_VERTICES, N_EDGES, seed)
            for method in METHODS:
                values[method].append(condition_number(graph, method))
        return dict(values)

    def tables(self, outcomes: Outcomes) -> list[Table]:
        """Return κ, and the number of forests."""
        columns = [Column("", "graph")]
        for method in METHODS:
            columns.append(Column(TITLES[method], "κ"))
            if method != "none":
                columns.append(Column(TITLES[method], "forests"))
        rows = []
        for key, (name, _) in GRAPHS.items():
            if key in outcomes:
                rows.append(_row(name, outcomes[key], PAPER if key == "random" else {}))
        if "seeds" in outcomes:
            rows.append(self._row_of_seeds(outcomes["seeds"]))
        notes = [
            f"{N_VERTICES} vertices and {N_EDGES} edges of weight 1, as in the paper, which does"
            " not say which graph it drew; its κ are typical of random graphs. κ is from all"
            " singular values; where forests are nested, it is √(L/l̂) (Theorem 3)."
        ]
        caption = "Figure 1: κ(T^-½K) of decompositions; the paper's figures are below ours"
        return [Table("figure1", caption, columns, rows, notes)]

    def _row_of_seeds(self, values: Outcome) -> Row:
        entries = [Entry(f"Erdős–Rényi, {self.n_seeds} seeds")]
        for method in METHODS:
            of = values[method]
            entries.append(Entry(f"{np.mean(of):.2f} ± {np.std(of):.2f}", PAPER[method]))
            if method != "none":
                entries.append(Entry())
        return Row(entries)

    def claims(self, outcomes: Outcomes) -> list[Claim]:
        """Check the theorem and the order of the four preconditioners."""
        drawn = [outcomes[key] for key in GRAPHS if key in outcomes]
        if not drawn:
            return []
        deviations = [
            abs(found["kappa"] ** 2 * found["theorem"][1] / found["theorem"][0] - 1.0)
            for outcome in drawn
            for found in outcome.values()
            if "theorem" in found
        ]
        kappas = [[outcome[method]["kappa"] for method in METHODS] for outcome in drawn]
        return [
            Claim(
                "κ of nested forests is √(L/l̂)",
                max(deviations) < 1e-9,
                f"relative deviation of κ² at most {max(deviations):.1e}",
            ),
            Claim(
                "κ falls from none over linear and nested forests to the matroid's",
                all(kappa == sorted(kappa, reverse=True) for kappa in kappas),
                "; ".join(" > ".join(f"{value:.2f}" for value in kappa) for kappa in kappas),
            ),
        ]

    def pictures(self, outcomes: Outcomes, folder: Path) -> list[Picture]:
        """Draw the decompositions."""
        made = []
        for key, (name, make) in GRAPHS.items():
            if key not in outcomes:
                continue
            graph, places = make()
            path = folder / f"figure1-{key}.png"
            with picture(path, 12.8, 4.0) as figure:
                draw_partitions(graph, METHODS, places, figure)
            caption = (
                f"{name}: {N_VERTICES} vertices, {N_EDGES} edges, one colour per forest. The paper"
                f" has κ = {', '.join(PAPER.values())}."
            )
            made.append(Picture(path, caption))
        return made


def _measure(graph: Graph, method: str) -> Outcome:
    if method == "none":
        return {"kappa": condition_number(graph, "none", method="dense")}
    partition = decompose(graph, method)
    found: Outcome = {
        "kappa": condition_number(graph, partition, method="dense"),
        "forests": partition.n_forests,
    }
    if partition.is_nested:
        found["theorem"] = [partition.n_forests, partition.n_spanning]
    return found


def _row(name: str, outcome: Outcome, paper: dict[str, str]) -> Row:
    entries = [Entry(name)]
    least = min(outcome[method]["kappa"] for method in METHODS)
    for method in METHODS:
        found = outcome[method]
        text = f"{found['kappa']:.2f}"
        if "theorem" in found:
            square = Fraction(*found["theorem"])
            if abs(found["kappa"] ** 2 - square) < 1e-9 * square:
                text = _root(square)
        entries.append(Entry(text, paper.get(method, ""), found["kappa"] <= least * (1 + 1e-9)))
        if method != "none":
            entries.append(Entry(str(found["forests"])))
    return Row(entries)


def _root(square: Fraction) -> str:
    """Return √square in the usual notation."""
    root = isqrt(square.numerator)
    is_whole = square.denominator == 1 and root * root == square.numerator
    return str(root) if is_whole else f"√{square}"


EXPERIMENT = Figure1
