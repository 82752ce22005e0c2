"""Index a scored run for explanations of its lines, queries, classes and nodes. The indexes are built on first use. The
assessment of a line determines its equivalence class, and the line is counted in a row of the tables. An LDC query has
several entry points, each of which is a query. A full node id begins with its query: `CS14_0001:E1`.
"""

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
from cs_score.coldstart.judging import ClassTree, Counting, parent_of_class, place_responses
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import RIGHT
from cs_score.coldstart.ranking import Ranker, RunNodes
from cs_score.coldstart.scorer import slot_filling_rows
from cs_score.measures import Measure, default_measure
from cs_score.problems.log import Place, Problem, ProblemLog
from cs_score.verbs.explain.run_explanation.document import Counted, LineEffect, RankStep
from cs_score.verbs.explain.run_explanation.nearness import AssessmentIndex, NearAssessment
from cs_score.verbs.explain.run_explanation.score_arithmetic import NodeExplainer, explain_counts, explain_mean

Reason: TypeAlias = tuple[str, tuple[At, ...]]
"""The reason in words why a line has its category, and the places of the lines that decided on it."""


class Placement(Counting):
    """The lines of a query, counted a second time to learn in which class each was placed, and which lines decided.

    `tree` has the classes of the query, `lines_by_class` the lines in each class, and `class_by_index` the class of
    each line by the line's index.
    """

    def __init__(self, tree: ClassTree, indexed_query: IndexedQuery) -> None:
        """Place the lines of a query in the `tree` of its classes, and count them.

        Raises InputError if they cannot be placed.
        """
        indexed_run = indexed_query.indexed_run
        assessment_by_index = indexed_query.assessment_by_index
        most_justifications = indexed_run.run.limits.justifications_per_node
        super().__init__(  # prepares for counting the lines, which `tally` does below
            assessment_by_index,
            indexed_run.policy,
            most_justifications,
            labels_by_index={},  # this second count has its own labels, so that those of the run do not change
            edition=indexed_run.edition,
        )
        self.tree = tree.copy()
        links = indexed_run.run.links
        self.lines_by_class = place_responses(self.tree, indexed_query.lines, assessment_by_index, links)
        self.class_by_index = _class_by_index(self.lines_by_class)
        # The call records the labels and the deciding lines; its counts are not needed.
        self.tally(self.tree, self.lines_by_class)


def _class_by_index(lines_by_class: Mapping[str, Iterable[Response]]) -> dict[int, str]:
    """Return the class that each line is placed in, by the index of the line."""
    class_by_index: dict[int, str] = {}
    for class_name, lines in lines_by_class.items():
        for line in lines:
            class_by_index[line.index] = class_name
    return class_by_index


