"""A smoke test of an installed graphtv that needs only numpy and scipy."""

from importlib.metadata import version
from pathlib import Path

import numpy as np

import graphtv
from graphtv import Graph, Problem, SquaredLoss, gallery, grid_graph, min_cut, solve, tv_chain

ROOT = Path(__file__).resolve().parents[1]


def check_installation() -> None:
    """Check that the package is complete and is the installed one, not that of the repository."""
    home = Path(graphtv.__file__).resolve().parent
    assert not home.is_relative_to(ROOT / "src"), f"{home} is not installed"
    for name in ("py.typed", "_core.pyi", "datasets/us_counties_nodes.csv"):
        assert (home / name).is_file(), f"{name} is missing in {home}"


def check_answers() -> None:
    """Check exact solutions on a chain, a grid and a network, and one certificate."""
    assert np.array_equal(tv_chain([0.0, 0.0, 3.0, 3.0], 1.0), [0.5, 0.5, 2.5, 2.5])

    noisy, _ = gallery.piecewise_constant_image((48, 48), rng=1, noise=0.2)
    problem = Problem(grid_graph(noisy.shape, 0.2), SquaredLoss(noisy.ravel()))
    for threads in (1, 2):
        result = solve(problem, tol=0, n_threads=threads)
        assert result.status == "optimal"
        assert np.abs(result.p).max() <= 1
        assert problem.primal(result.u) - problem.dual(result.p) <= 1e-12 * result.primal

    path = Graph(3, [[0, 1], [1, 2]], [3.0, 1.0])
    assert min_cut(path, [9.0, 0.0, 0.0], [0.0, 0.0, 9.0]).value == 1.0


if __name__ == "__main__":
    check_installation()
    check_answers()
    print(f"graphtv {version('graphtv')} in {Path(graphtv.__file__).parent}: well")
