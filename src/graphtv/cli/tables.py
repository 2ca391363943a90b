"""Tables in text files, separated by commas, semicolons, tabs or spaces, with optional header.

Errors contain the file, the line and the reason.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import NoReturn

from graphtv.cli.errors import UsageError
from graphtv.cli.files import read_bytes, shown

MISSING = {"", "na", "n/a", "nan", "null", "none", "."}
"""Texts that mean a missing number."""

DELIMITERS = (",", "\t", ";")


@dataclass(frozen=True)
class Row:
    """The fields of a line and its number, counted from 1."""

    line: int
    fields: list[str]


class Table:
    """The rows of a text file.

    Attributes
    ----------
    name : str
        The name of the file in messages.
    delimiter : str
        The separator of fields; a space means any number of spaces.
    rows : list of Row
        All rows; `take_header` removes the first.
    header : list of str or None
        The names of the columns.
    """

    def __init__(self, path: str) -> None:
        self.name = shown(path, "input")
        self.header: list[str] | None = None
        text = self._decode(read_bytes(path))
        first = next((line for line in text.splitlines() if _is_content(line)), "")
        self.delimiter = next((d for d in DELIMITERS if d in first), " ")
        self.rows = self._split(text)
        if not self.rows:
            raise UsageError(f"{self.name}: the table is empty")

    @property
    def n_columns(self) -> int:
        """Number of fields of a row."""
        return len(self.rows[0].fields) if self.header is None else len(self.header)

    def take_header(self) -> None:
        """Use the first row as the names of the columns."""
        self.header = self.rows.pop(0).fields
        if not self.rows:
            raise UsageError(f"{self.name}: there is no row after the header")

    def column(self, name: str, option: str) -> int:
        """Return the index of a column that an option gives by name or by number from 1."""
        if self.header is not None and name in self.header:
            return self.header.index(name)
        if name.isdigit() and 1 <= int(name) <= self.n_columns:
            return int(name) - 1
        names = ", ".join(self.header) if self.header is not None else f"1 … {self.n_columns}"
        raise UsageError(f"{option} must be a column of {self.name} ({names}), got {name}")

    def number(self, row: Row, column: int, *, what: str) -> float:
        """Return a field as a number; NaN if it is missing."""
        field = row.fields[column]
        if field.lower() in MISSING:
            return math.nan
        try:
            value = float(field)
        except ValueError:
            value = math.inf
        if not math.isfinite(value):
            self.fail(row.line, f"{what} must be a finite number or empty, got {field!r}")
        return value

    def fail(self, line: int, reason: str) -> NoReturn:
        """Raise UsageError with the file, the line and the reason."""
        raise UsageError(f"{self.name}, line {line}: {reason}")

    def _decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.fail(line, f"the text is not UTF-8: byte 0x{data[error.start]:02x}")

    def _split(self, text: str) -> list[Row]:
        rows: list[Row] = []
        if self.delimiter == " ":
            for line, content in enumerate(text.splitlines(), start=1):
                if _is_content(content):
                    rows.append(Row(line, content.split()))
        else:
            reader = csv.reader(StringIO(text), delimiter=self.delimiter)
            last = 0
            try:
                for fields in reader:
                    if any(map(str.strip, fields)) and not fields[0].lstrip().startswith("#"):
                        rows.append(Row(last + 1, [field.strip() for field in fields]))
                    last = reader.line_num
            except csv.Error as error:
                self.fail(reader.line_num, str(error))
        for row in rows:
            if len(row.fields) != len(rows[0].fields):
                self.fail(
                    row.line,
                    f"expected {len(rows[0].fields)} fields as in line {rows[0].line},"
                    f" got {len(row.fields)}",
                )
        return rows


def is_number(field: str) -> bool:
    """Return whether a field is a number or marks a missing one."""
    try:
        float(field)
    except ValueError:
        return field.lower() in MISSING
    return True


def encode_table(rows: Sequence[Sequence[object]], delimiter: str) -> bytes:
    """Return the content of a text file with these rows."""
    buffer = StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
