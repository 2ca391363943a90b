"""How runs start, what they report, and how they end."""

import re

import numpy as np
import pytest

from graphtv import (
    EntropicSimplex,
    Graph,
    HuberTV,
    Problem,
    SquaredLoss,
    TotalVariation,
    grid_graph,
    solve,
)
from graphtv.gallery import piecewise_constant_image
from instances import make_problem, noise, noisy_image, scattered, ways
from verify import verify

METHODS = ("descent", "pdhg", "exact")
TERMS = ("squared", "masked", "absolute", "logistic", "poisson", "box", "simplex")


class TestGridsInDisguise:
    """The solver recognises a grid for any source and order of its edges."""

    shape = (30, 41)
    signal = np.random.default_rng(1).normal(size=30 * 41)

    @pytest.mark.slow
    @pytest.mark.parametrize("left", [1.0, 0.9])
    def test_the_run_is_that_of_the_grid(self, left):
        rng = np.random.default_rng(0)
        weights = [rng.random((29, 41)), rng.random((30, 40))]
        for array in weights:
            array[rng.random(array.shape) > left] = 0.0
        grid = grid_graph(self.shape, weights)
        turned = np.where(rng.random((grid.n_edges, 1)) < 0.5, grid.edges, grid.edges[:, ::-1])
        order = rng.permutation(grid.n_edges)
        expected = solve(Problem(grid, SquaredLoss(self.signal)), tol=1e-3)
        for graph in (
            Graph(grid.n_vertices, grid.edges, grid.weights),
            Graph(grid.n_vertices, turned[order], grid.weights[order]),
            Graph.from_sparse(grid.to_sparse()),
        ):
            problem = Problem(graph, SquaredLoss(self.signal))
            found = solve(problem, tol=1e-3)
            assert found.iterations == expected.iterations
            np.testing.assert_allclose(found.u, expected.u, rtol=0, atol=1e-12)
            verify(found, problem)

    def test_columns_first(self):
        numbers = np.arange(30 * 41).reshape(self.shape)
        columns = numbers.ravel(order="F").argsort()  # the new number of each vertex
        grid = grid_graph(self.shape)
        graph = Graph(grid.n_vertices, columns[grid.edges], grid.weights)
        signal = np.empty_like(self.signal)
        signal[columns] = self.signal
        found = solve(Problem(graph, SquaredLoss(signal)), tol=0)
        expected = solve(Problem(grid, SquaredLoss(self.signal)), tol=0)
        np.testing.assert_allclose(found.u[columns], expected.u, rtol=0, atol=1e-9)


class TestStarts:
    @pytest.mark.parametrize("term", TERMS)
    def test_started_at_the_optimum_it_stops_at_once(self, term):
        for penalty in ("tv", "hubertv"):
            problem = make_problem(term, "random", penalty)
            best = solve(problem, tol=1e-9)
            for method, preconditioner in ways(term, "random", penalty):
                again = solve(
                    problem,
                    method=method,
                    preconditioner=preconditioner,
                    tol=2e-9,
                    warm_start=best,
                )
                assert (again.status, again.iterations) == ("optimal", 0)
                np.testing.assert_array_equal(again.u, best.u)
                verify(again, problem)

    def test_a_pair_is_as_good_as_a_result(self):
        problem = noisy_image()
        best = solve(problem, tol=1e-8)
        again = solve(problem, tol=1e-7, warm_start=(best.u, best.p))
        assert (again.status, again.iterations) == ("optimal", 0)

    def test_the_result_does_not_share_memory_with_the_start(self):
        problem = noisy_image()
        best = solve(problem, tol=1e-8)
        again = solve(problem, tol=1e-7, warm_start=best)
        assert not np.shares_memory(again.u, best.u)
        assert not np.shares_memory(again.p, best.p)
        u, p = best.u.copy(), best.p.copy()
        for method in METHODS:
            solve(problem, method=method, tol=1e-9, warm_start=best)
        np.testing.assert_array_equal(best.u, u)
        np.testing.assert_array_equal(best.p, p)

    @pytest.mark.parametrize("method", ["descent", "pdhg"])
    def test_a_neighbouring_weight_or_signal_is_a_good_start(self, method):
        problem = noisy_image()
        f = problem.data.signal
        cold = solve(problem, method=method, tol=1e-5)
        moved = f + 1e-3 * np.random.default_rng(1).normal(size=f.size)
        neighbours = (
            Problem(grid_graph((40, 40), 0.2 * 1.02), SquaredLoss(f)),
            Problem(problem.graph, SquaredLoss(moved)),
        )
        for neighbour in neighbours:
            start = solve(neighbour, method=method, tol=1e-5)
            warm = solve(problem, method=method, tol=1e-5, warm_start=start)
            assert warm.status == "optimal"
            assert warm.iterations < cold.iterations

    @pytest.mark.parametrize("term", TERMS)
    def test_any_start_leads_to_the_same_place(self, term):
        problem = make_problem(term, "random", seed=3)
        rng = np.random.default_rng(0)
        best = solve(problem, tol=1e-8)
        for method, preconditioner in ways(term, "random", "tv"):
            for size in (1.0, 1e6):  # far outside of where G is finite, too
                u, p = (
                    size * rng.normal(size=shape) for shape in (problem.shape, problem.dual_shape)
                )
                result = solve(
                    problem,
                    method=method,
                    preconditioner=preconditioner,
                    tol=1e-8,
                    warm_start=(u, p),
                )
                verify(result, problem)
                assert result.status == "optimal", (method, preconditioner, size)
                assert result.primal == pytest.approx(best.primal, rel=1e-7)

    @pytest.mark.parametrize("method", METHODS)
    def test_a_good_start_is_never_made_worse(self, method):
        problem = scattered()
        best = solve(problem, method="descent", tol=1e-5)
        for limit in (0, 1, 3):
            result = solve(problem, method=method, tol=1e-14, warm_start=best, max_iterations=limit)
            assert result.relative_gap <= best.relative_gap


