"""A valid call of every public function with all its arguments, for `bad_input` to modify.

`calls` walks through `graphtv.__all__`, the modules in it and the methods of its classes. It
therefore reports new public names that have no specimen here.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import graphtv
from graphtv import Graph, Problem, SquaredLoss, gallery, grid_graph, solve

N, M = 6, 7
EDGES = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 2), (1, 4)])
WEIGHTS = np.array([0.5, 1.0, 0.25, 0.75, 1.5, 0.3, 0.2])
SIGNAL = np.array([0.0, 1.0, 0.5, 3.0, 2.5, 3.5])
IMAGE = np.linspace(0, 1, 20).reshape(4, 5) ** 2
POINTS = np.array([(0, 0), (1, 0), (0, 1), (5, 5), (6, 5), (5, 6), (6, 6), (1, 1)], dtype=float)
LABELS = np.array([0, 0, -1, 1, 1, -1, -1, -1])
SIGNAL_OF_POINTS = POINTS.sum(axis=1)
ARCS = np.array([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)])

MADE_BY_THE_LIBRARY = {
    "ConvexClusters", "ConvexClusteringPath", "Cut", "CutPath", "ForestPartition",
    "FusedLassoPath", "GridStructure", "PartitionedResult", "RegressionPath", "Result",
    "Segmentation", "SolutionGradient", "TiledResult", "DataTerm", "DimacsError",
    "gallery.FlowInstance", "datasets.Counties",
    "IsotropicTV.value", "IsotropicTV.conjugate", "IsotropicTV.prox_conjugate",
}  # fmt: skip
"""Classes whose objects users receive but do not create, and methods that need a grid."""

ESTIMATORS = {
    "ConvexClustering", "FusedLasso", "FusedLinearRegression", "FusedLogisticRegression",
    "TVClassifier",
}  # fmt: skip
"""Classes whose `fit` checks the parameters."""

PROTOCOLS = {"DataTerm", "Penalty", "DimacsError"}
"""Classes whose methods users write, or have no reason to call."""

INTERNAL_METHODS = {
    "core_on",
    "edge_arrays",
    "part_graphs",
    "problem",
    "core_penalty",
    "core_penalty_on",
    "entry_groups",
    "labelled",
    "point",
    "with_zero",
    "reordered",
    "core_between",
    "sublevel",
    "least_values",
    "with_sparsity",
    "deviance",
    "units",
    "in_units",
}
"""Methods by which the rest of the library uses terms, penalties and problems."""


class Call(NamedTuple):
    """A callable and valid arguments for it."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]


def graph() -> Graph:
    """Return a graph with two cycles."""
    return Graph(N, EDGES, WEIGHTS)


def problem() -> Problem:
    """Return a problem on it."""
    return Problem(graph(), SquaredLoss(SIGNAL))


def network() -> graphtv.FlowNetwork:
    """Return a network of four vertices."""
    return graphtv.FlowNetwork(4, ARCS, np.array([3, 2, 1, 2, 4]), 0, 3)


def _squares() -> list[Any]:
    from shapely import box

    return [box(x, y, x + 1, y + 1) for x in range(2) for y in range(2)]


def _image_mask() -> Any:
    mask = np.ones(IMAGE.shape, dtype=bool)
    mask[0, :2] = False
    return mask


def _scribbles() -> Any:
    marks = np.zeros(IMAGE.shape, dtype=np.int64)
    marks[0, 0], marks[3, 4] = 1, 2
    return marks


def _fused(**more: Any) -> dict[str, Any]:
    return {
        "graph": graph(), "signal": SIGNAL, "vertex_weights": np.ones(N), "sparsity": 0.1,
        "loss": "huber", "delta": 1.5, **more,
    }  # fmt: skip


def _dask_array(values: np.ndarray) -> Any:
    import dask.array

    return dask.array.from_array(values, chunks=-1)


