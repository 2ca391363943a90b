"""Work that ends early: because it is obsolete, or because its time slice is over."""

import numpy as np
import pytest

from graphtv.app import denoiser, segmenter
from graphtv.app.photo import Photo
from graphtv.app.time_slice import TimeSlice
from graphtv.io.picture import Picture
from page_support import halves


def never():
    return False


def workers(width=120, height=90):
    """Return a segmenter and a denoiser of a noisy image, with a job each."""
    pixels = halves(width, height, seed=3)
    photo = Photo(Picture(pixels, "png", 2))
    marks = np.zeros(photo.size, dtype=np.uint8)
    marks[20:-20, 10:14], marks[20:-20, -14:-10] = 1, 2
    return (
        (segmenter.Segmenter(pixels), segmenter.Job(marks, 0.15, "none")),
        (denoiser.Denoiser(photo, 0, 10**6), denoiser.Job(0.3, 0.3, preconditioner="none")),
    )


@pytest.mark.parametrize("which", [0, 1])
def test_what_is_obsolete_ends_at_once_and_leaves_no_trace(which):
    worker, job = workers()[which]
    shown = []
    assert worker.run(job, shown.append, TimeSlice(lambda: True, never)) is None
    assert all(answer.iterations == 0 for answer in shown)
    done = worker.run(job, shown.append, TimeSlice(never, never))
    assert done.is_done
    again, same = workers()[which]
    fresh = again.run(same, shown.append, TimeSlice(never, never))
    assert done.iterations == fresh.iterations
    assert done.relative_gap == fresh.relative_gap


@pytest.mark.parametrize("which", [0, 1])
def test_after_a_turn_work_goes_on_where_it_was(which):
    worker, job = workers()[which]
    early = worker.run(job, lambda _: None, TimeSlice(never, lambda: True))
    assert early is not None  # even the shortest time slice gives a result
    assert not early.is_done
    assert early.iterations > 0
    done = worker.run(job, lambda _: None, TimeSlice(never, never))
    assert done.is_done
    assert done.iterations > early.iterations
    assert done.relative_gap < min(early.relative_gap, 1e-3)


def test_a_suggestion_is_given_up_when_nobody_wants_it():
    worker = workers()[1][0]
    job, asked = denoiser.Job(None, 0.3), []

    def later():
        asked.append(1)
        return len(asked) > 3

    assert worker.run(job, lambda _: None, TimeSlice(later, never)) is None
    asked.clear()
    done = worker.run(job, lambda _: None, TimeSlice(never, never))
    fresh = workers()[1][0].run(job, lambda _: None, TimeSlice(never, never))
    assert done.weight == fresh.weight  # not the intermediate result
