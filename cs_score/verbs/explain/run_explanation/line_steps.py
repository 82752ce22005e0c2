"""Explain the score of a single line in nine steps, from reading it to its effect on the scores, each with its rule. A
line is a response, or was skipped or not read. A follow-on query asks about the answer of another line. Limits on
justifications discard some lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cs_score.analysis.coldstart.changes import At
from cs_score.analysis.coldstart.run_files import AnyLine
from cs_score.base.records import replace
from cs_score.coldstart.limits import DISCARD_CODES, Discard
from cs_score.coldstart.lines import Assessment, LinkedQuery, Response, SkippedLine, node_confidence
from cs_score.coldstart.near_misses import small_differences
from cs_score.coldstart.options import DISCIPLINES, JustificationLimits
from cs_score.coldstart.tab_files import UnreadLine, is_blank_or_comment, split_columns
from cs_score.problems.log import Place
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.categories import explain_category, explain_label, place_of_line, summary_of
from cs_score.verbs.explain.run_explanation.indexed_run import IndexedQuery, IndexedRun
from cs_score.verbs.explain.run_explanation.nearness import NearAssessment


def explain_line(line: AnyLine, indexed_run: IndexedRun, *, with_effect: bool = True) -> document.LineExplanation:
    """Return the explanation of a line: what happened to it in each step, up to the last one reached.

    The last step, the effect of removing the line, takes the most time; it is left out without `with_effect`.
    """
    explanation = document.LineExplanation(
        summary=summary_of(line, indexed_run), text=line.text, reading_step=_explain_reading(line, indexed_run)
    )
    if isinstance(line, UnreadLine):
        return explanation
    explanation = replace(explanation, query_step=explain_query_step(line.query, indexed_run))
    if isinstance(line, Response):
        explanation = _with_scoring_steps(explanation, line, indexed_run)
    if explanation.stopped_by is not None or not with_effect:
        return explanation
    # A skipped line has an effect, too: it may have created the query of other lines.
    return replace(explanation, effect=indexed_run.effect_of_removing([line]))


def _with_scoring_steps(
    explanation: document.LineExplanation, line: Response, indexed_run: IndexedRun
) -> document.LineExplanation:
    """Return the explanation of a response with the steps from the limits to the rankings added.

    If scoring stopped before the end, `stopped_by` of the explanation says why, and later steps are missing.
    """
    indexed_query = indexed_run.query(line.query.base_id)
    if indexed_run.unit_by_id:  # otherwise reading stopped before limits were applied
        explanation = replace(explanation, limits_step=_explain_limits(line, indexed_run))
    stopped_by = _why_stopped(line, indexed_query)
    if stopped_by is not None:
        return replace(explanation, stopped_by=stopped_by)
    explanation = _with_category(explanation, line, indexed_query)
    row = explanation.summary.row
    return replace(
        explanation,
        rows=() if row is None else tuple(indexed_query.explained_rows[row]),
        rank_step=indexed_query.rank_step(line.node),
        why_not_ranked=indexed_query.why_not_ranked(line.node),
    )


def _with_category(
    explanation: document.LineExplanation, line: Response, indexed_query: IndexedQuery
) -> document.LineExplanation:
    """Return the explanation of a response with its assessment, its category and its label, steps 4 to 6.

    The category and the label are None if the query of the response was not counted.
    """
    matching_step = _explain_matching(line, indexed_query)
    category = explain_category(line, indexed_query)
    label = None
    if category is not None:
        label = explain_label(explanation.summary, category, indexed_query.indexed_run)
    return replace(explanation, matching_step=matching_step, category=category, label=label)


def _why_stopped(line: Response, indexed_query: IndexedQuery) -> str | None:
    """Return the reason why a line was not scored after it was read, or None if it was scored."""
    indexed_run = indexed_query.indexed_run
    unit = indexed_query.unit
    if not indexed_run.is_of_run(line):
        explained_run = indexed_run.scored.run_id
        return f"it belongs to run {line.run_id}; this is about run {explained_run} (--run {line.run_id})"
    if unit.id not in indexed_run.unit_by_id:  # its unit was not scored: perhaps an error stopped scoring before
        if indexed_run.fatal_error is None:
            return "its query is not among those to score"
        return f"nothing was scored: {indexed_run.fatal_error}"
    if unit.matching_error is not None:
        return f"it could not be matched: {unit.matching_error}"
    if indexed_query.result.counting_error is not None:
        return f"its query could not be counted: {indexed_query.result.counting_error}"
    return None


# ---- Step 1: reading


def _explain_reading(line: AnyLine, indexed_run: IndexedRun) -> document.Read:
    """Return step 1 of a line: its columns, the repaired ones among them, and the reason if nothing of it is scored."""
    names = indexed_run.run.layouts[line.file].columns
    text_by_column = dict(zip(names, split_columns(line.text)))
    reading = document.Read(
        rule="lines",
        columns=text_by_column,
        repaired_columns={},
        problems=tuple(_problems_at(line, indexed_run)),
        why_not_read=None,
        repeated_line=None,
    )
    if isinstance(line, Response):
        return replace(reading, repaired_columns=_repaired_columns(line, text_by_column))
    if isinstance(line, SkippedLine):
        return replace(reading, why_not_read=_why_skipped(line, text_by_column))
    return _explain_not_reading(line, reading, indexed_run)


def _explain_not_reading(line: UnreadLine, reading: document.Read, indexed_run: IndexedRun) -> document.Read:
    """Return step 1 of a line that was not read, with the reason added to its `reading`."""
    if is_blank_or_comment(line.text):
        kind = "a comment" if line.text.strip() else "a blank line"
        return replace(reading, columns={}, why_not_read=f"not read: {kind}")
    first_number = indexed_run.first_number_by_text[line.file, line.text]
    if first_number < line.number:
        repeated_line = At(line.file, first_number)
        return replace(
            reading, why_not_read="not read: it repeats an earlier line of its file", repeated_line=repeated_line
        )
    # The only reason left is a wrong number of columns.
    column_count = len(split_columns(line.text))
    usual_count = len(indexed_run.run.layouts[line.file].columns)
    reason = f"it has {column_count} columns, where lines of this layout have {usual_count}"
    return replace(reading, why_not_read=f"not read: {reason}")


def _repaired_columns(line: Response, text_by_column: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a response whose text was replaced for scoring, each with its replacement.

    For example, an illegal confidence counts as 1: `{"CONFIDENCE": "1.0"}`. `text_by_column` holds the original text of
    each column.
    """
    repaired_columns: dict[str, str] = {}
    if text_by_column["RELATION_PROVENANCE_TRIPLES"] != line.relation_provenance:
        repaired_columns["RELATION_PROVENANCE_TRIPLES"] = line.relation_provenance
    if text_by_column["VALUE_PROVENANCE_TRIPLES"] != line.value_provenance:
        repaired_columns["VALUE_PROVENANCE_TRIPLES"] = line.value_provenance
    if not _denotes_number(text_by_column["CONFIDENCE"], line.confidence):
        repaired_columns["CONFIDENCE"] = repr(line.confidence)
    return repaired_columns


