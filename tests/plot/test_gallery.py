"""The page of pictures: its script runs, and it shows every function."""

from pathlib import Path

import pytest

from scripts import load

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("PIL")
matplotlib.use("Agg")

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_gallery_example_runs(tmp_path):
    load("docs/gallery/pictures.py").main(
        tmp_path / "picture.png", size=32, n_points=200, n_lambdas=4
    )
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_every_function_is_on_the_page():
    from graphtv import plot

    text = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
    for name in plot.__all__:
        assert f"{name}(" in text or not name.startswith("draw_")
