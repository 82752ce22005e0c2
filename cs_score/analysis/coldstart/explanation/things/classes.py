"""A class: its assessments, whether it is to be found, and who has found it."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.analysis.coldstart.explanation.case import Case, Standing
from cs_score.analysis.coldstart.explanation.facts import At, ClassFacts
from cs_score.analysis.coldstart.explanation.lines import fate_of
from cs_score.analysis.coldstart.explanation.steps.meeting import assessed_of
from cs_score.analysis.coldstart.explanation.steps.worth import worth_of_finding
from cs_score.coldstart.judging import is_wrong_bin
from cs_score.coldstart.lines import Response


def explain_class(name: str, base_id: str, case: Case, *, with_worth: bool = True) -> ClassFacts:
    """All of a class of a query, by the short id of that; without its worth where that is not wanted."""
    standing = case.standing(base_id)
    members = case.accepted(base_id).get(name, ())
    first = members[0] if members else None
    row = name.rpartition(":")[0]
    status, reason = "not counted", "its query was not scored"
    counted: Sequence[Response] = ()
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
    if row is None or row not in case.found(base_id):
        return "not counted", "no row of the tables has it"
    if counted_lines(name, base_id, case):
        return "found", "a right line counts for it"
    if tree.single.get(row, False):
        if others := case.found(base_id)[row]:
            found = next(each for each in tree.above if each in others) if len(others) > 1 else next(iter(others))
            return "not counted", f"its slot takes one value, and class {found} was found (CS 7.6)"
        return "missed", "its slot takes one value, and none was found: any class would do (CS 7.6)"
    if standing.members.get(name):
        return "missed", "none of the lines that stand in it counts as right"
    return "missed", "no line of the run gives one of its answers"


def counted_lines(name: str, base_id: str, case: Case) -> Sequence[Response]:
    """The lines that count as right and whose assessment is of this class."""
    return case.found(base_id).get(name.rpartition(":")[0], {}).get(name, ())
