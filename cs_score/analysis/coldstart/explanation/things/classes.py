"""A class: its assessments, whether it is to be found, and who has found it."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.analysis.coldstart.explanation.case import Case, Standing
from cs_score.analysis.coldstart.explanation.facts import At, ClassFacts
from cs_score.analysis.coldstart.explanation.lines import fate_of
from cs_score.analysis.coldstart.explanation.steps.meeting import assessed_of
from cs_score.analysis.coldstart.explanation.steps.worth import worth_of_finding
from cs_score.coldstart.judging.class_tree import is_wrong_bin
from cs_score.coldstart.lines.records import Assessment, Response
from cs_score.coldstart.options import RIGHT


def explain_class(name: str, base_id: str, case: Case, *, with_worth: bool = True) -> ClassFacts:
    """All of a class of a query, by the short id of that; without its worth where that is not wanted."""
    standing = case.standing(base_id)
    members = [
        each for each in case.run.gold.assessed.get(base_id, ()) if each.value_class == name and each.is_accepted
    ]
    first = members[0] if members else None
    row = name.rpartition(":")[0]
    status, reason, counted = ("not counted", "its query was not scored", [])
    lines: Sequence[Response] = ()
    if standing is not None:
        lines = standing.members.get(name, ())
        counted = counted_lines(name, base_id, case)
        status, reason = status_of(name, base_id, standing, case)
    correct = next((each for each in members if each.judgment == "CORRECT"), first)
    return ClassFacts(
        name,
        None if first is None else first.query.full_id,
        None if first is None else first.query.slots[0],
        name.count(":") - 1,
        row,
        row if ":" in row else None,
        status,
        reason,
        tuple(assessed_of(each, case) for each in members),
        tuple(fate_of(line, case.tally_of(line), case) for line in lines),
        tuple(At(line.file, line.number) for line in counted),
        worth_of_finding(correct, case) if with_worth and status == "missed" and correct is not None else None,
    )


def status_of(name: str, base_id: str, standing: Standing, case: Case) -> tuple[str, str]:
    """Whether a class is found, missed or not counted, and why."""
    tree = standing.tree
    if is_wrong_bin(name, tree.root):
        return "not counted", "it holds what belongs to no class, and is no ground truth (CS 7.2)"
    row = tree.above.get(name)
    if row is None or row not in _rows(base_id, case):
        return "not counted", "no row of the tables has it"
    if counted_lines(name, base_id, case):
        return "found", "a right line counts for it"
    if tree.single.get(row, False):
        others = [each for each, above in tree.above.items() if above == row and each != name]
        found = next((each for each in others if counted_lines(each, base_id, case)), None)
        if found is not None:
            return "not counted", f"its slot takes one value, and class {found} was found (CS 7.6)"
        return "missed", "its slot takes one value, and none was found: any class would do (CS 7.6)"
    if standing.members.get(name):
        return "missed", "none of the lines that stand in it counts as right"
    return "missed", "no line of the run gives one of its answers"


def _rows(base_id: str, case: Case) -> set[str]:
    result = case.query_result(base_id)
    return set() if result is None else {tally.name for tally in result.tallies}


def counted_lines(name: str, base_id: str, case: Case) -> list[Response]:
    """The lines that count as right and whose assessment is of this class."""
    result, unit = case.query_result(base_id), case.units.get(case.run.gold.unit_of(base_id))
    if result is None or unit is None:
        return []
    return [
        line
        for tally in result.tallies
        if tally.name == name.rpartition(":")[0]
        for line in tally.responses
        if RIGHT in unit.labels[line.index] and _class_of(unit.matched.get(line.index)) == name
    ]


def _class_of(assessment: Assessment | None) -> str | None:
    return None if assessment is None else assessment.value_class
