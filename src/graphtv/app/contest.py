"""The problems on which preconditioners race: those that the page shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv.app import denoiser, segmenter
from graphtv.app.limits import Limits
from graphtv.app.photo import Photo
from graphtv.app.race import Run
from graphtv.applications.imaging.denoising import denoise_tv
from graphtv.result import Result
from graphtv.solver import solve


def segmentation_contest(pixels: NDArray[np.uint8], job: segmenter.Job) -> Callable[[], Run]:
    """Return the function that sets up a race on the current segmentation."""

    def prepare() -> Run:
        problem = segmenter.Segmenter(pixels).problem_of(job)

        def run(**options: Any) -> Result:
            return solve(problem, tol=segmenter.TOLERANCE, **options)

        return run

    return prepare


def denoising_contest(
    photo: Photo, index: int, job: denoiser.Job, weight: float | None, limits: Limits
) -> Callable[[], Run]:
    """Return the function that sets up a race on the preview of denoising."""
    if job.isotropic or job.coupled:
        raise ValueError("The race is for the standard model, without isotropic or coupled.")
    chosen = job.weight if weight is None else weight
    if chosen is None:
        raise ValueError("There is nothing to race on yet: wait for the suggested weight.")

    def prepare() -> Run:
        live = denoiser.Denoiser(photo, index, limits.preview_pixels)
        data, model = live.contest(job, chosen)

        def run(**options: Any) -> Result:
            return denoise_tv(data, return_result=True, tol=denoiser.TOLERANCE, **model, **options)[
                1
            ]

        return run

    return prepare
