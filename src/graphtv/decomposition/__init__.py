"""Partitions of the edges into forests, the preconditioners they make, and condition numbers."""
