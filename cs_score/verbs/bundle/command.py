"""The commands `bundle codabench` and `bundle evalai`, which pack a scorer and gold for evaluation platforms."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import write_folder
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.signature import Origin
from cs_score.cli.core import Line, Option, Status
from cs_score.cli.options import POLICIES, SCORING, read_measures
from cs_score.cli.output import print_text
from cs_score.cli.verb import Verb, VerbForm
from cs_score.tasks import COLD_START, mode_named
from cs_score.verbs.check.locking import conditions_of

if TYPE_CHECKING:
    from cs_score.verbs.bundle import codabench, contents, evalai, scoring, submission
    from cs_score.verbs.bundle import wheels as wheel_tools
    from cs_score.verbs.bundle.contents import StartingKit
    from cs_score.verbs.bundle.settings import Bundle
    from cs_score.verbs.bundle.wheels import Platform
else:
    codabench, contents = Late("cs_score.verbs.bundle.codabench"), Late("cs_score.verbs.bundle.contents")
    evalai, scoring = Late("cs_score.verbs.bundle.evalai"), Late("cs_score.verbs.bundle.scoring")
    submission, wheel_tools = Late("cs_score.verbs.bundle.submission"), Late("cs_score.verbs.bundle.wheels")

_OWN_OPTIONS: Final = (
    Option("--platform NAME", "Where the scorer will run, as wheels name it", "manylinux2014_x86_64"),
    Option("--python VERSION", "The Python that the scorer will run on, 3.11 or later", "3.11"),
    Option("--sample FILE", "The sample submission of the starting kit", "an invented one that shows the form"),
    Option("--split NAME", "What EvalAI calls the data, in the result and on the leaderboard", "test"),
    Option("--start DATE", "The first day, such as 2027-03-01", "today"),
    Option("--title TEXT", "The title of the competition", "the name of the task"),
    Option("--wheels FOLDER", "Take the wheels of other packages from this folder alone", "pip finds them"),
)
_WORDS: Final = "--measure --title --start --sample --wheels --python --platform"
_OF_RUNS: Final = f"{SCORING} --policy {_WORDS}"
_OF_EVIDENCE: Final = f"--gold {_WORDS}"
_FILES_OF_RUNS: Final = "The query files (*.xml, perhaps compressed) and the assessments, in any order"
_FILES_OF_EVIDENCE: Final = "Gold, where --gold does not name it"
_WHEELS: Final = (
    "Wheels",
    "Packed are cs-score itself, as it is installed, and wheels of all that it needs, which pip finds. The scorer "
    "needs no network then.",
)
_SHOWN_TO_PARTICIPANTS: Final = (
    "What participants see",
    "Scores with intervals, and how many mistakes of each kind a submission has, from 10 on; of one that cannot be "
    "scored a line that says nothing of gold.",
)


def _verb(more_options: str, summary: str) -> Verb:
    """Return the verb for a platform. `more_options` are names of options, `summary` is the first line of its help."""
    return Verb(
        runs=VerbForm(
            f"{_OF_RUNS}{more_options}", "text json", _FILES_OF_RUNS, [POLICIES], "-o bundle $GOLD", folder="files"
        ),
        evidence=VerbForm(
            f"{_OF_EVIDENCE}{more_options}", "text json", _FILES_OF_EVIDENCE, (), "-o bundle $GOLD", folder="files"
        ),
        own_options=_OWN_OPTIONS,
        sections=[_SHOWN_TO_PARTICIPANTS, _WHEELS],
        summary=summary,
        needs_output=True,
    )


class _Parts(NamedTuple):
    """The parts of every bundle: the settings, the files of gold by name, the starting kit, and the first day."""

    settings: Bundle
    gold: Mapping[str, bytes]
    kit: StartingKit
    start: str


@_verb("", "Pack a scorer of {task} predictions for a competition on Codabench").command
def bundle_codabench(task: str, line: Line) -> int:
    """Write the bundle of a competition on Codabench. Return 0.

    Raises CsScoreError if gold, options or wheels are wrong or missing.
    """
    target = _target(line)
    parts = _parts(task, line)
    program = _program(task, line, parts, target, codabench.SCRIPT)
    competition = codabench.Competition(parts.kit.title, parts.start, target.python)
    kit = parts.kit.files_for_codabench()
    files = codabench.codabench_files(competition, parts.settings, parts.gold, program, kit)
    return _deliver(line, parts.settings, files, codabench.UPLOADED)


@_verb(" --split", "Pack a scorer of {task} predictions for a challenge on EvalAI").command
def bundle_evalai(task: str, line: Line) -> int:
    """Write the bundle of a challenge on EvalAI. Return 0.

    Raises CsScoreError if gold, options or wheels are wrong or missing.
    """
    target = _target(line)
    parts = _parts(task, line)
    program = _program(task, line, parts, target, evalai.SCRIPT)
    challenge = evalai.Challenge(parts.kit.title, parts.start, _endings(task))
    files = evalai.evalai_files(challenge, parts.settings, parts.gold, program, parts.kit.files_for_evalai())
    return _deliver(line, parts.settings, files, evalai.UPLOADED)


def _target(line: Line) -> Platform:
    """Return the platform and the version of Python for the scorer. Raises UsageError for a Python that is too old."""
    target = wheel_tools.Platform(line.text("--python"), line.text("--platform"))
    target.check()
    return target


def _parts(task: str, line: Line) -> _Parts:
    """Read gold and options, and return the parts of the bundle that do not depend on the platform.

    Raises UsageError for wrong options and if the folder of -o exists, and InputError if gold cannot be read or the
    sample submission cannot be scored.
    """
    folder = line.folder or ""
    if os.path.lexists(folder):
        raise UsageError(f"{folder} exists; -o must name a new folder")
    start = _start(line)
    conditions = conditions_of(task, line, refusal="a bundle has no run")
    sample = contents.sample_of(task, line.get("--sample"))
    measures = contents.leaderboard_measures(conditions, read_measures(line))
    reference = contents.read_reference(conditions)
    split = line.text("--split", "test")
    settings = contents.make_settings(reference.origin, measures, split)
    _check_sample(task, line, conditions, settings)
    kit = contents.StartingKit(
        title=line.get("--title") or task,
        settings=settings,
        sample=sample,
        form="a run of TAC KBP Cold Start" if task == COLD_START else mode_named(task).files,
        wheels=contents.own_wheels(task),
    )
    return _Parts(settings, reference.files, kit, start)


def _start(line: Line) -> str:
    """Return the first day of the competition as YYYY-MM-DD, by default today. Raises UsageError for a wrong date."""
    text = line.get("--start")
    if text is None:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise UsageError(f"--start {text}: a day is needed, such as 2027-03-01")


def _check_sample(task: str, line: Line, conditions: Origin, settings: Bundle) -> None:
    """Raise InputError if the scorer of the bundle could not score the organisers' sample submission."""
    path = line.get("--sample")
    if path is None:
        return
    try:
        scoring.score_submission(replace(settings, origin=conditions), "", path)
    except submission.SubmissionError as error:
        command = f"cs-score score {task}" if task != COLD_START else "cs-score score"
        remedy = f"score it by {command} to see why"
        raise InputError(f"this sample cannot be scored: {error}", file=path, remedy=remedy) from None


