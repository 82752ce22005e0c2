"""Explain the lines, queries and missed classes of a run for its analysis, with each text of a step once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.mistakes import Mistake
from cs_score.analysis.coldstart.run_files import AnyLine, LinePlace
from cs_score.base.records import replace
from cs_score.coldstart.lines import Assessment, LinkedQuery
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.case import Case
from cs_score.verbs.explain.run_explanation.line_steps import explain_line
from cs_score.verbs.explain.run_explanation.subjects import explain_class, explain_query

MOST_LINES: Final = 20_000
"""The most lines of one run that an analysis explains."""


def explain_everything(case: Case, mistakes: Sequence[Mistake], *, with_others: bool) -> document.RunExplanations:
    """Return explanations of the lines of mistakes, of their queries, and of the missed classes.

    At most `MOST_LINES` lines are explained. With `with_others` lines that are no mistakes are explained as well. Only
    mistakes have effects.
    """
    # The lines to explain
    mistakes = mistakes[:MOST_LINES]
    line_by_place: dict[LinePlace, AnyLine] = {(line.file, line.number): line for line in case.lines()}
    places = _places_to_explain(mistakes, line_by_place, with_others=with_others)
    mistake_by_place: dict[LinePlace, Mistake] = {}
    for mistake in mistakes:
        if mistake.kind == "line":
            mistake_by_place[mistake.file, mistake.line] = mistake
    # Their queries, and those of the missed classes
    query_by_id: dict[str, LinkedQuery] = {}
    for place in places:
        line = line_by_place[place]
        if not isinstance(line, UnreadLine):
            query_by_id[line.query.full_id] = line.query
    missed_answers = _answers_of_missed_classes(mistakes, case)
    for answer in missed_answers:
        query_by_id[answer.query.full_id] = answer.query
    # The explanations, all of which share the texts of one writer
    writer = _StepWriter(case)
    lines = [writer.line_steps(line_by_place[place], mistake_by_place.get(place)) for place in places]
    queries = [writer.query_steps(query) for query in query_by_id.values()]
    missed_classes = [mistake for mistake in mistakes if mistake.kind == "class"]
    classes = [writer.class_steps(mistake, answer) for mistake, answer in zip(missed_classes, missed_answers)]
    return document.RunExplanations(
        left_out=len(line_by_place) - len(lines), lines=lines, queries=queries, classes=classes, texts=writer.texts()
    )


def _answers_of_missed_classes(mistakes: Iterable[Mistake], case: Case) -> list[Assessment]:
    """Return the answer of the pool that would find each missed class, for the missed classes among some mistakes."""
    answer_by_place: dict[LinePlace, Assessment] = {}
    for assessment in case.run.gold.links.assessments:
        answer_by_place[assessment.file, assessment.number] = assessment
    return [answer_by_place[mistake.file, mistake.line] for mistake in mistakes if mistake.kind == "class"]


def _places_to_explain(
    mistakes: Iterable[Mistake], line_by_place: Mapping[LinePlace, AnyLine], *, with_others: bool
) -> list[LinePlace]:
    """Return the places of the lines to explain, in the order of the lines; at most `MOST_LINES` of them.

    The lines of mistakes are preferred to others, which are only explained with `with_others`.
    """
    preferred: dict[LinePlace, None] = {}
    for mistake in mistakes:
        place = (mistake.file, mistake.line)
        if mistake.kind != "class" and place in line_by_place:
            preferred[place] = None
    if with_others:
        preferred |= dict.fromkeys(line_by_place)
    chosen_places = set(list(preferred)[:MOST_LINES])
    return [place for place in line_by_place if place in chosen_places]


class _StepWriter:
    """Writes explanations as lists of numbers of texts. Each different text is kept once.

    Many lines have steps in common, so that this halves the size of a document.
    """

    def __init__(self, case: Case) -> None:
        """Start without texts; `case` is the run to explain."""
        self._case = case
        self._number_by_text: dict[str, int] = {}

    def texts(self) -> list[str]:
        """Return all texts in the order of their numbers."""
        return list(self._number_by_text)

    def _text_numbers(self, tree: Iterable[document.Tree]) -> list[int]:
        """Return the numbers of the texts of an explanation; its heading, the first branch of the tree, is left out."""
        numbers = []
        branches_below_heading = list(tree)[1:]
        for branch in branches_below_heading:
            text = document.indented(branch)
            if text:
                next_number = len(self._number_by_text)
                numbers.append(self._number_by_text.setdefault(text, next_number))
        return numbers

    def line_steps(self, line: AnyLine, mistake: Mistake | None) -> document.LineSteps:
        """Return the steps in which a line was scored, with the effect of correcting it if it is a mistake."""
        explanation = explain_line(line, self._case, with_effect=False)
        explanation = replace(explanation, effect=self._effect_of(mistake))
        summary = explanation.summary
        return document.LineSteps(
            file=summary.file,
            line=summary.line,
            query=summary.query,
            node=summary.node,
            value=summary.value,
            category=summary.category,
            side=summary.side,
            steps=self._text_numbers(explanation.tree()),
        )

    def query_steps(self, query: LinkedQuery) -> document.QuerySteps:
        """Return the steps in which a query was scored, with the precision at each rank of its nodes by level."""
        explanation = explain_query(query, self._case)
        # A query of a query file is explained with its follow-on queries, but counts its own lines only.
        own_lines = [summary for summary in explanation.lines if summary.query == explanation.query]
        asking = explanation.asked
        return document.QuerySteps(
            query=asking.query,
            unit=asking.unit,
            name=asking.name,
            slot=asking.slot,
            hop=asking.hop,
            lines=Counter([summary.side for summary in own_lines]),
            classes=Counter([summary.status for summary in explanation.classes]),
            precision_at=self._precision_by_level(query),
            steps=self._text_numbers(explanation.tree(with_lines=False)),
        )

    def _precision_by_level(self, query: LinkedQuery) -> dict[str, list[float]]:
        """Return the precision at each rank of the nodes of a query, by level; nothing for follow-on queries."""
        precision_by_level: dict[str, list[float]] = {}
        if query.level:
            return precision_by_level
        for ranking in self._case.query(query.base_id).result.rankings:
            precisions = []
            value_so_far = 0.0
            for rank, node in enumerate(ranking.nodes, 1):
                value_so_far += node.value
                precisions.append(value_so_far / rank)
            precision_by_level[ranking.level] = precisions
        return precision_by_level

    def class_steps(self, mistake: Mistake, answer: Assessment) -> document.ClassSteps:
        """Return the reasons why a class was missed; `answer` is the answer of the pool that would find it."""
        explanation = explain_class(answer.value_class, answer.query.base_id, self._case, with_effect=False)
        explanation = replace(explanation, effect=self._effect_of(mistake))
        return document.ClassSteps(
            class_name=answer.value_class,
            query=answer.query.full_id,
            value=answer.value,
            steps=self._text_numbers(explanation.tree()),
        )

    def _effect_of(self, mistake: Mistake | None) -> document.LineEffect | None:
        """Return the effect of correcting a mistake on the measures that explanations show; None without a mistake."""
        if mistake is None:
            return None
        effects = {str(measure): mistake.effects.get(str(measure)) for measure in self._case.measures}
        reason = str(mistake.reason) if None in effects.values() else None
        return document.LineEffect(
            change=mistake.change, effects=effects, removed=mistake.removed, added=mistake.added, reason=reason
        )