class TestTelling:
    @pytest.mark.parametrize("method", METHODS)
    def test_history(self, method):
        result = solve(scattered(), method=method, tol=1e-5)
        history = result.history
        assert len(history) > 1
        for name in ("iteration", "sweeps", "time"):
            assert (np.diff(history[name]) >= 0).all(), name
        assert len(np.unique(history["iteration"])) == len(history)
        last = history[-1]
        assert (last.iteration, last.sweeps) == (result.iterations, result.sweeps)
        assert 0 <= last.time <= result.solve_time
        assert result.setup_time >= 0
        assert (last.primal, last.dual) == pytest.approx((result.primal, result.dual), rel=1e-9)
        primal, dual = history["primal"], history["dual"]
        scale = np.maximum(np.abs(primal), np.abs(dual))
        np.testing.assert_allclose(history["relative_gap"], np.maximum(primal - dual, 0) / scale)
        # Every primal value is an upper bound of every dual value.
        assert primal.min() >= dual.max() - 1e-12 * abs(result.primal)

    @pytest.mark.parametrize("method", METHODS)
    def test_callback(self, method):
        problem = scattered()
        seen = []

        def note(info):
            seen.append(info)
            assert info.u.shape == problem.shape
            assert problem.primal(info.u) >= info.dual * (1 - 1e-9)

        result = solve(problem, method=method, tol=1e-4, callback=note)
        assert result.status == "optimal"
        assert len(seen) == len(result.history)
        for info, record in zip(seen, result.history, strict=True):
            for name in record._fields:
                assert getattr(info, name) == getattr(record, name)
            assert info.restarts >= 0
            assert info.step >= 0
        quiet = solve(problem, method=method, tol=1e-4)
        np.testing.assert_array_equal(result.u, quiet.u)

    @pytest.mark.parametrize("truth", [True, np.True_])
    @pytest.mark.parametrize("method", METHODS)
    def test_a_callback_ends_the_run(self, method, truth):
        calls = []

        def stop(info):
            calls.append(info.iteration)
            return truth if len(calls) == 2 else None

        result = solve(scattered(), method=method, tol=1e-14, callback=stop)
        assert result.status == "interrupted"
        assert len(calls) == 2  # and is not called again
        assert result.iterations == calls[-1]

    def test_other_answers_do_not_end_the_run(self):
        for answer in (False, np.False_, None, 0, "no", [], np.zeros(3)):
            result = solve(
                noisy_image(), method="descent", tol=1e-4, callback=lambda _, a=answer: a
            )
            assert result.status == "optimal"

    def test_a_solve_inside_a_callback(self):
        inner = noisy_image(seed=1)
        expected = solve(inner, method="descent").u

        def nest(info):
            np.testing.assert_array_equal(solve(inner, method="descent").u, expected)

        result = solve(noisy_image(), method="descent", tol=1e-3, callback=nest)
        assert result.status == "optimal"

    @pytest.mark.parametrize("method", [*METHODS, "auto"])
    def test_the_log(self, method, capsys):
        result = solve(noisy_image(), method=method, tol=1e-4, time_limit=60, verbose=True)
        out, err = capsys.readouterr()
        assert err == ""
        lines = out.splitlines()
        assert lines[0] == "graphtv"
        rules = [i for i, line in enumerate(lines) if set(line) == {"-"}]
        assert len(rules) == 3
        facts = {line[2:17].strip(): line[18:] for line in lines[1 : rules[0]]}
        assert facts["problem"].startswith("SquaredLoss(shape (1600,)")
        assert facts["graph"] == "1600 vertices, 3120 edges"
        assert facts["method"] == f"{result.method}: {result.reason}"
        assert facts["tolerance"] == "0.0001"
        assert facts["time limit"] == "60 s"
        head = lines[rules[0] + 1]
        assert head == (
            "  iter   sweeps     time |       primal         dual  rel.gap |     step restart"
        )
        assert all(len(lines[i]) == len(head) for i in rules)
        row = re.compile(
            r" *\d+ +\d+ +\d+\.\d{3} \| +[-+.e\d]+ +[-+.e\d]+ +\d\.\de[-+]\d\d \| +[-+.e\d]+ +\d+"
            r"(  \w[\w,: -]*)?"
        )
        rows = lines[rules[1] + 1 : rules[2]]
        for line in rows:
            assert row.fullmatch(line), line
            assert (line.index("|"), line.rindex("|")) == (head.index("|"), head.rindex("|"))
        iterations = [int(line.split()[0]) for line in rows]
        assert iterations == sorted(set(iterations))
        assert iterations[-1] == result.iterations
        assert lines[rules[2] + 1] == (
            f"optimal: primal {result.primal:.10g}, dual {result.dual:.10g},"
            f" relative gap {result.relative_gap:.2e}"
        )
        assert lines[-1].startswith(f"{result.iterations} iterations, ")

    def test_silence_is_the_rule(self, capsys):
        solve(noisy_image(), method="descent")
        assert capsys.readouterr() == ("", "")

    def test_a_result_tells_of_itself(self):
        text = repr(solve(noisy_image(), method="descent", tol=1e-4))
        assert text.startswith("Result: optimal, relative gap ")
        assert len(text.splitlines()) <= 10
        assert "requested" in text

    @pytest.mark.parametrize("method", [*METHODS, "auto"])
    def test_stages_tell_what_ran(self, method):
        result = solve(noisy_image(), method=method, tol=1e-7)
        assert sum(stage.iterations for stage in result.stages) == result.iterations
        assert 0.0 < sum(stage.seconds for stage in result.stages) <= result.solve_time
        assert result.stages[-1].relative_gap == result.relative_gap
        first = result.stages[0]
        assert first.method == ("pdhg" if method == "pdhg" else "descent")
        assert first.preconditioner == ("none" if method in ("exact", "auto") else "chains")
        text = repr(result)
        for stage in result.stages:
            assert str(stage) in text
        assert ("max-flow:" in text) == (result.stages[-1].method == "flows")


