"""Certified total variation on weighted graphs."""

from graphtv.graph import Graph

__all__ = ["Graph"]
