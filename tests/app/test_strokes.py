"""Strokes, and the shared worker threads."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv.app import limits, pool
from graphtv.app.pool import Pool
from graphtv.app.strokes import Stroke, Strokes

SHAPE = (20, 30)

points = st.lists(st.tuples(st.floats(-10, 40), st.floats(-10, 30)), min_size=1, max_size=5)
strokes = st.builds(Stroke, st.integers(0, 3), st.floats(1, 12), points)


@given(st.lists(strokes, max_size=5), strokes)
def test_undo_takes_back_what_was_painted(earlier, last):
    painted = Strokes(SHAPE)
    for each in earlier:
        painted.add(each, continues=False)
    before = painted.marks
    painted.add(last, continues=False)
    painted.undo()
    np.testing.assert_array_equal(painted.marks, before)
    assert len(painted) == len(earlier)


@given(strokes, st.integers(0, 5))
def test_a_stroke_in_two_parts_is_the_same_stroke(stroke, at):
    whole, parts = Strokes(SHAPE), Strokes(SHAPE)
    whole.add(Stroke(stroke.number, stroke.size, list(stroke.points)), continues=False)
    first, second = stroke.points[:at], stroke.points[at:]
    for part, continues in ((first, False), (second, bool(first))):
        if part:
            parts.add(Stroke(stroke.number, stroke.size, part), continues)
    np.testing.assert_array_equal(whole.marks, parts.marks)
    assert len(parts) == 1


@given(strokes)
def test_pixels_are_those_near_the_path(stroke):
    painted = Strokes(SHAPE)
    painted.add(stroke, continues=False)
    y, x = np.indices(SHAPE) + 0.5
    path = np.array(stroke.points)
    steps = np.linspace(0, 1, 400)[:, None]
    dense = np.concatenate([path[:1], *(a + steps * (b - a) for a, b in itertools.pairwise(path))])
    away = np.sqrt(((y[..., None] - dense[:, 1]) ** 2 + (x[..., None] - dense[:, 0]) ** 2).min(-1))
    radius = max(stroke.size / 2, 0.71)
    near, far = away < radius - 0.02, away > radius + 0.02
    assert (painted.marks[near] == stroke.number).all()
    assert (painted.marks[far] == 0).all()


def test_there_is_an_end_to_strokes(monkeypatch):
    monkeypatch.setattr("graphtv.app.strokes.MOST_STROKES", 2)
    painted = Strokes(SHAPE)
    for _ in range(2):
        painted.add(Stroke(1, 3.0, [(1.0, 1.0)]), continues=False)
    with pytest.raises(ValueError, match="too many strokes"):
        painted.add(Stroke(1, 3.0, [(1.0, 1.0)]), continues=False)
    assert limits.MOST_POINTS >= limits.MOST_STROKES


class Worker:
    """Works for a number of time slices and records them."""

    def __init__(self, name, book, slices, error=None):
        self.name, self.book, self.slices, self.error = name, book, slices, error
        self.done = threading.Event()

    def work(self, is_over):
        if self.error:
            raise self.error
        self.book.append(self.name)
        self.slices -= 1
        while self.slices and not is_over():
            pass
        if self.slices == 0:
            self.done.set()
        return self.slices > 0

    def fail(self, error):
        assert error is self.error
        self.done.set()


def test_all_have_their_turn(monkeypatch):
    monkeypatch.setattr(pool, "SLICE", 0.01)
    book, threads = [], Pool(1)
    workers = [Worker(name, book, 3) for name in "ab"]
    for worker in workers:
        threads.submit(worker)
        threads.submit(worker)  # repeating it has no effect
    assert workers[0].done.wait(10)
    threads.submit(Worker("c", book, 1))
    assert workers[1].done.wait(10)
    threads.close()
    assert "".join(book).startswith("abab")


def test_a_failure_is_told_and_the_thread_goes_on(caplog):
    book, threads = [], Pool(1)
    bad, good = Worker("bad", book, 1, RuntimeError("oh")), Worker("good", book, 1)
    threads.submit(bad)
    threads.submit(good)
    assert bad.done.wait(10)
    assert good.done.wait(10)
    threads.close()
    assert book == ["good"]
    assert "session failed" in caplog.text
