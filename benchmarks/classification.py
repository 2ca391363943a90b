"""Transductive classification: accuracy against scikit-learn, several graphs, a large affinity.

    python benchmarks/classification.py [--quick] [--rows 700000] [--only moons digits graphs large]

Accuracies are over all samples, mean ± standard deviation over seeds. Each seed hides a different
set of labels (and draws new moons). The parameters of LabelSpreading and LabelPropagation are
searched. The table shows the best mean next to that of their defaults with a kNN kernel;
TVClassifier has its defaults.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from graphtv import TVClassifier, knn_graph
from graphtv.applications.learning.affinity import SmoothedNeighbours
from graphtv.gallery import three_moons
from process_memory import peak, reset_peak

Maker = Callable[[], Any]


def hidden(y: Any, fraction: float, seed: int) -> Any:
    """Return y with all but a fraction hidden; each class keeps at least one label."""
    rng = np.random.default_rng(seed)
    while True:
        shown = np.full(len(y), -1)
        kept = rng.choice(len(y), round(fraction * len(y)), replace=False)
        shown[kept] = y[kept]
        if len(np.unique(y[kept])) == len(np.unique(y)):
            return shown


def moons(seed: int, quick: bool) -> tuple[Any, Any]:
    return three_moons(100 if quick else 500, rng=seed)


def digits(seed: int, quick: bool) -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return (X[:400], y[:400]) if quick else (X, y)


def peers(name: str, quick: bool) -> dict[str, list[tuple[str, Maker]]]:
    """Return the settings to try for each scikit-learn estimator, the default first."""
    spread, propagate = [], []
    for k in (7,) if quick else (7, 5, 10, 15):
        for alpha in (0.2,) if quick else (0.2, 0.5, 0.9, 0.99):
            make = lambda k=k, a=alpha: LabelSpreading(  # noqa: E731
                kernel="knn", n_neighbors=k, alpha=a, max_iter=300
            )
            spread.append((f"knn {k}, alpha {alpha}", make))
        make = lambda k=k: LabelPropagation(kernel="knn", n_neighbors=k, max_iter=1000)  # noqa: E731
        propagate.append((f"knn {k}", make))
    widths = {"moons": (2.0, 4.0, 8.0), "digits": (0.004, 0.008, 0.016)}[name]
    for gamma in () if quick else widths:
        make = lambda g=gamma: LabelSpreading(gamma=g, max_iter=100)  # noqa: E731
        spread.append((f"rbf {gamma}", make))
        make = lambda g=gamma: LabelPropagation(gamma=g, max_iter=100)  # noqa: E731
        propagate.append((f"rbf {gamma}", make))
    return {"LabelSpreading": spread, "LabelPropagation": propagate}


def accuracies(make: Maker, sets: Iterable[tuple[Any, Any, Any]]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([np.mean(make().fit(X, shown).transduction_ == y) for X, y, shown in sets])


def row(name: str, values: Any) -> None:
    percent = 100 * values
    print(
        f"| {name} | {percent.mean():.2f} ± {percent.std():.2f} | {percent.min():.2f} |", flush=True
    )


def versus(name: str, make: Callable[[int, bool], tuple[Any, Any]], quick: bool, n: int) -> None:
    print(
        f"\n{name}, 5 % labels, {n} seeds\n\n| estimator | accuracy in % | worst |\n|---|---|---|"
    )
    sets = [(X, y, hidden(y, 0.05, s)) for s in range(n) for X, y in [make(s, quick)]]
    row("TVClassifier()", accuracies(TVClassifier, sets))
    for peer, settings in peers(name, quick).items():
        found = [(setting, accuracies(maker, sets)) for setting, maker in settings]
        row(f"{peer}, default: {found[0][0]}", found[0][1])
        best = max(found, key=lambda pair: pair[1].mean())
        row(f"{peer}, best of {len(found)}: {best[0]}", best[1])


def graphs(quick: bool, n: int) -> None:
    """Compare graphs for the same model."""

    def kind(k: int, bandwidth: float, smoothing: float) -> Callable[[Any], Any]:
        return lambda X: SmoothedNeighbours(X, k, bandwidth, smoothing).graph().to_sparse()

    kinds: dict[str, Callable[[Any], Any]] = {
        "unit weights": lambda X: knn_graph(X, 15, np.inf).to_sparse(),
        "one bandwidth, the median distance": lambda X: knn_graph(X, 15).to_sparse(),
        "shared neighbours alone, h = ∞, not smoothed": kind(15, np.inf, 0.0),
        "not smoothed": kind(15, 0.3, 0.0),
        "the default": kind(15, 0.3, 0.3),
        "smoothing 0.5": kind(15, 0.3, 0.5),
        "h = 0.5": kind(15, 0.5, 0.3),
        "h = 0.2": kind(15, 0.2, 0.3),
        "10 neighbours": kind(10, 0.3, 0.3),
        "20 neighbours": kind(20, 0.3, 0.3),
    }
    for name, make in (("moons", moons), ("digits", digits)):
        print(f"\n{name}, {n} seeds\n\n| graph | accuracy in % | worst |\n|---|---|---|")
        sets = [(X, y, hidden(y, 0.05, s)) for s in range(n) for X, y in [make(s, quick)]]
        for graph, affinity in kinds.items():
            given = [(affinity(X), y, shown) for X, y, shown in sets]
            row(graph, accuracies(lambda: TVClassifier(affinity="precomputed"), given))
        for epsilon in (0.001, 0.1, 1.0):
            values = accuracies(lambda e=epsilon: TVClassifier(epsilon=e), sets)
            row(f"default graph, epsilon = {epsilon}", values)


def large(rows: int, verbose: bool) -> None:
    """Fit a sparse affinity of three moons in three dimensions with 1 % labels."""
    X, y = three_moons(-(-rows // 3), dimension=3)
    affinity = kneighbors_graph(X, 10, mode="distance")
    affinity.data = np.exp(-np.square(affinity.data / np.median(affinity.data)))
    affinity = sparse.csr_array(affinity)
    megabytes = sum(a.nbytes for a in (affinity.data, affinity.indices, affinity.indptr)) / 1e6
    shown = hidden(y, 0.01, 0)
    before = reset_peak()
    start, used = time.perf_counter(), time.process_time()
    model = TVClassifier(affinity="precomputed", verbose=verbose).fit(affinity, shown)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    print(f"\n{affinity.shape[0]} rows, {affinity.nnz} affinities ({megabytes:.0f} MB)")
    print(f"{seconds:.1f} s, {processor:.1f} s of processors, {model.n_iter_} iterations")
    print(f"{(peak() - before) / 1e6:.0f} MB more at the peak, {model.result_.status}, ", end="")
    print(f"accuracy {100 * np.mean(model.transduction_ == y):.2f} %")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=700_000)
    parser.add_argument("--seeds", type=int, default=10)
    parts = ["moons", "digits", "graphs", "large"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    chosen = parser.parse_args(arguments)
    n = 1 if chosen.quick else chosen.seeds
    if "moons" in chosen.only:
        versus("moons", moons, chosen.quick, n)
    if "digits" in chosen.only:
        versus("digits", digits, chosen.quick, n)
    if "graphs" in chosen.only:
        graphs(chosen.quick, n)
    if "large" in chosen.only:
        large(3000 if chosen.quick else chosen.rows, not chosen.quick)


if __name__ == "__main__":
    main()
