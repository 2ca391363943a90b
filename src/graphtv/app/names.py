"""Names of classes, which the user types."""

from __future__ import annotations

import unicodedata

BREAKS = ("Cc", "Zl", "Zp")
"""Unicode categories of control characters, line and paragraph separators."""


def printable(name: str) -> str:
    """Return the name as one line of valid UTF-8.

    A browser that truncates a name may leave half of a surrogate pair, which cannot be encoded.
    """
    whole = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(" " if unicodedata.category(c) in BREAKS else c for c in whole)
