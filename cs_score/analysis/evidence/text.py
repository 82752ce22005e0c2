"""Analyses, differences and explanations as text and tables for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.analysis.evidence.analysis import Analysis
from cs_score.analysis.evidence.difference import Difference, GroupDifference
from cs_score.analysis.evidence.examiner import Part
from cs_score.analysis.evidence.explanation import ExplainedUnit, Explanation
from cs_score.analysis.evidence.mistakes import ConfusionCount, Group, Mistake
from cs_score.analysis.outcomes import Outcome, significance_lines
from cs_score.base.display import one_line, spreadsheet_cell
from cs_score.evidence.reading import text_of
from cs_score.evidence.report import aligned, table_text
from cs_score.evidence.result import Result, counted
from cs_score.statistics.options import sentences


class Table(NamedTuple):
    """A table by the name of its file: column names, and rows of texts and numbers (None: an empty cell)."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[Sequence[object]]

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 text separated by tabs; numbers read back as the same, no text is a formula to a spreadsheet."""
        yield header(self.columns)
        for row in self.rows:
            yield ("\t".join(map(_cell, row)) + "\n").encode("utf-8", "backslashreplace")


MISTAKES: Final = ("unit", "occurrence", "kind", "part", "predicted", "gold", "gain", "reason", "prediction")
BUDGET: Final = ("kind", "count", "gain", "score", "cumulated")
GROUPS: Final = ("dimension", "group", "units", "precision", "recall", "f1", "mistakes", "share")
CONFUSIONS: Final = ("of", "gold", "predicted", "count")

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "mistakes.tsv": MISTAKES,
    "budget.tsv": BUDGET,
    "groups.tsv": GROUPS,
    "confusions.tsv": CONFUSIONS,
}
"""The files of `--tsv` with the columns that each begins with; effects follow by measure, counts by statistic."""


def header(columns: Iterable[str]) -> bytes:
    """The first line of a table's file."""
    return "\t".join(columns).encode() + b"\n"


def tables(analysis: Analysis, top: int | None = None) -> list[Table]:
    """The tables of an analysis, with at most `top` mistakes."""
    mode = analysis.mode
    return [
        Table(
            "mistakes.tsv",
            (*MISTAKES, *(f"effect:{measure}" for measure in mode.measures)),
            (
                (
                    text_of(mistake.unit), mistake.occurrence, mistake.fault.kind, mistake.fault.part,
                    as_json(mistake.fault.predicted), as_json(mistake.fault.gold), mistake.gain, mistake.reason,
                    json.dumps(mistake.prediction), *mistake.effects.values(),
                )
                for mistake in analysis.mistakes[:top]
            ),
        ),
        Table(
            "budget.tsv",
            BUDGET,
            [(row.kind, row.count, row.gain, row.score, row.cumulated) for row in analysis.budget],
        ),
        Table(
            "groups.tsv",
            (*GROUPS, *mode.columns),
            [
                (*_group(dimension, group), *(group.counts.get(column) for column in mode.columns))
                for dimension, groups in analysis.groups.items()
                for group in groups
            ],
        ),
        Table(
            "confusions.tsv",
            CONFUSIONS,
            [(each.of, each.gold, each.predicted, each.count) for each in analysis.confusions],
        ),
    ]  # fmt: skip


def as_json(value: object) -> str:
    """A JSON value on one line; nothing for None."""
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _group(dimension: str, group: Group) -> tuple[object, ...]:
    scores = (group.precision, group.recall, group.f1)
    return dimension, group.group, group.units, *scores, group.mistakes, group.share


def _cell(value: object) -> str:
    if value is None:
        return ""
    return spreadsheet_cell(value) if isinstance(value, str) else repr(value)


TOP: Final = 20
"""Mistakes that are shown unless another number is asked for."""

LONGEST_NAME: Final = 40
"""Characters that are shown of an id, a label or the name of a group."""

_NARROWEST: Final = 16
"""Characters that a value is given even where lines get longer than they should."""

_GAP: Final = 2


