"""Scaling a problem by powers of two changes no bit of the answer (docs/reliability.md)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import (
    PDHG,
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
    TotalVariation,
    grid_graph,
    solve,
)

WITHOUT_UNIT = ("logistic", "poisson", "simplex")
"""Terms whose u cannot be scaled."""

PENALTIES = ("tv", "huber", "coupled", "coupled huber")

KINDS = ("squared", "huber", "absolute", "box", *WITHOUT_UNIT)

METHODS = (
    ("auto", "auto"),
    ("descent", "auto"),
    ("descent", "nested"),
    ("exact", "auto"),
    ("pdhg", "auto"),
    ("pdhg", "none"),
    ("pdhg", "diagonal"),
    ("pdhg", "linear"),
    ("pdhg", "nested"),
)


def edges_of(shape, rng):
    """Return the number of vertices and the edges: a path, a random graph with lone vertices."""
    if shape == "path":
        return 14, np.stack([np.arange(13), np.arange(1, 14)], axis=1)
    if shape == "random":
        return 16, rng.integers(0, 13, (24, 2))
    index = np.arange(3 * 16).reshape(3, 16)
    across = np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], axis=1)
    down = np.stack([index[:-1].ravel(), index[1:].ravel()], axis=1)
    return 48, np.concatenate([across, down])


def data_of(kind, n, n_channels, is_weighted, rng, a, b):
    """Return a data term in other units: of u, by 2^a, and of the objective, by 2^b."""
    f = rng.normal(size=(n, n_channels))
    c = rng.uniform(0.5, 2.0, n) if is_weighted else np.array(1.3)
    if is_weighted and kind != "logistic":
        c *= rng.random(n) > 0.1
    match kind:
        case "squared":
            return SquaredLoss(np.ldexp(f, a), np.ldexp(c, b - 2 * a))
        case "huber":
            return HuberLoss(np.ldexp(f, a), float(np.ldexp(0.3, a)), np.ldexp(c, b - 2 * a))
        case "absolute":
            return AbsoluteLoss(np.ldexp(f, a), np.ldexp(c, b - a))
        case "box":
            return LinearBox(np.ldexp(f, b - a), 0.0, float(np.ldexp(1.0, a)))
        case "logistic":
            labels = np.where(np.arange(n) % 2 == 1, 1.0, -1.0)
            labels = labels * (np.arange(n) < 13) if n == 16 else labels  # not the lone vertices
            return LogisticLoss(np.stack([labels] * n_channels, axis=1), np.ldexp(c, b))
        case "poisson":
            return PoissonLoss(rng.poisson(4.0, (n, n_channels)), np.ldexp(c, b))
    cost = rng.normal(size=(n, n_channels + 1))
    return EntropicSimplex(np.ldexp(cost, b), float(np.ldexp(0.5, b)))


def scaled(kind, penalty, shape, seed, n_channels, is_weighted, a, b):
    """Return a problem in other units."""
    rng = np.random.default_rng(seed)
    n, edges = edges_of(shape, rng)
    if shape == "random" and kind == "logistic":  # every component needs both labels
        edges = np.concatenate([edges, edges_of("path", rng)[1][:12]])
    weights = np.ldexp(rng.uniform(0.1, 1.0, len(edges)), b - a)
    data = data_of(kind, n, n_channels, is_weighted, rng, a, b)
    return Problem(Graph(n, edges, weights), data, penalty_of(penalty, b))


def penalty_of(kind, b):
    """Return a penalty in another unit of the objective."""
    delta = float(np.ldexp(0.1, b))
    return {
        "tv": TotalVariation(),
        "huber": HuberTV(delta),
        "coupled": CoupledTV(),
        "coupled huber": CoupledTV(delta),
    }[kind]


def check_bits(method, preconditioner, tol, a, b, kind, *others):
    """Compare a problem with the same one in other units."""
    a = 0 if kind in WITHOUT_UNIT else a
    if kind == "box" and tol == 0.0 and b > a:
        a, b = b, a  # no integers: of a cut in integers, tol=0 asks for more
    options = {"preconditioner": preconditioner, "tol": tol, "max_iterations": 300, "n_threads": 1}
    try:
        one = solve(scaled(kind, *others, 0, 0), method=method, **options)
    except ValueError:
        # Neither do these methods solve every problem, nor do forests take every penalty.
        assert method in ("descent", "exact") or preconditioner in ("linear", "nested")
        return
    two = solve(scaled(kind, *others, a, b), method=method, **options)
    np.testing.assert_array_equal(np.ldexp(one.u, a), two.u)
    np.testing.assert_array_equal(one.p, two.p)
    for name in ("status", "iterations", "sweeps", "relative_gap", "method", "preconditioner"):
        assert getattr(one, name) == getattr(two, name), name
    for name in ("primal", "dual", "gap"):
        assert np.ldexp(getattr(one, name), b) == getattr(two, name), name
    if one.error_bound is None:
        assert two.error_bound is None
    else:
        assert np.ldexp(one.error_bound, a) == two.error_bound
    assert [record.relative_gap for record in one.history] == [
        record.relative_gap for record in two.history
    ]


@pytest.mark.parametrize("tol", [1e-6, 0.0])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(
    method=st.sampled_from(METHODS),
    shape=st.sampled_from(["path", "random", "grid"]),
    seed=st.integers(0, 99),
    n_channels=st.integers(1, 2),
    is_weighted=st.booleans(),
    a=st.integers(-300, 300),
    b=st.integers(-300, 300),
)
def test_powers_of_two_change_no_bit(
    kind, penalty, tol, method, shape, seed, n_channels, is_weighted, a, b
):
    check_bits(*method, tol, a, b, kind, penalty, shape, seed, n_channels, is_weighted)


@pytest.mark.parametrize("method", METHODS, ids="-".join)
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", KINDS)
def test_odd_powers_from_small_to_large(kind, penalty, method):
    """Odd powers are those whose roots are no powers of two."""
    for k in range(-299, 301, 74):
        for a, b in ((k, 0), (0, k), (k, -k)):
            check_bits(*method, 1e-6, a, b, kind, penalty, "random", 1, 2, True)


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("k", [-201, -33, 7, 63])
def test_isotropic_variation(delta, k):
    f = np.random.default_rng(3).normal(size=(6, 7))
    one, two = (
        solve(
            Problem(
                grid_graph(f.shape, float(np.ldexp(0.3, i))),
                SquaredLoss(np.ldexp(f, i)),
                IsotropicTV(delta=float(np.ldexp(delta, 2 * i))),
            )
        )
        for i in (0, k)
    )
    np.testing.assert_array_equal(np.ldexp(one.u, k), two.u)
    assert (one.iterations, one.relative_gap) == (two.iterations, two.relative_gap)


def test_the_start_of_pdhg_has_no_unit():
    """An image between 0 and 255 took other steps than one between 0 and 1."""
    rng = np.random.default_rng(0)
    image = rng.random(64)
    edges = edges_of("path", rng)[1]
    runs = []
    for white in (1.0, 256.0):
        graph = Graph(64, edges, 0.3 * white)
        problem = Problem(graph, SquaredLoss(white * image), HuberTV(0.1 * white**2))
        runs.append(solve(problem, method="pdhg", preconditioner="none").iterations)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("scheme", ["fixed", "accelerated", "balanced"])
@pytest.mark.parametrize(("preconditioner", "degrees"), [("none", (0, 0)), ("diagonal", (1, 1))])
@pytest.mark.parametrize(("a", "b"), [(100, 0), (0, 100), (-150, 70), (7, 3)])
def test_given_steps_have_the_units_of_the_user(scheme, preconditioner, degrees, a, b):
    """Solvers work in other units if data or weights are very large or small."""
    check_steps(scheme, preconditioner, *degrees, a, b)


@pytest.mark.parametrize(("a", "b"), [(100, 0), (0, 100), (-150, 70), (7, 3)])
def test_given_steps_of_forests_have_the_units_of_the_user(a, b):
    check_steps("fixed", "linear", 0, 2, a, b)


def check_steps(scheme, preconditioner, degree_of_S, degree_of_T, a, b):
    runs, sizes = [], []
    for i, j in ((0, 0), (a, b)):
        s, t = (degree_of_S * (j - i) + 2 * i - j), (degree_of_T * (j - i) - j)
        steps = {"primal_step": np.ldexp(3.0, -s), "dual_step": np.ldexp(8.0, -t)}
        if scheme == "balanced":
            steps = {"primal_weight": np.ldexp(3.0, -(s - t) // 2)}
        options = PDHG(scheme, gamma=np.ldexp(0.25, j - 2 * i), **steps)
        runs.append(
            solve(
                scaled("squared", "tv", "random", 1, 1, True, i, j),
                method=options,
                preconditioner=preconditioner,
                max_iterations=40,
                callback=lambda info, s=s: sizes.append(np.ldexp(info.step, -s)),
            )
        )
    one, two = runs
    assert one.iterations == two.iterations > 1
    np.testing.assert_array_equal(np.ldexp(one.u, a), two.u)
    np.testing.assert_array_equal(one.p, two.p)
    assert sizes[: len(sizes) // 2] == sizes[len(sizes) // 2 :]
