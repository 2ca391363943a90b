"""All minimum cuts of a parametric family, from one solution.

The level sets {u > θ} of the denoised signal are minimum cuts with θ more at every sink capacity
(below 0, -θ more at every source capacity), and they are nested: D. S. Hochbaum, "An efficient
algorithm for image segmentation, Markov random fields and related problems", Journal of the ACM 48,
2001; A. Chambolle and J. Darbon, "On total variation minimization and surface evolution using
parametric maximum flows", IJCV 84, 2009.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, as_real
from graphtv.applications.cut_problem import CutProblem, Mask
from graphtv.applications.level_sets import LevelSets
from graphtv.applications.min_cut import Cut, certified_cut, solve_levels
from graphtv.graph import Graph, as_graph
from graphtv.result import Result

__all__ = ["CutPath", "cut_path"]


class CutPath:
    """The nested minimum cuts of all shifts θ of the terminal capacities.

    With the breakpoints λ_0 > λ_1 > …, the source side is S_j = ``order[:sizes[j]]`` for θ between
    λ_j and λ_{j-1}: S_0 holds only what is tied to the source, and as θ falls below λ_j, the
    vertices ``order[sizes[j]:sizes[j + 1]]`` join.

    Attributes
    ----------
    breakpoints : ndarray, shape (k,)
        The shifts at which the cut changes, strictly decreasing.
    order : ndarray of int
        The vertices in the order in which they join the source side as θ falls; without those that
        are tied to the sink.
    sizes : ndarray of int, shape (k + 1,)
        Numbers of vertices of the source sides.
    values : ndarray, shape (k + 1,)
        What each cut costs without the shift: integers, exactly, if all capacities are whole.
    result : Result
        The solution of the denoising problem.
    """

    def __init__(self, problem: CutProblem, result: Result) -> None:
        self._problem, self.result = problem, result
        levels = self._levels = LevelSets(problem, result.u)
        self.breakpoints: Floats = levels.breakpoints
        self.order: NDArray[np.int64] = levels.order
        self.sizes: NDArray[np.int64] = levels.sizes
        self.values: NDArray[Any] = levels.values
        for array in (self.breakpoints, self.order, self.sizes, self.values):
            array.flags.writeable = False

    def __len__(self) -> int:
        """Return the number of different cuts."""
        return len(self.sizes)

    def level(self, theta: float) -> int:
        """Return j, the index of the cut at the shift θ."""
        return self._levels.at(as_real(theta, "theta"))

    def source_side(self, theta: float = 0.0) -> Mask:
        """Return the source side at the shift θ, as booleans."""
        return self._levels.side(self.level(theta))

    def value(self, theta: float = 0.0) -> int | float:
        """Return what the minimum cut costs at the shift θ, the shift included.

        A concave function of θ, linear between the breakpoints: every vertex of the source side
        adds θ if that is positive, every other one -θ if it is negative; tied ones add nothing.
        """
        j = self.level(theta)
        tied, n = int(self.sizes[0]), len(self.order)
        inside = int(self.sizes[j]) - tied
        base = self.values[j].item() if self.values.dtype != object else self.values[j]
        shift: Any = theta if isinstance(theta, int) else float(theta)
        if self._problem.is_whole and float(theta).is_integer():
            shift = int(theta)
        added: int | float = base + max(shift, 0) * inside + max(-shift, 0) * (n - tied - inside)
        return added

    def cut(self, theta: float = 0.0) -> Cut:
        """Return the cut at the shift θ with its own certificate.

        Its value is that of the shifted capacities. With whole capacities and a whole θ it is
        certified in integers.
        """
        shift = as_real(theta, "theta")
        problem = self._problem.shifted(shift) if shift != 0.0 else self._problem
        return certified_cut(problem, shift, self.result, 0.0, math.inf)

    def __repr__(self) -> str:
        if len(self.breakpoints) == 0:
            return "CutPath(1 cut)"
        low, high = self.breakpoints[-1], self.breakpoints[0]
        return f"CutPath({len(self)} nested cuts, θ from {low:g} to {high:g})"


def cut_path(
    graph: Graph, source_capacities: Any, sink_capacities: Any, **solve_options: Any
) -> CutPath:
    """Return the minimum cuts for all shifts of the terminal capacities, from one solution.

    For every θ ≥ 0 the capacities to the sink are t + θ; for θ < 0 those from the source are
    s - θ. As θ falls from ∞ to -∞ the source side grows from nothing to everything, and
    never loses a vertex.

    Parameters
    ----------
    graph : Graph
        The graph; its weights are the capacities of its edges, in both directions.
    source_capacities, sink_capacities : float or array_like, shape (n,)
        Capacities from the source to each vertex, and from each vertex to the sink. Infinity
        ties a vertex to that terminal; θ does not concern it.
    **solve_options
        Options of `graphtv.solve`. `tol` is 0 unless given.

    Returns
    -------
    CutPath
        Breakpoints, values, and the vertices in the order in which they join the source side.

    Examples
    --------
    >>> path = cut_path(Graph(3, [[0, 1], [1, 2]], 1), [9, 2, 0], [0, 0, 5])
    >>> path.breakpoints.tolist(), path.values.tolist(), path.order.tolist()
    ([8.0, 2.0, -4.0], [11, 3, 1, 5], [0, 1, 2])
    >>> path.cut(3)
    Cut(value 6, minimum, certified; 1 of 3 with the source)
    """
    problem = CutProblem.of_graph(as_graph(graph), source_capacities, sink_capacities)
    return path_of(problem, solve_options)


def path_of(problem: CutProblem, options: dict[str, Any]) -> CutPath:
    """Return all cuts of a problem."""
    return CutPath(problem, solve_levels(problem, {"tol": 0.0, **options}))
