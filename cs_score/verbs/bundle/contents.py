"""The parts that the bundles of all platforms have in common: the gold, the scoring program with its settings, and the
starting kit, which participants get at the start.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Final

from cs_score.base.documents import json_text
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.base.signature import Origin
from cs_score.base.sources import InputDigest
from cs_score.coldstart.options import EDITIONS, LATEST
from cs_score.measures import LDC_MEAN, measure_names, parse_measure, select_names
from cs_score.tasks import COLD_START, TASKS
from cs_score.verbs.bundle.archives import zip_archive
from cs_score.verbs.bundle.settings import SETTINGS_FILE, Bundle
from cs_score.verbs.bundle.wheels import (
    Platform,
    Wheel,
    find_wheels,
    is_requirement_of,
    pack_installed,
    requirements_of,
)

PACKAGE: Final = "cs-score"
_PIP_EXTRAS_BY_TASK: Final = {"r4c": ("r4c",)}
"""The extras of cs-score that a task needs, beside the one that makes pages."""
_PIP_EXTRA_OF_PAGES: Final = "report"
"""The extra of cs-score that makes pages."""


class SampleSubmission(Record):
    """An example of a submission, which shows participants the form: the name of its file, and its content."""

    name: str
    content: bytes


FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "coldstart": (
        "run.tab",
        "CSSF17_ENG_0123456789\tper:children\tMYRUN\tENG_DOC_1:1-20\tBo\tPER\tENG_DOC_1:3-4\t0.9\t:Entity_1\n",
    ),
    "scifact": (
        "predictions.jsonl",
        '{"id": 1, "evidence": {"101": {"sentences": [0, 2], "label": "SUPPORT"}}}\n{"id": 2, "evidence": {}}\n',
    ),
    "claims": (
        "predictions.jsonl",
        '{"id": 1, "label": "SUPPORT", "evidence": {"101": [{"sentences": [4], "label": "SUPPORT"}]}}\n',
    ),
    "r4c": (
        "predictions.json",
        '{"answer": {}, "sp": {}, "re": {"q1": [["Title", 0, ["subject", "relation", "object"]]]}}\n',
    ),
    "pool": ("answers.csv", "unit,answer\nq1,Paris\n"),
    "hotpotqa": ("predictions.json", '{"answer": {"q1": "yes"}, "sp": {"q1": [["Title", 0]]}}\n'),
}
"""Invented submissions that show the form of a task: the name of the file, and what it holds."""


def sample_of(task: str, path: str | None) -> SampleSubmission:
    """Return the sample submission that participants get with the starting kit.

    It is the organisers' file at `path` or, if this is None, an invented submission of the task. Raises UsageError if
    there is no invented submission.
    """
    if path is not None:
        with open(path, "rb") as file:
            return SampleSubmission(os.path.basename(path), file.read())
    if task not in FORMS:
        raise UsageError(f"the starting kit needs a submission that shows the form of {task}: give --sample FILE")
    name, text = FORMS[task]
    return SampleSubmission(name, text.encode())


# ---- Settings and gold


def leaderboard_measures(origin: Origin, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the measures that are columns of the leaderboard. The first one ranks the submissions.

    `patterns` such as `SF-*` choose among the measures of the task, and the first measure that matches the first
    pattern ranks. Without patterns, all measures that exist for this gold standard are returned, and the headline
    measure ranks. Raises UsageError for a pattern that no measure matches.
    """
    possible_measures = _possible_measures(origin)
    ranking_measure = origin.measure  # the headline measure
    if patterns:
        first_pattern = patterns[0]
        ranking_measure = select_names(possible_measures, [first_pattern])[0]
    columns = [ranking_measure]
    for measure in select_names(possible_measures, patterns):
        if measure != ranking_measure:
            columns.append(measure)
    return tuple(columns)


def _possible_measures(origin: Origin) -> list[str]:
    """Return the measures that can be computed for a task and its gold standard.

    In Cold Start, measures about LDC queries need such queries, and some editions of the scorer compute no average
    precision. Measures that cannot be computed are left out.
    """
    measures = measure_names(origin.task)
    if origin.task != COLD_START:
        return list(measures)
    # The headline measure is from the table of LDC queries if and only if the gold standard has such queries.
    has_ldc_queries = parse_measure(origin.measure).table == LDC_MEAN
    edition_name = origin.options.get("follow") or LATEST.name
    has_rankings = EDITIONS[edition_name].has_rankings
    return [measure for measure in measures if _is_possible(measure, has_ldc_queries, has_rankings)]