def _denotes_number(text: str, number: float) -> bool:
    """Return whether a text is a decimal form of `number`, such as `0.50` for 0.5."""
    try:
        return float(text) == number
    except ValueError:
        return False


def _why_skipped(line: SkippedLine, text_by_column: Mapping[str, str]) -> str:
    """Return a sentence that says why a line was skipped: because of an empty column, or because of its slot."""
    empty_columns = [name for name, text in text_by_column.items() if not text.strip()]
    if empty_columns:
        why = f"its column {empty_columns[0]} is empty"
    else:
        # The slots of a query are the slots that remain to be filled. Its own slot is the first one.
        wanted_slot = line.query.slots[0] if line.query.slots else "nothing more"
        why = f"its slot is {text_by_column.get('SLOT_NAME', '')} and its query asks for {wanted_slot}"
    consequence = "it was read, and has created the query that asks about its answer, but it is not scored"
    return f"skipped, since {why}; {consequence}"


def _problems_at(line: AnyLine, indexed_run: IndexedRun) -> Iterator[document.Noted]:
    """Yield the problems reported at a line. Problems about limits are left out: they are part of step 3."""
    for problem in indexed_run.problems.get(Place(line.file, line.number), ()):
        if problem.code not in DISCARD_CODES:
            yield document.Noted(code=problem.code, severity=str(problem.severity), message=problem.message.strip())


