"""Tables of the benchmarks against peers: ratios over all problems first, then each problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from races.machine import in_a_sentence
from races.outcome import Outcome, Row
from races.peer_process import OURS
from races.tables import Table, power, ratio, seconds

COLUMNS = (
    "problem",
    "title",
    "vertices",
    "edges",
    "threads",
    "peer",
    "version",
    "status",
    "accuracy",
    "seconds",
    "ratio",
    "reached",
    "variant",
    "setting",
    "reason",
    "note",
)


def peers_of(outcomes: Sequence[Outcome]) -> list[str]:
    """Return all contestants that ran at least once, graphtv first."""
    raced = [row.peer for outcome in outcomes for row in outcome.rows if row.figures]
    return sorted(dict.fromkeys(raced), key=lambda peer: not peer.startswith(OURS))


def ratios(outcomes: Sequence[Outcome], accuracy: float) -> Table:
    """Return the times of the peers relative to graphtv, a row per problem."""
    others = [peer for peer in peers_of(outcomes) if peer != OURS]
    reached = {peer: any(outcome.ratio(peer, accuracy) for outcome in outcomes) for peer in others}
    peers = [peer for peer in others if reached[peer]]
    table = Table(f"To {power(accuracy)}", ["problem", "graphtv, s", *peers])
    for outcome in outcomes:
        cells = [ratio(outcome.ratio(peer, accuracy)) for peer in peers]
        # Peers that are faster are highlighted; graphtv itself is not a peer.
        marked = zip(peers, cells, strict=True)
        cells = [cell.replace("**", "") if peer.startswith(OURS) else cell for peer, cell in marked]
        mine = seconds(outcome.seconds(OURS, accuracy))
        table.rows.append([described(outcome), mine, *cells])
    if len(peers) < len(others):
        table.caption = f"Not reached by {', '.join(p for p in others if not reached[p])}."
    return table


def described(outcome: Outcome) -> str:
    """Return a problem's title, with its threads if there are several."""
    return outcome.title + (f", {outcome.threads} threads" if outcome.threads > 1 else "")


def detail(outcome: Outcome, accuracies: Sequence[float]) -> Table:
    """Return the figures of one problem: graphtv first, the others by accuracy and speed."""
    heading = f"{described(outcome)} ({outcome.name})"
    table = Table(heading, ["seconds to", *map(power, accuracies), "closest", "how"])

    def order(row: Row) -> tuple[int, int, float]:
        reached = [row.figures[a].seconds for a in accuracies if a in row.figures]
        place = 0 if row.peer == OURS else 1 if row.peer.startswith(OURS) else 2
        return place, -len(reached), min(reached, default=0.0)

    for row in sorted((row for row in outcome.rows if row.status == "raced"), key=order):
        cells = []
        for accuracy in accuracies:
            cell = seconds(outcome.seconds(row.peer, accuracy))
            over = outcome.ratio(row.peer, accuracy)
            cells.append(cell if over is None or row.peer == OURS else f"{cell} ({ratio(over)})")
        table.rows.append([row.peer, *cells, closest(row, accuracies), manner(row, accuracies)])
    size = f"{outcome.n_vertices:,} vertices, {outcome.n_edges:,} edges"
    gap = (outcome.primal - outcome.dual) / max(abs(outcome.primal), 1e-300)
    lines = [f"{size}. Optimum {outcome.primal:.12g}, proved to {max(gap, 0.0):.0e}."]
    lines += [f"{row.peer}: {row.reason}." for row in outcome.rows if row.status != "raced"]
    if outcome.note:
        lines.append(f"{outcome.note}.".capitalize())
    table.caption = " ".join(lines)
    return table


def closest(row: Row, accuracies: Sequence[float]) -> str:
    """Return the best accuracy of a contestant that did not reach all accuracies."""
    if row.closest is None or row.closest <= min(accuracies):
        return ""
    return f"{row.closest:.1e} in {seconds(row.closest_seconds)} s"


def manner(row: Row, accuracies: Sequence[float]) -> str:
    """Return the variants and settings behind a row, and its notes."""
    found = [row.figures[accuracy] for accuracy in accuracies if accuracy in row.figures]
    words = list(dict.fromkeys(figure.variant for figure in found if figure.variant))
    if row.peer.startswith(OURS):
        words = []
    if row.threads > 1:
        words.append(f"{row.threads} threads")
    return "; ".join([*words, *filter(None, [row.note, row.reason])])


def wins(outcomes: Sequence[Outcome], accuracies: Sequence[float]) -> list[str]:
    """Return a line for every case in which a peer is faster than graphtv."""
    lines = []
    for outcome in outcomes:
        for row in outcome.rows:
            over = {a: outcome.ratio(row.peer, a) for a in accuracies}
            faster = [
                f"{power(a)} ({r:.2f} of graphtv's time)" for a, r in over.items() if r and r < 1
            ]
            if faster and not row.peer.startswith(OURS):
                lines.append(f"{row.peer}, {described(outcome)}, to {', '.join(faster)}")
    return lines


def absent(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line with the reason for every peer that is missing or has failed."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            if row.status in ("missing", "failed"):
                found.setdefault(f"{row.peer}: {row.reason}", []).append(outcome.key)
    return [f"{words} ({', '.join(names)})" for words, names in found.items()]


def summary(
    outcomes: Sequence[Outcome], accuracies: Sequence[float], machine: dict[str, str]
) -> str:
    """Return the ratios over all problems as a section of a page."""
    versions = dict.fromkeys(row.version for o in outcomes for row in o.rows if row.version)
    dates = sorted({outcome.date for outcome in outcomes} - {""})
    when = f"Measured on {' to '.join(dict.fromkeys((dates[0], dates[-1])))}. " if dates else ""
    parts = [
        f"{when}Machine: {in_a_sentence(machine)}. Contestants: {', '.join(versions)}.\n",
        *(ratios(outcomes, accuracy).markdown() for accuracy in accuracies),
        "### Where a peer is faster\n\n" + bullets(wins(outcomes, accuracies), "Nowhere."),
        "### Peers that could not run\n\n" + bullets(absent(outcomes), "None."),
    ]
    return "\n".join(parts)


def details(outcomes: Sequence[Outcome], accuracies: Sequence[float]) -> str:
    """Return the figures of every problem as a section of a page."""
    return "\n".join(detail(outcome, accuracies).markdown() for outcome in outcomes)


def bullets(lines: Sequence[str], otherwise: str) -> str:
    """Return a list, or a sentence if it is empty."""
    return ("\n".join(f"- {line}" for line in lines) or otherwise) + "\n"


def csv_rows(outcomes: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    """Yield a row per problem, contestant and accuracy; one row if there are no figures."""
    for outcome in outcomes:
        for row in outcome.rows:
            base = {
                "problem": outcome.name,
                "title": outcome.title,
                "vertices": outcome.n_vertices,
                "edges": outcome.n_edges,
                "threads": row.threads,
                "peer": row.peer,
                "version": row.version,
                "status": row.status,
                "reason": row.reason,
                "note": row.note,
            }
            if not row.figures:
                yield base
            for accuracy, figure in row.figures.items():
                yield base | {
                    "accuracy": accuracy,
                    "seconds": figure.seconds,
                    "ratio": outcome.ratio(row.peer, accuracy),
                    "reached": figure.accuracy,
                    "variant": figure.variant,
                    "setting": figure.setting,
                }
