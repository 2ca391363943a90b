"""Segmentation of one image again and again, as scribbles and settings change.

The model is that of `graphtv.segment_image`. What changes seldom is kept: the graph with the image,
the density of a class until its own scribbles change, the problem until anything does. Every run
starts from the points of the last one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphtv._ties import largest_classes
from graphtv._validate import Floats
from graphtv.app.frame import Frame, finite
from graphtv.app.photo import Photo
from graphtv.app.shift import Shift
from graphtv.app.strokes import Marks
from graphtv.applications.imaging.scribbles import log_densities, posterior_cost
from graphtv.applications.imaging.segmentation import (
    Labels,
    contrast_graph,
    fix_scribbles,
    opponent,
)
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
"""Scribbled pixels per class whose colours count: few, since somebody is waiting."""


@dataclass(frozen=True, eq=False)
class Wish:
    """What is to be computed.

    Attributes
    ----------
    marks : ndarray of uint8
        Where the scribbles of classes 1, 2, … are; classes may be without.
    weight : float
        Length of borders, as in `segment_image`.
    preconditioner : str
        As in `graphtv.solve`.
    """

    marks: Marks
    weight: float
    preconditioner: str


@dataclass(frozen=True, eq=False)
class Answer:
    """A label per pixel, and what is known about it.

    Attributes
    ----------
    labels : ndarray of uint8
        Classes 1, 2, …, as in the marks.
    is_done : bool
        Whether there is nothing left to do.
    """

    labels: Marks
    iterations: int
    relative_gap: float
    seconds: float
    preconditioner: str
    is_done: bool

    def frame(self) -> Frame:
        """Return what to show."""
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
    """One image and what has been computed for it; used by one thread at a time."""

    def __init__(self, photo: Photo) -> None:
        self._shape = photo.shape
        self._colours = opponent(photo.pixels / 255.0)
        deviation = math.sqrt(float(self._colours.var(axis=(0, 1)).sum()))
        self._sigma = SIGMA_COLOR * (deviation or 1.0)
        self._graph = contrast_graph(self._colours, XI, 1)
        self._densities: dict[int, tuple[bytes, Floats]] = {}
        self._start: tuple[list[int], Floats, Floats] | None = None
        self._wish: Wish | None = None
        self._problem: Problem | None = None
        self._classes: list[int] = []
        self._iterations, self._seconds = 0, 0.0

    def run(
        self,
        wish: Wish,
        show: Callable[[Answer], None],
        shift: Shift,
    ) -> Answer | None:
        """Work on a wish until it is fulfilled, or the shift ends; called again, go on.

        At least two classes must have scribbles. `show` is called with answers on the way. Returns
        the last one, or None if the shift ended before there was any.
        """
        if wish is not self._wish:
            classes = np.unique(wish.marks[wish.marks > 0]).tolist()
            if not self._know_densities(wish, classes, shift):
                return None
            self._classes = classes
            self._problem = self._problem_of(wish)
            self._wish, self._iterations, self._seconds = wish, 0, 0.0
        assert self._problem is not None
        name = wish.preconditioner

        def report(info: Info) -> bool:
            labels = largest_classes(info.u)
            show(self._answer(labels, info.iteration, info.relative_gap, info.time, name, False))
            shift.has_answer = True
            return shift.ends()

        result = solve(
            self._problem,
            preconditioner=wish.preconditioner,
            tol=TOLERANCE,
            warm_start=self._warm_start(),
            callback=report,
            stop=shift.ends,
            n_threads=shift.n_threads,
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

    def _answer(
        self,
        columns: Labels,
        iterations: int,
        gap: float,
        seconds: float,
        preconditioner: str,
        is_done: bool,
    ) -> Answer:
        assert self._wish is not None
        labels = np.array(self._classes, dtype=np.uint8)[columns].reshape(self._shape)
        marks = self._wish.marks
        return Answer(
            labels=np.where(marks > 0, marks, labels),
            iterations=self._iterations + iterations,
            relative_gap=gap,
            seconds=self._seconds + seconds,
            preconditioner=preconditioner,
            is_done=is_done,
        )

    def _keep(self, result: Result) -> None:
        """Keep what the next run starts from."""
        self._start = self._classes, result.u, result.p
        self._iterations += result.iterations
        self._seconds += result.setup_time + result.solve_time

    def _know_densities(self, wish: Wish, classes: list[int], shift: Shift) -> bool:
        """Compute the densities of these classes, unless nobody wants them before they are done."""
        self._densities = {c: self._densities[c] for c in classes if c in self._densities}
        for c in classes:
            if shift.is_unwanted():
                return False
            mask = wish.marks == c
            key = np.packbits(mask).tobytes()
            if c not in self._densities or self._densities[c][0] != key:
                colours = self._colours.reshape(mask.size, -1)
                logs = log_densities(colours, mask.astype(np.int64), self._sigma, SPREAD, SAMPLES)
                self._densities[c] = key, logs[:, 0]
        return True

    def _problem_of(self, wish: Wish) -> Problem:
        cost = posterior_cost(np.stack([self._densities[c][1] for c in self._classes], axis=1))
        cost /= wish.weight * math.sqrt(math.prod(self._shape))
        cost += EPSILON * math.log(len(self._classes))  # see the notes of `segment_image`
        ranks = np.searchsorted(self._classes, wish.marks.ravel()) + 1
        held = np.where(wish.marks.ravel() > 0, ranks, 0)
        fix_scribbles(cost, held, self._graph, EPSILON)
        return Problem(self._graph, EntropicSimplex(cost, EPSILON))

    def _warm_start(self) -> tuple[Floats, Floats] | None:
        """Return the last points with a column per class of now; new classes have nothing yet."""
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
