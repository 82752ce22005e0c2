"""Load runs and assessments, and link each line to its query, to the follow-on query about its answer, and to its node
(the lines about one entity). Links hold the lines and queries that are loaded, an edition has the rules of one year.

A follow-on query asks about an answer. Its id is computed from the answer, so that lines of the second hop can name it.
Lines are linked in load order: a line may name only queries of the query files, and follow-on queries about answers of
earlier lines (rule lines).
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.display import join_first
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import POOL, RUN
from cs_score.base.sources import (
    Input,
    InputDigest,
    checked_file_or_folder,
    name_of,
    name_without_compression,
    open_source,
)
from cs_score.coldstart import queries, tab_files
from cs_score.coldstart.file_columns import RUN_2014, RUN_2017, VALUE_TYPES_2016, FileKind, Schema
from cs_score.coldstart.forms import command_removing_nil_lines, conversion_command, describe_folder, is_nil_line
from cs_score.coldstart.limits import DiscardRules
from cs_score.coldstart.lines import (
    FOLLOW_ON_PLACEHOLDER,
    JUDGMENT_OF_CODE,
    Answer,
    Assessment,
    FollowOn,
    LinkedQuery,
    Links,
    Response,
    SkippedLine,
    link_follow_on,
)
from cs_score.coldstart.options import EDITIONS, LATEST, Edition, JustificationLimits
from cs_score.coldstart.queries import QueryId, QuerySet, has_slot, language_code, read_query_id
from cs_score.problems.log import Detail, Place, ProblemLog

_MOST_KNOWN: Final = 1 << 18  # answers that are remembered: with their texts they need some 80 MB
KnownAnswer: TypeAlias = tuple[Answer | None, str]
"""The answer in the form of its assessment, None if it was not assessed, and the short id of its follow-on query."""
KnownAnswers: TypeAlias = dict[str, KnownAnswer]
"""Answers of lines that were loaded before, by `answer_key`, as far as they were written in canonical form.

