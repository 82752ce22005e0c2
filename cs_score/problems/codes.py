"""The table of problem codes: how bad each problem is, its message, what to do about it, what cs-score does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class Severity(StrEnum):
    """How bad a problem is: warnings leave the exit status 0, errors make it 255, and fatal ones end the program."""

    WARNING = "WARNING"
    ERROR = "ERROR"
    FATAL = "FATAL_ERROR"


class ProblemKind(NamedTuple):
    """The row of a problem code in the table.

    `template` is the message, in which `%s` and `%d` are replaced by arguments. It is None for a condition that ends
    the program with its own message; the reference scorer does not have a code for it. `meaning` describes the problem,
    `example` is an input with the problem, `remedy` is advice for the author of the input, and `action` says what
    cs-score does.

    `offender_position` is the position of the offending text among the arguments of the message, from 0, or None if it
    is not among them. `column_or_position` is the name of the column with the problem, or the position of the argument
    that contains this name.
    """

    severity: Severity
    template: str | None
    meaning: str
    example: str
    remedy: str
    action: str
    offender_position: int | None = None
    column_or_position: str | int | None = None

    def message(self, arguments: tuple[object, ...]) -> str:
        """Return the message of a problem of this kind: the template with the arguments filled in."""
        assert self.template is not None, "a condition has words of its own"
        return self.template % arguments

    def column_name(self, arguments: tuple[object, ...]) -> str | None:
        """Return the name of the column with a problem of this kind, such as `SLOT_NAME`, or None if it is not known.

        `arguments` are the arguments of the message. They are empty if only the message itself is known.
        """
        if not isinstance(self.column_or_position, int):  # the name of the column, or None
            return self.column_or_position
        position = self.column_or_position
        return str(arguments[position]) if arguments else None

    def offending_text(self, arguments: tuple[object, ...]) -> str | None:
        """Return the offending text among the arguments of a message; None if there is none.

        `arguments` are empty if only the message itself is known.
        """
        if self.offender_position is None or not arguments:
            return None
        return str(arguments[self.offender_position]).strip("\n")


_SENTENCE_BY_FIRST_WORD: Final = {
    "KEPT": "Counts as an error: nothing is written by the validators, and the scorer ends with status 255.",
    "ENDS": "Fatal: nothing is written.",
    "LEFT_OUT": "The line is left out of a validated run.",
    "NOT_WRITTEN": "Counts as an error: nothing is written.",
    "DROPPED": "Counts as an error: nothing is written. The line is passed over.",
}
"""The sentences that several actions begin with, by the word for them in the table."""

_KINDS: Final = {
    "warning": (Severity.WARNING, ""),
    "error": (Severity.ERROR, "NOT_WRITTEN"),
    "fatal": (Severity.FATAL, "ENDS"),
    "condition": (Severity.FATAL, "ENDS"),
}
"""The severity of a problem, and its action if the entry names none, by the second word of an entry of the table."""

# CODE KIND [text=POSITION] [column=COLUMN]: TEMPLATE, then the meaning, an example, the remedy and the action; a line
# that goes on is indented further. POSITION is that of the offending text among the arguments of the template, by
# default 0 if the template has %s.
_TABLE: Final = """
# Query files
DUPLICATE_QUERY warning text=1: Queries %s and %s share entry point(s)
    Two queries have an entry point with the same document, offsets and slots.
    <docid>ENG_1</docid><beg>5</beg><end>9</end> with per:children in two queries
    Remove one of the entry points.
    With -dups delete the later query (by id) is dropped, with -dups ignore it is kept.
DUPLICATE_QUERY_FIELD warning: Duplicate <%s> tag
    A query has a tag twice that it may have once. <slot0> also counts as <slot>.
    <enttype>per</enttype><enttype>org</enttype>
    Remove the second tag.
    The first value is used.
