"""The steps of a line up to its label, in order, each by a rule of the scorer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.changes import At
from cs_score.analysis.coldstart.explanation.case import AnyLine, Case, Placement, QueryCase, side_of
from cs_score.analysis.coldstart.explanation.document import (
    Asked,
    Assessed,
    Category,
    Kept,
    Label,
    Met,
    Near,
    Noted,
    Parent,
    Read,
)
from cs_score.coldstart.judging import INCORRECT_PARENT, REDUNDANT, UNASSESSED, Labels, pre_policy_category
from cs_score.coldstart.lines import (
    CODES,
    CORRECT,
    Assessment,
    Discard,
    LinkedQuery,
    Response,
    SkippedLine,
    best_first,
    node_confidence,
)
from cs_score.coldstart.options import DISCIPLINES, DUPLICATE, IGNORE, RIGHT, SIDES
from cs_score.coldstart.tab_files import is_blank_or_comment, split_columns
from cs_score.problems.log import Place

Reason: TypeAlias = tuple[str, tuple[At, ...]]
"""Why a line has its category, and the lines that decided."""


def at(line: AnyLine | Assessment) -> At:
    return At(line.file, line.number)


def read_of(line: AnyLine, case: Case) -> Read:
    names = case.run.layouts[line.file].columns
    columns = dict(zip(names, split_columns(line.text)))
    problems = tuple(
        Noted(problem.code, str(problem.severity), problem.message.strip())
        for problem in case.problems.get(Place(line.file, line.number), ())
        if problem.code not in CODES  # reported where it is kept or discarded
    )
    repaired: dict[str, str] = {}
    reason = rests_on = None
    first = case.first_lines.get((line.file, line.text), line.number)
    if isinstance(line, Response):
        relation, _, provenance = line.answer
        counted = {"RELATION_PROVENANCE_TRIPLES": relation, "VALUE_PROVENANCE_TRIPLES": provenance}
        repaired = {name: text for name, text in counted.items() if columns[name] != text}
        try:
            is_as_written = float(columns["CONFIDENCE"]) == line.confidence
        except ValueError:
            is_as_written = False
        repaired |= {} if is_as_written else {"CONFIDENCE": repr(line.confidence)}
    elif isinstance(line, SkippedLine):
        empty = next((name for name, text in columns.items() if not text.strip()), None)
        asked = f"its query asks for {line.query.slots[0] if line.query.slots else 'nothing more'}"
        why = f"its slot is {columns.get('SLOT_NAME', '')} and {asked}"
        why = why if empty is None else f"its column {empty} is empty"
        creates = "it was read, and has created the query that asks about its answer, but it is not scored"
        reason = f"skipped, since {why}; {creates}"
    elif is_blank_or_comment(line.text):
        columns, reason = {}, f"not read: {'a comment' if line.text.strip() else 'a blank line'}"
    elif first < line.number:
        reason, rests_on = "not read: it repeats an earlier line of its file", At(line.file, first)
    else:
        width = len(split_columns(line.text))
        reason = f"not read: it has {width} columns, where lines of this layout have {len(names)}"
    return Read("lines", columns, repaired, problems, reason, rests_on)


def asked_of(query: LinkedQuery, case: Case) -> Asked:
    """A query as one of its lines sees it."""
    gold, of = case.run.gold, case.query(query.base_id)
    names = [point.name for point in of.query.entry_points if point.name]
    ldc_id = gold.table.ldc_of.get(query.base_id)
    unit = gold.ldc_ids.get(query.base_id) if ldc_id is None else gold.table.by_id[ldc_id].full_id
    follow_on = case.run.links.follow_on(query.short_id) if query.level else None
    accepting = None if follow_on is None else follow_on.assessment
    not_scored = None
    if of.result is None:
        not_scored = "nothing was scored" if case.fatal else "its query is not among those to score"
    elif query.level > (limit := gold.hop_limits[query.base_id]):
        not_scored = f"hops beyond {limit} are not scored for this query"
    return Asked(
        "follow-on-queries" if query.level else "queries",
        query.full_id,
        names[0] if names else None,
        query.slots[0] if query.slots else "",
        query.level,
        unit,
        tuple(_chain(query, case)),
        () if accepting is None else (at(accepting),),
        not_scored,
    )


def _chain(query: LinkedQuery, case: Case) -> Iterator[Parent]:
    """The lines that a query hangs below, from the first hop on; of each hop those that give the answer, in load order,
    skipped ones last."""
    if query.parent is None:
        return
    yield from _chain(query.parent, case)
    for line in case.query(query.base_id).giving.get(query.short_id, ()):
        yield Parent(line.file, line.number, line.value, case.category_of(line) or "", side_of(case.labels_of(line)))
    for skipped in case.run.links.skipped:
        if skipped.target == query.short_id and skipped.file in case.files.files:
            yield Parent(skipped.file, skipped.number, skipped.text.split("\t")[4], "", "skipped")


def kept_of(line: Response, case: Case) -> Kept:
    limits = case.run.limits
    if (why := case.run.discarded.get(line.index)) is None:
        return Kept("limits", str(limits))
    limit = {
        "document": f"A = {limits.per_document} for each node and document",
        "node": f"B = {limits.most} for each node",
        "single-valued": "the slot takes one value",
        "parent": "all lines that give the answer which its query asks about were discarded, or there are none",
    }[why.limit]
    rule = "single-values" if why.limit == "single-valued" else "limits"
    return Kept(rule, str(limits), limit, tuple(map(at, why.kept)), _order(line, why, case))


def _order(line: Response, why: Discard, case: Case) -> str:
    """What decided between a line and the last of those that stay."""
    if not why.kept:
        return ""
    last = why.kept[-1]
    if why.limit != "single-valued":
        if last.confidence != line.confidence:
            return f"the higher confidence stays: {last.confidence:g} > {line.confidence:g}"
        return f"the confidence is the same, {line.confidence:g}; the earlier line stays: {last.number} < {line.number}"

    def confidence(lines: Sequence[Response]) -> float:
        """That of a node from its lines that no limit on its own lines had discarded."""
        discards = case.run.discarded
        left = [each for each in lines if each.index not in discards or discards[each.index].limit == "single-valued"]
        return node_confidence([each.confidence for each in left], case.run.limits.most)

    own = case.run.links.nodes[line.node] if line.node is not None else [line]
    node, stays, goes = why.kept[0].node, confidence(why.kept), confidence(own)
    if stays > goes:
        return f"node {node} has the higher confidence: {stays:.4f} > {goes:.4f}"
    first, other = min(each.number for each in why.kept), min(each.number for each in own)
    return f"node {node} has the same confidence, {stays:.4f}, and begins earlier: line {first}, not {other}"


_MOST_NEAR: Final = 3

_ANSWER, _VALUE = "the same answer with another justification", "the same value elsewhere"
_PLACE, _DOCUMENT = "the same place with another value", "the same document"

_NEARNESS: Final = (
    (_ANSWER, ("qrvp",)),
    (_ANSWER, ("qvp",)),
    (_VALUE, ("rvp", "qrv")),
    (_VALUE, ("vp", "qv", "rv")),
    (_VALUE, ("v",)),
    (_PLACE, ("qrp",)),
    (_PLACE, ("qp", "rp")),
    (_PLACE, ("p",)),
    (_DOCUMENT, ("qrd",)),
    (_DOCUMENT, ("qd", "rd")),
    (_DOCUMENT, ("d",)),
)
"""How an assessment is near, and which of query, relation provenance, value, place and document it shares with a line:
the nearest first, alternatives that share as many beside each other."""

_SHARED: Final = tuple(dict.fromkeys(columns for _, shared in _NEARNESS for columns in shared))


def met_of(line: Response, case: Case) -> Met:
    discipline = case.run.gold.options.discipline
    query = case.query(line.query.base_id)
    assessment = query.assessment_of(line)
    if assessment is None:
        how = f"no assessment: {DISCIPLINES[discipline]}"
        return Met("matching", discipline, how, None, tuple(_nearest(line, query, case)))
    if assessment.query.full_id == line.query.full_id and assessment.answer == line.answer:
        how = "the same answer with the same justification"
    else:
        how = f"the same value, since no assessment has the same justification ({discipline})"
    return Met("matching", discipline, how, assessed_of(assessment, case))


def assessed_of(assessment: Assessment, case: Case) -> Assessed:
    columns = case.run.layouts[assessment.file].columns
    written = dict(zip(columns, split_columns(assessment.text)))
    return Assessed(
        assessment.file,
        assessment.number,
        written.get("ASSESSMENT_ID", ""),
        assessment.query.full_id,
        assessment.value,
        assessment.provenance,
        assessment.judgment,
        assessment.value_class if assessment.is_accepted else None,
        assessment.value_mention,
        assessment.class_mention,
    )


def _nearest(line: Response, query: QueryCase, case: Case) -> Iterator[Near]:
    """Up to three assessments of the unit's queries, the nearest first; equally near ones in load order."""
    if not query.near:
        # The first assessments, those of the line's own query first, by what they share. Of more than `_MOST_NEAR`
        # beyond those that share more none can be among the nearest.
        assessed, ldc_of = case.run.gold.assessed, case.run.gold.table.ldc_of
        others = (other for other, unit in ldc_of.items() if unit == ldc_of.get(query.base_id, ""))
        found = (assessed.get(each, ()) for each in dict.fromkeys((query.base_id, *others)))
        for rank, assessment in enumerate(chain.from_iterable(found)):
            for columns in _SHARED:
                alike = query.near.setdefault(_columns(assessment, columns), [])
                if len(alike) < 2 * _MOST_NEAR:
                    alike.append((rank, assessment))
    near: dict[int, tuple[str, Assessment]] = {}
    for how, shared in _NEARNESS:
        ranks = {rank: each for columns in shared for rank, each in query.near.get(_columns(line, columns), ())}
        near.update((rank, (how, ranks[rank])) for rank in sorted(ranks.keys() - near.keys()))
        if len(near) >= _MOST_NEAR:
            break
    own = _columns(line, "qrvp")[2:]
    names = ("FULL_QUERY_ID", "RELATION_PROVENANCE_TRIPLES", "VALUE", "VALUE_PROVENANCE_TRIPLES")
    for how, assessment in list(near.values())[:_MOST_NEAR]:
        theirs = (assessment.query.full_id, *assessment.answer)
        differs = {name: text for name, text, mine in zip(names, theirs, own) if text != mine}
        yield Near(assessed_of(assessment, case), how, differs)


