"""What the bundles of all platforms have in common: gold, the scoring program, the starting kit, the texts."""

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
from cs_score.measures.registry import LDC_MEAN, names, parse, select_names
from cs_score.tasks import COLD_START, TASKS
from cs_score.verbs.bundle.archives import zip_archive
from cs_score.verbs.bundle.settings import FILE_NAME, Bundle
from cs_score.verbs.bundle.wheels import (
    Platform,
    Wheel,
    find_wheels,
    is_requirement_of,
    pack_installed,
    requirements_of,
)

PACKAGE: Final = "cs-score"
_EXTRAS: Final = {"r4c": ("r4c",)}
"""The extras of cs-score that a task needs, beside the one that makes pages."""
_EXTRA_OF_PAGES: Final = "report"
"""The extra of cs-score that makes pages."""


class SampleSubmission(Record):
    """A submission that shows the form: the name of its file, and its contents."""

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
    """Return the sample submission of a starting kit: a file of the organisers, else an invented one.

    Raises UsageError for a task without an invented one.
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
    """Return the columns of the leaderboard, the measure first that ranks.

    `patterns` choose among the measures of the task; the first one ranks. Without them they are all that there can be
    for this gold, and the headline measure ranks. Raises UsageError for a pattern that no measure matches.
    """
    possible_measures = _possible_measures(origin)
    headline = select_names(possible_measures, patterns[:1])[0] if patterns else origin.measure
    columns = [headline]
    for measure in select_names(possible_measures, patterns):
        if measure != headline:
            columns.append(measure)
    return tuple(columns)


def _possible_measures(origin: Origin) -> list[str]:
    """Return the measures of a task; for Cold Start only the ones that queries and edition allow."""
    measures = list(names(origin.task))
    if origin.task != COLD_START:
        return measures
    edition = EDITIONS[origin.options.get("follow") or LATEST.name]
    headline = parse(origin.measure)
    if headline.table != LDC_MEAN:
        measures = [measure for measure in measures if not measure.startswith("LDC-")]
    if not edition.has_rankings:
        measures = [measure for measure in measures if not measure.endswith("-AP")]
    return measures


class ReferenceData(Record):
    """The files of gold by their names in an archive, and what scores depend on with the same names."""

    files: Mapping[str, bytes]
    origin: Origin


def read_reference(origin: Origin) -> ReferenceData:
    """Read the files of gold, and give them names that are different also where they lay in several folders."""
    files: dict[str, bytes] = {}
    inputs: list[InputDigest] = []
    for file in origin.inputs:
        name = os.path.basename(file.name)
        if name in files:
            name = f"{len(files)}-{name}"
        with open(file.name, "rb") as opened:
            files[name] = opened.read()
        inputs.append(replace(file, name=name))
    return ReferenceData(files, replace(origin, inputs=tuple(inputs)))


def make_settings(origin: Origin, measures: Sequence[str], split: str) -> Bundle:
    """Return the settings of the scoring program."""
    of_headline = replace(origin, measure=measures[0])
    return Bundle(
        task=origin.task,
        measure=measures[0],
        signature=str(of_headline.signature),
        origin=of_headline,
        measures=tuple(measures),
        split=split,
    )


# ---- The scoring program


def own_wheels(task: str) -> list[Wheel]:
    """Return the wheels that no index has: of cs-score, and of the package that a task from outside comes with."""
    wheels = [pack_installed(PACKAGE, ["cs_score"])]
    offer = TASKS.offer_by_task.get(task)
    if offer is not None:
        module = offer.mode_path.partition(":")[0].partition(".")[0]
        wheels.append(pack_installed(offer.package, [module]))
    return wheels


def third_party_wheels(task: str, target: Platform, folder: str | None) -> list[Wheel]:
    """Return the wheels of other packages that score a task and make its page.

    They come from pip's index, or from a folder. Raises InputError that names a missing wheel.
    """
    target.check()
    extras = [_EXTRA_OF_PAGES]
    extras += _EXTRAS.get(task, ())
    requirements = requirements_of(PACKAGE, extras)
    offer = TASKS.offer_by_task.get(task)
    if offer is not None:
        requirements += [need for need in requirements_of(offer.package) if not is_requirement_of(need, PACKAGE)]
    return find_wheels(requirements, target, folder)


def program_files(settings: Bundle, wheels: Iterable[Wheel], target: Platform, script: str) -> dict[str, bytes]:
    """Return the files of a scoring program: what installs the wheels, the script that the platform calls, settings."""
    version = target.python.replace(".", ", ")
    program = {
        FILE_NAME: json_text(settings).encode(),
        "install_wheels.py": _template("install_wheels.py").replace("@PYTHON@", version).encode(),
        script: _template(script).encode(),
    }
    for wheel in wheels:
        program[f"wheels/{wheel.name}"] = wheel.content
    return program


def _template(name: str) -> str:
    """Return a script of the package's templates."""
    return (files("cs_score.verbs.bundle") / "templates" / f"{name}.txt").read_text("utf-8")