class TestLimits:
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("limit", [0, 1, 2, 5])
    def test_iterations(self, method, limit):
        result = solve(scattered(), method=method, tol=1e-14, max_iterations=limit)
        assert result.iterations == limit
        assert result.status == "iteration_limit"
        assert result.gap >= 0
        assert np.abs(result.p).max() <= 1
        assert len({record.iteration for record in result.history}) == len(result.history)

    @pytest.mark.parametrize("method", METHODS)
    def test_no_time_at_all(self, method):
        result = solve(scattered(), method=method, tol=1e-14, time_limit=0.0)
        assert result.status == "time_limit"
        assert result.relative_gap <= 1.0

    @pytest.mark.parametrize(
        "setting",
        [
            ("descent", "auto", TotalVariation()),
            ("descent", "auto", HuberTV(0.1)),
            ("pdhg", "none", TotalVariation()),
            ("pdhg", "auto", TotalVariation()),
            ("pdhg", "auto", HuberTV(0.1)),
            ("exact", "auto", TotalVariation()),
        ],
        ids=str,
    )
    def test_time_ends_a_run(self, setting):
        method, preconditioner, penalty = setting
        problem = noise(500, penalty=penalty)
        result = solve(
            problem,
            method=method,
            preconditioner=preconditioner,
            tol=1e-20,  # below the bound on rounding, so that nothing is optimal
            time_limit=0.6,
            n_threads=1,
        )
        assert result.status == "time_limit"
        assert 0.0 <= result.relative_gap < np.inf  # how small depends on the machine

    def test_time_ends_a_run_on_the_simplex(self):
        cost = np.random.default_rng(0).normal(size=(90_000, 10))
        problem = Problem(grid_graph((300, 300), 3.0), EntropicSimplex(cost))
        result = solve(problem, tol=1e-15, time_limit=0.5, n_threads=1)
        assert result.status == "time_limit"
        assert 0.0 <= result.relative_gap < np.inf  # how small depends on the machine
        assert result.primal == problem.primal(result.u)
        assert solve(problem, tol=1e-15, max_iterations=5).relative_gap <= 1.0


