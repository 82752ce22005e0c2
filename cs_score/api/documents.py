"""What results of all tasks and what is found of them share: a document, the JSON of a command, with tables by name as
rows, frames and HTML, and its text; and pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import UNSET

from cs_score.analysis.comparison import first_measure
from cs_score.analysis.outcomes import json_text as found_json
from cs_score.analysis.outcomes import shortened
from cs_score.api.arguments import Together, checked, resampling_of
from cs_score.api.tables import INTERVALS
from cs_score.base.display import one_line
from cs_score.base.documents import json_text, refusing_incomplete
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.outputs import encoded, write_packed
from cs_score.base.records import to_builtins
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import Signature
from cs_score.report.documents import chart_of, page_of
from cs_score.statistics.options import IntervalMethod, Resampling
from cs_score.tables.layout import Table, frame, html
from cs_score.tables.statistics import PAIRS, SYSTEMS, WRITERS, comparison_screen
from cs_score.tasks import task_named
from cs_score.tasks.task import Task

if TYPE_CHECKING:
    import pandas

    from cs_score.statistics.results import ScoreIntervals

WIDTH: Final = 120
"""Columns of texts, as commands print them where there is no terminal."""

_ROWS, _REMARKS, _LONGEST = 25, 5, 200
"""Rows of a table, remarks, and characters of a text that a notebook shows."""

_STYLE: Final = "<style>table.cs-score :is(td:not(.number), th.text) { text-align: left }</style>"

Made = TypeVar("Made")
Source = TypeVar("Source")


class Shown:
    """What has tables by name, text for people, and one line for programmers."""

    _default: ClassVar[str]
    """The table that `rows` and `to_frame` take."""
    _in_notebooks: ClassVar[str] = ""
    """The table that notebooks show, where it is another."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""
        return tuple(table.layout.name for table in self._tables())

    @checked
    def rows(self, name: str | None = None) -> list[dict[str, Any]]:
        """The rows of a table by the keys of its columns; None: of the main one.

        Raises UsageError for a name that there is not.
        """
        with paused_collector():
            return _as_rows(self._table(name))

    @checked
    def to_frame(self, name: str | None = None) -> pandas.DataFrame:
        """The same as a pandas data frame; its `attrs` hold what cites it.

        Texts that repeat are categories, numbers that may be missing are `Int64` or NaN. Raises UsageError as `rows`,
        MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        with paused_collector():
            found = frame(self._table(name))
        found.attrs |= self._attrs()
        return found

    def _repr_html_(self) -> str:
        table = self._table(self._in_notebooks or None)
        notes = "".join(f"<p>{escape(one_line(note, _LONGEST))}</p>" for note in self._notes())
        caption = repr(self).removeprefix("<").removesuffix(">")
        return _STYLE + "\n".join(html(table, _ROWS, caption=caption, longest=_LONGEST)) + notes

    def _tables(self) -> Iterable[Table]:
        raise NotImplementedError

    def _table(self, name: str | None) -> Table:
        return self._named(name, {table.layout.name: table for table in self._tables()})

    def _named(self, name: str | None, known: Mapping[str, Made]) -> Made:
        wanted = self._default if name is None else name
        if wanted not in known:
            raise UsageError(f"no table called {wanted!r}; there are {', '.join(known)}{nearest(str(wanted), known)}")
        return known[wanted]

    def _attrs(self) -> Mapping[str, object]:
        return {}

    def _notes(self) -> Sequence[str]:
        """What notebooks show below it."""
        return getattr(self, "notes", getattr(self, "remarks", ()))


def _as_rows(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.layout.keys, row)) for row in table.rows]


class Document(Shown):
    """What is shown of a document."""

    _cited: ClassVar[tuple[str, ...]] = ()
    """Members of the document that go with its frames."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def to_json(self) -> str:
        """The document as JSON, the text that `--format json` prints; `load` reads it."""
        return json_text(self._document)

    def _attrs(self) -> Mapping[str, object]:
        return {name: to_builtins(getattr(self._document, name)) for name in self._cited}


def refuse_incomplete(shown: Document, file: str) -> None:
    """Make everything that is shown of a document that was read from `file`.

    Raises InputError where something cannot be shown, since the document lacks it.
    """
    try:
        with refusing_incomplete(file):
            for name in dir(type(shown)):
                if isinstance(getattr(type(shown), name), _Member):
                    getattr(shown, name)
            repr(shown)
            str(shown)
            shown._repr_html_()
            shown._attrs()
    except UsageError as error:  # such as a signature that is none
        raise InputError(str(error), file=file) from None


