"""The result of `graphtv.solve`: primal and dual point, certificate and history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, overload

import numpy as np

from graphtv._validate import Floats

Status = Literal["optimal", "iteration_limit", "time_limit", "interrupted", "stalled"]
STATUSES: tuple[Status, ...] = (
    "optimal",
    "iteration_limit",
    "time_limit",
    "interrupted",
    "stalled",
)


class Record(NamedTuple):
    """One entry of the history: the state after a number of iterations."""

    iteration: int
    sweeps: int
    time: float
    primal: float
    dual: float
    relative_gap: float


class Stage(NamedTuple):
    """A part of a run with one method.

    Attributes
    ----------
    method : str
        ``descent``, ``pdhg``, ``flows`` (maximum flows), ``direct`` (one exact solve of a tree) or
        ``admm`` or ``proximal_gradient`` (problems with an operator).
    preconditioner : str
        What it used: ``none`` for descent over single edges, else as in `Result`.
    iterations : int
        Iterations of this stage.
    seconds : float
        Time of the stage. It includes the setup, except for the first stage.
    relative_gap : float
        The relative gap at its end.
    """

    method: str
    preconditioner: str
    iterations: int
    seconds: float
    relative_gap: float

    def __str__(self) -> str:
        names = {
            "flows": "max-flow",
            "pdhg": "PDHG",
            "direct": "direct solve",
            "admm": "ADMM",
            "proximal_gradient": "proximal gradient steps",
        }
        name = names.get(self.method, self.method)
        if self.method == "descent":
            name += (
                " over edges" if self.preconditioner == "none" else f" over {self.preconditioner}"
            )
        elif self.method == "pdhg":
            name += f" with preconditioner {self.preconditioner}"
        plural = "" if self.iterations == 1 else "s"
        return (
            f"{name}: {self.iterations} iteration{plural} in {self.seconds:.3g} s,"
            f" relative gap {self.relative_gap:.3g}"
        )


class History(Sequence[Record]):
    """The records of a run, in order; ``history["relative_gap"]`` is a column as an array."""

    def __init__(self, records: Sequence[Record] = ()) -> None:
        self._records = tuple(records)

    @overload
    def __getitem__(self, key: int) -> Record: ...
    @overload
    def __getitem__(self, key: slice) -> History: ...
    @overload
    def __getitem__(self, key: str) -> Floats: ...
    def __getitem__(self, key: int | slice | str) -> Record | History | Floats:
        if isinstance(key, str):
            if key not in Record._fields:
                raise ValueError(f"key must be one of {Record._fields}, got {key!r}")
            return np.array([getattr(record, key) for record in self._records], dtype=float)
        if isinstance(key, slice):
            return History(self._records[key])
        return self._records[key]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __repr__(self) -> str:
        return f"History of {len(self)} records"


@dataclass(frozen=True, eq=False)
class Unrounded:
    """A primal point before it was rounded to the numbers around the offset of the data.

    Attributes
    ----------
    u : ndarray
        u minus the offset, in another unit: only equality and ratios of differences are meaningful.
    relative_gap : float
        The relative gap that it proves together with the dual point.
    error_bound : float or None
        An upper bound of its distance from the solution, in its unit.
    """

    u: Floats
    relative_gap: float
    error_bound: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of `graphtv.solve`.

    Attributes
    ----------
    u : ndarray, shape (n,) or (n, C)
        The primal point, with the shape of the data.
    p : ndarray, shape (m,) or (m, C)
        The dual point, |p| ≤ 1 exactly.
    primal, dual : float
        The objectives, recomputed from `u` and `p` with compensated sums. The minimum lies
        between them.
    gap, relative_gap : float
        primal - dual, and the same over max(|primal|, |dual|). The gap is a sum of nonnegative
        terms, one per vertex and edge. So it is accurate even where the difference of the
        objectives consists of rounding errors only.
    rounding : float
        A bound on the rounding error of `primal` and of `dual`.
    status : str
        ``optimal`` (it is proved that the relative gap is at most the tolerance, including all
        rounding errors), ``iteration_limit``, ``time_limit``, ``interrupted`` (Ctrl-C, `stop` or
        the callback) or ``stalled`` (no further progress, usually because of rounding).
    tolerance : float
        The requested relative gap; 0 for the exact solution.
    stages : list of Stage
        What ran, in order: method, preconditioner, iterations, seconds and relative gap of each.
    method, preconditioner, reason : str
        The chosen method and preconditioner, and the reason for the choice.
    iterations, sweeps : int
        Number of iterations, and of passes through a forest (one per forest, iteration and
        channel).
    setup_time, solve_time : float
        Seconds spent on decomposition and memory, and on everything else.
    history : History
        Records of iteration, sweeps, time, primal, dual and relative gap.
    error_bound : float or None
        An upper bound of ‖u - u*‖₂ if the data term is strongly convex, otherwise None. It is also
        None if the range of the data gives a smaller bound.
    residual_dual : ndarray or None
        The dual variable q of a problem with an operator A, with the shape of the data. It fulfils
        Aᵀq + Kᵀp + s = 0 for a slope s of the constraint, up to rounding.
    operator_calls : int
        Number of products with A and Aᵀ, one per channel.
    assumptions : tuple of str
        What the certificate relies on besides the returned points. It is empty for problems without
        an operator, and usually for matrices. Nobody can know how accurate the products of other
        operators are.

    Examples
    --------
    >>> from graphtv import Problem, SquaredLoss, grid_graph, solve
    >>> problem = Problem(grid_graph((4,)), SquaredLoss([0.0, 0.0, 3.0, 3.0]))
    >>> result = solve(problem, tol=0)
    >>> result.u.tolist(), result.p.tolist()
    ([0.5, 0.5, 2.5, 2.5], [-0.5, -1.0, -0.5])
    >>> result.primal, result.dual, result.status
    (2.5, 2.5, 'optimal')
    """

    u: Floats
    p: Floats
    primal: float
    dual: float
    gap: float
    relative_gap: float
    rounding: float
    status: Status
    tolerance: float
    method: str
    preconditioner: str
    reason: str
    iterations: int
    sweeps: int
    setup_time: float
    solve_time: float
    history: History
    error_bound: float | None
    stages: list[Stage] = field(default_factory=list)
    residual_dual: Floats | None = None
    operator_calls: int = 0
    assumptions: tuple[str, ...] = ()
    _unrounded: Unrounded | None = None

    def __repr__(self) -> str:
        bound = (
            "" if self.error_bound is None else f"\n  error      ‖u - u*‖ ≤ {self.error_bound:.3g}"
        )
        labels = ["stages", *[""] * len(self.stages)]
        stages = "".join(f"  {a:<10} {b}\n" for a, b in zip(labels, self.stages, strict=False))
        return (
            f"{type(self).__name__}: {self.status}, relative gap {self.relative_gap:.3g}\n"
            f"  primal     {self.primal:.12g}\n"
            f"  dual       {self.dual:.12g}{bound}\n"
            f"  method     {self.method}, preconditioner {self.preconditioner}: {self.reason}\n"
            f"{stages}"
            f"  work       {self.iterations} iterations, {self.sweeps} forest sweeps\n"
            f"  time       {self.setup_time:.3g} s to set up, {self.solve_time:.3g} s to solve"
        )
