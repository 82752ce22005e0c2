"""What is found of results, from Python: analyses, differences, explanations, comparisons, leaderboards.

Each is its document, the JSON of the command, with its tables and its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from cs_score.analysis.comparison import first_measure
from cs_score.analysis.outcomes import as_builtins, json_text
from cs_score.api.shown import WIDTH, Document, Report
from cs_score.base.display import one_line
from cs_score.base.errors import UsageError, nearest
from cs_score.base.records import to_builtins
from cs_score.base.signature import Signature
from cs_score.batch import documents
from cs_score.batch.leaderboard import leaderboard_layout, leaderboard_text
from cs_score.statistics.results import Comparison as Compared
from cs_score.tables.layout import Table
from cs_score.tables.statistics import PAIRS, SYSTEMS, WRITERS, comparison_screen
from cs_score.tasks import task_named

_SHOWN: Final = 10
"""Rows of a leaderboard that the command prints."""

Format: TypeAlias = Literal["text", "json", "tsv", "markdown", "latex"]


class _Found(Document):
    """What was found of one result or two."""

    def __init__(self, document: Any, top: int | None = None) -> None:
        """`top`: the most rows of lists in text and JSON, None for all."""
        super().__init__(document)
        self._top = top

    @property
    def task(self) -> str:
        """`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`."""
        return str(self._document.task)

    @property
    def measure(self) -> str:
        """The measure that was asked about."""
        return str(self._document.measure)

    def to_json(self) -> str:
        """The whole of it as JSON, the text that `--format json` prints; `load` reads it."""
        return "".join(json_text(as_builtins(self._document, self._top)))

    def __str__(self) -> str:
        """The text that the command prints."""
        return task_named(self.task).text(self._document, WIDTH, self._top)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document, self._top)

    @cached_property
    def _found(self) -> Mapping[str, Table]:
        tables = task_named(self.task).tables(self._document)
        return {table.layout.name: table for table in tables if table.layout.is_file}

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        return {name: lambda table=table: table for name, table in self._found.items()}  # type: ignore[misc]


class _OfOne(_Found):
    """What was found of one result."""

    @property
    def signature(self) -> Signature:
        """The citable line of the score."""
        return Signature.parse(self._document.signature)

    def _attrs(self) -> Mapping[str, object]:
        return {"measure": self.measure, "signature": str(self.signature)}


class Explanation(_OfOne):
    """How lines, queries, classes, nodes or units were scored; made by `explain` of a result, and `load`."""

    _default = "steps"

    def __repr__(self) -> str:
        parts = {name: len(getattr(self._document, name, ())) for name in ("lines", "queries", "classes", "nodes")}
        shown = ", ".join(f"{number} {name}" for name, number in parts.items())
        if units := getattr(self._document, "units", ()):
            shown = f"{len(units)} units"
        return one_line(f"<explanation of {getattr(self._document, 'run', self.task)}: {shown}>")


class Analysis(_OfOne):
    """Why a result scores what it does: what each mistake costs, and what else `cs-score analyze` finds.

    Made by `analyze` and `load`. The keys of the JSON are described by the schema that `cs-score schema` prints.
    """

    _default = "mistakes"
    _in_notebooks = "budget"

    @property
    def score(self) -> float:
        """The score under the measure that was asked about; 0 to 1."""
        return float(self._document.score)

    @property
    def scores(self) -> Mapping[str, float]:
        """Every score of the result by the name of its measure."""
        scores: Mapping[str, float] = self._document.scores
        return scores

    @property
    def scenarios(self) -> Mapping[str, Any] | None:
        """Scores if what nobody assessed were wrong, or right: `pessimistic`, `score`, `optimistic`, `unassessed` and
        the `added_pool` lines; None of a task of evidence."""
        found = getattr(self._document, "scenarios", None)
        return None if found is None else to_builtins(found)

    @property
    def best(self) -> Mapping[str, float] | None:
        """The best `threshold` of confidence and its `gain`; None where there is none, and of a task of evidence."""
        found = getattr(self._document, "best", None)
        return None if found is None else to_builtins(found)

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

    _default = "units"

    @property
    def names(self) -> tuple[str, str]:
        """What A and B are called."""
        return self._document.names["a"], self._document.names["b"]

    @property
    def a(self) -> float:
        """The score of A; 0 to 1."""
        return float(self._document.a)

    @property
    def b(self) -> float:
        """The score of B; 0 to 1."""
        return float(self._document.b)

    @property
    def difference(self) -> float:
        """The score of B minus that of A, which the contributions of the units add up to."""
        return float(self._document.difference)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers, one line each."""
        return tuple(note.text for note in self._document.notes)

    def report(self) -> Report:
        """The page that `cs-score report --compare` makes of it. Raises MissingExtraError without jinja2."""
        return Report(as_builtins(self._document, self._top))

    def _attrs(self) -> Mapping[str, object]:
        return {"measure": self.measure, "signatures": dict(self._document.signatures)}

    def _notes(self) -> Sequence[str]:
        return self.notes

    def __repr__(self) -> str:
        first, second = self.names
        return one_line(f"<{self.measure}: {second} - {first} = {self.difference:+.4f}>")


class Comparison(Document):
    """Two or more systems on the same units, under every measure; made by `compare` and `load`."""

    _default = "systems"
    _document: Compared

    def __init__(self, compared: Compared, *, is_chosen: bool = False) -> None:
        """`is_chosen`: the measures were, so that the text shows them all."""
        super().__init__(compared)
        self._is_chosen = is_chosen

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order in which they were given."""
        return self._document.systems

    @property
    def units(self) -> int:
        """How many units (LDC queries, claims, ...) all systems were compared on."""
        return self._document.units

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of all of it, one line each."""
        return tuple(note.text for note in self._document.notes)

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

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        measures = self._document.measures
        return {layout.name: lambda layout=layout: layout.table(measures) for layout in (SYSTEMS, PAIRS)}  # type: ignore[misc]

    def _attrs(self) -> Mapping[str, object]:
        return {"signatures": dict(self._document.signatures)}

    def _notes(self) -> Sequence[str]:
        return self.notes


class Leaderboard(Document):
    """The runs of a batch from best to worst; made by `batch` and `load`. Its tables are in the output folder, too.

    Its one table has the scores by measure as columns, and limits of intervals as `SF-AP:low` and `SF-AP:high`. `tier`
    is the group of rows that do not differ significantly from its first, `p_above` the p-value of the difference from
    the row above; both corrected for all pairs of rows.
    """

    _default = "leaderboard"
    _document: documents.Leaderboard

    def __init__(self, board: documents.Leaderboard, remarks: Sequence[str] = ()) -> None:
        super().__init__(board)
        self._remarks = tuple(remarks)

    @property
    def measure(self) -> str:
        """The measure that ranks the runs."""
        return self._document.measure

    @property
    def failed(self) -> int:
        """How many scorings did not come to their end, or met problems that are errors."""
        return len({(row.policy, row.run) for row in self._document.rows if row.state != documents.OK})

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know of the batch, one line each."""
        return self._remarks

    def __str__(self) -> str:
        """The text that the command prints."""
        return leaderboard_text(self._document, _SHOWN)

    def __repr__(self) -> str:
        scored = len({(row.policy, row.run) for row in self._document.rows})
        return f"<leaderboard by {self.measure}: {scored} scored, {self.failed} failed>"

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        return {"leaderboard": lambda: leaderboard_layout(self._document).table(self._document)}

    def _attrs(self) -> Mapping[str, object]:
        return {"measure": self.measure}

    def _notes(self) -> Sequence[str]:
        return self.remarks
