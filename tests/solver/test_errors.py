"""Bad arguments: a ValueError that names the argument, before any work."""

import re

import numpy as np
import pytest

from graphtv import (
    AbsoluteLoss,
    EntropicSimplex,
    Graph,
    HuberLoss,
    HuberTV,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    SquaredLoss,
    TotalVariation,
    decompose,
    gallery,
    grid_graph,
    solve,
)
from instances import make_problem

NAN, INF = float("nan"), float("inf")
SQUARED = make_problem("squared", "grid")
NOT_NUMBERS = ["1", None, [1e-3], 1j, object(), NAN, INF, -INF]


def refuse(*args):  # a callback, or anything else that must not be called
    raise AssertionError("work was done")


class Unreachable:
    """A data term that fails when it is used."""

    value = conjugate = prox = refuse


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        *(("tol", value) for value in [*NOT_NUMBERS, -1e-6]),
        *(("time_limit", value) for value in [*(v for v in NOT_NUMBERS if v is not None), -1.0]),
        *(("max_iterations", v) for v in [-1, 1.5, "10", None, True, [3], NAN, INF, 2**70]),
        *(("n_threads", v) for v in [0, -1, 1.5, "2", True, [1], NAN]),
        *(("method", v) for v in ["newton", "PDHG", "", None, 1, ["pdhg"], b"pdhg"]),
        *(("preconditioner", v) for v in ["best", "", None, 1, ["none"], np.zeros(31), b"none"]),
        *(("verbose", v) for v in [1, 0, "yes", None, [True]]),
        *(("callback", v) for v in [1, "print", [print], True]),
        *(("warm_start", v) for v in [1, "u", np.zeros(20), [np.zeros(20), np.zeros(31)], {}]),
        *(
            ("warm_start", (u, p))
            for u, p in [
                (np.zeros(19), np.zeros(31)),
                (np.zeros(20), np.zeros(30)),
                (np.zeros((20, 1)), np.zeros(31)),
                (np.full(20, NAN), np.zeros(31)),
                (np.zeros(20), np.full(31, INF)),
                (np.zeros(20), np.full(31, "a")),
                (np.zeros(20), None),
            ]
        ),
    ],
)
@pytest.mark.parametrize("method", ["auto", "descent", "pdhg", "exact"])
def test_every_argument_of_solve(method, name, bad):
    problem = Problem(SQUARED.graph, Unreachable()) if method == "pdhg" else SQUARED
    arguments = {"method": method, "callback": refuse, "max_iterations": 1, name: bad}
    if name == "warm_start" and method == "pdhg" and isinstance(bad, tuple):
        problem = SQUARED
    with pytest.raises(ValueError, match=rf"^{name} "):
        solve(problem, **arguments)


@pytest.mark.parametrize("bad", [None, 1, "problem", Problem, SQUARED.graph, SQUARED.data])
def test_the_problem_itself(bad):
    with pytest.raises(ValueError, match=r"^problem must be a Problem"):
        solve(bad)


def test_options_are_named():
    with pytest.raises(TypeError):
        solve(SQUARED, "none")
    with pytest.raises(TypeError, match="tolerance"):
        solve(SQUARED, tolerance=1e-3)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("graph", (None, SQUARED.data)),
        ("graph", (np.eye(20), SQUARED.data)),
        ("data", (SQUARED.graph, None)),
        ("data", (SQUARED.graph, np.zeros(20))),
        ("data", (SQUARED.graph, SquaredLoss)),
        ("data", (SQUARED.graph, SquaredLoss(np.zeros(19)))),
        ("data", (SQUARED.graph, EntropicSimplex(np.zeros((21, 2))))),
        ("penalty", (SQUARED.graph, SQUARED.data, None)),
        ("penalty", (SQUARED.graph, SQUARED.data, 0.5)),
        ("penalty", (SQUARED.graph, SQUARED.data, TotalVariation)),
        ("penalty", (SQUARED.graph, SQUARED.data, SQUARED.data)),
    ],
)
def test_every_argument_of_problem(name, arguments):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        Problem(*arguments)


@pytest.mark.parametrize(
    "bad", [np.zeros(19), np.zeros((20, 2)), [NAN] * 20, ["a"] * 20, None, 1.0]
)
def test_points_of_a_problem(bad):
    for call in (SQUARED.primal, lambda u: SQUARED.gap(u, np.zeros(31))):
        with pytest.raises(ValueError, match=r"^u must"):
            call(bad)
    p = bad if np.shape(bad) != (20,) else np.zeros(20)
    for call in (SQUARED.dual, lambda p: SQUARED.gap(np.zeros(20), p)):
        with pytest.raises(ValueError, match=r"^p must"):
            call(p)


ARRAYS = [[0.0, -INF], ["a", "b"], [1j, 2j], None, 3.0, [[], []]]
TERMS = {
    "signal": (SquaredLoss, AbsoluteLoss, HuberLoss),
    "labels": (LogisticLoss,),
    "counts": (PoissonLoss,),
    "cost": (LinearBox, EntropicSimplex),
}


@pytest.mark.parametrize(
    ("name", "term"), [(name, term) for name, terms in TERMS.items() for term in terms]
)
def test_the_data_of_every_term(name, term):
    for bad in ARRAYS:
        with pytest.raises(ValueError, match=rf"^{name} must"):
            term(bad)


