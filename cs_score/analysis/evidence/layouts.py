"""The tables and texts of the documents about results of evidence tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from textwrap import wrap
from typing import Any, Final

from cs_score.analysis.evidence.documents import (
    EvidenceAnalysis,
    EvidenceDifference,
    EvidenceExplanation,
    ExplainedUnit,
)
from cs_score.analysis.outcomes import heading
from cs_score.base.display import LONGEST_LINE, JsonText, cell, json_value, number_with_noun, one_line, prose_width
from cs_score.base.records import asdict, replace
from cs_score.evidence.mode import Mode
from cs_score.evidence.reading import text_of
from cs_score.evidence.report import score_lines
from cs_score.tables.layout import TOP, Column, Format, Layout, columns, text
from cs_score.tasks import words_of

# ---- Layouts of tables

_SIDES: Final = (Column("a", "A"), Column("b", "B"))
_CONTRIBUTION: Final = Column("contribution", format=Format.GAIN)

_SHORT_VALUE: Final = 36
"""The most characters of a value in a list about many units."""

_SHORT_JUDGMENT: Final = 28
"""The most characters of a judgment in such a list."""

_BUDGET: Final = Layout(
    "budget",
    "The score if all mistakes of a kind, and no others, were corrected; cumulated, if those above were as well:",
    columns("kind", "count", "gain", "score", "cumulated", gain=Format.GAIN),
    lambda analysis: analysis.budget,
    row_selection="whole",
)
_CONFUSIONS: Final = Layout(
    "confusions",
    "Labels of gold beside those predicted, by %:",
    columns("of", "gold", "predicted", "count"),
    lambda analysis: analysis.confusions,
    split_by="of",
    min_rows=1,
)
_SCENARIOS: Final = Layout(
    "scenarios",
    "Scenarios for answers that nobody has assessed (no limits):",
    columns("scenario", "score", "assumption"),
    lambda analysis: analysis.scenarios or (),
    min_rows=1,
    row_selection="whole",
)
_POLICIES: Final = Layout(
    "policies",
    "The score under other policies, and the difference to that in force:",
    columns("policy", "score", "difference", "reason", difference=Format.GAIN),
    lambda analysis: analysis.policies or (),
    min_rows=1,
    row_selection="whole",
)
_OUTCOMES: Final = Layout(
    "outcomes",
    "Parts by outcome:",
    columns("part", "outcome", "count"),
    lambda difference: [row for row in difference.outcomes if row.count],
    min_rows=1,
    row_selection="whole",
)


def _group_rows(document: EvidenceAnalysis | EvidenceDifference) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each group of each dimension."""
    for dimension, groups in document.groups.items():
        for group in groups:
            row: dict[str, Any] = {"dimension": dimension, **asdict(group)}
            row["score"] = row.pop("scores", {}).get(document.measure)  # only pages show this score
            for statistic, count in row.pop("counts", {}).items():
                row[count_column(statistic)] = count
            yield row


_COMPARED_GROUPS: Final = Layout(
    "groups", "By %:", (*columns("dimension", "group"), *_SIDES, _CONTRIBUTION), _group_rows, split_by="dimension"
)


