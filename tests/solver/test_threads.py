"""The same bits for any number of threads; solves in forked children and in parallel."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from graphtv import Problem, SquaredLoss, gallery, grid_graph, solve
from instances import make_problem, noise, noisy_image

METHODS = ("descent", "pdhg", "exact")


def bits(result):
    return result.u.tobytes(), result.p.tobytes(), result.primal, result.dual, result.iterations


@pytest.mark.parametrize(
    ("method", "preconditioner"),
    [
        ("descent", "linear"),
        ("descent", "nested"),
        ("descent", "chains"),
        ("pdhg", "none"),
        ("pdhg", "diagonal"),
        ("pdhg", "chains"),
        ("pdhg", "nested"),
        ("exact", "auto"),
        ("auto", "auto"),
    ],
)
def test_same_bits_for_any_number_of_threads(method, preconditioner):
    rng = np.random.default_rng(0)
    if preconditioner == "chains":
        graph = grid_graph((160, 170), 0.3)
    else:
        graph = gallery.erdos_renyi_graph(20_000, 50_000, 0, 0.3)
    n = graph.n_vertices
    problem = Problem(graph, SquaredLoss(rng.normal(size=n), rng.uniform(0.5, 2, n)))
    found = {
        bits(
            solve(
                problem,
                method=method,
                preconditioner=preconditioner,
                tol=1e-6,
                max_iterations=25,
                n_threads=n_threads,
            )
        )
        for n_threads in (1, 2, 4, 8, 2, None)
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    "term",
    [
        pytest.param("logistic", marks=pytest.mark.slow),
        "poisson",
        pytest.param("simplex", marks=pytest.mark.slow),
        "box",
        "huber",
        "masked",
    ],
)
def test_same_bits_for_every_term(term):
    graph = gallery.erdos_renyi_graph(10_000, 20_000, 0, 0.3)
    if term == "logistic":  # an isolated vertex has one label only
        graph = gallery.random_tree(10_000, 0, 0.3)
    problem = make_problem(term, graph)
    found = {bits(solve(problem, tol=1e-4, max_iterations=60, n_threads=k)) for k in (1, 2, 8, 1)}
    assert len(found) == 1


def fork(task):
    """Run `task` in a forked child; return whether it succeeded."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if task() else 1
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", METHODS)
def test_a_forked_child_solves_as_well(method):
    problem = noisy_image(120)
    expected = bits(solve(problem, method=method, tol=1e-4, n_threads=2))

    def same():
        return bits(solve(problem, method=method, tol=1e-4, n_threads=2)) == expected

    assert fork(same)
    assert fork(lambda: same() and fork(same) and same())
    assert same()


@pytest.mark.parametrize("method", METHODS)
def test_several_threads_solve_at_once(method):
    problems = [noisy_image(80, seed) for seed in range(4)]
    expected = [bits(solve(problem, method=method, tol=1e-4)) for problem in problems]
    found = [None] * 8

    def work(k):
        found[k] = bits(solve(problems[k % 4], method=method, tol=1e-4, n_threads=1 + k % 3))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == expected * 2


@pytest.fixture
def unshared_gil():
    """Let a thread get the GIL only when another one releases it, and not in turns."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(600.0)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("method", METHODS)
def test_other_threads_run_meanwhile(method, unshared_gil):
    """The core releases the GIL: another thread runs during a solve, and ends it."""
    started, stop = threading.Event(), threading.Event()

    def count():
        started.wait()
        for _ in range(20):
            time.sleep(0.001)  # gives the GIL away, and gets it back
        stop.set()

    def is_over():
        started.set()
        return stop.is_set()

    thread = threading.Thread(target=count)
    thread.start()
    problem = noise(400)
    result = solve(problem, method=method, tol=1e-20, stop=is_over, time_limit=60, n_threads=1)
    thread.join()
    assert result.status == "interrupted"


def test_outside_the_main_thread_signals_are_left_alone():
    results = []
    thread = threading.Thread(target=lambda: results.append(solve(noisy_image(), tol=1e-4)))
    thread.start()
    thread.join()
    assert results[0].status == "optimal"
