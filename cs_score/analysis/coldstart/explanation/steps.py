"""The steps of a line up to its label, in order, each by a rule of the scorer (insight specification 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from cs_score.analysis.coldstart.explanation.case import Case, Placement, sides_text
from cs_score.analysis.coldstart.explanation.facts import (
    Asked,
    Assessed,
    At,
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
    Assessment,
    Discard,
    LinkedQuery,
    Response,
    SkippedLine,
    UnreadLine,
    best_first,
    node_confidence,
)
from cs_score.coldstart.options import DISCIPLINES, DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy, Side
from cs_score.coldstart.tab_files import is_blank_or_comment, split_columns
from cs_score.problems.log import Place


def read_of(line: Response | SkippedLine | UnreadLine, case: Case) -> Read:
    """What was read of a line."""
    names = case.run.layouts[line.file].columns
    columns = dict(zip(names, split_columns(line.text)))
    problems = tuple(_problems(line.file, line.number, case))
    if isinstance(line, UnreadLine):
        columns = {} if is_blank_or_comment(line.text) else columns
        reason, rests_on = _why_unread(line, len(names), case)
        return Read("4.2", columns, {}, problems, reason, rests_on)
    if isinstance(line, SkippedLine):
        return Read("4.2", columns, {}, problems, _why_skipped(line, columns), None)
    return Read("4.2", columns, _counted_as(line, columns), problems, None, None)


def _problems(file: str, number: int, case: Case) -> Iterator[Noted]:
    for problem in case.problems.get(Place(file, number), ()):
        if problem.code not in CODES:  # reported where it is kept or discarded
            yield Noted(problem.code, str(problem.severity), problem.message.strip())


def _counted_as(line: Response, columns: dict[str, str]) -> dict[str, str]:
    """The columns that count as something else than what is written."""
    relation, _, provenance = line.answer
    counted = {"RELATION_PROVENANCE_TRIPLES": relation, "VALUE_PROVENANCE_TRIPLES": provenance}
    repaired = {name: text for name, text in counted.items() if columns[name] != text}
    written = columns["CONFIDENCE"]
    try:
        is_as_written = float(written) == line.confidence
    except ValueError:
        is_as_written = False
    return repaired if is_as_written else {**repaired, "CONFIDENCE": repr(line.confidence)}


def _why_skipped(line: SkippedLine, columns: dict[str, str]) -> str:
    empty = next((name for name, text in columns.items() if not text.strip()), None)
    creates = "it was read, and has created the query that asks about its answer, but it is not scored"
    if empty is not None:
        return f"skipped, since its column {empty} is empty; {creates}"
    expected = line.query.slots[0] if line.query.slots else None
    asked = f"its query asks for {expected}" if expected is not None else "its query asks for nothing more"
    return f"skipped, since its slot is {columns.get('SLOT_NAME', '')} and {asked}; {creates}"


def _why_unread(line: UnreadLine, width: int, case: Case) -> tuple[str, At | None]:
    if is_blank_or_comment(line.text):
        return ("not read: a comment" if line.text.strip() else "not read: a blank line"), None
    first = case.first_lines.get((line.file, line.text), line.number)
    if first < line.number:
        return "not read: it repeats an earlier line of its file", At(line.file, first)
    found = len(split_columns(line.text))
    return f"not read: it has {found} columns, where lines of this layout have {width}", None


def asked_of(query: LinkedQuery, case: Case) -> Asked:
    """A query as one of its lines sees it."""
    follow_on = case.run.links.follow_on(query.short_id) if query.level else None
    accepting = None if follow_on is None else follow_on.assessment
    return Asked(
        "4.5" if not query.level else "4.9",
        query.full_id,
        entity_name(query.base_id, case),
        query.slots[0] if query.slots else "",
        query.level,
        ldc_query(query.base_id, case),
        tuple(_chain(query, case)),
        () if accepting is None else (At(accepting.file, accepting.number),),
        why_not_scored(query, case),
    )


def entity_name(base_id: str, case: Case) -> str | None:
    """The name of the entity that a query of a query file asks about."""
    query = case.run.gold.table.by_id.get(base_id)
    names = [] if query is None else [point.name for point in query.entry_points if point.name]
    return names[0] if names else None


def ldc_query(base_id: str, case: Case) -> str | None:
    """The full id of the LDC query that a query was made from, or is listed under."""
    gold = case.run.gold
    ldc_id = gold.table.ldc_of.get(base_id)
    return gold.ldc_ids.get(base_id) if ldc_id is None else gold.table.by_id[ldc_id].full_id


def why_not_scored(query: LinkedQuery, case: Case) -> str | None:
    """Why no row has the lines of a query; None where one has."""
    if case.query_result(query.base_id) is None:
        return "nothing was scored" if case.fatal else "its query is not among those to score"
    limit = case.run.gold.hop_limits[query.base_id]
    if query.level > limit:
        return f"hops beyond {limit} are not scored for this query"
    return None


def _chain(query: LinkedQuery, case: Case) -> Iterator[Parent]:
    """The lines that a query hangs below, from the first hop on; of each hop those that give the answer."""
    if query.parent is None:
        return
    yield from _chain(query.parent, case)
    for line in givers(query.short_id, query.base_id, case):
        if isinstance(line, SkippedLine):
            value = line.text.split("\t")[4]
            yield Parent(line.file, line.number, value, "", "skipped")
        else:
            labels = case.labels_of(line)
            category = case.category_of(line) or ""
            side = sides_text(labels) if labels else "not scored"
            yield Parent(line.file, line.number, line.value, category, side)


def givers(short_id: str, base_id: str, case: Case) -> list[Response | SkippedLine]:
    """The lines that give the answer which a query asks about, in load order; skipped ones last."""
    lines: list[Response | SkippedLine] = [*case.givers(short_id, base_id)]
    runs = case.files.files
    lines += [line for line in case.run.links.skipped if line.target == short_id and line.file in runs]
    return lines


_RULES: Final = {"document": "5.1", "node": "5.1", "parent": "5.1", "single-valued": "5.2"}


def kept_of(line: Response, case: Case) -> Kept:
    """Whether a line is kept, and what decided where it is not."""
    limits = case.run.limits
    if line.index not in case.run.discarded or (why := case.discards.get(line.index)) is None:
        return Kept("5", str(limits), None, (), "")
    limit = {
        "document": f"A = {limits.per_document} for each node and document",
        "node": f"B = {limits.most} for each node",
        "single-valued": "the slot takes one value",
        "parent": "all lines that give the answer which its query asks about were discarded, or there are none",
    }[why.limit]
    in_favour_of = tuple(At(kept.file, kept.number) for kept in why.kept)
    return Kept(_RULES[why.limit], str(limits), limit, in_favour_of, _order(line, why, case))


def _order(line: Response, why: Discard, case: Case) -> str:
    """What decided between a line and the last of those that stay."""
    if not why.kept:
        return ""
    if why.limit != "single-valued":
        last = why.kept[-1]
        if last.confidence != line.confidence:
            return f"the higher confidence stays: {last.confidence:g} > {line.confidence:g}"
        return f"the confidence is the same, {line.confidence:g}; the earlier line stays: {last.number} < {line.number}"
    own = case.run.links.nodes[line.node] if line.node is not None else [line]
    stays, goes = _confidence(why.kept, case), _confidence(own, case)
    if stays > goes:
        return f"node {why.kept[0].node} has the higher confidence: {stays:.4f} > {goes:.4f}"
    first, other = min(each.number for each in why.kept), min(each.number for each in own)
    return (
        f"node {why.kept[0].node} has the same confidence, {stays:.4f}, and begins earlier: line {first}, not {other}"
    )


def _confidence(lines: Sequence[Response], case: Case) -> float:
    """The confidence of a node from its lines that no limit on its own lines had discarded."""
    left = [
        line for line in lines if line.index not in case.discards or case.discards[line.index].limit == "single-valued"
    ]
    return node_confidence([line.confidence for line in left], case.run.limits.most)


_MOST_NEAR: Final = 3

_ANSWER, _VALUE = "the same answer with another justification", "the same value elsewhere"
_PLACE, _DOCUMENT = "the same place with another value", "the same document"

_NEARNESS: Final = (
    (_ANSWER, "qrvp"), (_ANSWER, "qvp"),
    (_VALUE, "rvp", "qrv"), (_VALUE, "vp", "qv", "rv"), (_VALUE, "v"),
    (_PLACE, "qrp"), (_PLACE, "qp", "rp"), (_PLACE, "p"),
    (_DOCUMENT, "qrd"), (_DOCUMENT, "qd", "rd"), (_DOCUMENT, "d"),
)  # fmt: skip
"""How an assessment is near, and which of query, relation provenance, value, place and document it shares with a line:
the nearest first, alternatives that share as many beside each other."""


def met_of(line: Response, case: Case) -> Met | None:
    """What a line met; None where nothing was matched."""
    unit = case.unit_of(line)
    if unit is None or unit.unmatched is not None:
        return None
    discipline = case.run.gold.options.discipline
    assessment = unit.matched.get(line.index)
    if assessment is None:
        how = f"no assessment: {DISCIPLINES[discipline]}"
        return Met("6", discipline, how, None, tuple(_nearest(line, case)))
    is_same = assessment.query is line.query or assessment.query.full_id == line.query.full_id
    if is_same and assessment.answer == line.answer:
        how = "the same answer with the same justification"
    else:
        how = f"the same value, since no assessment has the same justification ({discipline})"
    return Met("6", discipline, how, assessed_of(assessment, case), ())


def assessed_of(assessment: Assessment, case: Case) -> Assessed:
    """An assessment as explanations show it."""
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


def _nearest(line: Response, case: Case) -> Iterator[Near]:
    """Up to three assessments of the unit's queries, the nearest first; equally near ones in load order."""
    pool = _pool_of(line.query.base_id, case)
    near: dict[int, tuple[str, Assessment]] = {}
    for kind, *shared in _NEARNESS:
        met = {at: each for columns in shared for at, each in pool.get((columns, *_columns(line, columns)), ())}
        for at in sorted(met.keys() - near.keys()):
            near[at] = kind, met[at]
        if len(near) >= _MOST_NEAR:
            break
    for kind, assessment in list(near.values())[:_MOST_NEAR]:
        yield Near(assessed_of(assessment, case), kind, _differences(line, assessment))


