"""Minimum cuts: against NetworkX, all cuts of small graphs, and known values of real networks."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from graphtv import FlowNetwork, Graph, _core, gallery, grid_graph, min_cut, read_dimacs
from networks import assert_is_maximum, cost, imbalances, networks, oracle, sides
from scripts import load

DATA = os.environ.get("GRAPHTV_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="GRAPHTV_DATA is not set")


@given(networks())
@settings(max_examples=150)
@example(FlowNetwork(2, [[0, 1], [0, 1], [1, 0]], [3, 4, 100], 0, 1))
@example(FlowNetwork(4, [[0, 0], [1, 2], [2, 1]], [5, 6, 7], 0, 3))
@example(FlowNetwork(2, np.empty((0, 2), dtype=int), [], 1, 0))
def test_directed_integers_against_networkx(network: FlowNetwork) -> None:
    cut = network.min_cut()
    assert cut.value == oracle(network)
    assert_is_maximum(network, cut)
    assert network.cut_value(cut.source_side) == cut.value


@pytest.mark.parametrize("bits", [1, 40, 53, 60, 63])
@given(st.data())
@settings(max_examples=25)
def test_capacities_that_no_float_can_hold(bits: int, data: st.DataObject) -> None:
    network = data.draw(networks(2**bits - 1))
    cut = network.min_cut()
    assert cut.value == oracle(network)
    assert_is_maximum(network, cut)


def test_large_capacities_on_a_larger_network() -> None:
    small = gallery.genrmf(5, 6, 1, 2**20, rng=4)
    rng = np.random.default_rng(0)
    capacities = small.capacities * 2**30 + rng.integers(0, 2**30, small.n_arcs)
    network = FlowNetwork(small.n_vertices, small.arcs, capacities, small.source, small.sink)
    cut = network.min_cut()
    assert cut.value == oracle(network) > 2**53
    assert_is_maximum(network, cut)


@given(networks(10**6, 8), st.integers(0, 10**6))
@settings(max_examples=60)
def test_real_capacities_against_all_cuts(network: FlowNetwork, seed: int) -> None:
    rng = np.random.default_rng(seed)
    capacities = network.capacities * rng.uniform(0.5, 1.5, network.n_arcs)
    real = FlowNetwork(network.n_vertices, network.arcs, capacities, network.source, network.sink)
    cut = real.min_cut()
    allowed = (s for s in sides(real.n_vertices) if s[real.source] and not s[real.sink])
    best = min(cost(real, side) for side in allowed)
    assert cut.value == pytest.approx(best, rel=1e-9)
    assert cut.bound <= best * (1 + 1e-12)
    assert cut.certified
    size = capacities.max(initial=0.0)
    assert (cut.flow.edges <= capacities).all()
    assert (cut.flow.edges >= 0.0).all()
    rest = imbalances(real, cut.flow.edges)
    assert rest[real.sink] == pytest.approx(cut.value, rel=1e-9, abs=1e-9 * size)
    inner = np.delete(rest, [real.source, real.sink])
    assert np.abs(inner).max(initial=0.0) <= 1e-9 * size


@pytest.mark.parametrize("seed", range(30))
def test_real_capacities_from_a_start_far_away(seed: int) -> None:
    """The flow at the start may prove a negative bound."""
    rng = np.random.default_rng(seed)
    arcs = rng.integers(0, 23, (70, 2))
    network = FlowNetwork(23, arcs, rng.integers(0, 2**20, 70) * rng.random(70), 0, 22)
    for tol in (0.5, 1e-3):
        cut = network.min_cut(tol=tol)
        assert cut.value <= (1 + tol) * oracle(network)
        assert cut.certified
    assert network.min_cut().value == pytest.approx(oracle(network), rel=1e-9)


@st.composite
def terminal_problems(draw: Any) -> tuple[Graph, Any, Any]:
    n = draw(st.integers(1, 7))
    vertex, capacity = st.integers(0, n - 1), st.integers(0, 20)
    edges = draw(st.lists(st.tuples(vertex, vertex, capacity), max_size=12))
    ends = np.array([edge[:2] for edge in edges], dtype=int).reshape(-1, 2)
    graph = Graph(n, ends, np.array([edge[2] for edge in edges], dtype=float))
    arrays = [draw(st.lists(capacity, min_size=n, max_size=n)) for _ in range(2)]
    tied = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=n, max_size=n))
    source, sink = (np.array(a, dtype=float) for a in arrays)
    source[np.array(tied) == 1] = np.inf
    sink[np.array(tied) == 2] = np.inf
    return graph, source, sink


def undirected_cost(graph: Graph, source: Any, sink: Any, side: Any) -> float:
    tails, heads = side[graph.edges.T]
    return source[~side].sum() + sink[side].sum() + graph.weights[tails != heads].sum()


@given(terminal_problems())
@settings(max_examples=150)
def test_undirected_with_seeds_against_all_cuts(problem: tuple[Graph, Any, Any]) -> None:
    graph, source, sink = problem
    cut = min_cut(graph, source, sink)
    best = min(undirected_cost(graph, source, sink, side) for side in sides(graph.n_vertices))
    assert cut.certified
    assert type(cut.value) is int
    assert cut.value == best == undirected_cost(graph, source, sink, cut.source_side)
    flow = cut.flow
    assert flow.value == cut.value == flow.source.sum() == flow.sink.sum()
    assert (np.abs(flow.edges) <= graph.weights).all()
    for part, most in ((flow.source, source), (flow.sink, sink)):
        assert (part >= 0).all()
        assert (part <= most).all()
    rest = flow.source - flow.sink
    np.subtract.at(rest, graph.edges[:, 0], flow.edges)
    np.add.at(rest, graph.edges[:, 1], flow.edges)
    assert not rest.any()


def test_fractions_of_a_graph() -> None:
    graph = grid_graph((6, 7), 0.3)
    rng = np.random.default_rng(1)
    source, sink = rng.random((2, 42))
    cut = min_cut(graph, source, sink)
    assert type(cut.value) is float
    assert cut.certified
    assert cut.value == pytest.approx(undirected_cost(graph, source, sink, cut.source_side))
    assert cut.value * (1 - 1e-9) <= cut.bound <= cut.value


def test_sums_beyond_64_bits() -> None:
    rng = np.random.default_rng(0)
    weights = [rng.integers(1, 2**60, shape).astype(float) for shape in ((39, 40), (40, 39))]
    source, sink = rng.integers(0, 2**61, (2, 1600))
    cut = min_cut(grid_graph((40, 40), weights), source, sink)
    assert cut.certified
    assert cut.value == cut.bound == cut.flow.value == sum(cut.flow.source.tolist()) > 2**64


def test_the_smallest_graphs() -> None:
    nothing = min_cut(Graph(0, []), [], [])
    assert (nothing.value, nothing.certified, nothing.flow.value) == (0, True, 0)
    one = min_cut(Graph(1, []), [3], [2])
    assert (one.value, one.flow.source.tolist(), one.flow.sink.tolist()) == (2, [2], [2])
    direct = FlowNetwork(2, [[0, 1]], [2.5], 0, 1).min_cut()
    assert (direct.value, direct.flow.edges.tolist()) == (2.5, [2.5])


def test_a_run_that_ends_early_proves_nothing_it_cannot() -> None:
    network = gallery.genrmf(6, 10, rng=1)
    cut = network.min_cut(max_iterations=0)
    assert not cut.certified
    assert cut.bound <= network.min_cut().value <= cut.value
    assert network.cut_value(cut.source_side) == cut.value
    with pytest.raises(ValueError, match="flow is available for certified cuts only"):
        cut.flow  # noqa: B018
    assert not network.min_cut(time_limit=0.0).certified


def test_an_interrupt_while_paths_are_augmented(monkeypatch: Any) -> None:
    """Ctrl-C ends the flow, not the program: the current bounds are returned."""
    network = gallery.genrmf(6, 10, rng=1)
    whole = _core.minimum_cut

    def interrupted(*arguments: Any) -> str:
        signal.raise_signal(signal.SIGINT)
        return whole(*arguments)

    monkeypatch.setattr(_core, "minimum_cut", interrupted)
    cuts = [network.min_cut(), network.min_cut(tol=0.1)]
    assert not any(cut.certified for cut in cuts)
    monkeypatch.undo()
    for cut in cuts:
        assert cut.bound <= network.min_cut().value <= cut.value
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("options", [{"tol": 0}, {"method": "pdhg", "tol": 0.1}, {"n_threads": 2}])
def test_options_change_the_way_and_not_the_value(options: dict[str, Any]) -> None:
    network = gallery.washington_rlg(8, 12, rng=3)
    cut = network.min_cut(**options)
    assert cut.value == oracle(network)
    assert_is_maximum(network, cut)


def test_a_result_is_a_warm_start() -> None:
    network = gallery.genrmf(5, 5, rng=2)
    first = network.min_cut(tol=0)
    again = network.min_cut(tol=0, warm_start=first.result)
    assert again.result.iterations <= 1
    assert again.value == first.value


def test_ties_torn_apart_by_rounding() -> None:
    """Nothing reaches the terminals: u is 0 everywhere, up to rounding."""
    rng = np.random.default_rng(5)
    arcs = rng.integers(1, 15, (30, 2))
    network = FlowNetwork(16, arcs, 1e6 * rng.random(30), 0, 15)
    for tol in (0.0, 1e-3):
        cut = network.min_cut(tol=tol)
        assert cut.value == 0.0
        assert cut.certified


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: min_cut(3, 1, 1), "graph must be a graphtv.Graph, got 3"),
        (lambda: min_cut(grid_graph(3), -1, 1), "source_capacities must be nonnegative.*got -1"),
        (
            lambda: min_cut(grid_graph(3), 1, [1, np.nan, 1]),
            "sink_capacities .* nan at index 1",
        ),
        (lambda: min_cut(grid_graph(3), [1, 2], 1), r"source_capacities must .* \(3,\), got shape"),
        (
            lambda: min_cut(grid_graph(3), "x", 1),
            "source_capacities must name a vertex attribute",
        ),
        (
            lambda: min_cut(grid_graph(3), [1, np.inf, 1], np.inf),
            "sink_capacities must be finite where .* at vertex 1",
        ),
        (lambda: min_cut(grid_graph(3), 1, 1, tol=-1), "tol must be at least"),
        (lambda: FlowNetwork(1, [], [], 0, 0), "n_vertices must be at least 2, got 1"),
        (lambda: FlowNetwork(3, [[0, 3]], [1], 0, 1), r"arcs must lie in \[0, 3\), got 3"),
        (lambda: FlowNetwork(3, [[0, 1]], [1], 0, 0), "sink must not be the source, got 0"),
        (lambda: FlowNetwork(3, [[0, 1]], [1], 3, 0), "source must be at most 2, got 3"),
        (lambda: FlowNetwork(3, [[0, 1]], [-2], 0, 1), "capacities must be .*, got -2 at index 0"),
        (lambda: FlowNetwork(3, [[0, 1]], [np.inf], 0, 1), "capacities must .* finite, got inf"),
        (lambda: FlowNetwork(3, [[0, 1]], [2**63], 0, 1), "capacities must be .*below 2⁶³, got 92"),
        (
            lambda: FlowNetwork(3, [[0, 1]], [2**64], 0, 1),
            "capacities must hold .* dtype object",
        ),
        (
            lambda: FlowNetwork(3, [[0, 1], [1, 2]], 1e308, 0, 1),
            "capacities must have a finite sum",
        ),
        (
            lambda: FlowNetwork(3, [[0, 1]], [1], 0, 1).cut_value([1, 0, 0]),
            "source_side must be booleans",
        ),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_network_is_its_own() -> None:
    arcs, capacities = np.array([[0, 1]], dtype=np.int32), np.array([4])
    network = FlowNetwork(2, arcs, capacities, 0, 1)
    arcs[0, 0] = capacities[0] = 1
    assert network.min_cut().value == 4
    with pytest.raises(ValueError, match="read-only"):
        network.capacities[0] = 7
    assert network == FlowNetwork(2, [[0, 1]], [4], 0, 1)
    assert network != FlowNetwork(2, [[0, 1]], [4.0], 0, 1)
    assert hash(network) == hash(FlowNetwork(2, [[0, 1]], [4], 0, 1))
    assert repr(network) == "FlowNetwork(2 vertices, 1 arcs, 0 → 1)"
    assert repr(network.min_cut()) == "Cut(value 4, minimum, certified; 1 of 2 with the source)"


# Real networks, with values found by two other solvers.


@needs_data
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("networkx_dimacs/gl1.max", 156545),
        ("networkx_dimacs/gw1.max", 1202018),
        ("networkx_dimacs/wlm3.max", 11875108),
        *(
            (f"genrmf_long_575/graph_long_{k + 1}.max", v)
            for k, v in enumerate([38, 37, 35, 34, 36])
        ),
    ],
)
def test_dimacs_networks(name: str, value: int) -> None:
    network = read_dimacs(Path(DATA or "") / name)
    for tol in (1e-3, 0.0):
        cut = network.min_cut(tol=tol)
        assert cut.value == value
        assert_is_maximum(network, cut)


@needs_data
@pytest.mark.parametrize(("alpha", "value"), [(1, 22712834), (8, 14323023)])
def test_stereo(alpha: int, value: int) -> None:
    data = np.load(Path(DATA or "") / f"stereo/bvzlike_venus_alpha{alpha}.npz")
    source, sink = data["unary_label0"], data["unary_alpha"]
    graph = grid_graph(source.shape, [data["w_down"], data["w_right"]])
    cut = min_cut(graph, source.ravel(), sink.ravel())
    assert cut.certified
    assert cut.value == value == int(data["mincut"]) == cut.flow.value


def bisection(graph: Graph, k: int, farthest: int) -> tuple[Any, Any]:
    """Return the k vertices nearest to vertex 0, and the k nearest to the farthest one."""
    adjacency = graph.to_sparse()
    distance = shortest_path(adjacency, unweighted=True, indices=[0, farthest])
    assert distance[0].argmax() == farthest
    seeds = np.zeros((2, graph.n_vertices))
    for row, d in zip(seeds, distance, strict=True):
        row[np.argsort(d, kind="stable")[:k]] = np.inf
    return seeds[0], seeds[1]


@needs_data
def test_bisection_of_a_circuit() -> None:
    path = Path(DATA or "") / "alue7065/pace2018_track3_instance116_alue7065.gr"
    lines = [line.split() for line in path.read_text().splitlines() if line.startswith("E ")]
    graph = Graph(34046, np.array([[int(i) - 1, int(j) - 1] for _, i, j, _ in lines]))
    cut = min_cut(graph, *bisection(graph, 354, 34045))
    assert cut.certified
    assert cut.value == 22 == cut.flow.value


@needs_data
def test_bisection_of_a_mesh() -> None:
    raw = (Path(DATA or "") / "horse/horse_48484v.ply").read_bytes()
    start = raw.index(b"end_header\n") + len(b"end_header\n") + 48484 * 12
    kind = np.dtype([("n", "u1"), ("face", "<i4", 3)])
    faces = np.frombuffer(raw, kind, offset=start, count=96964)["face"]
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    graph = Graph(48484, np.unique(np.sort(pairs, axis=1), axis=0))
    assert graph.n_edges == 145446
    cut = min_cut(graph, *bisection(graph, 186, 2356))
    assert cut.certified
    assert cut.value == 41 == cut.flow.value


def test_an_odd_network_of_networkx() -> None:
    """A graph with named vertices through the public conversions, as in first use."""
    G = networkx.krackhardt_kite_graph()
    graph = Graph.from_networkx(G)
    source, sink = np.zeros(10), np.zeros(10)
    source[0], sink[9] = np.inf, np.inf
    assert min_cut(graph, source, sink).value == networkx.minimum_cut_value(
        networkx.Graph((i, j, {"capacity": 1}) for i, j in G.edges), 0, 9
    )


@pytest.mark.slow
def test_gallery_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    load("docs/gallery/minimum_cut.py").main(tmp_path / "cuts.png", step=4)
    assert (tmp_path / "cuts.png").stat().st_size > 10_000
