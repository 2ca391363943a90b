"""No false success: a verifier that shares no code with the core confirms every `optimal`.

Problems are of every kind and of scales from 1e-150 to 1e150. A solve may report that it failed
(`stalled`, a limit). It must not report success without reason, and it may raise only a ValueError
that names the defect of the problem.
"""

from __future__ import annotations

import warnings

import numpy as np

from graphtv import Problem, SquaredLoss, solve
from reliability.harness import Figures, Property
from reliability.problems import make_problem
from reliability.verifier import confirm

DOCUMENTED = ("finite", "labels")
"""Words of the documented errors: sums that overflow, labels that all agree."""


def ways(problem: Problem) -> list[str]:
    """Return the methods that apply to a problem."""
    found = ["pdhg"]
    if isinstance(problem.data, SquaredLoss) and (problem.data.weights > 0).all():
        found.append("descent")
    return found


def check(seed: int, number: int) -> Figures:
    """Solve a random problem and verify the result."""
    rng = np.random.default_rng([seed, number])
    with np.errstate(all="ignore"):
        try:
            problem, told = make_problem(rng)
        except ValueError as error:
            if not any(word in str(error) for word in DOCUMENTED):
                raise
            return {"refused": 1}
    tol = float(rng.choice([1e-3, 1e-6, 1e-9, 0.0], p=[0.2, 0.5, 0.2, 0.1]))
    method = str(rng.choice(ways(problem))) if rng.random() < 0.2 else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = solve(
                problem, tol=tol, method=method, max_iterations=2000, time_limit=3, n_threads=1
            )
            # An objective beyond the largest double has no certificate.
            true = confirm(problem, result)
            if abs(true.primal) > np.finfo(float).max:
                assert result.status != "optimal"
        except Exception as error:
            raise AssertionError(f"{told}, {method}, tol {tol:g}: {error!r}") from error
    return {"problems": 1, result.status: 1}


PROPERTY = Property("false-success", "No false success", check, cases=10_000, quick=300)