class IndexedQuery:
    """A query of a query file together with its follow-on queries: the lines that answer them, and their results.
    `lines` are the lines of the run, in load order. `unit` is the result of the query's unit, which holds the labels
    and assessments of its lines by index.

    The result is empty if the unit was not scored. `lines_in_unit` is the number of lines of the whole unit.
    """

    def __init__(self, indexed_run: IndexedRun, base_id: str) -> None:
        """Look up the query with the short id `base_id` and its lines in the scored run."""
        unit_id = indexed_run.run.gold.unit_of(base_id)
        lines_by_unit = indexed_run.run.lines_by_run_and_unit.get(indexed_run.scored.run_id, {})
        lines_by_query = lines_by_unit.get(unit_id, {})
        self.indexed_run = indexed_run
        self.base_id = base_id
        self.query = indexed_run.run.gold.query_set.by_id[base_id]
        self.lines: Sequence[Response] = lines_by_query.get(base_id, ())
        self.lines_in_unit = sum([len(lines) for lines in lines_by_query.values()])
        self.unit = indexed_run.unit_by_id.get(unit_id) or _unscored_unit(unit_id)
        self.labels = self.unit.labels_by_index
        self.assessment_by_index = self.unit.assessment_by_index
        self.naming_reasons: dict[int, Reason] = {}
        """The reasons why nodes describe the entity without naming it.

        A node is no object of its own: its key is the `id()` of the list of its lines, which all of these lines share.
        """

    @cached_property
    def is_scored(self) -> bool:
        """Whether the query was scored."""
        return any(result.query.short_id == self.base_id for result in self.unit.queries)

    @cached_property
    def result(self) -> tables.QueryResult:
        """The result of the query; it is empty if the query was not scored."""
        for result in self.unit.queries:
            if result.query.short_id == self.base_id:
                return result
        return tables.QueryResult(self.query)

    @cached_property
    def row_by_index(self) -> Mapping[int, str]:
        """The name of the row of the tables in which each line is counted, by the index of the line."""
        row_by_index: dict[int, str] = {}
        for row_counts in self.result.tallies:  # the counts of a row, with the lines counted in it
            for line in row_counts.responses:
                row_by_index[line.index] = row_counts.name
        return row_by_index

    @cached_property
    def lines_by_follow_on(self) -> Mapping[str, Sequence[Response]]:
        """The lines that a follow-on query asks about, by the short id of this query."""
        lines_by_follow_on: dict[str, list[Response]] = defaultdict(list)
        for line in self.lines:
            lines_by_follow_on[line.follow_on_id].append(line)
        return lines_by_follow_on

    @cached_property
    def gold(self) -> QueryGold:
        """The assessments and classes that the pool has for the query."""
        return self.indexed_run.run.gold.gold_of_query(self.query, self.indexed_run.run.links)

    @cached_property
    def right_lines_by_row(self) -> Mapping[str, Mapping[str, Sequence[Response]]]:
        """The lines that count as right, by table row and by the class that they have found."""
        right_lines: dict[str, dict[str, list[Response]]] = {}
        for tally in self.result.tallies:
            lines_by_class = right_lines.setdefault(tally.name, {})
            for line in tally.responses:
                class_name = self._found_class(line)
                # In a pool, the class of an answer may belong to a different row than its query.
                if class_name is not None and parent_of_class(class_name) == tally.name:
                    lines_by_class.setdefault(class_name, []).append(line)
        return right_lines

    def _found_class(self, line: Response) -> str | None:
        """Return the class of the assessment of a line that counts as right; None for all other lines."""
        assessment = self.assessment_by_index.get(line.index)
        if assessment is None or RIGHT not in self.labels[line.index]:
            return None
        return assessment.value_class

    def right_lines(self, class_name: str) -> Sequence[Response]:
        """Return the lines that count as right for a class."""
        row = parent_of_class(class_name)
        return self.right_lines_by_row.get(row, {}).get(class_name, ())

    def lines_in_class(self, class_name: str) -> Sequence[Response]:
        """Return the lines that are placed in a class, right or wrong; none if the query was not scored."""
        return () if self.placement is None else self.placement.lines_by_class.get(class_name, ())

    @cached_property
    def accepted_by_class(self) -> Mapping[str, Sequence[Assessment]]:
        """The accepted assessments of each class, in load order."""
        accepted: dict[str, list[Assessment]] = {}
        for assessment in self.indexed_run.run.gold.assessments_by_query.get(self.base_id, ()):
            if assessment.is_accepted:
                accepted.setdefault(assessment.value_class, []).append(assessment)
        return accepted

    @cached_property
    def placement(self) -> Placement | None:
        """The classes in which the lines are placed, or None if they could not be placed.

        They cannot be placed if the query was not scored, or if an error stopped its scoring. For example, the classes
        of the pool may contradict each other, or the query of a line may have no class.
        """
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
        other_entry_points = self._other_entry_points()
        assessments: list[Assessment] = []
        base_ids = [self.base_id, *other_entry_points]
        for base_id in base_ids:
            assessments += self.indexed_run.run.gold.assessments_by_query.get(base_id, ())
        return AssessmentIndex(assessments)

    def _other_entry_points(self) -> list[str]:
        """Return the short ids of the other entry points of the LDC query of this query.

        The list is empty if the query does not belong to an LDC query.
        """
        ldc_id_by_query = self.indexed_run.run.gold.query_set.ldc_id_by_query
        own_ldc_id = ldc_id_by_query.get(self.base_id)  # None is not equal to the LDC id of any query
        entry_points = [base_id for base_id, ldc_id in ldc_id_by_query.items() if ldc_id == own_ldc_id]
        return [base_id for base_id in entry_points if base_id != self.base_id]

    @cached_property
    def explained_rows(self) -> Mapping[str, Sequence[Counted]]:
        """The explanations of rows, by the name of the row in the SF table, such as `CS14_0001:2`.

        Each row of the SF table is explained by its own counts. If the query is an entry point of an LDC query, the
        explanation is followed by the rows of the tables LDC-MAX and LDC-MEAN that include these counts.
        """
        row_by_name = {tally.name: tables.counted_row(tally.name, tally.counts) for tally in self.result.tallies}
        explained_rows = {}
        for name, row in row_by_name.items():
            explained_rows[name] = [explain_counts(row, table="SF", rule="counts")]
        ldc_query = self._ldc_query()
        if ldc_query is not None:
            ldc_rows = _LdcRows(self, ldc_query, own_rows=row_by_name.values())
            for name, row in row_by_name.items():
                explained_rows[name] += [ldc_rows.max_row(row), ldc_rows.mean_row(row)]
        return explained_rows

    def _ldc_query(self) -> tables.LdcQueryRows | None:
        """Return the LDC query that the query is an entry point of, with the rows of all its entry points.

        The result is None if the query does not belong to an LDC query.
        """
        queries = self.indexed_run.run.gold.query_set
        ldc_id = queries.ldc_id_by_query.get(self.base_id)
        if ldc_id is None:
            return None
        own_full_id = queries.by_id[ldc_id].full_id
        unit_table = tables.averaged_table(slot_filling_rows([self.unit]))
        for ldc_query in tables.add_ldc_tables(unit_table, queries).ldc_queries:
            if ldc_query.full_id == own_full_id:
                return ldc_query
        return None  # nothing of the unit was scored

    def rank_step(self, name: str | None) -> RankStep | None:
        """Return the ranks of a node of the query, or None if the node is not in any ranking.

        `name` is the full node id of the node, such as `CS14_0001:E1`. It is None for the node of a line without a node
        id.
        """
        if name is None or self._why_nothing_ranked is not None:
            return None
        # Only two components of a node id count after the query id (rule nodes). A node with more components is ranked
        # under the shorter name.
        query_id_and_two_components = name.split(":")[:3]
        short_name = ":".join(query_id_and_two_components)
        return self._rank_step_by_node.get(name) or self._rank_step_by_node.get(short_name)

    def why_not_ranked(self, full_node_id: str | None) -> str | None:
        """Return why a node of the query is not in any ranking, or None if it is in one.

        `full_node_id` is an id such as `CS14_0001:E1`. It is None for the node of a line without a node id.
        """
        if full_node_id is None:
            return "the run has no node ids (eight columns), so that nothing of it is ranked"
        if self._why_nothing_ranked is not None:
            return self._why_nothing_ranked
        is_ranked = self.rank_step(full_node_id) is not None
        if is_ranked:
            return None
        reason = f"node {full_node_id} belongs to no query"
        if full_node_id.startswith(":"):
            reason += ": it has no parent line before it, so that its id lacks the prefix of one"
        return reason

    @property
    def _why_nothing_ranked(self) -> str | None:
        """The reason why the query has no rankings, or None if it has rankings."""
        # The sentences are about a line or node of the query, so `its query` refers to this query.
        if not self.is_scored or self.result.counting_error is not None:
            return "its query was not ranked"
        if self.result.ranking_error is not None:
            return f"its query has no ranking: {self.result.ranking_error}"
        return None

    @cached_property
    def _rank_step_by_node(self) -> Mapping[str, RankStep]:
        """The explanations of all nodes in the rankings of the query, by full node id: `CS14_0001:E1`."""
        most_justifications = self.indexed_run.run.limits.justifications_per_node
        ranker = Ranker(self.gold.classes, self.assessment_by_index, self.labels, most_justifications)
        nodes = self.indexed_run.nodes.nodes_of_query(self.query.full_id)
        return NodeExplainer(self.result, nodes, ranker).explain_all(self.gold.classes, most_justifications)


