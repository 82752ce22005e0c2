"""A comparison as aligned text, JSON, TSV, Markdown and LaTeX.

A writer takes the comparison and gives text; it computes nothing. The names of systems come from users and files, so
each writer escapes them as its format needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from cs_score.base.display import aligned, cell, columns_of, one_line, spreadsheet_cell
from cs_score.base.markup import escape_latex, escape_markdown
from cs_score.base.planned_outputs import Format, OwnOption
from cs_score.base.records import Record, asdict
from cs_score.statistics.options import sentences
from cs_score.statistics.results import Comparison, MeasureComparison

OPTION: Final = OwnOption(
    "--json",
    # The names of systems may be longer than the beginning that is looked at.
    {
        ".json": Format(
            re.compile(
                rb'\{\s*(?:"schema_version":\s*\d+,\s*)?"systems":\s*\[(?:\s*"(?:[^"\\]|\\.)*",?)+(?:\s*\],\s*"units":|\Z)'
            )
        )
    },
    "comparison.json",
    takes_dash=True,
)
"""The option that names the file of the JSON object."""

UNDEFINED: Final = "-"
"""Stands for a number that there is not; a note says why."""

_LONGEST_CELL: Final = 200
_METHOD_NAMES: Final = {"percentile": "percentile", "bca": "BCa"}

_TSV: Final = (
    "measure", "kind", "system", "second", "point", "low", "high", "standard_error", "rank", "rank_low", "rank_high",
    "tier", "p_randomisation", "p_randomisation_holm", "p_bootstrap", "p_bootstrap_holm", "wins", "ties", "losses",
    "note",
)  # fmt: skip
"""`kind` is `system`, `difference` (`second` minus `system`), `note`, or `signature` (in the column `note`); what
does not apply to a row is empty."""

_NAMES: Final = frozenset({"System", "First", "Second"})
"""Columns of untrusted text."""


class Table(Record):
    """A table ready to be laid out: all cells are plain, unescaped text; names and notes stand to the left."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def to_the_right(self) -> list[bool]:
        return [heading not in _NAMES and heading != "Note" for heading in self.headings]


def tables(measure: MeasureComparison) -> tuple[Table, Table]:
    """The systems from best to worst, and the pairs; without a column for notes where there is none."""
    systems = [
        (
            str(entry.tier), str(entry.rank), f"{entry.rank_low}-{entry.rank_high}", entry.system,
            *map(_score, (entry.score.point, entry.score.low, entry.score.high, entry.score.standard_error)),
            entry.score.note,
        )
        for entry in measure.systems
    ]  # fmt: skip
    pairs = [
        (
            pair.first, pair.second,
            *map(_difference, (pair.difference.point, pair.difference.low, pair.difference.high)),
            *map(_p, (pair.randomisation.raw, pair.randomisation.holm, pair.bootstrap.raw, pair.bootstrap.holm)),
            *([UNDEFINED] * 3 if pair.record is None else map(str, asdict(pair.record).values())),
            pair.difference.note,
        )
        for pair in measure.pairs
    ]  # fmt: skip
    return (
        _table(("Tier", "Rank", "Ranks", "System", "Score", "Low", "High", "Std. error", "Note"), systems),
        _table(
            ("First", "Second", "Difference", "Low", "High", "p (rand.)", "Holm", "p (boot.)", "Holm", "Wins", "Ties",
             "Losses", "Note"), pairs,
        ),
    )  # fmt: skip


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    shown = len(headings) - (not any(row[-1] for row in rows))
    return Table(headings[:shown], tuple(row[:shown] for row in rows))


def _score(score: float | None) -> str:
    """Four decimals, and no negative zero."""
    return UNDEFINED if score is None else f"{score:z.4f}"


def _difference(difference: float | None) -> str:
    return UNDEFINED if difference is None else f"{difference:+z.4f}"


def _p(p_value: float) -> str:
    """Four decimals; a p-value is never 0, so a smaller one is shown as `<0.0001`."""
    return f"{p_value:.4f}" if p_value >= 0.0001 else "<0.0001"


def explanation(comparison: Comparison) -> tuple[str, ...]:
    """The sentences that a reader of the tables needs, each unescaped."""
    resampling = comparison.resampling
    confidence = f"{resampling.confidence:g} %"
    exact = f"exact randomisation (all 2^{comparison.units} exchanges)"
    names = {
        "randomisation": exact if comparison.is_enumerated else "approximate randomisation",
        "bootstrap": "the paired bootstrap",
    }
    tier = (
        f"systems that do not differ significantly from the best of the tier by {names[comparison.test]} "
        f"(p after Holm's correction above {resampling.level:g})."
        if comparison.can_be_significant
        else "one for all, since no difference could have been significant; it says nothing about the systems."
    )
    return (
        f"{len(comparison.systems)} systems on {comparison.units} units of resampling ({resampling.unit}).",
        f"Low and High: {confidence} {_METHOD_NAMES[resampling.method]} bootstrap interval, "
        f"{resampling.resamples} resamples, seed {resampling.seed}.",
        f"Ranks: central {confidence} of the ranks over the resamples.",
        f"Tier: {tier}",
        f"Difference: second minus first. p: two-sided, by {names['randomisation']} and by {names['bootstrap']}, each "
        "also with Holm's correction over the pairs of the measure. Wins, Ties, Losses: units that speak for the "
        "second, for neither, for the first.",
    )


