"""The sections of an analysis as tables: what the text shows in columns, and what stands in files separated by tabs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.coldstart.judging import CATEGORIES, Counts
from cs_score.tables.layout import Format, Layout, Table, columns

_SCORES: Final = ("precision", "recall", "f1")
_LIMITS: Final = tuple(f"{name}_{limit}" for name in _SCORES for limit in ("low", "high"))


def _mistakes(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in analysis.mistakes:
        yield {
            "gain": row.gain, "kind": row.kind, "category": row.category, "file": row.file, "line": row.line,
            "query": row.query, "slot": row.slot, "hop": row.hop, "value": row.value, "node": row.node,
            "class": row.class_name, "lines": row.change.size, "reason": row.effect.reason,
        }  # fmt: skip


def _groups(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in analysis.groups.items():
        for group in groups:
            limits = {
                f"{name}_{limit}": getattr(interval, limit)
                for name, interval in (group.intervals or {}).items()
                for limit in ("low", "high")
            }
            parts = {"dimension": dimension, "group": group.group, "mistakes": group.mistakes, "share": group.share}
            yield {**parts, **group.scores, **group.counts._asdict(), **limits}


def _intervals(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for name, each in {} if analysis.intervals is None else analysis.intervals.scores.items():
        limits = {"low": each.low, "high": each.high, "standard_error": each.standard_error}
        yield {"measure": name, "score": each.point, **limits, "note": each.note or None}


def _slots(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    """A row for each slot, those with the most lines first; categories that no line has are empty."""
    counts: dict[str, dict[str, int]] = {}
    for each in analysis.confusions.slots:
        counts.setdefault(each.slot, {})[each.category] = each.count
    met = {each.category for each in analysis.confusions.slots}
    for slot, of_slot in sorted(counts.items(), key=lambda item: -sum(item[1].values())):
        yield {"slot": slot, **{category: of_slot.get(category, 0) for category in met}}


def _reliability(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for over, found in (("judgments", analysis.reliability), ("labels", analysis.reliability.labels)):
        for each in () if found is None else found.bins:
            parts = {"lines": each.lines, "low": each.low, "high": each.high}
            yield {"over": over, **parts, "confidence": each.confidence, "right": each.right}


def _policies(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in analysis.policies:
        for name, score in row.scores.items():
            difference = None if score is None else score - analysis.scores[name]
            yield {
                "policy": row.under.name, "measure": name, "score": score, "difference": difference,
                "reason": row.reason,
            }  # fmt: skip


LAYOUTS: Final = (
    Layout(
        "intervals",
        "Every score with its bootstrap interval:",
        columns("measure", "score", "low", "high", "standard_error", "note"),
        _intervals,
        for_people=False,
    ),
    Layout(
        "budget",
        "The score if all mistakes of a kind, and no others, were mended; cumulated, if those above were as well:",
        columns("kind", "count", "gain", "score", "cumulated", "reason", gain=Format.GAIN),
        lambda analysis: analysis.budget,
        most="whole",
    ),
    Layout(
        "mistakes",
        "The costliest mistakes, with what mending each one alone would bring:",
        columns(
            "gain", "kind", "category", "file", "line", "query", "slot", "hop", "value", "node", "class", "lines",
            "reason", gain=Format.GAIN,
        ),
        _mistakes,
        shown=("gain", "kind", "category", "file", "line", "slot", "value", "lines", "reason"),
        total=lambda analysis: analysis.mistake_count,
    ),
    Layout(
        "groups",
        "By %, the most mistakes first:",
        columns("dimension", "group", *_SCORES, "mistakes", "share", *Counts._fields, *_LIMITS),
        _groups,
        shown=(
            "group", "precision", "recall", "f1", "f1_low", "f1_high", "mistakes", "share", "right", "wrong",
            "ground_truth",
        ),
        by="dimension",
        fewest=2,  # one group is the whole table
    ),
    Layout("confusions", "Lines by slot and category:", columns("slot", *CATEGORIES), _slots),
    Layout(
        "wrong_values",
        "The most frequent wrong values:",
        columns("slot", "value", "count"),
        lambda analysis: analysis.confusions.wrong_values,
    ),
    Layout(
        "near_misses",
        "Lines that are not correct, and what the pool has: their place with another value, their value elsewhere:",
        columns("category", "lines", "same_place", "same_place_accepted", "same_value", "same_value_accepted"),
        lambda analysis: analysis.confusions.near,
    ),
    Layout(
        "reliability",
        "Reliability over %: assessed lines in ten bins of equal size by confidence, and the share that is right:",
        columns("over", "lines", "low", "high", "confidence", "right"),
        _reliability,
        by="over",
        most="whole",
    ),
    Layout(
        "scenarios",
        "The score if every unassessed answer were wrong (pessimistic), and if every one were right (optimistic):",
        columns("pessimistic", "score", "optimistic", "unassessed", "reason"),
        lambda analysis: [analysis.scenarios],
        for_people=False,  # they stand beside the score
    ),
    Layout(
        "unassessed",
        "Slots by their number of unassessed lines, with the share of all their lines:",
        columns("slot", "lines", "unassessed", "share"),
        lambda analysis: sorted(
            (slot for slot in analysis.scenarios.slots if slot.unassessed), key=lambda slot: -slot.unassessed
        ),
    ),
    Layout(
        "policies",
        "The scores under the policy %, and the difference to those of the policy in force:",
        columns("policy", "measure", "score", "difference", "reason", difference=Format.GAIN),
        _policies,
        by="policy",
        most="whole",
    ),
    Layout(
        "sweep",
        "The scores without the lines whose confidence is below a threshold:",
        columns("threshold", *_SCORES, "lines", "gain", "reason", gain=Format.GAIN),
        lambda analysis: analysis.sweep,
        most="spread",
    ),
)  # fmt: skip
"""The tables in the order of the text, a row for each: a new section is added here."""


def tables_of(analysis: Analysis) -> list[Table]:
    """Every section as a table."""
    return [layout.table(analysis) for layout in LAYOUTS]
