"""The sections of an analysis as tables: what the text shows in columns, and what stands in files separated by tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.base.display import spreadsheet_cell
from cs_score.base.records import Record
from cs_score.coldstart.judging import CATEGORIES, Counts

if TYPE_CHECKING:
    from cs_score.statistics.results import Interval

Value: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Value, ...]


class Gain(float):
    """A difference of scores, which people are shown with its sign."""


class Layout(Record):
    """What a table shows: the name of its file, its title, its columns, and the rows that it has of an analysis.

    `shown` are the columns of the text, all unless given. The text has a table for each value of the column `by`, which
    stands for % in the title. It leaves out tables of less than `fewest` rows, and those that are not `is_shown`; it
    has the first rows of a table; all where `is_whole`, some at equal distances where `is_spread`. `total` counts the
    rows that there are, also those that the analysis was told to leave out.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Callable[[Analysis], Iterable[Row]]
    shown: tuple[str, ...] = ()
    by: str | None = None
    fewest: int = 0
    is_shown: bool = True
    is_whole: bool = False
    is_spread: bool = False
    total: Callable[[Analysis], int] | None = None


class Table(Record):
    """A table of one analysis: its rows (None: an empty cell), and how many there are."""

    layout: Layout
    rows: Sequence[Row]
    total: int

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.layout.name

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 text separated by tabs; numbers read back as the same, no text is a formula to a spreadsheet."""
        yield header(self.name)
        for row in self.rows:
            yield ("\t".join(map(_cell, row)) + "\n").encode("utf-8", "backslashreplace")


def _budget(analysis: Analysis) -> Iterator[Row]:
    for row in analysis.budget:
        yield row.kind, row.count, gain(row.gain), row.score, row.cumulated, row.reason


def _mistakes(analysis: Analysis) -> Iterator[Row]:
    for row in analysis.mistakes:
        yield (
            gain(row.gain), row.kind, row.category, row.file, row.line, row.query, row.slot, row.hop, row.value,
            row.node, row.class_name, row.change.size, row.effect.reason,
        )  # fmt: skip


def _groups(analysis: Analysis) -> Iterator[Row]:
    for dimension, groups in analysis.groups.items():
        for group in groups:
            limits = [limit for name in group.scores for limit in _limits(group.intervals, name)]
            yield dimension, group.group, *group.scores.values(), group.mistakes, group.share, *group.counts, *limits


def _limits(intervals: Mapping[str, Interval] | None, name: str) -> tuple[float | None, float | None]:
    found = None if intervals is None else intervals.get(name)
    return (None, None) if found is None else (found.low, found.high)


def _intervals(analysis: Analysis) -> Iterator[Row]:
    if analysis.intervals is not None:
        for name, each in analysis.intervals.scores.items():
            yield name, each.point, each.low, each.high, each.standard_error, each.note or None


def _slots(analysis: Analysis) -> Iterator[Row]:
    """A row for each slot, those with the most lines first; categories that no line has are empty."""
    counts: dict[str, dict[str, int]] = {}
    for each in analysis.confusions.slots:
        counts.setdefault(each.slot, {})[each.category] = each.count
    met = {each.category for each in analysis.confusions.slots}
    for slot, of_slot in sorted(counts.items(), key=lambda item: -sum(item[1].values())):
        yield slot, *(of_slot.get(category, 0) if category in met else None for category in CATEGORIES)


def _wrong_values(analysis: Analysis) -> Iterator[Row]:
    for each in analysis.confusions.wrong_values:
        yield each.slot, each.value, each.count


def _near(analysis: Analysis) -> Iterator[Row]:
    for each in analysis.confusions.near:
        yield (
            each.category, each.lines, each.same_place, each.same_place_accepted, each.same_value,
            each.same_value_accepted,
        )  # fmt: skip


def _reliability(analysis: Analysis) -> Iterator[Row]:
    for over, found in (("judgments", analysis.reliability), ("labels", analysis.reliability.labels)):
        for each in found.bins if found is not None else ():
            yield over, each.lines, each.low, each.high, each.confidence, each.right


def _scenarios(analysis: Analysis) -> Iterator[Row]:
    found = analysis.scenarios
    yield found.pessimistic, found.score, found.optimistic, found.unassessed, found.reason


def _unassessed(analysis: Analysis) -> Iterator[Row]:
    for slot in sorted(analysis.scenarios.slots, key=lambda slot: -slot.unassessed):
        if slot.unassessed:
            yield slot.slot, slot.lines, slot.unassessed, slot.share


def _policies(analysis: Analysis) -> Iterator[Row]:
    for row in analysis.policies:
        for name, score in row.scores.items():
            difference = None if score is None else Gain(score - analysis.scores[name])
            yield row.under.name, name, score, difference, row.reason


def _sweep(analysis: Analysis) -> Iterator[Row]:
    for row in analysis.sweep:
        yield row.threshold, row.precision, row.recall, row.f1, row.lines, gain(row.gain), row.reason


_LIMITS: Final = tuple(f"{name}_{limit}" for name in ("precision", "recall", "f1") for limit in ("low", "high"))

LAYOUTS: Final = (
    Layout(
        "intervals",
        "Every score with its bootstrap interval:",
        ("measure", "score", "low", "high", "standard_error", "note"),
        _intervals,
        is_shown=False,
    ),
    Layout(
        "budget",
        "The score if all mistakes of a kind, and no others, were mended; cumulated, if those above were as well:",
        ("kind", "count", "gain", "score", "cumulated", "reason"),
        _budget,
        is_whole=True,
    ),
    Layout(
        "mistakes",
        "The costliest mistakes, with what mending each one alone would bring:",
        (
            "gain", "kind", "category", "file", "line", "query", "slot", "hop", "value", "node", "class", "lines",
            "reason",
        ),
        _mistakes,
        shown=("gain", "kind", "category", "file", "line", "slot", "value", "lines", "reason"),
        total=lambda analysis: analysis.mistake_count,
    ),
    Layout(
        "groups",
        "By %, the most mistakes first:",
        ("dimension", "group", "precision", "recall", "f1", "mistakes", "share", *Counts._fields, *_LIMITS),
        _groups,
        shown=(
            "group", "precision", "recall", "f1", "f1_low", "f1_high", "mistakes", "share", "right", "wrong",
            "ground_truth",
        ),
        by="dimension",
        fewest=2,  # one group is the whole table
    ),
    Layout("confusions", "Lines by slot and category:", ("slot", *CATEGORIES), _slots),
    Layout("wrong_values", "The most frequent wrong values:", ("slot", "value", "count"), _wrong_values),
    Layout(
        "near_misses",
        "Lines that are not correct, and what the pool has: their place with another value, their value elsewhere:",
        ("category", "lines", "same_place", "same_place_accepted", "same_value", "same_value_accepted"),
        _near,
    ),
    Layout(
        "reliability",
        "Reliability over %: assessed lines in ten bins of equal size by confidence, and the share that is right:",
        ("over", "lines", "low", "high", "confidence", "right"),
        _reliability,
        by="over",
        is_whole=True,
    ),
    Layout(
        "scenarios",
        "The score if every unassessed answer were wrong (pessimistic), and if every one were right (optimistic):",
        ("pessimistic", "score", "optimistic", "unassessed", "reason"),
        _scenarios,
        is_shown=False,  # beside the score
    ),
    Layout(
        "unassessed",
        "Slots by their number of unassessed lines, with the share of all their lines:",
        ("slot", "lines", "unassessed", "share"),
        _unassessed,
    ),
    Layout(
        "policies",
        "The scores under the policy %, and the difference to those of the policy in force:",
        ("policy", "measure", "score", "difference", "reason"),
        _policies,
        by="policy",
        is_whole=True,
    ),
    Layout(
        "sweep",
        "The scores without the lines whose confidence is below a threshold:",
        ("threshold", "precision", "recall", "f1", "lines", "gain", "reason"),
        _sweep,
        is_spread=True,
    ),
)  # fmt: skip
"""The tables in the order of the text, a row for each: a new section is added here."""

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {layout.name: layout.columns for layout in LAYOUTS}
"""The columns of each table, by its name."""


def header(name: str) -> bytes:
    """The first line of a table's file."""
    return "\t".join(COLUMNS[name]).encode() + b"\n"


def tables_of(analysis: Analysis) -> list[Table]:
    """Every section as a table."""
    found = []
    for layout in LAYOUTS:
        rows = list(layout.rows(analysis))
        found.append(Table(layout, rows, len(rows) if layout.total is None else layout.total(analysis)))
    return found


def gain(value: float | None) -> Gain | None:
    """A difference of scores, as tables have it."""
    return None if value is None else Gain(value)


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return spreadsheet_cell(value)
    return repr(float(value)) if isinstance(value, float) else str(value)
