"""Small real data sets included in the package."""

from __future__ import annotations

from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from graphtv._validate import Floats
from graphtv.graph.graph import Graph

__all__ = ["Counties", "us_counties"]


class Counties(NamedTuple):
    """Counties of the United States.

    Attributes
    ----------
    graph : Graph
        Edges join counties that share a boundary; all weights are 1.
    unemployment : ndarray, shape (n,)
        Unemployment rate of 2009 in per cent.
    coordinates : ndarray, shape (n, 2)
        Longitude and latitude of a point inside the county, in degrees.
    names, states, fips : ndarray of str, shape (n,)
        Name, two-letter state code and five-digit FIPS code.

    Examples
    --------
    >>> counties = us_counties()
    >>> str(counties.names[0]), float(counties.unemployment[0])
    ('Autauga County, Alabama', 9.7)
    >>> counties.graph
    Graph(3109 vertices, 8864 edges)
    """

    graph: Graph
    unemployment: Floats
    coordinates: Floats
    names: np.ndarray[Any, np.dtype[np.str_]]
    states: np.ndarray[Any, np.dtype[np.str_]]
    fips: np.ndarray[Any, np.dtype[np.str_]]


def us_counties() -> Counties:
    """Return the counties of the contiguous United States with their unemployment in 2009.

    There are 3109 counties and 8864 pairs of counties whose boundaries share points. One county has
    no neighbours: Caldwell County in Missouri, whose boundary in the source does not meet others.

    Returns
    -------
    Counties
        A named tuple: graph, unemployment, coordinates, names, states, fips.

    Notes
    -----
    The data are in the public domain. Boundaries are from the U.S. Census Bureau (TIGER),
    unemployment rates from the U.S. Bureau of Labor Statistics.

    Examples
    --------
    >>> counties = us_counties()
    >>> counties.graph
    Graph(3109 vertices, 8864 edges)
    >>> worst = counties.unemployment.argmax()
    >>> str(counties.names[worst]), float(counties.unemployment[worst])
    ('Imperial County, California', 30.1)
    """
    nodes, edges = (_read(f"us_counties_{part}.csv") for part in ("nodes", "edges"))
    _, fips, states, names, longitude, latitude, unemployment = nodes.T
    return Counties(
        graph=Graph(len(nodes), edges[:, :2].astype(np.int64)),
        unemployment=unemployment.astype(np.float64),
        coordinates=np.stack([longitude, latitude], axis=1).astype(np.float64),
        names=names,
        states=states,
        fips=fips,
    )


def _read(name: str) -> np.ndarray[Any, np.dtype[np.str_]]:
    """Return the rows of a CSV file as text, without the header."""
    with resources.files(__name__).joinpath(name).open(encoding="utf-8") as lines:
        return np.loadtxt(lines, dtype=np.str_, delimiter=",", quotechar='"', skiprows=1)
