"""Files of bootstrap resamples, and the values that a resample has."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from cs_score.base.display import some
from cs_score.base.records import Record
from cs_score.base.sources import Input, lines_of, name_of
from cs_score.coldstart.queries import QuerySet, read_query_id
from cs_score.coldstart.tab_files import leading_number
from cs_score.measures import registry
from cs_score.measures.registry import ALL_HOPS, MACRO, MICRO, Measure

# The file is read byte by byte: U+0085 and U+00A0 are no white space.
_SPACE: Final = re.compile("[ \t\n\x0b\x0c\r]")


class Draw(Record):
    """An LDC query that a resample draws: its id, and the ids of its slot-filling queries, as written and short."""

    ldc_id: str
    written: tuple[str, ...]
    short_ids: tuple[str, ...]


class Sample(Record):
    """One resample: its number as written and as a number, and the LDC queries drawn, repeated ones included."""

    label: str
    number: float
    draws: tuple[Draw, ...]

    def one_entry_point(self) -> Counter[str]:
        """Return how often each slot-filling query is drawn if a draw of an LDC query counts only for its first one.

        The queries are given by short id.
        """
        return Counter([draw.short_ids[0] for draw in self.draws if draw.short_ids])

    def all_entry_points(self) -> Counter[str]:
        """Return how often each slot-filling query is drawn if a draw of an LDC query counts for all its queries.

        The queries are given by short id.
        """
        counts: Counter[str] = Counter()
        for draw in self.draws:
            counts.update(draw.short_ids)
        return counts


class SampleFile(Record):
    """The samples of a file by ascending number.

    `blank` are the numbers of its blank lines, `repeated` the numbers of lines that replace an earlier sample.
    """

    samples: tuple[Sample, ...] = ()
    exists: bool = False
    blank: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()

    def remarks(self, name: str, queries: QuerySet) -> Iterator[str]:
        """Yield remarks on lines of the file `name` that are read as they are written, but are probably mistakes."""
        if not self.samples:
            yield f"{name} {'is empty' if self.exists else 'does not exist'}, so nothing is resampled"
        if self.blank:
            lines = some(self.blank)
            yield f"{name}: blank line(s) {lines} count as one more sample, which draws no query; remove them"
        if self.repeated:
            lines = some(self.repeated)
            yield f"{name}: line(s) {lines} replace an earlier sample of the same number; number the samples through"
        drawn_queries: dict[str, None] = {}
        for sample in self.samples:
            for draw in sample.draws:
                drawn_queries.update(dict.fromkeys(draw.short_ids))
        unknown_queries = [short_id for short_id in drawn_queries if short_id not in queries.by_id]
        if unknown_queries:
            yield (
                f"{name} draws {len(unknown_queries)} of {len(drawn_queries)} queries that are not in the query files "
                f"({some(unknown_queries)}); they add nothing to any sample"
            )


def read_samples(file: Input) -> SampleFile:
    """Return the samples of a file, which need not exist; of several samples with the same number the last one counts.

    Each byte is read as a character, as in the reference. Raises InputError for an illegal query id and for a file that
    cannot be read.
    """
    if isinstance(file, str) and not os.path.exists(file):
        return SampleFile()
    samples: dict[str, Sample] = {}
    blank: list[int] = []
    repeated: list[int] = []
    draw_by_text: dict[str, Draw] = {}  # the same few draws are in every sample
    with lines_of(file, "latin-1") as lines:
        for number, line in enumerate(lines, 1):
            label, *texts_of_draws = _columns(line)
            draws = []
            for text in texts_of_draws:
                draw = draw_by_text.get(text)
                if draw is None:
                    draw = _read_draw(text, name_of(file), number)
                    draw_by_text[text] = draw
                draws.append(draw)
            if not line.strip():
                blank.append(number)
            elif label in samples:
                repeated.append(number)
            samples[label] = Sample(label, leading_number(label), tuple(draws))
    ordered = sorted(samples.values(), key=lambda sample: (sample.number, sample.label))
    return SampleFile(tuple(ordered), True, tuple(blank), tuple(repeated))


def _columns(line: str) -> list[str]:
    """Return the columns of a line of samples, at least one, without empty columns at the end."""
    columns = _SPACE.split(line.removesuffix("\n"))
    while len(columns) > 1 and not columns[-1]:
        columns.pop()
    return columns


def _read_draw(text: str, name: str, line_number: int) -> Draw:
    """Return the draw that the text `LDC_ID:QUERY_ID,QUERY_ID,...` describes. Raises InputError for an illegal id."""
    ldc_id, _, query_ids = text.partition(":")
    query_ids = query_ids.split(":")[0]
    texts = tuple([query_id for query_id in query_ids.split(",") if query_id])
    remedy = "a sample is NUMBER LDC_ID:QUERY_ID,QUERY_ID,... with single blanks between the LDC queries"
    place = f"line {line_number}"
    parts = [read_query_id(query_id, remedy, file=name, place=place) for query_id in texts]
    return Draw(ldc_id, texts, tuple([part.short for part in parts]))


ABSENT: Final = ""  # the text of a value that a sample does not have; it counts as 0
# The meaning of the parts of a value code.
METRICS: Final = {"P": "P", "R": "R", "F": "F1"}
LEVELS: Final = {"0": "0", "1": "1", "A": ALL_HOPS}
_AVERAGES: Final = {"Mi": MICRO, "Ma": MACRO}
_VARIANTS: Final = {"SLOTFLG": registry.SF, "LDCMAXI": registry.LDC_MAX, "LDCMEAN": registry.LDC_MEAN}

# Which entry points count, the variant, and its averages: the value codes in the order of the score file.
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
        """The average that the value belongs to."""
        measure = Measure(METRICS[self.metric], _VARIANTS[self.variant], _AVERAGES[self.average])
        return measure.at(LEVELS[self.level])


VALUE_CODES: Final = tuple(
    ValueCode(entry_points, variant, average, level, metric)
    for entry_points, variant, averages in VALUE_GROUPS
    for average in averages
    for level in LEVELS
    for metric in METRICS
)


class SampleLimits(Record):
    """Confidence limits of one value, texts of four decimals, as the reference computes with them.

    `value` is its code, `low` and `high` the limits by percentage from the outermost low one to the outermost high one,
    `score` that of the run itself, None where its tables have none.
    """

    value: str
    measure: str
    low: Mapping[str, str]
    mean: str
    score: str | None
    high: Mapping[str, str]


class Bootstrap(Record):
    """The samples by ascending number, the texts of their values in the order of `VALUE_CODES`, and the limits."""

    samples: tuple[Sample, ...]
    values: tuple[tuple[str, ...], ...]
    limits: tuple[SampleLimits, ...]
