"""Sphinx configuration: `scripts/build_docs` builds the site from pages and docstrings."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

project = "graphtv"
author = "The graphtv developers"
copyright = author
try:
    release = metadata.version("graphtv")
except metadata.PackageNotFoundError:  # run from a checkout
    release = ""

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
html_math_renderer = "mathml"
templates_path = ["_templates"]
exclude_patterns = ["_*", "examples", "tutorials", "gallery/examples/index.rst"]

# Examples and tutorials run when the site is built; gallery/index.md includes the thumbnails.
sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": ["examples", "tutorials"],
    "gallery_dirs": ["gallery/examples", "guide/tutorials"],
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/generated/examples",
    "doc_module": ("graphtv",),
    "capture_repr": (),
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1000,
    "remove_config_comments": True,
}

# Pages are Markdown that GitHub renders as well: $…$ for formulas, headings as anchors.
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 4

default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"graphtv {release}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["graphtv.css"]
html_copy_source = False
html_sidebars: dict[str, list[str]] = {"index": [], "install": []}
html_show_copyright = False
html_theme_options: dict[str, Any] = {
    "header_links_before_dropdown": 6,
    "logo": {"text": f"graphtv {release}"},
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

# Files at the root of the repository become pages of the site.
ROOT_FILES = {
    "README.md": "index.md",
    "NOTATION.md": "about/notation.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "CHANGELOG.md": "about/changelog.md",
    "SECURITY.md": "about/security.md",
    "CODE_OF_CONDUCT.md": "about/conduct.md",
}


def link_to_pages(app: Sphinx, document: str, source: list[str]) -> None:
    """Make links to files at the root point to their pages; absolute paths start at docs/."""
    for file, page in ROOT_FILES.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{file}", f"](/{page}", source[0])


def link_included(app: Sphinx, path: Any, document: str, source: list[str]) -> None:
    """Do the same for the files at the root, whose links are relative to the root."""
    for file, page in ROOT_FILES.items():
        source[0] = source[0].replace(f"]({file}", f"](/{page}")


def escape_bars(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Escape |p|, which reStructuredText would read as a substitution."""
    code = r"(``.*?``|`[^`]*`)"
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(code, line)
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[number] = "".join(parts)


def skip_generated(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Skip the metadata routing methods that scikit-learn adds to estimators."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Sphinx) -> None:
    """Register the functions above."""
    app.connect("source-read", link_to_pages)
    app.connect("include-read", link_included)
    app.connect("autodoc-skip-member", skip_generated)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)
