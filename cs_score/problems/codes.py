"""What each problem code means, what it looks like, what cs-score does about it, and how to mend it.

One table for `cs-score problems`, for the reports of `--problems`, and for the documentation; a test holds it complete.
"""

from __future__ import annotations

from typing import Final

from cs_score.knowledge_base.problem_guide import KB_EXPLANATIONS, KB_FATAL_CONDITIONS
from cs_score.problems.explanation import Explanation
from cs_score.problems.log import KINDS, Severity

_LEFT_OUT: Final = "The line is left out of a validated run."
_KEPT: Final = "Counts as an error: nothing is written by the validators, and the scorer ends with status 255."
_QUERY_KEPT: Final = "The query is used as it is."

EXPLANATIONS: Final[dict[str, Explanation]] = {
    "DISCARDED_DEPENDENT": Explanation(
        "A second-hop line answers a query about an answer whose lines were all discarded, or were never accepted.",
        "-justifications 1:1, the only line with the answer Bo is the second of its node, and a line asks about Bo",
        _LEFT_OUT,
        "Keep a line of the parent answer within the limits, or drop the lines below it.",
        offender=0,
    ),
    "DISCARDED_DEPENDENT_DEPTH": Explanation(
        "A second-hop line answers a query about an answer whose lines all fell to the depth limit.",
        "-depth B:1, and the answer that a line asks about belongs to the second best node",
        _LEFT_OUT,
        "None needed; take a greater depth to keep it.",
        offender=0,
    ),
    "DISCARDED_ENTRY": Explanation(
        "A node has more justifications than allowed (-justifications A:B: A for each document, B in all), or it is "
        "one node too many for a slot that takes one value. The most confident lines stay, the earliest among equals.",
        "two lines with node :E1 whose provenances lie in the same document",
        _LEFT_OUT,
        "Submit no more lines for a node than the task allows, and one node for a single-valued slot.",
        offender=0,
    ),
    "DISCARDED_ENTRY_DEPTH": Explanation(
        "The node of this line is not among those that -depth takes.",
        "-depth B:1, and another node of the same query is more confident",
        _LEFT_OUT,
        "None needed; take a greater depth to keep it.",
        offender=0,
    ),
    "DUPLICATE_LINE": Explanation(
        "The same line stands in the file more than once.",
        "two equal lines",
        "All copies but the first are left out.",
        "Remove the copies.",
        offender=0,
    ),
    "DUPLICATE_QUERY": Explanation(
        "Two queries have an entry point with the same document, offsets and slots.",
        "<docid>ENG_1</docid><beg>5</beg><end>9</end> with per:children in two queries",
        "With -dups delete the later query (by id) is dropped, with -dups ignore it is kept.",
        "Remove one of the entry points.",
        offender=1,
    ),
    "DUPLICATE_QUERY_FIELD": Explanation(
        "A query has a tag twice that it may have once. <slot0> also counts as <slot>.",
        "<enttype>per</enttype><enttype>org</enttype>",
        "The first value is used.",
        "Remove the second tag.",
        offender=0,
    ),
    "EMPTY_FIELD": Explanation(
        "A column holds nothing but white space.",
        "two tabs in a row",
        "The line is left out; lines that ask about its answer are left out with it.",
        "Fill the column.",
        offender=0,
    ),
    "EMPTY_FILE": Explanation(
        "A run or assessment file has no bytes.",
        "a file of size 0",
        "It is passed over.",
        "Check whether the right file was given, and whether it was written to its end.",
        offender=0,
    ),
    "FAILED_LANG_INFERENCE": Explanation(
        "The document id does not tell its language: it begins neither with CMN nor with SPA, and holds no ENG_ at the "
        "beginning or after an underscore.",
        "NW_0001",
        "English is assumed. It matters for the names of expanded queries.",
        "None needed where English is right.",
        offender=0,
    ),
    "ILLEGAL_CONFIDENCE_VALUE": Explanation(
        "A confidence is not a decimal number above 0 and up to 1.0.",
        "0, 0.0, 1.1, -0.5, 1e-05, an empty column",
        f"{_KEPT} The scorer goes on with 1.0 for the value.",
        "Write a value such as 0.75, with digits after the point and no exponent.",
        "CONFIDENCE",
        0,
    ),
    "ILLEGAL_DOCID": Explanation(
        "A provenance names a document that is not in the document list (-docs).",
        "ENG_99:1-20 where the list has no ENG_99",
        "Fatal: nothing is written.",
        "Use the documents of the task, with their ids as in the list.",
        offender=0,
    ),
    "ILLEGAL_OFFSET": Explanation(
        "An offset in a query is not a number.",
        "<beg>five</beg>",
        f"{_KEPT} The text is used for the query's id all the same.",
        "Write the offset in digits.",
        offender=0,
    ),
    "ILLEGAL_OFFSET_IN_DOC": Explanation(
        "An offset lies beyond the length that the document list gives for the document.",
        "ENG_1:1-20 where the list says that ENG_1 has 4 characters",
        f"{_KEPT} The span is dropped.",
        "Count offsets in characters of the source file, from 0, both ends inclusive.",
        offender=0,
    ),
    "ILLEGAL_OFFSET_PAIR": Explanation(
        "A span ends before it starts.",
        "ENG_1:20-1",
        f"{_KEPT} The span is dropped.",
        "Write start-end, both inclusive.",
    ),
    "ILLEGAL_OFFSET_TRIPLE_STRING": Explanation(
        "A part of a provenance is not of the form DOCID:START-END.",
        "ENG_1:1, ENG:1:1-20, ENG_1:1-x",
        f"{_KEPT} The part is dropped.",
        "Write DOCID:START-END, parts separated by commas; a document id has no colon.",
        offender=0,
    ),
    "ILLEGAL_VALUE_TYPE": Explanation(
        "The value type is none of the known ones.",
        "PERSON",
        f"{_KEPT} The type plays no role in scoring.",
        "Write PER, ORG, GPE, FAC, LOC, STRING or an event type, in any letter case.",
        "VALUE_TYPE",
        0,
    ),
    "IMPROPER_CONFIDENCE_VALUE": Explanation(
        "A confidence is written with an exponent.",
        "5.0e-05",
        "It is replaced by the same number with twelve decimals.",
        "Write decimals.",
        "CONFIDENCE",
        0,
    ),
    "INACCURACTE_MENTION_STRING": Explanation(
        "The document does not hold the answer at the first span of its value provenance. White space counts as one "
        "blank, both ends are inclusive, and characters are counted in the file as it is, markup included.",
        "Bo at ENG_1:3-5, where characters 3 to 5 are 'Bo '",
        "The line is kept.",
        "Mend the offsets; an end that is one too large is the usual reason.",
        "VALUE",
        0,
    ),
    "MALFORMED_QUERY": Explanation(
        'A query does not begin with <query id="ID"> and nothing else inside that tag.',
        "<query id='CSX_0001'>",
        f"{_KEPT} The query is dropped.",
        'Write <query id="ID"> with double quotes and no other attribute.',
        offender=0,
    ),
    "MISMATCHED_HOP_SUBTYPES": Explanation(
        "A slot asks for one kind of place and the next slot starts from another: city, state or province, country.",
        "per:cities_of_residence, then gpe:residents_of_country",
        "As -subtypes says: none, repair the second slot, delete it, or delete the query.",
        "Use the slot for the same kind of place.",
        offender=2,
    ),
    "MISMATCHED_HOP_TYPES": Explanation(
        "A slot does not apply to what the entity type or the slot before it yields.",
        "per:children, then org:website",
        "As -types says: none, delete the slot and those after it, or delete the query.",
        "Choose a slot whose domain fits.",
        offender=2,
    ),
    "MISMATCHED_RUNID": Explanation(
        "The rounds that are packaged together have different run ids.",
        "RUN1 in the first file, RUN2 in the second",
        "Fatal: nothing is written.",
        "Give all lines of a submission one run id.",
        "RUNID",
        0,
    ),
    "MISMATCHED_TAGS": Explanation(
        "A tag in a query is closed by another tag.",
        "<docid>ENG_1</doc>",
        "The opening tag decides.",
        "Close it with the same name.",
        offender=0,
    ),
    "MISSING_DECIMAL_POINT": Explanation(
        "A confidence of 1 has no decimal point.",
        "1",
        "It is replaced by 1.0.",
        "Write 1.0.",
        "CONFIDENCE",
        0,
    ),
    "MULTIPLE_CORRECT_GROUND_TRUTH": Explanation(
        "More than one correct assessment fits a line.",
        "the same answer and provenance assessed twice as correct",
        "The first is used.",
        "Remove the repeated assessment.",
    ),
    "MULTIPLE_DOCIDS_IN_PROV": Explanation(
        "One provenance names several documents.",
        "ENG_1:1-20,ENG_2:1-20",
        f"{_KEPT} All spans count as spans of the first document.",
        "Justify an answer from one document.",
        offender=0,
    ),
    "MULTIPLE_DOCIDS_IN_RESPONSE": Explanation(
        "Relation and value provenance of a line lie in different documents (or one of them has no valid span).",
        "relation ENG_1:1-20, value ENG_2:3-5",
        f"{_KEPT} The document of the value counts.",
        "Take both from one document.",
        offender=0,
    ),
    "MULTIPLE_RUNIDS": Explanation(
        "A line has another run id than the first line.",
        "RUN1 in line 1, RUN2 in line 2",
        "A validated run has the first run id in all lines.",
        "Give all lines one run id.",
        "RUNID",
        1,
    ),
    "NO_QUERIES_LOADED": Explanation(
        "The query files hold no query.",
        "an empty file, or queries without slots",
        "Every line of a run is then fatal.",
        "Check whether the right query file was given.",
    ),
    "POSSIBLE_DUPLICATE_QUERY": Explanation(
        "Two queries have an entry point with the same name and the same slots.",
        "<name>Ann</name> with per:children in two queries",
        "Both are kept.",
        "See whether they mean the same entity.",
        offender=2,
    ),
    "SEMICOLON_AS_SEPARATOR": Explanation(
        "The spans of a provenance are separated by semicolons.",
        "ENG_1:1-20;ENG_1:30-40",
        "They are replaced by commas.",
        "Separate spans by commas.",
        offender=0,
    ),
    "SEMICOLON_IN_PROVENANCE_E": Explanation(
        "A provenance has a semicolon that is no separator.",
        "ENG;1:1-20",
        f"{_KEPT} The text is read as it is.",
        "Separate spans by commas; a document id has no semicolon.",
        offender=0,
    ),
    "TOO_MANY_CHARS": Explanation(
        "A span is longer than 200 characters.",
        "ENG_1:1-400",
        "Its end is moved so that 200 characters are left.",
        "Justify with a shorter span.",
    ),
    "TOO_MANY_PROVENANCE_TRIPLES_E": Explanation(
        "A provenance has more spans than allowed: four for the relation, two for the value.",
        "three spans in VALUE_PROVENANCE_TRIPLES",
        f"{_KEPT} The surplus is cut off.",
        "Keep the spans that matter.",
    ),
    "UNEXPECTED_ASSESSMENT_ENTRY": Explanation(
        "An assessment without class answers a query about an answer that was not judged correct.",
        "a hop-1 assessment with code W below a hop-0 answer with code W",
        f"{_KEPT} The assessment is not used.",
        "Remove it, or mend the assessment of the parent answer.",
    ),
    "UNKNOWN_QUERY_FIELD": Explanation(
        "A tag in a query is none of the known ones.",
        "<comment>x</comment>",
        "It is passed over.",
        "Remove it.",
        offender=0,
    ),
    "UNKNOWN_QUERY_ID_WARNING": Explanation(
        "-queries names a query that is not there.",
        "-queries CSX_0002 where the query file has CSX_0001 only",
        "The name is passed over.",
        "Check the query file and -expand.",
        offender=0,
    ),
    "UNKNOWN_SLOT_NAME": Explanation(
        "A slot is not in the inventory, or not for this entity type.",
        "per:child, org:children, PER:children",
        _KEPT,
        "Use a slot of the inventory, in lower case, such as per:children.",
        offender=0,
    ),
    "WRONG_NUM_ENTRIES": Explanation(
        "A line has not as many columns as the first line of its file. Empty columns at the end do not count.",
        "eight columns in a nine-column run",
        f"{_KEPT} The line is passed over.",
        "Separate all columns by single tabs.",
    ),
    "WRONG_SLOT_NAME": Explanation(
        "The slot is not the one that the query asks for.",
        "per:age for a query with slot per:children",
        "The line is left out; lines that ask about its answer are left out with it.",
        "Answer the query's own slot.",
        "SLOT_NAME",
        0,
    ),
    **KB_EXPLANATIONS,
}
"""Every code of `cs_score.problems.log.KINDS`."""

