"""Validate runs and assessments before they are scored: load them, report all problems, make repairs, apply limits, and
write the result. A validated run is sorted, and lines beyond the limits are left out.

A diff keeps the order of the input, since the changes could not be seen otherwise.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias

from cs_score.base.display import join_first, one_line
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import utf8_blocks
from cs_score.base.records import Record, Struct, field, replace
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.sources import InMemory, Input, InputDigest, name_of, open_source, rereadable
from cs_score.coldstart.file_columns import RUN_2017, FileKind, Schema
from cs_score.coldstart.gold import ColdStartGold, Run, load_run
from cs_score.coldstart.lines import JUDGMENT_OF_CODE, Assessment, LinkedQuery, Response
from cs_score.coldstart.linking import Loading, LoadingSettings, expand_folder, kind_of
from cs_score.coldstart.options import JustificationLimits
from cs_score.coldstart.output_files import closing_line
from cs_score.coldstart.queries import DEFAULT_CODE, QueryFiles, QuerySet, language_code
from cs_score.coldstart.tab_files import read_confidence, split_columns
from cs_score.preparation.pooling import Depth, discard_beyond_depth
from cs_score.preparation.source_documents import DocumentList, verify_answer_texts
from cs_score.problems.codes import Severity
from cs_score.problems.log import Detail, ProblemLog

_LETTER_COUNT: Final = 4
"""The number of letters in made-up node ids such as :NIL_aBcD000000001."""

CONTEXT: Final = 3
"""Unchanged lines that a diff shows around a change."""

_LINES_OF_PIECE: Final = 1 << 10

WrittenLine: TypeAlias = tuple[str, Response]
"""A line of a validated run with its line feed, and the run line that it was made from."""


class RunLimits(Record):
    """The limits on a run: justifications per node, and the depth of pooling (None for the whole run)."""

    justifications: JustificationLimits
    depth: Depth | None = None


class ValidatedText(Record):
    """A validated run: its text, in pieces that consist of whole lines, and remarks that are not in the report.

    `dropped_query_ids` are the full ids of the queries whose lines are left out although the report does not say so.
    """

    pieces: Iterator[str]
    remarks: Sequence[str]
    dropped_query_ids: Sequence[str]


class CheckedRun(Record, dict=True):
    """A run that was loaded and checked. `loading` has its lines, the layouts of its files, and the log of problems.

    If the problems include errors, the run must not be used.
    """

    loading: Loading

    def validated_text(self) -> ValidatedText:
        """Return the text of the validated run, with remarks for the user and the queries whose lines are left out."""
        full_ids = [
            query.full_id for query in self._lines_by_query if query.short_id in self._short_ids_of_dropped_queries
        ]
        return ValidatedText(pieces=self._pieces(), remarks=self.loading.remarks, dropped_query_ids=sorted(full_ids))

    def remark_on_node_ids(self) -> str | None:
        """Return a remark on node ids that do not begin with a colon, None if there are none.

        Average precision never ranks such nodes.
        """
        node_ids = self._node_ids_without_colon()
        if not node_ids:
            return None
        examples = join_first(dict.fromkeys(node_ids))
        return (
            f"{len(node_ids)} line(s) have a node id without a colon in front ({examples}): "
            f"average precision never ranks such nodes; write :{node_ids[0]}"
        )

    def _node_ids_without_colon(self) -> list[str]:
        """Return the node ids that do not begin with a colon, once for each line that has one: `["E1", "E1"]`."""
        node_ids: list[str] = []
        for response in self.loading.links.responses:
            if response.node is None:
                continue
            # For a query of the first hop, `node` is the query's id and the node id: CS14_0001:h1, or CS14_0001h1 if
            # the node id is h1, without a colon. Checking `node` avoids splitting most lines into columns.
            query_id = response.query.full_id
            is_first_hop = response.query.level == 0
            if is_first_hop and response.node.startswith(":", len(query_id)):
                continue
            node_id = split_columns(response.text)[-1]
            if not node_id.startswith(":"):
                node_ids.append(node_id)
        return node_ids

    def _pieces(self) -> Iterator[str]:
        """Yield the text of the validated run in pieces of many whole lines, which saves memory."""
        texts = []
        for text, _ in self.written_lines():
            texts.append(text)
            if len(texts) == _LINES_OF_PIECE:
                yield "".join(texts)
                texts.clear()
        if texts:
            yield "".join(texts)

    @cached_property
    def _lines_by_query(self) -> dict[LinkedQuery, list[Response]]:
        """The lines that are not discarded, by the query that they answer."""
        lines_by_query: dict[LinkedQuery, list[Response]] = defaultdict(list)
        for response in self.loading.links.responses:
            if response.index not in self.loading.discard_rules.discarded_indexes:
                lines_by_query[response.query].append(response)
        return lines_by_query

    @cached_property
    def _short_ids_of_dropped_queries(self) -> frozenset[str]:
        """The short ids of the queries about answers of skipped lines, which are dropped (rule below-skipped-lines)."""
        return frozenset([line.follow_on_id for line in self.loading.links.skipped_lines])

    def written_lines(self) -> Iterator[WrittenLine]:
        """Yield the lines of the validated run in the order in which they are written.

        The lines of a query are sorted by confidence, then by line number. A line that equals the line before it is
        left out, but it is counted in the numbers that made-up node ids contain.
        """
        writer = _LineWriter(self.loading)
        line_count = 0  # part of the node ids that the writer makes up, to make them unique
        previous_text = ""
        for query in self._written_queries():
            node_id_of_query = self._node_id_of(query)
            for response in _most_confident_first(self._lines_by_query[query]):
                line_count += 1
                text = writer.line_text(response, line_count, node_id_of_query)
                if text != previous_text:
                    yield text, response
                    previous_text = text

    def _node_id_of(self, query: LinkedQuery) -> str | None:
        """Return the node id that a query file gives to all lines of a query, None if it gives none."""
        loaded_query = self.loading.query_set.by_id.get(query.short_id)
        return None if loaded_query is None else loaded_query.node_id

    def _written_queries(self) -> list[LinkedQuery]:
        """Return the queries whose lines are written, sorted by hop (their level), then by short id.

        Queries about the answers of skipped lines are left out (rule below-skipped-lines).
        """
        queries = [query for query in self._lines_by_query if query.short_id not in self._short_ids_of_dropped_queries]
        queries.sort(key=attrgetter("short_id"))
        queries.sort(key=attrgetter("level"))
        return queries


def _most_confident_first(lines: Iterable[Response]) -> list[Response]:
    """Return lines sorted by confidence, the highest first, then by line number."""
    # Two stable sorts by one key each take half as long as one sort by pairs.
    ordered = sorted(lines, key=attrgetter("number"))
    ordered.sort(key=attrgetter("confidence"), reverse=True)
    return ordered


class _LineWriter:
    """Writes lines of a validated run as text. All lines get the run id of the first line (rule first-run-id)."""

    def __init__(self, loading: Loading) -> None:
        """Prepare to write the lines in `loading`. All lines get the run id of the first line."""
        responses = loading.links.responses
        self._run_id = responses[0].run_id if responses else ""
        # Made-up node ids contain letters that identify the run and are derived from the digests of the input files.
        self._letters_of_made_up_ids = _letters_of_node_ids(loading.digests)
        self._altered_indexes = loading.links.altered_indexes
        self._nine_column_files = {name for name, schema in loading.layouts.items() if schema is RUN_2017}

    def line_text(self, response: Response, line_number: int, node_id_of_query: str | None) -> str:
        """Return the text of a line with its line feed; `line_number` is its number in the validated run, from 1.

        `node_id_of_query` is the node id that the query assigns to its lines, or None if it does not assign one. A line
        that would be left without a node id gets a made-up one, such as `:NIL_aBcD000000001`.
        """
        new_node_id = node_id_of_query
        if response.node is None and not node_id_of_query:
            new_node_id = f":NIL_{self._letters_of_made_up_ids}{line_number:09d}"
        # Lines that keep their node id and run id, have all columns and needed no repair are written as they were read.
        # This applies to nearly all lines and saves two thirds of the time.
        keeps_ids = not new_node_id and response.run_id == self._run_id
        # A tab at the end means that the node id, which is the last of nine columns, is empty.
        has_all_columns = response.file in self._nine_column_files and not response.text.endswith("\t")
        is_unaltered = response.index not in self._altered_indexes
        can_be_copied = keeps_ids and has_all_columns and is_unaltered
        if can_be_copied:
            return f"{response.text}\n"
        return _written_text(response, self._run_id, new_node_id)


def _letters_of_node_ids(digests: Iterable[InputDigest]) -> str:
    """Return the letters of made-up node ids, such as `aBcD`.

    The reference draws them at random. Here they are derived from the `digests` of the inputs, so that equal inputs
    give equal ids.
    """
    digests_of_inputs = "".join([input_digest.sha256 for input_digest in digests])
    digest = hashlib.sha256(digests_of_inputs.encode()).digest()
    alphabet = string.ascii_letters
    letters = [alphabet[byte % len(alphabet)] for byte in digest[:_LETTER_COUNT]]
    return "".join(letters)


def _written_text(response: Response, run_id: str, new_node_id: str | None) -> str:
    """Return a line of a validated run with the given run id and node id.

    If `new_node_id` is None, the line keeps its own node id. Relation, value and provenance are written as they are
    after reading and repair.
    """
    columns = response.text.split("\t")
    query_id, slot, _run_id, _relation, _value, value_type, _provenance, confidence = columns[:8]
    has_plain_confidence = "." in confidence and "e" not in confidence  # 0.5, but not 1 or 1e-3
    if not has_plain_confidence:
        confidence = read_confidence(confidence).text
    relation, value, provenance = response.answer
    new_columns = (
        query_id,
        slot,
        run_id,
        relation,
        value,
        value_type.upper(),
        provenance,
        confidence,
        new_node_id or columns[8],
    )
    return "\t".join(new_columns) + "\n"


class _Pooling:
    """Discards the lines of a run beyond the depth of pooling, each time that a file of the run has been loaded."""

    def __init__(self, limits: RunLimits) -> None:
        """Take the limits, which have the depth; if it is None, no line is discarded."""
        self._limits = limits

    def discard_lines(self, loading: Loading) -> None:
        """Discard the lines that were loaded beyond the depth of pooling, unless there was a fatal condition.

        The depth is a number of nodes (answers), either for the whole run or for each query. Only the best nodes keep
        their lines.
        """
        depth = self._limits.depth
        if depth is None or loading.problems.fatal_errors:
            return
        discard_beyond_depth(
            depth,
            self._limits.justifications.justifications_per_node,
            loading.links.responses,
            loading.discard_rules.discarded_indexes,
            loading.problems,
        )


def check_run(
    run: list[Input],
    queries: QueryFiles,
    limits: RunLimits,
    problems: ProblemLog,
    documents: DocumentList | None = None,
    *,
    allow_comments: bool = False,
    only_run_id: str | None = None,
) -> CheckedRun:
    """Load and check a run, add the problems of all its lines to `problems`, and return it.

    The files and folders in `run` are loaded as one run. `only_run_id` is the id of the run whose lines are loaded, or
    None to load all runs. If `documents` is given, answers are compared with the texts of the documents. After a fatal
    condition, loading continues as far as possible. At the end, the first fatal condition is raised as InputError;
    `problems` then holds all of them.
    """
    loading = Loading(
        queries.query_set,
        limits.justifications,
        problems,
        only_run_id=only_run_id,
        settings=LoadingSettings(
            document_lengths=None if documents is None else documents.length_by_docid,
            allow_comments=allow_comments,
            is_validation=True,
            on_error=problems.fatal_errors.append,
            after_run=_Pooling(limits).discard_lines,  # drops lines beyond the limits, as when a pool is made
        ),
    )
    loading.remarks += queries.remarks
    loading.digests += queries.digests
    with paused_garbage_collection():
        _load_and_check(loading, run, documents)
    return CheckedRun(loading)


def _load_and_check(loading: Loading, run: Iterable[Input], documents: DocumentList | None) -> None:
    """Load the files of a run as far as possible, and add the problems of their lines to the log of `loading`.

    If `documents` is given, answers are compared with the texts of the documents. Raises the first fatal condition as
    InputError after all of them are in the log.
    """
    problems = loading.problems
    load_error: InputError | None = None
    try:
        loading.load(run)
    except InputError as error:
        load_error = error
    if documents is not None:
        _verify_lines(loading, documents, problems)
    if load_error is not None:
        # This error is added last, since it ended loading and came after the other fatal conditions.
        problems.fatal_errors.append(load_error)
    problems.end_if_fatal(loading.remarks)  # raises the first fatal condition
    _report_run_ids(loading.links.responses, problems)


def _verify_lines(loading: Loading, documents: DocumentList, problems: ProblemLog) -> None:
    """Compare answers with the texts of documents, and report each answer that differs.

    The error of a text that cannot be read becomes a fatal condition. Fatal conditions are sorted by file, in load
    order, and line.
    """
    for lines in (loading.links.responses, loading.links.assessments):
        problems.fatal_errors += verify_answer_texts(lines, loading.layouts, documents, problems)
    number_by_file = {name: number for number, name in enumerate(loading.layouts)}

    # Two stable sorts: the second one keeps the order of lines within a file.
    problems.fatal_errors.sort(key=_line_number)
    problems.fatal_errors.sort(key=lambda error: number_by_file.get(error.file or "", -1))


def _line_number(error: InputError) -> int:
    """Return the number of the line that an error names as its place: 12 for `line 12`, 0 if it names no line."""
    number = (error.place or "").removeprefix("line ")
    return int(number) if number.isdecimal() else 0


def _report_run_ids(responses: Sequence[Response], problems: ProblemLog) -> None:
    """Report the lines of a run whose run id differs from that of the first line.

    Validation gives all lines the run id of the first line (rule first-run-id).
    """
    first_id = responses[0].run_id if responses else ""
    for line in responses:
        if line.run_id != first_id:
            detail = Detail("RUNID", line.run_id, first_id)
            problems.add("MULTIPLE_RUNIDS", first_id, line.run_id, place=line.place, detail=detail)


def differences(checked_run: CheckedRun) -> Iterator[str]:
    """Yield the unified diff of each file of a run, in load order; unchanged files are skipped.

    Raises UsageError if the run comes from standard input, which cannot be read twice.
    """
    # The new lines by file and number of the old line that each of them replaces. Old lines that are missing here are
    # deleted.
    new_lines_by_file: dict[str, dict[int, tuple[str]]] = defaultdict(dict)
    for text, response in checked_run.written_lines():
        new_lines_by_file[response.file][response.number] = (text.removesuffix("\n"),)
    for name in checked_run.loading.layouts:  # the names of all files, in load order
        if name == "-":
            raise UsageError("--diff reads the run twice; give it as a file")
        yield from file_differences(name, new_lines_by_file[name])


class _KnownAlignment(SequenceMatcher[str]):
    """A difflib matcher for two files whose alignment is known: it groups changes without comparing lines."""

    def __init__(self, opcodes: list[Any]) -> None:
        """Take the stretches of the two files, as `get_opcodes` of difflib returns them."""
        super().__init__()
        self._opcodes = opcodes

    def get_opcodes(self) -> list[Any]:
        """Return the stretches of the two files as difflib describes them."""
        return self._opcodes


class _Stretch(NamedTuple):
    """A stretch of lines of a file and the lines that replace them, given by their positions as in difflib.

    `tag` is `equal` if all these lines are unchanged, and `replace` if each of them is replaced or deleted.
    """

    tag: str
    start: int
    end: int
    new_start: int
    new_end: int


def file_differences(name: str, new_lines_by_number: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield the unified diff of a file and its new lines, as the program `diff -u` would print it.

    `new_lines_by_number` maps the number of each old line (from 1) to the new lines that replace it.
    """
    with open_source(name) as source:
        old_lines = source.read_bytes().decode("utf-8").split("\n")
    ends_with_newline = old_lines[-1] == ""
    if ends_with_newline:
        old_lines.pop()
    # A stretch is a run of neighbouring lines that are all unchanged or all replaced.
    new_lines, stretches = _new_lines_and_stretches(old_lines, new_lines_by_number, ends_with_newline)
    header = f"--- {one_line(name)}\n+++ {one_line(name)} (validated)\n"
    # A hunk consists of neighbouring changes, with a few unchanged lines around them. The module difflib only groups
    # the changes; it does not have to search for them, because they are known.
    for opcodes in _KnownAlignment(stretches).get_grouped_opcodes(CONTEXT):
        hunk = [_Stretch(*opcode) for opcode in opcodes]
        yield header + _hunk_heading(hunk)
        header = ""  # printed only before the first hunk
        for stretch in hunk:
            yield from _lines_of_stretch(stretch, old_lines, new_lines, ends_with_newline)


