"""Graphs: weighted edges, grids, nearest neighbours and connected components."""
