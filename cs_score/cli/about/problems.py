"""`cs-score problems [CODE]`: what the problem codes mean, from the table that the reports use."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.cli.destinations import print_text
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import CommandLine
from cs_score.problems.codes import CODES, ProblemKind

_WIDTH = 100


def _run(line: CommandLine) -> int:
    print_text("\n".join(_explained(line.words) if line.words else _listed()))
    return 0


def _listed() -> Iterator[str]:
    width = max(map(len, CODES))
    for code, kind in CODES.items():
        yield f"{code:<{width}}  {kind.severity:<11}  {_first_sentence(kind.meaning)}"


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


def _explained(codes: Iterable[str]) -> Iterator[str]:
    for number, given in enumerate(codes):
        code = given.upper()
        if code not in CODES:
            raise UsageError(f"{given} is no problem code; cs-score problems lists them{nearest(code, CODES)}")
        if number:
            yield ""
        yield from _sections(code, CODES[code])


def _sections(code: str, kind: ProblemKind) -> Iterator[str]:
    yield f"{code} ({kind.severity})"
    sections = (
        ("Meaning", kind.meaning),
        ("Message", None if kind.template is None else kind.template.strip()),
        ("Column", kind.column if isinstance(kind.column, str) else None),
        ("Example", kind.example),
        ("Action", kind.action),
        ("Remedy", kind.remedy),
    )
    for title, text in sections:
        if text is not None:
            head = f"  {title + ':':<9} "
            yield textwrap.fill(text, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


FORM: Final = Form(
    "problems",
    (),
    (
        Parameter(
            "code",
            "A problem code, in any letter case; without one all are listed, one line each",
            is_optional=True,
            is_repeated=True,
            choices=tuple(CODES),
        ),
    ),
    body=_run,
)