def _lines_of_stretch(
    stretch: _Stretch, old_lines: Sequence[str], new_lines: Sequence[str], ends_with_newline: bool
) -> Iterator[str]:
    """Yield the lines of a diff for one stretch.

    Unchanged lines are preceded by a space, old lines by `-`, and new lines by `+`. `old_lines` and `new_lines` are all
    lines of the two files. `ends_with_newline` says whether the last old line ends with a line feed.
    """
    is_unchanged = stretch.tag == "equal"
    sign = " " if is_unchanged else "-"
    for line in old_lines[stretch.start : stretch.end]:
        yield f"{sign}{line}\n"
    if is_unchanged:
        return
    has_last_line = stretch.end == len(old_lines)
    if has_last_line and not ends_with_newline:
        yield "\\ No newline at end of file\n"  # printed between the last old line and the new lines
    for line in new_lines[stretch.new_start : stretch.new_end]:
        yield f"+{line}\n"


def _hunk_heading(hunk: Sequence[_Stretch]) -> str:
    """Return the heading of a hunk, with the first line and the number of lines in both files: `@@ -3,7 +3,6 @@`."""
    start = hunk[0].start
    new_start = hunk[0].new_start
    line_count = hunk[-1].end - start
    new_line_count = hunk[-1].new_end - new_start
    # Lines are numbered from 1. A hunk always contains old lines but sometimes no new lines. In that case the number is
    # that of the preceding line of the new file.
    first_number = start + 1
    first_new_number = new_start + 1 if new_line_count else new_start
    return f"@@ -{first_number},{line_count} +{first_new_number},{new_line_count} @@\n"


