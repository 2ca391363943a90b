"""Grids larger than memory, on one machine or many: arrays of Dask, the same certified optimum.

The way of the data: `denoising` makes a `GridProblem` of arrays, `Tiles` cuts it into `Tile`s that
stay where they are kept (`storage`), `Rounds` solves windows of them by turns until the gap is
closed, and `solve` makes a `TiledResult` of what is there then. `graphtv.denoise_tv` and
`graphtv.fused_lasso` come here by themselves when they are given an array of Dask.
"""

from graphtv.scale.result import TiledResult

__all__ = ["TiledResult"]
