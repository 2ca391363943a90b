"""Constants on the components of a graph for which a residual sums to zero on each of them.

A dual point needs a q with Zᵀq = 0, where Z = A(1_C) has one column per component C: only then is
Aᵀq = -Kᵀp possible. With q = h'(x + Zm), these are the conditions for the best constants m to add
to u, and q stays in the domain of h*. A damped Newton method finds them in a few steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphtv._validate import Floats

MAX_STEPS = 60
"""Limit of the number of Newton steps; few are needed."""

Map = Callable[[Floats], Floats]


def balancing_shift(
    columns: Floats, slope: Map, curvature: Map, n_channels: int, target: float | Floats = 0.0
) -> Floats:
    """Return m, shape (C, k), with Zᵀψ(Zm) = target for a nondecreasing ψ, as well as possible.

    Parameters
    ----------
    columns : ndarray, shape (N, k)
        The matrix Z.
    slope, curvature : callable
        ψ and its derivative, functions of the core's flat arrays of C channels.
    n_channels : int
        The number C of channels.
    target : float or ndarray, shape (C, k)
        The right side.
    """
    m = np.zeros((n_channels, columns.shape[1]))

    def residual(m: Floats) -> tuple[Floats, float]:
        with np.errstate(invalid="ignore", over="ignore"):  # of a step that is far too long
            shift = (m @ columns.T).reshape(-1)
            if not np.isfinite(shift).all():
                return m, np.inf
            values = slope(shift).reshape(n_channels, -1)
            found = values @ columns - target
            size = np.linalg.norm(found)
        return found, float(size) if np.isfinite(size) else np.inf

    scale = float(np.abs(columns).sum())
    now, size = residual(m)
    for _ in range(MAX_STEPS):
        if size == 0.0 or scale == 0.0:
            break
        step = _newton_step(columns, curvature((m @ columns.T).reshape(-1)), now)
        length = 1.0
        while length > 1e-9:
            next_now, next_size = residual(m + length * step)
            if next_size < (1.0 - 1e-4 * length) * size:
                break
            length *= 0.5
        else:
            break
        m, now, size = m + length * step, next_now, next_size
    return m


def _newton_step(columns: Floats, curvatures: Floats, residual: Floats) -> Floats:
    """Return the Newton step of every channel; the matrix may be singular."""
    step = np.empty_like(residual)
    for c, weights in enumerate(curvatures.reshape(len(residual), -1)):
        matrix = columns.T @ (weights[:, None] * columns)
        ridge = 1e-14 * float(np.trace(matrix)) or 1.0
        matrix[np.diag_indices_from(matrix)] += ridge
        step[c] = -np.linalg.solve(matrix, residual[c])
    return step