FAILED_LANG_INFERENCE warning: Unable to infer language from DOCID %s. Using %s by default.
    The document id does not show its language: it begins neither with CMN nor with SPA, and holds no ENG_ at the
        beginning or after an underscore.
    NW_0001
    None needed where English is right.
    English is assumed. It matters for the names of expanded queries.
ILLEGAL_OFFSET error: %s is not a valid offset
    An offset in a query is not a number.
    <beg>five</beg>
    Write the offset in digits.
    KEPT The text is used for the query's id all the same.
MALFORMED_QUERY error: Malformed query %s
    A query does not begin with <query id="ID"> and nothing else inside that tag.
    <query id='CSX_0001'>
    Write <query id="ID"> with double quotes and no other attribute.
    KEPT The query is dropped.
MISMATCHED_HOP_SUBTYPES warning text=2: In %s, range of %s does not match domain of %s
    A slot asks for one kind of place and the next slot starts from another: city, state or province, country.
    per:cities_of_residence, then gpe:residents_of_country
    Use the slot for the same kind of place.
    As -subtypes says: none, repair the second slot, delete it, or delete the query.
MISMATCHED_HOP_TYPES warning text=2: In %s, type of %s does not match domain of %s
    A slot does not apply to what the entity type or the slot before it yields.
    per:children, then org:website
    Choose a slot whose domain fits.
    As -types says: none, delete the slot and those after it, or delete the query.
MISMATCHED_TAGS warning: <%s> tag closed with </%s>
    A tag in a query is closed by another tag.
    <docid>ENG_1</doc>
    Close it with the same name.
    The opening tag decides.
MISSING_QUERY_FIELD condition
    A query that is to be written lacks a field that it must have.
    an entry point without <docid>
    Add NAME, DOCID, BEG and END to each entry point, ENTTYPE and SLOT0 to each query.
NO_QUERIES_LOADED warning: No queries found
    The query files hold no query.
    an empty file, or queries without slots
    Check whether the right query file was given.
    Every line of a run is then fatal.
POSSIBLE_DUPLICATE_QUERY warning text=2: Queries %s and %s are possibly duplicates, based on entrypoint %s
    Two queries have an entry point with the same name and the same slots.
    <name>Ann</name> with per:children in two queries
    See whether they mean the same entity.
    Both are kept.
UNKNOWN_QUERY_FIELD warning: <%s> is not a recognized query field
    A tag in a query is none of the known ones.
    <comment>x</comment>
    Remove it.
    It is passed over.
UNKNOWN_QUERY_ID_WARNING warning: Unknown query: %s
    -queries names a query that is not there.
    -queries CSX_0002 where the query file has CSX_0001 only
    Check the query file and -expand.
    The name is passed over.
UNKNOWN_SLOT_NAME error: Unknown slot name: %s
    A slot is not in the inventory, or not for this entity type.
    per:child, org:children, PER:children
    Use a slot of the inventory, in lower case, such as per:children.
    KEPT
# Lines of runs and assessments
DUPLICATE_LINE warning: Following line appears more than once in the submission therefore all copies but one will be
        removed: %s
    The file has the same line more than once.
    two equal lines
    Remove the copies.
    All copies but the first are left out.
EMPTY_FIELD warning column=0: Empty value for column %s
    A column holds nothing but white space.
    two tabs in a row
    Fill the column.
    The line is left out; lines that ask about its answer are left out with it.
EMPTY_FILE warning: Empty response or assessment file: %s
    A run or assessment file has no bytes.
    a file of size 0
    Check whether the right file was given, and whether it was written to its end.
    It is passed over.
ILLEGAL_CONFIDENCE_VALUE error column=CONFIDENCE: Illegal confidence value: %s
    A confidence is not a decimal number above 0 and up to 1.0.
    0, 0.0, 1.1, -0.5, 1e-05, an empty column
    Write a value such as 0.75, with digits after the point and no exponent.
    KEPT The scorer goes on with 1.0 for the value.