class _Member(property):
    def __init__(self, meaning: str, made: Callable[[Any], Any] | None) -> None:
        def read(shown: Document) -> Any:
            value = getattr(shown._document, self._name, None)
            if value is UNSET:
                value = None
            return value if made is None else made(value)

        read.__doc__ = meaning
        super().__init__(read)
        self._read = read

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._read.__annotations__["return"] = owner.__annotations__[name]


def member(meaning: str, made: Callable[[Any], Any] | None = None) -> Any:
    """A property: the member of the document that has its name, None where it has none, or what is made of that."""
    return _Member(meaning, made)


class Report:
    """A page of what mistakes cost: scores, error budget, groups, every mistake, and how to make it again.

    Made by `report` of a result. A notebook shows it in a frame of its own, which may run the page's script and nothing
    else.
    """

    def __init__(self, document: Any) -> None:
        """`document`: that of an analysis or a difference. Raises MissingExtraError without jinja2."""
        self._html = page_of(document)

    @property
    def html(self) -> str:
        """The page, one file that loads nothing from elsewhere; the text that `cs-score report` writes."""
        return self._html

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, compressed where its name ends like that; an earlier file is replaced.

        Raises OutputError where it cannot be written.
        """
        write_packed(os.fspath(path), encoded([self._html]))

    def __repr__(self) -> str:
        return f"<page of {len(self._html)} characters>"

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts" width="100%" height="720" title="cs-score report"'
        return f'<iframe srcdoc="{escape(self._html)}" {frame}></iframe>'


class Chart:
    """A chart of an analysis, a difference or a comparison; made by their `chart`, and shown by a notebook."""

    def __init__(self, document: Any, kind: str, name: str | None) -> None:
        self._svg = chart_of(document, kind, name).standalone()

    @property
    def svg(self) -> str:
        """The chart as SVG, the text that `cs-score plot` writes."""
        return self._svg

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the SVG into a file; an earlier file is replaced. Raises OutputError where it cannot be written."""
        write_packed(os.fspath(path), encoded([self._svg]))

    def __repr__(self) -> str:
        return f"<chart of {len(self._svg)} characters>"

    def _repr_svg_(self) -> str:
        return self._svg


class AnyResult(Document, Generic[Source]):
    """A result of any task; of the document those parts that every result has. What was scored has its `_source`."""

    _in_notebooks, _cited = "scores", ("signature", "origin")
    _source: Source | None
    _needed: ClassVar[str]
    """What has to be there to score again, in words."""

    task: str = member("`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`.")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each: a run that met no assessment, a doubtful policy."""
        return tuple(self._document.remarks)

    signature: Signature = member(
        "One citable line of what the scores were computed from: `str` prints it, `Signature.parse` reads it.\n\n"
        '`signature.of("SF-AP")` is that of another measure.',
        Signature.parse,
    )

    @checked
    def intervals(
        self,
        bootstrap: int = 10_000,
        *,
        seed: int = 0,
        confidence: float = 95.0,
        interval: IntervalMethod | None = None,
        clusters: Together = None,
        force: bool = False,
    ) -> list[dict[str, Any]]:
        """Bootstrap intervals of all scores, from resamples of the units: `measure`, `score`, `low`, `high`, ...

        `confidence` is a percentage, `interval` `percentile` or `bca`, `clusters` as in `compare`. Limits
        are None where too many resamples are undefined; `note` is what a reader must know of it. More than 100,000
        resamples are drawn with `force` alone.
        Raises UsageError for impossible arguments, several runs and a result that was loaded from JSON, InputError
        where there is no unit.
        """
        settings = resampling_of(bootstrap, seed, confidence, interval, clusters, force=force)
        return _as_rows(INTERVALS.table(self._intervals(settings)))

    @checked
    def report(self, measure: str | None = None) -> Report:
        """A page of what each mistake costs, as `cs-score report` makes it; a notebook shows it.

        `measure` is what gains are measured by, None for the one that ranks leaderboards. Raises UsageError for a
        measure that there is not and for a result that was loaded from JSON, InputError for a run without that score,
        MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        return Report(task_named(self.task).analyze(self._for_analysis("report"), measure))

    def _scored(self, what: str) -> Source:
        """What was scored. Raises UsageError for what was loaded."""
        if self._source is None:
            raise UsageError(f"{what} needs {self._needed} again")
        return self._source

    def _intervals(self, settings: Resampling) -> ScoreIntervals:
        raise NotImplementedError

    def _for_analysis(self, what: str) -> Any:
        """What analyses begin with. Raises UsageError, also for what was loaded."""
        return self._scored(what)

    def _to_compare(self) -> Any:
        """What comparisons begin with. Raises UsageError for several runs and for what was loaded."""
        return self._scored("compare")

    def _notes(self) -> Sequence[str]:
        return *self.remarks[:_REMARKS], str(self.signature)


