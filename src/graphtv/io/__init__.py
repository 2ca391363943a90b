"""Files that others write and read, too."""

from graphtv.io.dimacs import DimacsError, read_dimacs, write_dimacs

__all__ = ["DimacsError", "read_dimacs", "write_dimacs"]
