"""The level sets of a denoised signal as nested cuts, with the value of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.applications.cuts.cut_problem import CutProblem, Mask
from graphtv.applications.cuts.exact_levels import ExactLevels


class LevelSets:
    """The cuts {u > θ} for all θ.

    Source side j is ``order[:sizes[j]]``. It contains the vertices that are tied to the source, and
    the vertices with u ≥ ``breakpoints[j - 1]``. `values` are the costs of these cuts, exact for
    whole capacities. With `exact`, the levels of u are known as fractions, and the breakpoints are
    the nearest floats.
    """

    def __init__(self, problem: CutProblem, u: Floats, exact: ExactLevels | None = None) -> None:
        self._problem, self._exact = problem, exact
        free = np.flatnonzero(problem.free)
        seeds = np.flatnonzero(problem.source_seeds)
        self.breakpoints: Floats
        if exact is not None:
            self.breakpoints, ranks = exact.values, exact.ranks
        else:
            levels, ranks = np.unique(-u[free], return_inverse=True)
            self.breakpoints = 0.0 - levels
        counts = np.bincount(ranks, minlength=len(self.breakpoints))
        self.order: NDArray[np.int64] = np.append(seeds, free[np.argsort(ranks, kind="stable")])
        self.sizes: NDArray[np.int64] = len(seeds) + np.append(0, np.cumsum(counts))
        self.values: NDArray[Any] = self._values()

    def at(self, theta: int | float) -> int:
        """Return j, the index of {u > θ}."""
        left, right = (
            int(np.searchsorted(-self.breakpoints, -float(theta), side=side))
            for side in ("left", "right")
        )
        if self._exact is None:
            return left
        # Rounding preserves the order, so only levels that round to θ are compared exactly.
        return left + self._exact.n_above(theta, range(left, right))

    def best(self, theta: float) -> int:
        """Return the index of the cheapest cut, {u > θ} if there are several.

        If u is exact, this is {u > θ}. If u is not exact, or if rounding has split a component
        whose value is θ, another level may be cheaper.
        """
        j = self.at(theta)
        least = int(np.argmin(self.values))
        return least if self.values[least] < self.values[j] else j

    def side(self, j: int) -> Mask:
        """Return source side j as booleans."""
        side = np.zeros(len(self._problem.source), dtype=bool)
        side[self.order[: self.sizes[j]]] = True
        return side

    def _values(self) -> NDArray[Any]:
        """Return the costs of all cuts, by summing the changes while the source side grows."""
        problem, k = self._problem, len(self.breakpoints)
        joins = np.full(len(problem.source), k + 1)  # the first side that contains the vertex
        joins[problem.source_seeds] = 0
        joins[self.order[self.sizes[0] :]] = np.repeat(np.arange(1, k + 1), np.diff(self.sizes))
        steps = np.zeros(k + 2, dtype=problem.source.dtype)
        np.add.at(steps, joins, problem.sink - problem.source)
        tails, heads = joins[problem.graph.edges.T]
        for out, into, capacity in (
            (tails, heads, problem.forward),
            (heads, tails, problem.backward),
        ):
            leaves = out < into
            np.add.at(steps, out[leaves], capacity[leaves])
            np.subtract.at(steps, into[leaves], capacity[leaves])
        # While the source side is empty, all arcs of the source are cut.
        steps[0] += problem.source.sum() + problem.constant
        values: NDArray[Any] = np.cumsum(steps)[: k + 1]
        return values
