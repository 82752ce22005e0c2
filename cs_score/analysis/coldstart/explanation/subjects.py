"""Lines, classes, nodes, queries and the run as a whole, explained; a line step by step, each by a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain

from cs_score.analysis.coldstart.changes import At
from cs_score.analysis.coldstart.explanation import document
from cs_score.analysis.coldstart.explanation.case import AnyLine, Case, Placement, QueryCase, Reason, side_of
from cs_score.analysis.coldstart.mistakes import Mistake, category_of, cost_list, mistakes_of
from cs_score.base.errors import InputError
from cs_score.base.records import convert, replace
from cs_score.coldstart.judging import INCORRECT_PARENT, REDUNDANT, UNASSESSED, is_wrong_bin, pre_policy_category
from cs_score.coldstart.lines import (
    CODES,
    CORRECT,
    Assessment,
    LinkedQuery,
    Response,
    SkippedLine,
    best_first,
    node_confidence,
)
from cs_score.coldstart.options import DISCIPLINES, DUPLICATE, IGNORE, RIGHT, SIDES
from cs_score.coldstart.tab_files import UnreadLine, is_blank_or_comment, split_columns
from cs_score.problems.codes import Severity
from cs_score.problems.log import Place


def explain_line(line: AnyLine, case: Case, *, with_effect: bool = True) -> document.LineExplanation:
    """All steps of a line; without its effect, which takes the longest, where that is not wanted."""
    found = document.LineExplanation(summary_of(line, case), line.text, _read(line, case))
    if isinstance(line, UnreadLine):
        return found
    found = replace(found, asked=asked_of(line.query, case))
    if isinstance(line, Response):
        query = case.query(line.query.base_id)
        stopped_by = _stopped_by(line, query)
        if case.units:  # limits are applied when a file has been read
            found = replace(found, kept=_kept(line, case))
        if stopped_by is not None:
            return replace(found, stopped_by=stopped_by)
        category = _category(line, query)
        ranked, not_ranked = query.ranked(line.node)
        found = replace(
            found,
            met=_met(line, query),
            category=category,
            label=None if category is None else _label(found.summary, category, case),
            rows=() if found.summary.row is None else tuple(query.rows[found.summary.row]),
            ranked=ranked,
            not_ranked=not_ranked,
        )
    # A skipped line that creates a query takes what depends on that with it.
    return replace(found, effect=case.effect_of([line])) if with_effect else found


def _stopped_by(line: Response, query: QueryCase) -> str | None:
    """Why nothing more is known of a line than how it was read; None where there is more."""
    case, unit, result = query.case, query.unit, query.result
    if not case.is_of_run(line):
        return f"it belongs to run {line.run_id}; this is about run {case.scored.run_id} (--run {line.run_id})"
    if unit is None:
        return "its query is not among those to score" if case.fatal is None else f"nothing was scored: {case.fatal}"
    if unit.unmatched is not None:
        return f"it could not be matched: {unit.unmatched}"
    if result is not None and result.uncounted is not None:
        return f"its query could not be counted: {result.uncounted}"
    return None


def summary_of(line: AnyLine, case: Case) -> document.LineSummary:
    """A line in short."""
    if isinstance(line, UnreadLine):
        return document.LineSummary(line.file, line.number, "unread", side="not read")
    if isinstance(line, SkippedLine):
        return document.LineSummary(line.file, line.number, "skipped", line.query.full_id, side="skipped")
    query = case.query(line.query.base_id)
    row, labels = query.row_of.get(line.index), query.labels.get(line.index, ()) if case.is_of_run(line) else ()
    status = "outside" if row is None else "counted"
    category, side = category_of(labels, case.policy) if labels else None, side_of(labels)
    return document.LineSummary(
        line.file, line.number, status, line.query.full_id, line.value, category, side, labels, row, line.node
    )


def explain_class(name: str, base_id: str, case: Case, *, with_effect: bool = True) -> document.ClassExplanation:
    """All of a class of a query, by the short id of that; without its effect where that is not wanted."""
    query = case.query(base_id)
    members = query.accepted.get(name, ())
    asked = members[0].query if members else None
    status, reason = _status_of(name, query)
    effect = None
    if with_effect and status == "missed" and members:
        effect = case.effect_of(found=next((each for each in members if each.judgment == CORRECT), members[0]))
    row = name.rpartition(":")[0]
    return document.ClassExplanation(
        name=name,
        query=None if asked is None else asked.full_id,
        slot=None if asked is None else asked.slots[0],
        hop=name.count(":") - 1,
        row=row,
        parent=row if ":" in row else None,
        status=status,
        reason=reason,
        assessments=tuple(assessed_of(each, case) for each in members),
        lines=tuple(summary_of(line, case) for line in query.members(name)),
        counted=tuple(map(at, query.found_by(name))),
        effect=effect,
    )


def _status_of(name: str, query: QueryCase) -> tuple[str, str]:
    """Whether a class is found, missed or not counted, and why."""
    if query.placement is None:
        return "not counted", "its query was not scored"
    tree = query.placement.tree
    if is_wrong_bin(name, tree.root):
        return "not counted", "it holds what belongs to no class, and is no ground truth (rule ground-truth)"
    row = tree.above.get(name)
    if row is None or row not in query.found:
        return "not counted", "no row of the tables has it"
    if query.found_by(name):
        return "found", "a right line counts for it"
    if tree.single.get(row, False):
        if others := query.found[row]:
            found = next(each for each in (*tree.above, *others) if each in others)
            return "not counted", f"its slot takes one value, and class {found} was found (rule counts)"
        return "missed", "its slot takes one value, and none was found: any class would do (rule counts)"
    if query.members(name):
        return "missed", "none of the lines that stand in it counts as right"
    return "missed", "no line of the run gives one of its answers"


def explain_node(name: str, case: Case) -> document.NodeExplanation:
    """All of a node, by its FQ node id."""
    of_all_runs = case.run.links.nodes[name]
    asked, lines = of_all_runs[0].query, [line for line in of_all_runs if case.is_of_run(line)]
    query = case.query(asked.base_id)
    met = (query.matched.get(line.index) for line in lines)
    classes = tuple(dict.fromkeys(each.value_class for each in met if each is not None and each.is_accepted))
    summaries = tuple(summary_of(line, case) for line in lines)
    return document.NodeExplanation(name, asked.full_id, summaries, classes, *query.ranked(name), case.effect_of(lines))


def explain_query(query: LinkedQuery, case: Case) -> document.QueryExplanation:
    """All of a query: of one of a query file with its follow-on queries, of a follow-on query by itself."""
    of = case.query(query.base_id)
    lines, rows, rankings = of.lines, of.rows, of.rankings
    if query.level:
        try:
            row = case.run.links.class_of_query(query)
        except InputError:  # no accepted line leads to it
            row = ""
        lines = [line for line in lines if line.query.full_id == query.full_id]
        rows, rankings = {name: rows[name] for name in rows if name == row}, ()
    classes = []
    for name, row in {} if of.placement is None else of.placement.tree.above.items():
        if row in rows and name in of.accepted:
            found_by = next(map(at, of.found_by(name)), None)
            classes.append(
                document.ClassSummary(name, row, _status_of(name, of)[0], of.accepted[name][0].value, found_by)
            )
    stops = () if of.result is None else (of.result.uncounted, of.result.unranked)
    summaries = tuple(summary_of(line, case) for line in lines)
    return document.QueryExplanation(
        query=query.full_id,
        asked=asked_of(query, case),
        slots=query.slots,
        entry_points=tuple(
            document.EntryPoint(each.name, each.docid, each.start, each.end) for each in of.query.entry_points
        ),
        classes=tuple(classes),
        categories=Counter(summary.category for summary in summaries if summary.category is not None),
        lines=summaries,
        rows=tuple(chain.from_iterable(rows.values())),
        average_precision={ranking.level: ranking.score for ranking in rankings},
        stopped_by=next((str(stop) for stop in stops if stop is not None), None),
    )


def explain_run(case: Case) -> document.Overview:
    """What became of the lines of a run, and its three largest costs."""
    lines = list(case.lines())
    summaries = tuple(summary_of(line, case) for line in lines)
    counted = [summary for summary in summaries if summary.status == "counted"]
    sides = Counter(summary.side for summary in counted)
    responses = [line for line in lines if isinstance(line, Response)]
    costs: Sequence[Mistake] = ()
    if case.measure is not None:
        effects = case.effects.of_first_measure()
        costs = cost_list(effects, mistakes_of(case.scored, effects.editor), 3)
    return document.Overview(
        read=Counter(summary.status for summary in summaries),
        met=sum(line.index in case.query(line.query.base_id).matched for line in responses),
        discarded=sum(line.index in case.run.discarded for line in responses),
        sides={
            side: sides[side] for side in dict.fromkeys(("right", "wrong", "ignored", *sorted(sides))) if sides[side]
        },
        categories=Counter(summary.category for summary in counted if summary.category is not None),
        errors=case.run.problems.count(Severity.ERROR),
        warnings=case.run.problems.count(Severity.WARNING),
        costs=tuple(convert(each, document.Cost, from_attributes=True) for each in costs),
        lines=summaries,
    )


def at(line: AnyLine | Assessment) -> At:
    return At(line.file, line.number)


def _read(line: AnyLine, case: Case) -> document.Read:
    names, written = case.run.layouts[line.file].columns, split_columns(line.text)
    columns, counted_as = dict(zip(names, written)), dict[str, str]()
    not_read = rests_on = None
    first = case.first_lines.get((line.file, line.text), line.number)
    if isinstance(line, Response):
        relation, _, provenance = line.answer
        counted = {"RELATION_PROVENANCE_TRIPLES": relation, "VALUE_PROVENANCE_TRIPLES": provenance}
        counted_as = {name: text for name, text in counted.items() if columns[name] != text}
        counted_as["CONFIDENCE"] = repr(line.confidence)
        with suppress(ValueError):
            if float(columns["CONFIDENCE"]) == line.confidence:
                del counted_as["CONFIDENCE"]
    elif isinstance(line, SkippedLine):
        empty = next((name for name, text in columns.items() if not text.strip()), None)
        why = f"its column {empty} is empty"
        if empty is None:
            asked = line.query.slots[0] if line.query.slots else "nothing more"
            why = f"its slot is {columns.get('SLOT_NAME', '')} and its query asks for {asked}"
        creates = "it was read, and has created the query that asks about its answer, but it is not scored"
        not_read = f"skipped, since {why}; {creates}"
    elif is_blank_or_comment(line.text):
        columns, not_read = {}, f"not read: {'a comment' if line.text.strip() else 'a blank line'}"
    elif first < line.number:
        not_read, rests_on = "not read: it repeats an earlier line of its file", At(line.file, first)
    else:
        not_read = f"not read: it has {len(written)} columns, where lines of this layout have {len(names)}"
    problems = tuple(
        document.Noted(problem.code, str(problem.severity), problem.message.strip())
        for problem in case.problems.get(Place(line.file, line.number), ())
        if problem.code not in CODES  # reported where it is kept or discarded
    )
    return document.Read("lines", columns, counted_as, problems, not_read, rests_on)


def asked_of(query: LinkedQuery, case: Case) -> document.Asked:
    """A query as one of its lines sees it."""
    gold, of = case.run.gold, case.query(query.base_id)
    ldc_id = gold.table.ldc_of.get(query.base_id)
    follow_on = case.run.links.follow_on(query.short_id) if query.level else None
    accepting = None if follow_on is None else follow_on.assessment
    not_scored = None
    if of.result is None:
        not_scored = "nothing was scored" if case.fatal else "its query is not among those to score"
    elif query.level > (limit := gold.hop_limits[query.base_id]):
        not_scored = f"hops beyond {limit} are not scored for this query"
    return document.Asked(
        rule="follow-on-queries" if query.level else "queries",
        query=query.full_id,
        name=next((point.name for point in of.query.entry_points if point.name), None),
        slot=query.slots[0] if query.slots else "",
        hop=query.level,
        unit=gold.ldc_ids.get(query.base_id) if ldc_id is None else gold.table.by_id[ldc_id].full_id,
        chain=tuple(_chain(query, case)),
        in_pool=() if accepting is None else (at(accepting),),
        not_scored=not_scored,
    )


def _chain(query: LinkedQuery, case: Case) -> Iterator[document.Parent]:
    """The lines that a query hangs below, from the first hop on; of each hop those that give the answer, in load order,
    skipped ones last."""
    if query.parent is None:
        return
    yield from _chain(query.parent, case)
    for line in case.query(query.base_id).giving.get(query.short_id, ()):
        of = summary_of(line, case)
        yield document.Parent(of.file, of.line, line.value, of.category or "", of.side)
    for skipped in case.run.links.skipped:
        if skipped.target == query.short_id and skipped.file in case.files:
            yield document.Parent(skipped.file, skipped.number, skipped.text.split("\t")[4], "", "skipped")


def _kept(line: Response, case: Case) -> document.Kept:
    limits, why = case.run.limits, case.run.discarded.get(line.index)
    if why is None:
        return document.Kept("limits", str(limits))
    rule, order = "limits", ""
    if why.limit == "parent":
        limit = "all lines that give the answer which its query asks about were discarded, or there are none"
    elif why.limit == "single-valued":
        rule, limit, order = "single-values", "the slot takes one value", _order_of_nodes(line, why.kept, case)
    else:
        limit = f"A = {limits.per_document} for each node and document"
        if why.limit == "node":
            limit = f"B = {limits.most} for each node"
        last = why.kept[-1]
        order = f"the higher confidence stays: {last.confidence:g} > {line.confidence:g}"
        if last.confidence == line.confidence:
            order = f"the confidence is the same, {line.confidence:g}; "
            order += f"the earlier line stays: {last.number} < {line.number}"
    return document.Kept(rule, str(limits), limit, tuple(map(at, why.kept)), order)


def _order_of_nodes(line: Response, kept: Sequence[Response], case: Case) -> str:
    """Why the node of the lines that are kept wins over the node of a line."""

    def confidence(lines: Sequence[Response]) -> float:
        """That of a node from its lines that no limit on its own lines had discarded."""
        discards = case.run.discarded
        left = [each for each in lines if each.index not in discards or discards[each.index].limit == "single-valued"]
        return node_confidence([each.confidence for each in left], case.run.limits.most)

    own = case.run.links.nodes[line.node] if line.node is not None else [line]
    node, stays, goes = kept[0].node, confidence(kept), confidence(own)
    if stays > goes:
        return f"node {node} has the higher confidence: {stays:.4f} > {goes:.4f}"
    first, other = (min(each.number for each in lines) for lines in (kept, own))
    return f"node {node} has the same confidence, {stays:.4f}, and begins earlier: line {first}, not {other}"


def _met(line: Response, query: QueryCase) -> document.Met:
    case, assessment = query.case, query.matched.get(line.index)
    discipline = case.run.gold.options.discipline
    if assessment is not None:
        how = "the same answer with the same justification"
        if assessment.query.full_id != line.query.full_id or assessment.answer != line.answer:
            how = f"the same value, since no assessment has the same justification ({discipline})"
        return document.Met("matching", discipline, how, assessed_of(assessment, case))
    names = ("FULL_QUERY_ID", "RELATION_PROVENANCE_TRIPLES", "VALUE", "VALUE_PROVENANCE_TRIPLES")
    near = []
    for how, one in query.nearest(line):
        theirs, own = ((each.query.full_id, *each.answer) for each in (one, line))
        differs = {name: text for name, text, mine in zip(names, theirs, own) if text != mine}
        near.append(document.Near(assessed_of(one, case), how, differs))
    return document.Met("matching", discipline, f"no assessment: {DISCIPLINES[discipline]}", None, tuple(near))


def assessed_of(assessment: Assessment, case: Case) -> document.Assessed:
    columns = dict(zip(case.run.layouts[assessment.file].columns, split_columns(assessment.text)))
    return document.Assessed(
        assessment.file,
        assessment.number,
        id=columns.get("ASSESSMENT_ID", ""),
        query=assessment.query.full_id,
        value=assessment.value,
        provenance=assessment.provenance,
        judgment=assessment.judgment,
        class_name=assessment.value_class if assessment.is_accepted else None,
        mention=assessment.value_mention,
        class_mention=assessment.class_mention,
    )


def _category(line: Response, query: QueryCase) -> document.Category | None:
    """The category of a line and why it has it; None where its query was not counted."""
    case, placement, labels = query.case, query.placement, query.labels.get(line.index, ())
    if placement is None or not labels:
        return None
    assessment, stands_in = query.matched.get(line.index), placement.class_of[line.index]
    name = INCORRECT_PARENT if INCORRECT_PARENT in labels else pre_policy_category(assessment)
    rule, kept, looked_at = "policies", placement.kept_for.get(line.index), placement.not_named.get(line.index)
    rests_on: tuple[At, ...] = ()
    if name == INCORRECT_PARENT:
        rule, (reason, rests_on) = "paths", _incorrect_parent(line, query, placement)
    elif looked_at is not None and not {RIGHT, REDUNDANT} & {*labels} and name in case.policy.right:
        rule, key = "nominal-mentions", id(looked_at)  # one list for all lines of the node
        if key not in query.reasons:
            query.reasons[key] = _not_named(line, looked_at, placement, case)
        reason, rests_on = query.reasons[key]
    elif REDUNDANT in labels and kept is not None:
        name, reason, rests_on = DUPLICATE, _duplicate(line, kept, placement), (at(kept),)
    elif assessment is not None:
        reason = "so the assessor judged it"
    else:
        reason, accepting = "no assessment was met", line.follow_on.accepting
        if accepting is not None and accepting.value_class == stands_in:
            reason += "; value and place are those of an accepted answer, so that it stands in its class"
    return document.Category(rule, name, stands_in, reason, rests_on)


def _incorrect_parent(line: Response, query: QueryCase, placement: Placement) -> Reason:
    case, above = query.case, placement.tree.above[placement.class_of[line.index]]
    giving = query.giving.get(line.query.short_id, ())
    parents = [each for each in giving if placement.class_of[each.index] == above]
    if parents:
        first = "the first line that gives the answer which its query asks about" if len(parents) > 1 else "its parent"
        parent = summary_of(parents[0], case)
        side = parent.side
        if case.edition.needs_correct_parent and RIGHT in parent.labels:
            side = f"{case.edition.name} wants one that is {CORRECT}"
        judged = parent.category or UNASSESSED
        return f"{first} is {judged}, so that the path to it is not right ({side})", (at(parents[0]),)
    if giving:
        where = placement.class_of[giving[0].index]
        return f"its parent stands in {where}, while its own answer belongs below {above}", tuple(map(at, giving))
    return f"no line of the run gives the answer which its query asks about ({above})", ()


def _not_named(line: Response, lines: Sequence[Response], placement: Placement, case: Case) -> Reason:
    """Why a line or its node is not named: the lines that were looked at, and those that they outrank."""

    def mention(assessment: Assessment) -> str:
        if assessment.value_mention is None:
            return "the pool has no mention types"
        kind = f"{assessment.value_mention} of a {assessment.class_mention} class"
        return kind if assessment.is_accepted else "wrong"

    matched, most = placement.matched, case.run.limits.most
    if case.edition.ignores_each_nominal:
        met = matched[line.index]
        if met.value_mention is None:
            return "not right: the pool has mention types for other answers of the row, and none for this one", ()
        return f"right, but ignored: {mention(met)}; {case.edition.name} looks at each line by itself", ()
    assessed = best_first(each for each in lines if each.index in matched)
    looked_at, others = (assessed, []) if most is None else (assessed[:most], assessed[most:])
    would = [each for each in others if placement.names(each)][:1]
    node = f"node {line.node}" if line.node is not None else "the lines without node, which count as one node,"
    kinds = ", ".join(dict.fromkeys(mention(matched[each.index]) for each in looked_at))
    reason = f"right, but ignored: {node} is never named by the lines that are looked at ({kinds})"
    if would:
        reason += f"; line {would[0].number} would name it, but is outranked: only the {most} best assessed lines count"
    return reason, tuple(map(at, (*looked_at, *would)))


def _duplicate(line: Response, kept: Response, placement: Placement) -> str:
    own, other = placement.class_of[line.index], placement.class_of[kept.index]
    if own != other:
        order = "it comes first of those that are best in their class"
        if kept.confidence > line.confidence:
            order = f"its confidence is higher, {kept.confidence:g} > {line.confidence:g}"
        return f"right, but its slot takes one value, and the response of class {other} stays: {order}"
    order = "it comes first in the order of -right and of the files"
    if placement.is_nominal(line) and not placement.is_nominal(kept):
        order = "it is a name, and this a description"
    elif kept.number < line.number:
        order = "it comes first in the file"
    return f"right, but a response of the same class {own} stays: {order}"


def _label(line: document.LineSummary, category: document.Category, case: Case) -> document.Label:
    """What a line counts as, and the switch that says so."""
    labels, policy = line.labels, case.policy
    listing = [f"-{side.lower()} lists {category.name}" for side in SIDES if category.name in policy.items(side)]
    rule, reason = "policies", " and ".join(listing) or f"no switch lists {category.name}"
    if category.rule == "nominal-mentions":
        rule, is_each = category.rule, case.edition.ignores_each_nominal
        ignored = "descriptions of what has a name" if is_each else "lines of nodes that are never named"
        reason = f"{ignored} are ignored, whatever the switches say"
        if IGNORE not in labels and is_each:
            reason = "an answer without mention type is not right beside those that have one, whatever the switches say"
        elif IGNORE not in labels:  # the rule looks at line numbers only
            reason += "; but not where an ignored line of another file has the same number"
    elif category.name == DUPLICATE and policy.duplicate_side is not None:
        reason = f"-{policy.duplicate_side.lower()} lists DUPLICATE"
        reason += ", and comes last of those that do" if len(listing) > 1 else ""
    elif category.name == IGNORE:
        reason = "the assessor's judgment IGNORE always counts as ignored"
    return document.Label(rule, line.side, labels, reason)
