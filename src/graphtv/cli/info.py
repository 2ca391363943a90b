"""``graphtv info``: versions and build for a bug report."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OPTIONAL = (
    "matplotlib",
    "networkx",
    "igraph",
    "scikit-learn",
    "pillow",
    "tifffile",
    "aiohttp",
    "rich",
    "shtab",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = "Print versions, threads and build for a bug report."


def run(_: argparse.Namespace) -> None:
    """Print one name and value per line."""
    from graphtv import _core

    facts = {
        "graphtv": version("graphtv"),
        "core": Path(str(_core.__file__)).name,
        "build": str(getattr(_core, "build", "unknown")),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "threads": f"{_core.n_processors()} by default",
    }
    facts |= {name: _installed(name) for name in ("numpy", "scipy", *OPTIONAL)}
    for name, value in facts.items():
        print(f"{name:<14}{value}")


def _installed(package: str) -> str:
    """Return the version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
