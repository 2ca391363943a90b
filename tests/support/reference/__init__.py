"""Slow and simple NumPy versions of the C++ core, for tests and for reading."""
