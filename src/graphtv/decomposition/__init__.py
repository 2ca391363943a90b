"""Partitions of the edges into forests, preconditioners built from them, condition numbers."""
