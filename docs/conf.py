"""The site: `make docs` builds it from these pages, the tables of the package and its docstrings."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).parent))

import generate

from cs_score.base import VERSION

project = "cs-score"
author = "cs-score contributors"
copyright = "cs-score contributors"
release = VERSION
extensions = ["myst_parser", "sphinx.ext.autodoc"]

html_theme = "furo"
html_title = f"cs-score {release}"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["toc.empty_glob", "myst.header"]
highlight_language = "text"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("Files", "Input", "IntervalMethod", "Limits", "Lines", "Names")}
python_maximum_signature_line_length = 80
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True


class Generated(SphinxDirective):
    """A part of a page that `generate.py` makes: the name of its function, and what it is about."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        name, _, about = self.arguments[0].partition(" ")
        made = generate.PARTS[name](*filter(None, [about]))
        return self.parse_text_to_nodes(made, allow_section_headings=True)


def _as_rst(app: Sphinx, what: str, name: str, given: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with code between single backticks."""
    texts = "\n".join(lines).split("`")
    texts[::2] = [re.sub(r"([*_|])", r"\\\1", text) for text in texts[::2]]
    lines[:] = "``".join(texts).split("\n")


def _with_plain_aliases(
    app: Sphinx, what: str, name: str, given: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Return a signature in which aliases of types stand by their names, not by the way Sphinx keeps them."""
    pattern = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    plain_signature = None if signature is None else pattern.sub(r"\1", signature)
    plain_return = None if returned is None else pattern.sub(r"\1", returned)
    return plain_signature, plain_return


def setup(app: Sphinx) -> None:
    app.add_directive("generated", Generated)
    app.connect("autodoc-process-docstring", _as_rst)
    app.connect("autodoc-process-signature", _with_plain_aliases)
