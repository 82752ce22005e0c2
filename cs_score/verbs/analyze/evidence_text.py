"""The tables and the text of the analysis of a result of an evidence task. A unit is a claim, an instance or a
question. A mode says what an evidence task calls its units, and which measures and statistics it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.evidence.document_text import (
    DocumentText,
    costliest_layout,
    count_column,
    mistakes_layout,
    title_of,
)
from cs_score.analysis.views import answered_count_text
from cs_score.base.display import number_with_noun
from cs_score.base.records import asdict
from cs_score.evidence.mode import Mode
from cs_score.tables.layout import Column, Format, Layout, columns
from cs_score.verbs.analyze.prediction_analysis import EvidenceAnalysis

_BUDGET: Final = Layout(
    "budget",
    "The score if all mistakes of a kind, and no others, were corrected; cumulated, if those above were as well:",
    columns("kind", "count", "gain", "score", "cumulated", gain=Format.GAIN),
    lambda analysis: analysis.budget,
    row_selection="whole",
)
_CONFUSIONS: Final = Layout(
    "confusions",
    "Labels of gold beside those predicted, by %:",
    columns("of", "gold", "predicted", "count"),
    lambda analysis: analysis.confusions,
    split_by="of",
    min_rows=1,
)
_SCENARIOS: Final = Layout(
    "scenarios",
    "Scenarios for answers that nobody has assessed (no limits):",
    columns("scenario", "score", "assumption"),
    lambda analysis: analysis.scenarios or (),
    min_rows=1,
    row_selection="whole",
)
_POLICIES: Final = Layout(
    "policies",
    "The score under other policies, and the difference to that in force:",
    columns("policy", "score", "difference", "reason", difference=Format.GAIN),
    lambda analysis: analysis.policies or (),
    min_rows=1,
    row_selection="whole",
)

_ROWS_ON_SCREEN: Final[Mapping[str, int | None]] = {
    "scenarios": None,
    "policies": None,
    "budget": None,
    "costliest": 10,
    "groups": 8,
}
"""The largest number of rows of each table on a first screen, by the name of the table; None for all rows."""


def layouts_of(mode: Mode) -> Sequence[Layout]:
    """Return the layouts of the tables, in the order in which the text shows them.

    A layout may be for files only (not `for_people`), or for texts only (not `is_file`).
    """
    # Only tasks with judged answers have scores under other assessments or other policies.
    layouts_of_other_scores = (_SCENARIOS, _POLICIES) if mode.has_policies else ()
    costliest = costliest_layout(mode, _count_mistakes)  # its note says how many mistakes are not listed
    return (*layouts_of_other_scores, _BUDGET, costliest, mistakes_layout(mode), _groups_layout(mode), _CONFUSIONS)


def _count_mistakes(analysis: EvidenceAnalysis) -> int:
    """Return the number of all mistakes; the analysis may list only some of them."""
    count = sum([row.count for row in analysis.budget])
    return count or len(analysis.mistakes)


def _groups_layout(mode: Mode) -> Layout:
    """Return the layout of the table of groups.

    A terminal shows the score columns. A table that is written to a file also has a column for each statistic, such as
    a count.
    """
    score_columns = ("precision", "recall", "f1", "mistakes", "share")
    statistics = [count_column(statistic) for statistic in mode.columns]
    return Layout(
        name="groups",
        title="By %:",  # each dimension has its own table, with its name in place of %
        columns=(
            *columns("dimension", "group"),
            Column("units", f"{mode.unit}s"),
            *columns(*score_columns, share=Format.SHARE),
            *columns(*statistics),
        ),
        rows=_group_rows,
        shown_keys=("group", "units", *score_columns),
        split_by="dimension",
    )


def _group_rows(analysis: EvidenceAnalysis) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each group of each dimension, with a column for the total of each statistic."""
    for dimension, groups in analysis.groups.items():
        for group in groups:
            row: dict[str, Any] = {"dimension": dimension, **asdict(group)}
            score_by_measure = row.pop("scores")
            row["score"] = score_by_measure.get(analysis.measure)  # only pages have a column for it
            for statistic, count in row.pop("counts").items():
                row[count_column(statistic)] = count
            yield row


def text_of(mode: Mode, analysis: EvidenceAnalysis, terminal_width: int | None, top: int | None = None) -> str:
    """Return the text of an analysis.

    With `top`, the text has all tables, each with at most `top` rows, and the tables fit `terminal_width`. If there is
    no terminal, `terminal_width` is None, and cells are not shortened. Without `top`, the text has only the first
    screen of at most 40 lines and 80 columns, even if the terminal is wider.
    """
    writer = DocumentText(mode, layouts_of(mode), terminal_width, top)
    lines = [_score_line(mode, analysis), *writer.introduction_lines(analysis)]
    if writer.is_shortened:  # without `top`
        lines += writer.screen_tables(analysis, _ROWS_ON_SCREEN, _mistakes_order)
        lines += writer.hint_lines("--all shows every mistake, group and confusion; --format json has all of it.")
    else:
        lines += writer.all_tables(analysis)
    if not analysis.mistakes:
        lines += ["", "There are no mistakes."]
    return "\n".join(lines)


def _score_line(mode: Mode, analysis: EvidenceAnalysis) -> str:
    """Return the first line of an analysis: its title, the score, and the number of units or answers."""
    units = answered_count_text(analysis) or number_with_noun(analysis.units, mode.unit)
    return f"{title_of(analysis)} = {analysis.score:.4f} over {units}"


def _mistakes_order(row: Mapping[str, Any]) -> float:
    """Return a sort key for groups: those with most mistakes first."""
    return -float(row["mistakes"])
