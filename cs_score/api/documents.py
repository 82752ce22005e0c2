"""What is found of results, from Python: the document, the JSON of the command, with its tables and its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from cs_score.analysis.comparison import first_measure
from cs_score.analysis.outcomes import as_builtins, json_text
from cs_score.api.shown import WIDTH, Document, Report, member
from cs_score.base.display import one_line
from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import to_builtins
from cs_score.base.signature import Signature
from cs_score.tables.layout import Table
from cs_score.tables.statistics import PAIRS, SYSTEMS, WRITERS, comparison_screen
from cs_score.tasks import task_named

Format: TypeAlias = Literal["text", "json", "tsv", "markdown", "latex"]


def _texts(notes: Sequence[Any]) -> tuple[str, ...]:
    return tuple(note.text for note in notes)


class _Found(Document):
    """What was found of one result or two."""

    _cited = ("measure", "signature")

    def __init__(self, document: Any, top: int | None = None) -> None:
        """`top`: the most rows of lists in text and JSON, None for all."""
        super().__init__(document)
        self._top = top

    task: str = member("`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`.")
    measure: str = member("The measure that was asked about.")

    def to_json(self) -> str:
        """The whole of it as JSON, the text that `--format json` prints; `load` reads it."""
        return "".join(json_text(as_builtins(self._document, self._top)))

    def __str__(self) -> str:
        """The text that the command prints."""
        return task_named(self.task).text(self._document, WIDTH, self._top)

    def _tables(self) -> Iterable[Table]:
        return (table for table in task_named(self.task).tables(self._document) if table.layout.is_file)


class Explanation(_Found):
    """How lines, queries, classes, nodes or units were scored; made by `explain` of a result, and `load`."""

    _default = "steps"

    signature: Signature = member("The citable line of the score.", Signature.parse)

    def __repr__(self) -> str:
        parts = {name: len(getattr(self._document, name, ())) for name in ("lines", "queries", "classes", "nodes")}
        shown = ", ".join(f"{number} {name}" for name, number in parts.items())
        if units := getattr(self._document, "units", ()):
            shown = f"{len(units)} units"
        return one_line(f"<explanation of {getattr(self._document, 'run', self.task)}: {shown}>")


class Analysis(_Found):
    """Why a result scores what it does: what each mistake costs, and what else `cs-score analyze` finds.

    Made by `analyze` and `load`. The keys of the JSON are described by the schema that `cs-score schema` prints.
    """

    _default, _in_notebooks = "mistakes", "budget"

    signature: Signature = member("The citable line of the score.", Signature.parse)
    score: float = member("The score under the measure that was asked about; 0 to 1.", float)
    scores: Mapping[str, float] = member("Every score of the result by the name of its measure.")

    @property
    def scenarios(self) -> Mapping[str, Any] | None:
        """Scores if what nobody assessed were wrong, or right: `pessimistic`, `score`, `optimistic`, `unassessed` and
        the `added_pool` lines; None of a task of evidence."""
        scenarios: Mapping[str, Any] | None = to_builtins(getattr(self._document, "scenarios", None))
        return scenarios

    @property
    def best(self) -> Mapping[str, float] | None:
        """The best `threshold` of confidence and its `gain`; None where there is none, and of a task of evidence."""
        best: Mapping[str, float] | None = to_builtins(getattr(self._document, "best", None))
        return best

    def report(self) -> Report:
        """The page that `cs-score report` makes of it; a notebook shows it.

        Raises MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        return Report(as_builtins(self._document))

    def __repr__(self) -> str:
        name = getattr(self._document, "run", self.task)
        mistakes = getattr(self._document, "mistake_count", len(self._document.mistakes))
        return one_line(f"<analysis of {name}: {self.measure} {self.score:.4f}, {mistakes} mistakes>")


class Difference(_Found):
    """Why B scores otherwise than A: what each unit contributes, and what else `cs-score diff` finds.

    Made by `diff` and `load`.
    """

    _default, _cited = "units", ("measure", "signatures")

    names: tuple[str, str] = member("What A and B are called.", lambda names: (names["a"], names["b"]))
    a: float = member("The score of A; 0 to 1.", float)
    b: float = member("The score of B; 0 to 1.", float)
    difference: float = member("B minus A, which the contributions of the units add up to.", float)
    notes: tuple[str, ...] = member("What a reader must know beside the numbers, one line each.", _texts)

    def report(self) -> Report:
        """The page that `cs-score report --compare` makes of it. Raises MissingExtraError without jinja2."""
        return Report(as_builtins(self._document, self._top))

    def __repr__(self) -> str:
        first, second = self.names
        return one_line(f"<{self.measure}: {second} - {first} = {self.difference:+.4f}>")


class Comparison(Document):
    """Two or more systems on the same units, under every measure; made by `compare` and `load`."""

    _default, _cited = "systems", ("signatures",)

    def __init__(self, document: Any, *, is_chosen: bool = False) -> None:
        """`is_chosen`: the measures were, so that the text shows them all."""
        super().__init__(document)
        self._is_chosen = is_chosen

    systems: tuple[str, ...] = member("The names of the systems, in the order in which they were given.")
    units: int = member("How many units (LDC queries, claims, ...) all systems were compared on.")
    notes: tuple[str, ...] = member("What a reader must know of all of it, one line each.", _texts)

    def to_text(self, format: Format = "text") -> str:
        """What `cs-score compare --all` prints: aligned text, `json`, `tsv`, `markdown` or `latex`.

        Raises UsageError for another format.
        """
        if format not in WRITERS:
            raise UsageError(f"no format called {format}; there are {', '.join(WRITERS)}{nearest(format, WRITERS)}")
        return WRITERS[format](self._document)

    def __str__(self) -> str:
        """The text that the command prints: of the measures that were chosen, or of the first one."""
        found = self._document if self._is_chosen else first_measure(self._document)
        return comparison_screen(found).removesuffix("\n")

    def __repr__(self) -> str:
        measures = len(self._document.measures)
        return one_line(f"<comparison of {', '.join(self.systems)}: {self.units} units, {measures} measures>")

    def _tables(self) -> Iterable[Table]:
        return [layout.table(self._document.measures) for layout in (SYSTEMS, PAIRS)]
