"""With the identity as operator, both kinds of objective agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv import HuberLoss, HuberTV, Problem, SquaredLoss, TotalVariation, grid_graph, solve
from graphtv.terms._arrays import to_core


@pytest.mark.parametrize("make", [SquaredLoss, HuberLoss])
@pytest.mark.parametrize("penalty", [TotalVariation(), HuberTV(0.3)], ids=str)
@given(seed=st.integers(0, 10**6))
def test_the_identity_changes_nothing(make, penalty, seed):
    rng = np.random.default_rng(seed)
    graph, data = grid_graph((3, 4), 0.7), make(rng.normal(size=(12, 2)))
    plain = Problem(graph, data, penalty)
    composite = Problem(graph, data, penalty, np.eye(12))
    u, p = rng.normal(size=(12, 2)), rng.uniform(-1, 1, (graph.n_edges, 2))
    assert composite.primal(u) == pytest.approx(plain.primal(u), rel=1e-12)
    q = -(graph.gradient().T @ p)  # with this q, the slope -Kᵀp - Aᵀq vanishes
    proof = composite.objective.prove(to_core(u), np.concatenate([to_core(p), to_core(q)]))
    slack = proof.rounding + proof.gap_rounding
    assert abs(proof.gap - (proof.primal - proof.dual)) <= slack + 1e-12 * proof.primal
    least = solve(plain, tol=1e-9)
    assert proof.dual <= least.primal + slack
    assert least.dual <= proof.primal + slack


def test_points_outside_of_the_bounds_prove_nothing():
    problem = Problem(grid_graph((3,)), SquaredLoss(np.zeros(3)), lower=0.0)
    dual = np.zeros(problem.dual_size)
    assert problem.objective.primal(np.array([1.0, -1.0, 0.0])) == np.inf
    assert problem.objective.prove(np.array([1.0, -1.0, 0.0]), dual).gap == np.inf
    p, q = problem.objective.split(dual)
    assert (len(p), len(q)) == (2, 3)
