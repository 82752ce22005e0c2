"""`cs-score problems [CODE]`: what the problem codes mean, from the table that the reports use."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.cli.destinations import print_text
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import CommandLine
from cs_score.foundation.errors import UsageError
from cs_score.foundation.nearest import nearest
from cs_score.problems.codes import GUIDE, severity_of
from cs_score.problems.explanation import Explanation
from cs_score.problems.log import KINDS

_WIDTH = 100


def _run(line: CommandLine) -> int:
    print_text("\n".join(_explained(line.words) if line.words else _listed()))
    return 0


def _listed() -> Iterator[str]:
    width = max(map(len, GUIDE))
    for code, explanation in GUIDE.items():
        yield f"{code:<{width}}  {severity_of(code):<11}  {_first_sentence(explanation.meaning)}"


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


def _explained(codes: Iterable[str]) -> Iterator[str]:
    for number, given in enumerate(codes):
        code = given.upper()
        if code not in GUIDE:
            raise UsageError(f"{given} is no problem code; cs-score problems lists them{nearest(code, GUIDE)}")
        if number:
            yield ""
        yield from _sections(code, GUIDE[code])


def _sections(code: str, explanation: Explanation) -> Iterator[str]:
    yield f"{code} ({severity_of(code)})"
    message = KINDS[code].template.strip() if code in KINDS else None
    sections = (
        ("Meaning", explanation.meaning),
        ("Message", message),
        ("Column", explanation.column),
        ("Example", explanation.example),
        ("Action", explanation.action),
        ("Remedy", explanation.remedy),
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
            choices=tuple(GUIDE),
        ),
    ),
    body=_run,
)
