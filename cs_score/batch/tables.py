"""What a batch says over all its runs: the leaderboard, answers, agreement, stability, problems, and batch.json."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from cs_score.analysis.many import overview as many
from cs_score.analysis.many.rankings import EFFECT, Limits, RowTests, TestedRow, compare_rows, measure_formula
from cs_score.base.display import SCREEN, escape_latex, escape_markdown, one_line, spreadsheet_cell, wrapped
from cs_score.base.documents import json_text
from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded
from cs_score.base.records import asdict, replace
from cs_score.batch import documents
from cs_score.batch.documents import Leaderboard, Outcome, Row, RunScores, family_lines, limit_lines
from cs_score.measures.registry import undefined_sentences
from cs_score.problems.log import Occurrence, merged, of_error
from cs_score.problems.reports import write_occurrences
from cs_score.statistics.options import Family, Note, sentences
from cs_score.tables.layout import Column, Format, Layout, Table, columns, latex, markdown, text, tsv

# ---- The leaderboard


def make_leaderboard(
    outcomes: Sequence[Outcome],
    task: str,
    measure: str,
    headline: Sequence[str],
    editions: Mapping[str, str] | None = None,
) -> Leaderboard:
    """Rank the outcomes by `measure`, policy by policy in their order; runs without scores come last.

    Where there are intervals, rows get tiers and p-values. `editions` are those of the runs by name, where they follow
    several: then nothing is tested.
    """
    rows: list[Row] = []
    families: dict[str, Family] = {}
    verdicts: dict[str, str] = {}
    notes: dict[Note, None] = {}
    if editions:
        followed = " and ".join(dict.fromkeys(editions.values()))
        meaning = (
            f"runs follow {followed}: ranks compare scores that other rules have made, and nothing is tested; answers, "
            "agreement and stability are those of the runs that follow the edition of the batch"
        )
        notes[Note("MIXED_EDITIONS", meaning)] = None
    for policy in dict.fromkeys(outcome.policy for outcome in outcomes):
        ranked = _ranked([outcome for outcome in outcomes if outcome.policy == policy], measure)
        resampling = next((row.intervals.resampling for row, _ in ranked if row.intervals), None)
        tables = {
            at: run.findings.table()
            for at, (row, run) in enumerate(ranked)
            if row.rank is not None and row.intervals and run.findings and not editions
        }
        tests = RowTests([])
        if tables and resampling is not None:
            names = _labels([ranked[at][0] for at in tables])
            tests = compare_rows(names, [*tables.values()], measure_formula(task, [measure]), resampling)
            notes |= dict.fromkeys(tests.notes)
        if tests.family is not None:
            families[policy] = tests.family
            verdicts[policy] = tests.verdict
        test_by_place = dict(zip(tables, tests.rows))
        for at, (row, _) in enumerate(ranked):
            test = test_by_place.get(at, TestedRow())
            own: dict[str, Any] = {"edition": editions[row.run]} if editions else {}
            if tests.family is not None and tests.family.baseline:
                own["p_baseline"] = test.p_baseline
            elif resampling is not None:
                own |= {"tier": test.tier, "p_above": test.p_above}
            if tests.family is not None:
                own |= {name: getattr(test, name) for name in EFFECT}
            rows.append(replace(row, **own))
    shown = dict.fromkeys([measure, *headline])
    known = dict.fromkeys(itertools.chain(shown, *(row.scores for row in rows)))
    return Leaderboard(
        task=task, measure=measure, measures=tuple(known), headline=tuple(shown), families=families,
        verdicts=verdicts, notes=tuple(notes), rows=tuple(rows),
    )  # fmt: skip


_SHARED: Final = {*Row.__struct_fields__} & {*Outcome.__struct_fields__} - {"signature"}
"""What a row has of its outcome."""


def _ranked(outcomes: Sequence[Outcome], measure: str) -> list[tuple[Row, RunScores]]:
    """A row for each run id with what it comes from, in the order of their scores; equal scores share a rank."""
    systems = [(outcome, run) for outcome in outcomes for run in outcome.runs or (RunScores("", {}),)]
    systems.sort(key=lambda system: -system[1].scores.get(measure, -math.inf))
    scores = [run.scores.get(measure) for _, run in systems]
    rows = []
    for score, (outcome, run) in zip(scores, systems):
        signature = ""
        if outcome.origin:
            of_all = outcome.origin.signature
            signature = str((of_all if len(outcome.runs) == 1 else of_all.of_run(run.run_id)).of(measure))
        shared = {name: getattr(outcome, name) for name in _SHARED}
        own: dict[str, Any] = {"run_id": run.run_id, "scores": run.scores, "intervals": run.intervals}
        own["undefined"] = run.undefined
        own["answered"] = run.answered
        rank = None if score is None else scores.index(score) + 1
        rows.append((Row(**shared, **own, rank=rank, signature=signature), run))
    return rows


def _labels(systems: Sequence[many.System | Row]) -> list[str]:
    """What tables call each run: its name, with the run id where a file holds several; no two alike."""
    often = Counter(system.run for system in systems)
    names = [each.run if often[each.run] == 1 else f"{each.run} ({each.run_id})" for each in systems]
    labels: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in itertools.count(2))
        free = name if name not in labels else next(each for each in numbered if each not in {*labels, *names})
        labels[free] = None
    return list(labels)


_NOT_SHOWN: Final = frozenset({"file", "signature", "failure", "wins", "ties", "losses"})
"""Columns that readable tables leave out: they are for machines, or too wide."""


def leaderboard_layout(board: Leaderboard) -> Layout:
    """The table of a leaderboard: people are shown the score that ranks with its limits, and the headline measures."""
    before = [Column("rank", "Rank"), Column("policy", "Policy"), Column("run", "Run"), Column("run_id", "Run id")]
    before += [Column("edition", "Edition")] if any(row.edition for row in board.rows) else []
    before += [Column("answered", "Answered")] if any(row.answered for row in board.rows) else []
    is_resampled = any(row.intervals for row in board.rows)
    sides = (("", ""), (":low", "Low"), (":high", "High")) if is_resampled else (("", ""),)
    scores = [Column(measure + side, heading or measure) for measure in board.measures for side, heading in sides]
    tests: list[Column] = []
    if any(family.baseline for family in board.families.values()):
        tests = [Column("p_baseline", "p (baseline)", Format.P)]
    elif is_resampled:
        tests = [Column("tier", "Tier"), Column("p_above", "p (row above)", Format.P)]
    if board.families:
        tests += [Column("effect_size", "Effect", Format.GAIN), Column("units", "W/T/L")]
        tests += [Column("wins"), Column("ties"), Column("losses")]
    after = [*tests, *(Column(key, key.capitalize()) for key in ("errors", "warnings", "state", "file", "signature"))]
    hidden = {*_NOT_SHOWN, *(() if board.has_policies else ("policy",))}
    if all(row.run_id in ("", row.run) for row in board.rows):
        hidden.add("run_id")
    of_board = [board.measure + side for side, _ in sides]
    keys = (*(each.key for each in before), *of_board, *board.headline[1:], *(each.key for each in after))
    shown = tuple(key for key in keys if key not in hidden)
    whole = (*before, *scores, *after, Column("failure", "Failure"))
    return Layout("leaderboard", f"Leaderboard by {board.measure}:", whole, _cells, shown=shown, longest=60)


def _cells(board: Leaderboard) -> Iterator[dict[str, Any]]:
    for row in board.rows:
        limits = {
            f"{measure}:{side}": limit
            for measure in (row.scores if row.intervals else ())
            for side, limit in zip(("low", "high"), row.limits(measure))
        }
        own = {name: None if value is UNSET else value for name, value in asdict(row).items()}
        units = f"{row.wins}/{row.ties}/{row.losses}" if isinstance(row.wins, int) else None
        yield {**own, **row.scores, **limits, "units": units}


def _notes(board: Leaderboard) -> list[str]:
    """Return how the intervals of the rows were found, what the tests say, and what must be known of both."""
    lines: list[str] = []
    for row in board.rows:
        if row.intervals:
            lines += limit_lines(row.intervals.resampling, row.intervals.units, board.families)
            lines += sentences(row.intervals.notes)
    if board.families:
        lines.append(f"Ranks and tests are by {board.measure}, the primary measure; all others are exploratory.")
    tested = family_lines(board.families, board.verdicts, board.measure)
    return [*tested, *dict.fromkeys(lines), *_undefined(board), *sentences(board.notes)]


def _undefined(board: Leaderboard) -> list[str]:
    """Return a sentence for each run that has no value of some measures, and so no rank by them."""
    sentences_of_runs = []
    for row in board.rows:
        of_policy = f" ({row.policy})" if board.has_policies else ""
        for sentence in undefined_sentences(row.undefined or {}):
            sentences_of_runs.append(f"{row.run}{of_policy} has no {sentence}; it has no rank by these.")
    return sentences_of_runs


def _failures(board: Leaderboard) -> list[str]:
    """A sentence for each run that was not scored to its end."""
    return [
        f"{row.run}{f' ({row.policy})' if board.has_policies else ''}: {row.failure}"
        for row in board.rows
        if row.failure is not None
    ]


def signatures(board: Leaderboard) -> list[str]:
    """What the scores of all rows have in common, as a citable line for each policy."""
    wholes = (row.origin.signature.of(board.measure).of_all_runs() for row in board.rows if row.origin)
    return list(dict.fromkeys(map(str, wholes)))


def _markdown(board: Leaderboard) -> str:
    below = [f"- {escape_markdown(line)}" for line in (*_notes(board), *_failures(board))]
    below += [f"- `{signature}`" for signature in signatures(board)]
    table = markdown(leaderboard_layout(board).table(board))
    return "\n".join([*table, *(["", *below] if below else [])]) + "\n"


def _latex(board: Leaderboard) -> str:
    below = [line for part in (*_notes(board), *signatures(board)) for line in ("", escape_latex(part))]
    return "\n".join([r"% \usepackage{booktabs}", *latex(leaderboard_layout(board).table(board)), *below]) + "\n"


WRITERS: Final[dict[str, Callable[[Leaderboard], str]]] = {
    "tsv": lambda board: b"".join(tsv(leaderboard_layout(board).table(board))).decode(),
    "json": json_text,
    "md": _markdown,
    "tex": _latex,
}
"""The files of a leaderboard by their endings."""


def leaderboard_text(board: Leaderboard, most: int = 10) -> str:
    """The first `most` rows with the score that ranks them, what to know of it, why runs failed, and signatures."""
    layout = leaderboard_layout(board)
    hidden = {*board.headline[1:], "errors", "warnings", "effect_size"}
    named = tuple(replace(each, heading="Score") if each.key == board.measure else each for each in layout.columns)
    narrow = replace(layout, columns=named, shown=tuple(key for key in layout.shown if key not in hidden))
    failures = _failures(board)
    below = _notes(board)
    below += [one_line(line, 300) for line in failures[:most]]
    lines = [*[*text(narrow.table(board), most, SCREEN)][1:], *(part for line in below for part in wrapped(line))]
    if len(failures) > most:
        lines.append(f"... and {len(failures) - most} more that failed")
    return "\n".join([*lines, *(f"signature  {signature}" for signature in signatures(board))])


# ---- What runs show together


def overview_of(outcomes: Sequence[Outcome], board: Leaderboard, evaluation: many.Evaluation) -> many.Overview:
    """Everything about runs of one edition, in their order; rankings are by the measures that people are shown."""
    systems = list(dict.fromkeys(many.System(each.run, part.run_id) for each in outcomes for part in each.runs))
    found = {
        (each.policy, many.System(each.run, part.run_id)): many.SystemResult(part.scores, part.findings)
        for each in outcomes
        for part in each.runs
        if part.findings
    }
    policies = dict.fromkeys(outcome.policy for outcome in outcomes)
    given = {policy: [found.get((policy, system)) for system in systems] for policy in policies}
    resampling = next((row.intervals.resampling for row in board.rows if row.intervals), None)
    return many.make_overview(evaluation, systems, given, board.headline, resampling)


def document_of(found: many.Overview, board: Leaderboard, *, pages: bool) -> documents.Overview:
    """All of it as one document, which pages and charts are made from; `pages`: runs have pages."""
    evaluation, resampling = found.evaluation, found.resampling

    def ranked(row: Row) -> documents.RankedRow:
        limits = Limits(*row.limits(board.measure)) if row.intervals and board.measure in row.scores else None
        tests = (row.tier or None, row.p_above or None, row.p_baseline)
        score = row.scores.get(board.measure)
        return documents.RankedRow(row.policy, row.rank, row.run, row.run_id, score, limits, *tests, row.undefined)

    of_intervals = [note for row in board.rows if row.intervals for note in row.intervals.notes]
    return documents.Overview(
        task=evaluation.mode,
        measure=board.measure,
        unit=evaluation.unit,
        unit_measure=evaluation.measure,
        policies=tuple(each.policy for each in found.policies),
        bootstrap=None if resampling is None else replace(resampling, unit=evaluation.unit),
        families=board.families,
        verdicts=board.verdicts,
        notes=tuple(dict.fromkeys([*of_intervals, *board.notes])),
        pages=pages,
        runs=tuple(found.systems),
        leaderboard=tuple(map(ranked, board.rows)),
        queries=tuple(unit for each in found.policies for unit in each.unit_scores),
        answers=tuple(part for each in found.policies for part in each.difficulties),
        agreement=tuple(each.agreement for each in found.policies),
        stability=found.stability,
    )


def _answers(found: many.Overview) -> Table:
    """A row for each thing to be found: by how many runs, by which if by one only, and run by run 1 or 0."""
    labels = _labels(found.systems)
    keys = ("policy", "part", "unit", "place", "name", "value", "found_by", "only")
    things = [(thing.part, thing.unit, thing.place, thing.name, thing.value) for thing in found.targets]
    rows = []
    for each in found.policies:
        of_runs = [marks or " " * len(things) for marks in each.marks_of_systems]
        for thing, times, *marks in zip(things, each.finder_counts, *of_runs):
            only = labels[marks.index(many.FOUND)] if times == 1 else ""
            rows.append((each.policy, *thing, times, only, *map(str.strip, marks)))
    layout = Layout("answers", "", columns(*keys, *map(spreadsheet_cell, labels)), lambda rows: rows)
    return Table(layout, rows, len(rows))


def _agreement(found: many.Overview) -> Iterator[dict[str, Any]]:
    """Pairs of runs, then what more and more runs find together, then what all of them would score."""
    for each in found.policies:
        policy = {"policy": each.policy}
        for right, wrong in zip(each.right_answers, each.wrong_answers):
            run, other = found.systems[right.a], found.systems[right.b]
            yield policy | asdict(run) | {
                "what": "pair", "other_run": other.run, "other_run_id": other.run_id,
                "right_shared": right.shared, "right_either": right.either, "right_jaccard": right.jaccard,
                "wrong_shared": wrong.shared, "wrong_either": wrong.either, "wrong_jaccard": wrong.jaccard,
                "part": right.part,
            }  # fmt: skip
        for one in each.agreement.systems:
            yield policy | {"what": "systems"} | asdict(one)
        for measure, score in each.agreement.union.scores.items():
            yield policy | {"what": "union", "measure": measure, "score": score}


def _stability(found: many.Overview) -> Iterator[dict[str, Any]]:
    """Yield a row for each run of each ranking, then one for every pair of rankings."""
    for first in found.stability.first:
        for place, share in enumerate(first.shares):
            system = found.systems[place]
            yield {
                "what": "run",
                "measure": first.measure,
                "policy": first.policy,
                "run": system.run,
                "run_id": system.run_id,
                "is_first": int(place in first.runs),
                "first": share,
            }
    for pair in found.stability.pairs:
        low, high = (None, None) if pair.interval is None else (pair.interval.low, pair.interval.high)
        yield {
            "what": "pair",
            "measure": pair.a.measure,
            "policy": pair.a.policy,
            "other_measure": pair.b.measure,
            "other_policy": pair.b.policy,
            "runs": len(found.ranked[pair.a] & found.ranked[pair.b]),
            "tau_b": pair.tau,
            "tau_b:low": low,
            "tau_b:high": high,
        }


_OF_AGREEMENT: Final = columns(
    *("policy", "what", "run", "run_id", "other_run", "other_run_id", "right_shared", "right_either"),
    *("right_jaccard", "wrong_shared", "wrong_either", "wrong_jaccard", "part", "systems", "recall", "agreed"),
    *("measure", "score"),
)
_OF_STABILITY: Final = columns(
    *("what", "measure", "policy", "run", "run_id", "is_first", "first"),
    *("other_measure", "other_policy", "runs", "tau_b", "tau_b:low", "tau_b:high"),
)
TABLES: Final[Mapping[str, Callable[[many.Overview], Table]]] = {
    "answers.tsv": _answers,
    "agreement.tsv": Layout("agreement", "", _OF_AGREEMENT, _agreement).table,
    "stability.tsv": Layout("stability", "", _OF_STABILITY, _stability).table,
}
"""The tables by the names of their files."""


def files_of(board: Leaderboard, found: many.Overview) -> dict[str, Iterator[bytes]]:
    """The tables of a batch that are no JSON, save for problems, by the names of their files; made as they are read."""
    written = {f"leaderboard.{ending}": write for ending, write in WRITERS.items() if ending != "json"}
    files = {name: encoded(map(write, [board])) for name, write in written.items()}
    return files | {name: tsv(table(found)) for name, table in TABLES.items()}


# ---- Problems

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
    "problems", "", columns("run", "policy", "severity", "code", "file", "line", "message"), _problems
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
