"""The lines of a run, its queries and missed classes told all at once, for a page to open.

What a line is told by it shares with others: its query, its row, its node. So texts that are alike stand once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.lines import AnyLine, explain_line
from cs_score.analysis.coldstart.explanation.text.lines import line_tree
from cs_score.analysis.coldstart.explanation.text.things import class_tree, query_tree
from cs_score.analysis.coldstart.explanation.text.tree import Item, unwrapped
from cs_score.analysis.coldstart.explanation.things.classes import explain_class
from cs_score.analysis.coldstart.explanation.things.queries import explain_query
from cs_score.analysis.coldstart.sections.cost_list import Mistake
from cs_score.coldstart.lines.records import Assessment, LinkedQuery, Response, UnreadLine
from cs_score.coldstart.ranking.average_precision import Ranking

MOST_LINES: Final = 20_000
"""Lines that are told of one run."""


class _Texts:
    """Texts by number, each of them once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def numbered(self, items: Iterable[Item]) -> list[int]:
        """The numbers of the texts of some steps, as `explain` prints them but not wrapped."""
        texts = ("\n".join(unwrapped(item)) for item in items)
        return [self.numbers.setdefault(text, len(self.numbers)) for text in texts]


def tell_everything(case: Case, mistakes: Sequence[Mistake], *, with_others: bool) -> dict[str, object]:
    """At most `MOST_LINES`, those of the mistakes first and as listed, with their queries and the missed classes.

    `with_others`: lines that are no mistakes, too. The keys of the result stand in the JSON of an analysis below
    `explanations`.
    """
    texts = _Texts()
    every = {(line.file, line.number): line for line in _lines(case)}
    listed = [(each.file, each.line) for each in mistakes if each.kind != "class"]
    wanted = dict.fromkeys(place for place in listed if place in every)
    wanted |= dict.fromkeys(every if with_others else ())
    lines = [every[place] for place in list(wanted)[:MOST_LINES]]
    missed = [each.change.added[-1].assessment for each in mistakes if each.kind == "class"][:MOST_LINES]
    asked = [line.query for line in lines if not isinstance(line, UnreadLine)] + [each.query for each in missed]
    queries = {query.full_id: query for query in asked}
    return {
        "left_out": len(every) - len(lines),
        "lines": [_line(line, case, texts) for line in lines],
        "queries": [_query(query, case, texts) for query in queries.values()],
        "classes": [_class(each, case, texts) for each in missed],
        "texts": list(texts.numbers),
    }


def _lines(case: Case) -> Iterator[AnyLine]:
    """The lines of the run in the order of its files."""
    for file in case.files.files.values():
        lines: list[AnyLine] = [*file.responses, *file.skipped, *file.unread]
        for line in sorted(lines, key=lambda each: each.number):
            if not isinstance(line, Response) or case.is_of_run(line):
                yield line


def _line(line: AnyLine, case: Case, texts: _Texts) -> dict[str, object]:
    facts = explain_line(line, case)
    fate, tree = facts.fate, line_tree(facts)
    return {
        "file": fate.file,
        "line": fate.line,
        "query": fate.query,
        "node": fate.node,
        "value": fate.value,
        "category": fate.category,
        "side": fate.side,
        "steps": texts.numbered(tree.below),
    }


def _query(query: LinkedQuery, case: Case, texts: _Texts) -> dict[str, object]:
    """A query by itself: of its lines of all hops only those are counted that ask it."""
    facts = explain_query(query, case)
    asked, own = facts.asked, [fate for fate in facts.lines if fate.query == facts.query]
    result = case.query_result(query.base_id) if query.level == 0 else None
    return {
        "query": facts.query,
        "unit": asked.unit,
        "name": asked.name,
        "slot": asked.slot,
        "hop": asked.hop,
        "lines": Counter(fate.side for fate in own),
        "classes": Counter(each.status for each in facts.classes),
        "precision_at": {} if result is None else {each.level: list(_precisions(each)) for each in result.rankings},
        "steps": texts.numbered(query_tree(facts, with_lines=False).below),
    }


def _precisions(ranking: Ranking) -> Iterator[float]:
    """Precision at each rank: what the nodes down to it are worth, divided by the rank (CS 9.7)."""
    values = accumulate(node.value for node in ranking.nodes)
    return (value / rank for rank, value in enumerate(values, 1))


def _class(assessment: Assessment, case: Case, texts: _Texts) -> dict[str, object]:
    facts = explain_class(assessment.value_class, assessment.query.base_id, case)
    return {
        "class": facts.name,
        "query": facts.query,
        "value": assessment.value,
        "steps": texts.numbered(class_tree(facts).below),
    }
