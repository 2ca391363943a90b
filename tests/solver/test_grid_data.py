"""Data in the shape of a grid: no ``ravel`` of the input, no ``reshape`` of the output."""

import pickle

import numpy as np
import pytest

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    IsotropicTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    grid_graph,
    solve,
)

LENGTHS = {"image": (4, 5), "volume": (2, 3, 4), "row": (1, 6), "column": (6, 1)}
TERMS = [SquaredLoss, AbsoluteLoss, HuberLoss, LogisticLoss, PoissonLoss, LinearBox]


def data_of(term, shape):
    rng = np.random.default_rng(0)
    signs = np.where(np.arange(np.prod(shape)).reshape(shape) % 5 < 2, 1.0, -1.0)
    return signs if term is LogisticLoss else rng.uniform(0.5, 2.0, shape)


@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("term", TERMS)
def test_u_has_the_shape_of_the_data(term, lengths, channels):
    data = data_of(term, (*lengths, *channels))
    graph = grid_graph(lengths, 0.3)
    rows = (graph.n_vertices, *channels)
    flat = solve(Problem(graph, term(data.reshape(rows))), tol=1e-7)
    problem = Problem(graph, term(data))
    result = solve(problem, tol=1e-7)
    assert problem.shape == result.u.shape == data.shape
    assert result.p.shape == flat.p.shape == problem.dual_shape
    np.testing.assert_array_equal(result.u.reshape(rows), flat.u)
    np.testing.assert_array_equal(result.p, flat.p)
    assert problem.primal(result.u) == problem.primal(flat.u) == flat.primal
    assert problem.gap(result.u, result.p) == flat.gap
    assert solve(problem, tol=1e-7, warm_start=result).iterations <= flat.iterations
    assert pickle.loads(pickle.dumps(problem)).shape == data.shape


@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("penalty", [HuberTV(0.05), IsotropicTV(), CoupledTV()], ids=repr)
@pytest.mark.parametrize("term", TERMS)
def test_u_has_the_shape_of_the_data_with_every_penalty(term, penalty, channels):
    data = data_of(term, (4, 5, *channels))
    graph = grid_graph((4, 5), 0.3)
    flat = solve(Problem(graph, term(data.reshape(20, *channels)), penalty), tol=1e-4)
    result = solve(Problem(graph, term(data), penalty), tol=1e-4)
    assert result.status == flat.status == "optimal"
    np.testing.assert_array_equal(result.u.reshape(20, *channels), flat.u)


@pytest.mark.parametrize("weights", [2.0, np.linspace(0.5, 1.5, 4), np.full((4, 5), 2.0)])
def test_weights_and_missing_data(weights):
    image = data_of(SquaredLoss, (4, 5))
    image[1, 2] = np.nan
    entries = np.broadcast_to(weights if np.ndim(weights) != 1 else weights[:, None], (4, 5))
    graph = grid_graph((4, 5), 0.3)
    flat = solve(Problem(graph, SquaredLoss(image.ravel(), entries.ravel())), tol=1e-9)
    u = solve(Problem(graph, SquaredLoss(image, weights)), tol=1e-9).u
    np.testing.assert_array_equal(u.ravel(), flat.u)


def test_a_term_by_itself_takes_the_shape_too():
    v = data_of(SquaredLoss, (2, 3, 4))
    loss = SquaredLoss(np.zeros((2, 3, 4)))
    assert loss.value(v) == pytest.approx(0.5 * np.sum(v**2))
    for step in (1.0, [1.0, 1.0], np.ones((2, 3, 4))):
        np.testing.assert_array_equal(loss.prox(v, step), 0.5 * v)


def test_callbacks_see_the_shape_too():
    shapes = []
    problem = Problem(grid_graph((8, 9), 0.5), SquaredLoss(data_of(SquaredLoss, (8, 9))))
    solve(problem, method="pdhg", callback=lambda info: shapes.append(info.u.shape))
    assert set(shapes) == {(8, 9)}


@pytest.mark.parametrize(
    ("graph", "term"),
    [
        (grid_graph((4, 5)), SquaredLoss(np.zeros((5, 4)))),
        (grid_graph((4, 5)), SquaredLoss(np.zeros((4, 5, 2, 2)))),
        (grid_graph((20,)), SquaredLoss(np.zeros((4, 5)))),
        (Graph(20, [[0, 1]]), SquaredLoss(np.zeros((4, 5)))),
        (Graph(4, [[0, 1]]), SquaredLoss(np.zeros((4, 5, 2)))),
        (grid_graph((4, 5)), SquaredLoss(np.zeros(4))),
    ],
)
def test_other_shapes_are_errors(graph, term):
    with pytest.raises(ValueError, match=r"^data must have \d+ vertices .* or the shape"):
        Problem(graph, term)


def test_a_row_per_vertex_stays_what_it_was():
    signals = np.random.default_rng(0).normal(size=(20, 5))
    assert solve(Problem(grid_graph((4, 5)), SquaredLoss(signals))).u.shape == (20, 5)
    with pytest.raises(ValueError, match=r"^cost must have shape \(n, C\)"):
        Problem(grid_graph((4, 5)), EntropicSimplex(np.zeros((4, 5))))