def _is_possible(measure: str, has_ldc_queries: bool, has_rankings: bool) -> bool:
    """Return whether a measure of Cold Start, such as `LDC-MEAN-ALL-Macro-F1` or `SF-AP`, can be computed.

    Some measures need LDC queries, and average precision needs an edition of the scorer that ranks nodes.
    """
    if measure.startswith("LDC-") and not has_ldc_queries:
        return False
    return has_rankings or not measure.endswith("-AP")


class BundledGold(Record):
    """The files of gold by their names in an archive, and the inputs and options of scoring.

    `origin` names the files of gold as the archive does.
    """

    files: Mapping[str, bytes]
    origin: Origin


def read_gold_files(origin: Origin) -> BundledGold:
    """Return the contents of the gold files, each under a unique name without a folder.

    `a/gold.jsonl` and `b/gold.jsonl` get the names `gold.jsonl` and `1-gold.jsonl`. The inputs of the returned origin
    have the same names.
    """
    files: dict[str, bytes] = {}
    inputs: list[InputDigest] = []
    for gold_file in origin.inputs:
        name = os.path.basename(gold_file.name)
        if name in files:
            name = f"{len(files)}-{name}"
        with open(gold_file.name, "rb") as source:
            files[name] = source.read()
        inputs.append(replace(gold_file, name=name))
    renamed_origin = replace(origin, inputs=tuple(inputs))
    return BundledGold(files=files, origin=renamed_origin)


def make_settings(origin: Origin, measures: Sequence[str], split: str) -> Bundle:
    """Return the settings of the scoring program of a bundle.

    The settings are the options and gold files in `origin`, and the measures of the leaderboard. Submissions are ranked
    by the first measure. `split` is the name of the part of the data that is scored, such as "test".
    """
    ranking_measure = measures[0]
    origin_with_measure = replace(origin, measure=ranking_measure)
    return Bundle(
        task=origin.task,
        measure=ranking_measure,
        signature=str(origin_with_measure.signature),
        origin=origin_with_measure,
        measures=tuple(measures),
        split=split,
    )


# ---- The scoring program


def own_wheels(task: str) -> list[Wheel]:
    """Return wheels (files for pip) of cs-score and, if the task comes from another package, of that package.

    They are made from the installed packages, since a package index may not have these versions.
    """
    wheels = [pack_installed(PACKAGE, ["cs_score"])]
    external_task = TASKS.offer_by_task.get(task)
    if external_task is not None:
        # The path leads to the object that scores the task: `cs_score_fever.mode:FEVER`.
        module_path = external_task.mode_path.partition(":")[0]
        top_level_module = module_path.partition(".")[0]
        wheels.append(pack_installed(external_task.package, [top_level_module]))
    return wheels


def third_party_wheels(task: str, target: Platform, folder: str | None) -> list[Wheel]:
    """Return wheels (files for pip) of all other packages that a task needs to score and display submissions.

    The wheels are compatible with the platform `target`. They are taken from `folder`, or from pip's index if `folder`
    is None. Raises InputError, with the name of the wheel, if a wheel is missing.
    """
    target.check()
    extras = [_PIP_EXTRA_OF_PAGES]
    extras += _PIP_EXTRAS_BY_TASK.get(task, ())
    requirements = requirements_of(PACKAGE, extras)
    external_task = TASKS.offer_by_task.get(task)  # an offer: the task and the package that has it
    if external_task is not None:
        # The task comes from another package. That package requires cs-score, which is packed from its installation.
        for requirement in requirements_of(external_task.package):
            if not is_requirement_of(requirement, PACKAGE):
                requirements.append(requirement)
    return find_wheels(requirements, target, folder)


def program_files(settings: Bundle, wheels: Iterable[Wheel], target: Platform, script: str) -> dict[str, bytes]:
    """Return the contents of the files of a scoring program by name, such as `{"bundle.json": b"...", ...}`.

    The files are the settings, the wheels, a script that installs the wheels, and the script that the platform calls.
    `script` is the name of this last file.
    """
    version_as_tuple = target.python.replace(".", ", ")  # 3.11 is (3, 11) in the script
    installer = _read_template("install_wheels.py").replace("@PYTHON@", version_as_tuple)
    program = {
        SETTINGS_FILE: json_text(settings).encode(),
        "install_wheels.py": installer.encode(),
        script: _read_template(script).encode(),
    }
    for wheel in wheels:
        program[f"wheels/{wheel.name}"] = wheel.content
    return program


