"""Runs the Python code of a page from top to bottom, and checks the claims in its comments.

A comment after an expression, or in the lines directly below it, states the value or the output of
the expression. A comment after any other statement is a remark. Text is compared exactly, numbers
up to rounding. A line "…" stands for any lines, and "…" within a line for any characters. Code that
readers need not see is in an HTML comment, ``<!-- python … -->``, which neither GitHub nor the site
shows.
"""

import ast
import re
from decimal import Decimal
from pathlib import Path

# A number with a point or an exponent, that is not cut short by "…" nor part of a name or version.
NUMBER = r"(?<![\w.])-?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)(?!\.?\w|…)"
ANY_NUMBER = r"-?\d+\.?\d*(?:e[-+]?\d+)?"
BLOCK = re.compile(r"^(?:```python|<!-- python)\n(.*?)^(?:```|-->)", re.M | re.S)


def blocks(page):
    """Return the Python blocks of a page."""
    return BLOCK.findall(Path(page).read_text(encoding="utf-8"))


def statements(block):
    """Pair each statement with the comment at its end and on the lines below it."""
    lines = block.splitlines()
    for node in ast.parse(block).body:
        last = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
        comments = [last] if last.startswith("#") else []
        for line in lines[node.end_lineno :]:
            if not line.startswith("#"):
                break
            comments.append(line)
        yield node, "\n".join(comment[1:].removeprefix(" ") for comment in comments)


def without_effort(text):
    """Remove output that may vary between runs, or with the way the solver reaches the optimum."""
    text = re.sub(r"(relative gap|error  |work  |time  ).*", r"\1", text)
    text = re.sub(r"(: \d+ iterations?) in \S+ s", r"\1", text)
    return text.rstrip()


def agrees(shown, claimed):
    """Return whether the claim matches the output, up to omissions and rounding.

    Text and whole numbers agree exactly, other numbers as `is_close` says.
    """
    claimed = re.sub(r"^ +…$", "…", without_effort(claimed), flags=re.M)
    parts = re.split(f"({NUMBER}|…)", claimed)
    numbers = parts[1::2]
    pattern = "".join(
        re.escape(part) if k % 2 == 0 else ".*" if part == "…" else f"({ANY_NUMBER})"
        for k, part in enumerate(parts)
    )
    found = re.fullmatch(pattern, without_effort(shown), re.S)
    if found is None:
        return False
    pairs = zip(found.groups(), (n for n in numbers if n != "…"), strict=True)
    return all(is_close(shown, claimed) for shown, claimed in pairs)


def is_close(shown, claimed):
    """Return whether two numbers agree up to rounding in the last digit shown.

    Machines agree to about 1e-12, which may change the last printed digit by one. With few digits
    this is rare, and the tolerance would be too large. Differences above 1e-3 of the number are
    therefore never accepted.
    """
    value = Decimal(claimed)
    unit = Decimal(1).scaleb(value.as_tuple().exponent)
    tolerance = max(unit if unit <= abs(value) / 1000 else 0, abs(value) / 10**6)
    return abs(Decimal(shown) - value) <= tolerance


def plain(value):
    """Return the repr with numpy's scalars as plain numbers, as older numpy prints them."""
    text = re.sub(r"np\.(?:float|int|str)\w*\(([^()]*)\)", r"\1", repr(value))
    return re.sub(r"np\.(True|False)_", r"\1", text)


def run(page, capsys):
    """Run the blocks of a page in one namespace; return how many claims were compared."""
    names = {}
    compared = 0
    for block in blocks(page):
        for node, comment in statements(block):
            source = ast.unparse(node)
            if not isinstance(node, ast.Expr):
                exec(compile(source, str(page), "exec"), names)
                capsys.readouterr()
                continue
            value = eval(compile(source, str(page), "eval"), names)
            printed = capsys.readouterr().out
            if comment:
                shown = printed if printed else plain(value)
                assert agrees(shown, comment), f"{source}\nis\n{shown}\nand not\n{comment}"
                compared += 1
    return compared
