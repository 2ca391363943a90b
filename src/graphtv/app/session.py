"""The state of one browser tab: an image, strokes, settings and the latest answers."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

import numpy as np

from graphtv.app import denoiser, segmenter
from graphtv.app.outbox import Outbox
from graphtv.app.photo import Photo
from graphtv.app.pool import Pool
from graphtv.app.requests import (
    Clear,
    Denoise,
    NameClasses,
    Paint,
    RemoveClass,
    Request,
    Segment,
    Undo,
    UseSample,
)
from graphtv.app.samples import sample
from graphtv.app.strokes import Strokes
from graphtv.app.time_slice import TimeSlice

FRAME_SECONDS = 0.08
"""Minimum time between two frames, in seconds."""

SEGMENT = Segment(0.15, "auto")


class Session:
    """The state of a tab. The event loop changes it, and a thread of the pool reads it.

    Parameters
    ----------
    pool : Pool
        The pool whose threads do the work.
    """

    def __init__(self, pool: Pool) -> None:
        self.token = secrets.token_urlsafe(18)
        self.outbox = Outbox()
        self.seen = time.monotonic()
        self.is_connected = False
        self.is_uploading = False
        self.turn = 0
        """Number of messages from the page. Each frame carries the turn that it responds to."""
        self._pool = pool
        self._lock = threading.Lock()
        self._is_closed = False
        # The lock protects the following attributes.
        self._photo: Photo | None = None
        self._picture = 0
        self._strokes = Strokes((1, 1))
        self._names: tuple[str, ...] = ("class 1", "class 2")
        self._task: Segment | Denoise = SEGMENT
        self._job: segmenter.Job | denoiser.Job | None = None
        self._job_turn = 0
        self._labels: segmenter.Answer | None = None
        self._denoised: denoiser.Answer | None = None
        # Only the working thread uses these.
        self._workers: tuple[Photo, segmenter.Segmenter, denoiser.Denoiser] | None = None
        self._shown_at = 0.0

    # Called by the server -----------------------------------------------------------------------

    def handle(self, request: Request) -> None:
        """Execute a request of the page; raise ValueError if it is not possible."""
        self.seen = time.monotonic()
        if isinstance(request, UseSample):
            self.load(sample(request.name), request.name)
            return
        with self._lock:
            if isinstance(request, Segment | Denoise):
                self._task = request
            elif isinstance(request, NameClasses):
                self._names = request.names
                return
            else:
                self._draw(request)
        self._renew()

    def load(self, photo: Photo, name: str) -> None:
        """Load another image and discard all strokes and answers."""
        self.seen = time.monotonic()
        with self._lock:
            self._photo = photo
            self._picture += 1
            self._strokes = Strokes(photo.shape)
            self._labels = self._denoised = self._job = None
            picture = self._picture
        self.outbox.drop_frames()
        height, width = photo.shape
        self.outbox.send(
            "image",
            name=name,
            width=width,
            height=height,
            original=[photo.original[1], photo.original[0]],
            picture=picture,
        )
        self._renew()

    def greet_returning_page(self) -> None:
        """Send the latest answer to a page that has reconnected."""
        with self._lock:
            answer = self._denoised if isinstance(self._task, Denoise) else self._labels
        if answer is not None:
            self.outbox.show(answer.frame(), 0)

    def close(self) -> None:
        """Stop all work and release the memory."""
        with self._lock:
            self._is_closed = True
            self._job = None
        self._pool.forget(self)

    @property
    def photo(self) -> Photo | None:
        """The image."""
        with self._lock:
            return self._photo

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes."""
        with self._lock:
            return self._names

    @property
    def marks(self) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        """The scribbles."""
        with self._lock:
            return self._strokes.marks

    @property
    def labels(self) -> segmenter.Answer | None:
        """The latest segmentation."""
        with self._lock:
            return self._labels

    @property
    def denoised(self) -> denoiser.Answer | None:
        """The latest denoised image."""
        with self._lock:
            return self._denoised

    def _draw(self, request: Request) -> None:
        if self._photo is None:
            raise ValueError("There is no image yet.")
        if isinstance(request, Paint):
            if request.stroke.number > len(self._names):
                raise ValueError(f"There is no class {request.stroke.number}.")
            self._strokes.add(request.stroke, request.continues)
        elif isinstance(request, Undo):
            self._strokes.undo()
        elif isinstance(request, Clear):
            self._strokes.clear()
        elif isinstance(request, RemoveClass):
            if request.number > len(self._names) or len(self._names) <= 2:
                raise ValueError("This class cannot be removed: at least two classes are needed.")
            self._strokes.remove_class(request.number)
            k = request.number
            self._names = self._names[: k - 1] + self._names[k:]

    def _renew(self) -> None:
        """Replace the current job by one with the present settings."""
        with self._lock:
            if self._photo is None or self._is_closed:
                return
            task, message = self._task, ""
            turn = self._job_turn = self.turn
            if isinstance(task, Denoise):
                self._job = denoiser.Job(task.weight, task.noise, task.preconditioner)
            else:
                marks = self._strokes.marks
                n_classes = len(np.unique(marks[marks > 0]))
                self._job = None
                if n_classes < 2:
                    self._labels = None
                    message = (
                        "Paint a stroke of " + ("each of two classes", "a second class")[n_classes]
                    )
                else:
                    self._job = segmenter.Job(marks, task.weight, task.preconditioner)
        if message:
            self.outbox.drop_frames()
            self.outbox.send("waiting", message=message, turn=turn)
        else:
            self._pool.submit(self)

    # Called by a thread of the pool -------------------------------------------------------------

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Work on the current job; return whether there is more to do."""
        with self._lock:
            job, photo = self._job, self._photo
        if job is None or photo is None:
            self._workers = None if self._is_closed else self._workers
            return False
        if self._workers is None or self._workers[0] is not photo:
            self._workers = None  # free the old ones first, to bound memory
            self._workers = photo, segmenter.Segmenter(photo), denoiser.Denoiser(photo)

        time_slice = TimeSlice(lambda: self._job is not job, is_over, self._pool.share)
        answer: segmenter.Answer | denoiser.Answer | None
        if isinstance(job, segmenter.Job):
            answer = self._workers[1].run(job, lambda a: self._show(job, a), time_slice)
        else:
            answer = self._workers[2].run(job, lambda a: self._show(job, a), time_slice)
        if answer is not None:
            self._show(job, answer, is_last=True)
        is_done = answer is not None and answer.is_done
        return self._job is not None and (self._job is not job or not is_done)

    def fail(self, error: Exception) -> None:
        """Report an error to the page and discard intermediate results, which may be the cause."""
        self._workers = None
        reason = "out of memory" if isinstance(error, MemoryError) else "internal error"
        self.outbox.send("error", message=f"The computation failed: {reason}.")

    def _show(
        self,
        job: segmenter.Job | denoiser.Job,
        answer: segmenter.Answer | denoiser.Answer,
        is_last: bool = False,
    ) -> None:
        now = time.monotonic()
        if not is_last and now - self._shown_at < FRAME_SECONDS:
            return
        self._shown_at = now
        with self._lock:
            if self._job is not job:  # obsolete
                return
            if isinstance(answer, segmenter.Answer):
                self._labels = answer
            else:
                self._denoised = answer
            self.outbox.show(answer.frame(), self._job_turn)
