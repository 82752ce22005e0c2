"""Why single lines, classes, nodes and queries scored as they did: a line step by step, each by a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, chain, islice
from typing import Final, TypeAlias, TypeVar

from msgspec import UNSET

from cs_score.analysis.coldstart.changes import At
from cs_score.analysis.coldstart.explanation import document
from cs_score.analysis.coldstart.explanation.case import Case, Placement, QueryCase
from cs_score.analysis.coldstart.faults import category_of, find_faults
from cs_score.analysis.coldstart.mistakes import Mistake, cost_list
from cs_score.analysis.coldstart.run_files import AnyLine
from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.base.errors import InputError
from cs_score.base.records import convert, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input
from cs_score.coldstart import judging
from cs_score.coldstart.gold import Gold, Run, run_of, units_of
from cs_score.coldstart.limits import DISCARD_CODES
from cs_score.coldstart.lines import (
    CORRECT,
    Assessment,
    LinkedQuery,
    Response,
    SkippedLine,
    best_first,
    node_confidence,
)
from cs_score.coldstart.linking import Loading
from cs_score.coldstart.near_misses import small_differences
from cs_score.coldstart.options import DISCIPLINES, DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy
from cs_score.coldstart.result import PrecisionRecall, RunResult, ScoringStopped, UnitResult, averaged_table
from cs_score.coldstart.scorer import Combining, score_unit
from cs_score.coldstart.tab_files import UnreadLine, is_blank_or_comment, split_columns
from cs_score.problems.codes import Severity
from cs_score.problems.log import Place, ProblemLog

Found = TypeVar("Found")

_SIDES: Final = {RIGHT: "right", WRONG: "wrong", IGNORE: "ignored"}


def at(line: AnyLine | Assessment) -> At:
    return At(line.file, line.number)


# ---- A line


def explain_line(line: AnyLine, case: Case, *, with_effect: bool = True) -> document.LineExplanation:
    """All steps of a line; without its effect, which takes the longest, where that is not wanted."""
    found = document.LineExplanation(summary_of(line, case), line.text, _read(line, case))
    if isinstance(line, UnreadLine):
        return found
    found = replace(found, asked=asked_of(line.query, case))
    if isinstance(line, Response):
        query, row = case.query(line.query.base_id), found.summary.row
        if case.units:  # limits are applied when a file has been read
            found = replace(found, kept=_kept(line, case))
        if (stopped_by := _stopped_by(line, query)) is not None:
            return replace(found, stopped_by=stopped_by)
        category, (ranked, not_ranked) = _category(line, query), query.ranked(line.node)
        found = replace(
            found,
            met=_met(line, query),
            category=category,
            label=category and _label(found.summary, category, case),
            rows=() if row is None else tuple(query.rows[row]),
            ranked=ranked,
            not_ranked=not_ranked,
        )
    # A skipped line that creates a query takes what depends on that with it.
    return replace(found, effect=case.effect_of([line])) if with_effect else found


def _stopped_by(line: Response, query: QueryCase) -> str | None:
    """Why nothing more is known of a line than how it was read; None where there is more."""
    case, unit = query.case, query.unit
    if not case.is_of_run(line):
        return f"it belongs to run {line.run_id}; this is about run {case.scored.run_id} (--run {line.run_id})"
    if unit.id not in case.units:
        return "its query is not among those to score" if case.fatal is None else f"nothing was scored: {case.fatal}"
    if unit.unmatched is not None:
        return f"it could not be matched: {unit.unmatched}"
    uncounted = query.result.uncounted
    return None if uncounted is None else f"its query could not be counted: {uncounted}"


def summary_of(line: AnyLine, case: Case) -> document.LineSummary:
    """A line in short."""
    if isinstance(line, UnreadLine):
        return document.LineSummary(line.file, line.number, "unread", side="not read")
    if isinstance(line, SkippedLine):
        return document.LineSummary(line.file, line.number, "skipped", line.query.full_id, side="skipped")
    query, asked = case.query(line.query.base_id), line.query.full_id
    row, labels = query.row_of.get(line.index), query.labels.get(line.index, ()) if case.is_of_run(line) else ()
    status, side = "outside" if row is None else "counted", _side_of(labels)
    category = category_of(labels, case.policy) if labels else None
    node = line.node
    return document.LineSummary(line.file, line.number, status, asked, line.value, category, side, labels, row, node)


def _side_of(labels: judging.Labels) -> str:
    """What a line counts as, in words: `right`, `wrong and ignored`, `neither right nor wrong`, `not scored`."""
    # A judgment is called IGNORE as well as a side; labels of lines with it have both.
    sides = " and ".join(text for side, text in _SIDES.items() if side in labels)
    of_no_side = "duplicate" if judging.REDUNDANT in labels else "neither right nor wrong"
    return sides or (of_no_side if labels else "not scored")


def _read(line: AnyLine, case: Case) -> document.Read:
    names, written = case.run.layouts[line.file].columns, split_columns(line.text)
    columns, counted_as = dict(zip(names, written)), dict[str, str]()
    not_read = rests_on = None
    if isinstance(line, Response):
        relation, _, provenance = line.answer
        counted = {"RELATION_PROVENANCE_TRIPLES": relation, "VALUE_PROVENANCE_TRIPLES": provenance}
        counted_as = {name: text for name, text in counted.items() if columns[name] != text}
        counted_as["CONFIDENCE"] = repr(line.confidence)
        with suppress(ValueError):
            if float(columns["CONFIDENCE"]) == line.confidence:
                del counted_as["CONFIDENCE"]
    elif isinstance(line, SkippedLine):
        asked = line.query.slots[0] if line.query.slots else "nothing more"
        empty = (f"its column {name} is empty" for name, text in columns.items() if not text.strip())
        why = next(empty, f"its slot is {columns.get('SLOT_NAME', '')} and its query asks for {asked}")
        creates = "it was read, and has created the query that asks about its answer, but it is not scored"
        not_read = f"skipped, since {why}; {creates}"
    elif is_blank_or_comment(line.text):
        columns, not_read = {}, f"not read: {'a comment' if line.text.strip() else 'a blank line'}"
    elif (first := case.first_lines[line.file, line.text]) < line.number:
        not_read, rests_on = "not read: it repeats an earlier line of its file", At(line.file, first)
    else:
        not_read = f"not read: it has {len(written)} columns, where lines of this layout have {len(names)}"
    problems = tuple(
        document.Noted(problem.code, str(problem.severity), problem.message.strip())
        for problem in case.problems.get(Place(line.file, line.number), ())
        if problem.code not in DISCARD_CODES  # reported where it is kept or discarded
    )
    return document.Read("lines", columns, counted_as, problems, not_read, rests_on)


def asked_of(query: LinkedQuery, case: Case) -> document.Asked:
    """A query as one of its lines sees it."""
    gold, of, hop = case.run.gold, case.query(query.base_id), query.level
    ldc_id, rule = gold.table.ldc_of.get(query.base_id), "follow-on-queries" if hop else "queries"
    unit = gold.ldc_ids.get(query.base_id) if ldc_id is None else gold.table.by_id[ldc_id].full_id
    name = next((each.name for each in of.query.entry_points if each.name), None)
    slot = query.slots[0] if query.slots else ""
    follow_on = case.run.links.follow_on(query.short_id) if hop else None
    in_pool = (at(follow_on.assessment),) if follow_on is not None and follow_on.assessment is not None else ()
    not_scored = None
    if not of.is_scored:
        not_scored = "nothing was scored" if case.fatal else "its query is not among those to score"
    elif hop > (limit := gold.hop_limits[query.base_id]):
        not_scored = f"hops beyond {limit} are not scored for this query"
    parents = tuple(_parents(query, case))
    return document.Asked(rule, query.full_id, name, slot, hop, unit, parents, in_pool, not_scored)


def _parents(query: LinkedQuery, case: Case) -> Iterator[document.Parent]:
    """The lines that a query hangs below, from the first hop on; of each hop those that give the answer, in load order,
    skipped ones last."""
    if query.parent is None:
        return
    yield from _parents(query.parent, case)
    for of in (summary_of(line, case) for line in case.query(query.base_id).giving.get(query.short_id, ())):
        yield document.Parent(of.file, of.line, of.value or "", of.category or "", of.side)
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
        is_of_node, last = why.limit == "node", why.kept[-1]
        limit = (
            f"B = {limits.most} for each node"
            if is_of_node
            else f"A = {limits.per_document} for each node and document"
        )
        order = f"the higher confidence stays: {last.confidence:g} > {line.confidence:g}"
        if last.confidence == line.confidence:
            order = f"the confidence is the same, {line.confidence:g}; "
            order += f"the earlier line stays: {last.number} < {line.number}"
    return document.Kept(rule, str(limits), limit, tuple(map(at, why.kept)), order)


def _order_of_nodes(line: Response, kept: Sequence[Response], case: Case) -> str:
    """Why the node of the lines that are kept wins over the node of a line."""
    discards = case.run.discarded

    def confidence(lines: Sequence[Response]) -> float:
        """That of a node from its lines that no limit on its own lines had discarded."""
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
        small = small_differences(line.value, one.value)
        if small:
            how = f"{how}; the answers differ in {' and '.join(small)} only"
        near.append(document.Near(assessed_of(one, case), how, differs))
    return document.Met("matching", discipline, f"no assessment: {DISCIPLINES[discipline]}", None, tuple(near))


def assessed_of(one: Assessment, case: Case) -> document.Assessed:
    columns = dict(zip(case.run.layouts[one.file].columns, split_columns(one.text)))
    answer = columns.get("ASSESSMENT_ID", ""), one.query.full_id, one.value, one.provenance
    of_class = one.value_class if one.is_accepted else None
    mentions = one.value_mention, one.class_mention
    return document.Assessed(one.file, one.number, *answer, one.judgment, of_class, *mentions)


Reason: TypeAlias = tuple[str, tuple[At, ...]]
"""Why a line has its category, and the lines that decided."""


def _category(line: Response, query: QueryCase) -> document.Category | None:
    """The category of a line and why it has it; None where its query was not counted."""
    placement, labels = query.placement, query.labels.get(line.index, ())
    if placement is None or not labels:
        return None
    assessment, stands_in = query.matched.get(line.index), placement.class_of[line.index]
    name = judging.INCORRECT_PARENT if judging.INCORRECT_PARENT in labels else judging.pre_policy_category(assessment)
    rule, kept, looked_at = (
        "policies",
        placement.kept_by_duplicate.get(line.index),
        placement.nominal_lines.get(line.index),
    )
    rests_on: tuple[At, ...] = ()
    if name == judging.INCORRECT_PARENT:
        rule, (reason, rests_on) = "paths", _incorrect_parent(line, query, placement)
    elif looked_at is not None and not {RIGHT, judging.REDUNDANT} & {*labels} and name in query.case.policy.right:
        rule, key = "nominal-mentions", id(looked_at)  # one list for all lines of the node
        if key not in query.not_named:
            query.not_named[key] = _not_named(line, looked_at, placement, query.case)
        reason, rests_on = query.not_named[key]
    elif judging.REDUNDANT in labels and kept is not None:
        name, reason, rests_on = DUPLICATE, _duplicate(line, kept, placement), (at(kept),)
    elif assessment is not None:
        reason = "so the assessor judged it"
    else:
        reason, accepting = "no assessment was met", line.follow_on.accepting
        if accepting is not None and accepting.value_class == stands_in:
            reason += "; value and place are those of an accepted answer, so that it is placed in its class"
    return document.Category(rule, name, stands_in, reason, rests_on)


def _incorrect_parent(line: Response, query: QueryCase, placement: Placement) -> Reason:
    case, above = query.case, placement.tree.above[placement.class_of[line.index]]
    giving = query.giving.get(line.query.short_id, ())
    parents = [each for each in giving if placement.class_of[each.index] == above]
    if parents:
        first = "the first line that gives the answer which its query asks about" if len(parents) > 1 else "its parent"
        parent = summary_of(parents[0], case)
        is_right = case.edition.needs_correct_parent and RIGHT in parent.labels
        why = f"{case.edition.name} wants one that is {CORRECT}" if is_right else parent.side
        reason = f"{first} is {parent.category or judging.UNASSESSED}, so that the path to it is not right ({why})"
        return reason, (at(parents[0]),)
    if giving:
        where = placement.class_of[giving[0].index]
        return f"its parent is placed in {where}, while its own answer belongs below {above}", tuple(map(at, giving))
    return f"no line of the run gives the answer which its query asks about ({above})", ()


def _not_named(line: Response, lines: Sequence[Response], placement: Placement, case: Case) -> Reason:
    """Why a line or its node is not named: the lines that were looked at, and those that they outrank."""
    matched, most = placement.assessment_by_index, case.run.limits.most

    def mention(line: Response) -> str:
        met = matched[line.index]
        if met.value_mention is None:
            return "the pool has no mention types"
        return f"{met.value_mention} of a {met.class_mention} class" if met.is_accepted else "wrong"

    if case.edition.ignores_each_nominal:
        if matched[line.index].value_mention is None:
            return "not right: the pool has mention types for other answers of the row, and none for this one", ()
        return f"right, but ignored: {mention(line)}; {case.edition.name} looks at each line by itself", ()
    assessed = best_first(each for each in lines if each.index in matched)
    looked_at, others = (assessed, []) if most is None else (assessed[:most], assessed[most:])
    would = [each for each in others if placement.is_naming(each)][:1]
    node = f"node {line.node}" if line.node is not None else "the lines without node, which count as one node,"
    kinds = ", ".join(dict.fromkeys(map(mention, looked_at)))
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
    policy, rule = case.policy, "policies"
    listing = [f"-{side.lower()} lists {category.name}" for side in SIDES if category.name in policy.items(side)]
    reason = " and ".join(listing) or f"no switch lists {category.name}"
    if category.rule == "nominal-mentions":
        rule, is_each = category.rule, case.edition.ignores_each_nominal
        ignored = "descriptions of what has a name" if is_each else "lines of nodes that are never named"
        reason = f"{ignored} are ignored, whatever the switches say"
        if IGNORE not in line.labels and is_each:
            reason = "an answer without mention type is not right beside those that have one, whatever the switches say"
        elif IGNORE not in line.labels:  # the rule looks at line numbers only
            reason += "; but not where an ignored line of another file has the same number"
    elif category.name == DUPLICATE and policy.duplicate_side is not None:
        reason = f"-{policy.duplicate_side.lower()} lists DUPLICATE"
        reason += ", and comes last of those that do" if len(listing) > 1 else ""
    elif category.name == IGNORE:
        reason = "the assessor's judgment IGNORE always counts as ignored"
    return document.Label(rule, line.side, line.labels, reason)


# ---- What else can be asked for


def explain_class(name: str, base_id: str, case: Case, *, with_effect: bool = True) -> document.ClassExplanation:
    """All of a class of a query, by the short id of that; without its effect where that is not wanted."""
    query = case.query(base_id)
    members, (status, reason), effect = query.accepted.get(name, ()), _status_of(name, query), None
    asked = members[0].query if members else None
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
    if judging.is_wrong_bin(name, tree.root):
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
        return "missed", "none of the lines placed in it counts as right"
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
    lines, rows, rankings = of.lines, of.rows, of.result.rankings
    if query.level:
        row = ""
        with suppress(InputError):  # no accepted line leads to it
            row = case.run.links.class_of_query(query)
        lines = [line for line in lines if line.query.full_id == query.full_id]
        rows, rankings = {name: rows[name] for name in rows if name == row}, ()
    summaries = tuple(summary_of(line, case) for line in lines)
    stopped_by = of.result.uncounted or of.result.unranked
    return document.QueryExplanation(
        query=query.full_id,
        asked=asked_of(query, case),
        slots=query.slots,
        entry_points=tuple(convert(each, document.EntryPoint, from_attributes=True) for each in of.query.entry_points),
        classes=tuple(
            document.ClassSummary(
                name, row, _status_of(name, of)[0], of.accepted[name][0].value, next(map(at, of.found_by(name)), None)
            )
            for name, row in ({} if of.placement is None else of.placement.tree.above).items()
            if row in rows and name in of.accepted
        ),
        categories=Counter(summary.category for summary in summaries if summary.category is not None),
        lines=summaries,
        rows=tuple(chain.from_iterable(rows.values())),
        average_precision={ranking.level: ranking.score for ranking in rankings},
        stopped_by=None if stopped_by is None else str(stopped_by),
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
        effects = case.effects.on_first_measure()
        costs = cost_list(effects, find_faults(case.scored, effects.editor), 3)
    return document.Overview(
        read=Counter(summary.status for summary in summaries),
        met=sum(line.index in case.query(line.query.base_id).matched for line in responses),
        discarded=sum(line.index in case.run.discarded for line in responses),
        sides={side: sides[side] for side in dict.fromkeys((*_SIDES.values(), *sorted(sides))) if sides[side]},
        categories=Counter(summary.category for summary in counted if summary.category is not None),
        errors=case.run.problems.count(Severity.ERROR),
        warnings=case.run.problems.count(Severity.WARNING),
        costs=tuple(convert(each, document.Cost, from_attributes=True) for each in costs),
        lines=summaries,
    )


# ---- What was asked for

MOST_SCORED_AGAIN: Final = 200_000
"""Lines that are scored again for the effects of lines that `--answer` finds: each effect takes those of its unit."""

MOST_LINES: Final = 20_000
"""Lines of one run that an analysis explains."""

Wanted: TypeAlias = str | int | Sequence[str | int]
"""One selector, or several."""


def explain(
    scored: Scored,
    *,
    line: Wanted = (),
    query: Wanted = (),
    class_name: Wanted = (),
    node: Wanted = (),
    answer: Wanted = (),
    measure: str | None = None,
) -> document.Explanation:
    """Why lines, queries, classes and nodes of a run scored as they did; without any of them, the run as a whole.

    `line`: numbers, or `FILE:N`. `query`: ids of the SF or LDC form, of any hop. `class_name`: equivalence classes.
    `node`: FQ node ids, or ids as lines have them. `answer`: values, in which `*` stands for any text; their lines are
    explained. `measure`: what effects are given for beside average precision; None for the one that ranks leaderboards.
    Raises InputError where a selector meets nothing, with the nearest names, UsageError for what cannot be one.
    """
    with paused_collector():
        case = Case(scored, measure)
        lines = [explain_line(found, case) for found in _each(line, case.lines_at)]
        scored_again = 0
        for found in _each(answer, case.answers_of):  # effects are computed until that would take too long
            effect = case.effect_of([found], is_computed=scored_again < MOST_SCORED_AGAIN)
            lines.append(replace(explain_line(found, case, with_effect=False), effect=effect))
            scored_again += case.query(found.query.base_id).lines_of_unit
        queries = tuple(explain_query(found, case) for found in _each(query, case.queries_of))
        classes = tuple(explain_class(*found, case) for found in _each(class_name, case.classes_of))
        nodes = tuple(explain_node(found, case) for found in _each(node, case.nodes_of))
        is_whole, chosen = not any((lines, queries, classes, nodes)), case.measure
        name = str(chosen or measure or scored.headline)
        return document.Explanation(
            task="coldstart",
            measure=name,
            signature=str(scored.signature if chosen is None else scored.signature.of(name)),
            origin=scored.origin,
            run=scored.run_id,
            score=None if chosen is None else scored.result.measures[chosen],
            scores={} if case.fatal else scored.result.scores,
            undefined=scored.result.undefined or UNSET,
            fatal=None if case.fatal is None else str(case.fatal),
            overview=explain_run(case) if is_whole else None,
            lines=tuple(lines),
            queries=queries,
            classes=classes,
            nodes=nodes,
        )


def _each(wanted: Wanted, find: Callable[[str], Sequence[Found]]) -> list[Found]:
    """All that is found of each of the selectors of one kind."""
    texts = (wanted,) if isinstance(wanted, str | int) else wanted
    return [found for text in texts for found in find(str(text))]


def load_as_far_as_possible(gold: Gold, files: Iterable[Input]) -> tuple[Run, InputError | None]:
    """Load runs and assessments; where that has to stop, what was loaded by then, and why it stopped."""
    limits, stop = gold.options.justifications, None
    loading = Loading(gold.table, limits, gold.problems.branch(), gold_links=gold.links, only_run_id=gold.alone)
    try:
        loading.load(files)
    except InputError as error:
        stop = error
    return run_of(gold, loading, limits), stop


def score_as_far_as_possible(run: Run, policy: Policy, stop: InputError | None = None) -> Scored:
    """Score a run, or those of its units that can be scored. `stop` is why loading stopped: then none is."""
    run_id = next(iter(run.run_ids), "")
    units: tuple[UnitResult, ...] = ()
    if stop is None:
        try:
            return score_for_analysis(run, policy)
        except ScoringStopped as error:
            stop = error
        units = tuple(score_unit(unit, policy) for unit in units_of(run, run_id)) if run_id else ()
    scored = RunResult(run_id, PrecisionRecall(averaged_table([]), None, None), units)
    result = Combining(replace(run, remarks=()), policy, ProblemLog()).result([])
    return Scored(run, run_id, policy, scored, stop, result.origin, result.signature(scored))


def explain_everything(case: Case, mistakes: Sequence[Mistake], *, with_others: bool) -> document.Explanations:
    """Return how lines, their queries and the missed classes were scored: the lines of the mistakes first, at most
    `MOST_LINES`.

    With `with_others` lines that are no mistakes are explained, too. Effects are those of the mistakes.
    """
    mistakes = mistakes[:MOST_LINES]
    line_by_place = {(line.file, line.number): line for line in case.lines()}
    places = _places_to_explain(mistakes, line_by_place, with_others=with_others)
    mistake_by_place = {(each.file, each.line): each for each in mistakes if each.kind == "line"}
    answer_by_place = {(each.file, each.number): each for each in case.run.gold.links.assessments}
    missed = [(each, answer_by_place[each.file, each.line]) for each in mistakes if each.kind == "class"]
    query_by_id: dict[str, LinkedQuery] = {}
    for place in places:
        line = line_by_place[place]
        if not isinstance(line, UnreadLine):
            query_by_id[line.query.full_id] = line.query
    for _, answer in missed:
        query_by_id[answer.query.full_id] = answer.query
    texts = _StepTexts()
    lines = [_line_steps(line_by_place[place], mistake_by_place.get(place), case, texts) for place in places]
    queries = [_query_steps(query, case, texts) for query in query_by_id.values()]
    classes = [_class_steps(mistake, answer, case, texts) for mistake, answer in missed]
    return document.Explanations(len(line_by_place) - len(lines), lines, queries, classes, texts.all())


_Place: TypeAlias = tuple[str, int]
"""A file and the number of a line."""


def _places_to_explain(
    mistakes: Iterable[Mistake], line_by_place: Mapping[_Place, AnyLine], *, with_others: bool
) -> list[_Place]:
    """Return the places of the lines that are explained, in the order of the lines: those of mistakes, then others."""
    wanted: dict[_Place, None] = {}
    for mistake in mistakes:
        place = mistake.file, mistake.line
        if mistake.kind != "class" and place in line_by_place:
            wanted[place] = None
    if with_others:
        wanted |= dict.fromkeys(line_by_place)
    chosen = set(list(wanted)[:MOST_LINES])
    return [place for place in line_by_place if place in chosen]


class _StepTexts:
    """The texts of steps by number, each once: many lines have steps in common, which saves half of a document."""

    def __init__(self) -> None:
        self._number_by_text: dict[str, int] = {}

    def numbers_of(self, tree: Iterable[document.Tree]) -> list[int]:
        """Return the numbers of the texts of a tree, without its heading."""
        numbers = []
        for below in islice(tree, 1, None):
            text = document.indented(below)
            if text:
                numbers.append(self._number_by_text.setdefault(text, len(self._number_by_text)))
        return numbers

    def all(self) -> list[str]:
        """Return all texts in the order of their numbers."""
        return list(self._number_by_text)


def _effect_of(mistake: Mistake | None, case: Case) -> document.LineEffect | None:
    """Return the effect of correcting a mistake on the measures that explanations show."""
    if mistake is None:
        return None
    effects = {name: mistake.effects.get(name) for name in map(str, case.measures)}
    reason = str(mistake.reason) if None in effects.values() else None
    return document.LineEffect(mistake.change, effects, mistake.removed, mistake.added, reason)


def _line_steps(line: AnyLine, mistake: Mistake | None, case: Case, texts: _StepTexts) -> document.LineSteps:
    """Return how a line was scored."""
    explained = explain_line(line, case, with_effect=False)
    summary = explained.summary
    return document.LineSteps(
        file=summary.file,
        line=summary.line,
        query=summary.query,
        node=summary.node,
        value=summary.value,
        category=summary.category,
        side=summary.side,
        steps=texts.numbers_of(replace(explained, effect=_effect_of(mistake, case)).tree()),
    )


def _query_steps(query: LinkedQuery, case: Case, texts: _StepTexts) -> document.QuerySteps:
    """Return how a query was scored, with the precision at each rank of its nodes by level."""
    explained = explain_query(query, case)
    precision_by_level: dict[str, list[float]] = {}
    if not query.level:
        for ranking in case.query(query.base_id).result.rankings:
            totals = accumulate(node.value for node in ranking.nodes)
            precision_by_level[ranking.level] = [total / rank for rank, total in enumerate(totals, 1)]
    own_lines = [summary for summary in explained.lines if summary.query == explained.query]  # not of other hops
    return document.QuerySteps(
        query=explained.asked.query,
        unit=explained.asked.unit,
        name=explained.asked.name,
        slot=explained.asked.slot,
        hop=explained.asked.hop,
        lines=Counter(summary.side for summary in own_lines),
        classes=Counter(each.status for each in explained.classes),
        precision_at=precision_by_level,
        steps=texts.numbers_of(explained.tree(with_lines=False)),
    )


def _class_steps(mistake: Mistake, answer: Assessment, case: Case, texts: _StepTexts) -> document.ClassSteps:
    """Return why a class was missed; an answer of the pool would find it."""
    explained = explain_class(answer.value_class, answer.query.base_id, case, with_effect=False)
    steps = texts.numbers_of(replace(explained, effect=_effect_of(mistake, case)).tree())
    return document.ClassSteps(answer.value_class, answer.query.full_id, answer.value, steps)
