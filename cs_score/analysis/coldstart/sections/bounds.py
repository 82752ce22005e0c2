"""Between which scores a run lies, whatever the answers are that nobody assessed (insight specification 4.6).

The lower bound takes every unassessed line for wrong: the score under the policy that has UNASSESSED on that side.

The upper bound takes every unassessed answer for right, in a class of its own that the ground truth gains. With U for
the answers of a row that differ in value or place and of which no line was assessed (its unassessed lines):

    right' = right + U      ground truth' = ground truth + U      answered' = answered without those lines + U

and all averages come from the rows as ever (specification 8). A ranking has no rows: there a node without value that
has such a line gets V = 1, and the ground truth of the ranking gains one for it (9.7); AP above 1 counts as 1.

Rows that begin to count in the divisor of a macro average, entry points that begin to represent their LDC query, and
late ranks may move such a score the other way. What is known already is a bound, too: the lower one is never above
the score, and the upper one never below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.sections.budget import moved
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.combining import Combining
from cs_score.coldstart.counting.counts import Tally
from cs_score.coldstart.judging.labels import UNASSESSED, Labels
from cs_score.coldstart.lines.records import Response
from cs_score.coldstart.options import IGNORE, WRONG
from cs_score.coldstart.ranking.average_precision import Ranking
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.measures.measure import Measure
from cs_score.measures.registry import RANKED
from cs_score.problems.log import ProblemLog


class SlotShare(Record):
    """How many lines of a slot count anywhere, and how many of these are unassessed."""

    slot: str
    lines: int
    unassessed: int

    @property
    def share(self) -> float:
        """Unassessed / lines."""
        return self.unassessed / self.lines


class Bounds(Record):
    """The score between its bounds, the number of unassessed lines, and their share of each slot's lines."""

    lower: float
    score: float
    upper: float
    unassessed: int
    slots: Sequence[SlotShare]

    def as_json(self) -> dict[str, object]:
        """The bounds with the keys of the specification."""
        return {
            "lower": self.lower,
            "score": self.score,
            "upper": self.upper,
            "unassessed": self.unassessed,
            "slots": [
                {"slot": each.slot, "lines": each.lines, "unassessed": each.unassessed, "share": each.share}
                for each in self.slots
            ],
        }


def bounds(scored: Scored, measure: Measure) -> Bounds:
    """The bounds of one measure. All three scores are the same where every line was assessed."""
    score = scored.result.measures[measure]
    lines, unassessed = Counter[str](), Counter[str]()
    for unit in scored.result.units:
        for query in unit.queries:
            for tally in query.tallies:
                lines.update(line.query.slots[0] for line in tally.responses)
                unassessed.update(line.query.slots[0] for line in _unassessed(tally.responses, unit.labels))
    slots = [SlotShare(slot, lines[slot], unassessed[slot]) for slot in sorted(lines)]
    number = unassessed.total()
    if not number:
        return Bounds(score, score, score, 0, slots)
    return Bounds(
        min(score, _all_wrong(scored).get(measure, score)),
        score,
        max(score, _all_right(scored, is_ranked=not measure.average).get(measure, score)),
        number,
        slots,
    )


def _all_wrong(scored: Scored) -> Mapping[Measure, float]:
    return scored.under(moved(scored.policy, UNASSESSED, IGNORE, WRONG)).result.measures


def _all_right(scored: Scored, *, is_ranked: bool) -> Mapping[Measure, float]:
    units = [_with_answers(scored, unit, is_ranked) for unit in scored.result.units]
    combining = Combining(scored.run, scored.policy, ProblemLog())
    result = combining.with_tables(scored.run_id, units)
    with suppress(InputError):  # where the run has none as it is
        result = combining.with_average_precision(result, units) if is_ranked else result
    return {measure: score if measure.average else min(score, 1.0) for measure, score in result.measures.items()}


def _with_answers(scored: Scored, unit: UnitResult, is_ranked: bool) -> UnitResult:
    """A unit in which unassessed answers are right, in its rankings only where these are wanted."""
    lines_of = scored.run.lines.get(scored.run_id, {}).get(unit.id, {}) if is_ranked else {}
    lines = (line for of_query in lines_of.values() for line in of_query)
    nodes = {line.node for line in _unassessed(lines, unit.labels)}
    return replace(unit, queries=tuple(_query_with_answers(query, unit.labels, nodes) for query in unit.queries))


def _query_with_answers(query: QueryResult, labels: Mapping[int, Labels], nodes: Container[str | None]) -> QueryResult:
    return replace(
        query,
        tallies=tuple(_tally_with_answers(tally, labels) for tally in query.tallies),
        rankings=tuple(_ranking_with_answers(ranking, nodes) for ranking in query.rankings),
    )


def _tally_with_answers(tally: Tally, labels: Mapping[int, Labels]) -> Tally:
    lines = list(_unassessed(tally.responses, labels))
    new = len({line.target for line in lines})
    counts = tally.counts
    return tally._replace(
        counts=counts._replace(
            ground_truth=counts.ground_truth + new,
            submitted=counts.submitted - len(lines) + new,
            right=counts.right + new,
            ignored=counts.ignored - sum(labels[line.index].count(IGNORE) for line in lines),
        )
    )


def _ranking_with_answers(ranking: Ranking, nodes: Container[str | None]) -> Ranking:
    ranked = tuple(
        replace(node, value=1.0) if not node.value and node.name in nodes else node for node in ranking.nodes
    )
    new = sum(node is not before for node, before in zip(ranked, ranking.nodes))
    if not new:
        return ranking
    ground_truth = (ranking.ground_truth or 0) + new
    scores = tuple(score([node.value for node in ranked], ground_truth) for score in RANKED.values())
    return replace(ranking, nodes=ranked, ground_truth=ground_truth, scores=scores)


def _unassessed(lines: Iterable[Response], labels: Mapping[int, Labels]) -> Iterator[Response]:
    """The lines that might be right, for all that the pool says: below what is wrong, nothing can be."""
    return (line for line in lines if UNASSESSED in labels.get(line.index, ()))
