"""The commands `bundle codabench` and `bundle evalai`, which pack a scorer and gold for evaluation platforms. A bundle
is what the organisers of a competition upload: the scoring program, the gold, and a starting kit for participants.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import write_folder
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.signature import Origin
from cs_score.cli.core import CommandLine, Option, Status
from cs_score.cli.output import print_text
from cs_score.cli.run_options import POLICIES, SCORING_SWITCHES
from cs_score.cli.shared_options import read_measures
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.tasks import COLD_START, mode_named
from cs_score.verbs.check.locking import conditions_of

if TYPE_CHECKING:
    from cs_score.verbs.bundle import codabench, contents, evalai, submission
    from cs_score.verbs.bundle import platform_scoring as scoring
    from cs_score.verbs.bundle import wheels as wheel_tools
    from cs_score.verbs.bundle.contents import SampleSubmission, StartingKit
    from cs_score.verbs.bundle.settings import Bundle
    from cs_score.verbs.bundle.wheels import Platform
else:
    codabench, contents = Late("cs_score.verbs.bundle.codabench"), Late("cs_score.verbs.bundle.contents")
    evalai, scoring = Late("cs_score.verbs.bundle.evalai"), Late("cs_score.verbs.bundle.platform_scoring")
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
_COMMON_OPTIONS: Final = "--measure --title --start --sample --wheels --python --platform"
_OPTIONS_FOR_RUNS: Final = f"{SCORING_SWITCHES} --policy {_COMMON_OPTIONS}"
_OPTIONS_FOR_EVIDENCE: Final = f"--gold {_COMMON_OPTIONS}"
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


def _usage_for_runs(more_options: str) -> VerbUsage:
    """Return how the command is called for Cold Start runs. `more_options` are the names of options of its platform."""
    form = _usage_of_bundle(f"{_OPTIONS_FOR_RUNS}{more_options}", _FILES_OF_RUNS)
    return form._replace(sections=[POLICIES])


def _verb_for_platform(more_options: str, summary: str) -> Verb:
    """Return the description of a command (a verb) that makes a bundle for a platform such as Codabench.

    A verb specifies which options and files its command takes for Cold Start runs and for evidence tasks.
    `more_options` holds the names of options that only this platform has, such as " --split"; it may be empty.
    `summary` is the first line of the help of the command.
    """
    return Verb(
        # This is a function because only commands for runs need the text; commands for evidence tasks save the work.
        usage_for_runs=partial(_usage_for_runs, more_options),
        usage_for_evidence=_usage_of_bundle(f"{_OPTIONS_FOR_EVIDENCE}{more_options}", _FILES_OF_EVIDENCE),
        own_options=_OWN_OPTIONS,
        sections=[_SHOWN_TO_PARTICIPANTS, _WHEELS],
        summary=summary,
        needs_output=True,
    )


def _usage_of_bundle(options: str, help_on_files: str) -> VerbUsage:
    """Return how a command that makes a bundle is called.

    `options` are the names of its options, separated by blanks, and `help_on_files` is its help on the words of the
    command line with the names of files.
    """
    return VerbUsage(
        options=options,
        formats="text json",
        files=help_on_files,
        example="-o bundle $GOLD",
        folder_format="files",  # with -o FOLDER the bundle is written as a folder of files
    )


class _BundleParts(NamedTuple):
    """The parts of every bundle: its settings, the files of gold by name, what participants get, and the first day."""

    settings: Bundle
    gold_files: Mapping[str, bytes]
    starting_kit: StartingKit
    first_day: str


# `Verb.command` makes the function below the command of the verb: it is called with the task and the command line.
@_verb_for_platform(
    more_options="", summary="Pack a scorer of {task} predictions for a competition on Codabench"
).command
def bundle_codabench(task: str, command_line: CommandLine) -> int:
    """Write the bundle of a competition on Codabench into the folder of -o, and return the exit status 0.

    Raises CsScoreError if gold, options or wheels are wrong or missing.
    """
    platform = _read_platform(command_line)
    bundle_parts = _read_parts(task, command_line)
    competition = codabench.Competition(
        title=bundle_parts.starting_kit.title, start=bundle_parts.first_day, python=platform.python
    )
    files = codabench.codabench_files(
        competition,
        bundle_parts.settings,
        gold_files=bundle_parts.gold_files,
        program_files=_make_program(task, command_line, bundle_parts, platform, codabench.SCRIPT),
        kit_files=bundle_parts.starting_kit.files_for_codabench(),
    )
    return _write_bundle(command_line, bundle_parts.settings, files, archive_name=codabench.ARCHIVE_NAME)


@_verb_for_platform(
    more_options=" --split", summary="Pack a scorer of {task} predictions for a challenge on EvalAI"
).command
def bundle_evalai(task: str, command_line: CommandLine) -> int:
    """Write the bundle of a challenge on EvalAI into the folder of -o, and return the exit status 0.

    Raises CsScoreError if gold, options or wheels are wrong or missing.
    """
    platform = _read_platform(command_line)
    bundle_parts = _read_parts(task, command_line)
    challenge = evalai.Challenge(
        title=bundle_parts.starting_kit.title,
        start=bundle_parts.first_day,
        file_suffixes=_suffixes_of_submissions(task),
    )
    files = evalai.evalai_files(
        challenge,
        bundle_parts.settings,
        gold_files=bundle_parts.gold_files,
        program_files=_make_program(task, command_line, bundle_parts, platform, evalai.SCRIPT),
        kit_files=bundle_parts.starting_kit.files_for_evalai(),
    )
    return _write_bundle(command_line, bundle_parts.settings, files, archive_name=evalai.ARCHIVE_NAME)


def _read_platform(command_line: CommandLine) -> Platform:
    """Return the platform and the version of Python on which the scorer will run, from --platform and --python.

    Raises UsageError for a Python that is too old.
    """
    platform = wheel_tools.Platform(python=command_line.text("--python"), platform_tag=command_line.text("--platform"))
    platform.check()
    return platform


def _read_parts(task: str, command_line: CommandLine) -> _BundleParts:
    """Read gold and options, and return the parts of the bundle that are the same on all platforms.

    Raises UsageError if the options are invalid or the folder of -o already exists. Raises InputError if gold cannot be
    read or the sample submission cannot be scored.
    """
    _refuse_existing_folder(command_line)
    first_day = _read_first_day(command_line)
    # The gold, with its paths on this machine, and the scoring options. There is no run.
    local_origin = conditions_of(task, command_line, message_if_run_given="a bundle has no run")
    sample = contents.sample_of(task, command_line.get("--sample"))
    measures = contents.leaderboard_measures(local_origin, read_measures(command_line))
    bundled_gold = contents.read_gold_files(local_origin)
    settings = contents.make_settings(bundled_gold.origin, measures, split=command_line.text("--split", "test"))
    _check_sample(task, command_line, local_origin=local_origin, bundle=settings)
    starting_kit = _make_starting_kit(task, command_line.get("--title") or task, settings, sample)
    return _BundleParts(
        settings=settings, gold_files=bundled_gold.files, starting_kit=starting_kit, first_day=first_day
    )


def _refuse_existing_folder(command_line: CommandLine) -> None:
    """Raise UsageError if the folder that -o names exists, even as a file or a link."""
    folder = command_line.folder or ""
    if os.path.lexists(folder):
        raise UsageError(f"{folder} exists; -o must name a new folder")


def _make_starting_kit(task: str, title: str, settings: Bundle, sample: SampleSubmission) -> StartingKit:
    """Return what participants get at the start of a competition with this title."""
    # `files` describes the files of predictions in words.
    submission_format = "a run of TAC KBP Cold Start" if task == COLD_START else mode_named(task).files
    return contents.StartingKit(
        title=title,
        settings=settings,
        sample=sample,
        submission_format=submission_format,
        wheels=contents.own_wheels(task),
    )


def _read_first_day(command_line: CommandLine) -> str:
    """Return the first day of the competition, which is the value of --start (`2027-03-01`), by default today.

    Raises UsageError for a wrong date.
    """
    text = command_line.get("--start")
    if text is None:
        today = datetime.datetime.now(datetime.UTC).date()
        return today.isoformat()
    has_form_of_date = re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None
    if has_form_of_date:
        with contextlib.suppress(ValueError):  # 2027-02-30 is no date
            return datetime.date.fromisoformat(text).isoformat()
    raise UsageError(f"--start {text}: a day is needed, such as 2027-03-01")


def _check_sample(task: str, command_line: CommandLine, *, local_origin: Origin, bundle: Bundle) -> None:
    """Raise InputError if the scorer in the bundle cannot score the organisers' sample submission.

    `local_origin` contains the paths of the gold files on this machine, and `bundle` their paths inside the bundle.
    """
    path = command_line.get("--sample")
    if path is None:
        return
    bundle_with_local_gold = replace(bundle, origin=local_origin)
    try:
        # The paths of the gold files are already complete, so no folder is prepended.
        scoring.score_submission(bundle_with_local_gold, gold_folder="", submission_file=path)
    except submission.SubmissionError as error:
        command = "cs-score score" if task == COLD_START else f"cs-score score {task}"
        remedy = f"score it by {command} to see why"
        raise InputError(f"this sample cannot be scored: {error}", file=path, remedy=remedy) from None


def _make_program(
    task: str, command_line: CommandLine, bundle_parts: _BundleParts, platform: Platform, script: str
) -> dict[str, bytes]:
    """Return the files of the program that scores submissions on a platform, by name: settings, wheels and `script`.

    Raises InputError, which names the wheel, if one is missing.
    """
    wheels = list(bundle_parts.starting_kit.wheels)
    wheels += contents.third_party_wheels(task, platform, command_line.get("--wheels"))
    return contents.program_files(bundle_parts.settings, wheels, platform, script)


def _suffixes_of_submissions(task: str) -> str:
    """Return the suffixes of the files that participants may submit, as EvalAI lists them: `.tab, .txt`."""
    if task == COLD_START:
        return ".tab, .txt, .tsv"
    return ", ".join(mode_named(task).endings)


def _write_bundle(command_line: CommandLine, settings: Bundle, files: Mapping[str, bytes], archive_name: str) -> int:
    """Write the files of a bundle into the folder of -o, print a summary, and return the exit status 0.

    `files` has the contents by name. An archive of all files is added under the name `archive_name`; organisers upload
    it. The folder appears with all files or not at all. Raises OutputError if it cannot be written.
    """
    folder = command_line.folder or ""
    files_with_logo = dict(files)
    files_with_logo["logo.png"] = contents.logo()
    content_by_path = contents.with_archive(files_with_logo, archive_name)
    _write_new_folder(folder, content_by_path)
    if command_line.format == "json":
        print_text(json_text(settings))
    else:
        archive_path = os.path.join(folder, archive_name)
        print_text(_summary(settings, archive_path, content_by_path[archive_name]))
    return Status.DONE


def _write_new_folder(folder: str, content_by_path: Mapping[str, bytes]) -> None:
    """Write files into a new folder, which is created with all files or not at all.

    The paths of the files may contain a subfolder, as in `templates/description.html`. Raises OutputError if writing
    fails.
    """
    subfolders: set[str] = set()
    files_to_write = []
    for path, content in content_by_path.items():
        subfolder, name = os.path.split(path)
        if subfolder:
            subfolders.add(subfolder)
        files_to_write.append((subfolder, name, [content]))
    write_folder(folder, sorted(subfolders), files_to_write)


def _summary(settings: Bundle, archive_path: str, archive: bytes) -> str:
    """Return lines about a bundle: the archive to upload with its size and hash, the measures, and the signature."""
    sha256 = hashlib.sha256(archive).hexdigest()
    measures = ", ".join(settings.measures)
    lines = [
        f"upload     {archive_path}, {len(archive):,} bytes, SHA-256 {sha256}",
        f"measures   {measures}; the first one ranks",
        f"signature  {settings.signature}",
    ]
    return "\n".join(lines)
