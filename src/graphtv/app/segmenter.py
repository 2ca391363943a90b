"""Repeated segmentation of one image as scribbles and settings change.

The model is that of `graphtv.segment_image`. Results are reused: the graph is kept with the image,
the density of a class until its scribbles change, and the problem until anything changes. Every run
is warm-started.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtv._ties import largest_classes
from graphtv._validate import Floats
from graphtv.app.frame import Frame, finite
from graphtv.app.strokes import Marks
from graphtv.app.time_slice import TimeSlice
from graphtv.applications.imaging.contrast import contrast_graph, opponent
from graphtv.applications.imaging.scribbles import fix_scribbles, log_densities, posterior_cost
from graphtv.applications.imaging.segmentation import Labels
from graphtv.problem import Problem
from graphtv.result import Result
from graphtv.solver import solve
from graphtv.solver.progress import Info
from graphtv.terms import EntropicSimplex

TOLERANCE = 5e-4
EPSILON = 0.25
XI = 0.1
SIGMA_COLOR = 0.25
SPREAD = 3.0

SAMPLES = 96
"""Number of scribbled pixels per class that the density uses; few, for a fast response."""


@dataclass(frozen=True, eq=False)
class Job:
    """The scribbles and settings of a segmentation to compute.

    Attributes
    ----------
    marks : ndarray of uint8
        Scribbles of classes 1, 2, …; 0 means none. A class may have no scribbles.
    weight : float
        Weight of the border length, as in `segment_image`.
    preconditioner : str
        As in `graphtv.solve`.
    """

    marks: Marks
    weight: float
    preconditioner: str


@dataclass(frozen=True, eq=False)
class Answer:
    """A label per pixel and the state of the solver.

    Attributes
    ----------
    labels : ndarray of uint8
        Classes 1, 2, …, as in the marks.
    is_done : bool
        Whether the job is complete.
    """

    labels: Marks
    iterations: int
    relative_gap: float
    seconds: float
    preconditioner: str
    is_done: bool

    def frame(self) -> Frame:
        """Return the frame to display."""
        height, width = self.labels.shape
        header = {
            "type": "labels",
            "width": width,
            "height": height,
            "iterations": self.iterations,
            "gap": finite(self.relative_gap),
            "seconds": round(self.seconds, 3),
            "preconditioner": self.preconditioner,
            "tolerance": TOLERANCE,
            "done": self.is_done,
        }
        return Frame(header, self.labels.tobytes())


class Segmenter:
    """Segments one image and keeps intermediate results; used by one thread at a time."""

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        self._shape = pixels.shape[0], pixels.shape[1]
        self._colours = opponent(pixels / 255.0)
        deviation = math.sqrt(float(self._colours.var(axis=(0, 1)).sum()))
        self._sigma = SIGMA_COLOR * (deviation or 1.0)
        self._graph = contrast_graph(self._colours, XI, 1)
        self._densities: dict[int, tuple[bytes, Floats]] = {}
        self._start: tuple[list[int], Floats, Floats] | None = None
        self._job: Job | None = None
        self._problem: Problem | None = None
        self._classes: list[int] = []
        self._iterations, self._seconds = 0, 0.0

    def run(
        self,
        job: Job,
        show: Callable[[Answer], None],
        time_slice: TimeSlice,
    ) -> Answer | None:
        """Work on a job until it is done or the time slice ends; another call continues.

        At least two classes must have scribbles. `show` is called with intermediate answers. Return
        the last answer, or None if the time slice ended before the first one.
        """
        if job is not self._job and not self._begin(job, time_slice.is_obsolete):
            return None
        assert self._problem is not None
        name = job.preconditioner

        def report(info: Info) -> bool:
            labels = largest_classes(info.u)
            show(self._answer(labels, info.iteration, info.relative_gap, info.time, name, False))
            time_slice.has_answer = True
            return time_slice.ends()

        result = solve(
            self._problem,
            preconditioner=job.preconditioner,
            tol=TOLERANCE,
            warm_start=self._warm_start(),
            callback=report,
            stop=time_slice.ends,
            n_threads=time_slice.n_threads,
        )
        if result.iterations == 0 and result.status != "optimal":
            return None
        answer = self._answer(
            largest_classes(result.u),
            result.iterations,
            result.relative_gap,
            result.setup_time + result.solve_time,
            result.preconditioner,
            result.status != "interrupted",
        )
        self._keep(result)
        return answer

    def problem_of(self, job: Job) -> Problem:
        """Return the problem of a job, for a race."""
        self._begin(job, lambda: False)
        assert self._problem is not None
        return self._problem

    def _begin(self, job: Job, is_obsolete: Callable[[], bool]) -> bool:
        """Set up the problem of a job; return False if the job became obsolete."""
        classes = np.unique(job.marks[job.marks > 0]).tolist()
        if not self._update_densities(job, classes, is_obsolete):
            return False
        self._classes = classes
        self._problem = self._built(job)
        self._job, self._iterations, self._seconds = job, 0, 0.0
        return True

    def _answer(
        self,
        columns: Labels,
        iterations: int,
        gap: float,
        seconds: float,
        preconditioner: str,
        is_done: bool,
    ) -> Answer:
        assert self._job is not None
        labels = np.array(self._classes, dtype=np.uint8)[columns].reshape(self._shape)
        marks = self._job.marks
        return Answer(
            labels=np.where(marks > 0, marks, labels),
            iterations=self._iterations + iterations,
            relative_gap=gap,
            seconds=self._seconds + seconds,
            preconditioner=preconditioner,
            is_done=is_done,
        )

    def _keep(self, result: Result) -> None:
        """Store the warm start of the next run."""
        self._start = self._classes, result.u, result.p
        self._iterations += result.iterations
        self._seconds += result.setup_time + result.solve_time

    def _update_densities(
        self, job: Job, classes: list[int], is_obsolete: Callable[[], bool]
    ) -> bool:
        """Compute the densities of these classes; return False if the job became obsolete."""
        self._densities = {c: self._densities[c] for c in classes if c in self._densities}
        for c in classes:
            if is_obsolete():
                return False
            mask = job.marks == c
            key = np.packbits(mask).tobytes()
            if c not in self._densities or self._densities[c][0] != key:
                colours = self._colours.reshape(mask.size, -1)
                logs = log_densities(colours, mask.astype(np.int64), self._sigma, SPREAD, SAMPLES)
                self._densities[c] = key, logs[:, 0]
        return True

    def _built(self, job: Job) -> Problem:
        cost = posterior_cost(np.stack([self._densities[c][1] for c in self._classes], axis=1))
        cost /= job.weight * math.sqrt(math.prod(self._shape))
        cost += EPSILON * math.log(len(self._classes))  # see the notes of `segment_image`
        ranks = np.searchsorted(self._classes, job.marks.ravel()) + 1
        held = np.where(job.marks.ravel() > 0, ranks, 0)
        fix_scribbles(cost, held, self._graph, EPSILON)
        return Problem(self._graph, EntropicSimplex(cost, EPSILON))

    def _warm_start(self) -> tuple[Floats, Floats] | None:
        """Return the last points with one column per current class; new classes start at zero."""
        if self._start is None:
            return None
        classes, u, p = self._start
        if classes == self._classes:
            return u, p
        start_u = np.zeros((len(u), len(self._classes)))
        start_p = np.zeros((len(p), len(self._classes)))
        for column, c in enumerate(self._classes):
            if c in classes:
                start_u[:, column] = u[:, classes.index(c)]
                start_p[:, column] = p[:, classes.index(c)]
        total = start_u.sum(axis=1, keepdims=True)
        lost = total < 1e-6
        start_u = np.where(lost, 1.0 / len(self._classes), start_u / np.where(lost, 1.0, total))
        return start_u, start_p
