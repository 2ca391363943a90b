"""The page under load: no error, no cross-talk, bounded memory.

`benchmarks/page.py` describes what the simultaneous users do. The first case, used by the short
version, has few users.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reliability.harness import Figures, Property

LOADS = ((3, 3.0), (20, 120.0))
"""Users and seconds, by number."""

MOST_MEMORY = 1024.0
"""Memory limit of the server in MB."""


def check(seed: int, number: int) -> Figures:
    """Run users against a separate server."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from page import measure

    n_users, seconds = LOADS[number % len(LOADS)]
    report = measure(n_users, seconds)
    tally = report.tally
    assert not tally.errors, f"{len(tally.errors)} errors, the first: {tally.errors[0]}"
    assert not tally.cross_talk, f"{tally.cross_talk} answers of others"
    assert not report.complaints, f"the server complained: {report.complaints[-300:]}"
    assert report.returncode == 0, f"the server ended with {report.returncode}"
    assert report.peak <= MOST_MEMORY, f"the server took {report.peak:.0f} MB"
    return {
        "most users": n_users, "strokes": tally.strokes, "certified answers": tally.answers,
        "refused": tally.refused, "most MB of the server": report.peak,
        "longest seconds to an answer": max(tally.last, default=0.0),
    }  # fmt: skip


PROPERTY = Property("page", "The page", check, cases=2, quick=1, timeout=600.0)
