"""Readers: damaged, hostile or random files for DIMACS, tables, images and scribbles.

Valid files are truncated, joined, overwritten and mixed with input that is hard for parsers. A
reader may reject a file with its own error, which names the file, or accept it. Anything else is a
failure, and so is an input that takes more than a second of processor time or two gigabytes. The
fast path of the DIMACS reader must behave like the slow one, including line and reason of errors.
An accepted file must survive being written and read again. `fuzz.py` does the same, guided by
coverage.
"""

from __future__ import annotations

import gzip
import io
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.random import Generator

from graphtv import DimacsError, gallery, read_dimacs, write_dimacs
from graphtv.cli.errors import UsageError
from graphtv.cli.files import read_scribbles
from graphtv.cli.tables import Table
from graphtv.io import dimacs
from graphtv.io.errors import FileError
from graphtv.io.picture import Picture
from graphtv.io.pictures import encode, picture_of
from reliability.harness import Figures, Property

BATCH = 50
MOST_MEMORY = 2 << 30
LIMITS = {"longest seconds": 1.0}
"""The limit of the processor time for one file."""

READERS = ("dimacs", "table", "image", "scribbles")

FEARED = [
    b"", b"\0", b"\n", b"\r", b"\r\n", b" ", b"\t", b"-", b"+", b".", b"e", b"nan", b"inf",
    b"1e999", b"-0", b"0x10", b"9" * 30, b"9223372036854775807", b"9223372036854775808",
    b"2147483648", b"4294967296", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b'"', b"'", b",",
    b";", b"#", b"a", b"p max", b"n 1 s",
    b"a 1 2 3\n", "é٣".encode(), b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x1f\x8b",
]  # fmt: skip


def seeds(reader: str, rng: Generator) -> list[bytes]:
    """Return valid files."""
    if reader == "dimacs":
        buffer = io.BytesIO()
        write_dimacs(gallery.genrmf(2, 3, 1, 50, int(rng.integers(99))), buffer, comment="text")
        real = b"c real\np max 4 3\nn 1 s\nn 4 t\na 1 2 0.5\na 2 3 1e-3\n\na 3 4 7\n"
        return [buffer.getvalue(), real, gzip.compress(real)]
    if reader == "table":
        return [
            b"name,value,weight\na,1.5,2\nb,,1\n\"c, d\",-3e5,NA\n",
            b"1\t2\t3\n4\t5\t6\n", b"0 1\n1 2 \n# note\n2 0\n", "x;y\n1;2\n".encode("utf-8-sig"),
        ]  # fmt: skip
    grey = rng.integers(0, 3, (5, 6)).astype(np.uint8)
    colour = rng.integers(0, 2, (5, 6, 3)).astype(np.uint8) * np.uint8(255)
    pictures = [(Picture(grey, k), k) for k in ("png", "npy", "tiff", "jpeg")]
    pictures += [(Picture(colour, k, 2), k) for k in ("png", "tiff")]
    pictures += [(Picture(grey.astype(np.float32), "tiff"), "tiff")]
    return [encode(picture, kind) for picture, kind in pictures]


def mutate(data: bytes, others: list[bytes], rng: Generator) -> bytes:
    """Return a file that is slightly or completely invalid."""
    content = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(0, len(content) + 1))
        end = min(len(content), at + int(rng.integers(0, 12)))
        kind = int(rng.integers(0, 8))
        if kind == 0:
            content[at:end] = b""
        elif kind == 1:
            content[at:at] = FEARED[int(rng.integers(len(FEARED)))]
        elif kind == 2:
            content[at:end] = FEARED[int(rng.integers(len(FEARED)))]
        elif kind == 3 and at < len(content):
            content[at] ^= 1 << int(rng.integers(8))
        elif kind == 4:
            content[at:end] = bytes(rng.integers(0, 256, end - at, dtype=np.uint8))
        elif kind == 5:
            content[at:at] = content[at:end] * int(rng.integers(1, 50))
        elif kind == 6:
            other = others[int(rng.integers(len(others)))]
            cut = int(rng.integers(0, len(other) + 1))
            content[at:] = other[cut:]
        else:
            del content[at:]
    return bytes(content)


def read(reader: str, data: bytes, folder: Path) -> str:
    """Run a reader; return ``taken`` or ``refused`` and raise any other exception."""
    path = folder / "input"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)
        if reader == "dimacs":
            return _read_dimacs(data)
        try:
            if reader == "image":
                picture = picture_of(data, "input")
                assert picture.pixels.dtype.isnative, "pixels in another byte order"
                return "taken"
            path.write_bytes(data)
            if reader == "table":
                table = Table(str(path))
                for row in table.rows[:50]:
                    for column in range(table.n_columns):
                        table.number(row, column, what="number")
            else:
                marks = read_scribbles(str(path), None).marks
                assert marks.min() >= 0, "a negative class"
        except (UsageError, FileError) as error:
            if "input" not in str(error):
                raise AssertionError(f"the file is not named: {error}") from None
            return "refused"
        return "taken"


def _network_or_error(data: bytes) -> Any:
    try:
        network = read_dimacs(io.BytesIO(data))
    except DimacsError as error:
        return error.line, error.reason
    return network


def _read_dimacs(data: bytes) -> str:
    quick = _network_or_error(data)
    with mock.patch.object(dimacs, "plain_arcs", return_value=None):
        slow = _network_or_error(data)
    if isinstance(quick, tuple):
        assert quick == slow, f"by blocks {quick}, by lines {slow}"
        return "refused"
    assert not isinstance(slow, tuple), f"by blocks a network, by lines {slow}"
    buffer = io.BytesIO()
    write_dimacs(quick, buffer)
    for other in (slow, _network_or_error(buffer.getvalue())):
        assert not isinstance(other, tuple), f"what was written is refused: {other}"
        for name in ("n_vertices", "source", "sink"):
            assert getattr(quick, name) == getattr(other, name), f"{name} differs"
        assert quick.arcs.tobytes() == other.arcs.tobytes(), "arcs differ"
        assert quick.capacities.dtype == other.capacities.dtype, "types of capacities differ"
        assert quick.capacities.tobytes() == other.capacities.tobytes(), "capacities differ"
    return "taken"


def check(seed: int, number: int) -> Figures:
    """Pass a batch of invalid files to one reader."""
    reader = READERS[number % len(READERS)]
    rng = np.random.default_rng([seed, number, 4])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    corpus = seeds(reader, rng)
    figures = {"inputs": 0.0, "taken": 0.0, "refused": 0.0, "longest seconds": 0.0}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(BATCH):
            data = mutate(corpus[int(rng.integers(len(corpus)))], corpus, rng)
            begin = time.process_time()
            try:
                answer = read(reader, data, Path(name))
            except Exception as error:
                raise AssertionError(f"{reader}, {data[:300]!r}: {error!r}") from error
            taken = time.process_time() - begin
            figures["inputs"] += 1
            figures[answer] += 1
            figures["longest seconds"] = max(figures["longest seconds"], taken)
            if answer == "taken" and len(data) < 4000:
                corpus.append(data)
    return figures


PROPERTY = Property("readers", "Readers", check, cases=8000, quick=40, limits=LIMITS)
