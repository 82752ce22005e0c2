"""A node: its lines, their classes, its ranks."""

from __future__ import annotations

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import NodeFacts
from cs_score.analysis.coldstart.explanation.lines import fate_of
from cs_score.analysis.coldstart.explanation.steps.ranking import ranked_of
from cs_score.analysis.coldstart.explanation.steps.worth import worth_of_absence


def explain_node(name: str, case: Case) -> NodeFacts:
    """All of a node, by its FQ node id."""
    lines = [line for line in case.run.links.nodes[name] if case.is_of_run(line)]
    base_id = case.run.links.nodes[name][0].query.base_id
    classes: dict[str, None] = {}
    for line in lines:
        unit = case.unit_of(line)
        assessment = None if unit is None else unit.matched.get(line.index)
        if assessment is not None and assessment.is_accepted:
            classes[assessment.value_class] = None
    ranked, not_ranked = ranked_of(name, base_id, case)
    return NodeFacts(
        name,
        case.run.links.nodes[name][0].query.full_id,
        tuple(fate_of(line, case.tally_of(line), case) for line in lines),
        tuple(classes),
        ranked,
        not_ranked,
        worth_of_absence(lines, case),
    )
