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
    from graphtv.applications.classifier import TVClassifier
    from graphtv.applications.cut_path import CutPath, cut_path
    from graphtv.applications.denoising import denoise_tv
    from graphtv.applications.fused_lasso import fused_lasso
    from graphtv.applications.fused_lasso_estimator import FusedLasso
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
    "applications.classifier": ("TVClassifier",),
    "applications.cut_path": ("CutPath", "cut_path"),
    "applications.denoising": ("denoise_tv",),
    "applications.fused_lasso": ("fused_lasso",),
    "applications.fused_lasso_estimator": ("FusedLasso",),
    "applications.fused_lasso_path": ("FusedLassoPath", "fused_lasso_path"),
    "applications.min_cut": ("Cut", "min_cut"),
    "applications.noise": ("estimate_noise", "suggest_weight"),
    "applications.segmentation": ("Segmentation", "segment", "segment_image"),
    "condition": ("condition_number",),
    "decomposition": ("ForestPartition", "decompose"),
    "exact": ("tv_chain", "tv_forest"),
    "flow_network": ("FlowNetwork",),
    "graph": ("Graph",),
    "grid": ("GridStructure", "grid_graph", "recognize_grid"),
    "io": ("DimacsError", "read_dimacs", "write_dimacs"),
    "neighbours": ("knn_graph",),
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
