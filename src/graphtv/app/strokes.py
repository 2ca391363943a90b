"""Brush strokes and the pixels that they cover."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtv.app.limits import MOST_POINTS, MOST_STROKES

Marks = NDArray[np.uint8]
Point = tuple[float, float]


@dataclass(frozen=True)
class Stroke:
    """The path of a round brush.

    Attributes
    ----------
    number : int
        The class 1, 2, …, or 0 to erase.
    size : float
        Diameter of the brush in pixels.
    points : list of (x, y)
        Positions in pixels from the upper left corner of the image.
    """

    number: int
    size: float
    points: list[Point]


class Strokes:
    """All strokes on an image, in order, and the resulting marks: the class, or 0."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._all: list[Stroke] = []
        self._marks: Marks = np.zeros(shape, dtype=np.uint8)

    @property
    def marks(self) -> Marks:
        """The marks; every change creates a new array."""
        return self._marks

    def __len__(self) -> int:
        return len(self._all)

    def add(self, stroke: Stroke, continues: bool) -> None:
        """Add a stroke, or continue the last one."""
        n_points = sum(len(each.points) for each in self._all) + len(stroke.points)
        if n_points > MOST_POINTS or len(self._all) >= MOST_STROKES:
            raise ValueError("There are too many strokes. Undo some, or clear them.")
        marks = self._marks.copy()
        last = self._all[-1] if self._all else None
        if continues and last and (last.number, last.size) == (stroke.number, stroke.size):
            _paint(marks, Stroke(stroke.number, stroke.size, last.points[-1:] + stroke.points))
            last.points.extend(stroke.points)
        else:
            _paint(marks, stroke)
            self._all.append(stroke)
        self._marks = marks

    def undo(self) -> None:
        """Remove the last stroke, if there is one."""
        if self._all:
            self._all.pop()
            self._repaint()

    def clear(self) -> None:
        """Remove all strokes."""
        self._all.clear()
        self._repaint()

    def remove_class(self, number: int) -> None:
        """Remove the strokes of a class and renumber later classes."""
        kept = [each for each in self._all if each.number != number]
        self._all = [
            Stroke(each.number - (each.number > number), each.size, each.points) for each in kept
        ]
        self._repaint()

    def _repaint(self) -> None:
        self._marks = np.zeros(self._shape, dtype=np.uint8)
        for stroke in self._all:
            _paint(self._marks, stroke)


def _paint(marks: Marks, stroke: Stroke) -> None:
    """Set the pixels that the brush covers, at least one at each point."""
    points = stroke.points
    for (x0, y0), (x1, y1) in zip(points, points[1:] or points, strict=False):
        _paint_line(marks, stroke, x0, y0, x1, y1)


def _paint_line(marks: Marks, stroke: Stroke, x0: float, y0: float, x1: float, y1: float) -> None:
    """Set the pixels within half the brush size of a line segment."""
    height, width = marks.shape
    radius = max(0.5 * stroke.size, 0.71)  # half a pixel's diagonal: covers at least one pixel
    top, bottom = (math.floor(min(y0, y1) - radius), math.ceil(max(y0, y1) + radius))
    left, right = (math.floor(min(x0, x1) - radius), math.ceil(max(x0, x1) + radius))
    top, bottom = max(top, 0), min(bottom, height)
    left, right = max(left, 0), min(right, width)
    if top >= bottom or left >= right:
        return
    y, x = np.mgrid[top:bottom, left:right] + 0.5
    dx, dy = x1 - x0, y1 - y0
    length = dx * dx + dy * dy
    along = np.clip(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0) if length > 0.0 else 0.0
    away = (x - x0 - along * dx) ** 2 + (y - y0 - along * dy) ** 2
    marks[top:bottom, left:right][away <= radius * radius] = stroke.number
