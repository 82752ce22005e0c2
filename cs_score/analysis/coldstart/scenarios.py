"""What a run would score if everything that nobody assessed were wrong, or right; and under other policies.

Each scenario is a call of the scorer with other assessments of the same answers, which could score less or more still.
The pessimistic one has UNASSESSED on the side of what is wrong. The optimistic one has lines appended to the pool
(`added_pool`), by which each unassessed answer is correct: hop by hop, the most confident first, it takes the first
class below that of its parent that nothing right stands in yet, else one of its own. An answer whose parent is not
right by then stays wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Final

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.mistakes import counted_lines, moved
from cs_score.analysis.coldstart.scored import Progress, Scored, score_for_analysis, silent
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.gold import Run, by_query, by_unit
from cs_score.coldstart.judging import UNASSESSED, is_wrong_bin
from cs_score.coldstart.layouts import ASSESSMENTS_2016, FileKind, Schema
from cs_score.coldstart.lines import CORRECT, Assessment, Links, Response
from cs_score.coldstart.options import IGNORE, PRESETS, RIGHT, WRONG, NamedPolicy
from cs_score.coldstart.tab_files import split_columns
from cs_score.measures.registry import COLD_START_MODE, Measure, headline

_NAMED: Final = "NAM"


class SlotShare(Record):
    """How many lines of a slot count anywhere, and how many of these are unassessed."""

    slot: str
    lines: int
    unassessed: int
    share: float


class Scenarios(Record, omit_defaults=True):
    """The score in both scenarios and as it is, the number of unassessed lines, and their share of each slot's lines.

    A score is None where the scorer would not give it, for the `reason`. `added_pool` are the lines that the optimistic
    scenario appends to the file `added_pool_to` of the pool.
    """

    pessimistic: float | None
    score: float
    optimistic: float | None
    unassessed: int
    slots: Sequence[SlotShare]
    added_pool: Sequence[str]
    added_pool_to: str | None
    reason: str | None = None


def scenarios(scored: Scored, measure: Measure) -> Scenarios:
    """Both scenarios for one measure. All three scores are the same where every line was assessed."""
    score = scored.result.measures[measure]
    lines, unassessed = Counter[str](), Counter[str]()
    for unit in scored.result.units:
        for line in counted_lines(unit):
            lines[line.query.slots[0]] += 1
            unassessed[line.query.slots[0]] += UNASSESSED in unit.labels[line.index]
    slots = [SlotShare(slot, lines[slot], unassessed[slot], unassessed[slot] / lines[slot]) for slot in sorted(lines)]
    pool = _last_of_pool(scored.run)
    if not unassessed.total():
        return Scenarios(score, score, score, 0, slots, [], pool)
    added: list[Assessment] = []
    wrong = moved(scored.policy, UNASSESSED, IGNORE, WRONG)
    (pessimistic,), why_not = _scores_of(lambda: scored.under(wrong), [str(measure)])
    (optimistic,), why_neither = _scores_of(lambda: _optimistic(scored, added), [str(measure)])
    texts = [assessment.text for assessment in added]
    return Scenarios(pessimistic, score, optimistic, unassessed.total(), slots, texts, pool, why_not or why_neither)


def _scores_of(scenario: Callable[[], Scored], names: Sequence[str]) -> tuple[list[float | None], str | None]:
    """The scores by these measures in a scenario, and why the first one is None."""
    try:
        found = scenario()
    except InputError as refusal:
        return [None] * len(names), str(refusal)
    scores = found.result.scores
    lacking = next((name for name in names if name not in scores), None)
    reason = None if lacking is None else str(found.stopped or f"there would be no {lacking}")
    return list(map(scores.get, names)), reason


def _optimistic(scored: Scored, added: list[Assessment]) -> Scored:
    """The run where every unassessed answer is right that can be; the assessments which say so are added."""
    assessment_of = _assessment_writer(scored.run)
    now = scored
    for level in sorted({line.query.level for unit in scored.result.units for line in counted_lines(unit)}):
        new = [assessment_of(line, name, at) for at, (line, name) in enumerate(_classes(now, level), len(added) + 1)]
        if new:
            added += new
            now = _with_assessments(now, new)
    return now


def _classes(scored: Scored, level: int) -> Iterator[tuple[Response, str]]:
    """Every unassessed answer of a hop below what is right, with a class for it that nothing right stands in."""
    taken: set[str] = set()
    answers: dict[str, list[Response]] = defaultdict(list)
    for unit in scored.result.units:
        for line in counted_lines(unit):
            labels = unit.labels[line.index]
            if RIGHT in labels and (assessment := unit.matched.get(line.index)) is not None:
                taken.add(assessment.value_class)
            if UNASSESSED in labels and line.query.level == level:
                answers[f"{line.query.full_id}_{line.target}"].append(line)
    free: dict[str, Iterator[str]] = {}
    for lines in sorted(answers.values(), key=lambda lines: (-max(each.confidence for each in lines), lines[0].index)):
        parent = scored.run.links.class_of_query(lines[0].query)
        if parent not in free:
            free[parent] = _free_classes(scored.run, lines[0].query.base_id, parent, taken)
        name = next(free[parent])
        # Lines that give the same answer with other justifications are the same answer.
        for line in {line.relation: line for line in reversed(lines)}.values():
            yield line, name


def _free_classes(run: Run, base_id: str, parent: str, taken: set[str]) -> Iterator[str]:
    """The classes below one of a query's classes that nothing right stands in, in load order; then new ones."""
    tree = run.gold.of_query(run.gold.table.by_id[base_id], run.links).tree
    assert tree is not None  # it was scored
    names = [name for name, above in tree.above.items() if above == parent and not is_wrong_bin(name, tree.root)]
    yield from (name for name in names if name not in taken)
    suffixes = [name.rpartition(":")[2] for name in names]
    last = max((int(suffix) for suffix in suffixes if suffix.isascii() and suffix.isdigit()), default=0)
    yield from (f"{parent}:{number}" for number in count(last + 1))


