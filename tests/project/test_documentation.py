"""The pages: their Python runs, their claims hold, links resolve, and no page is left out."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from snippets import agrees, blocks, run, statements

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("**/*.md"))
WITH_PYTHON = [page for page in PAGES if blocks(page)]
OPTIONAL = (
    "array_api_strict",
    "geopandas",
    "igraph",
    "jax",
    "napari",
    "pandas",
    "pylops",
    "pyproximal",
    "shapely",
    "torch",
    "xarray",
)
SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", [ROOT / "README.md", *WITH_PYTHON], ids=name_of)
def test_the_python_of_a_page_is_true(page, tmp_path, monkeypatch, capsys):
    needed = {name for name in OPTIONAL if f"import {name}" in page.read_text(encoding="utf-8")}
    for name in ("matplotlib", "networkx", "sklearn", "skimage", *sorted(needed)):
        pytest.importorskip(name)
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    compared = run(page, capsys)
    pyplot.close("all")
    claims = "\n".join(blocks(page)).count("  # True")
    assert compared >= claims  # none is read as a remark


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *PAGES], ids=name_of)
def test_links_within_the_repository_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)#\s]+)", text)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def commands_that_ran_together(text):
    """Lines of shell blocks that begin with an option, or with a command in their comment."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.M | re.S)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    joined = re.compile(r"\s*-|.*# .*\b(python|pip|graphtv|bash) (-m|install|[a-z]+ --)")
    return [line for line in lines if joined.match(line)]


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *PAGES], ids=name_of)
def test_shell_commands_have_their_own_lines(page):
    assert commands_that_ran_together(page.read_text(encoding="utf-8")) == []


def test_the_check_sees_commands_that_ran_together():
    text = "```sh\npip install -U pip # newest python -m pip install\n--group dev\n```\n"
    assert len(commands_that_ran_together(text)) == 2


