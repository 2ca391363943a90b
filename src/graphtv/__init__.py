"""Certified total variation on weighted graphs."""

from graphtv.graph import Graph
from graphtv.grid import GridStructure, grid_graph, recognize_grid

__all__ = ["Graph", "GridStructure", "grid_graph", "recognize_grid"]
