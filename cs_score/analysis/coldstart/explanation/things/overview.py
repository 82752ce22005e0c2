"""The run as a whole, in one screen."""

from __future__ import annotations

from collections import Counter
from typing import Final

from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import Cost, Overview
from cs_score.analysis.coldstart.explanation.lines import all_fates
from cs_score.analysis.coldstart.sections.cost_list import Mistake, cost_list
from cs_score.analysis.coldstart.sections.mistakes import mistakes_of
from cs_score.problems.codes import Severity

_COSTS: Final = 3
_FIRST: Final = ("right", "wrong", "ignored")


def explain_run(case: Case) -> Overview:
    """What became of the lines of a run, and its three largest costs."""
    fates = tuple(all_fates(case))
    counted = [fate for fate in fates if fate.status == "counted"]
    lines = [
        line
        for of_unit in case.run.lines.get(case.scored.run_id, {}).values()
        for of in of_unit.values()
        for line in of
    ]
    units = (case.unit_of(line) for line in lines)
    problems = case.run.problems
    return Overview(
        dict(Counter(fate.status for fate in fates)),
        sum(unit is not None and line.index in unit.matched for line, unit in zip(lines, units)),
        sum(line.index in case.run.discarded for line in lines),
        dict(sorted(Counter(fate.side for fate in counted).items(), key=lambda item: _order(item[0]))),
        dict(Counter(fate.category for fate in counted if fate.category is not None)),
        problems.count(Severity.ERROR),
        problems.count(Severity.WARNING),
        tuple(map(_cost, _costliest(case))),
        fates,
    )


def _order(side: str) -> tuple[int, str]:
    """Right, wrong, ignored, then the rare ones."""
    return _FIRST.index(side) if side in _FIRST else len(_FIRST), side


def _costliest(case: Case) -> list[Mistake]:
    if case.measure is None:
        return []
    effects = Effects(case.scored, [case.measure])
    return cost_list(effects, mistakes_of(case.scored, effects.rescoring.finding), _COSTS)


def _cost(mistake: Mistake) -> Cost:
    change = "found" if mistake.kind == "class" else "absent"
    return Cost(
        mistake.kind, change, mistake.file, mistake.line, mistake.slot, mistake.value, mistake.category, mistake.gain
    )
