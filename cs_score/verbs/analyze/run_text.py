"""Print the analysis of a Cold Start run as a text for people: the score, what the mistakes cost, and sentences on
what no table shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Final

from cs_score.analysis.coldstart.groups import Group
from cs_score.analysis.coldstart.scenarios import Scenario, Scenarios
from cs_score.analysis.views import ScreenTable, first_screen
from cs_score.base.display import one_line, prose_width
from cs_score.measures import undefined_sentences
from cs_score.statistics.resampling_settings import note_sentences
from cs_score.tables.layout import text_lines
from cs_score.verbs.analyze.confusions import Structure
from cs_score.verbs.analyze.reliability import Reliability
from cs_score.verbs.analyze.run_analysis import RunAnalysis
from cs_score.verbs.analyze.run_tables import BUDGET, COSTLIEST, COSTLIEST_SLOTS, LAYOUTS

_TABLES_OF_FIRST_SCREEN: Final = (
    ScreenTable(BUDGET, None),
    ScreenTable(COSTLIEST_SLOTS, 5),
    ScreenTable(COSTLIEST, 10),
)
_HINT_AT_OTHER_TABLES: Final = (
    "--all shows every mistake, groups, confusions, policies and thresholds; --format tsv -o DIR writes them."
)


def text_of(analysis: RunAnalysis, terminal_width: int | None, top: int | None = None) -> str:
    """Return the text of an analysis.

    With `top` it has every table, each with at most `top` rows; without, it has only the first screen. Tables fit the
    width of the terminal; if this is None, cells are not cut. Control characters in texts of the inputs are replaced.
    """
    width = prose_width(terminal_width, fits_one_screen=top is None)
    head = _analysis_head(analysis, width)
    if top is None:
        return "\n".join(first_screen(analysis, head, _TABLES_OF_FIRST_SCREEN, _HINT_AT_OTHER_TABLES, width))
    return "\n".join(_whole_analysis(analysis, head, terminal_width, top))


def _whole_analysis(analysis: RunAnalysis, head: Sequence[str], terminal_width: int | None, top: int) -> list[str]:
    """Return the lines of an analysis: its head, all tables, and sentences on what the tables do not show.

    Each table has at most `top` rows, and fits the width of the terminal unless this is None.
    """
    width = prose_width(terminal_width, fits_one_screen=False)
    lines = list(head)
    for layout in LAYOUTS:
        lines += text_lines(layout.table(analysis), top, terminal_width)
    for sentence in _closing_sentences(analysis):
        lines.append("")
        lines += wrap(sentence, width)
    return lines


# ---- The head of an analysis


def _analysis_head(analysis: RunAnalysis, width: int) -> list[str]:
    """Return the first lines of an analysis: the score with its interval, undefined measures, and both scenarios."""
    lines = [f"{one_line(analysis.run)}: {analysis.measure} = {analysis.score:.4f}{_limits_in_brackets(analysis)}"]
    for sentence in undefined_sentences(analysis.undefined or {}):
        lines += wrap(f"Undefined for this run: {sentence}.", width)
    return lines + _scenario_lines(analysis.scenarios, width)


def _limits_in_brackets(analysis: RunAnalysis) -> str:
    """Return the limits of the score's interval, ` [0.4012, 0.5034]`; an empty text if there is no interval."""
    if not analysis.intervals:
        return ""
    interval = analysis.intervals.scores.get(str(analysis.measure))
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f" [{interval.low:.4f}, {interval.high:.4f}]"


def _scenario_lines(scenarios: Scenarios, width: int) -> list[str]:
    """Return a sentence on unassessed answers as lines: the scores if all of them were wrong, and if all were right.

    The list is empty if every answer was assessed.
    """
    if not scenarios.unassessed:
        return []
    answers = "1 answer was" if scenarios.unassessed == 1 else f"{scenarios.unassessed} answers were"
    # `scenarios.reason` says why a score is missing; `scenarios.shown` has the scores to be shown, by measure.
    reason = "" if scenarios.reason is None else f" ({one_line(scenarios.reason)})"
    scores = "; ".join([_scores_in_words(measure, scenario) for measure, scenario in scenarios.shown.items()])
    sentence = (
        f"{answers} not assessed. Two scenarios, all wrong (pessimistic) and all right (optimistic): {scores}{reason}."
    )
    return wrap(sentence, width)


