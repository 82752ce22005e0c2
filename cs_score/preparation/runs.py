"""Runs and assessments before they are scored: loaded with all their problems, repaired, cut to limits, written.

A diff keeps the order of the input, since a validated run is sorted, which would drown the changes.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Any, Final, TypeAlias

from cs_score.base.display import one_line, some
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, Struct, field, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import InMemory, Input, InputDigest, name_of, open_source, rereadable
from cs_score.coldstart.gold import Gold, Run, load_run
from cs_score.coldstart.layouts import RUN_2017, FileKind, Schema
from cs_score.coldstart.lines import JUDGMENT_OF_CODE, Assessment, LinkedQuery, Response
from cs_score.coldstart.linking import Loading, kind_of, members
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.outputs import closing_line
from cs_score.coldstart.queries import DEFAULT_CODE, QueryFiles, QuerySet, language_code
from cs_score.coldstart.tab_files import read_confidence, split_columns
from cs_score.preparation.documents import DocumentList, verify_fillers
from cs_score.preparation.pooling import Depth, discard_beyond
from cs_score.problems.codes import Severity
from cs_score.problems.log import Detail, ProblemLog

_LETTERS: Final = 4

CONTEXT: Final = 3
"""Unchanged lines that a diff shows around a change."""

_LINES_OF_PIECE: Final = 1 << 10

WrittenLine: TypeAlias = tuple[str, Response]
"""A line of a validated run with its line feed, and the run line that it stands for."""


class Limits(Record):
    """What a run is held to: justifications per node, and how deep it is taken (None: all of it)."""

    justifications: Justifications
    depth: Depth | None = None


class ValidatedRun(Record):
    """A run as it is written: its text in pieces of whole lines, and what is said of it beside the report.

    `dropped` are the queries whose lines are left out without a word in the report, by full id.
    """

    pieces: Iterator[str]
    remarks: Sequence[str]
    dropped: Sequence[str]


class CheckedRun(Record, dict=True):
    """A run that has been loaded and checked; nothing of it may be used where its problems hold errors."""

    loading: Loading

    def validated(self) -> ValidatedRun:
        """The run as it is written."""
        dropped = sorted({query.full_id for query in self._by_query if query.short_id in self._bad_queries})
        return ValidatedRun(self._pieces(), self.loading.remarks, dropped)

    def remark_on_node_ids(self) -> str | None:
        """Return a remark on node ids without a colon in front, which average precision never ranks; None without."""
        node_ids: list[str] = []
        for response in self.loading.links.responses:
            query = response.query
            if response.node is None or (not query.level and response.node.startswith(":", len(query.full_id))):
                continue
            node_id = split_columns(response.text)[-1]
            if not node_id.startswith(":"):
                node_ids.append(node_id)
        if not node_ids:
            return None
        found = f"{len(node_ids)} line(s) have a node id without a colon in front ({some(dict.fromkeys(node_ids))})"
        return f"{found}: average precision never ranks such nodes; write :{node_ids[0]}"

    def _pieces(self) -> Iterator[str]:
        """Yield the text of the validated run, some lines at a time."""
        texts = (text for text, _ in self.written_lines())
        while piece := "".join(islice(texts, _LINES_OF_PIECE)):
            yield piece

    @cached_property
    def _by_query(self) -> dict[LinkedQuery, list[Response]]:
        """The lines that are not discarded."""
        by_query: dict[LinkedQuery, list[Response]] = defaultdict(list)
        for response in self.loading.links.responses:
            if response.index not in self.loading.discard.marked:
                by_query[response.query].append(response)
        return by_query

    @cached_property
    def _bad_queries(self) -> frozenset[str]:
        """Short ids of the queries that ask about an answer of a line that was skipped (rule below-skipped-lines)."""
        return frozenset(line.target for line in self.loading.links.skipped)

    def written_lines(self) -> Iterator[WrittenLine]:
        """Yield the lines of a validated run in the order of the file.

        All lines get the run id of the first. Queries may bring node ids along (rule query-node-ids). Where a line has
        none, one is made up from letters: the reference draws them, here equal inputs give equal ones (rule
        made-up-node-ids).
        """
        responses = self.loading.links.responses
        run_id = responses[0].run_id if responses else ""
        digest = hashlib.sha256("".join(given.sha256 for given in self.loading.digests).encode()).digest()
        letters = "".join(string.ascii_letters[byte % len(string.ascii_letters)] for byte in digest[:_LETTERS])
        altered = self.loading.links.altered
        full_files = {name for name, schema in self.loading.layouts.items() if schema is RUN_2017}
        line_count = 0
        text_before = ""
        # Sorted twice, by one key each: that takes half the time of comparing pairs.
        for query in sorted(sorted(self._by_query, key=attrgetter("short_id")), key=attrgetter("level")):
            if query.short_id in self._bad_queries:
                continue
            loaded = self.loading.table.by_id.get(query.short_id)
            query_node = loaded.node_id if loaded is not None else None
            # Sorted twice, too: sorting is stable, also in reverse.
            best_first = sorted(self._by_query[query], key=attrgetter("number"))
            best_first.sort(key=attrgetter("confidence"), reverse=True)
            for response in best_first:
                line_count += 1
                node = query_node
                if response.node is None and not query_node:
                    node = f":NIL_{letters}{line_count:09d}"
                is_as_read = not node and response.run_id == run_id and response.index not in altered
                if is_as_read and response.file in full_files and not response.text.endswith("\t"):
                    text = f"{response.text}\n"  # nearly all lines: columns would take three times as long
                else:
                    text = _written_text(response, run_id, node)
                if text != text_before:
                    yield text, response
                    text_before = text


def _written_text(response: Response, run_id: str, node: str | None) -> str:
    """Return a line of a validated run; `node` takes the place of its own node id, if it is given."""
    columns = response.text.split("\t")
    relation, value, provenance = response.answer
    confidence = columns[7]
    if "." not in confidence or "e" in confidence:
        confidence = read_confidence(confidence).text
    written = [columns[0], columns[1], run_id, relation, value, columns[5].upper(), provenance, confidence]
    written.append(node or columns[8])
    return "\t".join(written) + "\n"


def check_run(
    run: list[Input],
    queries: QueryFiles,
    limits: Limits,
    problems: ProblemLog,
    documents: DocumentList | None = None,
    *,
    allow_comments: bool = False,
    alone: str | None = None,
) -> CheckedRun:
    """Load a run, which may be several files or folders, as one input; every problem of every line goes into the log.

    `alone` is the run whose lines are loaded, None for all.

    Fatal conditions are collected as well, as far as the lines after them can be read. At the end the first of them is
    raised as InputError; `problems` then holds what was found.
    """
    depth = limits.depth

    def after_run() -> None:
        if depth is not None and not problems.fatal:
            most = limits.justifications.most
            discard_beyond(depth, most, loading.links.responses, loading.discard.marked, problems)

    def load_order(error: InputError) -> tuple[int, int]:
        line = (error.place or "").removeprefix("line ")
        return files.get(error.file or "", -1), int(line) if line.isdecimal() else 0

    loading = Loading(
        queries.table,
        limits.justifications,
        problems,
        document_lengths=None if documents is None else documents.lengths,
        allow_comments=allow_comments,
        only_run_id=alone,
        is_validation=True,
        on_error=problems.fatal.append,
        after_run=after_run,
    )
    loading.remarks += queries.remarks
    loading.digests += queries.digests
    with paused_collector():
        end: list[InputError] = []
        try:
            loading.load(run)
        except InputError as error:
            end.append(error)
        if documents is not None:  # a missing one takes its place among the fatal conditions of lines
            for lines in (loading.links.responses, loading.links.assessments):
                problems.fatal += verify_fillers(lines, loading.layouts, documents, problems)
            files = {name: number for number, name in enumerate(loading.layouts)}
            problems.fatal.sort(key=load_order)
        problems.fatal += end
        problems.end_if_fatal(loading.remarks)
        _report_run_ids(loading.links.responses, problems)
    return CheckedRun(loading)


def _report_run_ids(responses: Sequence[Response], problems: ProblemLog) -> None:
    """Report the lines whose run id is not that of the first line."""
    first = responses[0].run_id if responses else ""
    for line in responses:
        if line.run_id != first:
            detail = Detail("RUNID", line.run_id, first)
            problems.add("MULTIPLE_RUNIDS", first, line.run_id, place=line.place, detail=detail)


def differences(checked: CheckedRun) -> Iterator[str]:
    """The unified diff of each file of a run, in load order; a file without changes gives nothing.

    Raises UsageError for a run from standard input, which cannot be read twice.
    """
    written: dict[str, dict[int, tuple[str]]] = defaultdict(dict)
    for text, response in checked.written_lines():
        written[response.file][response.number] = (text.removesuffix("\n"),)
    for name in checked.loading.layouts:
        if name == "-":
            raise UsageError("--diff reads the run twice; give it as a file")
        yield from file_differences(name, written[name])


class _Known(SequenceMatcher[str]):
    """An alignment that is known, so that nothing is searched for."""

    def __init__(self, opcodes: list[Any]) -> None:
        super().__init__()
        self._opcodes = opcodes

    def get_opcodes(self) -> list[Any]:
        return self._opcodes


def file_differences(name: str, written: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The unified diff of a file and the lines that are written for its lines, by their numbers from 1."""
    with open_source(name) as source:
        old = source.read_bytes().decode("utf-8").split("\n")
    if ends_with_newline := not old[-1]:
        old.pop()

    def is_kept(number: int) -> bool:
        return [*written.get(number, ())] == [old[number - 1]] and (ends_with_newline or number < len(old))

    new: list[str] = []
    opcodes, start = [], 0
    for as_it_is, group in groupby(range(1, len(old) + 1), is_kept):
        numbers, new_start = [*group], len(new)
        new += chain.from_iterable(written.get(number, ()) for number in numbers)
        opcodes.append(("equal" if as_it_is else "replace", start, numbers[-1], new_start, len(new)))
        start = numbers[-1]
    header = f"--- {one_line(name)}\n+++ {one_line(name)} (validated)\n"
    for hunk in _Known(opcodes).get_grouped_opcodes(CONTEXT):
        (_, start, _, new_start, _), (_, _, end, _, new_end) = hunk[0], hunk[-1]
        new_first = new_start + 1 if new_end > new_start else new_start
        yield f"{header}@@ -{start + 1},{end - start} +{new_first},{new_end - new_start} @@\n"
        header = ""
        for tag, start, end, new_start, new_end in hunk:
            yield from (f"{' ' if tag == 'equal' else '-'}{line}\n" for line in old[start:end])
            if tag != "equal":
                if end == len(old) and not ends_with_newline:
                    yield "\\ No newline at end of file\n"
                yield from (f"+{line}\n" for line in new[new_start:new_end])


