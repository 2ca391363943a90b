"""Ctrl-C, user-defined signals, `stop`, and exceptions that propagate."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from graphtv import Problem, grid_graph, solve
from instances import QuarticLoss, noise, noisy_image
from verify import verify

METHODS = ("descent", "pdhg", "exact")

CHILD = """
import json, os, signal, threading, time
import numpy as np
import graphtv

rng = np.random.default_rng(0)
graph = graphtv.grid_graph((1000, 1000), 1.5)
problem = graphtv.Problem(graph, graphtv.SquaredLoss(rng.normal(size=10**6)), graphtv.{penalty})
solve = graphtv.solve  # imported before the signal may come

def send():
    time.sleep({delay})
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=send, daemon=True).start()
result = solve(problem, method="{method}", preconditioner="{preconditioner}", tol=1e-16)
print(json.dumps({{
    "status": result.status,
    "gap": result.relative_gap,
    "largest": float(np.abs(result.p).max()),
    "primal": [problem.primal(result.u), result.primal],
    "dual": [problem.dual(result.p), result.dual],
    "handler": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
}}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "preconditioner", "delay", "penalty"),
    [
        ("descent", "auto", 0.1, "TotalVariation()"),  # while it sets up
        ("descent", "auto", 1.0, "TotalVariation()"),
        ("pdhg", "none", 1.0, "TotalVariation()"),
        ("pdhg", "auto", 1.0, "TotalVariation()"),
        ("exact", "auto", 1.0, "TotalVariation()"),
        ("exact", "auto", 3.0, "TotalVariation()"),  # during the flows
        ("auto", "auto", 1.0, "IsotropicTV()"),
        ("auto", "auto", 3.0, "IsotropicTV()"),
        ("auto", "auto", 2.0, "CoupledTV(delta=0.1)"),
    ],
)
def test_control_c_on_a_million_vertices(method, preconditioner, delay, penalty):
    program = CHILD.format(
        method=method, preconditioner=preconditioner, delay=delay, penalty=penalty
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "interrupted"
    assert told["largest"] <= 1
    assert told["gap"] >= 0
    for name in ("primal", "dual"):
        assert told[name][0] == told[name][1]
    assert told["handler"]


@pytest.mark.parametrize("method", METHODS)
def test_a_handler_of_ones_own_is_left_alone(method):
    class MineError(Exception):
        pass

    def handle(number, frame):
        raise MineError

    before = signal.signal(signal.SIGINT, handle)
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(MineError):
            solve(noise(400), method=method, tol=1e-16, time_limit=30)
        assert signal.getsignal(signal.SIGINT) is handle
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert solve(noisy_image(), method=method).status == "optimal"


def test_control_c_inside_a_callback_or_a_term_ends_the_run():
    def press(info):
        signal.raise_signal(signal.SIGINT)

    result = solve(noisy_image(), method="descent", tol=1e-14, callback=press)
    assert result.status == "interrupted"

    class Impatient(QuarticLoss):
        def prox(self, v, step):
            signal.raise_signal(signal.SIGINT)
            return super().prox(v, step)

    problem = Problem(grid_graph((5, 5)), Impatient(np.arange(25.0)))
    result = solve(problem, tol=1e-14)
    assert result.status == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_control_c_before_and_after_a_run_is_an_ordinary_one():
    solve(noisy_image(), method="descent")
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("method", METHODS)
def test_what_a_callback_raises_arrives(method):
    class MineError(BaseException):
        pass

    def fail(info):
        raise MineError("mine")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(MineError, match="mine"):
        solve(noisy_image(), method=method, callback=fail)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("method", ["prox", "value", "conjugate"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_a_users_term_raises_arrives(method, n_threads):
    class Broken(QuarticLoss):
        calls = 0

    def fail(self, *args):
        self.calls += 1
        if self.calls == 5:
            raise LookupError("mine")
        return getattr(QuarticLoss, method)(self, *args)

    setattr(Broken, method, fail)
    problem = Problem(grid_graph((5, 5)), Broken(np.arange(25.0)))
    with pytest.raises(LookupError, match="mine"):
        solve(problem, tol=1e-14, n_threads=n_threads)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_another_thread_ends_a_run(method, n_threads):
    problem, begun, event = noise(500), threading.Event(), threading.Event()

    def end():
        begun.wait()
        event.set()

    def look(info):
        if info.iteration >= 3:
            begun.set()

    other = threading.Thread(target=end)
    other.start()
    try:
        result = solve(
            problem,
            method=method,
            tol=1e-16,
            callback=look,
            stop=event.is_set,
            n_threads=n_threads,
        )
    finally:
        begun.set()
        other.join()
    assert result.status == "interrupted"
    assert (result.primal, result.dual) == (problem.primal(result.u), problem.dual(result.p))
    assert result.iterations >= 3  # without a deadline it is the last iterate
    assert result.relative_gap < 1.0


def test_a_run_is_ended_between_two_looks_at_the_gap():
    """Evaluations of the gap become rare, but `stop` is called regularly."""
    looks, asked = [], []

    def stop():
        asked.append(len(looks))
        return len(asked) > 40

    problem = noise(300)
    result = solve(
        problem, method="pdhg", preconditioner="none", tol=1e-16, callback=looks.append, stop=stop
    )
    assert result.status == "interrupted"
    assert len(asked) == 41
    assert len(looks) - asked[-1] <= 1  # that of the last certificate


@pytest.mark.slow
def test_stop_may_say_so_before_anything_is_done():
    problem = noisy_image()
    for method in METHODS:
        result = solve(problem, method=method, stop=lambda: True)
        assert result.status == "interrupted"
        verify(result, problem)


@pytest.mark.parametrize("method", METHODS)
def test_stop_changes_nothing_unless_it_stops(method):
    problem, asked = noisy_image(), []
    plain = solve(problem, method=method, tol=1e-9)
    watched = solve(problem, method=method, tol=1e-9, stop=lambda: asked.append(1))
    assert asked
    np.testing.assert_array_equal(watched.u, plain.u)
    np.testing.assert_array_equal(watched.p, plain.p)
    assert watched.iterations == plain.iterations


def test_what_stop_raises_arrives():
    def fail():
        raise LookupError("mine")

    before = signal.getsignal(signal.SIGINT)
    for method in METHODS:
        with pytest.raises(LookupError, match="mine"):
            solve(noise(100), method=method, tol=1e-16, stop=fail)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(ValueError, match="stop must be callable, got 3"):
        solve(noisy_image(), stop=3)