ILLEGAL_DOCID fatal: DOCID %s is not a valid DOCID for this task
    A provenance names a document that is not in the document list (-docs).
    ENG_99:1-20 where the list has no ENG_99
    Use the documents of the task, with their ids as in the list.
ILLEGAL_OFFSET_IN_DOC error: %s is not a valid offset for DOCID %s
    An offset lies beyond the length that the document list gives for the document.
    ENG_1:1-20 where the list says that ENG_1 has 4 characters
    Count offsets in characters of the source file, from 0, both ends inclusive.
    KEPT The span is dropped.
ILLEGAL_OFFSET_PAIR error text=none: (%s, %s) is not a valid offset pair
    A span ends before it starts.
    ENG_1:20-1
    Write start-end, both inclusive.
    KEPT The span is dropped.
ILLEGAL_OFFSET_TRIPLE_STRING error: %s is not a valid docid/offset pair string
    A part of a provenance is not of the form DOCID:START-END.
    ENG_1:1, ENG:1:1-20, ENG_1:1-x
    Write DOCID:START-END, parts separated by commas; a document id has no colon.
    KEPT The part is dropped.
ILLEGAL_VALUE_TYPE error column=VALUE_TYPE: Illegal value type: %s
    The value type is none of the known ones.
    PERSON
    Write PER, ORG, GPE, FAC, LOC, STRING or an event type, in any letter case.
    KEPT The type plays no role in scoring.
IMPROPER_CONFIDENCE_VALUE warning column=CONFIDENCE: Confidence value in scientific format: %s
    A confidence is written with an exponent.
    5.0e-05
    Write decimals.
    It is replaced by the same number with twelve decimals.
# Spelt like this by the reference; the spelling decides its place in the report.
INACCURACTE_MENTION_STRING warning column=VALUE: Mention (or filler) string '%s' not found at %s
    The document does not hold the answer at the first span of its value provenance. White space counts as one blank,
        both ends are inclusive, and characters are counted in the file as it is, markup included.
    Bo at ENG_1:3-5, where characters 3 to 5 are 'Bo '
    Correct the offsets; an end that is one too large is the usual reason.
    The line is kept.
MISSING_DECIMAL_POINT warning column=CONFIDENCE: Decimal point missing in confidence value: %s
    A confidence of 1 has no decimal point.
    1
    Write 1.0.
    It is replaced by 1.0.
MULTIPLE_DOCIDS_IN_PROV error: %s contains multiple DOCIDs
    One provenance names several documents.
    ENG_1:1-20,ENG_2:1-20
    Justify an answer from one document.
    KEPT All spans count as spans of the first document.
MULTIPLE_DOCIDS_IN_RESPONSE error: Multiple DOCIDs used in response: %s
    Relation and value provenance of a line lie in different documents (or one of them has no valid span).
    relation ENG_1:1-20, value ENG_2:3-5
    Take both from one document.
    KEPT The document of the value counts.
NOT_UTF8 condition
    A file is not UTF-8.
    a file in Latin-1 or UTF-16
    Convert it, for example with iconv.
NO_LINES condition
    A run or assessment file has blank and comment lines only.
    # nothing yet
    Check the file.
QUERY_NOT_EXPANDED condition
    A line answers a query as the annotators have it, with several entry points, and not a slot-filling query.
    CSX_0001 in place of CSX_ENG_00fb79cef8
    Name the queries made from the entry points (cs-score validate-queries -expand makes them).
QUERY_NOT_LOADED condition
    A line answers a query that neither the query files nor an earlier line has made.
    a second-hop line before the line whose answer it asks about
    Put parent lines first, give the right query file, compare the prefixes of the ids.
RUN_OF_2014 condition
    A run has the seven columns of 2014.
    a run without full query ids
    Convert it to nine columns.
SEMICOLON_AS_SEPARATOR warning: A semicolon is used as a triple separator in the provenance %s. The semicolon will be
        replaced with a comma.\x20
    The spans of a provenance are separated by semicolons.
    ENG_1:1-20;ENG_1:30-40
    Separate spans by commas.
    They are replaced by commas.
