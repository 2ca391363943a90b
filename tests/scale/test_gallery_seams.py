"""The picture of the seams."""

from pathlib import Path

import pytest

from scripts import load


@pytest.mark.slow
def test_gallery_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("skimage")
    load("docs/gallery/seams.py").main(tmp_path / "seams.png", step=4)
    assert (tmp_path / "seams.png").stat().st_size > 1000
