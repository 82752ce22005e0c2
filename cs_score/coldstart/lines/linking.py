"""Every line finds its query, the id of the query that asks about its answer, and its node.

Lines are linked in load order, because a line may name only a query that an earlier line has created
(specification 4.2, 4.5 and 4.7 to 4.10).
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable

from cs_score.coldstart.lines.confidence import plain_confidence, read_confidence
from cs_score.coldstart.lines.known_answers import KnownAnswers, answer_key
from cs_score.coldstart.lines.layouts import RUN_2014
from cs_score.coldstart.lines.provenance import (
    RELATION_SPANS,
    VALUE_SPANS,
    are_plain,
    document_of,
    read_provenance,
)
from cs_score.coldstart.lines.reader import TabFile, has_text
from cs_score.coldstart.lines.records import JUDGMENT_OF_CODE, Answer, Assessment, LinkedQuery, Response, SkippedLine
from cs_score.coldstart.queries.identifiers import follow_on_id, parse_query_id
from cs_score.coldstart.queries.languages import DEFAULT_LANGUAGE, language_code
from cs_score.coldstart.queries.predicates import NODE_TYPES, find_predicate
from cs_score.coldstart.queries.query_set import Query, QuerySet
from cs_score.coldstart.spans import DocumentLengths
from cs_score.foundation.errors import InputError
from cs_score.problems.log import Detail, Place, ProblemLog


class Linker:
    """Links the lines of all files, one file after the other, against one query set.

    Afterwards `responses` and `assessments` hold the accepted lines in load order and the look-ups answer how they
    hang together. Provenances are checked against `documents` where those are given; a line whose node id is
    `no_node` has none. After an InputError about a line, linking the same file goes on with the next line.
    """

    def __init__(
        self,
        queries: QuerySet,
        problems: ProblemLog,
        *,
        documents: DocumentLengths | None = None,
        no_node: str | None = None,
    ) -> None:
        self.responses: list[Response] = []
        self.assessments: list[Assessment] = []
        self.accepting: dict[str, Assessment] = {}
        """Follow-on query id -> the last accepted assessment that leads to it (specification 4.8)."""
        self.nodes: dict[str, list[Response]] = {}
        """The run lines of each node by FQ node id, in load order."""
        self.without_parent: list[Response] = []
        """Second-hop run lines that stand before their parent line, or have none; their node ids lack its prefix."""
        self.is_in_order = True
        """Whether every run line of a later hop stands behind a line that gives the answer its query asks about."""
        self.skipped: list[SkippedLine] = []
        """Lines with an empty column or a slot that was not asked for, in load order."""
        self._queries = queries
        self._problems = problems
        self._documents = documents
        self._no_node = no_node
        self._linked: dict[str, LinkedQuery] = {}
        # Follow-on query id -> the query whose answer it asks about. Ids of that length from query files stand first,
        # so that no answer takes their place.
        self._created_by: dict[str, LinkedQuery | None] = dict.fromkeys(
            short_id for short_id in queries.by_id if len(short_id) == 12
        )
        # Follow-on query ids that lines which were skipped lead to.
        self._skipped: set[str] = set()
        # Those of them that an accepted line leads to as well, found when there were so many lines and ids.
        self._led_to: tuple[int, frozenset[str]] = 0, frozenset()
        # Follow-on query id -> FQ node id of the first run line that leads to it.
        self._parent_node: dict[str, str] | None = None
        # First four characters of document ids that tell the language by themselves.
        self._clear_starts: set[str] = set()
        self._value_types: set[str] = set()
        self._known: KnownAnswers | None = None
        self._link_follow_on: Callable[[LinkedQuery, str], LinkedQuery] = _link_follow_on

    def branch(self, problems: ProblemLog) -> Linker:
        """A linker that goes on from here by itself and reports to `problems`; the lines linked so far are shared."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (dict, list, set)):
                setattr(other, name, value.copy())
        other.nodes = {node: lines.copy() for node, lines in self.nodes.items()}
        other._problems = problems
        return other

    def link_run(self, tab_file: TabFile) -> None:
        """Add the lines of a run. Raises InputError where a line names a query that is not there."""
        name = tab_file.name
        if tab_file.schema is RUN_2014:
            number, *_ = next(tab_file.lines)
            raise _at(
                Place(name, number),
                "Query  not loaded",
                "runs of 2014 (seven columns) cannot be scored",
                "RUN_OF_2014",
            )
        has_nodes = tab_file.schema.position("NODEID") is not None
        linked, value_types, responses = self._linked, self._value_types, self.responses
        nodes, parent_node = self.nodes, self._parent_nodes()
        created_by, clear_starts = self._created_by, self._clear_starts
        documents, no_node, known = self._documents, self._no_node, self._known
        for number, text, columns in tab_file.lines:
            full_id, slot, run_id, relation, value, value_type, provenance, confidence_text = columns[:8]
            query = linked.get(full_id) or self._find_query(full_id, Place(name, number))
            confidence = plain_confidence(confidence_text)
            if confidence is None:
                confidence = self._confidence(confidence_text, Place(name, number))
            if value_type not in value_types:
                self._check_value_type(value_type, Place(name, number))
            kept: Answer | None = None
            found = None if known is None else known.find(answer_key(full_id, relation, value, provenance))
            if found is not None:
                kept, target = found
            elif are_plain(relation, provenance, documents):
                target = follow_on_id(full_id, value, provenance)
                if known is not None:
                    known.add(answer_key(full_id, relation, value, provenance), target)
            else:
                relation, provenance = self._provenances(relation, provenance, Place(name, number), text)
                kept = relation, value, provenance
                target = follow_on_id(full_id, value, provenance)
            if target not in created_by:
                if not query.unknown_next and not query.is_ldc and provenance[:4] in clear_starts:
                    created_by[target] = query
                else:
                    self._create_follow_on(target, query, provenance, Place(name, number))
            is_sound = slot == query.known_slot and all(map(str.strip, columns))
            if not is_sound and not self._is_complete(tab_file, columns, slot, query, number):
                self.skipped.append(SkippedLine(target, document_of(provenance), len(responses), name, number))
                self._skipped.add(target)
                continue
            parent = parent_node.get(query.short_id) if query.level else full_id
            if parent is None:
                self.is_in_order = False
            node, of_node = None, None
            if has_nodes and columns[8] != no_node:
                prefix = (parent or "") if query.level == 1 else full_id
                node = prefix + columns[8]
                of_node = nodes.get(node)
                if of_node is not None:
                    node = of_node[0].node
            if len(query.slots) > 1 and target not in parent_node:
                parent_node[target] = node or ""
            response = Response(
                len(responses), number, text, query, sys.intern(run_id), confidence, node, target, name,
                document_of(provenance), kept,
            )  # fmt: skip
            responses.append(response)
            if node is not None:
                if of_node is None:
                    nodes[node] = [response]
                else:
                    of_node.append(response)
                if not prefix:
                    self.without_parent.append(response)

    def link_assessments(self, tab_file: TabFile) -> None:
        """Add the lines of an assessment file. Raises InputError for unknown queries and contradictory lines."""
        name = tab_file.name
        position = tab_file.schema.columns.index
        at_query, at_relation, at_value = map(position, ("QUERY_AND_SLOT_NAME", "RELATION_PROVENANCE_TRIPLES", "VALUE"))
        at_provenance, at_code, at_provenance_code, at_class = map(
            position, ("VALUE_PROVENANCE_TRIPLES", "VALUE_ASSESSMENT", "PROVENANCE_ASSESSMENT", "VALUE_EC")
        )
        at_mention = tab_file.schema.position("VALUE_MENTION_TYPE")
        at_class_mention = tab_file.schema.position("EC_MENTION_TYPE")
        linked, documents = self._linked, self._documents
        created_by, clear_starts = self._created_by, self._clear_starts
        for number, text, columns in tab_file.lines:
            full_id, _, slot = columns[at_query].partition(":")
            query = linked.get(full_id) or self._find_query(full_id, Place(name, number))
            relation, value, provenance = columns[at_relation], columns[at_value], columns[at_provenance]
            if not are_plain(relation, provenance, documents):
                relation, provenance = self._provenances(relation, provenance, Place(name, number), text)
            target = follow_on_id(full_id, value, provenance)
            if target not in created_by:
                if not query.unknown_next and not query.is_ldc and provenance[:4] in clear_starts:
                    created_by[target] = query
                else:
                    self._create_follow_on(target, query, provenance, Place(name, number))
            code, value_class = columns[at_code], columns[at_class]
            is_accepted = code == "C" or code == "X"
            if is_accepted is (value_class == "0" or not value_class):
                raise _contradiction(query, is_accepted, value_class, Place(name, number))
            is_sound = slot == query.known_slot and all(map(str.strip, columns))
            if not is_sound and not self._is_complete(tab_file, columns, slot, query, number):
                before = len(self.assessments)
                self.skipped.append(SkippedLine(target, document_of(provenance), before, name, number))
                self._skipped.add(target)
                continue
            if code not in JUDGMENT_OF_CODE or columns[at_provenance_code] not in JUDGMENT_OF_CODE:
                raise _unknown_code(code, columns[at_provenance_code], Place(name, number))
            assessment = Assessment(
                number, text, query, (relation, value, provenance), JUDGMENT_OF_CODE[code], is_accepted,
                sys.intern(value_class),
                None if at_mention is None else sys.intern(columns[at_mention]),
                None if at_class_mention is None else sys.intern(columns[at_class_mention]),
                target, name,
            )  # fmt: skip
            self.assessments.append(assessment)
            if is_accepted:
                self.accepting[target] = assessment

    def class_of_query(self, query: LinkedQuery) -> str:
        """The equivalence class whose members a query's answers belong below (specification 7.1).

        Raises InputError where no accepted line leads to the query.
        """
        if query.parent is None:
            return query.full_id
        accepting = self.accepting.get(query.short_id)
        if accepting is not None:
            return accepting.value_class
        if query.short_id in self._skipped and not self._is_led_to(query.short_id):
            raise InputError(
                "queryid undefined in QuerySet->get()",
                place=f"query {query.full_id}",
                remedy="its lines answer a follow-on query whose only parent line was skipped (wrong slot or an empty "
                "column); mend or remove the parent line",
            )
        return f"{self.class_of_query(query.parent)}:0"

    def keep_answers(self) -> None:
        """Keep the answers that were assessed, and those of the runs to come; worth it where there are several runs."""
        self._known = KnownAnswers(
            line for line in self.assessments if are_plain(line.relation, line.provenance, self._documents)
        )
        # Within a run nobody asks for a query twice, but the runs of a system ask about the same answers.
        self._link_follow_on = functools.lru_cache(maxsize=1 << 14)(_link_follow_on)

    def forget_caches(self) -> None:
        """Release what only linking needs, and finds again where more files are to be linked after all."""
        self._parent_node = None

    def _parent_nodes(self) -> dict[str, str]:
        """The node that each follow-on query asks about, as the run lines linked so far tell it."""
        if self._parent_node is None:
            self._parent_node = {}
            for response in self.responses:
                if len(response.query.slots) > 1:
                    self._parent_node.setdefault(response.target, response.node or "")
        return self._parent_node

    def root(self, query: Query) -> LinkedQuery:
        """The query of a query file in the form that lines are linked to."""
        linked = self._linked.get(query.full_id)
        if linked is None:
            linked = self._linked[query.full_id] = _link_loaded(query)
        return linked

    def _find_query(self, full_id: str, place: Place) -> LinkedQuery:
        # Most ids ask about an answer that was linked before, and are known to be sound without being parsed.
        parent_id, _, short_id = full_id.rpartition("_")
        parent = self._created_by.get(short_id)
        if parent is not None and parent.full_id == parent_id:
            follow_on = self._link_follow_on(parent, short_id)
            self._linked[follow_on.full_id] = follow_on
            return follow_on
        parts = parse_query_id(full_id)
        if parts is None:
            raise _at(
                place,
                f'unexpected argument: "{full_id}" sent to parse_queryid',
                "this is no query id; it should end in ten or twelve hexadecimal digits",
                "UNPARSABLE_QUERY_ID",
            )
        linked: LinkedQuery | None = None
        loaded = self._queries.by_id.get(parts.short)
        if loaded is not None:
            linked = self.root(loaded)
            if linked.full_id == full_id and len(loaded.entry_points) > 1:
                raise _at(
                    place,
                    f"Attempt to execute method generate_query on query {parts.short}, which has multiple entrypoints",
                    "runs and assessments name the queries made from its entry points (switch -expand)",
                    "QUERY_NOT_EXPANDED",
                )
        elif (parent := self._created_by.get(parts.short)) is not None:
            linked = _link_follow_on(parent, parts.short)
        if linked is None or linked.full_id != full_id:
            raise _at(
                place,
                f"Query {full_id} not loaded",
                _missing_query_remedy(full_id, parts.level, linked),
                "QUERY_NOT_LOADED",
            )
        self._linked[full_id] = linked
        return linked

    def _create_follow_on(self, target: str, query: LinkedQuery, provenance: str, place: Place) -> None:
        """Make the query that asks about an answer to `query` (specification 4.9)."""
        if query.is_ldc and parse_query_id(f"{query.full_id}_{target}") is None:
            raise _at(
                place,
                f'unexpected argument: "{query.full_id}_{target}" sent to parse_queryid',
                "runs and assessments name slot-filling queries, whose ids end in ten hexadecimal digits",
                "QUERY_NOT_EXPANDED",
            )
        self._created_by[target] = query
        if provenance[:4] not in self._clear_starts:
            docid = document_of(provenance) if provenance else ""
            if language_code(docid) is None:
                self._problems.add("FAILED_LANG_INFERENCE", docid, DEFAULT_LANGUAGE)
            elif language_code(docid[:4]) is not None:
                self._clear_starts.add(docid[:4])
        for slot in query.unknown_next:
            self._problems.add("UNKNOWN_SLOT_NAME", slot)

    def _is_led_to(self, target: str) -> bool:
        """Whether any accepted line leads to a follow-on query, one that a skipped line leads to."""
        size = len(self.responses) + len(self.assessments) + len(self._skipped)
        if self._led_to[0] != size:
            found = self._skipped.intersection(line.target for line in self.responses)
            found |= self._skipped.intersection(line.target for line in self.assessments)
            self._led_to = size, frozenset(found)
        return target in self._led_to[1]

    def _confidence(self, written: str, place: Place) -> float:
        """The value of a confidence; its faults are reported."""
        confidence = read_confidence(written)
        for code in confidence.codes:
            self._problems.add(code, written, place=place, detail=Detail("CONFIDENCE", written, confidence.text))
        return confidence.value

    def _provenances(self, relation_text: str, value_text: str, place: Place, text: str) -> tuple[str, str]:
        """The canonical relation and value provenance of a line; their faults are reported."""
        relation = read_provenance(relation_text, RELATION_SPANS, self._documents)
        provenance = read_provenance(value_text, VALUE_SPANS, self._documents)
        for column, read in (("RELATION_PROVENANCE_TRIPLES", relation), ("VALUE_PROVENANCE_TRIPLES", provenance)):
            for code, arguments, written, repaired in read.problems:
                self._problems.add(code, *arguments, place=place, detail=Detail(column, written, repaired))
        if relation.docid != provenance.docid:
            self._problems.add("MULTIPLE_DOCIDS_IN_RESPONSE", f"\n{text}", place=place)
        return relation.canonical, provenance.canonical

    def _check_value_type(self, value_type: str, place: Place) -> None:
        if value_type.lower() in NODE_TYPES:
            self._value_types.add(value_type)
        else:
            self._problems.add("ILLEGAL_VALUE_TYPE", value_type, place=place)

    def _is_complete(self, tab_file: TabFile, columns: list[str], slot: str, query: LinkedQuery, number: int) -> bool:
        """Whether a line is accepted: a known slot or not, no empty column, and the slot that its query asks for."""
        if find_predicate(slot) is None:
            self._problems.add("UNKNOWN_SLOT_NAME", slot, place=Place(tab_file.name, number))
        if not all(map(str.strip, columns)):
            for column, text in zip(tab_file.schema.columns, columns):
                if not has_text(text):
                    self._problems.add("EMPTY_FIELD", column, place=Place(tab_file.name, number))
                    return False
        if not query.slots or slot != query.slots[0]:
            expected = query.slots[0] if query.slots else ""
            self._problems.add("WRONG_SLOT_NAME", slot, query.full_id, expected, place=Place(tab_file.name, number))
            return False
        return True


