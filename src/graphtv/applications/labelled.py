"""Data with labels: pandas, dictionaries by name, and attributes of a graph's vertices.

Labels are matched with the names of the vertices. The order of the data is used only if labels
cannot be matched, because the graph has no names and the labels are not vertex numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, brief
from graphtv.applications.learning.graph_input import to_graph
from graphtv.graph.graph import Graph
from graphtv.graph.labels import check_distinct
from graphtv.result import Result


def is_pandas(values: Any) -> bool:
    """Return whether `values` is a pandas Series or DataFrame, without importing pandas."""
    package = type(values).__module__.partition(".")[0]
    return package in ("pandas", "geopandas") and hasattr(values, "index")


def is_labelled(values: Any) -> bool:
    """Return whether `values` has labels that may be matched with the names of vertices."""
    return isinstance(values, str | Mapping) or is_pandas(values)


def graph_of_labelled(graph: Any, values: Any) -> Graph:
    """Return a graph-like argument as a `Graph`; `values` gives the vertices of a list of edges."""
    is_list_of_edges = isinstance(graph, np.ndarray | list | tuple)
    return to_graph(graph, len(values) if is_list_of_edges else None)


def in_order(values: Any, name: str, graph: Graph) -> Any:
    """Return labelled values as an array in the order of the vertices, and other values unchanged.

    Parameters
    ----------
    values : str, dict, Series, DataFrame or anything else
        A string is the name of a vertex attribute of the graph.
    name : str
        The name of the argument in errors.
    graph : Graph
        The graph.
    """
    if isinstance(values, str):
        return _attribute(values, name, graph)
    if isinstance(values, Mapping):
        labels = list(values)
        array = _real([values[label] for label in labels], name)
    elif is_pandas(values):
        labels, array = values.index.tolist(), _numbers(values, name)
    else:
        return values
    places = _places(labels, name, graph, is_ordered=is_pandas(values))
    return array if places is None else array[places]


def with_labels(u: Floats, values: Any, name: str, graph: Graph) -> Any:
    """Return u, which has a row per vertex, with the labels and the order of `values`."""
    if isinstance(values, str | Mapping):
        rows: Any = u.tolist() if u.ndim == 1 else u
        in_graph = dict(zip(graph.names or range(graph.n_vertices), rows, strict=True))
        return {key: in_graph[key] for key in values} if isinstance(values, Mapping) else in_graph
    if not is_pandas(values):
        return u
    places = _places(values.index.tolist(), name, graph, is_ordered=True)
    if places is not None:
        u = u[np.argsort(places, kind="stable")]
    import pandas

    if u.ndim == 1:
        return pandas.Series(u, index=values.index, name=getattr(values, "name", None))
    return pandas.DataFrame(u, index=values.index, columns=values.columns)


def start_in_order(warm_start: Any, graph: Graph) -> Any:
    """Return a start for `solve`; the u of an earlier result may have labels."""
    if isinstance(warm_start, Result) and is_labelled(warm_start.u):
        u = in_order(warm_start.u, "warm_start", graph)
        return dataclasses.replace(warm_start, u=u)
    return warm_start


def _places(
    labels: Sequence[Any], name: str, graph: Graph, *, is_ordered: bool
) -> NDArray[np.int64] | None:
    """Return the position of the label of each vertex, or None if the order is already correct.

    With `is_ordered`, the order is also used if there are no names to match the labels with.
    """
    names: Sequence[Hashable] = graph.names or range(graph.n_vertices)
    if len(labels) == len(names) and all(a == b for a, b in zip(labels, names, strict=True)):
        return None
    if is_ordered and graph.names is None and not _are_numbers(labels, len(names)):
        return None
    check_distinct(labels, f"the labels of {name}")
    place_of = {label: k for k, label in enumerate(labels)}
    missing = [vertex for vertex in names if vertex not in place_of]
    known = set(names)
    unknown = [label for label in labels if label not in known]
    if missing or unknown:
        raise ValueError(
            f"{name} must have a label for each name of the graph and no others,"
            f" got {_listed(missing, 'no')}{' and ' * bool(missing and unknown)}"
            f"{_listed(unknown, 'unknown')}; NaN marks missing data"
        )
    return np.array([place_of[vertex] for vertex in names], dtype=np.int64)


def _are_numbers(labels: Sequence[Any], n_vertices: int) -> bool:
    """Return whether labels are the numbers of all vertices, in any order."""
    are_whole = all(isinstance(label, int) and not isinstance(label, bool) for label in labels)
    return are_whole and set(labels) == set(range(n_vertices))


def _listed(labels: list[Any], what: str) -> str:
    if not labels:
        return ""
    shown = ", ".join(brief(label) for label in labels[:3])
    return f"{what} {shown}{f' and {len(labels) - 3} more' if len(labels) > 3 else ''}"


def _attribute(key: str, name: str, graph: Graph) -> NDArray[Any]:
    attributes = graph.vertex_attributes
    if key not in attributes:
        raise ValueError(
            f"{name} must name a vertex attribute of the graph,"
            f" one of {brief(list(attributes))}, got {key!r}"
        )
    return _real(list(attributes[key]), name)


def _real(values: list[Any], name: str) -> NDArray[Any]:
    """Return numbers as an array, NaN for None."""
    known = [np.nan if value is None else value for value in values]
    try:
        return np.asarray(known)
    except ValueError as error:
        raise ValueError(f"{name} must hold real numbers: {error}") from None


def _numbers(values: Any, name: str) -> NDArray[Any]:
    """Return the values of pandas as an array, with NaN for its own marks of missing data."""
    array = values.to_numpy()
    if array.dtype != object:
        return np.asarray(array)
    try:
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}") from None