SPECIMENS: dict[str, Callable[[], dict[str, Any]]] = {
    "PDHG": lambda: {
        "scheme": "accelerated", "gamma": 1.0, "primal_step": 1.0, "dual_step": 1.0,
        "primal_weight": 1.0, "alpha": 1.0,
    },
    "AbsoluteLoss": lambda: {"signal": SIGNAL, "weights": np.ones(N)},
    "SquaredLoss": lambda: {"signal": SIGNAL, "weights": np.ones(N)},
    "HuberLoss": lambda: {"signal": SIGNAL, "delta": 1.0, "weights": np.ones(N)},
    "LogisticLoss": lambda: {"labels": np.array([1, -1, 0, 1, 0, -1]), "weights": np.ones(N)},
    "QuantileLoss": lambda: {"signal": SIGNAL, "tau": 0.3, "weights": np.ones(N)},
    "PoissonLoss": lambda: {"counts": SIGNAL, "weights": np.ones(N)},
    "LinearBox": lambda: {"cost": SIGNAL, "lower": np.zeros(N), "upper": np.ones(N)},
    "EntropicSimplex": lambda: {"cost": np.outer(SIGNAL, [1.0, -1.0]), "epsilon": 0.5},
    "HuberTV": lambda: {"delta": 0.1},
    "CoupledTV": lambda: {"delta": 0.1},
    "IsotropicTV": lambda: {"coupled": True, "delta": 0.1},
    "TotalVariation": dict,
    "FlowNetwork": lambda: {
        "n_vertices": 4, "arcs": ARCS, "capacities": np.array([3, 2, 1, 2, 4]), "source": 0,
        "sink": 3, "names": list("sabt"),
    },
    "FlowNetwork.from_igraph": lambda: {
        "G": graph().to_igraph(), "source": 0, "sink": 3, "capacity": "weight"
    },
    "FlowNetwork.from_networkx": lambda: {
        "G": graph().to_networkx(), "source": 0, "sink": 3, "capacity": "weight"
    },
    "FlowNetwork.from_sparse": lambda: {
        "matrix": graph().to_sparse(), "source": "a", "sink": "d", "names": list("abcdef")
    },
    "FlowNetwork.cut_path": dict,
    "FlowNetwork.min_cut": dict,
    "FlowNetwork.rof": dict,
    "FlowNetwork.cut_value": lambda: {"source_side": np.array([True, True, False, False])},
    "ForestPartition.from_labels": lambda: {
        "graph": graph(), "labels": np.array([0, 0, 0, 0, 0, 1, 1])
    },
    "ForestPartition.draw": lambda: {"ax": None, "positions": np.random.rand(N, 2)},  # noqa: NPY002
    "FusedLasso": lambda: {
        "lam": 0.5, "graph": None, "n_neighbors": 3, "bandwidth": 1.0, "standardize": False,
        "sparsity": 0.0, "loss": "huber", "delta": 1.0, "n_lambdas": 5, "cv": 2,
        "noise_variance": 1.0, "random_state": 0, "tol": 1e-6, "solve_options": {"n_threads": 1},
        "verbose": False,
    },
    "FusedLasso.fit": lambda: {"X": POINTS, "y": np.arange(8.0), "sample_weight": np.ones(8)},
    "FusedLasso.predict": lambda: {"X": POINTS},
    **{
        f"{_name}{_method}": _arguments
        for _name in ("FusedLinearRegression", "FusedLogisticRegression")
        for _method, _arguments in {
            "": lambda: {
                "graph": [(0, 1)], "lam": 0.5, "sparsity": 0.1, "fit_intercept": True,
                "n_lambdas": 3, "ratio": 0.1, "cv": 2, "tol": 1e-3,
                "solve_options": {"n_threads": 1}, "verbose": False,
            },
            ".fit": lambda: {"X": POINTS, "y": np.arange(8.0), "sample_weight": np.ones(8)},
            ".from_mask": lambda: {
                "mask": np.ones((1, 2), dtype=bool), "lam": 0.5, "spacing": 1.0
            },
            ".predict": lambda: {"X": POINTS},
        }.items()
    },
    "FusedLogisticRegression.decision_function": lambda: {"X": POINTS},
    "FusedLogisticRegression.predict_proba": lambda: {"X": POINTS},
    "PartitionedGraph": lambda: {
        "graph": graph(), "parts": 2, "method": "auto", "points": np.random.rand(N, 2)  # noqa: NPY002
    },
    "PartitionedGraph.from_dask": lambda: {
        "sizes": [3, 3], "edges": _dask_array(EDGES), "weights": _dask_array(WEIGHTS)
    },
    "PartitionedGraph.merged": lambda: {"n_channels": 1},
    "PartitionedGraph.neighbours": lambda: {"part": 0},
    "PartitionedGraph.vertex_rows": lambda: {},
    "FusedLassoPath.best": lambda: {"criterion": "bic"},
    "FusedLassoPath.best_index": lambda: {"criterion": "bic"},
    "FusedLassoPath.best_lambda": lambda: {"criterion": "bic"},
    "FusedLassoPath.end_of_path": lambda: {"criterion": "bic"},
    "ConvexClustering": lambda: {
        "lam": "auto", "n_clusters": 2, "graph": None, "n_neighbors": 3, "bandwidth": 0.5,
        "tol": 1e-5, "solve_options": {"n_threads": 1},
    },
    "ConvexClustering.fit": lambda: {"X": POINTS, "y": None},
    "ConvexClustering.fit_predict": lambda: {"X": POINTS, "y": None},
    "ConvexClustering.predict": lambda: {"X": POINTS},
    "ConvexClusteringPath.best": dict,
    "ConvexClusteringPath.best_index": dict,
    "ConvexClusteringPath.best_lambda": dict,
    "RegressionPath.best_index": dict,
    "RegressionPath.best_lambda": dict,
    "ConvexClusteringPath.linkage": dict,
    "TVClassifier": lambda: {
        "affinity": "knn", "n_neighbors": 3, "bandwidth": 0.3, "smoothing": 0.3, "epsilon": 0.01,
        "label_cost": 1.0, "symmetrize": "mean", "tol": 1e-3, "max_iter": 1000, "verbose": False,
        "solve_options": {"n_threads": 1},
    },
    "TVClassifier.fit": lambda: {"X": POINTS, "y": LABELS},
    "TVClassifier.fit_predict": lambda: {"X": POINTS, "y": LABELS},
    "TVClassifier.predict": lambda: {"X": POINTS},
    "TVClassifier.predict_proba": lambda: {"X": POINTS},
    "Graph": lambda: {
        "n_vertices": N, "edges": EDGES, "weights": WEIGHTS, "names": list("abcdef")
    },
    "Graph.from_geometries": lambda: {"geometries": _squares(), "rule": "rook"},
    "Graph.from_igraph": lambda: {"G": graph().to_igraph(), "weight": "weight"},
    "Graph.from_networkx": lambda: {"G": graph().to_networkx(), "weight": "weight"},
    "Graph.from_sparse": lambda: {
        "matrix": graph().to_sparse(), "symmetrize": None, "names": list("abcdef")
    },
    "Graph.gradient": dict,
    "Graph.to_igraph": lambda: {"weight": "weight"},
    "Graph.to_networkx": lambda: {"weight": "weight"},
    "Graph.to_sparse": dict,
    "Graph.vertex": lambda: {"name": "b"},
    "Problem": lambda: {
        "graph": graph(), "data": SquaredLoss(SIGNAL), "penalty": graphtv.TotalVariation(),
        "operator": None, "lower": None, "upper": None, "sparsity": 0.0,
    },
    "Problem.primal": lambda: {"u": SIGNAL},
    "Problem.dual": lambda: {"p": np.zeros(M), "q": None},
    "Problem.gap": lambda: {"u": SIGNAL, "p": np.zeros(M), "q": None},
    "Problem.relative_gap": lambda: {"u": SIGNAL, "p": np.zeros(M), "q": None},
    "CutPath.cut": lambda: {"theta": 0.5},
    "CutPath.level": lambda: {"theta": 0.5},
    "CutPath.source_side": lambda: {"theta": 0.5},
    "CutPath.value": lambda: {"theta": 0.5},
    "convex_clustering": lambda: {
        "X": POINTS, "graph": None, "lam": 1.0, "n_clusters": None, "n_neighbors": 3,
        "bandwidth": 0.5,
    },
    "convex_clustering_path": lambda: {
        "X": POINTS, "graph": None, "lambdas": None, "n_lambdas": 3, "ratio": 0.1,
        "n_neighbors": 3, "bandwidth": 0.5,
    },
    "condition_number": lambda: {
        "graph": graph(), "preconditioner": "nested", "alpha": 1.0, "method": "auto"
    },
    "cut_path": lambda: {
        "graph": graph(), "source_capacities": SIGNAL, "sink_capacities": SIGNAL[::-1].copy()
    },
    "min_cut": lambda: {
        "graph": graph(), "source_capacities": SIGNAL, "sink_capacities": SIGNAL[::-1].copy()
    },
    "decompose": lambda: {
        "graph": graph(), "method": "linear", "spanning": "maximum_weight", "order": "weight",
        "rng": 0,
    },
    "denoise_tv": lambda: {
        "image": IMAGE, "weight": 0.1, "mask": _image_mask(), "spacing": (1.0, 2.0),
        "channel_axis": None, "connectivity": 1, "loss": "squared",
        "penalty": graphtv.TotalVariation(), "isotropic": False, "coupled": False,
        "return_result": False,
    },
    "deblur_tv": lambda: {
        "image": IMAGE, "kernel": np.full((3, 3), 1 / 9), "weight": 0.1, "boundary": "reflect",
        "channel_axis": None, "loss": "squared", "isotropic": False, "lower": 0.0, "upper": 1.0,
        "return_result": False,
    },
    "reconstruct_tv": lambda: {
        "data": IMAGE.ravel(), "operator": np.eye(IMAGE.size), "shape": IMAGE.shape,
        "weight": 0.1, "loss": "squared", "isotropic": False, "lower": 0.0, "upper": 1.0,
        "sparsity": 0.01, "spacing": (1.0, 2.0), "connectivity": 1, "return_result": False,
    },
    "estimate_noise": lambda: {
        "data": IMAGE, "graph": None, "mask": _image_mask(), "channel_axis": None
    },
    "suggest_weight": lambda: {
        "data": IMAGE, "graph": None, "sigma": 0.1, "rule": "risk", "mask": _image_mask(),
        "spacing": (1.0, 2.0), "channel_axis": None, "connectivity": 1, "tol": 1e-6,
        "time_limit": 5.0, "verbose": False, "n_threads": 1, "stop": None,
    },
    "fused_lasso": lambda: _fused(lam=0.5, coupled=False),
    "fused_lasso_path": lambda: _fused(
        lambdas=np.array([1.0, 0.1]), n_lambdas=3, ratio=0.1, noise_variance=1.0, cv=2,
        rng=0, verbose=False,
    ),
    "grid_graph": lambda: {
        "shape": (3, 4), "weights": 0.5, "connectivity": 2, "spacing": (1.0, 2.0)
    },
    "knn_graph": lambda: {"points": POINTS, "n_neighbors": 3, "bandwidth": 1.0},
    "read_dimacs": lambda: {"path": io.StringIO("p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 4\n")},
    "write_dimacs": lambda: {"network": network(), "path": io.StringIO(), "comment": "text"},
    "recognize_grid": lambda: {"graph": grid_graph((3, 4))},
    "segment": lambda: {
        "graph": graph(), "cost": np.outer(SIGNAL, [1.0, -1.0]), "epsilon": 0.5, "coupled": True
    },
    "segment_image": lambda: {
        "image": IMAGE, "scribbles": _scribbles(), "xi": 0.1, "weight": 0.15, "sigma_color": 0.25,
        "spread": 3.0, "epsilon": 0.25, "connectivity": 1, "coupled": True,
        "hold_scribbles": True, "return_result": False, "tol": 1e-3, "warm_start": None,
    },
    "solve": lambda: {
        "problem": problem(), "preconditioner": "nested", "method": "auto", "tol": 1e-6,
        "max_iterations": 1000, "time_limit": 5.0, "warm_start": (SIGNAL, np.zeros(M)),
        "callback": None, "stop": None, "verbose": False, "n_threads": 1,
    },
    "solution_vjp": lambda: {
        "problem": problem(), "result": a_solution(), "cotangent": np.ones(N)
    },
    "tv_chain": lambda: {"signal": SIGNAL, "weights": np.ones(N - 1), "huber": 0.1, "n_threads": 1},
    "tv_forest": lambda: {
        "graph": gallery.random_tree(N, 0, 0.5), "signal": SIGNAL, "return_dual": True,
        "huber": 0.1, "n_threads": 1,
    },
    "datasets.us_counties": dict,
    "gallery.broom_graph": lambda: {"handle": 3, "bristles": 3, "weights": 0.5},
    "gallery.caterpillar_graph": lambda: {"spine": 3, "legs": 2, "weights": 0.5},
    "gallery.delaunay_graph": lambda: {"n_vertices": 20, "n_edges": 30, "rng": 0},
    "gallery.erdos_renyi_graph": lambda: {
        "n_vertices": 10, "n_edges": 12, "rng": 0, "weights": 0.5
    },
    "gallery.genrmf": lambda: {"a": 2, "b": 2, "c1": 1, "c2": 10, "rng": 0},
    "gallery.path_graph": lambda: {"n_vertices": 5, "weights": np.ones(4)},
    "gallery.piecewise_constant_image": lambda: {
        "shape": (6, 6), "rng": 0, "noise": 0.1, "n_regions": 3
    },
    "gallery.random_tree": lambda: {"n_vertices": 5, "rng": 0, "weights": np.ones(4)},
    "gallery.star_graph": lambda: {"n_vertices": 5, "weights": np.ones(4)},
    "gallery.three_moons": lambda: {"n_per_moon": 5, "noise": 0.1, "dimension": 3, "rng": 0},
    "gallery.washington_rlg": lambda: {"rows": 3, "columns": 3, "capacity": 10, "rng": 0},
}  # fmt: skip

