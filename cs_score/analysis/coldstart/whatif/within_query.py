"""What a change of a few lines makes of the one query that they belong to, where no other line is linked anew by it.

That is so for nearly all changes, and costs as much as the lines around them; what is left is scored unit by unit
(`rescoring`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.whatif.change import Change
from cs_score.analysis.coldstart.whatif.counted_query import Arrival
from cs_score.analysis.coldstart.whatif.found import AddedLine
from cs_score.analysis.coldstart.whatif.relinking import linked_below
from cs_score.analysis.coldstart.whatif.rescoring import Rescoring
from cs_score.analysis.coldstart.whatif.unit_state import QueryChange, UnitState
from cs_score.coldstart.lines import Response


class WithinQuery:
    """The queries of a run as they were scored; that of the unit that was last asked about is kept."""

    def __init__(self, scored: Scored, rescoring: Rescoring, with_rankings: bool) -> None:
        run = scored.run
        self._scored = scored
        self._rescoring = rescoring
        self._with_rankings = with_rankings
        self._units = {unit.id: unit for unit in scored.result.units}
        self._is_possible = rescoring.has_plain_units and run.limits.most is not None
        self._current: tuple[str, UnitState] | None = None

    def after(self, change: Change) -> tuple[str, QueryChange] | None:
        """The unit and the other scores of the query that the change is about.

        None where it cannot be told from the lines of a query: the unit has to be scored again.
        """
        responses = self._scored.run.links.responses
        removed = [responses[index] for index in sorted(change.removal.responses)]
        bases = {line.query.base_id for line in removed} | {line.assessment.query.base_id for line in change.added}
        left = self._left_behind(removed, change)
        if not self._is_possible or len(bases) != 1 or left is None:
            return None
        (base_id,) = bases
        unit_id = self._scored.run.gold.unit_of(base_id)
        query = self._state(unit_id).query(base_id)
        added = self._linked(change.added)
        if query is None or added is None:
            return None
        giving, gone = self._rescoring.dependents.giving, change.removal.responses
        added += (query.as_before(line, linked_below(line, giving(line.query.short_id), gone)) for line in left)
        found = query.after([*removed, *left], added)
        return None if found is None else (unit_id, found)

    def _left_behind(self, removed: Iterable[Response], change: Change) -> list[Response] | None:
        """The lines that stay though a line goes that they hang below; None where more hangs on them."""
        gone = change.removal.responses
        left: dict[int, Response] = {}
        asking = self._rescoring.dependents.asking
        for line in removed:
            if self._scored.run.links.was_skipped(line.target):
                return None
            for below in asking(line.target):
                if isinstance(below, Response) and below.index not in gone:
                    if below.query.level > 1 or asking(below.target):
                        return None
                    left[below.index] = below
        return list(left.values())

    def _linked(self, lines: Sequence[AddedLine]) -> list[Arrival] | None:
        """Added lines linked, each in its class; None where others would hang below them, or might be the same."""
        links, rescoring = self._scored.run.links, self._rescoring
        found: list[Arrival] = []
        node_of: dict[str, str] = {}
        for at, line in enumerate(lines):
            assessment = line.assessment
            query, follow_on = assessment.query, links.follow_on(assessment.target)
            if follow_on is None or rescoring.dependents.asking(assessment.target) or line.node_id is None:
                return None
            judgement = follow_on.judgement_of(query, assessment.answer)
            if judgement is None or judgement.assessment is not assessment:  # assessed twice, and the other counts
                return None
            given = node_of.get(query.short_id) or links.given.get(query.short_id) or ""
            prefix = query.full_id if query.level != 1 else given
            node = node_of[assessment.target] = prefix + line.node_id
            number = rescoring.files.files[line.file].last + 1 + at
            response = Response(
                len(links.responses) + at, number, line.text, query, self._scored.run_id, line.confidence, node,
                follow_on, line.file, assessment.docid, assessment.answer,
            )  # fmt: skip
            found.append(Arrival(response, assessment, assessment.value_class))
        return found

    def _state(self, unit_id: str) -> UnitState:
        if self._current is None or self._current[0] != unit_id:
            scored = self._scored
            lines = scored.run.lines.get(scored.run_id, {}).get(unit_id, {})
            state = UnitState(self._units[unit_id], scored.run, lines, scored.policy, self._with_rankings)
            self._current = unit_id, state
        return self._current[1]
