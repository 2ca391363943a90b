"""Data with labels: pandas, xarray, dictionaries by name, and attributes of a graph's vertices.

Labels are matched with the names of the vertices. The order of the data is used only if labels
cannot be matched, because the graph has no names and the labels are not vertex numbers. Results
have the labels and the order of the data.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphtv._validate import Floats, brief
from graphtv.graph.graph import Graph
from graphtv.graph.labels import check_distinct

Places = NDArray[np.int64]


def is_pandas(values: Any) -> bool:
    """Return whether `values` is a pandas Series or DataFrame, without importing pandas."""
    package = type(values).__module__.partition(".")[0]
    return package in ("pandas", "geopandas") and hasattr(values, "index")


def is_xarray(values: Any) -> bool:
    """Return whether `values` is a DataArray, without importing xarray."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(values, xarray.DataArray)


def is_labelled(values: Any) -> bool:
    """Return whether `values` has labels that may be matched with the names of vertices."""
    if type(values) is np.ndarray:
        return False
    return isinstance(values, str | Mapping) or is_pandas(values) or is_xarray(values)


# The kinds of data with labels --------------------------------------------------------------------


@dataclass(frozen=True)
class Labelling:
    """The labels of some data, without the data.

    Attributes
    ----------
    labels : sequence or None
        One per row of the data, or None if the rows have no labels.
    """

    labels: Sequence[Any] | None

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the rows has a meaning of its own, unlike that of a dictionary."""
        return True

    def restored(self, rows: NDArray[Any]) -> Any:
        """Return rows in the order of the data with its labels."""
        raise NotImplementedError

    def chosen(self, codes: NDArray[np.int_]) -> Any:
        """Return the class of each row, given its column, with the labels of the rows."""
        return self.restored(codes)

    def columns_in_order(self, values: Any, array: NDArray[Any], name: str) -> NDArray[Any]:
        """Return the array of other data with its columns in the order of this data."""
        return array


@dataclass(frozen=True)
class Keys(Labelling):
    """The keys of a dictionary."""

    @property
    def is_ordered(self) -> bool:
        """False: a dictionary is a set of pairs."""
        return False

    def restored(self, rows: NDArray[Any]) -> Any:
        """Return a dictionary of numbers, or of rows if there are channels."""
        return dict(zip(self.labels or (), rows.tolist() if rows.ndim == 1 else rows, strict=True))


@dataclass(frozen=True)
class PandasIndex(Labelling):
    """The index of a Series or a DataFrame, with its name or its columns."""

    index: Any
    name: Hashable
    columns: Any

    def restored(self, rows: NDArray[Any]) -> Any:
        """Return a Series, or a DataFrame if there are columns."""
        import pandas

        if rows.ndim == 1:
            return pandas.Series(rows, index=self.index, name=self.name)
        return pandas.DataFrame(rows, index=self.index, columns=self.columns)

    def chosen(self, codes: NDArray[np.int_]) -> Any:
        """Return a Series of names of columns."""
        import pandas

        return pandas.Series(self.columns.take(codes), index=self.index)

    def columns_in_order(self, values: Any, array: NDArray[Any], name: str) -> NDArray[Any]:
        """Return the columns of another DataFrame in the order of these columns."""
        given = getattr(values, "columns", None)
        if given is None or self.columns is None or self.columns.equals(given):
            return array
        places = _places(given.tolist(), self.columns.tolist(), name, "column of the data")
        return array[:, places]


@dataclass(frozen=True)
class Dimensions(Labelling):
    """The dimensions, coordinates and attributes of a DataArray."""

    dims: tuple[Hashable, ...]
    coords: Any  # without the data
    attrs: Mapping[Any, Any]
    name: Hashable

    def restored(self, rows: NDArray[Any]) -> Any:
        """Return a DataArray."""
        import xarray

        return xarray.DataArray(rows, self.coords, self.dims, self.name, self.attrs)

    def chosen(self, codes: NDArray[np.int_]) -> Any:
        """Return a DataArray of numbers of classes, without the dimension of the classes."""
        import xarray

        coords = self.coords.to_dataset().drop_dims(self.dims[-1]).coords
        return xarray.DataArray(codes, coords, self.dims[:-1])


def labelling_of(values: Any) -> Labelling | None:
    """Return the labels of some data; None for arrays and the names of attributes."""
    if type(values) is np.ndarray:
        return None
    if isinstance(values, Mapping):
        return Keys(list(values))
    if is_pandas(values):
        name, columns = (getattr(values, key, None) for key in ("name", "columns"))
        return PandasIndex(values.index.tolist(), values.index, name, columns)
    if is_xarray(values):
        index = values.indexes.get(values.dims[0]) if values.ndim else None
        labels = None if index is None else index.tolist()
        coords = values.coords.to_dataset().coords
        return Dimensions(labels, values.dims, coords, values.attrs, values.name)
    return None


def array_of(values: Any, name: str) -> Any:
    """Return labelled values as an array in their own order, and other values unchanged."""
    if isinstance(values, Mapping):
        return _real(list(values.values()), name)
    if is_pandas(values):
        return _numbers(values, name)
    return values.to_numpy() if is_xarray(values) else values


def transposed(values: Any, name: str, dims: tuple[Any, ...], indexes: Mapping[Any, Any]) -> Any:
    """Return a DataArray with its dimensions in this order, after a check of its coordinates."""
    if set(dims) != set(values.dims):
        raise ValueError(f"{name} must have the dimensions {dims}, got {values.dims}")
    for dim in indexes.keys() & values.indexes.keys():
        if not indexes[dim].equals(values.indexes[dim]):
            raise ValueError(f"{name} must have the coordinates of the data along {dim!r}")
    return values.transpose(*dims)


# Matching -----------------------------------------------------------------------------------------


def in_order(values: Any, name: str, graph: Graph) -> Any:
    """Return labelled values as an array in the order of the vertices, and other values unchanged.

    Parameters
    ----------
    values : str, dict, Series, DataFrame, DataArray or anything else
        A string is the name of a vertex attribute of the graph.
    name : str
        The name of the argument in errors.
    graph : Graph
        The graph.
    """
    if isinstance(values, str):
        return _attribute(values, name, graph)
    labelling = labelling_of(values)
    if labelling is None:
        return values
    array = array_of(values, name)
    places = places_in(graph, labelling, name)
    return array if places is None else array[places]


def with_labels(u: Floats, values: Any, name: str, graph: Graph) -> Any:
    """Return u, which has a row per vertex, with the labels and the order of `values`."""
    if isinstance(values, str):
        return Keys(graph.names or range(graph.n_vertices)).restored(u)
    labelling = labelling_of(values)
    if labelling is None:
        return u
    return labelling.restored(in_own_order(u, places_in(graph, labelling, name)))


def in_own_order(u: NDArray[Any], places: Places | None) -> NDArray[Any]:
    """Return rows in the order of the data, given the place of each vertex in the data."""
    return u if places is None else u[np.argsort(places, kind="stable")]


def places_in(graph: Graph, labelling: Labelling, name: str) -> Places | None:
    """Return the position of the label of each vertex, or None if the order is already correct."""
    labels = labelling.labels
    if labels is None:
        return None
    names: Sequence[Hashable] = graph.names or range(graph.n_vertices)
    has_numbers = graph.names is not None or _are_numbers(labels, len(names))
    if labelling.is_ordered and not has_numbers:
        return None
    return _places(labels, names, name, "name of the graph", "; NaN marks missing data")


def aligned(values: Any, name: str, labelling: Labelling | None, of: str) -> Any:
    """Return other values as an array in the order of some data, whose argument is called `of`.

    Labels are matched with those of the data. If only `values` has labels, they must be the numbers
    of the rows, in order.
    """
    own = labelling_of(values)
    if own is None:
        return values
    if isinstance(own, Dimensions) and isinstance(labelling, Dimensions):
        is_per_vertex = len(own.dims) < len(labelling.dims)
        dims = labelling.dims[: len(own.dims)] if is_per_vertex else labelling.dims
        return transposed(values, name, dims, labelling.coords.indexes).to_numpy()
    array = array_of(values, name)
    if own.labels is None:
        return array
    if labelling is None or labelling.labels is None:
        if list(own.labels) != list(range(len(own.labels))):
            raise ValueError(
                f"{name} must have no labels if {of} has none, got {_listed(list(own.labels), '')}"
            )
        return array
    places = _places(own.labels, labelling.labels, name, f"label of {of}")
    array = array if places is None else array[places]
    return labelling.columns_in_order(values, array, name)


def _places(
    labels: Sequence[Any], names: Sequence[Any], name: str, wanted: str, hint: str = ""
) -> Places | None:
    """Return the position of each of the names among the labels, or None if the order is equal."""
    if len(labels) == len(names) and all(a == b for a, b in zip(labels, names, strict=True)):
        return None
    check_distinct(labels, f"the labels of {name}")
    place_of = {label: k for k, label in enumerate(labels)}
    missing = [each for each in names if each not in place_of]
    known = set(names)
    unknown = [label for label in labels if label not in known]
    if missing or unknown:
        raise ValueError(
            f"{name} must have a label for each {wanted} and no others,"
            f" got {_listed(missing, 'no ')}{' and ' * bool(missing and unknown)}"
            f"{_listed(unknown, 'unknown ')}{hint}"
        )
    return np.array([place_of[each] for each in names], dtype=np.int64)


def _are_numbers(labels: Sequence[Any], n_vertices: int) -> bool:
    """Return whether labels are the numbers of all vertices, in any order."""
    are_whole = all(isinstance(label, int) and not isinstance(label, bool) for label in labels)
    return are_whole and set(labels) == set(range(n_vertices))


def _listed(labels: list[Any], what: str) -> str:
    if not labels:
        return ""
    shown = ", ".join(brief(label) for label in labels[:3])
    return f"{what}{shown}{f' and {len(labels) - 3} more' if len(labels) > 3 else ''}"


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
