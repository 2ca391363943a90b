"""Grids in tiles, measured: against the solver in memory, over workers, and larger than memory."""
