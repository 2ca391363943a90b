"""What `import graphtv` costs, and that the names it promises are where it says."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import graphtv

HEAVY = ("aiohttp", "matplotlib", "networkx", "numpy", "PIL", "rich", "scipy", "skimage", "sklearn")


def loaded_by(code):
    """Return which of the heavy modules a fresh interpreter has after running `code`."""
    query = f"{code}\nimport sys\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    finished = subprocess.run(
        [sys.executable, "-c", query], capture_output=True, text=True, check=True
    )
    return set(finished.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import graphtv",
        "import graphtv.cli",
        "from graphtv.cli import make_parser; make_parser('')",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    assert loaded_by(code) == set()


@pytest.mark.parametrize(
    "command",
    ["demo", "denoise", "segment", "cut", "fuse", "app", "paper", "bench", "completion", "info"],
)
def test_the_help_of_a_command_imports_nothing_heavy(command):
    code = f"from graphtv.cli import make_parser; make_parser({command!r})"
    assert loaded_by(code) == set()


def test_solving_needs_numpy_and_scipy_alone():
    assert loaded_by("from graphtv import denoise_tv, solve, tv_chain") == {"numpy", "scipy"}


def test_every_public_name_is_found():
    for name in graphtv.__all__:
        assert getattr(graphtv, name) is not None
        assert name in dir(graphtv)


def test_everything_can_be_imported_without_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from graphtv import *\n"
        "import graphtv\n"
        "assert solve and 'FusedLasso' in dir(graphtv) and 'FusedLasso' not in globals()\n"
        "try: graphtv.FusedLasso\n"
        "except ImportError as error: print(error)"
    )
    run = [sys.executable, "-c", code]
    finished = subprocess.run(run, capture_output=True, text=True, check=False)
    assert not finished.stderr
    assert "graphtv[ml]" in finished.stdout


def test_what_is_imported_is_what_type_checkers_see():
    tree = ast.parse(Path(graphtv.__file__).read_text())
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )
    seen = {}
    for statement in block.body:
        module = statement.module.removeprefix("graphtv").lstrip(".")
        seen[module] = tuple(alias.name for alias in statement.names)
    submodules = seen.pop("")
    assert seen == graphtv._NAMES
    assert set(submodules) <= set(graphtv._SUBMODULES)
    names = {name for names in seen.values() for name in names}
    assert sorted({*names, *submodules}) == sorted(graphtv.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="slove"):
        graphtv.slove  # noqa: B018
