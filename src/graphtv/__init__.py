"""Certified total variation on weighted graphs.

Build a `Graph` (or a `grid_graph`, a `knn_graph`), say with a data term such as `SquaredLoss` what
is known at its vertices, and `solve` the `Problem`; the `Result` proves how good it is. On chains,
trees and forests `tv_chain` and `tv_forest` are exact by themselves. `decompose` and
`condition_number` show the forests behind it all. `min_cut`, `cut_path` and `FlowNetwork` are for
cuts and flows.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphtv import datasets, gallery
from graphtv.applications.cut_path import CutPath, cut_path
from graphtv.applications.denoising import denoise_tv
from graphtv.applications.fused_lasso import fused_lasso
from graphtv.applications.fused_lasso_path import FusedLassoPath, fused_lasso_path
from graphtv.applications.min_cut import Cut, min_cut
from graphtv.applications.noise import estimate_noise, suggest_weight
from graphtv.applications.segmentation import Segmentation, segment, segment_image
from graphtv.condition import condition_number
from graphtv.decomposition import ForestPartition, decompose
from graphtv.exact import tv_chain, tv_forest
from graphtv.flow_network import FlowNetwork
from graphtv.graph import Graph
from graphtv.grid import GridStructure, grid_graph, recognize_grid
from graphtv.io import DimacsError, read_dimacs, write_dimacs
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
    from graphtv.applications.fused_lasso_estimator import FusedLasso

__all__ = [
    "PDHG",
    "AbsoluteLoss",
    "Cut",
    "CutPath",
    "DataTerm",
    "DimacsError",
    "EntropicSimplex",
    "FlowNetwork",
    "ForestPartition",
    "FusedLasso",
    "FusedLassoPath",
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
    "TVClassifier",
    "TotalVariation",
    "condition_number",
    "cut_path",
    "datasets",
    "decompose",
    "denoise_tv",
    "estimate_noise",
    "fused_lasso",
    "fused_lasso_path",
    "gallery",
    "grid_graph",
    "knn_graph",
    "min_cut",
    "read_dimacs",
    "recognize_grid",
    "segment",
    "segment_image",
    "solve",
    "suggest_weight",
    "tv_chain",
    "tv_forest",
    "write_dimacs",
]

_LAZY = {
    "FusedLasso": "graphtv.applications.fused_lasso_estimator",
    "TVClassifier": "graphtv.applications.classifier",
}
"""Names that need an extra, and the modules that have them."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