def test_every_page_is_in_the_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for tree in re.findall(r"^```{toctree}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            targets = [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries]
            listed |= {(page.parent / f"{target}.md").resolve() for target in targets}
    pages = {page.resolve() for page in PAGES if not page.name.startswith("_")}
    assert pages - listed == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_script_of_the_gallery_has_a_page_and_a_picture(script):
    page = script.with_suffix(".md").read_text(encoding="utf-8")
    picture = DOCS / "images" / "gallery" / f"{script.stem}.png"
    assert f"{{literalinclude}} {script.name}" in page
    assert f"../images/gallery/{picture.name}" in page
    assert picture.stat().st_size <= 200_000
    assert f":link: {script.stem}\n" in (DOCS / "gallery" / "index.md").read_text("utf-8")
    tests = "".join(test.read_text("utf-8") for test in (ROOT / "tests").glob("**/test_*.py"))
    assert f'"{script.name}"' in tests or f"/{script.name}" in tests  # it is run


@pytest.mark.slow
def test_every_page_of_the_theory_begins_with_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    runpy.run_path(str(DOCS / "theory" / "pictures.py"))["main"](tmp_path)
    theory = {page for page in (DOCS / "theory").glob("*.md") if page.stem != "index"}
    pages = {page.stem: page for page in {*theory, DOCS / "scale.md"}}
    assert {picture.stem for picture in tmp_path.iterdir()} == set(pages)
    for name, page in pages.items():
        beginning = page.read_text("utf-8").partition("\n## ")[0]
        assert f"images/theory/{name}.png)" in beginning
        assert (DOCS / "images" / "theory" / f"{name}.png").stat().st_size <= 50_000


def test_the_reference_has_every_public_name():
    import graphtv
    from graphtv import datasets, gallery, plot

    text = (DOCS / "reference" / "api.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", text, re.M))
    modules = {"datasets", "gallery"}
    pictures = {name for name in plot.__all__ if name.startswith("draw_")}
    public = {*graphtv.__all__, *datasets.__all__, *gallery.__all__, *pictures} - modules
    assert listed == public


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"version: {project['version']}\n" in citation
    assert f"license: {project['license']}\n" in citation
    assert f"[{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_extras_are_explained():
    page = (DOCS / "install.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = re.findall(r"^\| (`[\w`, ]+`) \| ", page.partition("\n## If the build")[0], re.M)
    explained = re.findall(r"\w+", " ".join(rows))
    assert sorted(explained) == sorted(project["optional-dependencies"])


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=name_of)
def test_commands_that_install_graphtv_work_before_a_release(page):
    commands = re.findall(
        r"^python -m pip install (.*?)(?: +[#&].*)?$", page.read_text("utf-8"), re.M
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for command in commands:
        extras = re.fullmatch(r'(?:\.|"\.\[([\w,]+)\]")', command)
        assert extras, command
        assert set((extras[1] or "cli").split(",")) <= project["optional-dependencies"].keys()


def test_the_oldest_supported_versions_are_those_of_the_package():
    page = (DOCS / "about" / "versions.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    stated = {
        name.lower(): version for name, version in re.findall(r"^\| (\w+) \| ([\d.]+) ", page, re.M)
    }
    required = dict(requirement.split(">=") for requirement in project["dependencies"])
    assert stated == {"python": project["requires-python"].removeprefix(">="), **required}


def test_claims_are_told_from_remarks():
    block = "x = 1  # a remark\nx  # 1\nprint(x)\n# 1\n\n# not a claim\nx\n"
    assert [claim for _, claim in statements(block)] == ["a remark", "1", "1", ""]
    assert agrees("a\nb\nc [1]", "a\n   …\nc [1]")
    assert agrees("0.123", "0.1…")
    assert not agrees("0.223", "0.1…")
    assert not agrees("True", "False")


@pytest.mark.parametrize(
    ("shown", "claimed"),
    [
        ("1.2345 of 7", "1.2346 of 7"),
        ("(array([125. , 0.2]), -3.1416e-05)", "(array([125. , 0.2]), -3.1415e-05)"),
        ("0.30000000000000004", "0.3"),
        ("0.7041999999999", "0.7042"),
        ("1.0000e+00  -2.5", "9.9999e-01  -2.5"),
        ("version 1.26.4 0.5", "version 1.26.4 0.5"),
        ("a 0.1239 b\nc", "a 0.12… b\n…"),
        ("x\ny\n0.50001", "…\n0.50002"),
    ],
)
def test_claims_may_be_off_by_rounding(shown, claimed):
    assert agrees(shown, claimed)


@pytest.mark.parametrize(
    ("shown", "claimed"),
    [
        ("1.2345", "1.2347"),
        ("0.35", "0.36"),
        ("12", "13"),
        ("100000", "100001"),
        ("-1.2345", "1.2345"),
        ("1.2345e-05", "1.2345e-06"),
        ("[1.2345, 2.0]", "[1.2345 2.0]"),
        ("1.2345 df", "1.2345"),
        ("1.2345", "1.2345 df"),
        ("gap 1.2345", "cap 1.2345"),
        ("version 1.26.4", "version 1.26.5"),
        ("0.139", "0.12…"),
        ("nan", "1.2345"),
        ("x\n0.50001", "…\n0.50006"),
    ],
)
def test_claims_that_are_wrong_are_found(shown, claimed):
    assert not agrees(shown, claimed)


@pytest.mark.parametrize(
    "page",
    [ROOT / "NOTATION.md", ROOT / "CONTRIBUTING.md", *(DOCS / "theory").glob("*.md")],
    ids=name_of,
)
def test_the_files_that_a_page_names_exist(page):
    folders = ("src", "cpp", "tests", "benchmarks", "docs", "scripts")
    files = [f"/{path.as_posix()}" for name in folders for path in (ROOT / name).rglob("*.*")]
    for name in set(re.findall(r"`([\w/]+\.(?:py|pyi|[ch]pp))`", page.read_text("utf-8"))):
        assert any(file.endswith(f"/{name}") for file in files), name