_ENDS: Final = "Fatal: nothing is written."

FATAL_CONDITIONS: Final[dict[str, Explanation]] = {
    "AP_ABOVE_ONE": Explanation(
        "An average precision above 1: a run that was not validated is being scored.",
        "two lines of one node in one document",
        "The scoring ends.",
        "Validate the run with the same -justifications, or score with --validate.",
    ),
    "CLASS_WITHOUT_CORRECT": Explanation(
        "An assessment has an equivalence class though it is neither correct nor inexact.",
        "code W and class CSX_ENG_00fb79cef8:1",
        _ENDS,
        "Write 0 for the class, or C or X for the code.",
    ),
    "CORRECT_WITHOUT_CLASS": Explanation(
        "An assessment is correct or inexact and has no equivalence class.",
        "code C and class 0",
        _ENDS,
        "Name the class.",
    ),
    "FILE_MISSING": Explanation(
        "An input does not exist.",
        "a name with a typing error",
        _ENDS,
        "Check the name.",
    ),
    "FATAL": Explanation(
        "A condition that the program cannot go on with; the message says which.",
        "an output folder that is not there",
        _ENDS,
        "See the message.",
    ),
    "MISSING_QUERY_FIELD": Explanation(
        "A query that is to be written lacks a field that it must have.",
        "an entry point without <docid>",
        _ENDS,
        "Add NAME, DOCID, BEG and END to each entry point, ENTTYPE and SLOT0 to each query.",
    ),
    "NO_LINES": Explanation(
        "A run or assessment file has blank and comment lines only.",
        "# nothing yet",
        _ENDS,
        "Check the file.",
    ),
    "NOT_UTF8": Explanation(
        "A file is not UTF-8.",
        "a file in Latin-1 or UTF-16",
        _ENDS,
        "Convert it, for example with iconv.",
    ),
    "QUERY_NOT_EXPANDED": Explanation(
        "A line answers a query as the annotators have it, with several entry points, and not a slot-filling query.",
        "CSX_0001 in place of CSX_ENG_00fb79cef8",
        _ENDS,
        "Name the queries made from the entry points (cs-score validate-queries -expand makes them).",
    ),
    "QUERY_NOT_LOADED": Explanation(
        "A line answers a query that neither the query files nor an earlier line has made.",
        "a second-hop line before the line whose answer it asks about",
        _ENDS,
        "Put parent lines first, give the right query file, compare the prefixes of the ids.",
    ),
    "RUN_OF_2014": Explanation(
        "A run has the seven columns of 2014.",
        "a run without full query ids",
        _ENDS,
        "Convert it to nine columns.",
    ),
    "RUN_WITH_ERRORS": Explanation(
        "A run that is to be validated and scored in one call (--validate) has errors.",
        "a confidence of 1.1",
        "The scoring ends.",
        "Mend the errors that are listed.",
    ),
    "SOURCE_DOCUMENT_MISSING": Explanation(
        "The document list names a file that cannot be read.",
        "a path that is relative to another folder",
        _ENDS,
        "Paths in the list are relative to the working directory; leave the column empty where there is no file.",
    ),
    "UNEXPECTED_MENTION_TYPE": Explanation(
        "The mention types of an equivalence class contradict each other, or one of them is no known text.",
        "a class with both NAM and NOM assessments in one language",
        _ENDS,
        "Mend the mention types of the class.",
    ),
    "UNKNOWN_ASSESSMENT_CODE": Explanation(
        "An assessment code is none of C W X I S L.",
        "Y",
        _ENDS,
        "Use one of the codes.",
    ),
    "UNKNOWN_FILE_TYPE": Explanation(
        "The first line of a file fits no layout of runs or assessments.",
        "a confidence of .5 or a semicolon between spans in the first line, columns separated by blanks",
        _ENDS,
        "Mend the first line; the rules are stricter for it than for the others.",
    ),
    "UNPARSABLE_QUERY_ID": Explanation(
        "A text that should be a query id is none.",
        "CSX-ENG-00fb79cef8",
        _ENDS,
        "An id is a prefix, an underscore and ten hexadecimal digits, then _ and twelve for each hop.",
    ),
    **KB_FATAL_CONDITIONS,
}
"""Conditions that end a program and are no code of the reference."""

GUIDE: Final[dict[str, Explanation]] = dict(sorted((EXPLANATIONS | FATAL_CONDITIONS).items()))


def severity_of(code: str) -> Severity:
    """How bad problems of a code are."""
    return KINDS[code].severity if code in KINDS else Severity.FATAL
