"""Slow, obvious NumPy twins of the C++ core, for tests and for reading."""