class PreparedRun(Record):
    """One argument of the scorer that was prepared: what was found, and what became of it.

    `scored_as` is the name of what is scored in its place, `account` says what was done. One whose `problems` hold
    errors must not be scored; `code` and `remedy` say so. `digests` are those of its files as they were given.
    """

    name: str
    scored_as: str
    problems: ProblemLog
    what: str
    digests: tuple[InputDigest, ...]
    code: str = "RUN_WITH_ERRORS"
    remedy: str = "a run with errors cannot be validated, and is not scored with --validate; correct them first"

    @property
    def account(self) -> str:
        return str(InputError(self.what, file=self.name))

    def check(self) -> None:
        """Raises InputError where there are errors: nothing could be written, so nothing is scored."""
        if errors := self.problems.count(Severity.ERROR):
            problem = closing_line(errors, 0).rstrip("\n")
            raise InputError(problem, file=self.name, remedy=self.remedy, code=self.code)


class Preparation(Struct):
    """The files to score, in order, with runs replaced by what was made of them, and an account of each."""

    files: list[Input] = field(default_factory=list)
    runs: list[PreparedRun] = field(default_factory=list)


def validate_runs(
    files: Iterable[Input],
    queries: QuerySet,
    justifications: Justifications,
    new_log: Callable[[], ProblemLog] = ProblemLog,
    alone: str | None = None,
) -> Preparation:
    """Validate the runs among files as `validate-run` does, against the queries that are scored.

    Each run of a file with several is validated by itself, since validation gives all lines the run id of the first;
    `alone` names the only one of them that is validated. `new_log` makes the log of problems of each run. A folder that
    holds several run files is one run. Raises InputError where a run cannot be validated at all; its `check` refuses
    one with errors.
    """
    prepared = Preparation()
    for given in files:
        runs: list[Input] = []
        others: list[Input] = []
        for member in map(rereadable, members(given)):
            (runs if kind_of(member) is FileKind.RUN else others).append(member)
        prepared.files += others
        if not runs:
            continue
        name = name_of(given)
        scored_as = f"{name} (validated)"
        run_ids = [alone] if alone is not None else _ids_of_several(runs)
        texts: list[bytes] = []
        for run_id in run_ids:
            problems = new_log()
            checked = check_run(runs, QueryFiles(queries, [], []), Limits(justifications), problems, alone=run_id)
            text = b"".join(encoded(checked.validated().pieces))
            texts.append(text)
            lines = len(checked.loading.links.responses)
            left_out = lines - text.count(b"\n")
            subject = "validated" if run_id is None else f"run {run_id} validated"
            what = f"{subject}; {left_out} of {lines} lines are left out"
            prepared.runs.append(PreparedRun(name, scored_as, problems, what, tuple(checked.loading.digests)))
        prepared.files.append(InMemory(scored_as, b"".join(texts)))
    return prepared


