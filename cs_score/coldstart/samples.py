"""Bootstrap resamples: files of samples, how they are drawn, and the values that a sample has (specification 11).

A resample draws as many LDC queries as there are, uniformly and with replacement. Every draw brings all SF queries
of its LDC query, in a random order: the scorer takes the first one as *the* entry point of that draw.

The draws come from Python's Mersenne Twister through `random.Random.random`, the one method whose stream Python
promises never to change for a seed: a seed gives the same bytes on every platform and in every release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Input, open_source
from cs_score.base.white_space import NO_SPACE, SPACE
from cs_score.coldstart.queries import parse_query_id
from cs_score.measures import registry
from cs_score.measures.measure import ALL_HOPS, MACRO, MICRO, Measure

_SPACE: Final = re.compile(SPACE)
_LEADING_NUMBER: Final = re.compile(r"\s*([-+]?[0-9]{1,18})")


class Draw(Record):
    """One LDC query drawn: its id and those of its slot-filling queries as written, and the short ids of the latter."""

    ldc_id: str
    written: tuple[str, ...]
    short_ids: tuple[str, ...]


class Sample(Record):
    """One resample: its number as written and as a number, and the LDC queries drawn, repeated ones included."""

    label: str
    number: int
    draws: tuple[Draw, ...]

    def one_entry_point(self) -> Counter[str]:
        """How often each slot-filling query is drawn when a drawn LDC query stands for its first one."""
        return Counter(draw.short_ids[0] for draw in self.draws if draw.short_ids)

    def all_entry_points(self) -> Counter[str]:
        """How often each slot-filling query is drawn when a drawn LDC query stands for all of its own."""
        return Counter(short_id for draw in self.draws for short_id in draw.short_ids)


class SampleFile(Record):
    """The samples of a file by ascending number, and what the reference passes over in silence.

    `exists` tells whether there is such a file, `blank` holds the numbers of its blank lines, and `repeated` those of
    lines whose sample replaces an earlier one.
    """

    samples: tuple[Sample, ...]
    exists: bool
    blank: tuple[int, ...]
    repeated: tuple[int, ...]


def read_samples(name: str) -> SampleFile:
    """Read a file of samples; one that does not exist has none.

    Of several samples with one number the last counts. Raises InputError for an id that cannot be parsed and for a file
    that cannot be read.
    """
    samples: dict[str, Sample] = {}
    blank: list[int] = []
    repeated: list[int] = []
    known: dict[str, Draw] = {}  # the same few draws stand in every sample
    try:
        with open(name, encoding="utf-8", newline="\n") as file:
            for line_number, line in enumerate(file, 1):
                sample = _read_sample(line, known, name, line_number)
                if not line.strip():
                    blank.append(line_number)
                elif sample.label in samples:
                    repeated.append(line_number)
                samples[sample.label] = sample
    except FileNotFoundError:
        return SampleFile((), False, (), ())
    except UnicodeDecodeError:
        raise InputError("not UTF-8", file=name) from None
    except OSError as error:
        raise InputError(f"Could not open {name}: {error.strerror}") from None
    ordered = sorted(samples.values(), key=lambda sample: (sample.number, sample.label))
    return SampleFile(tuple(ordered), True, tuple(blank), tuple(repeated))


def _read_sample(line: str, known: dict[str, Draw], name: str, line_number: int) -> Sample:
    columns = _SPACE.split(line.removesuffix("\n"))
    while len(columns) > 1 and not columns[-1]:
        columns.pop()
    label, *groups = columns
    match = _LEADING_NUMBER.match(label)
    for group in groups:
        if group not in known:
            known[group] = _read_draw(group, name, line_number)
    return Sample(label, int(match.group(1)) if match else 0, tuple(map(known.__getitem__, groups)))


def _read_draw(group: str, name: str, line_number: int) -> Draw:
    ldc_id, _, rest = group.partition(":")
    written: Sequence[str] = [text for text in rest.split(":")[0].split(",") if text]
    short_ids: list[str] = []
    for text in written:
        parts = parse_query_id(text)
        if parts is None:
            raise InputError(
                f'unexpected argument: "{text}" sent to parse_queryid',
                file=name,
                place=f"line {line_number}",
                remedy="a sample is NUMBER LDC_ID:QUERY_ID,QUERY_ID,... with single blanks between the LDC queries",
            )
        short_ids.append(parts.short)
    return Draw(ldc_id, tuple(written), tuple(short_ids))


Groups: TypeAlias = Mapping[str, Sequence[str]]
"""LDC id -> its SF ids; both sorted as strings, as written in the file."""

_COLUMN: Final = re.compile(f"{NO_SPACE}+")


def read_groups(given: Input) -> dict[str, list[str]]:
    """Read a query index: lines `LDC_ID SF_ID`, separated by white space, further columns ignored.

    A repeated SF id belongs to the last LDC id that it appears with, and an LDC id that loses all its SF ids that way
    is no longer drawn. Blank lines are skipped. Bytes that are not UTF-8 are carried over as they are.

    Raises InputError where the file cannot be read, a line has one column only, or the columns are the other way round.
    """
    with open_source(given) as source:
        text = source.read_bytes().decode("utf-8-sig", "surrogateescape")
    ldc_of: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        columns = _COLUMN.findall(line)
        if not columns:
            continue
        if len(columns) == 1:
            raise InputError(
                f"{columns[0]} has no SF query id",
                file=source.name,
                place=f"line {number}",
                remedy="every line needs an LDC query id and an SF query id",
            )
        ldc_of[columns[1]] = columns[0]
    if ldc_of and all(_is_slot_filling(ldc) and not _is_slot_filling(sf) for sf, ldc in ldc_of.items()):
        raise InputError(
            "the columns are the other way round: SF_ID LDC_ID, as validate-queries -index_file writes them",
            file=source.name,
            remedy="every line needs an LDC query id and then an SF query id; awk '{ print $2, $1 }' exchanges them",
        )
    groups: dict[str, list[str]] = {}
    for sf_id in sorted(ldc_of):
        groups.setdefault(ldc_of[sf_id], []).append(sf_id)
    return dict(sorted(groups.items()))


def _is_slot_filling(text: str) -> bool:
    parts = parse_query_id(text)
    return parts is not None and parts.expanded


def resample_lines(groups: Groups, resamples: int, seed: int) -> Iterator[str]:
    """The lines of a resample file, numbered from 1, each with its line feed: `NUMBER LDC_ID:SF_ID,SF_ID,... ...`."""
    random = Random(seed).random
    members = list(groups.items())
    for number in range(1, resamples + 1):
        columns = [str(number)]
        for _ in members:
            ldc_id, sf_ids = members[int(random() * len(members))]
            order = list(sf_ids)
            for last in range(len(order) - 1, 0, -1):  # Fisher and Yates
                other = int(random() * (last + 1))
                order[last], order[other] = order[other], order[last]
            columns.append(f"{ldc_id}:{','.join(order)}")
        yield " ".join(columns) + "\n"


ABSENT: Final = ""
"""The text of a value that a sample does not have; it counts as 0."""

NO_SCORE: Final = "     -"
"""Stands for the run's own score where its tables have none."""

