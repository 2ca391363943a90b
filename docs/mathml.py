"""Formulas as MathML, which browsers render without scripts or network access."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
BARS = ("|", "‖")
LIMITS = ("min", "max", "sup", "inf", "argmin", "∑", "⋃", "⨆")
"""Operators whose index is written below them in displayed formulas."""


def mathml(formula: str, display: str) -> str:
    """Return a formula as MathML; raise ValueError if a command was not understood."""
    source = formula.replace(r"\arg\min", r"\operatorname{argmin}")
    source = re.sub(r"\\log(?=[ \\])", r"\\,\\log\\,", source)  # n log n, with spaces
    root = ElementTree.fromstring(convert(source, display=display))
    for element in root.iter():
        text = element.text or ""
        if "\\" in text:
            raise ValueError(f"{text} was not understood in this formula: {formula}")
        if text in BARS:  # a fence, not the relation "divides"
            element.attrib.update(stretchy="false", lspace="0", rspace="0")
        if display == "block" and len(element) > 1 and element[0].text in LIMITS:
            under = {"msub": "munder", "msubsup": "munderover"}
            tag = element.tag.removeprefix(NAMESPACE)
            element.tag = NAMESPACE + under.get(tag, tag)
    ElementTree.register_namespace("", NAMESPACE[1:-1])
    return ElementTree.tostring(root, encoding="unicode")


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    self.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer, which conf.py names."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
