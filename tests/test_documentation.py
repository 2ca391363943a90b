"""The pages of the site: their Python runs, what they claim is true, and none is left out."""

from pathlib import Path

import pytest

from snippets import blocks, run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.glob("**/*.md")) if blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_python_of_a_page_is_true(page, tmp_path, monkeypatch, capsys):
    for name in ("matplotlib", "networkx", "sklearn", "skimage"):
        pytest.importorskip(name)
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    run(page, capsys)
    pyplot.close("all")
