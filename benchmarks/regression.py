"""Regression with total variation on a brain-like volume, against nilearn's solver.

    python benchmarks/regression.py [--side 27] [--samples 200]

All run on one thread in one process. Both minimise ½‖Xw - y‖² + α Σ ‖∇w‖, isotropic total variation
on a cube of side³ voxels, which is what nilearn's `tvl1_solver` (the solver of SpaceNet) minimises
with ``l1_ratio=0``. Times are processor times until the objective is within a tolerance of the
optimum, which a long run of graphtv proves. nilearn is run with 25, 50, 100, … iterations. A second
table shows the fused lasso on a mask, with sparsity, for which nilearn has no equal objective.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from nilearn.decoding.space_net_solvers import tvl1_solver
from scipy import ndimage

from graphtv import FusedLinearRegression, IsotropicTV, Problem, SquaredLoss, grid_graph, solve

TARGETS = (1e-2, 1e-3, 1e-5)
LIMIT = 60.0


def volumes_of(shape, n_samples, rng):
    """Return smooth random volumes with unit variance, and coefficients with two regions."""
    X = ndimage.gaussian_filter(rng.normal(size=(n_samples, *shape)), (0, 1, 1, 1))
    grid = np.indices(shape)
    centres = (np.array(shape) * 0.3, np.array(shape) * 0.65)
    truth = np.zeros(shape)
    for centre, height in zip(centres, (1.0, -1.0), strict=True):
        distance = np.sqrt(((grid - centre[:, None, None, None]) ** 2).sum(axis=0))
        truth[distance < 0.15 * shape[0]] = height
    return X / X.std(), truth


def seconds_of(function):
    """Return the processor time of a call, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=27)
    parser.add_argument("--samples", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    shape = (arguments.side,) * 3
    volumes, truth = volumes_of(shape, arguments.samples, rng)
    X = volumes.reshape(arguments.samples, -1)
    y = X @ truth.ravel()
    y += 0.5 * y.std() * rng.normal(size=len(y))
    y -= y.mean()
    alpha = 0.02 * np.abs(X.T @ y).max()

    problem = Problem(grid_graph(shape, alpha), SquaredLoss(y), IsotropicTV(), X)
    best = solve(problem, tol=1e-7, n_threads=1, time_limit=3 * LIMIT)
    print(f"isotropic, {X.shape[1]} voxels; the optimum is known to {best.relative_gap:.0e}\n")
    print("| suboptimality | graphtv | nilearn |\n|---|---|---|")
    theirs, iterations = [], 25
    while not theirs or (theirs[-1][0] < LIMIT and theirs[-1][2] > TARGETS[-1]):
        seconds, (w, *_) = seconds_of(
            lambda n=iterations: tvl1_solver(
                X, y, alpha, 0.0, np.ones(shape, bool), loss="mse", max_iter=n, tol=0.0
            )
        )
        distance = problem.primal(w.ravel()) / best.primal - 1.0
        theirs.append((seconds, iterations, distance))
        iterations *= 2
    for target in TARGETS:
        seconds, result = seconds_of(lambda t=target: solve(problem, tol=t, n_threads=1))
        reached = [run for run in theirs if run[2] <= target]
        cell = f"not reached in {theirs[-1][0]:.0f} s, at {theirs[-1][2]:.1e}"
        if reached:
            cell = f"{reached[0][0] / seconds:.1f}×, {reached[0][1]} iterations"
        print(
            f"| {target:g} | {seconds:.2f} s with proof, {result.operator_calls} products,"
            f" true {result.primal / best.primal - 1.0:.0e} | {cell} |",
            flush=True,
        )

    centre = (np.array(shape) - 1) / 2
    grid = np.indices(shape) - centre[:, None, None, None]
    mask = (grid**2).sum(axis=0) < (0.5 * arguments.side) ** 2
    inside = volumes[:, mask]
    print(f"\nfused lasso with sparsity on a mask of {mask.sum()} voxels\n")
    print("| proved gap | seconds | products | pieces |\n|---|---|---|---|")
    for target in TARGETS:
        model = FusedLinearRegression.from_mask(mask, lam=alpha, sparsity=0.2 * alpha, tol=target)
        seconds, fitted = seconds_of(lambda model=model: model.fit(inside, y))
        calls = fitted.result_.operator_calls
        print(f"| {target:g} | {seconds:.2f} | {calls} | {fitted.n_pieces_} |", flush=True)


if __name__ == "__main__":
    main()
