"""Laplacians of grids by cosine transforms."""

import numpy as np
import pytest

import graphtv
from graphtv.decomposition.cosine_transform import cosine_solver


@pytest.mark.parametrize("shape", [(7,), (5, 6), (3, 1, 4), (3, 4, 5)])
def test_solves_the_equation_of_the_laplacian(shape):
    weights = [0.5, 2.0, 0.25][: len(shape)]
    graph = graphtv.grid_graph(shape, weights)
    b = np.random.default_rng(0).standard_normal(graph.n_vertices)
    b -= b.mean()
    solve = cosine_solver(graph)
    K = graph.gradient()
    np.testing.assert_allclose(K.T @ (K @ solve(b)), b, atol=1e-13)


@pytest.mark.parametrize(
    "graph",
    [
        graphtv.grid_graph((3, 4), [np.arange(1.0, 9.0).reshape(2, 4), 1.0]),
        graphtv.grid_graph((2, 5)),
        graphtv.Graph(4, [(0, 1), (1, 2), (2, 0)]),
        graphtv.Graph(3, np.empty((0, 2), dtype=int)),
    ],
    ids=["weights", "short axis", "triangle", "no edges"],
)
def test_other_graphs_have_none(graph):
    assert cosine_solver(graph) is None
