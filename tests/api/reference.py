"""The reference of the public API, made from its signatures and docstrings: `python -m tests.api.reference` writes it
into docs/api.md behind the line that begins it."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import cs_score as cs
from cs_score.api import tables
from cs_score.tables.comparison import PAIRS, SYSTEMS

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "api.md"
BEGIN: Final = "## Reference\n"

_TITLES: Final = {"function": "Functions", "class": "Classes", "error": "Errors"}
_TABLES: Final = {
    "RunResult": (tables.ROWS, tables.QUERIES, tables.RESPONSES, tables.RANKINGS, tables.PROBLEMS, tables.SCORES),
    "ValidatedRun": (tables.OCCURRENCES,),
    "Comparison": (SYSTEMS, PAIRS),
}


def reference() -> str:
    """The reference as Markdown: functions, classes and errors in the order of the alphabet, then tables."""
    parts = [BEGIN, "\nMade from the docstrings; section numbers are those of the specification.\n"]
    for kind, title in _TITLES.items():
        parts.append(f"\n### {title}\n")
        for name in sorted(set(cs.__all__) - {"__version__"}):
            if _kind(name) == kind:
                parts += _of_name(name, kind)
    parts.append("\n### Tables\n")
    for owner, layouts in _TABLES.items():
        for layout in layouts:
            title = layout.title.replace("%", "By measure").removesuffix(":")
            parts.append(f"\n#### `{layout.name}` of `cs.{owner}`\n\n{textwrap.fill(title, 119)}.\n\n")
            parts += (
                f"- `{column.key}`{f': {column.meaning}' if column.meaning else ''}\n" for column in layout.columns
            )
    return "".join(parts)


def _kind(name: str) -> str:
    value = getattr(cs, name)
    if not inspect.isclass(value):
        return "function"
    return "error" if issubclass(value, Exception) else "class"


def _of_name(name: str, kind: str) -> Iterator[str]:
    value = getattr(cs, name)
    yield f"\n#### `cs.{name}`\n\n"
    if kind == "function":
        yield _signature(f"cs.{name}", value)
    yield f"{_text(value)}\n"
    if kind == "class":
        members = {member: given for each in reversed(value.__mro__[:-1]) for member, given in vars(each).items()}
        for member, given in members.items():
            if not member.startswith("_") and inspect.getdoc(given):
                yield from _of_member(name, member, given)


def _of_member(owner: str, name: str, given: object) -> Iterator[str]:
    if inspect.isfunction(given):
        yield f"\n##### `{owner}.{name}`\n\n{_signature(f'{owner}.{name}', given)}"
    else:
        yield f"\n##### `{owner}.{name}` (attribute)\n\n"
    yield f"{_text(given)}\n"


def _signature(name: str, function: object) -> str:
    assert callable(function)
    signature = inspect.signature(function)
    given = [each for each in signature.parameters.values() if each.name != "self"]
    parameters = list(map(_parameter, given))
    kinds = [each.kind for each in given]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    text = f"{name}({', '.join(parameters)}) -> {signature.return_annotation}"
    if len(text) > 100:
        text = f"{name}(\n    " + ",\n    ".join(parameters) + f",\n) -> {signature.return_annotation}"
    return f"```text\n{text}\n```\n\n"


def _parameter(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {parameter.annotation}{default}"


def _text(given: object) -> str:
    documented = inspect.getdoc(given)
    assert documented, f"{given} has no docstring"
    return "\n".join(textwrap.fill(re.sub(r"\s+", " ", part), 120) + "\n" for part in documented.split("\n\n")).strip()


def document() -> str:
    """The whole document as it should be."""
    before, begin, _ = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    assert begin, f"{DOCUMENT} has no line {BEGIN!r}"
    return before + reference()


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