def _ids_of_several(files: Sequence[Input]) -> list[str | None]:
    """Return the ids of the runs in a file that holds several; None alone for the one run of any other input."""
    from cs_score.coldstart.scorer import runs_of  # programs before the scorer start without it

    if len(files) > 1:
        return [None]
    run_ids: list[str | None] = [run.run_id for run in runs_of(files) if run.is_shared]
    return run_ids or [None]


def load_prepared(
    gold: Gold, prepared: Preparation, limits: Justifications | None = None, problems: ProblemLog | None = None
) -> Run:
    """Load what was prepared; the digests are those of the files as given. Raises InputError as `load_run`."""
    run = load_run(gold, prepared.files, limits, problems)
    digests: Sequence[InputDigest] = run.digests
    for one in reversed(prepared.runs):  # what a knowledge base gave may have been validated after that
        digests = [
            given for digest in digests for given in (one.digests if digest.name == one.scored_as else (digest,))
        ]
    return replace(run, digests=list(digests))


CROSS_LINGUAL: Final = "XLING"
LANGUAGES: Final = ("ENG", "SPA", "CMN", CROSS_LINGUAL)
"""The languages of assessments, in the order in which their files are made."""

NAMED: Final = "NAM"
NOMINAL: Final = "NOM"
_UNEXPECTED: Final = "UNEXPECTED_MENTION_TYPE"

