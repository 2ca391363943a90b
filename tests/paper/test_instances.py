"""The instances of Table 2: sizes and known minimum cuts."""

import os
from pathlib import Path

import networkx
import numpy as np
import pytest

from graphtv import grid_graph
from graphtv.paper import instances, stereo, table2
from graphtv.paper.experiment import UnavailableError
from graphtv.paper.instances import Instance, merged

DATA = os.environ.get("GRAPHTV_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="GRAPHTV_DATA is not set")


@pytest.mark.parametrize(
    ("make", "inner", "ratio"),
    [
        (instances.rmf_long, 65534, 2.87),
        (instances.rmf_wide, 32766, 2.84),
        (instances.wash_rlg_long, 65530, 3.00),
    ],
)
def test_generated_networks_have_the_papers_size(make, inner, ratio):
    graph = make(False, None).problem.graph
    assert graph.n_vertices == inner
    assert graph.n_edges / graph.n_vertices == pytest.approx(ratio, abs=0.005)


@needs_data
@pytest.mark.parametrize(
    ("make", "inner", "cut"),
    [
        (instances.horse, 48112, 41),
        (instances.alue7065, 33338, 22),
    ],
)
def test_read_instances_have_the_papers_size_and_the_known_cut(make, inner, cut):
    instance = make(False, Path(DATA))
    assert instance.problem.graph.n_vertices == inner
    assert instance.known == cut
    assert instance.maximum_flow() == cut


SMALL = [name for name in table2.LINES if name not in ("BVZ-venus2*", "KZ2-sawtooth2")]


@pytest.mark.parametrize("name", SMALL)
def test_small_instances_agree_with_networkx(name):
    try:
        instance = table2.LINES[name].make(True, Path(DATA) if DATA else None)
    except UnavailableError as error:
        pytest.skip(str(error))
    assert instance.maximum_flow() == _by_networkx(instance.cut)


def _by_networkx(cut):
    network = networkx.DiGraph()
    network.add_nodes_from(["s", "t"])
    for (i, j), there, back in zip(
        cut.graph.edges.tolist(), cut.forward, cut.backward, strict=True
    ):
        network.add_edge(i, j, capacity=int(there))
        network.add_edge(j, i, capacity=int(back))
    for i, (source, sink) in enumerate(zip(cut.source, cut.sink, strict=True)):
        network.add_edge("s", i, capacity=int(source))
        network.add_edge(i, "t", capacity=int(sink))
    algorithm = networkx.algorithms.flow.boykov_kolmogorov
    return networkx.maximum_flow_value(network, "s", "t", flow_func=algorithm) + cut.constant


def test_merging_keeps_the_cut():
    graph = grid_graph((3, 4), [np.full((2, 4), 5), np.array([[4, 1, 4]] * 3)])
    left, right = np.arange(0, 12, 4), np.arange(3, 12, 4)
    instance = Instance.of(merged(graph, left, right))
    assert instance.problem.graph.n_vertices == 6
    assert instance.maximum_flow() == 3  # the middle column of edges
    assert instance.value(np.array([1.0, -1.0] * 3)) == 3


def test_stereo_move_is_worth_its_energy():
    """The cost of a cut is the energy of the configuration that it represents."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, 256, (6, 40, 3))
    right = np.roll(left, -3, axis=1)
    alpha = 5
    network = stereo.move(left, right, alpha)
    costs = np.stack([stereo.matching_cost(left, right, d) for d in range(stereo.DISPARITIES)])
    disparity = stereo.agreed(costs)
    old = (disparity >= 0) & (disparity != alpha)
    new = np.indices(disparity.shape)[1] >= alpha
    n_old = int(old.sum())
    constant = None
    for _ in range(20):
        keep = rng.random(n_old) < 0.5
        # Of the new assignments, take some that conflict with no old one that is kept.
        before = np.full(disparity.shape, -1)
        before[old] = np.where(keep, disparity[old], -1)
        taken_right = {(y, x - before[y, x]) for y, x in zip(*np.nonzero(before >= 0), strict=True)}
        after = set()
        for y, x in zip(*np.nonzero(new), strict=True):
            if before[y, x] < 0 and (y, x - alpha) not in taken_right and rng.random() < 0.5:
                after.add((y, x))
        side = np.zeros(network.n_vertices, dtype=bool)
        side[network.source] = True
        side[:n_old] = keep
        side[n_old : n_old + int(new.sum())] = [
            p not in after for p in zip(*np.nonzero(new), strict=True)
        ]
        energy = _energy(left, costs, before, after, alpha)
        difference = energy - network.cut_value(side)
        constant = difference if constant is None else constant
        assert difference == constant


def _energy(left, costs, before, after, alpha):
    active = {(y, x, before[y, x]) for y, x in zip(*np.nonzero(before >= 0), strict=True)}
    active |= {(y, x, alpha) for y, x in after}
    height, width = before.shape
    total = sum(int(costs[d, y, x]) for y, x, d in active)
    seen_left = {(y, x) for y, x, _ in active}
    seen_right = {(y, x - d) for y, x, d in active}
    assert len(seen_left) == len(seen_right) == len(active)
    total += stereo.OCCLUSION * (2 * height * width - len(seen_left) - len(seen_right))
    for y, x, d in active:
        for other in ((y, x + 1), (y, x - 1), (y + 1, x), (y - 1, x)):
            inside = 0 <= other[0] < height and d <= other[1] < width
            if inside and (*other, d) not in active:
                contrast = np.abs(left[y, x] - left[other]).max()
                total += stereo.SMOOTH if contrast < 8 else stereo.CONTRAST
    return total
