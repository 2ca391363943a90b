"""A custom data term in Python."""

import gc
import weakref

import numpy as np
import pytest

from graphtv import DataTerm, HuberTV, Problem, SquaredLoss, TotalVariation, grid_graph, solve
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
    """The contract of docs/how-to/write-a-data-term.md, for all steps of the solver."""

    class Strict(OwnSquaredLoss):
        def prox(self, v, step):
            assert isinstance(step, np.ndarray)
            assert step.shape == v.shape == self.signal.shape
            assert step.dtype == np.float64
            assert not step.flags.writeable
            assert (step > 0.0).all()
            u = np.empty_like(v)
            for index in np.ndindex(v.shape):  # entry by entry, as in the formula of the page
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


class SpectralLoss:
    """½‖Fu - g‖² for the unitary discrete Fourier transform F, seen at some frequencies only."""

    is_separable = False

    def __init__(self, signal, seen):
        self.seen, self.spectrum = seen, np.fft.fft(signal, norm="ortho") * seen

    def value(self, u):
        return 0.5 * np.sum(np.abs(np.fft.fft(u, norm="ortho") * self.seen - self.spectrum) ** 2)

    def conjugate(self, s):
        t = np.fft.fft(s, norm="ortho")
        if np.abs(t[~self.seen]).max(initial=0.0) > 1e-9:
            return np.inf
        return np.sum((t.conj() * self.spectrum).real + 0.5 * np.abs(t) ** 2)

    def prox(self, v, step):
        assert isinstance(step, float)
        t = np.fft.fft(v, norm="ortho")
        mean = (t + step * self.spectrum) / (1 + step)
        return np.fft.ifft(np.where(self.seen, mean, t), norm="ortho").real


def test_a_term_that_is_no_sum_over_vertices():
    """With all frequencies the Fourier loss is the squared loss, by Parseval."""
    f = np.random.default_rng(5).normal(size=24)
    graph = grid_graph((4, 6), 0.3)
    term = SpectralLoss(f, np.ones(24, dtype=bool))
    best = solve(Problem(graph, SquaredLoss(f)), tol=1e-12)
    for preconditioner in ("none", "chains", "nested", "auto"):
        result = solve(Problem(graph, term), preconditioner=preconditioner, tol=1e-8)
        assert result.status == "optimal"
        np.testing.assert_allclose(result.u, best.u, atol=1e-3)
    assert solve(Problem(graph, term, HuberTV(0.1)), tol=1e-6).status == "optimal"
    for penalty in (TotalVariation(), HuberTV(0.1)):
        with pytest.raises(ValueError, match=r"^preconditioner must not be 'diagonal'"):
            solve(Problem(graph, term, penalty), preconditioner="diagonal")


def test_the_value_of_a_component():
    class Sharp(OwnSquaredLoss):
        def minimizer(self, vertices, channel, slope):
            f = self.signal.reshape(len(self.signal), -1)[vertices, channel]
            return f.mean() - slope / len(f)

    rng = np.random.default_rng(6)
    for shape in ((30,), (30, 2)):
        f = rng.normal(size=shape)
        problem = Problem(grid_graph((5, 6), 0.5), Sharp(f))
        result = solve(problem, tol=1e-13, max_iterations=2000)
        best = solve(Problem(problem.graph, SquaredLoss(f)), tol=0.0)
        np.testing.assert_allclose(result.u, best.u, atol=1e-12)
    wrong = Sharp(np.zeros(4))
    wrong.minimizer = lambda *_: "no number"
    with pytest.raises(ValueError, match=r"^data\.minimizer"):
        Problem(grid_graph((4,)), wrong).term.minimizer(np.arange(2, dtype=np.int32), 0, 0.0)


def test_the_domain_of_a_term():
    term = OwnSquaredLoss(np.zeros(3))
    assert Problem(grid_graph((3,)), term).term.domain == (-np.inf, np.inf)
    term.domain = (-2, 5)
    assert Problem(grid_graph((3,)), term).term.domain == (-2.0, 5.0)
    for wrong in ((1.0, 0.0), 3.0, (np.nan, 1.0)):
        term.domain = wrong
        with pytest.raises(ValueError, match=r"^data\.domain must be two numbers in order"):
            Problem(grid_graph((3,)), term)
