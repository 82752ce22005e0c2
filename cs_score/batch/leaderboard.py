"""The runs of a batch from best to worst by one measure, policy by policy, and the tables that show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from cs_score.analysis.many.rankings import TestedRow, measured, row_tests
from cs_score.base.display import SCREEN, escape_latex, escape_markdown, one_line, wrapped
from cs_score.base.documents import json_text
from cs_score.base.records import asdict, replace
from cs_score.batch.documents import Leaderboard, Outcome, Row, RunScores, family_lines
from cs_score.statistics.options import Family, Note, sentences
from cs_score.tables.layout import Column, Format, Layout, latex, markdown, text, tsv

LEADERBOARD: Final = "leaderboard"

_NOT_SHOWN: Final = frozenset({"file", "signature", "failure"})
"""Columns that readable tables leave out: they are for machines, or too wide."""


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
    known = dict.fromkeys([_mixed(editions)] if editions else [])
    for policy in dict.fromkeys(outcome.policy for outcome in outcomes):
        ranked = _ranked([outcome for outcome in outcomes if outcome.policy == policy], measure)
        tested = [(row, found) for row, found in ranked if row.rank is not None and row.intervals and found.findings]
        tests: dict[int, TestedRow] = {}
        if tested and not editions:
            tables = [found.findings.table() for _, found in tested if found.findings]
            names = labels_of([(row.run, row.run_id) for row, _ in tested])
            intervals = tested[0][0].intervals
            assert intervals
            found_rows, family, of_tests = row_tests(names, tables, measured(task, [measure]), intervals.resampling)
            known.update(dict.fromkeys(of_tests))
            families |= {} if family is None else {policy: family}
            tests = {id(row): each for (row, _), each in zip(tested, found_rows)}
        has_intervals = any(row.intervals for row, _ in ranked)
        for row, _ in ranked:
            test = tests.get(id(row), TestedRow())
            if editions:
                row = replace(row, edition=editions[row.run])
            if policy in families and families[policy].baseline:
                row = replace(row, p_baseline=test.p_baseline)
            elif has_intervals:
                row = replace(row, tier=test.tier, p_above=test.p_above)
            rows.append(row)
    shown = dict.fromkeys([measure, *headline])
    measures = dict.fromkeys([*shown, *(name for row in rows for name in row.scores)])
    return Leaderboard(
        task=task,
        measure=measure,
        measures=tuple(measures),
        headline=tuple(shown),
        families=families,
        notes=tuple(known),
        rows=tuple(rows),
    )


def labels_of(systems: Sequence[tuple[str, str]]) -> list[str]:
    """What tables call each run, given by name and run id: its name, with the run id where a file holds several; no
    two alike.
    """
    often = Counter(run for run, _ in systems)
    names = [run if often[run] == 1 else f"{run} ({run_id})" for run, run_id in systems]
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


def _mixed(editions: Mapping[str, str]) -> Note:
    names = " and ".join(dict.fromkeys(editions.values()))
    return Note(
        "MIXED_EDITIONS",
        f"runs follow {names}: ranks compare scores that other rules have made, and nothing is tested; answers, "
        "agreement and stability are those of the runs that follow the edition of the batch",
    )


def _ranked(outcomes: Sequence[Outcome], measure: str) -> list[tuple[Row, RunScores]]:
    """A row for each run id with what it comes from, in the order of their scores."""
    rows: list[tuple[Row, RunScores]] = []
    for outcome in outcomes:
        signature = outcome.origin.signature if outcome.origin else None
        for each in outcome.runs or (RunScores("", {}),):
            shared = {name: getattr(outcome, name) for name in Outcome.__struct_fields__ if name in _SHARED}
            if signature is not None:
                own = signature if len(outcome.runs) == 1 else signature.of_run(each.run_id)
                shared["signature"] = str(own.of(measure))
            row = Row(run_id=each.run_id, scores=each.scores, intervals=each.intervals, **shared)
            rows.append((row, each))
    scored = sorted((each for each in rows if measure in each[1].scores), key=lambda each: -each[1].scores[measure])
    ranked: list[tuple[Row, RunScores]] = []
    for place, (row, found) in enumerate(scored, 1):
        is_tie = bool(ranked) and ranked[-1][1].scores[measure] == found.scores[measure]
        ranked.append((replace(row, rank=ranked[-1][0].rank if is_tie else place), found))
    return ranked + [each for each in rows if measure not in each[1].scores]


_SHARED: Final = {*Row.__struct_fields__} - {"intervals", "signature"}
"""What a row has of its outcome."""


def leaderboard_layout(board: Leaderboard) -> Layout:
    """The table of a leaderboard: people are shown the score that ranks with its limits, and the headline measures."""
    before = [Column("rank", "Rank"), Column("policy", "Policy"), Column("run", "Run"), Column("run_id", "Run id")]
    before += [Column("edition", "Edition")] if board.has_editions else []
    scores = [
        Column(f"{measure}{part}", heading or measure)
        for measure in board.measures
        for part, heading in (("", ""), (":low", "Low"), (":high", "High"))[: 3 if board.has_intervals else 1]
    ]
    tests: list[Column] = []
    if any(family.baseline for family in board.families.values()):
        tests = [Column("p_baseline", "p (baseline)", Format.P)]
    elif board.has_intervals:
        tests = [Column("tier", "Tier"), Column("p_above", "p (row above)", Format.P)]
    after = [*tests, *(Column(key, key.capitalize()) for key in ("errors", "warnings", "state", "file", "signature"))]
    hidden = {*_NOT_SHOWN, *(() if board.has_policies else ("policy",))}
    if all(row.run_id in ("", row.run) for row in board.rows):
        hidden.add("run_id")
    limits = [f"{board.measure}{part}" for part in (":low", ":high") if board.has_intervals]
    shown = [column.key for column in before if column.key not in hidden] + [board.measure, *limits]
    shown += [*board.headline[1:], *(column.key for column in after if column.key not in hidden)]
    columns = (*before, *scores, *after, Column("failure", "Failure"))
    title = f"Leaderboard by {board.measure}:"
    return Layout(LEADERBOARD, title, columns, _cells, shown=tuple(shown), longest=60)


def _cells(board: Leaderboard) -> Iterator[dict[str, Any]]:
    for row in board.rows:
        limits = {
            f"{measure}:{side}": limit
            for measure in (row.scores if row.intervals else ())
            for side, limit in zip(("low", "high"), row.limits(measure))
        }
        own = {name: None if value is UNSET else value for name, value in asdict(row).items()}
        yield {**own, **row.scores, **limits}


def leaderboard_tsv(board: Leaderboard) -> str:
    """Scores and limits at full precision."""
    return b"".join(tsv(leaderboard_layout(board).table(board))).decode()


def leaderboard_markdown(board: Leaderboard) -> str:
    """A table, and below it how the intervals were found, why runs have no score, and signatures."""
    below = [f"- {escape_markdown(line)}" for line in (*interval_lines(board), *failure_lines(board))]
    below += [f"- `{signature}`" for signature in signatures(board)]
    table = markdown(leaderboard_layout(board).table(board))
    return "\n".join([*table, *(["", *below] if below else [])]) + "\n"


def leaderboard_latex(board: Leaderboard) -> str:
    """A `tabular` for the package booktabs, and below it how the intervals were found, and signatures."""
    below = [line for part in (*interval_lines(board), *signatures(board)) for line in ("", escape_latex(part))]
    return "\n".join([r"% \usepackage{booktabs}", *latex(leaderboard_layout(board).table(board)), *below]) + "\n"


def leaderboard_text(board: Leaderboard, most: int) -> str:
    """The first `most` rows with the score that ranks them, what to know of it, why runs failed, and signatures."""
    layout = leaderboard_layout(board)
    hidden = {*board.headline[1:], "errors", "warnings"}
    columns = tuple(replace(each, heading="Score") if each.key == board.measure else each for each in layout.columns)
    narrow = replace(layout, columns=columns, shown=tuple(key for key in layout.shown if key not in hidden))
    lines = [*text(narrow.table(board), most, SCREEN)][1:]
    failures = failure_lines(board)
    below = [
        *family_lines(board.families, board.measure),
        *sentences(board.notes),
        *(one_line(line, 300) for line in failures[:most]),
    ]
    lines += [part for line in below for part in wrapped(line)]
    if len(failures) > most:
        lines.append(f"... and {len(failures) - most} more that failed")
    return "\n".join([*lines, *(f"signature  {signature}" for signature in signatures(board))])


WRITERS: Final[dict[str, Callable[[Leaderboard], str]]] = {
    "tsv": leaderboard_tsv,
    "json": json_text,
    "md": leaderboard_markdown,
    "tex": leaderboard_latex,
}
"""The files of a leaderboard by their endings."""


def signatures(board: Leaderboard) -> list[str]:
    """What the scores of all rows have in common, as a citable line for each policy."""
    wholes = (row.origin.signature.of(board.measure).of_all_runs() for row in board.rows if row.origin)
    return list(dict.fromkeys(map(str, wholes)))


def interval_lines(board: Leaderboard) -> list[str]:
    """How the intervals of the rows were found, and what must be known of them."""
    lines: dict[str, None] = {}
    for found in (row.intervals for row in board.rows if row.intervals):
        settings = found.resampling
        lines[
            f"Low and High: {settings.confidence:g} % {settings.method} bootstrap intervals from {settings.resamples} "
            f"resamples; units of resampling ({settings.unit}): {found.units}; seed {settings.seed}."
        ] = None
        lines.update(dict.fromkeys(sentences(found.notes)))
        lines[
            "A row opens a new tier where it differs significantly from the first row of the tier above; p: of the "
            f"difference from the row above or the baseline, by randomisation; level {settings.level:g}."
        ] = None
    if board.families:
        lines[f"Ranks and tests are by {board.measure}, the primary measure; all others are exploratory."] = None
    return [*lines, *family_lines(board.families, board.measure), *sentences(board.notes)]


def failure_lines(board: Leaderboard) -> list[str]:
    """A sentence for each run that was not scored to its end."""
    return [
        f"{row.run}{f' ({row.policy})' if board.has_policies else ''}: {row.failure}"
        for row in board.rows
        if row.failure is not None
    ]
