"""Blocks of arcs in the DIMACS format, read by NumPy if nothing in them is unusual."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST_NUMBER = 18
"""Number of digits that always fit into int64."""

EXACT_IN_FLOATS = 15
"""Number of digits that a float always represents exactly."""

_BLANK, _DIGIT, _LETTER, _SIGN, _OTHER = range(5)
_CLASS = np.full(256, _OTHER, dtype=np.uint8)
_CLASS[list(b" \t\r\n")] = _BLANK
_CLASS[list(b"0123456789")] = _DIGIT
_CLASS[list(b"a")] = _LETTER
_CLASS[list(b".eE+-")] = _SIGN
_CLASSES = _CLASS.tobytes()

Block = tuple[NDArray[np.int64], NDArray[Any]]  # ends, counted from 1, and capacities


def plain_arcs(block: bytes) -> Block | None:
    """Return the arcs of a block if every line is 'a', two integers and a number."""
    # Indexing a table with the text would crash inside NumPy when memory runs out.
    kinds = np.frombuffer(block.translate(_CLASSES), dtype=np.uint8)
    if kinds.max() == _OTHER:
        return None
    fields = _four_per_line(block, kinds)
    if fields is None:
        return None
    begins, lengths = fields
    signs = np.flatnonzero(kinds == _SIGN)
    is_real = len(signs) > 0
    if is_real and not _are_reals(block, begins, lengths, signs):
        return None
    longest = EXACT_IN_FLOATS if is_real else LONGEST_NUMBER
    if lengths[:, 1 : 3 if is_real else 4].max() > longest:
        return None
    kind: Any = np.float64 if is_real else np.int64
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(block.replace(b"a", b" "), dtype=kind, sep=" ")
        except (ValueError, DeprecationWarning):  # something is not a number
            return None
    if numbers.size != 3 * len(begins):  # NumPy may read one field as two numbers
        return None
    numbers = numbers.reshape(-1, 3)
    return numbers[:, :2].astype(np.int64), numbers[:, 2] + numbers.dtype.type(0)  # -0 is 0


def _four_per_line(block: bytes, kinds: Any) -> tuple[Any, Any] | None:
    """Return begins and lengths of the fields, if every line has 'a' and three more."""
    text = np.frombuffer(block, dtype=np.uint8)
    filled = np.concatenate([[False], kinds != _BLANK, [False]])
    borders = np.flatnonzero(filled[1:] != filled[:-1])
    begins, lengths = borders[::2], borders[1::2] - borders[::2]
    breaks = np.flatnonzero(text == ord("\n"))
    if len(breaks) == 0 or breaks[-1] != len(text) - 1:
        breaks = np.append(breaks, len(text))
    if len(begins) != 4 * len(breaks):
        return None
    begins, lengths = begins.reshape(-1, 4), lengths.reshape(-1, 4)
    is_plain = (
        (begins[:, 3] < breaks).all()
        and (begins[1:, 0] > breaks[:-1]).all()
        and (kinds[begins[:, 0]] == _LETTER).all()
        and (lengths[:, 0] == 1).all()
        and np.count_nonzero(kinds == _LETTER) == len(breaks)
    )
    return (begins, lengths) if is_plain else None


def _are_reals(block: bytes, begins: Any, lengths: Any, signs: Any) -> bool:
    """Return whether the signs and points at `signs` make real numbers that floats can hold.

    Real numbers are allowed in the last column only. Floats represent the integers of the other
    columns exactly. A sign alone does not make a real number: '+3' is an integer.
    """
    columns = np.searchsorted(begins.ravel(), signs, side="right") - 1
    if (columns % 4 != 3).any():
        return False
    marks = np.frombuffer(block, dtype=np.uint8)[signs] > ord("-")
    if not marks.any():
        return False
    is_integer = np.ones(len(begins), dtype=bool)
    is_integer[columns[marks] // 4] = False
    # A longer integer may exceed int64; the slow reader reports its line.
    return not (lengths[is_integer, 3] > LONGEST_NUMBER).any()
