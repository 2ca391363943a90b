"""Certified total variation on weighted graphs."""

from graphtv import gallery
from graphtv.condition import condition_number
from graphtv.decomposition import ForestPartition, decompose
from graphtv.exact import tv_chain, tv_forest
from graphtv.graph import Graph
from graphtv.grid import GridStructure, grid_graph, recognize_grid
from graphtv.neighbours import knn_graph

__all__ = [
    "ForestPartition",
    "Graph",
    "GridStructure",
    "condition_number",
    "decompose",
    "gallery",
    "grid_graph",
    "knn_graph",
    "recognize_grid",
    "tv_chain",
    "tv_forest",
]