def _assessment_writer(run: Run) -> Callable[[Response, str, int], Assessment]:
    """Makes the assessment, a line of the pool, by which an answer of the run is correct and a member of a class."""
    file = _last_of_pool(run) or "pool"
    schema: Schema = run.layouts.get(file, ASSESSMENTS_2016)
    of_file = [each for each in run.gold.links.assessments if each.file == file]
    similar = {each.query.base_id: each for each in reversed(of_file)}
    last = max((each.number for each in of_file), default=0)
    assumed = run.gold.table.edition.assumed_mention
    mention, class_mention = (
        assumed if schema.position(column) is None else _NAMED for column in ("VALUE_MENTION_TYPE", "EC_MENTION_TYPE")
    )

    def assessment(line: Response, name: str, number: int) -> Assessment:
        _, slot, _, relation, value, _, provenance, _ = line.text.split("\t", 7)
        # What the subject of a query is stands in some layouts, and counts in none.
        like = similar.get(line.query.base_id, of_file[0] if of_file else None)
        columns = dict(zip(schema.columns, split_columns(like.text))) if like else {}
        columns |= {
            "ASSESSMENT_ID": f"optimistic_{number}",
            "QUERY_AND_SLOT_NAME": f"{line.query.full_id}:{slot}",
            "RELATION_PROVENANCE_TRIPLES": relation,
            "VALUE": value,
            "VALUE_PROVENANCE_TRIPLES": provenance,
            "VALUE_ASSESSMENT": "C",
            "VALUE_MENTION_TYPE": _NAMED,
            "PROVENANCE_ASSESSMENT": "C",
            "VALUE_EC": name,
            "EC_MENTION_TYPE": _NAMED,
        }
        text = "\t".join(columns.get(column, "0") for column in schema.columns)
        return Assessment(
            last + number, text, line.query, line.answer, CORRECT, True, name, mention, class_mention, line.target, file
        )

    return assessment


def _last_of_pool(run: Run) -> str | None:
    names = [name for name, schema in run.layouts.items() if schema.kind is FileKind.ASSESSMENTS]
    return names[-1] if names else None


def _with_assessments(scored: Scored, added: Sequence[Assessment]) -> Scored:
    """The run scored against a pool with more assessments at its end."""
    run, gold = scored.run, scored.run.gold
    links = Links(gold.table, run.links)
    links.follow_ons = {}
    for assessment in added:
        if assessment.target not in links.follow_ons:
            known = run.links.follow_on(assessment.target)
            assert known is not None  # a line of the run gives the answer
            links.follow_ons[assessment.target] = known.copy()
        links.follow_ons[assessment.target].add(assessment)
    links.assessments = [*gold.links.assessments, *added]
    links.responses = [
        replace(line, follow_on=links.follow_ons[line.target]) if line.target in links.follow_ons else line
        for line in run.links.responses
    ]
    links.nodes.update(
        (name, [links.responses[line.index] for line in lines]) for name, lines in run.links.nodes.items()
    )
    gold = replace(gold, links=links, assessed=by_query(links.assessments), _queries={}, _values={})
    run = replace(run, gold=gold, links=links, lines=by_unit(gold, links.responses))
    return score_for_analysis(run, scored.policy, scored.run_id)


class PolicyRow(Record, kw_only=True):
    """The scores of a run under one policy; None where the scorer would not give one, and `reason` says why.

    `policy` has the switches that it stands for.
    """

    name: str
    policy: Mapping[str, str]
    scores: Mapping[str, float | None]
    reason: str | UnsetType = UNSET


def policy_rows(
    scored: Scored, measure: Measure, given: Sequence[NamedPolicy] = (), progress: Progress = silent
) -> list[PolicyRow]:
    """The headline measures and the one that is asked about, under each published policy and each given one.

    A score equals that of scoring the same files with the switches of the policy (law 1). A given policy of the name of
    a published one stands in its place.
    """
    headlines = (name for name in headline(COLD_START_MODE) if name in scored.result.scores)
    names = list(dict.fromkeys((str(measure), *headlines)))
    rows = []
    for under in progress(
        [*{**PRESETS, **{policy.name: policy for policy in given}}.values()], "scoring under policies"
    ):
        score = partial(scored.under, under.policy, under.justifications, with_problems=False)
        scores, reason = _scores_of(score, names)
        sides = {side.lower(): text for side, text in under.policy.texts().items()}
        switches = {**sides, "justifications": str(under.justifications)}
        rows.append(
            PolicyRow(name=under.name, policy=switches, scores=dict(zip(names, scores)), reason=reason or UNSET)
        )
    return rows
