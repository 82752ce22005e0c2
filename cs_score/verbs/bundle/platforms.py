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

from cs_score.pages.documents import page_of
from cs_score.verbs.bundle.scoring import defined_scores, score_submission
from cs_score.verbs.bundle.settings import FILE_NAME, Bundle, read_settings
from cs_score.verbs.bundle.submission import SubmissionError, find_submission, refuse_link

SCORES: Final = "scores.json"
DETAILS: Final = "detailed_results.html"


def score_for_codabench(program: str, inputs: str, outputs: str) -> int:
    """Score the submission that Codabench has unpacked, and return the exit status of the program.

    `program` is the folder of the scoring program; `inputs` has gold in `ref` and the submission in `res`. Into
    `outputs` go the scores and a page; of a submission that cannot be scored a page with one line, which standard error
    has as well, and no scores.
    """
    warnings.simplefilter("ignore")  # participants see standard error, and a warning may quote anything
    bundle = read_settings(os.path.join(program, FILE_NAME))
    try:
        submission = find_submission(os.path.join(inputs, "res"))
        aggregate = score_submission(bundle, os.path.join(inputs, "ref"), submission)
    except SubmissionError as error:
        _write(outputs, DETAILS, _page_of_line(str(error)))
        sys.stderr.write(f"{error}\n")
        return 1
    _write(outputs, DETAILS, page_of(aggregate))
    _write(outputs, SCORES, json.dumps(defined_scores(bundle, aggregate), indent=1))
    return 0


def _write(folder: str, name: str, text: str) -> None:
    """Write a text into a folder, which is made where it is not there."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def _page_of_line(line: str) -> str:
    """Return a page that says why a submission was not scored."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Not scored</title>\n</head>\n'
        f"<body>\n<h1>Not scored</h1>\n<p>{escape(line)}</p>\n</body>\n</html>\n"
    )


def evaluate_for_evalai(program: str, reference: str, submission: str) -> dict[str, Any]:
    """Score a submission for EvalAI, and return `{"result": [{split: {measure: score}}]}`.

    `program` is the folder of the evaluation script, `reference` the archive of gold, `submission` the file that was
    handed in. Raises SubmissionError with one line for what cannot be scored, also where a measure of the leaderboard
    has no value: EvalAI needs a number in each column.
    """
    warnings.simplefilter("ignore")
    bundle = read_settings(os.path.join(program, FILE_NAME))
    refuse_link(submission)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(reference) as archive:
            archive.extractall(folder)
        aggregate = score_submission(bundle, folder, submission)
    scores = defined_scores(bundle, aggregate)
    _refuse_undefined(bundle, scores)
    return {"result": [{bundle.split: scores}]}


def _refuse_undefined(bundle: Bundle, scores: dict[str, float]) -> None:
    """Raise SubmissionError where a measure of the leaderboard has no value."""
    undefined = [measure for measure in bundle.measures if measure not in scores]
    if undefined:
        raise SubmissionError(
            f"{', '.join(undefined)} has no value for this submission, and the leaderboard needs a number"
        )
