"""The sections of an analysis, and a difference, as tables: in columns of a text, in files separated by tabs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.analysis.coldstart.difference import AnswerLabel, Difference
from cs_score.base.records import replace, to_builtins
from cs_score.coldstart.judging import CATEGORIES, Counts
from cs_score.tables.layout import Column, Format, Layout, columns

_SCORES: Final = ("precision", "recall", "f1")
_LIMITS: Final = tuple(f"{name}_{limit}" for name in _SCORES for limit in ("low", "high"))


def _mistakes(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in analysis.mistakes:
        yield {**to_builtins(row), "lines": len(row.added) - len(row.removed)}


def _groups(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in analysis.groups.items():
        for group in map(to_builtins, groups):
            intervals = group.get("intervals", {}).items()
            limits = {f"{name}_{limit}": each.get(limit) for name, each in intervals for limit in ("low", "high")}
            yield {"dimension": dimension, **group, **group["counts"], **limits}


def _intervals(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for name, each in analysis.intervals.scores.items() if analysis.intervals else ():
        yield {"measure": name, "score": each.point, **to_builtins(each)}


def _slots(analysis: Analysis) -> dict[str, dict[str, Any]]:
    """A row for each slot; categories that no line has are empty."""
    met = dict.fromkeys((each.category for each in analysis.confusions.slots), 0)
    rows: dict[str, dict[str, Any]] = {}
    for each in analysis.confusions.slots:
        rows.setdefault(each.slot, {"slot": each.slot, **met})[each.category] = each.count
    return rows


def _costliest_slots(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    rows = _slots(analysis)
    yield from (rows.get(group.group, {"slot": group.group}) for group in analysis.groups["slot"])


def _costliest(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in analysis.mistakes:
        what = row.category or f"in {row.kind}"
        yield {"gain": row.gain, "category": what, "line": f"{row.file.rpartition('/')[2]}:{row.line}",
               "slot": row.slot, "value": row.value}  # fmt: skip


def _reliability(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for over, found in (("judgments", analysis.reliability), ("labels", analysis.reliability.labels)):
        for each in () if found is None else found.bins:
            yield {"over": over, **to_builtins(each)}


def _policies(analysis: Analysis) -> Iterator[Mapping[str, Any]]:
    for row in map(to_builtins, analysis.policies):
        for name, score in row["scores"].items():
            difference = None if score is None else score - analysis.scores[name]
            yield {"policy": row["name"], "measure": name, "score": score, "difference": difference,
                   "reason": row.get("reason")}  # fmt: skip


BUDGET: Final = Layout(
    "budget",
    "The score if one kind of mistakes alone were corrected, and cumulated:",
    columns("kind", "count", "gain", "score", "cumulated", "reason", gain=Format.GAIN),
    lambda analysis: map(to_builtins, analysis.budget),
    most="whole",
)
COSTLIEST_SLOTS: Final = Layout(
    "slots",
    "Lines by slot and category, the slots with the most mistakes first:",
    (Column("slot"), *(Column(name, name.removeprefix("INCORRECT_")) for name in CATEGORIES)),
    _costliest_slots,
)
COSTLIEST: Final = Layout(
    "costliest",
    "The costliest mistakes, with the gain of correcting each one alone:",
    columns("gain", "category", "line", "slot", "value", gain=Format.GAIN),
    _costliest,
    total=lambda analysis: analysis.mistake_count,
)
_MISTAKES: Final = Layout(
    "mistakes",
    "The costliest mistakes, with the gain of correcting each one alone:",
    columns(
        "gain", "kind", "category", "file", "line", "query", "slot", "hop", "value", "node", "class", "lines",
        "reason", gain=Format.GAIN,
    ),
    _mistakes,
    shown=("gain", "kind", "category", "file", "line", "slot", "value", "lines", "reason"),
    total=lambda analysis: analysis.mistake_count,
)  # fmt: skip

LAYOUTS: Final = (
    Layout(
        "intervals",
        "Every score with its bootstrap interval:",
        columns("measure", "score", "low", "high", "standard_error", "note"),
        _intervals,
        for_people=False,
    ),
    BUDGET,
    _MISTAKES,
    Layout(
        "groups",
        "By %, the most mistakes first:",
        columns("dimension", "group", *_SCORES, "mistakes", "share", *Counts.__struct_fields__, *_LIMITS),
        _groups,
        shown=(
            "group", "precision", "recall", "f1", "f1_low", "f1_high", "mistakes", "share", "right", "wrong",
            "ground_truth",
        ),
        by="dimension",
        fewest=2,  # one group is the whole table
    ),
    Layout(
        "confusions",
        "Lines by slot and category:",
        columns("slot", *CATEGORIES),
        lambda analysis: sorted(
            _slots(analysis).values(), key=lambda row: -sum(row.get(category, 0) for category in CATEGORIES)
        ),
    ),
    Layout(
        "wrong_values",
        "The most frequent wrong values:",
        columns("slot", "value", "count"),
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


# ---- A difference

_SHARE: Final = Column("contribution", format=Format.CONTRIBUTION)
_SIDES: Final = (Column("a", "A"), Column("b", "B"))


def _compared_groups(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in difference.groups.items():
        yield from ({"dimension": dimension.replace("_", " "), **to_builtins(group)} for group in groups)


def _answers(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for pair in difference.answers:
        yield {"value": pair.value, "query": pair.query, "a": _label(pair.a), "b": _label(pair.b)}


def _label(found: AnswerLabel | None) -> str | None:
    return None if found is None else f"{found.label} ({found.category}, line {found.line})"


def _rules(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for rule in difference.rules or ():
        rows = [f"{row.row} ({row.table} {row.level})" for row in rule.rows]
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        yield {"rule": rule.rule or "no rule alone", "rows": len(rows), "which": f"{rows[0]}{more}" if rows else
               f"not scored: {rule.reason}"}  # fmt: skip


UNITS: Final = Layout(
    "units", "Units by their contribution to the difference:", (_SHARE, Column("unit"), *_SIDES), lambda d: d.units
)
GROUPS: Final = Layout(
    "groups",
    "By %:",
    (Column("dimension"), _SHARE, Column("group"), Column("n"), *_SIDES),
    _compared_groups,
    by="dimension",
)
LARGEST_GROUPS: Final = replace(
    GROUPS,
    title="Groups by the size of their contribution:",
    rows=lambda difference: sorted(_compared_groups(difference), key=lambda group: -abs(group["contribution"] or 0.0)),
    shown=("contribution", "dimension", "group", "n", "a", "b"),
    by="",
)
RULES: Final = Layout(
    "rules",
    "Rows that change by one rule of the edition alone:",
    columns("rule", "rows", "which"),
    _rules,
    fewest=1,
    longest=100,
)
ANSWERS: Final = Layout(
    "answers", "Answers that counted differently:", (Column("value"), *_SIDES, Column("query")), _answers, fewest=1
)
CLASSES: Final = Layout(
    "classes", "Classes that one of the two has found:", columns("outcome", "class"),
    lambda difference: map(to_builtins, difference.classes), fewest=1,
)  # fmt: skip

OF_DIFFERENCE: Final = (UNITS, GROUPS, RULES, ANSWERS, CLASSES)
"""The tables of a difference, a file each."""
