"""The bundle of a challenge on EvalAI, a site that scores the files of participants. Its organisers upload a
configuration, the gold standard as an annotation file, and the evaluation script, which computes the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from cs_score.base.records import Record
from cs_score.verbs.bundle.archives import zip_archive
from cs_score.verbs.bundle.settings import Bundle
from cs_score.verbs.bundle.yaml_text import Value, yaml_text

SCRIPT: Final = "main.py"
"""The module of the evaluation script that EvalAI calls."""

ARCHIVE_NAME: Final = "challenge.zip"
"""The archive to upload, which has all other files of the bundle."""

PHASE: Final = "evaluation"
"""The code name of the only phase."""

_DECIMAL_PLACES: Final = 4
_ANNOTATIONS_FILE: Final = "annotations/reference.zip"
_PROGRAM_FILE: Final = "evaluation_script.zip"
_END_DATE: Final = "2099-12-31 23:59:59"
_PAGES: Final = {
    "templates/description.html": "<p>{title}</p>\n",
    "templates/evaluation_details.html": "<p>Each submission is scored by cs-score. {measure} ranks.</p>\n",
    "templates/phase_description.html": "<p>Each submission is scored against gold that is not shown.</p>\n",
    "templates/submission_guidelines.html": "<p>Hand in one file in the form of the starting kit.</p>\n",
    "templates/terms_and_conditions.html": "<p>Terms of participation, to be written by the organisers.</p>\n",
}
"""Pages of a challenge, to be completed by the organisers."""

_PHASE_SPLIT: Final[Mapping[str, Value]] = {
    "challenge_phase_id": 1,
    "leaderboard_id": 1,
    "dataset_split_id": 1,
    "visibility": 3,
    "leaderboard_decimal_precision": _DECIMAL_PLACES,
    "is_leaderboard_order_descending": True,
}
"""The only pair of a phase and data that are scored in it: its scores go to the leaderboard, which everybody sees."""


class Challenge(Record):
    """A challenge, with its title, its first day, and the suffixes of the files that participants may hand in."""

    title: str
    start: str
    file_suffixes: str


def evalai_files(
    challenge: Challenge,
    settings: Bundle,
    gold_files: Mapping[str, bytes],
    program_files: Mapping[str, bytes],
    kit_files: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Return the contents of the files of a challenge on EvalAI: `{"challenge_config.yaml": b"...", ...}`.

    Three arguments have contents of files by name, too: `gold_files` those of the gold standard, `program_files` those
    of the evaluation script, and `kit_files` those for participants. `settings` are the task and the measures that the
    script computes.
    """
    program_package = dict(program_files)
    program_package["__init__.py"] = b"from .main import evaluate\n"
    files = {
        "challenge_config.yaml": yaml_text(_description(challenge, settings)).encode(),
        _ANNOTATIONS_FILE: zip_archive(gold_files),
        _PROGRAM_FILE: zip_archive(program_package),
        "starting_kit.zip": zip_archive(kit_files),
    }
    for name, text in _PAGES.items():
        files[name] = text.format(title=escape(challenge.title), measure=escape(settings.measure)).encode()
    return files


def _description(challenge: Challenge, settings: Bundle) -> dict[str, Value]:
    """Return the description of a challenge for EvalAI: its phase, its leaderboard and its pages.

    The keys are those of the file `challenge_config.yaml`, which EvalAI documents.
    """
    return {
        "title": challenge.title,
        "short_description": f"{settings.task}, scored by cs-score",
        "description": "templates/description.html",
        "evaluation_details": "templates/evaluation_details.html",
        "terms_and_conditions": "templates/terms_and_conditions.html",
        "submission_guidelines": "templates/submission_guidelines.html",
        "image": "logo.png",
        "evaluation_script": _PROGRAM_FILE,
        "published": False,
        "start_date": _first_moment(challenge),
        "end_date": _END_DATE,
        "leaderboard": [{"id": 1, "schema": _leaderboard_schema(settings)}],
        "challenge_phases": [_phase(challenge)],
        "dataset_splits": [{"id": 1, "name": settings.split, "codename": settings.split}],
        "challenge_phase_splits": [dict(_PHASE_SPLIT)],
    }


def _first_moment(challenge: Challenge) -> str:
    """Return the beginning of the day on which a challenge starts, `2027-03-01 00:00:00`."""
    return f"{challenge.start} 00:00:00"


def _leaderboard_schema(settings: Bundle) -> dict[str, Value]:
    """Return the description of the leaderboard: a column for each measure, and the measure by which it is sorted."""
    metadata: dict[str, Value] = {}
    for measure in settings.measures:
        metadata[measure] = {"sort_ascending": False, "description": measure}
    return {"labels": list(settings.measures), "default_order_by": settings.measure, "metadata": metadata}


def _phase(challenge: Challenge) -> dict[str, Value]:
    """Return the description of the only phase of a challenge: its time, and how many files may be handed in."""
    return {
        "id": 1,
        "name": "Evaluation",
        "description": "templates/phase_description.html",
        "leaderboard_public": True,
        "is_public": True,
        "is_submission_public": False,
        "start_date": _first_moment(challenge),
        "end_date": _END_DATE,
        "test_annotation_file": _ANNOTATIONS_FILE,
        "codename": PHASE,
        "max_submissions_per_day": 3,
        "max_submissions_per_month": 30,
        "max_submissions": 30,
        "allowed_submission_file_types": challenge.file_suffixes,
    }