def _pool_of(base_id: str, case: Case) -> Mapping[tuple[object, ...], Sequence[tuple[int, Assessment]]]:
    """The first assessments of the queries of a line's unit, those of its own query first, by what they share.

    Of more than `_MOST_NEAR` beyond those that share more none can be among the nearest.
    """
    if base_id not in case.pools:
        gold = case.run.gold
        others = (other for other, unit in gold.table.ldc_of.items() if unit == gold.table.ldc_of.get(base_id, ""))
        found = (gold.assessed.get(each, ()) for each in dict.fromkeys((base_id, *others)))
        pool: dict[tuple[object, ...], list[tuple[int, Assessment]]] = {}
        sets = list(dict.fromkeys(columns for _, *shared in _NEARNESS for columns in shared))
        for at, assessment in enumerate(chain.from_iterable(found)):
            for columns in sets:
                shares = pool.setdefault((columns, *_columns(assessment, columns)), [])
                if len(shares) < 2 * _MOST_NEAR:
                    shares.append((at, assessment))
        case.pools[base_id] = pool
    return case.pools[base_id]


def _columns(line: Response | Assessment, names: str) -> Iterator[object]:
    """What a line has of some columns, each by the first letter of its name, and the hop of its query."""
    relation, value, place = line.answer
    columns = {"q": line.query.full_id, "r": relation, "v": value, "p": place, "d": line.docid}
    yield line.query.level
    yield from (columns[name] for name in names)


