"""Certified total variation on weighted graphs.

Build a `Graph` (or a `grid_graph`, a `knn_graph`), say with a data term such as `SquaredLoss` what
is known at its vertices, and `solve` the `Problem`; the `Result` proves how good it is. On chains,
trees and forests `tv_chain` and `tv_forest` are exact by themselves. `decompose` and
`condition_number` show the forests behind it all.
"""

from graphtv import gallery
from graphtv.applications.denoising import denoise_tv
from graphtv.applications.noise import estimate_noise, suggest_weight
from graphtv.condition import condition_number
from graphtv.decomposition import ForestPartition, decompose
from graphtv.exact import tv_chain, tv_forest
from graphtv.graph import Graph
from graphtv.grid import GridStructure, grid_graph, recognize_grid
from graphtv.neighbours import knn_graph
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import PDHG, solve
from graphtv.terms import (
    AbsoluteLoss,
    DataTerm,
    EntropicSimplex,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    SquaredLoss,
    TotalVariation,
)

__all__ = [
    "PDHG",
    "AbsoluteLoss",
    "DataTerm",
    "EntropicSimplex",
    "ForestPartition",
    "Graph",
    "GridStructure",
    "HuberLoss",
    "HuberTV",
    "LinearBox",
    "LogisticLoss",
    "PoissonLoss",
    "Problem",
    "Result",
    "SquaredLoss",
    "TotalVariation",
    "condition_number",
    "decompose",
    "denoise_tv",
    "estimate_noise",
    "gallery",
    "grid_graph",
    "knn_graph",
    "recognize_grid",
    "solve",
    "suggest_weight",
    "tv_chain",
    "tv_forest",
]
