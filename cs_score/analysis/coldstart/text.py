"""Analyses and differences as text for people: what a screen holds, or all tables one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.analysis.coldstart.difference import Difference
from cs_score.analysis.coldstart.tables import (
    BUDGET,
    COSTLIEST,
    COSTLIEST_SLOTS,
    LARGEST_GROUPS,
    LAYOUTS,
    OF_DIFFERENCE,
    RULES,
    UNITS,
)
from cs_score.analysis.outcomes import heading
from cs_score.base.display import SCREEN, aligned, one_line
from cs_score.statistics.options import sentences
from cs_score.tables.layout import text

_SLOTS: Final = 5
_MISTAKES: Final = 10


def analysis_text(analysis: Analysis, width: int, top: int | None = None) -> str:
    """Every section with at most `top` rows of each list in lines of at most `width` columns; None: the first screen.

    The inputs' texts are made safe.
    """
    width = width if top is not None else min(width, SCREEN)
    lines = _headline(analysis, width)
    if top is None:
        for layout, most in ((BUDGET, None), (COSTLIEST_SLOTS, _SLOTS), (COSTLIEST, _MISTAKES)):
            lines += text(layout.table(analysis), most, width)
        rest = (
            "--all shows every mistake, groups, confusions, policies and thresholds; --format tsv -o DIR writes them."
        )
        return "\n".join([*lines, "", *wrap(rest, width)])
    for layout in LAYOUTS:
        lines += text(layout.table(analysis), top, width)
    for sentence in _sentences(analysis):
        lines += ["", *wrap(sentence, width)]
    return "\n".join(lines)


def _headline(analysis: Analysis, width: int) -> list[str]:
    """The score with its interval, and what it would be if what nobody assessed were wrong, or right."""
    limits = ""
    if analysis.intervals:
        found = analysis.intervals.scores.get(str(analysis.measure))
        if found is not None and found.low is not None and found.high is not None:
            limits = f" [{found.low:.4f}, {found.high:.4f}]"
    head = f"{one_line(analysis.run)}: {analysis.measure} = {analysis.score:.4f}{limits}"[:width]
    scenarios = analysis.scenarios
    if not scenarios.unassessed:
        return [head]
    wrong, right = ("none" if each is None else f"{each:.4f}" for each in (scenarios.pessimistic, scenarios.optimistic))
    reason = "" if scenarios.reason is None else f" ({one_line(scenarios.reason)})"
    lines = "1 line was" if scenarios.unassessed == 1 else f"{scenarios.unassessed} lines were"
    shown = (
        f"{lines} not assessed: the score would be {wrong} if all were wrong (pessimistic scenario) and {right} if all "
        f"were right (optimistic scenario){reason}."
    )
    return [head, *wrap(shown, width)]


def _sentences(analysis: Analysis) -> Iterator[str]:
    row = analysis.budget[-1]
    if lost := row.unreachable or {}:
        reasons = ", ".join(f"{reason}: {number}" for reason, number in lost.items())
        found = f"{sum(lost.values())} of {row.count} missed classes can be found by no answer of the pool ({reasons})."
        if isinstance(row.reachable_recall, float):
            found += f" The recall of {analysis.table} that others could reach is {row.reachable_recall:.4f}."
        yield found
    best, structure = analysis.best, analysis.structure
    if best is None or not best.gain:
        yield "No threshold of confidence gains anything."
    else:
        lines = next(row.lines for row in analysis.sweep if row.threshold == best.threshold)
        yield (
            f"The best threshold of confidence is {best.threshold:g}: {best.gain:+.4f}, with {lines} lines; it was "
            f"chosen on these data as the best of {len(analysis.sweep)}, and others may have another one."
        )
    yield (
        f"{structure.merged_nodes} nodes merge several classes, {structure.split_classes} classes are split over "
        f"several nodes, {structure.discarded_lines} lines are beyond a limit on justifications."
    )
    named = {"Brier score": "brier", "expected calibration error": "ece", "area under the ROC curve": "auc"}
    reliability = []
    for over, each in (("judgments", analysis.reliability), ("labels of the policy", analysis.reliability.labels)):
        values = {what: getattr(each, key) for what, key in named.items() if each is not None}
        numbers = ", ".join(f"{what} {value:.4f}" for what, value in values.items() if value is not None)
        if each is not None and numbers:
            reliability.append(f"Confidences of {each.lines} assessed lines over {over}: {numbers}.")
    if reliability:
        yield " ".join(reliability)
    if analysis.intervals:
        settings = analysis.intervals.resampling
        drawn = f"{analysis.intervals.units} units ({settings.unit})"
        resampling = (
            f"In brackets, and low and high: {settings.confidence:g} % {settings.method} bootstrap intervals from "
            f"{settings.resamples} resamples of {drawn}, seed {settings.seed}."
        )
        several = sum(bool(row.intervals) for rows in analysis.groups.values() for row in rows)
        counted = [f"{several} groups have intervals, each uncorrected for their number."] if several else []
        yield " ".join((resampling, *counted, *sentences(analysis.intervals.notes)))


def difference_text(difference: Difference, width: int, top: int | None = None) -> str:
    """Every table with at most `top` rows in lines of at most `width` columns; None: what a screen of 40 lines holds.

    The inputs' texts are made safe.
    """
    width = width if top is not None else min(width, SCREEN)
    lines = heading(difference, "run", width, str(difference.measure))
    if top is None:
        for layout, most in ((UNITS, 7), (LARGEST_GROUPS, 8), (RULES, 5)):
            lines += text(layout.table(difference), most, width)
        rest = "--all shows every unit, group, answer and class; --format json has all of it."
        return "\n".join([*lines, "", *wrap(rest, width)])
    counted = {"answers": difference.outcomes, "classes": difference.found}
    for layout in OF_DIFFERENCE:
        if counts := counted.get(layout.name):
            rows = [(layout.name, "count"), *((name, str(number)) for name, number in counts.items())]
            lines += ["", *aligned(rows, (False, True))]
        lines += text(layout.table(difference), top, width)
    return "\n".join(lines)
