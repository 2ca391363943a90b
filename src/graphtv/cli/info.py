"""``graphtv info``: what to paste into a bug report."""

from __future__ import annotations

import argparse
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OPTIONAL = ("matplotlib", "rich", "networkx", "igraph")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    parser.description = "Print versions, threads and build, for a bug report."


def run(_: argparse.Namespace) -> None:
    """Print names and values, a line each."""
    from graphtv import _core

    facts = {
        "graphtv": version("graphtv"),
        "core": Path(str(_core.__file__)).name,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "threads": f"{_n_processors()} by default",
    }
    facts |= {name: _version(name) for name in ("numpy", "scipy", *OPTIONAL)}
    for name, value in facts.items():
        print(f"{name:<12}{value}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _n_processors() -> int:
    """Return how many processors this process may use, which is what the core takes."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
