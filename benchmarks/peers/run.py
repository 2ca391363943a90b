"""graphtv against its peers: seconds to a relative accuracy, one thread.

    python benchmarks/peers/run.py [--problems P1 P3S …] [--accuracies 1e-3 1e-6 1e-12]
        [--peers PyMaxflow FGP …] [--method auto] [--turns 5] [--budget 60] [--out FOLDER] [--smoke]

A peer's accuracy is (P(u) - P*) / P*, where P* is the optimum of the same run, found by parametric
minimum cuts with PyMaxflow or, without it, graphtv's certified exact answer. Peers have numbers of
iterations and no tolerances: the cheapest setting that reaches the accuracy is searched first (and
kept in FOLDER/settings.json), then timed. graphtv has the stricter task, since it does
not know P*: its time is that of the whole call of `solve`, decomposition and certificate included,
until the certified relative gap is below the accuracy. What the peers need besides the call (a
layout of the graph, a conversion of the image) is not counted against them.

All contestants of a problem take turns; processor time, the best turn counts. `-` means that the
accuracy is not reached within the budget of seconds, with the best accuracy that was seen.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded
sys.path.insert(0, str(Path(__file__).parents[1]))

import cut_pursuit
import divide_and_conquer
import fast_gradient
import proximal_tv
import scikit_image_tv
from peer import Peer, Search, Trial
from problems import PROBLEMS, Instance, make
from race import Elsewhere, race

import graphtv

MODULES = (divide_and_conquer, cut_pursuit, proximal_tv, scikit_image_tv, fast_gradient)
OURS = "graphtv"


def solve(instance: Instance, tolerance: float, **options: Any) -> Any:
    """Return graphtv's result, whole call."""
    problem = graphtv.Problem(instance.graph, graphtv.SquaredLoss(instance.signal))
    return graphtv.solve(problem, tol=tolerance, n_threads=1, **options)


class Settings:
    """The optima and the peers' cheapest settings found so far, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    @staticmethod
    def key(instance: Instance, *parts: object) -> str:
        """Return a name that changes with the data of the problem."""
        digest = hashlib.sha256(instance.signal.tobytes() + instance.graph.weights.tobytes())
        return " | ".join([instance.name, digest.hexdigest()[:12], *map(str, parts)])

    def get(self, key: str, find: Callable[[], Any]) -> Any:
        """Return what is known under the key, or find it and keep it."""
        if key not in self.known:
            self.known[key] = find()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.known, indent=1))
        return self.known[key]


def optimum(instance: Instance, settings: Settings) -> float:
    """Return the least objective, by parametric cuts or by graphtv's exact answer."""
    if divide_and_conquer.maxflow is not None:
        cuts = divide_and_conquer.parametric_cuts
        return settings.get(
            settings.key(instance, "optimum"), lambda: instance.primal(cuts(instance))
        )
    if hasattr(graphtv, "solve"):
        return instance.primal(solve(instance, 0.0).u)
    print("no optimum to compare with: neither PyMaxflow nor graphtv.solve is there")
    sys.exit(0)


def search(
    peer: Peer, instance: Instance, best: float, accuracies: list[float], budget: float
) -> dict[str, Any]:
    """Return, for each accuracy, the cheapest setting (None if out of reach), and the best run."""
    scale = abs(best) or 1.0
    look = Search(peer, lambda u: (instance.primal(u) - best) / scale)
    found: dict[str, Trial | None] = {}
    for accuracy in sorted(accuracies, reverse=True):
        if not found or None not in found.values():
            look.climb(accuracy, budget)
        found[f"{accuracy:g}"] = look.cheapest(accuracy)
    plain = {key: trial and dataclasses.asdict(trial) for key, trial in found.items()}
    return {"settings": plain, "best": dataclasses.asdict(look.best())}


def contestant(peer: Peer, setting: Any) -> Callable[[], object]:
    def run() -> object:
        assert peer.run is not None
        answer = peer.run(setting)
        return answer.u if answer.seconds is None else Elsewhere(answer.seconds)

    return run


def ours(instance: Instance, accuracies: list[float], **options: Any) -> dict[str, Any]:
    """Return what `search` returns, for graphtv, whose setting is the tolerance."""
    found: dict[str, Any] = {}
    best = {"setting": 0.0, "accuracy": float("inf"), "seconds": 0.0}
    for accuracy in accuracies:
        start = time.process_time()
        result = solve(instance, accuracy, **options)
        spent = time.process_time() - start
        trial = {"setting": accuracy, "accuracy": result.relative_gap, "seconds": spent}
        found[f"{accuracy:g}"] = trial if result.status == "optimal" else None
        best = min(best, trial, key=lambda one: one["accuracy"])
    return {"settings": found, "best": best}


