"""Step 8: the node of a line in the rankings of its query, and what it is worth there (specification 9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import Ranked
from cs_score.coldstart.gold import QueryGold
from cs_score.coldstart.lines import Response, best_first, node_confidence
from cs_score.coldstart.ranking import Node, RankedNode, is_useful
from cs_score.coldstart.result import QueryResult, UnitResult

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
    useful = useful_lines(node.lines, unit)
    takers = case.ranks_of(result).takers
    taken_by = {name: takers[name] for name in useful if name != found.mapped_class and name in takers}
    if not useful:
        return (
            "V = 0: none of its lines is correct or inexact and counts as right, or is the duplicate of one that does",
            {},
        )
    if found.mapped_class is None:
        return "V = 0: every class of its useful lines is taken by a node before it", taken_by
    standing = case.run.gold.of_query(result.query, case.run.links)
    text, value = _share(useful[found.mapped_class], found.mapped_class, standing, case.run.limits.most)
    if value and not found.value and node.level:
        text += f"; but its parent, {nodes[node.parent].name}, is worth 0, and so it is: V = 0"
    return text, taken_by


def useful_lines(lines: Iterable[Response], unit: UnitResult) -> dict[str, list[Response]]:
    """The lines by which a node can find classes, by class (specification 9.4)."""
    useful: dict[str, list[Response]] = {}
    for line in lines:
        assessment = unit.matched.get(line.index)
        if assessment is not None and assessment.is_accepted and is_useful(unit.labels[line.index]):
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
    value = len(kept) / denominator if denominator else 0.0
    lines_text = "1 useful line" if len(kept) == 1 else f"{len(kept)} useful lines"
    return f"V = {len(kept)} / {denominator} = {value:.4f} ({lines_text}, {shown})", value
