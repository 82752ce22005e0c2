"""The page of an analysis of one run, and its charts by kind. The analysis (`document`) says what each mistake costs:
how much a score would gain if the mistake were corrected. A page consists of sections, and a section consists of
blocks: facts, charts, tables and texts. An expandable entry is an explanation, such as that of a line, that opens below
the cell of a table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from cs_score.analysis.evidence.document_text import as_json
from cs_score.base.records import asdict, replace
from cs_score.measures import COLD_START_MODE, headline_names, undefined_sentences
from cs_score.pages import openings
from cs_score.pages.charts import (
    Bar,
    Caption,
    ChartTarget,
    Curve,
    Dots,
    Drawing,
    GridRow,
    Mark,
    bar_chart,
    curve_chart,
    dot_chart,
    grid_chart,
    limits_by_series,
)
from cs_score.pages.origins import section_on_origin_of_analysis
from cs_score.pages.page import (
    MOST_ROWS,
    Block,
    Code,
    Contradiction,
    ExpandableEntries,
    Facts,
    Page,
    PageFact,
    PageMaker,
    Section,
    cell_with_details,
    charts_side_by_side,
    layout_with_cells,
    link_to_rows,
    slug,
    table_of_rows,
    tables_of_document,
    unit_noun,
    unit_text,
)
from cs_score.tables.layout import Cell, Column, Layout, title_case, words
from cs_score.tasks import task_named
from cs_score.verbs.analyze.by_task import view_of_analyses

if TYPE_CHECKING:
    from cs_score.analysis.coldstart.budget import BudgetRow
    from cs_score.analysis.coldstart.scenarios import Scenarios
    from cs_score.verbs.analyze.confusions import Structure

_SERIES: Final = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
"""The scores of groups and thresholds, with their names in charts."""

MOST_DETAILS: Final = 1000
"""How many of the costliest mistakes have their effects on all measures in the page."""

_MOST_GROUPS: Final = 20
"""How many groups of a dimension are drawn."""

_TAUTOLOGICAL: Final = ("category", "judgment")
"""Dimensions that say whether an answer is right: precision is 1 or 0 in each of their groups."""

_FIRST_DIMENSIONS: Final = {"slot": 0, "hop": 1}
"""Dimensions that come before all others."""

_LEFT_TO_JSON: Final = (
    "submitted",
    "correct",
    "incorrect",
    "inexact",
    "incorrect_parent",
    "unassessed",
    "redundant",
    "ignored",
    "precision_low",
    "precision_high",
    "recall_low",
    "recall_high",
)
"""Columns of the table of groups that would make it wider than a page; the JSON has them."""

_MOST_LINES: Final = 100
"""The most lines of a scenario that the page shows; the JSON has them all."""

_MOST_REMOVED: Final = 50
"""The most lines that the page shows of those without which a mistake is corrected; the JSON has them all."""

_QUERY_HEADINGS: Final = {
    "ldc": "LDC query",
    "name": "Entity",
    "slot": "Slot",
    "hop": "Hop",
    "lines": "Lines",
    "right": "Right",
    "wrong": "Wrong",
    "found": "Classes found",
    "missed": "Missed",
}
"""Columns that describe a query; units of evidence have none of them."""


def _number_text(number: float | None, form: str, otherwise: str = "unknown") -> str:
    """Return a number in the format `form`, such as `.4f`; the text `otherwise` if there is no number."""
    return otherwise if number is None else format(number, form)


class AnalysisPage(PageMaker):
    """The page and the charts of an analysis."""

    def __init__(self, analysis: Any) -> None:
        """Take the `analysis` to show: a RunAnalysis of a Cold Start run, or an EvidenceAnalysis of predictions."""
        super().__init__(analysis)
        self.measure = str(analysis.measure)
        self.is_cold_start = analysis.task == COLD_START_MODE

    @cached_property
    def layouts(self) -> Mapping[str, Layout]:
        """The layouts of the tables that analyses of the task have, by name."""
        view = view_of_analyses(task_named(self.document.task))
        return {layout.name: layout for layout in view.layouts}

    @cached_property
    def expandable_entries(self) -> ExpandableEntries:
        """The explanations of lines, queries and units. Each opens below a cell with its key."""
        return openings.expandable_entries_of(self.document)

    def page(self) -> Page:
        """Return the page: scores, costs and kinds of mistakes, groups, confusions, units, and how to make it again."""
        title = self.document.run if self.is_cold_start else f"{self.document.task} predictions"
        sections = self._sections_of_run() if self.is_cold_start else self._sections_of_predictions()
        how_made = section_on_origin_of_analysis(self.document)
        sections.append(how_made)
        return Page(title, self._subtitle(), sections, self.expandable_entries)

    def _subtitle(self) -> str:
        """Return the measure with its score and, if known, the number of answers that it is about: "F1 0.4583"."""
        score_text = f"{self.measure} {self.document.score:.4f}"
        origin = self.document.origin
        if not origin or origin.answered_count_text is None:
            return score_text
        return f"{score_text} over {origin.answered_count_text}"

    def _sections_of_run(self) -> list[Section]:
        """Return the sections about a Cold Start run, in the order of the page."""
        return [
            *self._sections_of_mistakes(),
            self._confidence_section(),
            self._units_section(),
            self._every_score_section(),
            self._scenarios_section(),
            self._policies_section(),
            self._problems_section(),
        ]

    def _sections_of_predictions(self) -> list[Section]:
        """Return the sections about predictions of an evidence task, in the order of the page."""
        return [*self._sections_of_mistakes(), self._units_section(), self._every_score_section()]

    def _sections_of_mistakes(self) -> list[Section]:
        """Return the sections with which the pages of all tasks begin: on the scores, and on the cost of mistakes."""
        return [
            self._scores_section(),
            self._mistakes_section(),
            self._budget_section(),
            self._groups_section(),
            self._confusions_section(),
        ]

    # ---- Scores

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a contradiction for each explanation that refers to a text that the document does not have.

        Lines, queries, classes and units are explained in steps. A step is a position in the list `texts` of the
        document.
        """
        explanations = self.document.explanations
        if not explanations:
            return
        text_count = len(explanations.texts)
        for kind in ("lines", "queries", "classes", "units"):
            for position, entry in enumerate(getattr(explanations, kind, ())):
                last_text = max(entry.steps, default=-1)  # texts are numbered from 0
                if last_text >= text_count:
                    place = f"/explanations/{kind}/{position}/steps"
                    yield Contradiction(place, f"there is no text {last_text}")

    def _scores_section(self) -> Section:
        """Return the section with the score of the chosen measure, the headline measures and the signature."""
        analysis = self.document
        main_score = self._score_fact(self.measure, analysis.score)
        blocks: list[Block] = [Facts([main_score], is_main=True)]
        if not self.is_cold_start:
            blocks += self._evidence_blocks()
        elif analysis.scenarios.unassessed:
            blocks.append(self._scenario_facts())
        blocks += [self._headline_facts(), Code([analysis.signature])]
        # These are the reasons why measures are undefined. Older documents of runs do not have this field. In evidence
        # tasks, the blocks above the scores have already named each undefined measure.
        reason_by_measure = getattr(analysis, "undefined", None) or {}
        blocks += [f"Undefined for this run: {sentence}." for sentence in undefined_sentences(reason_by_measure)]
        return Section("scores", "Scores", blocks)

    def _headline_facts(self) -> Facts:
        """Return the scores of the headline measures of the task, except the measure that is analysed."""
        facts = []
        for name in headline_names(self.document.task):
            if name in self.document.scores and name != self.measure:
                facts.append(self._score_fact(name, self.document.scores[name]))
        return Facts(facts)

    def _score_fact(self, measure: str, score: float) -> PageFact:
        """Return a score as a fact of the page, with the limits of its interval as a detail if it has an interval."""
        score_text = f"{score:.4f}"
        intervals = getattr(self.document, "intervals", None)
        interval = intervals.scores.get(measure) if intervals else None
        if interval is None or interval.low is None or interval.high is None:
            return PageFact(measure, score_text)
        return PageFact(measure, score_text, f"{interval.low:.4f} to {interval.high:.4f}")

    def _evidence_blocks(self) -> list[Block]:
        """Return the blocks above the scores of an evidence task: notes, undefined measures, scenarios, policies."""
        notes = self.document.head or ()
        blocks: list[Block] = list(notes)
        for measure, reason in (self.document.undefined or {}).items():
            blocks.append(f"Undefined: {measure}: {reason}")
        for name in ("scenarios", "policies"):
            if name in self.layouts:  # a small table has neither paging nor filters
                blocks += tables_of_document(self.layouts[name], self.document, is_small=True)
        return blocks

    def _every_score_section(self) -> Section:
        """Return the section with the table of all scores, which has a row for each measure and a column for each hop.

        The score `SF-ALL-Micro-F1@1` is in the row `SF-ALL-Micro-F1` and the column of hop 1.
        """
        row_by_measure: dict[str, dict[str, Any]] = {}
        hops: set[str] = set()
        for name, score in self.document.scores.items():
            measure, _, hop = name.partition("@")  # `hop` is empty in the score over all hops
            hops.add(hop)
            row = row_by_measure.setdefault(measure, {"measure": measure})
            row[_column_of_hop(hop)] = score
        headings = {"measure": "", **_hop_headings(hops)}
        table_blocks = table_of_rows("measures", "Every score", row_by_measure.values(), headings)  # one table
        return Section("every-score", "Every score", list(table_blocks))

    def _scenario_facts(self) -> Facts:
        """Return the scores of the SF table, their values in both scenarios, and the number of unassessed answers.

        In the scenarios all unassessed answers are wrong (pessimistic), or all are right (optimistic).
        """
        scenarios = self.document.scenarios
        explanation = (
            "if every unassessed answer were wrong (pessimistic scenario), and if every one were right (optimistic)"
        )
        facts = []
        for measure, measure_scores in scenarios.shown.items():
            pessimistic = _number_text(measure_scores.pessimistic, ".4f", "none")
            optimistic = _number_text(measure_scores.optimistic, ".4f", "none")
            score_text = f"{measure} {measure_scores.score:.4f}"
            facts.append(PageFact(score_text, f"{pessimistic}, {optimistic}", explanation))
        facts.append(PageFact("unassessed answers", str(scenarios.unassessed), scenarios.reason or ""))
        return Facts(facts)

    # ---- Error budget

    def _budget_section(self) -> Section:
        """Return the section of the error budget: two charts, and a table whose counts are links to the mistakes."""
        about = (
            "Each kind of mistakes corrected alone, and cumulated with those above it. Gains are exact: they are what "
            "the scorer would print. Those of several kinds do not add up."
        )
        layout = layout_with_cells(self.layouts["budget"], make_cell_by_key={"count": self._count_cell})
        blocks: list[Block] = [about, charts_side_by_side(self.gain_charts(), self.step_charts())]
        blocks += tables_of_document(layout, self.document, is_small=True)
        missed_classes = self.document.budget[-1]  # the last kind of mistakes
        # Only rows of Cold Start count the missed classes that cannot be found with any answer of the pool
        # (`unreachable`).
        if getattr(missed_classes, "unreachable", None):
            blocks.append(_unreachable_facts(missed_classes))
        if self.is_cold_start:
            blocks.append(_structure_facts(self.document.structure))
        return Section("errors", "Error budget", blocks)

    def _count_cell(self, row: Mapping[str, Any], _: int) -> object:
        """Return the number of mistakes of a kind; unless it is 0, it is a link to these mistakes in the cost list."""
        count = row["count"]
        return link_to_rows(count, self._link_to_mistakes(row["kind"])) if count else 0

    def _link_to_mistakes(self, kind: str) -> ChartTarget:
        """Return the target of a link to the mistakes of a kind, such as "missed class".

        The link opens the table of mistakes, filtered by the column with the kind.
        """
        if self.is_cold_start:
            return ChartTarget("mistakes", "category", kind.upper())
        return ChartTarget("mistakes", "kind", kind)

    def _budget_bar(self, row: BudgetRow, start: float, end: float, note: str) -> Bar:
        """Return the bar of a kind of mistakes in the chart of the error budget.

        The bar runs from `start` to `end`, which are scores or gains. It is a link to these mistakes if there are any.
        `row` is the row of the error budget, and `note` is the text next to the bar.
        """
        target = self._link_to_mistakes(row.kind) if row.count else None
        return Bar(f"{row.kind} ({row.count})", start, end, note, target)

    def gain_charts(self) -> Iterator[Drawing]:
        """Yield the chart of gains: how much the score would rise if one kind of mistakes alone were corrected."""
        rows = []
        for row in self.document.budget:
            note = _number_text(row.gain, "+.4f")
            rows.append(self._budget_bar(row, start=0.0, end=row.gain or 0.0, note=note))
        caption = Caption(
            "budget-gains", "Gain of each kind corrected alone", f"gain in {self.measure}", "kind (mistakes)"
        )
        yield bar_chart(caption, rows, introduction=f"Gain in {self.measure}: ")

    def step_charts(self) -> Iterator[Drawing]:
        """Yield the chart of how the score rises when the kinds of mistakes are corrected one after the other."""
        rows = []
        score = self.document.score
        for row in self.document.budget:
            score_after_corrections = row.cumulated  # this kind and all kinds before it are corrected
            next_score = score if score_after_corrections is None else score_after_corrections  # None: not computed
            note = _number_text(score_after_corrections, ".4f")
            rows.append(self._budget_bar(row, start=score, end=next_score, note=note))
            score = next_score
        caption = Caption("budget-steps", "Score, one kind after the other", self.measure, "kind (mistakes)")
        introduction = f"{self.measure} {self.document.score:.4f}; then "
        yield bar_chart(caption, rows, introduction=introduction, from_zero=False)

    # ---- Groups

    def _groups_section(self) -> Section:
        """Return the section of groups: a chart and a table for each dimension, such as `slot`."""
        about = "Precision, recall and F1 of the lines and ground truth of each group, and its share of all mistakes."
        if not self.is_cold_start:
            about = f"Scores of the units of each group, by the family of {self.measure}, and its mistakes."
        group_tables = tables_of_document(self._group_layout(), self.document, name="by")  # tables "by-slot" etc.
        return Section("groups", "Scores by group", [about, charts_side_by_side(self.group_charts()), *group_tables])

    def _group_layout(self) -> Layout:
        """Return the layout of the groups on the page, with their rows in the order of the dimensions.

        The columns of the printed table come first, then the others; columns that only the JSON document has are left
        out. In evidence tasks, there is also a column with the scores of the groups.
        """
        layout = self.layouts["groups"]
        if not self.is_cold_start:
            columns = (*layout.columns, Column("score", self.measure))
            layout = replace(layout, columns=columns, shown_keys=("group", "units", "score", *layout.shown_keys))
        other_keys = [key for key in layout.keys if key not in _LEFT_TO_JSON]
        distinct_keys = dict.fromkeys([*layout.shown_keys, *other_keys])
        rows = self._ordered_group_rows(layout)
        # The member `rows` is a function of the document; here the rows are already made.
        return replace(layout, shown_keys=tuple(distinct_keys), rows=lambda _: rows)

    def _ordered_group_rows(self, layout: Layout) -> list[Any]:
        """Return the rows of the groups that the page shows, in the order of the dimensions."""
        position_by_dimension: dict[str, int] = {}
        for position, dimension in enumerate(self._groups_by_dimension()):
            position_by_dimension[dimension] = position
        all_rows: list[Any] = list(layout.rows(self.document))
        rows = [row for row in all_rows if row["dimension"] in position_by_dimension]
        rows.sort(key=lambda row: position_by_dimension[row["dimension"]])
        return rows

    def _groups_by_dimension(self) -> dict[str, Sequence[Any]]:
        """Return the groups of each dimension, groups by slot and by hop first.

        Dimensions that only say whether answers are right are left out.
        """
        names = [name for name in self.document.groups if name not in _TAUTOLOGICAL]
        names.sort(key=lambda name: _FIRST_DIMENSIONS.get(name, len(_FIRST_DIMENSIONS)))
        return {name: self.document.groups[name] for name in names if self.document.groups[name]}

    def group_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each dimension with at least two groups, if at least one of them has a score."""
        for dimension, groups in self._groups_by_dimension().items():
            rows = [self._group_dots(group) for group in _groups_to_draw(groups)]
            has_scores = any(row.score_by_series for row in rows)
            if len(rows) > 1 and has_scores:
                yield _group_chart(dimension, rows, is_part=len(groups) > _MOST_GROUPS)

    def _group_dots(self, group: Any) -> Dots:
        """Return the row of a group in a chart: its precision, recall and F1, with the interval of F1.

        `group` is a Group of a run or an EvidenceGroup of predictions. If it has none of these scores, its score by the
        analysed measure is drawn instead; only groups of evidence tasks have this score.
        """
        name = group.group
        scores = {}
        for key, series in _SERIES.items():
            score = getattr(group, key)
            if score is not None:
                scores[series] = score
        if not scores and self.measure in getattr(group, "scores", {}):
            scores = {self.measure: group.scores[self.measure]}
        intervals = getattr(group, "intervals", None) or {}
        return Dots(name, scores, limits_by_series(intervals.get("f1"), "F1"))

    # ---- Confusions

    def _confusions_section(self) -> Section:
        """Return the section of confusions.

        In evidence tasks, its charts and tables count gold labels and predicted labels. For Cold Start runs, they count
        lines by category, wrong values, and wrong lines that are near answers of the pool.
        """
        about = "How often each label of gold met each predicted one; none where there was no such label."
        if self.is_cold_start:
            about = (
                "Lines by slot and category; the wrong values that were given most often; and of lines of a category "
                "how many have a place of which the pool knows another value, or a value that it knows elsewhere, and "
                "how many of these are accepted answers."
            )
        blocks: list[Block] = [about, charts_side_by_side(self.confusion_charts())]
        table_name_by_layout = {"confusions": "confused", "wrong_values": "wrong-values", "near_misses": "near-misses"}
        for layout_name, table_name in table_name_by_layout.items():
            if layout_name in self.layouts:
                blocks += tables_of_document(self.layouts[layout_name], self.document, table_name)
        return Section("confusions", "Confusions", blocks)

    def confusion_charts(self) -> Iterator[Drawing]:
        """Yield charts of shares.

        For Cold Start, there is one chart, which shows the share of each category in the lines of a slot. For an
        evidence task, there is a chart for each part of a prediction that has labels. For each gold label, it shows the
        shares in which it was predicted as each label.
        """
        if self.is_cold_start:
            counts = [_Count(row.slot, row.category, row.count) for row in self.document.confusions.slots]
            if counts:
                caption = Caption("confusions", "Categories by slot, share of its lines", "category", "slot")
                yield _share_chart(caption, counts)
        else:
            yield from self._label_charts()

    def _label_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each part of a prediction that has labels, such as "stance".

        It shows which labels were predicted for each label of gold, as shares of this label's occurrences.
        """
        counts_by_part: dict[str, list[_Count]] = defaultdict(list)
        for confusion in self.document.confusions:
            part = confusion.of
            counts_by_part[part].append(_Count(confusion.gold, confusion.predicted, confusion.count))
        for part, counts in counts_by_part.items():
            title = f"Labels of each {part}, share of gold's"
            caption = Caption(f"confusions-{slug(part)}", title, "predicted", "gold", subject=part)
            yield _share_chart(caption, counts)

    # ---- Confidence

    def _confidence_section(self) -> Section:
        """Return the section of confidences: the best threshold, reliability in numbers, and both as tables."""
        analysis = self.document
        charts = charts_side_by_side(self.threshold_charts(), self.reliability_charts())
        blocks: list[Block] = [charts, self._confidence_facts()]
        blocks += tables_of_document(self.layouts["sweep"], analysis, is_linked=True)
        blocks += tables_of_document(self.layouts["reliability"], analysis, is_small=True)
        return Section("confidence", "Confidence", blocks)

    def _confidence_facts(self) -> Facts:
        """Return the threshold of confidence with the greatest gain (if any) and the numbers of reliability."""
        facts = []
        best = self.document.best
        if best is not None:
            detail = f"gain {best.gain:+.4f}, the best of {len(self.document.sweep)}, chosen on these data"
            facts.append(PageFact("best threshold", f"{best.threshold:g}", detail))
        reliability = self.document.reliability
        for name, number in reliability.numbers.items():
            facts.append(PageFact(name, f"{number:.4f}", f"{reliability.lines} assessed lines"))
        return Facts(facts)

    def threshold_charts(self) -> Iterator[Drawing]:
        """Yield the chart of precision, recall and F1 of the run when the lines below each threshold are left out.

        A threshold is a confidence. The best threshold is marked in the chart, with its gain over the whole run.
        Analyses of evidence tasks do not have thresholds, so there is no chart for them.
        """
        rows = getattr(self.document, "sweep", ())
        if not rows:
            return
        description = f"{len(rows)} thresholds from {rows[0].threshold:g} to {rows[-1].threshold:g}"
        best = getattr(self.document, "best", None)
        mark = None
        if best is not None:
            mark = Mark(best.threshold, f"best: {best.threshold:g} ({best.gain:+.4f})")
            description += f"; the best is {best.threshold:g}, which gains {best.gain:+.4f}"
        x_title = "threshold: lines of less confidence are left out"
        caption = Caption("sweep", "Scores by confidence threshold", x_title, "score")
        yield curve_chart(caption, f"{description}.", _threshold_curves(rows), mark=mark)

    def reliability_charts(self) -> Iterator[Drawing]:
        """Yield the chart of the share of right answers at each confidence.

        It has a point for each bin, which holds lines of similar confidence. If the confidences are probabilities, the
        points are on the diagonal.
        """
        reliability = getattr(self.document, "reliability", None)
        if reliability is None or not reliability.bins:
            return
        bins = reliability.bins
        texts = [f"confidence {row.confidence:.4f}: {row.right:.4f} of {row.lines} right" for row in bins]
        points = [(row.confidence, row.right) for row in bins]
        caption = Caption(
            name="reliability",
            title=f"Reliability of confidences, {reliability.lines} assessed lines",
            x_title="mean confidence of the bin",
            y_title="share of right answers",
        )
        yield curve_chart(
            caption,
            f"{'; '.join(texts)}.",
            {"answers (number beside each point)": points},
            with_diagonal=True,
            counts=[row.lines for row in bins],
        )

    def precision_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each query: the precision at each rank."""
        return openings.precision_charts(self.document)

    # ---- Mistakes

    def _mistakes_section(self) -> Section:
        """Return the section of the cost list: all mistakes, the costliest first.

        A click on the place of a mistake, or on its unit, unfolds the explanation.
        """
        about = (
            f"What correcting each mistake alone would bring to {self.measure}. The effects on other measures open "
            f"for the {MOST_DETAILS} costliest."
        )
        layout = self._cost_list_of_run() if self.is_cold_start else self._cost_list_of_predictions()
        return Section("costs", "Cost list", [about, *tables_of_document(layout, self.document, is_linked=True)])

    def _cost_list_of_run(self) -> Layout:
        """Return the layout of the cost list of a Cold Start run: more columns, and cells with links."""
        further_columns = [
            Column("place", "File and line"),
            Column("change", "Corrected by"),
            Column("target", "Node or class"),
            Column("effects"),
        ]
        make_cell_by_key = {
            "place": self._place_cell,
            "effects": self._effects_cell,
            "category": _category_cell,
            "change": _change_cell,
            "target": _target_cell,
        }
        # The order of the columns on the page. Columns without a function above have plain cells.
        shown = ("gain", "place", "category", "change", "query", "slot", "hop", "value", "target", "effects")
        return layout_with_cells(self.layouts["mistakes"], further_columns, make_cell_by_key, shown)

    def _cost_list_of_predictions(self) -> Layout:
        """Return the layout of the table of mistakes with their gains, for predictions of an evidence task.

        The gain of a mistake is what its correction adds to the score. The column `part` says where in the prediction
        the mistake is, and the column `effects` says how its correction changes each measure.
        """
        make_cell_by_key = {"unit": self._unit_cell, "effects": self._effects_cell}
        shown = ("gain", "kind", "unit", "part", "predicted", "gold", "effects")
        return layout_with_cells(self.layouts["mistakes"], [Column("effects")], make_cell_by_key, shown)

    def _effects_cell(self, _: Mapping[str, Any], row_number: int) -> Cell | None:
        """Return a cell that unfolds the effects of correcting a mistake on all measures.

        Returns None for mistakes far down the list, because the page would become too large.
        """
        if row_number >= MOST_DETAILS:
            return None
        return _cell_of_effects(self.document.mistakes[row_number])

    def _place_cell(self, _: Mapping[str, Any], row_number: int) -> object:
        """Return a cell with the file and line of a mistake.

        A click on the cell unfolds the explanation of the line, class or node. Explanations have keys such
        as "line run.tab:12" and "node :Entity_1".
        """
        mistake = self.document.mistakes[row_number]
        place = f"{mistake.file}:{mistake.line}"
        name_by_kind = {"line": place, "class": mistake.class_name, "node": mistake.node}
        return self.expandable_entries.cell_that_opens(place, f"{mistake.kind} {name_by_kind[mistake.kind]}")

    def _unit_cell(self, row: Mapping[str, Any], _: int) -> object:
        """Return a cell with the unit of a mistake; a click unfolds the explanation of the unit."""
        return self.expandable_entries.cell_that_opens(row["name"], f"query {row['name']}")

    # ---- Units

    def _units_section(self) -> Section:
        """Return the section of all units that are explained or that have mistakes, with the costliest units first."""
        noun = unit_noun(self.document.task)
        title = "Queries" if noun == "query" else f"{noun}s".capitalize()
        headings = {"unit": title_case(noun), **_QUERY_HEADINGS, "mistakes": "Mistakes", "largest": "Largest gain"}
        unit_tables = table_of_rows("units", title, self._unit_rows(), headings, is_linked=True)
        # "queries" is the anchor of the section in the page, whatever the units are.
        return Section("queries", title, [self._sentences_on_units(noun, title), *unit_tables])

    def _sentences_on_units(self, noun: str, plural: str) -> str:
        """Return the sentences above the table of units: on its order, what a click shows, and what is left out.

        `noun` is the word for a unit, such as "query", and `plural` is the word for several units, such as "Queries".
        """
        about = f"{plural} with what correcting the costliest mistake of each would gain, the costliest first."
        has_explanations = bool(self.expandable_entries.entry_by_key)
        if has_explanations:
            about += f" Each {noun} opens and shows, with all that it contains, what explain says of it."
        explanations = self.document.explanations or None
        if explanations is not None and explanations.left_out:
            about += f" {explanations.left_out} lines without mistakes in the cost list are left out."
        return about

    def _unit_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the table of units. The costliest units come first, and units without mistakes come last.

        The units of Cold Start are queries; their rows have further cells.
        """
        mistakes_by_unit = _mistakes_by_unit(self.document.mistakes[:MOST_ROWS])
        # Explanations of a run have `queries`, those of predictions have `units`, and a short analysis has neither.
        explanations = self.document.explanations or None
        query_explanations = getattr(explanations, "queries", ())  # empty without explanations of a run
        unit_explanations = getattr(explanations, "units", ())  # empty without explanations of predictions
        explanation_by_query = {explanation.query: explanation for explanation in query_explanations}
        explained_units = [unit_text(unit) for unit in unit_explanations]
        rows = []
        # A unit may have mistakes, an explanation, or both: each name once.
        unit_names = dict.fromkeys([*mistakes_by_unit, *explanation_by_query, *explained_units])
        for unit_name in unit_names:
            row = self._unit_row(unit_name, mistakes_by_unit.get(unit_name, ()))
            if unit_name in explanation_by_query:
                row |= _cells_of_query(explanation_by_query[unit_name])
            rows.append(row)
        return sorted(rows, key=_cost_order)

    def _unit_row(self, name: str, mistakes: Sequence[Any]) -> dict[str, Any]:
        """Return the cells of a unit: its name, the number of its mistakes, and their largest gain.

        A click on the name unfolds the explanation of the unit. A click on the number shows its mistakes.
        """
        gains = [mistake.gain for mistake in mistakes if mistake.gain is not None]
        target = ChartTarget("mistakes", "query" if self.is_cold_start else "unit", name)
        return {  # the key of an explanation is "query ..." in all tasks
            "unit": self.expandable_entries.cell_that_opens(name, f"query {name}"),
            "mistakes": link_to_rows(len(mistakes), target) if mistakes else 0,
            "largest": max(gains, default=None),
        }

    # ---- Scenarios, policies, problems

    def _scenarios_section(self) -> Section:
        """Return the section of the scenarios for unassessed answers, including the lines with these answers.

        Answers without an assessment count as wrong. A scenario scores the run again as if they had been assessed.
        """
        about = (
            "Two scenarios, each a call of the scorer. Pessimistic: every unassessed answer is wrong. Optimistic: "
            "every one below a right answer is right, and takes the first class in which nothing is right, else a "
            "class of its own that ground truth gains. Other assessments may score less or more."
        )
        blocks: list[Block] = [about, self._scenario_facts()]
        blocks += _added_pool_blocks(self.document.scenarios)
        blocks += tables_of_document(self.layouts["unassessed"], self.document)
        return Section("scenarios", "What was not assessed", blocks)

    def _policies_section(self) -> Section:
        """Return the section with the switches of each policy and the scores of the run under each policy."""
        switches = ("right", "wrong", "ignore", "justifications")
        rows = []
        for policy in self.document.policies:
            row = {"policy": policy.name}
            for switch in switches:
                row[switch] = policy.policy.get(switch)
            rows.append(row)
        # A column with an empty heading shows its key. All columns have empty headings here.
        headings = dict.fromkeys(["policy", *switches], "")
        blocks: list[Block] = list(table_of_rows("policy", "Policies", rows, headings, is_small=True))
        blocks += tables_of_document(self.layouts["policies"], self.document, "policy", is_small=True)
        return Section("policies", "Policies", blocks)

    def _problems_section(self) -> Section:
        """Return the section of the problems of the input: a table with a row for each code, or the text "None."."""
        rows = [asdict(problem) for problem in self.document.problems]
        # A column without a heading shows its key: "Code".
        headings = {"code": "", "severity": "", "count": "", "message": "First message"}
        problem_tables = list(table_of_rows("problem", "Problems of the input", rows, headings, is_small=True))
        return Section("problems", "Problems", problem_tables or ["None."])

    CHARTS: ClassVar = {
        "budget": gain_charts,
        "cumulated": step_charts,
        "groups": group_charts,
        "sweep": threshold_charts,
        "reliability": reliability_charts,
        "precision": precision_charts,
        "confusions": confusion_charts,
    }


