"""Why single things scored as they did, as they were asked for (insight specification 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import ClassFacts, LineFacts, NodeFacts, Overview, QueryFacts
from cs_score.analysis.coldstart.explanation.lines import explain_line
from cs_score.analysis.coldstart.explanation.plain import as_json
from cs_score.analysis.coldstart.explanation.selection import answers_of, classes_of, lines_at, nodes_of, queries_of
from cs_score.analysis.coldstart.explanation.steps.worth import worth_not_scored
from cs_score.analysis.coldstart.explanation.text.lines import line_tree
from cs_score.analysis.coldstart.explanation.text.things import class_tree, node_tree, overview_tree, query_tree
from cs_score.analysis.coldstart.explanation.text.tree import Item, wrapped
from cs_score.analysis.coldstart.explanation.things.classes import explain_class
from cs_score.analysis.coldstart.explanation.things.nodes import explain_node
from cs_score.analysis.coldstart.explanation.things.overview import explain_run
from cs_score.analysis.coldstart.explanation.things.queries import explain_query
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record, replace
from cs_score.base.signing.origin import Origin
from cs_score.coldstart.lines import Response
from cs_score.measures.registry import usual

SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""

MOST_SCORED_AGAIN: Final = 200_000
"""Lines that are scored again for the effects of lines that `--answer` finds: each effect takes those of its unit."""

Wanted: TypeAlias = str | int | Sequence[str | int]
"""One selector, or several."""


class Explanation(Record):
    """What was asked for of a run: lines (those of answers among them), classes, nodes and queries, in the order asked.

    `overview` is the run as a whole, where nothing else was asked for. `fatal` is why the run could not be scored, None
    where it could; `score` is None then.
    """

    run_id: str
    measure: str
    score: float | None
    scores: Mapping[str, float]
    signature: str
    origin: Origin
    fatal: str | None
    overview: Overview | None
    lines: tuple[LineFacts, ...]
    queries: tuple[QueryFacts, ...]
    classes: tuple[ClassFacts, ...]
    nodes: tuple[NodeFacts, ...]

    def __repr__(self) -> str:
        return (
            f"<explanation of run {self.run_id}: {len(self.lines)} lines, {len(self.queries)} queries, "
            f"{len(self.classes)} classes, {len(self.nodes)} nodes>"
        )

    def text(self, width: int = 120) -> str:
        """A tree for people, in lines of at most `width` columns; the inputs' texts are made safe."""
        return "\n\n".join("\n".join(wrapped(item, width)) for item in self._items())

    def _items(self) -> Iterator[Item]:
        if self.fatal is not None:
            yield Item(f"{self.run_id or 'The run'} cannot be scored", (Item(self.fatal),))
        if self.overview is not None:
            yield overview_tree(self.overview, self.run_id, self.measure, self.score)
        yield from map(line_tree, self.lines)
        yield from map(query_tree, self.queries)
        yield from map(class_tree, self.classes)
        yield from map(node_tree, self.nodes)

    def as_json(self) -> dict[str, object]:
        """The explanation with the names of its facts as keys."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": "coldstart",
            "measure": self.measure,
            "explained": self.run_id,
            "score": self.score,
            "scores": dict(self.scores),
            "signature": self.signature,
            "origin": self.origin.as_json(),
            "fatal": self.fatal,
            "overview": as_json(self.overview),
            "lines": as_json(self.lines),
            "queries": as_json(self.queries),
            "classes": as_json(self.classes),
            "nodes": as_json(self.nodes),
        }


def explain(
    scored: Scored,
    *,
    line: Wanted = (),
    query: Wanted = (),
    class_name: Wanted = (),
    node: Wanted = (),
    answer: Wanted = (),
    measure: str | None = None,
) -> Explanation:
    """Tell why lines, queries, classes and nodes of a run scored as they did; without any of them, the run as a whole.

    `line`: numbers, or `FILE:N`. `query`: ids of the SF or LDC form, of any hop. `class_name`: equivalence classes.
    `node`: FQ node ids, or ids as lines have them. `answer`: values, in which `*` stands for any text; their lines are
    told. `measure`: what effects are told of beside average precision; None for the one that ranks leaderboards.
    Raises InputError where a selector meets nothing, with the nearest names, UsageError for what cannot be one.
    """
    with paused_collector():
        case = Case(scored, measure)
        is_whole = not any(map(_each, (line, query, class_name, node, answer)))
        lines = [found for each in _each(line) for found in lines_at(each, case)]
        told = [explain_line(each, case) for each in lines]
        told += _of_answers([found for each in _each(answer) for found in answers_of(str(each), case)], case)
        queries = [found for each in _each(query) for found in queries_of(str(each), case)]
        classes = [found for each in _each(class_name) for found in classes_of(str(each), case)]
        nodes = [found for each in _each(node) for found in nodes_of(str(each), case)]
        chosen = case.measure
        return Explanation(
            scored.run_id,
            measure or str(usual(with_ldc=bool(scored.run.gold.table.ldc_of))) if chosen is None else str(chosen),
            None if chosen is None else scored.result.measures[chosen],
            {} if case.fatal else scored.result.scores,
            str(scored.signature if chosen is None else scored.signature.of(str(chosen))),
            scored.origin,
            None if case.fatal is None else str(case.fatal),
            explain_run(case) if is_whole else None,
            tuple(told),
            tuple(explain_query(each, case) for each in queries),
            tuple(explain_class(name, base_id, case) for name, base_id in classes),
            tuple(explain_node(name, case) for name in nodes),
        )


def _of_answers(lines: Iterable[Response], case: Case) -> Iterator[LineFacts]:
    """Lines that were found by their answers; effects are told until scoring for them would take too long."""
    scored_again = 0
    for line in lines:
        if scored_again < MOST_SCORED_AGAIN:
            yield explain_line(line, case)
        else:
            yield replace(explain_line(line, case, with_worth=False), worth=worth_not_scored(line, case))
        scored_again += case.unit_size(line.query.base_id)


def _each(wanted: Wanted) -> tuple[str | int, ...]:
    return (wanted,) if isinstance(wanted, str | int) else tuple(wanted)