def _new_lines_and_stretches(
    old_lines: Sequence[str], new_lines_by_number: Mapping[int, Sequence[str]], ends_with_newline: bool
) -> tuple[list[str], list[_Stretch]]:
    """Return all new lines of a file, and its stretches: neighbouring lines that are all unchanged or all replaced.

    The result is used for a diff of the file before and after validation. `new_lines_by_number` maps the number of each
    old line (from 1) to the lines that replace it; an old line that is missing from the mapping is deleted. A last line
    without a line feed counts as replaced, since it is written with one.
    """
    new_lines: list[str] = []
    stretches: list[_Stretch] = []
    for number, old_line in enumerate(old_lines, start=1):
        replacement_lines = list(new_lines_by_number.get(number, ()))
        has_newline = ends_with_newline or number < len(old_lines)
        is_unchanged = has_newline and replacement_lines == [old_line]
        _add_to_stretches(stretches, "equal" if is_unchanged else "replace", len(replacement_lines))
        new_lines += replacement_lines
    return new_lines, stretches


def _add_to_stretches(stretches: list[_Stretch], tag: str, new_line_count: int) -> None:
    """Add the next old line of a file to the stretches. It is replaced by `new_line_count` new lines.

    A stretch consists of neighbouring old lines with the same tag (`equal` or `replace`) and of the new lines that
    replace them. If the last stretch has this `tag`, it is extended; otherwise a new stretch begins.
    """
    before_first_line = _Stretch(tag="", start=0, end=0, new_start=0, new_end=0)
    last = stretches[-1] if stretches else before_first_line
    new_end = last.new_end + new_line_count
    if last.tag == tag:
        stretches[-1] = last._replace(end=last.end + 1, new_end=new_end)
    else:
        stretches.append(_Stretch(tag, start=last.end, end=last.end + 1, new_start=last.new_end, new_end=new_end))


