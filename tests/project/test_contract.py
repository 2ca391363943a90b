"""The names and arguments that users and other packages rely on: a change breaks their code."""

import inspect

import numpy as np
import pytest

import graphtv
from graphtv import Graph, SquaredLoss, grid_graph

REQUIRED = inspect.Parameter.empty

# Positional arguments with their defaults; keywords may follow.
CALLS = {
    "Graph": {"n_vertices": REQUIRED, "edges": REQUIRED, "weights": 1.0},
    "grid_graph": {"shape": REQUIRED, "weights": 1.0},
    "knn_graph": {"points": REQUIRED, "n_neighbors": 10, "bandwidth": None},
    "recognize_grid": {"graph": REQUIRED},
    "decompose": {"graph": REQUIRED, "method": "auto"},
    "condition_number": {"graph": REQUIRED, "preconditioner": REQUIRED},
    "tv_chain": {"signal": REQUIRED, "weights": REQUIRED},
    "tv_forest": {"graph": REQUIRED, "signal": REQUIRED},
    "SquaredLoss": {"signal": REQUIRED, "weights": None},
    "AbsoluteLoss": {"signal": REQUIRED, "weights": None},
    "QuantileLoss": {"signal": REQUIRED, "tau": REQUIRED, "weights": None},
    "LinearBox": {"cost": REQUIRED, "lower": 0.0, "upper": 1.0},
    "EntropicSimplex": {"cost": REQUIRED, "epsilon": 1.0},
    "HuberTV": {"delta": REQUIRED},
    "IsotropicTV": {"coupled": False},
    "solve": {"problem": REQUIRED},
    "fused_lasso": {"graph": REQUIRED, "signal": REQUIRED},
    "denoise_tv": {"image": REQUIRED, "weight": 0.1},
    "reconstruct_tv": {
        "data": REQUIRED,
        "operator": REQUIRED,
        "shape": REQUIRED,
        "weight": REQUIRED,
    },
    "deblur_tv": {"image": REQUIRED, "kernel": REQUIRED, "weight": REQUIRED},
    "segment": {"graph": REQUIRED, "cost": REQUIRED},
    "segment_image": {"image": REQUIRED, "scribbles": REQUIRED},
    "min_cut": {"graph": REQUIRED, "source_capacities": REQUIRED, "sink_capacities": REQUIRED},
    "read_dimacs": {"path": REQUIRED},
}

KEYWORDS = {
    "Graph": {"names": None},
    "tv_forest": {"return_dual": False},
    "solve": {
        "preconditioner": "auto",
        "method": "auto",
        "tol": 1e-6,
        "time_limit": None,
        "warm_start": None,
        "callback": None,
        "verbose": False,
        "n_threads": None,
    },
    "Graph.from_sparse": {"symmetrize": None},
    "fused_lasso": {"vertex_weights": None},
    "denoise_tv": {
        "mask": None,
        "spacing": None,
        "channel_axis": None,
        "isotropic": False,
        "coupled": False,
        "connectivity": 1,
    },
    "segment": {"epsilon": 1.0},
    "segment_image": {"xi": 0.1},
    "TVClassifier": {"affinity": "knn"},
    "FusedLinearRegression": {"graph": None, "sparsity": 0.0, "fit_intercept": True},
    "FusedLogisticRegression": {"graph": None, "sparsity": 0.0, "fit_intercept": True},
}

NAMES = (
    "TotalVariation",
    "CoupledTV",
    "HuberLoss",
    "LogisticLoss",
    "PoissonLoss",
    "Result",
    "PartitionedGraph",
    "ConvexClustering",
    "FusedLasso",
    "write_dimacs",
    "FlowNetwork.min_cut",
    "Graph.from_networkx",
    "Graph.from_igraph",
    "Graph.from_geometries",
    "Graph.to_sparse",
    "Graph.gradient",
    "FlowNetwork.from_networkx",
    "FlowNetwork.from_sparse",
    "FlowNetwork.from_igraph",
    "Problem.primal",
    "Problem.dual",
    "Problem.gap",
)


def found(name):
    thing = graphtv
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


@pytest.mark.parametrize("name", CALLS)
def test_positional_arguments(name):
    parameters = list(inspect.signature(found(name)).parameters.values())
    expected = list(CALLS[name].items())
    assert [(p.name, p.default) for p in parameters[: len(expected)]] == expected
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters[: len(expected)])


@pytest.mark.parametrize("name", KEYWORDS)
def test_keywords(name):
    parameters = inspect.signature(found(name)).parameters
    assert {key: parameters[key].default for key in KEYWORDS[name]} == KEYWORDS[name]


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    assert callable(found(name))


def test_problem():
    parameters = inspect.signature(graphtv.Problem.__init__).parameters
    assert list(parameters)[1:5] == ["graph", "data", "penalty", "operator"]
    assert parameters["penalty"].default == graphtv.TotalVariation()
    assert parameters["operator"].default is None


def test_result():
    result = graphtv.solve(graphtv.Problem(grid_graph((2, 3)), SquaredLoss(np.arange(6.0))))
    assert result.status == "optimal"
    for name in ("primal", "dual", "gap", "relative_gap", "error_bound", "setup_time"):
        assert getattr(result, name) >= 0.0
    assert result.solve_time >= 0.0
    assert result.iterations >= 0
    assert result.operator_calls == 0
    assert result.residual_dual is None
    assert len(result.history) > 0
    assert len(result.stages) > 0
    assert np.abs(result.p).max() <= 1.0


def test_shapes_of_dual_points():
    graph, f = grid_graph((2, 3), 0.1), np.random.default_rng(0).random((6, 2))
    for penalty in (
        graphtv.TotalVariation(),
        graphtv.HuberTV(0.1),
        graphtv.CoupledTV(),
        graphtv.IsotropicTV(),
        graphtv.IsotropicTV(coupled=True),
    ):
        problem = graphtv.Problem(graph, SquaredLoss(f), penalty)
        assert graphtv.solve(problem).p.shape == (graph.n_edges, 2)


def test_with_an_operator():
    operator = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    problem = graphtv.Problem(grid_graph((3,), 0.1), SquaredLoss([1.0, 2.0]), operator=operator)
    result = graphtv.solve(problem)
    assert result.residual_dual.shape == (2,)
    assert result.operator_calls > 0
    assert problem.gap(result.u, result.p, result.residual_dual) == result.gap


def test_half_of_the_quantile_loss_is_the_absolute_loss():
    f, u = np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.5, 4.0])
    assert 2.0 * graphtv.QuantileLoss(f, 0.5).value(u) == graphtv.AbsoluteLoss(f).value(u)


def test_forests_of_a_partition():
    partition = graphtv.decompose(Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)]))
    assert partition.labels.shape == (4,)
    assert partition.n_forests == partition.labels.max() + 1
    for name in ("method", "is_linear", "is_nested", "n_spanning"):
        assert hasattr(partition, name)


@pytest.mark.parametrize("package", ["torch", "jax"])
def test_layers(package):
    pytest.importorskip(package)
    layers = getattr(graphtv, package)
    assert list(inspect.signature(layers.tv_denoise).parameters)[:3] == [
        "signal",
        "graph",
        "weights",
    ]
    assert package == "jax" or callable(layers.TVDenoise)
