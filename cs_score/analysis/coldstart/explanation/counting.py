"""What a line counts in: its rows with their arithmetic, its ranks, and the effect of its absence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cs_score.analysis.coldstart.changes import Change, ReadLine
from cs_score.analysis.coldstart.effects import Effect
from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import At, Counted, LineEffect, Ranked
from cs_score.coldstart.editions import Edition
from cs_score.coldstart.gold import QueryGold
from cs_score.coldstart.judging import Counts, Tally
from cs_score.coldstart.lines import Assessment, Response, best_first, node_confidence
from cs_score.coldstart.projection import (
    ScoreRow,
    by_ldc_query,
    counted_f1,
    counted_row,
    ldc_max_rows,
    left_sum,
)
from cs_score.coldstart.queries import QuerySet
from cs_score.coldstart.ranking import Node, RankedNode, can_find
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.coldstart.scorer import score_rows
from cs_score.measures.measure import Measure


def rows_of(tally: Tally, base_id: str, case: Case) -> tuple[Counted, ...]:
    """The rows that have the lines of a row of the SF table: its own, and those of its LDC query."""
    if tally.name not in case.counted:
        row = counted_row(tally.name, tally.counts)
        case.counted[tally.name] = (counted(row, "SF", "7.6"), *_projected(row, base_id, case))
    return case.counted[tally.name]


def counted(row: ScoreRow, table: str, rule: str) -> Counted:
    """A row with its arithmetic."""
    counts = row.counts
    return Counted(
        rule,
        table,
        row.name,
        row.level,
        {} if counts is None else counts._asdict(),
        row.precision,
        row.recall,
        row.f1,
        () if counts is None else arithmetic(counts),
    )


def arithmetic(counts: Counts) -> tuple[str, ...]:
    """Precision, recall and F1 written out."""
    right, answered = counts.right, counts.answered
    if right + counts.wrong == answered:
        shown = f"({right} + {counts.wrong})"
    else:  # lines that are in no list, or in two
        shown = f"({counts.submitted} - {counts.ignored})"
    precision, recall = counts.precision, counts.recall
    product = f"2 * {precision:.4f} * {recall:.4f} / ({precision:.4f} + {recall:.4f})"
    return (
        _quotient("P", right, shown, answered, precision),
        _quotient("R", right, str(counts.ground_truth), counts.ground_truth, recall),
        f"F1 = {product} = {counts.f1:.4f}" if counts.f1 else "F1 = 0, since P and R are 0",
    )


def _quotient(name: str, numerator: int, shown: str, denominator: int, value: float) -> str:
    written = f"{name} = {numerator} / {shown}"
    return f"{written} = {value:.4f}" if denominator else f"{written}, which counts as 0"


def _projected(row: ScoreRow, base_id: str, case: Case) -> Iterator[Counted]:
    """The rows of LDC-MAX and LDC-MEAN."""
    table = case.run.gold.table
    if base_id not in table.ldc_of:
        return
    unit = case.units[table.ldc_of[base_id]]
    rows_by_query: dict[str, list[ScoreRow]] = {}
    for each in score_rows([unit]):
        rows_by_query.setdefault(each.name.partition(":")[0].rpartition("_")[2], []).append(each)
    of_unit = {short_id: table.ldc_of[short_id] for short_id in rows_by_query if short_id in table.ldc_of}
    for full_id, entry_points in by_ldc_query(rows_by_query, QuerySet(table.by_id, of_unit, table.was_expanded)):
        best_id, best = max(entry_points, key=lambda item: counted_f1(item[1]))
        if best_id == base_id:
            yield counted(ldc_max_rows(full_id, [row])[0], "LDC-MAX", "8.2")
        else:
            theirs, own = counted_f1(best), counted_f1(rows_by_query[base_id])
            note = (
                f"{table.by_id[best_id].full_id} represents {full_id}: its F1 over all rows is {theirs:.4f}, that of "
                f"this entry point {own:.4f}{', and it comes first' if theirs == own else ''}"
            )
            yield Counted("8.2", "LDC-MAX", full_id, row.level, {}, 0.0, 0.0, 0.0, (), note)
        yield _mean(row, full_id, [each for _, rows in sorted(entry_points) for each in rows])


def _mean(row: ScoreRow, full_id: str, rows: Sequence[ScoreRow]) -> Counted:
    """The row of LDC-MEAN: means over the entry points that have it."""
    (name,) = (each.name for each in ldc_max_rows(full_id, [row]))
    members = [each for each in rows if ldc_max_rows(full_id, [each])[0].name == name]
    size = len(members)

    def mean(statistic: str, values: Sequence[float]) -> tuple[float, str]:
        value = left_sum(values) / size
        shown = " + ".join(f"{each:.4f}" for each in values)
        return value, f"{statistic} = ({shown}) / {size} = {value:.4f}"

    precision, of_precision = mean("P", [each.precision for each in members])
    recall, of_recall = mean("R", [each.recall for each in members])
    f1, of_f1 = mean("F1", [each.f1 for each in members])
    level = str(name.count(":"))
    return Counted("8.3", "LDC-MEAN", name, level, {}, precision, recall, f1, (of_precision, of_recall, of_f1))


_SHOWN = 5
"""Terms of a sum that are written out."""


def ranked_of(name: str | None, base_id: str, case: Case) -> tuple[Ranked | None, str | None]:
    """A node in the rankings of its query; or why it is in none."""
    if (name, base_id) not in case.ranked:
        case.ranked[name, base_id] = _ranked(name, base_id, case)
    return case.ranked[name, base_id]


def _ranked(name: str | None, base_id: str, case: Case) -> tuple[Ranked | None, str | None]:
    result, unit = case.query_result(base_id), case.units.get(case.run.gold.unit_of(base_id))
    if name is None:
        return None, "the run has no node ids (eight columns), so that nothing of it is ranked"
    if result is None or unit is None or result.uncounted is not None:
        return None, "its query was not ranked"
    if result.unranked is not None:
        return None, f"its query has no ranking: {result.unranked}"
    nodes = case.nodes_of(result.query.full_id)
    node = nodes.get(name) or nodes.get(_short(name))
    if node is None:
        why = "it has no parent line before it, so that its id lacks the prefix of one" if name.startswith(":") else ""
        return None, f"node {name} belongs to no query" + (f": {why}" if why else "")
    ranked = case.ranks_of(result)
    ranks, found = tuple(ranked.ranks[node.name]), ranked.nodes[node.name]
    value, taken_by = _value(node, nodes, found, unit, result, case)
    confidence = _confidence_text(node, nodes, case.run.limits.most)
    return (
        Ranked("9", node.name, found.confidence, confidence, found.mapped_class, taken_by, found.value, value, ranks),
        None,
    )


def _short(name: str) -> str:
    """The node that a line with a longer id counts for (specification 9.1)."""
    return ":".join(name.split(":", 3)[:3])


def _confidence_text(node: Node, nodes: Mapping[str, Node], most: int | None) -> str:
    """The confidence of a node as a sum over its lines (specification 9.3)."""
    confidences = sorted((line.confidence for line in node.lines), reverse=True)[:most]
    size = len(node.lines) if most is None else most
    terms = [f"{value:g}" if rank == 1 else f"{value:g}/{rank}" for rank, value in enumerate(confidences, 1)]
    weights = ["1" if rank == 1 else f"1/{rank}" for rank in range(1, size + 1)]
    own = node_confidence([line.confidence for line in node.lines], most)
    text = f"({_sum(terms)}) / ({_sum(weights)}) = {own:.4f}"
    if node.level == 0:
        return text
    above = nodes[node.parent].own_confidence
    return f"{text}; times that of its parent, {own:.4f} * {above:.4f} = {own * above:.4f}"


def _sum(terms: Sequence[str]) -> str:
    shown = terms if len(terms) <= _SHOWN else [*terms[: _SHOWN - 1], "...", terms[-1]]
    return " + ".join(shown)


def _value(
    node: Node, nodes: Mapping[str, Node], found: RankedNode, unit: UnitResult, result: QueryResult, case: Case
) -> tuple[str, Mapping[str, str]]:
    """V with its arithmetic, and the nodes that have taken the classes which the node could have had (9.4, 9.5)."""
    edition = case.run.gold.table.edition
    useful = useful_lines(node.lines, unit, edition)
    takers = case.ranks_of(result).takers
    taken_by = {name: takers[name] for name in useful if name != found.mapped_class and name in takers}
    if not useful:
        why = "none of its lines is correct or inexact and counts as right, or is the duplicate of one that does"
        return f"V = 0: {'none of its lines is correct' if edition.ranks_correct_lines else why}", {}
    if found.mapped_class is None:
        return "V = 0: every class of its useful lines is taken by a node before it", taken_by
    placement = case.run.gold.of_query(result.query, case.run.links)
    text, value = _share(useful[found.mapped_class], found.mapped_class, placement, case.run.limits.most)
    if value and not found.value and node.level:
        text += f"; but its parent, {nodes[node.parent].name}, is worth 0, and so it is: V = 0"
    return text, taken_by


def useful_lines(lines: Iterable[Response], unit: UnitResult, edition: Edition) -> dict[str, list[Response]]:
    """The lines by which a node can find classes, by class (specification 9.4)."""
    useful: dict[str, list[Response]] = {}
    for line in lines:
        assessment = unit.matched.get(line.index)
        if assessment is not None and can_find(assessment, unit.labels[line.index], edition):
            useful.setdefault(assessment.value_class, []).append(line)
    return useful


def _share(lines: Sequence[Response], name: str, gold: QueryGold, most: int | None) -> tuple[str, float]:
    """V of a node for a class, written out."""
    kept = best_first(lines)[:most]
    documents, asked = gold.classes.documents(name), len({line.query.short_id for line in kept})
    if most is None or documents <= most * asked:
        denominator, shown = documents, f"{documents} documents of its class" if documents != 1 else "1 document"
    else:
        denominator, shown = most * asked, f"{most} that count" + (f" for each of {asked} queries" if asked > 1 else "")
    number = len(lines if gold.classes.edition.ranks_correct_lines else kept)
    value = number / denominator if denominator else 0.0
    lines_text = "1 useful line" if number == 1 else f"{number} useful lines"
    return f"V = {number} / {denominator} = {value:.4f} ({lines_text}, {shown})", value


def effect_of_absence(lines: Iterable[ReadLine], case: Case) -> LineEffect | None:
    """What the absence of lines and of their dependents makes of the scores; None where there are none."""
    return _effect("absent", Change(case.dependents.with_dependents(lines)), case) if case.measure else None


def effect_not_scored(line: ReadLine, case: Case) -> LineEffect | None:
    """What would go with a line, without its effect."""
    if case.measure is None:
        return None
    places = case.dependents.with_dependents([line]).places
    effects = dict.fromkeys(map(str, case.measures))
    reason = f"not computed for so many lines; --line {line.number} asks for it"
    return LineEffect("absent", effects, tuple(At(*place) for place in places), (), reason)


def effect_of_finding(assessment: Assessment, case: Case) -> LineEffect | None:
    """What finding the class of an assessment would make of the scores; None where there are none."""
    if case.measure is None:
        return None
    return _effect("found", Change(added=case.effects.rescoring.finding.lines(assessment)), case)


def _effect(what: str, change: Change, case: Case) -> LineEffect:
    return effect_facts(what, change, case.effects.of(change), case.measures)


def effect_facts(what: str, change: Change, effect: Effect, measures: Iterable[Measure]) -> LineEffect:
    """An effect that is known, on these measures."""
    differences = effect.as_json()
    return LineEffect(
        what,
        {name: differences[name] for name in map(str, measures)},
        tuple(At(*place) for place in change.removal.places),
        tuple(line.text for line in change.added),
        effect.reason,
    )