SEMICOLON_IN_PROVENANCE_E error: A semicolon is used in the provenance %s
    A provenance has a semicolon that is no separator.
    ENG;1:1-20
    Separate spans by commas; a document id has no semicolon.
    KEPT The text is read as it is.
TOO_MANY_CHARS warning: Provenance contains too many characters; only the first %d will be used
    A span is longer than 200 characters.
    ENG_1:1-400
    Justify with a shorter span.
    Its end is moved so that 200 characters are left.
TOO_MANY_PROVENANCE_TRIPLES warning: Too many provenance triples (%d) provided; only the first %d will be used
    A provenance has more than four spans, which the edition 3.0 allows.
    five spans in RELATION_PROVENANCE_TRIPLES
    Keep the spans that matter.
    The surplus is cut off.
TOO_MANY_PROVENANCE_TRIPLES_E error: Unexpected number of provenance triples: provided=(%d) expected=(%d)
    A provenance has more spans than allowed: four for the relation, two for the value.
    three spans in VALUE_PROVENANCE_TRIPLES
    Keep the spans that matter.
    KEPT The surplus is cut off.
UNKNOWN_FILE_TYPE condition
    The first line of a file fits no layout of runs or assessments.
    a confidence of .5 or a semicolon between spans in the first line, columns separated by blanks
    Correct the first line; the rules are stricter for it than for the others.
UNPARSABLE_QUERY_ID condition
    A text that should be a query id is none.
    CSX-ENG-00fb79cef8
    An id is a prefix, an underscore and ten hexadecimal digits, then _ and twelve for each hop.
WRONG_NUM_ENTRIES error: Wrong number of entries on line (expected %d, got %d)
    A line has not as many columns as the first line of its file. Empty columns at the end do not count.
    eight columns in a nine-column run
    Separate all columns by single tabs.
    KEPT The line is passed over.
WRONG_SLOT_NAME warning column=SLOT_NAME: Slot %s is not the requested slot for query %s (expected %s)
    The slot is not the one that the query asks for.
    per:age for a query with slot per:children
    Answer the query's own slot.
    The line is left out; lines that ask about its answer are left out with it.
# Runs and whole evaluations
AP_ABOVE_ONE condition
    An average precision is above 1, which happens where a run is scored that was not validated.
    two lines of one node in one document
    Validate the run with the same -justifications, or score with --validate.
    The scoring ends.
CLASS_WITHOUT_CORRECT condition
    An assessment has an equivalence class though it is neither correct nor inexact.
    code W and class CSX_ENG_00fb79cef8:1
    Write 0 for the class, or C or X for the code.
CORRECT_WITHOUT_CLASS condition
    An assessment is correct or inexact and has no equivalence class.
    code C and class 0
    Name the class.
DISCARDED_DEPENDENT warning: Following line has been discarded because all of its parents were discarded due to
        constraints on multiple justifications: %s
    A second-hop line answers a query about an answer whose lines were all discarded, or were never accepted.
    -justifications 1:1, the only line with the answer Bo is the second of its node, and a line asks about Bo
    Keep a line of the parent answer within the limits, or drop the lines below it.
    LEFT_OUT
DISCARDED_DEPENDENT_DEPTH warning: Following line has been discarded because all of its parents were discarded due to
        depth constraints: %s
    A second-hop line answers a query about an answer whose lines all fell to the depth limit.
    -depth B:1, and the answer that a line asks about belongs to the second best node
    None needed; take a greater depth to keep it.
    LEFT_OUT
DISCARDED_ENTRY warning: Following line has been discarded due to constraints on multiple justifications: %s
    A node has more justifications than allowed (-justifications A:B: A for each document, B in all), or it is one node
        too many for a slot that takes one value. The most confident lines stay, the earliest among equals.
    two lines with node :E1 whose provenances lie in the same document
    Submit no more lines for a node than the task allows, and one node for a single-valued slot.
    LEFT_OUT
