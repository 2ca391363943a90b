"""All minimum cuts of a parametric family, from one solution.

Add θ to every sink capacity (for θ < 0, add -θ to every source capacity). The level set {u > θ} of
the denoised signal u is then the source side of a minimum cut. So these cuts are nested: D. S.
Hochbaum, "An efficient algorithm for image segmentation, Markov random fields and related
problems", Journal of the ACM 48, 2001; A. Chambolle and J. Darbon, "On total variation minimization
and surface evolution using parametric maximum flows", IJCV 84, 2009.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv import _core
from graphtv._validate import Floats, as_real
from graphtv.applications.cuts.cut_problem import CutProblem, Mask
from graphtv.applications.cuts.exact_levels import ExactLevels, exact_levels
from graphtv.applications.cuts.level_sets import LevelSets
from graphtv.applications.cuts.min_cut import (
    Cut,
    certified_cut,
    is_finished,
    solve_levels,
    time_left,
)
from graphtv.applications.keywords import check_keywords
from graphtv.graph.graph import Graph, as_graph
from graphtv.result import Result
from graphtv.solver.interrupts import interrupting

__all__ = ["CutPath", "cut_path"]


class CutPath:
    """The nested minimum cuts of all shifts θ of the terminal capacities.

    Let λ_0 > λ_1 > … be the breakpoints. For θ between λ_j and λ_{j-1} the source side is S_j =
    ``order[:sizes[j]]``. S_0 contains only the vertices that are tied to the source. When θ falls
    below λ_j, the vertices ``order[sizes[j]:sizes[j + 1]]`` join the source side.

    Attributes
    ----------
    breakpoints : ndarray, shape (k,)
        The shifts at which the cut changes, in decreasing order. Fractions are rounded to the
        nearest float, so two breakpoints that differ by less than rounding are equal here.
    order : ndarray of int
        The vertices in the order in which they join the source side as θ decreases, without those
        that are tied to the sink.
    sizes : ndarray of int, shape (k + 1,)
        Numbers of vertices of the source sides.
    values : ndarray, shape (k + 1,)
        The cost of each cut without the shift; exact integers if all capacities are integers.
    certified : bool
        Whether every cut is proved to be minimal, for every θ. This is possible for whole
        capacities only: the breakpoints are then known as fractions, and an integer flow proves
        each cut. With real capacities, the cuts are those of the solver, up to rounding, and `cut`
        certifies a single one.
    result : Result
        The solution of the denoising problem.

    Examples
    --------
    >>> path = cut_path(Graph(3, [[0, 1], [1, 2]], 1), [9, 2, 0], [0, 0, 5])
    >>> path.certified, path.sizes.tolist()
    (True, [0, 1, 2, 3])
    >>> path.order[: path.sizes[1]].tolist()
    [0]
    """

    def __init__(
        self, problem: CutProblem, result: Result, exact: ExactLevels | None = None
    ) -> None:
        self._problem, self.result = problem, result
        levels = self._levels = LevelSets(problem, result.u, exact)
        self.certified: bool = exact is not None
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
        return self._levels.at(self._shift(theta))

    def source_side(self, theta: float = 0.0) -> Mask:
        """Return the source side at the shift θ, as booleans."""
        return self._levels.side(self.level(theta))

    def value(self, theta: float = 0.0) -> int | float:
        """Return the cost of the minimum cut at the shift θ, including the shift.

        This is a concave function of θ that is linear between the breakpoints. If θ > 0, every
        vertex on the source side adds θ. If θ < 0, every vertex on the sink side adds -θ. Tied
        vertices add nothing. With whole capacities the value is exact for a whole θ, and correctly
        rounded for any other θ.
        """
        shift = self._shift(theta)
        j = self._levels.at(shift)
        tied, n = int(self.sizes[0]), len(self.order)
        inside = int(self.sizes[j]) - tied
        base = self.values[j : j + 1].tolist()[0]
        n_shifted = inside if shift > 0 else n - tied - inside
        if not self._problem.is_whole:
            return float(base + abs(shift) * n_shifted)
        value = base + abs(Fraction(shift)) * n_shifted
        return int(value) if Fraction(shift).denominator == 1 else float(value)

    def cut(self, theta: float = 0.0) -> Cut:
        """Return the cut at the shift θ with its own certificate.

        Its value is that of the shifted capacities. With whole capacities and a whole θ it is
        certified in integers.
        """
        shift = self._shift(theta)
        problem = self._problem.shifted(shift) if shift != 0 else self._problem
        side = self._levels.side(self._levels.at(shift))
        if not self.certified:
            levels = LevelSets(problem, self.result.u)
            side = levels.side(levels.best(shift))
        return certified_cut(problem, side, self.result, {}, math.inf)

    @staticmethod
    def _shift(theta: Any) -> int | float:
        """Return θ; integers are kept exactly."""
        shift = as_real(theta, "theta")
        return int(theta) if isinstance(theta, int | np.integer) else shift

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
    s - θ. As θ decreases from ∞ to -∞, the source side grows from the empty set to all vertices
    and never loses a vertex.

    Parameters
    ----------
    graph : Graph
        The graph; its weights are the capacities of its edges, in both directions.
    source_capacities, sink_capacities : float or array_like, shape (n,)
        Capacities from the source to each vertex, and from each vertex to the sink. Infinity ties
        a vertex to that terminal; θ does not affect it.
    **solve_options
        Options of `graphtv.solve`. The default of `tol` is 0.

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
    check_keywords(cut_path, solve_options)
    problem = CutProblem.of_graph(as_graph(graph), source_capacities, sink_capacities)
    return path_of(problem, solve_options)


def path_of(problem: CutProblem, options: dict[str, Any]) -> CutPath:
    """Return all cuts of a problem."""
    result = solve_levels(problem, {"tol": 0.0, **options})
    exact = None
    if problem.is_whole and is_finished(result):
        watch = _core.Watch(time_left(result, options))
        with interrupting(watch):
            exact = exact_levels(problem, result.u, result.p, watch)
    return CutPath(problem, result, exact)
