"""Networks in the DIMACS format for maximum flows.

    c a comment
    p max 4 5          4 vertices, 5 arcs
    n 1 s              the source; vertices are counted from 1
    n 4 t              the sink
    a 1 2 7            an arc and its capacity

D. S. Johnson and C. C. McGeoch (eds.), Network Flows and Matching: First DIMACS Implementation
Challenge, American Mathematical Society, 1993. Extensions: capacities may be real numbers, blank
lines are skipped, and the lines after the problem line may be in any order.

Arcs are read in blocks by NumPy. A block with anything unusual is read again line by line, which
either succeeds or reports the line and the error.
"""

from __future__ import annotations

import gzip
import io
import math
import os
import re
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any, NoReturn

import numpy as np

from graphtv._atomic import replaced
from graphtv._validate import INDEX_LIMIT, brief
from graphtv.applications.cuts.flow_network import FlowNetwork
from graphtv.applications.cuts.sums import has_finite_sum
from graphtv.io.arc_blocks import LONGEST_NUMBER, Block, plain_arcs

__all__ = ["DimacsError", "read_dimacs", "write_dimacs"]

BLOCK = 1 << 22
"""Number of bytes read at a time."""

MOST_UNPACKED = 1 << 28
"""Any gzip file may decompress to this many bytes; larger ones up to MOST_PACKING times."""

MOST_PACKING = 100
"""Largest compression ratio. Networks reach about 10; more indicates a decompression bomb."""

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class DimacsError(ValueError):
    """A file that violates the DIMACS format.

    Attributes
    ----------
    filename : str
        The file.
    line : int
        The line of the error, counted from 1.
    reason : str
        Description of the error.

    Examples
    --------
    >>> import io
    >>> from graphtv import read_dimacs
    >>> try:
    ...     read_dimacs(io.BytesIO(b"p max 2"))
    ... except DimacsError as error:
    ...     print(error.line, error.reason)
    1 too few fields: the form is 'p max VERTICES ARCS', got 'p max 2'
    """

    def __init__(self, filename: str, line: int, reason: str) -> None:
        super().__init__(filename, line, reason)
        self.filename, self.line, self.reason = filename, line, reason

    def __str__(self) -> str:
        return f"{self.filename}, line {self.line}: {self.reason}"


def read_dimacs(path: str | os.PathLike[str] | IO[Any]) -> FlowNetwork:
    r"""Read a network from a DIMACS max-flow file.

    Parameters
    ----------
    path : str, path or file object
        The file, optionally compressed with gzip; ``-`` means standard input.

    Returns
    -------
    FlowNetwork
        The network, with vertices counted from 0. Capacities are integers if all capacities in the
        file are integers.

    Raises
    ------
    DimacsError
        A ValueError with the file, the line and the reason.

    Examples
    --------
    >>> import io
    >>> read_dimacs(io.StringIO("p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 4\n")).min_cut().value
    4
    """
    data, name = _contents(path)
    return _Reader(name).read(data)


def write_dimacs(
    network: FlowNetwork, path: str | os.PathLike[str] | IO[Any], *, comment: str = ""
) -> None:
    """Write a network to a DIMACS max-flow file.

    Reading the file returns exactly the same network. A file on disk is replaced atomically: until
    the new file is complete, or after a failure, the old one remains.

    Parameters
    ----------
    network : FlowNetwork
        The network.
    path : str, path or file object
        The file, compressed with gzip if the name ends in ``.gz``; ``-`` means standard output.
    comment : str
        Text for the first lines of the file.

    Examples
    --------
    >>> import sys
    >>> from graphtv import FlowNetwork
    >>> write_dimacs(FlowNetwork(3, [[0, 1], [1, 2]], [4, 3], source=0, sink=2), sys.stdout)
    p max 3 2
    n 1 s
    n 3 t
    a 1 2 4
    a 2 3 3
    """
    if not isinstance(network, FlowNetwork):
        raise ValueError(f"network must be a FlowNetwork, got {brief(network)}")
    if not isinstance(comment, str):
        raise ValueError(f"comment must be a string, got {brief(comment)}")
    file: Any = sys.stdout if isinstance(path, str) and path == "-" else path
    if not hasattr(file, "write") and not (isinstance(path, str | os.PathLike) and os.fspath(path)):
        raise ValueError(f"path must be a path or a file object, got {brief(path)}")
    if hasattr(file, "write"):
        is_text = isinstance(file, io.TextIOBase)
        for text in _lines(network, comment):
            file.write(text if is_text else text.encode())
        return
    with replaced(path) as raw:  # type: ignore[arg-type]
        if os.fspath(file).endswith(".gz"):
            # Without time and name in the header, the same network gives the same bytes.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
                packed.writelines(text.encode() for text in _lines(network, comment))
        else:
            raw.writelines(text.encode() for text in _lines(network, comment))


