"""The script of the gallery that learns weights."""

import importlib.util
from pathlib import Path

import pytest


def test_the_gallery_example_runs(tmp_path):
    for name in ("torch", "skimage", "matplotlib"):
        pytest.importorskip(name)
    script = Path(__file__).parents[2] / "docs" / "gallery" / "learned_weights.py"
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path / "picture.png", steps=2, size=16, test_size=32)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
