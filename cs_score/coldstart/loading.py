"""Everything that is read before scoring: queries, assessments and runs, linked and indexed.

An evaluation is opened once with its queries; files are then loaded into it in order. A branch shares what is loaded so
far, so that many runs can be scored against one pool as if each were alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cs_score.coldstart.judging.matching import AssessmentIndex
from cs_score.coldstart.lines.justifications import DiscardRules
from cs_score.coldstart.lines.layouts import RUN_2014, RUN_2017, FileKind, Schema
from cs_score.coldstart.lines.linking import Linker
from cs_score.coldstart.lines.reader import TabFile, read_tab_file
from cs_score.coldstart.options import DISCIPLINES, Options, no_discipline
from cs_score.coldstart.queries.query_files import read_query_file
from cs_score.coldstart.queries.query_set import Query, QuerySet, build_query_set
from cs_score.coldstart.queries.selection import select_queries
from cs_score.coldstart.spans import DocumentLengths
from cs_score.foundation.errors import InputError
from cs_score.foundation.garbage_collection import paused_collector
from cs_score.foundation.sources import Input, InputDigest, digests_of_files, name_of, open_source, plain_name
from cs_score.problems.log import Place, ProblemLog

RUN_SUFFIX = ".tab.txt"
"""Members of a folder that count as runs or assessments end like this, perhaps compressed."""


@dataclass(slots=True)
class Evaluation:
    """What has been loaded: queries, the lines linked to them, the problems and remarks on the way.

    `hop_limits` maps the short id of each query to score to the highest hop that is scored; `layouts` tells the column
    layout of each file by its name; `index` finds assessments, where it was made before scoring; `ldc_ids` are the LDC
    ids that a list of queries has for them, by short id.
    """

    options: Options
    problems: ProblemLog
    queries: QuerySet
    hop_limits: dict[str, int]
    linker: Linker
    discard: DiscardRules
    remarks: list[str] = field(default_factory=list)
    digests: list[InputDigest] = field(default_factory=list)
    layouts: dict[str, Schema] = field(default_factory=dict)
    index: AssessmentIndex | None = None
    ldc_ids: Mapping[str, str] = field(default_factory=dict)

    def branch(self, options: Options | None = None) -> Evaluation:
        """An evaluation that starts from what is loaded here; what it loads and reports changes nothing here.

        `options` may differ in policy and, as long as no run is loaded, in the limits on justifications. The index of
        the assessments is shared.
        """
        options = options or self.options
        problems = self.problems.branch()
        return Evaluation(
            options, problems, self.queries, self.hop_limits, self.linker.branch(problems),
            self.discard.branch(options.justifications, problems),
            list(self.remarks), list(self.digests), dict(self.layouts), self.index, self.ldc_ids,
        )  # fmt: skip

    def index_assessments(self) -> None:
        """Index the assessments loaded so far, for all branches to come.

        Raises InputError for an unknown discipline. Where assessments hang below lines that only a run may supply,
        there is no index to share, and each scoring makes its own.
        """
        if self.options.discipline not in DISCIPLINES:
            raise InputError(no_discipline(self.options.discipline))
        self.linker.keep_answers()
        with contextlib.suppress(InputError):
            self.index = AssessmentIndex(self.linker, self.options.discipline)

    @property
    def has_runs(self) -> bool:
        """Whether there is a run to score: one that was asked for, or one that lines were loaded of."""
        return bool(self.linker.responses if self.options.runids is None else self.options.runids)


@dataclass(frozen=True, slots=True)
class Queries:
    """The queries of some files: the query table, remarks on the files, and their digests."""

    table: QuerySet
    remarks: list[str]
    digests: list[InputDigest]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the programs before the scorer ask of loading beyond what the scorer does.

    `allow_comments`: a comment at the end of a line is cut off. `note`: takes the error of a line that cannot be
    linked, and loading goes on with the next line; None: loading ends there. `after_run`: called after each run file.
    """

    allow_comments: bool = False
    note: Callable[[InputError], None] | None = None
    after_run: Callable[[], None] | None = None


SCORING = Reading()


def load_queries(
    files: Iterable[Input], base: str | None, problems: ProblemLog, documents: DocumentLengths | None = None
) -> Queries:
    """Read query files and expand the queries where a `base` of the new names is given.

    Raises InputError where a file cannot be read or an id cannot be parsed.
    """
    loaded: list[Query] = []
    names: list[str] = []
    remarks: list[str] = []
    digests: list[InputDigest] = []
    for given in files:
        names.append(name_of(given))
        with open_source(given) as source:
            query_file = read_query_file(source, problems, documents)
        loaded += query_file.queries
        digests.append(query_file.digest)
        if query_file.note is not None:
            remarks.append(query_file.note)
    if names and not loaded:
        shown = ", ".join(names)
        problems.add("NO_QUERIES_LOADED", place=Place(shown, 0, f"files({shown})"))
    return Queries(build_query_set(loaded, base, problems), remarks, digests)


