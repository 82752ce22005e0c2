"""A query: its entry points, its classes, its lines, its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import At, ClassFate, EntryPoint, QueryFacts
from cs_score.analysis.coldstart.explanation.lines import fate_of
from cs_score.analysis.coldstart.explanation.steps.asking import asked_of
from cs_score.analysis.coldstart.explanation.steps.counting import rows_of
from cs_score.analysis.coldstart.explanation.things.classes import counted_lines, status_of
from cs_score.base.errors import InputError
from cs_score.coldstart.judging import Tally
from cs_score.coldstart.lines import LinkedQuery


def explain_query(query: LinkedQuery, case: Case) -> QueryFacts:
    """All of a query: of one of a query file with its follow-on queries, of a follow-on query by itself."""
    base_id = query.base_id
    result, known = case.query_result(base_id), case.run.gold.table.by_id.get(base_id)
    lines = [line for line in case.lines_of(base_id) if not query.level or line.query.full_id == query.full_id]
    tallies: tuple[Tally, ...] = () if result is None else result.tallies
    if query.level:
        row = _row_of(query, case)
        tallies = tuple(tally for tally in tallies if tally.name == row)
    rows = {line.index: tally for tally in tallies for line in tally.responses}
    fates = tuple(fate_of(line, rows.get(line.index), case) for line in lines)
    ranked = {} if result is None else {ranking.level: ranking.score for ranking in result.rankings}
    return QueryFacts(
        query.full_id,
        asked_of(query, case),
        query.slots,
        tuple(EntryPoint(each.name, each.docid, each.start, each.end) for each in known.entry_points) if known else (),
        tuple(_classes({tally.name for tally in tallies}, base_id, case)),
        Counter(fate.category for fate in fates if fate.category is not None),
        fates,
        tuple(row for tally in tallies for row in rows_of(tally, base_id, case)),
        ranked if not query.level else {},
        _why_untold(base_id, case),
    )


def _row_of(query: LinkedQuery, case: Case) -> str | None:
    try:
        return case.run.links.class_of_query(query)
    except InputError:  # no accepted line leads to it
        return None


def _why_untold(base_id: str, case: Case) -> str | None:
    result = case.query_result(base_id)
    stops = (None if result is None else result.uncounted, None if result is None else result.unranked)
    return next((str(stop) for stop in stops if stop is not None), None)


def _classes(rows: set[str], base_id: str, case: Case) -> Iterator[ClassFate]:
    standing = case.standing(base_id)
    if standing is None:
        return
    answers = case.accepted(base_id)
    for name, row in standing.tree.above.items():
        if row in rows and name in answers:
            found = counted_lines(name, base_id, case)
            status, _ = status_of(name, base_id, standing, case)
            found_by = At(found[0].file, found[0].number) if found else None
            yield ClassFate(name, row, status, answers[name][0].value, found_by)