DISCARDED_ENTRY_DEPTH warning: Following line has been discarded due to depth constraints: %s
    The node of this line is not among those that -depth takes.
    -depth B:1, and another node of the same query is more confident
    None needed; take a greater depth to keep it.
    LEFT_OUT
FATAL condition
    A condition that the program cannot go on with; the message says which.
    an output folder that is not there
    See the message.
FILE_MISSING condition
    An input does not exist.
    a name with a typing error
    Check the name.
MISMATCHED_RUNID fatal column=RUNID: Multiple runids were used: %s
    The rounds that are packaged together have different run ids.
    RUN1 in the first file, RUN2 in the second
    Give all lines of a submission one run id.
MULTIPLE_CORRECT_GROUND_TRUTH warning text=none: More than one correct choice for ground truth for query %s
    More than one correct assessment fits a line.
    the same answer and provenance assessed twice as correct
    Remove the repeated assessment.
    The first is used.
MULTIPLE_RUNIDS warning text=1 column=RUNID: File contains multiple run IDs (%s, %s)
    A line has another run id than the first line.
    RUN1 in line 1, RUN2 in line 2
    Give all lines one run id.
    A validated run has the first run id in all lines.
RUN_WITH_ERRORS condition
    A run that is to be validated and scored in one call (--validate) has errors.
    a confidence of 1.1
    Correct the errors that are listed.
    The scoring ends.
SOURCE_DOCUMENT_MISSING condition
    The document list names a file that cannot be read.
    a path that is relative to another folder
    Paths in the list are relative to the working directory; leave the column empty where there is no file.
UNEXPECTED_ASSESSMENT_ENTRY error text=none: Child with no correct parent found in assessment file. %s %s
    An assessment without class answers a query about an answer that was not judged correct.
    a hop-1 assessment with code W below a hop-0 answer with code W
    Remove it, or correct the assessment of the parent answer.
    KEPT The assessment is not used.
UNEXPECTED_MENTION_TYPE condition
    The mention types of an equivalence class contradict each other, or one of them is no known text.
    a class with both NAM and NOM assessments in one language
    Correct the mention types of the class.
UNKNOWN_ASSESSMENT_CODE condition
    An assessment code is none of C W X I S L.
    Y
    Use one of the codes.
# Nodes of knowledge bases
COLON_OMITTED warning: Initial colon omitted from name of node %s
    The name of a node lacks its colon.
    Entity_1
    Write :Entity_1.
    The colon is added.
ILLEGAL_LINK_SPECIFICATION warning column=OBJECT: Illegal link specification: %s
    A link has no colon between the name of the other knowledge base and the id there.
    :Entity_1 link E7
    Write NAME:ID.
    The line is left out.
ILLEGAL_NODE_NAME error: Illegal node name: %s. (Accepted: :Entity..., :Event..., :String...; A dash '-' is not
        acceptable as part of the name)
    The name of a node does not begin with Entity, Event or String, ends there, or has a dash.
    :Person_1, :Entity, :Entity-1
    Write a name such as :Entity_1.
    DROPPED
ILLEGAL_NODE_TYPE error column=OBJECT: Illegal node type: %s
    A type line gives a type that there is not.
    :Entity_1 type PERSON
    Use PER, ORG, GPE, FAC, LOC, STRING or an event type.
INCOMPATIBLE_NODE_NAME error: Node name %s is not compatible with type %s
    The name of a node and its type contradict each other, by a type line or by a predicate that the node is used with.
    :Entity_1 type STRING, or :Entity_2 as the object of per:title
    Name entities :Entity..., strings :String..., events :Event..., in these letters.
    NOT_WRITTEN The node does not get the type.
KB_WITH_ERRORS condition
    A knowledge base that is to be scored has errors.
    a node without type
    Correct the errors that are listed.
MISSING_CANONICAL warning text=none: Entity %s has no canonical mention in document %s
    A node has one mention in a document, and no canonical one.
    :Entity_1 mention without canonical_mention in ENG_1
    None needed.
    The mention is taken for the canonical one.
