"""Inverse problems with total variation against other algorithms, at equal suboptimality.

    python benchmarks/operators.py [--size 256] [--limit 60] [--problems deblur_gaussian …]

All run on one thread in one process, on the same operator, from u = 0. Counted are products with A
and Aᵀ, and processor time without the evaluation of objectives, until the objective is within 1e-3
and 1e-5 of the optimum. The optimum is the best objective of all runs; a long run of graphtv proves
how good it is. The columns of the others are multiples of graphtv's figures. A further row shows
what a certificate costs, which no other method has: a run to a proved gap of 1e-3.

The others are written in NumPy: Condat-Vu, PDHG with an operator for the data, and FISTA with
restarts, whose total variation steps are fast gradient projections with warm starts. Each takes the
best of a few settings.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
import scipy.fft
import scipy.sparse as sp
from skimage import data, transform

from graphtv import Problem, SquaredLoss, grid_graph, solve
from graphtv.applications.imaging.convolution import Convolution

TARGETS = (1e-3, 1e-5)


class Case(NamedTuple):
    """An operator with counted products, data, and the weight of total variation."""

    name: str
    operator: Counted
    data: np.ndarray
    shape: tuple[int, int]
    weight: float


class Counted:
    """An operator that counts its products and measures their time."""

    dtype = np.dtype(float)

    def __init__(self, operator):
        self._operator, self.shape, self.calls = operator, operator.shape, 0

    def matvec(self, x):
        """Return Ax."""
        self.calls += 1
        if sp.issparse(self._operator):
            return self._operator @ x
        return self._operator.matvec(x)

    def rmatvec(self, y):
        """Return Aᵀy."""
        self.calls += 1
        if sp.issparse(self._operator):
            return self._operator.T @ y
        return self._operator.rmatvec(y)


class Fourier:
    """Some Fourier coefficients of an image, more of them at low frequencies; an isometry."""

    def __init__(self, n, share, rng):
        x, y = np.meshgrid(np.fft.fftfreq(n), np.fft.rfftfreq(n), indexing="ij")
        density = np.exp(-(x**2 + y**2) / (2 * 0.15**2))
        self._chosen = rng.random(density.shape) < share * density / density.mean()
        self._chosen[0, 0] = True
        self._n, self._count = n, int(self._chosen.sum())
        # All but the first and last column stand for two coefficients of the full transform.
        self._factor = np.full(n // 2 + 1, np.sqrt(2.0))
        self._factor[[0, n // 2]] = 1.0
        self.shape = 2 * self._count, n * n

    def matvec(self, x):
        """Return the real and the imaginary parts of the chosen coefficients."""
        image = x.reshape(self._n, self._n)
        found = (scipy.fft.rfft2(image, norm="ortho") * self._factor)[self._chosen]
        return np.concatenate([found.real, found.imag])

    def rmatvec(self, y):
        """Return the adjoint."""
        spectrum = np.zeros(self._chosen.shape, dtype=complex)
        spectrum[self._chosen] = y[: self._count] + 1j * y[self._count :]
        spectrum /= self._factor
        return scipy.fft.irfft2(spectrum, (self._n, self._n), norm="ortho").ravel()


def projections(n, n_angles):
    """Return a sparse matrix of parallel projections: pixels are shared by the two nearest bins."""
    n_bins, angles = int(np.ceil(np.sqrt(2) * n)) + 2, np.arange(n_angles) * np.pi / n_angles
    y, x = (coordinate.ravel() - (n - 1) / 2 for coordinate in np.indices((n, n)))
    place = np.outer(np.cos(angles), x) + np.outer(np.sin(angles), y) + (n_bins - 1) / 2
    first = np.floor(place).astype(int)
    row = first + n_bins * np.arange(n_angles)[:, None]
    pixel = np.broadcast_to(np.arange(n * n), row.shape)
    share = place - first
    entries = np.concatenate([1.0 - share, share]).ravel() / n
    where = np.concatenate([row, row + 1]).ravel(), np.concatenate([pixel, pixel]).ravel()
    return sp.csr_array((entries, where), shape=(n_bins * n_angles, n * n))


def gaussian(deviation):
    """Return the kernel of a Gaussian blur."""
    x = np.arange(-int(4 * deviation), int(4 * deviation) + 1)
    line = np.exp(-(x**2) / (2 * deviation**2))
    return np.outer(line, line) / line.sum() ** 2


def case_of(name, n, seed=0):
    """Return one of the problems on an image of n × n pixels."""
    rng = np.random.default_rng(seed)
    photo = transform.resize(data.camera() / 255, (n, n), anti_aliasing=True)
    phantom = transform.resize(data.shepp_logan_phantom(), (n, n), anti_aliasing=True)
    if name == "inpainting":
        kept = np.flatnonzero(rng.random(n * n) < 0.3)
        entries = np.ones(len(kept)), (np.arange(len(kept)), kept)
        operator, image, noise, weight = (
            sp.csr_array(entries, shape=(len(kept), n * n)),
            photo,
            0.03,
            0.02,
        )
    else:
        operator, image, noise, weight = {
            "deblur_gaussian": lambda: (
                Convolution(gaussian(2), (n, n), "reflect"),
                photo,
                0.01,
                1e-3,
            ),
            "deblur_motion": lambda: (
                Convolution(np.fliplr(np.eye(15)) / 15, (n, n), "reflect"),
                photo,
                0.01,
                1e-3,
            ),
            "tomography_30": lambda: (projections(n, 30), phantom, 0.005, 2e-4),
            "tomography_90": lambda: (projections(n, 90), phantom, 0.005, 2e-4),
            "fourier": lambda: (Fourier(n, 0.2, rng), phantom, 0.02, 5e-3),
        }[name]()
    counted = Counted(operator)
    clean = counted.matvec(image.ravel())
    return Case(name, counted, clean + rng.normal(0.0, noise, clean.shape), (n, n), weight)


PROBLEMS = (
    "deblur_gaussian",
    "deblur_motion",
    "inpainting",
    "tomography_30",
    "tomography_90",
    "fourier",
)


# The operator of total variation


def gradient(u):
    """Return forward differences, 0 at the last pixels."""
    x = np.zeros((2, *u.shape))
    x[0, :-1], x[1, :, :-1] = u[:-1] - u[1:], u[:, :-1] - u[:, 1:]
    return x


def adjoint(x):
    """Return ∇ᵀx."""
    out = x[0] + x[1]
    out[1:] -= x[0, :-1]
    out[:, 1:] -= x[1, :, :-1]
    return out


def norm_squared(case):
    """Return ‖A‖² by power steps, which count."""
    x = np.random.default_rng(1).standard_normal(case.operator.shape[1])
    for _ in range(15):
        x /= np.linalg.norm(x)
        x = case.operator.rmatvec(case.operator.matvec(x))
    return 1.02 * float(np.linalg.norm(x))


# The other methods: generators of u


def condat_vu(case, ratio):
    """Condat-Vu with 1/τ = L/2 + 8σ; the dual step is chosen relative to L."""
    A, f, w = case.operator, case.data, case.weight
    L = norm_squared(case)
    sigma = ratio * L / 8
    tau = 1.0 / (L / 2 + 8 * sigma)
    u, p = np.zeros(case.shape), np.zeros((2, *case.shape))
    while True:
        slope = A.rmatvec(A.matvec(u.ravel()) - f).reshape(u.shape)
        after = u - tau * (slope + adjoint(p))
        p = np.clip(p + sigma * gradient(2 * after - u), -w, w)
        u = after
        yield u


def pdhg(case, ratio):
    """PDHG with A in the dual as well; `ratio` balances primal and dual steps."""
    A, f, w = case.operator, case.data, case.weight
    L = norm_squared(case)
    u, p, q = np.zeros(case.shape), np.zeros((2, *case.shape)), np.zeros(len(f))
    scale = L / 8  # both operators get the same norm
    tau = ratio / np.sqrt(2 * L)
    sigma = 1.0 / (ratio * np.sqrt(2 * L))
    while True:
        after = u - tau * (A.rmatvec(q).reshape(u.shape) + adjoint(p))
        ahead = 2 * after - u
        p = np.clip(p + sigma * scale * gradient(ahead), -w, w)
        q = (q + sigma * (A.matvec(ahead.ravel()) - f)) / (1 + sigma)
        u = after
        yield u


def fista(case, inner):
    """FISTA with restarts; total variation steps by `inner` steps of fast gradient projection."""
    A, f, w = case.operator, case.data, case.weight
    L = norm_squared(case)
    u, p, t = np.zeros(case.shape), np.zeros((2, *case.shape)), 1.0
    y = u
    while True:
        slope = A.rmatvec(A.matvec(y.ravel()) - f).reshape(u.shape)
        p = fgp(y - slope / L, w / L, p, inner)
        after = y - slope / L - adjoint(p)
        if np.vdot(y - after, after - u) > 0.0:
            t, y = 1.0, after
        else:
            t, before = 0.5 + np.sqrt(0.25 + t * t), t
            y = after + (before - 1.0) / t * (after - u)
        u = after
        yield u


def fgp(f, weight, p, steps):
    """Return the dual point after some steps of fast gradient projection."""
    y, t = p, 1.0
    for _ in range(steps):
        after = np.clip(y + gradient(f - adjoint(y)) / 8.0, -weight, weight)
        t, before = 0.5 + np.sqrt(0.25 + t * t), t
        y = after + (before - 1.0) / t * (after - p)
        p = after
    return p


OTHERS = {
    "Condat-Vu": (condat_vu, (0.1, 1.0)),
    "PDHG": (pdhg, (1.0, 10.0)),
    "FISTA, FGP": (fista, (10, 40)),
}


class Trace(NamedTuple):
    """Objectives of a run, with products and seconds so far."""

    values: list[float]
    calls: list[int]
    seconds: list[float]

    def reach(self, goal):
        """Return products and seconds until the objective is at most `goal`, or None."""
        for value, calls, seconds in zip(*self, strict=True):
            if value <= goal:
                return calls, seconds
        return None


def objective(case, u):
    """Return the primal objective; the product is not counted."""
    before = case.operator.calls
    misfit = case.operator.matvec(u.ravel()) - case.data
    case.operator.calls = before
    return 0.5 * float(misfit @ misfit) + case.weight * float(np.abs(gradient(u)).sum())


def trace_of(case, method, setting, limit, least):
    """Run a method until its objective is at most `least` or the time is over."""
    case.operator.calls = 0
    trace, seconds, start, count = Trace([], [], []), 0.0, time.process_time(), 0
    for u in method(case, setting):
        count += 1
        if count % max(1, count // 30):
            continue
        seconds += time.process_time() - start
        trace.values.append(objective(case, u))
        trace.calls.append(case.operator.calls)
        trace.seconds.append(seconds)
        if seconds > limit or trace.values[-1] <= least:
            break
        start = time.process_time()
    return trace


def ours(case, tolerance, limit):
    """Return the trace of graphtv with its result; looks at the gap are part of its time."""
    case.operator.calls = 0
    trace, start = Trace([], [], []), time.process_time()

    def watch(info):
        trace.values.append(info.primal)
        trace.calls.append(case.operator.calls)
        trace.seconds.append(time.process_time() - start)

    problem = Problem(
        grid_graph(case.shape, case.weight), SquaredLoss(case.data), operator=case.operator
    )
    result = solve(problem, tol=tolerance, n_threads=1, time_limit=limit, callback=watch)
    return trace, result


def show(figures, own):
    """Return a cell: multiples of graphtv's products and time."""
    if figures is None or own is None:
        return "not reached"
    return f"{figures[0] / own[0]:.1f}× products, {figures[1] / own[1]:.1f}× time"


