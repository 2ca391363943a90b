"""The README's Python runs, top to bottom, and the results in its comments are true."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)


def statements(block):
    """Pair each statement with the comment at its end and on the lines beneath it."""
    lines = block.splitlines()
    body = ast.parse(block).body
    for node, following in zip(body, [*(n.lineno for n in body[1:]), len(lines) + 1], strict=True):
        last = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
        beneath = lines[node.end_lineno : following - 1]
        comments = [text.strip()[1:].removeprefix(" ") for text in (last, *beneath) if text.strip()]
        yield node, "\n".join(comments)


def without_effort(text):
    """Leave out what may change from run to run, or with how the solver finds the same optimum."""
    return re.sub(r"(relative gap|error  |work  |time  ).*", r"\1", text)


def test_two_commands_do_everything_and_the_checks_run_the_second():
    (block,) = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)
    run, test = (line.partition("  #")[0].strip() for line in block.splitlines())
    assert run == 'python -m pip install ".[cli,plot]" && graphtv demo'
    assert test == 'python -m pip install ".[test]" && python -m pytest'
    assert test in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")))
def test_links_within_the_repository_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_snippets_are_true(tmp_path, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    checked = 0
    for block in BLOCKS:
        for node, comment in statements(block):
            source = ast.unparse(node)
            if not isinstance(node, ast.Expr):
                exec(compile(source, str(README), "exec"), names)
                continue
            value = eval(compile(source, str(README), "eval"), names)
            printed = capsys.readouterr().out
            if comment:
                shown = printed.rstrip("\n") if printed else plain(value)
                assert without_effort(shown) == without_effort(comment), source
                checked += 1
    assert checked >= 9
    assert (tmp_path / "forests.png").stat().st_size > 0
    from matplotlib import pyplot

    pyplot.close("all")


def plain(value):
    """Return the repr with numpy's scalars as plain numbers, as older numpy prints them."""
    if isinstance(value, tuple):
        return repr(tuple(float(x) for x in value))
    return repr(value)
