"""What a run would score if everything that nobody assessed were wrong, or right; and under other policies.

Each scenario is a call of the scorer with other assessments of the same answers. Neither is a limit: other assessments
may give less or more. The pessimistic one has UNASSESSED on the side of what is wrong. The optimistic one has lines
appended to the pool (`added_pool`), by which each unassessed answer is correct: hop by hop, the most confident first,
it takes the first class below that of its parent that nothing right is in yet, else a new one. Answers of one node take
one class. An answer whose parent is not right by then stays wrong.
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
from cs_score.coldstart.tab_files import NO_SPAN, split_columns
from cs_score.measures.registry import COLD_START_MODE, Measure, headline

_NAMED: Final = "NAM"


class SlotShare(Record):
    """How many lines of a slot count anywhere, and how many of these are unassessed."""

    slot: str
    lines: int
    unassessed: int
    share: float


class Scenario(Record):
    """A measure in both scenarios and as it is; None where the scorer would not give it."""

    pessimistic: float | None
    score: float
    optimistic: float | None


SHOWN: Final = ("SF-ALL-Micro-P", "SF-ALL-Micro-R", "SF-ALL-Micro-F1")
"""The measures whose scenarios people are shown: of all others the scenarios say too little (see the documentation)."""


class Scenarios(Record, omit_defaults=True):
    """The score that is asked about in both scenarios, and every other score over all hops by measure in `scores`.

    A score is None where the scorer would not give it, for the `reason`. `unassessed` counts the answers that become
    right in the optimistic scenario; `added_pool` are the lines that it appends to the file `added_pool_to` of the
    pool, one for each of them. `slots` has the lines that nobody assessed among those that count.
    """

    pessimistic: float | None
    score: float
    optimistic: float | None
    unassessed: int
    slots: Sequence[SlotShare]
    added_pool: Sequence[str]
    added_pool_to: str | None
    scores: Mapping[str, Scenario]
    reason: str | None = None

    @property
    def shown(self) -> dict[str, Scenario]:
        """Return the scenarios that people are shown, by measure."""
        return {measure: self.scores[measure] for measure in SHOWN if measure in self.scores}


def scenarios(scored: Scored, measure: Measure) -> Scenarios:
    """Return both scenarios; all scores are as they are where every answer was assessed."""
    now = {str(each): score for each, score in scored.result.measures.items() if each.hop is None}
    now[str(measure)] = scored.result.measures[measure]
    pool_file = _last_of_pool(scored.run)
    slots = _slot_shares(scored)
    if not any(slot.unassessed for slot in slots):
        unchanged = {name: Scenario(score, score, score) for name, score in now.items()}
        score = now[str(measure)]
        return Scenarios(
            pessimistic=score,
            score=score,
            optimistic=score,
            unassessed=0,
            slots=slots,
            added_pool=[],
            added_pool_to=pool_file,
            scores=unchanged,
        )
    wrong = moved(scored.policy, UNASSESSED, IGNORE, WRONG)
    added: list[Assessment] = []
    pessimistic, why_not_pessimistic = _scores_of(lambda: scored.under(wrong), list(now))
    optimistic, why_not_optimistic = _scores_of(lambda: _optimistic(scored, added), list(now))
    of_measures = {
        name: Scenario(low, score, high) for (name, score), low, high in zip(now.items(), pessimistic, optimistic)
    }
    asked = of_measures[str(measure)]
    return Scenarios(
        pessimistic=asked.pessimistic,
        score=asked.score,
        optimistic=asked.optimistic,
        unassessed=len(added),
        slots=slots,
        added_pool=[assessment.text for assessment in added],
        added_pool_to=pool_file,
        scores=of_measures,
        reason=why_not_pessimistic or why_not_optimistic,
    )


def _slot_shares(scored: Scored) -> list[SlotShare]:
    """Return the number of counted lines of each slot, and how many of them nobody assessed."""
    lines = Counter[str]()
    unassessed = Counter[str]()
    for unit in scored.result.units:
        for line in counted_lines(unit):
            slot = line.query.slots[0]
            lines[slot] += 1
            unassessed[slot] += UNASSESSED in unit.labels[line.index]
    return [SlotShare(slot, lines[slot], unassessed[slot], unassessed[slot] / lines[slot]) for slot in sorted(lines)]


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
    """Yield every unassessed answer of a hop below what is right, with a class for it that nothing right is in."""
    taken = _classes_found(scored)
    free_classes: dict[str, Iterator[str]] = {}
    links = scored.run.links
    for lines in _entities(_unassessed_lines(scored, level), links):
        first = lines[0]
        parent = links.class_of_query(first.query)
        if parent not in free_classes:
            free_classes[parent] = _free_classes(scored.run, first.query.base_id, parent, taken)
        name = next(free_classes[parent])
        # Lines that give the same answer with the same justification are one answer: one assessment serves them.
        first_lines: dict[tuple[str, str, str], Response] = {}
        for line in lines:
            first_lines.setdefault((line.query.full_id, line.target, line.relation), line)
        for line in first_lines.values():
            yield line, name


def _classes_found(scored: Scored) -> set[str]:
    """Return the classes that lines which count as right are in."""
    classes: set[str] = set()
    for unit in scored.result.units:
        for line in counted_lines(unit):
            assessment = unit.matched.get(line.index)
            if assessment is not None and RIGHT in unit.labels[line.index]:
                classes.add(assessment.value_class)
    return classes


def _unassessed_lines(scored: Scored, level: int) -> list[Response]:
    """Return the counted lines of a hop that nobody assessed and that an assessment could meet.

    No assessment meets a line whose invalid provenance was replaced when its answer became an entry point.
    """
    lines = []
    for unit in scored.result.units:
        for line in counted_lines(unit):
            is_unassessed = line.query.level == level and UNASSESSED in unit.labels[line.index]
            if is_unassessed and line.provenance != NO_SPAN:
                lines.append(line)
    return lines


def _entities(lines: Sequence[Response], links: Links) -> list[list[Response]]:
    """Return the lines in groups, each of which takes one class: lines of one node, and lines that give one answer.

    A group holds everything that is connected so, in load order. The most confident group comes first, then the one
    with the first line.
    """
    lines_by_key: dict[tuple[str, str, str], list[Response]] = defaultdict(list)
    for line in lines:
        for key in _entity_keys(line, links):
            lines_by_key[key].append(line)
    groups: list[list[Response]] = []
    placed: set[int] = set()
    for line in lines:
        group: list[Response] = []
        waiting = [line]
        while waiting:
            member = waiting.pop()
            if member.index in placed:
                continue
            placed.add(member.index)
            group.append(member)
            for key in _entity_keys(member, links):
                waiting += lines_by_key.pop(key, ())
        if group:
            groups.append(sorted(group, key=lambda member: member.index))
    groups.sort(key=lambda group: (-max(line.confidence for line in group), group[0].index))
    return groups


def _entity_keys(line: Response, links: Links) -> list[tuple[str, str, str]]:
    """Return what a line has in common with those that are the same entity: its answer, and its node if it has one.

    A node of the second hop may have answers below several classes; these are several entities.
    """
    keys = [("answer", line.query.full_id, line.target)]
    if line.node is not None:
        keys.append(("node", links.class_of_query(line.query), line.node))
    return keys


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
    gold = gold.changed(links=links, assessed=by_query(links.assessments))
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