MISSING_MENTION_E error text=1 column=PROVENANCE: %s: '%s' is not a mention of node %s
    A provenance must be a mention of a node, and is none: that of a string filler, of a sentiment's target or of a
        normalized mention.
    :Entity_1 per:title :String_1 with ENG_1:3-5 first, where :String_1 is not mentioned
    Assert the mention, or correct the offsets.
MISSING_RUNID error: The first line of the file does not contain a legal runid
    The first line is no run id: it is empty, begins with a colon or has white space inside.
    :Entity_1 type PER as the first line
    Put a run id of one word in the first line.
    NOT_WRITTEN Line numbers of later problems are one too large.
MISSING_TYPEDEF error column=SUBJECT: No type asserted for Node %s
    A node has a type by its predicates only.
    no line :Entity_1 type PER
    Add the type line.
MULTIPLE_CANONICAL error text=none: More than one canonical mention for Node %s in document %s
    A node has several canonical mentions in one document.
    two lines :Entity_1 canonical_mention in ENG_1
    Keep one.
MULTIPLE_MENTIONS_NO_CANONICAL error text=none: Node %s has more than one named/nominal mention in document %s but has
        no canonical mention
    A node has several mentions in a document, and none is the canonical one.
    two lines :Entity_1 mention in ENG_1
    Add the canonical mention.
MULTIPLE_STRINGS_FOR_PROV error column=OBJECT: Multiple strings provided for provenance: %s (%s)
    Mentions at one place have different texts.
    "Ann" and "Anne" both at ENG_1:3-5
    Write the text that the document has there.
MULTITYPED_ENTITY error text=none: Node %s has more than one type: %s
    A node has several types, or is used with a predicate that does not suit its type.
    :Entity_1 type PER, and :Entity_1 org:website :String_1
    Correct the type or the predicate.
NOT_A_VALIDATED_KB condition
    A knowledge base that queries are asked of is no validated one.
    a line with three columns, a provenance ENG_1:1
    Validate it first (cs-score validate-kb -output tac).
NO_MENTIONS warning: Node %s has no mentions
    A node is mentioned nowhere.
    a type line only
    Assert a mention, or remove the node.
    The node is kept.
UNASSERTED_MENTION warning text=none: Failed to assert that %s in document %s is also a mention
    A canonical mention is not asserted as a mention.
    :Entity_1 canonical_mention without mention at the same place
    None needed.
    The mention is added.
UNKNOWN_TYPE error: Cannot infer type for Node %s
    No line gives the type of a node.
    :Entity_1 as the subject of mentions only
    Add a line :Entity_1 type PER.
UNQUOTED_STRING warning column=OBJECT: String %s not surrounded by double quotes
    The text of a mention is not in double quotes, or has a quote or backslash inside without a backslash before it.
    :Entity_1 mention Ann
    Write "Ann".
    Quotes are put around it, and backslashes where needed.
# Assertions of knowledge bases
AMBIGUOUS_PREDICATE error column=PREDICATE: %s: ambiguous predicate
    Several predicates have this name, and it is not known which is meant: the type of the subject is not known yet.
    :Entity_1 parents :Entity_2 before the line that gives :Entity_1 its type
    Put the type lines first, or write the type before the name, as in per:parents.
    DROPPED
DUPLICATE_ASSERTION warning text=none: The same assertion is made more than once (%s)
    The same relation is asserted twice with the same justification; with -multiple ONE with any, with ONEPERDOC with
        one in the same document.
    two lines :Entity_1 per:children :Entity_2 with the same provenance
    Remove one of them.
    Of two equal ones the second is left out, otherwise the less confident one, the later among equals.
ILLEGAL_PREDICATE error column=PREDICATE: Illegal predicate: %s
    There is no such predicate, or not for subjects of this type.
    :Entity_1 per:child :Entity_2
    Use a predicate of the inventory, in lower case, or define your own with -predicates.
    DROPPED
