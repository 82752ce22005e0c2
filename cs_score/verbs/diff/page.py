"""The page of a difference of two runs, A and B, and its charts: scores, contributions, groups, answers. A unit (a
query, a claim or a question) contributes a part of the difference of the scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from cs_score.analysis.evidence.document_text import short_value_text
from cs_score.analysis.outcomes import comparison_sentences
from cs_score.base.signature import answered_only_lines
from cs_score.measures import COLD_START_MODE
from cs_score.pages.charts import Bar, Caption, ChartTarget, Dots, Drawing, bar_chart, dot_chart
from cs_score.pages.origins import section_on_origin_of_difference
from cs_score.pages.page import (
    Block,
    Code,
    Facts,
    Page,
    PageFact,
    PageMaker,
    Section,
    charts_side_by_side,
    layout_with_cells,
    link_to_rows,
    slug,
    table_of_rows,
    tables_of_document,
    unit_noun,
    unit_text,
)
from cs_score.statistics.resampling_settings import note_sentences
from cs_score.tables.layout import Column, Layout, words
from cs_score.tasks import task_named
from cs_score.verbs.diff.by_task import view_of_differences

if TYPE_CHECKING:
    from cs_score.verbs.diff.evidence_documents import Answer, GroupDifference, OutcomeCount, UnitDifference
    from cs_score.verbs.diff.group_contributions import GroupShare
    from cs_score.verbs.diff.run_difference import AnswerPair, UnitShare

_MOST_DRAWN: Final = 24
"""Units that contribute most, and groups of a dimension, that a chart shows."""


class DifferencePage(PageMaker):
    """The page and the charts of a difference."""

    def page(self) -> Page:
        """Return the page: scores, contributions of units, groups, rules, answers and classes."""
        difference = self.document
        title = f"{difference.names['b']} against {difference.names['a']}"
        return Page(title, f"{difference.measure} {difference.difference:+.4f}", list(self._sections()))

    def _sections(self) -> Iterator[Section]:
        """Yield the sections of the page; there are none for groups, rules and classes that the document lacks."""
        difference = self.document
        view = view_of_differences(task_named(difference.task))
        layouts = {layout.name: layout for layout in view.layouts}
        yield self._scores_section()
        yield self._contributions_section(layouts["units"])
        if difference.groups:
            yield self._groups_section(layouts["groups"])
        if getattr(difference, "rules", None):
            rule_tables = list(tables_of_document(layouts["rules"], difference, "rule"))
            yield Section("rules", "Rules", rule_tables)
        yield self._answers_section()
        if getattr(difference, "classes", None):
            yield self._classes_section(layouts["classes"])
        yield section_on_origin_of_difference(difference)

    def _groups_section(self, layout: Layout) -> Section:
        """Return the section of the scores of A and B by group."""
        group_tables = tables_of_document(layout, self.document, "by")
        return Section("groups", "Scores by group", [charts_side_by_side(self.group_charts()), *group_tables])

    def _classes_section(self, layout: Layout) -> Section:
        """Return the section of the equivalence classes that only one of the two runs has found."""
        # Pages also show the row of the score tables to which a class belongs. It is found in the rows of the document.
        layout_with_row = layout_with_cells(layout, [Column("row")])
        class_tables = tables_of_document(layout_with_row, self.document, "class", is_linked=True)
        return Section("classes", "Classes", [_outcome_facts(self.document.found), *class_tables])

    def _scores_section(self) -> Section:
        """Return the section of both scores, their difference with interval and tests, and the signatures."""
        difference = self.document
        blocks: list[Block] = [Facts([self._difference_fact()], is_main=True), Facts(self._facts())]
        blocks += answered_only_lines({"A": difference.origins["a"], "B": difference.origins["b"]})
        blocks += comparison_sentences(difference)
        blocks += note_sentences(difference.notes)
        blocks.append(Code([f"A {difference.signatures['a']}", f"B {difference.signatures['b']}"]))
        return Section("scores", "Scores", blocks)

    def _difference_fact(self) -> PageFact:
        """Return the difference of the scores with its interval, if that is known."""
        document = self.document
        interval = document.interval
        interval_text = ""
        if interval is not None and interval.low is not None:
            confidence = document.resampling.confidence
            interval_text = f"{interval.low:+.4f} to {interval.high:+.4f} ({confidence:g} % interval)"
        return PageFact(f"B - A in {document.measure}", f"{document.difference:+.4f}", interval_text)

    def _facts(self) -> list[PageFact]:
        """Return the scores of A and B, and the p-value of their difference if there is one."""
        difference = self.document
        facts = [
            PageFact(f"A: {difference.names['a']}", f"{difference.a:.4f}"),
            PageFact(f"B: {difference.names['b']}", f"{difference.b:.4f}"),
        ]
        if difference.p is not None:
            p = f"{difference.p:.4f}" if difference.p >= 0.0001 else "<0.0001"
            facts.append(PageFact("p", p, difference.family.test_in_words))
        return facts

    def _contributions_section(self, layout: Layout) -> Section:
        """Return the section of the contributions of units, such as queries, to the difference.

        The first sentence says "what each contributes", so that it fits the units of any task.
        """
        about = "What each contributes to the difference; all contributions add up to it exactly."
        unit_tables = tables_of_document(self._with_answer_counts(layout), self.document, is_linked=True)
        blocks: list[Block] = [about, charts_side_by_side(self.contribution_charts()), *unit_tables]
        return Section("contributions", "Contributions", blocks)

    def _with_answer_counts(self, layout: Layout) -> Layout:
        """Return the layout of units with one more column: how many of a unit's answers counted differently in A and B.

        Each number is a link to these answers in the table of answers. The column is left out if the units of the
        answers are not those of the layout.
        """
        unit_names = [_name_of_unit(unit) for unit in self.document.units]
        count_by_unit = Counter([unit_text(answer) for answer in self.document.answers])
        has_common_names = not count_by_unit.keys().isdisjoint(unit_names)
        # Either no answer counted differently, or the answers belong to SF queries and the units are LDC queries.
        if not has_common_names:
            return layout_with_cells(layout)  # the same columns, all of which are shown
        links = [_link_to_answers(unit, count_by_unit[unit]) for unit in unit_names]  # in the order of the rows
        make_cell_by_key = {"answers": lambda _row, row_number: links[row_number]}
        return layout_with_cells(layout, [Column("answers")], make_cell_by_key)

    def contribution_charts(self) -> Iterator[Drawing]:
        """Yield a chart of the units that contribute most to the difference, either way."""
        contributing_units = [unit for unit in self.document.units if unit.contribution]
        if not contributing_units:
            return
        rows = [_bar_of_unit(unit) for unit in _units_to_draw(contributing_units)]
        title = "Contributions to B - A"
        introduction = ""
        if len(rows) < len(contributing_units):
            title += f", the {len(rows)} largest"
            introduction = f"The {len(rows)} largest of {len(contributing_units)}: "
        yield bar_chart(self._caption_of_contributions(title), rows, introduction=introduction)

    def _caption_of_contributions(self, title: str) -> Caption:
        """Return the caption of the chart of contributions, whose axes show the measure and the units."""
        difference = self.document
        # Only differences between runs name the kind of their units in `unit` (`LDC query` or `SF query`).
        axis_title = getattr(difference, "unit", unit_noun(difference.task).capitalize())
        return Caption("contributions", title, f"contribution in {difference.measure}", axis_title)

    def group_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each dimension: the scores of A and B in its groups."""
        for dimension, groups in self.document.groups.items():
            if 2 <= len(groups) <= _MOST_DRAWN:
                yield self._chart_of_groups(dimension, groups)

    def _chart_of_groups(self, dimension: str, groups: Iterable[Any]) -> Drawing:
        """Return a chart with the scores of A and B in each group of a dimension; undefined scores are left out."""
        dimension_in_words = words(dimension)
        caption = Caption(
            name=f"groups-{slug(dimension)}",
            title=f"Scores by {dimension_in_words}",
            x_title=self.document.measure,
            y_title=dimension_in_words,
            subject=dimension,
        )
        return dot_chart(caption, [_dots_of_group(group) for group in groups])

    def _answers_section(self) -> Section:
        """Return the section of the answers that counted differently, with the number of answers of each outcome."""
        difference = self.document
        is_of_runs = difference.task == COLD_START_MODE
        make_row = _row_of_run_answer if is_of_runs else _row_of_evidence_answer
        rows = [make_row(answer) for answer in difference.answers]
        headings = _answer_headings(difference.task)
        # The links in the table of units lead to rows of this table (`is_linked`).
        answer_table = table_of_rows("answers", "Answers side by side", rows, headings, is_linked=True)
        about = "Those that counted differently, side by side."
        return Section("side-by-side", "Answers", [about, _outcome_facts(difference.outcomes), *answer_table])

    CHARTS: ClassVar = {"contributions": contribution_charts, "groups": group_charts}


