"""Certified solutions on grids and graphs larger than memory, with Dask, on one machine or many.

A problem is divided into parts, which are kept in memory or in files (`storage`): a `GridProblem`
of dask arrays into `Tile`s, a `GraphProblem` on a `PartitionedGraph` into `Part`s. `Parts` holds
them on the workers, and `Rounds` solves windows of them in turn until the gap is closed.
`graphtv.denoise_tv` and `graphtv.fused_lasso` use this package for dask arrays, and
`graphtv.fused_lasso` and `graphtv.solve` for partitioned graphs.
"""

from graphtv.scale.result import PartitionedResult, TiledResult

__all__ = ["PartitionedResult", "TiledResult"]