A line that gives one of these answers need not be read in detail, and no hash is computed for its follow-on query.
"""


def answer_key(query_id: str, relation: str, value: str, provenance: str) -> str:
    """Return the key of an answer in `KnownAnswers`: the id of its query and its columns, joined by tabs.

    Columns contain no tabs, so that different answers have different keys.
    """
    return f"{query_id}\t{relation}\t{value}\t{provenance}"


_MENTION_TYPES: Final = ("NAM", "NOM")
_ACCEPTING_CODES: Final = ("C", "X")  # the judgments correct and inexact
NO_NODE: Final = "0"  # the node id of a line that has none


class NoAnswerYetError(InputError):
    """A line names a follow-on query about an answer that no earlier line gives, although another file may give it."""


class _AssessmentPositions(NamedTuple):
    """The positions of the columns in a layout of assessments, counted from 0.

    `code` is the position of the assessor's judgment on the answer, and `provenance_code` that of the judgment on the
    justification. `mention_type` is the position of the mention type of the answer, such as `NAM` for a name, and
    `class_mention_type` that of its equivalence class; both are None in layouts without mention types.
    """

    query: int
    relation: int
    value: int
    provenance: int
    code: int
    provenance_code: int
    value_class: int
    mention_type: int | None
    class_mention_type: int | None

    @classmethod
    def find_in(cls, schema: Schema) -> _AssessmentPositions:
        """Return the positions of the columns in a layout of assessments."""
        position_of_required = schema.columns.index
        return cls(
            query=position_of_required("QUERY_AND_SLOT_NAME"),
            relation=position_of_required("RELATION_PROVENANCE_TRIPLES"),
            value=position_of_required("VALUE"),
            provenance=position_of_required("VALUE_PROVENANCE_TRIPLES"),
            code=position_of_required("VALUE_ASSESSMENT"),
            provenance_code=position_of_required("PROVENANCE_ASSESSMENT"),
            value_class=position_of_required("VALUE_EC"),
            # Early layouts lack these two columns.
            mention_type=schema.position("VALUE_MENTION_TYPE"),
            class_mention_type=schema.position("EC_MENTION_TYPE"),
        )


class LoadingSettings(NamedTuple):
    """The settings for loading lines in a program that prepares files for the scorer, such as a validator.

    Provenances are checked against `document_lengths`, the length of each document. `allow_comments` says that comments
    at the ends of lines are removed. `is_validation` says that no line will be scored, so that follow-on queries are
    made only when they are needed. `on_error` is called with the error of each line that cannot be linked, and loading
    continues with the next line. `after_run` is called with the `Loading` after each run file.
    """

    document_lengths: tab_files.DocumentLengths | None = None
    allow_comments: bool = False
    is_validation: bool = False
    on_error: Callable[[InputError], None] | None = None
    after_run: Callable[[Loading], None] | None = None


_SETTINGS_FOR_SCORING: Final = LoadingSettings()
"""The settings for lines that are scored: nothing is prepared."""


class Loading:
    """Load runs and assessments, file after file.

    `links` are the lines so far with their queries, `discard_rules` says which of them are beyond the limits, `layouts`
    is the layout of each file by name, `digests` the digest of each file, `remarks` are sentences for people about the
    files.
    """

    def __init__(
        self,
        query_set: QuerySet,
        limits: JustificationLimits,
        problems: ProblemLog,
        *,
        gold_links: Links | None = None,
        known_answers: KnownAnswers | None = None,
        only_run_id: str | None = None,
        settings: LoadingSettings = _SETTINGS_FOR_SCORING,
    ) -> None:
        """Prepare to load lines that answer the queries of `query_set`, with these limits on justifications.

        `gold_links` are the links of gold, on which the links of the loaded lines build. `known_answers` are answers of
        earlier runs, to which new answers are added. `only_run_id` is the run whose lines are loaded, or None for all
        runs. `settings` are for programs that prepare files for the scorer. By default, lines are loaded to be scored.
        """
        self.query_set = query_set
        self.problems = problems
        self.links = Links(query_set, gold_links)
        self.discard_rules = DiscardRules(limits, problems)
        self.remarks: list[str] = []
        self.digests: list[InputDigest] = []
        self.layouts: dict[str, Schema] = {}
        underlying_links = self.links.underlying_links
        self._gold_follow_ons = {} if underlying_links is None else underlying_links.follow_ons
        self._edition = query_set.edition
        # The slots that the edition knows, or None for editions that know the whole inventory.
        self._legal_slots = queries.slots_before_events() if query_set.edition.slot_filling_only else None
        self._known_answers = known_answers
        self._only_run_id = only_run_id
        self._document_lengths = settings.document_lengths
        self._allow_comments = settings.allow_comments
        self._on_error = settings.on_error
        self._after_run = settings.after_run
        self._makes_follow_ons_late = settings.is_validation and _can_make_follow_ons_late(self.links)
        self._file = ""
        # Prefixes of document ids, four characters long, that identify the language of the document.
        self._language_prefixes: set[str] = set()

    def load(self, files: Iterable[Input]) -> None:
        """Load runs and assessments in the given order, and all files of a folder in the place of the folder.

        Raises InputError for a line that cannot be linked, and for a file of an unknown layout.
        """
        with paused_garbage_collection():
            for file in files:
                for member in expand_folder(file):
                    self._load_file(member)

    def _load_file(self, file: Input) -> None:
        """Load the lines of one file, and store the digest of the file. An empty file counts as a run."""
        with open_source(file) as source:
            tab_file = tab_files.read_tab_file(
                source,
                self.problems,
                edition=self._edition,
                allow_comments=self._allow_comments,
                only_run_id=self._only_run_id,
            )
            if tab_file is None:  # the size of the file is 0
                self.digests.append(source.digest(RUN))
                return
            self.note_layout(tab_file.name, tab_file.schema)
            self.load_lines(tab_file)
            # The digest is complete only after the last line was read.
            self.digests.append(source.digest(role_of(tab_file.schema)))

    def note_layout(self, file: str, layout: Schema) -> None:
        """Store the layout of a file, and add a remark if it contains assessments without mention types.

        The remark tells the user that the edition therefore treats all answers as names, or none of them.
        """
        self.layouts[file] = layout
        has_mention_types = layout.position("VALUE_MENTION_TYPE") is not None
        if layout.kind is not FileKind.ASSESSMENTS or has_mention_types:
            return
        # Editions ignore either single nominal answers, or whole nodes without the mention type of a name.
        ignores_whole_nodes = not self._edition.ignores_each_nominal
        if self._edition.assumed_mention is not None:
            self.remarks.append(f"{file} has no mention types ({layout.name}): all its answers are taken for names")
        elif ignores_whole_nodes:
            self.remarks.append(
                f"{file} has no mention types ({layout.name}): no answer that it calls correct is known to be a name, "
                "so all of them are ignored and every score is 0; --follow 3.0 scores it as in 2016, --mention-types "
                "assume-name takes its answers for names"
            )

    def load_lines(self, tab_file: tab_files.TabFile) -> None:
        """Link the lines of a file. If it is a run, also find the lines that exceed the limits on justifications.

        Raises InputError for a line that cannot be linked, unless there is a callback `on_error` for it.
        """
        self._file = tab_file.name
        if tab_file.schema.kind is not FileKind.RUN:
            self._load_assessments(tab_file)
            return
        self._link_all(self._link_run, tab_file)
        self.links.unread_lines += tab_file.unread_lines
        self._remark_on_nil_lines(tab_file)
        # The limits concern nodes, which only runs of 2017 have. After a fatal error no line is written or scored.
        if tab_file.schema is RUN_2017 and not self.problems.fatal_errors:
            self._apply_limits()
        if self._after_run is not None:
            self._after_run(self)

    def _apply_limits(self) -> None:
        """Mark the lines that exceed the limits on justifications as discarded, among all run lines loaded so far."""
        has_lines_of_later_hops = any(query.level > 0 for query in self.links.queries.values())
        if has_lines_of_later_hops:
            # The rules find the parent lines of these lines through follow-on queries, which a validation has not made
            # yet.
            self.links.make_follow_ons()
        self.discard_rules.apply(self.links.responses, self.links.lines_by_node, self.links.is_in_order)

    def _load_assessments(self, tab_file: tab_files.TabFile) -> None:
        """Link the lines of an assessment file. Raises InputError if gold already has assessments."""
        gold_links = self.links.underlying_links  # the links of a run lie over the links of gold
        if gold_links is not None and gold_links.assessments:
            raise InputError("these are assessments, not a run", file=tab_file.name, remedy="add them to the pool")
        count_before = len(self.links.assessments)
        self._link_all(self._link_assessments, tab_file)
        assessments_of_file = self.links.assessments[count_before:]
        self._remark_on_mention_types(tab_file, assessments_of_file)

    def _link_all(self, link_lines: Callable[[tab_files.TabFile], None], tab_file: tab_files.TabFile) -> None:
        """Link all lines of a file that can be linked, by calling `link_lines` until no line is left.

        If a line cannot be linked, its error is passed to the callback `on_error`, and linking continues with the next
        line. The error is raised if there is no callback.
        """
        while True:
            try:
                # The lines of a file are an iterator, so the next call after an error begins with the next line.
                link_lines(tab_file)
                return
            except InputError as error:
                if self._on_error is None:
                    raise
                self._on_error(error.with_traceback(None))  # the frames would keep four kilobytes for each line
            if tab_file.schema is RUN_2014:  # runs of 2014 cannot be scored; every line would cause the same error
                return

    def _remark_on_mention_types(self, tab_file: tab_files.TabFile, assessments: Iterable[Assessment]) -> None:
        """Add a remark if accepted answers of an assessment file do not count as names because of their mention types.

        `assessments` are the assessments of the file. Files without mention types are skipped, because they get another
        remark.
        """
        has_mention_types = tab_file.schema.position("VALUE_MENTION_TYPE") is not None
        # Editions that ignore nominal answers one by one do not need a name for each node.
        if not has_mention_types or self._edition.ignores_each_nominal:
            return
        accepted_assessments = [assessment for assessment in assessments if assessment.is_accepted]
        assessments_without_name = _assessments_without_name(accepted_assessments)
        if assessments_without_name:
            self.remarks.append(
                _remark_on_answers_without_name(tab_file, assessments_without_name, accepted_assessments)
            )

    def _remark_on_nil_lines(self, tab_file: tab_files.TabFile) -> None:
        """Add a remark if a run has NIL lines (lines for queries without answers), which do not exist in Cold Start.

        NIL lines are among the unread lines, because they have fewer columns than the lines of a run.
        """
        nil_lines = [line for line in tab_file.unread_lines if is_nil_line(tab_files.split_columns(line.text))]
        if nil_lines:
            self.remarks.append(
                f"{tab_file.name}: {len(nil_lines)} NIL line(s) of regular slot filling are no answers and count as "
                f"errors; to leave them out: {command_removing_nil_lines(tab_file.name)}"
            )

    # This method is long to save time: calling a method for each of a million lines takes longer than a step of this
    # loop. For the same reason attributes that every line needs are looked up once, before the loop.
    def _link_run(self, tab_file: tab_files.TabFile) -> None:
        """Add the lines of a run file to the links, each with its query, the query about its answer, and its node.

        Lines that do not count are added to the skipped lines. Raises InputError for a line that names an unknown
        query.
        """
        file = tab_file.name
        if tab_file.schema is RUN_2014:
            raise self._error_of_2014(tab_file)
        has_nodes = tab_file.schema.position("NODEID") is not None
        links = self.links
        slots = self._legal_slots
        types_without_problems: set[str] = set()
        find_known_answer = (self._known_answers or {}).get
        query_by_id = links.queries
        responses = links.responses
        nodes = links.lines_by_node
        follow_ons = links.follow_ons
        gold_follow_ons = self._gold_follow_ons
        makes_follow_ons_late = self._makes_follow_ons_late
        not_yet_made = FOLLOW_ON_PLACEHOLDER
        for line_number, text, columns in tab_file.lines:
            # The columns before the answer: the query, the confidence, the type of the answer.
            full_id, slot, run_id, relation, value, value_type, provenance, confidence_text = columns[:8]
            query = query_by_id.get(full_id) or self._find_query(full_id, line_number)
            confidence = tab_files.plain_confidence(confidence_text) or self._read_confidence(
                confidence_text, line_number
            )
            if value_type not in types_without_problems and self._check_value_type(value_type, line_number):
                types_without_problems.add(value_type)
            # Nearly all lines surely count; `_report_refusal` looks at the others.
            surely_counts = (
                slot == query.known_slot and all(map(str.strip, columns)) and (slots is None or slot in slots)
            )

            # The query about the answer. A validation makes it later if the answer cannot cause a report.
            if makes_follow_ons_late and surely_counts and self._is_surely_faultless(query, relation, provenance):
                stored_answer = None
                follow_on = not_yet_made
            else:
                key = answer_key(full_id, relation, value, provenance)
                stored_answer, follow_on_id = find_known_answer(key) or self._read_answer(
                    query, (relation, value, provenance), line_number, text
                )
                if stored_answer is not None:
                    provenance = stored_answer[2]
                    links.altered_indexes.add(len(responses))
                earlier_follow_on = follow_ons.get(follow_on_id) or gold_follow_ons.get(follow_on_id)
                follow_on = earlier_follow_on or self._new_follow_on(follow_on_id, query, provenance, line_number)
                if stored_answer is not None and earlier_follow_on is None:
                    stored_answer = _with_written_provenance(stored_answer)
            if not surely_counts and self._report_refusal(tab_file, columns, slot, query, line_number):
                line = (line_number, text, columns)
                self._add_skipped_line(
                    line, query, follow_on_id=follow_on.id, provenance=provenance, accepted_line_count=len(responses)
                )
                continue

            # The node.
            prefix = self._node_prefix(query) if query.level else full_id
            node = None
            lines_of_node: Sequence[Response] | None = None
            if has_nodes and columns[8] != NO_NODE:
                node = prefix + columns[8]
                lines_of_node = nodes.get(node)
                if lines_of_node is not None:
                    node = lines_of_node[0].node  # one text for all lines of a node

            response = Response(
                index=len(responses),
                number=line_number,
                text=text,
                query=query,
                run_id=sys.intern(run_id),
                confidence=confidence,
                node=node,
                follow_on=follow_on,
                file=file,
                stored_answer=stored_answer,
            )
            responses.append(response)
            if follow_on is not_yet_made:
                links.lines_awaiting_follow_on.append(response)
            if node is None:
                continue
            if lines_of_node is None:
                nodes[node] = (response,)  # most nodes have one line: a list for each would take 40 bytes more
            elif isinstance(lines_of_node, list):
                lines_of_node.append(response)
            else:
                nodes[node] = [*lines_of_node, response]
            if not prefix:
                links.lines_without_parent.append(response)

    def _is_surely_faultless(self, query: LinkedQuery, relation_text: str, provenance_text: str) -> bool:
        """Return whether a quick check can rule out that the follow-on query of an answer causes a report.

        The query must not be an LDC query, the inventory must have all its slots, and the id of the answer's document
        must identify the language. Both provenances of the answer, `relation_text` and `provenance_text`, must be in
        canonical form.
        """
        if query.is_ldc or query.unknown_later_slots:
            return False
        # A document id identifies its language by `_ENG_` (`NYT_ENG_20130513`), or by a prefix that was checked
        # earlier.
        tells_language = "_ENG_" in provenance_text or provenance_text[:4] in self._language_prefixes
        return tells_language and tab_files.are_surely_canonical(relation_text, provenance_text, self._document_lengths)

    def _error_of_2014(self, tab_file: tab_files.TabFile) -> InputError:
        """Return the error for a run of 2014, which cannot be scored (rule seven-column-runs).

        The error names the next line of the file. There must be at least one.
        """
        line_number, _, _ = next(tab_file.lines)
        remedy = "runs of 2014 (seven columns) cannot be scored"
        # The reference scorer does not find a query id in these lines, so its message has an empty id between two
        # blanks.
        return self._error_at_line(line_number, "Query  not loaded", remedy, "RUN_OF_2014")

    def _check_value_type(self, value_type: str, line_number: int) -> bool:
        """Report an illegal value type of a run line, and return whether the type is legal and in capitals.

        If the result is True, later lines with the same type need not be checked. The index of a line whose type is not
        in capitals is added to `altered_indexes`, because all types of a validated run are in capitals.
        """
        legal_types = VALUE_TYPES_2016 if self._edition.slot_filling_only else queries.NODE_TYPES
        is_legal = value_type.lower() in legal_types
        if not is_legal:
            self.problems.add("ILLEGAL_VALUE_TYPE", value_type, place=Place(self._file, line_number))
        is_in_capitals = value_type.isupper()
        if not is_in_capitals:
            index_of_line = len(self.links.responses)
            self.links.altered_indexes.add(index_of_line)
        return is_legal and is_in_capitals

    def _node_prefix(self, query: LinkedQuery) -> str:
        """Return the beginning of the full node ids of the lines that answer a follow-on query.

        The full node id of a line consists of this prefix and the node id of the line. At the second hop, the prefix is
        the node of the first line with the answer that the query is about, such as `CSX_ENG_00fb79cef8:E1`. It is empty
        if no earlier line gives that answer. At later hops, the prefix is the full id of the query.

        If no earlier line gives the answer, `is_in_order` of the links is set to False.
        """
        parent_node = self.links.parent_node_of_query(query.short_id)
        if parent_node is None:
            self.links.is_in_order = False
        if query.level > 1:
            return query.full_id
        return parent_node or ""

    def _link_assessments(self, tab_file: tab_files.TabFile) -> None:
        """Add the lines of an assessment file to the links, each with its query and the query about its answer.

        Raises InputError for a line that names an unknown query, and for a line that contradicts itself.
        """
        positions = _AssessmentPositions.find_in(tab_file.schema)
        self.links.make_follow_ons()  # assessments are added to the follow-on queries of earlier run lines
        for line in tab_file.lines:
            self._link_assessment(line, positions, tab_file)

    def _link_assessment(
        self, line: tab_files.Line, positions: _AssessmentPositions, tab_file: tab_files.TabFile
    ) -> None:
        """Add a line of an assessment file to the links, as an assessment or, if it does not count, as a skipped line.

        `positions` are the positions of the columns in the layout of the file.
        """
        line_number, _, columns = line
        # The column of the query contains its id and the slot: `CSX_ENG_00fb79cef8:per:children`.
        full_id, _, slot = columns[positions.query].partition(":")
        query = self.links.queries.get(full_id) or self._find_query(full_id, line_number)
        # A follow-on query about the answer is made even if the line does not count.
        answer, follow_on = self._read_assessed_answer(line, positions, query)
        self._check_class(line_number, query, columns[positions.code], columns[positions.value_class])
        # Nearly all lines obviously count. `_report_refusal` examines the other lines, and returns whether the line is
        # refused. Calling it for each line would be slower.
        is_legal_slot = self._legal_slots is None or slot in self._legal_slots
        surely_counts = is_legal_slot and slot == query.known_slot and all(map(str.strip, columns))
        if not surely_counts and self._report_refusal(tab_file, columns, slot, query, line_number):
            count_before = len(self.links.assessments)
            _, _, provenance = answer
            self._add_skipped_line(
                line, query, follow_on_id=follow_on.id, provenance=provenance, accepted_line_count=count_before
            )
            return
        assessment = self._make_assessment(line, positions, query, answer, follow_on_id=follow_on.id)
        self.links.assessments.append(assessment)
        follow_on.add(assessment)

    def _read_assessed_answer(
        self, line: tab_files.Line, positions: _AssessmentPositions, query: LinkedQuery
    ) -> tuple[Answer, FollowOn]:
        """Return the answer of an assessment in canonical form, and the follow-on query about it.

        If no earlier line gives the answer, the follow-on query is new, and is entered in the links.
        """
        line_number, text, columns = line
        written_answer = (columns[positions.relation], columns[positions.value], columns[positions.provenance])
        repaired_answer, follow_on_id = self._read_answer(query, written_answer, line_number, text)
        answer = repaired_answer or written_answer
        follow_on = self._assessed_follow_on(follow_on_id)
        if follow_on is None:
            _, _, provenance = answer
            follow_on = self._new_follow_on(follow_on_id, query, provenance, line_number)
            answer = _with_written_provenance(answer)
        return answer, follow_on

    def _make_assessment(
        self,
        line: tab_files.Line,
        positions: _AssessmentPositions,
        query: LinkedQuery,
        answer: Answer,
        follow_on_id: str,
    ) -> Assessment:
        """Return the assessment that a line gives for an answer to `query`.

        `follow_on_id` is the short id of the follow-on query about the answer. The line also gives the equivalence
        class of the answer (`value_class`), the mention type of the answer, such as NAM (`value_mention`), and the best
        mention type of the class (`class_mention`). Raises InputError if the judgment on the answer or on its
        justification is not an assessment code, such as `C` for correct.
        """
        line_number, text, columns = line
        code = columns[positions.code]
        for judgment_code in (code, columns[positions.provenance_code]):
            if judgment_code not in JUDGMENT_OF_CODE:
                raise self._error_of_unknown_code(judgment_code, line_number)
        value_mention, class_mention = self._mention_types(columns, positions)
        return Assessment(
            number=line_number,
            text=text,
            query=query,
            answer=answer,
            judgment=JUDGMENT_OF_CODE[code],
            is_accepted=code in _ACCEPTING_CODES,
            value_class=sys.intern(columns[positions.value_class]),
            value_mention=value_mention,
            class_mention=class_mention,
            follow_on_id=follow_on_id,
            file=self._file,
        )

    def _assessed_follow_on(self, follow_on_id: str) -> FollowOn | None:
        """Return the follow-on query to which assessments of an answer can be added, or None if it does not exist yet.

        `follow_on_id` is the short id of the query. If the query exists only in gold, it is first copied into these
        links, because gold never changes.
        """
        follow_on = self.links.follow_ons.get(follow_on_id)
        if follow_on is not None:
            return follow_on
        gold_follow_on = self._gold_follow_ons.get(follow_on_id)
        if gold_follow_on is None:
            return None
        follow_on = gold_follow_on.copy()
        self.links.follow_ons[follow_on_id] = follow_on
        return follow_on

    def _check_class(self, line_number: int, query: LinkedQuery, judgment_code: str, value_class: str) -> None:
        """Raise InputError for an accepted answer without an equivalence class, or for a rejected answer with a class.

        `judgment_code` is the judgment on the answer, such as `C` for correct. `value_class` is the class that the line
        names. It is `0` or empty for an answer without a class.
        """
        has_class = value_class not in ("0", "")
        is_accepted = judgment_code in _ACCEPTING_CODES
        if is_accepted and not has_class:
            problem = f"Correct entry without equivalence class, query = {query.short_id} at line {line_number}"
            raise self._error_at_line(line_number, problem, remedy=None, code="CORRECT_WITHOUT_CLASS")
        if has_class and not is_accepted:
            # The reference scorer does not print the judgment here, although it knows it.
            problem = (
                f"Equivalence class without correct entry, query = {query.short_id}, judgment = , ec = {value_class}"
            )
            raise self._error_at_line(line_number, problem, remedy=None, code="CLASS_WITHOUT_CORRECT")

    def _error_of_unknown_code(self, code: str, line_number: int) -> InputError:
        """Return the error for a text that is not an assessment code, such as `C` for a correct answer."""
        problem = "Unknown assessment code: "
        if self._edition.names_unknown_code:
            problem += f"{code} in file: {self._file} at line: {line_number}"
        remedy = f"the codes are {' '.join(JUDGMENT_OF_CODE)}"
        return self._error_at_line(line_number, problem, remedy, "UNKNOWN_ASSESSMENT_CODE")

    def _mention_types(self, columns: Sequence[str], positions: _AssessmentPositions) -> tuple[str | None, str | None]:
        """Return the mention types of an assessed answer and of its equivalence class, such as `NAM` and `NOM`.

        If the layout has no columns for mention types, both are the type that the edition assumes, which is None or
        `NAM`. If the edition assumes `NAM` and the answer has no class, the second type is `0`.
        """
        if positions.mention_type is not None and positions.class_mention_type is not None:
            return sys.intern(columns[positions.mention_type]), sys.intern(columns[positions.class_mention_type])
        assumed_type = self._edition.assumed_mention
        has_class = columns[positions.value_class] != "0"  # the column contains `0` if an answer has no class
        if assumed_type is not None and not has_class:
            return assumed_type, "0"
        return assumed_type, assumed_type

    def _find_query(self, full_id: str, line_number: int) -> LinkedQuery:
        """Return the query that a line names, and enter it in the links for later lines.

        `full_id` is the id in the line. Raises InputError if no query file and no earlier line defines the query.
        """
        query = self.links.find_query(full_id)
        if query is None:
            query = self._query_about_answer(full_id)
        if query is None:
            query = self._find_query_by_last_component(full_id, line_number)
        self.links.queries[full_id] = query
        return query

    def _query_about_answer(self, full_id: str) -> LinkedQuery | None:
        """Return the query with this id if it is about an answer of an earlier line, or None otherwise.

        An answer to the query `CSX_ENG_00fb79cef8` leads to a query of the second hop about this answer. The full id of
        the new query is the id of the first query followed by a short id: `CSX_ENG_00fb79cef8_efa464516d81`. Most
        follow-on queries are found here, so their ids need not be parsed.
        """
        parent_id, _, short_id = full_id.rpartition("_")
        follow_on = self.links.find_follow_on(short_id)
        if follow_on is None:
            return None
        # This is the query that the answer belongs to. The query about the answer is linked to it.
        answered_query = follow_on.query
        if answered_query is None or answered_query.full_id != parent_id:
            return None
        return link_follow_on(answered_query, short_id)

    def _find_query_by_last_component(self, full_id: str, line_number: int) -> LinkedQuery:
        """Return the query that a line names, after looking it up by the last component of its id.

        The last component of `CSX_ENG_00fb79cef8` is `00fb79cef8`. Raises InputError if the text is not a query id, if
        the query is unknown, or if it is an LDC query with several entry points. If a later line may still give the
        answer that the query is about, the error is NoAnswerYetError.
        """
        parts = read_query_id(
            full_id,
            remedy="this is no query id; it should end in ten or twelve hexadecimal digits",
            file=self._file,
            place=f"line {line_number}",
            code="UNPARSABLE_QUERY_ID",
        )
        query = self._query_of_short_id(parts.short_id)
        if query is None or query.full_id != full_id:
            raise self._error_of_unknown_query(full_id, parts, query, line_number)
        self._check_single_entry_point(parts.short_id, line_number)
        return query

    def _check_single_entry_point(self, short_id: str, line_number: int) -> None:
        """Raise InputError if the query with this short id has several entry points, as LDC queries may have.

        Lines must name one of the queries that were made from the entry points.
        """
        loaded_query = self.query_set.by_id.get(short_id)
        if loaded_query is None or len(loaded_query.entry_points) < 2:
            return
        raise self._error_at_line(
            line_number,
            f"Attempt to execute method generate_query on query {short_id}, which has multiple entrypoints",
            remedy="runs and assessments name the queries made from its entry points (switch -expand)",
            code="QUERY_NOT_EXPANDED",
        )

    def _error_of_unknown_query(
        self, full_id: str, parts: QueryId, namesake: LinkedQuery | None, line_number: int
    ) -> InputError:
        """Return the error for a line whose query does not exist, with the likely reason.

        `parts` are the parts of the id that the line names. `namesake` is the query with the same short id, or None if
        there is none.
        """
        reason = self._why_not_loaded(full_id, parts, namesake)
        is_follow_on = parts.level > 0  # the id of a query of a later hop
        # A later line may define the query by giving the answer that it is about, unless its short id already belongs
        # to another full id.
        may_be_answered_later = namesake is None and is_follow_on
        kind = NoAnswerYetError if may_be_answered_later else InputError
        return self._error_at_line(line_number, f"Query {full_id} not loaded", reason, "QUERY_NOT_LOADED", kind)

    def _query_of_short_id(self, short_id: str) -> LinkedQuery | None:
        """Return the query with this short id: one of the query files, or one about an answer of an earlier line.

        The result is None if there is no such query.
        """
        loaded_query = self.query_set.by_id.get(short_id)
        if loaded_query is not None:
            return self.links.linked_query_of(loaded_query)
        follow_on = self.links.find_follow_on(short_id)
        if follow_on is None or follow_on.query is None:
            return None
        return link_follow_on(follow_on.query, short_id)

    def _why_not_loaded(self, full_id: str, parts: QueryId, namesake: LinkedQuery | None) -> str:
        """Return the likely reason why no query has the id that a line names, with a remedy.

        `parts` are the parts of the id. `namesake` is the query with the same short id, or None if there is none.
        """
        if full_id.startswith("\ufeff"):
            return "the file begins with a byte-order mark, which becomes part of this id; save the file without it"
        if namesake is not None:
            return f"the query with that short id is {namesake.full_id}; compare the prefix (switch -expand)"
        # Editions compute different ids for answers with letters outside ASCII. If the line names the id of another
        # edition, the message recommends scoring with that edition (--follow).
        if parts.short_id in self._ids_in_other_editions:
            edition = self._edition_with_other_ids()
            return (
                f"an earlier line gives its answer; ids of letters outside ASCII are those of --follow {edition} here"
            )
        if parts.level > 0:
            return self._why_no_answer_yet(full_id, parts.short_id)
        return self._why_not_in_query_files(parts)

    def _why_no_answer_yet(self, full_id: str, short_id: str) -> str:
        """Return the likely reason why no earlier line has given the answer that a follow-on query is about.

        `full_id` is the id that the line names, and `short_id` its last component. The answer may be there if capitals
        in the id are made small letters.
        """
        small_letters = short_id.lower()
        is_in_capitals = short_id != small_letters
        if is_in_capitals and self.links.find_follow_on(small_letters) is not None:
            parent_id, _, _ = full_id.rpartition("_")
            id_to_write = f"{parent_id}_{small_letters}"
            return f"an earlier line gives the answer; the id is written in small letters: {id_to_write}"
        return "no earlier line has given the answer that it asks about; parent lines must come first"

    def _why_not_in_query_files(self, parts: QueryId) -> str:
        """Return the likely reason why no query file defines a query of the first hop. `parts` are the parts of its id.

        The query may be one that is made from an entry point of an LDC query when queries are expanded.
        """
        if not parts.prefix or not self.query_set.would_expand_to(parts.short_id):
            return "no query file defines it; are the query files and -expand the right ones?"
        base, _, _ = parts.prefix.rpartition("_")  # "CSX" of the prefix "CSX_ENG", which ends in a language
        return (
            f"it is an entry point of an LDC query: score with -expand {base}; for commands without -expand, "
            f"cs-score validate-queries -expand -query_base {base} QUERIES.xml NEW.xml makes the query file"
        )

    def _edition_with_other_ids(self) -> str:
        """Return the name of the latest edition whose ids of follow-on queries differ from the ids of this edition.

        Ids are hashes of the text of an answer, which is encoded to UTF-8 once or, in some editions, twice.
        """
        for edition in reversed(EDITIONS.values()):
            if edition.hashes_text_once != self._edition.hashes_text_once:
                return edition.name
        raise LookupError("every edition hashes text in the same way")

    @functools.cached_property
    def _ids_in_other_editions(self) -> frozenset[str]:
        """The short ids, if different, that other editions compute for the queries about the loaded answers.

        A line that names one of these ids was written for one of those editions. Editions hash the text of an answer in
        one of two ways, with different results for letters outside ASCII. The ids are computed once, at the first line
        with an unknown query.
        """
        other_edition = replace(self._edition, hashes_text_once=not self._edition.hashes_text_once)
        answer_lines: list[Assessment | Response] = []
        for links in (self.links, self.links.underlying_links):  # the links of the loaded lines and of gold
            if links is not None:
                answer_lines += links.assessments
                answer_lines += links.responses
        ids = set()
        for line in answer_lines:
            if not line.text.isascii():
                ids.add(queries.follow_on_id(line.query.full_id, line.value, line.value_provenance, other_edition))
        return frozenset(ids)

    def _read_answer(self, query: LinkedQuery, answer: Answer, line_number: int, text: str) -> KnownAnswer:
        """Return the answer of a line in canonical form, and the short id of the follow-on query about this answer.

        The first item of the pair is None if the answer is already in canonical form. These answers are remembered, so
        that lines of later runs with the same answer need not be read. Problems of other answers are reported. `answer`
        consists of columns of the line, `text` is the whole line, and `query` is the query that the line answers.
        """
        if self.links.lines_awaiting_follow_on:  # follow-on queries must be made in the order of their lines
            self.links.make_follow_ons()
        relation, value, provenance = answer
        if tab_files.are_surely_canonical(relation, provenance, self._document_lengths, self._edition):
            follow_on_id = queries.follow_on_id(query.full_id, value, provenance, self._edition)
            # Only these answers are remembered, because they have no problems that must be reported for each line.
            if self._known_answers is not None and len(self._known_answers) < _MOST_KNOWN:
                self._known_answers[answer_key(query.full_id, *answer)] = (None, follow_on_id)
            return None, follow_on_id
        canonical_answer = self._make_canonical(answer, line_number, text)
        _, _, canonical_provenance = canonical_answer
        follow_on_id = queries.follow_on_id(query.full_id, value, canonical_provenance, self._edition)
        return canonical_answer, follow_on_id

    def _make_canonical(self, answer: Answer, line_number: int, line_text: str) -> Answer:
        """Return an answer with both provenances in canonical form, and report problems with the provenances.

        `line_text` is the line with the answer, and `line_number` its number.
        """
        edition = self._edition
        relation_spans, value, value_spans = answer
        lengths = self._document_lengths
        relation_provenance = tab_files.read_provenance(relation_spans, tab_files.RELATION_SPANS, lengths, edition)
        value_provenance = tab_files.read_provenance(value_spans, edition.most_value_spans, lengths, edition)
        place = Place(self._file, line_number)
        self._report_span_problems("RELATION_PROVENANCE_TRIPLES", relation_provenance, place)
        self._report_span_problems("VALUE_PROVENANCE_TRIPLES", value_provenance, place)
        # An edition that joins documents expects the whole answer to come from a single document.
        if relation_provenance.docid != value_provenance.docid and edition.joins_documents:
            self.problems.add("MULTIPLE_DOCIDS_IN_RESPONSE", f"\n{line_text}", place=place)
        return relation_provenance.canonical_text, value, value_provenance.canonical_text

    def _report_span_problems(self, column: str, provenance: tab_files.Provenance, place: Place) -> None:
        """Report the problems of the spans of a provenance, which is in this column of the line at `place`."""
        for problem in provenance.problems:
            detail = Detail(column, problem.text, problem.repaired_text)
            self.problems.add(problem.code, *problem.arguments, place=place, detail=detail)

    def _new_follow_on(self, follow_on_id: str, query: LinkedQuery, provenance: str, line_number: int) -> FollowOn:
        """Return a new follow-on query, about an answer that no earlier line gives, after adding it to the links.

        `follow_on_id` is the short id of the new query, `query` is the query that was answered, and `provenance` is the
        canonical value provenance of the answer. A warning is reported if the id of the answer's document does not
        identify a language. An error is reported for each slot of a later hop that is not in the inventory. Raises
        InputError if the full id of the new query is illegal, as it usually is for a query about an answer to an LDC
        query.
        """
        if query.is_ldc:
            self._check_id_below_ldc_query(follow_on_id, query, line_number)
        # For nearly all documents, these two comparisons find the language, and they are faster than `language_code`.
        # The first four characters of the provenance are those of the document id.
        tells_language = "_ENG_" in provenance or provenance[:4] in self._language_prefixes
        if not tells_language:
            docid = tab_files.document_of(provenance) if provenance else ""
            self._warn_of_unknown_language(docid)
        # Most queries do not have a slot to report. The first condition detects slots that are not in the inventory.
        # The second one is for editions with fewer slots than the inventory.
        if query.unknown_later_slots or self._legal_slots is not None:
            self._report_unknown_later_slots(query)
        follow_on = FollowOn(follow_on_id, query)
        self.links.follow_ons[follow_on_id] = follow_on
        return follow_on

    def _report_unknown_later_slots(self, query: LinkedQuery) -> None:
        """Report each slot of a query that its follow-on queries ask for, and that the edition does not know."""
        for slot in query.slots[1:]:
            if not has_slot(slot, self._edition):
                self.problems.add("UNKNOWN_SLOT_NAME", slot)

    def _check_id_below_ldc_query(self, follow_on_id: str, query: LinkedQuery, line_number: int) -> None:
        """Raise InputError if the ids of an LDC query and of a follow-on query cannot be combined into a legal id."""
        read_query_id(
            f"{query.full_id}_{follow_on_id}",
            remedy="runs and assessments name slot-filling queries, whose ids end in ten hexadecimal digits",
            file=self._file,
            place=f"line {line_number}",
            code="QUERY_NOT_EXPANDED",
        )

    def _warn_of_unknown_language(self, docid: str) -> None:
        """Report a warning if a document id does not identify a language, in which case English is assumed.

        If the first four characters of the id identify the language, they are remembered. Then `_new_follow_on` does
        not call this method for other ids with the same prefix.
        """
        beginning = docid[:4]
        if language_code(docid, self._edition) is None:
            self.problems.add("FAILED_LANG_INFERENCE", docid, queries.DEFAULT_LANGUAGE)
        elif language_code(beginning, self._edition) is not None:
            self._language_prefixes.add(beginning)

    def _read_confidence(self, text: str, line_number: int) -> float:
        """Return the confidence of a run line, or 1.0 if it is illegal, and report problems with its text.

        The index of a line with problems is added to `altered_indexes`, because its confidence is written differently
        in a validated run.
        """
        confidence = tab_files.read_confidence(text)
        if confidence.codes:
            index_of_line = len(self.links.responses)  # the line is added to the responses later
            self.links.altered_indexes.add(index_of_line)
        for code in confidence.codes:
            detail = Detail("CONFIDENCE", text, confidence.text)
            self.problems.add(code, text, place=Place(self._file, line_number), detail=detail)
        return confidence.value

    def _report_refusal(
        self, tab_file: tab_files.TabFile, columns: list[str], slot: str, query: LinkedQuery, line_number: int
    ) -> bool:
        """Report the reason why a line does not count, and return whether there is a reason.

        A line counts if none of its columns is empty and its slot is the one that its query asks for. A slot that is
        not in the inventory is also reported, but the line may still count.
        """
        place = Place(self._file, line_number)
        if not has_slot(slot, self._edition):
            self.problems.add("UNKNOWN_SLOT_NAME", slot, place=place)
        blank_column = _first_blank_column(tab_file.schema, columns)
        if blank_column is not None:
            self.problems.add("EMPTY_FIELD", blank_column, place=place)
            return True
        requested_slot = query.slots[0] if query.slots else None  # the first slot is the one to fill next
        if slot == requested_slot:
            return False
        # Despite its name, the field `names_wrong_slot_in_full` is about the id of the query. The slot is always named
        # in full.
        query_id = query.full_id if self._edition.names_wrong_slot_in_full else query.short_id
        self.problems.add("WRONG_SLOT_NAME", slot, query_id, requested_slot or "", place=place)
        return True

    def _add_skipped_line(
        self, line: tab_files.Line, query: LinkedQuery, *, follow_on_id: str, provenance: str, accepted_line_count: int
    ) -> None:
        """Add a line that does not count to the skipped lines of the links.

        `query` is the query that the line answers, `follow_on_id` is the short id of the query about its answer, and
        `provenance` is the canonical value provenance. `accepted_line_count` is the number of accepted lines of the
        same kind (run lines or assessments) before this line.
        """
        line_number, text, _ = line
        skipped_line = SkippedLine(
            follow_on_id=follow_on_id,
            docid=tab_files.document_of(provenance),
            accepted_line_count=accepted_line_count,
            file=self._file,
            number=line_number,
            query=query,
            text=text,
        )
        self.links.skipped_lines.append(skipped_line)
        self.links.skipped_follow_ons.add(follow_on_id)

    def _error_at_line(
        self, line_number: int, problem: str, remedy: str | None, code: str, kind: type[InputError] = InputError
    ) -> InputError:
        """Return an error of the class `kind` that names a line, by its number, and the file that is being loaded."""
        return kind(problem, file=self._file, place=f"line {line_number}", remedy=remedy, code=code)


def _first_blank_column(schema: Schema, columns: Iterable[str]) -> str | None:
    """Return the name of the first empty or blank column of a line, such as `VALUE`, or None if there is none.

    The confidence is left out: an empty one was reported as illegal and replaced by 1.0.
    """
    for column, text in zip(schema.columns, columns):
        # Within a column a # is ordinary text, not the beginning of a comment, so that "# x" is not blank.
        is_blank = "#" not in text and tab_files.is_blank_or_comment(text)
        if is_blank and column != "CONFIDENCE":
            return column
    return None


def _is_taken_for_name(assessment: Assessment) -> bool:
    """Return whether an accepted answer counts as a name: if it is a name, or if no answer of its class is a name."""
    return assessment.value_mention == "NAM" or assessment.class_mention == "NOM"


def _assessments_without_name(accepted_assessments: Sequence[Assessment]) -> Sequence[Assessment]:
    """Return the accepted answers of an assessment file that cause a warning because they do not count as names.

    These are the answers with a mention type other than NAM and NOM, perhaps a misspelt one. If there are no answers of
    this kind, and no answer of the file counts as a name, all answers are returned. Otherwise the result is empty.
    """
    assessments_of_unknown_type = []
    for assessment in accepted_assessments:
        # An answer whose class has the type NOM is treated as a name, regardless of its own type.
        if assessment.value_mention not in _MENTION_TYPES and not _is_taken_for_name(assessment):
            assessments_of_unknown_type.append(assessment)
    if assessments_of_unknown_type:
        return assessments_of_unknown_type
    has_name = any(_is_taken_for_name(assessment) for assessment in accepted_assessments)
    return () if has_name else accepted_assessments


def _can_make_follow_ons_late(links: Links) -> bool:
    """Return whether follow-on queries can be made when they are first needed, instead of with each line.

    This requires an edition with the usual slots and ids. It also requires that there is no gold, because gold may
    already have the follow-on queries.
    """
    has_gold = links.underlying_links is not None
    is_latest_edition = links.query_set.edition is LATEST
    return is_latest_edition and not has_gold


def _remark_on_answers_without_name(
    tab_file: tab_files.TabFile, without_name: Sequence[Assessment], accepted_assessments: Sequence[Assessment]
) -> str:
    """Return the remark on the accepted answers of an assessment file that do not count as names (`without_name`).

    The remark explains the effect on the scores: a node is ignored unless another of its accepted answers is a name. It
    also includes a command line that marks all accepted answers as names.
    """
    distinct_types = dict.fromkeys(assessment.value_mention for assessment in without_name)
    types = join_first([repr(mention_type) for mention_type in distinct_types])
    has_name = any(_is_taken_for_name(assessment) for assessment in accepted_assessments)
    effect = "nodes without another are ignored" if has_name else "all of them are ignored and every score is 0"
    command_line = conversion_command(_awk_command_setting_mention_type(tab_file.schema), tab_file.name, prefix="names")
    return (
        f"{tab_file.name}: {len(without_name)} of {len(accepted_assessments)} answers that it calls "
        f"correct are no names (mention type {types}, where NAM in capitals is a name), so {effect}; to take all "
        f"correct answers for names: {command_line}"
    )


def _awk_command_setting_mention_type(schema: Schema) -> str:
    """Return an awk command that gives each answer with an equivalence class the mention type `NAM`.

    If the class is in column 9 and the mention type is in column 7, the awk program is `$9 != "0" {$7 = "NAM"} 1`. The
    `1` at the end prints every line.
    """
    class_number = schema.columns.index("VALUE_EC") + 1  # awk numbers columns from 1
    type_number = schema.columns.index("VALUE_MENTION_TYPE") + 1
    return f"awk -F '\\t' -v OFS='\\t' '${class_number} != \"0\" {{${type_number} = \"NAM\"}} 1'"


def _with_written_provenance(answer: Answer) -> Answer:
    """Return an answer with an empty value provenance replaced by `:-`. Any other answer is returned unchanged.

    This is needed for the first line with an answer. The reference scorer uses the value provenance as the entry point
    of the query about the answer, and writes an empty provenance as `:-`. Later lines keep an empty provenance, so
    their answers differ from the answer of the first line.
    """
    relation, value, provenance = answer
    if provenance:
        return answer
    return relation, value, tab_files.NO_SPAN


RUN_SUFFIX = ".tab.txt"  # members of a folder that count as runs or assessments end like this, perhaps compressed


def expand_folder(file_or_folder: Input) -> list[Input]:
    """Return the run and assessment files in a folder (`*.tab.txt`), sorted by name without regard to case.

    A file that is no folder is returned alone. Hidden files, whose names begin with a dot, are left out.
    """
    if not isinstance(file_or_folder, (str, os.PathLike)) or not os.path.isdir(file_or_folder):
        return [file_or_folder]
    folder = os.fspath(file_or_folder)
    names = [name for name in os.listdir(folder) if _is_member_to_load(name)]
    return [checked_file_or_folder(f"{folder}/{name}") for name in sorted(names, key=_order_in_folder)]


def _is_member_to_load(name: str) -> bool:
    """Return whether a file in a folder counts as a run or as assessments, by its name, such as `run.tab.txt.gz`."""
    is_hidden = name.startswith(".")
    return name_without_compression(name).endswith(RUN_SUFFIX) and not is_hidden


def _order_in_folder(name: str) -> tuple[bytes, bytes]:
    """Return the sort key of a file in a folder: the bytes of its name in lower case, and then those as written."""
    name_in_bytes = os.fsencode(name)
    return name_in_bytes.lower(), name_in_bytes


class EmptyFolder(Record):
    """A folder among the inputs of a call that contains no run and no assessments; `name` is the path of the folder."""

    name: str

    @property
    def remark(self) -> str:
        """The remark for the user: `no file *.tab.txt in FOLDER, so nothing of it was loaded`."""
        return f"no file *{RUN_SUFFIX} in {self.name}, so nothing of it was loaded"

    @property
    def contents(self) -> str:
        """The contents of the folder in words, with the files that the user may name instead: `runs: it is empty`."""
        return f"{self.name}: {describe_folder(self.name, RUN_SUFFIX)}"


def empty_folders_among(files: Iterable[Input]) -> list[EmptyFolder]:
    """Return the folders among `files` that hold no file with the name of a run or of assessments (`*.tab.txt`)."""
    return [EmptyFolder(name_of(file)) for file in files if not expand_folder(file)]


def describe_contents(empty_folders: Iterable[EmptyFolder]) -> str:
    """Return the contents of empty folders in words, with the files or folders that the user may name instead."""
    return "; ".join([folder.contents for folder in empty_folders])


def find_empty_folders(files: Sequence[Input]) -> list[EmptyFolder]:
    """Return the folders among `files` that hold nothing to load, so that the user can be told of them.

    Raises InputError if there is nothing else among `files`.
    """
    empty_folders = empty_folders_among(files)
    if empty_folders and len(empty_folders) == len(files):
        names = ", ".join([folder.name for folder in empty_folders])
        problem = f"nothing to load: no file *{RUN_SUFFIX} in {names}"
        raise InputError(problem, remedy=describe_contents(empty_folders))
    return empty_folders


def role_of(schema: Schema | None) -> str:
    """Return the role of a file of this layout in a signature: run or pool. A file without layout counts as a run."""
    if schema is not None and schema.kind is FileKind.ASSESSMENTS:
        return POOL
    return RUN


def kind_of(file: Input, edition: Edition = LATEST) -> FileKind | None:
    """Return the kind of a file, a run or assessments, according to its first line, or None for an empty file.

    Raises InputError for a file of no known layout.
    """
    with open_source(file) as source:
        tab_file = tab_files.read_tab_file(source, ProblemLog(), edition=edition)
    return None if tab_file is None else tab_file.schema.kind