def _link_to_answers(unit: str, count: int) -> object:
    """Return the number of answers of a unit as a link to its rows in the table of answers; 0 without a link."""
    return link_to_rows(count, ChartTarget("answers", "unit", unit)) if count else 0


def _units_to_draw(units: Iterable[Any]) -> list[Any]:
    """Return the units with the largest contributions, positive or negative, from the largest to the smallest one."""
    largest_first = sorted(units, key=lambda unit: -abs(unit.contribution))
    return sorted(largest_first[:_MOST_DRAWN], key=lambda unit: -unit.contribution)


def _bar_of_unit(unit: Any) -> Bar:
    """Return the bar of a unit's contribution, which begins at 0."""
    return Bar(_name_of_unit(unit), 0.0, unit.contribution, f"{unit.contribution:+.4f}")


def _dots_of_group(group: GroupShare | GroupDifference) -> Dots:
    """Return the dots of a group's scores in A and B; an undefined score has no dot."""
    scores = {"A": group.a, "B": group.b}
    return Dots(group.group, {side: score for side, score in scores.items() if score is not None})


def _answer_headings(task_name: str) -> dict[str, str]:
    """Return the headings of the columns of answers, by column key. The first two depend on the task."""
    return {
        "unit": unit_noun(task_name).capitalize(),
        "part": "Provenance" if task_name == COLD_START_MODE else "Part",
        "value": "Value",
        "outcome": "Outcome",
        "a": "A",
        "b": "B",
    }


