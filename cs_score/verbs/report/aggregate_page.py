"""The page for participants who must not learn the gold data: scores with intervals, and counts of mistakes."""

from __future__ import annotations

from typing import ClassVar

from cs_score.analysis.aggregate import MISTAKES, SCORES, MeasuredScore, notes_of
from cs_score.pages.page import Facts, Page, PageFact, PageMaker, Section, tables_of_document


class AggregatePage(PageMaker):
    """The page of a run in a closed evaluation, with the values that may be shown there."""

    CHARTS: ClassVar = {}

    def page(self) -> Page:
        """Return the page with three sections: scores, mistakes, and how the intervals came about.

        Its sections are always open: a reader cannot unfold details.
        """
        first_score = self.document.first
        subtitle = f"{first_score.measure} {_value(first_score)}"
        answered_count_text = self.document.answered  # such as "100 of 7,405 questions"; UNSET if all were scored
        if answered_count_text:
            subtitle += f" over {answered_count_text}"
        return Page(
            title=f"{self.document.task} scores",
            subtitle=subtitle,
            sections=[self._scores_section(first_score), self._mistakes_section(), self._about_section()],
        )

    def _scores_section(self, first_score: MeasuredScore) -> Section:
        """Return the section with all scores and the limits of their intervals. The first score is in large figures."""
        first_fact = PageFact(first_score.measure, _value(first_score), _limits(first_score))
        large_figures = Facts([first_fact], is_main=True)
        return Section("scores", "Scores", [large_figures, *tables_of_document(SCORES, self.document, is_small=True)])

    def _mistakes_section(self) -> Section:
        """Return the section with the number of mistakes of each kind."""
        about = (
            f"How many mistakes of each kind the whole run has. Numbers below {self.document.fewest} are not given: "
            "they could tell of single answers."
        )
        return Section("mistakes", "Mistakes", [about, *tables_of_document(MISTAKES, self.document, is_small=True)])

    def _about_section(self) -> Section:
        """Return the section on how the numbers came about."""
        return Section("about", "About these numbers", notes_of(self.document))


def _value(score: MeasuredScore) -> str:
    """Return a score as the page shows it: `0.4123`, or `undefined`."""
    return "undefined" if score.score is None else f"{score.score:.4f}"


def _limits(score: MeasuredScore) -> str:
    """Return the limits of the interval of a score, such as `0.3871 to 0.4352`; empty without an interval."""
    if score.low is None or score.high is None:
        return ""
    return f"{score.low:.4f} to {score.high:.4f}"
