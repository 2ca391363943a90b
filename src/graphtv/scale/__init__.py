"""Certified solutions on grids larger than memory, with Dask, on one machine or many.

A `GridProblem` is built from dask arrays. `Tiles` divides it into `Tile`s, which are kept in memory
or in files (`storage`). `Rounds` solves windows of them in turn until the gap is closed, and
`solve` returns a `TiledResult`. `graphtv.denoise_tv` and `graphtv.fused_lasso` use this package for
dask arrays.
"""

from graphtv.scale.result import TiledResult

__all__ = ["TiledResult"]
