"""The runs of a batch from best to worst by one measure, policy by policy, and the files that show them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.many.findings import findings_of
from cs_score.analysis.many.stability import measured
from cs_score.base.display import aligned, cell, one_line, spreadsheet_cell
from cs_score.base.markup import escape_latex, escape_markdown
from cs_score.base.outputs import write_whole
from cs_score.base.records import Record, field, replace
from cs_score.base.signing.signature import Signature
from cs_score.batch.plan import Outcome
from cs_score.statistics.options import Note, Resampling, sentences

LEADERBOARD: Final = "leaderboard"

SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

# Columns that readable tables leave out: they are for machines, or too wide.
_NOT_SHOWN: Final = frozenset({"file", "signature", "failure"})


class Row(Record):
    """One run id of one run under one policy.

    `rank` counts from 1 within the policy; equal scores share it and the next rank is left out. It is None where the
    run has no such score. `signature` is the citable line of the score that ranks it, empty where nothing tells
    what it was made from; `intervals` are those of the scores as JSON has them, empty without resampling. `tier` groups
    rows that do not differ significantly from the first one of the group, and `p_above` is the p-value of the
    difference from the row above, both corrected for all pairs of rows (`analysis.many.resampled`). They are None where
    nothing was tested.
    """

    rank: int | None
    run: str
    run_id: str
    policy: str
    scores: Mapping[str, float]
    outcome: Outcome
    signature: str = ""
    intervals: Mapping[str, Any] = field(default_factory=dict)
    findings: Mapping[str, Any] = field(default_factory=dict)
    tier: int | None = None
    p_above: float | None = None

    def limits(self, measure: str) -> tuple[float | None, float | None]:
        """The limits of the interval of a score; None where it has none."""
        of_score = self.intervals.get("scores", {}).get(measure, {})
        return of_score.get("low"), of_score.get("high")


class Leaderboard(Record):
    """Rows by policy and rank. `measures` are all measures that any row has, that of the ranking first; `headline`
    are those that readable tables show, in the same order; `notes` are on the tests of rows.
    """

    measure: str
    measures: tuple[str, ...]
    headline: tuple[str, ...]
    has_policies: bool
    rows: tuple[Row, ...]
    notes: tuple[Note, ...] = ()

    @property
    def has_intervals(self) -> bool:
        """Whether resampling was asked for."""
        return any(row.intervals for row in self.rows)

    @property
    def after(self) -> tuple[Column, ...]:
        """The columns behind the measures."""
        return (*TESTED, *AFTER) if self.has_intervals else AFTER


class Column(Record):
    """A column beside the measures: its name in tables for machines, its heading for people, and its cell."""

    name: str
    heading: str
    cell: Callable[[Row], str | float | None]
    is_number: bool = False


BEFORE: Final = (
    Column("rank", "Rank", lambda row: row.rank, is_number=True),
    Column("policy", "Policy", lambda row: row.policy),
    Column("run", "Run", lambda row: row.run),
    Column("run_id", "Run id", lambda row: row.run_id),
)
TESTED: Final = (
    Column("tier", "Tier", lambda row: row.tier, is_number=True),
    Column("p_above", "p (row above)", lambda row: row.p_above, is_number=True),
)
"""Columns behind the measures where there are intervals."""

AFTER: Final = (
    Column("errors", "Errors", lambda row: row.outcome.errors, is_number=True),
    Column("warnings", "Warnings", lambda row: row.outcome.warnings, is_number=True),
    Column("state", "State", lambda row: row.outcome.state),
    Column("file", "File", lambda row: row.outcome.file),
    Column("signature", "Signature", lambda row: row.signature),
    Column("failure", "Failure", lambda row: row.outcome.failure),
)


def make_leaderboard(
    outcomes: Sequence[Outcome], policies: Sequence[str], measure: str, headline: Sequence[str]
) -> Leaderboard:
    """Rank the outcomes by `measure`, policy by policy in the order of `policies`; runs without scores come last.

    Where there are intervals, rows get tiers and p-values.
    """
    rows: list[Row] = []
    notes: dict[Note, None] = {}
    for policy in policies:
        ranked = _ranked([outcome for outcome in outcomes if outcome.policy == policy], measure)
        tested = [row for row in ranked if row.rank is not None and row.intervals and row.findings]
        if tested:
            from cs_score.analysis.many.resampled import standings  # it loads numpy

            by = measured(str(tested[0].outcome.signature["mode"]), [measure])
            tables = [findings_of(row.findings).table for row in tested]
            found, of_tests = standings(tables, by, resampling_of(tested[0].intervals))
            notes.update(dict.fromkeys(of_tests))
            places = {id(row): each for row, each in zip(tested, found)}
            ranked = [
                replace(row, tier=places[id(row)].tier, p_above=places[id(row)].p_above) if id(row) in places else row
                for row in ranked
            ]
        rows += ranked
    shown = dict.fromkeys([measure, *headline])
    known = dict.fromkeys([*shown, *(name for row in rows for name in row.scores)])
    return Leaderboard(measure, tuple(known), tuple(shown), len(policies) > 1, tuple(rows), tuple(notes))


def resampling_of(intervals: Mapping[str, Any]) -> Resampling:
    """The settings of the resampling that intervals come from, as JSON has them."""
    return Resampling(**{name: intervals[name] for name in Resampling().as_json()})


def signatures(board: Leaderboard) -> list[str]:
    """What the scores of all rows have in common, as a citable line for each policy."""
    wholes = (_signature(row.outcome) for row in board.rows)
    return list(dict.fromkeys(str(whole.of(board.measure).of_all_runs()) for whole in wholes if whole is not None))


def _signature(outcome: Outcome) -> Signature | None:
    """The signature of all that was scored of one file."""
    return Signature.parse(str(outcome.signature["line"])) if outcome.signature else None


def _ranked(outcomes: Sequence[Outcome], measure: str) -> list[Row]:
    rows: list[Row] = []
    for outcome in outcomes:
        if not outcome.scores:
            rows.append(Row(None, outcome.run, "", outcome.policy, {}, outcome))
        whole = _signature(outcome)
        nothing: Sequence[Mapping[str, Any]] = [{}] * len(outcome.scores)
        parts = zip(outcome.scores, outcome.intervals or nothing, outcome.findings or nothing)
        for (run_id, scores), intervals, findings in parts:
            line = "" if whole is None else str((whole if len(nothing) == 1 else whole.of_run(run_id)).of(measure))
            rows.append(Row(None, outcome.run, run_id, outcome.policy, scores, outcome, line, intervals, findings))
    scored = sorted((row for row in rows if measure in row.scores), key=lambda row: -row.scores[measure])
    ranked: list[Row] = []
    for place, row in enumerate(scored, 1):
        is_tie = bool(ranked) and ranked[-1].scores[measure] == row.scores[measure]
        rank = ranked[-1].rank if is_tie else place
        ranked.append(replace(row, rank=rank))
    return ranked + [row for row in rows if measure not in row.scores]


def write_leaderboard(folder: str, board: Leaderboard) -> None:
    """Write `leaderboard.tsv`, `.json`, `.md` and `.tex` into the folder. Raises OutputError."""
    for ending, text_of in WRITERS.items():
        text = text_of(board).encode("utf-8", "backslashreplace")
        write_whole(os.path.join(folder, f"{LEADERBOARD}.{ending}"), [text])


def leaderboard_tsv(board: Leaderboard) -> str:
    """A header and one line a row, scores and limits at full precision; what does not apply is empty.

    No text is a formula to a spreadsheet.
    """
    parts = ("", ":low", ":high") if board.has_intervals else ("",)
    measures = [spreadsheet_cell(f"{measure}{part}") for measure in board.measures for part in parts]
    lines = ["\t".join([*(column.name for column in BEFORE), *measures, *(column.name for column in board.after)])]
    for row in board.rows:
        numbers = [
            number
            for measure in board.measures
            for number in (row.scores.get(measure), *row.limits(measure))[: len(parts)]
        ]
        scores = ["" if number is None else repr(number) for number in numbers]
        before, after = ([_exact(column, row) for column in columns] for columns in (BEFORE, board.after))
        lines.append("\t".join([*before, *scores, *after]))
    return "\n".join(lines) + "\n"


def leaderboard_json(board: Leaderboard) -> str:
    """An object with the measure and the rows; each row has its full signature and the remarks of the scorer.

    With resampling it also has the intervals, as the JSON of the run has them.
    """
    rows = [
        {
            **{column.name: column.cell(row) for column in (*BEFORE, *board.after)},
            "scores": dict(row.scores),
            **({"intervals": dict(row.intervals)} if row.intervals else {}),
            "remarks": list(row.outcome.remarks),
            "made_from": dict(row.outcome.signature),
        }
        for row in board.rows
    ]
    return (
        json.dumps(
            {"schema_version": SCHEMA_VERSION, "sorted_by": board.measure, "rows": rows}, indent=1, allow_nan=False
        )
        + "\n"
    )


def leaderboard_markdown(board: Leaderboard) -> str:
    """A table, and below it how the intervals were found, why runs have no score, and signatures."""
    headings, kinds, rows = _readable(board, _with_limits)
    rule = ["---:" if is_number else ":---" for is_number in kinds]
    lines = [headings, rule, *([escape_markdown(text) if not k else text for text, k in zip(r, kinds)] for r in rows)]
    table = [f"| {' | '.join(cells)} |" for cells in lines]
    below = [f"- {escape_markdown(text)}" for text in (*interval_lines(board), *failure_lines(board))]
    below += [f"- `{signature}`" for signature in signatures(board)]
    return "\n".join([*table, *(["", *below] if below else [])]) + "\n"


def leaderboard_latex(board: Leaderboard) -> str:
    """A `tabular` for the package booktabs, and below it how the intervals were found, and signatures."""
    headings, kinds, rows = _readable(board, _with_limits)
    lines = [
        r"% \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{''.join('r' if is_number else 'l' for is_number in kinds)}}}",
        r"\toprule",
        *(
            " & ".join(map(escape_latex, cells)) + (r" \\ \midrule" if at == 0 else r" \\")
            for at, cells in enumerate([headings, *rows])
        ),
        r"\bottomrule",
        r"\end{tabular}",
        *(line for text in (*interval_lines(board), *signatures(board)) for line in ("", escape_latex(text))),
    ]
    return "\n".join(lines) + "\n"


def leaderboard_text(board: Leaderboard, most: int) -> str:
    """The first `most` rows aligned for a terminal, how many there are more, why runs have no score, and signatures."""
    headings, kinds, rows = _readable(board, _score)
    shown = [[cell(text, 60) for text in row] for row in [headings, *rows[:most]]]
    lines = aligned(shown, kinds)
    if len(rows) > most:
        lines.append(f"... and {len(rows) - most} more")
    lines += sentences(board.notes)
    failures = failure_lines(board)
    lines += [one_line(text, 300) for text in failures[:most]]
    if len(failures) > most:
        lines.append(f"... and {len(failures) - most} more that failed")
    lines += [f"signature  {signature}" for signature in signatures(board)]
    return "\n".join(lines)


def interval_lines(board: Leaderboard) -> list[str]:
    """How the intervals of the rows were found, and what must be known of them."""
    said: dict[str, None] = {}
    for row in board.rows:
        if row.intervals:
            settings = row.intervals
            said[
                f"In brackets: {settings['confidence']:g} % {settings['method']} bootstrap intervals from "
                f"{settings['resamples']} resamples; units of resampling ({settings['unit']}): {settings['units']}; "
                f"seed {settings['seed']}."
            ] = None
            said.update(dict.fromkeys(sentences(Note(**note) for note in settings["notes"])))
            said[
                "A row opens a new tier where it differs significantly from the first row of the tier above; p: of the "
                "difference from the row above. Randomisation with Holm's correction over all pairs of rows, "
                f"level {resampling_of(settings).level:g}."
            ] = None
    return [*said, *sentences(board.notes)]


def failure_lines(board: Leaderboard) -> list[str]:
    """A sentence for each run that was not scored to its end."""
    return [
        f"{row.run}{f' ({row.policy})' if board.has_policies else ''}: {row.outcome.failure}"
        for row in board.rows
        if row.outcome.failure is not None
    ]


WRITERS: Final[dict[str, Callable[[Leaderboard], str]]] = {
    "tsv": leaderboard_tsv,
    "json": leaderboard_json,
    "md": leaderboard_markdown,
    "tex": leaderboard_latex,
}


def _score(row: Row, measure: str) -> str:
    return f"{row.scores[measure]:.4f}" if measure in row.scores else "-"


def _with_limits(row: Row, measure: str) -> str:
    """A score with its interval in brackets, a hyphen where resamples gave none."""
    shown = _score(row, measure)
    if measure not in row.intervals.get("scores", ()):
        return shown
    low, high = row.limits(measure)
    return f"{shown} [-]" if low is None or high is None else f"{shown} [{low:.4f}, {high:.4f}]"


def _readable(board: Leaderboard, shown: Callable[[Row, str], str]) -> tuple[list[str], list[bool], list[list[str]]]:
    """Headings, which columns are numbers, and rows; policies and run ids only where they tell rows apart."""
    before = [column for column in BEFORE if _is_shown(column, board)]
    after = [column for column in board.after if _is_shown(column, board)]
    headings = [c.heading for c in before] + list(board.headline) + [c.heading for c in after]
    kinds = [c.is_number for c in before] + [True] * len(board.headline) + [c.is_number for c in after]
    rows = [
        [_short(c, row) for c in before]
        + [shown(row, measure) for measure in board.headline]
        + [_short(c, row) for c in after]
        for row in board.rows
    ]
    return headings, kinds, rows


def _is_shown(column: Column, board: Leaderboard) -> bool:
    if column.name == "policy":
        return board.has_policies
    if column.name == "run_id":
        return any(row.run_id not in ("", row.run) for row in board.rows)
    return column.name not in _NOT_SHOWN


def _short(column: Column, row: Row) -> str:
    """The cell for people, numbers with as many decimals as scores have."""
    value = column.cell(row)
    return "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def _exact(column: Column, row: Row) -> str:
    value = column.cell(row)
    text = "" if value is None else str(value)
    return text if column.is_number else spreadsheet_cell(text)
