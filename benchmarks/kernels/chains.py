"""Exact TV on chains: graphtv against the one-dimensional methods of prox_tv.

    python benchmarks/kernels/chains.py [--quick]

Nanoseconds per vertex on one thread, every contestant in the same run, library call against
library call with all arrays allocated and checked beforehand. `ratio` is the fastest peer over
graphtv: above 1, graphtv is faster. All of prox_tv's methods race against one weight for all edges,
its weighted method against a weight per edge. `warm` solves the same chains again, from the pieces
of the last solution, after a change of a thousandth of the noise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from race import race

from graphtv import _core

try:
    from prox_tv import ffi, lib
except ImportError:
    lib = None

SIGNALS: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "noise": lambda n, rng: rng.standard_normal(n),
    "steps": lambda n, rng: (
        np.repeat(2 * rng.standard_normal(n // 100 + 1), 100)[:n] + 0.5 * rng.standard_normal(n)
    ),
    "walk": lambda n, rng: 0.1 * np.cumsum(rng.standard_normal(n)),
    "smooth": lambda n, rng: 3 * np.sin(np.arange(n) * (2 * np.pi / 5000)),
    "ramp": lambda n, rng: 1e-3 * np.arange(n),
}


def peers(x: np.ndarray, weight: float, w: np.ndarray, y: np.ndarray):
    """Return the calls of prox_tv, one chain after the other."""
    if lib is None:
        return {}, {}
    n = x.shape[1]

    def pointers(array):
        return [ffi.cast("double *", row.ctypes.data) for row in array]

    xs, ws, ys = pointers(x), pointers(w), pointers(y)
    rows = range(len(x))

    def each(call):
        def run():
            for i in rows:
                call(xs[i], ws[i], ys[i])

        return run

    uniform = {
        "classic taut string": each(lambda a, _, b: lib.classicTautString_TV1(a, n, weight, b)),
        "linearized taut string": each(
            lambda a, _, b: lib.linearizedTautString_TV1(a, weight, b, n)
        ),
        "hybrid taut string": each(lambda a, _, b: lib.hybridTautString_TV1(a, n, weight, b)),
        "condat": each(lambda a, _, b: lib.TV1D_denoise(a, b, n, weight)),
        "condat taut string": each(lambda a, _, b: lib.TV1D_denoise_tautstring(a, b, n, weight)),
        "johnson": each(lambda a, _, b: lib.dp(n, a, weight, b)),
        "kolmogorov": each(lambda a, _, b: lib.SolveTVConvexQuadratic_a1_nw(n, a, weight, b)),
    }
    weighted = {
        "weighted taut string": each(lambda a, c, b: lib.tautString_TV1_Weighted(a, c, b, n))
    }
    return uniform, weighted


def chain_forest(n_chains: int, n: int, w: np.ndarray):
    vertices = np.arange(n_chains * n, dtype=np.int32).reshape(n_chains, n)
    edges = np.stack([vertices[:, :-1].ravel(), vertices[:, 1:].ravel()], axis=1)
    return _core.ForestTV(n_chains * n, edges, np.ascontiguousarray(w[:, : n - 1]).ravel(), 0.0)


def measure(n_chains: int, n: int, kind: str, weight: float, turns: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x = SIGNALS[kind](n_chains * n, rng).reshape(n_chains, n)
    w = np.full((n_chains, n), weight)
    per_edge = np.ascontiguousarray(w[:, : n - 1])
    ours, theirs = np.empty_like(x), np.empty_like(x)
    uniform, weighted = peers(x, weight, w, theirs)

    forest = chain_forest(n_chains, n, w)
    near = [(x + 1e-3 * rng.standard_normal(x.shape)).ravel() if i else x.ravel() for i in range(2)]
    turn = [0]

    def warm():
        turn[0] += 1
        forest.solve(near[turn[0] % 2], ours.ravel(), warm=True, n_threads=1)

    contestants = {
        "uniform": lambda: _core.tv_chain(x, np.full((1, 1), weight), weight, ours, 1),
        "weighted": lambda: _core.tv_chain(x, per_edge, weight, ours, 1),
        "warm": warm,
        **uniform,
        **weighted,
    }
    best: dict[str, Any] = {k: v * 1e9 / x.size for k, v in race(contestants, turns=turns).items()}
    if lib is not None:
        contestants["uniform"]()
        uniform["classic taut string"]()
        if np.abs(ours - theirs).max() > 1e-8 * np.abs(x).max():
            raise AssertionError("the contestants disagree: the race is void")
        best["fastest peer"] = min(uniform | weighted, key=best.__getitem__)
        best["uniform peer"] = min(best[k] for k in uniform)
        best["weighted peer"] = min(best[k] for k in weighted)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, two turns")
    arguments = parser.parse_args()
    sizes = ((1, 100_000), (200, 512)) if arguments.quick else ((1, 1_000_000), (2000, 512))
    turns = 2 if arguments.quick else 7
    if lib is None:
        print("prox_tv is not installed (benchmarks/setup_peers): no peers in this run")
    print(
        f"{'chains':>12} {'signal':>7} {'weight':>6} {'uniform':>8} {'weighted':>8} {'warm':>6}"
        f" {'peer':>7} {'peer w':>7} {'ratio':>6} {'ratio w':>7}  fastest peer"
    )
    ours: list[float] = []
    for n_chains, n in sizes:
        for kind in SIGNALS:
            for weight in (0.01, 0.1, 1.0, 10.0, 100.0):
                best = measure(n_chains, n, kind, weight, turns)
                ours.append(best["weighted"])
                line = (
                    f"{n_chains:>4} × {n:<7} {kind:>7} {weight:>6} {best['uniform']:>8.1f}"
                    f" {best['weighted']:>8.1f} {best['warm']:>6.1f}"
                )
                if lib is not None:
                    u, w = best["uniform peer"], best["weighted peer"]
                    line += (
                        f" {u:>7.1f} {w:>7.1f} {u / best['uniform']:>6.2f}"
                        f" {w / best['weighted']:>7.2f}  {best['fastest peer']}"
                    )
                print(line, flush=True)
    typical = float(np.median(ours))
    print(f"median {typical:.1f} ns per vertex, worst {max(ours) / typical:.2f} times that")


if __name__ == "__main__":
    main()
