"""Reports during max-flow: when they come, what they tell, and that they change nothing."""

import numpy as np
import pytest

from graphtv import Problem, SquaredLoss, _core, gallery, grid_graph, solve
from graphtv.solver import ticker
from graphtv.solver.flows import Flows
from graphtv.solver.log import Log
from graphtv.solver.stage import rounded
from graphtv.solver.ticker import INTERVAL, Ticker


class Clock:
    def __init__(self):
        self.now = 5.0

    def __call__(self):
        return self.now


def test_reports_come_at_intervals_and_only_where_asked_for():
    clock, told = Clock(), []
    tick = Ticker(None, clock)
    clock.now += 9.0
    tick()
    assert not told
    with tick.reporting(lambda: told.append(clock.now)):
        for _ in range(30):
            clock.now += INTERVAL / 10
            assert not tick()
    assert len(told) in (2, 3)  # depending on rounding
    clock.now += 9.0
    tick()
    assert len(told) <= 3


def test_it_stops_when_the_function_of_the_user_says_so():
    answers = iter([False, True])
    tick = Ticker(lambda: next(answers))
    assert not tick()
    assert tick()


def test_what_a_report_raises_ends_the_reports():
    clock = Clock()
    tick = Ticker(None, clock)

    def fail():
        with tick.reporting(lambda: 1 / 0):
            clock.now += INTERVAL
            tick()

    with pytest.raises(ZeroDivisionError):
        fail()
    clock.now += INTERVAL
    assert not tick()


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_watch_can_ask_how_far_the_flows_are(n_threads):
    seen = []
    problem = image_problem(60, channels=2)
    u, p = np.zeros(2 * 3600), np.zeros(2 * problem.graph.n_edges)
    watch = _core.Watch(float("inf"), lambda: seen.append(flows.settled))
    start = rounded(p, 1)
    flows = Flows(problem._normal, u, p, start, float("inf"), watch, n_threads)
    assert flows.settled == 0.0
    flows.advance(1)
    assert flows.is_final
    assert seen
    assert all(0.0 <= share <= 1.0 for share in seen)
    assert flows.settled == 0.0


def image_problem(side, channels=1):
    images = [gallery.piecewise_constant_image((side, side), rng=k, noise=0.5)[0] for k in range(2)]
    signal = np.stack([image.ravel() for image in images[:channels]], axis=1)
    return Problem(grid_graph((side, side), 1.0), SquaredLoss(signal))


@pytest.mark.slow
def test_callbacks_hear_of_max_flow_and_change_nothing(monkeypatch):
    monkeypatch.setattr(ticker, "INTERVAL", 0.0)
    problem, infos = image_problem(500), []
    result = solve(problem, method="exact", tol=0, callback=infos.append)
    during = [info for info in infos if info.settled is not None]
    assert during
    assert all(0.0 <= info.settled <= 1.0 for info in during)
    assert all(info.u.shape == problem.shape for info in during[:1])
    assert len(infos) - len(during) == len(result.history)
    quiet = solve(problem, method="exact", tol=0)
    assert quiet.u.tobytes() == result.u.tobytes()
    assert quiet.iterations == result.iterations


def test_a_callback_ends_max_flow(monkeypatch):
    monkeypatch.setattr(ticker, "INTERVAL", 0.0)
    problem = image_problem(500)
    result = solve(problem, method="exact", tol=0, callback=lambda info: info.settled is not None)
    assert result.status == "interrupted"
    assert result.primal == problem.primal(result.u)


def test_the_log_tells_how_far_max_flow_is(capsys):
    log = Log(verbose=True)
    for seconds in (0.5, 1.0, 1.5, 2.5, 80.0, 85.0, 101.0):
        log.flow(seconds, seconds / 101)
    told = [line.split("|") for line in capsys.readouterr().out.splitlines()]
    assert [float(seconds) for seconds, _ in told] == [1.0, 2.5, 80.0, 101.0]
    assert told[-1][1] == " max-flow: 100% of the vertices are final"
