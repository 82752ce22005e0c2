"""What the readable formats show of a comparison: two tables per measure, and the sentences around them.

The columns are declared here once; the writers for text, Markdown and LaTeX only lay them out and escape them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final, Generic, TypeVar

from cs_score.base.records import Record
from cs_score.statistics.comparison_result import Comparison, MeasureComparison, PairedSystems, RankedSystem

_Entry = TypeVar("_Entry")


class Kind(Enum):
    """What the cells of a column are."""

    NAME = "untrusted text, to the left"
    NUMBER = "a number, to the right"
    RANGE = "two numbers, to the right"
    NOTE = "a sentence, to the left"


class Column(Record, Generic[_Entry]):
    """A column: its heading, what its cells are, and the cell of an entry."""

    heading: str
    kind: Kind
    cell: Callable[[_Entry], str]


class Table(Record):
    """A table ready to be laid out: all cells are plain, unescaped text."""

    headings: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: tuple[tuple[str, ...], ...]


UNDEFINED: Final = "-"
"""Stands for a number that there is not; a note says why."""


def score_text(score: float | None) -> str:
    """Four decimals, and no negative zero."""
    return UNDEFINED if score is None else f"{score:z.4f}"


def difference_text(difference: float | None) -> str:
    """Four decimals with a sign."""
    return UNDEFINED if difference is None else f"{difference:+z.4f}"


def p_text(p_value: float) -> str:
    """Four decimals; a p-value is never 0, so a smaller one is shown as `<0.0001`."""
    return f"{p_value:.4f}" if p_value >= 0.0001 else "<0.0001"


SYSTEM_COLUMNS: Final[tuple[Column[RankedSystem], ...]] = (
    Column("Tier", Kind.NUMBER, lambda entry: str(entry.tier)),
    Column("Rank", Kind.NUMBER, lambda entry: str(entry.rank)),
    Column("Ranks", Kind.RANGE, lambda entry: f"{entry.rank_low}-{entry.rank_high}"),
    Column("System", Kind.NAME, lambda entry: entry.system),
    Column("Score", Kind.NUMBER, lambda entry: score_text(entry.score.point)),
    Column("Low", Kind.NUMBER, lambda entry: score_text(entry.score.low)),
    Column("High", Kind.NUMBER, lambda entry: score_text(entry.score.high)),
    Column("Std. error", Kind.NUMBER, lambda entry: score_text(entry.score.standard_error)),
    Column("Note", Kind.NOTE, lambda entry: entry.score.note),
)

PAIR_COLUMNS: Final[tuple[Column[PairedSystems], ...]] = (
    Column("First", Kind.NAME, lambda pair: pair.first),
    Column("Second", Kind.NAME, lambda pair: pair.second),
    Column("Difference", Kind.NUMBER, lambda pair: difference_text(pair.difference.point)),
    Column("Low", Kind.NUMBER, lambda pair: difference_text(pair.difference.low)),
    Column("High", Kind.NUMBER, lambda pair: difference_text(pair.difference.high)),
    Column("p (rand.)", Kind.NUMBER, lambda pair: p_text(pair.randomisation.raw)),
    Column("Holm", Kind.NUMBER, lambda pair: p_text(pair.randomisation.holm)),
    Column("p (boot.)", Kind.NUMBER, lambda pair: p_text(pair.bootstrap.raw)),
    Column("Holm", Kind.NUMBER, lambda pair: p_text(pair.bootstrap.holm)),
    Column("Wins", Kind.NUMBER, lambda pair: UNDEFINED if pair.record is None else str(pair.record.wins)),
    Column("Ties", Kind.NUMBER, lambda pair: UNDEFINED if pair.record is None else str(pair.record.ties)),
    Column("Losses", Kind.NUMBER, lambda pair: UNDEFINED if pair.record is None else str(pair.record.losses)),
    Column("Note", Kind.NOTE, lambda pair: pair.difference.note),
)

_METHOD_NAMES: Final = {"percentile": "percentile", "bca": "BCa"}


def system_table(measure: MeasureComparison) -> Table:
    """The systems under one measure, from best to worst."""
    return _table(SYSTEM_COLUMNS, measure.systems)


def pair_table(measure: MeasureComparison) -> Table:
    """The pairs of systems under one measure."""
    return _table(PAIR_COLUMNS, measure.pairs)


def explanation(comparison: Comparison) -> tuple[str, ...]:
    """The sentences that a reader of the tables needs, each unescaped."""
    resampling = comparison.resampling
    confidence = f"{resampling.confidence:g} %"
    exact = f"exact randomisation (all 2^{comparison.units} exchanges)"
    names = {
        "randomisation": exact if comparison.is_enumerated else "approximate randomisation",
        "bootstrap": "the paired bootstrap",
    }
    tier = (
        f"systems that do not differ significantly from the best of the tier by {names[comparison.test]} "
        f"(p after Holm's correction above {resampling.level:g})."
        if comparison.can_be_significant
        else "one for all, since no difference could have been significant; it says nothing about the systems."
    )
    return (
        f"{len(comparison.systems)} systems on {comparison.units} units of resampling ({resampling.unit}).",
        f"Low and High: {confidence} {_METHOD_NAMES[resampling.method]} bootstrap interval, "
        f"{resampling.resamples} resamples, seed {resampling.seed}.",
        f"Ranks: central {confidence} of the ranks over the resamples.",
        f"Tier: {tier}",
        f"Difference: second minus first. p: two-sided, by {names['randomisation']} and by {names['bootstrap']}, each "
        "also with Holm's correction over the pairs of the measure. Wins, Ties, Losses: units that speak for the "
        "second, for neither, for the first.",
    )


def _table(columns: Iterable[Column[_Entry]], entries: Iterable[_Entry]) -> Table:
    cells = [(column, [column.cell(entry) for entry in entries]) for column in columns]
    shown = [(column, texts) for column, texts in cells if column.kind is not Kind.NOTE or any(texts)]
    return Table(
        tuple(column.heading for column, _ in shown),
        tuple(column.kind for column, _ in shown),
        tuple(zip(*(texts for _, texts in shown))),
    )
