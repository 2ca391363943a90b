"""`tv_chain` against prox_tv as users call them: one signal per call, with one weight or many.

    python benchmarks/kernels/chains.py [--quick] [--seed 0] [--rows 20]

It needs prox_tv. Every figure is the best of three passes over many signals, in processor time of
one thread. The signals of a pass differ: with one signal again and again, the processor would learn
its branches by heart. A ratio is the time of the fastest method of prox_tv over that of `tv_chain`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from graphtv import tv_chain

Array = np.ndarray[Any, np.dtype[np.float64]]
Call = Callable[[Array, Array], Any]

SIGNALS: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "noise": lambda n, rng: rng.normal(size=n),
    "walk": lambda n, rng: rng.normal(size=n).cumsum(),
    "steps": lambda n, rng: (
        np.repeat(3 * rng.normal(size=n // 50 + 1), 50)[:n] + 0.3 * rng.normal(size=n)
    ),
    "ramp": lambda n, rng: np.linspace(0, 10, n) + 0.01 * rng.normal(size=n),
    "sine": lambda n, rng: 3 * np.sin(np.linspace(0, 20, n)) + 0.1 * rng.normal(size=n),
    "smooth": lambda n, rng: np.sin(np.linspace(0, 20, n) + rng.random()),
    "integers": lambda n, rng: rng.integers(0, 256, n).astype(float),
}
WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0, 10_000.0)
METHODS = ("hybridtautstring", "condat", "condattautstring", "classictautstring")
HOPELESS = 20
"""A method that takes this many times as long as `tv_chain` on one signal is not measured."""


class Row(NamedTuple):
    """The result of one case; times are in nanoseconds per vertex."""

    ratio: float
    n: int
    kind: str
    weight: float
    is_weighted: bool
    ours: float
    theirs: float


def calls(weight: float, is_weighted: bool) -> list[Call]:
    """Return `tv_chain` and the methods of prox_tv."""
    import prox_tv

    if is_weighted:
        return [lambda f, w: tv_chain(f, w, n_threads=1), prox_tv.tv1w_1d]
    peers: list[Call] = [
        lambda f, _, method=method: prox_tv.tv1_1d(f, weight, method=method) for method in METHODS
    ]
    return [lambda f, _: tv_chain(f, weight, n_threads=1), *peers]


def seconds(call: Call, signals: list[Array], weights: list[Array]) -> float:
    """Return the processor time of a pass."""
    start = time.process_time()
    for f, w in zip(signals, weights, strict=True):
        call(f, w)
    return time.process_time() - start


def measure(sizes: tuple[int, ...], volume: int, seed: int) -> Iterator[Row]:
    """Yield a row per size, signal, weight, and kind of weights."""
    rng = np.random.default_rng(seed)
    for n in sizes:
        count = max(2, volume // n)
        for kind, make in SIGNALS.items():
            signals = [make(n, rng) for _ in range(count)]
            shares = [2.0 * rng.random(n - 1) for _ in range(count)]
            for weight in WEIGHTS:
                weights = [weight * share for share in shares]
                for is_weighted in (False, True):
                    ours, *peers = calls(weight, is_weighted)
                    limit = HOPELESS * seconds(ours, signals[:1], weights[:1]) + 1e-3
                    peers = [x for x in peers if seconds(x, signals[:1], weights[:1]) < limit]
                    best = np.full(1 + len(peers), np.inf)
                    for _ in range(3):
                        took = [seconds(x, signals, weights) for x in (ours, *peers)]
                        best = np.minimum(best, took)
                    mine, other = 1e9 * best[0] / count / n, 1e9 * best[1:].min() / count / n
                    yield Row(other / mine, n, kind, weight, is_weighted, mine, other)


def main(arguments: list[str] | None = None) -> None:
    """Print the rows with the smallest ratios, and a summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short chains, few signals")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=20, help="number of rows to print")
    given = parser.parse_args(arguments)
    sizes = (100, 1000) if given.quick else (100, 1000, 10_000, 100_000)
    rows = sorted(measure(sizes, 4000 if given.quick else 400_000, given.seed))
    print("  ratio        n signal     weight  kind          tv_chain    prox_tv")
    for row in rows[: given.rows]:
        kind = "per edge" if row.is_weighted else "one"
        print(
            f"{row.ratio:7.2f} {row.n:8d} {row.kind:8} {row.weight:8g}  {kind:10}"
            f" {row.ours:8.1f} ns {row.theirs:7.1f} ns"
        )
    for n in sizes:
        for is_weighted in (False, True):
            ratios = [row.ratio for row in rows if (row.n, row.is_weighted) == (n, is_weighted)]
            print(
                f"n = {n}, {'a weight per edge' if is_weighted else 'one weight'}:"
                f" median {np.median(ratios):.2f}, least {min(ratios):.2f},"
                f" below 1 in {sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"
            )


if __name__ == "__main__":
    main()