def _lines(network: FlowNetwork, comment: str) -> Iterator[str]:
    """Yield the text in pieces."""
    head = [f"c {line}".rstrip() for line in comment.splitlines()]
    head.append(f"p max {network.n_vertices} {network.n_arcs}")
    head += [f"n {network.source + 1} s", f"n {network.sink + 1} t", ""]
    yield "\n".join(head)
    step = 1 << 16
    for first in range(0, network.n_arcs, step):
        tails, heads = (network.arcs[first : first + step] + 1).T.tolist()
        capacities = network.capacities[first : first + step].tolist()  # floats print exactly
        yield "".join(map("a {} {} {}\n".format, tails, heads, capacities))


def _contents(path: Any) -> tuple[bytes, str]:
    """Return the decompressed bytes of a file and its name."""
    file = sys.stdin.buffer if isinstance(path, str) and path == "-" else path
    if hasattr(file, "read"):
        name = "standard input" if file is not path else str(getattr(file, "name", "<stream>"))
        data = file.read()
        data = data.encode() if isinstance(data, str) else bytes(data)
    else:
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
        if not name:
            raise ValueError(f"path must be a path or a file object, got {brief(path)}")
        with open(name, "rb") as opened:
            data = opened.read()
    return (_unpacked(data, str(name)) if data[:2] == b"\x1f\x8b" else data), str(name)


