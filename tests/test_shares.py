"""Shares of work: each is processed once, by any thread, and even if threads cannot start."""

import _thread
import threading

import pytest

from graphtv._shares import run_shares


@pytest.mark.parametrize("n_shares", [0, 1, 2, 57])
@pytest.mark.parametrize("n_helpers", [0, 1, 5])
def test_every_share_is_done_once(n_shares, n_helpers):
    done = []
    run_shares(done.append, n_shares, n_helpers)
    assert sorted(done) == list(range(n_shares))


def test_helpers_take_part():
    meeting = threading.Barrier(2, timeout=20)
    run_shares(lambda _: meeting.wait(), 2, 1)


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_threads_that_are_refused_are_done_without(monkeypatch, error):
    def refuse(*_):
        raise error

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    done = []
    run_shares(done.append, 9, 3)
    assert done == list(range(9))


def test_threads_that_never_run_are_not_waited_for(monkeypatch):
    """Memory runs out just after a thread was started."""
    monkeypatch.setattr(_thread, "start_new_thread", lambda *_: 1)
    done = []
    run_shares(done.append, 9, 3)
    assert done == list(range(9))


@pytest.mark.parametrize("n_helpers", [0, 4])
def test_the_first_failure_is_raised_and_nothing_begun_after_it(n_helpers):
    done = []

    def work(share):
        done.append(share)
        if share == 3:
            raise MemoryError(f"share {share}")

    with pytest.raises(MemoryError, match="share 3"):
        run_shares(work, 1000, n_helpers)
    assert len(done) < 1000
