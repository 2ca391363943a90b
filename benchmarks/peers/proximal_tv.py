"""prox_tv (Barbero and Sra): its methods for images, volumes and chains.

Images and their weights are handed over in Fortran's order, which prox_tv works in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from peer import Peer, Run, iterations
from problems import Instance

try:
    import prox_tv
except ImportError:
    prox_tv = None

METHODS_2D = ("kolmogorov", "dr", "pd", "yang", "condat", "chambolle-pock", "chambolle-pock-acc")
METHODS_1D = ("condat", "hybridtautstring", "classictautstring", "dp")


def peers(instance: Instance) -> list[Peer]:
    """Return the contestants for this problem."""
    if instance.shape is None:
        return []
    if prox_tv is None:
        return [Peer("prox_tv", None, missing="prox_tv is not installed")]
    image, weight = np.asfortranarray(instance.image), instance.weight
    assert weight is not None
    if image.ndim == 1:
        return [one_dimension(image, weight, method) for method in METHODS_1D]
    if image.ndim == 2:
        down = np.full((image.shape[0] - 1, image.shape[1]), weight, order="F")
        along = np.full((image.shape[0], image.shape[1] - 1), weight, order="F")
        return [
            *(two_dimensions(image, weight, method) for method in METHODS_2D),
            iterated("prox_tv weighted dr", lambda n: prox_tv.tv1w_2d(image, down, along, n)),
        ]
    axes = list(range(1, image.ndim + 1))  # a list: of an array tvgen takes the bytes as doubles

    def general(n: int) -> Any:
        # Weights are made for every call: tvgen overwrites them.
        weights, norms = np.full(image.ndim, weight), np.ones(image.ndim)
        return prox_tv.tvgen(image, weights, axes, norms, 1, n)

    return [iterated("prox_tv tvgen", general)]


def iterated(name: str, call: Callable[[int], Any]) -> Peer:
    return Peer(name, lambda n: Run(np.ascontiguousarray(call(n))), iterations(20_000))


def two_dimensions(image: np.ndarray, weight: float, method: str) -> Peer:
    return iterated(
        f"prox_tv {method}",
        lambda n: prox_tv.tv1_2d(image, weight, n_threads=1, max_iters=n, method=method),
    )


def one_dimension(signal: np.ndarray, weight: float, method: str) -> Peer:
    def run(_: int) -> Run:
        return Run(prox_tv.tv1_1d(signal, weight, method=method))

    return Peer(f"prox_tv {method}", run, ladder=[1])
