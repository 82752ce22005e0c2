"""The page of a difference of two runs and its charts: scores, contributions, groups, answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from cs_score.analysis.evidence.document_text import short_value_text
from cs_score.analysis.outcomes import comparison_sentences
from cs_score.base.signature import answered_only_lines
from cs_score.measures.registry import COLD_START_MODE
from cs_score.pages.charts import Bar, Caption, ChartTarget, Dots, Drawing, bars, dots
from cs_score.pages.origins import difference_origin
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

_MOST_DRAWN: Final = 24
"""Units that contribute most, and groups of a dimension, that a chart shows."""


class DifferencePage(PageMaker):
    """The page and the charts of a difference."""

    def page(self) -> Page:
        """Return the page: scores, contributions of units, groups, rules, answers and classes."""
        document = self.document
        view = view_of_differences(task_named(document.task))
        layouts = {layout.name: layout for layout in view.layouts}
        sections = [self._scores(), self._contributions(layouts["units"])]
        if document.groups:
            group_blocks: list[Block] = [charts_side_by_side(self.group_charts())]
            group_blocks += tables_of_document(layouts["groups"], document, "by")
            sections.append(Section("groups", "Scores by group", group_blocks))
        if getattr(document, "rules", None):
            rule_tables = list(tables_of_document(layouts["rules"], document, "rule"))
            sections.append(Section("rules", "Rules", rule_tables))
        sections.append(self._answers())
        if getattr(document, "classes", None):
            layout = layout_with_cells(layouts["classes"], [Column("row")])
            class_tables = tables_of_document(layout, document, "class", is_small=False)
            sections.append(Section("classes", "Classes", [_counts(document.found), *class_tables]))
        sections.append(difference_origin(document))
        title = f"{document.names['b']} against {document.names['a']}"
        return Page(title, f"{document.measure} {document.difference:+.4f}", sections)

    def _scores(self) -> Section:
        """Return the section of both scores, their difference with interval and tests, and the signatures."""
        document = self.document
        # The difference with its interval, the scores, and the p-value
        interval = document.interval
        interval_text = ""
        if interval is not None and interval.low is not None:
            confidence = document.resampling.confidence
            interval_text = f"{interval.low:+.4f} to {interval.high:+.4f} ({confidence:g} % interval)"
        difference = PageFact(f"B - A in {document.measure}", f"{document.difference:+.4f}", interval_text)
        facts = [
            PageFact(f"A: {document.names['a']}", f"{document.a:.4f}"),
            PageFact(f"B: {document.names['b']}", f"{document.b:.4f}"),
        ]
        if document.p is not None:
            p = f"{document.p:.4f}" if document.p >= 0.0001 else "<0.0001"
            facts.append(PageFact("p", p, document.family.test_in_words))
        # What a reader must know of them
        blocks: list[Block] = [Facts([difference], is_main=True), Facts(facts)]
        blocks += answered_only_lines({"A": document.origins["a"], "B": document.origins["b"]})
        blocks += comparison_sentences(document)
        blocks += note_sentences(document.notes)
        blocks.append(Code([f"A {document.signatures['a']}", f"B {document.signatures['b']}"]))
        return Section("scores", "Scores", blocks)

    def _contributions(self, layout: Layout) -> Section:
        """Return the section of the contributions of units to the difference."""
        about = "What each contributes to the difference; all contributions add up to it exactly."
        unit_tables = tables_of_document(self._with_answer_counts(layout), self.document, is_small=False)
        blocks: list[Block] = [about, charts_side_by_side(self.contribution_charts()), *unit_tables]
        return Section("contributions", "Contributions", blocks)

    def _with_answer_counts(self, layout: Layout) -> Layout:
        """Return the layout of units with the number of their answers, which opens these in the table of answers.

        There is no such column if answers belong to SF queries and units are LDC queries.
        """
        unit_names = [_name_of_unit(unit) for unit in self.document.units]
        answer_count_by_unit = Counter([unit_text(answer) for answer in self.document.answers])
        if not set(answer_count_by_unit).intersection(unit_names):
            return layout_with_cells(layout)

        def answer_count(_: Mapping[str, Any], row_number: int) -> object:
            unit = unit_names[row_number]
            count = answer_count_by_unit[unit]
            return link_to_rows(count, ChartTarget("answers", "unit", unit)) if count else 0

        return layout_with_cells(layout, [Column("answers")], {"answers": answer_count})

    def contribution_charts(self) -> Iterator[Drawing]:
        """Yield a chart of the units that contribute most to the difference, either way."""
        document = self.document
        contributing_units = [unit for unit in document.units if unit.contribution]
        if not contributing_units:
            return
        largest_first = sorted(contributing_units, key=lambda unit: -abs(unit.contribution))
        drawn_units = largest_first[:_MOST_DRAWN]
        drawn_units.sort(key=lambda unit: -unit.contribution)
        rows = []
        for unit in drawn_units:
            rows.append(Bar(_name_of_unit(unit), 0.0, unit.contribution, f"{unit.contribution:+.4f}"))
        title = "Contributions to B - A"
        introduction = ""
        if len(rows) < len(contributing_units):
            title += f", the {len(rows)} largest"
            introduction = f"The {len(rows)} largest of {len(contributing_units)}: "
        axis_title = getattr(document, "unit", unit_noun(document.task).capitalize())
        caption = Caption("contributions", title, f"contribution in {document.measure}", axis_title)
        yield bars(caption, rows, introduction=introduction)

    def group_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each dimension: the scores of A and B in its groups."""
        for dimension, groups in self.document.groups.items():
            if not 2 <= len(groups) <= _MOST_DRAWN:
                continue
            rows = []
            for group in groups:
                scores = {"A": group.a, "B": group.b}
                defined_scores = {side: score for side, score in scores.items() if score is not None}
                rows.append(Dots(group.group, defined_scores))
            name = words(dimension)
            caption = Caption(
                f"groups-{slug(dimension)}", f"Scores by {name}", self.document.measure, name, of=dimension
            )
            yield dots(caption, rows)

    def _answers(self) -> Section:
        """Return the section of the answers that counted differently, and how many there are of each outcome."""
        is_cold_start = self.document.task == COLD_START_MODE
        rows = []
        for answer in self.document.answers:
            rows.append(
                {
                    "unit": unit_text(answer),
                    "part": answer.provenance if is_cold_start else answer.part,
                    "value": str(answer.value) if is_cold_start else short_value_text(answer.value),
                    "outcome": answer.outcome,
                    "a": _outcome(answer.a),
                    "b": _outcome(answer.b),
                }
            )
        headings = {
            "unit": unit_noun(self.document.task).capitalize(),
            "part": "Provenance" if is_cold_start else "Part",
            "value": "Value",
            "outcome": "Outcome",
            "a": "A",
            "b": "B",
        }
        answer_tables = table_of_rows("answers", "Answers side by side", rows, headings, is_small=False)
        about = "Those that counted differently, side by side."
        return Section("side-by-side", "Answers", [about, _counts(self.document.outcomes), *answer_tables])

    CHARTS: ClassVar = {"contributions": contribution_charts, "groups": group_charts}


def _name_of_unit(unit: Any) -> str:
    """Return the name of a unit of a difference. In evidence tasks, repetitions of an id have different names."""
    return unit_text(unit) if hasattr(unit, "occurrence") else str(unit.unit)


def _counts(counts: Any) -> Facts:
    """Return the number of answers by outcome; in evidence tasks, by part and outcome."""
    if isinstance(counts, Mapping):
        return Facts([PageFact(outcome, str(count)) for outcome, count in counts.items()])
    return Facts([PageFact(f"{row.part}: {row.outcome}", str(row.count)) for row in counts if row.count])


def _outcome(answer: Any) -> str:
    """Return the outcome of an answer in one of the runs: `RIGHT: CORRECT, class 12 (run.tab line 3)`."""
    if answer is None:
        return "not given"
    if hasattr(answer, "judgment"):
        label = "right" if answer.right else "wrong"
        return f"{label}: {answer.judgment}"
    class_text = "" if answer.class_name is None else f", {answer.class_name}"
    return f"{answer.label}: {answer.category}{class_text} ({answer.file}:{answer.line})"