ILLEGAL_PREDICATE_TYPE error column=PREDICATE: Illegal predicate type: %s
    The word before the colon of a predicate is no node type.
    person:children
    Write per, org, gpe, fac, loc, string or an event type, or nothing.
    DROPPED
ILLEGAL_REALIS error column=PREDICATE: Illegal realis: %s
    What follows the last dot of a predicate is no realis; or it is one, and there is no such predicate.
    life.die:victim.real, per:childs.actual
    Write actual, generic or other behind a predicate of events.
ILLEGAL_USER_PREDICATES condition
    A file of predicates (-predicates) is not called LABEL.predicates.txt, has an illegal line, or changes a predicate
        that there is.
    per children per kids
    See the message.
MISSING_FILLER_STRING_PROV error column=PROVENANCE: Filler string missing in provencance: %s
    A relation to a string does not say where in the document the string is.
    :Entity_1 per:title :String_1 with ENG_1:1-20 only
    Put the place of the string first: ENG_1:3-5;ENG_1:1-20.
MISSING_INVERSE warning text=none: No inverse relation asserted for %s(%s, %s)
    A relation lacks its inverse with the same provenance.
    per:children without per:parents of the child
    None needed.
    The inverse is added.
MULTIPLE_FILLS_ENTITY warning text=1: Node %s has multiple %s fills, but should be single-valued
    A predicate that takes one value has several. This is ignored unless -ignore is given.
    two values of per:age
    Keep one value.
    The less confident one is left out, the later among equals.
OFF_TASK_SLOT warning column=PREDICATE: %s slot is not valid for task %s
    The task that -task names does not know this predicate.
    -task CSED and per:children
    None needed.
    The line is left out.
PREDICATE_ALIAS warning text=1 column=PREDICATE: Use of %s predicate; %s replaced with %s
    A predicate has an old name or is misspelt in a usual way.
    per:spouses
    Write the name that replaces it.
    The right name is used.
STRING_USED_FOR_ENTITY error: Expecting a node, but got string %s
    A text in quotes is given where a node must be.
    :Entity_1 per:title "boss"
    Make a node :String_1 with the text as its mention.
    DROPPED
SUBJECT_PREDICATE_MISMATCH error text=1 column=PREDICATE: Type of subject (%s) does not match type of predicate (%s)
    The type before the colon of a predicate is not that of the subject.
    :Entity_1 type PER and :Entity_1 org:website :String_1
    Correct the one or the other.
    DROPPED
TOO_MANY_PROVENANCES_IN_LIST error column=PROVENANCE: Unexpected number of provenances in the list: %s. provided=(%d)
        expected=(%d)
    A provenance list has not as many parts as it must: one, one more before it for a string, two more behind it for an
        event.
    ENG_1:1-20 for a relation with an event
    Write filler string; predicate justification; base filler; additional justification, as far as needed, NIL for none.
TOO_MANY_TOTAL_CHARS error: All provenance strings contain a total of more than %d characters
    The spans of an additional justification have more than 800 characters together.
    five spans of 200 characters
    Justify with less.
UNATTESTED_RELATION_ENTITY error text=2 column=PROVENANCE: Relation %s uses node %s, but that node has no mentions in
        provenance %s
    A relation uses a node that is not mentioned in the document of its provenance.
    :Entity_1 per:children :Entity_2 in ENG_1, where :Entity_2 is mentioned in ENG_2 only
    Assert the mention, or justify from another document.
UNEXPECTED_BASE_FILLER error text=none column=PROVENANCE: %s is not an allowed value for BASE_FILLER provenance for
        event assertions
    A relation with an event has no base filler.
    ENG_1:1-20;NIL;NIL
    Give the span of the base filler as the second part behind the filler string.
UNEXPECTED_PROVENANCE error column=PROVENANCE: Only PREDICATE_JUSTIFICATION is expected in the provenance: %s
    A mention has no span, or other parts than the one that says where it is in the document.
    NIL, or ENG_1:3-5;ENG_1:1-20 for a mention
    Write one span.