TERMS = (
    "AbsoluteLoss",
    "QuantileLoss",
    "SquaredLoss",
    "HuberLoss",
    "LogisticLoss",
    "PoissonLoss",
    "LinearBox",
)
for _name in (*TERMS, "EntropicSimplex"):
    _point = np.full((N, 2), 0.5) if _name == "EntropicSimplex" else np.full(N, 0.5)
    SPECIMENS |= {
        f"{_name}.value": lambda x=_point: {"u": x},  # type: ignore[misc]
        f"{_name}.conjugate": lambda x=_point: {"s": -0.1 * x},  # type: ignore[misc]
        f"{_name}.prox": lambda x=_point: {"v": x, "step": np.full(N, 0.5)},  # type: ignore[misc]
    }
    if _name.endswith("Loss"):
        SPECIMENS |= {
            f"{_name}.derivative": lambda x=_point: {"u": x},  # type: ignore[misc]
            f"{_name}.second_derivative": lambda x=_point: {"u": x},  # type: ignore[misc]
            f"{_name}.mixed_derivative": lambda x=_point: {"u": x},  # type: ignore[misc]
            f"{_name}.with_weights": lambda: {"weights": np.full(N, 0.5)},
        }
for _name in ("TotalVariation", "HuberTV", "CoupledTV"):
    SPECIMENS |= {
        f"{_name}.value": lambda: {"x": np.full(M, 0.5)},
        f"{_name}.conjugate": lambda: {"p": np.full(M, 0.5)},
        f"{_name}.prox_conjugate": lambda: {"v": np.full(M, 0.5), "step": np.full(M, 0.5)},
    }