class PreparedRun(Record):
    """An input of the scorer that was converted or validated: its problems, and the run that is scored instead.

    `scored_as` is the name of that run, and `change` says how it was made from the input. If `problems` include errors,
    the run must not be scored; `code` and `remedy` are then used for the error message. `digests` are the digests of
    the original files.
    """

    name: str
    scored_as: str
    problems: ProblemLog
    change: str
    digests: tuple[InputDigest, ...]
    code: str = "RUN_WITH_ERRORS"
    remedy: str = "a run with errors cannot be validated, and is not scored with --validate; correct them first"

    @property
    def preparation_note(self) -> str:
        """A sentence on how the input was changed: `kb.tac: validated and resolved; 2 of 2 queries found ...`."""
        return str(InputError(self.change, file=self.name))

    def raise_for_errors(self) -> None:
        """Raise InputError if the problems of the run include errors, since the run must not be scored then."""
        error_count = self.problems.count(Severity.ERROR)
        if error_count:
            problem = closing_line(error_count, warnings=0).rstrip("\n")  # such as "3 errors encountered"
            raise InputError(problem, file=self.name, remedy=self.remedy, code=self.code)


class Preparation(Struct):
    """The files to score, in order, with prepared runs in place of originals, and a record of each prepared run."""

    files: list[Input] = field(default_factory=list)
    prepared_runs: list[PreparedRun] = field(default_factory=list)


