"""Explain why lines, classes, nodes and queries of a run, or the run as a whole, scored as they did. A selector says
what to explain, such as the number of a line. An `IndexedRun` is a scored run with all that explanations look up in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar

from msgspec import UNSET

from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.records import replace
from cs_score.base.runtime import paused_garbage_collection
from cs_score.coldstart.lines import Response
from cs_score.measures import COLD_START_MODE
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.indexed_run import IndexedRun
from cs_score.verbs.explain.run_explanation.line_steps import explain_line
from cs_score.verbs.explain.run_explanation.selectors import Selectors
from cs_score.verbs.explain.run_explanation.subjects import explain_class, explain_node, explain_query, explain_run

Item = TypeVar("Item")

MOST_SCORED_AGAIN: Final = 200_000
"""The most lines that are scored again for effects of the lines of `--answer`; each effect takes those of its unit."""

Wanted: TypeAlias = str | int | Sequence[str | int]
"""One selector, or several."""


def explain(
    scored: AnalysedRun,
    *,
    line: Wanted = (),
    query: Wanted = (),
    class_name: Wanted = (),
    node: Wanted = (),
    answer: Wanted = (),
    measure: str | None = None,
) -> document.RunExplanation:
    """Return explanations of the selected parts of a run, or of the whole run if nothing is selected.

    Each selector accepts a single value or several. `line` selects lines by number or as `FILE:N`. `query` takes the
    ids of SF or LDC queries of any hop, and `class_name` takes the names of equivalence classes. `node` takes full node
    ids, or ids as they are written in the lines of a run. `answer` selects the lines with the given values, in which
    `*` matches any text. Effects on scores are given for `measure`, which defaults to the headline measure, and for
    average precision.

    Raises InputError, with the most similar names, if a selector does not match anything, and UsageError if a text is
    not a valid selector.
    """
    with paused_garbage_collection():
        indexed_run = IndexedRun(scored, measure)
        selectors = Selectors(indexed_run)
        lines = [explain_line(item, indexed_run) for item in _select(line, selectors.lines_at)]
        lines += _explain_answers(_select(answer, selectors.lines_with_answer), indexed_run)
        queries = [explain_query(item, indexed_run) for item in _select(query, selectors.queries_of)]
        classes = []
        for name, base_id in _select(class_name, selectors.classes_of):
            classes.append(explain_class(name, base_id, indexed_run))
        nodes = [explain_node(item, indexed_run) for item in _select(node, selectors.nodes_of)]
        # A run without scores has no measure for effects. In this case, the document names the requested measure, or
        # the headline measure if none was requested.
        measure_name = str(indexed_run.measure or measure or scored.headline)
        explanation = _explanation_of_run(indexed_run, measure_name)
        # A selector that matches nothing has already raised an error, so no items means that there was no selector.
        has_selectors = bool(lines or queries or classes or nodes)
        if not has_selectors:
            return replace(explanation, overview=explain_run(indexed_run))
        return replace(
            explanation, lines=tuple(lines), queries=tuple(queries), classes=tuple(classes), nodes=tuple(nodes)
        )


def _explanation_of_run(indexed_run: IndexedRun, measure_name: str) -> document.RunExplanation:
    """Return an explanation that contains only the scores of a run. The other parts are added later.

    Both the score and the effects are given for the measure of the run, which is called `measure_name`. If the run has
    no scores, it has no measure, and only the name is shown.
    """
    scored = indexed_run.scored
    signature = scored.signature
    score = None
    if indexed_run.measure is not None:
        signature = signature.of(measure_name)
        score = scored.result.score_by_measure[indexed_run.measure]
    return document.RunExplanation(
        task=COLD_START_MODE,
        measure=measure_name,
        signature=str(signature),
        origin=scored.origin,
        run=scored.run_id,
        score=score,
        scores={} if indexed_run.fatal_error else scored.result.scores,
        undefined=scored.result.undefined or UNSET,
        fatal=None if indexed_run.fatal_error is None else str(indexed_run.fatal_error),
        overview=None,
        lines=(),
        queries=(),
        classes=(),
        nodes=(),
    )


def _explain_answers(lines: Iterable[Response], indexed_run: IndexedRun) -> list[document.LineExplanation]:
    """Return explanations of the lines that give an answer.

    Effects are computed for the first lines, until `MOST_SCORED_AGAIN` lines have been scored again. For the remaining
    lines, the effect only states which lines would be removed.
    """
    explanations = []
    rescored_line_count = 0
    for line in lines:
        is_computed = rescored_line_count < MOST_SCORED_AGAIN
        effect = indexed_run.effect_of_removing([line], is_computed=is_computed)
        # `explain_line` would compute the effect of every line.
        explanation_without_effect = explain_line(line, indexed_run, with_effect=False)
        explanations.append(replace(explanation_without_effect, effect=effect))
        rescored_line_count += indexed_run.query(line.query.base_id).lines_in_unit
    return explanations


def _select(selection: Wanted, find: Callable[[str], Sequence[Item]]) -> list[Item]:
    """Return the items, such as lines, that match the selectors of one kind.

    `selection` is a single selector or several. `find` returns the items that match one selector.
    """
    selectors = (selection,) if isinstance(selection, str | int) else selection
    items: list[Item] = []
    for selector in selectors:
        items += find(str(selector))
    return items