_DOCUMENT_LANGUAGE: Final = re.compile("(ENG|SPA|CMN)_")
_CODE_OF_JUDGMENT: Final[dict[str, str]] = {judgment: code for code, judgment in JUDGMENT_OF_CODE.items()}

_MentionTypes: TypeAlias = Mapping[tuple[str, str], str]
"""The mention type of an equivalence class in a language."""


def sort_by_language(loading: Loading) -> Iterator[tuple[str, str]]:
    """Every assessment in its order as it is written: in the file of its language where it has one, and in the
    cross-lingual file.

    Raises InputError where the mention types of a class contradict each other.
    """
    assessments = loading.links.assessments
    languages = list(_languages(loading))
    types = _mention_types(assessments, languages)
    followed = {(each.target, language) for each, language in zip(assessments, languages) if each.query.level == 0}
    for assessment, language in zip(assessments, languages):
        query, schema = assessment.query, loading.layouts[assessment.file]
        is_of_language = query.level == 0 or (query.short_id, language) in followed
        if is_of_language and language != CROSS_LINGUAL:
            yield language, _corrected(assessment, language, types, schema)
        yield CROSS_LINGUAL, _corrected(assessment, CROSS_LINGUAL, types, schema)


def _languages(loading: Loading) -> Iterator[str]:
    """The language of each assessment: that of its documents where it is also that of its query."""
    created_in = _creating_documents(loading)
    for assessment in loading.links.assessments:
        columns = dict(zip(loading.layouts[assessment.file].columns, split_columns(assessment.text)))
        provenance = f"{columns['RELATION_PROVENANCE_TRIPLES']},{columns['VALUE_PROVENANCE_TRIPLES']}"
        named = set(_DOCUMENT_LANGUAGE.findall(provenance))
        short_id = assessment.query.short_id
        loaded = loading.table.by_id.get(short_id)
        if loaded is None:
            docid = created_in.get(short_id, "")
        else:
            docid = (loaded.entry_points[0].docid or "") if loaded.entry_points else ""
        of_query = language_code(docid) or DEFAULT_CODE
        yield of_query if named == {of_query} else CROSS_LINGUAL


