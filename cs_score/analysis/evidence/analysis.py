"""`analyze`: everything that the analysis of a result of an evidence mode finds.

from cs_score.evidence import scifact

analysis = analyze(scifact.score("gold.jsonl", "run.jsonl"), "sentence_label_f1")
print(analysis.mistakes[0].gain, analysis.budget[-1].cumulated)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from cs_score.analysis.evidence.examiner import Progress, units_of
from cs_score.analysis.evidence.explanation import explain_everything
from cs_score.analysis.evidence.mistakes import (
    BudgetRow,
    ConfusionCount,
    Group,
    Mistake,
    counted_confusions,
    error_budget,
    examiner_of,
    groups_of,
    mistakes_of,
)
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record, asdict, replace
from cs_score.base.signing.origin import Origin
from cs_score.evidence.result import Mode, Result

SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""


class Analysis(Record):
    """Why a score is what it is (insight specification, sections 4 and 8).

    `measure` is the one that was asked about and `score` its value, 0..1. `mistakes` are sorted by gain, `budget` has a
    line per kind of mistakes, `groups` are by dimension; `units` counts those that were scored. `explanations`
    makes what the JSON has below that key: how units were scored, those of the first mistakes, or all.
    """

    mode: Mode
    measure: str
    score: float
    scores: Mapping[str, float]
    units: int
    mistakes: tuple[Mistake, ...]
    budget: tuple[BudgetRow, ...]
    groups: Mapping[str, tuple[Group, ...]]
    confusions: tuple[ConfusionCount, ...]
    origin: Origin
    explanations: Callable[[int | None], Mapping[str, object]]

    def as_json(self, top: int | None = None) -> dict[str, object]:
        """The analysis as a JSON object, with at most `top` mistakes."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": self.mode.name,
            "measure": self.measure,
            "score": self.score,
            "scores": dict(self.scores),
            "units": self.units,
            **({} if top is None else {"top": top}),
            "mistakes": [mistake.as_json() for mistake in self.mistakes[:top]],
            "budget": [asdict(line) for line in self.budget],
            "groups": {name: [asdict(group) for group in groups] for name, groups in self.groups.items()},
            "confusions": [asdict(confusion) for confusion in self.confusions],
            "signature": self.origin.as_json(),
            "explanations": self.explanations(top),
        }


def analyze(result: Result, measure: str | None = None, *, progress: Progress = iter) -> Analysis:
    """Mistakes, error budget, groups and confusions of a result.

    Without `measure` (a name of the mode's) the one that ranks leaderboards is asked about. `progress` hands back the
    units twice, once for the budget and once for the mistakes. Raises UsageError for a measure that the mode lacks.
    """
    examiner = examiner_of(result, measure)
    with paused_collector():
        units = units_of(examiner)
        budget = error_budget(examiner, progress(units))
        mistakes = mistakes_of(examiner, progress(units))
    return Analysis(
        mode=result.mode,
        measure=examiner.measure,
        score=result.scores[examiner.measure],
        scores=result.scores,
        units=len(result.table.ids),
        mistakes=tuple(mistakes),
        budget=tuple(budget),
        groups={name: tuple(groups) for name, groups in groups_of(examiner, mistakes).items()},
        confusions=tuple(
            counted_confusions(
                confusion for position in range(len(result.table.ids)) for confusion in examiner.confusions(position)
            )
        ),
        origin=replace(result.origin, measure=examiner.measure),
        explanations=lambda top: explain_everything(examiner, mistakes[:top], with_others=top is None),
    )
