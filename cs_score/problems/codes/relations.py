"""Problem codes of relations in knowledge bases: predicates and provenance (section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.problems.kind import ENDS, ProblemKind, condition, error, warning

_KEPT: Final = "Counts as an error: nothing is written."
_DROPPED: Final = "Counts as an error: nothing is written. The line is passed over."

KINDS: Final[Mapping[str, ProblemKind]] = {
    "AMBIGUOUS_PREDICATE": error(
        "%s: ambiguous predicate",
        "Several predicates have this name, and nothing tells which is meant: the type of the subject is not "
        "known yet.",
        ":Entity_1 parents :Entity_2 before the line that gives :Entity_1 its type",
        _DROPPED,
        "Put the type lines first, or write the type before the name, as in per:parents.",
        column="PREDICATE",
        offender=0,
    ),
    "DUPLICATE_ASSERTION": warning(
        "The same assertion is made more than once (%s)",
        "The same relation is asserted twice with the same justification; with -multiple ONE with any, with "
        "ONEPERDOC with one in the same document.",
        "two lines :Entity_1 per:children :Entity_2 with the same provenance",
        "Of two equal ones the second is left out, otherwise the less confident one, the later among equals.",
        "Remove one of them.",
    ),
    "ILLEGAL_PREDICATE": error(
        "Illegal predicate: %s",
        "There is no such predicate, or not for subjects of this type.",
        ":Entity_1 per:child :Entity_2",
        _DROPPED,
        "Use a predicate of the inventory, in lower case, or define your own with -predicates.",
        column="PREDICATE",
        offender=0,
    ),
    "ILLEGAL_PREDICATE_TYPE": error(
        "Illegal predicate type: %s",
        "What stands before the colon of a predicate is no node type.",
        "person:children",
        _DROPPED,
        "Write per, org, gpe, fac, loc, string or an event type, or nothing.",
        column="PREDICATE",
        offender=0,
    ),
    "ILLEGAL_REALIS": error(
        "Illegal realis: %s",
        "What follows the last dot of a predicate is no realis; or it is one, and there is no such predicate.",
        "life.die:victim.real, per:childs.actual",
        _KEPT,
        "Write actual, generic or other behind a predicate of events.",
        column="PREDICATE",
        offender=0,
    ),
    "ILLEGAL_USER_PREDICATES": condition(
        "A file of predicates (-predicates) is not called LABEL.predicates.txt, has an illegal line, or changes a "
        "predicate that there is.",
        "per children per kids",
        ENDS,
        "See the message.",
    ),
    "MISSING_FILLER_STRING_PROV": error(
        "Filler string missing in provencance: %s",
        "A relation to a string does not say where the string stands.",
        ":Entity_1 per:title :String_1 with ENG_1:1-20 only",
        _KEPT,
        "Put the place of the string first: ENG_1:3-5;ENG_1:1-20.",
        column="PROVENANCE",
        offender=0,
    ),
    "MISSING_INVERSE": warning(
        "No inverse relation asserted for %s(%s, %s)",
        "A relation lacks its inverse with the same provenance.",
        "per:children without per:parents of the child",
        "The inverse is added.",
        "None needed.",
    ),
    "MULTIPLE_FILLS_ENTITY": warning(
        "Node %s has multiple %s fills, but should be single-valued",
        "A predicate that takes one value has several. This is ignored unless -ignore is given.",
        "two values of per:age",
        "The less confident one is left out, the later among equals.",
        "Keep one value.",
        offender=1,
    ),
    "OFF_TASK_SLOT": warning(
        "%s slot is not valid for task %s",
        "The task that -task names does not know this predicate.",
        "-task CSED and per:children",
        "The line is left out.",
        "None needed.",
        column="PREDICATE",
        offender=0,
    ),
    "PREDICATE_ALIAS": warning(
        "Use of %s predicate; %s replaced with %s",
        "A predicate has an old name or is misspelt in a usual way.",
        "per:spouses",
        "The right name is used.",
        "Write the name that replaces it.",
        column="PREDICATE",
        offender=1,
    ),
    "STRING_USED_FOR_ENTITY": error(
        "Expecting a node, but got string %s",
        "A text in quotes stands where a node must be.",
        ':Entity_1 per:title "boss"',
        _DROPPED,
        "Make a node :String_1 with the text as its mention.",
        offender=0,
    ),
    "SUBJECT_PREDICATE_MISMATCH": error(
        "Type of subject (%s) does not match type of predicate (%s)",
        "The type before the colon of a predicate is not that of the subject.",
        ":Entity_1 type PER and :Entity_1 org:website :String_1",
        _DROPPED,
        "Mend the one or the other.",
        column="PREDICATE",
        offender=1,
    ),
    "TOO_MANY_PROVENANCES_IN_LIST": error(
        "Unexpected number of provenances in the list: %s. provided=(%d) expected=(%d)",
        "A provenance list has not as many parts as it must: one, one more before it for a string, two more "
        "behind it for an event.",
        "ENG_1:1-20 for a relation with an event",
        _KEPT,
        "Write filler string; predicate justification; base filler; additional justification, as far as needed, "
        "NIL for none.",
        column="PROVENANCE",
        offender=0,
    ),
    "TOO_MANY_TOTAL_CHARS": error(
        "All provenance strings contain a total of more than %d characters",
        "The spans of an additional justification have more than 800 characters together.",
        "five spans of 200 characters",
        _KEPT,
        "Justify with less.",
    ),
    "UNATTESTED_RELATION_ENTITY": error(
        "Relation %s uses node %s, but that node has no mentions in provenance %s",
        "A relation uses a node that is not mentioned in the document of its provenance.",
        ":Entity_1 per:children :Entity_2 in ENG_1, where :Entity_2 is mentioned in ENG_2 only",
        _KEPT,
        "Assert the mention, or justify from another document.",
        column="PROVENANCE",
        offender=2,
    ),
    "UNEXPECTED_BASE_FILLER": error(
        "%s is not an allowed value for BASE_FILLER provenance for event assertions",
        "A relation with an event has no base filler.",
        "ENG_1:1-20;NIL;NIL",
        _KEPT,
        "Give the span of the base filler as the second part behind the filler string.",
        column="PROVENANCE",
    ),
    "UNEXPECTED_PROVENANCE": error(
        "Only PREDICATE_JUSTIFICATION is expected in the provenance: %s",
        "A mention has no span, or other parts than the one that says where it stands.",
        "NIL, or ENG_1:3-5;ENG_1:1-20 for a mention",
        _KEPT,
        "Write one span.",
        column="PROVENANCE",
        offender=0,
    ),
    "UNEXPECTED_REALIS": error(
        "Unexpected value of realis (expected %s, got %s)",
        "A predicate of events has no realis, or one that is not of events has one.",
        "life.die:victim without .actual, per:children.actual",
        _KEPT,
        "Write actual, generic or other behind predicates with events, and nothing behind others.",
        column="PREDICATE",
        offender=1,
    ),
}
