"""Scripts of the documentation and of the benchmarks as modules."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def load(name):
    """Import a script by its path in the repository."""
    path = ROOT / name
    spec = importlib.util.spec_from_file_location(f"_{path.stem}_script", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
