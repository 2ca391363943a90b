"""Labelled signals are matched with the names of the vertices, and results keep the labels."""

import networkx
import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import FusedLasso, Graph, fused_lasso, fused_lasso_path

pandas = pytest.importorskip("pandas")

NAMES = ["d", "b", "a", "c"]
EDGES = [[0, 1], [1, 2], [2, 3]]
VALUES = np.array([0.0, 1.0, 5.0, 7.0])


def chain(names=NAMES):
    return Graph(4, EDGES, 0.5, names=names)


PLAIN = fused_lasso(chain(None), VALUES, tol=0).u


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 1, 3, 0], [3, 2, 1, 0]])
def test_a_series_is_matched_by_its_index(order):
    signal = pandas.Series(VALUES, index=NAMES, name="height").iloc[order]
    result = fused_lasso(chain(), signal, tol=0)
    assert result.u.index.equals(signal.index)
    assert result.u.name == "height"
    assert_allclose(result.u[NAMES], PLAIN)
    again = fused_lasso(chain(), signal, tol=0, warm_start=result)
    assert_allclose(again.u[NAMES], PLAIN)


def test_a_frame_keeps_its_columns():
    signal = pandas.DataFrame({"x": VALUES, "y": -VALUES}, index=NAMES).sort_index()
    u = fused_lasso(chain(), signal, tol=0).u
    assert u.columns.equals(signal.columns)
    assert u.index.equals(signal.index)
    assert_allclose(u.loc[NAMES], np.stack([PLAIN, -PLAIN], axis=1))


def test_weights_and_sparsity_are_matched_too():
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    expected = fused_lasso(chain(None), VALUES, vertex_weights=weights, sparsity=weights, tol=0).u
    labelled = pandas.Series(weights, index=NAMES).sort_index()
    signal = dict(zip(NAMES, VALUES, strict=True))
    for given in (labelled, labelled.to_dict()):
        u = fused_lasso(chain(), signal, vertex_weights=given, sparsity=given, tol=0).u
        assert_allclose([u[name] for name in NAMES], expected)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "c", "e"], "got no 'd' and unknown 'e'"),
        (["a", "b", "c"], "got no 'd'; NaN marks missing data"),
        (["a", "b", "c", "d", "e"], "got unknown 'e'"),
        (["a", "b", "c", "c"], "the labels of signal must be distinct, got 'c' twice"),
        ([0, 1, 2, 3], "got no 'd', 'b', 'a' and 1 more and unknown 0, 1, 2 and 1 more"),
    ],
)
def test_labels_that_disagree_are_errors(labels, message):
    signal = pandas.Series(np.arange(len(labels)), index=labels)
    with pytest.raises(ValueError, match=message):
        fused_lasso(chain(), signal)


def test_without_names_the_numbers_of_vertices_are_matched():
    shuffled = pandas.Series(VALUES).iloc[[2, 0, 3, 1]]
    u = fused_lasso(chain(None), shuffled, tol=0).u
    assert u.index.tolist() == [2, 0, 3, 1]
    assert_allclose(u.sort_index(), PLAIN)
    assert_allclose(fused_lasso(EDGES, shuffled, lam=0.5, tol=0).u.sort_index(), PLAIN)


def test_without_names_other_labels_are_in_order():
    years = pandas.Series(VALUES, index=pandas.period_range("2001", periods=4, freq="Y"))
    u = fused_lasso(chain(None), years, tol=0).u
    assert u.index.equals(years.index)
    assert_allclose(u, PLAIN)
    with pytest.raises(ValueError, match="signal must have a label for each name"):
        fused_lasso(chain(None), dict(zip(NAMES, VALUES, strict=True)))


def test_missing_data_of_pandas():
    signal = pandas.Series([0.0, None, 5.0, 7.0], index=NAMES, dtype="Float64")
    missing = fused_lasso(chain(None), [0.0, np.nan, 5.0, 7.0], tol=0).u
    assert_allclose(fused_lasso(chain(), signal, tol=0).u, missing)
    with pytest.raises(ValueError, match="signal must hold real numbers"):
        fused_lasso(chain(), pandas.Series(list("wxyz"), index=NAMES, dtype=object))


def test_dictionaries_and_attributes_of_networkx():
    G = networkx.path_graph(NAMES)
    networkx.set_edge_attributes(G, 0.5, "weight")
    signal = dict(zip(reversed(NAMES), VALUES[::-1].tolist(), strict=True))
    networkx.set_node_attributes(G, signal, "height")
    by_dictionary = fused_lasso(G, signal, tol=0).u
    assert list(by_dictionary) == NAMES[::-1]
    assert_allclose([by_dictionary[name] for name in NAMES], PLAIN)
    for graph in (G, Graph.from_networkx(G), Graph.from_igraph(Graph.from_networkx(G).to_igraph())):
        u = fused_lasso(graph, "height", tol=0).u
        assert list(u) == NAMES
        assert_allclose(list(u.values()), PLAIN)
        assert all(type(value) is float for value in u.values())
    networkx.set_node_attributes(G, u, "fused")
    with pytest.raises(ValueError, match=r"one of \['height', 'fused'\], got 'width'"):
        fused_lasso(G, "width")


def test_a_path_is_in_the_order_of_the_signal():
    signal = pandas.Series(VALUES, index=NAMES).sort_index()
    expected = fused_lasso_path(chain(None), VALUES, lambdas=[1.0, 2.0])
    for given in (signal, signal.to_dict()):
        path = fused_lasso_path(chain(), given, lambdas=[1.0, 2.0])
        assert_allclose(path.u, expected.u[:, np.argsort(NAMES)])
        assert type(path.best().u) is type(given)
        assert path.best().u["d"] == expected.best().u[0]
        assert repr(path) == repr(expected)


def test_estimators_refuse_another_order():
    signal = pandas.Series(VALUES, index=NAMES)
    fitted = FusedLasso(graph=chain(), lam=1.0).fit(None, signal).fitted_
    assert_allclose(fitted, FusedLasso(graph=chain(None), lam=1.0).fit(None, VALUES).fitted_)
    with pytest.raises(ValueError, match="y must be in the order of the names of graph"):
        FusedLasso(graph=chain(), lam=1.0).fit(None, signal.sort_index())
    with pytest.raises(ValueError, match="sample_weight must be in the order"):
        FusedLasso(graph=chain(), lam=1.0).fit(None, signal, signal.sort_index())
