"""The inputs of a scoring: gold (the queries, and the pool of assessed answers), a run, and the units that are scored.
A unit is an LDC query with the queries made from its entry points (mentions of its entity), or a single query if there
are no LDC queries.

Gold is read once and does not change. It serves many runs, in several threads at the same time, and is sent to worker
processes.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.sources import InMemory, Input, InputDigest, name_of, open_source
from cs_score.coldstart.file_columns import Schema
from cs_score.coldstart.judging import ClassTree, JudgementByValue, build_tree, check_discipline, index_judgements
from cs_score.coldstart.limits import DISCARD_CODES, Discard, DiscardRules
from cs_score.coldstart.lines import Assessment, Links, Response
from cs_score.coldstart.linking import EmptyFolder, KnownAnswers, Loading, answer_key, find_empty_folders
from cs_score.coldstart.options import JustificationLimits, Options, is_left_out
from cs_score.coldstart.queries import (
    Query,
    QueryFiles,
    QuerySet,
    Selection,
    load_queries,
    parse_query_id,
    report_unknown_slots,
    select_queries,
    warn_of_unknown_languages,
)
from cs_score.coldstart.ranking import AssessedClasses, RunNodes
from cs_score.coldstart.result import UnitResult
from cs_score.coldstart.tab_files import are_surely_canonical
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:
    from cs_score.coldstart.samples import SampleFile


class RunInPoolError(InputError):
    """A file was given as part of the pool (the assessments), but is a run."""


class QueryGold(Record, eq=False):
    """The gold of one query: the tree of its equivalence classes (answers that mean the same), and the assessments.

    `classes` has the assessments by equivalence class. `problems` are the problems met when the tree was built, which
    are reported with every run. If the tree could not be built, it is None, and `failure` is the error.
    """

    query: Query
    tree: ClassTree | None
    classes: AssessedClasses
    problems: ProblemLog
    failure: InputError | None = None


class DerivedValues(Struct):
    """Values that are computed from gold when they are first needed, and then kept for all runs.

    `gold_by_query` has the gold of each query by its short id. `judgements_by_query` has the judgements on answers by
    the base id of the query. Two threads that compute the same value at the same time get equal results.
    """

    gold_by_query: dict[str, QueryGold] = field(default_factory=dict)
    judgements_by_query: dict[str, JudgementByValue] = field(default_factory=dict)


class ColdStartGold(Record, eq=False):
    """The queries and the pool of a task, ready for runs to be scored against them.

    `query_set` has all queries. For each query to score, by short id, `hop_limit_by_id` has the highest hop that is
    scored, and `listed_ldc_id_by_query` has the LDC id from the file of `-queries`. `links` are the lines of the pool.
    `assessments_by_query` has the assessments in load order, by the base id of their query. `known_answers` are answers
    that are remembered from run to run. `only_run_id` is the run whose lines are loaded, or None for all runs.
    `samples_file` is the file of resamples. `validates` says whether runs are validated before they are scored.
    `empty_folders` are the folders that the call names although they contain nothing to load.
    """

    options: Options
    query_set: QuerySet
    hop_limit_by_id: Mapping[str, int]
    links: Links
    problems: ProblemLog
    remarks: tuple[str, ...]
    digests: tuple[InputDigest, ...]
    layouts: Mapping[str, Schema]
    assessments_by_query: Mapping[str, Sequence[Assessment]] = field(default_factory=dict)
    known_answers: KnownAnswers | None = None
    listed_ldc_id_by_query: Mapping[str, str] = field(default_factory=dict)
    only_run_id: str | None = None
    samples_file: Input | None = None
    validates: bool = False
    empty_folders: tuple[EmptyFolder, ...] = ()
    derived_values: DerivedValues = field(default_factory=DerivedValues)
    # The resamples, once their file was read.
    _samples: list[SampleFile] = field(default_factory=list)

    def __reduce__(self) -> tuple[object, ...]:
        """Return the class and the field values with which pickle restores this gold in another process.

        The field `derived_values` is left out, because the other process computes these values when it needs them. The
        field `known_answers` is copied, because another thread may be adding answers to it.
        """
        known_answers = None if self.known_answers is None else self.known_answers.copy()
        value_by_field = {name: getattr(self, name) for name in self.__struct_fields__}
        value_by_field["derived_values"] = DerivedValues()
        value_by_field["known_answers"] = known_answers
        value_by_field["_samples"] = list(self._samples)
        # The dictionary has the fields in the order of the class, which the constructor expects.
        return ColdStartGold, tuple(value_by_field.values())

    def with_fields(self, **fields: Any) -> ColdStartGold:
        """Return a copy of this gold with new values of some fields, and with no derived values.

        The derived values are left out since they may not hold for the new fields.
        """
        return replace(self, **fields, derived_values=DerivedValues())

    def __repr__(self) -> str:
        return f"<gold: {len(self.hop_limit_by_id)} queries to score, {len(self.links.assessments)} assessments>"

    def unit_of(self, base_id: str) -> str:
        """Return the id of the unit that a query belongs to: the id of its LDC query, `CS14_0001`.

        If the query was not made from an LDC query, it is a unit of its own. `base_id` is the short id of the query of
        the first hop: `00fb79cef8`.
        """
        return self.query_set.ldc_id_by_query.get(base_id, base_id)

    def selected_queries(self, hop_limit_by_id: Mapping[str, int] | None = None) -> list[Query]:
        """Return the queries to score, in the order in which the reference scorer scores them.

        These are the queries whose short ids are keys of `hop_limit_by_id`, which defaults to the hop limits of this
        gold. Its values (the highest hop to score for each query) are not used here.
        """
        if hop_limit_by_id is None:
            hop_limit_by_id = self.hop_limit_by_id
        query_by_id = self.query_set.by_id
        return [query_by_id[short_id] for short_id in sorted(hop_limit_by_id) if short_id in query_by_id]

    def cluster_of(self, query: Query) -> str:
        """Return the full id of the cluster of a query, such as `CSX_0001`.

        The cluster is the LDC query from which the query was made, or the one that the file of `-queries` gives for it.
        If neither is known, the query forms a cluster by itself. Queries of a cluster are resampled together when
        confidence intervals are computed.
        """
        ldc_id = self.query_set.ldc_id_by_query.get(query.short_id)
        if ldc_id is not None:
            return self.query_set.by_id[ldc_id].full_id
        return self.listed_ldc_id_by_query.get(query.short_id, query.full_id)

    def clusters_of_unscored_queries(self, query_ids: Iterable[str]) -> dict[str, str]:
        """Return the cluster of each query that is not scored but has rows in the tables, by the full id of the query.

        `query_ids` are the full ids of all queries with rows, whether they are scored or not. A query that is not
        scored has rows if assessments of other queries name its equivalence classes. Queries of a cluster are resampled
        together.
        """
        cluster_by_id: dict[str, str] = {}
        for query_id in dict.fromkeys(query_ids):  # each query once, although it has several rows
            query = self._query_of_full_id(query_id)
            if query is None:
                cluster_by_id[query_id] = query_id
                continue
            # A query is scored if it has a hop limit. An id with a different prefix also leads to this query, but the
            # rows of that id are not the rows of the scored query.
            is_scored = query.full_id == query_id and query.short_id in self.hop_limit_by_id
            if not is_scored:
                cluster_by_id[query_id] = self.cluster_of(query)
        return cluster_by_id

    def _query_of_full_id(self, full_id: str) -> Query | None:
        """Return the query with a full id, such as `CSX_ENG_00fb79cef8`, or None if no query file defines it.

        Only the component `00fb79cef8` is compared, so the prefix of the query may differ from the prefix of the id.
        """
        parts = parse_query_id(full_id)
        return None if parts is None else self.query_set.by_id.get(parts.base_id)

    @property
    def has_clusters(self) -> bool:
        """Whether the LDC query of any query to score is known. Queries of the same LDC query form a cluster."""
        if self.query_set.ldc_id_by_query:
            return True
        # A query without LDC query is its own cluster.
        return any(self.cluster_of(query) != query.full_id for query in self.selected_queries())

    def gold_of_query(self, query: Query, links: Links) -> QueryGold:
        """Return the gold of a query: its equivalence classes, and the assessments of each class.

        `links` are the links of a run over this gold. Without problems, the gold of a query is the same for all runs:
        it is built for the first run, and kept. If the classes contradict each other, the result has the error instead
        of the tree of classes.
        """
        kept_gold = self.derived_values.gold_by_query.get(query.short_id)
        if kept_gold is not None:
            return kept_gold
        query_gold = self._build_gold_of_query(query, links, self._problems_of_expansion(query))
        is_faultless = query_gold.failure is None and not query_gold.problems.total
        if is_faultless:
            self.derived_values.gold_by_query[query.short_id] = query_gold
        return query_gold

    def _problems_of_expansion(self, query: Query) -> ProblemLog:
        """Return a log with the languages and slots that are wrong in a query made from an entry point.

        The log is empty if queries are not expanded. The reference reports these problems twice, since it copies the
        query for the tables and for average precision.
        """
        problems = ProblemLog()
        if self.query_set.was_expanded:
            edition = self.query_set.edition
            warn_of_unknown_languages(query, problems, report_count=2, edition=edition)
            report_unknown_slots(query, problems, report_count=2, edition=edition)
        return problems

    def _build_gold_of_query(self, query: Query, links: Links, problems: ProblemLog) -> QueryGold:
        """Return the gold of a query, built from its assessments.

        Any problems found are added to `problems`. If the assessments contradict each other, the result has no tree,
        and its `failure` is the error.
        """
        edition = self.query_set.edition
        assessments = self.assessments_by_query.get(query.base_id, ())
        # The value of a node grows with the number of documents of its class that it covers. An assessment may put an
        # answer into a class of another query. The documents of that class are counted in the assessments of the other
        # query.
        document_counts = self._document_counts_of_foreign_classes(query, assessments)
        classes = AssessedClasses(assessments, edition, document_counts)
        try:
            tree = build_tree(links.linked_query_of(query), assessments, links, problems, edition)
        except InputError as error:
            return QueryGold(query=query, tree=None, classes=classes, problems=problems, failure=error)
        return QueryGold(query=query, tree=tree, classes=classes, problems=problems)

    def _document_counts_of_foreign_classes(self, query: Query, assessments: Iterable[Assessment]) -> dict[str, int]:
        """Return the number of documents with answers of each class that belongs to another query, by class name.

        An assessor may have put an answer to `query` into an equivalence class of another query, such as
        `CSX_ENG_00fb79cef8:1`. The result contains only classes that occur in `assessments`, the assessments of
        `query`.
        """
        foreign_classes: dict[str, None] = {}  # its keys are an ordered set
        for assessment in assessments:
            query_id, _, _ = assessment.value_class.partition(":")  # the name of a class begins with its query
            if assessment.is_accepted and query_id != query.full_id:
                foreign_classes[assessment.value_class] = None
        return {class_name: self._document_count(class_name) for class_name in foreign_classes}

    def _document_count(self, class_name: str) -> int:
        """Return the number of documents with assessed answers of an equivalence class, such as `CSX_ENG_00fb79cef8:1`.

        The answers are looked for in the assessments of the query that the name of the class begins with.
        """
        query_id = class_name.partition(":")[0]
        short_id = query_id.rpartition("_")[2]
        assessments = self.assessments_by_query.get(short_id, ())
        documents = {assessment.docid for assessment in assessments if assessment.value_class == class_name}
        return len(documents)

    def judgements_by_value(self, base_id: str, links: Links) -> JudgementByValue:
        """Return the judgements on the answers to a query and to its follow-on queries, by the text of the answer.

        `base_id` is the short id of the query, and `links` are the links of a run that is scored against this gold. The
        result is cached for all runs.
        """
        judgements_by_query = self.derived_values.judgements_by_query
        if base_id not in judgements_by_query:
            # The links are used to find the classes of the assessed queries, which are the same for every run.
            assessments = self.assessments_by_query.get(base_id, ())
            judgements_by_query[base_id] = index_judgements(assessments, links, self.options.discipline)
        return judgements_by_query[base_id]

    @property
    def samples(self) -> SampleFile:
        """The resamples from the file `samples_file`, which is read on first use."""
        # Fields of a record cannot be reassigned, but an item can be added to the list `_samples`. It never holds more
        # than one.
        if not self._samples:
            from cs_score.coldstart.samples import read_samples  # few calls resample

            sample_file = read_samples(self.samples_file or "")
            self._samples.append(sample_file)
        return self._samples[0]


def open_gold(
    queries: Iterable[Input],
    options: Options,
    problems: ProblemLog | None = None,
    *,
    file_by_role: Mapping[str, Input] | None = None,
    validates: bool = False,
) -> ColdStartGold:
    """Return gold without a pool: read the query files, expand queries if requested, and select the queries to score.

    `file_by_role` contains files to read instead of the files named in the options, by their roles `QUERY_LIST` and
    `SAMPLES`. `problems` is the log to which problems are added; after an error, it holds the problems found before the
    error. `validates` says whether runs are validated before they are scored. Raises InputError for files that cannot
    be read.
    """
    if problems is None:
        problems = ProblemLog()
    if file_by_role is None:
        file_by_role = {}
    problems.wordings = options.edition.wordings  # messages are worded as in the edition
    # New queries get ids that begin with the value of `-expand`; without the option no queries are made.
    prefix_of_new_ids = None if is_left_out(options.expand) else options.expand
    loaded = load_queries(queries, prefix_of_new_ids, problems, edition=options.edition)
    selection = _select_queries(loaded, options, problems, file_by_role.get(QUERY_LIST))
    option_value_by_role = _values_of_file_options(options, file_by_role)
    digests_of_option_files = _digests_of_option_files(option_value_by_role)
    return ColdStartGold(
        options=options,
        query_set=loaded.query_set,
        hop_limit_by_id=selection.hop_limit_by_id,
        links=Links(loaded.query_set),
        problems=problems,
        remarks=(*loaded.remarks, *selection.remarks),
        digests=(*loaded.digests, *digests_of_option_files),
        layouts={},
        listed_ldc_id_by_query=selection.ldc_ids,
        samples_file=option_value_by_role[SAMPLES],
        validates=validates,
    )


def _select_queries(loaded: QueryFiles, options: Options, problems: ProblemLog, query_list: Input | None) -> Selection:
    """Return the queries to score among the loaded queries, as the option `-queries` chooses them.

    `query_list` is a file that is read instead of the file that the option names. An InputError gets the remarks on the
    query files, which may explain it.
    """
    try:
        return select_queries(options.queries, loaded.query_set, problems, query_list)
    except InputError as error:
        error.add_remarks(loaded.remarks)
        raise


def _values_of_file_options(options: Options, file_by_role: Mapping[str, Input]) -> dict[str, Input | None]:
    """Return the values of the options that name a file, by the roles `QUERY_LIST` and `SAMPLES`.

    For example: `{QUERY_LIST: "queries.txt", SAMPLES: None}`, where None means that the option has no value. The value
    of `-queries` may also be a list of ids. A file in `file_by_role` replaces the value of the option.
    """
    option_value_by_role: dict[str, Input | None] = {
        QUERY_LIST: options.queries,
        SAMPLES: None if is_left_out(options.samples) else options.samples,
    }
    return {role: file_by_role.get(role, value) for role, value in option_value_by_role.items()}


def _digests_of_option_files(value_by_role: Mapping[str, Input | None]) -> list[InputDigest]:
    """Return the digests of the files among the values of options.

    An example of `value_by_role` is `{QUERY_LIST: "queries.txt", SAMPLES: None}`. There is no digest for an option
    without a value (None), or for an option whose value is a list of ids instead of a file.
    """
    digests = []
    for role, value in value_by_role.items():
        if value is None:
            continue
        is_file = isinstance(value, InMemory) or os.path.isfile(name_of(value))
        if is_file:
            with open_source(value, decompress=False) as source:
                digests.append(source.digest(role))
    return digests


def with_remarks_on_empty_folders(gold: ColdStartGold, files: Sequence[Input]) -> ColdStartGold:
    """Return gold with a remark on each empty folder among `files`. These folders are added to its `empty_folders`.

    A folder is empty if it contains no file that can be loaded. Raises InputError if all of `files` are empty folders.
    """
    empty_folders = find_empty_folders(files)  # this raises the error
    remarks = [folder.remark for folder in empty_folders]
    return replace(gold, remarks=(*gold.remarks, *remarks), empty_folders=(*gold.empty_folders, *empty_folders))


def with_pool(gold: ColdStartGold, pool: Iterable[Input], problems: ProblemLog | None = None) -> ColdStartGold:
    """Return gold after loading its pool from assessment files, so that several runs can be scored against it.

    `problems` is the log to which problems are added, by default a copy of the log of `gold`. Raises InputError for an
    unknown discipline, for a line that cannot be linked, and for a file of an unknown layout, and RunInPoolError for a
    file that is a run.
    """
    check_discipline(gold.options.discipline)
    if problems is None:
        problems = gold.problems.copy()
    loading = Loading(gold.query_set, gold.options.justifications, problems)  # collects what is read
    _load_with_remarks(gold, loading, pool)  # adds the lines of the pool, with their queries, to `loading.links`
    _check_no_run_lines(loading.links)
    assessments = loading.links.assessments
    return gold.with_fields(
        links=loading.links,
        problems=problems,
        remarks=(*gold.remarks, *loading.remarks),
        digests=(*gold.digests, *loading.digests),
        layouts=loading.layouts,
        assessments_by_query=group_by_query(assessments),
        known_answers=_answers_by_key(assessments, gold.query_set),
    )


def _check_no_run_lines(links: Links) -> None:
    """Raise RunInPoolError, which names the run, if the files of a pool have lines of a run among them."""
    if links.responses:
        raise RunInPoolError(
            "this is a run; assessments come before the runs",
            file=links.responses[0].file,
            remedy="give the words in the order QUERIES.xml POOL RUN...",
        )


def _answers_by_key(assessments: Iterable[Assessment], queries: QuerySet) -> KnownAnswers:
    """Return the answers of a pool by `answer_key`, each with the short id of the query about it.

    A run line that gives one of these answers need not be read in detail. Answers whose provenances may not be in
    canonical form are left out, since the columns of such lines have to be read anyway.
    """
    known_answers: KnownAnswers = {}
    for assessment in assessments:
        relation, value, provenance = assessment.answer
        if are_surely_canonical(relation, provenance, edition=queries.edition):
            key = answer_key(assessment.query.full_id, relation, value, provenance)
            known_answers[key] = (assessment.answer, assessment.follow_on_id)
    return known_answers


def _load_with_remarks(gold: ColdStartGold, loading: Loading, files: Iterable[Input]) -> None:
    """Add the lines of files to a loading.

    An InputError about a file gets the remarks on gold and on the files.
    """
    try:
        loading.load(files)
    except InputError as error:
        error.add_remarks([*gold.remarks, *loading.remarks])
        raise


def group_by_query(assessments: Iterable[Assessment]) -> dict[str, list[Assessment]]:
    """Return assessments grouped by the base id of their query (`00fb79cef8`), each group in load order."""
    assessments_by_query: dict[str, list[Assessment]] = defaultdict(list)
    for assessment in assessments:
        assessments_by_query[assessment.query.base_id].append(assessment)
    return dict(assessments_by_query)


class Run(Record, eq=False):
    """The run lines of one call, which may belong to several runs, and the gold against which they are scored.

    `lines_by_run_and_unit` has the lines in load order, by run id, unit, and base id of the query. `discard_by_index`
    has the reason why a line exceeds the limits, by the index of the line. `loaded_line_counts` has the number of lines
    that had been loaded each time that the limits were applied.
    """

    gold: ColdStartGold
    links: Links
    limits: JustificationLimits
    lines_by_run_and_unit: Mapping[str, Mapping[str, Mapping[str, Sequence[Response]]]]
    discard_by_index: Mapping[int, Discard]
    loaded_line_counts: Sequence[int]
    problems: ProblemLog
    remarks: Sequence[str]
    digests: Sequence[InputDigest]
    layouts: Mapping[str, Schema]

    @property
    def run_ids(self) -> list[str]:
        """The ids of the runs to score, such as `["TIDE_KB"]`: the chosen ones, or the sorted ids of all lines."""
        chosen_ids = self.gold.options.runids
        if chosen_ids is not None:
            return list(chosen_ids)
        return sorted(self.lines_by_run_and_unit)

    def __repr__(self) -> str:
        names = ", ".join(sorted(self.lines_by_run_and_unit)) or "no run"
        return f"<{names}: {len(self.links.responses)} lines over {self.gold!r}>"


def load_run(
    gold: ColdStartGold,
    files: Iterable[Input],
    limits: JustificationLimits | None = None,
    problems: ProblemLog | None = None,
) -> Run:
    """Return a `Run` with the lines of all runs in the files, loaded in the order of the files, to score against gold.

    If gold is for a single run (`only_run_id`), the lines of other runs are left out. If gold has no pool, assessments
    may be among the files. `limits` are the limits on justifications, which default to the limits in the options.
    `problems` is the log to which problems are added, by default a copy of the log of gold. Raises InputError for a
    line that cannot be linked and for a file of an unknown layout.
    """
    if limits is None:
        limits = gold.options.justifications
    if problems is None:
        problems = gold.problems.copy()
    loading = Loading(
        gold.query_set,
        limits,
        problems,
        gold_links=gold.links,
        known_answers=gold.known_answers,
        only_run_id=gold.only_run_id,
    )
    _load_with_remarks(gold, loading, files)
    return run_of(gold, loading, limits)


def run_under_limits(run: Run, limits: JustificationLimits, *, with_problems: bool = True) -> Run:
    """Return a run with the same lines under different limits on justifications, without reading any file again.

    `with_problems` says whether discarded lines are reported, which takes about a kilobyte of memory per line. Raises
    InputError for a node whose confidence cannot be computed under these limits.
    """
    if limits == run.limits:
        return run
    problems = run.problems.without(DISCARD_CODES)  # a copy, so the log of the given run is not changed
    if not with_problems:
        problems.ignored |= DISCARD_CODES
    discard_rules = DiscardRules(limits, problems)
    discard_rules.apply_again(run.loaded_line_counts, run.links.responses, run.links.lines_by_node)
    return replace(run, limits=limits, discard_by_index=discard_rules.discard_by_index, problems=problems)


def run_of(gold: ColdStartGold, loading: Loading, limits: JustificationLimits) -> Run:
    """Return the run that consists of the lines that were loaded, under these limits on justifications.

    Assessments that were loaded with the run become part of its gold.
    """
    links = loading.links
    gold_of_run = gold
    if links.assessments:
        gold_of_run = gold.with_fields(links=links, assessments_by_query=group_by_query(links.assessments))
    return Run(
        gold=gold_of_run,
        links=links,
        limits=limits,
        lines_by_run_and_unit=group_by_run_and_unit(gold, links.responses),
        discard_by_index=loading.discard_rules.discard_by_index,
        loaded_line_counts=loading.discard_rules.loaded_line_counts,
        problems=loading.problems,
        remarks=[*gold.remarks, *loading.remarks],
        digests=[*gold.digests, *loading.digests],
        layouts={**gold.layouts, **loading.layouts},
    )


def group_by_run_and_unit(
    gold: ColdStartGold, responses: Iterable[Response]
) -> dict[str, dict[str, dict[str, list[Response]]]]:
    """Return run lines in load order, grouped by run id, then by unit, then by query.

    The lines of a query are those with its base id, also at the second hop:
    `{"TIDE_KB": {"CS14_0001": {"00fb79cef8": [...]}}}`.
    """
    lines_by_run: dict[str, dict[str, dict[str, list[Response]]]] = {}
    lines_of_query: list[Response] = []
    run_id = None
    base_id = None
    for response in responses:
        # Most lines answer the same query as the line before them; the dictionaries are then not looked at.
        if response.query.base_id != base_id or response.run_id != run_id:
            run_id = response.run_id
            base_id = response.query.base_id
            unit_id = gold.unit_of(base_id)
            lines_by_unit = lines_by_run.setdefault(run_id, {})
            lines_by_query = lines_by_unit.setdefault(unit_id, {})
            lines_of_query = lines_by_query.setdefault(base_id, [])
        lines_of_query.append(response)
    return lines_by_run


class ScoringUnit(Record):
    """The inputs from which one unit is scored: its queries, and the run lines by the base id of their query.

    Average precision is computed for all runs of a call together (rule pooled-runs). Therefore `nodes` are the nodes of
    all runs, and `result_of_earlier_run` is the result of this unit for an earlier run of the call, or None for the
    first run. `result_to_reuse` is the result of the same lines under another policy; its matches are reused.
    """

    id: str
    gold: ColdStartGold
    queries: Sequence[Query]
    hop_limit_by_id: Mapping[str, int]
    run: Run
    lines_by_query: Mapping[str, Sequence[Response]]
    nodes: RunNodes
    result_of_earlier_run: UnitResult | None = None
    result_to_reuse: UnitResult | None = None


def units_of(
    run: Run,
    run_id: str,
    hop_limit_by_id: Mapping[str, int] | None = None,
    units_of_earlier_runs: Mapping[str, UnitResult] | None = None,
    results_to_reuse: Mapping[str, UnitResult] | None = None,
) -> Iterator[ScoringUnit]:
    """Yield the units that are scored for a run: first those with run lines, in load order, then all others.

    `hop_limit_by_id` replaces the hop limits of gold. The other two mappings have unit ids as keys.
    `units_of_earlier_runs` has the results of the earlier runs, which are ranked together with this run.
    `results_to_reuse` has the results of the same lines under another policy; their matches are reused.
    """
    gold = run.gold
    if hop_limit_by_id is None:
        hop_limit_by_id = gold.hop_limit_by_id
    lines_by_unit = run.lines_by_run_and_unit.get(run_id, {})
    queries_by_unit = _queries_by_unit(gold, hop_limit_by_id, units_with_lines=lines_by_unit)
    nodes = RunNodes(run.links.lines_by_node, run.limits.justifications_per_node)
    for unit_id, queries in queries_by_unit.items():
        yield ScoringUnit(
            id=unit_id,
            gold=gold,
            queries=queries,
            hop_limit_by_id=hop_limit_by_id,
            run=run,
            lines_by_query=lines_by_unit.get(unit_id, {}),
            nodes=nodes,
            result_of_earlier_run=(units_of_earlier_runs or {}).get(unit_id),
            result_to_reuse=(results_to_reuse or {}).get(unit_id),
        )


def _queries_by_unit(
    gold: ColdStartGold, hop_limit_by_id: Mapping[str, int], units_with_lines: Iterable[str]
) -> dict[str, list[Query]]:
    """Return the queries to score, by the id of their unit. For example: `{"CS14_0001": [...]}`.

    The keys of `hop_limit_by_id` are the ids of these queries. The units in `units_with_lines` come first, and may be
    without queries.
    """
    queries_by_unit: dict[str, list[Query]] = {unit_id: [] for unit_id in units_with_lines}
    for query in gold.selected_queries(hop_limit_by_id):
        unit_id = gold.unit_of(query.base_id)
        queries_by_unit.setdefault(unit_id, []).append(query)
    return queries_by_unit