def validate_runs(
    files: Iterable[Input],
    queries: QuerySet,
    justifications: JustificationLimits,
    new_log: Callable[[], ProblemLog] = ProblemLog,
    only_run_id: str | None = None,
) -> Preparation:
    """Return the files to score after validating the runs among `files`, as the command `validate-run` does.

    A folder with several run files is validated as one run. If a file holds several runs, each is validated separately,
    since validation gives all lines the run id of the first; `only_run_id` restricts this to one of them. `queries` are
    the scored queries; `new_log` makes the log of problems of each run. Raises InputError if a run cannot be
    validated at all. A run with errors is returned; its method `check` raises InputError.
    """
    validator = _Validator(QueryFiles(queries, remarks=[], digests=[]), RunLimits(justifications), new_log)
    preparation = Preparation()
    for file in files:
        run_files, other_files = _split_by_kind(file)
        preparation.files += other_files
        if run_files:
            run_ids = _ids_to_validate(run_files) if only_run_id is None else [only_run_id]
            preparation_of_file = validator.validate(name_of(file), run_files, run_ids)
            preparation.prepared_runs += preparation_of_file.prepared_runs
            preparation.files += preparation_of_file.files
    return preparation


def _split_by_kind(file: Input) -> tuple[list[Input], list[Input]]:
    """Return the run files among the members of a folder, and the other members, such as assessments.

    A file that is not a folder is its own only member. Raises InputError if a file cannot be read.
    """
    run_files: list[Input] = []
    other_files: list[Input] = []
    for member in expand_folder(file):
        readable = rereadable(member)
        if kind_of(readable) is FileKind.RUN:
            run_files.append(readable)
        else:
            other_files.append(readable)
    return run_files, other_files


