"""Forest partitions pass by pass, and the numbers of the theorems by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

Edge = tuple[int, int]


def components(n_vertices: int, edges: Iterable[Edge]) -> list[int]:
    """Return for each vertex the lowest vertex it is connected to."""
    names = list(range(n_vertices))
    for i, j in edges:
        low, high = sorted((names[i], names[j]))
        names = [low if name == high else name for name in names]
    return names


def spanning_forest(n_vertices: int, edges: Sequence[Edge]) -> list[Edge]:
    """Return the spanning forest that Kruskal's rule builds in the given order."""
    forest: list[Edge] = []
    for i, j in edges:
        names = components(n_vertices, forest)
        if names[i] != names[j]:
            forest.append((i, j))
    return forest


def is_linear_forest(n_vertices: int, edges: Sequence[Edge]) -> bool:
    """Return whether all components are paths."""
    ends = [v for edge in edges for v in edge]
    acyclic = len(set(components(n_vertices, edges))) == n_vertices - len(edges)
    return acyclic and all(ends.count(v) <= 2 for v in set(ends))


def nested_forests(n_vertices: int, edges: Sequence[Edge]) -> list[list[Edge]]:
    """Return the greedy nested forests: subtract spanning forests until no edge remains."""
    forests = []
    remaining = list(edges)
    while remaining:
        forest = spanning_forest(n_vertices, remaining)
        remaining = [edge for edge in remaining if edge not in forest]
        forests.append(forest)
    return forests


def linear_forests(n_vertices: int, edges: Sequence[Edge]) -> list[list[Edge]]:
    """Return greedy linear forests: each takes every remaining edge that it can."""
    forests = []
    remaining = list(edges)
    while remaining:
        forest: list[Edge] = []
        for edge in remaining:
            if is_linear_forest(n_vertices, [*forest, edge]):
                forest.append(edge)
        remaining = [edge for edge in remaining if edge not in forest]
        forests.append(forest)
    return forests


def linear_forests_of_paper(n_vertices: int, edges: Sequence[Edge]) -> list[list[Edge]]:
    """Return the paper's linear forests: start each from a spanning forest without its branches."""
    forests = []
    remaining = list(edges)
    while remaining:
        spanning = spanning_forest(n_vertices, remaining)
        ends = [v for edge in spanning for v in edge]
        forest = [(i, j) for i, j in spanning if ends.count(i) <= 2 and ends.count(j) <= 2]
        for edge in remaining:
            if edge not in forest and is_linear_forest(n_vertices, [*forest, edge]):
                forest.append(edge)
        remaining = [edge for edge in remaining if edge not in forest]
        forests.append(forest)
    return forests


def arboricity(n_vertices: int, edges: Sequence[Edge]) -> int:
    """Return max ⌈m(S) / (|S| - 1)⌉ over all vertex sets S of at least two (Nash-Williams 1964)."""
    return max(
        (
            -(-sum(i in subset and j in subset for i, j in edges) // (size - 1))
            for size in range(2, n_vertices + 1)
            for subset in map(set, combinations(range(n_vertices), size))
        ),
        default=0,
    )


def spanning_forest_packing(n_vertices: int, edges: Sequence[Edge]) -> int:
    """Return the largest number of disjoint spanning forests.

    For a connected graph it is min ⌊crossing edges / (|P| - 1)⌋ over all partitions P of the
    vertices into at least two parts (Tutte, Nash-Williams 1961). Otherwise it is the minimum over
    the components that have an edge, and 0 if there is none.
    """
    names = components(n_vertices, edges)
    packings = []
    for name in set(names):
        vertices = [v for v in range(n_vertices) if names[v] == name]
        inside = [(i, j) for i, j in edges if names[i] == name]
        if inside:
            packings.append(
                min(
                    sum(part[i] != part[j] for i, j in inside) // (len(set(part.values())) - 1)
                    for part in _set_partitions(vertices)
                    if len(set(part.values())) > 1
                )
            )
    return min(packings, default=0)


def _set_partitions(vertices: Sequence[int]) -> Iterator[dict[int, int]]:
    """Yield all partitions of the vertices, as the number of each vertex's part."""
    if not vertices:
        yield {}
        return
    for partition in _set_partitions(vertices[1:]):
        for part in range(len(set(partition.values())) + 1):
            yield {vertices[0]: part} | partition
