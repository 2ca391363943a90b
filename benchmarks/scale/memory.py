"""Tiles on Dask's threads against the same problem in memory, for the same tolerance."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import dask.array as da
import numpy as np
from dask.callbacks import Callback

from graphtv import denoise_tv
from scale.turns import header, make_image, race, row

TOLERANCES = 1e-3, 1e-6


def against_memory(quick: bool) -> None:
    """Print rounds, time and bytes for chunks of several sizes."""
    cases: list[tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]]] = [
        ((2048, 2048), (1024, 512), (0.1, 1.0)),
        ((96, 96, 96), (48,), (0.1,)),
    ]
    if quick:
        cases = [((128, 128), (64,), (0.1,))]
    header(
        "Times over those in memory",
        "grid", "weight", "tol", "chunks", "rounds", "processor time", "wall",
        "in memory, ns per pixel", "bytes moved per round and pixel",
    )  # fmt: skip
    for shape, chunks, weights in cases:
        image = make_image(shape)
        for weight in weights:
            for tol in TOLERANCES:
                _compare(image, weight, tol, chunks, 1 if quick else 2)


def _compare(image: Any, weight: float, tol: float, chunks: tuple[int, ...], turns: int) -> None:
    def solve(values: Any) -> Any:
        return denoise_tv(values, weight, tol=tol, return_result=True)[1]

    contestants = {"memory": functools.partial(solve, image)}
    for length in chunks:
        contestants[str(length)] = functools.partial(solve, da.from_array(image, chunks=length))
    best = race(contestants, turns)
    whole = best["memory"]
    for length in chunks:
        found = best[str(length)]
        result = found.outcome
        assert result.status == "optimal", result
        row(
            " × ".join(map(str, image.shape)), weight, f"{tol:g}", length, result.iterations,
            f"{found.processor / whole.processor:.2f}", f"{found.wall / whole.wall:.2f}",
            f"{1e9 * whole.processor / image.size:.0f}",
            f"{result.bytes_per_round / image.size:.1f}",
        )  # fmt: skip


def more_tiles(quick: bool) -> None:
    """Print the number of rounds for grids with an increasing number of tiles of one size."""
    sides, length = ((128, 192), 64) if quick else ((256, 512, 1024), 128)
    header(
        f"More tiles of {length}²", "tiles", "weight", "rounds to 1e-3", "to 1e-6",
        "µs per pixel to 1e-6",
    )  # fmt: skip
    for weight in (0.1, 1.0):
        for side in sides:
            image = da.from_array(make_image((side, side)), chunks=length)

            def solve(image: Any = image, weight: float = weight) -> Any:
                return denoise_tv(image, weight, tol=1e-6, return_result=True)[1]

            found = race({"tiles": solve}, 1)["tiles"]
            gaps = np.array([record.relative_gap for record in found.outcome.history])
            row(
                f"{side // length}²", weight, int(np.argmax(gaps <= 1e-3)) + 1, len(gaps),
                f"{1e6 * found.processor / image.size:.2f}",
            )  # fmt: skip


class Count(Callback):
    """Counts the tasks of Dask, each once, although cached tasks are looked up again."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        super().__init__(pretask=self._take_down)

    def _take_down(self, key: Any, *_: Any) -> None:
        self.keys.add(key if isinstance(key, str) else key[0])

    @property
    def names(self) -> Counter[str]:
        """Tasks by name."""
        return Counter(key.rpartition("-")[0] for key in self.keys)


STEPS = (
    "relax-part",
    "take",
    "relax-strip",
    "getitem",
    "paste",
    "reduce-to-pieces",
    "solve-reduced",
    "use-values",
    "border-values",
    "certify",
)


def tasks(quick: bool) -> None:
    """Print the number of tasks per tile and round."""
    counts = 3, 3, 3
    image = da.from_array(make_image(tuple(32 * n for n in counts)), chunks=32)
    header(f"Tasks of a round on {' × '.join(map(str, counts))} tiles", *STEPS, "per tile")
    found = []
    for rounds in (1, 2):
        with Count() as count:
            denoise_tv(image, 0.02, tol=0, max_iterations=rounds, return_result=True)
        found.append(count.names)
    of_one = {name: found[1][name] - found[0][name] for name in STEPS}
    row(*of_one.values(), f"{sum(of_one.values()) / np.prod(counts):.1f}")
