"""Benchmarks of grids in tiles: against the solver in memory, over workers, and beyond memory."""
