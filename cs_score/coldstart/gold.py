"""What is scored: gold (queries, limits, the linked pool), the run laid over it, and the units of both.

Gold is read once and never changes after. One gold standard serves many runs, several threads at the same time, and
travels to workers. Units are LDC queries with their entry points, or queries where there is no LDC index.
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
    """What the pool says of one query; `problems` are reported with every run, `failure` is why it has no tree."""

    query: Query
    tree: ClassTree | None
    classes: AssessedClasses
    problems: ProblemLog
    failure: InputError | None = None


class Derived(Struct):
    """What scoring has derived from gold, kept for all runs: of each query and base id, when it is first needed.

    Two threads that derive the same at the same time get equal results.
    """

    gold_by_query: dict[str, QueryGold] = field(default_factory=dict)
    judgements_by_query: dict[str, JudgementByValue] = field(default_factory=dict)


class Gold(Record, eq=False):
    """Queries and pool, linked and indexed. `hop_limits` has, by short id, the highest hop of each query to score,
    `ldc_ids` the LDC id that a list of queries has for it; `assessed` the assessments by the base id of their query, in
    load order. `known` remembers answers from run to run; `alone` is the run whose lines are loaded, None for all.
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
    # The file of resamples, once it was read.
    _samples: list[SampleFile] = field(default_factory=list)

    def __reduce__(self) -> tuple[object, ...]:
        """What travels: without what was derived; copies of what another thread may be adding to."""
        known = None if self.known is None else self.known.copy()
        travelling = {"derived": Derived(), "_samples": [*self._samples], "known": known}
        return Gold, tuple(travelling.get(name, getattr(self, name)) for name in self.__struct_fields__)

    def changed(self, **fields: Any) -> Gold:
        """Return gold with other values of some fields; what scoring derives from gold is derived anew."""
        return replace(self, **fields, derived=Derived())

    def __repr__(self) -> str:
        return f"<gold: {len(self.hop_limits)} queries to score, {len(self.links.assessments)} assessments>"

    def unit_of(self, base_id: str) -> str:
        """The unit that a query belongs to, by base id: its LDC query where it has one, else itself."""
        return self.table.ldc_of.get(base_id, base_id)

    def selected(self, hop_limits: Mapping[str, int] | None = None) -> list[Query]:
        """The queries to score, in the order in which the reference scores them; `hop_limits` names others."""
        by_id = self.table.by_id
        chosen = self.hop_limits if hop_limits is None else hop_limits
        return [by_id[short_id] for short_id in sorted(chosen) if short_id in by_id]

    def cluster_of(self, query: Query) -> str:
        """The unit that a resample draws a query with, by full id: its LDC query where that is known, else itself."""
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
        return bool(self.table.ldc_of) or any(self.cluster_of(query) != query.full_id for query in self.selected())

    def of_query(self, query: Query, links: Links) -> QueryGold:
        """What the pool says of a query by the links of a run; kept for all runs where nothing is to be reported."""
        found = self.derived.gold_by_query.get(query.short_id)
        if found is not None:
            return found
        problems, edition = ProblemLog(), self.table.edition
        assessments = self.assessed.get(query.base_id, ())
        if self.table.was_expanded:  # the reference makes a copy of the query here, and one for AP
            report_languages(query, problems, times=2, edition=edition)
            report_slots(query, problems, times=2, edition=edition)
        classes = AssessedClasses(assessments, edition, self._document_counts_of_others(query, assessments))
        try:
            tree = build_tree(links.root(query), assessments, links, problems, edition)
        except InputError as error:
            return QueryGold(query, None, classes, problems, error)
        found = QueryGold(query, tree, classes, problems)
        if not problems.total:
            self.derived.gold_by_query[query.short_id] = found
        return found

    def _document_counts_of_others(self, query: Query, assessments: Sequence[Assessment]) -> dict[str, int]:
        """Return in how many documents the classes of other queries were found, by the assessments of these."""
        document_counts: dict[str, int] = {}
        for assessment in assessments:
            name = assessment.value_class
            if not assessment.is_accepted or name.partition(":")[0] == query.full_id or name in document_counts:
                continue
            short_id = name.partition(":")[0].rpartition("_")[2]
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
        if not self._samples:
            self._samples.append(read_samples(self.samples_file or ""))
        return self._samples[0]


