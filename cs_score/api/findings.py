"""Explanations, analyses, differences and comparisons of results, as objects of Python programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from cs_score.analysis.outcomes import json_text as finding_json
from cs_score.analysis.outcomes import shortened
from cs_score.analysis.system_comparison import with_first_measure
from cs_score.analysis.views import DocumentView, view_of_kind
from cs_score.api.arguments import checked
from cs_score.api.shown import LONGEST_TEXT, WIDTH, ShownDocument, member
from cs_score.base.display import one_line
from cs_score.base.errors import UsageError, did_you_mean
from cs_score.base.records import to_builtins
from cs_score.base.runtime import Late
from cs_score.base.signature import Signature
from cs_score.tables.layout import Table
from cs_score.tables.statistics import PAIRS, SYSTEMS, WRITERS, comparison_screen
from cs_score.tasks import task_named

if TYPE_CHECKING:
    from cs_score.api import pages
    from cs_score.api.pages import Chart, Report
else:
    pages = Late("cs_score.api.pages")  # few calls draw or make pages


def _without_hint_at_options(text: str) -> str:
    """Return the text that a command prints without its paragraph about the option that shows more, `--all`.

    The option means nothing to a Python program.
    """
    kept_paragraphs = []
    for paragraph in text.split("\n\n"):
        if not paragraph.startswith("--all shows "):
            kept_paragraphs.append(paragraph)
    return "\n\n".join(kept_paragraphs)


def _texts_of_notes(notes: Sequence[Any]) -> tuple[str, ...]:
    """Return the text of each note, without its code: `("one unit only: nothing to resample",)`."""
    return tuple([note.text for note in notes])


class _Finding(ShownDocument):
    """An explanation, analysis or difference of one result or two under a measure."""

    _citation_members = ("measure", "signature")

    _kind: ClassVar[str]
    """The kind of the documents, as their JSON names it."""

    def __init__(self, document: Any, top: int | None = None) -> None:
        """Make a finding from its document, the record that a command writes as JSON.

        Its text and JSON have at most `top` rows of each list, all rows if `top` is None.
        """
        super().__init__(document)
        self._top = top

    task: str = member("`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`.")
    measure: str = member("The measure that was chosen.")

    def to_json(self) -> str:
        """Return the document as JSON, the text that `--format json` prints; `load` reads it."""
        return "".join(finding_json(shortened(self._document, self._top)))

    def __str__(self) -> str:
        """Return the text that the command prints, without its remarks about its own options."""
        text_of_command = self._view().text(self._document, WIDTH, self._top)
        return _without_hint_at_options(text_of_command)

    def _view(self) -> DocumentView:
        """Return the functions that make the text and the tables of such documents, as the command prints them."""
        return view_of_kind(self._kind, task_named(self.task))

    def _tables(self) -> Iterable[Table]:
        """Return the tables that the command writes to files, in order."""
        tables = self._view().tables(self._document)
        return [table for table in tables if table.layout.for_files]


class Explanation(_Finding):
    """How lines, queries, classes, nodes or units were scored; made by `explain` of a result, and `load`."""

    _kind = "explanation"
    _main_table = "steps"

    signature: Signature = member("The citable line of the score.", Signature.parse)

    def __repr__(self) -> str:
        """Return the numbers of things explained: `<explanation of run1: 3 lines, 1 queries, 0 classes, 2 nodes>`."""
        name = getattr(self._document, "run", self.task)
        units = getattr(self._document, "units", ())  # only the explanation of an evidence task has units
        if units:
            return one_line(f"<explanation of {name}: {len(units)} units>")
        counts = []
        for part in ("lines", "queries", "classes", "nodes"):
            count = len(getattr(self._document, part, ()))
            counts.append(f"{count} {part}")
        return one_line(f"<explanation of {name}: {', '.join(counts)}>")


class Analysis(_Finding):
    """The reasons for a score: what each mistake costs, and all else that `cs-score analyze` finds.

    Made by `analyze` and `load`. The keys of the JSON are described by the schema that `cs-score schema` prints.
    """

    _kind = "analysis"
    _main_table = "mistakes"
    _notebook_table = "budget"

    signature: Signature = member("The citable line of the score.", Signature.parse)
    score: float = member("The score under the measure that was chosen; 0 to 1.", float)
    scores: Mapping[str, float] = member("Every score of the result by the name of its measure.")

    scenarios: Mapping[str, Any] | None = member(
        "Scores if all unassessed answers were wrong, or right: `pessimistic`, `score`, `optimistic`, `unassessed` and "
        "the `added_pool` lines; None for a task of evidence.",
        to_builtins,
    )
    best: Mapping[str, float] | None = member(
        "The best `threshold` of confidence and its `gain`; None if no threshold gains, and for a task of evidence.",
        to_builtins,
    )

    @checked
    def chart(self, kind: str = "budget", name: str | None = None) -> Chart:
        """Return a chart, which a notebook shows; `cs-score plot` lists the kinds.

        If there are several charts of a kind, `name` chooses one, such as the dimension of `groups`; by default, the
        first is drawn. Raises UsageError for an unknown chart, InputError if there is nothing to draw.
        """
        return pages.Chart(self._document, kind, name)

    def report(self) -> Report:
        """Return the page that `cs-score report` makes of the analysis; a notebook shows it.

        Raises MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        return pages.Report(self._document)

    def __repr__(self) -> str:
        """Return the score and the number of mistakes: `<analysis of run1: SF-ALL-Micro-F1 0.2841, 12 mistakes>`."""
        name = getattr(self._document, "run", self.task)
        mistake_count = getattr(self._document, "mistake_count", None)  # more than the document's list may have
        if mistake_count is None:
            mistake_count = len(self._document.mistakes)
        return one_line(f"<analysis of {name}: {self.measure} {self.score:.4f}, {mistake_count} mistakes>")