class _Validator(NamedTuple):
    """The settings with which runs are validated: the queries, the limits, and the function that makes a log."""

    queries: QueryFiles
    limits: RunLimits
    new_log: Callable[[], ProblemLog]

    def validate(self, name: str, run_files: list[Input], run_ids: Iterable[str | None]) -> Preparation:
        """Return one file with the validated runs, and a record of each run with its problems and changes.

        `run_ids` are the ids of the runs in the run files; an id is None if the files contain a single run. `name` is
        the name that the user gave. Raises InputError if a run cannot be validated at all.
        """
        scored_as = f"{name} (validated)"
        prepared_runs = []
        texts = []
        for run_id in run_ids:
            checked_run = check_run(run_files, self.queries, self.limits, self.new_log(), only_run_id=run_id)
            text = b"".join(utf8_blocks(checked_run.validated_text().pieces))
            texts.append(text)
            prepared_run = PreparedRun(
                name=name,
                scored_as=scored_as,
                problems=checked_run.loading.problems,
                change=_change_by_validation(checked_run, text, run_id),
                digests=tuple(checked_run.loading.digests),
            )
            prepared_runs.append(prepared_run)
        # The validated runs become one file in memory, which is scored instead of the run files.
        return Preparation(files=[InMemory(scored_as, b"".join(texts))], prepared_runs=prepared_runs)


def _change_by_validation(checked_run: CheckedRun, text: bytes, run_id: str | None) -> str:
    """Return a sentence on what validation changed: `run RUN1 validated; 2 of 40 lines are left out`.

    `text` is the validated run. `run_id` is None if the run is the only one of its files; it is then not named.
    """
    line_count = len(checked_run.loading.links.responses)
    left_out_count = line_count - text.count(b"\n")
    subject = "validated" if run_id is None else f"run {run_id} validated"
    return f"{subject}; {left_out_count} of {line_count} lines are left out"


def _ids_to_validate(files: Sequence[Input]) -> list[str | None]:
    """Return the ids of the runs that are validated separately: those in a file that holds several runs.

    Several files are validated as one run, and so is a file with a single run; then the list has only None.
    """
    from cs_score.coldstart.scorer import runs_of  # programs before the scorer start without it

    if len(files) > 1:
        return [None]
    run_ids: list[str | None] = [run.run_id for run in runs_of(files) if run.shares_file]
    return run_ids or [None]


def load_prepared(
    gold: ColdStartGold,
    preparation: Preparation,
    limits: JustificationLimits | None = None,
    problems: ProblemLog | None = None,
) -> Run:
    """Return the run in the prepared files, with the digests of the files that the user gave.

    `limits` and `problems` are passed to `load_run`. Raises InputError if the files cannot be loaded.
    """
    run = load_run(gold, preparation.files, limits, problems)
    # A prepared run exists only in memory, so its digests are replaced by those of its original file. A knowledge base
    # is first converted and then validated. To trace the last file back to the first, the preparations are processed in
    # reverse order.
    digests = list(run.digests)
    for prepared_run in reversed(preparation.prepared_runs):
        digests = _digests_of_original_files(prepared_run, digests)
    return replace(run, digests=digests)


