"""Brush strokes and the pixels that they cover."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphtv.app.limits import MOST_POINTS, MOST_STROKES

MOST_SHEETS = 8
"""Number of sheets that are kept for undo."""

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
    """The history of an image: strokes and sheets, in order, and the resulting marks.

    A sheet replaces all marks: uploaded scribbles, or zeros if everything is cleared.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._all: list[Stroke | Marks] = []
        self._undone: list[Stroke | Marks] = []
        self._marks: Marks = np.zeros(shape, dtype=np.uint8)

    @property
    def marks(self) -> Marks:
        """The marks; every change creates a new array."""
        return self._marks

    def __len__(self) -> int:
        return len(self._all)

    def add(self, stroke: Stroke, continues: bool) -> None:
        """Add a stroke, or continue the last one."""
        strokes = [each for each in self._all if isinstance(each, Stroke)]
        n_points = sum(len(each.points) for each in strokes) + len(stroke.points)
        if n_points > MOST_POINTS or len(self._all) >= MOST_STROKES:
            raise ValueError("There are too many strokes. Undo some, or save and load them.")
        marks = self._marks.copy()
        last = self._all[-1] if self._all else None
        if (
            continues
            and isinstance(last, Stroke)
            and (last.number, last.size) == (stroke.number, stroke.size)
        ):
            _paint(marks, Stroke(stroke.number, stroke.size, last.points[-1:] + stroke.points))
            last.points.extend(stroke.points)
        else:
            _paint(marks, stroke)
            self._all.append(stroke)
        self._undone.clear()
        self._marks = marks

    def replace(self, marks: Marks) -> None:
        """Replace all marks by a sheet."""
        sheets = [k for k, each in enumerate(self._all) if not isinstance(each, Stroke)]
        if len(sheets) >= MOST_SHEETS:  # forget what lies below the second sheet
            del self._all[: sheets[1]]
        self._all.append(marks)
        self._undone.clear()
        self._marks = marks

    def clear(self) -> None:
        """Remove all marks. This can be undone."""
        if self._marks.any():
            self.replace(np.zeros(self._shape, dtype=np.uint8))

    def undo(self) -> None:
        """Take back the last step, if there is one."""
        if self._all:
            self._undone.append(self._all.pop())
            self._repaint()

    def redo(self) -> None:
        """Repeat the last step that was taken back, if there is one."""
        if self._undone:
            self._all.append(self._undone.pop())
            self._repaint()

    def remove_class(self, number: int) -> None:
        """Remove the marks of a class and renumber later classes."""
        numbers = np.arange(256, dtype=np.uint8)
        numbers[number] = 0
        numbers[number + 1 :] -= 1
        kept: list[Stroke | Marks] = []
        for each in self._all:
            if not isinstance(each, Stroke):
                kept.append(numbers[each])
            elif each.number != number:
                kept.append(Stroke(int(numbers[each.number]), each.size, each.points))
        self._all = kept
        self._undone.clear()
        self._repaint()

    def _repaint(self) -> None:
        self._marks = np.zeros(self._shape, dtype=np.uint8)
        for each in self._all:
            if isinstance(each, Stroke):
                _paint(self._marks, each)
            else:
                self._marks = each.copy()


def reduced_marks(marks: Marks, shape: tuple[int, int]) -> Marks:
    """Return marks in a smaller shape, in which every marked pixel leaves a mark."""
    if marks.shape == shape:
        return marks
    smaller = np.zeros(shape, dtype=np.uint8)
    rows, columns = np.nonzero(marks)
    to_rows, to_columns = _nearest(marks.shape, shape)
    smaller[to_rows[rows], to_columns[columns]] = marks[rows, columns]
    return smaller


def enlarged_marks(marks: Marks, shape: tuple[int, int]) -> Marks:
    """Return marks in a larger shape; `reduced_marks` is the inverse."""
    rows, columns = _nearest(shape, marks.shape)
    return marks[np.ix_(rows, columns)]


def _nearest(large: tuple[int, ...], small: tuple[int, ...]) -> list[NDArray[np.int64]]:
    """Return, for each row and column of a large image, that of a small image with its centre."""
    return [((2 * np.arange(n) + 1) * m) // (2 * n) for n, m in zip(large, small, strict=True)]


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
