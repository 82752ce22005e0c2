"""`cs-score problems [CODE]`: what the problem codes mean, from the table that the reports use."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

import click

from cs_score.cli.destinations import print_text
from cs_score.foundation.errors import UsageError
from cs_score.problems.codes import GUIDE, severity_of
from cs_score.problems.explanation import Explanation
from cs_score.problems.log import KINDS

_WIDTH = 100


@click.command()
@click.argument("codes", nargs=-1, metavar="[CODE]...")
def problems(codes: tuple[str, ...]) -> None:
    """Explain problem codes: what is wrong, an example, what cs-score does, what to do about it.

    Without CODE all codes are listed, one line each. Letter case does not matter.
    """
    print_text("\n".join(_explained(codes) if codes else _listed()))


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
            raise UsageError(f"{given} is no problem code; cs-score problems lists them{_similar(code)}")
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


def _similar(code: str) -> str:
    import difflib

    close = difflib.get_close_matches(code, GUIDE, n=1)
    return f"; do you mean {close[0]}?" if close else ""
