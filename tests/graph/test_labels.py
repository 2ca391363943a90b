"""Names of vertices and attributes: they pass through NetworkX, igraph, geopandas and pickle."""

import pickle

import igraph
import networkx
import numpy as np
import pytest

from graphtv import FlowNetwork, Graph, min_cut

TOWNS = ("Lyon", "Paris", "Nice")


def roads():
    G = networkx.Graph()
    G.add_node("Lyon", people=5.0)
    G.add_node("Paris", people=21.0)
    G.add_node("Nice")
    G.add_edge("Paris", "Lyon", weight=4.0, road="A6")
    G.add_edge("Nice", "Lyon", weight=2.0, road="A8", toll=True)
    return G


def test_names_are_kept():
    graph = Graph(3, [[0, 1], [1, 2]], names=TOWNS)
    assert graph.names == TOWNS
    assert [graph.vertex(name) for name in TOWNS] == [0, 1, 2]
    assert pickle.loads(pickle.dumps(graph)).names == TOWNS
    assert Graph(3, [[0, 1]]).names is None
    assert Graph(3, [[0, 1]]).vertex(2) == 2
    assert Graph(2, [[0, 1]], names=np.array(["a", "b"])).names == ("a", "b")


def test_names_count_when_graphs_are_compared():
    edges = [[0, 1], [1, 2]]
    graph = Graph(3, edges)
    assert Graph(3, edges, names=range(3)) == graph
    assert Graph(3, edges, names=TOWNS) != graph
    assert Graph(3, edges, names=TOWNS) == Graph(3, edges, names=list(TOWNS))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "names must have one entry per vertex, 3, got 2"),
        (["a", "b", "a"], "names must be distinct, got 'a' twice"),
        (["a", "b", []], r"names must be hashable, got \[\]"),
        ("abc", "names must be a sequence of names, got 'abc'"),
        (7, "names must be a sequence of names, got 7"),
    ],
)
def test_bad_names(names, message):
    with pytest.raises(ValueError, match=message):
        Graph(3, [], names=names)


@pytest.mark.parametrize(("names", "name"), [(TOWNS, "Lille"), (TOWNS, []), (None, 3)])
def test_unknown_names(names, name):
    with pytest.raises(ValueError, match="name must be"):
        Graph(3, [], names=names).vertex(name)


def test_networkx_round_trip():
    graph = Graph.from_networkx(roads())
    assert graph.names == TOWNS
    assert graph.vertex_attributes == {"people": (5.0, 21.0, None)}
    assert networkx.utils.graphs_equal(graph.to_networkx(), roads())
    assert networkx.utils.graphs_equal(pickle.loads(pickle.dumps(graph)).to_networkx(), roads())
    lengths = Graph.from_networkx(roads(), weight=None).to_networkx(weight="ones")
    assert lengths.edges["Lyon", "Paris"] == {"weight": 4.0, "road": "A6", "ones": 1.0}


def test_edges_that_are_merged_or_dropped_take_their_attributes_along():
    G = networkx.MultiGraph()
    G.add_edge("a", "b", weight=1.0, colour="red")
    G.add_edge("b", "b", weight=9.0, colour="none")
    G.add_edge("b", "a", weight=2.0, colour="blue")
    G.add_edge("c", "a", weight=0.0, colour="none")
    G.add_edge("c", "b", weight=5.0, colour="green")
    graph = Graph.from_networkx(G)
    assert sorted(zip(graph.weights.tolist(), graph.edge_attributes["colour"], strict=True)) == [
        (3.0, "red"),
        (5.0, "green"),
    ]


def test_igraph_round_trip():
    G = igraph.Graph(n=3, edges=[(0, 1), (1, 2)])
    G.vs["name"], G.vs["people"] = list(TOWNS), [5.0, 21.0, None]
    G.es["weight"], G.es["road"] = [4.0, 2.0], ["A6", None]
    graph = Graph.from_igraph(G)
    assert graph.names == TOWNS
    again = graph.to_igraph()
    assert again.get_edgelist() == G.get_edgelist()
    for sequence, given in ((again.vs, G.vs), (again.es, G.es)):
        assert {key: sequence[key] for key in sequence.attributes()} == {
            key: given[key] for key in given.attributes()
        }


def test_a_frame_names_its_vertices():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 2], [2, 0]], index=["x", "y"], columns=["x", "y"])
    assert Graph.from_sparse(frame).names == ("x", "y")
    assert Graph.from_sparse(frame, names=["v", "w"]).names == ("v", "w")
    with pytest.raises(ValueError, match="matrix must have the same index and columns"):
        Graph.from_sparse(frame.rename(index={"x": "z"}))


# Geometries --------------------------------------------------------------------------------------


def cells(shapely, shape=(3, 4)):
    return [shapely.box(x, y, x + 1, y + 1) for x in range(shape[0]) for y in range(shape[1])]


@pytest.mark.parametrize(("rule", "degree"), [("rook", 4), ("queen", 8)])
def test_geometries_that_touch_are_neighbours(rule, degree):
    shapely = pytest.importorskip("shapely")
    graph = Graph.from_geometries(cells(shapely), rule)
    degrees = np.bincount(graph.edges.ravel(), minlength=12)
    assert degrees[5] == degree
    assert degrees[0] == {4: 2, 8: 3}[degree]
    assert graph.names is None


