"""Flows of certificates: exact, and nearly as small as the dual norm permits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import graphtv
from graphtv.graph.components import connected_components
from graphtv.solver.routing import Routing
from graphtv.solver.tuning import Tuning
from graphtv.terms.penalty import core_penalty_of


def make(graph, penalty=None, n_channels=1, **tuning):
    shape = (graph.n_edges,) if n_channels == 1 else (graph.n_edges, n_channels)
    core = core_penalty_of(penalty or graphtv.TotalVariation(), graph, shape)
    return Routing(graph, connected_components(graph), core, n_channels, Tuning(**tuning))


def dual_norm(graph, g):
    """The least size of a flow, by a linear program over p and its size t."""
    m, K = graph.n_edges, graph.gradient().toarray()
    above = np.block([[np.eye(m), -np.ones((m, 1))], [-np.eye(m), -np.ones((m, 1))]])
    equal = np.hstack([K.T, np.zeros((K.shape[1], 1))])
    cost = np.append(np.zeros(m), 1.0)
    return linprog(cost, above, np.zeros(2 * m), equal, -g, (None, None)).fun


GRAPHS = {
    "grid": graphtv.grid_graph((5, 6), [0.5, 0.7]),
    "weighted grid": graphtv.grid_graph((4, 5), [np.linspace(0.5, 2.0, 15).reshape(3, 5), 0.7]),
    "two components": graphtv.Graph(7, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6), (6, 3)]),
}


@pytest.mark.parametrize("name", GRAPHS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_flows_are_exact_and_small(name, seed):
    graph, rng = GRAPHS[name], np.random.default_rng(seed)
    p = np.clip(1.5 * rng.standard_normal(graph.n_edges), -1.0, 1.0)
    g = -(graph.gradient().T @ p) + 0.1 * rng.standard_normal(graph.n_vertices)
    component = connected_components(graph)[1]
    g -= (np.bincount(component, g) / np.bincount(component))[component]
    plain, routed = (make(graph, routing_steps=steps)(p, g) for steps in (0, 20))
    np.testing.assert_allclose(graph.gradient().T @ routed, -g, atol=1e-12)
    least = max(1.0, dual_norm(graph, g))
    sizes = [max(1.0, float(np.abs(flow).max())) for flow in (plain, routed)]
    assert least - 1e-9 <= sizes[1] <= sizes[0] + 1e-12
    # At least half of the excess that could be saved is saved.
    assert sizes[1] - least <= 0.5 * (sizes[0] - least) + 0.25 * (sizes[0] - 1.0) + 1e-9


def test_groups_and_channels():
    graph, rng = GRAPHS["grid"], np.random.default_rng(0)
    for penalty in (graphtv.CoupledTV(), graphtv.IsotropicTV()):
        p = 0.5 * rng.standard_normal(2 * graph.n_edges)
        routing = make(graph, penalty, n_channels=2)
        g = 1.3 * rng.standard_normal((2, graph.n_vertices))
        g = (g - g.mean(axis=1, keepdims=True)).ravel()
        flow = routing(p, g)
        np.testing.assert_allclose(routing.along(flow), -g, atol=1e-12)
        assert routing.size(flow) <= routing.size(make(graph, penalty, 2, routing_steps=0)(p, g))


@pytest.mark.parametrize("ratio", [1e-9, 1e-20, 1e-305])
def test_very_uneven_weights(ratio):
    # The squares of these weights do not fit into one factorisation.
    weights = np.full(12, 0.1)
    weights[[2, 5, 6]] *= ratio
    edges = np.column_stack([np.arange(12), np.roll(np.arange(12), -1)])
    routing = make(graphtv.Graph(12, edges, weights))
    rng = np.random.default_rng(0)
    g = rng.standard_normal(12)
    g -= g.mean()
    p = routing(np.zeros(12), g)
    np.testing.assert_allclose(routing.along(p), -g, atol=1e-9)


def test_no_edges():
    graph = graphtv.Graph(3, np.empty((0, 2), dtype=int))
    assert make(graph)(np.empty(0), np.zeros(3)).size == 0
