"""Certified total variation on weighted graphs.

Build a `Graph` (for example with `grid_graph` or `knn_graph`), choose a data term such as
`SquaredLoss`, and `solve` the resulting `Problem`. The `Result` contains the solution and a
certificate: a proven bound on its distance from the optimum.

`tv_chain` and `tv_forest` solve chains, trees and forests exactly. `decompose` returns the forests
of the preconditioner, and `condition_number` returns its condition number. `min_cut`, `cut_path`
and `FlowNetwork` compute cuts and flows.
"""

import ast
from importlib import import_module
from importlib.util import find_spec

_SUBMODULES = ("applications", "io", "jax", "plot", "scale", "solver", "terms", "torch")
"""Submodules that are imported on first access, in addition to those listed in the stub."""

_ESTIMATORS = (
    "ConvexClustering",
    "FusedLasso",
    "FusedLinearRegression",
    "FusedLogisticRegression",
    "TVClassifier",
)
"""Names that need scikit-learn. Without scikit-learn, ``import *`` omits them."""


def _read_stub() -> dict[str, str]:
    """Return a dictionary from each public name to its module, read from `__init__.pyi`."""
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
    except ValueError:  # sys.modules holds an object without a spec under this name
        return False


# The package lazy_loader does the same, but would add a dependency to NumPy and SciPy.
_HOMES = _read_stub()
__all__ = sorted(_HOMES if _has_scikit_learn() else _HOMES.keys() - {*_ESTIMATORS})


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, because importing SciPy is slow."""
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    home = _HOMES.get(name, __name__ if name in _SUBMODULES else None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if home == __name__:
        return import_module(f"{__name__}.{name}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_SUBMODULES, "__version__"})
