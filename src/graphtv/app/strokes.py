"""Strokes of a brush, and the pixels they cover."""

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
    """A path of a round brush.

    Attributes
    ----------
    number : int
        The class, 1, 2, …; 0 erases.
    size : float
        Diameter of the brush in pixels.
    points : list of (x, y)
        In pixels from the upper left corner of the image.
    """

    number: int
    size: float
    points: list[Point]


class Strokes:
    """All strokes on an image, in order, and the marks that they leave: 0, or a class."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._all: list[Stroke] = []
        self._marks: Marks = np.zeros(shape, dtype=np.uint8)

    @property
    def marks(self) -> Marks:
        """The marks; a new array after every change."""
        return self._marks

    def __len__(self) -> int:
        return len(self._all)

    def add(self, stroke: Stroke, continues: bool) -> None:
        """Add a stroke, or go on with the last one."""
        n_points = sum(len(each.points) for each in self._all) + len(stroke.points)
        if n_points > MOST_POINTS or len(self._all) >= MOST_STROKES:
            raise ValueError("There are too many strokes; undo some, or clear them.")
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
        """Take the last stroke back, if there is one."""
        if self._all:
            self._all.pop()
            self._repaint()

    def clear(self) -> None:
        """Take all strokes back."""
        self._all.clear()
        self._repaint()

    def remove_class(self, number: int) -> None:
        """Take the strokes of a class back; later classes move up by one."""
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
    """Set the pixels whose centre is in the brush somewhere on its way, one at each point."""
    points = stroke.points
    for (x0, y0), (x1, y1) in zip(points, points[1:] or points, strict=False):
        _paint_line(marks, stroke, x0, y0, x1, y1)


def _paint_line(marks: Marks, stroke: Stroke, x0: float, y0: float, x1: float, y1: float) -> None:
    """Set the pixels within half the brush's size of a segment."""
    height, width = marks.shape
    radius = max(0.5 * stroke.size, 0.71)  # half a pixel's diagonal: no place without a pixel
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