def _creating_documents(loading: Loading) -> dict[str, str]:
    """Follow-on query id -> document of the value provenance of the first line that leads to it, skipped or not."""
    created_in: dict[str, str] = {}
    skipped = iter(loading.links.skipped)
    waiting = next(skipped, None)
    for index, assessment in enumerate(loading.links.assessments):
        while waiting is not None and waiting.before <= index:
            created_in.setdefault(waiting.target, waiting.docid)
            waiting = next(skipped, None)
        created_in.setdefault(assessment.target, assessment.docid)
    return created_in


def _mention_types(assessments: Iterable[Assessment], languages: Iterable[str]) -> _MentionTypes:
    """The mention type of each class in each language; the last assessment decides the cross-lingual one."""
    types: dict[tuple[str, str], str] = {}
    for assessment, language in zip(assessments, languages):
        of_value, of_class = assessment.value_mention or "", assessment.class_mention or ""
        key, place = (assessment.value_class, language), f"line {assessment.number}"
        if of_value == of_class and of_class in (NAMED, NOMINAL):
            if types.setdefault(key, of_class) != of_class:
                problem = "Unexpected mention type."
                remedy = f"class {assessment.value_class} has been {types[key]} in {language} before"
                raise InputError(problem, file=assessment.file, place=place, remedy=remedy, code=_UNEXPECTED)
        elif of_value == NOMINAL and of_class not in (NAMED, NOMINAL):
            if (code := _DOCUMENT_LANGUAGE.search(of_class)) is None:
                problem = f"Unexpected value: ==>{of_class}<== in line: {assessment.text}"
                remedy = "the mention type of the class of a nominal answer is NAM, NOM or a document"
                raise InputError(problem, file=assessment.file, place=place, remedy=remedy, code=_UNEXPECTED)
            if code.group(1) == language:
                types[key] = of_class
        types[assessment.value_class, CROSS_LINGUAL] = of_class
    return types


def _corrected(assessment: Assessment, language: str, types: _MentionTypes, schema: Schema) -> str:
    """The line with the mention type that its class has in a language."""
    if assessment.value_class == "0":
        return assessment.text
    columns = split_columns(assessment.text)
    at_type = schema.position("EC_MENTION_TYPE")
    if at_type is not None:
        columns[at_type] = types.get((assessment.value_class, language), NOMINAL)
    # Every column that reads like the name of a judgment becomes its code, a value of that text as well.
    return "\t".join(_CODE_OF_JUDGMENT.get(column, column) for column in columns).rstrip("\t")
