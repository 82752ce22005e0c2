"""The page of a comparison: scores with their intervals, pairs, and what was tested, measure by measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from cs_score.report.charts import Dots, Drawing, dots, limits
from cs_score.report.page import Block, Charts, Code, Page, Section, Text, slug, tables
from cs_score.statistics.options import sentences
from cs_score.statistics.results import Comparison, MeasureComparison
from cs_score.tables.statistics import PAIRS, SYSTEMS, explanation

_MOST_DRAWN: Final = 50


def comparison_page(document: Comparison) -> Page:
    """The page of a comparison, the primary measure first."""
    ordered = sorted(document.measures, key=lambda each: each.exploratory)
    sections = [_measure(each) for each in ordered]
    notes = [Text(text) for text in (*explanation(document), *sentences(document.notes))]
    signatures = [f"{system}: {signature}" for system, signature in document.signatures.items()]
    sections.append(Section("how", "How these numbers were found", [*notes, Code(signatures)]))
    return Page("Comparison", f"{len(document.systems)} systems by {document.measure}", sections)


def _measure(measure: MeasureComparison) -> Section:
    title = f"{measure.measure} (exploratory)" if measure.exploratory else measure.measure
    blocks: list[Block] = [Text(f"Tests: {measure.family.words(measure.measure)}."), Charts(list(_drawn(measure)))]
    for layout in (SYSTEMS, PAIRS):
        blocks += tables(layout, [measure])
    return Section(slug(measure.measure), title, [*blocks, *map(Text, sentences(measure.notes))])


def _drawn(measure: MeasureComparison) -> Iterator[Drawing]:
    """Scores between 0 and 1 with their intervals."""
    shown = measure.systems[:_MOST_DRAWN]
    if all(0 <= each.score <= 1 for each in shown):
        rows = [Dots(each.name, {"score": each.score}, limits(each, "score")) for each in shown]
        title = f"Scores with intervals, {measure.measure}"
        yield dots(f"systems-{slug(measure.measure)}", title, (measure.measure, "system"), rows, of=measure.measure)


def _charts(document: Comparison) -> Iterator[Drawing]:
    for measure in document.measures:
        yield from _drawn(measure)


CHARTS: Final[Mapping[str, Callable[[Comparison], Iterable[Drawing]]]] = {"leaderboard": _charts}
"""The charts of a comparison by kind."""