def _step_rows(explanation: EvidenceExplanation) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each line in the explanations of units; blank lines are left out."""
    for unit in explanation.units:
        for line in unit.lines:
            if line:
                yield {"unit": text_of(unit.unit), "occurrence": unit.occurrence, "text": line}


_STEPS: Final = Layout(
    "steps", "How units were scored:", columns("unit", "occurrence", "text"), _step_rows, for_people=False
)


def layouts_of(mode: Mode) -> dict[type, tuple[Layout, ...]]:
    """Return the layouts of tables by the class of their document, in the order in which the text shows the tables.

    A layout may be for files only (not `for_people`), or for texts only (not `is_file`).
    """
    costliest = _costliest_layout(mode)
    mistakes = _mistakes_layout(mode)
    name = Column("name", mode.unit)
    differing_units = Layout(
        "units",
        f"Each {mode.unit} that counts differently, with what it contributes to the difference:",
        (_CONTRIBUTION, name, *_SIDES),
        _differing_unit_rows,
        min_rows=1,
    )
    answer_columns = (name, *columns("part", "value"), *_SIDES)
    shortened_answers = Layout(
        "answers", "What was judged differently:", answer_columns, _answer_rows, min_rows=1, is_file=False
    )
    whole_answers = replace(
        shortened_answers, rows=partial(_answer_rows, is_whole=True), for_people=False, is_file=True
    )
    other_scores = (_SCENARIOS, _POLICIES) if mode.has_policies else ()
    return {
        EvidenceAnalysis: (*other_scores, _BUDGET, costliest, mistakes, _groups_layout(mode), _CONFUSIONS),
        EvidenceDifference: (differing_units, _OUTCOMES, shortened_answers, whole_answers, _COMPARED_GROUPS),
        EvidenceExplanation: (costliest, mistakes, _STEPS),
        ExplainedUnit: (costliest,),
    }


def _costliest_layout(mode: Mode) -> Layout:
    """Return the layout of the list of the costliest mistakes in texts, where values are shortened."""
    return Layout(
        "costliest",
        "The costliest mistakes, with the gain from correcting each one alone:",
        (
            Column("gain", format=Format.GAIN),
            Column("name", mode.unit),
            Column("kind"),
            Column("part", "at"),
            Column("predicted_in_short", "predicted"),
            Column("gold_in_short", "gold"),
            Column("reason"),
        ),
        _mistake_rows,
        min_rows=1,
        is_file=False,
        total=_count_mistakes,
    )


def _count_mistakes(document: EvidenceAnalysis | EvidenceExplanation | ExplainedUnit) -> int:
    """Return the number of all mistakes; a document may list only some of them."""
    if isinstance(document, EvidenceAnalysis):
        count = sum([row.count for row in document.budget])
        if count:
            return count
    return len(document.mistakes)


def _mistakes_layout(mode: Mode) -> Layout:
    """Return the layout of the file of mistakes, with a column for the effect on each measure."""
    effects = [f"effect:{measure}" for measure in mode.measures]
    return Layout(
        "mistakes",
        "The costliest mistakes, with the gain from correcting each one alone:",
        (
            *columns("unit", "occurrence", "kind", "part", "predicted", "gold"),
            Column("gain", format=Format.GAIN),
            *columns("reason", "prediction", *effects),
        ),
        _mistake_rows,
        for_people=False,
    )


def _groups_layout(mode: Mode) -> Layout:
    """Return the layout of the groups of an analysis, with a column for each statistic in the file."""
    numbers = ("precision", "recall", "f1", "mistakes", "share")
    statistics = [count_column(statistic) for statistic in mode.columns]
    return Layout(
        "groups",
        "By %:",
        (
            *columns("dimension", "group"),
            Column("units", f"{mode.unit}s"),
            *columns(*numbers, share=Format.SHARE),
            *columns(*statistics),
        ),
        _group_rows,
        shown=("group", "units", *numbers),
        split_by="dimension",
    )


def _mistake_rows(document: EvidenceAnalysis | EvidenceExplanation | ExplainedUnit) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each mistake that a document lists, with values whole and, for texts, shortened."""
    longest = LONGEST_LINE if isinstance(document, ExplainedUnit) else _SHORT_VALUE
    for mistake in document.mistakes:
        row: dict[str, Any] = {}
        for key, value in asdict(mistake).items():
            if isinstance(value, str | int | float):
                row[key] = value
        row |= {
            "unit": text_of(mistake.unit),
            "name": unit_name(mistake),
            "predicted": as_json(mistake.predicted),
            "gold": as_json(mistake.gold),
            "predicted_in_short": shorten(short_value_text(mistake.predicted), longest),
            "gold_in_short": shorten(short_value_text(mistake.gold), longest),
            "prediction": json_value(mistake.prediction),
        }
        for measure, effect in mistake.effects.items():
            row[f"effect:{measure}"] = effect
        yield row


def count_column(statistic: str) -> str:
    """Return the key of the column for the total of a statistic in the table of groups.

    It is the name of the statistic, or "counts_f1" for "f1", since the column "f1" has a score.
    """
    return f"counts_{statistic}" if statistic in ("precision", "recall", "f1") else statistic


