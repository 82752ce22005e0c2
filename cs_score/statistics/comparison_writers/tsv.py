"""A comparison as one table with tab-separated columns, numbers in full precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cs_score.base.display import spreadsheet_cell
from cs_score.base.records import asdict
from cs_score.statistics.comparison_result import Comparison, PairedSystems, RankedSystem
from cs_score.statistics.intervals import Interval

COLUMNS: Final = (
    "measure",
    "kind",
    "system",
    "second",
    "point",
    "low",
    "high",
    "standard_error",
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "p_randomisation",
    "p_randomisation_holm",
    "p_bootstrap",
    "p_bootstrap_holm",
    "wins",
    "ties",
    "losses",
    "note",
)
"""`kind` is `system`, `difference` (`second` minus `system`), `note`, or `signature` (in the column `note`); what
does not apply to a row is empty."""


def comparison_tsv(comparison: Comparison) -> str:
    """A header line, then per measure one line per system and one per pair of systems; last notes, and signatures."""
    lines = ["\t".join(COLUMNS)]
    for measure in comparison.measures:
        rows = [*map(_system, measure.systems), *map(_pair, measure.pairs)]
        lines += ["\t".join(_cells({"measure": measure.measure, **row})) for row in rows]
    lines += ["\t".join(_cells({"kind": "note", "note": note.text})) for note in comparison.notes]
    lines += [
        "\t".join(_cells({"kind": "signature", "system": system, "note": str(origin.signature)}))
        for system, origin in comparison.origins.items()
    ]
    return "\n".join(lines) + "\n"


def _cells(row: dict[str, object]) -> Iterator[str]:
    """The cells in the order of the columns; a name with a tab or a line feed keeps to its cell."""
    values = ("" if row.get(column) is None else row[column] for column in COLUMNS)
    return (spreadsheet_cell(value) if isinstance(value, str) else str(value) for value in values)


def _system(entry: RankedSystem) -> dict[str, object]:
    return {
        "kind": "system",
        "system": entry.system,
        **_numbers(entry.score),
        "rank": entry.rank,
        "rank_low": entry.rank_low,
        "rank_high": entry.rank_high,
        "tier": entry.tier,
    }


def _pair(pair: PairedSystems) -> dict[str, object]:
    return {
        "kind": "difference",
        "system": pair.first,
        "second": pair.second,
        **_numbers(pair.difference),
        "p_randomisation": pair.randomisation.raw,
        "p_randomisation_holm": pair.randomisation.holm,
        "p_bootstrap": pair.bootstrap.raw,
        "p_bootstrap_holm": pair.bootstrap.holm,
        **({} if pair.record is None else asdict(pair.record)),
    }


def _numbers(interval: Interval) -> dict[str, object]:
    return interval.as_json()
