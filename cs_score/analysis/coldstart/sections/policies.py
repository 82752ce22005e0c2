"""The scores of a run under other policies, from one loading of its files (insight specification 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cs_score.analysis.coldstart.progress import Progress, silent
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.options import PRESETS, NamedPolicy
from cs_score.measures.measure import Measure
from cs_score.measures.registry import COLD_START_MODE, headline


class PolicyRow(Record):
    """The scores of a run under one policy; None where the scorer would not give one, and `reason` says why."""

    under: NamedPolicy
    scores: Mapping[str, float | None]
    reason: str | None = None

    def as_json(self) -> dict[str, object]:
        """The row with the keys of the specification; `policy` has the switches that it stands for."""
        sides = {side.lower(): text for side, text in self.under.policy.texts().items()}
        return {
            "name": self.under.name,
            "policy": {**sides, "justifications": str(self.under.justifications)},
            "scores": dict(self.scores),
            **({} if self.reason is None else {"reason": self.reason}),
        }


def policy_rows(
    scored: Scored, measure: Measure, given: Sequence[NamedPolicy] = (), progress: Progress = silent
) -> list[PolicyRow]:
    """The headline measures and the one that is asked about, under each published policy and each given one.

    A score equals that of scoring the same files with the switches of the policy (law 1). A given policy of the name of
    a published one stands in its place.
    """
    names = [str(measure), *(name for name in headline(COLD_START_MODE) if name in scored.result.scores)]
    measures = tuple(dict.fromkeys(names))
    return [_row(scored, policy, measures) for policy in progress([*_policies(given)], "scoring under policies")]


def _policies(given: Iterable[NamedPolicy]) -> Iterator[NamedPolicy]:
    own = {policy.name: policy for policy in given}
    for name, preset in PRESETS.items():
        yield own.pop(name, NamedPolicy(name, preset.policy, preset.justifications, preset.policy.texts()))
    yield from own.values()


def _row(scored: Scored, under: NamedPolicy, measures: Sequence[str]) -> PolicyRow:
    try:
        found = scored.under(under.policy, under.justifications, with_problems=False)
    except InputError as stop:
        return PolicyRow(under, dict.fromkeys(measures), str(stop))
    scores = {name: found.result.scores.get(name) for name in measures}
    stopped = found.stopped if None in scores.values() else None
    return PolicyRow(under, scores, None if stopped is None else str(stopped))
