"""DIMACS files: written files can be read again, and errors name their line."""

from __future__ import annotations

import gzip
import io
import pickle
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphtv import DimacsError, FlowNetwork, gallery, read_dimacs, write_dimacs
from graphtv.io import dimacs
from networks import networks

SMALL = b"c small\np max 4 3\nn 1 s\nn 4 t\na 1 2 5\na 2 3 4\na 3 4 6\n"


def read(data: bytes) -> FlowNetwork:
    return read_dimacs(io.BytesIO(data))


def written(network: FlowNetwork) -> bytes:
    file = io.BytesIO()
    write_dimacs(network, file)
    return file.getvalue()


@given(networks(2**63 - 1))
@settings(max_examples=60)
def test_integers_round_trip(network: FlowNetwork) -> None:
    assert read(written(network)) == network


@given(networks(), st.lists(st.floats(0, 1e300), min_size=48, max_size=48))
@settings(max_examples=60)
def test_floats_round_trip(network: FlowNetwork, values: list[float]) -> None:
    n, arcs = network.n_vertices, network.arcs
    real = FlowNetwork(n, arcs, np.array(values[: len(arcs)]), network.source, network.sink)
    again = read(written(real))
    np.testing.assert_array_equal(again.capacities, real.capacities)
    assert len(arcs) == 0 or again == real


def test_many_blocks_and_oddities(monkeypatch: pytest.MonkeyPatch) -> None:
    network = gallery.washington_rlg(10, 30, rng=1)
    lines = written(network).decode().splitlines()
    lines.insert(40, "c in between")
    lines.insert(70, "")
    lines[100] = "  " + lines[100].replace(" ", "\t ") + " "
    lines[120:123] = [line + "\r" for line in lines[120:123]]
    lines.append(lines.pop(2))  # a terminal at the end
    for block in (1, 40, 64, 1000, 1 << 22):
        monkeypatch.setattr(dimacs, "BLOCK", block)
        assert read("\n".join(lines).encode()) == network
        assert read_dimacs(io.StringIO("\n".join(lines) + "\n")) == network


def test_one_real_capacity_makes_all_real() -> None:
    for position in (b"a 1 2 5", b"a 2 3 4", b"a 3 4 6"):
        network = read(SMALL.replace(position, position[:-1] + b"7.5e-1"))
        assert network.capacities.dtype == np.float64
        assert 0.75 in network.capacities


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_files(tmp_path: Path, suffix: str) -> None:
    network = gallery.genrmf(3, 4, rng=2)
    path = tmp_path / f"network.max{suffix}"
    write_dimacs(network, path, comment="two\nlines")
    assert read_dimacs(path) == read_dimacs(str(path)) == network
    first = path.read_bytes()
    assert (first[:2] == b"\x1f\x8b") is (suffix == ".gz")
    text = gzip.decompress(first) if suffix else first
    assert text.startswith(b"c two\nc lines\np max 36 ")
    write_dimacs(network, str(path), comment="two\nlines")
    assert path.read_bytes() == first
    assert list(tmp_path.iterdir()) == [path]
    renamed = tmp_path / "no-suffix"
    renamed.write_bytes(first)
    assert read_dimacs(renamed) == network


