"""Certified total variation on weighted graphs.

Build a `Graph` (or a `grid_graph`, a `knn_graph`), say with a data term such as `SquaredLoss` what
is known at its vertices, and `solve` the `Problem`; the `Result` proves how good it is. On chains,
trees and forests `tv_chain` and `tv_forest` are exact by themselves. `decompose` and
`condition_number` show the forests behind it all.
"""

from graphtv import gallery
from graphtv.applications.segmentation import Segmentation, segment, segment_image
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
    "Segmentation",
    "SquaredLoss",
    "TotalVariation",
    "condition_number",
    "decompose",
    "gallery",
    "grid_graph",
    "knn_graph",
    "recognize_grid",
    "segment",
    "segment_image",
    "solve",
    "tv_chain",
    "tv_forest",
]
