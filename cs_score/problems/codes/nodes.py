"""Problem codes of knowledge bases, their nodes and mentions (specification of knowledge bases, section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.problems.kind import ENDS, ProblemKind, condition, error, warning

_KEPT: Final = "Counts as an error: nothing is written."
_DROPPED: Final = "Counts as an error: nothing is written. The line is passed over."

KINDS: Final[Mapping[str, ProblemKind]] = {
    "COLON_OMITTED": warning(
        "Initial colon omitted from name of node %s",
        "The name of a node lacks its colon.",
        "Entity_1",
        "The colon is added.",
        "Write :Entity_1.",
        offender=0,
    ),
    "ILLEGAL_LINK_SPECIFICATION": warning(
        "Illegal link specification: %s",
        "A link has no colon between the name of the other knowledge base and the id there.",
        ":Entity_1 link E7",
        "The line is left out.",
        "Write NAME:ID.",
        column="OBJECT",
        offender=0,
    ),
    "ILLEGAL_NODE_NAME": error(
        "Illegal node name: %s. (Accepted: :Entity..., :Event..., :String...; A dash '-' is not acceptable as part of "
        "the name)",
        "The name of a node does not begin with Entity, Event or String, ends there, or has a dash.",
        ":Person_1, :Entity, :Entity-1",
        _DROPPED,
        "Write a name such as :Entity_1.",
        offender=0,
    ),
    "ILLEGAL_NODE_TYPE": error(
        "Illegal node type: %s",
        "A type line gives a type that there is not.",
        ":Entity_1 type PERSON",
        _KEPT,
        "Use PER, ORG, GPE, FAC, LOC, STRING or an event type.",
        column="OBJECT",
        offender=0,
    ),
    "INCOMPATIBLE_NODE_NAME": error(
        "Node name %s is not compatible with type %s",
        "The name of a node and its type contradict each other, by a type line or by a predicate that the node "
        "stands beside.",
        ":Entity_1 type STRING, or :Entity_2 as the object of per:title",
        f"{_KEPT} The node does not get the type.",
        "Name entities :Entity..., strings :String..., events :Event..., in these letters.",
        offender=0,
    ),
    "KB_WITH_ERRORS": condition(
        "A knowledge base that is to be scored has errors.",
        "a node without type",
        ENDS,
        "Mend the errors that are listed.",
    ),
    "MISSING_CANONICAL": warning(
        "Entity %s has no canonical mention in document %s",
        "A node has one mention in a document, and no canonical one.",
        ":Entity_1 mention without canonical_mention in ENG_1",
        "The mention is taken for the canonical one.",
        "None needed.",
    ),
    "MISSING_MENTION_E": error(
        "%s: '%s' is not a mention of node %s",
        "A provenance must be a mention of a node, and is none: that of a string filler, of a sentiment's target "
        "or of a normalized mention.",
        ":Entity_1 per:title :String_1 with ENG_1:3-5 first, where :String_1 is not mentioned",
        _KEPT,
        "Assert the mention, or mend the offsets.",
        column="PROVENANCE",
        offender=1,
    ),
    "MISSING_RUNID": error(
        "The first line of the file does not contain a legal runid",
        "The first line is no run id: it is empty, begins with a colon or has white space inside.",
        ":Entity_1 type PER as the first line",
        f"{_KEPT} Line numbers of later problems are one too large.",
        "Put a run id of one word in the first line.",
    ),
    "MISSING_TYPEDEF": error(
        "No type asserted for Node %s",
        "A node has a type by its predicates only.",
        "no line :Entity_1 type PER",
        _KEPT,
        "Add the type line.",
        column="SUBJECT",
        offender=0,
    ),
    "MULTIPLE_CANONICAL": error(
        "More than one canonical mention for Node %s in document %s",
        "A node has several canonical mentions in one document.",
        "two lines :Entity_1 canonical_mention in ENG_1",
        _KEPT,
        "Keep one.",
    ),
    "MULTIPLE_MENTIONS_NO_CANONICAL": error(
        "Node %s has more than one named/nominal mention in document %s but has no canonical mention",
        "A node has several mentions in a document, and none is the canonical one.",
        "two lines :Entity_1 mention in ENG_1",
        _KEPT,
        "Add the canonical mention.",
    ),
    "MULTIPLE_STRINGS_FOR_PROV": error(
        "Multiple strings provided for provenance: %s (%s)",
        "Mentions at one place have different texts.",
        '"Ann" and "Anne" both at ENG_1:3-5',
        _KEPT,
        "Write the text that stands there.",
        column="OBJECT",
        offender=0,
    ),
    "MULTITYPED_ENTITY": error(
        "Node %s has more than one type: %s",
        "A node has several types, or stands beside a predicate that does not suit its type.",
        ":Entity_1 type PER, and :Entity_1 org:website :String_1",
        _KEPT,
        "Mend the type or the predicate.",
    ),
    "NOT_A_VALIDATED_KB": condition(
        "A knowledge base that queries are asked of is no validated one.",
        "a line with three columns, a provenance ENG_1:1",
        ENDS,
        "Validate it first (cs-score validate-kb -output tac).",
    ),
    "NO_MENTIONS": warning(
        "Node %s has no mentions",
        "A node is mentioned nowhere.",
        "a type line only",
        "The node is kept.",
        "Assert a mention, or remove the node.",
        offender=0,
    ),
    "UNASSERTED_MENTION": warning(
        "Failed to assert that %s in document %s is also a mention",
        "A canonical mention is not asserted as a mention.",
        ":Entity_1 canonical_mention without mention at the same place",
        "The mention is added.",
        "None needed.",
    ),
    "UNKNOWN_TYPE": error(
        "Cannot infer type for Node %s",
        "Nothing tells the type of a node.",
        ":Entity_1 as the subject of mentions only",
        _KEPT,
        "Add a line :Entity_1 type PER.",
        offender=0,
    ),
    "UNQUOTED_STRING": warning(
        "String %s not surrounded by double quotes",
        "The text of a mention is not in double quotes, or has a quote or backslash inside without a backslash "
        "before it.",
        ":Entity_1 mention Ann",
        "Quotes are put around it, and backslashes where needed.",
        'Write "Ann".',
        column="OBJECT",
        offender=0,
    ),
}
