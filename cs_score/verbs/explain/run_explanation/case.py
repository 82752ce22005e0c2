"""Index a scored run for explanations of its lines, queries, classes and nodes; indexes are made when first needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from cs_score.analysis.coldstart.changes import At, Change
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.run_files import AnyLine, LinkedLine, files_of_run
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError
from cs_score.coldstart import result as tables
from cs_score.coldstart.gold import QueryGold
from cs_score.coldstart.judging import ClassTree, Counting, place_responses
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import RIGHT
from cs_score.coldstart.ranking import Ranker, RunNodes
from cs_score.coldstart.scorer import score_rows
from cs_score.measures.registry import Measure, default_measure
from cs_score.problems.log import Place, Problem, ProblemLog
from cs_score.verbs.explain.run_explanation.document import Counted, LineEffect, RankStep
from cs_score.verbs.explain.run_explanation.nearness import AssessmentIndex, NearAssessment
from cs_score.verbs.explain.run_explanation.score_arithmetic import NodeExplainer, explain_counts, explain_mean

Reason: TypeAlias = tuple[str, tuple[At, ...]]
"""The reason in words why a line has its category, and the places of the lines that decided on it."""


class Placement(Counting):
    """The lines of a query, counted a second time to learn in which class each was placed, and which lines decided.

    `tree` has the classes of the query, `lines_by_class` the lines that are placed in each class, and `class_by_index`
    the class of each line by the index of the line.
    """

    def __init__(self, tree: ClassTree, query_case: QueryCase) -> None:
        """Place the lines of a query in its classes, and count them. Raises InputError if they cannot be placed."""
        case = query_case.case
        super().__init__(
            query_case.assessment_by_index, case.policy, case.run.limits.justifications_per_node, {}, case.edition
        )
        self.tree = tree.copy()
        self.lines_by_class = place_responses(
            self.tree, query_case.lines, query_case.assessment_by_index, case.run.links
        )
        self.class_by_index: dict[int, str] = {}
        for class_name, lines in self.lines_by_class.items():
            for line in lines:
                self.class_by_index[line.index] = class_name
        self.tally(self.tree, self.lines_by_class)


class QueryCase:
    """A query of a query file together with its follow-on queries: the lines that answer them, and their results.

    `lines` are in load order; `lines_by_target` has them by the follow-on query about their answer, and `row_by_index`
    has the row of the tables in which each line is counted, by the index of the line. `unit` is the result of the
    query's unit, with the assessments (`assessment_by_index`) and `labels` of its lines, and `result` is that of the
    query. Both are empty unless the query was scored (`is_scored`). `lines_in_unit` is the number of lines of the whole
    unit.
    """

    def __init__(self, case: Case, base_id: str) -> None:
        """Look up the query with the short id `base_id` in the scored run of a case, and index its lines."""
        # The query, and its lines in the run
        gold = case.run.gold
        unit_id = gold.unit_of(base_id)
        lines_by_query = case.run.lines_by_run_id.get(case.scored.run_id, {}).get(unit_id, {})
        self.case = case
        self.base_id = base_id
        self.query = gold.query_set.by_id[base_id]
        self.lines: Sequence[Response] = lines_by_query.get(base_id, ())
        self.lines_in_unit = sum([len(lines) for lines in lines_by_query.values()])
        # The results of its unit and of the query itself, which are empty if they were not scored
        nothing_scored = tables.UnitResult(
            id=unit_id, assessment_by_index={}, labels_by_index={}, queries=(), problems=ProblemLog()
        )
        self.unit = case.unit_by_id.get(unit_id, nothing_scored)
        self.labels = self.unit.labels_by_index
        self.assessment_by_index = self.unit.assessment_by_index
        result_by_id = {result.query.short_id: result for result in self.unit.queries}
        self.is_scored = base_id in result_by_id
        self.result = result_by_id.get(base_id, tables.QueryResult(self.query))
        # The lines by the row that counts them, and by the follow-on query about their answer
        self.row_by_index: dict[int, str] = {}
        for tally in self.result.tallies:
            for line in tally.responses:
                self.row_by_index[line.index] = tally.name
        self.lines_by_target: dict[str, list[Response]] = defaultdict(list)
        for line in self.lines:
            self.lines_by_target[line.target].append(line)
        self.not_named_reasons: dict[int, Reason] = {}
        """Why nodes are not named, by the id() of the list of their lines, which all lines of a node share."""

    @cached_property
    def gold(self) -> QueryGold:
        """The assessments and classes that the pool has for the query."""
        return self.case.run.gold.gold_of_query(self.query, self.case.run.links)

    @cached_property
    def right_lines_by_row(self) -> Mapping[str, Mapping[str, Sequence[Response]]]:
        """The lines that count as right, by row of the tables and by the class that they have found."""
        right_lines: dict[str, dict[str, list[Response]]] = {}
        for tally in self.result.tallies:
            lines_by_class = right_lines.setdefault(tally.name, {})
            for line in tally.responses:
                assessment = self.assessment_by_index.get(line.index)
                if assessment is None or RIGHT not in self.labels[line.index]:
                    continue
                if assessment.value_class.rpartition(":")[0] == tally.name:
                    lines_by_class.setdefault(assessment.value_class, []).append(line)
        return right_lines

    def right_lines(self, class_name: str) -> Sequence[Response]:
        """Return the lines that count as right for a class."""
        row = class_name.rpartition(":")[0]
        return self.right_lines_by_row.get(row, {}).get(class_name, ())

    def lines_in_class(self, class_name: str) -> Sequence[Response]:
        """Return the lines that are placed in a class, right or wrong; none if the query was not scored."""
        return () if self.placement is None else self.placement.lines_by_class.get(class_name, ())

    @cached_property
    def accepted_by_class(self) -> Mapping[str, Sequence[Assessment]]:
        """The accepted assessments of each class, in load order."""
        accepted: dict[str, list[Assessment]] = {}
        for assessment in self.case.run.gold.assessments_by_query.get(self.base_id, ()):
            if assessment.is_accepted:
                accepted.setdefault(assessment.value_class, []).append(assessment)
        return accepted

    @cached_property
    def placement(self) -> Placement | None:
        """The classes in which the lines are placed; None if the query was not scored."""
        if not self.is_scored or self.gold.tree is None:
            return None
        try:
            return Placement(self.gold.tree, self)
        except InputError:
            return None

    def nearest_assessments(self, line: Response) -> Sequence[NearAssessment]:
        """Return up to three assessments that are similar to a line without assessment, the most similar first."""
        return self._assessment_index.nearest_to(line)

    @cached_property
    def _assessment_index(self) -> AssessmentIndex:
        """The assessments of this query, then of the other entry points of its LDC query."""
        gold = self.case.run.gold
        ldc_id = gold.query_set.ldc_id_by_query.get(self.base_id, "")
        base_ids = {self.base_id: None}
        for other_id, other_ldc_id in gold.query_set.ldc_id_by_query.items():
            if other_ldc_id == ldc_id:
                base_ids[other_id] = None
        assessments: list[Assessment] = []
        for base_id in base_ids:
            assessments += gold.assessments_by_query.get(base_id, ())
        return AssessmentIndex(assessments)

    @cached_property
    def counted_rows(self) -> Mapping[str, Sequence[Counted]]:
        """The rows in which the lines of a row of the SF table are counted: that row, and the rows of its LDC query."""
        sf_rows = {tally.name: tables.counted_row(tally.name, tally.counts) for tally in self.result.tallies}
        rows_by_name: dict[str, list[Counted]] = {}
        for name, row in sf_rows.items():
            rows_by_name[name] = [explain_counts(row, "SF", "counts")]
        queries = self.case.run.gold.query_set
        if self.base_id not in queries.ldc_id_by_query:
            return rows_by_name
        unit_tables = tables.add_ldc_tables(tables.averaged_table(score_rows([self.unit])), queries)
        for ldc_query in unit_tables.ldc_queries:
            ldc_rows = _LdcRows(self, ldc_query, sf_rows.values())
            for name, row in sf_rows.items():
                rows_by_name[name] += [ldc_rows.max_row(row), ldc_rows.mean_row(row)]
        return rows_by_name

    def ranked_node(self, name: str | None) -> tuple[RankStep | None, str | None]:
        """Return the ranks of a node of the query and None, or None and why the node is in no ranking.

        `name` is the FQ node id of the node; None means the node of a line without a node id.
        """
        if name is None:
            return None, "the run has no node ids (eight columns), so that nothing of it is ranked"
        if not self.is_scored or self.result.counting_error is not None:
            return None, "its query was not ranked"
        if self.result.ranking_error is not None:
            return None, f"its query has no ranking: {self.result.ranking_error}"
        # Behind the query id, only two components of a node id count (rule nodes).
        query_id_and_two_components = name.split(":")[:3]
        ranked_name = ":".join(query_id_and_two_components)
        for possible_name in (name, ranked_name):
            if possible_name in self._ranked_by_name:
                return self._ranked_by_name[possible_name], None
        reason = f"node {name} belongs to no query"
        if name.startswith(":"):
            reason += ": it has no parent line before it, so that its id lacks the prefix of one"
        return None, reason

    @cached_property
    def _ranked_by_name(self) -> Mapping[str, RankStep]:
        """The explanations of all nodes in the rankings of the query, by FQ node id."""
        most_justifications = self.case.run.limits.justifications_per_node
        ranker = Ranker(self.gold.classes, self.assessment_by_index, self.labels, most_justifications)
        nodes = self.case.nodes.nodes_of_query(self.query.full_id)
        return NodeExplainer(self.result, nodes, ranker).explain_all(self.gold.classes, most_justifications)


class _LdcRows:
    """Explains the rows of LDC-MAX and LDC-MEAN to which the rows of an entry point of an LDC query contribute."""

    def __init__(
        self, query_case: QueryCase, ldc_query: tables.LdcQueryRows, own_rows: Iterable[tables.ScoreRow]
    ) -> None:
        """Compare an entry point with the others of its LDC query.

        The entry point is a query with its `own_rows`; `ldc_query` has the rows of all entry points of the LDC query.
        """
        full_id = ldc_query.full_id
        self._full_id = full_id
        self._members_by_row = tables.member_rows_of_means(full_id, ldc_query.entry_points)
        best = tables.best_entry_point(ldc_query.entry_points)
        self._is_best = best.short_id == query_case.base_id
        best_full_id = query_case.case.run.gold.query_set.by_id[best.short_id].full_id
        best_f1 = tables.counted_f1(best.rows)
        own_f1 = tables.counted_f1(own_rows)
        self._why_not_best = (
            f"{best_full_id} represents {full_id}: its F1 over all rows is {best_f1:.4f}, that of "
            f"this entry point {own_f1:.4f}"
        )
        if best_f1 == own_f1:
            self._why_not_best += ", and it comes first"

    def max_row(self, row: tables.ScoreRow) -> Counted:
        """Return the row of LDC-MAX for a row of the entry point.

        If another entry point represents the LDC query, the row only says so.
        """
        if self._is_best:
            return explain_counts(self._ldc_row(row), "LDC-MAX", "ldc-max")
        return Counted(
            rule="ldc-max",
            table="LDC-MAX",
            row=self._full_id,
            hop=row.level,
            counts={},
            precision=0.0,
            recall=0.0,
            f1=0.0,
            arithmetic=(),
            note=self._why_not_best,
        )

    def mean_row(self, row: tables.ScoreRow) -> Counted:
        """Return the row of LDC-MEAN for a row of the entry point: the mean over all entry points of the LDC query."""
        ldc_row = self._ldc_row(row)
        level = str(ldc_row.name.count(":"))
        return explain_mean(ldc_row.name, level, self._members_by_row[ldc_row.name, level])

    def _ldc_row(self, row: tables.ScoreRow) -> tables.ScoreRow:
        """Return a row of the entry point under the name that it has in the tables of LDC queries."""
        [ldc_row] = tables.ldc_max_rows(self._full_id, [row])
        return ldc_row


class Case:
    """A scored run to explain.

    If nothing could be scored, `fatal` is the error, and there are no rows and perhaps no units. `measure` is the main
    measure by which effects are given, None if there are no scores; `measures` are all such measures. `files` are the
    run files by name, `unit_by_id` the results of units, and `nodes` the nodes of the run.
    """

    def __init__(self, scored: AnalysedRun, measure: str | None = None) -> None:
        """Prepare a run for explanations; the `measure` of effects is by default its headline measure.

        Raises UsageError for an unknown measure, InputError for a measure by which the run has no score.
        """
        self.scored = scored
        self.run = scored.run
        self.policy = scored.policy
        self.edition = scored.run.gold.query_set.edition
        self.fatal = None if scored.result.tables.sf.rows else scored.stopped
        self.measure = None if self.fatal else scored.measure(measure)
        self.measures = self._measures_of_effects()
        self.unit_by_id = {unit.id: unit for unit in scored.result.units}
        self.nodes = RunNodes(self.run.links.lines_by_node, self.run.limits.justifications_per_node)
        self.files = files_of_run(self.run)
        self._query_case_by_id: dict[str, QueryCase] = {}

    def query(self, base_id: str) -> QueryCase:
        """Return the query with this short id, together with its follow-on queries."""
        if base_id not in self._query_case_by_id:
            self._query_case_by_id[base_id] = QueryCase(self, base_id)
        return self._query_case_by_id[base_id]

    def _measures_of_effects(self) -> list[Measure]:
        """Return the measures by which effects are given; none if the run has no scores.

        They are the main measure, the F1 that is the headline measure of runs without rankings, and each average
        precision over all hops.
        """
        if self.measure is None:
            return []
        scores = self.scored.result.measures
        measures = [self.measure]
        unranked = default_measure(with_ldc=bool(self.run.gold.query_set.ldc_id_by_query), has_rankings=False)
        if unranked in scores:
            measures.append(unranked)
        for measure in scores:
            if not measure.average and measure.hop is None:
                measures.append(measure)
        return list(dict.fromkeys(measures))

    def lines(self) -> Iterator[AnyLine]:
        """Yield every line of the run's files in order, without the responses of other runs of the call."""
        for file in self.files.values():
            for line in file.lines:
                if not isinstance(line, Response) or self.is_of_run(line):
                    yield line

    def is_of_run(self, line: Response) -> bool:
        """Return whether a line is of this run."""
        return line.run_id == self.scored.run_id

    @cached_property
    def problems(self) -> Mapping[Place, Sequence[Problem]]:
        """The problems that were found at each line, by the place of the line."""
        problems_by_place: dict[Place, list[Problem]] = defaultdict(list)
        logs = [self.run.problems]
        logs += [unit.problems for unit in self.unit_by_id.values()]
        for log in logs:
            for place, problem in log.by_place():
                problems_by_place[place].append(problem)
        return problems_by_place

    @cached_property
    def first_number_by_text(self) -> Mapping[tuple[str, str], int]:
        """The number of the first line of a file that has a text, by the name of the file and the text."""
        number_by_text: dict[tuple[str, str], int] = {}
        for file in self.files.values():
            for line in file.lines:
                number_by_text.setdefault((line.file, line.text), line.number)
        return number_by_text

    @cached_property
    def effects(self) -> Effects:
        """The object that computes the effects of changes to the files of the run."""
        return Effects(self.scored, self.measures)

    def effect_without(self, lines: Sequence[LinkedLine], *, is_computed: bool = True) -> LineEffect | None:
        """Return the effect on the scores of removing some lines together with all lines that depend on them.

        Unless `is_computed`, the result only names the lines that would be removed. It is None if the run has no
        scores.
        """
        if self.measure is None:
            return None
        change = self.effects.editor.removal_of(lines)
        if is_computed:
            effect = self.effects.effect_of(change)
        else:
            reason = f"not computed for so many lines; --line {lines[0].number} asks for it"
            effect = Effect(differences={}, reason=reason)
        return self._line_effect("absent", change, effect)

    def effect_with(self, answer: Assessment) -> LineEffect | None:
        """Return the effect on the scores of adding an answer of the pool to the run; None if the run has no scores."""
        if self.measure is None:
            return None
        change = Change(added=self.effects.editor.lines_to_give([answer]))
        return self._line_effect("found", change, self.effects.effect_of(change))

    def _line_effect(self, kind: str, change: Change, effect: Effect) -> LineEffect:
        """Return the effect of a change in the form of explanations.

        `kind` is `absent` for removed lines, or `found`.
        """
        return LineEffect(
            change=kind,
            effects={str(measure): effect.differences.get(str(measure)) for measure in self.measures},
            removed=self.effects.editor.places_removed_by(change),
            added=change.added_texts,
            reason=effect.reason,
        )
