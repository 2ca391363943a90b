"""Certified total variation on weighted graphs.

Build a `Graph` (or a `grid_graph`, a `knn_graph`), say with a data term such as `SquaredLoss` what
is known at its vertices, and `solve` the `Problem`; the `Result` proves how good it is. On chains,
trees and forests `tv_chain` and `tv_forest` are exact by themselves. `decompose` and
`condition_number` show the forests behind it all. `min_cut`, `cut_path` and `FlowNetwork` are for
cuts and flows.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphtv import datasets, gallery
    from graphtv.applications.cuts.cut_path import CutPath, cut_path
    from graphtv.applications.cuts.flow_network import FlowNetwork
    from graphtv.applications.cuts.min_cut import Cut, min_cut
    from graphtv.applications.fused.fused_lasso import fused_lasso
    from graphtv.applications.fused.fused_lasso_estimator import FusedLasso
    from graphtv.applications.fused.fused_lasso_path import FusedLassoPath, fused_lasso_path
    from graphtv.applications.imaging.denoising import denoise_tv
    from graphtv.applications.imaging.noise import estimate_noise, suggest_weight
    from graphtv.applications.imaging.segmentation import Segmentation, segment, segment_image
    from graphtv.applications.learning.classifier import TVClassifier
    from graphtv.decomposition.condition import condition_number
    from graphtv.decomposition.partition import ForestPartition, decompose
    from graphtv.graph.graph import Graph
    from graphtv.graph.grid import GridStructure, grid_graph, recognize_grid
    from graphtv.graph.neighbours import knn_graph
    from graphtv.io import DimacsError, read_dimacs, write_dimacs
    from graphtv.problem import Problem
    from graphtv.result import Result
    from graphtv.scale.result import TiledResult
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
    from graphtv.tv.exact import tv_chain, tv_forest

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
    "TiledResult",
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

_NAMES = {
    "applications.learning.classifier": ("TVClassifier",),
    "applications.cuts.cut_path": ("CutPath", "cut_path"),
    "applications.imaging.denoising": ("denoise_tv",),
    "applications.fused.fused_lasso": ("fused_lasso",),
    "applications.fused.fused_lasso_estimator": ("FusedLasso",),
    "applications.fused.fused_lasso_path": ("FusedLassoPath", "fused_lasso_path"),
    "applications.cuts.min_cut": ("Cut", "min_cut"),
    "applications.imaging.noise": ("estimate_noise", "suggest_weight"),
    "applications.imaging.segmentation": ("Segmentation", "segment", "segment_image"),
    "decomposition.condition": ("condition_number",),
    "decomposition.partition": ("ForestPartition", "decompose"),
    "tv.exact": ("tv_chain", "tv_forest"),
    "applications.cuts.flow_network": ("FlowNetwork",),
    "graph.graph": ("Graph",),
    "graph.grid": ("GridStructure", "grid_graph", "recognize_grid"),
    "io": ("DimacsError", "read_dimacs", "write_dimacs"),
    "graph.neighbours": ("knn_graph",),
    "problem": ("Problem",),
    "result": ("Result",),
    "scale.result": ("TiledResult",),
    "solver": ("PDHG", "solve"),
    "terms": (
        "AbsoluteLoss",
        "DataTerm",
        "EntropicSimplex",
        "HuberLoss",
        "HuberTV",
        "LinearBox",
        "LogisticLoss",
        "PoissonLoss",
        "SquaredLoss",
        "TotalVariation",
    ),
}
"""The public names of each module, which is imported when one of them is first asked for: scipy
takes its time, and most programs need a part of it."""

_SUBMODULES = ("applications", "datasets", "gallery", "io", "plot", "scale", "solver", "terms")

_ESTIMATORS = ("FusedLasso", "TVClassifier")
"""What only those have who have scikit-learn; to others, ``import *`` must not fail for it."""

if not TYPE_CHECKING:
    from importlib.util import find_spec as _find_spec

    _HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}
    try:
        _has_estimators = _find_spec("sklearn") is not None
    except ValueError:  # somebody put something else in its place
        _has_estimators = False
    if not _has_estimators:
        __all__ = [name for name in __all__ if name not in _ESTIMATORS]

    def __getattr__(name):
        from importlib import import_module

        if name in _SUBMODULES:
            return import_module(f"{__name__}.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__, *_HOMES, *_SUBMODULES})
