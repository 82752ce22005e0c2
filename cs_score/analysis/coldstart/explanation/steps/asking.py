"""Step 2: the query that a line answers, and the lines that it hangs below (specification 4.5, 4.9)."""

from __future__ import annotations

from collections.abc import Iterator

from cs_score.analysis.coldstart.explanation.case import Case, sides_text
from cs_score.analysis.coldstart.explanation.facts import Asked, At, Parent
from cs_score.coldstart.lines import LinkedQuery, Response, SkippedLine


def asked_of(query: LinkedQuery, case: Case) -> Asked:
    """A query as one of its lines sees it."""
    follow_on = case.run.links.follow_on(query.short_id) if query.level else None
    accepting = None if follow_on is None else follow_on.assessment
    return Asked(
        "4.5" if not query.level else "4.9",
        query.full_id,
        entity_name(query.base_id, case),
        query.slots[0] if query.slots else "",
        query.level,
        ldc_query(query.base_id, case),
        tuple(_chain(query, case)),
        () if accepting is None else (At(accepting.file, accepting.number),),
        why_not_scored(query, case),
    )


def entity_name(base_id: str, case: Case) -> str | None:
    """The name of the entity that a query of a query file asks about."""
    query = case.run.gold.table.by_id.get(base_id)
    names = [] if query is None else [point.name for point in query.entry_points if point.name]
    return names[0] if names else None


def ldc_query(base_id: str, case: Case) -> str | None:
    """The full id of the LDC query that a query was made from, or is listed under."""
    gold = case.run.gold
    ldc_id = gold.table.ldc_of.get(base_id)
    return gold.ldc_ids.get(base_id) if ldc_id is None else gold.table.by_id[ldc_id].full_id


def why_not_scored(query: LinkedQuery, case: Case) -> str | None:
    """Why no row has the lines of a query; None where one has."""
    if case.query_result(query.base_id) is None:
        return "nothing was scored" if case.fatal else "its query is not among those to score"
    limit = case.run.gold.hop_limits[query.base_id]
    if query.level > limit:
        return f"hops beyond {limit} are not scored for this query"
    return None


def _chain(query: LinkedQuery, case: Case) -> Iterator[Parent]:
    """The lines that a query hangs below, from the first hop on; of each hop those that give the answer."""
    if query.parent is None:
        return
    yield from _chain(query.parent, case)
    for line in givers(query.short_id, query.base_id, case):
        if isinstance(line, SkippedLine):
            value = line.text.split("\t")[4]
            yield Parent(line.file, line.number, value, "", "skipped")
        else:
            labels = case.labels_of(line)
            category = case.category_of(line) or ""
            side = sides_text(labels) if labels else "not scored"
            yield Parent(line.file, line.number, line.value, category, side)


def givers(short_id: str, base_id: str, case: Case) -> list[Response | SkippedLine]:
    """The lines that give the answer which a query asks about, in load order; skipped ones last."""
    lines: list[Response | SkippedLine] = [*case.givers(short_id, base_id)]
    runs = case.files.files
    lines += [line for line in case.run.links.skipped if line.target == short_id and line.file in runs]
    return lines