class Difference(_Finding):
    """The reasons why B scores otherwise than A: what each unit contributes, and all else that `cs-score diff` finds.

    Made by `diff` and `load`.
    """

    _kind = "difference"
    _main_table = "units"
    _citation_members = ("measure", "signatures")

    names: tuple[str, str] = member("The names of A and B.", lambda names: (names["a"], names["b"]))
    a: float = member("The score of A; 0 to 1.", float)
    b: float = member("The score of B; 0 to 1.", float)
    difference: float = member("B minus A: the sum of the units' contributions.", float)
    notes: tuple[str, ...] = member("Notes that a reader of the numbers needs, one line each.", _texts_of_notes)

    @checked
    def chart(self, kind: str = "contributions", name: str | None = None) -> Chart:
        """Return a chart of what units (`contributions`) or groups of units (`groups`) add to the difference.

        `name` chooses one of several charts of groups: the dimension by which units are grouped.

        Raises UsageError for an unknown chart, InputError if there is nothing to draw.
        """
        return pages.Chart(self._document, kind, name)

    def report(self) -> Report:
        """Return the page that `cs-score report --compare` makes of the difference.

        Raises MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        return pages.Report(shortened(self._document, self._top))

    def __repr__(self) -> str:
        first, second = self.names
        return one_line(f"<{self.measure}: {second} - {first} = {self.difference:+.4f}>")


Format: TypeAlias = Literal["text", "json", "tsv", "markdown", "latex"]


class Comparison(ShownDocument):
    """Two or more systems on the same units, under every measure; made by `compare` and `load`."""

    _main_table = "systems"
    _citation_members = ("signatures",)

    def __init__(self, document: Any, *, has_chosen_measures: bool = False) -> None:
        """Make a comparison from its document, the record that `cs-score compare` writes as JSON.

        The text shows all measures of the document if the user chose them (`has_chosen_measures`), otherwise only the
        first one.
        """
        super().__init__(document)
        self._has_chosen_measures = has_chosen_measures

    systems: tuple[str, ...] = member("The names of the systems, in the order in which they were given.")
    units: int = member("How many units (LDC queries, claims, ...) all systems were compared on.")
    notes: tuple[str, ...] = member("Notes on the whole comparison, one line each.", _texts_of_notes)

    def to_text(self, format: Format = "text") -> str:
        """Return the output of `cs-score compare --all`: aligned text, `json`, `tsv`, `markdown` or `latex`.

        Raises UsageError for another format.
        """
        if format not in WRITERS:
            raise UsageError(
                f"no format called {format}; there are {', '.join(WRITERS)}{did_you_mean(format, WRITERS)}"
            )
        return WRITERS[format](self._document)

    def __str__(self) -> str:
        """Return the text that the command prints for the measures that the user chose, or for the first measure.

        The command's remarks about its own options are left out.
        """
        document = self._document if self._has_chosen_measures else with_first_measure(self._document)
        text_of_command = comparison_screen(document).removesuffix("\n")
        return _without_hint_at_options(text_of_command)

    @checked
    def chart(self, kind: str = "leaderboard", name: str | None = None) -> Chart:
        """Return a chart of the systems' scores with intervals under the measure `name`, by default the primary one.

        Raises UsageError for another kind and for an unknown measure, InputError if there is nothing to draw.
        """
        return pages.Chart(self._document, kind, name or self._document.primary.measure)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the verdict, and the table of systems."""
        verdict = one_line(f"{self._document.primary.verdict}.", LONGEST_TEXT)
        table = super()._repr_html_()
        return f"<p>{escape(verdict)}</p>{table}"

    def __repr__(self) -> str:
        """Return the systems and the numbers of units and measures: `<comparison of a, b: 40 units, 9 measures>`."""
        names = ", ".join(self.systems)
        measure_count = len(self._document.measures)
        return one_line(f"<comparison of {names}: {self.units} units, {measure_count} measures>")

    def _tables(self) -> Iterable[Table]:
        """Return the tables of systems and of pairs, with the rows of all measures."""
        measures = self._document.measures
        return [SYSTEMS.table(measures), PAIRS.table(measures)]
