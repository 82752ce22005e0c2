"""A page as one HTML file. Every text is escaped here, on its way through the template, and nowhere else."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.display import cell, terminal_safe
from cs_score.base.errors import MissingExtraError
from cs_score.report import BEGINNING
from cs_score.report.drawing import chart_style
from cs_score.report.model import Away, Details, Link, Opening, Openings, Page
from cs_score.tables.renderers import exact, shown

if TYPE_CHECKING:
    from jinja2 import Template

_LONGEST: Final = 2000
"""Characters of a text that a page shows."""


def html(page: Page) -> str:
    """The page as one file. Raises MissingExtraError without jinja2."""
    style, script = f"{chart_style()}{_resource('page.css')}", _resource("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    trusted = {"beginning": BEGINNING, "style": style, "script": script, "policy": policy, "newline": "\n"}
    trusted["packed"] = _packed(page.openings) if page.openings.entries else ""
    return _template().render(page=page, **{name: _markup(text) for name, text in trusted.items()})


def require_templates() -> None:
    """Raises MissingExtraError without jinja2, before anything is computed for a page."""
    _template()


@cache
def _template() -> Template:
    try:
        from jinja2 import Environment, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtraError("jinja2", "report") from None
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"svg": lambda drawing: _markup(drawing.svg()), "exact": exact, "shown": shown}
    for kind in (Away, Details, Link, Opening):
        environment.tests[kind.__name__.lower()] = lambda value, kind=kind: isinstance(value, kind)
    return environment.from_string(_resource("page.html"))


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def _shown(value: object) -> object:
    """Any text that reaches the page, its controls and direction overrides written as escapes."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return cell(value, _LONGEST)
    return value


def _packed(openings: Openings) -> str:
    """What opens as JSON, deflated, in Base64, which no text of an input can break out of: it is large, repeats itself,
    and is wanted one entry after the other.

    Of each entry: its head, the numbers of its texts, groups of other entries by number, and its chart as SVG.
    """
    things = [
        [
            cell(entry.head, _LONGEST),
            list(entry.steps),
            [[title, [openings.numbers[key] for key in keys]] for title, keys in entry.groups],
            "" if entry.drawing is None else entry.drawing.svg(),
        ]
        for entry in openings.entries.values()
    ]
    value = {"trees": openings.are_trees, "texts": list(map(terminal_safe, openings.texts)), "things": things}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(zlib.compress(data, 6)).decode()


def _resource(name: str) -> str:
    return (files("cs_score.report") / "templates" / name).read_text("utf-8")


def _digest(text: str) -> str:
    """The hash by which a Content-Security-Policy allows this very text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
