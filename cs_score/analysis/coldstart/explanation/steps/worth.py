"""Step 9: what a line, a node or a class is worth: the effect of its absence, or of finding it."""

from __future__ import annotations

from collections.abc import Iterable

from cs_score.analysis.coldstart.changes import Change, ReadLine
from cs_score.analysis.coldstart.effects import Effect
from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import At, Worth
from cs_score.coldstart.lines import Assessment
from cs_score.measures.measure import Measure


def worth_of_absence(lines: Iterable[ReadLine], case: Case) -> Worth | None:
    """What the absence of lines and of their dependents makes of the scores; None where there are none."""
    return _worth("absent", Change(case.dependents.with_dependents(lines)), case) if case.measure else None


def worth_not_scored(line: ReadLine, case: Case) -> Worth | None:
    """What would go with a line, without its effect."""
    if case.measure is None:
        return None
    places = case.dependents.with_dependents([line]).places
    effects = dict.fromkeys(map(str, case.measures))
    reason = f"not computed for so many lines; --line {line.number} asks for it"
    return Worth("absent", effects, tuple(At(*place) for place in places), (), reason)


def worth_of_finding(assessment: Assessment, case: Case) -> Worth | None:
    """What finding the class of an assessment would make of the scores; None where there are none."""
    if case.measure is None:
        return None
    return _worth("found", Change(added=case.effects.rescoring.finding.lines(assessment)), case)


def _worth(what: str, change: Change, case: Case) -> Worth:
    return worth_of(what, change, case.effects.of(change), case.measures)


def worth_of(what: str, change: Change, effect: Effect, measures: Iterable[Measure]) -> Worth:
    """An effect that is known, on these measures."""
    differences = effect.as_json()
    return Worth(
        what,
        {name: differences[name] for name in map(str, measures)},
        tuple(At(*place) for place in change.removal.places),
        tuple(line.text for line in change.added),
        effect.reason,
    )
