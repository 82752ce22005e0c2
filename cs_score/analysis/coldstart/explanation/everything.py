"""The lines of a run, its queries and missed classes told all at once, for a page to open.

What a line is told by it shares with others: its query, its row, its node. So texts that are alike stand once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import Worth
from cs_score.analysis.coldstart.explanation.lines import AnyLine, explain_line
from cs_score.analysis.coldstart.explanation.steps.worth import worth_of
from cs_score.analysis.coldstart.explanation.text.lines import line_tree
from cs_score.analysis.coldstart.explanation.text.things import class_tree, query_tree
from cs_score.analysis.coldstart.explanation.text.tree import Item, unwrapped
from cs_score.analysis.coldstart.explanation.things.classes import explain_class
from cs_score.analysis.coldstart.explanation.things.queries import explain_query
from cs_score.analysis.coldstart.sections.cost_list import Mistake
from cs_score.base.records import replace
from cs_score.coldstart.lines import Assessment, LinkedQuery, Response, UnreadLine
from cs_score.coldstart.ranking import Ranking

MOST_LINES: Final = 20_000
"""Lines that are told of one run."""


def tell_everything(case: Case, mistakes: Sequence[Mistake], *, with_others: bool) -> dict[str, object]:
    """At most `MOST_LINES`, those of as many mistakes first, with their queries and the missed classes.

    `with_others`: lines that are no mistakes, too; what those are worth is not told. The keys of the result stand in
    the JSON of an analysis below `explanations`.
    """
    mistakes = mistakes[:MOST_LINES]
    every = {(line.file, line.number): line for line in _lines(case)}
    listed = ((each.file, each.line) for each in mistakes if each.kind != "class")
    wanted = dict.fromkeys(place for place in listed if place in every) | dict.fromkeys(every if with_others else ())
    chosen = {*list(wanted)[:MOST_LINES]}
    lines = [line for place, line in every.items() if place in chosen]
    missed = [each for each in mistakes if each.kind == "class"]
    asked = [line.query for line in lines if not isinstance(line, UnreadLine)]
    asked += [_assessment(each).query for each in missed]
    teller = _Teller(case, mistakes)
    return {
        "left_out": len(every) - len(lines),
        "lines": [teller.line(line) for line in lines],
        "queries": [teller.query(query) for query in {query.full_id: query for query in asked}.values()],
        "classes": [teller.missed(each) for each in missed],
        "texts": list(teller.texts),
    }


def _lines(case: Case) -> Iterator[AnyLine]:
    """The lines of the run in the order of its files."""
    for file in case.files.files.values():
        lines: list[AnyLine] = [*file.responses, *file.skipped, *file.unread]
        for line in sorted(lines, key=lambda each: each.number):
            if not isinstance(line, Response) or case.is_of_run(line):
                yield line


def _assessment(missed: Mistake) -> Assessment:
    """The assessment by which a missed class would be found."""
    return missed.change.added[-1].assessment


class _Teller:
    """Tells lines, queries and classes. `texts` numbers the texts of their steps, each of them once."""

    def __init__(self, case: Case, mistakes: Iterable[Mistake]) -> None:
        self.texts: dict[str, int] = {}
        self._case = case
        self._worth_of_line = {(each.file, each.line): each for each in mistakes if each.kind == "line"}

    def line(self, line: AnyLine) -> dict[str, object]:
        facts = explain_line(line, self._case, with_worth=False)
        if (mistake := self._worth_of_line.get((line.file, line.number))) is not None:
            facts = replace(facts, worth=self._worth("absent", mistake))
        fate = facts.fate
        return {
            "file": fate.file,
            "line": fate.line,
            "query": fate.query,
            "node": fate.node,
            "value": fate.value,
            "category": fate.category,
            "side": fate.side,
            "steps": self._numbered(line_tree(facts).below),
        }

    def query(self, query: LinkedQuery) -> dict[str, object]:
        """A query by itself: of its lines of all hops only those are counted that answer it."""
        facts = explain_query(query, self._case)
        result = self._case.query_result(query.base_id) if query.level == 0 else None
        rankings = () if result is None else result.rankings
        return {
            "query": facts.query,
            "unit": facts.asked.unit,
            "name": facts.asked.name,
            "slot": facts.asked.slot,
            "hop": facts.asked.hop,
            "lines": Counter(fate.side for fate in facts.lines if fate.query == facts.query),
            "classes": Counter(each.status for each in facts.classes),
            "precision_at": {each.level: list(_precisions(each)) for each in rankings},
            "steps": self._numbered(query_tree(facts, with_lines=False).below),
        }

    def missed(self, mistake: Mistake) -> dict[str, object]:
        assessment = _assessment(mistake)
        facts = explain_class(assessment.value_class, assessment.query.base_id, self._case, with_worth=False)
        facts = replace(facts, worth=self._worth("found", mistake))
        return {
            "class": facts.name,
            "query": assessment.query.full_id,
            "value": assessment.value,
            "steps": self._numbered(class_tree(facts).below),
        }

    def _worth(self, what: str, mistake: Mistake) -> Worth:
        return worth_of(what, mistake.change, mistake.effect, self._case.measures)

    def _numbered(self, items: Iterable[Item]) -> list[int]:
        texts = ("\n".join(unwrapped(item)) for item in items)
        return [self.texts.setdefault(text, len(self.texts)) for text in texts]


def _precisions(ranking: Ranking) -> Iterator[float]:
    """Precision at each rank: what the nodes down to it are worth, divided by the rank (CS 9.7)."""
    values = accumulate(node.value for node in ranking.nodes)
    return (value / rank for rank, value in enumerate(values, 1))
