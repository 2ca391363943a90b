"""What a run over tiles returns: arrays of Dask, and what they prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphtv.result import Certified, History, Status


@dataclass(frozen=True, eq=False, repr=False)
class TiledResult(Certified):
    """The outcome on a grid of tiles.

    Attributes
    ----------
    u : dask array
        The primal point, of the shape of the data.
    p : tuple of dask arrays
        The dual point, |p| ≤ 1, along each axis: the entry at x belongs to the edge from x to
        x + e_a. Channels come last.
    primal, dual : float
        The objectives of the whole grid. The minimum lies between them.
    gap, relative_gap : float
        primal - dual, and the same over max(|primal|, |dual|).
    status : str
        As in `graphtv.Result`.
    tolerance : float
        The relative gap that was asked for.
    iterations : int
        Rounds: every tile, and every strip across a border, once.
    chunks : tuple of tuple of int
        The tiles, along each axis of space.
    bytes_per_round : int
        What tiles hand to each other in a round, at most.
    setup_time, solve_time : float
        Seconds until the first round, and of the rounds.
    history : History
        A record per round. Its sweeps are the windows that were looked at.
    error_bound : float or None
        A number not below ‖u - u*‖₂, where there is data everywhere.
    """

    u: Any
    p: tuple[Any, ...]
    primal: float
    dual: float
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