def _columns(line: Response | Assessment, names: str) -> tuple[object, ...]:
    """What a line has of some columns, each by the first letter of its name, with these and the hop of its query."""
    relation, value, place = line.answer
    columns = {"q": line.query.full_id, "r": relation, "v": value, "p": place, "d": line.docid}
    return (names, line.query.level, *(columns[name] for name in names))


def category_of(line: Response, case: Case) -> Category | None:
    """The category of a line and why it has it; None where its query was not counted."""
    query = case.query(line.query.base_id)
    placement, labels = query.placement, case.labels_of(line)
    if placement is None or not labels:
        return None
    assessment, stands_in = query.assessment_of(line), placement.class_of[line.index]
    kept = placement.kept_for.get(line.index)
    name = INCORRECT_PARENT if INCORRECT_PARENT in labels else pre_policy_category(assessment)
    if name == INCORRECT_PARENT:
        key: object = line.query.short_id, placement.tree.above[stands_in]
        if key not in query.reasons:
            query.reasons[key] = _incorrect_parent(line, query, placement, case)
        return Category("paths", name, stands_in, *query.reasons[key])
    if line.index in placement.not_named and not {RIGHT, REDUNDANT} & {*labels} and name in case.policy.right:
        key = id(placement.not_named[line.index])  # one list for all lines of the node
        if key not in query.reasons:
            query.reasons[key] = _nominal(line, placement, case)
        return Category("nominal-mentions", name, stands_in, *query.reasons[key])
    if REDUNDANT in labels and kept is not None:
        return Category("policies", DUPLICATE, stands_in, _duplicate(line, kept, placement), (at(kept),))
    if assessment is not None:
        return Category("policies", name, stands_in, "so the assessor judged it")
    reason = "no assessment was met"
    accepting = line.follow_on.accepting
    if accepting is not None and accepting.value_class == stands_in:
        reason += "; value and place are those of an accepted answer, so that it stands in its class"
    return Category("policies", name, stands_in, reason)


