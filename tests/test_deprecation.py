"""Old keywords: they work, they warn, and signatures show the new ones only."""

import inspect

import numpy as np
import pytest

from graphtv import decompose, fused_lasso_path, gallery, grid_graph
from graphtv._deprecation import renamed_keywords


@renamed_keywords(old="new")
def double(new, more=0):
    """Return twice the number."""
    return 2 * new + more


def test_an_old_keyword_works_and_warns():
    with pytest.warns(DeprecationWarning, match="use 'new' instead of 'old'") as caught:
        assert double(old=2, more=1) == 5
    assert caught[0].filename == __file__
    assert double(2) == double(new=2) == 4


def test_both_keywords_are_an_error():
    with pytest.raises(TypeError, match="both 'new' and 'old'"):
        double(new=1, old=2)


def test_the_function_stays_what_it_is():
    assert list(inspect.signature(double).parameters) == ["new", "more"]
    assert double.__doc__ == "Return twice the number."


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (gallery.random_tree, (9,)),
        (gallery.erdos_renyi_graph, (9, 12)),
        (gallery.delaunay_graph, (9, 12)),
        (gallery.genrmf, (2, 2)),
        (gallery.washington_rlg, (3, 3)),
        (gallery.three_moons, (5,)),
        (gallery.piecewise_constant_image, ((4, 4),)),
        (decompose, (grid_graph((3, 3)), "nested")),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_seeds_are_called_rng(function, arguments):
    with pytest.warns(DeprecationWarning, match="use 'rng' instead of 'seed'"):
        function(*arguments, seed=3)
    function(*arguments, rng=3)


def test_a_path_takes_rng_like_the_others():
    graph, signal = grid_graph((4, 4)), np.arange(16.0) % 5
    with pytest.warns(DeprecationWarning, match="use 'rng' instead of 'random_state'"):
        old = fused_lasso_path(graph, signal, n_lambdas=3, cv=3, random_state=1)
    new = fused_lasso_path(graph, signal, n_lambdas=3, cv=3, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(old.cv_errors, new.cv_errors)
