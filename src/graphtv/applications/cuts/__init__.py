"""Minimum cuts, maximum flows and flow networks."""