def _unpacked(data: bytes, name: str) -> bytes:
    pieces: list[bytes] = []
    room = max(MOST_UNPACKED, MOST_PACKING * len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            while piece := packed.read(BLOCK):
                pieces.append(piece)
                room -= len(piece)
                if room < 0:
                    raise OSError(f"it unpacks to more than {MOST_PACKING} times its size")
    except (EOFError, OSError, zlib.error) as error:
        line = 1 + sum(piece.count(b"\n") for piece in pieces)
        raise DimacsError(name, line, f"the gzip file is damaged: {error}") from None
    return b"".join(pieces)


class _Reader:
    """The state of the parser."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_vertices = self.n_arcs = self.found = 0
        self.has_problem = False
        self.terminals: dict[bytes, int] = {}
        self.blocks: list[Block] = []

    def read(self, data: bytes) -> FlowNetwork:
        line, begin = 1, 0
        while begin < len(data):
            if self.has_problem and data[begin : begin + 1] == b"a":
                end = _end_of_block(data, begin)
                block = data[begin:end]
                if not self.take_fast(block):
                    self.take_slowly(block, line)
                line += block.count(b"\n")
            else:
                end = (data.find(b"\n", begin) + 1) or len(data)
                self.take_slowly(data[begin:end], line)
                line += 1
            begin = end
        return self.finish(max(line - data.endswith(b"\n"), 1))

    def finish(self, line: int) -> FlowNetwork:
        """Return the network; raise if the file is incomplete."""
        if not self.has_problem:
            self.fail(line, "the file ends without a problem line 'p max VERTICES ARCS'")
        for letter, role in ((b"s", "source"), (b"t", "sink")):
            if letter not in self.terminals:
                self.fail(line, f"the file ends without a {role} 'n VERTEX {letter.decode()}'")
        if self.found != self.n_arcs:
            self.fail(
                line,
                f"the problem line promises {self.n_arcs} arcs, and the file ends after"
                f" {self.found}",
            )
        ends = np.concatenate([np.empty((0, 2), dtype=np.int64), *(b[0] for b in self.blocks)])
        capacities = np.concatenate([np.empty(0, dtype=np.int64), *(b[1] for b in self.blocks)])
        if not has_finite_sum(capacities):
            self.fail(line, "the capacities are too large: their sum is infinite")
        source, sink = self.terminals[b"s"], self.terminals[b"t"]
        return FlowNetwork(self.n_vertices, ends - 1, capacities, source - 1, sink - 1)

    def take_fast(self, block: bytes) -> bool:
        """Parse a block of plain arcs; return False if the block contains anything else."""
        arcs = plain_arcs(block)
        if arcs is None or self.found + len(arcs[1]) > self.n_arcs:
            return False
        ends, capacities = arcs
        if ends.min() < 1 or ends.max() > self.n_vertices:
            return False
        if capacities.min() < 0 or not np.isfinite(capacities).all():
            return False
        self.blocks.append(arcs)
        self.found += len(capacities)
        return True

    def take_slowly(self, block: bytes, first_line: int) -> None:
        """Parse lines of any kind."""
        ends: list[tuple[int, int]] = []
        capacities: list[int | float] = []
        for line, text in enumerate(block.split(b"\n"), first_line):
            fields = text.split()
            if not fields or fields[0][:1] == b"c":
                continue
            kind = fields[0]
            if kind == b"a":
                ends.append(self.arc(line, fields))
                capacities.append(self.capacity(line, fields[3]))
            elif kind == b"n":
                self.terminal(line, fields)
            elif kind == b"p":
                self.problem(line, fields)
            else:
                self.fail(line, f"a line begins with c, p, n or a, not with {_shown(kind)}")
        if ends:
            self.blocks.append((np.array(ends, dtype=np.int64), np.array(capacities)))

    def problem(self, line: int, fields: list[bytes]) -> None:
        if self.has_problem:
            self.fail(line, "there is a problem line already")
        self.need(line, fields, "p max VERTICES ARCS")
        if fields[1] != b"max":
            self.fail(line, f"the problem must be 'max', got {_shown(fields[1])}")
        self.n_vertices = self.integer(line, fields[2], "number of vertices", 2)
        self.n_arcs = self.integer(line, fields[3], "number of arcs", 0)
        self.has_problem = True

    def terminal(self, line: int, fields: list[bytes]) -> None:
        self.after_problem(line)
        self.need(line, fields, "n VERTEX s|t")
        vertex, letter = self.vertex(line, fields[1]), fields[2]
        if letter not in (b"s", b"t"):
            self.fail(line, f"a terminal is s or t, got {_shown(letter)}")
        if letter in self.terminals:
            self.fail(line, f"there is a {'source' if letter == b's' else 'sink'} already")
        if vertex in self.terminals.values():
            self.fail(line, f"source and sink must be different vertices, got {vertex} for both")
        self.terminals[letter] = vertex

    def arc(self, line: int, fields: list[bytes]) -> tuple[int, int]:
        self.after_problem(line)
        self.need(line, fields, "a TAIL HEAD CAPACITY")
        if self.found == self.n_arcs:
            self.fail(line, f"the problem line promises {self.n_arcs} arcs, and this is one more")
        self.found += 1
        return self.vertex(line, fields[1]), self.vertex(line, fields[2])

    def capacity(self, line: int, field: bytes) -> int | float:
        if not _NUMBER.fullmatch(field):
            self.fail(line, f"a capacity must be a finite number, got {_shown(field)}")
        value: int | float
        if re.fullmatch(rb"[+-]?\d+", field):
            value = int(field) if len(field) <= 2 * LONGEST_NUMBER else 2**63
            if value >= 2**63:
                self.fail(line, f"an integer capacity must be below 2⁶³, got {_shown(field)}")
        else:
            value = float(field) + 0.0  # -0 is 0
            if not math.isfinite(value):
                self.fail(line, f"a capacity must be a finite number, got {_shown(field)}")
        if value < 0 or (field[:1] == b"-" and value != 0):
            self.fail(line, f"a capacity must not be negative, got {_shown(field)}")
        return value

    def vertex(self, line: int, field: bytes) -> int:
        vertex = self.integer(line, field, "vertex", 1)
        if vertex > self.n_vertices:
            self.fail(line, f"a vertex must be at most {self.n_vertices}, got {vertex}")
        return vertex

    def integer(self, line: int, field: bytes, what: str, least: int) -> int:
        if not field.isdigit():
            self.fail(line, f"the {what} must be an integer, got {_shown(field)}")
        value = int(field) if len(field) <= LONGEST_NUMBER else INDEX_LIMIT + 1
        if not least <= value <= INDEX_LIMIT:
            self.fail(line, f"the {what} must be {least} … {INDEX_LIMIT}, got {_shown(field)}")
        return value

    def need(self, line: int, fields: list[bytes], form: str) -> None:
        n = len(form.split())
        if len(fields) != n:
            what = "too many fields" if len(fields) > n else "too few fields"
            self.fail(line, f"{what}: the form is '{form}', got {_shown(b' '.join(fields))}")

    def after_problem(self, line: int) -> None:
        if not self.has_problem:
            self.fail(line, "the problem line 'p max VERTICES ARCS' must come first")

    def fail(self, line: int, reason: str) -> NoReturn:
        raise DimacsError(self.name, line, reason)


def _end_of_block(data: bytes, begin: int) -> int:
    """Return the end of a block of complete lines that starts at `begin`."""
    if begin + BLOCK >= len(data):
        return len(data)
    end = data.rfind(b"\n", begin, begin + BLOCK)
    return (end if end >= 0 else data.find(b"\n", begin + BLOCK)) + 1 or len(data)


def _shown(field: bytes) -> str:
    """Return a field in printable form."""
    return brief(field.decode("utf-8", "backslashreplace"))
