"""cvxpy with Clarabel and with OSQP: the quadratic programme as a user would write it.

min ½‖u - f‖² + Σ ω_e |u_i - u_j| is compiled to standard form once. A run is the solver alone,
including its set-up. Above `MOST_EDGES` a run takes minutes.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import sparse

from .task import Answer, DeclinedError, Entrant, Task, imported, tolerances

PACKAGES = ("cvxpy", "clarabel", "osqp")
MOST_EDGES = 20_000


def enter(task: Task) -> list[Entrant]:
    """Return one entrant per solver."""
    cvxpy = imported("cvxpy")

    if len(task.edges) > MOST_EDGES:
        raise DeclinedError(f"small problems only, of at most {MOST_EDGES:,} edges")
    n, m = len(task.signal), len(task.edges)
    ends = task.edges.T.ravel()
    signs = np.repeat([1.0, -1.0], m) * np.tile(task.weights, 2)
    gradient = sparse.csr_matrix((signs, (np.tile(np.arange(m), 2), ends)), shape=(m, n))
    u = cvxpy.Variable(n)
    objective = 0.5 * cvxpy.sum_squares(u - task.signal) + cvxpy.norm1(gradient @ u)
    problem = cvxpy.Problem(cvxpy.Minimize(objective))

    def run(solver: str, chain: Any, data: Any, inverse: Any, tolerance: float) -> Answer:
        options = OPTIONS[solver](tolerance) | {"time_limit": task.budget}
        raw = chain.solve_via_data(problem, data, False, False, options)
        problem.unpack_results(raw, chain, inverse)
        return Answer(u.value)

    found = []
    for solver in OPTIONS:
        accept = {"accept_unknown": True} if solver == "CLARABEL" else {}
        data, chain, inverse = problem.get_problem_data(solver, solver_opts=accept)
        call = functools.partial(run, solver, chain, data, inverse)
        ladder = tolerances(1e-13 if solver == "CLARABEL" else 1e-10)
        found.append(Entrant(f"cvxpy with {NAMES[solver]}", "", call, ladder))
    return found


def clarabel(tolerance: float) -> dict[str, Any]:
    """Return Clarabel's options for a tolerance."""
    return {f"tol_{name}": tolerance for name in ("gap_abs", "gap_rel", "feas")}


def osqp(tolerance: float) -> dict[str, Any]:
    """Return OSQP's options for a tolerance."""
    return {"eps_abs": tolerance, "eps_rel": tolerance, "max_iter": 1_000_000}


OPTIONS = {"CLARABEL": clarabel, "OSQP": osqp}
NAMES = {"CLARABEL": "Clarabel", "OSQP": "OSQP"}
