"""How the accepted lines hang together: by query, by the answers that queries ask about, by node.

The links of a run lie over those of the gold standard: they look things up there and leave it as it is, so that one
gold standard serves many runs.
"""

from __future__ import annotations

import functools
from collections import defaultdict

from cs_score.base.errors import InputError
from cs_score.coldstart.lines.records import Assessment, FollowOn, LinkedQuery, Response, SkippedLine, UnreadLine
from cs_score.coldstart.queries.identifiers import parse_query_id
from cs_score.coldstart.queries.predicates import find_predicate
from cs_score.coldstart.queries.query_set import Query, QuerySet

_FOLLOW_ON_DIGITS = 12


class Links:
    """The accepted lines of a layer in load order, with what they lead to.

    `nodes` has the run lines of each node by FQ node id; `without_parent` the second-hop run lines that stand before
    their parent line, or have none, whose node ids lack its prefix; `is_in_order` tells whether every run line of a
    later hop stands behind a line that gives the answer its query asks about; `skipped` are the lines with an empty
    column or a slot that was not asked for, `unread` those that nothing is taken from. `follow_ons` (by short id) and
    `queries` (by full id) are those of this layer; look them up with `follow_on` and `query`, which see the layer below
    as well. `given` has the FQ node id of the first run line that gives the answer which a follow-on query asks about,
    by its short id: empty where that line has no node, None where it is known that no line gives it. `passed_over` are
    the short ids of those that the skipped lines lead to.
    """

    __slots__ = (
        "assessments", "below", "follow_ons", "given", "is_in_order", "nodes", "passed_over", "queries", "responses",
        "skipped", "unread", "without_parent",
    )  # fmt: skip

    def __init__(self, table: QuerySet, below: Links | None = None) -> None:
        # There is nothing to look up in an empty layer.
        has_lines = below is not None and (bool(below.follow_ons) or below.below is not None)
        self.below: Links | None = below if has_lines else None
        self.responses: list[Response] = []
        self.assessments: list[Assessment] = []
        self.nodes: defaultdict[str, list[Response]] = defaultdict(list)
        self.without_parent: list[Response] = []
        self.is_in_order = True
        self.skipped: list[SkippedLine] = []
        self.unread: list[UnreadLine] = []
        self.given: dict[str, str | None] = {}
        self.passed_over: set[str] = set()
        self.queries: dict[str, LinkedQuery] = {}
        # Queries of query files whose ids look like those of follow-on queries: no answer takes their place.
        self.follow_ons: dict[str, FollowOn] = (
            {}
            if self.below is not None
            else {short_id: FollowOn(short_id, None) for short_id in table.by_id if len(short_id) == _FOLLOW_ON_DIGITS}
        )

    def follow_on(self, short_id: str) -> FollowOn | None:
        """What is known of the query with this short id that asks about an answer."""
        found = self.follow_ons.get(short_id)
        return found if found is not None or self.below is None else self.below.follow_on(short_id)

    def query(self, full_id: str) -> LinkedQuery | None:
        """The query with this full id, where a line has named it."""
        found = self.queries.get(full_id)
        return found if found is not None or self.below is None else self.below.query(full_id)

    def was_skipped(self, short_id: str) -> bool:
        """Whether a line that was not accepted gives the answer which a follow-on query asks about."""
        return short_id in self.passed_over or (self.below is not None and self.below.was_skipped(short_id))

    def _is_given(self, short_id: str) -> bool:
        if short_id in self.given or self.below is None:
            return self.given.get(short_id) is not None
        return self.below._is_given(short_id)

    def root(self, query: Query) -> LinkedQuery:
        """The query of a query file in the form that lines are linked to."""
        return self.query(query.full_id) or _link_loaded(query)

    def class_of_query(self, query: LinkedQuery) -> str:
        """The equivalence class whose members a query's answers belong below (specification 7.1).

        Raises InputError where no accepted line leads to the query.
        """
        if query.parent is None:
            return query.full_id
        follow_on = self.follow_on(query.short_id)
        if follow_on is not None:
            if follow_on.accepting is not None:
                return follow_on.accepting.value_class
            if follow_on.assessment is None and self.was_skipped(query.short_id) and not self._is_given(query.short_id):
                raise InputError(
                    "queryid undefined in QuerySet->get()",
                    place=f"query {query.full_id}",
                    remedy="its lines answer a follow-on query whose only parent line was skipped (wrong slot or an "
                    "empty column); mend or remove the parent line",
                )
        return f"{self.class_of_query(query.parent)}:0"

    def is_accepted(self, query: LinkedQuery) -> bool:
        """Whether the answer that a query asks about was judged correct or inexact; true of the first hop."""
        if query.level == 0:
            return True
        follow_on = self.follow_on(query.short_id)
        return follow_on is not None and follow_on.accepting is not None


def _link_loaded(query: Query) -> LinkedQuery:
    parts = parse_query_id(query.full_id)
    is_ldc = parts is not None and not parts.expanded
    return LinkedQuery(
        query.full_id, query.short_id, query.base_id, 0, query.slots, *_about_slots(query.slots), None, is_ldc
    )


def link_follow_on(parent: LinkedQuery, short_id: str) -> LinkedQuery:
    """The query that asks about an answer to `parent`."""
    full_id, slots = f"{parent.full_id}_{short_id}", parent.slots[1:]
    return LinkedQuery(full_id, short_id, parent.base_id, parent.level + 1, slots, *_about_slots(slots), parent)


@functools.lru_cache(maxsize=4096)
def _about_slots(slots: tuple[str, ...]) -> tuple[str | None, bool, tuple[str, ...]]:
    """Of a query's slots: the first if the inventory has it, if it takes one value, those after it that it lacks."""
    predicate = find_predicate(slots[0]) if slots else None
    unknown_next = tuple(slot for slot in slots[1:] if find_predicate(slot) is None)
    return (slots[0], predicate.single, unknown_next) if predicate is not None else (None, False, unknown_next)
