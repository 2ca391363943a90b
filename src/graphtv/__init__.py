"""Certified total variation on weighted graphs.

Build a `Graph` (or a `grid_graph`, a `knn_graph`), say with a data term such as `SquaredLoss` what
is known at its vertices, and `solve` the `Problem`; the `Result` proves how good it is. On chains,
trees and forests `tv_chain` and `tv_forest` are exact by themselves. `decompose` and
`condition_number` show the forests behind it all.
"""

import importlib
from typing import TYPE_CHECKING, Any

from graphtv import gallery
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

if TYPE_CHECKING:
    from graphtv.applications.classifier import TVClassifier

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
    "TVClassifier",
    "TotalVariation",
    "condition_number",
    "decompose",
    "gallery",
    "grid_graph",
    "knn_graph",
    "recognize_grid",
    "solve",
    "tv_chain",
    "tv_forest",
]

_LAZY = {"TVClassifier": "graphtv.applications.classifier"}
"""Names that need scikit-learn, and where they are: imported when asked for."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'graphtv' has no attribute {name!r}")