def _differences(line: Response, assessment: Assessment) -> dict[str, str]:
    """The columns that decide whether a line meets an assessment, as far as they differ: what the assessment has."""
    theirs = (assessment.query.full_id, *assessment.answer)
    names = ("FULL_QUERY_ID", "RELATION_PROVENANCE_TRIPLES", "VALUE", "VALUE_PROVENANCE_TRIPLES")
    own = (line.query.full_id, *line.answer)
    return {name: text for name, text, mine in zip(names, theirs, own) if text != mine}


_SWITCHES: Final = {side: f"-{side.lower()}" for side in SIDES}


def category_of(line: Response, case: Case) -> Category | None:
    """The category of a line and why it has it; None where its query was not counted."""
    placement, unit = case.placement(line.query.base_id), case.unit_of(line)
    if placement is None or unit is None or line.index not in unit.labels:
        return None
    labels, assessment = unit.labels[line.index], unit.matched.get(line.index)
    stands_in = placement.class_of[line.index]
    kept = placement.witness.in_favour_of.get(line.index)
    name = before_policies(labels, assessment)
    if name == INCORRECT_PARENT:
        shared: tuple[object, ...] = (line.query.short_id, placement.tree.above[stands_in])
        reason, lines = case.reasons.get(shared) or case.reasons.setdefault(
            shared, _incorrect_parent(line, placement, case)
        )
        return Category("7.4", name, stands_in, reason, lines)
    if _is_blocked(labels, line, placement, case.policy):
        shared = ("nominal", id(placement.witness.not_named[line.index]))
        reason, lines = case.reasons.get(shared) or case.reasons.setdefault(shared, _nominal(line, placement, case))
        return Category("7.7", name, stands_in, reason, lines)
    if REDUNDANT in labels and kept is not None:
        reason, lines = _duplicate(line, kept, placement, case)
        return Category("7.5", DUPLICATE, stands_in, reason, lines)
    if assessment is None:
        return Category("7.5", name, stands_in, _unassessed(line, stands_in), ())
    return Category("7.5", name, stands_in, "so the assessor judged it", ())


