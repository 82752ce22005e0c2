"""A leaderboard as tab-separated text, JSON, Markdown, LaTeX and aligned text."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Final

from cs_score.base.display import aligned, cell, one_line, spreadsheet_cell
from cs_score.base.markup import escape_latex, escape_markdown
from cs_score.base.outputs import write_whole
from cs_score.batch.tables.leaderboard import BEFORE, Column, Leaderboard, Row, resampling_of, signatures
from cs_score.statistics.options import Note, sentences

LEADERBOARD: Final = "leaderboard"

SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

# Columns that readable tables leave out: they are for machines, or too wide.
_NOT_SHOWN: Final = frozenset({"file", "signature", "failure"})


def write_leaderboard(folder: str, board: Leaderboard) -> None:
    """Write `leaderboard.tsv`, `.json`, `.md` and `.tex` into the folder. Raises OutputError."""
    for ending, text_of in WRITERS.items():
        text = text_of(board).encode("utf-8", "backslashreplace")
        write_whole(os.path.join(folder, f"{LEADERBOARD}.{ending}"), [text])


def leaderboard_tsv(board: Leaderboard) -> str:
    """A header and one line a row, scores and limits at full precision; what does not apply is empty.

    No text is a formula to a spreadsheet.
    """
    columns = (*BEFORE, *board.after)
    parts = ("", ":low", ":high") if board.has_intervals else ("",)
    measures = [spreadsheet_cell(f"{measure}{part}") for measure in board.measures for part in parts]
    lines = ["\t".join([*_names(BEFORE), *measures, *_names(board.after)])]
    for row in board.rows:
        cells = {column.name: _tsv_cell(column, row) for column in columns}
        numbers = [
            number
            for measure in board.measures
            for number in (row.scores.get(measure), *row.limits(measure))[: len(parts)]
        ]
        scores = ["" if number is None else repr(number) for number in numbers]
        lines.append("\t".join([*(cells[c.name] for c in BEFORE), *scores, *(cells[c.name] for c in board.after)]))
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


def _text(column: Column, row: Row) -> str:
    cell = column.cell(row)
    return "" if cell is None else str(cell)


def _short(column: Column, row: Row) -> str:
    """The cell for people, numbers with as many decimals as scores have."""
    cell = column.cell(row)
    return f"{cell:.4f}" if isinstance(cell, float) else _text(column, row)


def _tsv_cell(column: Column, row: Row) -> str:
    text = _text(column, row)
    return text if column.is_number else spreadsheet_cell(text)


def _names(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns]
