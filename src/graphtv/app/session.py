"""The state of one browser tab: an image, strokes, settings and the latest answers."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.app import denoiser, segmenter
from graphtv.app.contest import denoising_contest, segmentation_contest
from graphtv.app.decoding import Sheet
from graphtv.app.drawing import Drawing, Shape
from graphtv.app.frame import Frame
from graphtv.app.full_run import FullRun
from graphtv.app.limits import Limits
from graphtv.app.outbox import Outbox
from graphtv.app.photo import Photo
from graphtv.app.pool import Pool
from graphtv.app.race import Race
from graphtv.app.requests import (
    Cancel,
    Denoise,
    Finish,
    NameClasses,
    Request,
    Segment,
    StartRace,
    StopRace,
    UseSample,
    UseSlice,
)
from graphtv.app.samples import sample
from graphtv.app.strokes import Marks
from graphtv.app.time_slice import TimeSlice

FRAME_SECONDS = 0.08
"""Minimum time between two frames, in seconds."""

SEGMENT = Segment(0.15, "auto")


class Session:
    """The state of a tab. The event loop changes it, and a thread of the pool reads it.

    Parameters
    ----------
    pool : Pool
        The pool whose threads do the live work.
    long_pool : Pool
        The pool of one thread for full-size runs and races.
    limits : Limits
        The sizes of images.
    """

    def __init__(self, pool: Pool, long_pool: Pool, limits: Limits) -> None:
        self.token = secrets.token_urlsafe(18)
        self.outbox = Outbox()
        self.seen = time.monotonic()
        self.is_connected = False
        self.is_uploading = False
        self.turn = 0
        """Number of messages from the page. Each frame carries the turn that it responds to."""
        self._pool, self._long_pool, self._limits = pool, long_pool, limits
        self._lock = threading.Lock()
        self._is_closed = False
        # The lock protects the following attributes.
        self._photo: Photo | None = None
        self._index = 0
        self._pixels: NDArray[np.uint8] = np.zeros((1, 1, 3), dtype=np.uint8)
        self._picture = 0
        self._drawing = Drawing()
        self._task: Segment | Denoise = SEGMENT
        self._job: segmenter.Job | denoiser.Job | None = None
        self._job_turn = 0
        self._labels: segmenter.Answer | None = None
        self._denoised: denoiser.Answer | None = None
        self._full_run: FullRun | None = None
        self._race: Race | None = None
        # Only the working thread uses these.
        self._workers: tuple[NDArray[np.uint8], segmenter.Segmenter, denoiser.Denoiser] | None = (
            None
        )
        self._shown_at = 0.0

    # Called by the server -----------------------------------------------------------------------

    def handle(self, request: Request) -> None:
        """Execute a request of the page; raise ValueError if it is not possible."""
        self.seen = time.monotonic()
        if isinstance(request, UseSample):
            self.load(sample(request.name), request.name)
        elif isinstance(request, UseSlice):
            self._use_slice(request.index)
        elif isinstance(request, NameClasses):
            with self._lock:
                self._drawing.names, self._drawing.colours = request.names, request.colours
        elif isinstance(request, Finish):
            self._finish(request.job)
        elif isinstance(request, Cancel):
            self._cancel_full_run()
        elif isinstance(request, StartRace | StopRace):
            self._start_race(isinstance(request, StartRace))
        else:
            with self._lock:
                if isinstance(request, Segment | Denoise):
                    self._task = request
                else:
                    self._check_image()
                    self._drawing.change(self._index, self._shape, request)
            self._drop_outdated_run()
            self._renew()

    def load(self, photo: Photo, name: str) -> None:
        """Load another image and discard all strokes and answers."""
        self.seen = time.monotonic()
        index = photo.n_slices // 2
        pixels = photo.view(index, self._limits.pixels)
        self._cancel_full_run()
        self._start_race(False)
        with self._lock:
            self._photo, self._index, self._pixels = photo, index, pixels
            self._picture += 1
            self._drawing.wipe()
            self._labels = self._denoised = self._job = None
        self._announce(name)

    def scribble(self, sheet: Sheet) -> None:
        """Replace the strokes on the current slice by uploaded scribbles."""
        with self._lock:
            self._check_image()
            marks = self._drawing.replace(self._index, self._shape, sheet)
        self.outbox.send("classes", names=sheet.names, colours=sheet.colours)
        height, width = marks.shape
        header = {"type": "marks", "width": width, "height": height}
        self.outbox.show(Frame(header, marks.tobytes()), self.turn)
        self._renew()

    def greet_returning_page(self) -> None:
        """Send the latest answer to a page that has reconnected."""
        with self._lock:
            answer = self._denoised if isinstance(self._task, Denoise) else self._labels
        if answer is not None:
            self.outbox.show(answer.frame(), 0)

    def close(self) -> None:
        """Stop all work and release the memory."""
        self._cancel_full_run()
        self._start_race(False)
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
    def index(self) -> int:
        """The current slice."""
        with self._lock:
            return self._index

    @property
    def held_bytes(self) -> int:
        """The memory of the image and of its denoised copy."""
        photo = self.photo
        return 0 if photo is None else 2 * photo.picture.pixels.nbytes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes."""
        with self._lock:
            return self._drawing.names

    @property
    def colours(self) -> tuple[tuple[int, int, int], ...]:
        """The colours of the classes."""
        with self._lock:
            return self._drawing.colours

    @property
    def marks(self) -> Marks:
        """The scribbles on the current slice."""
        with self._lock:
            return self._current_marks()

    @property
    def labels(self) -> segmenter.Answer | None:
        """The latest segmentation."""
        with self._lock:
            return self._labels

    @property
    def denoised(self) -> denoiser.Answer | None:
        """The latest denoised preview."""
        with self._lock:
            return self._denoised

    @property
    def full_run(self) -> FullRun | None:
        """The latest full-size run."""
        with self._lock:
            return self._full_run

    def _announce(self, name: str | None) -> None:
        """Tell the page which image and slice it shows, and start to work on it."""
        with self._lock:
            photo, index, picture = self._photo, self._index, self._picture
            height, width = self._pixels.shape[:2]
            marks = self._current_marks()
        assert photo is not None
        self.outbox.drop_frames()
        self.outbox.send(
            "image",
            name=name,
            width=width,
            height=height,
            original=[photo.size[1], photo.size[0]],
            picture=picture,
            slice=index,
            slices=photo.n_slices,
            channels=photo.n_channels,
            depth=str(photo.picture.pixels.dtype),
            contrast=photo.contrast,
            marked=bool(marks.any()),
        )
        self._renew()

    # What is shown -------------------------------------------------------------------------------

    @property
    def _shape(self) -> Shape:
        return self._pixels.shape[0], self._pixels.shape[1]

    def _check_image(self) -> None:
        if self._photo is None:
            raise ValueError("There is no image yet.")

    def _current_marks(self) -> Marks:
        return self._drawing.marks(self._index, self._shape)

    def _use_slice(self, index: int) -> None:
        photo = self.photo
        if photo is None or index >= photo.n_slices:
            raise ValueError("There is no such slice.")
        pixels = photo.view(index, self._limits.pixels)
        with self._lock:
            self._index, self._pixels = index, pixels
            self._labels = self._denoised = self._job = None
            self._picture += 1
        self._announce(None)

    # Live work -----------------------------------------------------------------------------------

    def _renew(self) -> None:
        """Replace the current job by one with the present settings."""
        with self._lock:
            if self._photo is None or self._is_closed:
                return
            task, message = self._task, ""
            turn = self._job_turn = self.turn
            if isinstance(task, Denoise):
                self._job, self._denoised = task.job, None
            else:
                marks = self._current_marks()
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

    # Called by a thread of the pool.

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Work on the current job; return whether there is more to do."""
        with self._lock:
            job, photo, index, pixels = self._job, self._photo, self._index, self._pixels
        if job is None or photo is None:
            self._workers = None if self._is_closed else self._workers
            return False
        if self._workers is None or self._workers[0] is not pixels:
            self._workers = None  # free the old ones first, to bound memory
            live = denoiser.Denoiser(photo, index, self._limits.preview_pixels)
            self._workers = pixels, segmenter.Segmenter(pixels), live

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

    # Long work -----------------------------------------------------------------------------------

    def _finish(self, job: denoiser.Job) -> None:
        """Start a full-size run."""
        self._cancel_full_run()
        with self._lock:
            if self._photo is None or self._is_closed:
                raise ValueError("There is no image yet.")

            def report(progress: dict[str, Any]) -> None:
                if self._full_run is run:
                    self.seen = time.monotonic()
                    self.outbox.send("progress", **progress)

            run = FullRun(self._photo, job, self._limits, report, self._pool.share)
            self._full_run = run
        self.outbox.send("progress", state="waiting", share=0.0)
        self._long_pool.submit(run)

    def _cancel_full_run(self) -> None:
        with self._lock:
            run, self._full_run = self._full_run, None
        if run is not None:
            run.cancel()
            self._long_pool.forget(run)
            self.outbox.send("progress", state="cancelled")

    def _drop_outdated_run(self) -> None:
        """Cancel the full-size run if the settings have changed since."""
        with self._lock:
            run, task = self._full_run, self._task
        if run is not None and isinstance(task, Denoise) and task.job != run.job:
            self._cancel_full_run()

    def _start_race(self, is_wanted: bool) -> None:
        """Start a race, or stop the one that runs."""
        with self._lock:
            race, self._race = self._race, None
            if race is not None:
                race.cancel()
            photo, index, pixels, job = self._photo, self._index, self._pixels, self._job
            weight = None if self._denoised is None else self._denoised.weight
        if race is not None:
            self._long_pool.forget(race)
        if not is_wanted:
            return
        if photo is None or job is None:
            raise ValueError("There is nothing to race on yet: paint strokes of two classes first.")
        if isinstance(job, segmenter.Job):
            prepare = segmentation_contest(pixels, job)
        else:
            prepare = denoising_contest(photo, index, job, weight, self._limits)

        def report(news: dict[str, Any]) -> None:
            if self._race is race:
                self.seen = time.monotonic()
                self.outbox.send("race", **news)

        race = Race(prepare, report)
        with self._lock:
            self._race = race
        self._long_pool.submit(race)
