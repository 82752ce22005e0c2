"""A scored run with what explanations look up in it: by line, class, node and query, when it is first asked for."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import accumulate, chain
from operator import itemgetter
from os.path import basename
from typing import Final

from cs_score.analysis.coldstart.changes import At, Change
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.explanation.document import Counted, LineEffect, Rank, Ranked
from cs_score.analysis.coldstart.run_files import AnyLine, LinkedLine, RunFile, files_of_run
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import asdict
from cs_score.coldstart import result as tables
from cs_score.coldstart.gold import QueryGold
from cs_score.coldstart.judging import ClassTree, Counting, Counts, place_responses
from cs_score.coldstart.lines import Assessment, LinkedQuery, Response, left_sum, link_follow_on
from cs_score.coldstart.options import RIGHT
from cs_score.coldstart.queries import parse_query_id
from cs_score.coldstart.ranking import Node, Nodes, RankedNode, Ranker
from cs_score.coldstart.scorer import score_rows
from cs_score.measures.registry import Measure, divide, usual
from cs_score.problems.log import Place, Problem, ProblemLog

_MOST_NEAR: Final = 3

_NEARNESS: Final = {
    "the same answer with another justification": ("qrvp", "qvp"),
    "the same value elsewhere": ("rvp qrv", "vp qv rv", "v"),
    "the same place with another value": ("qrp", "qp rp", "p"),
    "the same document": ("qrd", "qd rd", "d"),
}
"""How an assessment is near, and which of query, relation provenance, value, place and document it shares with a line:
the nearest first, alternatives that share as many beside each other."""

_RANKS: Final = [(how, names.split()) for how, ranks in _NEARNESS.items() for names in ranks]


def _columns(line: Response | Assessment, wanted: Iterable[str]) -> Iterator[tuple[object, ...]]:
    """What a line has of some columns, each by the first letter of its name, with these and the hop of its query."""
    relation, value, place = line.answer
    columns = {"q": line.query.full_id, "r": relation, "v": value, "p": place, "d": line.docid}
    return ((names, line.query.level, *(columns[name] for name in names)) for names in wanted)


class Placement(Counting):
    """A query's lines counted once more, for what counting decided between: the tree of its classes, the lines in each
    class (`members`), the class of each line.
    """

    def __init__(self, tree: ClassTree, query: QueryCase) -> None:
        """Raises InputError where the lines cannot be placed."""
        case = query.case
        super().__init__(query.matched, case.policy, case.run.limits.most, {}, case.edition)
        self.tree = tree.branch()
        self.members = place_responses(self.tree, query.lines, query.matched, case.run.links)
        self.class_of = {line.index: name for name, lines in self.members.items() for line in lines}
        self.tally(self.tree, self.members)


class QueryCase:
    """One query of a query file with its follow-on queries: their lines of the run, in load order, and their results,
    which are empty unless the query was scored.
    """

    def __init__(self, case: Case, base_id: str) -> None:
        gold, unit_id = case.run.gold, case.run.gold.unit_of(base_id)
        of_unit = case.run.lines.get(case.scored.run_id, {}).get(unit_id, {})
        self.case, self.base_id, self.query = case, base_id, gold.table.by_id[base_id]
        self.lines: Sequence[Response] = of_unit.get(base_id, ())
        self.lines_of_unit = sum(map(len, of_unit.values()))
        self.unit = case.units.get(unit_id) or tables.UnitResult(unit_id, {}, {}, (), ProblemLog())
        self.labels, self.matched = self.unit.labels, self.unit.matched
        results = {each.query.short_id: each for each in self.unit.queries}
        self.is_scored, self.result = base_id in results, results.get(base_id, tables.QueryResult(self.query))
        self.row_of = {line.index: tally.name for tally in self.result.tallies for line in tally.responses}
        self.giving: dict[str, list[Response]] = defaultdict(list)
        """The lines that give the answer which a follow-on query asks about, by its short id."""
        for line in self.lines:
            self.giving[line.target].append(line)
        self.not_named: dict[int, tuple[str, tuple[At, ...]]] = {}
        """Why nodes are not named, by the identity of the lines that were looked at, which those of a node share."""

    @cached_property
    def gold(self) -> QueryGold:
        return self.case.run.gold.of_query(self.query, self.case.run.links)

    @cached_property
    def found(self) -> Mapping[str, Mapping[str, Sequence[Response]]]:
        """For each row the classes that were found, each with the lines that count as right for it."""
        found: dict[str, dict[str, list[Response]]] = {}
        for tally in self.result.tallies:
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
        if not self.is_scored or self.gold.tree is None:
            return None
        try:
            return Placement(self.gold.tree, self)
        except InputError:
            return None

    @cached_property
    def _alike(self) -> Mapping[object, Sequence[tuple[int, Assessment]]]:
        """The assessments of the queries of the unit, those of this query first, by what lines may share with them. Of
        more than `_MOST_NEAR` beyond those that share more none can be among the nearest.
        """
        assessed, unit_of = self.case.run.gold.assessed, self.case.run.gold.table.ldc_of
        others = (other for other, unit in unit_of.items() if unit == unit_of.get(self.base_id, ""))
        every = chain.from_iterable(assessed.get(each, ()) for each in dict.fromkeys((self.base_id, *others)))
        wanted = list(chain.from_iterable(names for _, names in _RANKS))
        alike: dict[object, list[tuple[int, Assessment]]] = defaultdict(list)
        for rank, assessment in enumerate(every):
            for shared in _columns(assessment, wanted):
                if len(alike[shared]) < 2 * _MOST_NEAR:
                    alike[shared].append((rank, assessment))
        return alike

    def nearest(self, line: Response) -> Sequence[tuple[str, Assessment]]:
        """Up to three assessments that are near a line and how they are, the nearest first, then in load order."""
        near: dict[int, tuple[str, Assessment]] = {}
        for how, names in _RANKS:
            alike = chain.from_iterable(self._alike.get(shared, ()) for shared in _columns(line, names))
            for rank, assessment in sorted(alike, key=itemgetter(0)):
                near.setdefault(rank, (how, assessment))
            if len(near) >= _MOST_NEAR:
                break
        return list(near.values())[:_MOST_NEAR]

    @cached_property
    def rows(self) -> Mapping[str, Sequence[Counted]]:
        """The rows that have the lines of each row of the SF table: its own, and those of its LDC query."""
        own = {tally.name: tables.counted_row(tally.name, tally.counts) for tally in self.result.tallies}
        rows = {name: [_counted(row, "SF", "counts")] for name, row in own.items()}
        table = self.case.run.gold.table
        if self.base_id not in table.ldc_of:
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
                level = str(of_ldc.name.count(":"))
                in_max = Counted("ldc-max", "LDC-MAX", full_id, row.level, {}, 0.0, 0.0, 0.0, (), note)
                if best_id == self.base_id:
                    in_max = _counted(of_ldc, "LDC-MAX", "ldc-max")
                rows[name] += [in_max, _mean(of_ldc.name, level, members[of_ldc.name, level])]
        return rows

    def ranked(self, name: str | None) -> tuple[Ranked | None, str | None]:
        """A node in the rankings of its query; or why it is in none."""
        if name is None:
            return None, "the run has no node ids (eight columns), so that nothing of it is ranked"
        if not self.is_scored or self.result.uncounted is not None:
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
        found: dict[str, RankedNode] = {}
        for ranking in self.result.rankings:
            totals = accumulate(node.value for node in ranking.nodes)
            for rank, (node, total) in enumerate(zip(ranking.nodes, totals), 1):
                text, of = f"{total:.4f} / {rank} = {total / rank:.4f}", len(ranking.nodes)
                ranks[node.name].append(Rank(ranking.level, rank, of, total / rank, text, ranking.score))
                found[node.name] = node
        takers = {node.mapped_class: node.name for node in found.values()}
        nodes, most = self.case.nodes.nodes_of_query(self.query.full_id), self.case.run.limits.most
        ranker = Ranker(self.gold.classes, self.matched, self.labels, most)
        ranked = {}
        for name, node in found.items():
            useful = ranker.useful_lines(nodes[name].lines)
            taken = {each: takers[each] for each in useful if each != node.mapped_class and each in takers}
            confidence, value = _confidence(nodes[name], nodes, most), self._value(nodes[name], node, useful, ranker)
            ranked[name] = Ranked(
                rule="average-precision",
                node=name,
                confidence=node.confidence,
                confidence_arithmetic=confidence,
                mapped_class=node.mapped_class,
                taken_by=taken,
                value=node.value,
                value_arithmetic=value,
                ranks=tuple(ranks[name]),
            )
        return ranked

    def _value(self, node: Node, ranked: RankedNode, useful: Mapping[str, Sequence[Response]], ranker: Ranker) -> str:
        """V with its arithmetic; `useful` are the lines by which the node can find classes, by class."""
        if not useful:
            why = "none of its lines is correct or inexact and counts as right, or is the duplicate of one that does"
            return f"V = 0: {'none of its lines is correct' if self.case.edition.ranks_correct_lines else why}"
        if ranked.mapped_class is None:
            return "V = 0: every class of its useful lines is taken by a node before it"
        documents, most = self.gold.classes.document_count(ranked.mapped_class), self.case.run.limits.most
        number, denominator = ranker.class_share(useful[ranked.mapped_class], documents)
        shown = "1 document" if documents == 1 else f"{documents} documents of its class"
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
    precision, recall, f1 = row.scores
    product = f"2 * {precision:.4f} * {recall:.4f} / ({precision:.4f} + {recall:.4f})"
    arithmetic = (
        quotient("P", answered, counts.answered, precision),
        quotient("R", str(counts.ground_truth), counts.ground_truth, recall),
        f"F1 = {product} = {f1:.4f}" if f1 else "F1 = 0, since P and R are 0",
    )
    return Counted(rule, table, row.name, row.level, asdict(counts), precision, recall, f1, arithmetic)


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
        self.why_stopped = None if self.fatal is None else f"scoring stopped: {self.fatal}"
        self.measure = None if self.fatal else scored.measure(measure)
        self.measures = self._measures_of_effects()
        self.units = {unit.id: unit for unit in scored.result.units}
        self.nodes = Nodes(self.run.links.nodes, self.run.limits.most)
        self.query = cache(partial(QueryCase, self))
        self.files: Mapping[str, RunFile] = files_of_run(self.run)

    def _measures_of_effects(self) -> list[Measure]:
        """Return the measures that effects are told for; none without scores.

        They are the measure in force, the F1 that counts without rankings, and each average precision.
        """
        if self.measure is None:
            return []
        known = self.scored.result.measures
        unranked = usual(with_ldc=bool(self.run.gold.table.ldc_of), has_rankings=False)
        measures = [self.measure]
        if unranked in known:
            measures.append(unranked)
        for measure in known:
            if not measure.average and measure.hop is None:
                measures.append(measure)
        return list(dict.fromkeys(measures))

    def lines(self) -> Iterator[AnyLine]:
        """Every line of the run's files in order; those of other runs in the same call are left out."""
        every: Iterator[AnyLine] = chain.from_iterable(file.lines for file in self.files.values())
        return (line for line in every if not isinstance(line, Response) or self.is_of_run(line))

    def is_of_run(self, line: Response) -> bool:
        return line.run_id == self.scored.run_id

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
        self, gone: Sequence[LinkedLine] = (), found: Assessment | None = None, *, is_computed: bool = True
    ) -> LineEffect | None:
        """What the absence of lines and of their dependents makes of the scores, or the answer that finds a class; None
        where there are none. Unless it `is_computed`, only what would go with a line.
        """
        if self.measure is None:
            return None
        editor = self.effects.editor
        if found is None:
            what, change = "absent", editor.without_lines(gone)
        else:
            what, change = "found", Change(added=editor.lines_giving([found]))
        if is_computed:
            effect = self.effects.effect_of(change)
        else:
            effect = Effect({}, f"not computed for so many lines; --line {gone[0].number} asks for it")
        effects = {name: effect.differences.get(name) for name in map(str, self.measures)}
        return LineEffect(what, effects, editor.removed_lines(change), change.added_texts, effect.reason)

    # ---- What selectors name; each raises InputError with the nearest names where there is nothing of that name

    def lines_at(self, spec: str) -> Sequence[AnyLine]:
        """The lines that `[FILE:]N` names: of one run file, or of each where several have the number. Raises UsageError
        where it names none.
        """
        name, _, number = spec.rpartition(":")
        if not (number.isascii() and number.isdecimal() and len(number) < 12):
            raise UsageError(f"--line {spec}: the number of a line is needed, 12 or FILE:12")
        # A file may lack its folders.
        wanted = [file for each, file in self.files.items() if name in ("", each)]
        wanted = wanted or [file for each, file in self.files.items() if name == basename(each)]
        for pool in () if wanted else self.run.layouts:
            if pool not in self.files and name in (pool, basename(pool)):
                raise InputError(f"{pool} is a pool, not a run", remedy="ask for a class of it with --class")
        found = [line for file in wanted for line in file.lines if line.number == int(number)]
        if not found:
            near = nearest(name, [*self.files, *map(basename, self.files)])
            missing = f"line {spec} to explain" if wanted else f"run file {name}{near}" if name else "run"
            ranges = ", ".join(
                f"{file.name} has lines 1 to {file.last_number}" for file in wanted or self.files.values()
            )
            reading = f"reading stopped: {self.fatal}" if self.fatal else ranges or "no run was loaded"
            raise InputError(f"there is no {missing}", remedy=reading)
        return found

    def queries_of(self, text: str) -> Sequence[LinkedQuery]:
        """The queries of an id, with or without its prefix: those of the entry points, of an LDC query."""
        links, by_id, parts = self.run.links, self.run.gold.table.by_id, parse_query_id(text)
        short, full_id, found = "" if parts is None else parts.short, None, list[LinkedQuery]()
        if (loaded := by_id.get(short)) is not None:
            full_id, found = loaded.full_id, [links.root(by_id[each]) for each in loaded.expansions or (short,)]
        elif (follow_on := links.follow_on(short)) is not None and follow_on.query is not None:
            found = [link_follow_on(follow_on.query, short)]
            full_id = found[0].full_id
        if text not in (short, full_id) or not found:
            raise self._none("query", text, [*(each.full_id for each in by_id.values()), *links.queries])
        return found

    def classes_of(self, text: str) -> Sequence[tuple[str, str]]:
        """The classes of a name, each with the short id of its query; of an LDC query those of its entry points."""
        by_id, assessed = self.run.gold.table.by_id, self.run.gold.assessed
        full_id, colon, rest = text.partition(":")
        loaded = next((each for each in by_id.values() if full_id in (each.full_id, each.short_id)), None)
        found = []
        for base_id in loaded.expansions or (loaded.short_id,) if loaded is not None and colon else ():
            name, placement = f"{by_id[base_id].full_id}:{rest}", self.query(base_id).placement
            in_pool = any(each.value_class == name for each in assessed.get(base_id, ()))
            if in_pool or (placement is not None and name in placement.tree.above):
                found.append((name, base_id))
        if not found:
            every = (each.value_class for lines in assessed.values() for each in lines if each.is_accepted)
            raise self._none("class", text, dict.fromkeys(every))
        return found

    def nodes_of(self, text: str) -> Sequence[str]:
        """The nodes of an id: an FQ node id, or a node id as lines have it, with or without its colon."""
        nodes = [name for name, lines in self.run.links.nodes.items() if any(map(self.is_of_run, lines))]
        ids = [name.rpartition(":")[2] for name in nodes]
        found = [text] if text in nodes else [name for name, id in zip(nodes, ids) if id == text.removeprefix(":")]
        if not found:
            raise self._none("node", text, [*nodes, *ids], "" if nodes else "the run has no node ids (eight columns)")
        return found

    def answers_of(self, text: str) -> Sequence[Response]:
        """The lines that give an answer: its text, in which `*` stands for any."""
        of_run = [line for line in self.run.links.responses if self.is_of_run(line)]
        found = [line for line in of_run if is_answer(text, line.value)]
        if not found:
            pool = self.run.gold.links.assessments
            known = next((one.value_class for one in pool if one.is_accepted and is_answer(text, one.value)), None)
            near = nearest(text, dict.fromkeys(line.value for line in of_run)) if len(text) < 200 else ""
            remedy = f"the pool has it in class {known}; ask for that with --class" if known else self.why_stopped
            raise InputError(f"no line of the run gives the answer {text}{near}", remedy=remedy)
        return found

    def _none(self, kind: str, text: str, known: Iterable[str], remedy: str = "") -> InputError:
        return InputError(f"there is no {kind} {text}{nearest(text, known)}", remedy=remedy or self.why_stopped)


def is_answer(pattern: str, value: str) -> bool:
    """Whether a value is what a pattern wants, in which `*` stands for any text. Pieces between the stars are searched
    from left to right, each after the one before: no choice is taken back, so that no pattern takes long.
    """
    first, *pieces = map(re.escape, pattern.split("*"))
    wanted = first + "".join(f"(?>.*?{piece})" for piece in pieces[:-1]) + "".join(f".*{last}" for last in pieces[-1:])
    return re.fullmatch(wanted, value, re.DOTALL) is not None
