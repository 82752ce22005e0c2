"""The page of a comparison of systems and its charts: the verdict, and for each measure scores and pairs. The primary
measure decides which system is better; all other measures are exploratory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from cs_score.pages.charts import Caption, Dots, Drawing, dot_chart, limits_by_series
from cs_score.pages.page import (
    Block,
    Code,
    Page,
    PageMaker,
    Section,
    charts_side_by_side,
    slug,
    table_of_rows,
    tables_of_document,
)
from cs_score.statistics.resampling_settings import note_sentences
from cs_score.statistics.results import MeasureComparison, SystemComparison
from cs_score.tables.layout import Cell
from cs_score.tables.statistics import PAIRS, SYSTEMS, explanation

_MOST_SYSTEMS: Final = 50
"""How many systems a chart shows."""


class ComparisonPage(PageMaker):
    """The page and the charts of a comparison."""

    document: SystemComparison

    def page(self) -> Page:
        """Return the page: the verdict, then a section for each measure, the primary one first."""
        document = self.document
        sections = [Section("verdict", "Verdict", [f"{document.primary.verdict}."]), *self._measure_sections()]
        signatures = [f"{system}: {signature}" for system, signature in document.signatures.items()]
        blocks: list[Block] = [*explanation(document), *note_sentences(document.notes), Code(signatures)]
        sections.append(Section("how", "How these numbers were found", blocks))
        return Page("Comparison", f"{len(document.systems)} systems by {document.measure}", sections)

    def _measure_sections(self) -> Iterator[Section]:
        """Yield the section of the primary measure, the verdicts on all others, and the section of each of these.

        The primary measure decides; all others are exploratory.
        """
        yield _measure_section(self.document.primary)
        exploratory_comparisons = [comparison for comparison in self.document.measures if comparison.exploratory]
        if exploratory_comparisons:
            yield _other_verdicts(exploratory_comparisons)
        for measure_comparison in exploratory_comparisons:
            yield _measure_section(measure_comparison)

    def systems_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each measure: the scores of the systems with their intervals."""
        for measure_comparison in self.document.measures:
            yield from _systems_chart(measure_comparison)

    CHARTS: ClassVar = {"leaderboard": systems_charts}


def _other_verdicts(exploratory_comparisons: Iterable[MeasureComparison]) -> Section:
    """Return the section with the verdicts on the exploratory measures; each measure links to its own section."""
    rows = [_verdict_row(measure_comparison) for measure_comparison in exploratory_comparisons]
    headings = {"measure": "Measure", "best": "First", "score": "Its score", "verdict": "Verdict"}
    verdict_tables = table_of_rows("verdicts", "Verdicts by measure", rows, headings)
    return Section(
        name="others", title="Other measures (exploratory)", blocks=list(verdict_tables), menu_text="Other measures"
    )


def _verdict_row(measure_comparison: MeasureComparison) -> dict[str, Any]:
    """Return the cells of a measure in the table of verdicts, by column: its link, best system, score and verdict."""
    best_system = measure_comparison.systems[0]  # the systems are in the order of their ranks
    return {
        "measure": Cell(measure_comparison.measure, f'<a href="#{slug(measure_comparison.measure)}">', "</a>"),
        "best": best_system.name,
        "score": best_system.score,
        "verdict": measure_comparison.verdict,
    }


def _measure_section(measure_comparison: MeasureComparison) -> Section:
    """Return the section of a measure: verdict, tests, scores of the systems, and pairs of systems.

    Only the section of the primary measure is in the menu of the page.
    """
    blocks: list[Block] = [f"Verdict: {measure_comparison.verdict}.", f"Tests: {measure_comparison.tests_in_words}."]
    blocks.append(charts_side_by_side(_systems_chart(measure_comparison)))
    for layout in (SYSTEMS, PAIRS):
        blocks += tables_of_document(layout, [measure_comparison])
    blocks += note_sentences(measure_comparison.notes)
    menu_text = "" if measure_comparison.exploratory else measure_comparison.measure
    return Section(slug(measure_comparison.measure), measure_comparison.title, blocks, menu_text)


def _systems_chart(measure_comparison: MeasureComparison) -> Iterator[Drawing]:
    """Yield the chart of the systems' scores under a measure. No chart is made if a score is below 0 or above 1."""
    systems = measure_comparison.systems[:_MOST_SYSTEMS]
    if not all(0 <= system.score <= 1 for system in systems):
        return
    # Each row has one dot, of the series "score", with the limits of its interval.
    rows = [Dots(system.name, {"score": system.score}, limits_by_series(system, "score")) for system in systems]
    caption = Caption(
        name=f"systems-{slug(measure_comparison.measure)}",
        title=f"Scores with intervals, {measure_comparison.measure}",
        x_title=measure_comparison.measure,
        y_title="system",
        subject=measure_comparison.measure,
    )
    yield dot_chart(caption, rows)
