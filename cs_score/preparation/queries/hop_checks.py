"""Whether the slots of a query fit its entity type and each other (specification of the companions, 3.2 and 3.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from cs_score.base.records import Record, replace
from cs_score.coldstart.queries import Query, find_predicate, report_slots
from cs_score.problems.log import ProblemLog

# What the names of slots call a kind of place -> its singular.
_PLACES: Final = {
    "city": "city",
    "cities": "city",
    "stateorprovince": "stateorprovince",
    "statesorprovinces": "stateorprovince",
    "country": "country",
    "countries": "country",
}
_PLACE: Final = "|".join(_PLACES)
_YIELDS: Final = re.compile(r"(.+?)_of_")
_STARTS_FROM: Final = (re.compile(rf"(.*_of_)({_PLACE})", re.DOTALL), re.compile(rf"(.*_in_)({_PLACE})", re.DOTALL))


class Misfit(StrEnum):
    """What is done with a query whose slots do not fit."""

    NONE = "none"
    REPAIR = "repair"
    DELETE_SLOT = "delete-slot"
    DELETE_QUERY = "delete-query"


TYPE_ACTIONS: Final = (Misfit.NONE, Misfit.DELETE_SLOT, Misfit.DELETE_QUERY)
SUBTYPE_ACTIONS: Final = (Misfit.NONE, Misfit.REPAIR, Misfit.DELETE_SLOT, Misfit.DELETE_QUERY)


class HopChecks(Record):
    """What is done where entity types do not fit, and where kinds of places do not."""

    types: Misfit = Misfit.NONE
    subtypes: Misfit = Misfit.NONE


def check_hops(queries: Iterable[Query], checks: HopChecks, problems: ProblemLog) -> Iterator[Query]:
    """The queries that are kept, with the slots that are left; misfits become warnings."""
    if checks == HopChecks():
        yield from queries
        return
    for query in queries:
        fitting = _fitting_types(query, checks.types, problems)
        mended = None if fitting is None else _fitting_places(fitting, checks.subtypes, problems)
        if mended is None:
            continue
        report_slots(query, problems)  # the reference copies the query as it was read, then cuts and repairs it
        for before, after in zip(query.slots, mended.slots):
            if before != after and find_predicate(after) is None:
                problems.add("UNKNOWN_SLOT_NAME", after)
        yield mended


def _fitting_types(query: Query, action: Misfit, problems: ProblemLog) -> Query | None:
    """The query as far as each slot applies to what comes before it; None where it is deleted."""
    types = frozenset({query.entity_type or ""})
    for hop, slot in enumerate(query.slots):
        predicate = find_predicate(slot)
        if predicate is None or not types & predicate.domain:
            problems.add("MISMATCHED_HOP_TYPES", query.short_id, ":".join(sorted(types)), slot)
            if action is Misfit.DELETE_QUERY:
                return None
            return _first_slots(query, hop) if action is Misfit.DELETE_SLOT else query
        types = predicate.range
    return query


def _fitting_places(query: Query, action: Misfit, problems: ProblemLog) -> Query | None:
    """The query with slots for the same kind of place; None where it is deleted."""
    slots = list(query.slots)
    for hop, (slot, following) in enumerate(zip(query.slots, query.slots[1:])):
        if find_predicate(slot) is None:
            continue
        name = slot.partition(":")[2]
        yields, starts_from = _YIELDS.match(name), _starting_place(following)
        if yields is None or yields.group(1) not in _PLACES or starts_from is None:
            continue
        place = _PLACES[yields.group(1)]
        if place == _PLACES[starts_from.group(2)]:
            continue
        problems.add("MISMATCHED_HOP_SUBTYPES", query.short_id, name, following.partition(":")[2])
        if action is Misfit.DELETE_QUERY:
            return None
        if action is Misfit.DELETE_SLOT:
            return _first_slots(query, hop + 1)
        if action is Misfit.REPAIR:
            slots[hop + 1] = starts_from.group(1) + place
    return replace(query, slots=tuple(slots))


def _starting_place(slot: str) -> re.Match[str] | None:
    return next((match for pattern in _STARTS_FROM if (match := pattern.fullmatch(slot))), None)


def _first_slots(query: Query, count: int) -> Query:
    return replace(query, slots=query.slots[:count])