def _incorrect_parent(line: Response, query: QueryCase, placement: Placement, case: Case) -> Reason:
    above = placement.tree.above[placement.class_of[line.index]]
    parents = [each for each in placement.members.get(above, ()) if each.target == line.query.short_id]
    if parents:
        judged = case.category_of(parents[0]) or UNASSESSED
        first = "the first line that gives the answer which its query asks about" if len(parents) > 1 else "its parent"
        side = side_of(case.labels_of(parents[0]))
        edition = case.run.gold.table.edition
        if edition.needs_correct_parent and RIGHT in case.labels_of(parents[0]):
            side = f"{edition.name} wants one that is {CORRECT}"
        return f"{first} is {judged}, so that the path to it is not right ({side})", (at(parents[0]),)
    if elsewhere := query.giving.get(line.query.short_id):
        where = placement.class_of[elsewhere[0].index]
        reason = f"its parent stands in {where}, while its own answer belongs below {above}"
        return reason, tuple(map(at, elsewhere))
    return f"no line of the run gives the answer which its query asks about ({above})", ()


def _nominal(line: Response, placement: Placement, case: Case) -> Reason:
    """Why a line or its node is not named: the lines that were looked at, and those that they outrank."""
    most, matched = case.run.limits.most, placement.matched

    def mention(assessment: Assessment) -> str:
        if assessment.value_mention is None:
            return "the pool has no mention types"
        kind = f"{assessment.value_mention} of a {assessment.class_mention} class"
        return kind if assessment.is_accepted else "wrong"

    edition = case.run.gold.table.edition
    if edition.ignores_each_nominal:
        met = matched[line.index]
        if met.value_mention is None:
            return "not right: the pool has mention types for other answers of the row, and none for this one", ()
        return f"right, but ignored: {mention(met)}; {edition.name} looks at each line by itself", ()
    assessed = best_first(each for each in placement.not_named[line.index] if each.index in matched)
    looked_at, others = (assessed, []) if most is None else (assessed[:most], assessed[most:])
    would = [each for each in others if placement.names(each)]
    node = f"node {line.node}" if line.node is not None else "the lines without node, which count as one node,"
    kinds = ", ".join(dict.fromkeys(mention(matched[each.index]) for each in looked_at))
    reason = f"right, but ignored: {node} is never named by the lines that are looked at ({kinds})"
    if would:
        reason += f"; line {would[0].number} would name it, but is outranked: only the {most} best assessed lines count"
    return reason, tuple(map(at, (*looked_at, *would[:1])))