def _owner(name: str) -> Any:
    """Return an object whose methods are called."""
    made: dict[str, Callable[[], Any]] = {
        "CutPath": lambda: network().cut_path(),
        "ConvexClustering": lambda: graphtv.ConvexClustering(2.0, n_neighbors=3).fit(POINTS),
        "ConvexClusteringPath": lambda: graphtv.convex_clustering_path(POINTS, n_lambdas=3),
        "RegressionPath": lambda: (
            graphtv.FusedLinearRegression(n_lambdas=3, cv=2).fit(POINTS, SIGNAL_OF_POINTS).path_
        ),
        "FusedLassoPath": lambda: graphtv.fused_lasso_path(graph(), SIGNAL, n_lambdas=3),
        "ForestPartition": lambda: graphtv.decompose(graph()),
        "FusedLasso": lambda: graphtv.FusedLasso(0.5, n_neighbors=3).fit(POINTS, np.arange(8.0)),
        "FusedLinearRegression": lambda: graphtv.FusedLinearRegression(lam=0.5).fit(
            POINTS, np.arange(8.0)
        ),
        "FusedLogisticRegression": lambda: graphtv.FusedLogisticRegression(lam=0.5, tol=1e-2).fit(
            POINTS, LABELS
        ),
        "TVClassifier": lambda: graphtv.TVClassifier(n_neighbors=3).fit(POINTS, LABELS),
    }
    return made[name]() if name in made else getattr(graphtv, name)(**SPECIMENS[name]())


