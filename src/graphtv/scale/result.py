"""The results of runs over parts: points and their certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtv.result import History, Status


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedResult:
    """The solution on a graph in parts with its certificate.

    Attributes
    ----------
    u : ndarray or dask array
        The primal point, with the shape of the data.
    p : ndarray, dask array or tuple of dask arrays
        The dual point, |p| ≤ 1, with one row per edge.
    primal, dual : float
        The objectives of the whole problem. The minimum lies between them.
    gap, relative_gap : float
        primal - dual, summed from nonnegative terms of single vertices and edges, and the same
        over max(|primal|, |dual|).
    rounding : float
        A bound on the rounding error of `primal` and of `dual`.
    status : str
        As in `graphtv.Result`: ``optimal`` is a proof that includes rounding errors.
    tolerance : float
        The requested relative gap.
    iterations : int
        Number of rounds. A round solves each part and each strip across a border once.
    n_parts : int
        Number of parts that were solved; small parts are merged.
    bytes_per_round : int
        Upper bound of the bytes that parts exchange in a round.
    setup_time, solve_time : float
        Seconds until the first round, and of the rounds.
    history : History
        One record per round. Its `sweeps` count the windows that were checked.
    error_bound : float or None
        An upper bound of ‖u - u*‖₂. None if data is missing, or if the range of the data gives a
        smaller bound.

    Examples
    --------
    >>> from graphtv import PartitionedGraph, fused_lasso, gallery, grid_graph
    >>> noisy, truth = gallery.piecewise_constant_image((20, 30), rng=1)
    >>> result = fused_lasso(PartitionedGraph(grid_graph((20, 30)), 3), noisy.ravel(), lam=0.2)
    >>> result.status, result.n_parts, result.u.shape
    ('optimal', 1, (600,))
    """

    u: Any
    p: Any
    primal: float
    dual: float
    gap: float
    relative_gap: float
    rounding: float
    status: Status
    tolerance: float
    iterations: int
    n_parts: int
    bytes_per_round: int
    setup_time: float
    solve_time: float
    history: History
    error_bound: float | None

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}: {self.status}, relative gap {self.relative_gap:.3g}\n"
            f"  primal     {self.primal:.12g}\n"
            f"  dual       {self.dual:.12g}\n"
            f"  work       {self.iterations} rounds over {self._division()}\n"
            f"  time       {self.setup_time:.3g} s to set up, {self.solve_time:.3g} s to solve"
        )

    def _division(self) -> str:
        return f"{self.n_parts} parts"


@dataclass(frozen=True, eq=False, repr=False)
class TiledResult(PartitionedResult):
    """The solution on a grid of tiles with its certificate.

    Attributes
    ----------
    u : dask array
        The primal point, with the shape of the data.
    p : tuple of dask arrays
        The dual point, |p| ≤ 1, along each axis: the entry at x belongs to the edge from x to
        x + e_a. Channels come last.
    chunks : tuple of tuple of int
        Lengths of the tiles along each spatial axis.

    See Also
    --------
    PartitionedResult : The other attributes.

    Examples
    --------
    >>> import dask.array
    >>> from graphtv import denoise_tv, gallery
    >>> noisy, truth = gallery.piecewise_constant_image((32, 32), rng=1)
    >>> tiles = dask.array.from_array(noisy, chunks=16)
    >>> smooth, result = denoise_tv(tiles, 0.1, return_result=True)
    >>> result.status, result.chunks
    ('optimal', ((32,), (32,)))
    """

    chunks: tuple[tuple[int, ...], ...]

    def _division(self) -> str:
        return " × ".join(str(len(lengths)) for lengths in self.chunks) + " tiles"