# ---- Step 2: the query


def explain_query_step(query: LinkedQuery, indexed_run: IndexedRun) -> document.Asked:
    """Return step 2 of a line: its query with the slot, the lines leading to it, and its LDC query as `unit`.

    A follow-on query asks about a parent answer. For such a query, the step also includes the places of this answer in
    the pool. If the query is not scored, the step gives the reason.
    """
    entry_points = indexed_run.query(query.base_id).query.entry_points
    names = [entry_point.name for entry_point in entry_points if entry_point.name]
    return document.Asked(
        rule="follow-on-queries" if query.is_follow_on else "queries",
        query=query.full_id,
        name=names[0] if names else None,
        slot=query.slots[0] if query.slots else "",  # the first slot is the one to fill next
        hop=query.level,
        unit=_ldc_query_of(query, indexed_run),
        parent_lines=tuple(_lines_leading_to(query, indexed_run)),
        pool_places=_pool_places_of_parent_answer(query, indexed_run),
        not_scored=_why_not_scored(query, indexed_run),
    )


def _ldc_query_of(query: LinkedQuery, indexed_run: IndexedRun) -> str | None:
    """Return the full id of the LDC query of an entry point, or None if the query does not belong to an LDC query."""
    gold = indexed_run.run.gold
    ldc_id = gold.query_set.ldc_id_by_query.get(query.base_id)
    if ldc_id is None:  # no queries were created from LDC queries, but the file of `-queries` may list the LDC query
        return gold.listed_ldc_id_by_query.get(query.base_id)
    return gold.query_set.by_id[ldc_id].full_id


def _pool_places_of_parent_answer(query: LinkedQuery, indexed_run: IndexedRun) -> tuple[At, ...]:
    """Return the place in the pool of the answer that a follow-on query asks about.

    The result is empty if the answer is not in the pool, or if the query belongs to the first hop.
    """
    if not query.is_follow_on:
        return ()
    follow_on = indexed_run.run.links.find_follow_on(query.short_id)
    if follow_on is None or follow_on.first_assessment is None:
        return ()
    return (place_of_line(follow_on.first_assessment),)


def _why_not_scored(query: LinkedQuery, indexed_run: IndexedRun) -> str | None:
    """Return the reason why a query is not scored, or None if it is scored."""
    if not indexed_run.query(query.base_id).is_scored:
        return "nothing was scored" if indexed_run.fatal_error else "its query is not among those to score"
    hop_limit = indexed_run.run.gold.hop_limit_by_id[query.base_id]
    if query.level > hop_limit:
        return f"hops beyond {hop_limit} are not scored for this query"
    return None


def _lines_leading_to(query: LinkedQuery, indexed_run: IndexedRun) -> Iterator[document.Parent]:
    """Yield the lines that lead to a follow-on query, starting with the first hop. Skipped lines come last in each hop.

    A line leads to the query if the query asks about its answer, or if it leads to the query of such a line.
    """
    if query.parent is None:
        return
    yield from _lines_leading_to(query.parent, indexed_run)
    # All hops of a query share one base id. The lines are looked up by the query that asks about their answer, which is
    # this query.
    for line in indexed_run.query(query.base_id).lines_by_follow_on.get(query.short_id, ()):
        yield _parent_of_response(line, indexed_run)
    for skipped in indexed_run.run.links.skipped_lines:
        if skipped.follow_on_id == query.short_id and skipped.file in indexed_run.files:
            value = skipped.text.split("\t")[4]  # in all layouts of runs, the fifth column is the value
            yield document.Parent(file=skipped.file, line=skipped.number, value=value, category="", side="skipped")


