"""Table 2: iterations and time on the max-flow benchmark, to a relative gap of 1e-10.

The paper's columns are computed as it describes them. Its decompositions ignore the weights:
spanning forests take the edges in the order of the graph, and so do linear forests, except that
grids are split into their chains. Further columns show the matroid partition, which the paper could
not compute, the same two kinds of forests with the heaviest edges first, and the default method of
`graphtv.solve`. Every column that converges must find the minimum cut, which is known or computed
independently.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphtv.decomposition.partition import ForestPartition, decompose
from graphtv.graph.graph import Graph
from graphtv.graph.grid import recognize_grid
from graphtv.paper.drawing import draw_gaps, picture, share_legend
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
from graphtv.paper.families import LINES, OF_THE_PAPER, SECTIONS, Line
from graphtv.paper.instances import Instance
from graphtv.paper.measurement import count, count_default

TOLERANCE = 1e-10
CAP = 100_000
QUICK_CAP = 4_000
EVERY = 0.01
"""Far from the tolerance, the gap is evaluated when iterations have grown by this share."""

LEAST_FACTOR = 5.0
"""The smallest factor that counts as "about an order of magnitude"; the paper has 8 to 16."""

REFERENCE = "cut"
"""The cell of a row that finds the minimum cut in another way."""

COLUMNS = {
    "none": "None",
    "diagonal": "Diagonal",
    "nested": "Nested Forest",
    "linear": "Linear Forest",
    "matroid": "Matroid",
    "auto": "Our default",
}
HEAVIEST = {"nested, heaviest": "Nested, heaviest", "linear, heaviest": "Linear, heaviest"}
"""The same two kinds of forests, heaviest edges first."""


def partition(graph: Graph, name: str) -> str | ForestPartition:
    """Return the preconditioner of a column."""
    if name in ("none", "diagonal"):
        return name
    if name == "matroid":
        return decompose(graph, "matroid")
    kind, _, order = name.partition(", ")
    if kind == "linear" and recognize_grid(graph) is not None:
        return decompose(graph, "chains")
    if order:
        return decompose(graph, kind)
    # Without weights, the edges keep their order.
    blind = Graph(graph.n_vertices, graph.edges)
    return decompose(blind, kind, order="paper")


class Table2(Experiment):
    """ROF on the max-flow families, under every preconditioner."""

    name = "table2"
    title = "Table 2: iterations and time on graph cut instances"

    def __init__(self, quick: bool = False, data: Path | None = None) -> None:
        super().__init__(quick, data)
        self.cap = QUICK_CAP if quick else CAP
        self._made: tuple[str, Instance] | None = None

    def cells(self) -> list[Cell]:
        """Return a cell per row and column, and one per row for the minimum cut."""
        return [
            Cell(_key(line, name), functools.partial(self.measure, line, name))
            for line in LINES.values()
            for name in (REFERENCE, *reversed({**COLUMNS, **HEAVIEST}))
        ]

    def measure(self, line: Line, name: str, progress: Progress) -> Outcome:
        """Run one column on one row."""
        progress("building")
        instance = self._instance(line)
        if name == REFERENCE:
            progress("maximum flow")
            return _reference(instance)
        if name == "auto":
            outcome, u = count_default(
                instance.problem, tolerance=TOLERANCE, cap=self.cap, progress=progress
            )
        else:
            outcome, u = count(
                instance.problem,
                partition(instance.problem.graph, name),
                tolerance=TOLERANCE,
                cap=self.cap,
                progress=progress,
                every=EVERY,
            )
        outcome["cap"] = self.cap
        if outcome["reached"]:
            outcome["cut"] = instance.value(u)
        return outcome

    def _instance(self, line: Line) -> Instance:
        """Build the instance of a row. It is cached, since cells come row by row."""
        if self._made is None or self._made[0] != line.name:
            self._made = None  # two at a time would take too much memory
            self._made = line.name, line.make(self.quick, self.data)
        return self._made[1]

    # Tables -------------------------------------------------------------------------------------

    def tables(self, outcomes: Outcomes) -> list[Table]:
        """Return the paper's table with more columns, and two tables of further results."""
        return [self._times(outcomes), self._details(outcomes), self._first_gaps(outcomes)]

    def _times(self, outcomes: Outcomes) -> Table:
        columns = [Column("", "instance"), Column("", "|V|/1024"), Column("", "|E|/|V|")]
        for group in COLUMNS.values():
            columns += [Column(group, "it"), Column(group, "time [s]")]
        rows = []
        for section, lines in SECTIONS.items():
            rows.append(Row(section=section))
            rows += [self._row(line, outcomes) for line in lines]
        caption = (
            f"Table 2: iterations and seconds to a relative gap of {TOLERANCE:g}, at most"
            f" {self.cap} iterations; the paper's figures are below ours"
        )
        notes = [
            "Accelerated PDHG with γ = 1/4, except for our default. Seconds are processor time,"
            " with that of the preconditioner in brackets. * marks grids.",
            "Nested and linear forests are those of the paper, which ignore the weights. Linear"
            " forests of a grid are its chains.",
            "† marks stand-ins for the paper's instances, see the notes of the rows.",
        ]
        return Table("table2", caption, columns, rows, notes)

    def _row(self, line: Line, outcomes: Outcomes) -> Row:
        reference = outcomes.get(_key(line, REFERENCE), {})
        found = {name: outcomes.get(_key(line, name)) for name in COLUMNS}
        best = _best(found)
        entries = [
            Entry(f"{line.name}†" if line.stand_in else line.name),
            Entry(_of(reference, "vertices", lambda n: f"{n / 1024:.3g}"), line.size),
            Entry(_of(reference, "ratio", lambda r: f"{r:.2f}"), line.ratio),
        ]
        for k, (name, outcome) in enumerate(found.items()):
            theirs = line.theirs[k] if k < len(OF_THE_PAPER) else None
            iterations, seconds = _shown(outcome)
            paper = "" if theirs is None else "–" if theirs[0] is None else str(theirs[0])
            entries.append(Entry(iterations, paper, name == best))
            entries.append(Entry(seconds, "" if theirs is None else theirs[1]))
        keys = [_key(line, name) for name in (REFERENCE, *COLUMNS)]
        reasons = sorted({outcomes.reasons[key] for key in keys if key in outcomes.reasons})
        return Row(entries, note="; ".join([text for text in (line.stand_in, *reasons) if text]))

    def _details(self, outcomes: Outcomes) -> Table:
        kinds = ("nested", "linear", "matroid")
        columns = [
            Column("", "instance"),
            Column("Minimum cut", "value"),
            Column("Minimum cut", "by"),
            Column("Minimum cut", "found"),
            *(Column("Forests L", kind) for kind in kinds),
            *(Column(group, "it") for group in HEAVIEST.values()),
            Column("Our default", "method"),
            Column("Our default", "sweeps"),
            Column("Certified", "largest gap"),
        ]
        rows = [self._detail(line, kinds, outcomes) for line in LINES.values()]
        caption = "Table 2, continued: minimum cuts, forests, certificates"
        notes = [
            "'Found' counts the runs whose level sets contain the minimum cut, among those that"
            " reached the tolerance. Heaviest: greedy forests with the heaviest edges first."
            " Sweeps: solves of a whole forest.",
        ]
        return Table("table2-cuts", caption, columns, rows, notes)

    def _detail(self, line: Line, kinds: Sequence[str], outcomes: Outcomes) -> Row:
        reference = outcomes.get(_key(line, REFERENCE), {})
        names = (*COLUMNS, *HEAVIEST)
        found = {name: outcomes.get(_key(line, name), {}) for name in names}
        reached = [outcome for outcome in found.values() if outcome.get("reached")]
        right = [outcome for outcome in reached if outcome["cut"] == reference.get("cut")]
        texts = [
            line.name,
            _of(reference, "cut", str),
            _of(reference, "by", str),
            f"{len(right)} of {len(reached)}" if reached else "",
            *(_of(found[kind], "forests", str) for kind in kinds),
            *(_shown(found[name] or None)[0] for name in HEAVIEST),
            _of(found["auto"], "method", str),
            _of(found["auto"], "sweeps", str),
            f"{max(outcome['gap'] for outcome in reached):.1e}" if reached else "",
        ]
        return Row([Entry(text) for text in texts])

    def _first_gaps(self, outcomes: Outcomes) -> Table:
        """Return the iterations for the other reading of the gap."""
        names = [name for name in COLUMNS if name != "auto"]
        rows = []
        for line in LINES.values():
            entries = [Entry(line.name)]
            for k, name in enumerate(names):
                outcome = outcomes.get(_key(line, name))
                theirs = "" if k >= len(OF_THE_PAPER) else str(line.theirs[k][0] or "–")
                hit = None if outcome is None else outcome["gap0_iterations"]
                beyond = "" if outcome is None else f">{outcome['iterations']}"
                entries.append(Entry(beyond if hit is None else str(hit), theirs))
            rows.append(Row(entries))
        return Table(
            "table2-gap0",
            f"Table 2 with the gap relative to that of u = 0, p = 0: iterations to {TOLERANCE:g};"
            " the paper's figures are below ours",
            [Column("", "instance"), *(Column("", COLUMNS[name]) for name in names)],
            rows,
        )

    # Claims -------------------------------------------------------------------------------------

    def claims(self, outcomes: Outcomes) -> list[Claim]:
        """Compare forests with the others, and check chains on grids, cuts and certificates."""
        if not outcomes:
            return []
        return [
            self._forests_win(outcomes),
            self._chains_win(outcomes),
            self._cuts_agree(outcomes),
        ]

    def _forests_win(self, outcomes: Outcomes) -> Claim:
        """Compare each forest with none and diagonal wherever the paper reports that it wins."""
        verdicts: dict[str, bool | None] = {}
        for line in LINES.values():
            theirs = dict(zip(OF_THE_PAPER, (it for it, _ in line.theirs), strict=True))
            for forest, other in itertools.product(("nested", "linear"), ("none", "diagonal")):
                if (theirs[forest] or math.inf) < (theirs[other] or math.inf):
                    found = (outcomes.get(_key(line, name)) for name in (forest, other))
                    verdicts[f"{forest} and {other} on {line.name}"] = _is_less(*found)
        against = [what for what, holds in verdicts.items() if holds is False]
        holding = sum(holds is True for holds in verdicts.values())
        decided = holding + len(against)
        beside = f"; not {', '.join(against)}" if against else ""
        return Claim(
            "forests need fewer iterations than none and diagonal wherever the paper says so",
            None if decided == 0 else not against,
            f"{holding} of {decided} comparisons, {len(verdicts) - decided} undecided{beside}",
        )

    def _chains_win(self, outcomes: Outcomes) -> Claim:
        """Compare chains with the better of none and diagonal on grids."""
        factors: dict[str, tuple[float, bool]] = {}
        for line in LINES.values():
            found = [outcomes.get(_key(line, name)) for name in ("linear", "none", "diagonal")]
            if line.name.endswith("*") and all(found) and found[0]["reached"]:  # type: ignore[index]
                chains, *others = (outcome["iterations"] for outcome in found if outcome)
                is_bound = not any(outcome["reached"] for outcome in found[1:] if outcome)
                factors[line.name] = min(others) / chains, is_bound
        texts = [f"{'≥ ' * bound}{factor:.1f}× on {n}" for n, (factor, bound) in factors.items()]
        holds: bool | None = None
        if any(factor < LEAST_FACTOR and not bound for factor, bound in factors.values()):
            holds = False
        elif factors and all(factor >= LEAST_FACTOR for factor, _ in factors.values()):
            holds = True
        return Claim(
            "chains on grids need about an order of magnitude fewer iterations than none and"
            f" diagonal (here: at most 1/{LEAST_FACTOR:g} of them)",
            holds,
            "; ".join(texts) or "no grid has been run",
        )

    def _cuts_agree(self, outcomes: Outcomes) -> Claim:
        """Compare all cuts with the reference, and certified gaps with the tolerance."""
        right, wrong = 0, []
        for line in LINES.values():
            reference = outcomes.get(_key(line, REFERENCE))
            for name in (*COLUMNS, *HEAVIEST):
                outcome = outcomes.get(_key(line, name))
                if reference is None or outcome is None or not outcome["reached"]:
                    continue
                if outcome["cut"] == reference["cut"] and outcome["gap"] <= TOLERANCE:
                    right += 1
                else:
                    wrong.append(f"{name} on {line.name}")
        beside = f"; not {', '.join(wrong)}" if wrong else ""
        return Claim(
            f"a certified gap of {TOLERANCE:g} gives the minimum cut",
            not wrong if right or wrong else None,
            f"{right} of {right + len(wrong)} runs{beside}",
        )

    # Pictures -----------------------------------------------------------------------------------

    def pictures(self, outcomes: Outcomes, folder: Path) -> list[Picture]:
        """Draw the gaps of every row."""
        made = []
        for by in ("iterations", "seconds"):
            shown = {
                line.name: curves for line in LINES.values() if (curves := _curves(line, outcomes))
            }
            if not shown:
                return []
            path = folder / f"table2-gap-by-{by}.png"
            self._draw(shown, by, path)
            made.append(Picture(path, f"Table 2: the relative gap by {by}, per preconditioner."))
        return made

    def _draw(self, shown: dict[str, dict[str, Any]], by: str, path: Path) -> None:
        n_columns = min(4, len(shown))
        n_rows = -(-len(shown) // n_columns)
        with picture(path, 3.0 * n_columns + 0.4, 2.5 * n_rows + 0.4) as figure:
            axes = figure.subplots(n_rows, n_columns, squeeze=False, sharey=True)
            for ax in axes.flat[len(shown) :]:
                ax.set_axis_off()
            for ax, (name, curves) in zip(axes.flat, shown.items(), strict=False):
                draw_gaps(ax, curves, by, TOLERANCE)
                ax.set_title(name)
                ax.set_ylim(1e-11, 3.0)
            for row in axes:
                row[0].set_ylabel("relative gap")
            share_legend(figure, axes)


def _reference(instance: Instance) -> Outcome:
    """Return the size of an instance and its minimum cut, computed without graphtv."""
    graph = instance.problem.graph
    size: Outcome = {"vertices": graph.n_vertices, "ratio": graph.n_edges / graph.n_vertices}
    if instance.known is not None:
        return {**size, "cut": instance.known, "by": "known"}
    return {**size, "cut": instance.maximum_flow(), "by": "scipy"}


def _key(line: Line, name: str) -> str:
    return f"{line.name}/{name}"


def _of(outcome: Outcome, key: str, show: Any) -> str:
    return show(outcome[key]) if key in outcome else ""


def _shown(outcome: Outcome | None) -> tuple[str, str]:
    """Return iterations and seconds as texts."""
    if outcome is None:
        return "", ""
    if not outcome["reached"]:
        return f">{outcome['iterations']}", "–"
    return str(outcome["iterations"]), f"{outcome['seconds']:.1f} (+{outcome['setup_seconds']:.1f})"


def _is_less(one: Outcome | None, other: Outcome | None) -> bool | None:
    """Whether one needed fewer iterations than the other; None if unknown."""
    if one is None or other is None:
        return None
    if one["reached"] and (other["iterations"] > one["iterations"]):
        return True
    if other["reached"] and (one["iterations"] >= other["iterations"]):
        return False
    return None


def _best(found: dict[str, Outcome | None]) -> str | None:
    """Return the paper's column with the fewest iterations."""
    counts = {
        name: o["iterations"]
        for name in OF_THE_PAPER
        if (o := found[name]) is not None and o["reached"]
    }
    return min(counts, key=lambda name: counts[name]) if counts else None


def _curves(line: Line, outcomes: Outcomes) -> dict[str, Sequence[Sequence[float]]]:
    """Return the curves of the columns that the pictures show."""
    shown = ("none", "diagonal", "linear", "nested", "matroid", "auto")
    found = {name: outcomes.get(_key(line, name)) for name in shown}
    return {name: outcome["curve"] for name, outcome in found.items() if outcome is not None}


EXPERIMENT = Table2