def _differing_unit_rows(difference: EvidenceDifference) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each unit that counts differently in A and B."""
    for unit in difference.units:
        yield {**asdict(unit), "name": unit_name(unit)}


def _answer_rows(difference: EvidenceDifference, *, is_whole: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each answer that was judged differently; texts are shortened unless the table `is_whole`."""
    for answer in difference.answers:
        cells: dict[str, str | None] = {"value": short_value_text(answer.value), "a": None, "b": None}
        for side, judgment in (("a", answer.a), ("b", answer.b)):
            if judgment is not None:
                cells[side] = f"{'right' if judgment.right else 'wrong'}: {judgment.judgment}"
        if not is_whole:
            cells = {
                "value": shorten(cells["value"], _SHORT_VALUE),
                "a": shorten(cells["a"], _SHORT_JUDGMENT),
                "b": shorten(cells["b"], _SHORT_JUDGMENT),
            }
        yield {"name": unit_name(answer), "part": answer.part, **cells}


# ---- Cells


def as_json(value: object) -> JsonText | None:
    """Return a value as JSON in a line; None stays None, since it means that there is no value."""
    return None if value is None else json_value(value)


def short_value_text(value: object) -> JsonText | None:
    """Return a JSON value in a short form for tables: {"label": "SUPPORT", "sentences": [4, 5]} as `SUPPORT [4, 5]`.

    Another object is its keys and values with commas, a list of objects has semicolons between them, and every other
    value is JSON. The text is safe to print. None stays None, since it means that there is no value.
    """
    if isinstance(value, dict) and value.keys() == {"label", "sentences"}:
        return JsonText(f"{_member_text(value['label'])} {as_json(value['sentences'])}")
    if isinstance(value, dict):
        return JsonText(", ".join([f"{cell(key)} {_member_text(member)}" for key, member in value.items()]))
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        items = [short_value_text(item) for item in value]
        return JsonText("; ".join([item for item in items if item]))
    return as_json(value)


def _member_text(value: object) -> str:
    """Return a value in an object for tables: a text without quotes, every other value as JSON."""
    return cell(value) if isinstance(value, str) else json_value(value)


def shorten(text: str | None, longest: int) -> str | None:
    """Return a text, shortened with "..." to at most `longest` characters; None stays None."""
    if text is None or len(text) <= longest:
        return text
    shortened = f"{text[: longest - 3]}..."
    return JsonText(shortened) if isinstance(text, JsonText) else shortened


def unit_name(record: Any) -> str:
    """Return the name of a record's unit in tables: its id "q1", or "q1 (2)" for the second unit with this id."""
    name = text_of(record.unit)
    return name if record.occurrence == 1 else f"{name} ({record.occurrence})"


# ---- Texts

_UNITS_ON_SCREEN: Final = 8

_ROWS_ON_SCREEN: Final[Mapping[str, int | None]] = {
    "scenarios": None,
    "policies": None,
    "budget": None,
    "costliest": 10,
    "units": _UNITS_ON_SCREEN,
    "groups": 8,
}
"""The largest number of rows of each table on a first screen, by the name of the table; None for all rows."""

_FEWEST_UNITS: Final = 3
"""The number of units that a first screen of a difference shows at least."""

_LONGEST_SENTENCE: Final = 400
_LONGEST_REASON: Final = 200


def text_of_document(mode: Mode, document: Any, terminal_width: int | None, top: int | None = None) -> str:
    """Return a document as text for a terminal of a width, with at most `top` rows of each table.

    Without `top` an analysis or a difference is shortened to a screen of 40 lines and 80 columns. If there is no
    terminal, its width is None, and the cells of tables are not shortened.
    """
    is_screen = top is None and isinstance(document, EvidenceAnalysis | EvidenceDifference)
    width = prose_width(terminal_width, is_screen=top is None)
    table_width = width if is_screen else terminal_width
    view = _View(mode, width, table_width, top, is_screen)
    if isinstance(document, EvidenceDifference):
        lines = view.difference_lines(document)
    elif isinstance(document, EvidenceAnalysis):
        lines = view.analysis_lines(document)
    elif document.units:
        lines = view.lines_of_units(document)
    else:
        lines = view.lines_of_run(document)
    return "\n".join(lines)