def _scores_in_words(measure: str, scenario: Scenario) -> str:
    """Return the score by a measure, and what it would be in both scenarios: "F1 0.4583 (0.4412, 0.5034)"."""
    all_wrong = _score_in_words(scenario.pessimistic)
    all_right = _score_in_words(scenario.optimistic)
    return f"{measure} {scenario.score:.4f} ({all_wrong}, {all_right})"


def _score_in_words(score: float | None) -> str:
    """Return a score with four decimal places, or `none` if the scorer would not give a score."""
    return "none" if score is None else f"{score:.4f}"


# ---- The end of an analysis


def _closing_sentences(analysis: RunAnalysis) -> list[str]:
    """Return the sentences at the end: on classes that cannot be found, thresholds, nodes, confidences and intervals.

    A sentence is left out if its part of the analysis is empty.
    """
    sentences = [
        _unreachable_sentence(analysis),
        _threshold_sentence(analysis),
        _structure_sentence(analysis.structure),
        _reliability_sentence(analysis.reliability),
        _interval_sentences(analysis),
    ]
    return [sentence for sentence in sentences if sentence is not None]


def _structure_sentence(structure: Structure) -> str:
    """Return a sentence on nodes that merge classes, on classes that are split over nodes, and on discarded lines."""
    return (
        f"{structure.merged_nodes} nodes merge several classes, {structure.split_classes} classes are split over "
        f"several nodes, {structure.discarded_lines} lines are beyond a limit on justifications."
    )


def _reliability_sentence(reliability: Reliability) -> str | None:
    """Return a sentence with the numbers of reliability, such as the Brier score, or None if all are undefined."""
    if not reliability.numbers:
        return None
    numbers = ", ".join([f"{name} {value:.4f}" for name, value in reliability.numbers.items()])
    return f"Confidences of {reliability.lines} assessed lines: {numbers}."


def _unreachable_sentence(analysis: RunAnalysis) -> str | None:
    """Return a sentence on the missed classes that no answer of the pool can find, or None if there are none.

    A second sentence gives the highest recall that answers of the pool can reach.
    """
    missed_classes = analysis.budget[-1]  # missed classes are the last kind of mistakes
    count_by_reason = missed_classes.unreachable or {}
    if not count_by_reason:
        return None
    reasons = ", ".join([f"{reason}: {count}" for reason, count in count_by_reason.items()])
    count = sum(count_by_reason.values())
    sentence = f"{count} of {missed_classes.count} missed classes can be found by no answer of the pool ({reasons})."
    recall = missed_classes.reachable_recall
    if isinstance(recall, float):  # it may be None (undefined) or UNSET (another kind of mistakes)
        sentence += f" The recall of {analysis.table} that others could reach is {recall:.4f}."
    return sentence


def _threshold_sentence(analysis: RunAnalysis) -> str:
    """Return a sentence on the threshold of confidence that gains most, or a sentence that none gains anything."""
    best = analysis.best
    if best is None or not best.gain:
        return "No threshold of confidence gains anything."
    line_count_by_threshold = {row.threshold: row.lines for row in analysis.sweep}
    line_count = line_count_by_threshold[best.threshold]  # the threshold comes from one of these rows
    return (
        f"The best threshold of confidence is {best.threshold:g}: {best.gain:+.4f}, with {line_count} lines; it was "
        f"chosen on these data as the best of {len(analysis.sweep)}, and others may have another one."
    )


def _interval_sentences(analysis: RunAnalysis) -> str | None:
    """Return sentences on how the intervals were computed, with notes on them, or None if there are no intervals."""
    if not analysis.intervals:
        return None
    settings = analysis.intervals.resampling
    sentences = [
        f"In brackets, and low and high: {settings.confidence:g} % {settings.method} bootstrap intervals from "
        f"{settings.resamples} resamples of {analysis.intervals.units} units ({settings.unit}), "
        f"seed {settings.seed}."
    ]
    group_count = sum([_count_with_intervals(groups) for groups in analysis.groups.values()])
    if group_count:
        sentences.append(f"{group_count} groups have intervals, each uncorrected for their number.")
    sentences += note_sentences(analysis.intervals.notes)
    return " ".join(sentences)


def _count_with_intervals(groups: Iterable[Group]) -> int:
    """Return how many of some groups have intervals of their scores."""
    return len([group for group in groups if group.intervals])