def open_evaluation(queries: Iterable[Input], options: Options, problems: ProblemLog | None = None) -> Evaluation:
    """Read the query files, expand them if asked to, and choose the queries to score.

    `problems` collects what is found; a caller that passes its own keeps it when this raises. Raises InputError where a
    file cannot be read, an id cannot be parsed, or the choice is impossible.
    """
    problems = ProblemLog() if problems is None else problems
    loaded = load_queries(queries, options.expand, problems)
    selection = select_queries(options.queries, loaded.table, problems)
    evaluation = evaluation_of(loaded.table, selection.hop_limits, options, problems)
    evaluation.ldc_ids = selection.ldc_ids
    evaluation.remarks += loaded.remarks
    evaluation.digests += (*loaded.digests, *digests_of_files(options.queries, options.samples))
    return evaluation


def evaluation_of(queries: QuerySet, hop_limits: dict[str, int], options: Options, problems: ProblemLog) -> Evaluation:
    """An evaluation of these queries into which nothing is loaded yet."""
    linker, discard = Linker(queries, problems), DiscardRules(options.justifications, problems)
    return Evaluation(options, problems, queries, hop_limits, linker, discard)


def load_files(evaluation: Evaluation, files: Iterable[Input], reading: Reading = SCORING) -> None:
    """Load runs and assessments in order; a folder stands for its members `*.tab.txt`, sorted by name.

    Raises InputError at the first line that cannot be linked (unless `reading` notes those), and for files of an
    unknown layout.
    """
    with paused_collector():
        for given in files:
            for member in members(given):
                _load_file(evaluation, member, reading)
    evaluation.linker.forget_caches()


def note_folders(evaluation: Evaluation, files: Sequence[Input]) -> None:
    """Remark on folders that hold no file to load. Raises InputError where nothing else was named."""
    empty = [name_of(given) for given in files if not members(given)]
    if empty and len(empty) == len(files):
        raise InputError(f"nothing to load: no file *{RUN_SUFFIX} in {', '.join(empty)}", remedy="name the files")
    evaluation.remarks += (f"no file *{RUN_SUFFIX} in {name}, so nothing of it was loaded" for name in empty)


def members(given: Input) -> list[Input]:
    """The files that one argument stands for."""
    if isinstance(given, (str, os.PathLike)) and os.path.isdir(given):
        folder = os.fspath(given)
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if plain_name(name).endswith(RUN_SUFFIX)]
    return [given]


def kind_of(given: Input) -> FileKind | None:
    """Whether a file is a run or assessments, by its first line; None for an empty one, of which nobody can tell.

    Raises InputError for a file that is neither.
    """
    with open_source(given) as source:
        tab_file = read_tab_file(source, ProblemLog())
    return None if tab_file is None else tab_file.schema.kind


def _load_file(evaluation: Evaluation, given: Input, reading: Reading) -> None:
    with open_source(given) as source:
        tab_file = read_tab_file(source, evaluation.problems, allow_comments=reading.allow_comments)
        if tab_file is not None:
            note_layout(evaluation, tab_file.name, tab_file.schema)
            load_lines(evaluation, tab_file, reading)
        evaluation.digests.append(source.digest())


def note_layout(evaluation: Evaluation, name: str, schema: Schema) -> None:
    """Keep the layout of a file, with a remark where nothing in it can be scored."""
    evaluation.layouts[name] = schema
    if schema.kind is FileKind.ASSESSMENTS and schema.position("VALUE_MENTION_TYPE") is None:
        evaluation.remarks.append(
            f"{name} has no mention types ({schema.name}): no answer that it calls correct is known to be a name, so "
            "all of them are ignored and every score is 0"
        )


def load_lines(evaluation: Evaluation, tab_file: TabFile, reading: Reading = SCORING) -> None:
    """Link the lines of a file and, of a run, mark those beyond the limits. Raises InputError as `load_files` does."""
    linker = evaluation.linker
    if tab_file.schema.kind is FileKind.ASSESSMENTS:
        _link(linker.link_assessments, tab_file, reading)
        return
    _link(linker.link_run, tab_file, reading)
    if tab_file.schema is RUN_2017 and not evaluation.problems.fatal:
        evaluation.discard.apply(linker.responses, linker.nodes, linker.is_in_order)
    if reading.after_run is not None:
        reading.after_run()


def _link(link: Callable[[TabFile], None], tab_file: TabFile, reading: Reading) -> None:
    """Link the lines of a file; a line that cannot be linked is noted where `reading` wants that."""
    while True:
        try:
            return link(tab_file)
        except InputError as error:
            if reading.note is None:
                raise
            reading.note(error)
            if tab_file.schema is RUN_2014:  # says the same of every line
                return None
