"""Repeated denoising of one image as the weight changes; each run is warm-started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import as_intensities
from graphtv.app.frame import Frame, finite
from graphtv.app.photo import Photo
from graphtv.app.time_slice import TimeSlice
from graphtv.applications.imaging.denoising import denoise_tv
from graphtv.applications.imaging.noise import suggest_weight
from graphtv.result import Result
from graphtv.solver.progress import Info

TOLERANCE = 1e-4
LEAST_WEIGHT, MOST_WEIGHT = 0.001, 1.0
SUGGESTION_SECONDS = 3.0


@dataclass(frozen=True)
class Job:
    """The settings of a denoised image to compute.

    Attributes
    ----------
    weight : float or None
        The weight of `denoise_tv`, or None to use `suggest_weight`.
    noise : float
        Standard deviation of the noise to add to the image, relative to white.
    preconditioner : str
        As in `graphtv.solve`.
    """

    weight: float | None
    noise: float
    preconditioner: str


@dataclass(frozen=True, eq=False)
class Answer:
    """The denoised image, the noisy image and the state of the solver."""

    clean: NDArray[np.uint8]
    noisy: NDArray[np.uint8]
    weight: float
    iterations: int
    relative_gap: float
    seconds: float
    preconditioner: str
    is_warm: bool
    is_done: bool

    def frame(self) -> Frame:
        """Return the frame to display: the noisy image, then the denoised one."""
        height, width, _ = self.clean.shape
        header = {
            "type": "denoised",
            "width": width,
            "height": height,
            "weight": self.weight,
            "iterations": self.iterations,
            "gap": finite(self.relative_gap),
            "seconds": round(self.seconds, 3),
            "preconditioner": self.preconditioner,
            "tolerance": TOLERANCE,
            "warm": self.is_warm,
            "done": self.is_done,
        }
        return Frame(header, self.noisy.tobytes() + self.clean.tobytes())


class Denoiser:
    """Denoises one image and keeps intermediate results; used by one thread at a time."""

    def __init__(self, photo: Photo) -> None:
        self._pixels = as_intensities(photo.pixels)
        self._noise: float | None = None
        self._noisy = self._pixels
        self._suggested: float | None = None
        self._start: Result | None = None
        self._job: Job | None = None
        self._iterations, self._seconds = 0, 0.0

    def run(
        self,
        job: Job,
        show: Callable[[Answer], None],
        time_slice: TimeSlice,
    ) -> Answer | None:
        """Work on a job until it is done or the time slice ends; another call continues.

        `show` is called with intermediate answers. Return the last answer, or None if the time
        slice ended before the first one.
        """
        if job is not self._job:
            self._job, self._iterations, self._seconds = job, 0, 0.0
        self._add_noise(job.noise)
        weight = self._suggestion(time_slice) if job.weight is None else job.weight
        is_warm = self._start is not None

        def answer(
            u: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
            iterations: int,
            gap: float,
            seconds: float,
            preconditioner: str,
            is_done: bool,
        ) -> Answer:
            return Answer(
                clean=_bytes(u.reshape(self._pixels.shape)),
                noisy=_bytes(self._noisy),
                weight=weight,
                iterations=self._iterations + iterations,
                relative_gap=gap,
                seconds=self._seconds + seconds,
                preconditioner=preconditioner,
                is_warm=is_warm,
                is_done=is_done,
            )

        def report(info: Info) -> bool:
            name = job.preconditioner
            show(answer(info.u, info.iteration, info.relative_gap, info.time, name, False))
            time_slice.has_answer = True
            return time_slice.ends()

        _, result = denoise_tv(
            self._noisy,
            weight,
            channel_axis=-1,
            return_result=True,
            preconditioner=job.preconditioner,
            tol=TOLERANCE,
            warm_start=self._start,
            callback=report,
            stop=time_slice.ends,
            n_threads=time_slice.n_threads,
        )
        if result.iterations == 0 and result.status != "optimal":
            return None
        seconds = result.setup_time + result.solve_time
        done = answer(
            result.u,
            result.iterations,
            result.relative_gap,
            seconds,
            result.preconditioner,
            result.status != "interrupted",
        )
        self._start = result
        self._iterations += result.iterations
        self._seconds += seconds
        return done

    def _add_noise(self, noise: float) -> None:
        if noise != self._noise:
            rng = np.random.default_rng(0)
            added = noise * rng.standard_normal(self._pixels.shape)
            self._noise, self._noisy, self._suggested = noise, self._pixels + added, None

    def _suggestion(self, time_slice: TimeSlice) -> float:
        if self._suggested is not None:
            return self._suggested
        found = suggest_weight(
            self._noisy,
            channel_axis=-1,
            time_limit=SUGGESTION_SECONDS,
            n_threads=time_slice.n_threads,
            stop=time_slice.is_obsolete,
        )
        weight = float(np.clip(found, LEAST_WEIGHT, MOST_WEIGHT))
        if not time_slice.is_obsolete():  # otherwise the search may be incomplete
            self._suggested = weight
        return weight


def _bytes(image: NDArray[np.float64]) -> NDArray[np.uint8]:
    return np.rint(255.0 * np.clip(image, 0.0, 1.0)).astype(np.uint8)