@pytest.mark.parametrize("term", TERMS["cost"])
def test_a_cost_is_never_missing(term):
    with pytest.raises(ValueError, match=r"^cost must be finite"):
        term([[0.0, NAN]])
    with pytest.raises(ValueError, match=r"^cost must not be masked"):
        term(np.ma.masked_array([[1.0, 1.0]], [[False, True]]))


@pytest.mark.parametrize("term", [SquaredLoss, AbsoluteLoss, HuberLoss, LogisticLoss, PoissonLoss])
def test_the_weights_of_every_loss(term):
    for bad in (
        -1.0,
        [1.0, -1e-9],
        [1.0, NAN],
        [1.0, INF],
        [1.0] * 3,
        "a",
        [[1.0], [1.0]],
        [1j, 1],
    ):
        with pytest.raises(ValueError, match=r"^weights must"):
            term([1.0, 1.0], weights=bad)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        *(
            (lambda d=d: HuberLoss([1.0], d), "delta")
            for d in [0.0, -1.0, NAN, INF, None, "a", [1]]
        ),
        *((lambda d=d: HuberTV(d), "delta") for d in [0.0, -1.0, NAN, INF, None, "a", [1.0]]),
        *(
            (lambda e=e: EntropicSimplex([[1.0, 2.0]], e), "epsilon")
            for e in [0, -1, NAN, INF, None]
        ),
        *((lambda y=y: LogisticLoss([1.0, y]), "labels") for y in [2, 0.5, -1.0001, INF]),
        (lambda: PoissonLoss([1.0, -1e-9]), "counts"),
        (lambda: LinearBox([1.0, 1.0], 1.0, 0.0), "lower"),
        (lambda: LinearBox([1.0, 1.0], -INF, 0.0), "lower"),
        (lambda: LinearBox([1.0, 1.0], 0.0, INF), "upper"),
        (lambda: LinearBox([1.0, 1.0], 0.0, [1.0, 1.0, 1.0]), "upper"),
        (lambda: EntropicSimplex([1.0, 2.0]), "cost"),
    ],
)
def test_the_numbers_of_every_term(call, name):
    with pytest.raises(ValueError, match=rf"^{name} must"):
        call()


@pytest.mark.parametrize(
    ("term", "penalty", "method", "reason"),
    [
        ("absolute", "tv", "descent", "block descent needs a SquaredLoss, got AbsoluteLoss"),
        ("simplex", "tv", "descent", "block descent needs a SquaredLoss, got EntropicSimplex"),
        ("logistic", "hubertv", "descent", "block descent needs a SquaredLoss, got LogisticLoss"),
        ("masked", "tv", "descent", "block descent needs positive weights"),
        ("quartic", "tv", "descent", "block descent needs a SquaredLoss, got QuarticLoss"),
        ("squared", "hubertv", "exact", "flows need TotalVariation, got HuberTV"),
        ("simplex", "tv", "exact", "EntropicSimplex"),
        ("quartic", "tv", "exact", "QuarticLoss"),
        ("boxes", "tv", "exact", "same bounds"),
    ],
)
def test_what_the_mathematics_does_not_allow(term, penalty, method, reason):
    problem = make_problem(term, "grid", penalty)
    with pytest.raises(ValueError, match=rf"^method must not be '{method}': .*{re.escape(reason)}"):
        solve(problem, method=method, callback=refuse)


@pytest.mark.parametrize("method", ["descent", "exact"])
@pytest.mark.parametrize("preconditioner", ["none", "diagonal"])
def test_forest_methods_want_forests(method, preconditioner):
    with pytest.raises(ValueError, match=r"^preconditioner must be made of forests"):
        solve(SQUARED, method=method, preconditioner=preconditioner)


def test_forests_of_another_graph():
    for other in (grid_graph((5, 4)), Graph(20, SQUARED.graph.edges[::-1][:30])):
        partition = decompose(other, "nested")
        for method in ("auto", "pdhg", "descent", "exact"):
            with pytest.raises(
                ValueError, match=r"^preconditioner must be a partition of the prob"
            ):
                solve(SQUARED, method=method, preconditioner=partition)


def test_chains_of_no_grid():
    problem = make_problem("squared", gallery.erdos_renyi_graph(20, 60))
    for method in ("auto", "pdhg", "descent", "exact"):
        with pytest.raises(ValueError, match=r"^preconditioner must not be 'chains'"):
            solve(problem, method=method, preconditioner="chains")


def test_a_warm_start_of_another_problem():
    other = solve(make_problem("squared", "random"), method="descent")
    with pytest.raises(
        ValueError, match=r"^warm_start does not fit the problem: u must have shape"
    ):
        solve(SQUARED, warm_start=other)
    vector = solve(make_problem("squared", "grid", channels=(2,)), method="descent")
    with pytest.raises(ValueError, match=r"^warm_start does not fit"):
        solve(SQUARED, warm_start=vector)


def test_messages_are_short_and_show_the_value():
    for arguments, shown in [
        ({"tol": -3.0}, "-3.0"),
        ({"method": "newton"}, "'newton'"),
        ({"max_iterations": 1.5}, "1.5"),
        ({"n_threads": 0}, "got 0"),
        ({"preconditioner": np.zeros(1000)}, "array"),
        ({"warm_start": np.zeros(1000)}, "array"),
    ]:
        with pytest.raises(ValueError, match=re.escape(shown)) as caught:
            solve(SQUARED, **arguments)
        assert len(str(caught.value)) < 300
