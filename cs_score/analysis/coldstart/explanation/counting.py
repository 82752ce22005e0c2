"""What a line counts in: its rows with their arithmetic, its ranks, and the effect of its absence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cs_score.analysis.coldstart.changes import Change, ReadLine, places_of, texts_of
from cs_score.analysis.coldstart.effects import Effect
from cs_score.analysis.coldstart.explanation.case import Case, QueryCase
from cs_score.analysis.coldstart.explanation.document import Counted, LineEffect, Ranked
from cs_score.base.records import asdict
from cs_score.coldstart.judging import Counts, Tally
from cs_score.coldstart.lines import Assessment, Response, best_first, node_confidence
from cs_score.coldstart.ranking import Node, RankedNode, can_find
from cs_score.coldstart.result import (
    ScoreRow,
    averaged_table,
    counted_f1,
    counted_row,
    ldc_max_rows,
    left_sum,
    mean_members,
    projected,
    representing,
)
from cs_score.coldstart.scorer import score_rows


def rows_of(tally: Tally, query: QueryCase, case: Case) -> tuple[Counted, ...]:
    """The rows that have the lines of a row of the SF table: its own, and those of its LDC query."""
    if tally.name not in query.rows:
        row = counted_row(tally.name, tally.counts)
        query.rows[tally.name] = (_counted(row, "SF", "counts"), *_projected(row, query.base_id, case))
    return query.rows[tally.name]


def _counted(row: ScoreRow, table: str, rule: str) -> Counted:
    counts = row.counts or Counts()

    def quotient(name: str, shown: str, denominator: int, value: float) -> str:
        written = f"{name} = {counts.right} / {shown}"
        return f"{written} = {value:.4f}" if denominator else f"{written}, which counts as 0"

    shown = f"({counts.right} + {counts.wrong})"
    if counts.right + counts.wrong != counts.answered:  # lines that are in no list, or in two
        shown = f"({counts.submitted} - {counts.ignored})"
    product = f"2 * {row.precision:.4f} * {row.recall:.4f} / ({row.precision:.4f} + {row.recall:.4f})"
    arithmetic = (
        quotient("P", shown, counts.answered, row.precision),
        quotient("R", str(counts.ground_truth), counts.ground_truth, row.recall),
        f"F1 = {product} = {row.f1:.4f}" if row.f1 else "F1 = 0, since P and R are 0",
    )
    named = asdict(counts)
    return Counted(rule, table, row.name, row.level, named, row.precision, row.recall, row.f1, arithmetic)


def _projected(row: ScoreRow, base_id: str, case: Case) -> Iterator[Counted]:
    """The rows of LDC-MAX and LDC-MEAN, which has the means over the entry points that have the row."""
    table = case.run.gold.table
    if base_id not in table.ldc_of:
        return
    tables = projected(averaged_table(score_rows([case.units[table.ldc_of[base_id]]])), table)
    for full_id, entry_points in tables.by_ldc:
        (in_its_name,) = ldc_max_rows(full_id, [row])
        best_id, best = representing(entry_points)
        if best_id == base_id:
            yield _counted(in_its_name, "LDC-MAX", "ldc-max")
        else:
            theirs, own = counted_f1(best), counted_f1(dict(entry_points)[base_id])
            note = (
                f"{table.by_id[best_id].full_id} represents {full_id}: its F1 over all rows is {theirs:.4f}, that of "
                f"this entry point {own:.4f}{', and it comes first' if theirs == own else ''}"
            )
            yield Counted("ldc-max", "LDC-MAX", full_id, row.level, {}, 0.0, 0.0, 0.0, (), note)
        level = str(in_its_name.name.count(":"))
        members = mean_members(full_id, entry_points)[in_its_name.name, level]
        columns = list(zip(*(each.scores for each in members)))
        precision, recall, f1 = means = [left_sum(values) / len(members) for values in columns]
        texts = [
            f"{name} = ({' + '.join(f'{each:.4f}' for each in values)}) / {len(members)} = {mean:.4f}"
            for name, values, mean in zip(("P", "R", "F1"), columns, means)
        ]
        yield Counted("ldc-mean", "LDC-MEAN", in_its_name.name, level, {}, precision, recall, f1, tuple(texts))


def ranked_of(name: str | None, query: QueryCase, case: Case) -> tuple[Ranked | None, str | None]:
    """A node in the rankings of its query; or why it is in none."""
    if name is None:
        return None, "the run has no node ids (eight columns), so that nothing of it is ranked"
    if name not in query.ranked:
        query.ranked[name] = _ranked(name, query, case)
    return query.ranked[name]


def _ranked(name: str, query: QueryCase, case: Case) -> tuple[Ranked | None, str | None]:
    if query.result is None or query.result.uncounted is not None:
        return None, "its query was not ranked"
    if query.result.unranked is not None:
        return None, f"its query has no ranking: {query.result.unranked}"
    nodes = query.nodes
    node = nodes.get(name) or nodes.get(":".join(name.split(":", 3)[:3]))  # a longer id counts for another (rule nodes)
    if node is None:
        why = "it has no parent line before it, so that its id lacks the prefix of one"
        return None, f"node {name} belongs to no query" + (f": {why}" if name.startswith(":") else "")
    ranks, found = query.ranks[node.name]
    confidence = _confidence_text(node, nodes, case.run.limits.most)
    value, taken_by = _value(node, found, query, case)
    mapped = found.mapped_class
    ranked = Ranked("9", node.name, found.confidence, confidence, mapped, taken_by, found.value, value, tuple(ranks))
    return ranked, None


def _confidence_text(node: Node, nodes: Mapping[str, Node], most: int | None) -> str:
    """The confidence of a node as a sum over its lines."""

    def sum_of(terms: list[str]) -> str:
        return " + ".join(terms if len(terms) <= 5 else [*terms[:4], "...", terms[-1]])

    confidences = sorted((line.confidence for line in node.lines), reverse=True)[:most]
    size = len(node.lines) if most is None else most
    terms = [f"{value:g}" if rank == 1 else f"{value:g}/{rank}" for rank, value in enumerate(confidences, 1)]
    weights = ["1" if rank == 1 else f"1/{rank}" for rank in range(1, size + 1)]
    own = node_confidence([line.confidence for line in node.lines], most)
    text = f"({sum_of(terms)}) / ({sum_of(weights)}) = {own:.4f}"
    if node.level == 0:
        return text
    above = nodes[node.parent].own_confidence
    return f"{text}; times that of its parent, {own:.4f} * {above:.4f} = {own * above:.4f}"


def _value(node: Node, found: RankedNode, query: QueryCase, case: Case) -> tuple[str, Mapping[str, str]]:
    """V with its arithmetic, and the nodes that have taken the classes which the node could have had (node-values)."""
    edition = case.run.gold.table.edition
    useful: dict[str, list[Response]] = {}  # the lines by which the node can find classes, by class
    for line in node.lines:
        assessment = query.assessment_of(line)
        if assessment is not None and can_find(assessment, query.labels[line.index], edition):
            useful.setdefault(assessment.value_class, []).append(line)
    if not useful:
        why = "none of its lines is correct or inexact and counts as right, or is the duplicate of one that does"
        return f"V = 0: {'none of its lines is correct' if edition.ranks_correct_lines else why}", {}
    takers = query.takers
    taken_by = {name: takers[name] for name in useful if name != found.mapped_class and name in takers}
    if found.mapped_class is None:
        return "V = 0: every class of its useful lines is taken by a node before it", taken_by
    lines, most = useful[found.mapped_class], case.run.limits.most
    kept = best_first(lines)[:most]
    classes = case.run.gold.of_query(query.query, case.run.links).classes
    documents, asked = classes.documents(found.mapped_class), len({line.query.short_id for line in kept})
    if most is None or documents <= most * asked:
        denominator, shown = documents, f"{documents} documents of its class" if documents != 1 else "1 document"
    else:
        denominator, shown = most * asked, f"{most} that count" + (f" for each of {asked} queries" if asked > 1 else "")
    number = len(lines if edition.ranks_correct_lines else kept)
    value = number / denominator if denominator else 0.0
    lines_text = "1 useful line" if number == 1 else f"{number} useful lines"
    text = f"V = {number} / {denominator} = {value:.4f} ({lines_text}, {shown})"
    if value and not found.value and node.level:
        text += f"; but its parent, {node.parent}, has V = 0, so that V = 0 here"
    return text, taken_by


def effect_of_absence(lines: Sequence[ReadLine], case: Case, *, is_computed: bool = True) -> LineEffect | None:
    """What the absence of lines and of their dependents makes of the scores; None where there are none.

    Unless it `is_computed`, only what would go with a line.
    """
    if case.measure is None:
        return None
    change = Change(case.effects.rescoring.dependents.with_dependents(lines))
    reason = f"not computed for so many lines; --line {lines[0].number} asks for it"
    return _line_effect("absent", change, case.effects.of(change) if is_computed else Effect({}, reason), case)


def effect_of_finding(assessment: Assessment, case: Case) -> LineEffect | None:
    """What finding the class of an assessment would make of the scores; None where there are none."""
    if case.measure is None:
        return None
    change = Change(added=case.effects.rescoring.finding.lines(assessment))
    return _line_effect("found", change, case.effects.of(change), case)


def _line_effect(what: str, change: Change, effect: Effect, case: Case) -> LineEffect:
    effects = {name: effect.differences.get(name) for name in map(str, case.measures)}
    return LineEffect(what, effects, places_of(change), texts_of(change), effect.reason)
