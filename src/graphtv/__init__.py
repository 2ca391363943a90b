"""Certified total variation on weighted graphs.

Build a `Graph` (or a `grid_graph`, a `knn_graph`), say with a data term such as `SquaredLoss` what
is known at its vertices, and `solve` the `Problem`; the `Result` proves how good it is. On chains,
trees and forests `tv_chain` and `tv_forest` are exact by themselves. `decompose` and
`condition_number` show the forests behind it all. `min_cut`, `cut_path` and `FlowNetwork` are for
cuts and flows.
"""

import ast
from importlib import import_module
from importlib.util import find_spec

_SUBMODULES = ("applications", "io", "plot", "scale", "solver", "terms")
"""Modules that can be used without an import of their own, beside those of the stub."""

_ESTIMATORS = ("FusedLasso", "TVClassifier")
"""Names that need scikit-learn; without it, ``import *`` leaves them out."""


def _read_stub() -> dict[str, str]:
    """Return the module of every public name, as `__init__.pyi` imports them."""
    stub = ast.parse(__loader__.get_data(f"{__path__[0]}/__init__.pyi"))  # type: ignore[name-defined]
    return {
        alias.name: statement.module
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom) and statement.module is not None
        for alias in statement.names
    }


def _has_scikit_learn() -> bool:
    try:
        return find_spec("sklearn") is not None
    except ValueError:  # something else stands in its place
        return False


# The package lazy_loader does the same; it would be the only dependency besides NumPy and SciPy.
_HOMES = _read_stub()
__all__ = sorted(_HOMES if _has_scikit_learn() else _HOMES.keys() - {*_ESTIMATORS})


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: SciPy takes long to import."""
    home = _HOMES.get(name, __name__ if name in _SUBMODULES else None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if home == __name__:
        return import_module(f"{__name__}.{name}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_SUBMODULES})