def _read_template(name: str) -> str:
    """Return the text of a script among the templates of this package, such as "main.py"."""
    template = files("cs_score.verbs.bundle") / "templates" / f"{name}.txt"
    return template.read_text("utf-8")


# ---- What participants get


class StartingKit(Record):
    """What participants get at the start: how to hand in, a sample submission, and the wheels of the scorer.

    `submission_format` is a sentence that describes the files to hand in. `wheels` holds the wheels that are not
    available from a package index.
    """

    title: str
    settings: Bundle
    sample: SampleSubmission
    submission_format: str
    wheels: Sequence[Wheel]

    def files_for_codabench(self) -> dict[str, bytes]:
        """Return the contents of the kit's files by name, for Codabench.

        There participants hand in archives, and see a page about their submission.
        """
        name = self.sample.name
        how_to_hand_in = f"Hand in a zip archive with one file in the form of {name}, as submission.zip is."
        sentences_on_results = (
            "You see the scores with intervals, and how many mistakes of each kind the whole submission has, from 10 "
            "on. A measure that has no value for your submission is not shown."
        )
        content_by_name = self._files_of_all_platforms(how_to_hand_in, sentences_on_results)
        content_by_name["submission.zip"] = zip_archive({name: self.sample.content})
        return content_by_name

    def files_for_evalai(self) -> dict[str, bytes]:
        """Return the contents of the kit's files by name, for EvalAI.

        There participants hand in single files, and see only the scores.
        """
        how_to_hand_in = f"Hand in one file in the form of {self.sample.name}."
        sentences_on_results = "You see the scores. A submission for which one of the measures has no value is refused."
        return self._files_of_all_platforms(how_to_hand_in, sentences_on_results)

    def _files_of_all_platforms(self, how_to_hand_in: str, sentences_on_results: str) -> dict[str, bytes]:
        """Return the files of the starting kit, by name: a description, the sample submission, and the wheels.

        Two parts of the description differ between platforms: the sentence `how_to_hand_in`, and
        `sentences_on_results`, which describe what the platform shows to participants after a submission.
        """
        version = self.settings.origin.version
        measures = ", ".join(self.settings.measures)
        wheel_names = " ".join([wheel.name for wheel in self.wheels])
        text = (
            f"# {self.title}\n\n"
            f"{how_to_hand_in} Each submission is scored by cs-score {version}.\n\n"
            f"Form: {self.submission_format}\n\n"
            f"Measures: {measures}. {self.settings.measure} ranks.\n\n"
            f"{sentences_on_results}\n\n"
            f"To score on data that you have: pip install {wheel_names}, then cs-score help score "
            f"{self.settings.task}.\n"
        )
        content_by_name = {"README.md": text.encode(), self.sample.name: self.sample.content}
        for wheel in self.wheels:
            content_by_name[wheel.name] = wheel.content
        return content_by_name


def logo() -> bytes:
    """Return a blue square as a PNG image, which the organisers should replace with their logo."""
    size = 128
    bits_per_sample = 8
    color_type = 2  # red, green and blue
    # The zeros select the only methods of compression and filtering, and no interlacing.
    header = struct.pack(">IIBBBBB", size, size, bits_per_sample, color_type, 0, 0, 0)
    blue = bytes((31, 90, 140))
    row = b"\x00" + blue * size  # each row begins with the number of its filter; 0 means none
    pixels = zlib.compress(row * size)
    chunks = [_png_chunk(b"IHDR", header), _png_chunk(b"IDAT", pixels), _png_chunk(b"IEND", b"")]
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + b"".join(chunks)


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a part of a PNG file with its length and its checksum."""
    length = struct.pack(">I", len(content))
    checksum = struct.pack(">I", zlib.crc32(kind + content))
    return length + kind + content + checksum


def with_archive(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """Return files (contents by name) together with a zip archive of all of them, which is called `name`."""
    files_with_archive = dict(files)
    files_with_archive[name] = zip_archive(files)
    return files_with_archive
