"""The parametric family against minimum cuts that are computed one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphtv import FlowNetwork, Graph, _core, cut_path, gallery, grid_graph, min_cut
from graphtv.applications.cuts.cut_problem import CutProblem
from graphtv.applications.cuts.exact_levels import exact_levels
from networks import networks, oracle


def shifted(network: FlowNetwork, theta: float) -> FlowNetwork:
    """Return the network with θ more from every vertex to the sink, or -θ from the source."""
    s, t = network.source, network.sink
    inner = np.setdiff1d(np.arange(network.n_vertices), [s, t])
    new = [[v, t] if theta > 0 else [s, v] for v in inner.tolist()]
    arcs = np.concatenate([network.arcs, np.array(new, dtype=np.int32).reshape(-1, 2)])
    capacities = np.append(network.capacities, np.full(len(new), abs(theta)))
    return FlowNetwork(network.n_vertices, arcs, capacities, s, t)


def thetas(path: Any) -> list[float]:
    """Return a shift for every piece of the path, and integers around."""
    b = path.breakpoints
    if len(b) == 0:
        return [0.0]
    between = 0.5 * (b[1:] + b[:-1])
    far_apart = between[b[:-1] - b[1:] > 1e-6]
    return [b[0] + 1.0, *far_apart.tolist(), b[-1] - 1.0, *np.unique(np.rint(b)).tolist()]


@given(networks(40, 9))
@settings(max_examples=50)
def test_path_against_separate_cuts(network: FlowNetwork) -> None:
    path = network.cut_path()
    assert len(path) == len(path.breakpoints) + 1 == len(path.values) == len(path.sizes)
    assert (np.diff(path.breakpoints) < 0).all()
    assert (np.diff(path.sizes) > 0).all()
    before = None
    for theta in sorted(thetas(path), reverse=True):
        whole = float(theta).is_integer()
        separate = shifted(network, int(theta) if whole else theta).min_cut()
        cut, side = path.cut(theta), path.source_side(theta)
        assert cut.certified
        assert cut.value == pytest.approx(separate.value, rel=1e-9, abs=1e-9)
        assert path.value(theta) == pytest.approx(separate.value, rel=1e-9, abs=1e-9)
        if whole:
            assert type(cut.value) is type(separate.value) is int
            assert cut.value == separate.value
            assert cut.flow.value == cut.value
        if before is not None:
            assert not (before & ~side).any()  # nested
        before = side
        j = path.level(theta)
        assert side.sum() == path.sizes[j]
        assert network.cut_value(side) == path.values[j]


def test_small_capacities_beside_large_ones() -> None:
    """The rounding errors of the solver exceed some capacities, so it finds wrong pieces."""
    arcs = [
        [3, 4], [6, 9], [3, 7], [10, 8], [6, 3], [2, 3], [5, 3], [2, 1], [8, 4], [7, 8], [0, 1],
        [8, 3], [10, 3], [2, 7], [7, 5], [4, 5], [3, 9], [8, 2], [2, 4], [3, 10], [3, 3], [5, 3],
    ]  # fmt: skip
    M = 10**8
    capacities = [3, 4, 3 * M, 2, 3, 3 * M, 1, 2 * M, 4 * M, 4 * M, 3]
    capacities += [3, M, M, M, 1, 4 * M, 4, 4 * M, 2, 2, M]
    network = FlowNetwork(11, arcs, capacities, 0, 10)
    path = network.cut_path()
    assert path.certified
    assert path.value(0) == network.min_cut().value == path.cut(0).value == 0
    assert path.breakpoints.tolist() == [3.0, 0.0, -2 / 7]
    assert [path.source_side(theta).sum() for theta in (4, 2, -0.1, -1)] == [1, 2, 3, 10]


@given(networks(7, 8), st.sampled_from([1, 10**9, 10**15]), st.integers(0, 2**20), st.data())
@settings(max_examples=50)
def test_levels_do_not_depend_on_the_guess(
    network: FlowNetwork, magnitude: int, seed: int, data: st.DataObject
) -> None:
    """The levels are minimum cuts, from a start at zero and from a wrong solution."""
    rng = np.random.default_rng(seed)
    capacities = network.capacities * np.where(rng.random(network.n_arcs) < 0.5, magnitude, 1)
    network = FlowNetwork(
        network.n_vertices, network.arcs, capacities, network.source, network.sink
    )
    problem = CutProblem.of_network(network)
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    kind = data.draw(st.sampled_from(["nothing", "noise", "ties"]))
    u, p = rng.normal(size=n), rng.uniform(-1, 1, m)
    u, p = (np.zeros(n), np.zeros(m)) if kind == "nothing" else (u, p)
    u = np.rint(u) if kind == "ties" else magnitude * u
    levels = exact_levels(problem, u, p, _core.Watch(np.inf))
    expected = exact_levels(problem, *solution(network), _core.Watch(np.inf))
    assert levels is not None
    assert expected is not None
    assert levels.ranks.tolist() == expected.ranks.tolist()
    assert levels.values.tolist() == expected.values.tolist()
    path = network.cut_path()
    for theta in {0, *(round(b) for b in path.breakpoints.tolist())}:
        assert path.value(theta) == oracle(shifted(network, theta))


def solution(network: FlowNetwork) -> tuple[Any, Any]:
    result = network.cut_path().result
    return result.u, result.p


def test_a_shift_between_a_fraction_and_the_nearest_float() -> None:
    """The breakpoint is 10¹⁷ + 1/3, and 10¹⁷ as a float."""
    large = 3 * 10**17 + 1
    path = cut_path(Graph(3, [[0, 1], [1, 2]], 10**18), [large, 0, 0], 0)
    assert path.breakpoints.tolist() == [1e17]
    assert path.source_side(10**17).all()
    assert path.value(10**17) == 3 * 10**17
    assert not path.source_side(10**17 + 1).any()
    assert path.value(10**17 + 1) == large


def test_what_is_not_certified() -> None:
    """Non-integer capacities, and runs that ended early."""
    network = gallery.genrmf(4, 6, rng=3)
    assert network.cut_path().certified
    assert not network.cut_path(max_iterations=0).certified
    assert not network.cut_path(time_limit=0.0).certified
    real = FlowNetwork(
        network.n_vertices, network.arcs, network.capacities + 0.5, network.source, network.sink
    )
    path = real.cut_path()
    assert not path.certified
    assert path.cut(1.5).certified


def test_a_rough_guess_is_enough() -> None:
    network = gallery.washington_rlg(8, 12, rng=3)
    rough, exact = network.cut_path(tol=0.1), network.cut_path()
    assert rough.certified
    assert rough.values.tolist() == exact.values.tolist()
    assert rough.order.tolist() == exact.order.tolist()


def test_at_zero_it_is_the_minimum_cut() -> None:
    network = gallery.genrmf(4, 6, rng=3)
    path, cut = network.cut_path(), network.min_cut()
    assert path.cut().value == path.value() == cut.value == min(path.values)
    assert path.cut().certified
    assert path.result.status == "optimal"


def test_seeds_stay_where_they_are() -> None:
    graph = grid_graph((5, 5), 2)
    source, sink = np.zeros(25), np.zeros(25)
    source[12], sink[[0, 24]] = np.inf, np.inf
    path = cut_path(graph, source, sink)
    assert path.sizes[0] == 1
    assert path.sizes[-1] == 23
    for theta in (-1e9, -3.0, 0.0, 0.5, 1e9):
        side = path.source_side(theta)
        assert side[12]
        assert not side[[0, 24]].any()
    assert path.source_side(1e9).sum() == 1
    assert path.source_side(-1e9).sum() == 23
    for theta in (-20, -3, -1, 0, 1, 2, 5, 30):
        free = np.isfinite(source) & np.isfinite(sink)
        more = np.where(free, max(theta, 0), 0), np.where(free, max(-theta, 0), 0)
        separate = min_cut(graph, source + more[1], sink + more[0])
        assert path.value(theta) == separate.value
        assert path.cut(theta).value == separate.value
        assert path.cut(theta).certified


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_the_value_is_concave(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = erdos(seed)
    source, sink = rng.integers(0, 30, (2, graph.n_vertices))
    path = cut_path(graph, source, sink)
    theta = np.linspace(path.breakpoints[-1] - 1, path.breakpoints[0] + 1, 200)
    # Without the kink at 0 that is caused by splitting θ between the two terminals.
    values = np.array([path.value(t) - max(-t, 0) * graph.n_vertices for t in theta.tolist()])
    assert (np.diff(values, 2) <= 1e-9 * np.abs(values).max()).all()


def erdos(seed: int) -> Graph:
    return gallery.erdos_renyi_graph(15, 30, seed, 3)


def test_bad_input() -> None:
    path = cut_path(Graph(2, [[0, 1]]), [1, 0], [0, 1])
    with pytest.raises(ValueError, match="theta must be finite, got nan"):
        path.cut(np.nan)
    with pytest.raises(ValueError, match="graph must be"):
        cut_path(None, 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        path.values[0] = 1
    assert repr(path) == "CutPath(1 cut)" or "nested cuts" in repr(path)
    assert repr(FlowNetwork(2, [[0, 1]], [3], 0, 1).cut_path()) == "CutPath(1 cut)"
