"""The strokes on the slices of an image, with the names and colours of their classes."""

from __future__ import annotations

import numpy as np

from graphtv.app.decoding import Sheet
from graphtv.app.downloads import colours
from graphtv.app.limits import MOST_PAINTED_SLICES
from graphtv.app.requests import Clear, Paint, Redo, RemoveClass, Request, Undo
from graphtv.app.strokes import Marks, Strokes, reduced_marks

Shape = tuple[int, int]


class Drawing:
    """The strokes of a tab. Slices are drawn on in the size in which they are shown.

    Attributes
    ----------
    names : tuple of str
        The names of the classes.
    colours : tuple of tuple of int
        Their colours, as red, green and blue.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ("class 1", "class 2")
        self.colours = tuple(colours()[:2])
        self._slices: dict[int, Strokes] = {}

    def wipe(self) -> None:
        """Remove all strokes; the classes stay."""
        self._slices = {}

    def marks(self, index: int, shape: Shape) -> Marks:
        """Return the scribbles on a slice: a class per pixel, 0 for none."""
        if index in self._slices:
            return self._slices[index].marks
        return np.zeros(shape, dtype=np.uint8)

    def replace(self, index: int, shape: Shape, sheet: Sheet) -> Marks:
        """Replace the strokes on a slice by uploaded scribbles, and return these."""
        marks = reduced_marks(sheet.marks, shape)
        self._strokes(index, shape).replace(marks)
        self.names, self.colours = sheet.names, sheet.colours
        return marks

    def change(self, index: int, shape: Shape, request: Request) -> None:
        """Execute a request to paint, undo, redo, clear or remove a class."""
        strokes = self._strokes(index, shape)
        if isinstance(request, Paint):
            if request.stroke.number > len(self.names):
                raise ValueError(f"There is no class {request.stroke.number}.")
            strokes.add(request.stroke, request.continues)
        elif isinstance(request, Undo):
            strokes.undo()
        elif isinstance(request, Redo):
            strokes.redo()
        elif isinstance(request, Clear):
            strokes.clear()
        elif isinstance(request, RemoveClass):
            self._remove_class(request.number)

    def _strokes(self, index: int, shape: Shape) -> Strokes:
        if index not in self._slices:
            if len(self._slices) >= MOST_PAINTED_SLICES:
                raise ValueError(f"At most {MOST_PAINTED_SLICES} slices can have strokes.")
            self._slices[index] = Strokes(shape)
        return self._slices[index]

    def _remove_class(self, k: int) -> None:
        if k > len(self.names) or len(self.names) <= 2:
            raise ValueError("This class cannot be removed: at least two classes are needed.")
        for strokes in self._slices.values():
            strokes.remove_class(k)
        self.names = self.names[: k - 1] + self.names[k:]
        self.colours = self.colours[: k - 1] + self.colours[k:]