def _program(task: str, line: Line, parts: _Parts, target: Platform, script: str) -> dict[str, bytes]:
    """Return the files of the scoring program by name. Raises InputError, which names the wheel, if one is missing."""
    wheels = list(parts.kit.wheels)
    wheels += contents.third_party_wheels(task, target, line.get("--wheels"))
    return contents.program_files(parts.settings, wheels, target, script)


def _endings(task: str) -> str:
    """Return the endings of the files that participants may submit, as EvalAI lists them."""
    if task == COLD_START:
        return ".tab, .txt, .tsv"
    return ", ".join(mode_named(task).endings)


def _deliver(line: Line, settings: Bundle, files: Mapping[str, bytes], archive_name: str) -> int:
    """Write the files of a bundle and the archive to upload into the folder of -o, and print a summary. Return 0.

    The folder appears with all files or not at all. Raises OutputError.
    """
    folder = line.folder or ""
    content_by_path = contents.with_archive({**files, "logo.png": contents.logo()}, archive_name)
    subfolders: set[str] = set()
    files_to_write = []
    for path, content in content_by_path.items():
        subfolder, name = os.path.split(path)
        if subfolder:
            subfolders.add(subfolder)
        files_to_write.append((subfolder, name, [content]))
    write_folder(folder, sorted(subfolders), files_to_write)
    if line.format == "json":
        print_text(json_text(settings))
        return Status.DONE
    archive = content_by_path[archive_name]
    sha256 = hashlib.sha256(archive).hexdigest()
    lines = [
        f"upload     {os.path.join(folder, archive_name)}, {len(archive):,} bytes, SHA-256 {sha256}",
        f"measures   {', '.join(settings.measures)}; the first one ranks",
        f"signature  {settings.signature}",
    ]
    print_text("\n".join(lines))
    return Status.DONE
