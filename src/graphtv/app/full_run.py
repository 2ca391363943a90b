"""Denoising in full size: every slice and channel, with progress, for the download.

One thread works on full-size runs, one after the other, so that the memory of one run bounds that
of all. Unless channels are coupled each channel is a run of its own, and unless the stack is a
volume each slice is.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.app.denoiser import TOLERANCE, Job
from graphtv.app.limits import Limits
from graphtv.app.photo import Photo
from graphtv.applications.imaging.denoising import denoise_tv
from graphtv.io.picture import Picture
from graphtv.io.pictures import of_type
from graphtv.solver.progress import Info
from graphtv.solver.reach import Reach

BYTES_PER_VALUE = {False: 170, True: 480}
"""Measured memory of a run per number, without and with isotropic total variation."""

REPORT_SECONDS = 0.1


class TooLargeError(ValueError):
    """A full-size run would need too much memory; the message is shown to the user."""


class FullRun:
    """Denoises a whole photo. It is a client of a pool with one thread.

    Parameters
    ----------
    photo : Photo
        The image or stack.
    job : Job
        The settings, with a weight.
    limits : Limits
        Memory and time of the run.
    report : callable
        Called with a dictionary that describes the progress: ``state`` is ``running``, ``done``,
        ``stopped`` or ``failed``.
    n_threads : int
        Number of processors that may be used.
    """

    def __init__(
        self,
        photo: Photo,
        job: Job,
        limits: Limits,
        report: Callable[[dict[str, Any]], None],
        n_threads: int = 1,
    ) -> None:
        if job.weight is None:
            raise ValueError("A full-size run needs a weight.")
        self.photo, self.job = photo, job
        self.picture: Picture | None = None
        """The result, when the run is done."""
        self._weight, self._limits, self._report = job.weight, limits, report
        self._n_threads = n_threads
        self._cancelled = threading.Event()
        self._reported_at = 0.0
        self._parts = _parts(photo, job)
        self._check_memory()

    def cancel(self) -> None:
        """Stop the run as soon as possible; its progress is no longer reported."""
        self._cancelled.set()

    def work(self, is_over: Callable[[], bool]) -> bool:
        """Denoise everything; the time slice is ignored, since runs take turns as a whole."""
        if self._cancelled.is_set():
            return False
        begin = time.monotonic()
        pixels = np.empty(self.photo.stack.shape, dtype=self.photo.stack.dtype)
        worst, n_parts = 0.0, len(self._parts)
        for k, part in enumerate(self._parts):
            left = begin + self._limits.run_seconds - time.monotonic()
            if left <= 0.0:
                self._stop_early(k)
                return False
            self._tell(k / n_parts, k, worst)
            values, gap = self._denoise(part, k, worst, left)
            if self._cancelled.is_set():
                return False
            pixels[part] = of_type(values, pixels.dtype).reshape(pixels[part].shape)
            worst = max(worst, gap)
        pixels = self.photo.in_layout(pixels)
        self.picture = dataclasses.replace(self.photo.picture, pixels=pixels)
        seconds = round(time.monotonic() - begin, 2)
        self._report({"state": "done", "share": 1.0, "gap": worst, "seconds": seconds})
        return False

    def fail(self, error: Exception) -> None:
        """Report an exception."""
        reason = "out of memory" if isinstance(error, MemoryError) else "internal error"
        self._report({"state": "failed", "message": f"The full-size run failed: {reason}."})

    def _denoise(
        self, part: tuple[Any, ...], k: int, worst: float, seconds: float
    ) -> tuple[Any, float]:
        """Return the denoised values of a part, and its relative gap."""
        reach = Reach(TOLERANCE)
        n_parts = len(self._parts)

        def show(info: Info) -> bool:
            now = time.monotonic()
            share = reach(info.relative_gap, info.settled or 0.0)
            if now - self._reported_at >= REPORT_SECONDS:
                self._reported_at = now
                self._tell((k + share) / n_parts, k, max(worst, info.relative_gap))
            return self._cancelled.is_set()

        values = _values(self.photo, self.job, part)
        clean, result = denoise_tv(
            values,
            self._weight,
            channel_axis=-1,
            isotropic=self.job.isotropic,
            coupled=self.job.coupled,
            tol=TOLERANCE,
            time_limit=seconds,
            return_result=True,
            callback=show,
            stop=self._cancelled.is_set,
            n_threads=self._n_threads,
        )
        return clean, result.relative_gap

    def _tell(self, share: float, part: int, gap: float) -> None:
        if not self._cancelled.is_set():
            self._report(
                {
                    "state": "running",
                    "share": round(min(share, 1.0), 4),
                    "part": part + 1,
                    "parts": len(self._parts),
                    "gap": gap if math.isfinite(gap) else None,
                }
            )

    def _stop_early(self, n_done: int) -> None:
        minutes = self._limits.run_seconds / 60.0
        message = (
            f"The full-size run was stopped after {minutes:g} minutes, with {n_done} of"
            f" {len(self._parts)} parts done. The command `graphtv denoise` has no such limit."
        )
        self._report({"state": "stopped", "message": message})

    def _check_memory(self) -> None:
        largest = max(self.photo.stack[part].size for part in self._parts)
        needed = BYTES_PER_VALUE[self.job.isotropic] * largest
        if needed > self._limits.run_bytes:
            gigabytes, most = (n / 2**30 for n in (needed, self._limits.run_bytes))
            raise TooLargeError(
                f"In full size this needs about {gigabytes:.1f} GB of memory. The limit is"
                f" {most:g} GB (option --memory). Use other settings, or `graphtv denoise`."
            )


def _parts(photo: Photo, job: Job) -> list[tuple[Any, ...]]:
    """Return the indices of the parts that are denoised separately."""
    leading = photo.stack.shape[:-3]
    if job.is_volume or not leading:
        slices: list[tuple[Any, ...]] = [(...,)]
    else:
        slices = [(*where, ...) for where in np.ndindex(*leading)]
    if job.coupled:
        return slices
    return [(*each, slice(c, c + 1)) for each in slices for c in range(photo.n_channels)]


def _values(photo: Photo, job: Job, part: tuple[Any, ...]) -> NDArray[Any]:
    """Return the pixels of a part, with artificial noise if the job has any."""
    if job.noise == 0.0:
        return np.asarray(photo.stack[part])
    numbers = np.arange(photo.n_slices).reshape(photo.stack.shape[:-3])
    chosen = numbers if part[0] is Ellipsis else numbers[part[: numbers.ndim]]
    noisy = np.stack([photo.intensities(int(k), job.noise) for k in np.ravel(chosen)])
    noisy = noisy.reshape(*np.shape(chosen), *noisy.shape[1:])
    return np.asarray(noisy[..., part[-1]] if isinstance(part[-1], slice) else noisy)
