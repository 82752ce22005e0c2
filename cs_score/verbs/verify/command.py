"""The command `verify`, which scores the inputs of a recorded result again. A *verdict* on a file says which of its
values differ from those computed now; without differences the file is reproduced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cs_score.base.display import number_with_noun, one_line
from cs_score.base.documents import json_text
from cs_score.base.errors import InputError
from cs_score.base.runtime import Late
from cs_score.cli.core import FORCE, CommandLine, Parameter, Status, command
from cs_score.cli.output import STDOUT, print_text, write_text
from cs_score.tables.layout import tsv
from cs_score.verbs.verify.places import NotFoundError

if TYPE_CHECKING:
    from cs_score.verbs.verify import verifying
    from cs_score.verbs.verify.verifying import Verdict
else:
    verifying = Late("cs_score.verbs.verify.verifying")

MOST_VALUES: Final = 20
"""How many differing values of one file are printed."""


@command(
    "verify",
    [FORCE],
    Parameter(
        "result",
        "A result as JSON: of the scorer, of cs-score score, of a task of evidence, leaderboard.json, batch.json or "
        "signature.json of a batch; or the folder of a batch, for all of these and its tables",
    ),
    Parameter(
        "[files...]",
        "Files and folders in which inputs are looked for by their contents; what is not among them is looked for "
        "where it was",
    ),
    sections=[
        (
            "Exit status",
            "0: reproduced; 3: a value differs; 1: an input is missing or changed, or the file is no result.",
        )
    ],
    formats=("text", "json", "tsv"),
    example="result.json",
)
def verify(command_line: CommandLine) -> int:
    """Score the inputs of a recorded result again, and print for each file whether it is reproduced.

    Return the exit status. Raises CsScoreError if something cannot be verified.
    """
    result_file, *input_files = command_line.positional_words
    try:
        if command_line.format == "text":
            return _verify_file_by_file(command_line, result_file, input_files)
        return _verify_in_one_document(command_line, result_file, input_files)
    except NotFoundError as error:
        if command_line.format != "text":
            raise InputError(str(error), file=result_file) from None
        for text in error.lines:
            write_text("stderr", f"cs-score: {one_line(f'{result_file}: {text}')}\n")
        return Status.FAILED


def _verify_file_by_file(command_line: CommandLine, result_file: str, input_files: list[str]) -> int:
    """Score the inputs of a result again, and print the verdict on each file as soon as it is known.

    Return the exit status: 0 if all values are reproduced.
    """
    status = Status.DONE
    for verdict in verifying.verify(result_file, input_files, is_forced="--force" in command_line):
        print_text("\n".join(_lines_of_verdict(verdict)))
        if not verdict.is_reproduced:
            status = Status.CHECK_FAILED
    return status


def _verify_in_one_document(command_line: CommandLine, result_file: str, input_files: list[str]) -> int:
    """Score the inputs of a result again, and print the verdicts on all files together, as JSON or TSV.

    Return the exit status: 0 if all values are reproduced.
    """
    verification = verifying.verification(result_file, input_files, is_forced="--force" in command_line)
    if command_line.format == "json":
        STDOUT.write([json_text(verification).encode()])
    else:
        STDOUT.write(tsv(verifying.VERIFIED.table(verification)))
    return Status.DONE if verification.reproduced else Status.CHECK_FAILED


def _lines_of_verdict(verdict: Verdict) -> list[str]:
    """Return the lines that are printed about a verified file: values that differ, then the conclusion, then notes."""
    texts = [str(difference) for difference in verdict.differences[:MOST_VALUES]]
    hidden_count = len(verdict.differences) - MOST_VALUES
    if hidden_count > 0:
        texts.append(f"... and {hidden_count} more")
    texts.append(_conclusion(verdict))
    texts += [f"note: {note}" for note in verdict.notes]
    return [one_line(f"{verdict.file}: {text}") for text in texts]


def _conclusion(verdict: Verdict) -> str:
    """Return what a verdict says: `"reproduced (12 numbers compared)"`, `"differs from its record in 1 value ..."`."""
    compared = number_with_noun(verdict.compared, verdict.unit)
    if verdict.is_reproduced:
        return f"reproduced ({compared} compared)"
    return f"differs from its record in {number_with_noun(len(verdict.differences), 'value')} ({compared} compared)"
