"""Write tables and texts about results of evidence tasks, as different documents need them: mistakes, cells, sentences.
A unit is a claim, an instance or a question. A layout has the columns of a table and makes its rows from a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from cs_score.analysis.evidence.mistake_records import EvidenceMistake, ExplainedUnit
from cs_score.base.display import LONGEST_LINE, JsonText, json_value, one_line, prose_width, safe_cell
from cs_score.base.records import asdict, replace
from cs_score.evidence.mode import Mode
from cs_score.evidence.reading import text_of
from cs_score.tables.layout import TOP, Column, Format, Layout, columns, text_lines

# ---- The mistakes that a document lists

SHORT_VALUE: Final = 36
"""The most characters of a value in a list about many units."""


def count_listed_mistakes(document: Any) -> int:
    """Return the number of mistakes that a document lists."""
    return len(document.mistakes)


def costliest_layout(mode: Mode, count_mistakes: Callable[[Any], int] = count_listed_mistakes) -> Layout:
    """Return the layout for the list of the costliest mistakes in texts, where values are shortened.

    `count_mistakes` returns the total number of mistakes of a document, which may list only some of them.
    """
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
        min_rows=1,  # without mistakes there is no table
        for_files=False,  # files use `mistakes_layout`
        total=count_mistakes,
    )


def mistakes_layout(mode: Mode) -> Layout:
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


def _mistake_rows(document: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each mistake in a document: texts by column, with values both in full and in a short form.

    The document is the analysis of a result or the explanation of one unit. The short forms of values are longer in an
    explanation, which has few mistakes.
    """
    most_characters = LONGEST_LINE if isinstance(document, ExplainedUnit) else SHORT_VALUE
    for mistake in document.mistakes:
        cells: dict[str, Any] = dict(_plain_fields(mistake))
        # The id of the unit and its name in tables for people, such as "q1" and "q1 (2)" for the second unit with this
        # id.
        cells["unit"] = text_of(mistake.unit)
        cells["name"] = unit_name(mistake)
        cells["prediction"] = json_value(mistake.prediction)
        cells.update(_cells_of_values(mistake, most_characters))
        for measure, effect in mistake.effects.items():
            cells[f"effect:{measure}"] = effect
        yield cells


def _plain_fields(mistake: EvidenceMistake) -> dict[str, str | int | float]:
    """Return the fields of a mistake that have a text or a number, by name: `{"kind": "wrong label", ...}`."""
    return {key: value for key, value in asdict(mistake).items() if isinstance(value, str | int | float)}


def _cells_of_values(mistake: EvidenceMistake, most_characters: int) -> dict[str, str | None]:
    """Return the predicted value and the gold value of a mistake, as JSON and in a short form.

    The short form has at most `most_characters` characters.
    """
    return {
        "predicted": as_json(mistake.predicted),
        "gold": as_json(mistake.gold),
        "predicted_in_short": shorten(short_value_text(mistake.predicted), most_characters),
        "gold_in_short": shorten(short_value_text(mistake.gold), most_characters),
    }


def count_column(statistic: str) -> str:
    """Return the key of the column for the total of a statistic in the table of groups.

    It is the name of the statistic, or "counts_f1" for "f1", since the column "f1" has a score.
    """
    return f"counts_{statistic}" if statistic in ("precision", "recall", "f1") else statistic


# ---- Cells


def as_json(value: object) -> JsonText | None:
    """Return a value as JSON on one line; None, which means that there is no value, is returned unchanged."""
    return None if value is None else json_value(value)


def short_value_text(value: object) -> JsonText | None:
    """Return a JSON value in a short form for tables: `SUPPORT [4, 5]` for {"label": "SUPPORT", "sentences": [4, 5]}.

    Other objects are written as keys and values separated by commas, the objects of a list are separated by semicolons,
    and all other values are written as JSON. Objects without members are left out of a list. The text is safe to print.
    None, which means a missing value, is returned unchanged.
    """
    if isinstance(value, dict):
        return JsonText(_object_text(value))
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        texts = [_object_text(item) for item in value]
        return JsonText("; ".join([text for text in texts if text]))
    return as_json(value)


def _object_text(members: Mapping[str, object]) -> str:
    """Return the members of a JSON object in a short form: `title Paris, sentence 4`.

    The keys are left out if they are "label" and "sentences": `SUPPORT [4, 5]`.
    """
    if members.keys() == {"label", "sentences"}:
        return f"{_member_text(members['label'])} {as_json(members['sentences'])}"
    return ", ".join([f"{safe_cell(key)} {_member_text(member)}" for key, member in members.items()])


def _member_text(value: object) -> str:
    """Return a value in an object for tables: a text without quotes, every other value as JSON."""
    return safe_cell(value) if isinstance(value, str) else json_value(value)


