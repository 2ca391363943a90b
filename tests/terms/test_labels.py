"""Data terms keep the labels of their data, problems match them, and solutions have them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from graphtv import (
    AbsoluteLoss,
    CoupledTV,
    EntropicSimplex,
    Graph,
    HuberLoss,
    LinearBox,
    LogisticLoss,
    PoissonLoss,
    Problem,
    QuantileLoss,
    SquaredLoss,
    grid_graph,
    segment,
    solution_vjp,
    solve,
    tv_chain,
    tv_forest,
)

pandas = pytest.importorskip("pandas")
xarray = pytest.importorskip("xarray")

NAMES = ["d", "b", "a", "c"]
VALUES = np.array([0.0, 1.0, 5.0, 7.0])
ORDER = [2, 0, 3, 1]
GRAPH = Graph(4, [[0, 1], [1, 2], [2, 3]], 0.5, names=NAMES)
PLAIN = Graph(4, GRAPH.edges, 0.5)


def series(values=VALUES):
    return pandas.Series(values, index=NAMES, name="height").iloc[ORDER]


def array(values=VALUES):
    return xarray.DataArray(
        np.asarray(values)[ORDER],
        dims="place",
        coords={"place": np.array(NAMES)[ORDER]},
        attrs={"units": "m"},
        name="height",
    )


def dictionary(values=VALUES):
    return series(values).to_dict()


def by_name(u):
    """Return the values of a solution in the order of the names."""
    if isinstance(u, dict):
        return np.array([u[name] for name in NAMES])
    return np.asarray(u.sel(place=NAMES) if isinstance(u, xarray.DataArray) else u[NAMES])


TERMS = {
    "squared": SquaredLoss,
    "absolute": AbsoluteLoss,
    "quantile": lambda data: QuantileLoss(data, 0.3),
    "huber": HuberLoss,
    "poisson": PoissonLoss,
    "box": lambda data: LinearBox(data, -1.0, 1.0),
}


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("labelled", [series, array, dictionary])
def test_data_with_labels_is_matched_with_the_names(term, labelled):
    plain = solve(Problem(PLAIN, TERMS[term](VALUES)), tol=0)
    problem = Problem(GRAPH, TERMS[term](labelled()))
    result = solve(problem, tol=0)
    assert type(result.u) is type(labelled())
    assert_allclose(by_name(result.u), plain.u)
    labels = result.u.place.values if labelled is array else result.u.keys()
    assert list(labels) == [NAMES[k] for k in ORDER]
    assert problem.gap(result.u, result.p) == pytest.approx(result.gap, abs=1e-15)
    again = solve(problem, tol=0, warm_start=result)
    assert_allclose(by_name(again.u), plain.u)


def test_attributes_and_names_are_kept():
    result = solve(Problem(GRAPH, SquaredLoss(array())))
    assert (result.u.attrs, result.u.name, result.u.dims) == ({"units": "m"}, "height", ("place",))
    result = solve(Problem(GRAPH, SquaredLoss(series())))
    assert result.u.name == "height"


def test_labels_of_classes():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    plain = solve(Problem(PLAIN, LogisticLoss(y))).u
    found = solve(Problem(GRAPH, LogisticLoss(series(y)))).u
    assert_allclose(found[NAMES], plain)
    yes = series(y) > 0
    assert_allclose(solve(Problem(GRAPH, LogisticLoss(yes))).u[NAMES], plain)


def test_frames_keep_their_columns():
    frame = pandas.DataFrame({"x": VALUES, "y": -VALUES}, index=NAMES).iloc[ORDER]
    problem = Problem(GRAPH, SquaredLoss(frame), CoupledTV())
    result = solve(problem, tol=1e-12)
    plain = solve(Problem(PLAIN, SquaredLoss(frame.loc[NAMES].to_numpy()), CoupledTV()), tol=1e-12)
    assert result.u.columns.equals(frame.columns)
    assert_allclose(result.u.loc[NAMES], plain.u)
    swapped = result.u[["y", "x"]].loc[NAMES]
    assert problem.primal(swapped) == pytest.approx(result.primal)
    with pytest.raises(ValueError, match="got no 'y' and unknown 'z'"):
        problem.primal(result.u.rename(columns={"y": "z"}))


@pytest.mark.parametrize("labelled", [series, array, dictionary])
def test_weights_are_matched_with_the_signal(labelled):
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    plain = solve(Problem(PLAIN, SquaredLoss(VALUES, weights)), tol=0).u
    shuffled = pandas.Series(weights, index=NAMES).sort_index()
    given = labelled(weights) if labelled is array else shuffled
    found = solve(Problem(GRAPH, SquaredLoss(labelled(), given)), tol=0).u
    assert_allclose(by_name(found), plain)
    box = LinearBox(series(), lower=series(-weights), upper=shuffled)
    assert_allclose(box.upper, series(weights))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Problem(GRAPH, SquaredLoss(series().rename({"a": "e"}))),
            "data must have a label for each name of the graph and no others, got no 'a' and"
            " unknown 'e'; NaN marks missing data",
        ),
        (
            lambda: SquaredLoss(series(), weights=series().rename({"a": "e"})),
            "weights must have a label for each label of signal and no others, got no 'a'",
        ),
        (
            lambda: SquaredLoss(VALUES, weights=series()),
            "weights must have no labels if signal has none, got 'a', 'd', 'c' and 1 more",
        ),
        (lambda: SquaredLoss("height"), "signal must hold numbers, got 'height'; graph.vertex_at"),
        (
            lambda: SquaredLoss(pandas.Series(list("wxyz"), dtype=object)),
            "signal must hold real numbers",
        ),
        (
            lambda: Problem(GRAPH, SquaredLoss(series())).primal(pandas.Series(VALUES)),
            "u must have a label for each label of data and no others, got no 'a', 'd', 'c' and",
        ),
        (
            lambda: SquaredLoss(array(), weights=array().rename({"place": "town"})),
            r"weights must have the dimensions \('place',\), got \('town',\)",
        ),
        (
            lambda: tv_forest(GRAPH, series().rename({"a": "e"})),
            "signal must have a label for each name of the graph",
        ),
        (
            lambda: Problem(GRAPH, SquaredLoss(series().iloc[:3])),
            "data must have a label for each name of the graph and no others, got no 'b'",
        ),
    ],
)
def test_labels_that_disagree_are_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_without_names_other_labels_are_in_order():
    years = pandas.Series(VALUES, index=pandas.period_range("2001", periods=4, freq="Y"))
    result = solve(Problem(PLAIN, SquaredLoss(years)), tol=0)
    assert result.u.index.equals(years.index)
    assert_allclose(result.u, tv_forest(PLAIN, VALUES))
    problem = Problem(PLAIN, SquaredLoss(years))
    assert problem.primal(result.u.iloc[::-1]) == pytest.approx(result.primal)


def test_images_with_labels_keep_them():
    rng = np.random.default_rng(0)
    image = xarray.DataArray(
        rng.normal(size=(3, 4)), dims=("y", "x"), coords={"y": [10.0, 20.0, 30.0]}
    )
    weights = abs(image).transpose()
    problem = Problem(grid_graph((3, 4)), SquaredLoss(image, weights))
    result = solve(problem, tol=0)
    assert result.u.coords.equals(image.coords)
    plain = solve(Problem(grid_graph((3, 4)), SquaredLoss(image.values, weights.values.T)), tol=0)
    assert_allclose(result.u, plain.u)
    assert problem.primal(result.u.transpose()) == pytest.approx(result.primal)
    frame = pandas.DataFrame(image.values, index=list("abc"), columns=list("wxyz"))
    found = solve(Problem(grid_graph((3, 4)), SquaredLoss(frame)), tol=0).u
    assert found.index.equals(frame.index)
    assert found.columns.equals(frame.columns)


def test_callbacks_see_labels():
    seen = []
    solve(Problem(GRAPH, SquaredLoss(series())), callback=lambda info: seen.append(info.u))
    assert all(u.index.equals(series().index) for u in seen)
    assert seen


@pytest.mark.parametrize("labelled", [series, array, dictionary])
def test_pickles_keep_labels(labelled):
    problem = pickle.loads(pickle.dumps(Problem(GRAPH, SquaredLoss(labelled()))))
    assert_allclose(by_name(solve(problem, tol=0).u), tv_forest(GRAPH, VALUES))
    term = pickle.loads(pickle.dumps(SquaredLoss(labelled())))
    assert list(term.labelling.labels) == [NAMES[k] for k in ORDER]


def test_terms_without_a_problem_match_labels_too():
    loss = SquaredLoss(series())
    assert loss.value(series()[NAMES]) == 0.0
    assert loss.value(VALUES[ORDER]) == 0.0


def test_derivatives_have_labels():
    problem = Problem(GRAPH, SquaredLoss(series()))
    g = series(np.array([1.0, 0.0, 0.0, 2.0]))
    found = solution_vjp(problem, solve(problem, tol=0), g.sort_index())
    plain = Problem(PLAIN, SquaredLoss(VALUES))
    expected = solution_vjp(plain, solve(plain, tol=0), g[NAMES].to_numpy())
    assert_allclose(found.signal[NAMES], expected.signal)
    assert_allclose(found.vertex_weights[NAMES], expected.vertex_weights)
    assert_allclose(found.edge_weights, expected.edge_weights)


@pytest.mark.parametrize("labelled", [series, array, dictionary])
def test_forests_and_chains(labelled):
    u, p = tv_forest(GRAPH, labelled(), return_dual=True)
    plain = tv_forest(PLAIN, VALUES)
    assert_allclose(by_name(u), plain)
    assert p.shape == (3,)
    if labelled is not dictionary:
        u = tv_chain(labelled(), 0.5)
        assert_allclose(u, tv_chain(VALUES[ORDER], 0.5))
        assert type(u) is type(labelled())


def test_segments_have_labels():
    cost = pandas.DataFrame({"low": VALUES, "high": 7 - VALUES}, index=NAMES).iloc[ORDER]
    result = segment(GRAPH, cost)
    assert result.labels.to_dict() == {"d": "low", "b": "low", "a": "high", "c": "high"}
    assert result.u.index.equals(cost.index)
    plain = segment(PLAIN, cost.loc[NAMES].to_numpy())
    assert_allclose(result.u.loc[NAMES], plain.u)
    table = xarray.DataArray(cost, dims=("place", "class"))
    assert segment(GRAPH, table).labels.sel(place="a") == 1
    assert segment(GRAPH, cost.T.to_dict("list")).labels == {"d": 0, "b": 0, "a": 1, "c": 1}
    with pytest.raises(ValueError, match="cost must have a label for each name"):
        segment(GRAPH, cost.rename({"a": "e"}))
    assert EntropicSimplex(cost).cost.shape == (4, 2)