def _column_of_hop(hop: str) -> str:
    """Return the key of the column with the scores of a hop: `"1"` -> `hop1`; `""`, which means all hops -> `all`."""
    return f"hop{hop}" if hop else "all"


def _hop_headings(hops: set[str]) -> dict[str, str]:
    """Return the headings of the columns with the scores of hops: {"all": "All hops", "hop1": "Hop 1", ...}.

    The hop `""` means all hops, and is always among `hops`. If it is the only hop, its heading is "Score".
    """
    if len(hops) < 2:
        return {"all": "Score"}
    headings = {}
    for hop in sorted(hops, key=lambda hop: (hop != "", len(hop), hop)):  # all hops first, hop 10 after hop 9
        headings[_column_of_hop(hop)] = f"Hop {hop}" if hop else "All hops"
    return headings


def _groups_to_draw(groups: Sequence[Any]) -> list[Any]:
    """Return the groups of a dimension that have the most mistakes, at most `_MOST_GROUPS`, in their own order."""
    most_mistakes_first = sorted(groups, key=lambda group: -group.mistakes)
    drawn_groups = most_mistakes_first[:_MOST_GROUPS]
    return [group for group in groups if group in drawn_groups]


def _group_chart(dimension: str, rows: Sequence[Dots], *, is_part: bool) -> Drawing:
    """Return the chart of the scores of groups of a dimension, such as "slot".

    With `is_part`, the `rows` are only some of the groups, and the description of the chart says so.
    """
    dimension_words = words(dimension)  # "ldc_query" -> "ldc query"
    caption = Caption(
        name=f"groups-{slug(dimension)}",
        title=f"Scores by {dimension_words}",
        x_title="score",
        y_title=dimension_words,
        subject=dimension,
    )
    introduction = f"The {_MOST_GROUPS} groups with the most mistakes. " if is_part else ""
    return dot_chart(caption, rows, introduction=introduction)


