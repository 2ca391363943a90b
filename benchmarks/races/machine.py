"""A description of the machine that ran the benchmarks."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from graphtv import _core


def describe() -> dict[str, str]:
    """Return processor, cores, memory, system, compiler and versions."""
    facts = {
        "processor": processor(),
        "cores": str(_core.n_processors()),
        "memory": memory(),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "compiler": compiler(),
        "python": platform.python_version(),
    }
    facts |= {package: installed(package) for package in ("graphtv", "numpy", "scipy")}
    return {name: fact for name, fact in facts.items() if fact}


def installed(package: str) -> str:
    """Return the version of a package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def processor() -> str:
    """Return the name of the processor and its caches, as reported by Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    known = {name.strip(): value.strip() for name, value in facts.items()}
    name = known.get("model name", platform.machine())
    family = ", ".join(f"{k} {known[k]}" for k in ("cpu family", "model") if k in known)
    cache = known.get("cache size", "")
    return name + (f" ({family})" if family else "") + (f", cache {cache}" if cache else "")


def memory() -> str:
    """Return the size of the memory."""
    try:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return ""
    return f"{pages / 2**30:.0f} GiB"


def compiler() -> str:
    """Return the first line of the version output of the system's C++ compiler."""
    found = shutil.which(os.environ.get("CXX") or "c++")
    if found is None:
        return "none"
    done = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or ["unknown"])[0]


def in_a_sentence(facts: dict[str, str]) -> str:
    """Return the facts as a line of text."""
    versions = ", ".join(
        f"{name} {facts[name]}" for name in ("python", "numpy", "scipy") if name in facts
    )
    words = [
        facts.get("processor", ""),
        f"{facts.get('cores', '?')} cores",
        facts.get("memory", ""),
        facts.get("system", ""),
        facts.get("compiler", ""),
        versions,
    ]
    return "; ".join(word for word in words if word)
