"""The strokes on the slices of an image, and their classes."""

import numpy as np
import pytest

from graphtv.app.decoding import Sheet
from graphtv.app.drawing import Drawing
from graphtv.app.limits import MOST_PAINTED_SLICES
from graphtv.app.requests import Clear, Paint, RemoveClass, Undo
from graphtv.app.strokes import Stroke

SHAPE = (8, 10)


def paint(number, x=4.0):
    return Paint(Stroke(number, 2.0, [(x, 4.0)]), False)


def test_each_slice_has_its_own_strokes():
    drawing = Drawing()
    drawing.change(0, SHAPE, paint(1))
    drawing.change(2, SHAPE, paint(2))
    assert set(np.unique(drawing.marks(0, SHAPE))) == {0, 1}
    assert not drawing.marks(1, SHAPE).any()
    drawing.change(2, SHAPE, Undo())
    assert not drawing.marks(2, SHAPE).any()
    drawing.wipe()
    assert not drawing.marks(0, SHAPE).any()


def test_a_class_is_removed_from_all_slices():
    drawing = Drawing()
    drawing.names = ("sky", "sea", "land")
    drawing.colours = ((1, 1, 1), (2, 2, 2), (3, 3, 3))
    for index, number in ((0, 2), (1, 3)):
        drawing.change(index, SHAPE, paint(number))
    drawing.change(0, SHAPE, RemoveClass(2))
    assert drawing.names == ("sky", "land")
    assert drawing.colours == ((1, 1, 1), (3, 3, 3))
    assert not drawing.marks(0, SHAPE).any()
    assert drawing.marks(1, SHAPE).max() == 2
    with pytest.raises(ValueError, match="at least two classes"):
        drawing.change(0, SHAPE, RemoveClass(1))


def test_unknown_classes_and_too_many_slices_are_refused():
    drawing = Drawing()
    with pytest.raises(ValueError, match="no class 3"):
        drawing.change(0, SHAPE, paint(3))
    for index in range(MOST_PAINTED_SLICES):
        drawing.change(index, SHAPE, paint(1))
    with pytest.raises(ValueError, match=f"At most {MOST_PAINTED_SLICES} slices"):
        drawing.change(MOST_PAINTED_SLICES, SHAPE, paint(1))


def test_uploaded_scribbles_replace_strokes_and_classes():
    drawing = Drawing()
    drawing.change(0, SHAPE, paint(1))
    marks = np.zeros(SHAPE, dtype=np.uint8)
    marks[0, 0] = 2
    sheet = Sheet(marks, ("a", "b"), ((9, 9, 9), (8, 8, 8)))
    assert np.array_equal(drawing.replace(0, SHAPE, sheet), marks)
    assert np.array_equal(drawing.marks(0, SHAPE), marks)
    assert (drawing.names, drawing.colours) == (sheet.names, sheet.colours)
    drawing.change(0, SHAPE, Clear())
    assert not drawing.marks(0, SHAPE).any()