def _unscored_unit(unit_id: str) -> tables.UnitResult:
    """Return the empty result of a unit that was not scored."""
    return tables.UnitResult(id=unit_id, assessment_by_index={}, labels_by_index={}, queries=(), problems=ProblemLog())


class _LdcRows:
    """Explains how the rows of an entry point count in the tables LDC-MAX and LDC-MEAN. An LDC query asks about one
    entity from several entry points. Its rows are those of the best entry point, or means over all entry points.
    """

    def __init__(
        self, indexed_query: IndexedQuery, ldc_query: tables.LdcQueryRows, own_rows: Iterable[tables.ScoreRow]
    ) -> None:
        """Find the best entry point of an LDC query, and the rows from which its means are computed.

        `indexed_query` is the entry point to explain, and `own_rows` are its rows. `ldc_query` has the rows of all
        entry points.
        """
        self._indexed_query = indexed_query
        self._own_rows = own_rows
        self._full_id = ldc_query.full_id
        self._members_by_row = tables.member_rows_of_means(ldc_query.full_id, ldc_query.entry_points)
        self._best = tables.best_entry_point(ldc_query.entry_points)

    @property
    def _is_best(self) -> bool:
        """Whether the entry point to explain is the best one of the LDC query, so that it represents the LDC query."""
        return self._best.short_id == self._indexed_query.base_id  # for an entry point, both are its short id

    @cached_property
    def _why_not_best(self) -> str:
        """The reason why another entry point represents the LDC query: `CS_2 represents CS: its F1 over all ...`."""
        queries = self._indexed_query.indexed_run.run.gold.query_set
        best_full_id = queries.by_id[self._best.short_id].full_id
        best_f1 = tables.counted_f1(self._best.rows)
        own_f1 = tables.counted_f1(self._own_rows)
        reason = (
            f"{best_full_id} represents {self._full_id}: its F1 over all rows is {best_f1:.4f}, that of "
            f"this entry point {own_f1:.4f}"
        )
        return f"{reason}, and it comes first" if best_f1 == own_f1 else reason

    def max_row(self, row: tables.ScoreRow) -> Counted:
        """Return the row of LDC-MAX for a row of the entry point.

        If another entry point represents the LDC query, the row only has a note on it.
        """
        if self._is_best:
            return explain_counts(self._ldc_row(row), table="LDC-MAX", rule="ldc-max")
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
        ldc_name = self._ldc_row(row).name
        hop = str(ldc_name.count(":"))  # `CS14_0001` is a row of hop 0, `CS14_0001:2` one of hop 1
        return explain_mean(ldc_name, hop, self._members_by_row[ldc_name, hop])

    def _ldc_row(self, row: tables.ScoreRow) -> tables.ScoreRow:
        """Return a row of the entry point under the name that it has in the tables of LDC queries."""
        [ldc_row] = tables.ldc_max_rows(self._full_id, [row])
        return ldc_row