def _parent_of_response(line: Response, indexed_run: IndexedRun) -> document.Parent:
    """Return a response as one of the lines that lead to a follow-on query, with its value and what it counts as."""
    summary = summary_of(line, indexed_run)
    return document.Parent(
        file=summary.file,
        line=summary.line,
        value=summary.value or "",
        category=summary.category or "",
        side=summary.side,
    )


# ---- Step 3: limits


def _explain_limits(line: Response, indexed_run: IndexedRun) -> document.Kept:
    """Return step 3 of a line: whether a limit on justifications discards it, and which lines are kept instead."""
    limits = indexed_run.run.limits
    discard = indexed_run.run.discard_by_index.get(line.index)
    if discard is None:
        return document.Kept(rule="limits", limits=str(limits))
    return document.Kept(
        rule="single-values" if discard.limit == "single-valued" else "limits",
        limits=str(limits),
        limit=_limit_in_words(discard, limits),
        kept_lines=tuple([place_of_line(kept_line) for kept_line in discard.kept_lines]),
        why_others_kept=_why_others_kept(line, discard, indexed_run),
    )


def _limit_in_words(discard: Discard, limits: JustificationLimits) -> str:
    """Describe which of the limits `A:B` on justifications discards a line, for example `B = 3 for each node`."""
    if discard.limit == "parent":
        return "all lines that give the answer which its query asks about were discarded, or there are none"
    if discard.limit == "single-valued":
        return "the slot takes one value"
    if discard.limit == "node":
        return f"B = {limits.justifications_per_node} for each node"
    return f"A = {limits.justifications_per_document} for each node and document"


def _why_others_kept(line: Response, discard: Discard, indexed_run: IndexedRun) -> str:
    """Return why the kept lines are preferred to a discarded line; "" for a line discarded with its parent."""
    if discard.limit == "parent":
        return ""
    if discard.limit == "single-valued":
        return _why_other_node_kept(line, discard.kept_lines, indexed_run)
    return _why_other_lines_kept(line, discard)


def _why_other_lines_kept(line: Response, discard: Discard) -> str:
    """Return why the kept lines of a node were preferred to a discarded line.

    The discarded line is compared with the last kept line.
    """
    last_kept = discard.kept_lines[-1]
    if last_kept.confidence == line.confidence:
        numbers = f"{last_kept.number} < {line.number}"
        return f"the confidence is the same, {line.confidence:g}; the earlier line stays: {numbers}"
    return f"the higher confidence stays: {last_kept.confidence:g} > {line.confidence:g}"


def _why_other_node_kept(line: Response, kept_lines: Sequence[Response], indexed_run: IndexedRun) -> str:
    """Return why the node of the kept lines is preferred to the node of a discarded line.

    It has the higher confidence or, if both are equal, begins earlier.
    """
    own_lines = [line] if line.node is None else indexed_run.run.links.lines_by_node[line.node]
    kept_confidence = _confidence_within_limits(kept_lines, indexed_run)
    own_confidence = _confidence_within_limits(own_lines, indexed_run)
    node = kept_lines[0].node
    if kept_confidence > own_confidence:
        return f"node {node} has the higher confidence: {kept_confidence:.4f} > {own_confidence:.4f}"
    first_kept = min([kept_line.number for kept_line in kept_lines])
    first_own = min([own_line.number for own_line in own_lines])
    return (
        f"node {node} has the same confidence, {kept_confidence:.4f}, and begins earlier: "
        f"line {first_kept}, not {first_own}"
    )


def _confidence_within_limits(lines: Sequence[Response], indexed_run: IndexedRun) -> float:
    """Return the confidence of a node, computed from its lines that are within the limits for each node."""
    confidences = [line.confidence for line in lines if _is_within_node_limits(line, indexed_run)]
    return node_confidence(confidences, indexed_run.run.limits.justifications_per_node)