def before_policies(labels: Labels, assessment: Assessment | None) -> str:
    """The category before the policies."""
    return INCORRECT_PARENT if INCORRECT_PARENT in labels else pre_policy_category(assessment)


def _is_blocked(labels: Labels, line: Response, placement: Placement, policy: Policy) -> bool:
    """Whether the nominal rule took the credit of a line."""
    if line.index not in placement.witness.not_named or RIGHT in labels or REDUNDANT in labels:
        return False
    assessment = placement.witness.matched.get(line.index)
    return assessment is not None and assessment.judgment in policy.right


def _incorrect_parent(line: Response, placement: Placement, case: Case) -> tuple[str, tuple[At, ...]]:
    above = placement.tree.above[placement.class_of[line.index]]
    parents = [each for each in placement.members.get(above, ()) if each.target == line.query.short_id]
    if parents:
        parent = parents[0]
        judged = case.category_of(parent) or UNASSESSED
        side = sides_text(case.labels_of(parent))
        first = "the first line that gives the answer which its query asks about" if len(parents) > 1 else "its parent"
        return f"{first} is {judged}, so that the path to it is not right ({side})", (_at(parent),)
    elsewhere = [each for each in case.lines_of(line.query.base_id) if each.target == line.query.short_id]
    if elsewhere:
        where = placement.class_of[elsewhere[0].index]
        reason = f"its parent stands in {where}, while its own answer belongs below {above}"
        return reason, tuple(map(_at, elsewhere))
    return f"no line of the run gives the answer which its query asks about ({above})", ()


