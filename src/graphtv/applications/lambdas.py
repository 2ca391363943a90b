"""Arguments of paths of λ that several applications share."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphtv._validate import Floats, as_floats, as_real, describe, first_index, moderate


def as_lambdas(values: Any) -> Floats:
    """Return the validated values of λ in decreasing order."""
    lambdas = moderate(as_floats(values, "lambdas"), "lambdas")
    if lambdas.ndim != 1 or len(lambdas) == 0:
        raise ValueError(f"lambdas must be a sequence of numbers, got shape {lambdas.shape}")
    if not (lambdas > 0.0).all():
        where = first_index(~(lambdas > 0.0))
        raise ValueError(f"lambdas must be above 0, got {lambdas[where]} at {describe(where)}")
    return np.sort(lambdas)[::-1].copy()


def as_ratio(ratio: Any) -> float:
    """Return the validated ratio of the smallest and the largest λ."""
    given = as_real(ratio, "ratio", minimum=0.0, strict=True)
    if given >= 1.0:
        raise ValueError(f"ratio must be below 1, got {ratio}")
    return given


def shared_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `solve` that also apply to the computation of the largest λ."""
    return {name: options[name] for name in ("n_threads", "time_limit") if name in options}