def _row_of_run_answer(answer: AnswerPair) -> dict[str, Any]:
    """Return the cells of an answer of Cold Start, which has a value and a provenance."""
    return {"unit": unit_text(answer), "part": answer.provenance, "value": str(answer.value), **_outcome_cells(answer)}


def _row_of_evidence_answer(answer: Answer) -> dict[str, Any]:
    """Return the cells of an answer of an evidence task, which is a part of a unit, such as a sentence of a claim."""
    return {
        "unit": unit_text(answer),
        "part": answer.part,
        "value": short_value_text(answer.value),
        **_outcome_cells(answer),
    }


def _outcome_cells(answer: AnswerPair | Answer) -> dict[str, str]:
    """Return the cells of an answer that say how it counted: together, in A and in B."""
    return {"outcome": answer.outcome, "a": _label_in_words(answer.a), "b": _label_in_words(answer.b)}


def _name_of_unit(unit: UnitShare | UnitDifference) -> str:
    """Return the name of a unit of a difference. In evidence tasks, repetitions of an id have different names."""
    return unit_text(unit) if hasattr(unit, "occurrence") else str(unit.unit)


def _outcome_facts(counts: Mapping[str, int] | Iterable[OutcomeCount]) -> Facts:
    """Return the number of answers with each outcome as facts of the page, such as `right in both: 3`.

    In evidence tasks, `counts` are rows with part, outcome and count; those with the count 0 are left out.
    """
    if isinstance(counts, Mapping):
        return Facts([PageFact(outcome, str(count)) for outcome, count in counts.items()])
    return Facts([PageFact(f"{row.part}: {row.outcome}", str(row.count)) for row in counts if row.count])


def _label_in_words(answer: Any) -> str:
    """Return how an answer counted in one of the runs: `right: CORRECT, CS14_0001:2 (run.tab:3)`.

    `answer` is an AnswerLabel of a run or a Judgment of an evidence task (`wrong: not in gold`). It is None if there is
    no answer.
    """
    if answer is None:
        return "not given"
    if hasattr(answer, "judgment"):
        label = "right" if answer.right else "wrong"
        return f"{label}: {answer.judgment}"
    class_text = "" if answer.class_name is None else f", {answer.class_name}"
    return f"{answer.label}: {answer.category}{class_text} ({answer.file}:{answer.line})"
