"""What is scored: gold (the queries, the limits and the linked pool), the run laid over it, and the units of both.

Gold is read once and does not change. One gold serves many runs, several threads at the same time, and is sent to
workers. A unit is an LDC query with its entry points, or a query by itself where there is no LDC index.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field, replace
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.sources import InMemory, Input, InputDigest, name_of, open_source
from cs_score.coldstart.judging import ClassTree, JudgementByValue, build_tree, check_discipline, index_values
from cs_score.coldstart.layouts import Schema
from cs_score.coldstart.limits import DISCARD_CODES, Discard, DiscardRules
from cs_score.coldstart.lines import Assessment, Links, Response
from cs_score.coldstart.linking import KnownAnswers, Loading, answer_key, remarks_on_folders
from cs_score.coldstart.options import Justifications, Options, is_nothing
from cs_score.coldstart.queries import (
    Query,
    QuerySet,
    load_queries,
    parse_query_id,
    report_languages,
    report_slots,
    select_queries,
)
from cs_score.coldstart.ranking import AssessedClasses, Nodes
from cs_score.coldstart.result import UnitResult
from cs_score.coldstart.samples import SampleFile, read_samples
from cs_score.coldstart.tab_files import are_plain
from cs_score.problems.log import ProblemLog


class RunInPoolError(InputError):
    """A file of the pool is a run."""


class QueryGold(Record, eq=False):
    """The gold of one query: the tree of its classes, and their assessments.

    `problems` are reported with every run. `failure` is why there is no tree.
    """

    query: Query
    tree: ClassTree | None
    classes: AssessedClasses
    problems: ProblemLog
    failure: InputError | None = None


class Derived(Struct):
    """What scoring has derived from gold, kept for all runs: by query, when it is first needed.

    Two threads that derive the same at the same time get equal results.
    """

    gold_by_query: dict[str, QueryGold] = field(default_factory=dict)
    judgements_by_query: dict[str, JudgementByValue] = field(default_factory=dict)


class Gold(Record, eq=False):
    """Queries and pool, linked and indexed.

    `table` has the queries, `hop_limits` the highest hop of each query to score by short id, `ldc_ids` the LDC id that
    a list of queries has for it. `links` are the lines of the pool, `assessed` the assessments by the base id of their
    query, in load order. `known` remembers answers from run to run. `alone` is the run whose lines are loaded, None for
    all. `samples_file` is the file of resamples. `validates` says whether runs are validated before they are scored.
    """

    options: Options
    table: QuerySet
    hop_limits: Mapping[str, int]
    links: Links
    problems: ProblemLog
    remarks: tuple[str, ...]
    digests: tuple[InputDigest, ...]
    layouts: Mapping[str, Schema]
    assessed: Mapping[str, Sequence[Assessment]] = field(default_factory=dict)
    known: KnownAnswers | None = None
    ldc_ids: Mapping[str, str] = field(default_factory=dict)
    alone: str | None = None
    samples_file: Input | None = None
    validates: bool = False
    derived: Derived = field(default_factory=Derived)
    # The resamples, once their file was read.
    _samples: list[SampleFile] = field(default_factory=list)

    def __reduce__(self) -> tuple[object, ...]:
        """Return the parts that gold is made of in a worker; the worker derives the rest anew.

        Dictionaries that another thread may be adding to are copied.
        """
        known_answers = None if self.known is None else self.known.copy()
        replacements = {"derived": Derived(), "_samples": [*self._samples], "known": known_answers}
        values = [replacements.get(name, getattr(self, name)) for name in self.__struct_fields__]
        return Gold, tuple(values)

    def changed(self, **fields: Any) -> Gold:
        """Return gold with other values of some fields; what scoring derives from gold is derived anew."""
        return replace(self, **fields, derived=Derived())

    def __repr__(self) -> str:
        return f"<gold: {len(self.hop_limits)} queries to score, {len(self.links.assessments)} assessments>"

    def unit_of(self, base_id: str) -> str:
        """Return the unit of the query with this base id: its LDC query where it has one, else itself."""
        return self.table.ldc_of.get(base_id, base_id)

    def selected(self, hop_limits: Mapping[str, int] | None = None) -> list[Query]:
        """Return the queries to score, in the order in which the reference scores them; `hop_limits` names others."""
        if hop_limits is None:
            hop_limits = self.hop_limits
        by_id = self.table.by_id
        return [by_id[short_id] for short_id in sorted(hop_limits) if short_id in by_id]

    def cluster_of(self, query: Query) -> str:
        """Return the full id of the unit that a resample draws a query with: its LDC query if known, else itself."""
        ldc_id = self.table.ldc_of.get(query.short_id)
        if ldc_id is not None:
            return self.table.by_id[ldc_id].full_id
        return self.ldc_ids.get(query.short_id, query.full_id)

    def clusters_of_others(self, query_ids: Iterable[str]) -> dict[str, str]:
        """Return the units of queries that have rows only because pool lines of other queries name their classes."""
        cluster_by_id: dict[str, str] = {}
        for query_id in dict.fromkeys(query_ids):
            parts = parse_query_id(query_id)
            query = None if parts is None else self.table.by_id.get(parts.base)
            if query is None:
                cluster_by_id[query_id] = query_id
            elif query.full_id != query_id or query.short_id not in self.hop_limits:
                cluster_by_id[query_id] = self.cluster_of(query)
        return cluster_by_id

    @property
    def has_clusters(self) -> bool:
        """Whether the LDC query of any query to score is known."""
        return bool(self.table.ldc_of) or any(self.cluster_of(query) != query.full_id for query in self.selected())

    def of_query(self, query: Query, links: Links) -> QueryGold:
        """Return the gold of a query, by the links of a run; it is kept for all runs if it has no problems."""
        query_gold = self.derived.gold_by_query.get(query.short_id)
        if query_gold is not None:
            return query_gold
        problems = ProblemLog()
        edition = self.table.edition
        if self.table.was_expanded:  # the reference makes a copy of the query here, and one for AP
            report_languages(query, problems, times=2, edition=edition)
            report_slots(query, problems, times=2, edition=edition)
        assessments = self.assessed.get(query.base_id, ())
        classes = AssessedClasses(assessments, edition, self._document_counts_of_others(query, assessments))
        try:
            tree = build_tree(links.root(query), assessments, links, problems, edition)
        except InputError as error:
            return QueryGold(query, None, classes, problems, error)
        query_gold = QueryGold(query, tree, classes, problems)
        if not problems.total:
            self.derived.gold_by_query[query.short_id] = query_gold
        return query_gold

    def _document_counts_of_others(self, query: Query, assessments: Sequence[Assessment]) -> dict[str, int]:
        """Return in how many documents the classes of other queries were found, by the assessments of these.

        `assessments` are the assessments of `query`; they may name a class of another query.
        """
        document_counts: dict[str, int] = {}
        for assessment in assessments:
            name = assessment.value_class
            query_id = name.partition(":")[0]
            if not assessment.is_accepted or query_id == query.full_id or name in document_counts:
                continue
            short_id = query_id.rpartition("_")[2]
            documents = {other.docid for other in self.assessed.get(short_id, ()) if other.value_class == name}
            document_counts[name] = len(documents)
        return document_counts

    def values_of(self, base_id: str, links: Links) -> JudgementByValue:
        """Return how the answers to a query and its follow-on queries were judged, by value; kept for all runs."""
        judgements_by_query = self.derived.judgements_by_query
        if base_id not in judgements_by_query:
            assessments = self.assessed.get(base_id, ())
            judgements_by_query[base_id] = index_values(assessments, links, self.options.discipline)
        return judgements_by_query[base_id]

    @property
    def samples(self) -> SampleFile:
        """The resamples of the `samples_file`, which is read once."""
        if not self._samples:
            self._samples.append(read_samples(self.samples_file or ""))
        return self._samples[0]


def open_gold(
    queries: Iterable[Input],
    options: Options,
    problems: ProblemLog | None = None,
    *,
    file_by_role: Mapping[str, Input] | None = None,
    validates: bool = False,
) -> Gold:
    """Read the query files, expand them if asked to, and choose the queries to score; there is no pool yet.

    `file_by_role` has files to read in the place of the ones that options name: a list of queries, resamples.
    `problems` keeps the problems met before an error. Raises InputError for files that cannot be read.
    """
    if problems is None:
        problems = ProblemLog()
    if file_by_role is None:
        file_by_role = {}
    problems.wordings = options.edition.wordings
    base = None if is_nothing(options.expand) else options.expand
    loaded = load_queries(queries, base, problems, edition=options.edition)
    try:
        selection = select_queries(options.queries, loaded.table, problems, file_by_role.get(QUERY_LIST))
    except InputError as error:
        error.add_remarks(loaded.remarks)
        raise
    query_list = file_by_role.get(QUERY_LIST, options.queries)
    samples_file = file_by_role.get(SAMPLES, None if is_nothing(options.samples) else options.samples)
    digests = [*loaded.digests, *_digests_of_choices({QUERY_LIST: query_list, SAMPLES: samples_file})]
    return Gold(
        options=options,
        table=loaded.table,
        hop_limits=selection.hop_limits,
        links=Links(loaded.table),
        problems=problems,
        remarks=(*loaded.remarks, *selection.remarks),
        digests=tuple(digests),
        layouts={},
        ldc_ids=selection.ldc_ids,
        samples_file=samples_file,
        validates=validates,
    )


def _digests_of_choices(choice_by_role: Mapping[str, Input | None]) -> list[InputDigest]:
    """Return the digests of choices that are files; one that is a list of ids, or no file, has none."""
    digests = []
    for role, choice in choice_by_role.items():
        if choice is None:
            continue
        if isinstance(choice, InMemory) or os.path.isfile(name_of(choice)):
            with open_source(choice, decompress=False) as source:
                digests.append(source.digest(role))
    return digests


def noting_folders(gold: Gold, files: Sequence[Input]) -> Gold:
    """Return gold with remarks on folders among the files to load that hold none. Raises InputError if all do."""
    return replace(gold, remarks=(*gold.remarks, *remarks_on_folders(files)))


def with_pool(gold: Gold, pool: Iterable[Input], problems: ProblemLog | None = None) -> Gold:
    """Return gold with its pool loaded, for runs to be scored one by one; `problems` is a branch of gold's log.

    Raises InputError for an unknown discipline, a line that cannot be linked, files of an unknown layout, and a run.
    """
    check_discipline(gold.options.discipline)
    if problems is None:
        problems = gold.problems.branch()
    loading = Loading(gold.table, gold.options.justifications, problems)
    _load_with_remarks(gold, loading, pool)
    if loading.links.responses:
        raise RunInPoolError(
            "this is a run; assessments come before the runs",
            file=loading.links.responses[0].file,
            remedy="give the words in the order QUERIES.xml POOL RUN...",
        )
    assessments = loading.links.assessments
    return gold.changed(
        links=loading.links,
        problems=problems,
        remarks=(*gold.remarks, *loading.remarks),
        digests=(*gold.digests, *loading.digests),
        layouts=loading.layouts,
        assessed=by_query(assessments),
        known=_known_answers(assessments, gold.table),
    )


def _known_answers(assessments: Iterable[Assessment], table: QuerySet) -> KnownAnswers:
    """Return the answers of a pool that are canonical as they stand, by which runs find them without reading."""
    known_answers: KnownAnswers = {}
    for assessment in assessments:
        if are_plain(assessment.relation, assessment.provenance, edition=table.edition):
            key = answer_key(assessment.query.full_id, *assessment.answer)
            known_answers[key] = (assessment.answer, assessment.target)
    return known_answers


def _load_with_remarks(gold: Gold, loading: Loading, files: Iterable[Input]) -> None:
    """Load files. An InputError that ends this carries the remarks that were made before."""
    try:
        loading.load(files)
    except InputError as error:
        error.add_remarks([*gold.remarks, *loading.remarks])
        raise


def by_query(assessments: Iterable[Assessment]) -> dict[str, list[Assessment]]:
    """Return assessments by the base id of their query, in load order."""
    assessments_by_query: dict[str, list[Assessment]] = defaultdict(list)
    for assessment in assessments:
        assessments_by_query[assessment.query.base_id].append(assessment)
    return dict(assessments_by_query)


class Run(Record, eq=False):
    """The lines of one call, which may have several run ids, over the gold that they are scored against.

    `lines` has them in load order by run id, unit, and base id of the query. `discarded` says by index why some are
    beyond the limits, `limited` how many lines had been loaded each time that the limits were applied.
    """

    gold: Gold
    links: Links
    limits: Justifications
    lines: Mapping[str, Mapping[str, Mapping[str, Sequence[Response]]]]
    discarded: Mapping[int, Discard]
    limited: Sequence[int]
    problems: ProblemLog
    remarks: Sequence[str]
    digests: Sequence[InputDigest]
    layouts: Mapping[str, Schema]

    @property
    def run_ids(self) -> list[str]:
        """The runs to score, in order: the chosen ones, else all that have lines."""
        chosen_ids = self.gold.options.runids
        return sorted(self.lines) if chosen_ids is None else list(chosen_ids)

    def __repr__(self) -> str:
        return f"<{', '.join(sorted(self.lines)) or 'no run'}: {len(self.links.responses)} lines over {self.gold!r}>"


def load_run(
    gold: Gold, files: Iterable[Input], limits: Justifications | None = None, problems: ProblemLog | None = None
) -> Run:
    """Load runs over gold, and their assessments where gold has no pool, in the order given.

    Raises InputError for a line that cannot be linked and for files of an unknown layout.
    """
    if limits is None:
        limits = gold.options.justifications
    if problems is None:
        problems = gold.problems.branch()
    loading = Loading(
        gold.table, limits, problems, gold_links=gold.links, known_answers=gold.known, only_run_id=gold.alone
    )
    _load_with_remarks(gold, loading, files)
    return run_of(gold, loading, limits)


def under_limits(run: Run, limits: Justifications, *, with_problems: bool = True) -> Run:
    """Return the same lines held to other limits, without reading a file again.

    `with_problems` reports each line that is discarded, which takes a kilobyte. Raises InputError as `load_run` would.
    """
    if limits == run.limits:
        return run
    problems = run.problems.without(DISCARD_CODES)
    if not with_problems:
        problems.ignored |= DISCARD_CODES
    discard = DiscardRules(limits, problems)
    discard.apply_again(run.limited, run.links.responses, run.links.nodes)
    return replace(run, limits=limits, discarded=discard.why, problems=problems)


def run_of(gold: Gold, loading: Loading, limits: Justifications) -> Run:
    """Return the lines that were loaded over gold as a run; assessments loaded with it become part of its gold."""
    links = loading.links
    if links.assessments:  # gold is built for this run: its lines may stand among those of the pool
        gold = gold.changed(links=links, assessed=by_query(links.assessments))
    return Run(
        gold=gold,
        links=links,
        limits=limits,
        lines=by_unit(gold, links.responses),
        discarded=loading.discard.why,
        limited=loading.discard.applied,
        problems=loading.problems,
        remarks=[*gold.remarks, *loading.remarks],
        digests=[*gold.digests, *loading.digests],
        layouts={**gold.layouts, **loading.layouts},
    )


def by_unit(gold: Gold, responses: Iterable[Response]) -> dict[str, dict[str, dict[str, list[Response]]]]:
    """Return run lines in load order by run id, unit, and base id of the query."""
    lines_by_run: dict[str, dict[str, dict[str, list[Response]]]] = {}
    lines_of_query: list[Response] = []
    run_id = None
    base_id = None
    for response in responses:
        if response.query.base_id != base_id or response.run_id != run_id:  # most lines are about the query before
            run_id = response.run_id
            base_id = response.query.base_id
            lines_by_unit = lines_by_run.setdefault(run_id, {})
            lines_by_query = lines_by_unit.setdefault(gold.unit_of(base_id), {})
            lines_of_query = lines_by_query.setdefault(base_id, [])
        lines_of_query.append(response)
    return lines_by_run


class Unit(Record):
    """What one unit is scored from: its queries, and the lines of the run by base id of the query.

    AP pools the runs of a call (rule pooled-runs): `nodes` are the nodes of all runs, `other_run` is the result of an
    earlier run of the call in this unit. `earlier_result` is the result of the same lines under another policy: they
    have the same assessments.
    """

    id: str
    gold: Gold
    queries: Sequence[Query]
    hop_limits: Mapping[str, int]
    run: Run
    lines: Mapping[str, Sequence[Response]]
    nodes: Nodes
    other_run: UnitResult | None = None
    earlier_result: UnitResult | None = None


def units_of(
    run: Run,
    run_id: str,
    hop_limits: Mapping[str, int] | None = None,
    units_of_other_runs: Mapping[str, UnitResult] | None = None,
    earlier_results: Mapping[str, UnitResult] | None = None,
) -> Iterator[Unit]:
    """Yield the units of a run: those with lines in the order of the lines, then the others that are selected.

    `hop_limits` replaces the hop limits of gold. `units_of_other_runs` and `earlier_results` become the fields
    `other_run` and `earlier_result` of the units, by unit.
    """
    gold = run.gold
    if hop_limits is None:
        hop_limits = gold.hop_limits
    lines_by_unit = run.lines.get(run_id, {})
    nodes = Nodes(run.links.nodes, run.limits.most)
    queries_by_unit: dict[str, list[Query]] = {unit_id: [] for unit_id in lines_by_unit}
    for query in gold.selected(hop_limits):
        queries_by_unit.setdefault(gold.unit_of(query.base_id), []).append(query)
    for unit_id, queries in queries_by_unit.items():
        yield Unit(
            id=unit_id,
            gold=gold,
            queries=queries,
            hop_limits=hop_limits,
            run=run,
            lines=lines_by_unit.get(unit_id, {}),
            nodes=nodes,
            other_run=(units_of_other_runs or {}).get(unit_id),
            earlier_result=(earlier_results or {}).get(unit_id),
        )
