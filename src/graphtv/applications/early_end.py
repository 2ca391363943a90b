"""Warn that a run ended early, if the caller does not see its status."""

from __future__ import annotations

import warnings
from typing import Any


def warn_if_early(result: Any, caller: str, stacklevel: int = 3) -> None:
    """Warn unless the run ended with status 'optimal'; `caller` is the function that was called."""
    if result.status != "optimal":
        warnings.warn(
            f"{caller} ended with status {result.status!r} and relative gap"
            f" {result.relative_gap:.2g} instead of {result.tolerance:g}; use return_result=True to"
            " get the result without this warning",
            RuntimeWarning,
            stacklevel=stacklevel,
        )