def _is_within_node_limits(line: Response, indexed_run: IndexedRun) -> bool:
    """Return whether a line is within the limits on the justifications of its node.

    These limits are applied first. A line within the limits may still be discarded afterwards, because its slot takes
    only one value. A line that was discarded together with its parent is not within the limits.
    """
    discard = indexed_run.run.discard_by_index.get(line.index)
    if discard is None:
        return True
    return discard.limit == "single-valued"


# ---- Step 4: the assessment


class _ComparedColumn(NamedTuple):
    """A column in which a line and its assessment must agree: its name, and its text in a line and an assessment."""

    name: str
    in_line: str
    in_assessment: str


def _explain_matching(line: Response, indexed_query: IndexedQuery) -> document.Met:
    """Return step 4 of a line: its assessment, or the most similar ones if there is none.

    The discipline is the matching rule. It defines whether the justifications of answers are compared, or only their
    texts.
    """
    indexed_run = indexed_query.indexed_run
    discipline = indexed_run.run.gold.options.discipline
    assessment = indexed_query.assessment_by_index.get(line.index)
    if assessment is not None:
        return document.Met(
            rule="matching",
            discipline=discipline,
            way_of_matching=_matching_in_words(line, assessment, discipline),
            assessment=describe_assessment(assessment, indexed_run),
        )
    nearest = [
        _describe_near(line, near_assessment, indexed_run)
        for near_assessment in indexed_query.nearest_assessments(line)
    ]
    why_unmatched = f"no assessment: {DISCIPLINES[discipline]}"
    return document.Met(
        rule="matching", discipline=discipline, way_of_matching=why_unmatched, assessment=None, nearest=tuple(nearest)
    )


def _matching_in_words(line: Response, assessment: Assessment, discipline: str) -> str:
    """Return how a line was matched with its assessment: by the same justification, or only by the same value."""
    if assessment.query.full_id == line.query.full_id and assessment.answer == line.answer:
        return "the same answer with the same justification"
    return f"the same value, since no assessment has the same justification ({discipline})"


def _describe_near(line: Response, near_assessment: NearAssessment, indexed_run: IndexedRun) -> document.Near:
    """Return the description of an assessment that is similar to a line: how it is similar, and where both differ.

    The columns in which they differ have the text of the assessment: {"VALUE": "New York"}.
    """
    kind_of_similarity, assessment = near_assessment
    difference_names = small_differences(line.value, assessment.value)  # such as ["letter case"]
    if difference_names:
        kind_of_similarity += f"; the answers differ in {' and '.join(difference_names)} only"
    differing_texts: dict[str, str] = {}
    for column in _compared_columns(line, assessment):
        if column.in_line != column.in_assessment:
            differing_texts[column.name] = column.in_assessment
    return document.Near(
        assessment=describe_assessment(assessment, indexed_run),
        nearness=kind_of_similarity,
        text_by_differing_column=differing_texts,
    )


def _compared_columns(line: Response, assessment: Assessment) -> list[_ComparedColumn]:
    """Return the columns in which a line and an assessment must agree to belong together."""
    return [
        _ComparedColumn("FULL_QUERY_ID", line.query.full_id, assessment.query.full_id),
        _ComparedColumn("RELATION_PROVENANCE_TRIPLES", line.relation_provenance, assessment.relation_provenance),
        _ComparedColumn("VALUE", line.value, assessment.value),
        _ComparedColumn("VALUE_PROVENANCE_TRIPLES", line.value_provenance, assessment.value_provenance),
    ]


def describe_assessment(assessment: Assessment, indexed_run: IndexedRun) -> document.Assessed:
    """Return an assessment as explanations show it: its place, id, answer, judgment, and class if it is accepted."""
    columns = indexed_run.run.layouts[assessment.file].columns
    text_by_column = dict(zip(columns, split_columns(assessment.text)))
    return document.Assessed(
        file=assessment.file,
        line=assessment.number,
        id=text_by_column.get("ASSESSMENT_ID", ""),
        query=assessment.query.full_id,
        value=assessment.value,
        provenance=assessment.value_provenance,
        judgment=assessment.judgment,
        class_name=assessment.value_class if assessment.is_accepted else None,
        mention=assessment.value_mention,
        class_mention=assessment.class_mention,
    )
