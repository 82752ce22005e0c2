"""A scored run with what explanations look up in it: by line, class, node and query, when it is first asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import accumulate, chain
from operator import itemgetter
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.changes import At, Change, ReadLine, RunFile, run_files
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.explanation.document import Counted, LineEffect, Rank, Ranked
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import asdict
from cs_score.coldstart import result as tables
from cs_score.coldstart.gold import QueryGold
from cs_score.coldstart.judging import REDUNDANT, ClassTree, Counting, Counts, Labels, Tally, place_responses
from cs_score.coldstart.lines import Assessment, Response, SkippedLine, left_sum
from cs_score.coldstart.options import IGNORE, RIGHT, WRONG
from cs_score.coldstart.ranking import Node, Nodes, RankedNode, Ranker, Ranking
from cs_score.coldstart.scorer import score_rows
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.measures.registry import divide
from cs_score.problems.log import Place, Problem

AnyLine: TypeAlias = Response | SkippedLine | UnreadLine

Reason: TypeAlias = tuple[str, tuple[At, ...]]
"""Why a line has its category, and the lines that decided."""

_SIDES: Final = {RIGHT: "right", WRONG: "wrong", IGNORE: "ignored"}


def side_of(labels: Labels) -> str:
    """What a line counts as, in words: `right`, `wrong and ignored`, `neither right nor wrong`, `not scored`."""
    # A judgment is called IGNORE as well as a side; labels of lines with it have both.
    sides = " and ".join(text for side, text in _SIDES.items() if side in labels)
    of_no_side = "duplicate" if REDUNDANT in labels else "neither right nor wrong"
    return sides or (of_no_side if labels else "not scored")


_MOST_NEAR: Final = 3

_NEARNESS: Final = {
    "the same answer with another justification": ("qrvp", "qvp"),
    "the same value elsewhere": ("rvp qrv", "vp qv rv", "v"),
    "the same place with another value": ("qrp", "qp rp", "p"),
    "the same document": ("qrd", "qd rd", "d"),
}
"""How an assessment is near, and which of query, relation provenance, value, place and document it shares with a line:
the nearest first, alternatives that share as many beside each other."""


def _columns(line: Response | Assessment, names: str) -> tuple[object, ...]:
    """What a line has of some columns, each by the first letter of its name, with these and the hop of its query."""
    relation, value, place = line.answer
    columns = {"q": line.query.full_id, "r": relation, "v": value, "p": place, "d": line.docid}
    return (names, line.query.level, *(columns[name] for name in names))


class Placement(Counting):
    """A query's lines counted once more, for what counting decided between: the tree of its classes, the lines in each
    class (`members`), the class of each line.
    """

    def __init__(self, tree: ClassTree, lines: Sequence[Response], unit: tables.UnitResult, case: Case) -> None:
        """Raises InputError where the lines cannot be placed."""
        super().__init__(unit.matched, case.policy, case.run.limits.most, {}, case.edition)
        self.tree = tree.branch()
        self.members = place_responses(self.tree, lines, unit.matched, case.run.links)
        self.class_of = {line.index: name for name, of_class in self.members.items() for line in of_class}
        self.tally(self.tree, self.members)


class QueryCase:
    """One query of a query file with its follow-on queries: their lines of the run, in load order, and their results.

    `unit` is None where nothing was scored of it, `result` also where the query is not among those to score.
    """

    def __init__(self, case: Case, base_id: str) -> None:
        gold, unit_id = case.run.gold, case.run.gold.unit_of(base_id)
        of_unit = case.run.lines.get(case.scored.run_id, {}).get(unit_id, {})
        self.case, self.base_id, self.query = case, base_id, gold.table.by_id[base_id]
        self.unit = case.units.get(unit_id)
        queries = () if self.unit is None else self.unit.queries
        self.result = next((each for each in queries if each.query.short_id == base_id), None)
        self.lines: Sequence[Response] = of_unit.get(base_id, ())
        self.lines_of_unit = sum(map(len, of_unit.values()))
        self.labels: Mapping[int, Labels] = {} if self.unit is None else self.unit.labels
        self.matched: Mapping[int, Assessment] = {} if self.unit is None else self.unit.matched
        self.tallies: Sequence[Tally] = () if self.result is None else self.result.tallies
        self.rankings: Sequence[Ranking] = () if self.result is None else self.result.rankings
        self.row_of = {line.index: tally.name for tally in self.tallies for line in tally.responses}
        self.giving: dict[str, list[Response]] = defaultdict(list)
        """The lines that give the answer which a follow-on query asks about, by its short id."""
        for line in self.lines:
            self.giving[line.target].append(line)
        self.reasons: dict[int, Reason] = {}
        """Reasons of categories that lines share, by the identity of what they share."""

    @cached_property
    def gold(self) -> QueryGold:
        return self.case.run.gold.of_query(self.query, self.case.run.links)

    @cached_property
    def found(self) -> Mapping[str, Mapping[str, Sequence[Response]]]:
        """For each row the classes that were found, each with the lines that count as right for it."""
        found: dict[str, dict[str, list[Response]]] = {}
        for tally in self.tallies:
            of_row = found.setdefault(tally.name, {})
            for line in tally.responses:
                name = self.matched[line.index].value_class if line.index in self.matched else ""
                if name.rpartition(":")[0] == tally.name and RIGHT in self.labels[line.index]:
                    of_row.setdefault(name, []).append(line)
        return found

    def found_by(self, name: str) -> Sequence[Response]:
        """The lines that count as right and whose assessment is of this class."""
        return self.found.get(name.rpartition(":")[0], {}).get(name, ())

    def members(self, name: str) -> Sequence[Response]:
        """The lines that stand in a class."""
        return () if self.placement is None else self.placement.members.get(name, ())

    @cached_property
    def accepted(self) -> Mapping[str, Sequence[Assessment]]:
        """The accepted assessments by their class, in load order."""
        accepted: dict[str, list[Assessment]] = {}
        for each in self.case.run.gold.assessed.get(self.base_id, ()):
            if each.is_accepted:
                accepted.setdefault(each.value_class, []).append(each)
        return accepted

    @cached_property
    def placement(self) -> Placement | None:
        """Where the lines stand; None where the query was not scored."""
        if self.result is None or self.unit is None or self.unit.unmatched is not None or self.gold.tree is None:
            return None
        try:
            return Placement(self.gold.tree, self.lines, self.unit, self.case)
        except InputError:
            return None

    @cached_property
    def _by_first_columns(self) -> Mapping[object, Sequence[tuple[int, Assessment]]]:
        """The assessments of the queries of the unit, those of this query first, by what lines may share with them. Of
        more than `_MOST_NEAR` beyond those that share more none can be among the nearest.
        """
        assessed, unit_of = self.case.run.gold.assessed, self.case.run.gold.table.ldc_of
        others = (other for other, unit in unit_of.items() if unit == unit_of.get(self.base_id, ""))
        every = chain.from_iterable(assessed.get(each, ()) for each in dict.fromkeys((self.base_id, *others)))
        names = dict.fromkeys(names for ranks in _NEARNESS.values() for each in ranks for names in each.split())
        alike: dict[object, list[tuple[int, Assessment]]] = defaultdict(list)
        for rank, assessment in enumerate(every):
            for shared in (_columns(assessment, each) for each in names):
                if len(alike[shared]) < 2 * _MOST_NEAR:
                    alike[shared].append((rank, assessment))
        return alike

    def nearest(self, line: Response) -> Sequence[tuple[str, Assessment]]:
        """Up to three assessments that are near a line and how they are, the nearest first, then in load order."""
        near: dict[int, tuple[str, Assessment]] = {}
        for how, ranks in _NEARNESS.items():
            for names in ranks:
                keys = (_columns(line, each) for each in names.split())
                alike = sorted((one for key in keys for one in self._by_first_columns.get(key, ())), key=itemgetter(0))
                for rank, assessment in alike:
                    near.setdefault(rank, (how, assessment))
                if len(near) >= _MOST_NEAR:
                    return list(near.values())[:_MOST_NEAR]
        return list(near.values())

    @cached_property
    def rows(self) -> Mapping[str, Sequence[Counted]]:
        """The rows that have the lines of each row of the SF table: its own, and those of its LDC query."""
        own = {tally.name: tables.counted_row(tally.name, tally.counts) for tally in self.tallies}
        rows = {name: [_counted(row, "SF", "counts")] for name, row in own.items()}
        table = self.case.run.gold.table
        if self.unit is None or self.base_id not in table.ldc_of:
            return rows
        for full_id, entry_points in tables.projected(tables.averaged_table(score_rows([self.unit])), table).by_ldc:
            best_id, best = tables.representing(entry_points)
            theirs, mine = tables.counted_f1(best), tables.counted_f1(own.values())
            note = (
                f"{table.by_id[best_id].full_id} represents {full_id}: its F1 over all rows is {theirs:.4f}, that of "
                f"this entry point {mine:.4f}{', and it comes first' if theirs == mine else ''}"
            )
            members = tables.mean_members(full_id, entry_points)
            for name, row in own.items():
                (of_ldc,) = tables.ldc_max_rows(full_id, [row])
                if best_id == self.base_id:
                    rows[name].append(_counted(of_ldc, "LDC-MAX", "ldc-max"))
                else:
                    rows[name].append(Counted("ldc-max", "LDC-MAX", full_id, row.level, {}, 0.0, 0.0, 0.0, (), note))
                level = str(of_ldc.name.count(":"))
                rows[name].append(_mean(of_ldc.name, level, members[of_ldc.name, level]))
        return rows

    def ranked(self, name: str | None) -> tuple[Ranked | None, str | None]:
        """A node in the rankings of its query; or why it is in none."""
        if name is None:
            return None, "the run has no node ids (eight columns), so that nothing of it is ranked"
        if self.result is None or self.result.uncounted is not None:
            return None, "its query was not ranked"
        if self.result.unranked is not None:
            return None, f"its query has no ranking: {self.result.unranked}"
        # A longer id counts for another (rule nodes).
        ranked = self._ranked.get(name) or self._ranked.get(":".join(name.split(":", 3)[:3]))
        if ranked is not None:
            return ranked, None
        why = ": it has no parent line before it, so that its id lacks the prefix of one"
        return None, f"node {name} belongs to no query{why if name.startswith(':') else ''}"

    @cached_property
    def _ranked(self) -> Mapping[str, Ranked]:
        ranks: dict[str, list[Rank]] = defaultdict(list)
        for ranking in self.rankings:
            totals = accumulate(node.value for node in ranking.nodes)
            for rank, (node, total) in enumerate(zip(ranking.nodes, totals), 1):
                text = f"{total:.4f} / {rank} = {total / rank:.4f}"
                of_ranking = Rank(ranking.level, rank, len(ranking.nodes), total / rank, text, ranking.score)
                ranks[node.name].append(of_ranking)
        found = {node.name: node for ranking in self.rankings for node in ranking.nodes}
        takers = {node.mapped_class: node.name for node in found.values()}
        nodes, most = self.case.nodes.of_query(self.query.full_id), self.case.run.limits.most
        ranker = Ranker(self.gold.classes, self.matched, self.labels, most)
        ranked = {}
        for name, node in found.items():
            useful = ranker.useful(nodes[name].lines)
            taken = {each: takers[each] for each in useful if each != node.mapped_class and each in takers}
            confidence, value = _confidence(nodes[name], nodes, most), self._value(nodes[name], node, useful, ranker)
            ranked[name] = Ranked(
                "9", name, node.confidence, confidence, node.mapped_class, taken, node.value, value, tuple(ranks[name])
            )
        return ranked

    def _value(self, node: Node, ranked: RankedNode, useful: Mapping[str, Sequence[Response]], ranker: Ranker) -> str:
        """V with its arithmetic; `useful` are the lines by which the node can find classes, by class."""
        if not useful:
            why = "none of its lines is correct or inexact and counts as right, or is the duplicate of one that does"
            return f"V = 0: {'none of its lines is correct' if self.case.edition.ranks_correct_lines else why}"
        if ranked.mapped_class is None:
            return "V = 0: every class of its useful lines is taken by a node before it"
        documents, most = self.gold.classes.documents(ranked.mapped_class), self.case.run.limits.most
        number, denominator = ranker.share(useful[ranked.mapped_class], documents)
        shown = f"{documents} documents of its class" if documents != 1 else "1 document"
        if most is not None and denominator < documents:
            asked = denominator // most
            shown = f"{most} that count" + (f" for each of {asked} queries" if asked > 1 else "")
        value = divide(number, denominator)
        lines = "1 useful line" if number == 1 else f"{number} useful lines"
        text = f"V = {number} / {denominator} = {value:.4f} ({lines}, {shown})"
        if value and not ranked.value and node.level:
            text += f"; but its parent, {node.parent}, has V = 0, so that V = 0 here"
        return text


def _counted(row: tables.ScoreRow, table: str, rule: str) -> Counted:
    counts = row.counts or Counts()

    def quotient(name: str, shown: str, denominator: int, value: float) -> str:
        written = f"{name} = {counts.right} / {shown}"
        return f"{written} = {value:.4f}" if denominator else f"{written}, which counts as 0"

    answered = f"({counts.right} + {counts.wrong})"
    if counts.right + counts.wrong != counts.answered:  # lines that are in no list, or in two
        answered = f"({counts.submitted} - {counts.ignored})"
    product = f"2 * {row.precision:.4f} * {row.recall:.4f} / ({row.precision:.4f} + {row.recall:.4f})"
    arithmetic = (
        quotient("P", answered, counts.answered, row.precision),
        quotient("R", str(counts.ground_truth), counts.ground_truth, row.recall),
        f"F1 = {product} = {row.f1:.4f}" if row.f1 else "F1 = 0, since P and R are 0",
    )
    return Counted(rule, table, row.name, row.level, asdict(counts), row.precision, row.recall, row.f1, arithmetic)


def _mean(name: str, level: str, members: Sequence[tables.ScoreRow]) -> Counted:
    columns = list(zip(*(each.scores for each in members)))
    precision, recall, f1 = means = [left_sum(values) / len(members) for values in columns]
    arithmetic = tuple(
        f"{score} = ({' + '.join(f'{each:.4f}' for each in values)}) / {len(members)} = {mean:.4f}"
        for score, values, mean in zip(("P", "R", "F1"), columns, means)
    )
    return Counted("ldc-mean", "LDC-MEAN", name, level, {}, precision, recall, f1, arithmetic)


def _confidence(node: Node, nodes: Mapping[str, Node], most: int | None) -> str:
    """The confidence of a node as a sum over its lines."""
    confidences = sorted((line.confidence for line in node.lines), reverse=True)[:most]
    weights = range(1, (len(node.lines) if most is None else most) + 1)

    def sum_of(terms: list[str]) -> str:
        return " + ".join(terms if len(terms) <= 5 else [*terms[:4], "...", terms[-1]])

    terms = sum_of([f"{value:g}/{rank}".removesuffix("/1") for value, rank in zip(confidences, weights)])
    own = node.own_confidence
    text = f"({terms}) / ({sum_of(['1', *(f'1/{rank}' for rank in weights[1:])])}) = {own:.4f}"
    if node.level == 0:
        return text
    above = nodes[node.parent].own_confidence
    return f"{text}; times that of its parent, {own:.4f} * {above:.4f} = {own * above:.4f}"


class Case:
    """A scored run. `fatal` is why nothing could be scored; then there are no rows, and there may be no units."""

    def __init__(self, scored: Scored, measure: str | None = None) -> None:
        """Raises UsageError or InputError for a measure that there is not."""
        self.scored, self.run, self.policy = scored, scored.run, scored.policy
        self.edition = scored.run.gold.table.edition
        self.fatal = scored.stopped if not scored.result.tables.sf.rows else None
        self.measure = None if self.fatal else scored.measure(measure)
        self.why_stopped = None if self.fatal is None else f"scoring stopped: {self.fatal}"
        self.units = {unit.id: unit for unit in scored.result.units}
        self.nodes = Nodes(self.run.links.nodes, self.run.limits.most)
        self.query = cache(partial(QueryCase, self))
        self.files: Mapping[str, RunFile] = run_files(self.run)
        ranked = [each for each in scored.result.measures if not each.average and each.hop is None]
        self.measures = [] if self.measure is None else list(dict.fromkeys((self.measure, *ranked)))
        """The measure that is asked about, and average precision; none without scores."""

    def lines(self) -> Iterator[AnyLine]:
        """Every line of the run's files in order; those of other runs in the same call are left out."""
        for file in self.files.values():
            yield from (line for line in file.lines if not isinstance(line, Response) or self.is_of_run(line))

    @cached_property
    def problems(self) -> Mapping[Place, Sequence[Problem]]:
        """The problems that were met at each line."""
        found: dict[Place, list[Problem]] = defaultdict(list)
        for log in (self.run.problems, *(unit.problems for unit in self.units.values())):
            for place, problem in log.by_place():
                found[place].append(problem)
        return found

    @cached_property
    def first_lines(self) -> Mapping[tuple[str, str], int]:
        """The number of the first line of a file that has a text."""
        files = self.files.values()
        return {(line.file, line.text): line.number for file in files for line in reversed(file.lines)}

    @cached_property
    def effects(self) -> Effects:
        return Effects(self.scored, self.measures)

    def effect_of(
        self, gone: Sequence[ReadLine] = (), found: Assessment | None = None, *, is_computed: bool = True
    ) -> LineEffect | None:
        """What the absence of lines and of their dependents makes of the scores, or the answer that finds a class; None
        where there are none. Unless it `is_computed`, only what would go with a line.
        """
        if self.measure is None:
            return None
        editor = self.effects.editor
        if found is None:
            what, change = "absent", editor.absence(gone)
        else:
            what, change = "found", Change(added=editor.found([found]))
        if is_computed:
            effect = self.effects.of(change)
        else:
            effect = Effect({}, f"not computed for so many lines; --line {gone[0].number} asks for it")
        effects = {name: effect.differences.get(name) for name in map(str, self.measures)}
        return LineEffect(what, effects, editor.removed(change), change.texts, effect.reason)

    def is_of_run(self, line: Response) -> bool:
        return line.run_id == self.scored.run_id