def analysis_text(analysis: Analysis, width: int, top: int = TOP) -> str:
    """Score, error budget, the costliest mistakes, groups and confusions."""
    unit = analysis.mode.unit
    blocks = [
        [f"{analysis.mode.name}: {analysis.measure} = {analysis.score:.4f} over {counted(analysis.units, unit)}"],
        [
            "The score if all mistakes of a kind, and no others, were mended; cumulated, if those above were as well:",
            *_budget(analysis),
        ],
        _mistakes(analysis, width, top),
        *(_groups(unit, dimension, groups, top) for dimension, groups in analysis.groups.items()),
        *_confusions(analysis.confusions, top),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def mistake_rows(mistakes: Iterable[Mistake], unit: str, width: int) -> list[str]:
    """Mistakes in aligned columns that fit into the width, the values cut where they have to be."""
    rows = [("gain", unit, "kind", "at", "predicted", "gold")]
    rows += [
        (
            "-" if mistake.gain is None else f"{mistake.gain:+.6f}",
            unit_name(mistake.unit, mistake.occurrence),
            mistake.fault.kind,
            "" if mistake.fault.part is None else shortened(str(mistake.fault.part), LONGEST_NAME),
            value_text(mistake.fault.predicted),
            value_text(mistake.fault.gold),
        )
        for mistake in mistakes
    ]
    return aligned(fitted(rows, width))


def fitted(rows: Sequence[Sequence[str]], width: int) -> list[tuple[str, ...]]:
    """Rows of cells of which the last two are cut so that aligned lines fit into the width, the longer column first."""
    widths = [max(len(one_line(cell, width)) for cell in column) for column in zip(*rows)]
    free = max(width - sum(widths[:-2]) - _GAP * (len(widths) - 1), 2 * _NARROWEST)
    first = min(widths[-2], max(free - widths[-1], free // 2))
    last = min(widths[-1], free - first)
    return [(*row[:-2], shortened(row[-2], first), shortened(row[-1], last)) for row in rows]


def value_text(value: object) -> str:
    """A value in short: an entry as `SUPPORT [4, 5]`, other objects with their keys, everything else as JSON."""
    if isinstance(value, dict) and value.keys() == {"label", "sentences"}:
        return f"{text_of(value['label'])} {as_json(value['sentences'])}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {text_of(member)}" for key, member in value.items())
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return "; ".join(map(value_text, value))
    return as_json(value)


def shortened(text: str, most: int) -> str:
    """A text on one line of at most so many characters; three dots stand for what is left out."""
    shown = one_line(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def unit_name(unit: object, occurrence: int) -> str:
    """The id of a unit, with which of those with the id it is unless it is the first."""
    name = shortened(text_of(unit), LONGEST_NAME)
    return name if occurrence == 1 else f"{name} ({occurrence})"


def _budget(analysis: Analysis) -> list[str]:
    rows = [
        (row.kind, str(row.count), f"{row.gain:+.4f}", f"{row.score:.4f}", f"{row.cumulated:.4f}")
        for row in analysis.budget
    ]
    return aligned([("", "mistakes", "gain", "score", "cumulated"), *rows])


def _mistakes(analysis: Analysis, width: int, top: int) -> list[str]:
    shown = analysis.mistakes[:top]
    if not shown:
        return [counted(len(analysis.mistakes), "mistake") if analysis.mistakes else "There are no mistakes."]
    number = "costliest" if len(shown) == 1 else f"{len(shown)} costliest"
    lines = [
        f"The {number} of {counted(len(analysis.mistakes), 'mistake')}, with what mending each one alone would bring:",
        *mistake_rows(shown, analysis.mode.unit, width),
    ]
    if reasons := dict.fromkeys(mistake.reason for mistake in shown if mistake.reason):
        lines += ["No gain is known where the mended prediction would be refused:", *map(one_line, reasons)]
    return lines


def _groups(unit: str, dimension: str, groups: Sequence[Group], top: int) -> list[str]:
    rows = [
        (
            group.group,
            str(group.units),
            *("-" if score is None else f"{score:.4f}" for score in (group.precision, group.recall, group.f1)),
            str(group.mistakes),
            f"{group.share:.1%}",
        )
        for group in groups
    ]
    head = (dimension.replace("_", " "), f"{unit}s", "precision", "recall", "f1", "mistakes", "share")
    return limited(head, rows, top)


def _confusions(confusions: Sequence[ConfusionCount], top: int) -> list[list[str]]:
    """A table per thing that has labels, the most frequent pairs first."""
    blocks = []
    for of in dict.fromkeys(each.of for each in confusions):
        met = [(each.gold, each.predicted, str(each.count)) for each in confusions if each.of == of]
        blocks.append(limited(("gold", "predicted", f"{of}s"), met, top))
    return blocks


def limited(head: Sequence[str], rows: Sequence[Sequence[str]], top: int) -> list[str]:
    """The first rows in aligned columns below their heads, and how many there are besides."""
    names = [tuple(shortened(cell, LONGEST_NAME) for cell in row) for row in rows[:top]]
    return [*aligned([head, *names]), *([f"({len(rows) - top} more)"] if len(rows) > top else [])]


def difference_text(difference: Difference, width: int, top: int) -> str:
    """Scores and difference, units by contribution, what became of the parts, groups."""
    blocks = [
        _heading(difference),
        _units(difference, top),
        _outcomes(difference),
        _answers(difference, width, top),
        *(_compared_groups(name, groups, top) for name, groups in difference.groups.items()),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(difference: Difference) -> list[str]:
    names = difference.names
    rows = [(side, f"{score:.4f}", name) for side, score, name in zip("AB", (difference.a, difference.b), names)]
    lines = [
        f"{difference.mode.name}: {difference.measure}",
        *aligned([("", "score", "predictions"), *rows, ("B - A", f"{difference.difference:+.4f}", "")]),
    ]
    lines += significance_lines(difference.compared)
    return [*lines, *map(one_line, sentences(difference.notes))]


def _units(difference: Difference, top: int) -> list[str]:
    unit = difference.mode.unit
    if not difference.units:
        return [f"No {unit} counts differently."]
    rows = [
        (_share(each.contribution), unit_name(each.unit, each.occurrence), _score(each.a), _score(each.b))
        for each in difference.units
    ]
    title = f"{counted(len(rows), unit)} that {'counts' if len(rows) == 1 else 'count'} differently:"
    return [title, *limited(("contribution", unit, "A", "B"), rows, top)]


def _outcomes(difference: Difference) -> list[str]:
    parts = difference.outcomes
    if not parts:
        return []
    rows = [(outcome, *(str(counts[outcome]) for counts in parts.values())) for outcome in Outcome]
    return aligned([("", *(f"{what}s" for what in parts)), *rows])


def _answers(difference: Difference, width: int, top: int) -> list[str]:
    if not difference.answers:
        return []
    rows = [(difference.mode.unit, "part", "value", "A", "B")]
    for each in difference.answers[:top]:
        value = shortened(value_text(each.pair.value), LONGEST_NAME)
        a, b = map(_fate, (each.pair.a, each.pair.b))
        rows.append((unit_name(each.unit, each.occurrence), each.pair.what, value, a, b))
    more = len(difference.answers) - top
    lines = aligned(fitted(rows, width))
    return ["What fared differently:", *lines, *([f"({more} more)"] if more > 0 else [])]


def _fate(part: Part | None) -> str:
    if part is None or part.judgment is None:
        return "-"
    return f"{'right' if part.right else 'wrong'}: {part.judgment}"


def _compared_groups(dimension: str, groups: Sequence[GroupDifference], top: int) -> list[str]:
    rows = [(group.group, f"{group.a:.4f}", f"{group.b:.4f}", _share(group.contribution)) for group in groups]
    return limited((dimension.replace("_", " "), "A", "B", "contribution"), rows, top)


def _share(contribution: float | None) -> str:
    return "-" if contribution is None else f"{contribution:+.6f}"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.4f}"


def explanation_text(explanation: Explanation, result: Result, width: int) -> str:
    """How each unit was scored, what it counts, and what its mistakes cost; without units the run in one screen."""
    if explanation.units:
        return "\n\n".join("\n".join(_unit(explanation, unit, width)) for unit in explanation.units)
    unit = explanation.mode.unit
    costs = ["There are no mistakes."]
    if explanation.mistakes:
        costs = [_worth(explanation, "The largest costs"), *mistake_rows(explanation.mistakes, unit, width)]
    hint = f"--unit ID tells how one {unit} was scored, cs-score analyze {explanation.mode.name} all mistakes"
    return "\n".join((table_text(result), "", *costs, "", hint))


def _unit(explanation: Explanation, explained: ExplainedUnit, width: int) -> list[str]:
    mode = explanation.mode
    name = f"{mode.unit} {unit_name(explained.unit, explained.occurrence)}"
    lines = [one_line(line) for line in explained.lines]
    if any(row.totals for row in mode.rows):
        rows = [("", *mode.headings)]
        rows += [
            (
                row.name,
                *(f"{explained.scores[measure]:.4f}" for measure in row.measures),
                *(str(int(explained.statistics[column])) for column in row.totals),
            )
            for row in mode.rows
        ]
        lines += ["", f"alone, {name} would score:", *(f"  {line}" for line in aligned(rows))]
    if not explained.mistakes:
        return [*lines, "", f"no mistakes in {name}"]
    costs = mistake_rows(explained.mistakes, mode.unit, width - 2)
    return [*lines, "", _worth(explanation, f"what mistakes in {name} cost"), *(f"  {line}" for line in costs)]


def _worth(explanation: Explanation, what: str) -> str:
    return f"{what}: mended alone, each would change {explanation.measure} = {explanation.score:.4f} by"