def _digests_of_original_files(prepared_run: PreparedRun, digests: Iterable[InputDigest]) -> list[InputDigest]:
    """Return the digests of input files, with that of a prepared run replaced by the digests of its original files."""
    digests_of_original_files: list[InputDigest] = []
    for digest in digests:
        is_digest_of_prepared_run = digest.name == prepared_run.scored_as
        if is_digest_of_prepared_run:
            digests_of_original_files += prepared_run.digests
        else:
            digests_of_original_files.append(digest)
    return digests_of_original_files


CROSS_LINGUAL: Final = "XLING"
LANGUAGES: Final = ("ENG", "SPA", "CMN", CROSS_LINGUAL)
"""The languages of assessments, in the order in which their files are made."""

NAMED: Final = "NAM"
NOMINAL: Final = "NOM"
_CODE_OF_UNEXPECTED_MENTION: Final = "UNEXPECTED_MENTION_TYPE"

_DOCUMENT_LANGUAGE: Final = re.compile("(ENG|SPA|CMN)_")
_CODE_OF_JUDGMENT: Final[dict[str, str]] = {judgment: code for code, judgment in JUDGMENT_OF_CODE.items()}

_MentionTypes: TypeAlias = Mapping[tuple[str, str], str]
"""The mention type of an equivalence class in a language, by the name of the class and the language."""


def lines_by_language(loading: Loading) -> Iterator[tuple[str, str]]:
    """Yield pairs of a language, such as `ENG`, and a line of the assessment file of this language, in load order.

    Every assessment is written to the cross-lingual file. If it has a language, it is also written to the file of that
    language. An assessment of a follow-on query counts for its language only if the answer that the query asks about
    was assessed in the same language. Raises InputError if the mention types of an equivalence class contradict each
    other.
    """
    assessments = loading.links.assessments
    languages = _languages(loading)
    mention_types = _mention_types(assessments, languages)
    languages_of_answers = _languages_of_answers(assessments, languages)
    for assessment, language in zip(assessments, languages):
        query = assessment.query
        schema = loading.layouts[assessment.file]
        has_language = not query.is_follow_on or (query.short_id, language) in languages_of_answers
        if has_language and language != CROSS_LINGUAL:
            yield language, _line_in_language(assessment, language, mention_types, schema)
        yield CROSS_LINGUAL, _line_in_language(assessment, CROSS_LINGUAL, mention_types, schema)


def _languages_of_answers(assessments: Iterable[Assessment], languages: Iterable[str]) -> set[tuple[str, str]]:
    """Return the languages of the answers that follow-on queries ask about, as pairs: `("efa464516d81", "ENG")`.

    Each pair consists of the short id of a follow-on query and a language. `languages` has the language of each
    assessment.
    """
    languages_of_answers = set()
    for assessment, language in zip(assessments, languages):
        if not assessment.query.is_follow_on:
            # `follow_on_id` is the id of the follow-on query about the answer.
            languages_of_answers.add((assessment.follow_on_id, language))
    return languages_of_answers


def _languages(loading: Loading) -> list[str]:
    """Return the language of each assessment: "ENG" if its documents and its query's document are English, and so on.

    The language is "XLING" if these documents are in several languages, or if the assessment does not name a document
    in a known language.
    """
    document_by_follow_on = _document_by_follow_on(loading)
    languages = []
    for assessment in loading.links.assessments:
        document_languages = _document_languages(assessment, loading.layouts[assessment.file])
        query_document = _document_of_query(assessment, loading, document_by_follow_on)
        query_language = language_code(query_document) or DEFAULT_CODE  # English
        has_one_language = document_languages == {query_language}
        languages.append(query_language if has_one_language else CROSS_LINGUAL)
    return languages


def _document_languages(assessment: Assessment, schema: Schema) -> set[str]:
    """Return the languages of the documents in both provenances of an assessment: `{"ENG", "SPA"}`.

    Only ids with `ENG_`, `SPA_` or `CMN_` in them tell a language.
    """
    text_by_column = dict(zip(schema.columns, split_columns(assessment.text)))
    relation = text_by_column["RELATION_PROVENANCE_TRIPLES"]
    provenance = text_by_column["VALUE_PROVENANCE_TRIPLES"]
    return set(_DOCUMENT_LANGUAGE.findall(f"{relation},{provenance}"))


def _document_of_query(assessment: Assessment, loading: Loading, document_by_follow_on: Mapping[str, str]) -> str:
    """Return the id of the document that the query of an assessment starts from, or an empty text if there is none.

    A query of the query files starts from the document of its first entry point. `document_by_follow_on` has the
    documents of follow-on queries.
    """
    short_id = assessment.query.short_id
    query = loading.query_set.by_id.get(short_id)
    if query is None:
        return document_by_follow_on.get(short_id, "")
    if not query.entry_points:
        return ""
    return query.entry_points[0].docid or ""


