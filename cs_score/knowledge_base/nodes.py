"""Nodes: their names, and what the lines of a knowledge base say of their types (specification 3.6, 4.6, 6.1)."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.coldstart.queries.predicates import ENTITY_TYPES

if TYPE_CHECKING:
    from cs_score.knowledge_base.assertions import Assertion

_NAME: Final = re.compile(r":?(?:entity|event|string)[^-]+", re.IGNORECASE | re.DOTALL)


# How a line uses a node, the use that tells most first.
TYPEDEF: Final = 0
SUBJECT: Final = 1
OBJECT: Final = 2

UseLines: TypeAlias = list[float]
"""The first line of each way to use something, endless where there is none."""


def no_uses() -> UseLines:
    """Of what is not used yet."""
    return [math.inf, math.inf, math.inf]


def best_line(uses: UseLines) -> int:
    """The first line of the use that tells most."""
    return int(next(line for line in uses if line < math.inf))


class Node:
    """An entity, a string or an event.

    `type` is its type where exactly one is known. `uses` are the lines that name it, `types` those that give it a type,
    `possible` those that leave a choice of several. `assertions` are the ones that it is the subject of, in the order
    of recording.
    """

    __slots__ = ("assertions", "is_event", "name", "possible", "type", "types", "uses")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_event = name.startswith(":Event")
        self.type: str | None = None
        self.uses = no_uses()
        self.types: dict[str, UseLines] = {}
        self.possible: dict[frozenset[str], list[int]] = {}
        self.assertions: list[Assertion] = []

    def add_type(self, node_type: str) -> UseLines:
        """Give the node a type that it does not have yet."""
        uses = self.types[node_type] = no_uses()
        self.type = node_type if len(self.types) == 1 else None
        return uses

    @property
    def known_type(self) -> str:
        """Its type in reports and statistics."""
        return self.type or ("multiple" if self.types else "unknown")


def is_node_name(text: str) -> bool:
    """Whether a text is the name of a node, with or without its colon."""
    return _NAME.fullmatch(text) is not None


def suits(name: str, node_type: str) -> bool:
    """Whether a node of this name may have this type."""
    if node_type == "string":
        return name.startswith(":String")
    return name.startswith(":Entity" if node_type in ENTITY_TYPES else ":Event")
