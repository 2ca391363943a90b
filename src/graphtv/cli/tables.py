"""Tables in text files: values between commas, semicolons, tabs or blanks, with or without names.

Whatever is wrong is told with the file, the line and the reason.
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
"""What stands for a number that is not known."""

DELIMITERS = (",", "\t", ";")


@dataclass(frozen=True)
class Row:
    """The fields of a line, and its number, counted from 1."""

    line: int
    fields: list[str]


class Table:
    """The rows of a text file.

    Attributes
    ----------
    name : str
        The file, as messages have it.
    delimiter : str
        What is between the fields; a blank stands for any number of them.
    rows : list of Row
        All of them; `take_header` takes the first away.
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
            raise UsageError(f"{self.name}: there is no row in it")

    @property
    def n_columns(self) -> int:
        """How many fields a row has."""
        return len(self.rows[0].fields) if self.header is None else len(self.header)

    def take_header(self) -> None:
        """Take the first row for the names of the columns."""
        self.header = self.rows.pop(0).fields
        if not self.rows:
            raise UsageError(f"{self.name}: there is no row after the names of the columns")

    def column(self, name: str, option: str) -> int:
        """Return the place of a column that an option names, or numbers from 1."""
        if self.header is not None and name in self.header:
            return self.header.index(name)
        if name.isdigit() and 1 <= int(name) <= self.n_columns:
            return int(name) - 1
        names = ", ".join(self.header) if self.header is not None else f"1 … {self.n_columns}"
        raise UsageError(f"{option} must be a column of {self.name} ({names}), got {name}")

    def number(self, row: Row, column: int, *, what: str) -> float:
        """Return a field as a number; NaN where it is missing."""
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
        """Say what is wrong, and where."""
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
                    f"there must be {len(rows[0].fields)} fields as in line {rows[0].line},"
                    f" got {len(row.fields)}",
                )
        return rows


def is_number(field: str) -> bool:
    """Whether a field holds a number, or says that it is missing."""
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
