"""The constants behind every decision about problems in parts, in one place.

Each line says what the number means and which measurement chose it. "sensitivity" is the script
`benchmarks/solver/sensitivity.py`, which halves and doubles a number. "estimate" means that only
the order of magnitude matters.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """All thresholds, with the values that are used."""

    # Parts and strips
    tile_size: int = 1 << 20
    """Approximate number of vertices of a tile if the given chunks are not suitable (estimate)."""
    part_size: int = 1 << 18
    """Number of vertices of a part if the number of parts is not given (estimate)."""
    least_part: int = 1 << 19
    """Parts of a graph with fewer vertices and edges (times channels) are merged for the solve,
    which then needs up to 80 MB per window. Smaller parts cost more than twice the processor time
    of the solver in memory."""
    shortest_tile: int = 32
    """Smallest length of a tile, unless the axis is shorter; smaller tiles are mostly border."""
    strip_depth: float = 1 / 8
    """Depth of a strip in the tiles on both sides of a border, as a fraction of their length. Wider
    strips cost more, but need fewer rounds. For large pieces, 1/32 takes three times as many rounds
    as 1/8, and 1/4 takes as many as 1/8."""
    least_strip_depth: int = 16
    """The smallest depth of a strip in vertices (estimate)."""
    strip_share: float = 1.0
    """The sides of all strips of a part have at most this many times the vertices of the part,
    unless the ends of the edges across its border are more. Deeper strips cost more, but need fewer
    rounds: with 1, 8 to 12 rounds to 1e-6 were enough where 1/2 took 12 to 20."""

    # The start
    coarsening: int = 4
    """Coarsening factor of a grid along each axis (estimate)."""
    coarse_tolerance: float = 1e-4
    """Relative gap on coarser grids; enough for a warm start (estimate)."""
    coarse_rounds: int = 3
    """Largest number of rounds on coarser grids (estimate)."""
    cluster_levels: int = 2
    """Levels of the clusters of the coarse start, each about four times larger than the one before.
    If there are still too many clusters, more levels are used."""

    # Rounds
    coupled_slack: float = 1e-4
    """Channels are constant on an edge if ‖p‖ is below 1 by more than this (as in the polish)."""
    least_coupled: float = 1e-10
    """Smallest relative gap of a window with coupled channels: no method is exact (estimate)."""
    first_tolerance: float = 2e-4
    """Relative gap to which windows are solved in the first round (estimate)."""
    first_share: float = 0.8
    """The fraction of the tolerance that windows may leave in the first round, …"""
    share: float = 0.5
    """… and in later rounds (estimate)."""
    fall: float = 0.01
    """Windows are solved to this fraction of the total gap, which a round rarely exceeds."""
    stall_rounds: int = 30
    """A run has stalled if in this number of rounds …"""
    stall_ratio: float = 0.9
    """… the gap has not decreased by this factor (estimate)."""
    handicap: float = 3.0
    """An older u is used with new flows if the gap becomes smaller by this factor (estimate)."""
    proximal: float = 1e-2
    """Weight of the proximal term of vertices without data, relative to the mean weight of the
    data. With a smaller weight their values move faster, but windows with few data are harder to
    solve (estimate)."""

    # The reduced problem
    flat: float = 1e-9
    """Neighbours belong to the same piece if their values differ by at most this, relative to the
    range of the data."""
    reduced_share: float = 0.1
    """The reduced problem is solved to this fraction of the tolerance (estimate)."""
    most_pieces: int = 1 << 22
    """The largest number of pieces that one worker solves: 1 GB of memory (estimate)."""
    least_reduction: int = 2
    """Pieces of u are used if there are this many times fewer pieces than vertices (estimate)."""


TUNING = Tuning()
"""The thresholds that are used."""