def task_of(what: str, *results: object) -> Task:
    """The task that results are of. Raises UsageError for what are no results of one task."""
    kinds = {each.task if isinstance(each, AnyResult) else None for each in results}
    if len(kinds) != 1 or None in kinds:
        shown = " and ".join(map(repr, results))
        raise UsageError(f"{what} takes {'a result' if len(results) == 1 else 'results of one kind'}, not {shown}")
    (name,) = kinds
    return task_named(str(name))


# ---- What is found of results


def _without_options(text: str) -> str:
    """Return a text of a command without the paragraph that says which of its options show more."""
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith("--all shows "))


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
        return "".join(found_json(shortened(self._document, self._top)))

    def __str__(self) -> str:
        """Return the text that the command prints, without what it says of its own options."""
        return _without_options(task_named(self.task).text(self._document, WIDTH, self._top))

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

    scenarios: Mapping[str, Any] | None = member(
        "Scores if what nobody assessed were wrong, or right: `pessimistic`, `score`, `optimistic`, `unassessed` and "
        "the `added_pool` lines; None of a task of evidence.",
        to_builtins,
    )
    best: Mapping[str, float] | None = member(
        "The best `threshold` of confidence and its `gain`; None where there is none, and of a task of evidence.",
        to_builtins,
    )

    @checked
    def chart(self, kind: str = "budget", name: str | None = None) -> Chart:
        """Return a chart, which a notebook shows; the kinds are those that `cs-score plot` lists.

        `name` is which of several of a kind, such as the dimension of `groups`, None for the first. Raises UsageError
        for a chart that there is not, InputError where there is nothing to draw.
        """
        return Chart(self._document, kind, name)

    def report(self) -> Report:
        """The page that `cs-score report` makes of it; a notebook shows it.

        Raises MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        return Report(self._document)

    def __repr__(self) -> str:
        name = getattr(self._document, "run", self.task)
        mistakes = getattr(self._document, "mistake_count", len(self._document.mistakes))
        return one_line(f"<analysis of {name}: {self.measure} {self.score:.4f}, {mistakes} mistakes>")


def _texts(notes: Sequence[Any]) -> tuple[str, ...]:
    return tuple(note.text for note in notes)


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

    @checked
    def chart(self, kind: str = "contributions", name: str | None = None) -> Chart:
        """Return a chart: `contributions` of units, or `groups`; `name` is the dimension of groups.

        Raises UsageError for a chart that there is not, InputError where there is nothing to draw.
        """
        return Chart(self._document, kind, name)

    def report(self) -> Report:
        """The page that `cs-score report --compare` makes of it. Raises MissingExtraError without jinja2."""
        return Report(shortened(self._document, self._top))

    def __repr__(self) -> str:
        first, second = self.names
        return one_line(f"<{self.measure}: {second} - {first} = {self.difference:+.4f}>")


Format: TypeAlias = Literal["text", "json", "tsv", "markdown", "latex"]


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
        """Return the text that the command prints of the measures that were chosen, or of the first one.

        What the command says of its own options is left out.
        """
        found = self._document if self._is_chosen else first_measure(self._document)
        return _without_options(comparison_screen(found).removesuffix("\n"))

    @checked
    def chart(self, kind: str = "leaderboard", name: str | None = None) -> Chart:
        """Return a chart of the systems' scores with intervals; `name` is the measure, None for the primary one.

        Raises UsageError for another kind and for a measure that there is not, InputError where there is nothing to
        draw.
        """
        return Chart(self._document, kind, name or self._document.primary.measure)

    def _repr_html_(self) -> str:
        verdict = escape(one_line(f"{self._document.primary.verdict}.", _LONGEST))
        return f"<p>{verdict}</p>{super()._repr_html_()}"

    def __repr__(self) -> str:
        measures = len(self._document.measures)
        return one_line(f"<comparison of {', '.join(self.systems)}: {self.units} units, {measures} measures>")

    def _tables(self) -> Iterable[Table]:
        return [layout.table(self._document.measures) for layout in (SYSTEMS, PAIRS)]
