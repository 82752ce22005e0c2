"""Problem codes of query files, and of asking for queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.problems.kind import ENDS, KEPT, ProblemKind, condition, error, warning

KINDS: Final[Mapping[str, ProblemKind]] = {
    "DUPLICATE_QUERY": warning(
        "Queries %s and %s share entry point(s)",
        "Two queries have an entry point with the same document, offsets and slots.",
        "<docid>ENG_1</docid><beg>5</beg><end>9</end> with per:children in two queries",
        "With -dups delete the later query (by id) is dropped, with -dups ignore it is kept.",
        "Remove one of the entry points.",
        offender=1,
    ),
    "DUPLICATE_QUERY_FIELD": warning(
        "Duplicate <%s> tag",
        "A query has a tag twice that it may have once. <slot0> also counts as <slot>.",
        "<enttype>per</enttype><enttype>org</enttype>",
        "The first value is used.",
        "Remove the second tag.",
        offender=0,
    ),
    "FAILED_LANG_INFERENCE": warning(
        "Unable to infer language from DOCID %s. Using %s by default.",
        "The document id does not tell its language: it begins neither with CMN nor with SPA, and holds no ENG_ at the "
        "beginning or after an underscore.",
        "NW_0001",
        "English is assumed. It matters for the names of expanded queries.",
        "None needed where English is right.",
        offender=0,
    ),
    "ILLEGAL_OFFSET": error(
        "%s is not a valid offset",
        "An offset in a query is not a number.",
        "<beg>five</beg>",
        f"{KEPT} The text is used for the query's id all the same.",
        "Write the offset in digits.",
        offender=0,
    ),
    "MALFORMED_QUERY": error(
        "Malformed query %s",
        'A query does not begin with <query id="ID"> and nothing else inside that tag.',
        "<query id='CSX_0001'>",
        f"{KEPT} The query is dropped.",
        'Write <query id="ID"> with double quotes and no other attribute.',
        offender=0,
    ),
    "MISMATCHED_HOP_SUBTYPES": warning(
        "In %s, range of %s does not match domain of %s",
        "A slot asks for one kind of place and the next slot starts from another: city, state or province, country.",
        "per:cities_of_residence, then gpe:residents_of_country",
        "As -subtypes says: none, repair the second slot, delete it, or delete the query.",
        "Use the slot for the same kind of place.",
        offender=2,
    ),
    "MISMATCHED_HOP_TYPES": warning(
        "In %s, type of %s does not match domain of %s",
        "A slot does not apply to what the entity type or the slot before it yields.",
        "per:children, then org:website",
        "As -types says: none, delete the slot and those after it, or delete the query.",
        "Choose a slot whose domain fits.",
        offender=2,
    ),
    "MISMATCHED_TAGS": warning(
        "<%s> tag closed with </%s>",
        "A tag in a query is closed by another tag.",
        "<docid>ENG_1</doc>",
        "The opening tag decides.",
        "Close it with the same name.",
        offender=0,
    ),
    "MISSING_QUERY_FIELD": condition(
        "A query that is to be written lacks a field that it must have.",
        "an entry point without <docid>",
        ENDS,
        "Add NAME, DOCID, BEG and END to each entry point, ENTTYPE and SLOT0 to each query.",
    ),
    "NO_QUERIES_LOADED": warning(
        "No queries found",
        "The query files hold no query.",
        "an empty file, or queries without slots",
        "Every line of a run is then fatal.",
        "Check whether the right query file was given.",
    ),
    "POSSIBLE_DUPLICATE_QUERY": warning(
        "Queries %s and %s are possibly duplicates, based on entrypoint %s",
        "Two queries have an entry point with the same name and the same slots.",
        "<name>Ann</name> with per:children in two queries",
        "Both are kept.",
        "See whether they mean the same entity.",
        offender=2,
    ),
    "UNKNOWN_QUERY_FIELD": warning(
        "<%s> is not a recognized query field",
        "A tag in a query is none of the known ones.",
        "<comment>x</comment>",
        "It is passed over.",
        "Remove it.",
        offender=0,
    ),
    "UNKNOWN_QUERY_ID_WARNING": warning(
        "Unknown query: %s",
        "-queries names a query that is not there.",
        "-queries CSX_0002 where the query file has CSX_0001 only",
        "The name is passed over.",
        "Check the query file and -expand.",
        offender=0,
    ),
    "UNKNOWN_SLOT_NAME": error(
        "Unknown slot name: %s",
        "A slot is not in the inventory, or not for this entity type.",
        "per:child, org:children, PER:children",
        KEPT,
        "Use a slot of the inventory, in lower case, such as per:children.",
        offender=0,
    ),
}
