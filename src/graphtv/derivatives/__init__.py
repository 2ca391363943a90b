"""Derivatives of solutions with respect to data and weights."""
