"""Known changes of the problem change the solution in a known way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    AbsoluteLoss,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    Problem,
    SquaredLoss,
    TotalVariation,
    solve,
)

METHODS = ("descent", "pdhg", "exact")
TOLERANCE = 1e-10


@st.composite
def questions(draw, max_vertices=10):
    """A graph as lists of edges and weights, and a signal with ties, noise or an offset."""
    n = draw(st.integers(1, max_vertices))
    vertices = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertices, vertices), max_size=3 * n))
    edges = [(i, j) for i, j in edges if i != j]
    edges = list({(min(e), max(e)) for e in edges})
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["ties", "noise", "offset"]))
    f = rng.integers(-3, 4, n).astype(float) if kind == "ties" else rng.normal(size=n)
    f += 1e4 if kind == "offset" else 0.0
    weights = (
        rng.integers(1, 4, len(edges)) / 4 if kind == "ties" else rng.random(len(edges)) + 0.01
    )
    return n, np.array(edges, dtype=int).reshape(-1, 2), weights, f


def answer(n, edges, weights, f, method="descent", tol=TOLERANCE, c=None, penalty=None):
    problem = Problem(Graph(n, edges, weights), SquaredLoss(f, c), penalty or TotalVariation())
    result = solve(problem, method=method, tol=tol)
    assert np.abs(result.p).max(initial=0.0) <= 1
    if result.status != "optimal":  # only if rounding prevents more
        rounding = 1e-14 * np.abs(f).max() * (np.sum(weights) + np.abs(f).max() * np.max(c or 1.0))
        assert result.status == "stalled"
        assert result.gap <= rounding, result
    return result


def assert_same(one, two, u=None, size=1.0):
    """The minimisers are the same, within the two error bounds."""
    u = two.u if u is None else u
    assert np.linalg.norm(one.u - u) <= one.error_bound + size * two.error_bound + 1e-11 * (
        np.abs(u).max(initial=0.0)
    )


by_method = pytest.mark.parametrize("method", METHODS)
few = settings(max_examples=25)


@by_method
@few
@given(question=questions(), seed=st.integers(0, 2**16))
def test_relabelling_the_vertices_relabels_the_answer(method, question, seed):
    n, edges, weights, f = question
    rng = np.random.default_rng(seed)
    order, shuffle = rng.permutation(n), rng.permutation(len(edges))
    one = answer(n, edges, weights, f, method)
    there = np.empty(n)
    there[order] = f
    two = answer(n, order[edges][shuffle], weights[shuffle], there, method)
    assert_same(one, two, two.u[order])


@by_method
@few
@given(question=questions(), seed=st.integers(0, 2**16))
def test_orientation_flips_the_sign_of_the_dual_alone(method, question, seed):
    n, edges, weights, f = question
    flip = np.random.default_rng(seed).random(len(edges)) < 0.5
    flipped = np.where(flip[:, None], edges[:, ::-1], edges)
    one, two = (answer(n, e, weights, f, method) for e in (edges, flipped))
    assert_same(one, two)
    # The dual point of one, reversed, proves as much for the other.
    ours, theirs = Graph(n, edges, weights), Graph(n, flipped, weights)
    turned = one.p * np.where((ours.edges == theirs.edges).all(axis=1), 1, -1)
    assert Problem(theirs, SquaredLoss(f)).dual(turned) == pytest.approx(one.dual, abs=1e-300)


@by_method
@few
@given(question=questions(), share=st.floats(0.01, 0.99))
def test_an_edge_split_into_parallel_ones_is_the_same_edge(method, question, share):
    n, edges, weights, f = question
    one = answer(n, edges, weights, f, method)
    split = np.concatenate([share * weights, (1 - share) * weights])
    two = answer(n, np.concatenate([edges, edges[:, ::-1]]), split, f, method)
    assert_same(one, two)


@by_method
@few
@given(question=questions(), exponent=st.integers(-30, 30))
def test_scaling_signal_and_weights_scales_the_answer(method, question, exponent):
    n, edges, weights, f = question
    alpha = 2.0**exponent
    one = answer(n, edges, weights, f, method)
    two = answer(n, edges, alpha * weights, alpha * f, method)
    assert_same(one, two, two.u / alpha, 1 / alpha)
    if method == "descent":  # powers of two do not change the digits
        np.testing.assert_array_equal(two.u, alpha * one.u)
        np.testing.assert_array_equal(two.p, one.p)
        assert two.primal == alpha**2 * one.primal


@by_method
@few
@given(question=questions(), exponent=st.integers(-30, 30))
def test_scaling_the_objective_changes_nothing(method, question, exponent):
    n, edges, weights, f = question
    beta = 2.0**exponent
    one = answer(n, edges, weights, f, method)
    two = answer(n, edges, beta * weights, f, method, c=beta)
    assert_same(one, two)
    assert two.primal == pytest.approx(beta * one.primal, rel=1e-8, abs=1e-25 * beta)


@by_method
@few
@given(question=questions(), shift=st.floats(-1e3, 1e3))
def test_adding_a_constant_adds_it_to_the_answer(method, question, shift):
    n, edges, weights, f = question
    one = answer(n, edges, weights, f, method)
    two = answer(n, edges, weights, f + shift, method)
    assert_same(one, two, two.u - shift)


@by_method
@few
@given(question=questions())
def test_changing_the_sign_changes_the_sign(method, question):
    n, edges, weights, f = question
    one, two = (answer(n, edges, weights, signal, method) for signal in (f, -f))
    assert_same(one, two, -two.u)


@by_method
@few
@given(left=questions(), right=questions())
def test_a_disjoint_union_is_answered_piece_by_piece(method, left, right):
    n, m = left[0], right[0]
    edges = np.concatenate([left[1], right[1] + n])
    both = answer(
        n + m,
        edges,
        np.concatenate([left[2], right[2]]),
        np.concatenate([left[3], right[3]]),
        method,
    )
    one, two = answer(*left, method), answer(*right, method)
    bound = both.error_bound + one.error_bound + two.error_bound
    parts = np.concatenate([one.u, two.u])
    assert np.linalg.norm(both.u - parts) <= bound + 1e-11 * np.abs(parts).max()


@by_method
@few
@given(question=questions())
def test_next_to_no_weight_gives_back_the_signal(method, question):
    n, edges, weights, f = question
    result = answer(n, edges, 1e-14 * weights, f, method, tol=1e-6)
    np.testing.assert_allclose(result.u, f, atol=1e-12, rtol=1e-15)


@by_method
@few
@given(question=questions(), exponent=st.integers(2, 9))
def test_great_weights_give_the_means_of_the_components(method, question, exponent):
    n, edges, weights, f = question
    result = answer(n, edges, 10.0**exponent * (1 + weights), f, method)
    component = np.arange(n)
    for _ in range(n):
        for i, j in edges:
            component[[i, j]] = min(component[i], component[j])
    means = np.array([f[component == component[i]].mean() for i in range(n)])
    assert np.linalg.norm(result.u - means) <= result.error_bound + 1e-11 * np.abs(f).max()


@by_method
@few
@given(question=questions())
def test_the_answer_is_a_mean_and_stays_in_range(method, question):
    n, edges, weights, f = question
    result = answer(n, edges, weights, f, method)
    bound = result.error_bound + 1e-12 * np.abs(f).max()
    assert abs(result.u.mean() - f.mean()) <= bound
    assert result.u.min() >= f.min() - bound
    assert result.u.max() <= f.max() + bound


@pytest.mark.parametrize("method", ["descent", "pdhg"])
@few
@given(question=questions(), exponent=st.integers(-20, 20))
def test_huber_tv_scales_with_its_width(method, question, exponent):
    """(f, ω, δ) to (αf, ω, αδ): u to αu, since (Ku)²/δ and |Ku| scale alike; G needs 1/α."""
    n, edges, weights, f = question
    alpha = 2.0**exponent
    one = answer(n, edges, weights, f, method, penalty=HuberTV(0.3))
    two = answer(n, edges, weights, alpha * f, method, c=1 / alpha, penalty=HuberTV(0.3 * alpha))
    assert_same(one, two, two.u / alpha, 1 / alpha)


@pytest.mark.parametrize("method", ["descent", "pdhg"])
def test_huber_tv_tends_to_total_variation(method):
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 12, (30, 2))
    f, weights = rng.normal(size=12), rng.random(30)
    limit = answer(12, edges, weights, f, method)
    distances = [
        np.linalg.norm(answer(12, edges, weights, f, method, penalty=HuberTV(delta)).u - limit.u)
        for delta in (1.0, 1e-2, 1e-4, 1e-6)
    ]
    assert distances[0] > distances[-1]
    assert distances[-1] < 1e-3


@few
@given(question=questions(), exponent=st.integers(-20, 20))
def test_absolute_loss_scales_with_the_signal(question, exponent):
    n, edges, weights, f = question
    alpha = 2.0**exponent
    graph = Graph(n, edges, weights)
    one, two = (solve(Problem(graph, AbsoluteLoss(a * f)), tol=1e-8) for a in (1.0, alpha))
    assert two.primal == pytest.approx(alpha * one.primal, rel=1e-7, abs=1e-12 * alpha)


@few
@given(question=questions())
def test_a_wide_huber_loss_is_the_squared_one(question):
    n, edges, weights, f = question
    one = answer(n, edges, weights, f)
    wide = Problem(Graph(n, edges, weights), HuberLoss(f, 1e5))
    two = solve(wide, tol=TOLERANCE)
    assert two.status in ("optimal", "stalled")
    assert two.primal == pytest.approx(one.primal, rel=1e-8, abs=1e-18)


@few
@given(question=questions())
def test_a_cut_turned_round(question):
    """u to 1 - u changes the sign of the cost and adds its sum."""
    n, edges, weights, f = question
    graph = Graph(n, edges, weights)
    one, two = (solve(Problem(graph, LinearBox(sign * f)), tol=1e-9) for sign in (1.0, -1.0))
    scale = 1e-8 * (abs(one.primal) + abs(two.primal) + np.abs(f).sum())
    assert abs(one.primal - (two.primal + f.sum())) <= scale
