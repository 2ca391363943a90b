"""A data term of one's own in Python."""

import gc
import weakref

import numpy as np
import pytest

from graphtv import DataTerm, Problem, SquaredLoss, grid_graph, solve
from instances import OwnSquaredLoss
from term_values import prox


@pytest.mark.parametrize("shape", [(6,), (6, 3)])
def test_a_users_own_term(shape):
    rng = np.random.default_rng(4)
    f, v = rng.normal(size=(2, *shape))
    own, ours = OwnSquaredLoss(f), SquaredLoss(f)
    assert isinstance(own, DataTerm)
    assert isinstance(ours, DataTerm)
    mine, expected = (Problem(grid_graph((2, 3)), term) for term in (own, ours))
    p = rng.uniform(-1, 1, size=mine.dual_shape)
    assert mine.primal(v) == pytest.approx(expected.primal(v))
    assert mine.dual(p) == pytest.approx(expected.dual(p))
    assert mine.term.strong_convexity == 1.0
    flat = np.ascontiguousarray(v.T).ravel()
    for steps in (np.array([0.3]), rng.random(6) + 0.1):
        np.testing.assert_allclose(
            prox(mine.term, flat, steps), prox(expected.term, flat, steps), rtol=1e-14
        )


def test_the_step_has_the_shape_of_v():
    """The contract of docs/how-to/write-a-data-term.md, whatever the solver's steps are."""

    class Strict(OwnSquaredLoss):
        def prox(self, v, step):
            assert isinstance(step, np.ndarray)
            assert step.shape == v.shape == self.signal.shape
            assert step.dtype == np.float64
            assert not step.flags.writeable
            assert (step > 0.0).all()
            u = np.empty_like(v)
            for index in np.ndindex(v.shape):  # entry by entry, as the page's formula has it
                u[index] = (v[index] + step[index] * self.signal[index]) / (1.0 + step[index])
            np.testing.assert_allclose(SquaredLoss(self.signal).prox(v, step), u)
            return u

    rng = np.random.default_rng(0)
    for shape in ((6,), (6, 3)):
        term = Strict(rng.normal(size=shape))
        problem = Problem(grid_graph((2, 3), 0.4), term)
        best = solve(Problem(problem.graph, SquaredLoss(term.signal)), tol=1e-10)
        for preconditioner in ("none", "diagonal", "chains", "auto"):
            result = solve(problem, preconditioner=preconditioner, tol=1e-8)
            assert result.status == "optimal"
            np.testing.assert_allclose(result.u, best.u, atol=1e-4)
        assert solve(problem, max_iterations=0).status == "iteration_limit"


def test_the_step_of_our_terms_is_per_vertex():
    loss = SquaredLoss(np.ones((2, 3)))
    v, steps = np.zeros((2, 3)), np.array([1.0, 3.0])
    expected = np.repeat([[0.5], [0.75]], 3, axis=1)
    np.testing.assert_array_equal(loss.prox(v, steps), expected)
    np.testing.assert_array_equal(loss.prox(v, np.repeat(steps[:, None], 3, axis=1)), expected)
    with pytest.raises(ValueError, match=r"^step must be the same in all channels .* \(0, 1\)"):
        loss.prox(v, [[1.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match=r"^step must .* have shape \(2,\) or \(2, 3\)"):
        loss.prox(v, np.ones((2, 1)))


def test_a_users_formula_may_take_powers_of_the_step():
    class Curious(OwnSquaredLoss):
        def prox(self, v, step):
            return super().prox(v, step) + 0 * step**10

    problem = Problem(grid_graph((3,)), Curious(np.ones(3)))
    for steps in (np.array([1e300]), np.full(3, 1e300)):
        np.testing.assert_allclose(prox(problem.term, np.zeros(3), steps), 1.0)


def test_what_a_users_term_raises_arrives():
    class Broken(OwnSquaredLoss):
        def value(self, u):
            raise KeyError("mine")

        def conjugate(self, s):
            return np.nan

        def prox(self, v, step):
            return v[:-1]

    broken = Problem(grid_graph((3,)), Broken(np.zeros(3)))
    with pytest.raises(KeyError, match="mine"):
        broken.primal(np.zeros(3))
    with pytest.raises(ValueError, match=r"data\.conjugate must return a number, got nan"):
        broken.dual(np.zeros(2))
    with pytest.raises(ValueError, match=r"data\.prox.*shape \(3,\), got \(2,\)"):
        prox(broken.term, np.zeros(3), np.ones(1))


def test_a_users_term_in_a_cycle_is_collected():
    term = OwnSquaredLoss(np.zeros(2))
    term.problem = Problem(grid_graph((2,)), term)
    alive = weakref.ref(term)
    del term
    gc.collect()
    assert alive() is None