class IndexedRun:
    """A scored run to explain: its queries, lines and problems, and the effects of changes on its scores.

    If nothing could be scored, `fatal_error` holds the error, and there are no rows and possibly no units. Effects are
    given for each measure in `measures`. The main one is `measure`, which is None if there are no scores. `files` holds
    the run files by name, `unit_by_id` the results of the units, and `nodes` the nodes of the run.
    """

    def __init__(self, scored: AnalysedRun, measure: str | None = None) -> None:
        """Prepare a run for explanations.

        Effects of changes on scores are given for `measure`, which defaults to the headline measure of the run. Raises
        UsageError for an unknown measure, and InputError if the run has no score under the measure.
        """
        self.scored = scored
        self.run = scored.run
        self.policy = scored.policy
        self.edition = scored.run.gold.query_set.edition
        # An error that stopped scoring is not fatal if there were already scores.
        has_scores = bool(scored.result.tables.sf.rows)
        self.fatal_error = None if has_scores else scored.stopping_error
        self.measure = None if self.fatal_error else scored.measure(measure)
        self.measures = self._measures_of_effects()
        self.unit_by_id = {unit.id: unit for unit in scored.result.units}
        self.nodes = RunNodes(self.run.links.lines_by_node, self.run.limits.justifications_per_node)
        self.files = files_of_run(self.run)
        self._indexed_query_by_id: dict[str, IndexedQuery] = {}

    def query(self, base_id: str) -> IndexedQuery:
        """Return the query with this short id, together with its follow-on queries."""
        if base_id not in self._indexed_query_by_id:
            self._indexed_query_by_id[base_id] = IndexedQuery(self, base_id)
        return self._indexed_query_by_id[base_id]

    def _measures_of_effects(self) -> list[Measure]:
        """Return the measures for which effects are given. There are none if the run has no scores.

        The main measure comes first. It is followed by F1, which is the headline measure of runs without rankings, and
        by each average precision over all hops.
        """
        if self.measure is None:
            return []
        has_ldc_queries = bool(self.run.gold.query_set.ldc_id_by_query)
        headline_f1 = default_measure(has_ldc_queries=has_ldc_queries, has_rankings=False)
        scores = self.scored.result.score_by_measure
        # A measure without a hop covers all hops.
        average_precisions = [measure for measure in scores if measure.is_of_rankings and measure.hop is None]
        measures = [self.measure, headline_f1, *average_precisions]
        return [measure for measure in dict.fromkeys(measures) if measure in scores]

    def lines(self) -> Iterator[AnyLine]:
        """Yield every line of the run's files in order, except the responses of other runs in the same call.

        Lines that are not responses, such as comments and skipped lines, are always included.
        """
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
        """The number of the first line with each text, by the name of the file and the text.

        Later lines with the same text repeat it.
        """
        number_by_text: dict[tuple[str, str], int] = {}
        for file in self.files.values():
            for line in file.lines:
                number_by_text.setdefault((line.file, line.text), line.number)
        return number_by_text

    @cached_property
    def effects(self) -> Effects:
        """The object that computes the effects of changes to the files of the run."""
        return Effects(self.scored, self.measures)

    def effect_of_removing(self, lines: Sequence[LinkedLine], *, is_computed: bool = True) -> LineEffect | None:
        """Return the effect on the scores of removing some lines together with all lines that depend on them.

        If `is_computed` is false, the effect only names the lines that would be removed. The result is None if the run
        has no scores.
        """
        if self.measure is None:
            return None
        change = self.effects.editor.removal_of(lines)
        if is_computed:
            score_effect = self.effects.effect_of(change)
        else:
            reason = f"not computed for so many lines; --line {lines[0].number} asks for it"
            score_effect = Effect(differences={}, reason=reason)
        return self._effect_to_explain("absent", change, score_effect)  # the lines are absent after the change

    def effect_of_adding(self, answer: Assessment) -> LineEffect | None:
        """Return how adding an answer from the pool changes the scores of a run, or None if the run has no scores.

        The result has the difference in each measure, and the lines to add.
        """
        if self.measure is None:
            return None
        change = Change(added_lines=self.effects.editor.lines_to_add([answer]))
        score_effect = self.effects.effect_of(change)
        return self._effect_to_explain("found", change, score_effect)  # the class of the answer is found

    def _effect_to_explain(self, kind: str, change: Change, score_effect: Effect) -> LineEffect:
        """Return the effect of a change of the run as explanations show it, with the lines removed and added.

        `kind` is `absent` if lines were removed, `found` if a missed class was found.
        """
        difference_by_measure = {str(measure): score_effect.differences.get(str(measure)) for measure in self.measures}
        return LineEffect(
            change=kind,
            effects=difference_by_measure,
            removed=self.effects.editor.places_removed_by(change),
            added=change.added_texts,
            reason=score_effect.reason,
        )
