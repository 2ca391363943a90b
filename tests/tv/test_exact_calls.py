"""Calls of exact total variation: from threads and forks, with bad and unusual arguments."""

import multiprocessing
import threading

import numpy as np
import pytest

from graphtv import Graph, gallery, grid_graph, tv_chain, tv_forest


def many_trees():
    rng = np.random.default_rng(0)
    n = 60_000
    parents = rng.integers(np.maximum(np.arange(1, n) - 20, 0), np.arange(1, n))
    edges = np.column_stack([np.arange(1, n), parents])
    edges = edges[rng.random(n - 1) > 0.01]
    return Graph(n, edges, rng.random(len(edges))), rng.standard_normal(n)


@pytest.mark.parametrize("huber", [0.0, 0.1])
def test_same_bits_for_any_number_of_threads(huber):
    graph, f = many_trees()
    expected = tv_forest(graph, f, huber=huber, n_threads=1)
    for n_threads in (2, 4, 8):
        np.testing.assert_array_equal(
            tv_forest(graph, f, huber=huber, n_threads=n_threads), expected
        )
    rows = f.reshape(100, -1)
    np.testing.assert_array_equal(
        tv_chain(rows, 1.0, n_threads=1), tv_chain(rows, 1.0, n_threads=8)
    )


def test_concurrent_callers():
    graph, f = many_trees()
    expected = tv_forest(graph, f, n_threads=1)
    results = [None] * 8

    def work(k):
        results[k] = tv_forest(graph, f, n_threads=2)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def _in_child(queue):
    graph, f = many_trees()
    queue.put(tv_forest(graph, f, n_threads=2))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_has_threads_of_its_own():
    graph, f = many_trees()
    expected = tv_forest(graph, f, n_threads=2)  # the helpers of the parent are running
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    result = queue.get(timeout=60)
    child.join(timeout=60)
    np.testing.assert_array_equal(result, expected)


BAD_NUMBERS = [np.nan, np.inf, -np.inf]


@pytest.mark.parametrize("bad", [np.inf, -np.inf, "x", None, 1j, object()])
def test_bad_signal(bad):
    f = [0.0, bad, 1.0]
    with pytest.raises(ValueError, match="signal"):
        tv_chain(f, 1.0)
    with pytest.raises(ValueError, match="signal"):
        tv_forest(gallery.path_graph(3), f)


@pytest.mark.parametrize("bad", [*BAD_NUMBERS, -1.0, "x", [1.0], [1.0, -1.0], [[1.0, 1.0, 1.0]]])
def test_bad_weights(bad):
    with pytest.raises(ValueError, match="weights"):
        tv_chain([0.0, 1.0, 2.0], bad)


@pytest.mark.parametrize("shape", [(), (2,), (4,), (3, 1, 1), (1, 3)])
def test_bad_signal_shape(shape):
    with pytest.raises(ValueError, match="signal"):
        tv_forest(gallery.path_graph(3), np.zeros(shape))


def test_chain_of_a_number():
    with pytest.raises(ValueError, match="signal"):
        tv_chain(1.0, 1.0)


@pytest.mark.parametrize("bad", [*BAD_NUMBERS, -1.0, "x", [1.0]])
def test_bad_huber(bad):
    with pytest.raises(ValueError, match="huber"):
        tv_chain([0.0, 1.0], 1.0, huber=bad)
    with pytest.raises(ValueError, match="huber"):
        tv_forest(gallery.path_graph(3), np.zeros(3), huber=bad)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two", True])
def test_bad_threads(bad):
    with pytest.raises(ValueError, match="n_threads"):
        tv_chain([0.0, 1.0], 1.0, n_threads=bad)


def test_a_cycle_is_an_error():
    triangle = Graph(3, [[0, 1], [1, 2], [2, 0]])
    kite = Graph(4, [[0, 1], [1, 2], [2, 0], [0, 3]])
    for graph in (triangle, kite, grid_graph((5, 5))):
        for huber in (0.0, 1.0):
            with pytest.raises(ValueError, match="graph must be a forest"):
                tv_forest(graph, np.zeros(graph.n_vertices), huber=huber)


def test_a_graph_is_wanted():
    with pytest.raises(ValueError, match="graph"):
        tv_forest([[0, 1]], [0.0, 1.0])


@pytest.mark.parametrize("bad", [0.5, 1, None, "yes", np.ones(2)])
def test_bad_return_dual(bad):
    """A weight in third position must not be read as a flag."""
    with pytest.raises(ValueError, match="return_dual must be True or False, got"):
        tv_forest(gallery.path_graph(3), [0.0, 1.0, 2.0], bad)


def test_masked_arrays_with_a_mask_and_without():
    masked = np.ma.masked_array([0.0, 5.0, 1.0], [False, True, False])
    np.testing.assert_array_equal(tv_chain(masked, 1.0), tv_chain([0.0, np.nan, 1.0], 1.0))
    unmasked = np.ma.masked_array([0.0, 5.0, 1.0])
    np.testing.assert_array_equal(tv_chain(unmasked, 1.0), tv_chain([0.0, 5.0, 1.0], 1.0))


def test_unusual_arrays():
    f = np.arange(6.0)
    expected = tv_chain(f, 1.0)
    read_only = f.copy()
    read_only.flags.writeable = False
    for same in (
        read_only,
        np.repeat(f, 2)[::2],
        f.astype(">f8"),
        f.astype(np.int8),
        f.astype(np.float32),
        list(f),
    ):
        np.testing.assert_array_equal(tv_chain(same, 1.0), expected)
        np.testing.assert_array_equal(tv_forest(gallery.path_graph(6), same), expected)