def comparison_text(comparison: Comparison) -> str:
    """Two aligned tables per measure, then the explanation; names are made safe for a terminal."""
    blocks = []
    for measure in comparison.measures:
        blocks.append(one_line(measure.measure))
        for table in tables(measure):
            cells = [[cell(text, _LONGEST_CELL) for text in row] for row in (table.headings, *table.rows)]
            blocks += [*aligned(cells, table.to_the_right, width_of=columns_of), ""]
    blocks += [one_line(sentence) for sentence in (*explanation(comparison), *sentences(comparison.notes))]
    signatures = [one_line(f"{system}: {origin.signature}") for system, origin in comparison.origins.items()]
    blocks += ["", *signatures] if signatures else []
    return "\n".join(blocks) + "\n"


def comparison_json(comparison: Comparison) -> str:
    """`Comparison.as_json`, indented by two blanks; ASCII only, so that no name can reach a terminal unescaped."""
    return json.dumps(comparison.as_json(), indent=2, allow_nan=False) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """A heading and two CommonMark tables per measure, then the explanation as a list."""
    blocks = []
    for measure in comparison.measures:
        blocks += [f"### {escape_markdown(measure.measure)}", ""]
        for table in tables(measure):
            rule = ["---:" if is_right else ":---" for is_right in table.to_the_right]
            # Numbers hold no markup but the sign of `<0.0001` and stay readable in the source.
            rows = [
                [escape_markdown(text) if heading in _NAMES else text.replace("<", "&lt;") for heading, text in named]
                for named in (zip(table.headings, row) for row in table.rows)
            ]
            blocks += [*(f"| {' | '.join(cells)} |" for cells in (table.headings, rule, *rows)), ""]
    blocks += [f"- {one_line(sentence)}" for sentence in explanation(comparison)]
    blocks += [f"- {escape_markdown(note)}" for note in sentences(comparison.notes)]  # they may quote names
    blocks += [f"- {escape_markdown(system)}: `{origin.signature}`" for system, origin in comparison.origins.items()]
    return "\n".join(blocks) + "\n"


def comparison_latex(comparison: Comparison) -> str:
    """Two `tabular` environments per measure for the package booktabs, then the explanation as a paragraph."""
    lines = [r"% \usepackage{booktabs}"]
    for measure in comparison.measures:
        lines += [rf"\paragraph{{{escape_latex(measure.measure)}}}", ""]
        for table in tables(measure):
            lines += [*_tabular(table), ""]
    lines += [escape_latex(sentence) for sentence in (*explanation(comparison), *sentences(comparison.notes))]
    for system, origin in comparison.origins.items():
        lines += ["", escape_latex(f"{system}: {origin.signature}")]
    return "\n".join(lines) + "\n"


def _tabular(table: Table) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{{''.join('r' if is_right else 'l' for is_right in table.to_the_right)}}}"
    yield from (r"\toprule", " & ".join(map(escape_latex, table.headings)) + r" \\", r"\midrule")
    is_number = [is_right and heading != "Ranks" for is_right, heading in zip(table.to_the_right, table.headings)]
    for row in table.rows:  # a number goes into mathematics, where a hyphen is a minus sign; anything else is text
        yield " & ".join(f"${text}$" if is_n else escape_latex(text) for text, is_n in zip(row, is_number)) + r" \\"
    yield from (r"\bottomrule", r"\end{tabular}")


def comparison_tsv(comparison: Comparison) -> str:
    """A header, then per measure one line per system and one per pair, numbers in full; last notes, and signatures."""
    rows: list[dict[str, Any]] = []
    for measure in comparison.measures:
        for entry in measure.systems:
            ranks = {name: getattr(entry, name) for name in ("system", "rank", "rank_low", "rank_high", "tier")}
            rows.append({"measure": measure.measure, "kind": "system", **ranks, **entry.score.as_json()})
        for pair in measure.pairs:
            rows.append({
                "measure": measure.measure, "kind": "difference", "system": pair.first, "second": pair.second,
                **pair.difference.as_json(),
                "p_randomisation": pair.randomisation.raw, "p_randomisation_holm": pair.randomisation.holm,
                "p_bootstrap": pair.bootstrap.raw, "p_bootstrap_holm": pair.bootstrap.holm,
                **({} if pair.record is None else asdict(pair.record)),
            })  # fmt: skip
    rows += [{"kind": "note", "note": note.text} for note in comparison.notes]
    rows += [
        {"kind": "signature", "system": system, "note": str(origin.signature)}
        for system, origin in comparison.origins.items()
    ]
    return "\n".join(["\t".join(_TSV), *("\t".join(_exact(map(row.get, _TSV))) for row in rows)]) + "\n"


def _exact(values: Iterable[Any]) -> Iterator[str]:
    """Cells; a name with a tab or a line feed keeps to its cell."""
    return (
        "" if value is None else spreadsheet_cell(value) if isinstance(value, str) else str(value) for value in values
    )


WRITERS: Final[dict[str, Callable[[Comparison], str]]] = {
    "text": comparison_text,
    "json": comparison_json,
    "tsv": comparison_tsv,
    "markdown": comparison_markdown,
    "latex": comparison_latex,
}
"""Format -> writer; every text ends with a line feed."""
