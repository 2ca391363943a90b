"""Dendrograms of convex clustering."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from graphtv import convex_clustering_path
from graphtv.plot import draw_dendrogram


@pytest.fixture
def path():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(centre, 0.3, (10, 2)) for centre in (0.0, 2.0, 5.0)])
    return convex_clustering_path(points, n_lambdas=12, tol=1e-4)


def test_lines_join_clusters(path):
    axes = Figure().add_subplot()
    assert draw_dendrogram(path, axes) is axes
    [lines] = [c for c in axes.collections if isinstance(c, LineCollection)]
    segments = lines.get_segments()
    rows = path.linkage()
    assert len(segments) == len(rows) == 29
    np.testing.assert_array_equal([s[1, 1] for s in segments], rows[:, 2])
    assert axes.get_title(loc="right").startswith("3 clusters")
    bottoms = [x for s in segments for x, y in s[[0, 3]] if y == path.lambdas[-1] / 2]
    assert sorted(bottoms) == list(range(30))  # every point once
    assert len({tuple(c) for c in lines.get_colors()}) == 4  # three clusters and what joins them


def test_colours_of_a_number_of_clusters(path):
    axes = draw_dendrogram(path, Figure().add_subplot(), n_clusters=2)
    assert axes.get_title(loc="right").startswith(("2", "3"))


def test_bad_arguments(path):
    with pytest.raises(ValueError, match=r"^path must be a ConvexClusteringPath, got 3"):
        draw_dendrogram(3)
    with pytest.raises(ValueError, match=r"^n_clusters must be at least 1"):
        draw_dendrogram(path, n_clusters=0)
    with pytest.raises(ValueError, match=r"^ax must be"):
        draw_dendrogram(path, "axes")
