"""The examples in docstrings, which appear in the API reference, are correct."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import graphtv

HOME = Path(graphtv.__file__).parent
FILES = [file for file in sorted(HOME.glob("**/*.py")) if ">>> " in file.read_text("utf-8")]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module_of(file):
    parts = file.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@pytest.mark.parametrize("name", [module_of(file) for file in FILES])
def test_examples_are_true(name, tmp_path, monkeypatch):
    if name.rpartition(".")[2] in ("classifier", "fused_lasso_estimator"):
        pytest.importorskip("sklearn")
    if name in ("graphtv.jax", "graphtv.torch") or name.startswith("graphtv.adapters."):
        pytest.importorskip(name.rpartition(".")[2])
    if name in ("graphtv.scale.result", "graphtv.scale.partitioned_graph"):
        pytest.importorskip("dask")
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert results.failed == 0


PUBLIC = [
    pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
    for module in (graphtv, graphtv.plot, graphtv.datasets, graphtv.gallery)
    for name in module.__all__
    if callable(getattr(module, name))
]


@pytest.mark.parametrize("thing", PUBLIC)
def test_every_public_name_has_an_example(thing):
    _, _, examples = inspect.getdoc(thing).partition("\nExamples\n--------\n")
    assert ">>> " in examples
