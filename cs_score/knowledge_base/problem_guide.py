"""What the problem codes of knowledge bases mean; `cs_score.problems.codes` joins them to the others."""

from __future__ import annotations

from typing import Final

from cs_score.problems.explanation import Explanation

_KEPT: Final = "Counts as an error: nothing is written."
_DROPPED: Final = "Counts as an error: nothing is written. The line is passed over."
_ENDS: Final = "Fatal: nothing is written."

KB_EXPLANATIONS: Final[dict[str, Explanation]] = {
    "AMBIGUOUS_PREDICATE": Explanation(
        "Several predicates have this name, and nothing tells which is meant: the type of the subject is not "
        "known yet.",
        ":Entity_1 parents :Entity_2 before the line that gives :Entity_1 its type",
        _DROPPED,
        "Put the type lines first, or write the type before the name, as in per:parents.",
        "PREDICATE",
        offender=0,
    ),
    "COLON_OMITTED": Explanation(
        "The name of a node lacks its colon.",
        "Entity_1",
        "The colon is added.",
        "Write :Entity_1.",
        offender=0,
    ),
    "DUPLICATE_ASSERTION": Explanation(
        "The same relation is asserted twice with the same justification; with -multiple ONE with any, with "
        "ONEPERDOC with one in the same document.",
        "two lines :Entity_1 per:children :Entity_2 with the same provenance",
        "Of two equal ones the second is left out, otherwise the less confident one, the later among equals.",
        "Remove one of them.",
    ),
    "ILLEGAL_LINK_SPECIFICATION": Explanation(
        "A link has no colon between the name of the other knowledge base and the id there.",
        ":Entity_1 link E7",
        "The line is left out.",
        "Write NAME:ID.",
        "OBJECT",
        offender=0,
    ),
    "ILLEGAL_NODE_NAME": Explanation(
        "The name of a node does not begin with Entity, Event or String, ends there, or has a dash.",
        ":Person_1, :Entity, :Entity-1",
        _DROPPED,
        "Write a name such as :Entity_1.",
        offender=0,
    ),
    "ILLEGAL_NODE_TYPE": Explanation(
        "A type line gives a type that there is not.",
        ":Entity_1 type PERSON",
        _KEPT,
        "Use PER, ORG, GPE, FAC, LOC, STRING or an event type.",
        "OBJECT",
        offender=0,
    ),
    "ILLEGAL_PREDICATE": Explanation(
        "There is no such predicate, or not for subjects of this type.",
        ":Entity_1 per:child :Entity_2",
        _DROPPED,
        "Use a predicate of the inventory, in lower case, or define your own with -predicates.",
        "PREDICATE",
        offender=0,
    ),
    "ILLEGAL_PREDICATE_TYPE": Explanation(
        "What stands before the colon of a predicate is no node type.",
        "person:children",
        _DROPPED,
        "Write per, org, gpe, fac, loc, string or an event type, or nothing.",
        "PREDICATE",
        offender=0,
    ),
    "ILLEGAL_REALIS": Explanation(
        "What follows the last dot of a predicate is no realis; or it is one, and there is no such predicate.",
        "life.die:victim.real, per:childs.actual",
        _KEPT,
        "Write actual, generic or other behind a predicate of events.",
        "PREDICATE",
        offender=0,
    ),
    "INCOMPATIBLE_NODE_NAME": Explanation(
        "The name of a node and its type contradict each other, by a type line or by a predicate that the node "
        "stands beside.",
        ":Entity_1 type STRING, or :Entity_2 as the object of per:title",
        f"{_KEPT} The node does not get the type.",
        "Name entities :Entity..., strings :String..., events :Event..., in these letters.",
        offender=0,
    ),
    "MISSING_CANONICAL": Explanation(
        "A node has one mention in a document, and no canonical one.",
        ":Entity_1 mention without canonical_mention in ENG_1",
        "The mention is taken for the canonical one.",
        "None needed.",
    ),
    "MISSING_FILLER_STRING_PROV": Explanation(
        "A relation to a string does not say where the string stands.",
        ":Entity_1 per:title :String_1 with ENG_1:1-20 only",
        _KEPT,
        "Put the place of the string first: ENG_1:3-5;ENG_1:1-20.",
        "PROVENANCE",
        offender=0,
    ),
    "MISSING_INVERSE": Explanation(
        "A relation lacks its inverse with the same provenance.",
        "per:children without per:parents of the child",
        "The inverse is added.",
        "None needed.",
    ),
    "MISSING_MENTION_E": Explanation(
        "A provenance must be a mention of a node, and is none: that of a string filler, of a sentiment's target "
        "or of a normalized mention.",
        ":Entity_1 per:title :String_1 with ENG_1:3-5 first, where :String_1 is not mentioned",
        _KEPT,
        "Assert the mention, or mend the offsets.",
        "PROVENANCE",
        offender=1,
    ),
    "MISSING_RUNID": Explanation(
        "The first line is no run id: it is empty, begins with a colon or has white space inside.",
        ":Entity_1 type PER as the first line",
        f"{_KEPT} Line numbers of later problems are one too large.",
        "Put a run id of one word in the first line.",
    ),
    "MISSING_TYPEDEF": Explanation(
        "A node has a type by its predicates only.",
        "no line :Entity_1 type PER",
        _KEPT,
        "Add the type line.",
        "SUBJECT",
        offender=0,
    ),
    "MULTIPLE_CANONICAL": Explanation(
        "A node has several canonical mentions in one document.",
        "two lines :Entity_1 canonical_mention in ENG_1",
        _KEPT,
        "Keep one.",
    ),
    "MULTIPLE_FILLS_ENTITY": Explanation(
        "A predicate that takes one value has several. This is ignored unless -ignore is given.",
        "two values of per:age",
        "The less confident one is left out, the later among equals.",
        "Keep one value.",
        offender=1,
    ),
    "MULTIPLE_MENTIONS_NO_CANONICAL": Explanation(
        "A node has several mentions in a document, and none is the canonical one.",
        "two lines :Entity_1 mention in ENG_1",
        _KEPT,
        "Add the canonical mention.",
    ),
    "MULTIPLE_STRINGS_FOR_PROV": Explanation(
        "Mentions at one place have different texts.",
        '"Ann" and "Anne" both at ENG_1:3-5',
        _KEPT,
        "Write the text that stands there.",
        "OBJECT",
        offender=0,
    ),
    "MULTITYPED_ENTITY": Explanation(
        "A node has several types, or stands beside a predicate that does not suit its type.",
        ":Entity_1 type PER, and :Entity_1 org:website :String_1",
        _KEPT,
        "Mend the type or the predicate.",
    ),
    "NO_MENTIONS": Explanation(
        "A node is mentioned nowhere.",
        "a type line only",
        "The node is kept.",
        "Assert a mention, or remove the node.",
        offender=0,
    ),
    "OFF_TASK_SLOT": Explanation(
        "The task that -task names does not know this predicate.",
        "-task CSED and per:children",
        "The line is left out.",
        "None needed.",
        "PREDICATE",
        offender=0,
    ),
    "PREDICATE_ALIAS": Explanation(
        "A predicate has an old name or is misspelt in a usual way.",
        "per:spouses",
        "The right name is used.",
        "Write the name that replaces it.",
        "PREDICATE",
        offender=1,
    ),
    "STRING_USED_FOR_ENTITY": Explanation(
        "A text in quotes stands where a node must be.",
        ':Entity_1 per:title "boss"',
        _DROPPED,
        "Make a node :String_1 with the text as its mention.",
        offender=0,
    ),
    "SUBJECT_PREDICATE_MISMATCH": Explanation(
        "The type before the colon of a predicate is not that of the subject.",
        ":Entity_1 type PER and :Entity_1 org:website :String_1",
        _DROPPED,
        "Mend the one or the other.",
        "PREDICATE",
        offender=1,
    ),
    "TOO_MANY_PROVENANCES_IN_LIST": Explanation(
        "A provenance list has not as many parts as it must: one, one more before it for a string, two more "
        "behind it for an event.",
        "ENG_1:1-20 for a relation with an event",
        _KEPT,
        "Write filler string; predicate justification; base filler; additional justification, as far as needed, "
        "NIL for none.",
        "PROVENANCE",
        offender=0,
    ),
    "TOO_MANY_TOTAL_CHARS": Explanation(
        "The spans of an additional justification have more than 800 characters together.",
        "five spans of 200 characters",
        _KEPT,
        "Justify with less.",
    ),
    "UNASSERTED_MENTION": Explanation(
        "A canonical mention is not asserted as a mention.",
        ":Entity_1 canonical_mention without mention at the same place",
        "The mention is added.",
        "None needed.",
    ),
    "UNATTESTED_RELATION_ENTITY": Explanation(
        "A relation uses a node that is not mentioned in the document of its provenance.",
        ":Entity_1 per:children :Entity_2 in ENG_1, where :Entity_2 is mentioned in ENG_2 only",
        _KEPT,
        "Assert the mention, or justify from another document.",
        "PROVENANCE",
        offender=2,
    ),
    "UNEXPECTED_BASE_FILLER": Explanation(
        "A relation with an event has no base filler.",
        "ENG_1:1-20;NIL;NIL",
        _KEPT,
        "Give the span of the base filler as the second part behind the filler string.",
        "PROVENANCE",
    ),
    "UNEXPECTED_PROVENANCE": Explanation(
        "A mention has no span, or other parts than the one that says where it stands.",
        "NIL, or ENG_1:3-5;ENG_1:1-20 for a mention",
        _KEPT,
        "Write one span.",
        "PROVENANCE",
        offender=0,
    ),
    "UNEXPECTED_REALIS": Explanation(
        "A predicate of events has no realis, or one that is not of events has one.",
        "life.die:victim without .actual, per:children.actual",
        _KEPT,
        "Write actual, generic or other behind predicates with events, and nothing behind others.",
        "PREDICATE",
        offender=1,
    ),
    "UNKNOWN_TYPE": Explanation(
        "Nothing tells the type of a node.",
        ":Entity_1 as the subject of mentions only",
        _KEPT,
        "Add a line :Entity_1 type PER.",
        offender=0,
    ),
    "UNQUOTED_STRING": Explanation(
        "The text of a mention is not in double quotes, or has a quote or backslash inside without a backslash "
        "before it.",
        ":Entity_1 mention Ann",
        "Quotes are put around it, and backslashes where needed.",
        'Write "Ann".',
        "OBJECT",
        offender=0,
    ),
}
"""The codes of `cs_score.problems.log.KINDS` that only knowledge bases have."""

KB_FATAL_CONDITIONS: Final[dict[str, Explanation]] = {
    "ILLEGAL_USER_PREDICATES": Explanation(
        "A file of predicates (-predicates) is not called LABEL.predicates.txt, has an illegal line, or changes a "
        "predicate that there is.",
        "per children per kids",
        _ENDS,
        "See the message.",
    ),
    "KB_WITH_ERRORS": Explanation(
        "A knowledge base that is to be scored has errors.",
        "a node without type",
        _ENDS,
        "Mend the errors that are listed.",
    ),
    "NOT_A_VALIDATED_KB": Explanation(
        "A knowledge base that queries are asked of is no validated one.",
        "a line with three columns, a provenance ENG_1:1",
        _ENDS,
        "Validate it first (cs-score validate-kb -output tac).",
    ),
}
"""Conditions of knowledge bases that end a program and are no code of the reference."""