# What the parts of a value code stand for.
METRICS: Final = {"P": "P", "R": "R", "F": "F1"}
LEVELS: Final = {"0": "0", "1": "1", "A": ALL_HOPS}
_AVERAGES: Final = {"Mi": MICRO, "Ma": MACRO}
_VARIANTS: Final = {"SLOTFLG": registry.SF, "LDCMAXI": registry.LDC_MAX, "LDCMEAN": registry.LDC_MEAN}

# Entry points counted, variant, averages: the value codes in the order of the score file (11.2).
VALUE_GROUPS: Final = (
    ("ONEEP", "SLOTFLG", ("Mi", "Ma")),
    ("ALLEP", "LDCMAXI", ("Mi", "Ma")),
    ("ALLEP", "LDCMEAN", ("Ma",)),
    ("ALLEP", "SLOTFLG", ("Mi", "Ma")),
)


class ValueCode(Record):
    """One value of a sample: which entry points count, variant, micro or macro, level, and P, R or F."""

    entry_points: str
    variant: str
    average: str
    level: str
    metric: str

    def __str__(self) -> str:
        return "_".join((self.entry_points, self.variant, self.average, self.level, self.metric))

    @property
    def measure(self) -> Measure:
        measure = Measure(METRICS[self.metric], _VARIANTS[self.variant], _AVERAGES[self.average])
        return measure.at(LEVELS[self.level])


VALUE_CODES: Final = tuple(
    ValueCode(entry_points, variant, average, level, metric)
    for entry_points, variant, averages in VALUE_GROUPS
    for average in averages
    for level in LEVELS
    for metric in METRICS
)


class Limits(Record):
    """One line of the confidence file: texts of the low limits (99, 95, 90 %), mean, score, and the high limits."""

    code: ValueCode
    low: tuple[str, ...]
    mean: str
    score: str
    high: tuple[str, ...]


class Bootstrap(Record):
    """The samples by ascending number, the texts of their values in the order of `VALUE_CODES`, and the limits."""

    samples: tuple[Sample, ...]
    values: tuple[tuple[str, ...], ...]
    limits: tuple[Limits, ...]
