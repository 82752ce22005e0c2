"""What platforms call: Codabench starts a program between two folders, EvalAI calls a function with two files."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
import zipfile
from html import escape
from typing import Any, Final

from cs_score.analysis.aggregate import Aggregate
from cs_score.pages.making import page_of
from cs_score.verbs.bundle.platform_scoring import defined_scores, score_submission
from cs_score.verbs.bundle.settings import SETTINGS_FILE, Bundle, read_settings
from cs_score.verbs.bundle.submission import SubmissionError, find_submission, refuse_link

SCORES: Final = "scores.json"
DETAILS: Final = "detailed_results.html"


def score_for_codabench(program_folder: str, input_folder: str, output_folder: str) -> int:
    """Score the submission that Codabench has unpacked, and return the exit status: 0, or 1 if it cannot be scored.

    `program_folder` has the scoring program. `input_folder` has gold in `ref` and the submission in `res`. The scores
    and a page about them are written into `output_folder`. If the submission cannot be scored, only the page is
    written. It has one line with the reason, which is also printed on standard error.
    """
    # Participants see standard error, and a warning may quote anything.
    warnings.simplefilter("ignore")
    bundle = read_settings(os.path.join(program_folder, SETTINGS_FILE))
    gold_folder = os.path.join(input_folder, "ref")
    try:
        submission_file = find_submission(os.path.join(input_folder, "res"))
        aggregate = score_submission(bundle, gold_folder, submission_file)
    except SubmissionError as error:
        _write_file(output_folder, DETAILS, _page_on_failure(str(error)))
        sys.stderr.write(f"{error}\n")
        return 1
    _write_scores(output_folder, bundle, aggregate)
    return 0


def _write_scores(folder: str, bundle: Bundle, aggregate: Aggregate) -> None:
    """Write the page about a submission, and its scores as JSON by measure, into the folder that Codabench reads.

    `aggregate` holds the scores and the numbers of mistakes of the submission.
    """
    scores = defined_scores(bundle, aggregate)
    _write_file(folder, DETAILS, page_of(aggregate))
    _write_file(folder, SCORES, json.dumps(scores, indent=1))


def _write_file(folder: str, name: str, text: str) -> None:
    """Write a text into a file of a folder, which is made if it does not exist."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def _page_on_failure(reason: str) -> str:
    """Return an HTML page that says why a submission was not scored."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Not scored</title>\n</head>\n'
        f"<body>\n<h1>Not scored</h1>\n<p>{escape(reason)}</p>\n</body>\n</html>\n"
    )


def evaluate_for_evalai(program_folder: str, gold_archive: str, submission_file: str) -> dict[str, Any]:
    """Score a submission, and return its scores in the form of EvalAI: `{"result": [{split: {measure: score}}]}`.

    `program_folder` has the evaluation script, `gold_archive` is the zip archive of gold, and `submission_file` is the
    file that was handed in. Raises SubmissionError, whose text is one line, if the submission cannot be scored, and if
    a measure of the leaderboard has no value: EvalAI needs a number in each column.
    """
    # Participants see standard error, and a warning may quote anything.
    warnings.simplefilter("ignore")
    bundle = read_settings(os.path.join(program_folder, SETTINGS_FILE))
    refuse_link(submission_file)
    aggregate = _score_against_archive(bundle, gold_archive, submission_file)
    scores = defined_scores(bundle, aggregate)
    _refuse_undefined(bundle, scores)
    return {"result": [{bundle.split: scores}]}


def _score_against_archive(bundle: Bundle, gold_archive: str, submission_file: str) -> Aggregate:
    """Score a submission against the gold in a zip archive, and return the scores that its participant may see.

    The files are unpacked into a temporary folder. Raises SubmissionError if the submission cannot be scored.
    """
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(gold_archive) as gold_files:
            gold_files.extractall(folder)
        return score_submission(bundle, folder, submission_file)


def _refuse_undefined(bundle: Bundle, scores: dict[str, float]) -> None:
    """Raise SubmissionError if a measure of the leaderboard has no value; `scores` are the values by measure."""
    undefined_measures = [measure for measure in bundle.measures if measure not in scores]
    if undefined_measures:
        measures = ", ".join(undefined_measures)
        raise SubmissionError(f"{measures} has no value for this submission, and the leaderboard needs a number")
