"""Assertions, and the knowledge base that they make up."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from cs_score.knowledge_base.nodes import Node
from cs_score.knowledge_base.predicates import Verb
from cs_score.knowledge_base.provenance_lists import ProvenanceList

NAMED: Final = "mention"
NOMINAL: Final = "nominal_mention"
PRONOMINAL: Final = "pronominal_mention"
CANONICAL: Final = "canonical_mention"
NORMALIZED: Final = "normalized_mention"
TYPE: Final = "type"
LINK: Final = "link"

MENTIONS: Final = frozenset((NAMED, NOMINAL))
"""The mentions that say that a node stands at a place."""


# Mentions and canonical mentions are one class of predicates, and those two only.
_ORDER: Final = attrgetter("verb.rank", "verb.name", "provenance.docid", "provenance.start")


@dataclass(slots=True, eq=False)
class Assertion:
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


@dataclass(slots=True)
class KnowledgeBase:
    """What a knowledge base holds.

    `name` is the file as named by the user, `first_line` its line with the run id, `assertions` what was recorded in
    order, `rejected` how many lines were not, by reason.
    """

    name: str
    run_id: str = ""
    first_line: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    rejected: dict[str, int] = field(default_factory=dict)

    def by_node(self) -> Iterator[list[Assertion]]:
        """The assertions of each node in the order of a validated knowledge base (specification 10)."""
        for name in sorted(self.nodes):
            yield sorted(self.nodes[name].assertions, key=_ORDER)

    def in_order(self) -> Iterator[Assertion]:
        """All assertions in that order."""
        return itertools.chain.from_iterable(self.by_node())
