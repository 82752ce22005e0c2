"""An analysis as text for people: what a screen holds, or its sections one after the other."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import Final

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.analysis.coldstart.tables import BUDGET, COSTLIEST, COSTLIEST_SLOTS, tables_of
from cs_score.base.display import SCREEN, one_line
from cs_score.statistics.options import sentences
from cs_score.tables.renderers import text

_SLOTS: Final = 5
_MISTAKES: Final = 10


def analysis_text(analysis: Analysis, width: int, top: int | None = None) -> str:
    """Every section with at most `top` rows of each list in lines of at most `width` columns; None: the first screen.

    The inputs' texts are made safe.
    """
    return _first_screen(analysis, min(width, SCREEN)) if top is None else _sections(analysis, width, top)


def _first_screen(analysis: Analysis, width: int) -> str:
    lines = _headline(analysis, width)
    for layout, most in ((BUDGET, None), (COSTLIEST_SLOTS, _SLOTS), (COSTLIEST, _MISTAKES)):
        lines += text(layout.table(analysis), most, width)
    rest = "--all shows every mistake, groups, confusions, policies and thresholds; --format tsv -o DIR writes them."
    return "\n".join([*lines, "", *wrap(rest, width)])


def _sections(analysis: Analysis, width: int, top: int) -> str:
    lines = _headline(analysis, width)
    for table in tables_of(analysis):
        lines += text(table, top, width)
    for sentence in _SENTENCES:
        if found := sentence(analysis):
            lines += ["", *wrap(found, width)]
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
    told = (
        f"{lines} not assessed: the score would be {wrong} if all were wrong (pessimistic scenario) and {right} if all "
        f"were right (optimistic scenario){reason}."
    )
    return [head, *wrap(told, width)]


def _unreachable(analysis: Analysis) -> str:
    row = analysis.budget[-1]
    lost = row.unreachable or {}
    if not lost:
        return ""
    reasons = ", ".join(f"{reason}: {number}" for reason, number in lost.items())
    found = f"{sum(lost.values())} of {row.count} missed classes can be found by no answer of the pool ({reasons})."
    if not isinstance(row.reachable_recall, float):
        return found
    return f"{found} The recall of {analysis.table} that others could reach is {row.reachable_recall:.4f}."


def _best(analysis: Analysis) -> str:
    best = analysis.best
    if best is None or not best.gain:
        return "No threshold of confidence gains anything."
    lines = next(row.lines for row in analysis.sweep if row.threshold == best.threshold)
    return (
        f"The best threshold of confidence is {best.threshold:g}: {best.gain:+.4f}, with {lines} lines; it was chosen "
        "on these data, and others may have another one."
    )


def _structure(analysis: Analysis) -> str:
    structure = analysis.structure
    return (
        f"{structure.merged_nodes} nodes merge several classes, {structure.split_classes} classes are split over "
        f"several nodes, {structure.discarded_lines} lines are beyond a limit on justifications."
    )


def _reliability(analysis: Analysis) -> str:
    over = {"judgments": analysis.reliability, "labels of the policy": analysis.reliability.labels}
    named = {"Brier score": "brier", "expected calibration error": "ece", "area under the ROC curve": "auc"}
    found = []
    for name, each in over.items():
        values = {what: getattr(each, key) for what, key in named.items() if each is not None}
        numbers = ", ".join(f"{what} {value:.4f}" for what, value in values.items() if value is not None)
        if each is not None and numbers:
            found.append(f"Confidences of {each.lines} assessed lines over {name}: {numbers}.")
    return " ".join(found)


def _resampling(analysis: Analysis) -> str:
    if not analysis.intervals:
        return ""
    settings = analysis.intervals.resampling
    drawn = f"{analysis.intervals.units} units ({settings.unit})"
    found = (
        f"In brackets, and low and high: {settings.confidence:g} % {settings.method} bootstrap intervals from "
        f"{settings.resamples} resamples of {drawn}, seed {settings.seed}."
    )
    return " ".join((found, *sentences(analysis.intervals.notes)))


_SENTENCES: Final[tuple[Callable[[Analysis], str], ...]] = (_unreachable, _best, _structure, _reliability, _resampling)
"""What the text says below its tables; nothing where a sentence is empty."""
