"""Read files of bootstrap resamples, and name the values that a resample has. A resample, or sample, consists of LDC
queries drawn at random. A value is an average over its queries, such as micro-averaged precision.

A line of such a file is one resample. It names the LDC queries that the resample draws, each with its slot-filling
queries, one for each entry point: `1 CSX_0001:CSX_ENG_00fb79cef8,CSX_ENG_0a1c9d3e55 CSX_0004:CSX_ENG_5b3f1a7c02`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from cs_score.base.display import join_first
from cs_score.base.records import Record, field
from cs_score.base.sources import Input, lines_of, name_of
from cs_score.coldstart.queries import QuerySet, read_query_id
from cs_score.coldstart.tab_files import leading_number
from cs_score.measures import ALL_HOPS, LDC_MAX, LDC_MEAN, MACRO, MICRO, SF, Measure

# The file is read byte by byte: U+0085 and U+00A0 are no white space.
_SPACE_PATTERN: Final = re.compile("[ \t\n\x0b\x0c\r]")


class Draw(Record):
    """An LDC query that a resample draws, with the slot-filling queries that were made from its entry points.

    `query_ids` are the ids of the slot-filling queries in the file, and `short_ids` are the last components of these
    ids, such as `00fb79cef8`.
    """

    ldc_id: str
    query_ids: tuple[str, ...]
    short_ids: tuple[str, ...]


class Sample(Record):
    """One resample: the LDC queries that it draws, some of them several times.

    `label` is the number of the resample as written in the file, and `number` is the value of this text.
    """

    label: str
    number: float
    draws: tuple[Draw, ...]

    def draw_counts_of_first_entry_points(self) -> Counter[str]:
        """Return how often each slot-filling query is drawn, by short id, if only first entry points count.

        Each draw of an LDC query then counts as a draw of its first slot-filling query.
        """
        return Counter([draw.short_ids[0] for draw in self.draws if draw.short_ids])

    def draw_counts_of_all_entry_points(self) -> Counter[str]:
        """Return how often each slot-filling query is drawn, by short id, if all entry points count.

        Each draw of an LDC query then counts as a draw of each of its slot-filling queries.
        """
        draw_counts: Counter[str] = Counter()
        for draw in self.draws:
            draw_counts.update(draw.short_ids)
        return draw_counts


class SampleFile(Record):
    """The samples of a file by ascending number.

    `blank_lines` are the numbers of the blank lines of the file. `repeated_lines` are the numbers of lines whose sample
    has the same number as an earlier one, which it replaces.
    """

    samples: tuple[Sample, ...] = ()
    exists: bool = False
    blank_lines: tuple[int, ...] = ()
    repeated_lines: tuple[int, ...] = ()

    def remarks(self, name: str, queries: QuerySet) -> Iterator[str]:
        """Yield remarks for the user on probable mistakes: a missing file, blank or repeated lines, unknown queries.

        `name` is the name of the file. `queries` are the queries that a sample may draw.
        """
        if not self.samples:  # a missing file has no samples either
            yield f"{name} {'is empty' if self.exists else 'does not exist'}, so nothing is resampled"
        if self.blank_lines:
            lines = join_first(self.blank_lines)
            yield f"{name}: blank line(s) {lines} count as one more sample, which draws no query; remove them"
        if self.repeated_lines:
            lines = join_first(self.repeated_lines)
            yield f"{name}: line(s) {lines} replace an earlier sample of the same number; number the samples through"
        drawn_queries = self._drawn_queries()
        unknown_queries = [short_id for short_id in drawn_queries if short_id not in queries.by_id]
        if unknown_queries:
            yield (
                f"{name} draws {len(unknown_queries)} of {len(drawn_queries)} queries that are not in the query files "
                f"({join_first(unknown_queries)}); they add nothing to any sample"
            )

    def _drawn_queries(self) -> list[str]:
        """Return the short ids of the slot-filling queries that the samples draw, each once: `["00fb79cef8", ...]`."""
        drawn_queries: dict[str, None] = {}
        for sample in self.samples:
            for draw in sample.draws:
                drawn_queries |= dict.fromkeys(draw.short_ids)
        return list(drawn_queries)


def read_samples(file: Input) -> SampleFile:
    """Return the samples of a file; there are no samples if the file does not exist.

    If several samples have the same number, the last one counts. As in the reference scorer, each byte is read as a
    character. Raises InputError for an illegal query id and for a file that cannot be read.
    """
    if isinstance(file, str) and not os.path.exists(file):
        return SampleFile()
    reader = _SampleReader(name_of(file))
    with lines_of(file, "latin-1") as lines:
        for line_number, line in enumerate(lines, 1):
            reader.add(line, line_number)
    return reader.sample_file()


class _SampleReader:
    """Read the samples of one file, line by line.

    Each draw (an LDC query with its slot-filling queries) is read once, because all samples repeat the same few draws.
    """

    def __init__(self, file_name: str) -> None:
        """Prepare to read the lines of the file with this name."""
        self._file_name = file_name
        self._sample_by_label: dict[str, Sample] = {}
        self._blank_lines: list[int] = []
        self._repeated_lines: list[int] = []
        # Samples repeat draws: each text of a draw is read once.
        self._draw_by_text: dict[str, Draw] = {}

    def add(self, line: str, line_number: int) -> None:
        """Add the sample in a line, replacing any earlier sample with the same label (the text of its number).

        Blank lines count as samples with an empty label, so they replace each other as well. Raises InputError for an
        illegal query id.
        """
        sample = self._read_sample(line, line_number)
        if not line.strip():
            self._blank_lines.append(line_number)
        elif sample.label in self._sample_by_label:
            self._repeated_lines.append(line_number)
        self._sample_by_label[sample.label] = sample

    def _read_sample(self, line: str, line_number: int) -> Sample:
        """Return the sample in a line such as `1 CSX_0001:CSX_ENG_00fb79cef8`. Raises InputError for an illegal id."""
        label, *draw_texts = _columns(line)  # the number or name of the sample, then an id for each draw
        for text in draw_texts:
            if text not in self._draw_by_text:
                self._draw_by_text[text] = _read_draw(text, self._file_name, line_number)
        draws = tuple([self._draw_by_text[text] for text in draw_texts])
        return Sample(label, leading_number(label), draws)

    def sample_file(self) -> SampleFile:
        """Return the samples of all lines by ascending number, with the numbers of blank and repeated lines."""
        samples = sorted(self._sample_by_label.values(), key=lambda sample: (sample.number, sample.label))
        return SampleFile(
            samples=tuple(samples),
            exists=True,
            blank_lines=tuple(self._blank_lines),
            repeated_lines=tuple(self._repeated_lines),
        )


def _columns(line: str) -> list[str]:
    """Return the columns of a line without trailing empty columns: `1 A:B` -> `["1", "A:B"]`.

    For a blank line, the result is a single empty column.
    """
    columns = _SPACE_PATTERN.split(line.removesuffix("\n"))
    while len(columns) > 1 and not columns[-1]:
        columns.pop()
    return columns


def _read_draw(text: str, name: str, line_number: int) -> Draw:
    """Return the draw described by a text `LDC_ID:QUERY_ID,QUERY_ID,...`; anything after a second colon is ignored.

    `name` is the name of the file. Raises InputError for an illegal id of a slot-filling query; the error names the
    file and the line.
    """
    ldc_id, _, rest = text.partition(":")
    query_list = rest.partition(":")[0]
    query_ids = [query_id for query_id in query_list.split(",") if query_id]
    remedy = "a sample is NUMBER LDC_ID:QUERY_ID,QUERY_ID,... with single blanks between the LDC queries"
    short_ids = []
    for query_id in query_ids:
        parts = read_query_id(query_id, remedy, file=name, place=f"line {line_number}")
        short_ids.append(parts.short_id)
    return Draw(ldc_id, query_ids=tuple(query_ids), short_ids=tuple(short_ids))


# A value code has five parts, such as `ALLEP_LDCMAXI_Mi_0_P`: which entry points count, the variant, the kind of
# average, the level, and the metric. Here are the names of the parts, and what they are called in measures.

NO_VALUE: Final = ""  # the text that stands for a value which a sample does not have; it counts as 0
METRICS: Final = {"P": "P", "R": "R", "F": "F1"}
LEVELS: Final = {"0": "0", "1": "1", "A": ALL_HOPS}
_AVERAGE_OF_CODE: Final = {"Mi": MICRO, "Ma": MACRO}
_VARIANT_OF_CODE: Final = {"SLOTFLG": SF, "LDCMAXI": LDC_MAX, "LDCMEAN": LDC_MEAN}

# Which entry points count (the first ones or all), the variant, and its averages, in the order of the score file.
VALUE_GROUPS: Final = (
    ("ONEEP", "SLOTFLG", ("Mi", "Ma")),
    ("ALLEP", "LDCMAXI", ("Mi", "Ma")),
    ("ALLEP", "LDCMEAN", ("Ma",)),
    ("ALLEP", "SLOTFLG", ("Mi", "Ma")),
)


class ValueCode(Record):
    """The code of one value of a sample, such as `ALLEP_LDCMAXI_Mi_0_P`.

    The parts give the entry points that count (`ONEEP`: only the first of each query, `ALLEP`: all), the variant, the
    kind of average, the level, and the metric.
    """

    entry_points: str
    variant: str
    average: str
    level: str
    metric: str

    def __str__(self) -> str:
        return "_".join((self.entry_points, self.variant, self.average, self.level, self.metric))

    @property
    def measure(self) -> Measure:
        """The measure that the value belongs to, such as `LDC-MAX-ALL-Micro-P@0`."""
        statistic = METRICS[self.metric]  # such as "F1"
        variant = _VARIANT_OF_CODE[self.variant]
        average = _AVERAGE_OF_CODE[self.average]
        return Measure(statistic, variant, average).at_level(LEVELS[self.level])


VALUE_CODES: Final = tuple(
    ValueCode(entry_points, variant, average, level, metric)
    for entry_points, variant, averages in VALUE_GROUPS
    for average in averages
    for level in LEVELS
    for metric in METRICS
)


class SampleLimits(Record):
    """Confidence limits of one value, texts of four decimals, as the reference computes with them.

    `value` is the code of the value, such as `ALLEP_LDCMAXI_Mi_0_P` (in Python `value_code`). `low` and `high` have the
    limits by percentage, from the outermost low one to the outermost high one. `mean` is the mean of the samples.
    `score` is the score of the run itself, None if the tables of the run do not have it.
    """

    value_code: str = field(name="value")
    measure: str
    low: Mapping[str, str]
    mean: str
    score: str | None
    high: Mapping[str, str]


class Bootstrap(Record):
    """The results of resampling a run.

    `samples` are sorted by number. `values` has the texts of the values of each sample, in the order of `VALUE_CODES`.
    `limits` has the confidence limits of each value.
    """

    samples: tuple[Sample, ...]
    values: tuple[tuple[str, ...], ...]
    limits: tuple[SampleLimits, ...]