class _View:
    """Writes documents as lines of text of a width, either in full or shortened for a first screen (`is_screen`).

    `table_width` is the width of tables, None if cells are not shortened. `top` is the largest number of rows of a
    table, None for the usual number.
    """

    def __init__(self, mode: Mode, width: int, table_width: int | None, top: int | None, is_screen: bool) -> None:
        self._mode = mode
        self._width = width
        self._table_width = table_width
        self._top = top
        self._is_screen = is_screen
        self._layouts = layouts_of(mode)

    def difference_lines(self, difference: EvidenceDifference) -> list[str]:
        """Return the lines of a difference: its head, the inputs of both sides, and its tables."""
        head_lines = self._lines_of_heads(difference)
        lines = heading(difference, "predictions", self._width, _title(difference))
        lines += head_lines
        if self._is_screen:
            unit_rows = max(_UNITS_ON_SCREEN - len(head_lines), _FEWEST_UNITS)
            lines += self._screen_tables(difference, unit_rows)
            lines += self._hint("--all shows every unit, outcome, answer and group; --format json has all of it.")
        else:
            lines += self._whole_tables(difference)
        if not difference.units:
            lines += ["", f"No {self._mode.unit} counts differently."]
        return lines

    def analysis_lines(self, analysis: EvidenceAnalysis) -> list[str]:
        """Return the lines of an analysis: the score, sentences about the inputs, and the tables."""
        units = _answered_count_text(analysis) or number_with_noun(analysis.units, self._mode.unit)
        lines = [f"{_title(analysis)} = {analysis.score:.4f} over {units}"]
        lines += self._head_lines(analysis)
        if self._is_screen:
            lines += self._screen_tables(analysis, 0)
            lines += self._hint("--all shows every mistake, group and confusion; --format json has all of it.")
        else:
            lines += self._whole_tables(analysis)
        if not analysis.mistakes:
            lines += ["", "There are no mistakes."]
        return lines

    def lines_of_units(self, explanation: EvidenceExplanation) -> list[str]:
        """Return the lines that explain how each unit was scored, and list its mistakes."""
        lines = []
        answered = _answered_count_text(explanation)
        if answered:
            lines += [f"{_title(explanation)} = {explanation.score:.4f} over {answered}", ""]
        for number, unit in enumerate(explanation.units):
            if number:
                lines.append("")
            lines += self._lines_of_unit(unit)
        return lines

    def lines_of_run(self, explanation: EvidenceExplanation) -> list[str]:
        """Return the lines that explain a whole run: its scores, and its costliest mistakes."""
        answered = _answered_count_text(explanation)
        over = f" over {answered}" if answered else ""
        lines = [f"{_title(explanation)} = {explanation.score:.4f}{over}"]
        lines += [*self._head_lines(explanation), ""]
        undefined = explanation.undefined or ()
        lines += score_lines(self._mode, explanation.scores, explanation.statistics, undefined)
        lines += self._whole_tables(explanation)
        task = " ".join(words_of(self._mode.name))
        unit = self._mode.unit
        return lines + self._hint(f"--unit ID shows how one {unit} was scored, cs-score analyze {task} all mistakes")

    def _hint(self, sentence: str) -> list[str]:
        """Return a hint to the user: a blank line, then the sentence in lines of the width."""
        return ["", *wrap(sentence, self._width)]

    def _whole_tables(self, document: Any) -> list[str]:
        """Return the lines of all tables of a document, with at most `top` rows each."""
        lines: list[str] = []
        for layout in self._layouts[type(document)]:
            lines += text(layout.table(document), self._top or TOP, self._table_width)
        return lines

    def _screen_tables(self, document: Any, unit_rows: int) -> list[str]:
        """Return the lines of the tables that a first screen shows; the table of units has at most `unit_rows` rows."""
        lines: list[str] = []
        for layout in self._layouts[type(document)]:
            if layout.name in _ROWS_ON_SCREEN:
                rows = unit_rows if layout.name == "units" else _ROWS_ON_SCREEN[layout.name]
                shown_layout = _with_one_table(layout) if layout.split_by else layout
                lines += text(shown_layout.table(document), rows, self._width)
        return lines

    def _lines_of_unit(self, unit: ExplainedUnit) -> list[str]:
        """Return the lines that explain a unit: how it was scored, its own scores, and its mistakes.

        Its own scores are left out in tasks whose reports have no totals.
        """
        lines: list[str] = []
        for unsafe_line in unit.lines:
            line = one_line(unsafe_line)
            if len(line) > self._width:
                indent = " " * (len(line) - len(line.lstrip()) + 4)
                lines += wrap(line, self._width, subsequent_indent=indent)
            else:
                lines.append(line)
        name = f"{self._mode.unit} {one_line(unit_name(unit))}"
        if any(row.totals for row in self._mode.rows):
            lines += ["", f"alone, {name} would score:"]
            lines += [f"  {line}" for line in score_lines(self._mode, unit.scores, unit.statistics)]
        if not unit.mistakes:
            lines += ["", f"no mistakes in {name}"]
        for layout in self._layouts[ExplainedUnit]:
            lines += text(_without_unit(layout).table(unit), self._top or TOP, self._table_width)
        return lines

    def _lines_of_heads(self, difference: EvidenceDifference) -> list[str]:
        """Return the sentences about the inputs of either side; on a first screen only the first sentence of each."""
        lines: list[str] = []
        for side, sentences in (difference.heads or {}).items():
            shown_sentences = sentences[:1] if self._is_screen else sentences
            for sentence in shown_sentences:
                lines += wrap(one_line(f"{side.upper()}: {sentence}", _LONGEST_SENTENCE), self._width)
        return lines

    def _head_lines(self, document: EvidenceAnalysis | EvidenceExplanation) -> list[str]:
        """Return the sentences about the inputs, and the reasons why measures have no value."""
        sentences = [one_line(sentence, _LONGEST_SENTENCE) for sentence in document.head or ()]
        for measure, reason in (document.undefined or {}).items():
            sentences.append(f"undefined: {measure}: {one_line(reason, _LONGEST_REASON)}")
        lines: list[str] = []
        for sentence in sentences:
            lines += wrap(sentence, self._width)
        return lines


