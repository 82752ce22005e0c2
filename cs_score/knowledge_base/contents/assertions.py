"""Nodes and assertions, and the knowledge base that they make up."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Final

from cs_score.base.records import Struct, field
from cs_score.knowledge_base.contents.predicates import TYPEDEF, Use, Verb
from cs_score.knowledge_base.contents.provenance_lists import ProvenanceList

NAMED: Final = "mention"
NOMINAL: Final = "nominal_mention"
PRONOMINAL: Final = "pronominal_mention"
CANONICAL: Final = "canonical_mention"
NORMALIZED: Final = "normalized_mention"
TYPE: Final = "type"
LINK: Final = "link"

MENTIONS: Final = frozenset((NAMED, NOMINAL))
"""The mentions that say that a node stands at a place."""

_ORDER: Final = attrgetter("verb.order", "provenance.docid", "provenance.start")


class Node:
    """An entity, a string or an event.

    `types` are the types that lines give it, `type` the one where there is exactly one. `uses` are the ways in which
    lines use it, each with the first line that does. `mentions` and `others` are the assertions that it is the subject
    of, in the order of recording; `documents` those where it is mentioned by name or description.
    """

    __slots__ = ("documents", "is_event", "mentions", "name", "others", "type", "types", "uses")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_event = name.startswith(":Event")
        self.type: str | None = None
        self.types: tuple[str, ...] = ()
        self.uses: dict[Use, int] = {}
        self.mentions: list[Assertion] = []
        self.others: list[Assertion] = []
        self.documents: set[str] = set()

    def add_type(self, node_type: str) -> None:
        """Give the node a type, which it may have already."""
        if node_type not in self.types:
            self.types += (node_type,)
            self.type = node_type if len(self.types) == 1 else None

    def add_mention(self, mention: Assertion) -> None:
        """Add a mention of any kind."""
        self.mentions.append(mention)
        if mention.verb.name in MENTIONS:
            self.documents.add(mention.provenance.docid)

    @property
    def known_type(self) -> str:
        """Its type in reports and statistics."""
        return self.type or ("multiple" if self.types else "unknown")

    @property
    def best_line(self) -> int:
        """The first line of the use that tells most (specification 6.1)."""
        return _best_line(self.uses.items())

    def definition(self, node_type: str) -> int:
        """The line that gives the node a type, of several the one that tells most."""
        return _best_line((use, line) for use, line in self.uses.items() if use.only == node_type)

    def declares(self, node_type: str) -> bool:
        """Whether a line says outright that the node has a type."""
        return any(use.role == TYPEDEF and use.only == node_type for use in self.uses)


def _best_line(uses: Iterable[tuple[Use, int]]) -> int:
    return min((use.role, line) for use, line in uses)[1]


class Assertion(Struct, eq=False):
    """A line of a knowledge base, or what was inferred from one.

    `object` is the text that is written, `node` the node where the object is one. `line` is the line that it comes
    from. An omitted assertion takes part in all checks and is not written.
    """

    subject: Node
    verb: Verb
    realis: str | None
    object: str
    node: Node | None
    provenance: ProvenanceList
    confidence: str
    line: int
    comment: str = ""
    is_inferred: bool = False
    is_omitted: bool = False

    @property
    def name(self) -> str:
        """Name of the predicate."""
        return self.verb.name

    @property
    def text(self) -> str:
        """The object without its outer quotes."""
        return self.object[1:-1] if self.verb.takes_text else self.object

    def __str__(self) -> str:
        return f"{self.verb.name}({self.subject.name}, {self.object})"


class KnowledgeBase(Struct):
    """What a knowledge base holds.

    `name` is the file as named by the user, `first_line` its line with the run id, `assertions` what was recorded in
    order, `rejected` how many lines were not, by reason; `unrecorded` is what those say of nodes all the same.
    """

    name: str
    run_id: str = ""
    first_line: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    rejected: dict[str, int] = field(default_factory=dict)
    unrecorded: list[tuple[Node, Use, int]] = field(default_factory=list)

    def by_node(self) -> Iterator[list[Assertion]]:
        """The assertions of each node in the order of a validated knowledge base (specification 10)."""
        for name in sorted(self.nodes):
            node = self.nodes[name]
            yield sorted(itertools.chain(node.others, node.mentions), key=_ORDER)

    def in_order(self) -> Iterator[Assertion]:
        """All assertions in that order."""
        return itertools.chain.from_iterable(self.by_node())
