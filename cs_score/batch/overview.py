"""What is over all runs of a batch beside the leaderboard: answers, agreement, stability, problems, `batch.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.many import overview as many
from cs_score.analysis.many.rankings import Limits, Ranking
from cs_score.base.display import spreadsheet_cell
from cs_score.base.errors import InputError
from cs_score.base.records import asdict, replace
from cs_score.batch.documents import Leaderboard, Outcome, Overview, RankedRow, Row, System
from cs_score.batch.leaderboard import labels_of
from cs_score.problems.log import Occurrence, merged, of_error
from cs_score.problems.reports import write_occurrences
from cs_score.tables.layout import Column, Layout, Table, columns, tsv


def overview_of(outcomes: Sequence[Outcome], board: Leaderboard, evaluation: many.Evaluation) -> many.Overview:
    """Everything about runs of one edition, in their order; rankings are by the measures that people are shown."""
    systems = list(dict.fromkeys(many.System(each.run, part.run_id) for each in outcomes for part in each.runs))

    def scored(policy: str) -> list[many.Given | None]:
        found = {
            many.System(each.run, part.run_id): (part.scores, part.findings)
            for each in outcomes
            if each.policy == policy
            for part in each.runs
            if part.findings
        }
        return [found.get(system) for system in systems]

    resampling = next((row.intervals.resampling for row in board.rows if row.intervals), None)
    policies = list(dict.fromkeys(outcome.policy for outcome in outcomes))
    return many.overview(evaluation, systems, policies, scored, board.headline, resampling)


_ANSWERS: Final = ("policy", "part", "unit", "place", "name", "value", "found_by", "only")


def _answers(found: many.Overview) -> Table:
    """A row for each thing to be found: by how many runs, by which if by one only, and run by run 1 or 0."""
    labels = labels_of(found.systems)
    layout = Layout("answers", "", columns(*_ANSWERS, *map(spreadsheet_cell, labels)), lambda rows: rows)
    things = [(thing.part, thing.unit, thing.place, thing.name, thing.value) for thing in found.wanted]
    rows = []
    for each in found.policies:
        of_runs = [marks or " " * len(things) for marks in each.marks]
        for thing, times, *marks in zip(things, each.often, *of_runs):
            only = labels[marks.index(many.FOUND)] if times == 1 else ""
            rows.append((each.policy, *thing, times, only, *map(str.strip, marks)))
    return Table(layout, rows, len(rows))


def _agreement(found: many.Overview) -> Iterator[dict[str, Any]]:
    """Pairs of runs, then what more and more runs find together, then what all of them would score."""
    for each in found.policies:
        policy = {"policy": each.policy}
        for right, wrong in zip(each.right, each.wrong):
            (run, run_id), (other, other_id) = found.systems[right.a], found.systems[right.b]
            pair = {"what": "pair", "run": run, "run_id": run_id, "other_run": other, "other_run_id": other_id}
            overlaps = {
                f"{side}_{name}": getattr(overlap, name)
                for side, overlap in (("right", right), ("wrong", wrong))
                for name in ("shared", "either", "jaccard")
            }
            yield policy | pair | overlaps | {"part": right.part}
        for one in each.agreement.systems:
            yield policy | {"what": "systems"} | asdict(one)
        for measure, score in each.agreement.union.scores.items():
            yield policy | {"what": "union", "measure": measure, "score": score}


def _stability(found: many.Overview) -> Iterator[dict[str, Any]]:
    """The rankings with their first places, then every pair of them."""
    labels = labels_of(found.systems)
    first = {Ranking(each.measure, each.policy): each for each in found.stability.first}
    for by, each in first.items():
        names = "; ".join(labels[place] for place in each.runs)
        yield asdict(by) | {"what": "ranking", "first": names, "first_changes": each.changes}
    for pair in found.stability.pairs:
        low, high = (None, None) if pair.interval is None else (pair.interval.low, pair.interval.high)
        yield {
            "tau_b:low": low, "tau_b:high": high, "what": "pair", "measure": pair.a.measure, "policy": pair.a.policy,
            "other_measure": pair.b.measure, "other_policy": pair.b.policy, "tau_b": pair.tau,
            "runs": len(found.ranked[pair.a] & found.ranked[pair.b]),
            "first_changes": int(not set(first[pair.a].runs) & set(first[pair.b].runs)),
        }  # fmt: skip


_AGREEMENT: Final = Layout(
    "agreement",
    "",
    columns(
        *("policy", "what", "run", "run_id", "other_run", "other_run_id", "right_shared", "right_either"),
        *("right_jaccard", "wrong_shared", "wrong_either", "wrong_jaccard", "part", "systems", "recall", "agreed"),
        *("measure", "score"),
    ),
    _agreement,
)
_STABILITY: Final = Layout(
    "stability",
    "",
    columns(
        *("what", "measure", "policy", "other_measure", "other_policy", "runs", "tau_b", "tau_b:low", "tau_b:high"),
        *("first", "first_changes"),
    ),
    _stability,
)

TABLES: Final[Mapping[str, Callable[[many.Overview], Table]]] = {
    "answers.tsv": _answers,
    "agreement.tsv": _AGREEMENT.table,
    "stability.tsv": _STABILITY.table,
}
"""The tables by the names of their files."""


def document_of(found: many.Overview, board: Leaderboard, *, pages: bool) -> Overview:
    """All of it as one document, which pages and charts are made from; `pages`: runs have pages."""
    evaluation = found.evaluation
    resampling = found.resampling
    return Overview(
        task=evaluation.mode,
        measure=board.measure,
        unit=evaluation.unit,
        unit_measure=evaluation.measure,
        policies=tuple(each.policy for each in found.policies),
        bootstrap=None if resampling is None else replace(resampling, unit=evaluation.unit),
        families=board.families,
        notes=board.notes,
        pages=pages,
        runs=tuple(System(*system) for system in found.systems),
        leaderboard=tuple(_ranked(row, board.measure) for row in board.rows),
        queries=tuple(unit for each in found.policies for unit in each.units),
        answers=tuple(part for each in found.policies for part in each.answers),
        agreement=tuple(each.agreement for each in found.policies),
        stability=found.stability,
    )


def _ranked(row: Row, measure: str) -> RankedRow:
    return RankedRow(
        row.policy,
        row.rank,
        row.run,
        row.run_id,
        row.scores.get(measure),
        Limits(*row.limits(measure)) if row.intervals and measure in row.scores else None,
        row.tier or None,
        row.p_above or None,
        row.p_baseline,
    )


PROBLEMS: Final = "problems.tsv"


def _problems(outcomes: Iterable[Outcome]) -> Iterator[dict[str, str]]:
    """Problems, then what the scorer remarks beside its report, then why a run was not scored to its end."""
    for outcome in outcomes:
        run = {"run": outcome.run, "policy": outcome.policy}
        for problem in outcome.problems:
            yield run | problem._asdict() | {"message": problem.message.strip()}
        for remark in outcome.remarks:
            yield run | {"severity": "NOTE", "code": "REMARK", "message": remark}
        if outcome.failure is not None:
            yield run | {"severity": "ERROR", "code": "FATAL", "file": outcome.file, "message": outcome.failure}


_PROBLEMS: Final = Layout(
    "problems", "", tuple(map(Column, ("run", "policy", "severity", "code", "file", "line", "message"))), _problems
)


def problem_lines(outcomes: Iterable[Outcome]) -> list[bytes]:
    """The table of problems, the header first."""
    return list(tsv(_PROBLEMS.table(outcomes)))


def write_problem_report(path: str, of_gold: Iterable[Occurrence], outcomes: Iterable[Outcome]) -> None:
    """Write the problems of the shared inputs and of all runs with their details, each once. Raises OutputError."""
    found = [*of_gold]
    for outcome in outcomes:
        if outcome.occurrences is not None:
            found += outcome.occurrences
        elif outcome.failure is not None:  # its worker died, so this is all that is known
            found.append(of_error(InputError(outcome.failure, file=outcome.file)))
    write_occurrences(merged(found), path)
