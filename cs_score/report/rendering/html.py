"""A page as HTML. Every text is escaped here, on its way through the template, and nowhere else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.display import cell
from cs_score.base.errors import MissingExtraError
from cs_score.report import BEGINNING
from cs_score.report.charts.drawing import chart_style
from cs_score.report.model import Away, Details, Link, Opening, Page
from cs_score.report.rendering.packing import packed

if TYPE_CHECKING:
    from jinja2 import Template

_FOLDER: Final = files("cs_score.report.rendering")
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
    trusted["told"] = packed(page.told) if page.told.things else ""
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
    environment.filters["svg"] = lambda drawing: _markup(drawing.svg())
    environment.filters["exact"] = _exact
    environment.tests["link"] = lambda value: isinstance(value, Link)
    environment.tests["away"] = lambda value: isinstance(value, Away)
    environment.tests["opening"] = lambda value: isinstance(value, Opening)
    environment.tests["details"] = lambda value: isinstance(value, Details)
    return environment.from_string(_resource("page.html"))


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def _shown(value: object) -> object:
    """Any text that reaches the page, its controls and direction overrides written as escapes."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return cell(value, _LONGEST)
    return value


def _exact(value: float) -> str:
    """A number as JSON has it."""
    return repr(value)


def _resource(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _digest(text: str) -> str:
    """The hash by which a Content-Security-Policy allows this very text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