def shorten(text: str | None, most_characters: int) -> str | None:
    """Return a text, shortened with "..." to at most `most_characters` characters; None is returned unchanged.

    Shortened JSON remains `JsonText`, whose backslashes are not escaped in tables.
    """
    ellipsis = "..."
    if text is None or len(text) <= most_characters:
        return text
    shortened_text = text[: most_characters - len(ellipsis)] + ellipsis
    return JsonText(shortened_text) if isinstance(text, JsonText) else shortened_text


def unit_name(record: Any) -> str:
    """Return the name of a record's unit in tables: its id "q1", or "q1 (2)" for the second unit with this id."""
    name = text_of(record.unit)
    return name if record.occurrence == 1 else f"{name} ({record.occurrence})"


# ---- Texts

_LONGEST_SENTENCE: Final = 400
_LONGEST_REASON: Final = 200


class DocumentText:
    """Writes a document about results of an evidence task as lines of text; each kind of document has a subclass.

    `width` is the width of sentences and `table_width` is the width of tables, or None if their cells are not
    shortened. `top` is the largest number of rows of a table, or None for the usual number. `is_shortened` says whether
    the text is cut to a first screen. `layouts` are the layouts of the tables.
    """

    def __init__(
        self,
        mode: Mode,
        layouts: Sequence[Layout],
        terminal_width: int | None,
        top: int | None,
        *,
        can_be_shortened: bool = True,
    ) -> None:
        """Take the rules of the task (`mode`), the `layouts` of the tables and the width of the terminal, if any.

        Tables have at most `top` rows. Without `top`, a document that `can_be_shortened` is cut to a screen of 40 lines
        and 80 columns.
        """
        self.mode = mode
        has_default_length = top is None
        self.is_shortened = has_default_length and can_be_shortened
        # Without `top`, sentences are wrapped to the width of a screen, even in a document of full length. Tables are
        # limited to this width only in a shortened document.
        self.width = prose_width(terminal_width, fits_one_screen=has_default_length)
        self.table_width = self.width if self.is_shortened else terminal_width
        self.top = top
        self.layouts = layouts

    def hint_lines(self, sentence: str) -> list[str]:
        """Return the lines of a hint to the user: a blank line, then the sentence, wrapped at the width."""
        return ["", *wrap(sentence, self.width)]

    def all_tables(self, document: Any) -> list[str]:
        """Return the lines of all tables of a document, with at most `top` rows each."""
        lines: list[str] = []
        for layout in self.layouts:
            lines += text_lines(layout.table(document), self.top or TOP, self.table_width)
        return lines

    def screen_tables(
        self,
        document: Any,
        most_rows_by_table: Mapping[str, int | None],
        group_order: Callable[[Mapping[str, Any]], float],
    ) -> list[str]:
        """Return the lines of the tables that a first screen shows.

        `most_rows_by_table` maps the name of a table to its largest number of rows, or to None for all rows. The groups
        of all dimensions are in one table, sorted by the key that `group_order` returns.
        """
        lines: list[str] = []
        for layout in self.layouts:
            if layout.name not in most_rows_by_table:
                continue
            screen_layout = _layout_of_all_groups(layout, group_order) if layout.split_by else layout
            lines += text_lines(screen_layout.table(document), most_rows_by_table[layout.name], self.width)
        return lines

    def introduction_lines(self, document: Any) -> list[str]:
        """Return the lines with sentences about the inputs, and with the reasons for measures without a value."""
        sentences = list(document.head or ())
        for measure, reason in (document.undefined or {}).items():
            sentences.append(f"undefined: {measure}: {one_line(reason, _LONGEST_REASON)}")
        return self.wrap_all(sentences)

    def wrap_all(self, sentences: Sequence[str]) -> list[str]:
        """Return sentences in lines of the width; each sentence begins a line."""
        lines: list[str] = []
        for sentence in sentences:
            lines += wrap(one_line(sentence, _LONGEST_SENTENCE), self.width)
        return lines


def title_of(document: Any) -> str:
    """Return the task and the measure of a document, such as "scifact: sentence_label_f1"."""
    return f"{document.task}: {document.measure}"


def _layout_of_all_groups(layout: Layout, group_order: Callable[[Mapping[str, Any]], float]) -> Layout:
    """Return the layout for a single table of the groups of all dimensions, instead of a table for each dimension.

    The groups are sorted by `group_order`, which returns a sort key for a row; a screen shows the first groups.
    """
    keys = layout.shown_keys or layout.keys
    other_keys = [key for key in keys if key != layout.split_by]

    def sorted_rows(document: Any) -> list[Any]:
        """Return the rows of all groups, in the order of the single table."""
        return sorted(layout.rows(document), key=group_order)

    return replace(
        layout,
        title="Groups with the largest share:",
        split_by="",
        shown_keys=(layout.split_by, *other_keys),
        rows=sorted_rows,
    )