def _fitted(name: str) -> Callable[..., Any]:
    """Return a function that creates and fits an estimator, since `fit` validates parameters."""
    y = np.arange(8.0) if name in ("FusedLasso", "FusedLinearRegression") else LABELS
    return lambda **arguments: getattr(graphtv, name)(**arguments).fit(POINTS, y)


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield every public callable with its dotted name."""
    for name in graphtv.__all__:
        value = getattr(graphtv, name)
        if isinstance(value, ModuleType):
            for inner in value.__all__:
                yield f"{name}.{inner}", getattr(value, inner)
            continue
        yield name, value
        if inspect.isclass(value):
            for method in vars(value):
                is_ours = not method.startswith("_") and not method.endswith("_request")
                if is_ours and callable(getattr(value, method)):
                    yield f"{name}.{method}", getattr(value, method)
            for base in value.__mro__[1:]:
                if base.__module__.startswith("graphtv."):
                    for method, function in vars(base).items():
                        if not method.startswith("_") and inspect.isfunction(function):
                            yield f"{name}.{method}", getattr(value, method)


def is_made_by_the_library(name: str) -> bool:
    """Whether users have no reason to call this."""
    head, _, method = name.partition(".")
    return name in MADE_BY_THE_LIBRARY or head in PROTOCOLS or method in INTERNAL_METHODS


def targets() -> list[tuple[str, str]]:
    """Return every public callable and argument, sorted; ("name", "") if it has no argument."""
    found: set[tuple[str, str]] = set()
    for name, value in public_names():
        if is_made_by_the_library(name):
            continue
        parameters = [
            key
            for key, p in inspect.signature(value).parameters.items()
            if key != "self" and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        ]
        found |= {(name, key) for key in parameters} or {(name, "")}
    return sorted(found)


def call(name: str) -> Call:
    """Return a valid call of a public name."""
    if name not in SPECIMENS:
        raise AssertionError(f"graphtv.{name} is public and has no specimen in specimens.py")
    arguments = SPECIMENS[name]()
    head, _, method = name.partition(".")
    value = getattr(graphtv, head)
    if isinstance(value, ModuleType):
        return Call(name, getattr(value, method), arguments)
    if method:
        is_bound = inspect.ismethod(getattr(value, method))  # a class method
        owner = value if is_bound else _owner(head)
        return Call(name, getattr(owner, method), arguments)
    if head in ESTIMATORS:
        return Call(name, _fitted(head), arguments)
    return Call(name, value, arguments)


def a_solution() -> Any:
    """Return a result, for the functions that take one."""
    return solve(problem())
