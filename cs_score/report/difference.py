"""The pages of two runs, from their difference, and of a comparison: scores, pairs, groups, answers side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from cs_score.analysis.evidence.layouts import in_short
from cs_score.analysis.outcomes import comparison_sentences
from cs_score.base.signature import answered_lines
from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts import Bar, Dots, Drawing, Target, bars, dots, limits
from cs_score.report.page import (
    Block,
    Code,
    Facts,
    Page,
    PageMaker,
    Section,
    charts,
    difference_origin,
    link,
    slug,
    table_of,
    tables,
    unit_of,
    unit_text,
    with_cells,
)
from cs_score.statistics.options import note_sentences
from cs_score.statistics.results import Comparison, MeasureComparison
from cs_score.tables.layout import Cell, Column, Layout, words
from cs_score.tables.statistics import PAIRS, SYSTEMS, explanation
from cs_score.tasks import task_named

_MOST_DRAWN: Final = 24
_MOST_SYSTEMS: Final = 50


class DifferencePage(PageMaker):
    """The sections and charts of a difference."""

    def page(self) -> Page:
        document, names = self.document, self.document.names
        layouts = {layout.name: layout for layout in task_named(document.task).layouts(document)}
        about = "What each contributes to the difference; all contributions add up to it exactly."
        units = tables(self.units(layouts["units"]), document, is_small=False)
        sections = [
            self.scores(),
            Section("contributions", "Contributions", (about, charts(self.contribution_charts()), *units)),
        ]
        if document.groups:
            groups = tables(layouts["groups"], document, "by")
            sections.append(Section("groups", "Scores by group", (charts(self.group_charts()), *groups)))
        if getattr(document, "rules", None):
            sections.append(Section("rules", "Rules", list(tables(layouts["rules"], document, "rule"))))
        sections.append(self.answers())
        if getattr(document, "classes", None):
            found = tables(with_cells(layouts["classes"], Column("row")), document, "class", is_small=False)
            sections.append(Section("classes", "Classes", (_counts(document.found), *found)))
        sections.append(difference_origin(document))
        return Page(f"{names['b']} against {names['a']}", f"{document.measure} {document.difference:+.4f}", sections)

    def scores(self) -> Section:
        """Both scores, their difference with interval and tests, and the signatures."""
        document, interval, detail = self.document, self.document.interval, ""
        if interval is not None and interval.low is not None:
            detail = f"{interval.low:+.4f} to {interval.high:+.4f} ({document.resampling.confidence:g} % interval)"
        facts = [(f"{side.upper()}: {document.names[side]}", f"{getattr(document, side):.4f}", "") for side in "ab"]
        if document.p is not None:
            p = f"{document.p:.4f}" if document.p >= 0.0001 else "<0.0001"
            facts.append(("p", p, document.family.test_in_words))
        blocks: list[Block] = [
            Facts([(f"B - A in {document.measure}", f"{document.difference:+.4f}", detail)], is_main=True),
            Facts(facts),
            *answered_lines({side.upper(): document.origins[side] for side in "ab"}),
            *comparison_sentences(document),
            *note_sentences(document.notes),
            Code([f"{side.upper()} {document.signatures[side]}" for side in "ab"]),
        ]
        return Section("scores", "Scores", blocks)

    def units(self, layout: Layout) -> Layout:
        """Units with the number of their answers, which it opens."""
        units, per_unit = list(map(_name, self.document.units)), Counter(map(unit_text, self.document.answers))

        def answers(_: Mapping[str, Any], at: int) -> object:
            number = per_unit[units[at]]
            return link(number, Target("answers", "unit", units[at])) if number else 0

        # Answers are of SF queries where units may be LDC queries.
        return with_cells(layout, *([Column("answers")] if per_unit.keys() & set(units) else []), answers=answers)

    def contribution_charts(self) -> Iterator[Drawing]:
        """Diverging bars: the units that contribute most to the difference, either way."""
        document = self.document
        known = [row for row in document.units if row.contribution]
        drawn = sorted(known, key=lambda row: -abs(row.contribution))[:_MOST_DRAWN]
        drawn.sort(key=lambda row: -row.contribution)
        rows = [Bar(_name(row), 0.0, row.contribution, f"{row.contribution:+.4f}") for row in drawn]
        some = f"The {len(rows)} largest of {len(known)}: " if len(rows) < len(known) else ""
        title = f"Contributions to B - A, the {len(rows)} largest" if some else "Contributions to B - A"
        unit = getattr(document, "unit", unit_of(document.task).capitalize())
        if rows:
            yield bars("contributions", title, (f"contribution in {document.measure}", unit), rows, about=some)

    def group_charts(self) -> Iterator[Drawing]:
        """The scores of A and B in the groups of each dimension."""
        for name, groups in self.document.groups.items():
            if 2 <= len(groups) <= _MOST_DRAWN:
                scores = [{"A": row.a, "B": row.b} for row in groups]
                known = [{side: score for side, score in of.items() if score is not None} for of in scores]
                rows = [Dots(row.group, of) for row, of in zip(groups, known)]
                axes = (self.document.measure, words(name))
                yield dots(f"groups-{slug(name)}", f"Scores by {words(name)}", axes, rows, of=name)

    def answers(self) -> Section:
        """Answers that counted differently, and how many there are of each outcome."""
        part, shown = ("provenance", str) if self.document.task == COLD_START_MODE else ("part", in_short)
        rows = [
            {"unit": unit_text(row), "part": getattr(row, part), "value": shown(row.value), "outcome": row.outcome}
            | {"a": _outcome(row.a), "b": _outcome(row.b)}
            for row in self.document.answers
        ]
        unit = unit_of(self.document.task).capitalize()
        heads = {"unit": unit, "part": part.capitalize(), "value": "Value", "outcome": "Outcome", "a": "A", "b": "B"}
        found = table_of("answers", "Answers side by side", rows, False, **heads)
        about = "Those that counted differently, side by side."
        return Section("side-by-side", "Answers", (about, _counts(self.document.outcomes), *found))

    CHARTS: ClassVar = {"contributions": contribution_charts, "groups": group_charts}


def _name(unit: Any) -> str:
    return unit_text(unit) if hasattr(unit, "occurrence") else str(unit.unit)


def _counts(counted: Any) -> Facts:
    """How many there are of each outcome; of evidence, of each part."""
    if isinstance(counted, Mapping):
        return Facts([(name, str(count), "") for name, count in counted.items()])
    return Facts([(f"{row.part}: {row.outcome}", str(row.count), "") for row in counted if row.count])


def _outcome(answer: Any) -> str:
    """What an answer counted as in a run."""
    if answer is None:
        return "not given"
    if hasattr(answer, "judgment"):
        return f"{'right' if answer.right else 'wrong'}: {answer.judgment}"
    of_class = "" if answer.class_name is None else f", {answer.class_name}"
    return f"{answer.label}: {answer.category}{of_class} ({answer.file}:{answer.line})"


class ComparisonPage(PageMaker):
    """The sections and charts of a comparison."""

    def page(self) -> Page:
        document: Comparison = self.document
        sections = [Section("verdict", "Verdict", [f"{document.primary.verdict}."])]
        for each in sorted(document.measures, key=lambda each: each.exploratory):
            found = (table for layout in (SYSTEMS, PAIRS) for table in tables(layout, [each]))
            blocks: tuple[Block, ...] = (
                f"Verdict: {each.verdict}.",
                f"Tests: {each.tests}.",
                charts(_systems(each)),
                *found,
                *note_sentences(each.notes),
            )
            menu_text = "" if each.exploratory else each.measure
            sections.append(Section(slug(each.measure), each.title, blocks, menu_text))
            if not each.exploratory and len(document.measures) > 1:
                sections.append(self.other_verdicts())
        signatures = Code([f"{system}: {signature}" for system, signature in document.signatures.items()])
        notes: tuple[Block, ...] = (*explanation(document), *note_sentences(document.notes), signatures)
        sections.append(Section("how", "How these numbers were found", notes))
        return Page("Comparison", f"{len(document.systems)} systems by {document.measure}", sections)

    def other_verdicts(self) -> Section:
        """Return the section that says who differs in the exploratory measures, each of which leads to its section."""
        document: Comparison = self.document
        rows = [
            {
                "measure": Cell(each.measure, f'<a href="#{slug(each.measure)}">', "</a>"),
                "verdict": each.verdict,
                "best": each.systems[0].name,
                "score": each.systems[0].score,
            }
            for each in document.measures
            if each.exploratory
        ]
        headings = {"measure": "Measure", "best": "First", "score": "Its score", "verdict": "Verdict"}
        found = table_of("verdicts", "Verdicts by measure", rows, None, **headings)
        return Section("others", "Other measures (exploratory)", list(found), "Other measures")

    def systems_charts(self) -> Iterator[Drawing]:
        """Scores with their intervals, of all measures."""
        for measure in self.document.measures:
            yield from _systems(measure)

    CHARTS: ClassVar = {"leaderboard": systems_charts}


def _systems(measure: MeasureComparison) -> Iterator[Drawing]:
    """Scores between 0 and 1 with their intervals."""
    shown = measure.systems[:_MOST_SYSTEMS]
    if all(0 <= each.score <= 1 for each in shown):
        rows = [Dots(each.name, {"score": each.score}, limits(each, "score")) for each in shown]
        title = f"Scores with intervals, {measure.measure}"
        yield dots(f"systems-{slug(measure.measure)}", title, (measure.measure, "system"), rows, of=measure.measure)
