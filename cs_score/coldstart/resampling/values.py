"""What the reference's bootstrap gives: a text for each value of each sample, and limits found from them.

The values are computed in `resampled_tables`, which needs numpy; reading and writing them does not.
"""

from __future__ import annotations

from typing import Final

from cs_score.base.records import Record
from cs_score.coldstart.counting.projection import ALL_LEVELS
from cs_score.coldstart.resampling.sample_files import Sample
from cs_score.measures import registry
from cs_score.measures.measure import MACRO, MICRO, Measure

ABSENT: Final = ""
"""The text of a value that a sample does not have; it counts as 0."""

NO_SCORE: Final = "     -"
"""Stands for the run's own score where its tables have none."""

# What the parts of a value code stand for.
METRICS: Final = {"P": "P", "R": "R", "F": "F1"}
LEVELS: Final = {"0": "0", "1": "1", "A": ALL_LEVELS}
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
        """What it is a value of."""
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
