"""The cost of `import graphtv`, and that the public names exist where documented."""

import ast
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import graphtv

HEAVY = (
    "aiohttp", "jax", "matplotlib", "networkx", "numpy", "pandas", "PIL", "rich", "scipy",
    "shapely", "skimage", "sklearn", "torch", "xarray",
)  # fmt: skip


def loaded_by(code):
    """Return which of the heavy modules a new interpreter has loaded after running `code`."""
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


def test_the_stub_is_the_list_of_public_names():
    stub = ast.parse(Path(graphtv.__file__).with_suffix(".pyi").read_text())
    names = []
    for statement in stub.body[1:-1]:
        for alias in statement.names:
            assert alias.name == alias.asname  # names that a type checker regards as public
            names.append(alias.name)
    assert sorted(names) == graphtv.__all__
    assert ast.unparse(stub.body[-1]) == "__version__: str"
    source = ast.parse(Path(graphtv.__file__).read_text())
    constants = {node.value for node in ast.walk(source) if isinstance(node, ast.Constant)}
    assert constants & set(names) == set(graphtv._ESTIMATORS)  # nothing is listed twice


def test_the_version_is_that_of_the_installed_package():
    assert graphtv.__version__ == metadata.version("graphtv")
    assert "__version__" in dir(graphtv)


def test_submodules_need_no_import():
    code = "import graphtv\nfor name in ('plot', 'io', 'datasets'): print(getattr(graphtv, name))"
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout.count("<module 'graphtv.") == 3


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="slove"):
        graphtv.slove  # noqa: B018