def _title(document: Any) -> str:
    """Return the task and the measure of a document, such as "scifact: sentence_label_f1"."""
    return f"{document.task}: {document.measure}"


def _answered_count_text(document: Any) -> str:
    """Return how many units were scored if only answered units were; an empty text if all were."""
    if not document.origin:
        return ""
    return document.origin.answered_count_text or ""


def _without_unit(layout: Layout) -> Layout:
    """Return a layout without the column of the unit's name, for a table with the mistakes of a single unit."""
    keys = layout.shown or layout.keys
    return replace(layout, shown=tuple([key for key in keys if key != "name"]))


def _with_one_table(layout: Layout) -> Layout:
    """Return the layout for a single table of the groups of all dimensions, instead of a table for each dimension.

    The groups with the largest share come first.
    """
    keys = layout.shown or layout.keys
    other_keys = [key for key in keys if key != layout.split_by]
    return replace(
        layout,
        title="Groups with the largest share:",
        split_by="",
        shown=(layout.split_by, *other_keys),
        rows=partial(_rows_by_share, layout),
    )


def _rows_by_share(layout: Layout, document: Any) -> list[Any]:
    """Return the rows of the table of groups, sorted for a single table.

    The groups of an analysis with most mistakes come first, or the groups of a difference with the largest
    contributions. `layout` makes the rows in their usual order.
    """
    rows: Iterable[Any] = layout.rows(document)
    if isinstance(document, EvidenceAnalysis):
        return sorted(rows, key=_mistakes_order)
    return sorted(rows, key=_contribution_order)


def _mistakes_order(row: Mapping[str, Any]) -> float:
    """Return a sort key for groups: those with most mistakes first."""
    return -float(row["mistakes"])


def _contribution_order(row: Mapping[str, Any]) -> float:
    """Return a sort key for groups: those with the largest contribution first, positive or negative."""
    contribution: float = row["contribution"] or 0.0
    return -abs(contribution)
