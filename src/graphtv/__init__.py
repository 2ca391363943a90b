"""Certified total variation on weighted graphs."""
