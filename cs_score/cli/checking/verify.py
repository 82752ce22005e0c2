"""`cs-score verify RESULT [FILES...]`: whether a recorded result is reproduced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cs_score.base.display import one_line
from cs_score.cli.destinations import print_text, write_text
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import CommandLine

if TYPE_CHECKING:
    from cs_score.verification.verifying import Verdict

DIFFERS: Final = 3
"""The exit status where a value differs."""

SHOWN: Final = 20
"""Values that differ, of one file, that are printed."""


def _run(line: CommandLine) -> int:
    """Verify, file by file; the exit status. Raises CsScoreError where something cannot be verified."""
    from cs_score.verification.inputs import NotFoundError
    from cs_score.verification.verifying import verify

    result, *files = line.words
    status = 0
    try:
        for verdict in verify(result, files):
            print_text("\n".join(_lines(verdict)))
            status = status if verdict.is_reproduced else DIFFERS
    except NotFoundError as error:
        for text in error.lines:
            write_text("stderr", f"cs-score: {one_line(f'{result}: {text}')}\n")
        return 1
    return status


def _lines(verdict: Verdict) -> list[str]:
    found = verdict.differences
    lines = [f"{verdict.file}: {difference}" for difference in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"{verdict.file}: ... and {len(found) - SHOWN} more")
    end = f"differs from its record in {_counted(len(found), 'value')}" if found else "reproduced"
    lines.append(f"{verdict.file}: {end} ({_counted(verdict.compared, verdict.unit)} compared)")
    lines += [f"{verdict.file}: note: {note}" for note in verdict.notes]
    return [one_line(text) for text in lines]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


FORM: Final = Form(
    "verify",
    (),
    (
        Parameter(
            "result",
            "A result as JSON: of the scorer, of cs-score score, of an evidence mode, leaderboard.json, "
            "batch.json or signature.json of a batch; or the folder of a batch, for all of these and its tables",
        ),
        Parameter(
            "files",
            "Files and folders in which inputs are looked for by their contents; what is not among them is looked for "
            "where it was",
            is_optional=True,
            is_repeated=True,
        ),
    ),
    sections=lambda: (
        (
            "Exit status",
            "0: reproduced; 3: a value differs; 1: an input is missing or changed, or the file is no result.",
        ),
    ),
    body=_run,
)
