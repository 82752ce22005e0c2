"""The slot inventory: which slots exist, for which kinds of entity, and whether they take one value or several.

Source: specification, appendix A. The table itself is `predicates.tsv` beside this file.
"""

from __future__ import annotations

import functools
import os
from typing import Final

from cs_score.base.records import Record

ENTITY_TYPES: Final = frozenset(("per", "gpe", "org", "fac", "loc"))

NODE_TYPES: Final = ENTITY_TYPES | frozenset(
    "string conflict.attack conflict.demonstrate contact.broadcast contact.contact "
    "contact.correspondence contact.meet justice.arrest-jail life.die life.injure manufacture.artifact "
    "movement.transport-artifact movement.transport-person personnel.elect personnel.end-position "
    "personnel.start-position transaction.transaction transaction.transfer-money "
    "transaction.transfer-ownership".split()
)
"""Legal value types, lower case (specification 4.4)."""


class Predicate(Record):
    """One slot: `name` for entities of the types in `domain`, filled by the types in `range`.

    `single` is true for slots that take one value; `inverse` is the name of the inverse slot, or None. `usual` is the
    first of the types in `range` as the inventory has them; empty for predicates of users.
    """

    name: str
    domain: frozenset[str]
    range: frozenset[str]
    single: bool
    inverse: str | None
    usual: str = ""


@functools.cache
def inventory() -> dict[tuple[str, str], Predicate]:
    """All predicates by (domain type, name); read from the data table at first use."""
    table: dict[tuple[str, str], Predicate] = {}
    with open(os.path.join(os.path.dirname(__file__), "predicates.tsv"), encoding="utf-8") as file:
        rows = file.read().splitlines()[1:]
    for line in rows:
        domain, name, quantity, range_, inverse = line.split("\t")
        types = frozenset(domain.split(","))
        range_types = range_.split(",")
        is_single = quantity == "single"
        predicate = Predicate(name, types, frozenset(range_types), is_single, inverse or None, range_types[0])
        for node_type in types:
            table[node_type, name] = predicate
    return table


@functools.lru_cache(maxsize=4096)
def find_predicate(slot: str) -> Predicate | None:
    """The predicate of a slot text such as `per:children`, or None if there is none (specification A.2)."""
    domain, _, name = slot.partition(":")
    return inventory().get((domain, name))
