"""Explain the lines, queries and missed classes of a run for its analysis. An explanation is a list of steps; each text
of a step is kept once, and explanations give its number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.mistakes import Mistake
from cs_score.analysis.coldstart.run_files import AnyLine, LinePlace
from cs_score.base.records import replace
from cs_score.coldstart.lines import Assessment, LinkedQuery
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.indexed_run import IndexedRun
from cs_score.verbs.explain.run_explanation.line_steps import explain_line
from cs_score.verbs.explain.run_explanation.subjects import explain_class, explain_query

MOST_LINES: Final = 20_000
"""The most lines of one run that an analysis explains."""


def explain_everything(
    indexed_run: IndexedRun, mistakes: Sequence[Mistake], *, with_others: bool
) -> document.RunExplanations:
    """Return explanations of lines with mistakes, of their queries, and of missed classes.

    At most `MOST_LINES` lines are explained. If `with_others` is true, lines without mistakes are explained as well.
    Only the explanations of mistakes show what a correction would change.
    """
    shown_mistakes = mistakes[:MOST_LINES]
    line_by_place: dict[LinePlace, AnyLine] = {(line.file, line.number): line for line in indexed_run.lines()}
    places = _places_to_explain(shown_mistakes, line_by_place, with_others=with_others)
    explained_lines = [line_by_place[place] for place in places]
    missed_classes = _missed_classes(shown_mistakes, indexed_run)
    queries = _queries_of(explained_lines, missed_classes)
    writer = _StepWriter(indexed_run, shown_mistakes)
    # The order of these calls matters: they number the texts.
    return document.RunExplanations(
        left_out=len(line_by_place) - len(places),
        lines=[writer.line_steps(line) for line in explained_lines],
        queries=[writer.query_steps(query) for query in queries],
        classes=[writer.class_steps(missed_class) for missed_class in missed_classes],
        texts=writer.texts(),
    )


class _MissedClass(NamedTuple):
    """The mistake of missing a class, and an answer from the pool that would have found it.

    The mistake gives the file and line of this answer.
    """

    mistake: Mistake
    answer: Assessment


def _missed_classes(mistakes: Iterable[Mistake], indexed_run: IndexedRun) -> list[_MissedClass]:
    """Return the missed classes among some mistakes, each with an answer from the pool that would find the class."""
    answer_by_place: dict[LinePlace, Assessment] = {}
    for assessment in indexed_run.run.gold.links.assessments:
        answer_by_place[assessment.file, assessment.number] = assessment
    missed_classes = []
    for mistake in mistakes:
        if mistake.kind == "class":
            # The place of a missed class is that of an answer in the pool.
            answer = answer_by_place[mistake.file, mistake.line]
            missed_classes.append(_MissedClass(mistake, answer))
    return missed_classes


def _queries_of(lines: Iterable[AnyLine], missed_classes: Iterable[_MissedClass]) -> Iterable[LinkedQuery]:
    """Return the queries of some lines, then the queries of missed classes, each once.

    Lines that were not read have none.
    """
    queries = [line.query for line in lines if not isinstance(line, UnreadLine)]
    queries += [missed_class.answer.query for missed_class in missed_classes]
    return {query.full_id: query for query in queries}.values()


def _places_to_explain(
    mistakes: Iterable[Mistake], line_by_place: Mapping[LinePlace, AnyLine], *, with_others: bool
) -> list[LinePlace]:
    """Return the places of the lines to explain, in the order of the lines. There are at most `MOST_LINES` of them.

    Lines with mistakes take precedence. Other lines are included only if `with_others` is true.
    """
    # A missed class does not have a line in the run.
    line_mistakes = [mistake for mistake in mistakes if mistake.kind != "class"]
    mistaken_places = [(mistake.file, mistake.line) for mistake in line_mistakes]
    # A dict serves as an ordered set: mistakes come first, and each place occurs once.
    preferred_places = dict.fromkeys([place for place in mistaken_places if place in line_by_place])
    if with_others:
        preferred_places |= dict.fromkeys(line_by_place)
    chosen_places = set(list(preferred_places)[:MOST_LINES])
    # The chosen places are returned in the order of the lines.
    return [place for place in line_by_place if place in chosen_places]


class _StepWriter:
    """Writes explanations as lists of numbers of texts. Each different text is kept once.

    Many lines have steps in common, so that this halves the size of a document.
    """

    def __init__(self, indexed_run: IndexedRun, mistakes: Iterable[Mistake]) -> None:
        """Start without any texts.

        `indexed_run` is the run to explain. Explanations of `mistakes` show the effect of their correction. A missed
        class is passed to `class_steps` together with its mistake, whereas the mistakes of lines are looked up by
        place.
        """
        self._indexed_run = indexed_run
        self._number_by_text: dict[str, int] = {}
        self._mistake_by_place: dict[LinePlace, Mistake] = {}
        for mistake in mistakes:
            if mistake.kind == "line":
                self._mistake_by_place[mistake.file, mistake.line] = mistake

    def texts(self) -> list[str]:
        """Return all texts in the order of their numbers."""
        return list(self._number_by_text)

    def _keep_texts_of(self, tree: Iterable[document.Tree]) -> list[int]:
        """Keep the texts of an explanation that are new, and return the numbers of all its texts.

        The heading of the explanation, the first branch of the tree, is left out.
        """
        numbers = []
        branches_below_heading = list(tree)[1:]
        for branch in branches_below_heading:
            text = document.indented(branch)
            if text:
                next_number = len(self._number_by_text)
                number = self._number_by_text.setdefault(text, next_number)  # a known text keeps its number
                numbers.append(number)
        return numbers

    def line_steps(self, line: AnyLine) -> document.LineSteps:
        """Return the steps in which a line was scored, with the effect of correcting it if it is a mistake."""
        mistake = self._mistake_by_place.get((line.file, line.number))
        # The effect is not computed again: the analysis has computed it for each mistake.
        explanation = explain_line(line, self._indexed_run, with_effect=False)
        explanation = replace(explanation, effect=None if mistake is None else self._effect_of(mistake))
        summary = explanation.summary
        return document.LineSteps(
            file=summary.file,
            line=summary.line,
            query=summary.query,
            node=summary.node,
            value=summary.value,
            category=summary.category,
            side=summary.side,
            steps=self._keep_texts_of(explanation.tree()),
        )

    def query_steps(self, query: LinkedQuery) -> document.QuerySteps:
        """Return the steps in which a query was scored.

        `precision_at` holds the precision at each rank of the query's nodes, by level (a hop, or all hops together).
        """
        explanation = explain_query(query, self._indexed_run)
        query_step = explanation.query_step
        return document.QuerySteps(
            query=query_step.query,
            unit=query_step.unit,
            name=query_step.name,
            slot=query_step.slot,
            hop=query_step.hop,
            lines=_line_count_by_side(explanation),
            classes=Counter([summary.status for summary in explanation.classes]),
            precision_at=self._precision_by_level(query),
            steps=self._keep_texts_of(explanation.tree(with_lines=False)),
        )

    def _precision_by_level(self, query: LinkedQuery) -> dict[str, list[float]]:
        """Return the precision at each rank of the nodes of a query, by level; nothing for follow-on queries."""
        if query.is_follow_on:
            return {}
        rankings = self._indexed_run.query(query.base_id).result.rankings
        return {ranking.level: _precision_at_ranks(ranking) for ranking in rankings}

    def class_steps(self, missed_class: _MissedClass) -> document.ClassSteps:
        """Return the reasons why a class was missed, with the effect on scores if the class were found."""
        answer = missed_class.answer
        # The effect is known from the mistake and need not be computed again.
        explanation = explain_class(answer.value_class, answer.query.base_id, self._indexed_run, with_effect=False)
        explanation = replace(explanation, effect=self._effect_of(missed_class.mistake))
        return document.ClassSteps(
            class_name=answer.value_class,
            query=answer.query.full_id,
            value=answer.value,
            steps=self._keep_texts_of(explanation.tree()),
        )

    def _effect_of(self, mistake: Mistake) -> document.LineEffect:
        """Return the effect of correcting a mistake on the measures that explanations show."""
        effects = {str(measure): mistake.effects.get(str(measure)) for measure in self._indexed_run.measures}
        # The reason explains why there is no effect on some measures.
        reason = str(mistake.reason) if None in effects.values() else None
        return document.LineEffect(
            change=mistake.change, effects=effects, removed=mistake.removed, added=mistake.added, reason=reason
        )


def _line_count_by_side(explanation: document.QueryExplanation) -> Counter[str]:
    """Return the number of lines that directly answer a query, by the side on which they count (right, wrong ...).

    Lines that answer its follow-on queries are not counted, although they are part of the explanation of a query.
    """
    return Counter([summary.side for summary in explanation.lines if summary.query == explanation.query])


def _precision_at_ranks(ranking: Ranking) -> list[float]:
    """Return the precision at each rank of a ranking: the mean of the values of the nodes down to the rank."""
    precisions = []
    value_so_far = 0.0
    for rank, node in enumerate(ranking.nodes, 1):
        value_so_far += node.value
        precisions.append(value_so_far / rank)
    return precisions
