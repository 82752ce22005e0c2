"""Step 4: the assessment that a line met, or the nearest ones that it did not (specification 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import Assessed, Met, Near
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import DISCIPLINES
from cs_score.coldstart.tab_files import split_columns

_MOST_NEAR: Final = 3

_ANSWER, _VALUE = "the same answer with another justification", "the same value elsewhere"
_PLACE, _DOCUMENT = "the same place with another value", "the same document"

_NEARNESS: Final = (
    (_ANSWER, "qrvp"), (_ANSWER, "qvp"),
    (_VALUE, "rvp", "qrv"), (_VALUE, "vp", "qv", "rv"), (_VALUE, "v"),
    (_PLACE, "qrp"), (_PLACE, "qp", "rp"), (_PLACE, "p"),
    (_DOCUMENT, "qrd"), (_DOCUMENT, "qd", "rd"), (_DOCUMENT, "d"),
)  # fmt: skip
"""How an assessment is near, and which of query, relation provenance, value, place and document it shares with a line:
the nearest first, alternatives that share as many beside each other."""


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
    pool = _pool_of(line.query.base_id, case)
    near: dict[int, tuple[str, Assessment]] = {}
    for kind, *shared in _NEARNESS:
        met = {at: each for columns in shared for at, each in pool.get((columns, *_columns(line, columns)), ())}
        for at in sorted(met.keys() - near.keys()):
            near[at] = kind, met[at]
        if len(near) >= _MOST_NEAR:
            break
    for kind, assessment in list(near.values())[:_MOST_NEAR]:
        yield Near(assessed_of(assessment, case), kind, _differences(line, assessment))


def _pool_of(base_id: str, case: Case) -> Mapping[tuple[object, ...], Sequence[tuple[int, Assessment]]]:
    """The first assessments of the queries of a line's unit, those of its own query first, by what they share.

    Of more than `_MOST_NEAR` beyond those that share more none can be among the nearest.
    """
    if base_id not in case.pools:
        gold = case.run.gold
        others = (other for other, unit in gold.table.ldc_of.items() if unit == gold.table.ldc_of.get(base_id, ""))
        found = (gold.assessed.get(each, ()) for each in dict.fromkeys((base_id, *others)))
        pool: dict[tuple[object, ...], list[tuple[int, Assessment]]] = {}
        sets = list(dict.fromkeys(columns for _, *shared in _NEARNESS for columns in shared))
        for at, assessment in enumerate(chain.from_iterable(found)):
            for columns in sets:
                shares = pool.setdefault((columns, *_columns(assessment, columns)), [])
                if len(shares) < 2 * _MOST_NEAR:
                    shares.append((at, assessment))
        case.pools[base_id] = pool
    return case.pools[base_id]


def _columns(line: Response | Assessment, names: str) -> Iterator[object]:
    """What a line has of some columns, each by the first letter of its name, and the hop of its query."""
    relation, value, place = line.answer
    columns = {"q": line.query.full_id, "r": relation, "v": value, "p": place, "d": line.docid}
    yield line.query.level
    yield from (columns[name] for name in names)


def _differences(line: Response, assessment: Assessment) -> dict[str, str]:
    """The columns that decide whether a line meets an assessment, as far as they differ: what the assessment has."""
    theirs = (assessment.query.full_id, *assessment.answer)
    names = ("FULL_QUERY_ID", "RELATION_PROVENANCE_TRIPLES", "VALUE", "VALUE_PROVENANCE_TRIPLES")
    own = (line.query.full_id, *line.answer)
    return {name: text for name, text, mine in zip(names, theirs, own) if text != mine}