def test_geopandas_gives_the_names():
    shapely, geopandas = pytest.importorskip("shapely"), pytest.importorskip("geopandas")
    names = [f"cell {k}" for k in range(12)]
    frame = geopandas.GeoDataFrame(geometry=cells(shapely), index=names)
    for areas in (frame, frame.geometry):
        graph = Graph.from_geometries(areas, rule="rook")
        assert graph.names == tuple(names)
        assert graph.n_edges == 17


def test_geometries_that_overlap_or_are_apart():
    shapely = pytest.importorskip("shapely")
    areas = [shapely.box(0, 0, 2, 2), shapely.box(1, 1, 3, 3), shapely.box(9, 9, 10, 10)]
    for rule in ("queen", "rook"):
        assert Graph.from_geometries(areas, rule).edges.tolist() == [[0, 1]]
    assert Graph.from_geometries([]).n_vertices == 0
    with pytest.raises(ValueError, match="geometries must hold shapely geometries, got 3"):
        Graph.from_geometries([areas[0], 3])
    with pytest.raises(ValueError, match="rule must be one of 'queen', 'rook'"):
        Graph.from_geometries(areas, "bishop")


# Flow networks -----------------------------------------------------------------------------------


def water():
    G = networkx.DiGraph()
    arcs = [("well", "a", 3), ("well", "b", 2), ("a", "b", 1), ("a", "town", 2), ("b", "town", 4)]
    G.add_weighted_edges_from(arcs, weight="capacity")
    return G


def check_as_networkx(network, G, source, sink):
    cut = network.min_cut()
    value, (near, far) = networkx.minimum_cut(G, source, sink)
    assert cut.value == value
    sides = cut.partition
    assert {*sides[0], *sides[1]} == {*near, *far}
    assert source in sides[0]
    assert sink in sides[1]
    flow = cut.flow.to_dict()
    for tail, head, capacity in G.edges(data="capacity"):
        assert 0 <= flow[tail][head] <= capacity
    out = sum(flow[source].values()) - sum(row.get(source, 0) for row in flow.values())
    assert out == value


def test_a_network_from_networkx():
    network = FlowNetwork.from_networkx(water(), "well", "town")
    assert repr(network) == "FlowNetwork(4 vertices, 5 arcs, well → town)"
    assert network.capacities.dtype == np.int64
    check_as_networkx(network, water(), "well", "town")
    both_ways = water().to_undirected()
    check_as_networkx(
        FlowNetwork.from_networkx(both_ways, "well", "town"), both_ways, "well", "town"
    )
    assert FlowNetwork.from_networkx(water(), "well", "town", capacity=None).min_cut().value == 2


def test_a_network_from_igraph_and_from_a_matrix():
    G = igraph.Graph.from_networkx(water())
    G.vs["name"] = G.vs["_nx_name"]
    expected = FlowNetwork.from_networkx(water(), "well", "town")
    assert FlowNetwork.from_igraph(G, "well", "town") == expected
    matrix = networkx.to_scipy_sparse_array(water(), weight="capacity")
    names = list(water())
    assert FlowNetwork.from_sparse(matrix, "well", "town", names).min_cut().value == 5
    del G.vs["name"]
    assert FlowNetwork.from_igraph(G, 0, 3).min_cut().value == 5
    sides = FlowNetwork.from_sparse(matrix.toarray(), 0, 3).min_cut().partition
    assert sides[0] | sides[1] == {0, 1, 2, 3}


def test_bad_networks():
    with pytest.raises(ValueError, match="source must be a vertex of the network, got 'moon'"):
        FlowNetwork.from_networkx(water(), "moon", "town")
    with pytest.raises(ValueError, match=r"got 'width', which the edge \('well', 'a'\) does not"):
        FlowNetwork.from_networkx(water(), "well", "town", capacity="width")
    with pytest.raises(ValueError, match="capacity must name an edge attribute"):
        FlowNetwork.from_networkx(water(), "well", "town", capacity=3)
    with pytest.raises(ValueError, match="matrix must be square"):
        FlowNetwork.from_sparse([[1, 2]], 0, 1)
    G = water()
    G.edges["a", "b"]["capacity"] = -1
    with pytest.raises(ValueError, match="'capacity' of G must be nonnegative"):
        FlowNetwork.from_networkx(G, "well", "town")


def test_capacities_by_name():
    graph = Graph(3, [[0, 1], [1, 2]], [3, 1], names=["x", "y", "z"])
    cut = min_cut(graph, {"z": 0, "y": 0, "x": 9}, {"x": 0, "y": 0, "z": 9})
    assert cut.value == 1
    assert cut.partition == ({"x", "y"}, {"z"})
    with pytest.raises(ValueError, match="to_dict needs the flow of a FlowNetwork"):
        cut.flow.to_dict()


def test_values_of_cuts_by_name():
    network = FlowNetwork.from_networkx(water(), "well", "town")
    cut = network.min_cut()
    assert network.cut_value(cut.partition[0]) == cut.value == network.cut_value(cut.source_side)
    with pytest.raises(ValueError, match="source_side must hold vertices of the network, got 'x'"):
        network.cut_value({"well", "x"})
    with pytest.raises(ValueError, match="sink must not be the source, got 'well' for both"):
        FlowNetwork.from_networkx(water(), "well", "well")