def _document_by_follow_on(loading: Loading) -> dict[str, str]:
    """Return the document that each follow-on query starts from, by the short id of the query.

    A follow-on query asks about an answer. Its document is the one in the value provenance of the first line with this
    answer, even if that line was skipped.
    """
    # The skipped lines before each assessment, by the position of the assessment. The position is the number of lines
    # that were accepted before it.
    skipped_lines_before = defaultdict(list)
    for skipped_line in loading.links.skipped_lines:
        skipped_lines_before[skipped_line.accepted_line_count].append(skipped_line)
    document_by_query: dict[str, str] = {}
    for position, assessment in enumerate(loading.links.assessments):
        for skipped_line in skipped_lines_before.get(position, ()):
            document_by_query.setdefault(skipped_line.follow_on_id, skipped_line.docid)
        document_by_query.setdefault(assessment.follow_on_id, assessment.docid)
    return document_by_query


def _mention_types(assessments: Iterable[Assessment], languages: Iterable[str]) -> _MentionTypes:
    """Return the mention type of each equivalence class in each language: `{("CSX_1:1", "ENG"): "NAM", ...}`.

    The type says whether an answer of the class is a name (`NAM`) or only a description (`NOM`). The cross-lingual type
    of a class is that of its last assessment.

    Raises InputError if assessments give a class different types in one language, or if a text is neither a type nor a
    document.
    """
    types: dict[tuple[str, str], str] = {}
    for assessment, language in zip(assessments, languages):
        class_mention = assessment.class_mention or ""
        has_type = class_mention in (NAMED, NOMINAL)
        # A description may have a document id in place of the type.
        has_document = assessment.value_mention == NOMINAL and not has_type
        if has_type and assessment.value_mention == class_mention:
            _add_mention_type(types, assessment, language)
        elif has_document and _language_of_class_document(assessment) == language:
            types[assessment.value_class, language] = class_mention
        types[assessment.value_class, CROSS_LINGUAL] = class_mention
    return types


def _add_mention_type(types: dict[tuple[str, str], str], assessment: Assessment, language: str) -> None:
    """Add to `types` the mention type that an assessment gives its class in a language.

    Raises InputError if an earlier assessment gave the class another type.
    """
    class_mention = assessment.class_mention or ""
    earlier_type = types.setdefault((assessment.value_class, language), class_mention)
    if earlier_type != class_mention:
        remedy = f"class {assessment.value_class} has been {earlier_type} in {language} before"
        raise _unexpected_mention_error(assessment, "Unexpected mention type.", remedy)


def _language_of_class_document(assessment: Assessment) -> str:
    """Return the language of the document that an assessment has in place of a mention type: `ENG_1` -> `ENG`.

    The column of the mention type (`class_mention`) contains NAM, NOM or the id of a document. Raises InputError if the
    text is not the id of a document in a known language.
    """
    class_mention = assessment.class_mention or ""
    match = _DOCUMENT_LANGUAGE.search(class_mention)
    if match is None:
        raise _unexpected_mention_error(
            assessment,
            f"Unexpected value: ==>{class_mention}<== in line: {assessment.text}",
            "the mention type of the class of a nominal answer is NAM, NOM or a document",
        )
    return match.group(1)


def _unexpected_mention_error(assessment: Assessment, problem: str, remedy: str) -> InputError:
    """Return the error of an assessment with impossible mention types."""
    place = f"line {assessment.number}"
    return InputError(problem, file=assessment.file, place=place, remedy=remedy, code=_CODE_OF_UNEXPECTED_MENTION)


def _line_in_language(assessment: Assessment, language: str, types: _MentionTypes, schema: Schema) -> str:
    """Return the line of an assessment for the file of a language, with the mention type that its class has there."""
    if assessment.value_class == "0":  # the answer belongs to no class
        return assessment.text
    columns = split_columns(assessment.text)
    position_of_type = schema.position("EC_MENTION_TYPE")
    if position_of_type is not None:
        # Without a mention type in this language, the class counts as nominal.
        columns[position_of_type] = types.get((assessment.value_class, language), NOMINAL)
    # Every column that consists of the name of a judgment, such as CORRECT, is replaced by the code of that judgment.
    # The reference scorer does so too, even if the text is an answer.
    columns = [_CODE_OF_JUDGMENT.get(column, column) for column in columns]
    return "\t".join(columns).rstrip("\t")
