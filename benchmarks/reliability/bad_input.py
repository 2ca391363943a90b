"""Bad input: every public function × every argument × every kind of invalid value.

Allowed outcomes are a ValueError or TypeError that names the argument, a MemoryError for huge
requests, or an answer without NaN. If the argument has the same meaning in another form (read-only,
another byte order, not contiguous, a list), the answer must be the same. There must be no warning,
no crash and no hang, and the arguments must not be modified.
"""

from __future__ import annotations

import contextlib
import copy
import io
import os
import resource
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from reliability.harness import Figures, Property
from reliability.specimens import Call, call, targets

OWN_WARNINGS = (".*ended with status", "A column-vector y was passed", "overflow.*scalar subtract")
"""Expected warnings: of the library about its results, of scikit-learn about shapes, and of
Matplotlib on an axis whose limits were huge before."""

MOST_MEMORY = 6 << 30
"""Memory limit of a call in bytes; beyond it NumPy and the core raise MemoryError."""

ALIASES: dict[str, tuple[str, ...]] = {
    "y": ("labels", "target", "label", "samples", "Complex data"),
    "X": ("float", "samples", "feature", "Expected 2D", "sparse", "dtype", "array", "Complex data"),
    "graph": ("edges",),
    "solve_options": ("solve()",),
    "lambdas": ("lam",),
    "cost": ("data",),
}
"""Other words by which a message may name an argument, including those of scikit-learn."""