def _threshold_curves(rows: Sequence[Any]) -> dict[str, Curve]:
    """Return the curves of precision, recall and F1 by name: {"Precision": [(threshold, precision), ...], ...}.

    `rows` has the scores at each threshold. There are no points for undefined scores.
    """
    curves: dict[str, Curve] = {}
    for key, series in _SERIES.items():
        points = [(row.threshold, getattr(row, key)) for row in rows]
        curves[series] = [point for point in points if point[1] is not None]
    return curves


def _mistakes_by_unit(mistakes: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the mistakes in each unit, by the id of the query or unit, such as "CS14_0001"."""
    mistakes_by_unit: dict[str, list[Any]] = defaultdict(list)
    for mistake in mistakes:
        mistakes_by_unit[unit_text(mistake)].append(mistake)
    return mistakes_by_unit


def _cost_order(unit_row: Mapping[str, Any]) -> float:
    """Return the key by which rows of units are sorted: those with the largest gain first."""
    return -(unit_row["largest"] or 0.0)


def _structure_facts(structure: Structure) -> Facts:
    """Return how many nodes merge classes, how many classes are split, and how many lines are beyond a limit."""
    return Facts(
        [
            PageFact("nodes that merge several classes", str(structure.merged_nodes)),
            PageFact("classes split over several nodes", str(structure.split_classes)),
            PageFact("lines beyond a limit on justifications", str(structure.discarded_lines)),
        ]
    )


def _added_pool_blocks(scenarios: Scenarios) -> list[Block]:
    """Return the first lines that the optimistic scenario adds to the pool, with a sentence above them.

    The list is empty if the scenario adds no lines.
    """
    added_lines = scenarios.added_pool
    if not added_lines:
        return []
    file = scenarios.added_pool_to or "a pool"
    shown_part = f", the first {_MOST_LINES} of {len(added_lines)}" if len(added_lines) > _MOST_LINES else ""
    sentence = f"The optimistic scenario has these lines at the end of {file}{shown_part}:"
    return [sentence, Code(added_lines[:_MOST_LINES])]


def _unreachable_facts(missed_classes: Any) -> Facts:
    """Return how many missed equivalence classes no answer can find, by reason, and the best possible recall.

    `missed_classes` is the last row of the error budget. A class cannot be found if, for example, the pool has no
    answer in it. The best possible recall is the recall of a run that finds all other classes.
    """
    facts = []
    for reason, count in missed_classes.unreachable.items():
        facts.append(PageFact(f"missed classes that no answer finds: {reason}", str(count)))
    facts.append(PageFact("recall if all others were found", _number_text(missed_classes.reachable_recall, ".4f")))
    return Facts(facts)


class _Count(NamedTuple):
    """How often a row and a column of a grid met, such as a slot and a category."""

    row: str
    column: str
    number: int


def _share_chart(caption: Caption, counts: Sequence[_Count]) -> Drawing:
    """Return a chart of counts as shares of their row: if a slot has 4 lines and 3 are `wrong`, its cell is 0.75.

    A row and a column without a count have an empty cell.
    """
    total_by_row: dict[str, int] = defaultdict(int)
    count_by_cell: dict[tuple[str, str], int] = defaultdict(int)
    for count in counts:
        total_by_row[count.row] += count.number
        count_by_cell[count.row, count.column] += count.number
    columns = list(dict.fromkeys([count.column for count in counts]))
    rows = []
    for row, total in total_by_row.items():
        rows.append(GridRow(row, _shares(row, total, columns, count_by_cell)))
    texts = []
    for count in counts:
        share = count.number / total_by_row[count.row]
        texts.append(f"{count.row} {count.column}: {count.number}, {share:.4f}")
    return grid_chart(caption, f"{'; '.join(texts)}.", rows, columns)


def _shares(
    row: str, total: int, columns: Sequence[str], count_by_cell: Mapping[tuple[str, str], int]
) -> list[float | None]:
    """Return the count in each column of a row as a share of the row's total, or None if a column has no count.

    `count_by_cell` has the count of each pair of row and column.
    """
    shares: list[float | None] = []
    for column in columns:
        has_count = (row, column) in count_by_cell
        shares.append(count_by_cell[row, column] / total if has_count else None)
    return shares


def _category_cell(row: Mapping[str, Any], _: int) -> object:
    """Return the category of the line of a mistake, or "NODE" for a mistake in a node."""
    return row["category"] or "NODE"


def _change_cell(row: Mapping[str, Any], _: int) -> object:
    """Return how a mistake is corrected: `line removed`."""
    return f"{row['kind']} {row['change']}"


def _target_cell(row: Mapping[str, Any], _: int) -> object:
    """Return the node or the class of a mistake."""
    return row["node"] or row["class"]


def _cells_of_query(query: Any) -> dict[str, Any]:
    """Return the cells about a query: its LDC query, entity, slot and hop, and its counts of lines and classes.

    `query` is the explanation of a query.
    """
    line_count_by_side = query.lines  # {"right": 3, "wrong": 1, "ignored": 2}
    class_count_by_status = query.classes  # {"found": 2, "missed": 1}
    return {
        "ldc": query.unit,  # the unit of a query is its LDC query
        "name": query.name,
        "slot": query.slot,
        "hop": query.hop,
        "lines": sum(line_count_by_side.values()),
        "right": line_count_by_side.get("right", 0),
        "wrong": line_count_by_side.get("wrong", 0),
        "found": class_count_by_status.get("found", 0),
        "missed": class_count_by_status.get("missed", 0),
    }


def _cell_of_effects(mistake: Any) -> Cell:
    """Return a cell that shows how many measures change if a mistake is corrected: "3 measures".

    A click on the cell shows the change of each measure, or why it was not computed, and how the mistake is corrected.
    """
    effects = [(measure, _number_text(effect, "+.4f")) for measure, effect in mistake.effects.items() if effect]
    items = [("not computed", mistake.reason)] if mistake.reason else []
    items += effects
    is_of_run = hasattr(mistake, "removed")  # only mistakes of Cold Start runs name the lines to remove
    items += _correction_of_run(mistake) if is_of_run else _correction_of_prediction(mistake)
    return cell_with_details(f"{len(effects)} measures", items)


def _correction_of_run(mistake: Any) -> list[tuple[str, str]]:
    """Return the changes to a run that correct a mistake: the lines to remove, and then the lines to add.

    A line to remove is `("without", "run.tab:12")`, with its file and number; only the first of many are given. A line
    to add is `("with", ...)` with its text.
    """
    items = []
    for line in mistake.removed[:_MOST_REMOVED]:
        items.append(("without", f"{line.file}:{line.line}"))
    for added_line in mistake.added:
        items.append(("with", added_line))
    return items


def _correction_of_prediction(mistake: Any) -> list[tuple[str, str]]:
    """Return the prediction that would correct a mistake of an evidence task.

    The list has one pair, `("prediction", ...)`, with the prediction as JSON, or with "left out" if there must not be a
    prediction.
    """
    if mistake.prediction is None:
        return [("prediction", "left out")]
    return [("prediction", as_json(mistake.prediction) or "")]
