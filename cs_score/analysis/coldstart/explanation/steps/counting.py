"""Step 7: the rows that a line counts in, with their arithmetic (specification 7.6, 8.2, 8.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.facts import Counted
from cs_score.coldstart.judging import Counts, Tally
from cs_score.coldstart.projection import (
    ScoreRow,
    by_ldc_query,
    counted_f1,
    counted_row,
    ldc_max_rows,
    left_sum,
)
from cs_score.coldstart.queries import QuerySet
from cs_score.coldstart.scorer import score_rows


def rows_of(tally: Tally, base_id: str, case: Case) -> tuple[Counted, ...]:
    """The rows that have the lines of a row of the SF table: its own, and those of its LDC query."""
    if tally.name not in case.counted:
        row = counted_row(tally.name, tally.counts)
        case.counted[tally.name] = (counted(row, "SF", "7.6"), *_projected(row, base_id, case))
    return case.counted[tally.name]


def counted(row: ScoreRow, table: str, rule: str) -> Counted:
    """A row with its arithmetic."""
    counts = row.counts
    return Counted(
        rule,
        table,
        row.name,
        row.level,
        {} if counts is None else counts._asdict(),
        row.precision,
        row.recall,
        row.f1,
        () if counts is None else arithmetic(counts),
    )


def arithmetic(counts: Counts) -> tuple[str, ...]:
    """Precision, recall and F1 written out."""
    right, answered = counts.right, counts.answered
    if right + counts.wrong == answered:
        shown = f"({right} + {counts.wrong})"
    else:  # lines that are in no list, or in two
        shown = f"({counts.submitted} - {counts.ignored})"
    precision, recall = counts.precision, counts.recall
    product = f"2 * {precision:.4f} * {recall:.4f} / ({precision:.4f} + {recall:.4f})"
    return (
        _quotient("P", right, shown, answered, precision),
        _quotient("R", right, str(counts.ground_truth), counts.ground_truth, recall),
        f"F1 = {product} = {counts.f1:.4f}" if counts.f1 else "F1 = 0, since P and R are 0",
    )


def _quotient(name: str, numerator: int, shown: str, denominator: int, value: float) -> str:
    written = f"{name} = {numerator} / {shown}"
    return f"{written} = {value:.4f}" if denominator else f"{written}, which counts as 0"


def _projected(row: ScoreRow, base_id: str, case: Case) -> Iterator[Counted]:
    """The rows of LDC-MAX and LDC-MEAN."""
    table = case.run.gold.table
    if base_id not in table.ldc_of:
        return
    unit = case.units[table.ldc_of[base_id]]
    rows_by_query: dict[str, list[ScoreRow]] = {}
    for each in score_rows([unit]):
        rows_by_query.setdefault(each.name.partition(":")[0].rpartition("_")[2], []).append(each)
    of_unit = {short_id: table.ldc_of[short_id] for short_id in rows_by_query if short_id in table.ldc_of}
    for full_id, entry_points in by_ldc_query(rows_by_query, QuerySet(table.by_id, of_unit, table.was_expanded)):
        best_id, best = max(entry_points, key=lambda item: counted_f1(item[1]))
        if best_id == base_id:
            yield counted(ldc_max_rows(full_id, [row])[0], "LDC-MAX", "8.2")
        else:
            theirs, own = counted_f1(best), counted_f1(rows_by_query[base_id])
            note = (
                f"{table.by_id[best_id].full_id} represents {full_id}: its F1 over all rows is {theirs:.4f}, that of "
                f"this entry point {own:.4f}{', and it comes first' if theirs == own else ''}"
            )
            yield Counted("8.2", "LDC-MAX", full_id, row.level, {}, 0.0, 0.0, 0.0, (), note)
        yield _mean(row, full_id, [each for _, rows in sorted(entry_points) for each in rows])


def _mean(row: ScoreRow, full_id: str, rows: Sequence[ScoreRow]) -> Counted:
    """The row of LDC-MEAN: means over the entry points that have it."""
    (name,) = (each.name for each in ldc_max_rows(full_id, [row]))
    members = [each for each in rows if ldc_max_rows(full_id, [each])[0].name == name]
    size = len(members)

    def mean(statistic: str, values: Sequence[float]) -> tuple[float, str]:
        value = left_sum(values) / size
        shown = " + ".join(f"{each:.4f}" for each in values)
        return value, f"{statistic} = ({shown}) / {size} = {value:.4f}"

    precision, of_precision = mean("P", [each.precision for each in members])
    recall, of_recall = mean("R", [each.recall for each in members])
    f1, of_f1 = mean("F1", [each.f1 for each in members])
    level = str(name.count(":"))
    return Counted("8.3", "LDC-MEAN", name, level, {}, precision, recall, f1, (of_precision, of_recall, of_f1))
