"""prox_tv's exact methods for chains, called in its library, without its Python wrappers.

Seven take one weight for all edges, *weighted taut string* a weight per edge.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .task import Answer, Entrant, Task, imported

PACKAGES = ("prox_tv",)
WEIGHTED = "weighted taut string"


def enter(task: Task) -> list[Entrant]:
    """Return one entrant per method."""
    prox_tv = imported("prox_tv")
    ffi, lib = prox_tv.ffi, prox_tv.lib

    x, weight = task.image, task.weight
    n = x.shape[1]
    w, u = np.full_like(x, weight), np.empty_like(x)

    def pointers(array: np.ndarray[Any, Any]) -> list[Any]:
        # In contrast to a cast of an address, a buffer keeps its array alive.
        return [ffi.from_buffer("double[]", row) for row in array]

    rows = list(zip(pointers(x), pointers(w), pointers(u), strict=True))
    methods: dict[str, Callable[[Any, Any, Any], Any]] = {
        "classic taut string": lambda a, _, b: lib.classicTautString_TV1(a, n, weight, b),
        "linearized taut string": lambda a, _, b: lib.linearizedTautString_TV1(a, weight, b, n),
        "hybrid taut string": lambda a, _, b: lib.hybridTautString_TV1(a, n, weight, b),
        "condat": lambda a, _, b: lib.TV1D_denoise(a, b, n, weight),
        "condat taut string": lambda a, _, b: lib.TV1D_denoise_tautstring(a, b, n, weight),
        "johnson": lambda a, _, b: lib.dp(n, a, weight, b),
        "kolmogorov": lambda a, _, b: lib.SolveTVConvexQuadratic_a1_nw(n, a, weight, b),
        WEIGHTED: lambda a, c, b: lib.tautString_TV1_Weighted(a, c, b, n),
    }

    def run(call: Callable[[Any, Any, Any], Any], _: int) -> Answer:
        for row in rows:
            call(*row)
        return Answer(u)

    return [
        Entrant("prox_tv", name, functools.partial(run, call)) for name, call in methods.items()
    ]
