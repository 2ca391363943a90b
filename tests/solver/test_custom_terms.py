"""A custom data term in Python, through the documented protocol."""

import inspect

import numpy as np
import pytest

from graphtv import DataTerm, HuberLoss, Problem, SquaredLoss, solve
from instances import FORESTS, PENALTIES, OwnSquaredLoss, QuarticLoss, make_graph
from verify import verify

PRECONDITIONERS = ("none", "diagonal", *FORESTS, "auto")


class OwnHuberLoss(OwnSquaredLoss):
    """Huber's loss with δ = ½, without a restriction: its conjugate is infinite beyond ½."""

    strong_convexity = 0.0

    def value(self, u):
        r = np.abs(u - self.signal)
        return np.sum(np.where(r <= 0.5, r**2 / 2, 0.5 * (r - 0.25)))

    def conjugate(self, s):
        return np.inf if np.abs(s).max() > 0.5 else super().conjugate(s)

    def prox(self, v, step):
        r = v - self.signal
        near = self.signal + r / (1 + step)
        return np.where(np.abs(r) <= 0.5 * (1 + step), near, v - step * 0.5 * np.sign(r))


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("channels", [(), (2,)])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_ones_own_squared_loss_is_the_squared_loss(preconditioner, channels, penalty):
    graph = make_graph("random")
    f = np.random.default_rng(0).normal(size=(14, *channels))
    own = Problem(graph, OwnSquaredLoss(f), PENALTIES[penalty])
    result = solve(own, preconditioner=preconditioner, tol=1e-9)
    assert (result.status, result.method) == ("optimal", "pdhg")
    verify(result, own)
    best = solve(Problem(graph, SquaredLoss(f), PENALTIES[penalty]), tol=1e-11)
    assert result.primal == pytest.approx(best.primal, rel=1e-8)
    assert np.linalg.norm(result.u - best.u) <= result.error_bound + best.error_bound


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_the_documented_example(preconditioner):
    """The example of the documentation, vectorised but otherwise unchanged."""
    for method in ("value", "conjugate", "prox"):
        body = inspect.getsource(getattr(QuarticLoss, method)).strip().splitlines()[1:]
        for line in body:
            assert line.strip() in DataTerm.__doc__
    graph = make_graph("grid")
    problem = Problem(graph, QuarticLoss(np.random.default_rng(1).normal(size=20)))
    result = solve(problem, preconditioner=preconditioner, tol=1e-7)
    verify(result, problem)
    assert result.status == "optimal"
    assert result.error_bound is None


def test_an_infinite_conjugate_delays_the_certificate_and_no_more():
    graph = make_graph("random", 2)
    f = np.random.default_rng(2).normal(size=14)
    own = Problem(graph, OwnHuberLoss(f))
    ours = solve(Problem(graph, HuberLoss(f, 0.5)), tol=1e-9)
    early = solve(own, max_iterations=0)
    assert early.status == "iteration_limit"
    assert early.relative_gap >= 0
    result = solve(own, tol=1e-5)
    assert result.primal == pytest.approx(ours.primal, rel=1e-4)
    if result.status == "optimal":
        assert result.dual == pytest.approx(ours.primal, rel=1e-4)
    else:
        assert result.relative_gap == np.inf


def test_a_term_that_never_has_a_bound_ends_and_says_so():
    class Boundless(OwnSquaredLoss):
        def conjugate(self, s):
            return np.inf

    problem = Problem(make_graph("random"), Boundless(np.arange(14.0)))
    result = solve(problem, max_iterations=200)
    assert result.status == "iteration_limit"
    assert result.dual == -np.inf
    assert result.relative_gap == result.gap == np.inf
    assert result.error_bound is None
    assert "inf" in repr(result)
    best = solve(Problem(make_graph("random"), SquaredLoss(np.arange(14.0))))
    np.testing.assert_allclose(result.u, best.u, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("prox", lambda v, step: v[:-1], r"data\.prox\(v, step\) must have shape \(14,\)"),
        ("prox", lambda v, step: v * np.nan, r"data\.prox\(v, step\) must be finite"),
        ("prox", lambda v, step: None, r"data\.prox\(v, step\) must hold real numbers"),
        ("prox", lambda v, step: v * 1j, r"data\.prox\(v, step\) must hold real numbers"),
        ("value", lambda u: np.nan, r"data\.value must return a number, got nan"),
        ("value", lambda u: u, r"data\.value must return a number"),
        ("conjugate", lambda s: "a", r"data\.conjugate must return a number, got 'a'"),
        ("conjugate", lambda s: None, r"data\.conjugate must return a number, got None"),
    ],
)
def test_wrong_answers_are_named(name, answer, message):
    term = OwnSquaredLoss(np.arange(14.0))
    setattr(term, name, answer)
    with pytest.raises(ValueError, match=message):
        solve(Problem(make_graph("random"), term))


@pytest.mark.parametrize(
    ("attribute", "bad"),
    [
        *(("n_channels", bad) for bad in [0, -1, 1.5, "2", True]),
        *(("strong_convexity", bad) for bad in [-1.0, np.nan, np.inf, "a", [1.0]]),
    ],
)
def test_wrong_attributes_are_named(attribute, bad):
    term = OwnSquaredLoss(np.arange(14.0))
    setattr(term, attribute, bad)
    with pytest.raises(ValueError, match=rf"^data\.{attribute} must"):
        Problem(make_graph("random"), term)


def test_a_missing_method_is_missed_at_once():
    class Half:
        def value(self, u):
            return 0.0

    with pytest.raises(ValueError, match="value, conjugate and prox"):
        Problem(make_graph("random"), Half())


def test_arrays_given_to_a_term_may_be_changed():
    """A term that modifies its arguments must not change the memory of the solver."""

    class Vandal(OwnSquaredLoss):
        def prox(self, v, step):
            u = super().prox(v, step)
            if v.flags.writeable:
                v[:] = np.nan
            return u

        def value(self, u):
            value = super().value(u)
            if u.flags.writeable:
                u[:] = np.nan
            return value

    f = np.random.default_rng(3).normal(size=14)
    problem = Problem(make_graph("random"), Vandal(f))
    result = solve(problem, tol=1e-7)
    best = solve(Problem(make_graph("random"), SquaredLoss(f)), tol=1e-9)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.u, best.u, atol=1e-3)