def main() -> None:
    """Print a table of products, seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds per run")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    arguments = parser.parse_args()
    print(f"| problem, {arguments.size}² | suboptimality | graphtv |", " | ".join(OTHERS), "|")
    print("|---" * (3 + len(OTHERS)) + "|")
    for name in arguments.problems:
        case = case_of(name, arguments.size)
        own, result = ours(case, 1e-7, 3 * arguments.limit)
        certified, proved = ours(case, 1e-3, 3 * arguments.limit)
        best = min(own.values)
        least = best * (1.0 + TARGETS[-1])
        traces = {
            other: [trace_of(case, method, s, arguments.limit, least) for s in settings]
            for other, (method, settings) in OTHERS.items()
        }
        for target in TARGETS:
            goal = best * (1.0 + target)
            mine = own.reach(goal)
            cells = []
            for runs in traces.values():
                reached = [found for run in runs if (found := run.reach(goal))]
                cells.append(show(min(reached, default=None, key=lambda pair: pair[1]), mine))
            print(
                f"| {name} | {target:g} | {mine[0]} products, {mine[1]:.2f} s |",
                " | ".join(cells),
                "|",
                flush=True,
            )
        print(
            f"| | proved gap {proved.relative_gap:.1e} | {certified.calls[-1]} products,"
            f" {certified.seconds[-1]:.2f} s; the optimum is known to {result.relative_gap:.0e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
