"""prox_tv (Barbero and Sra): its methods for images, volumes and chains.

Images and their weights are passed in Fortran order, which prox_tv uses internally.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .task import Answer, DeclinedError, Entrant, Task, imported, iterations

PACKAGES = ("prox_tv",)
PEER = "prox_tv"
METHODS_2D = ("kolmogorov", "dr", "pd", "yang", "condat", "chambolle-pock", "chambolle-pock-acc")
METHODS_1D = ("condat", "condattautstring", "hybridtautstring", "classictautstring", "dp")


def enter(task: Task) -> list[Entrant]:
    """Return one entrant per method for the number of axes."""
    prox_tv = imported("prox_tv")

    if not task.shape:
        raise DeclinedError("chains, images and volumes only")
    image, weight = np.asfortranarray(task.image), task.weight
    if image.ndim == 1:
        return [one_dimension(prox_tv, image, weight, method) for method in METHODS_1D]
    if image.ndim == 2:
        down = np.full((image.shape[0] - 1, image.shape[1]), weight, order="F")
        along = np.full((image.shape[0], image.shape[1] - 1), weight, order="F")
        return [
            *(two_dimensions(prox_tv, image, task, method) for method in METHODS_2D),
            iterated("weighted dr", lambda n: prox_tv.tv1w_2d(image, down, along, n)),
        ]
    axes = list(range(1, image.ndim + 1))  # a list: tvgen reads the bytes of an array as doubles

    def general(n: int) -> Any:
        # Weights are created for every call, since tvgen overwrites them.
        weights, norms = np.full(image.ndim, weight), np.ones(image.ndim)
        return prox_tv.tvgen(image, weights, axes, norms, task.n_threads, n)

    return [iterated("tvgen", general, task.n_threads)]


def iterated(variant: str, call: Callable[[int], Any], threads: int = 1) -> Entrant:
    """Return a method with a number of iterations."""

    def run(n: int) -> Answer:
        return Answer(np.ascontiguousarray(call(n)))

    return Entrant(PEER, variant, run, iterations(20_000), threads=threads)


def two_dimensions(prox_tv: Any, image: Any, task: Task, method: str) -> Entrant:
    """Return a method for images."""
    options = {"n_threads": task.n_threads, "method": method}
    return iterated(
        method,
        lambda n: prox_tv.tv1_2d(image, task.weight, max_iters=n, **options),
        task.n_threads,
    )


def one_dimension(prox_tv: Any, signal: Any, weight: float, method: str) -> Entrant:
    """Return a method for chains, all of which are exact."""
    return Entrant(PEER, method, lambda _: Answer(prox_tv.tv1_1d(signal, weight, method=method)))
