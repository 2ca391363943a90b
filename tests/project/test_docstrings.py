"""The examples in docstrings, which appear in the API reference, are correct."""

import doctest
import importlib
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
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert results.failed == 0