# ---- What participants get


class StartingKit(Record):
    """What participants get before they hand in: how to, a submission that shows the form, and the scorer.

    `form` describes the files of the task; `wheels` are those that no index has.
    """

    title: str
    settings: Bundle
    sample: SampleSubmission
    form: str
    wheels: Sequence[Wheel]

    def files_for_codabench(self) -> dict[str, bytes]:
        """Return the files of the kit where archives are handed in, and a page is shown."""
        name = self.sample.name
        hand_in = f"Hand in a zip archive with one file in the form of {name}, as submission.zip is."
        see = (
            "You see the scores with intervals, and how many mistakes of each kind the whole submission has, from 10 "
            "on. A measure that has no value for your submission is not shown."
        )
        files = self._files(hand_in, see)
        files["submission.zip"] = zip_archive({name: self.sample.content})
        return files

    def files_for_evalai(self) -> dict[str, bytes]:
        """Return the files of the kit where files are handed in, and numbers alone are shown."""
        hand_in = f"Hand in one file in the form of {self.sample.name}."
        see = "You see the scores. A submission for which one of the measures has no value is refused."
        return self._files(hand_in, see)

    def _files(self, hand_in: str, see: str) -> dict[str, bytes]:
        """Return the files of the kit, with sentences on how to hand in and which results are shown."""
        version = self.settings.origin.version
        wheel_names = " ".join([wheel.name for wheel in self.wheels])
        text = (
            f"# {self.title}\n\n"
            f"{hand_in} Each submission is scored by cs-score {version}.\n\n"
            f"Form: {self.form}\n\n"
            f"Measures: {', '.join(self.settings.measures)}. {self.settings.measure} ranks.\n\n"
            f"{see}\n\n"
            f"To score on data that you have: pip install {wheel_names}, then cs-score help score "
            f"{self.settings.task}.\n"
        )
        files = {"README.md": text.encode(), self.sample.name: self.sample.content}
        for wheel in self.wheels:
            files[wheel.name] = wheel.content
        return files


def logo() -> bytes:
    """Return a blue square as PNG, for the organisers to replace by their logo."""
    size = 128
    bits_per_sample = 8
    red_green_blue = 2
    header = struct.pack(">IIBBBBB", size, size, bits_per_sample, red_green_blue, 0, 0, 0)
    row = b"\x00" + bytes((31, 90, 140)) * size  # each row begins with the number of its filter, here none
    pixels = zlib.compress(row * size)
    return b"\x89PNG\r\n\x1a\n" + _png_chunk(b"IHDR", header) + _png_chunk(b"IDAT", pixels) + _png_chunk(b"IEND", b"")


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a part of a PNG file with its length and its checksum."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def with_archive(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """Return files with the archive of all of them."""
    return {**files, name: zip_archive(files)}