def test_flows_wait_where_edges_were_slow(capsys):
    """From a cold start they cost far more there than chains, which reach the tolerance."""
    image = piecewise_constant_image((256, 256), rng=0)[0]
    problem = Problem(grid_graph((256, 256), 1.0), SquaredLoss(image.ravel()))
    result = solve(problem, verbose=True)
    assert result.preconditioner == "chains"
    assert "max-flow\n" not in capsys.readouterr().out
    assert [stage.method for stage in result.stages] == ["descent", "descent"]
    alone = solve(problem, method="descent", preconditioner="chains")
    assert 0 < result.sweeps <= alone.sweeps
    exact = solve(problem, tol=0.0, verbose=True)
    assert "max-flow\n" in capsys.readouterr().out
    assert [stage.method for stage in exact.stages] == ["descent", "descent", "flows"]


def test_nothing_is_lost_where_chains_take_over_from_nothing():
    """A run that ended there had the certificate of chains that had not started."""
    image = piecewise_constant_image((128, 128), rng=0)[0]
    problem = Problem(grid_graph((128, 128), 10.0), SquaredLoss(image.ravel()))
    gaps = [solve(problem, max_iterations=k).relative_gap for k in range(28, 40)]
    assert gaps == sorted(gaps, reverse=True)
    told = []
    stopped = solve(problem, callback=lambda i: told.append((i.primal, i.u)) or i.iteration >= 32)
    assert stopped.relative_gap <= 1e-2
    for primal, u in told:
        assert problem.primal(u) == pytest.approx(primal, rel=1e-3)  # single precision


def test_flows_wait_for_a_start_that_is_almost_there(capsys):
    """The iterations from 5e-4 to the tolerance cost far less than flows."""
    problem = noisy_image(128)
    result = solve(problem, tol=1e-4, verbose=True)
    assert result.status == "optimal"
    assert "max-flow\n" not in capsys.readouterr().out
    assert [stage.method for stage in result.stages] == ["descent"]
    exact = solve(problem, tol=0.0, verbose=True)
    assert "max-flow\n" in capsys.readouterr().out
    assert [stage.method for stage in exact.stages] == ["descent", "flows"]


@pytest.mark.parametrize("penalty", [TotalVariation(), HuberTV(0.3)])
@pytest.mark.parametrize("weight", [1.0, 2.5])
@pytest.mark.parametrize("tol", [1e-3, 0.0])
def test_a_graph_without_cycles_takes_one_step(penalty, weight, tol):
    rng = np.random.default_rng(0)
    edges = [[rng.integers(0, i), i] for i in range(1, 300) if i % 50]
    graph = Graph(300, edges, rng.uniform(0.1, 1.0, len(edges)))
    signal = rng.standard_normal((300, 2))
    problem = Problem(graph, SquaredLoss(signal, np.full(300, weight)), penalty)
    result = solve(problem, tol=tol)
    assert result.status == "optimal"
    assert result.iterations == 1
    assert result.sweeps == 2
    assert result.relative_gap <= 1e-12
    verify(result, problem)