def _link_loaded(query: Query) -> LinkedQuery:
    parts = parse_query_id(query.full_id)
    is_ldc = parts is not None and not parts.expanded
    return LinkedQuery(
        query.full_id, query.short_id, query.base_id, 0, query.slots, *_about_slots(query.slots), None, is_ldc
    )


def _link_follow_on(parent: LinkedQuery, short_id: str) -> LinkedQuery:
    full_id, slots = f"{parent.full_id}_{short_id}", parent.slots[1:]
    return LinkedQuery(full_id, short_id, parent.base_id, parent.level + 1, slots, *_about_slots(slots), parent)


@functools.lru_cache(maxsize=4096)
def _about_slots(slots: tuple[str, ...]) -> tuple[str | None, bool, tuple[str, ...]]:
    """Of a query's slots: the first if the inventory has it, if it takes one value, those after it that it lacks."""
    predicate = find_predicate(slots[0]) if slots else None
    unknown_next = tuple(slot for slot in slots[1:] if find_predicate(slot) is None)
    return (slots[0], predicate.single, unknown_next) if predicate is not None else (None, False, unknown_next)


def _contradiction(query: LinkedQuery, is_accepted: bool, value_class: str, place: Place) -> InputError:
    """A class stands exactly beside correct and inexact answers (specification 4.8); here it does not."""
    if is_accepted:
        return _at(
            place,
            f"Correct entry without equivalence class, query = {query.short_id} at line {place.line}",
            code="CORRECT_WITHOUT_CLASS",
        )
    return _at(
        place,
        f"Equivalence class without correct entry, query = {query.short_id}, judgment = , ec = {value_class}",
        code="CLASS_WITHOUT_CORRECT",
    )


def _unknown_code(code: str, provenance_code: str, place: Place) -> InputError:
    unknown = provenance_code if code in JUDGMENT_OF_CODE else code
    return _at(
        place,
        f"Unknown assessment code: {unknown} in file: {place.file} at line: {place.line}",
        f"the codes are {' '.join(JUDGMENT_OF_CODE)}",
        "UNKNOWN_ASSESSMENT_CODE",
    )


def _missing_query_remedy(full_id: str, level: int, found: LinkedQuery | None) -> str:
    if full_id.startswith("\ufeff"):
        return "the file begins with a byte-order mark, which becomes part of this id; save the file without it"
    if found is not None:
        return f"the query with that short id is {found.full_id}; compare the prefix (switch -expand)"
    if level:
        return "no earlier line has given the answer that it asks about; parent lines must come first"
    return "no query file defines it; are the query files and -expand the right ones?"


def _at(place: Place, problem: str, remedy: str | None = None, code: str | None = None) -> InputError:
    return InputError(problem, file=place.file, place=f"line {place.line}", remedy=remedy, code=code)