def open_gold(
    queries: Iterable[Input],
    options: Options,
    problems: ProblemLog | None = None,
    *,
    held: Mapping[str, Input] | None = None,
    validates: bool = False,
) -> Gold:
    """Read the query files, expand them if asked to, and choose the queries to score; there is no pool yet. `held`: by
    role the files that options name, if they are not to be read from there. `problems` keeps what is found before an
    error.
    """
    problems = ProblemLog() if problems is None else problems
    problems.wordings = options.edition.wordings
    base = None if is_nothing(options.expand) else options.expand
    loaded = load_queries(queries, base, problems, edition=options.edition)
    held = held or {}
    named = {QUERY_LIST: options.queries, SAMPLES: None if is_nothing(options.samples) else options.samples}
    try:
        selection = select_queries(options.queries, loaded.table, problems, held.get(QUERY_LIST))
    except InputError as error:
        error.add_remarks(loaded.remarks)
        raise
    files = {role: held.get(role, name) for role, name in named.items()}
    digests = [*loaded.digests]
    for role, given in files.items():  # a choice that may be a file or a list is signed only as a file
        if given is not None and (isinstance(given, InMemory) or os.path.isfile(name_of(given))):
            with open_source(given, decompress=False) as source:
                digests.append(source.digest(role))
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
        samples_file=files[SAMPLES],
        validates=validates,
    )


def noting_folders(gold: Gold, files: Sequence[Input]) -> Gold:
    """Gold with remarks on folders among the files to load that hold none. Raises InputError where all of them are."""
    return replace(gold, remarks=(*gold.remarks, *remarks_on_folders(files)))


def with_pool(gold: Gold, pool: Iterable[Input], problems: ProblemLog | None = None) -> Gold:
    """Gold with its pool loaded, for runs to be scored one by one; `problems` is a branch of those of gold. Raises
    InputError for an unknown discipline, a line that cannot be linked, files of an unknown layout, and a run.
    """
    check_discipline(gold.options.discipline)
    problems = gold.problems.branch() if problems is None else problems
    loading = Loading(gold.table, gold.options.justifications, problems)
    _load_with_remarks(gold, loading, pool)
    if loading.links.responses:
        raise RunInPoolError(
            "this is a run; assessments come before the runs",
            file=loading.links.responses[0].file,
            remedy="give the words in the order QUERIES.xml POOL RUN...",
        )
    return gold.changed(
        links=loading.links,
        problems=problems,
        remarks=(*gold.remarks, *loading.remarks),
        digests=(*gold.digests, *loading.digests),
        layouts=loading.layouts,
        assessed=by_query(loading.links.assessments),
        known={
            answer_key(line.query.full_id, *line.answer): (line.answer, line.target)
            for line in loading.links.assessments
            if are_plain(line.relation, line.provenance, edition=gold.table.edition)
        },
    )


def _load_with_remarks(gold: Gold, loading: Loading, files: Iterable[Input]) -> None:
    """Load files; an error that ends this bears the remarks that were made before."""
    try:
        loading.load(files)
    except InputError as error:
        error.add_remarks([*gold.remarks, *loading.remarks])
        raise


def by_query(assessments: Iterable[Assessment]) -> dict[str, list[Assessment]]:
    grouped: dict[str, list[Assessment]] = defaultdict(list)
    for assessment in assessments:
        grouped[assessment.query.base_id].append(assessment)
    return dict(grouped)