def forms(value: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield (name, value, whether the meaning is unchanged) for a valid value."""
    yield from ((name, wrong, False) for name, wrong in _scalars())
    if isinstance(value, np.ndarray):
        yield from ((name, right, True) for name, right in _same(value))
        yield from ((name, wrong, False) for name, wrong in _arrays(value))
    elif isinstance(value, tuple) and all(isinstance(x, int | float) for x in value):
        yield "as a list", list(value), True
        yield "as an array", np.array(value), True
        yield "one too many", (*value, value[-1]), False
        yield "with nan", (*value[:-1], float("nan")), False
    elif isinstance(value, bool):
        yield "numpy bool", np.bool_(value), True
    elif isinstance(value, int):
        yield "numpy int", np.int16(value), True
    elif isinstance(value, float):
        yield "numpy float", np.float64(value), True
        yield "0-d array", np.array(value), True


def _scalars() -> Iterator[tuple[str, Any]]:
    yield "nothing", None
    yield "text", "no such thing"
    yield "bytes", b"\x00\xff"
    yield "an object", object()
    yield "a type", dict
    yield "a dict", {"a": 1}
    yield "a set", {1, 2}
    yield "nan", float("nan")
    yield "inf", float("inf")
    yield "-inf", float("-inf")
    yield "-1", -1
    yield "0", 0
    yield "0.5", 0.5
    yield "-0.5", -0.5
    yield "True", True
    yield "2^31", 2**31
    yield "2^63", 2**63
    yield "10^400", 10**400
    yield "1e308", 1e308
    yield "5e-324", 5e-324
    yield "complex", 1j
    yield "date", np.datetime64("2020-01-01")
    yield "empty list", []
    yield "empty rows", [[]]
    yield "ragged", [[1, 2], [3]]
    yield "nested text", [["a", "b"]]
    yield "zero rows", np.empty((0, 2))
    yield "nine axes", np.zeros((1,) * 9)
    yield "a callable that raises", _raises


def _is_callable(value: Any) -> bool:
    """Whether the error comes from a user's own function."""
    return value is _raises or value is dict


def _raises(*_: Any, **__: Any) -> Any:
    raise ValueError("error in the callback")


def _same(value: Any) -> Iterator[tuple[str, Any]]:
    frozen = value.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    yield "other byte order", value.astype(value.dtype.newbyteorder())
    wide = np.repeat(value, 2, axis=-1)[..., ::2]
    yield "not contiguous", wide
    yield "reversed twice", value[::-1].copy()[::-1]
    yield "Fortran order", np.asfortranarray(value)
    yield "a list", value.tolist()
    yield "masked, nothing hidden", np.ma.array(value)
    unaligned = np.zeros(value.nbytes + 1, np.uint8)[1:].view(value.dtype).reshape(value.shape)
    unaligned[...] = value
    yield "not aligned", unaligned
    if value.dtype.kind == "f":
        yield "long double", value.astype(np.longdouble)
    if value.dtype.kind == "i":
        yield "int32", value.astype(np.int32)


def _arrays(value: Any) -> Iterator[tuple[str, Any]]:
    def but(x: Any, dtype: Any = np.float64, where: int = -1) -> Any:
        spoilt = value.astype(dtype).copy()
        spoilt.reshape(-1)[where] = x
        return spoilt

    yield "nan inside", but(np.nan)
    yield "nan first", but(np.nan, where=0)
    yield "inf inside", but(np.inf)
    yield "-inf inside", but(-np.inf)
    yield "negative inside", but(-7)
    yield "negative integer", but(-7, np.int64)
    yield "huge inside", but(1e308)
    yield "tiny inside", but(5e-324)
    yield "huge integer", but(2**62, np.int64)
    yield "unsigned huge", but(2**64 - 1, np.uint64)
    yield "all nan", np.full(value.shape, np.nan)
    yield "all huge", np.full(value.shape, 1.7e308)
    yield "all tiny", np.full(value.shape, 5e-324)
    yield "all zero", np.zeros_like(value)
    yield "one less", value[:-1]
    yield "one more", np.concatenate([value, value[-1:]])
    yield "empty", value[:0]
    yield "an axis more", value[None]
    yield "flat or deep", value.reshape(-1) if value.ndim > 1 else value[:, None]
    yield "half", value.astype(np.float16)
    yield "bool", value.astype(bool)
    yield "int8", value.astype(np.int8)
    yield "objects", value.astype(object)
    yield "objects, one None", but(None, object)
    yield "text", value.astype(str)
    yield "complex", value.astype(complex)
    yield "dates", value.astype("datetime64[s]")
    yield "structured", np.zeros(value.shape, dtype=[("a", float)])
    yield "hidden entry", np.ma.array(value, mask=np.arange(value.size).reshape(value.shape) == 0)


def outcome(target: Call, arguments: dict[str, Any]) -> Any:
    """Call the function with warnings as errors, and return the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in OWN_WARNINGS:
            warnings.filterwarnings("ignore", text)
        with contextlib.redirect_stdout(io.StringIO()):
            return target.function(**arguments)


PARTS = (
    "edges", "weights", "u", "p", "primal", "dual", "labels", "source_side", "value", "lambdas",
    "results", "labels_", "arcs", "capacities", "signal",
)  # fmt: skip
"""The types that an answer may contain."""


def numbers(answer: Any, depth: int = 0) -> list[Any]:
    """Return all numbers in an answer."""
    if isinstance(answer, np.ndarray):
        return [answer] if answer.dtype.kind in "fiub" else []
    if isinstance(answer, float | int | np.number | np.bool_):
        return [np.asarray(answer)] if abs(float(answer)) < 2.0**1000 else []
    if depth > 3:
        return []
    if isinstance(answer, tuple | list):
        return [x for part in answer for x in numbers(part, depth + 1)]
    found = []
    for name in PARTS:
        part = getattr(answer, name, None)
        if part is not None and not callable(part):
            found += numbers(part, depth + 1)
    return found


def names(message: str, arguments: Iterable[str]) -> bool:
    """Whether a message names the invalid argument, or another argument that does not fit it."""
    words = [word for each in arguments for word in (each, *ALIASES.get(each, ()))]
    return any(word in message for word in words)


def check(seed: int, number: int) -> Figures:
    """Replace one argument of one public function by every kind of invalid value."""
    name, argument = targets()[number]
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    os.chdir(tempfile.mkdtemp())  # some invalid values are file names
    figures = {"functions × arguments": 1.0, "calls": 0.0, "refused": 0.0, "answered": 0.0}
    wrong: list[str] = []
    reference = numbers(outcome(target := call(name), target.arguments))
    if not argument:
        return figures | {"calls": 1, "answered": 1}
    assert argument in target.arguments, f"{name}: there is no specimen of {argument}"
    for form, value, is_same in forms(target.arguments[argument]):
        fresh = call(name)
        given = fresh.arguments | {argument: value}
        before = copy.deepcopy(value) if isinstance(value, np.ndarray) else None
        figures["calls"] += 1
        told = f"{name}({argument}={form})"
        try:
            answer = outcome(fresh, given)
        except (ValueError, TypeError) as error:
            figures["refused"] += 1
            if is_same:
                wrong.append(f"{told}: refused: {error!r}")
            elif not _is_callable(value) and not names(str(error), fresh.arguments):
                wrong.append(f"{told}: does not name it: {error!r}")
        except MemoryError:
            figures["refused"] += 1
        except OverflowError as error:  # scikit-learn converts integers of any size
            figures["refused"] += 1
            if argument not in ("X", "y"):
                wrong.append(f"{told}: {error!r}")
        except (OSError, io.UnsupportedOperation) as error:
            figures["refused"] += 1
            if argument != "path":
                wrong.append(f"{told}: {error!r}")
        except Exception as error:
            wrong.append(f"{told}: {error!r}")
        else:
            figures["answered"] += 1
            found = numbers(answer)
            if any(np.isnan(x).any() for x in found):
                wrong.append(f"{told}: NaN in the answer")
            if is_same and not _agree(found, reference):
                wrong.append(f"{told}: another answer")
        if before is not None and before.dtype.kind != "O" and value.tobytes() != before.tobytes():
            wrong.append(f"{told}: the argument was changed")
    assert not wrong, f"{len(wrong)} of {figures['calls']:.0f}: " + "\n    ".join(wrong)
    return figures


def _agree(one: list[Any], two: list[Any]) -> bool:
    return len(one) == len(two) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-12)
        for a, b in zip(one, two, strict=True)
    )


PROPERTY = Property(
    "bad-input", "Bad input", check, cases=len(targets()), quick=len(targets()), timeout=240.0
)
