"""The result of a run over tiles: dask arrays and their certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtv.result import History, Status


@dataclass(frozen=True, eq=False, repr=False)
class TiledResult:
    """The solution on a grid of tiles with its certificate.

    Attributes
    ----------
    u : dask array
        The primal point, with the shape of the data.
    p : tuple of dask arrays
        The dual point, |p| ≤ 1, along each axis: the entry at x belongs to the edge from x to
        x + e_a. Channels come last.
    primal, dual : float
        The objectives of the whole grid. The minimum lies between them.
    gap, relative_gap : float
        primal - dual, summed from nonnegative terms of single vertices and edges, and the same
        over max(|primal|, |dual|).
    rounding : float
        A bound on the rounding error of `primal` and of `dual`.
    status : str
        As in `graphtv.Result`: ``optimal`` is a proof, whatever rounding did.
    tolerance : float
        The requested relative gap.
    iterations : int
        Number of rounds. A round solves each tile and each strip across a border once.
    chunks : tuple of tuple of int
        Lengths of the tiles along each spatial axis.
    bytes_per_round : int
        Upper bound of the bytes that tiles exchange in a round.
    setup_time, solve_time : float
        Seconds until the first round, and of the rounds.
    history : History
        One record per round. Its sweeps are the windows that were checked.
    error_bound : float or None
        An upper bound of ‖u - u*‖₂, if no data is missing. None also if the range of the data says
        more.

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

    u: Any
    p: tuple[Any, ...]
    primal: float
    dual: float
    gap: float
    relative_gap: float
    rounding: float
    status: Status
    tolerance: float
    iterations: int
    chunks: tuple[tuple[int, ...], ...]
    bytes_per_round: int
    setup_time: float
    solve_time: float
    history: History
    error_bound: float | None

    def __repr__(self) -> str:
        tiles = " × ".join(str(len(lengths)) for lengths in self.chunks)
        return (
            f"{type(self).__name__}: {self.status}, relative gap {self.relative_gap:.3g}\n"
            f"  primal     {self.primal:.12g}\n"
            f"  dual       {self.dual:.12g}\n"
            f"  work       {self.iterations} rounds over {tiles} tiles\n"
            f"  time       {self.setup_time:.3g} s to set up, {self.solve_time:.3g} s to solve"
        )
