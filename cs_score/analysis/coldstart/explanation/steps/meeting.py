"""Step 4: the assessment that a line met, or the nearest ones that it did not (specification 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import Assessed, Met, Near
from cs_score.coldstart.lines.reader import split_columns
from cs_score.coldstart.lines.records import Assessment, Response
from cs_score.coldstart.options import DISCIPLINES

_MOST_NEAR: Final = 3

_KINDS: Final = (
    "the same answer with another justification",
    "the same value elsewhere",
    "the same place with another value",
    "the same document",
)


def met_of(line: Response, case: Case) -> Met | None:
    """What a line met; None where nothing was matched."""
    unit = case.unit_of(line)
    if unit is None or unit.unmatched is not None:
        return None
    discipline = case.run.gold.options.discipline
    assessment = unit.matched.get(line.index)
    if assessment is None:
        how = f"no assessment: {DISCIPLINES[discipline]}"
        return Met("6", discipline, how, None, tuple(_nearest(line, case)))
    is_same = assessment.query is line.query or assessment.query.full_id == line.query.full_id
    if is_same and assessment.answer == line.answer:
        how = "the same answer with the same justification"
    else:
        how = f"the same value, since no assessment has the same justification ({discipline})"
    return Met("6", discipline, how, assessed_of(assessment, case), ())


def assessed_of(assessment: Assessment, case: Case) -> Assessed:
    """An assessment as it is told."""
    columns = case.run.layouts[assessment.file].columns
    written = dict(zip(columns, split_columns(assessment.text)))
    return Assessed(
        assessment.file,
        assessment.number,
        written.get("ASSESSMENT_ID", ""),
        assessment.query.full_id,
        assessment.value,
        assessment.provenance,
        assessment.judgment,
        assessment.value_class if assessment.is_accepted else None,
        assessment.value_mention,
        assessment.class_mention,
    )


def _nearest(line: Response, case: Case) -> Iterator[Near]:
    """Up to three assessments of the unit's queries, the nearest first; equally near ones in load order."""
    near: list[tuple[int, int, int, Assessment, dict[str, str]]] = []
    for position, assessment in enumerate(_pool_of(line.query.base_id, case)):
        if assessment.query.level == line.query.level:
            differs = _differences(line, assessment)
            kind = _kind(line, assessment, differs)
            if kind is not None:
                near.append((kind, len(differs), position, assessment, differs))
    for kind, _, _, assessment, differs in sorted(near, key=lambda item: item[:3])[:_MOST_NEAR]:
        yield Near(assessed_of(assessment, case), _KINDS[kind], differs)


def _pool_of(base_id: str, case: Case) -> Sequence[Assessment]:
    """The assessments of the queries of a line's unit, those of its own query first."""
    if base_id not in case.pools:
        gold = case.run.gold
        others = (other for other, unit in gold.table.ldc_of.items() if unit == gold.table.ldc_of.get(base_id, ""))
        found = (gold.assessed.get(each, ()) for each in dict.fromkeys((base_id, *others)))
        case.pools[base_id] = [assessment for assessments in found for assessment in assessments]
    return case.pools[base_id]


def _differences(line: Response, assessment: Assessment) -> dict[str, str]:
    """The columns that decide whether a line meets an assessment, as far as they differ: what the assessment has."""
    theirs = (assessment.query.full_id, *assessment.answer)
    names = ("FULL_QUERY_ID", "RELATION_PROVENANCE_TRIPLES", "VALUE", "VALUE_PROVENANCE_TRIPLES")
    own = (line.query.full_id, *line.answer)
    return {name: text for name, text, mine in zip(names, theirs, own) if text != mine}


def _kind(line: Response, assessment: Assessment, differs: dict[str, str]) -> int | None:
    """How an assessment of the same hop is near, by its place among the kinds; None where it is not."""
    is_same_value = "VALUE" not in differs
    is_same_place = "VALUE_PROVENANCE_TRIPLES" not in differs
    if is_same_value and is_same_place and "FULL_QUERY_ID" not in differs:
        return 0
    if is_same_value:
        return 1
    if is_same_place:
        return 2
    return 3 if assessment.docid == line.docid else None
