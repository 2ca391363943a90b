"""The picture of the seams."""

import importlib.util
from pathlib import Path

import pytest


@pytest.mark.slow
def test_gallery_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("skimage")
    script = Path(__file__).parents[2] / "docs" / "gallery" / "seams.py"
    spec = importlib.util.spec_from_file_location("gallery_seams", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path / "seams.png", step=4)
    assert (tmp_path / "seams.png").stat().st_size > 1000
