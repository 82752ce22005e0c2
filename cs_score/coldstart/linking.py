"""Loading files of lines: every line finds its query, the query that asks about its answer, and its node.

Lines are linked in load order: they may name only queries that earlier lines have created (rule lines).
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.base.display import some
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import POOL, RUN
from cs_score.base.sources import Input, InputDigest, file_in_folder, name_of, open_source, plain_name
from cs_score.coldstart import lines, queries, tab_files
from cs_score.coldstart.forms import describe_folder, is_nil_line, line_to_type, without_nil_lines
from cs_score.coldstart.layouts import RUN_2014, RUN_2017, VALUE_TYPES_2016, FileKind, Schema
from cs_score.coldstart.lines import Answer, Assessment, FollowOn, LinkedQuery, Links, Response
from cs_score.coldstart.options import EDITIONS, LATEST, Edition, Justifications
from cs_score.coldstart.queries import QuerySet, has_slot, language_code, read_query_id
from cs_score.problems.log import Detail, Place, ProblemLog

_MOST_KNOWN: Final = 1 << 18  # answers that are remembered: with their texts they need some 80 MB
# The answer as its assessment holds it, None where it has none; and the short id of its follow-on query.
KnownAnswer: TypeAlias = tuple[Answer | None, str]
# Answers that are canonical as they stand, by `answer_key`: the next run finds them without reading and hashing.
KnownAnswers: TypeAlias = dict[str, KnownAnswer]


def answer_key(query_id: str, relation: str, value: str, provenance: str) -> str:
    """What finds an answer to the query of this full id: columns hold no tabs, so no other answer has the same."""
    return f"{query_id}\t{relation}\t{value}\t{provenance}"


_MENTION_TYPES: Final = ("NAM", "NOM")
NO_NODE: Final = "0"  # the node id of a line that has none


class NoAnswerYetError(InputError):
    """A line answers a query about an answer that no line before it gives; files that are loaded first may give it."""


class Loading:
    """Lines being loaded, file after file: `links` so far, `discard` with those beyond the limits."""

    def __init__(
        self,
        table: QuerySet,
        limits: Justifications,
        problems: ProblemLog,
        *,
        below: Links | None = None,
        known: KnownAnswers | None = None,
        documents: tab_files.DocumentLengths | None = None,
        alone: str | None = None,
        allow_comments: bool = False,
        is_validation: bool = False,
        note: Callable[[InputError], None] | None = None,
        after_run: Callable[[], None] | None = None,
    ) -> None:
        """`below`: the links of gold, over which the lines are laid; `known` remembers the answers of earlier runs;
        `alone`: the run whose lines are loaded. For the programs before the scorer: `documents`, which provenances are
        checked against; `is_validation`: no line is scored, so that follow-on queries are made when they are needed;
        `note`, which takes the error of a line that cannot be linked, so that loading goes on;
        `after_run`, called after each run file.
        """
        self.table, self.problems = table, problems
        self.links = Links(table, below)
        self.discard = lines.DiscardRules(limits, problems)
        self.remarks: list[str] = []
        self.digests: list[InputDigest] = []
        self.layouts: dict[str, Schema] = {}
        self._edition = table.edition
        # The slots of an edition that has not the whole inventory.
        self._slots = queries.slots_without_events() if table.edition.slot_filling_only else None
        # What gold knows of follow-on queries; there is nothing below gold.
        self._below: Mapping[str, FollowOn] = {} if self.links.below is None else self.links.below.follow_ons
        self._known, self._documents, self._alone = known, documents, alone
        self._allow_comments, self._note, self._after_run = allow_comments, note, after_run
        # Gold would be looked at for each follow-on query, editions may hash text in another way or have fewer slots.
        self._makes_follow_ons_late = is_validation and self.links.below is None and table.edition is LATEST
        self._file = ""
        # First four characters of document ids that give the language by themselves.
        self._clear_starts: set[str] = set()

    def load(self, files: Iterable[Input]) -> None:
        """Load runs and assessments in order. Raises InputError for lines that cannot be linked and unknown layouts."""
        how = self._edition, self._allow_comments, self._alone
        with paused_collector():
            for given in (member for named in files for member in members(named)):
                with open_source(given) as source:
                    tab_file = tab_files.read_tab_file(source, self.problems, *how)
                    if tab_file is not None:
                        self.note_layout(tab_file.name, tab_file.schema)
                        self.load_lines(tab_file)
                    self.digests.append(source.digest(role_of(None if tab_file is None else tab_file.schema)))

    def note_layout(self, name: str, schema: Schema) -> None:
        """Keep the layout of a file, with a remark where nothing in it can be scored."""
        self.layouts[name] = schema
        if schema.kind is not FileKind.ASSESSMENTS or schema.position("VALUE_MENTION_TYPE") is not None:
            return
        if self._edition.assumed_mention is not None:
            self.remarks.append(f"{name} has no mention types ({schema.name}): all its answers are taken for names")
        elif not self._edition.ignores_each_nominal:
            self.remarks.append(
                f"{name} has no mention types ({schema.name}): no answer that it calls correct is known to be a name, "
                "so all of them are ignored and every score is 0; --follow 3.0 scores it as in 2016, --mention-types "
                "assume-name takes its answers for names"
            )

    def load_lines(self, tab_file: tab_files.TabFile) -> None:
        """Link the lines of a file and, of a run, mark those beyond the limits. Raises InputError as `load` does."""
        is_run = tab_file.schema.kind is FileKind.RUN
        if not is_run and self.links.below is not None and self.links.below.assessments:
            raise InputError("these are assessments, not a run", file=tab_file.name, remedy="add them to the pool")
        self._file = tab_file.name
        assessments_before = len(self.links.assessments)
        link = self._link_run if is_run else self._link_assessments
        while True:  # after an error, linking the same file goes on with the next line
            try:
                link(tab_file)
                break
            except InputError as error:
                if self._note is None:
                    raise
                self._note(error.with_traceback(None))  # the frames would keep four kilobytes for each line
                if tab_file.schema is RUN_2014:  # says the same of every line
                    break
        if not is_run:
            self._remark_on_mention_types(tab_file, self.links.assessments[assessments_before:])
            return
        self.links.unread += tab_file.unread
        self._remark_on_nil_lines(tab_file)
        if tab_file.schema is RUN_2017 and not self.problems.fatal:
            if any(query.level for query in self.links.queries.values()):
                self.links.make_follow_ons()
            self.discard.apply(self.links.responses, self.links.nodes, self.links.is_in_order)
        if self._after_run is not None:
            self._after_run()

    def _remark_on_mention_types(self, tab_file: tab_files.TabFile, assessments: Sequence[Assessment]) -> None:
        """Remark on correct answers that are taken for no name because of the text in the column of mention types."""
        at_type = tab_file.schema.position("VALUE_MENTION_TYPE")
        if at_type is None or self._edition.ignores_each_nominal:
            return
        accepted = [assessment for assessment in assessments if assessment.is_accepted]
        others = [line for line in accepted if line.value_mention not in _MENTION_TYPES and line.class_mention != "NOM"]
        is_unnamed = all(line.value_mention != "NAM" and line.class_mention != "NOM" for line in accepted)
        if not others and not (accepted and is_unnamed):
            return
        types = some(repr(text) for text in dict.fromkeys(line.value_mention for line in others or accepted))
        at_class = tab_file.schema.columns.index("VALUE_EC")
        program = f"awk -F '\\t' -v OFS='\\t' '${at_class + 1} != \"0\" {{${at_type + 1} = \"NAM\"}} 1'"
        effect = "all of them are ignored and every score is 0" if is_unnamed else "nodes without another are ignored"
        self.remarks.append(
            f"{tab_file.name}: {len(others or accepted)} of {len(accepted)} answers that it calls correct are no names "
            f"(mention type {types}, where NAM in capitals is a name), so {effect}; to take all correct answers for "
            f"names: {line_to_type(program, tab_file.name, 'names')}"
        )

    def _remark_on_nil_lines(self, tab_file: tab_files.TabFile) -> None:
        """Remark on lines that say that a query has no answer, which Cold Start runs do not have."""
        lines_of_run = [line for line in tab_file.unread if is_nil_line(tab_files.split_columns(line.text))]
        if lines_of_run:
            self.remarks.append(
                f"{tab_file.name}: {len(lines_of_run)} NIL line(s) of regular slot filling are no answers and count as "
                f"errors; to leave them out: {without_nil_lines(tab_file.name)}"
            )

    # Long, since a call for each of a million lines costs more than a step of what it does here.
    def _link_run(self, tab_file: tab_files.TabFile) -> None:
        name = tab_file.name
        if tab_file.schema is RUN_2014:
            raise self._error_of_2014(tab_file)
        has_nodes = tab_file.schema.position("NODEID") is not None
        links, slots = self.links, self._slots
        plain_types: set[str] = set()
        known = None if self._known is None else self._known.get
        linked, responses, nodes = links.queries, links.responses, links.nodes
        follow_ons, below = links.follow_ons, self._below
        is_late, not_yet_made, waiting = self._makes_follow_ons_late, lines.NOT_YET_MADE, links.waiting
        clear_starts = self._clear_starts
        for number, text, columns in tab_file.lines:
            full_id, slot, run_id, relation, value, value_type, provenance, confidence_text = columns[:8]
            query = linked.get(full_id) or self._find_query(full_id, number)
            confidence = tab_files.plain_confidence(confidence_text) or self._confidence(confidence_text, number)
            if value_type not in plain_types and self._is_plain_type(value_type, number):
                plain_types.add(value_type)
            is_plain = slot == query.known_slot and all(map(str.strip, columns)) and (slots is None or slot in slots)
            if (
                is_late
                and is_plain
                and ("_ENG_" in provenance or provenance[:4] in clear_starts)
                and not query.unknown_next
                and not query.is_ldc
                and tab_files.are_plain(relation, provenance, self._documents)
            ):
                kept = None
                follow_on = not_yet_made
            else:
                found = None if known is None else known(answer_key(full_id, relation, value, provenance))
                kept, target = found or self._read_answer(query, relation, value, provenance, number, text)
                if kept is not None:
                    provenance = kept[2]
                    links.altered.add(len(responses))
                known_follow_on = follow_ons.get(target) or below.get(target)
                follow_on = known_follow_on or self._new_follow_on(target, query, provenance, number)
                if kept is not None and known_follow_on is None:
                    kept = _as_entry_point(kept)
            if not is_plain and not self._is_accepted(tab_file, columns, slot, query, number):
                self._skip(follow_on.id, provenance, len(responses), number, query, text)
                continue
            prefix = self._prefix(query) if query.level else full_id
            node = None
            of_node: Sequence[Response] | None = None
            if has_nodes and columns[8] != NO_NODE:
                node = prefix + columns[8]
                of_node = nodes.get(node)
                if of_node is not None:
                    node = of_node[0].node  # one text for all lines of a node
            response = Response(
                len(responses), number, text, query, sys.intern(run_id), confidence, node, follow_on, name, kept
            )
            responses.append(response)
            if follow_on is not_yet_made:
                waiting.append(response)
            if node is None:
                continue
            if of_node is None:
                nodes[node] = (response,)  # most nodes have one line: a list for each would take 40 bytes more
            elif isinstance(of_node, list):
                of_node.append(response)
            else:
                nodes[node] = [*of_node, response]
            if not prefix:
                links.without_parent.append(response)

    def _error_of_2014(self, tab_file: tab_files.TabFile) -> InputError:
        """Return the error of the first line of a run that cannot be scored."""
        number, *_ = next(tab_file.lines)
        remedy = "runs of 2014 (seven columns) cannot be scored"
        return self._error(number, "Query  not loaded", remedy, "RUN_OF_2014")

    def _is_plain_type(self, value_type: str, number: int) -> bool:
        """Return whether a value type is legal and in capitals; report an illegal one."""
        legal_types = VALUE_TYPES_2016 if self._edition.slot_filling_only else queries.NODE_TYPES
        is_legal = value_type.lower() in legal_types
        if not is_legal:
            self.problems.add("ILLEGAL_VALUE_TYPE", value_type, place=Place(self._file, number))
        if not value_type.isupper():
            self.links.altered.add(len(self.links.responses))
        return is_legal and value_type.isupper()

    def _prefix(self, query: LinkedQuery) -> str:
        """What ids of nodes begin with: the query, at hop 1 the node that first gave the answer, empty if none has."""
        parent = self.links.node_giving(query.short_id)
        if parent is None:
            self.links.is_in_order = False
        return (parent or "") if query.level == 1 else query.full_id

    def _link_assessments(self, tab_file: tab_files.TabFile) -> None:
        """Add the lines of an assessment file. Raises InputError for unknown queries and contradictory lines."""
        position = tab_file.schema.columns.index
        at_query, at_answer = position("QUERY_AND_SLOT_NAME"), position("RELATION_PROVENANCE_TRIPLES")
        at_code, at_provenance_code = position("VALUE_ASSESSMENT"), position("PROVENANCE_ASSESSMENT")
        at_class = position("VALUE_EC")
        at_mention = tab_file.schema.position("VALUE_MENTION_TYPE")
        at_class_mention = tab_file.schema.position("EC_MENTION_TYPE")
        assumed, slots, judgments = self._edition.assumed_mention, self._slots, lines.JUDGMENT_OF_CODE
        self.links.make_follow_ons()
        linked, assessments, follow_ons = self.links.queries, self.links.assessments, self.links.follow_ons
        for number, text, columns in tab_file.lines:
            full_id, _, slot = columns[at_query].partition(":")
            query = linked.get(full_id) or self._find_query(full_id, number)
            relation, value, provenance = columns[at_answer : at_answer + 3]
            kept, target = self._read_answer(query, relation, value, provenance, number, text)
            answer = kept or (relation, value, provenance)
            follow_on = follow_ons.get(target)
            if follow_on is None and (known := self._below.get(target)) is not None:
                follow_on = follow_ons[target] = known.copy()  # gold's own never changes
            if follow_on is None:
                follow_on = self._new_follow_on(target, query, answer[2], number)
                answer = _as_entry_point(answer)
            code, value_class = columns[at_code], columns[at_class]
            is_accepted = code == "C" or code == "X"
            has_class = value_class != "0" and value_class != ""
            if is_accepted and not has_class:
                problem = f"Correct entry without equivalence class, query = {query.short_id} at line {number}"
                raise self._error(number, problem, None, "CORRECT_WITHOUT_CLASS")
            if has_class and not is_accepted:
                problem = "Equivalence class without correct entry"
                problem += f", query = {query.short_id}, judgment = , ec = {value_class}"
                raise self._error(number, problem, None, "CLASS_WITHOUT_CORRECT")
            is_plain = slot == query.known_slot and all(map(str.strip, columns)) and (slots is None or slot in slots)
            if not is_plain and not self._is_accepted(tab_file, columns, slot, query, number):
                self._skip(target, answer[2], len(assessments), number, query, text)
                continue
            for given in (code, columns[at_provenance_code]):
                if given not in judgments:
                    where = f"{given} in file: {self._file} at line: {number}"
                    problem = f"Unknown assessment code: {where if self._edition.names_unknown_code else ''}"
                    remedy = f"the codes are {' '.join(judgments)}"
                    raise self._error(number, problem, remedy, "UNKNOWN_ASSESSMENT_CODE")
            mention, class_mention = assumed, "0" if assumed and value_class == "0" else assumed
            if at_mention is not None and at_class_mention is not None:
                mention, class_mention = sys.intern(columns[at_mention]), sys.intern(columns[at_class_mention])
            judged = judgments[code], is_accepted, sys.intern(value_class), mention, class_mention
            assessment = Assessment(number, text, query, answer, *judged, target, self._file)
            assessments.append(assessment)
            follow_on.add(assessment)

    def _find_query(self, full_id: str, number: int) -> LinkedQuery:
        query = self.links.query(full_id)
        if query is None:
            # Most ids ask about an answer that was linked before, and are known to be sound without being parsed.
            parent_id, _, short_id = full_id.rpartition("_")
            follow_on = self.links.follow_on(short_id)
            parent = None if follow_on is None else follow_on.query
            is_known = parent is not None and parent.full_id == parent_id
            query = lines.link_follow_on(parent, short_id) if parent and is_known else self._parsed(full_id, number)
        self.links.queries[full_id] = query
        return query

    def _parsed(self, full_id: str, number: int) -> LinkedQuery:
        remedy, code = "this is no query id; it should end in ten or twelve hexadecimal digits", "UNPARSABLE_QUERY_ID"
        parts = read_query_id(full_id, remedy, file=self._file, place=f"line {number}", code=code)
        found: LinkedQuery | None = None
        loaded = self.table.by_id.get(parts.short)
        follow_on = self.links.follow_on(parts.short)
        if loaded is not None:
            found = self.links.root(loaded)
            if found.full_id == full_id and len(loaded.entry_points) > 1:
                problem = "Attempt to execute method generate_query on query "
                raise self._error(
                    number,
                    f"{problem}{parts.short}, which has multiple entrypoints",
                    "runs and assessments name the queries made from its entry points (switch -expand)",
                    "QUERY_NOT_EXPANDED",
                )
        elif follow_on is not None and follow_on.query is not None:
            found = lines.link_follow_on(follow_on.query, parts.short)
        if found is not None and found.full_id == full_id:
            return found
        if full_id.startswith("\ufeff"):
            remedy = "the file begins with a byte-order mark, which becomes part of this id; save the file without it"
        elif found is not None:
            remedy = f"the query with that short id is {found.full_id}; compare the prefix (switch -expand)"
        elif parts.short in self._ids_of_other_editions:
            hashes = self._edition.hashes_text_once
            other = next(e.name for e in reversed(EDITIONS.values()) if e.hashes_text_once != hashes)
            remedy = (
                f"an earlier line gives its answer; ids of letters outside ASCII are those of --follow {other} here"
            )
        elif parts.level and parts.short != parts.short.lower() and self.links.follow_on(parts.short.lower()):
            written = f"{full_id.rpartition('_')[0]}_{parts.short.lower()}"
            remedy = f"an earlier line gives the answer; the id is written in small letters: {written}"
        elif parts.level:
            remedy = "no earlier line has given the answer that it asks about; parent lines must come first"
        elif parts.prefix and self.table.would_expand_to(parts.short):
            remedy = f"it is an entry point of an LDC query: score with -expand {parts.prefix.rpartition('_')[0]}"
        else:
            remedy = "no query file defines it; are the query files and -expand the right ones?"
        kind = NoAnswerYetError if found is None and parts.level else InputError
        raise self._error(number, f"Query {full_id} not loaded", remedy, "QUERY_NOT_LOADED", kind)

    @functools.cached_property
    def _ids_of_other_editions(self) -> frozenset[str]:
        """Follow-on ids of the answers so far, as editions make them that hash text in the other way; made once."""
        other = replace(self._edition, hashes_text_once=not self._edition.hashes_text_once)
        layers = [self.links] if self.links.below is None else [self.links, self.links.below]
        loaded: list[Assessment | Response] = [line for layer in layers for line in layer.assessments]
        loaded += [line for layer in layers for line in layer.responses]
        answers = ((line.query.full_id, line.value, line.provenance) for line in loaded if not line.text.isascii())
        return frozenset(queries.follow_on_id(*answer, other) for answer in answers)

    def _read_answer(
        self, query: LinkedQuery, relation: str, value: str, provenance: str, number: int, text: str
    ) -> KnownAnswer:
        if self.links.waiting:  # follow-on queries are made in the order of their lines
            self.links.make_follow_ons()
        kept = None
        if not tab_files.are_plain(relation, provenance, self._documents, self._edition):
            kept = relation, value, provenance = self._canonical(relation, value, provenance, number, text)
        target = queries.follow_on_id(query.full_id, value, provenance, self._edition)
        if self._known is not None and kept is None and len(self._known) < _MOST_KNOWN:
            self._known[answer_key(query.full_id, relation, value, provenance)] = None, target
        return kept, target

    def _canonical(self, relation_text: str, value: str, value_text: str, number: int, text: str) -> Answer:
        edition = self._edition
        relation = tab_files.read_provenance(relation_text, tab_files.RELATION_SPANS, self._documents, edition)
        provenance = tab_files.read_provenance(value_text, edition.most_value_spans, self._documents, edition)
        place = Place(self._file, number)
        for column, read in (("RELATION_PROVENANCE_TRIPLES", relation), ("VALUE_PROVENANCE_TRIPLES", provenance)):
            for code, arguments, written, repaired in read.problems:
                self.problems.add(code, *arguments, place=place, detail=Detail(column, written, repaired))
        if relation.docid != provenance.docid and edition.joins_documents:
            self.problems.add("MULTIPLE_DOCIDS_IN_RESPONSE", f"\n{text}", place=place)
        return relation.canonical, value, provenance.canonical

    def _new_follow_on(self, target: str, query: LinkedQuery, provenance: str, number: int) -> FollowOn:
        """Return the query about an answer that no line before has given, and report what is wrong with it."""
        if query.is_ldc:
            full_id, place = f"{query.full_id}_{target}", f"line {number}"
            remedy = "runs and assessments name slot-filling queries, whose ids end in ten hexadecimal digits"
            read_query_id(full_id, remedy, file=self._file, place=place, code="QUERY_NOT_EXPANDED")
        # Nearly all documents say their language, which need not be found out for each.
        if "_ENG_" not in provenance and provenance[:4] not in self._clear_starts:
            self._report_language(tab_files.document_of(provenance) if provenance else "")
        if query.unknown_next or self._slots is not None:
            for slot in query.slots[1:]:
                if not has_slot(slot, self._edition):
                    self.problems.add("UNKNOWN_SLOT_NAME", slot)
        follow_on = self.links.follow_ons[target] = FollowOn(target, query)
        return follow_on

    def _report_language(self, docid: str) -> None:
        """Warn of a document whose language is guessed; remember beginnings of ids that tell it by themselves."""
        if language_code(docid, self._edition) is None:
            self.problems.add("FAILED_LANG_INFERENCE", docid, queries.DEFAULT_LANGUAGE)
        elif language_code(docid[:4], self._edition) is not None:
            self._clear_starts.add(docid[:4])

    def _confidence(self, written: str, number: int) -> float:
        confidence = tab_files.read_confidence(written)
        if confidence.codes:
            self.links.altered.add(len(self.links.responses))
        for code in confidence.codes:
            detail = Detail("CONFIDENCE", written, confidence.text)
            self.problems.add(code, written, place=Place(self._file, number), detail=detail)
        return confidence.value

    def _is_accepted(
        self, tab_file: tab_files.TabFile, columns: list[str], slot: str, query: LinkedQuery, number: int
    ) -> bool:
        place = Place(self._file, number)
        if not has_slot(slot, self._edition):
            self.problems.add("UNKNOWN_SLOT_NAME", slot, place=place)
        for column, text in zip(tab_file.schema.columns, columns):
            # An empty confidence is an illegal one, which 1.0 has taken the place of; a # is text here.
            if column != "CONFIDENCE" and "#" not in text and tab_files.is_blank_or_comment(text):
                self.problems.add("EMPTY_FIELD", column, place=place)
                return False
        if not query.slots or slot != query.slots[0]:
            expected = query.slots[0] if query.slots else ""
            named = query.full_id if self._edition.names_wrong_slot_in_full else query.short_id
            self.problems.add("WRONG_SLOT_NAME", slot, named, expected, place=place)
            return False
        return True

    def _skip(self, target: str, provenance: str, before: int, number: int, query: LinkedQuery, text: str) -> None:
        place = before, self._file, number
        self.links.skipped.append(lines.SkippedLine(target, tab_files.document_of(provenance), *place, query, text))
        self.links.skipped_follow_ons.add(target)

    def _error(
        self, number: int, problem: str, remedy: str | None, code: str, kind: type[InputError] = InputError
    ) -> InputError:
        return kind(problem, file=self._file, place=f"line {number}", remedy=remedy, code=code)


def _as_entry_point(answer: Answer) -> Answer:
    """Return the answer of the line that creates a follow-on query, whose entry point its provenance becomes.

    A provenance without a span is changed by that, so that no other line has the same answer.
    """
    relation, value, provenance = answer
    if provenance:
        return answer
    return relation, value, tab_files.NO_SPAN


RUN_SUFFIX = ".tab.txt"  # members of a folder that count as runs or assessments end like this, perhaps compressed


def members(given: Input) -> list[Input]:
    """Return the run and assessment files of a folder by name, whatever its letter case; anything else is itself.

    Hidden files, whose names begin with a dot, do not count.
    """
    if not isinstance(given, (str, os.PathLike)) or not os.path.isdir(given):
        return [given]
    folder = os.fspath(given)
    names = []
    for name in os.listdir(folder):
        if plain_name(name).endswith(RUN_SUFFIX) and not name.startswith("."):
            names.append(name)
    return [file_in_folder(f"{folder}/{name}") for name in sorted(names, key=_order_in_folder)]


def _order_in_folder(name: str) -> tuple[bytes, bytes]:
    """Return the sort key of a file: its name in lower case, where only ASCII letters have two cases."""
    written = os.fsencode(name)
    return written.lower(), written


_NO_FILE, _NOT_LOADED = f"no file *{RUN_SUFFIX} in ", ", so nothing of it was loaded"


def folders_without_files(files: Iterable[Input]) -> list[str]:
    """Return the folders among files that hold no run or assessments by their names."""
    return [name_of(given) for given in files if not members(given)]


def what_folders_hold(folders: Iterable[str]) -> str:
    """Return what is in folders without files to load, with the files or the folder to name."""
    return "; ".join(f"{folder}: {describe_folder(folder, RUN_SUFFIX)}" for folder in folders)


def remarks_on_folders(files: Sequence[Input]) -> list[str]:
    """Return remarks on folders that hold no file to load. Raises InputError where nothing else was named."""
    empty = folders_without_files(files)
    if empty and len(empty) == len(files):
        problem = f"nothing to load: no file *{RUN_SUFFIX} in {', '.join(empty)}"
        raise InputError(problem, remedy=what_folders_hold(empty))
    return [f"{_NO_FILE}{name}{_NOT_LOADED}" for name in empty]


def folder_without_files(remark: str) -> str | None:
    """Return the folder that a remark says holds no file to load; None for another remark."""
    if not remark.startswith(_NO_FILE) or not remark.endswith(_NOT_LOADED):
        return None
    return remark.removeprefix(_NO_FILE).removesuffix(_NOT_LOADED)


def role_of(schema: Schema | None) -> str:
    return POOL if schema is not None and schema.kind is FileKind.ASSESSMENTS else RUN


def kind_of(given: Input, edition: Edition = LATEST) -> FileKind | None:
    """Whether a file is a run or assessments, by its first line; None for an empty one. Raises InputError."""
    with open_source(given) as source:
        tab_file = tab_files.read_tab_file(source, ProblemLog(), edition=edition)
    return None if tab_file is None else tab_file.schema.kind