def compete(instance: Instance, arguments: argparse.Namespace, settings: Settings) -> dict:
    """Return the figures of all contestants on one problem."""
    best = optimum(instance, settings)
    accuracies: list[float] = arguments.accuracies
    rows: dict[str, dict[str, Any]] = {}
    runs: dict[tuple[str, str], Callable[[], object]] = {}

    def enter(name: str, known: dict[str, Any], run: Callable[[Any], Callable[[], object]]) -> None:
        rows[name]["best"] = known["best"]
        for accuracy, trial in known["settings"].items():
            if trial is not None:
                entry = (name, str(trial["setting"]))
                rows[name]["time"][accuracy] = entry
                runs[entry] = run(trial["setting"])
        print(f"  {name}: {describe(known)}", file=sys.stderr, flush=True)

    if hasattr(graphtv, "solve"):
        rows[OURS] = {"time": {}, "note": ""}
        how = {"method": arguments.method}
        known = ours(instance, accuracies, time_limit=arguments.budget, **how)
        enter(OURS, known, lambda accuracy: lambda: solve(instance, accuracy, **how))
    content: set[str] = set()  # those that reach every accuracy, and their dearer variants
    wanted = [name.lower() for name in arguments.peers]
    for peer in (peer for module in MODULES for peer in module.peers(instance)):
        if wanted and not any(name in peer.name.lower() for name in wanted):
            continue
        if peer.rescues in content:
            content.add(peer.name)
            continue
        rows[peer.name] = {"time": {}, "note": peer.missing or peer.note}
        if peer.run is None:
            continue
        key = settings.key(instance, peer.name, arguments.budget, *sorted(accuracies))
        known = settings.get(
            key, lambda p=peer: search(p, instance, best, accuracies, arguments.budget)
        )
        enter(peer.name, known, lambda setting, p=peer: contestant(p, setting))
        if len(rows[peer.name]["time"]) == len(accuracies):
            content.add(peer.name)
    times = race(runs, turns=arguments.turns)
    for row in rows.values():
        row["setting"] = {accuracy: entry[1] for accuracy, entry in row["time"].items()}
        row["time"] = {accuracy: times[entry] for accuracy, entry in row["time"].items()}
    return {"problem": str(instance), "optimum": best, "rows": rows}


def describe(known: dict[str, Any]) -> str:
    """Return what a search found, in a line."""
    words = []
    for accuracy, trial in known["settings"].items():
        what = f"{trial['setting']} in {trial['seconds']:.3g} s" if trial else "out of reach"
        words.append(f"{accuracy}: {what}")
    return "; ".join([*words, f"best {known['best']['accuracy']:.1e}"])


def table(outcome: dict, accuracies: list[float]) -> str:
    """Return the figures of one problem as a Markdown table, fastest at the last accuracy first."""
    keys = [f"{accuracy:g}" for accuracy in accuracies]
    rows = outcome["rows"]
    mine = rows.get(OURS, {}).get("time", {})
    lines = [
        f"### {outcome['problem']}",
        "",
        "| seconds to | " + " | ".join(keys) + " | best, if not all | note |",
        "|---" * (len(keys) + 3) + "|",
    ]

    def order(name: str) -> tuple:
        times = rows[name]["time"]
        return (name != OURS, -len(times), min(times.values(), default=0.0))

    for name in sorted(rows, key=order):
        times, cells = rows[name]["time"], []
        for key in keys:
            cell = f"{times[key]:.3g}" if key in times else "-"
            if key in times and key in mine and name != OURS:
                cell += f" ({times[key] / mine[key]:.1f}×)"
            cells.append(cell)
        most = rows[name].get("best")
        reached = "" if most is None or len(times) == len(keys) else f"{most['accuracy']:.1e}"
        if reached:
            reached += f" in {most['seconds']:.3g} s"
        lines.append(f"| {name} | " + " | ".join([*cells, reached, rows[name]["note"]]) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--accuracies", nargs="+", type=float, default=[1e-3, 1e-6, 1e-12])
    parser.add_argument("--peers", nargs="+", default=[], help="parts of their names; all if none")
    parser.add_argument("--method", default="auto", help="of graphtv")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a peer's run")
    parser.add_argument("--out", type=Path, default=Path("results/peers"))
    parser.add_argument("--smoke", action="store_true", help="tiny problems, one turn")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.turns, arguments.budget = 1, 0.2
    settings = Settings(arguments.out / "settings.json")
    file = arguments.out / "figures.json"
    figures = json.loads(file.read_text()) if file.exists() else {}
    if not hasattr(graphtv, "solve"):
        print("this graphtv has no solve: the peers race alone\n")
    for name in arguments.problems:
        outcome = compete(make(name, small=arguments.smoke), arguments, settings)
        print(table(outcome, arguments.accuracies), flush=True)
        figures[name] = outcome
        arguments.out.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