def _duplicate(line: Response, kept: Response, placement: Placement) -> str:
    own, other = placement.class_of[line.index], placement.class_of[kept.index]
    if own != other:
        order = "it comes first of those that are best in their class"
        if kept.confidence > line.confidence:
            order = f"its confidence is higher, {kept.confidence:g} > {line.confidence:g}"
        return f"right, but its slot takes one value, and the response of class {other} stays: {order}"

    def is_nominal(each: Response) -> bool:
        return each.index in placement.matched and placement.matched[each.index].value_mention == "NOM"

    if is_nominal(line) and not is_nominal(kept):
        order = "it is a name, and this a description"
    elif kept.number < line.number:
        order = "it comes first in the file"
    else:
        order = "it comes first in the order of -right and of the files"
    return f"right, but a response of the same class {own} stays: {order}"


def label_of(category: Category, labels: Labels, case: Case) -> Label:
    """What a line counts as, and the switch that says so."""
    policy = case.policy
    listing = [f"-{side.lower()} lists {category.name}" for side in SIDES if category.name in policy.items(side)]
    reason = " and ".join(listing) or f"no switch lists {category.name}"
    if category.rule == "nominal-mentions" and case.run.gold.table.edition.ignores_each_nominal:
        reason = "descriptions of what has a name are ignored, whatever the switches say"
        if IGNORE not in labels:
            reason = "an answer without mention type is not right beside those that have one, whatever the switches say"
    elif category.rule == "nominal-mentions":
        reason = "lines of nodes that are never named are ignored, whatever the switches say"
        if IGNORE not in labels:  # the rule looks at line numbers only
            reason += "; but not where an ignored line of another file has the same number"
    elif category.name == DUPLICATE and policy.duplicate_side is not None:
        reason = f"-{policy.duplicate_side.lower()} lists DUPLICATE"
        reason += ", and comes last of those that do" if len(listing) > 1 else ""
    elif category.name == IGNORE:
        reason = "the assessor's judgment IGNORE always counts as ignored"
    rule = category.rule if category.rule == "nominal-mentions" else "policies"
    return Label(rule, side_of(labels), tuple(labels), reason)
