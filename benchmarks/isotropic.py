"""Isotropic and coupled total variation against scikit-image and fast gradient projection.

    python benchmarks/isotropic.py [--size 512]

All run on one thread in the same process. Times are processor times, the best of `REPEATS`. The
library recomputes the objectives of all methods. The accuracy of the others is their relative
distance from the dual objective of a run to 1e-8 (or as far as the time limit allows). That of
graphtv is its certified gap, which is larger.

Fast gradient projection (FGP, Beck and Teboulle 2009) with restart is written in NumPy in single
precision. Its iterations do not depend on the implementation; its times do.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from skimage import data
from skimage.restoration import denoise_tv_chambolle

from graphtv import CoupledTV, IsotropicTV, Problem, SquaredLoss, grid_graph, solve

NOISE, REPEATS, LIMIT = 0.1, 2, 15.0
TOLERANCES = (1e-3, 1e-6)


def seconds_of(function):
    """Return the least processor time of a call, and its result."""
    best = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
        if best > 5.0:
            break
    return best, result


def gradient(u):
    """Return forward differences, 0 at the last pixels."""
    x = np.zeros((2, *u.shape), dtype=u.dtype)
    x[0, :-1], x[1, :, :-1] = u[:-1] - u[1:], u[:, :-1] - u[:, 1:]
    return x


def adjoint(x):
    """Return ∇ᵀx."""
    out = x[0] + x[1]
    out[1:] -= x[0, :-1]
    out[:, 1:] -= x[1, :, :-1]
    return out


def fgp(f, weight, axes, target, problem, optimum):
    """Return the iterations and seconds to the accuracy; `axes` are those of the norm."""
    f = f.astype(np.float32)
    x = np.zeros((2, *f.shape), dtype=np.float32)
    y, t, iterations, seconds, energy = x, 1.0, 0, 0.0, np.inf
    while seconds < LIMIT:
        start = time.process_time()
        for _ in range(8):
            moved = y + gradient(f - adjoint(y)) / np.float32(8.0)
            norm = np.sqrt(np.sum(moved**2, axis=axes, keepdims=True))
            moved /= np.maximum(1.0, norm / np.float32(weight))
            u = f - adjoint(moved)
            now = float(np.sum(np.square(u), dtype=np.float64))
            t_next = 1.0 if now > energy else 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
            y = moved + np.float32((t - 1.0) / t_next if now <= energy else 0.0) * (moved - x)
            x, t, energy = moved, t_next, now
        seconds += time.process_time() - start
        iterations += 8
        if problem.primal(u.astype(float)) - optimum <= target * optimum:
            return iterations, seconds
    return None


def chambolle(f, weight, axis, target, problem, optimum):
    """Return the iterations and seconds of scikit-image to the accuracy, by doubling."""
    iterations = 50
    while True:
        seconds, u = seconds_of(
            lambda n=iterations: denoise_tv_chambolle(
                f, weight, eps=0.0, max_num_iter=n, channel_axis=axis
            )
        )
        if problem.primal(u) - optimum <= target * optimum:
            return iterations, seconds
        if seconds > LIMIT / 2:
            return None
        iterations *= 2


def main() -> None:
    """Print a table of seconds, iterations and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=512)
    size = parser.parse_args().size
    rng = np.random.default_rng(0)
    grey, colour = data.camera()[:size, :size] / 255, data.astronaut()[:size, :size] / 255
    grey, colour = (image + rng.normal(0.0, NOISE, image.shape) for image in (grey, colour))
    cases = [
        ("camera, isotropic", grey, 0.1, IsotropicTV(), (0,)),
        ("camera, isotropic", grey, 1.0, IsotropicTV(), (0,)),
        ("astronaut, coupled", colour, 0.1, CoupledTV(), (3,)),
        ("astronaut, isotropic coupled", colour, 0.1, IsotropicTV(coupled=True), (0, 3)),
    ]
    print("| image | weight | accuracy | graphtv | FGP with restart | scikit-image |")
    print("|---|---|---|---|---|---|")
    for name, f, weight, penalty, axes in cases:
        problem = Problem(grid_graph(f.shape[:2], weight), SquaredLoss(f), penalty)
        optimum = solve(problem, tol=1e-8, time_limit=LIMIT, n_threads=1).dual
        for tolerance in TOLERANCES:
            seconds, ours = seconds_of(
                lambda tolerance=tolerance, problem=problem: solve(
                    problem, tol=tolerance, n_threads=1, time_limit=LIMIT
                )
            )
            row = [f"{seconds:.3f} s, {ours.iterations} iterations"]
            peers = [fgp(f, weight, axes, tolerance, problem, optimum)]
            if penalty == IsotropicTV():
                peers.append(chambolle(f, weight, None, tolerance, problem, optimum))
            row += [
                f"not in {LIMIT:g} s"
                if found is None
                else f"{found[1] / seconds:.1f}×, {found[0]} iterations"
                for found in peers
            ]
            cells = " | ".join([*row, *["–"] * (3 - len(row))])
            print(f"| {name} | {weight:g} | {tolerance:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
