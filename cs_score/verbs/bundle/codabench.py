"""The bundle of a competition on Codabench, a site that scores the files of participants. Its organisers upload a
description, and archives with the gold standard, the scoring program, and what participants get at the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.verbs.bundle.archives import zip_archive
from cs_score.verbs.bundle.settings import Bundle
from cs_score.verbs.bundle.yaml_text import Value, yaml_text

LONGEST_KEY: Final = 36
"""Characters that Codabench allows for the key and the title of a column."""

_DECIMAL_PLACES: Final = 4
_SCORING_COMMAND: Final = "python3 /app/program/scoring.py /app/input/ /app/output/"
_TERMS_TEXT: Final = "Terms of participation, to be written by the organisers.\n"

SCRIPT: Final = "scoring.py"
"""The script of the scoring program."""

ARCHIVE_NAME: Final = "bundle.zip"
"""The archive to upload, which has all other files of the bundle."""


class Competition(Record):
    """A competition: the title, the day on which it starts, and the version of Python that scores."""

    title: str
    start: str
    python: str


def codabench_files(
    competition: Competition,
    settings: Bundle,
    gold_files: Mapping[str, bytes],
    program_files: Mapping[str, bytes],
    kit_files: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Return the contents of the files of a competition on Codabench: `{"competition.yaml": b"...", ...}`.

    Three arguments have contents of files by name, too: `gold_files` those of the gold standard, `program_files` those
    of the scoring program, and `kit_files` those for participants. `settings` are the task and the measures that the
    program computes. Raises UsageError for a measure whose name is too long for a column of the leaderboard.
    """
    description = yaml_text(_description(competition, settings))
    program_with_metadata = dict(program_files)
    program_with_metadata["metadata.yaml"] = yaml_text({"command": _SCORING_COMMAND}).encode()
    return {
        "competition.yaml": description.encode(),
        "overview.md": kit_files["README.md"],
        "terms.md": _TERMS_TEXT.encode(),
        "reference_data.zip": zip_archive(gold_files),
        "scoring_program.zip": zip_archive(program_with_metadata),
        "starting_kit.zip": zip_archive(kit_files),
    }


def _description(competition: Competition, settings: Bundle) -> dict[str, Value]:
    """Return the description of a competition for Codabench: its task, phase, leaderboard and pages.

    The keys are those of the file `competition.yaml`, which Codabench documents.
    """
    return {
        "version": 2,
        "title": competition.title,
        "description": f"{settings.task}, scored by cs-score",
        "image": "logo.png",
        "terms": "terms.md",
        "registration_auto_approve": False,
        "docker_image": f"python:{competition.python}",
        "make_programs_available": False,
        "make_input_data_available": False,
        "enable_detailed_results": True,
        "pages": [{"title": "Overview", "file": "overview.md"}],
        "tasks": [_task(settings)],
        "phases": [_phase(competition)],
        "leaderboards": [_leaderboard(settings)],
    }


def _task(settings: Bundle) -> dict[str, Value]:
    """Return the description of the only task of a competition: its name, gold and the scoring program."""
    return {
        "index": 0,
        "name": settings.task,
        "description": f"{settings.task}, scored by cs-score {settings.origin.version}",
        "is_public": False,
        "reference_data": "reference_data.zip",
        "scoring_program": "scoring_program.zip",
    }


def _phase(competition: Competition) -> dict[str, Value]:
    """Return the description of the only phase of a competition: its start, and how many files may be handed in."""
    return {
        "index": 0,
        "name": "Evaluation",
        "description": "Each submission is scored against gold that is not shown.",
        "start": competition.start,
        "max_submissions_per_day": 3,
        "max_submissions": 30,
        "execution_time_limit": 3600,
        "starting_kit": "starting_kit.zip",
        "tasks": [0],
    }


def _leaderboard(settings: Bundle) -> dict[str, Value]:
    """Return the description of the leaderboard. It has a column for each measure, and is sorted by the first one.

    Raises UsageError for a measure whose name is too long for a column.
    """
    columns: list[Value] = []
    for index, measure in enumerate(settings.measures):
        if len(measure) > LONGEST_KEY:
            raise UsageError(f"{measure} is longer than the {LONGEST_KEY} characters of a column: choose --measure")
        columns.append(
            {"title": measure, "key": measure, "index": index, "sorting": "desc", "precision": _DECIMAL_PLACES}
        )
    return {"title": "Results", "key": "main", "submission_rule": "Force_Last", "columns": columns}
