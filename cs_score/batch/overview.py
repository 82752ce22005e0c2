"""What is over all runs of a batch beside the leaderboard: answers, agreement, stability, problems, `batch.json`."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from cs_score.analysis.many.findings import FOUND, findings_of
from cs_score.analysis.many.overview import Evaluation, OfPolicy, Overview, System, Told, overview
from cs_score.analysis.many.stability import Ranked
from cs_score.base.display import spreadsheet_cell
from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded, write_whole
from cs_score.base.records import to_builtins
from cs_score.batch.leaderboard import Leaderboard, Row, resampling_of
from cs_score.batch.plan import MakePage, Outcome
from cs_score.batch.runs import INDEX
from cs_score.problems.occurrences import Occurrence, merged, of_error
from cs_score.problems.reports import write_occurrences


def overview_of(
    outcomes: Sequence[Outcome], policies: Sequence[str], board: Leaderboard, evaluation: Evaluation
) -> Overview:
    """Everything about many runs, in the order of the batch; rankings are by the measures that people are shown."""
    systems = list(dict.fromkeys(System(each.run, run_id) for each in outcomes for run_id, _ in each.scores))

    def told(policy: str) -> list[Told | None]:
        found = {
            System(each.run, run_id): Told(scores, findings_of(findings))
            for each in outcomes
            if each.policy == policy
            for (run_id, scores), findings in zip(each.scores, each.findings)
        }
        return [found.get(system) for system in systems]

    resampling = next((resampling_of(row.intervals) for row in board.rows if row.intervals), None)
    return overview(evaluation, systems, policies, told, board.headline, resampling)


def labels_of(systems: Sequence[System]) -> list[str]:
    """What tables call each run: by its name, with the run id where a file holds several; no two alike."""
    often = Counter(system.run for system in systems)
    names = [system.run if often[system.run] == 1 else f"{system.run} ({system.run_id})" for system in systems]
    taken = set(names)
    seen: Counter[str] = Counter()
    labels = []
    for name in names:
        seen[name] += 1
        label = name
        while seen[name] > 1 and label in taken:
            label = f"{name} ({seen[name]})"
            seen[name] += 1
        taken.add(label)
        labels.append(label)
    return labels


SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

ANSWERS: Final = ("policy", "part", "unit", "place", "name", "value", "found_by", "only")
AGREEMENT: Final = (
    "policy", "what", "run", "run_id", "other_run", "other_run_id", "right_shared", "right_either", "right_jaccard",
    "wrong_shared", "wrong_either", "wrong_jaccard", "part", "systems", "recall", "agreed", "measure", "score",
)  # fmt: skip
STABILITY: Final = (
    "what", "measure", "policy", "other_measure", "other_policy", "runs", "tau_b", "tau_b:low", "tau_b:high", "first",
    "first_changes",
)  # fmt: skip


def write_overview(folder: str, found: Overview, board: Leaderboard, index: MakePage | None = None) -> None:
    """Write the four files into the folder, and the page that `index` makes, each whole or not at all.

    Raises OutputError.
    """
    for name, lines in WRITERS.items():
        write_whole(os.path.join(folder, name), encoded(lines(found)))
    value = as_json(found, board, with_pages=index is not None)
    write_whole(os.path.join(folder, "batch.json"), encoded([json.dumps(value, allow_nan=False), "\n"]))
    if index is not None:
        write_whole(os.path.join(folder, INDEX), encoded([index(value)]))


def answers_lines(found: Overview) -> Iterator[str]:
    """A line for each thing to be found: by how many runs, by which if by one only, and run by run 1 or 0."""
    labels = labels_of(found.systems)
    yield _line([*ANSWERS, *labels])
    told = [(thing.part, thing.unit, thing.place, thing.name, thing.value) for thing in found.wanted]
    escaped = {text: spreadsheet_cell(text) for text in {*chain.from_iterable(told), *labels, ""}}
    places = ["\t".join([escaped[text] for text in texts]) for texts in told]
    for each in found.policies:
        policy = spreadsheet_cell(each.policy)
        of_runs = [marks or " " * len(places) for marks in each.marks]
        for place, times, *marks in zip(places, each.often, *of_runs):
            only = escaped[labels[marks.index(FOUND)]] if times == 1 else ""
            yield "\t".join((policy, place, str(times), only, *map(str.strip, marks))) + "\n"


def agreement_lines(found: Overview) -> Iterator[str]:
    """Pairs of runs, then what more and more runs find together, then what all of them would score."""
    yield _line(AGREEMENT)
    for each in found.policies:
        for right, wrong in zip(each.right, each.wrong):
            overlaps = (right.shared, right.either, right.jaccard, wrong.shared, wrong.either, wrong.jaccard)
            runs = (*found.systems[right.a], *found.systems[right.b])
            yield _line([each.policy, "pair", *runs, *overlaps, right.part, *[None] * 5])
        for part, pooled in each.pooled.items():
            for one in pooled:
                told = (part, one.systems, one.recall, one.agreed)
                yield _line([each.policy, "systems", *[None] * 10, *told, None, None])
        for measure, score in each.union.items():
            yield _line([each.policy, "union", *[None] * 14, measure, score])


def stability_lines(found: Overview) -> Iterator[str]:
    """The rankings with their first places, then every pair of them."""
    yield _line(STABILITY)
    labels = labels_of(found.systems)
    first = {ranking.by: ranking.first for ranking in found.stability.rankings}
    for ranking in found.stability.rankings:
        names = "; ".join(labels[place] for place in ranking.first)
        yield _line(["ranking", *ranking.by, *[None] * 6, names, ranking.changes])
    for pair in found.stability.pairs:
        limits = (None, None) if pair.interval is None else pair.interval
        changes = int(not set(first[pair.a]) & set(first[pair.b]))
        yield _line(["pair", *pair.a, *pair.b, pair.runs, pair.tau, *limits, None, changes])


WRITERS: Final[Mapping[str, Callable[[Overview], Iterator[str]]]] = {
    "answers.tsv": answers_lines,
    "agreement.tsv": agreement_lines,
    "stability.tsv": stability_lines,
}
"""The tables by the names of their files."""


def as_json(found: Overview, board: Leaderboard, *, with_pages: bool) -> dict[str, object]:
    """All of it as one JSON object, which pages and charts are made from.

    Lists by run are in the order of `runs`, and runs are named by their place there. `with_pages`: runs have pages.
    """
    evaluation = found.evaluation
    return {
        "schema_version": SCHEMA_VERSION,
        "mode": evaluation.mode,
        "measure": board.measure,
        "unit": evaluation.unit,
        "unit_measure": evaluation.measure,
        "policies": [each.policy for each in found.policies],
        "bootstrap": None if found.resampling is None else {**found.resampling.as_json(), "unit": evaluation.unit},
        "notes": list(to_builtins(board.notes)),
        "pages": with_pages,
        "runs": [system._asdict() for system in found.systems],
        "leaderboard": [_ranked(row, board.measure) for row in board.rows],
        "queries": [
            {"policy": each.policy, "unit": unit, "scores": list(values)}
            for each in found.policies
            for unit, values in each.units
        ],
        "answers": [answers for each in found.policies for answers in _answers(found, each)],
        "agreement": [_agreement(each) for each in found.policies],
        "stability": _stability(found),
    }


def _ranked(row: Row, measure: str) -> dict[str, object]:
    has_interval = measure in row.intervals.get("scores", ())
    return {
        **{name: getattr(row, name) for name in ("policy", "rank", "run", "run_id")},
        "score": row.scores.get(measure),
        "interval": dict(zip(("low", "high"), row.limits(measure))) if has_interval else None,
        "tier": row.tier,
        "p_above": row.p_above,
    }


def _answers(found: Overview, each: OfPolicy) -> Iterator[dict[str, object]]:
    """How difficult the things of each part are: how many of them so many runs found."""
    scored = sum(marks is not None for marks in each.marks)
    for part in dict.fromkeys(wanted.part for wanted in found.wanted):
        places = [place for place, wanted in enumerate(found.wanted) if wanted.part == part]
        often = [each.often[place] for place in places]
        alone = [place for place in places if each.often[place] == 1]
        yield {
            "policy": each.policy,
            "part": part,
            "total": len(places),
            "found_by": [often.count(times) for times in range(scored + 1)],
            "only": [0 if marks is None else sum(marks[place] == FOUND for place in alone) for marks in each.marks],
        }


def _agreement(each: OfPolicy) -> dict[str, object]:
    return {
        "policy": each.policy,
        "pairs": [
            {"a": right.a, "b": right.b, "part": right.part, "right": right.jaccard, "wrong": wrong.jaccard}
            for right, wrong in zip(each.right, each.wrong)
        ],
        "union": {"scores": dict(each.union)},
        "systems": [
            {"part": part, "systems": one.systems, "recall": one.recall, "agreed": one.agreed}
            for part, pooled in each.pooled.items()
            for one in pooled
        ],
    }


def _stability(found: Overview) -> dict[str, object]:
    return {
        "pairs": [
            {
                "a": _by(pair.a),
                "b": _by(pair.b),
                "tau": pair.tau,
                "interval": None if pair.interval is None else dict(zip(("low", "high"), pair.interval)),
            }
            for pair in found.stability.pairs
        ],
        "first": [
            {**_by(ranking.by), "runs": list(ranking.first), "changes": ranking.changes}
            for ranking in found.stability.rankings
        ],
    }


def _by(ranked: Ranked) -> dict[str, str]:
    return dict(zip(("measure", "policy"), ranked))


def _line(cells: Iterable[Any]) -> str:
    """A line of a table; text is no formula to a spreadsheet, numbers have full precision, None is empty."""
    texts = [spreadsheet_cell(cell) if isinstance(cell, str) else "" if cell is None else repr(cell) for cell in cells]
    return "\t".join(texts) + "\n"


PROBLEMS: Final = "problems.tsv"
HEADER: Final = "\t".join(("run", "policy", "severity", "code", "file", "line", "message")) + "\n"

REMARK: Final = "REMARK"
"""Code of what the scorer remarks beside its report; such rows have the severity NOTE."""

FATAL: Final = "FATAL"
"""Code of the reason why a run was not scored to its end; such rows have the severity ERROR."""


def write_problem_table(folder: str, outcomes: Iterable[Outcome]) -> None:
    """Write `problems.tsv` into the folder. Raises OutputError."""
    lines = chain([HEADER], *map(problem_lines, outcomes))
    write_whole(os.path.join(folder, PROBLEMS), (line.encode("utf-8", "backslashreplace") for line in lines))


def problem_lines(outcome: Outcome) -> list[str]:
    """The lines of one run under one policy."""
    rows = [(each.severity, each.code, each.file, each.line, each.message.strip()) for each in outcome.problems]
    rows += [("NOTE", REMARK, "", "", remark) for remark in outcome.remarks]
    if outcome.failure is not None:
        rows.append(("ERROR", FATAL, outcome.file, "", outcome.failure))
    return ["\t".join(map(spreadsheet_cell, (outcome.run, outcome.policy, *row))) + "\n" for row in rows]


def write_problem_report(path: str, of_gold: Iterable[Occurrence], outcomes: Iterable[Outcome]) -> None:
    """Write the problems of the shared inputs and of all runs with their details, each once. Raises OutputError."""
    found = [*of_gold]
    for outcome in outcomes:
        if outcome.occurrences is not None:
            found += outcome.occurrences
        elif outcome.failure is not None:  # its worker died, so this is all that is known
            found.append(of_error(InputError(outcome.failure, file=outcome.file)))
    write_occurrences(merged(found), path)
