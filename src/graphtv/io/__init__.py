"""Files: networks in DIMACS format."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphtv.io.dimacs import DimacsError, read_dimacs, write_dimacs

__all__ = ["DimacsError", "read_dimacs", "write_dimacs"]

if not TYPE_CHECKING:

    def __getattr__(name):
        if name in __all__:
            from graphtv.io import dimacs

            return getattr(dimacs, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