def _nominal(line: Response, placement: Placement, case: Case) -> tuple[str, tuple[At, ...]]:
    """Why the node of a line is not named: the lines that were looked at, and those that they outrank."""
    most = case.run.limits.most
    matched, labels = placement.witness.matched, placement.witness.labels
    assessed = best_first(each for each in placement.witness.not_named[line.index] if each.index in matched)
    looked_at, others = (assessed, []) if most is None else (assessed[:most], assessed[most:])
    would = [each for each in others if _names(matched[each.index]) and WRONG not in labels[each.index]]
    node = f"node {line.node}" if line.node is not None else "the lines without node, which count as one node,"
    kinds = ", ".join(dict.fromkeys(_mention(matched[each.index]) for each in looked_at))
    reason = f"right, but ignored: {node} is never named by the lines that are looked at ({kinds})"
    if would:
        reason += f"; line {would[0].number} would name it, but is outranked: only the {most} best assessed lines count"
    return reason, tuple(map(_at, (*looked_at, *would[:1])))


def _names(assessment: Assessment) -> bool:
    return assessment.value_mention == "NAM" or assessment.class_mention == "NOM"


def _mention(assessment: Assessment) -> str:
    if assessment.value_mention is None:
        return "the pool has no mention types"
    return f"{assessment.value_mention} of a {assessment.class_mention} class" if assessment.is_accepted else "wrong"


def _duplicate(line: Response, kept: Response, placement: Placement, case: Case) -> tuple[str, tuple[At, ...]]:
    own, others = placement.class_of[line.index], placement.class_of[kept.index]
    if own != others:
        reason = f"right, but its slot takes one value, and the response of class {others} stays"
        return f"{reason}: {_higher(kept, line)}", (_at(kept),)
    if _is_nominal(line, placement) and not _is_nominal(kept, placement):
        order = "it is a name, and this a description"
    else:
        order = "it comes first in the file"
    if kept.number >= line.number and "first" in order:
        order = "it comes first in the order of -right and of the files"
    return f"right, but a response of the same class {own} stays: {order}", (_at(kept),)


def _higher(kept: Response, line: Response) -> str:
    if kept.confidence > line.confidence:
        return f"its confidence is higher, {kept.confidence:g} > {line.confidence:g}"
    return "it comes first of those that are best in their class"


def _is_nominal(line: Response, placement: Placement) -> bool:
    assessment = placement.witness.matched.get(line.index)
    return assessment is not None and assessment.value_mention == "NOM"


def _unassessed(line: Response, stands_in: str) -> str:
    accepting = line.follow_on.accepting
    if accepting is not None and accepting.value_class == stands_in:
        return "no assessment was met; value and place are those of an accepted answer, so that it stands in its class"
    return "no assessment was met"


def label_of(line: Response, category: Category | None, case: Case) -> Label | None:
    """What a line counts as, and the switch that says so; None where it was not scored."""
    labels = case.labels_of(line)
    if category is None or not labels:
        return None
    policy = case.policy
    reasons = [f"{_SWITCHES[side]} lists {category.name}" for side in _sides_of(category.name, policy)]
    if category.rule == "7.7":
        reason = "lines of nodes that are never named are ignored, whatever the switches say"
        if IGNORE not in labels:  # the rule looks at line numbers only
            reason += "; but not where an ignored line of another file has the same number"
    elif category.name == DUPLICATE:
        side = policy.duplicate_side
        several = len(_sides_of(DUPLICATE, policy)) > 1
        reason = "no switch lists DUPLICATE" if side is None else f"{_SWITCHES[side]} lists DUPLICATE"
        reason += ", and comes last of those that do" if several else ""
    elif category.name == IGNORE:
        reason = "the assessor's judgment IGNORE always counts as ignored"
    else:
        reason = " and ".join(reasons) or f"no switch lists {category.name}"
    return Label("7.7" if category.rule == "7.7" else "7.5", sides_text(labels), tuple(labels), reason)


def _sides_of(category: str, policy: Policy) -> Sequence[Side]:
    return [side for side in SIDES if category in policy.items(side)]


def _at(line: Response) -> At:
    return At(line.file, line.number)
