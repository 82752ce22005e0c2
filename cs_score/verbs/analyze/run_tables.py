"""Define the tables of the analysis of a Cold Start run: their columns, and how the cells of each row are computed.
Cells are the values of a row by the key of their column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from cs_score.analysis.coldstart.scenarios import SlotShare
from cs_score.base.records import replace, to_builtins
from cs_score.coldstart.judging import CATEGORIES, Counts
from cs_score.tables.layout import Column, Format, Layout, columns, headed
from cs_score.verbs.analyze.run_analysis import RunAnalysis

Cells: TypeAlias = Mapping[str, Any]
"""The cells of a row by the key of their column."""

_SCORES: Final = ("precision", "recall", "f1")
_LIMITS: Final = ("precision_low", "precision_high", "recall_low", "recall_high", "f1_low", "f1_high")

# ---- Rows


def _budget_rows(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of each kind of mistakes in the error budget."""
    for row in analysis.budget:
        yield to_builtins(row)


def _group_rows(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of each group of each dimension, with its counts and the limits of its intervals."""
    for dimension, groups in analysis.groups.items():
        for group in groups:
            cells = to_builtins(group)
            limits: dict[str, float | None] = {}
            for score, interval in cells.get("intervals", {}).items():
                limits[f"{score}_low"] = interval.get("low")
                limits[f"{score}_high"] = interval.get("high")
            yield {"dimension": dimension, **cells, **cells["counts"], **limits}


def _cells_by_slot(analysis: RunAnalysis) -> dict[str, dict[str, Any]]:
    """Return the cells of each slot, by its name: `{"slot": "per:age", "CORRECT": 3, "INCORRECT": 0}` for a slot.

    A cell has the number of lines of a category. Every slot has cells for the categories of all slots.
    """
    slot_categories = analysis.confusions.slots
    categories = dict.fromkeys([slot_category.category for slot_category in slot_categories])
    cells_by_slot: dict[str, dict[str, Any]] = {}
    for slot_category in slot_categories:
        slot = slot_category.slot
        if slot not in cells_by_slot:
            cells_by_slot[slot] = {"slot": slot, **dict.fromkeys(categories, 0)}
        cells_by_slot[slot][slot_category.category] = slot_category.count
    return cells_by_slot


def _slots_by_mistakes(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of each slot, the slot with the most mistakes first."""
    cells_by_slot = _cells_by_slot(analysis)
    for slot_group in analysis.groups["slot"]:  # sorted by their number of mistakes
        slot = slot_group.group
        yield cells_by_slot.get(slot, {"slot": slot})


def _slots_by_lines(analysis: RunAnalysis) -> list[dict[str, Any]]:
    """Return the cells of each slot, the slot with the most lines first."""
    return sorted(_cells_by_slot(analysis).values(), key=_count_lines, reverse=True)


def _count_lines(cells: Cells) -> int:
    """Return the number of lines of a slot, from its cells with the numbers of each category."""
    return sum([cells.get(category, 0) for category in CATEGORIES])


def _mistake_rows(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of each listed mistake.

    `lines` is the number of lines that correcting it adds, less the number that it removes. `what` is the category of a
    wrong line, and `in class` or `in node` for a mistake that is no line.
    """
    for mistake in analysis.mistakes:
        cells = to_builtins(mistake)
        cells["lines"] = len(mistake.added) - len(mistake.removed)
        file_name = mistake.file.rpartition("/")[2]
        cells["place"] = f"{file_name}:{mistake.line}"
        cells["what"] = mistake.category or f"in {mistake.kind}"
        yield cells


def _reliability_rows(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of each bin of lines with similar confidence."""
    for confidence_bin in analysis.reliability.bins:
        yield to_builtins(confidence_bin)


def _policy_rows(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of each policy and measure, with the difference to the score under the policy in force."""
    for policy in analysis.policies:
        for measure, score in policy.scores.items():
            yield {
                "policy": policy.name,
                "measure": measure,
                "score": score,
                "reason": policy.reason or None,
                "difference": None if score is None else score - analysis.scores[measure],
            }


def _scenario_rows(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of each measure with its scores in both scenarios, the analysed measure first."""
    scenarios = analysis.scenarios
    for measure in dict.fromkeys([str(analysis.measure), *scenarios.scores]):
        cells = to_builtins(scenarios.scores[measure])
        yield {"measure": measure, **cells, "unassessed": scenarios.unassessed, "reason": scenarios.reason}


def _unassessed_slots(analysis: RunAnalysis) -> list[SlotShare]:
    """Return the slots that have unassessed lines, the slot with the most of them first."""
    slots = [slot for slot in analysis.scenarios.slots if slot.unassessed]
    return sorted(slots, key=lambda slot: -slot.unassessed)


def _interval_rows(analysis: RunAnalysis) -> Iterator[Cells]:
    """Yield the cells of the row of each score that has an interval."""
    if not analysis.intervals:
        return
    for measure, interval in analysis.intervals.scores.items():
        interval_cells = to_builtins(interval)  # the table shows `low`, `high` and `note`
        yield {"measure": measure, "score": interval.point, **interval_cells}


# ---- Tables

BUDGET: Final = Layout(
    "budget",
    "The score if one kind of mistakes alone were corrected, and cumulated:",
    columns("kind", "count", "gain", "score", "cumulated", "note", "reason", gain=Format.GAIN),
    _budget_rows,
    row_selection="whole",
)
COSTLIEST_SLOTS: Final = Layout(
    "slots",
    "Lines by slot and category, the slots with the most mistakes first:",
    (Column("slot"), *(Column(name, name.removeprefix("INCORRECT_")) for name in CATEGORIES)),
    _slots_by_mistakes,
)
_MISTAKE_KEYS: Final = (
    "gain",
    "kind",
    "category",
    "file",
    "line",
    "query",
    "slot",
    "hop",
    "value",
    "node",
    "class",
    "lines",
)
_MISTAKES: Final = Layout(
    "mistakes",
    "The costliest mistakes, with the gain of correcting each one alone:",
    columns(*_MISTAKE_KEYS, "reason", gain=Format.GAIN),
    _mistake_rows,
    shown_keys=("gain", "kind", "category", "file", "line", "slot", "value", "lines", "reason"),
    total=lambda analysis: analysis.mistake_count,
)
COSTLIEST: Final = replace(
    _MISTAKES,
    columns=(*columns("gain", gain=Format.GAIN), *headed(what="category", place="line"), *columns("slot", "value")),
    shown_keys=(),
)

LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout(
        "intervals", "Every score with its bootstrap interval:",
        columns("measure", "score", "low", "high", "note"), _interval_rows, for_people=False,
    ),
    BUDGET,
    _MISTAKES,
    Layout(
        "groups", "By %, the most mistakes first:",
        columns("dimension", "group", *_SCORES, "mistakes", "share", *Counts.__struct_fields__, *_LIMITS), _group_rows,
        shown_keys=("group", *_SCORES, "f1_low", "f1_high", "mistakes", "share", "right", "wrong", "ground_truth"),
        split_by="dimension", min_rows=2,  # one group is the whole table
    ),
    Layout(
        "confusions", "Lines by slot and category:", columns("slot", *CATEGORIES),
        _slots_by_lines,
    ),
    Layout(
        "wrong_values", "The most frequent wrong values:", columns("slot", "value", "count"),
        lambda analysis: analysis.confusions.wrong_values,
    ),
    Layout(
        "near_misses",
        "Lines that are not correct whose place the pool has with another value, or their value elsewhere:",
        columns("category", "lines", "same_place", "same_place_accepted", "same_value", "same_value_accepted"),
        lambda analysis: analysis.confusions.near,
    ),
    Layout(
        "reliability",
        "Reliability: assessed lines in ten bins of equal size by confidence, and the share that was judged correct:",
        columns("lines", "low", "high", "confidence", "right"), _reliability_rows, row_selection="whole",
    ),
    Layout(  # for people they stand beside the score
        "scenarios",
        "Every score in two scenarios: every unassessed answer wrong (pessimistic), and every one right (optimistic):",
        columns("measure", "pessimistic", "score", "optimistic", "unassessed", "reason"), _scenario_rows,
        for_people=False,
    ),
    Layout(
        "unassessed", "Slots by their number of unassessed lines, with the share of all their lines:",
        columns("slot", "lines", "unassessed", "share"),
        _unassessed_slots,
    ),
    Layout(
        "policies", "The scores under the policy %, and the difference to those of the policy in force:",
        columns("policy", "measure", "score", "difference", "reason", difference=Format.GAIN), _policy_rows,
        split_by="policy", row_selection="whole",
    ),
    Layout(
        "sweep", "The scores without the lines whose confidence is below a threshold:",
        columns("threshold", *_SCORES, "lines", "gain", "reason", gain=Format.GAIN), lambda analysis: analysis.sweep,
        row_selection="spread",
    ),
)  # fmt: skip
"""The tables in the order of the text, a row for each: a new section is added here."""
