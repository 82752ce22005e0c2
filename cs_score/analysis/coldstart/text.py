"""An analysis as text for people: a headline, then its sections as aligned tables, then what is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import Final

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.analysis.coldstart.confidence import Reliability
from cs_score.analysis.coldstart.tables import tables_of
from cs_score.base.display import one_line
from cs_score.statistics.options import sentences
from cs_score.tables.renderers import TOP, text


def analysis_text(analysis: Analysis, width: int, top: int | None = None) -> str:
    """The sections one after the other in lines of at most `width` columns; the inputs' texts are made safe."""
    lines = [_headline(analysis), *wrap(_scenarios(analysis), width)]
    for table in tables_of(analysis):
        lines += text(table, top or TOP)
    for sentence in _SENTENCES:
        if told := sentence(analysis):
            lines += ["", *wrap(told, width)]
    return "\n".join(line[:width] for line in lines)


def _headline(analysis: Analysis) -> str:
    limits = ""
    if analysis.intervals is not None:
        found = analysis.intervals.scores.get(str(analysis.measure))
        if found is not None and found.low is not None and found.high is not None:
            limits = f" [{found.low:.4f}, {found.high:.4f}]"
    return f"{one_line(analysis.run_id)}: {analysis.measure} = {analysis.score:.4f}{limits}"


def _scenarios(analysis: Analysis) -> str:
    found = analysis.scenarios
    if not found.unassessed:
        return ""
    scores = {"wrong (pessimistic scenario)": found.pessimistic, "right (optimistic scenario)": found.optimistic}
    told = " and ".join(
        f"{'none' if score is None else f'{score:.4f}'} if all were {name}" for name, score in scores.items()
    )
    reason = "" if found.reason is None else f" ({one_line(found.reason)})"
    lines = "1 line was" if found.unassessed == 1 else f"{found.unassessed} lines were"
    return f"{lines} not assessed: the score would be {told}{reason}."


def _unreachable(analysis: Analysis) -> str:
    row = analysis.budget[-1]
    lost = row.unreachable or {}
    if not lost:
        return ""
    reasons = ", ".join(f"{reason}: {number}" for reason, number in lost.items())
    recall = (
        ""
        if row.reachable_recall is None
        else (f" The recall of {analysis.table} that others could reach is {row.reachable_recall:.4f}.")
    )
    return (
        f"{sum(lost.values())} of {row.count} missed classes can be found by no answer of the pool ({reasons}).{recall}"
    )


def _structure(analysis: Analysis) -> str:
    structure = analysis.structure
    return (
        f"{structure.merged_nodes} nodes merge several classes, {structure.split_classes} classes are split over "
        f"several nodes, {structure.discarded_lines} lines are beyond a limit on justifications."
    )


def _best(analysis: Analysis) -> str:
    best = analysis.best
    if best is None or not best.gain:
        return "No threshold of confidence gains anything."
    return (
        f"The best threshold of confidence is {best.threshold:g}: {best.gain:+.4f}, with {best.lines} lines; it "
        "was chosen on these data, and others may have another one."
    )


def _reliability(analysis: Analysis) -> str:
    over = {"judgments": analysis.reliability, "labels of the policy": analysis.reliability.labels}
    return " ".join(
        f"Confidences of {found.lines} assessed lines over {name}: {told}."
        for name, found in over.items()
        if found is not None and (told := _in_numbers(found))
    )


def _in_numbers(found: Reliability) -> str:
    named = {"Brier score": found.brier, "expected calibration error": found.ece, "area under the ROC curve": found.auc}
    return ", ".join(f"{name} {value:.4f}" for name, value in named.items() if value is not None)


def _resampling(analysis: Analysis) -> str:
    if analysis.intervals is None:
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