UNEXPECTED_REALIS error text=1 column=PREDICATE: Unexpected value of realis (expected %s, got %s)
    A predicate of events has no realis, or one that is not of events has one.
    life.die:victim without .actual, per:children.actual
    Write actual, generic or other behind predicates with events, and nothing behind others.
"""


def _parse_table(table: str) -> dict[str, ProblemKind]:
    """Return the kinds of problems that a table such as `_TABLE` describes, by code, in alphabetical order."""
    kind_by_code = {}
    entries = re.split(r"\n(?=\S)", table.strip("\n"))  # all lines of an entry but the first are indented
    for entry in entries:
        is_heading = entry.startswith("#")
        if not is_heading:
            code, kind = _parse_entry(entry)
            kind_by_code[code] = kind
    return dict(sorted(kind_by_code.items()))


def _parse_entry(entry: str) -> tuple[str, ProblemKind]:
    """Return the code and the kind of a problem, read from its entry in the table.

    The entry has a head, followed by lines with the meaning, an example, the remedy and, optionally, the action. These
    lines are indented by 4 spaces, and the continuation of a long line by 8:

        WRONG_SLOT_NAME warning text=0 column=SLOT_NAME: Slot %s is not ...
            The meaning, which may be so long that
                it goes on.
            An example
            The remedy.

    In this head, `text=0` says that the first argument of the message (%s) is the offending text, and
    `column=SLOT_NAME` that the text is in this column of the file.
    """
    joined_lines = re.sub(r"\n {8}", " ", entry)
    head, *texts = joined_lines.split("\n    ")
    words_before_template, _, template = head.partition(": ")
    code, kind_name, *settings = words_before_template.split()
    text_by_setting = dict(setting.split("=") for setting in settings)
    severity, usual_action = _KINDS[kind_name]
    meaning, example, remedy, *other_texts = texts
    action = other_texts[0] if other_texts else usual_action
    kind = ProblemKind(
        severity=severity,
        template=template or None,
        meaning=meaning,
        example=example,
        remedy=remedy,
        action=_expand_action(action),
        offender_position=_read_offender_position(template, text_by_setting.get("text")),
        column_or_position=_read_column(text_by_setting.get("column")),
    )
    return code, kind


def _read_offender_position(template: str, written_position: str | None) -> int | None:
    """Return the position of the offending text among the arguments of a message, or None if it is not among them.

    For the entry `... text=1: Unexpected value (expected %s, got %s)`, `written_position` is "1": the template has two
    arguments, and the second one is the offending text. It is "none" if the offending text is not an argument. It is
    None if the entry does not give a position; the offending text is then the first argument, provided that the
    template takes a text.
    """
    if written_position is None:
        return 0 if "%s" in template else None
    return None if written_position == "none" else int(written_position)


def _read_column(written_column: str | None) -> str | int | None:
    """Return the column that an entry of the table gives for a problem, or None if it does not give one.

    An entry may give the name of the column, as in `column=SLOT_NAME`. It may also give the position of the message
    argument that contains this name, as in `column=1`. A position is returned as a number.
    """
    if written_column is None or not written_column.isdecimal():
        return written_column
    return int(written_column)


def _expand_action(action: str) -> str:
    """Return an action in full sentences.

    If its first word is a key of `_SENTENCE_BY_FIRST_WORD`, the word is replaced by that sentence: `KEPT The span is
    dropped.` -> `Counts as an error: nothing is written ... The span is dropped.`
    """
    first_word, _, rest = action.partition(" ")
    beginning = _SENTENCE_BY_FIRST_WORD.get(first_word, first_word)
    return f"{beginning} {rest}" if rest else beginning


CODES: Final[Mapping[str, ProblemKind]] = _parse_table(_TABLE)
"""The kind of problem of every code, in alphabetical order of the codes."""