class Run(Record, eq=False):
    """The lines of one call, which may bear several run ids, over the gold standard they are scored against. `lines`
    has them in load order by run id, unit, and base id of the query; `discarded` says why some are beyond the limits,
    by index, `limited` how many lines had been loaded each time that was looked for.
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
        """The runs to score, in order: those asked for, else all that lines were loaded of."""
        asked = self.gold.options.runids
        return sorted(self.lines) if asked is None else list(asked)

    def __repr__(self) -> str:
        return f"<{', '.join(sorted(self.lines)) or 'no run'}: {len(self.links.responses)} lines over {self.gold!r}>"


def load_run(
    gold: Gold, files: Iterable[Input], limits: Justifications | None = None, problems: ProblemLog | None = None
) -> Run:
    """Load runs over gold, and their assessments where gold has no pool, in the order given. Raises InputError for a
    line that cannot be linked and for files of an unknown layout.
    """
    limits = gold.options.justifications if limits is None else limits
    problems = gold.problems.branch() if problems is None else problems
    loading = Loading(
        gold.table, limits, problems, gold_links=gold.links, known_answers=gold.known, only_run_id=gold.alone
    )
    _load_with_remarks(gold, loading, files)
    return run_of(gold, loading, limits)


def under_limits(run: Run, limits: Justifications, *, with_problems: bool = True) -> Run:
    """The same lines held to other limits, without reading a file again; `with_problems`: each line that is discarded
    is noted, which takes a kilobyte. Raises InputError as `load_run` would.
    """
    if limits == run.limits:
        return run
    problems = run.problems.without(DISCARD_CODES)
    problems.ignored |= frozenset() if with_problems else DISCARD_CODES
    discard = DiscardRules(limits, problems)
    discard.apply_again(run.limited, run.links.responses, run.links.nodes)
    return replace(run, limits=limits, discarded=discard.why, problems=problems)


def run_of(gold: Gold, loading: Loading, limits: Justifications) -> Run:
    links = loading.links
    if links.assessments:  # gold is built for this run: its lines may stand among those of the pool
        gold = gold.changed(links=links, assessed=by_query(links.assessments))
    return Run(
        gold, links, limits, by_unit(gold, links.responses), loading.discard.why, loading.discard.applied,
        loading.problems,
        [*gold.remarks, *loading.remarks],
        [*gold.digests, *loading.digests],
        {**gold.layouts, **loading.layouts},
    )  # fmt: skip


def by_unit(gold: Gold, responses: Iterable[Response]) -> dict[str, dict[str, dict[str, list[Response]]]]:
    """Lines as runs hold them: by run id, unit, and base id of the query."""
    lines: dict[str, dict[str, dict[str, list[Response]]]] = {}
    of_base: list[Response] = []
    run_id, base_id = None, None
    for response in responses:
        if response.query.base_id != base_id or response.run_id != run_id:  # most lines stand beside their like
            run_id, base_id = response.run_id, response.query.base_id
            of_unit = lines.setdefault(run_id, {}).setdefault(gold.unit_of(base_id), {})
            of_base = of_unit.setdefault(base_id, [])
        of_base.append(response)
    return lines


class Unit(Record):
    """What one unit is scored from: gold's side of its queries, and the lines of the run by query. AP pools the runs of
    a call (rule nodes): `nodes` are those of all, `beside` is what an earlier run has in this unit. `before` is what
    the same lines have under another policy: they met the same assessments.
    """

    id: str
    gold: Gold
    queries: Sequence[Query]
    hop_limits: Mapping[str, int]
    run: Run
    lines: Mapping[str, Sequence[Response]]
    nodes: Nodes
    beside: UnitResult | None = None
    before: UnitResult | None = None


def units_of(
    run: Run,
    run_id: str,
    hop_limits: Mapping[str, int] | None = None,
    so_far: Mapping[str, UnitResult] | None = None,
    before: Mapping[str, UnitResult] | None = None,
) -> Iterator[Unit]:
    """The units of a run with lines in the order of these, then the others that are selected; `so_far` and `before` are
    the units beside them and before them.
    """
    gold = run.gold
    hop_limits = gold.hop_limits if hop_limits is None else hop_limits
    lines_of = run.lines.get(run_id, {})
    nodes = Nodes(run.links.nodes, run.limits.most)
    queries: dict[str, list[Query]] = {unit_id: [] for unit_id in lines_of}
    for query in gold.selected(hop_limits):
        queries.setdefault(gold.unit_of(query.base_id), []).append(query)
    for unit_id, of_unit in queries.items():
        lines, beside = lines_of.get(unit_id, {}), (so_far or {}).get(unit_id)
        yield Unit(unit_id, gold, of_unit, hop_limits, run, lines, nodes, beside, (before or {}).get(unit_id))
