"""Strokes, and the shared worker threads."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphtv.app import limits, pool
from graphtv.app.pool import Pool
from graphtv.app.strokes import MOST_SHEETS, Stroke, Strokes, enlarged_marks, reduced_marks

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


@given(st.lists(st.one_of(strokes, st.just("clear"), st.just("sheet")), max_size=6))
def test_redo_repeats_what_undo_took_back(steps):
    painted = Strokes(SHAPE)
    for step in steps:
        take(painted, step)
    after, n_steps, seen = painted.marks, len(painted), []
    while len(painted):
        seen.append(painted.marks)
        painted.undo()
    assert not painted.marks.any()
    for marks in reversed(seen):
        painted.redo()
        np.testing.assert_array_equal(painted.marks, marks)
    np.testing.assert_array_equal(painted.marks, after)
    assert len(painted) == n_steps


def take(painted, step):
    if step == "clear":
        painted.clear()
    elif step == "sheet":
        painted.replace(np.tile(np.array([0, 1, 2], dtype=np.uint8), (20, 10)))
    else:
        painted.add(Stroke(step.number, step.size, list(step.points)), continues=False)


def test_a_new_stroke_ends_redo_and_old_sheets_are_forgotten():
    painted = Strokes(SHAPE)
    stroke = Stroke(1, 3.0, [(1.0, 1.0)])
    painted.add(stroke, continues=False)
    painted.undo()
    painted.add(Stroke(2, 3.0, [(9.0, 9.0)]), continues=False)
    before = painted.marks
    painted.redo()
    np.testing.assert_array_equal(painted.marks, before)
    for _ in range(3 * MOST_SHEETS):
        painted.replace(np.ones(SHAPE, dtype=np.uint8))
    assert len(painted) <= MOST_SHEETS


def test_removing_a_class_changes_sheets_too():
    painted = Strokes((1, 4))
    painted.replace(np.array([[0, 1, 2, 3]], dtype=np.uint8))
    painted.remove_class(2)
    np.testing.assert_array_equal(painted.marks, [[0, 1, 0, 2]])


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 5), st.integers(1, 5))
def test_scribbles_that_were_enlarged_come_back_as_they_were(height, width, more, wider):
    rng = np.random.default_rng(height + 10 * width)
    marks = rng.integers(0, 4, (height, width), dtype=np.uint8)
    large = (height * more + height // 3, width * wider + width // 2)
    enlarged = enlarged_marks(marks, large)
    assert enlarged.shape == large
    np.testing.assert_array_equal(reduced_marks(enlarged, (height, width)), marks)


def test_thin_scribbles_survive_the_reduction():
    marks = np.zeros((100, 100), dtype=np.uint8)
    marks[57] = 3
    assert (reduced_marks(marks, (10, 10))[5] == 3).all()


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