def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "network.max"
    write_dimacs(read(SMALL), path)
    path.chmod(0o640)
    before = path.read_bytes()

    def broken(network: FlowNetwork, comment: str) -> Any:
        yield "p max 2 0\n"
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(dimacs, "_lines", broken)
        for target in (path, tmp_path / "new.max.gz"):
            with pytest.raises(OSError, match="disk is full"):
                write_dimacs(read(SMALL), target)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    write_dimacs(gallery.genrmf(2, 2), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    link = tmp_path / "link"
    link.symlink_to(path)
    write_dimacs(read(SMALL), link)
    assert link.is_symlink()
    assert read_dimacs(path) == read(SMALL)


def test_standard_streams(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    class Input:
        buffer = io.BytesIO(gzip.compress(SMALL))

    monkeypatch.setattr(sys, "stdin", Input)
    network = read_dimacs("-")
    write_dimacs(network, "-", comment="small")
    assert capsys.readouterr().out.encode() == SMALL


BAD = [
    (b"", 1, "ends without a problem line"),
    (b"c nothing\n\n", 2, "ends without a problem line"),
    (b"n 1 s\n" + SMALL, 1, "the problem line .* must come first"),
    (b"a 1 2 3\n" + SMALL, 1, "the problem line .* must come first"),
    (b"p max 4 3\n" + SMALL, 3, "there is a problem line already"),
    (SMALL.replace(b"max 4 3", b"max 4"), 2, "too few fields: the form is 'p max VERTICES ARCS'"),
    (SMALL.replace(b"max 4 3", b"max 4 3 9"), 2, "too many fields"),
    (SMALL.replace(b"max", b"min"), 2, "the problem must be 'max', got 'min'"),
    (SMALL.replace(b"max 4", b"max -4"), 2, "number of vertices must be an integer, got '-4'"),
    (SMALL.replace(b"max 4", b"max 1"), 2, "number of vertices must be 2 … 2147483647, got '1'"),
    (SMALL.replace(b"4 3\n", b"4 99999999999999999999\n"), 2, "number of arcs must be 0 …"),
    (SMALL.replace(b"4 3\n", b"4 2\n"), 7, "promises 2 arcs, and this is one more"),
    (SMALL.replace(b"4 3\n", b"4 4\n"), 7, "promises 4 arcs, and the file ends after 3"),
    (SMALL.replace(b"n 1 s\n", b""), 6, "ends without a source"),
    (SMALL.replace(b"n 4 t\n", b""), 6, "ends without a sink"),
    (SMALL.replace(b"4 t", b"4 s"), 4, "there is a source already"),
    (SMALL.replace(b"4 t", b"1 t"), 4, "source and sink must be different vertices, got 1"),
    (SMALL.replace(b"4 t", b"4 x"), 4, "a terminal is s or t, got 'x'"),
    (SMALL.replace(b"4 t", b"5 t"), 4, "a vertex must be at most 4, got 5"),
    (SMALL.replace(b"a 2 3 4", b"a 2 5 4"), 6, "a vertex must be at most 4, got 5"),
    (SMALL.replace(b"a 2 3 4", b"a 0 3 4"), 6, "the vertex must be 1 …"),
    (SMALL.replace(b"a 2 3 4", b"a 2.0 3 4"), 6, r"the vertex must be an integer, got '2\.0'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 -4"), 6, "a capacity must not be negative, got '-4'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 -1e-9"), 6, "a capacity must not be negative, got '-1e-9'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 nan"), 6, "a capacity must be a finite number, got 'nan'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 inf"), 6, "a capacity must be a finite number, got 'inf'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 1e999"), 6, "a capacity must be a finite number, got '1e9"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 1_0"), 6, "a capacity must be a finite number, got '1_0'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 1-2"), 6, "a capacity must be a finite number, got '1-2'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 0x4"), 6, "a capacity must be a finite number, got '0x4'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 9223372036854775808"), 6, "must be below 2⁶³"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 " + b"9" * 5000), 6, "must be below 2⁶³, got '9999"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3"), 6, "too few fields: the form is 'a TAIL HEAD CAPACITY'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 4 5"), 6, "too many fields.*, got 'a 2 3 4 5'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 3 4 c why"), 6, "too many fields"),
    (SMALL.replace(b"a 2 3 4", b"b 2 3 4"), 6, "a line begins with c, p, n or a, not with 'b'"),
    (SMALL.replace(b"a 2 3 4", b"a23 4"), 6, "a line begins with c, p, n or a, not with 'a23'"),
    (SMALL.replace(b"a 2 3 4", b"\xff\xfe 3 4"), 6, r"not with '\\\\xff\\\\xfe'"),
    (SMALL.replace(b"a 2 3 4", b"a 2 \x003 4"), 6, "the vertex must be an integer"),
    (SMALL + b"junk", 8, "a line begins with c, p, n or a, not with 'junk'"),
    (SMALL.replace(b"5", b"1e308").replace(b"4\na 3", b"1e308\na 3"), 7, "their sum is infinite"),
    (gzip.compress(SMALL)[:-9], 1, "the gzip file is damaged"),
    (b"\x1f\x8b" + SMALL, 1, "the gzip file is damaged"),
]


@pytest.mark.parametrize(("data", "line", "reason"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_malformed_files(tmp_path: Path, data: bytes, line: int, reason: str) -> None:
    path = tmp_path / "bad.max"
    path.write_bytes(data)
    with pytest.raises(DimacsError, match=reason) as caught:
        read_dimacs(path)
    error = caught.value
    assert (error.filename, error.line) == (str(path), line)
    assert str(error) == f"{path}, line {line}: {error.reason}"
    assert isinstance(error, ValueError)
    assert len(str(error)) < 300 + len(str(path))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_fault_far_inside_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    network = gallery.washington_rlg(20, 40, rng=1)
    lines = written(network).split(b"\n")
    lines[1777] += b" 1"
    for block in (300, 1 << 22):
        monkeypatch.setattr(dimacs, "BLOCK", block)
        with pytest.raises(DimacsError, match="line 1778: too many fields"):
            read(b"\n".join(lines))


@given(
    st.lists(
        st.tuples(st.integers(0, len(SMALL)), st.integers(0, 3), st.binary(max_size=4)), max_size=4
    )
)
@settings(max_examples=300)
@example([(len(SMALL) - 1, 1, b"")])
def test_damaged_files_are_read_or_refused(edits: list[tuple[int, int, bytes]]) -> None:
    """Any bytes give a network or an error with a line; the fast and the slow reader agree."""
    data = SMALL
    for at, cut, new in edits:
        data = data[:at] + new + data[at + cut :]
    outcomes: list[Any] = []
    for fast in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not fast:
                patch.setattr(dimacs, "plain_arcs", lambda block: None)
            try:
                outcomes.append(read(data))
            except DimacsError as error:
                outcomes.append((error.line, str(error)))
    assert outcomes[0] == outcomes[1]
    if not isinstance(outcomes[0], FlowNetwork):
        assert 1 <= outcomes[0][0] <= 1 + data.count(b"\n")


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="path must be a path or a file object, got 3"):
        read_dimacs(3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        read_dimacs(tmp_path / "missing.max")
    with pytest.raises(ValueError, match="network must be a FlowNetwork, got 'x'"):
        write_dimacs("x", tmp_path / "x.max")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="comment must be a string, got 3"):
        write_dimacs(read(SMALL), tmp_path / "x.max", comment=3)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
