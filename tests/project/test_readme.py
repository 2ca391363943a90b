"""The README: two commands on its first screen, a picture, short examples."""

import re
from pathlib import Path

from snippets import blocks

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_two_commands_do_everything_and_the_checks_run_the_second():
    (block,) = re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)
    run, test = (line.partition("  #")[0].strip() for line in block.splitlines())
    assert run == 'python -m pip install ".[cli,plot]" && graphtv demo'
    assert test == 'python -m pip install ".[test]" && python -m pytest'
    assert test in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_commands_and_picture_are_on_the_first_screen():
    screen = "\n".join(TEXT.splitlines()[:20])
    assert screen.count("```") == 2
    assert screen.count("](docs/images/demo.png)") == 1


def test_examples_are_short():
    for block in blocks(README):
        code = [line for line in block.splitlines() if line and not line.startswith("#")]
        assert len([line for line in code if "import" not in line]) <= 5
