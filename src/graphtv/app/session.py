"""What one tab of a browser has: an image, strokes on it, settings, and the answers so far."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable

import numpy as np

from graphtv.app import denoiser, segmenter
from graphtv.app.mailbox import Mailbox
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
from graphtv.app.shift import Shift
from graphtv.app.strokes import Strokes

FRAME_SECONDS = 0.08
"""At most so often a frame is shown."""

SEGMENT = Segment(0.15, "auto")


class Session:
    """The state of a tab, changed by the event loop, read by a thread of the pool.

    Parameters
    ----------
    pool : Pool
        Who does the work.
    """

    def __init__(self, pool: Pool) -> None:
        self.token = secrets.token_urlsafe(18)
        self.mailbox = Mailbox()
        self.seen = time.monotonic()
        self.is_connected = False
        self.is_uploading = False
        self.turn = 0
        """How many messages the page has sent; what is shown says which was the last it obeys."""
        self._pool = pool
        self._lock = threading.Lock()
        self._is_closed = False
        # The rest is guarded by the lock.
        self._photo: Photo | None = None
        self._picture = 0
        self._strokes = Strokes((1, 1))
        self._names: tuple[str, ...] = ("class 1", "class 2")
        self._task: Segment | Denoise = SEGMENT
        self._wish: segmenter.Wish | denoiser.Wish | None = None
        self._wish_turn = 0
        self._labels: segmenter.Answer | None = None
        self._denoised: denoiser.Answer | None = None
        # Only the thread that works has to do with these.
        self._workers: tuple[Photo, segmenter.Segmenter, denoiser.Denoiser] | None = None
        self._shown_at = 0.0

    # Asked by the server ------------------------------------------------------------------------

    def handle(self, request: Request) -> None:
        """Do what the page asks for; ValueError says why not."""
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
        """Take another image; strokes and answers are gone with the old one."""
        self.seen = time.monotonic()
        with self._lock:
            self._photo = photo
            self._picture += 1
            self._strokes = Strokes(photo.shape)
            self._labels = self._denoised = self._wish = None
            picture = self._picture
        self.mailbox.drop_frames()
        height, width = photo.shape
        self.mailbox.say(
            "image",
            name=name,
            width=width,
            height=height,
            original=[photo.original[1], photo.original[0]],
            picture=picture,
        )
        self._renew()

    def greet_again(self) -> None:
        """Say to a page that has come back what it may have missed."""
        with self._lock:
            answer = self._denoised if isinstance(self._task, Denoise) else self._labels
        if answer is not None:
            self.mailbox.show(answer.frame(), 0)

    def close(self) -> None:
        """End all work, and let go of the memory."""
        with self._lock:
            self._is_closed = True
            self._wish = None
        self._pool.forget(self)

    @property
    def photo(self) -> Photo | None:
        """The image."""
        with self._lock:
            return self._photo

    @property
    def names(self) -> tuple[str, ...]:
        """The classes' names."""
        with self._lock:
            return self._names

    @property
    def marks(self) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        """The scribbles."""
        with self._lock:
            return self._strokes.marks

    @property
    def labels(self) -> segmenter.Answer | None:
        """The newest segmentation."""
        with self._lock:
            return self._labels

    @property
    def denoised(self) -> denoiser.Answer | None:
        """The newest denoised image."""
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
                raise ValueError("This class cannot be removed: two must stay.")
            self._strokes.remove_class(request.number)
            k = request.number
            self._names = self._names[: k - 1] + self._names[k:]

    def _renew(self) -> None:
        """Have the present wish worked on, and no other any more."""
        with self._lock:
            if self._photo is None or self._is_closed:
                return
            task, message = self._task, ""
            turn = self._wish_turn = self.turn
            if isinstance(task, Denoise):
                self._wish = denoiser.Wish(task.weight, task.noise, task.preconditioner)
            else:
                marks = self._strokes.marks
                n_classes = len(np.unique(marks[marks > 0]))
                self._wish = None
                if n_classes < 2:
                    self._labels = None
                    message = (
                        "Paint a stroke of " + ("each of two classes", "a second class")[n_classes]
                    )
                else:
                    self._wish = segmenter.Wish(marks, task.weight, task.preconditioner)
        if message:
            self.mailbox.drop_frames()
            self.mailbox.say("waiting", message=message, turn=turn)
        else:
            self._pool.submit(self)

    # Done by a thread of the pool ---------------------------------------------------------------

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Work on the present wish; return whether there is more to do."""
        with self._lock:
            wish, photo = self._wish, self._photo
        if wish is None or photo is None:
            self._workers = None if self._is_closed else self._workers
            return False
        if self._workers is None or self._workers[0] is not photo:
            self._workers = None  # before there are others: memory is bounded
            self._workers = photo, segmenter.Segmenter(photo), denoiser.Denoiser(photo)

        shift = Shift(lambda: self._wish is not wish, is_over, self._pool.share)
        answer: segmenter.Answer | denoiser.Answer | None
        if isinstance(wish, segmenter.Wish):
            answer = self._workers[1].run(wish, lambda a: self._show(wish, a), shift)
        else:
            answer = self._workers[2].run(wish, lambda a: self._show(wish, a), shift)
        if answer is not None:
            self._show(wish, answer, is_last=True)
        is_done = answer is not None and answer.is_done
        return self._wish is not None and (self._wish is not wish or not is_done)

    def fail(self, error: Exception) -> None:
        """Say that something went wrong; what has been computed so far may be the reason."""
        self._workers = None
        word = "memory ran out" if isinstance(error, MemoryError) else "something went wrong"
        self.mailbox.say("error", message=f"This could not be computed: {word}.")

    def _show(
        self,
        wish: segmenter.Wish | denoiser.Wish,
        answer: segmenter.Answer | denoiser.Answer,
        is_last: bool = False,
    ) -> None:
        now = time.monotonic()
        if not is_last and now - self._shown_at < FRAME_SECONDS:
            return
        self._shown_at = now
        with self._lock:
            if self._wish is not wish:  # nobody wants to see it any more
                return
            if isinstance(answer, segmenter.Answer):
                self._labels = answer
            else:
                self._denoised = answer
            self.mailbox.show(answer.frame(), self._wish_turn)
