"""What all runs share: queries, limits, the linked pool, and what scoring derives from the pool query by query.

Gold is read once and never changes after. A run is laid over it (`cs_score.coldstart.run`), so that one gold standard
serves many runs, several threads at the same time, and travels to workers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cs_score.base.errors import InputError
from cs_score.base.records import Record, field, replace
from cs_score.base.signing.origin import QUERY_LIST, SAMPLES
from cs_score.base.sources import Input, InputDigest, digests_of_files
from cs_score.coldstart.judging.class_tree import ClassTree, build_tree
from cs_score.coldstart.judging.matching import ByValue, check_discipline, index_values
from cs_score.coldstart.lines.known_answers import KnownAnswers
from cs_score.coldstart.lines.layouts import Schema
from cs_score.coldstart.lines.links import Links
from cs_score.coldstart.lines.loading import loading_of, remarks_on_folders
from cs_score.coldstart.lines.provenance import are_plain
from cs_score.coldstart.lines.records import Assessment
from cs_score.coldstart.options import Options
from cs_score.coldstart.queries.loading import load_queries
from cs_score.coldstart.queries.query_set import Query, QuerySet, report_languages, report_slots
from cs_score.coldstart.queries.selection import select_queries
from cs_score.coldstart.ranking.classes import AssessedClasses
from cs_score.coldstart.resampling.sample_files import SampleFile, read_samples
from cs_score.problems.log import ProblemLog


class QueryGold(Record, eq=False):
    """What the pool says of one query: the tree of its classes (7.2) and what ranking asks of them (9).

    `problems` are reported whenever a run is scored; `failure` is why the tree could not be built.
    """

    query: Query
    tree: ClassTree | None
    classes: AssessedClasses
    problems: ProblemLog
    failure: InputError | None


class Gold(Record, eq=False):
    """Queries and pool, linked and indexed.

    `hop_limits` maps the short id of each query to score to the highest hop that is scored; `assessed` has the
    assessments by the base id of their query, in load order; `layouts` tells the column layout of each file by its
    name; `ldc_ids` are the LDC ids that a list of queries has for them, by short id. `known` remembers answers from
    run to run, where several are scored.
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
    # What was derived or read so far. Two threads that do so at the same time get equal results.
    _queries: dict[str, QueryGold] = field(default_factory=dict)
    _values: dict[str, ByValue] = field(default_factory=dict)
    _samples: dict[str, SampleFile] = field(default_factory=dict)

    def __reduce__(self) -> tuple[object, ...]:
        """What travels: without what was derived, which another thread may be adding to."""
        derived = {"_queries": {}, "_values": {}, "_samples": dict(self._samples)}
        return Gold, tuple(derived.get(name, getattr(self, name)) for name in self.__struct_fields__)

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

    @property
    def has_clusters(self) -> bool:
        """Whether the LDC queries of the queries to score are known."""
        return bool(self.table.ldc_of) or any(self.cluster_of(query) != query.full_id for query in self.selected())

    def of_query(self, query: Query, links: Links) -> QueryGold:
        """What the pool says of a query; derived once for all runs where nothing is to be reported.

        `links`: those of the run that is scored.
        """
        found = self._queries.get(query.short_id)
        if found is None:
            found = _query_gold(query, self, links)
            if found.failure is None and not found.problems.total:
                self._queries[query.short_id] = found
        return found

    def values_of(self, base_id: str, links: Links) -> ByValue:
        """The assessments of a query by value, as the discipline compares it (6.2). Raises InputError."""
        found = self._values.get(base_id)
        if found is None:
            found = index_values(self.assessed.get(base_id, ()), links, self.options.discipline)
            self._values[base_id] = found
        return found

    def samples_of(self, name: str) -> SampleFile:
        """The resamples in a file, which is read when they are first asked for. Raises InputError."""
        found = self._samples.get(name)
        if found is None:
            found = self._samples[name] = read_samples(name)
        return found


def _query_gold(query: Query, gold: Gold, links: Links) -> QueryGold:
    problems = ProblemLog()
    assessments = gold.assessed.get(query.base_id, ())
    if gold.table.was_expanded:  # the reference makes a copy of the query here, and one for AP
        report_languages(query, problems, times=2)
        report_slots(query, problems, times=2)
    tree, failure = None, None
    try:
        tree = build_tree(links.root(query), assessments, links, problems)
    except InputError as error:
        failure = error
    return QueryGold(query, tree, AssessedClasses(assessments), problems, failure)


def open_gold(queries: Iterable[Input], options: Options, problems: ProblemLog | None = None) -> Gold:
    """Read the query files, expand them if asked to, and choose the queries to score; there is no pool yet.

    `problems` collects what is found; a caller that passes its own keeps it when this raises. Raises InputError where a
    file cannot be read, an id cannot be parsed, or the choice is impossible.
    """
    problems = ProblemLog() if problems is None else problems
    loaded = load_queries(queries, options.expand, problems)
    selection = select_queries(options.queries, loaded.table, problems)
    digests = (*loaded.digests, *digests_of_files({QUERY_LIST: options.queries, SAMPLES: options.samples}))
    links = Links(loaded.table)
    return Gold(
        options, loaded.table, selection.hop_limits, links, problems, tuple(loaded.remarks), digests, {},
        ldc_ids=selection.ldc_ids,
    )  # fmt: skip


def noting_folders(gold: Gold, files: Sequence[Input]) -> Gold:
    """Gold with remarks on folders among the files to load that hold none. Raises InputError where all of them are."""
    return replace(gold, remarks=(*gold.remarks, *remarks_on_folders(files)))


def with_pool(gold: Gold, pool: Iterable[Input], problems: ProblemLog | None = None) -> Gold:
    """Gold with its pool loaded, for runs to be scored one by one.

    `problems`, a branch of those of gold, collects what is found.

    Raises InputError for an unknown discipline, a line that cannot be linked, files of an unknown layout, and a run.
    """
    check_discipline(gold.options.discipline)
    problems = gold.problems.branch() if problems is None else problems
    loading = loading_of(gold.table, gold.options.justifications, problems)
    loading.load(pool)
    if loading.links.responses:
        raise InputError(
            "this is a run; assessments come before the runs",
            file=loading.links.responses[0].file,
            remedy="give the words in the order QUERIES.xml POOL RUN...",
        )
    return replace(
        gold,
        links=loading.links,
        problems=problems,
        remarks=(*gold.remarks, *loading.remarks),
        digests=(*gold.digests, *loading.digests),
        layouts=loading.layouts,
        assessed=by_query(loading.links.assessments),
        known=KnownAnswers(line for line in loading.links.assessments if are_plain(line.relation, line.provenance)),
        _queries={},
        _values={},
    )


def by_query(assessments: Iterable[Assessment]) -> dict[str, list[Assessment]]:
    """Assessments by the base id of their query, in load order."""
    grouped: dict[str, list[Assessment]] = defaultdict(list)
    for assessment in assessments:
        grouped[assessment.query.base_id].append(assessment)
    return dict(grouped)
