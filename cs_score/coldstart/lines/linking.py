"""Every line finds its query, the query that asks about its answer, and its node.

Lines are linked in load order, because a line may name only a query that an earlier line has created
(specification 4.2, 4.5 and 4.7 to 4.10).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from cs_score.base.errors import InputError
from cs_score.coldstart.lines.confidence import plain_confidence, read_confidence
from cs_score.coldstart.lines.known_answers import KnownAnswer, KnownAnswers, answer_key
from cs_score.coldstart.lines.layouts import RUN_2014
from cs_score.coldstart.lines.links import Links, link_follow_on
from cs_score.coldstart.lines.provenance import (
    RELATION_SPANS,
    VALUE_SPANS,
    are_plain,
    document_of,
    read_provenance,
)
from cs_score.coldstart.lines.reader import TabFile, has_text
from cs_score.coldstart.lines.records import (
    JUDGMENT_OF_CODE,
    Answer,
    Assessment,
    FollowOn,
    LinkedQuery,
    Response,
    SkippedLine,
)
from cs_score.coldstart.queries.identifiers import follow_on_id, parse_query_id
from cs_score.coldstart.queries.languages import DEFAULT_LANGUAGE, language_code
from cs_score.coldstart.queries.predicates import NODE_TYPES, find_predicate
from cs_score.coldstart.queries.query_set import QuerySet
from cs_score.coldstart.spans import DocumentLengths
from cs_score.problems.log import Detail, Place, ProblemLog

NO_NODE: Final = "0"
"""The node id of a line that has none (specification 4.10)."""


class NoAnswerYetError(InputError):
    """A line answers a query about an answer that no line before it gives; files that are loaded first may give it."""

    @classmethod
    def of(cls, error: InputError) -> NoAnswerYetError:
        """The same error as one of this kind."""
        return cls(error.problem, file=error.file, place=error.place, remedy=error.remedy, code=error.code)


class Linker:
    """Adds the lines of files to `links`, one file after the other, against one query table.

    Provenances are checked against `documents` where those are given; a line whose node id is `0` has none.
    `known` remembers the answers of earlier runs. After an InputError about a line, linking the same file goes on with
    the next line.
    """

    def __init__(
        self,
        table: QuerySet,
        links: Links,
        problems: ProblemLog,
        *,
        documents: DocumentLengths | None = None,
        known: KnownAnswers | None = None,
    ) -> None:
        self._table = table
        self._links = links
        # What gold knows of follow-on queries; there is nothing below gold.
        self._below: Mapping[str, FollowOn] = {} if links.below is None else links.below.follow_ons
        self._problems = problems
        self._documents = documents
        self._known = known
        self._file = ""
        # First four characters of document ids that tell the language by themselves.
        self._clear_starts: set[str] = set()
        self._value_types: set[str] = set()

    # Long, since a call for each of a million lines costs more than a step of what it does here.
    def link_run(self, tab_file: TabFile) -> None:
        """Add the lines of a run. Raises InputError where a line names a query that is not there."""
        name = self._file = tab_file.name
        self._refuse_run_of_2014(tab_file)
        has_nodes = tab_file.schema.position("NODEID") is not None
        links, value_types, known = self._links, self._value_types, self._known
        queries, responses, nodes, given = links.queries, links.responses, links.nodes, links.given
        follow_ons, below = links.follow_ons, self._below
        for number, text, columns in tab_file.lines:
            full_id, slot, run_id, relation, value, value_type, provenance, confidence_text = columns[:8]
            query = queries.get(full_id) or self._find_query(full_id, number)
            confidence = plain_confidence(confidence_text) or self._confidence(confidence_text, number)
            if value_type not in value_types:
                self._check_value_type(value_type, number)
            found = None if known is None else known.find(answer_key(full_id, relation, value, provenance))
            kept, target = found or self._read_answer(query, relation, value, provenance, number, text)
            if kept is not None:
                provenance = kept[2]
            follow_on = (
                follow_ons.get(target) or below.get(target) or self._new_follow_on(target, query, provenance, number)
            )
            is_plain = slot == query.known_slot and all(map(str.strip, columns))
            if not is_plain and not self._is_accepted(tab_file, columns, slot, query, number):
                self._skip(target, provenance, len(responses), number, query, text)
                continue
            prefix = self._prefix(query) if query.level else full_id
            node, of_node = None, None
            if has_nodes and columns[8] != NO_NODE:
                of_node = nodes[prefix + columns[8]]
                node = of_node[0].node if of_node else prefix + columns[8]
            if len(query.slots) > 1 and target not in given:
                given[target] = node or ""
            response = Response(
                len(responses), number, text, query, sys.intern(run_id), confidence, node, follow_on, name,
                document_of(provenance), kept,
            )  # fmt: skip
            responses.append(response)
            if of_node is not None:
                of_node.append(response)
                if not prefix:
                    links.without_parent.append(response)

    def _refuse_run_of_2014(self, tab_file: TabFile) -> None:
        if tab_file.schema is RUN_2014:
            number, *_ = next(tab_file.lines)
            remedy = "runs of 2014 (seven columns) cannot be scored"
            raise self._error(number, "Query  not loaded", remedy, "RUN_OF_2014")

    def _prefix(self, query: LinkedQuery) -> str:
        """What the ids of the nodes that answer a follow-on query begin with.

        At the second hop that is the node which gave the answer asked about, empty as long as none has.
        """
        parent = self._links.given.get(query.short_id)
        if parent is None:
            self._links.is_in_order = False
        return (parent or "") if query.level == 1 else query.full_id

    def link_assessments(self, tab_file: TabFile) -> None:
        """Add the lines of an assessment file. Raises InputError for unknown queries and contradictory lines."""
        name = self._file = tab_file.name
        position = tab_file.schema.columns.index
        at_query, at_relation, at_value = map(position, ("QUERY_AND_SLOT_NAME", "RELATION_PROVENANCE_TRIPLES", "VALUE"))
        at_provenance, at_code, at_provenance_code, at_class = map(
            position, ("VALUE_PROVENANCE_TRIPLES", "VALUE_ASSESSMENT", "PROVENANCE_ASSESSMENT", "VALUE_EC")
        )
        at_mention = tab_file.schema.position("VALUE_MENTION_TYPE")
        at_class_mention = tab_file.schema.position("EC_MENTION_TYPE")
        queries, assessments, follow_ons = self._links.queries, self._links.assessments, self._links.follow_ons
        for number, text, columns in tab_file.lines:
            full_id, _, slot = columns[at_query].partition(":")
            query = queries.get(full_id) or self._find_query(full_id, number)
            answer = columns[at_relation], columns[at_value], columns[at_provenance]
            kept, target = self._read_answer(query, *answer, number, text)
            answer = kept or answer
            follow_on = follow_ons.get(target) or self._gold_or_new(target, query, answer[2], number)
            code, value_class = columns[at_code], columns[at_class]
            is_accepted = code == "C" or code == "X"
            if is_accepted is (value_class == "0" or not value_class):
                raise self._contradiction(query, is_accepted, value_class, number)
            is_plain = slot == query.known_slot and all(map(str.strip, columns))
            if not is_plain and not self._is_accepted(tab_file, columns, slot, query, number):
                self._skip(target, answer[2], len(assessments), number, query, text)
                continue
            if code not in JUDGMENT_OF_CODE or columns[at_provenance_code] not in JUDGMENT_OF_CODE:
                raise self._unknown_code(code, columns[at_provenance_code], number)
            assessment = Assessment(
                number, text, query, answer, JUDGMENT_OF_CODE[code], is_accepted,
                sys.intern(value_class),
                None if at_mention is None else sys.intern(columns[at_mention]),
                None if at_class_mention is None else sys.intern(columns[at_class_mention]),
                target, name,
            )  # fmt: skip
            assessments.append(assessment)
            follow_on.add(assessment)

    def _find_query(self, full_id: str, number: int) -> LinkedQuery:
        """The query that a line names, when it is named for the first time in this layer."""
        query = self._links.query(full_id)
        if query is None:
            # Most ids ask about an answer that was linked before, and are known to be sound without being parsed.
            parent_id, _, short_id = full_id.rpartition("_")
            follow_on = self._links.follow_on(short_id)
            parent = None if follow_on is None else follow_on.query
            is_known = parent is not None and parent.full_id == parent_id
            query = link_follow_on(parent, short_id) if parent and is_known else self._parsed_query(full_id, number)
        self._links.queries[full_id] = query
        return query

    def _parsed_query(self, full_id: str, number: int) -> LinkedQuery:
        parts = parse_query_id(full_id)
        if parts is None:
            raise self._error(
                number,
                f'unexpected argument: "{full_id}" sent to parse_queryid',
                "this is no query id; it should end in ten or twelve hexadecimal digits",
                "UNPARSABLE_QUERY_ID",
            )
        found: LinkedQuery | None = None
        loaded = self._table.by_id.get(parts.short)
        follow_on = self._links.follow_on(parts.short)
        if loaded is not None:
            found = self._links.root(loaded)
            if found.full_id == full_id and len(loaded.entry_points) > 1:
                raise self._error(
                    number,
                    f"Attempt to execute method generate_query on query {parts.short}, which has multiple entrypoints",
                    "runs and assessments name the queries made from its entry points (switch -expand)",
                    "QUERY_NOT_EXPANDED",
                )
        elif follow_on is not None and follow_on.query is not None:
            found = link_follow_on(follow_on.query, parts.short)
        if found is None or found.full_id != full_id:
            remedy = _missing_query_remedy(full_id, parts.level, found)
            error = self._error(number, f"Query {full_id} not loaded", remedy, "QUERY_NOT_LOADED")
            raise NoAnswerYetError.of(error) if found is None and parts.level else error
        return found

    def _read_answer(
        self, query: LinkedQuery, relation: str, value: str, provenance: str, number: int, text: str
    ) -> KnownAnswer:
        """The answer of a line, None where its columns hold it as it counts; and the query that asks about it."""
        kept = None
        if not are_plain(relation, provenance, self._documents):
            kept = relation, value, provenance = self._canonical(relation, value, provenance, number, text)
        target = follow_on_id(query.full_id, value, provenance)
        if self._known is not None and kept is None:  # the next run finds it without reading and hashing it
            self._known.add(answer_key(query.full_id, relation, value, provenance), target)
        return kept, target

    def _canonical(self, relation_text: str, value: str, value_text: str, number: int, text: str) -> Answer:
        """An answer with its provenances in canonical form; their faults are reported."""
        relation = read_provenance(relation_text, RELATION_SPANS, self._documents)
        provenance = read_provenance(value_text, VALUE_SPANS, self._documents)
        place = Place(self._file, number)
        for column, read in (("RELATION_PROVENANCE_TRIPLES", relation), ("VALUE_PROVENANCE_TRIPLES", provenance)):
            for code, arguments, written, repaired in read.problems:
                self._problems.add(code, *arguments, place=place, detail=Detail(column, written, repaired))
        if relation.docid != provenance.docid:
            self._problems.add("MULTIPLE_DOCIDS_IN_RESPONSE", f"\n{text}", place=place)
        return relation.canonical, value, provenance.canonical

    def _new_follow_on(self, target: str, query: LinkedQuery, provenance: str, number: int) -> FollowOn:
        """Make the query that asks about an answer to `query` (specification 4.9)."""
        if query.unknown_next or query.is_ldc or provenance[:4] not in self._clear_starts:
            self._report_follow_on(target, query, provenance, number)
        follow_on = self._links.follow_ons[target] = FollowOn(target, query)
        return follow_on

    def _gold_or_new(self, target: str, query: LinkedQuery, provenance: str, number: int) -> FollowOn:
        """The query that asks about an answer to `query`, to add assessments to: gold's own never changes."""
        known = self._below.get(target)
        if known is None:
            return self._new_follow_on(target, query, provenance, number)
        copy = self._links.follow_ons[target] = known.copy()
        return copy

    def _report_follow_on(self, target: str, query: LinkedQuery, provenance: str, number: int) -> None:
        """Report what is doubtful about a new follow-on query. Raises InputError where its id could not be parsed."""
        if query.is_ldc and parse_query_id(f"{query.full_id}_{target}") is None:
            raise self._error(
                number,
                f'unexpected argument: "{query.full_id}_{target}" sent to parse_queryid',
                "runs and assessments name slot-filling queries, whose ids end in ten hexadecimal digits",
                "QUERY_NOT_EXPANDED",
            )
        if provenance[:4] not in self._clear_starts:
            docid = document_of(provenance) if provenance else ""
            if language_code(docid) is None:
                self._problems.add("FAILED_LANG_INFERENCE", docid, DEFAULT_LANGUAGE)
            elif language_code(docid[:4]) is not None:
                self._clear_starts.add(docid[:4])
        for slot in query.unknown_next:
            self._problems.add("UNKNOWN_SLOT_NAME", slot)

    def _confidence(self, written: str, number: int) -> float:
        """The value of a confidence; its faults are reported."""
        confidence = read_confidence(written)
        for code in confidence.codes:
            detail = Detail("CONFIDENCE", written, confidence.text)
            self._problems.add(code, written, place=Place(self._file, number), detail=detail)
        return confidence.value

    def _check_value_type(self, value_type: str, number: int) -> None:
        if value_type.lower() in NODE_TYPES:
            self._value_types.add(value_type)
        else:
            self._problems.add("ILLEGAL_VALUE_TYPE", value_type, place=Place(self._file, number))

    def _is_accepted(self, tab_file: TabFile, columns: list[str], slot: str, query: LinkedQuery, number: int) -> bool:
        """Whether a line counts that has an empty column, or not the known slot that its query asks for."""
        place = Place(self._file, number)
        if find_predicate(slot) is None:
            self._problems.add("UNKNOWN_SLOT_NAME", slot, place=place)
        if not all(map(str.strip, columns)):
            for column, text in zip(tab_file.schema.columns, columns):
                # An empty confidence is an illegal one, which 1.0 has taken the place of.
                if column != "CONFIDENCE" and not has_text(text):
                    self._problems.add("EMPTY_FIELD", column, place=place)
                    return False
        if not query.slots or slot != query.slots[0]:
            expected = query.slots[0] if query.slots else ""
            self._problems.add("WRONG_SLOT_NAME", slot, query.full_id, expected, place=place)
            return False
        return True

    def _skip(self, target: str, provenance: str, before: int, number: int, query: LinkedQuery, text: str) -> None:
        docid = document_of(provenance)
        self._links.skipped.append(SkippedLine(target, docid, before, self._file, number, query, text))
        self._links.passed_over.add(target)

    def _error(self, number: int, problem: str, remedy: str | None, code: str) -> InputError:
        return InputError(problem, file=self._file, place=f"line {number}", remedy=remedy, code=code)

    def _contradiction(self, query: LinkedQuery, is_accepted: bool, value_class: str, number: int) -> InputError:
        """A class stands exactly beside correct and inexact answers (specification 4.8); here it does not."""
        if is_accepted:
            problem = f"Correct entry without equivalence class, query = {query.short_id} at line {number}"
            return self._error(number, problem, None, "CORRECT_WITHOUT_CLASS")
        problem = f"Equivalence class without correct entry, query = {query.short_id}, judgment = , ec = {value_class}"
        return self._error(number, problem, None, "CLASS_WITHOUT_CORRECT")

    def _unknown_code(self, code: str, provenance_code: str, number: int) -> InputError:
        unknown = provenance_code if code in JUDGMENT_OF_CODE else code
        problem = f"Unknown assessment code: {unknown} in file: {self._file} at line: {number}"
        return self._error(number, problem, f"the codes are {' '.join(JUDGMENT_OF_CODE)}", "UNKNOWN_ASSESSMENT_CODE")


def _missing_query_remedy(full_id: str, level: int, found: LinkedQuery | None) -> str:
    if full_id.startswith("\ufeff"):
        return "the file begins with a byte-order mark, which becomes part of this id; save the file without it"
    if found is not None:
        return f"the query with that short id is {found.full_id}; compare the prefix (switch -expand)"
    if level:
        return "no earlier line has given the answer that it asks about; parent lines must come first"
    return "no query file defines it; are the query files and -expand the right ones?"
