"""Repeated denoising of one slice as the weight changes; each run is warm-started.

A large slice is denoised in a reduced size, as a preview. If one pixel of the preview is the mean
of s × s pixels of the image, the preview uses the weight divided by s: the squares of the loss
count s² times, and the differences s times. So flat regions move by the same amount in both sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats
from graphtv.app.frame import Frame, finite
from graphtv.app.photo import Photo, averaged, reduced_shape
from graphtv.app.time_slice import TimeSlice
from graphtv.applications.imaging.denoising import denoise_tv
from graphtv.applications.imaging.noise import suggest_weight
from graphtv.result import Result
from graphtv.solver.progress import Info

TOLERANCE = 1e-5
LEAST_WEIGHT, MOST_WEIGHT = 0.001, 1.0
"""Weights that can be chosen, relative to the contrast of the image."""

SUGGESTION_SECONDS = 3.0
SUGGESTION_SIDE = 2048
"""The weight is suggested from the middle of a slice, up to this height and width."""

NEIGHBOURS = 1
"""Slices on each side that the preview of a volume includes."""


@dataclass(frozen=True)
class Job:
    """The settings of a denoised image to compute.

    Attributes
    ----------
    weight : float or None
        The weight of `denoise_tv`, or None to use `suggest_weight`.
    noise : float
        Standard deviation of the noise to add to the image, relative to its contrast.
    isotropic, coupled : bool
        As in `denoise_tv`.
    is_volume : bool
        Whether slices are neighbours. Otherwise each slice is denoised separately.
    preconditioner : str
        As in `graphtv.solve`.
    """

    weight: float | None
    noise: float = 0.0
    isotropic: bool = False
    coupled: bool = False
    is_volume: bool = False
    preconditioner: str = "auto"


@dataclass(frozen=True, eq=False)
class Answer:
    """The denoised slice, the noisy slice and the state of the solver.

    Attributes
    ----------
    clean, noisy : ndarray of uint8
        The slices for display.
    values : ndarray or None
        The result in full size, as `denoise_tv` returns it, if the answer is final and the image is
        not reduced.
    """

    clean: NDArray[np.uint8]
    noisy: NDArray[np.uint8]
    values: Floats | None
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
            "full": self.values is not None,
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
    """Denoises one slice and keeps intermediate results; used by one thread at a time."""

    def __init__(self, photo: Photo, index: int, most_pixels: int) -> None:
        self._photo, self._index = photo, index
        self._shape = reduced_shape(photo.size, most_pixels)
        self._shrink = math.sqrt(math.prod(photo.size) / math.prod(self._shape))
        self._noise: tuple[float, bool] | None = None
        self._noisy: Floats = np.empty(0)
        self._suggested: tuple[float, float] | None = None
        self._start: tuple[tuple[bool, bool, bool], Result] | None = None
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
        noisy = self._data(job)
        weight = self._suggestion(job.noise, time_slice) if job.weight is None else job.weight
        model = (job.isotropic, job.coupled, job.is_volume)
        start = self._start[1] if self._start is not None and self._start[0] == model else None

        def answer(
            u: Floats,
            iterations: int,
            gap: float,
            seconds: float,
            preconditioner: str,
            is_done: bool,
        ) -> Answer:
            middle = _middle(u.reshape(noisy.shape))
            is_full = is_done and self._shrink == 1.0 and self._photo.n_slices == 1
            return Answer(
                clean=self._photo.shown_intensities(middle),
                noisy=self._photo.shown_intensities(_middle(noisy)),
                values=middle if is_full else None,
                weight=weight,
                iterations=self._iterations + iterations,
                relative_gap=gap,
                seconds=self._seconds + seconds,
                preconditioner=preconditioner,
                is_warm=start is not None,
                is_done=is_done,
            )

        def report(info: Info) -> bool:
            name = job.preconditioner
            show(answer(info.u, info.iteration, info.relative_gap, info.time, name, False))
            time_slice.has_answer = True
            return time_slice.ends()

        _, result = denoise_tv(
            noisy,
            return_result=True,
            tol=TOLERANCE,
            warm_start=start,
            callback=report,
            stop=time_slice.ends,
            n_threads=time_slice.n_threads,
            preconditioner=job.preconditioner,
            **self._model(job, weight),
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
        self._start = model, result
        self._iterations += result.iterations
        self._seconds += seconds
        return done

    def contest(self, job: Job, weight: float) -> tuple[Floats, dict[str, Any]]:
        """Return the preview's data and the arguments of `denoise_tv`, for a race."""
        return self._data(job), self._model(job, weight)

    def _model(self, job: Job, weight: float) -> dict[str, Any]:
        """Return the arguments of `denoise_tv` for data in the size of the preview."""
        model: dict[str, Any] = {
            "weight": weight / self._shrink,
            "channel_axis": -1,
            "isotropic": job.isotropic,
            "coupled": job.coupled,
        }
        if self._is_slab(job):  # between slices the full weight, which is divided by the spacing
            model["spacing"] = (1.0 / self._shrink, 1.0, 1.0)
        return model

    def _is_slab(self, job: Job) -> bool:
        return job.is_volume and self._photo.n_slices > 1

    def _data(self, job: Job) -> Floats:
        """Return the slice in the size of the preview, or for a volume with its neighbours."""
        key = job.noise, self._is_slab(job)
        if key != self._noise:
            self._noise, self._start = key, None
            if key[1]:
                slices = [self._reduced(k, job.noise) for k in self._slab()]
                self._noisy = np.stack(slices)
            else:
                self._noisy = self._reduced(self._index, job.noise)
        return self._noisy

    def _slab(self) -> list[int]:
        last = self._photo.n_slices - 1
        around = range(self._index - NEIGHBOURS, self._index + NEIGHBOURS + 1)
        return [min(max(k, 0), last) for k in around]

    def _reduced(self, index: int, noise: float) -> Floats:
        return averaged(self._photo.intensities(index, noise), self._shape)

    def _suggestion(self, noise: float, time_slice: TimeSlice) -> float:
        """Return the weight for the slice in its original size."""
        if self._suggested is not None and self._suggested[0] == noise:
            return self._suggested[1]
        found = suggest_weight(
            _centre(self._photo.intensities(self._index, noise)),
            channel_axis=-1,
            time_limit=SUGGESTION_SECONDS,
            n_threads=time_slice.n_threads,
            stop=time_slice.is_obsolete,
        )
        contrast = self._photo.contrast
        weight = float(np.clip(found, LEAST_WEIGHT * contrast, MOST_WEIGHT * contrast))
        if not time_slice.is_obsolete():  # otherwise the search may be incomplete
            self._suggested = noise, weight
        return weight


def _middle(values: Floats) -> Floats:
    """Return the slice in the middle of a slab, or the only slice."""
    return values if values.ndim == 3 else values[len(values) // 2]


def _centre(values: Floats) -> Floats:
    top, left = (max(n - SUGGESTION_SIDE, 0) // 2 for n in values.shape[:2])
    return values[top : top + SUGGESTION_SIDE, left : left + SUGGESTION_SIDE]
