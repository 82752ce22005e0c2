"""A page as sections of facts, charts, tables and texts, and as one HTML file. Every text is escaped on its way there:
by the template, or by the renderer of tables.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from html import escape
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from cs_score.analysis.evidence.layouts import unit_name
from cs_score.base.display import cell, terminal_safe, with_minus_signs
from cs_score.base.errors import MissingExtraError
from cs_score.base.records import Record, asdict, field, replace
from cs_score.base.signature import GOLD, POOL, QUERIES, RUN, Origin
from cs_score.coldstart.options import EDITIONS, LATEST, PRESETS, Rule, options_in_order
from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts import Drawing, Target, chart_style, lines
from cs_score.tables.layout import Cell, Column, Format, Layout, Row, html, words
from cs_score.tasks import mode_named, words_of

if TYPE_CHECKING:
    from jinja2 import Template

MOST_ROWS: Final = 20_000
"""Rows of a table that a page keeps."""

# ---- What a page is made of


class Entry(Record):
    """What opens: `head` names it, `steps` are numbers of texts, `groups` other entries below it by their keys.
    `drawing` is shown beside the steps.
    """

    head: str
    steps: Sequence[int]
    groups: Sequence[tuple[str, Sequence[str]]] = ()
    drawing: Drawing | None = None


class Openings(Record, dict=True):
    """The entries of a page by their keys, and the texts of their steps: trees, a line for each step, indented by two
    spaces, or lines that stay as they are.
    """

    texts: Sequence[str] = ()
    are_trees: bool = True
    entries: Mapping[str, Entry] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {key: number for number, key in enumerate(self.entries)}

    def opening(self, text: str, key: str) -> Cell | str:
        """A cell below which the entry of that key opens; the text alone where there is none."""
        return Cell(text, attributes=f' data-open="{self.numbers[key]}"') if key in self.entries else text


class Table(Record):
    """A table as markup, with the `name` by which an address calls it. `is_small` has neither paging nor filters."""

    name: str
    caption: str
    markup: str
    left_out: int
    is_small: bool
    block: ClassVar[str] = "table"


class Charts(Record):
    """Charts side by side, where there is room."""

    drawings: Sequence[Drawing]
    block: ClassVar[str] = "charts"


class Facts(Record):
    """Numbers or texts with what they are, `main` ones in large figures; the third text stands below."""

    items: Sequence[tuple[str, str, str]]
    is_main: bool = False
    block: ClassVar[str] = "facts"


class Code(Record):
    """Lines that stay lines, such as commands."""

    lines: Sequence[str]
    block: ClassVar[str] = "code"


Block: TypeAlias = Table | Charts | Facts | Code | str
"""A text is a paragraph."""


class Section(Record):
    """A part of a page: the anchor, the heading, and what stands there.

    The menu of the page calls it by its `title`, or as `menu_text` says; by nothing where that is empty.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    menu_text: str | None = None

    @property
    def menu(self) -> str:
        return self.title if self.menu_text is None else self.menu_text


class Page(Record):
    """All of a page."""

    title: str
    subtitle: str
    sections: Sequence[Section]
    openings: Openings = field(default_factory=Openings)


class PageMaker:
    """What makes the page of a kind of documents, and its charts by their kind."""

    CHARTS: ClassVar[Mapping[str, Callable[[Any], Iterable[Drawing]]]]

    def __init__(self, document: Any) -> None:
        self.document = document

    def page(self) -> Page:
        """The page: all sections that there is anything for."""
        raise NotImplementedError


# ---- Tables and their cells


def tables(layout: Layout, document: Any, name: str = "", *, is_small: bool | None = None) -> Iterator[Table]:
    """The table of a document, or one for each value of the column `by`, of as many rows as a page keeps.

    It is called as the layout unless `name` says, and small where it has few rows, unless `is_small` says. One that is
    not small stands there without rows, too: links lead to it.
    """
    for part in layout.table(document).parts():
        if not part.rows and is_small is not False:
            continue
        caption = layout.title.replace("%", words(part.part)).removesuffix(":")
        left_out = max(part.total, len(part.rows)) - min(len(part.rows), MOST_ROWS)
        markup = "\n".join(html(replace(part, rows=part.rows[:MOST_ROWS]), caption=caption))
        small = len(part.rows) <= 25 if is_small is None else is_small
        yield Table("-".join(filter(None, (name or layout.name, slug(part.part)))), caption, markup, left_out, small)


def with_cells(
    layout: Layout, *more: Column, shown: Sequence[str] = (), **cells: Callable[[Mapping[str, Any], int], object]
) -> Layout:
    """A layout with `more` columns, and cells that are made of a row and its number; all columns unless `shown`."""

    def rows(document: Any) -> Iterator[Row]:
        for at, row in enumerate(layout.rows(document)):
            values = row if isinstance(row, Mapping) else asdict(row)
            yield {**values, **{key: made(values, at) for key, made in cells.items()}}

    return replace(layout, columns=(*layout.columns, *more), rows=rows, shown=tuple(shown))


def charts(*drawings: Iterable[Drawing]) -> Charts:
    """Charts of several kinds side by side."""
    return Charts([*chain(*drawings)])


def table_of(
    name: str, title: str, rows: Iterable[Row], is_small: bool | None = None, /, *keys: str, **headings: str
) -> Iterator[Table]:
    """A table that only a page has: its rows, keys of its first columns, and keys of others with their headings."""
    formats = {"largest": Format.GAIN, "p_above": Format.P, "p_baseline": Format.P}
    every = {**dict.fromkeys(keys, ""), **headings}
    heads = (Column(key, text, formats.get(key, Format.PLAIN)) for key, text in every.items())
    return tables(Layout(name, title, tuple(heads), lambda _: rows), None, is_small=is_small)


def link(value: str | int, target: Target) -> Cell:
    """A cell that opens a table with only the rows whose column has a value."""
    where = f'data-column="{escape(target.column)}" data-value="{escape(cell(target.value))}"'
    return Cell(value, f'<a href="#{escape(target.table)}" {where}>', "</a>")


def away(value: str | float, address: str, shade: int | None = None) -> Cell:
    """A cell that leads to another page of the same folder; nowhere without an address. `shade` colours it."""
    kind = "" if shade is None else f"shade{shade}"
    return Cell(value, f'<a href="{escape(address)}">', "</a>", kind=kind) if address else Cell(value, kind=kind)


def details(summary: str, items: Iterable[tuple[str, str]]) -> Cell:
    """A cell that opens: `summary` is what is shown of it, `items` are names with texts."""
    rows = "".join(f"<dt>{escape(cell(name))}</dt><dd>{escape(cell(text))}</dd>" for name, text in items)
    return Cell("", f"<details><summary>{escape(cell(summary))}</summary><dl>{rows}</dl></details>")


# ---- How units and keys are called on a page


def unit_of(task: str) -> str:
    """What a unit of a task is called: a query, claim, instance or question."""
    if task == COLD_START_MODE:
        return "query"
    return mode_named(task).unit


def unit_text(record: Any) -> str:
    """The query or the unit that a record is about, as text; repetitions of an id are told apart."""
    return str(record.query) if hasattr(record, "query") else unit_name(record)


def slug(key: str) -> str:
    """A key as a part of an address."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in key)


# ---- The file


def page_html(page: Page) -> str:
    """The page as one file. Raises MissingExtraError without jinja2."""
    template = page_template()
    from markupsafe import Markup

    style, script = f"{chart_style()}{_resource('page.css')}", _resource("page.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    packed = _packed(page.openings) if page.openings.entries else ""
    trusted = {"style": style, "script": script, "policy": policy, "newline": "\n", "packed": packed}
    return template.render(page=page, **{name: Markup(text) for name, text in trusted.items()})


@cache
def page_template() -> Template:
    """The template of all pages. Raises MissingExtraError without jinja2: call it before anything is computed."""
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError:
        raise MissingExtraError("jinja2", "report") from None

    def shown(value: object) -> object:
        """Any text that reaches the page, its controls and direction overrides written as escapes."""
        return cell(value) if isinstance(value, str) and not hasattr(value, "__html__") else value

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["svg"] = lambda drawing: Markup(drawing.svg())
    environment.filters["markup"] = Markup
    environment.filters["minus"] = with_minus_signs
    return environment.from_string(_resource("page.html"))


def _packed(openings: Openings) -> str:
    """What opens as JSON, deflated, in Base64, which no text of an input can break out of: it is large, repeats itself,
    and is wanted one entry after the other.

    Of each entry: its head, the numbers of its texts, groups of other entries by number, and its chart as SVG.
    """
    entries = [
        [
            cell(entry.head),
            list(entry.steps),
            [[title, [openings.numbers[key] for key in keys]] for title, keys in entry.groups],
            "" if entry.drawing is None else entry.drawing.svg(),
        ]
        for entry in openings.entries.values()
    ]
    value = {"trees": openings.are_trees, "texts": list(map(terminal_safe, openings.texts)), "entries": entries}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(zlib.compress(data, 6)).decode()


def _resource(name: str) -> str:
    return (files("cs_score.report") / "templates" / name).read_text("utf-8")


def _digest(text: str) -> str:
    """The hash by which a Content-Security-Policy allows this very text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def openings_of(document: Any) -> Openings:
    """What opens on the page of an analysis; nothing where it holds no explanations."""
    explanations = document.explanations
    if not explanations:
        return Openings()
    if document.task == COLD_START_MODE:
        return Openings(explanations.texts, entries=dict(_entries(explanations)))
    units = {f"query {unit_text(unit)}": Entry(unit_text(unit), unit.steps) for unit in explanations.units}
    return Openings(explanations.texts, are_trees=False, entries=units)


def _entries(explanations: Any) -> Iterator[tuple[str, Entry]]:
    of_query, of_node, missed = (defaultdict[Any, list[str]](list) for _ in range(3))
    for line in explanations.lines:
        key = f"line {line.file}:{line.line}"
        category = "" if line.category is None else f" ({line.category})"
        value = "" if line.value is None else f" {line.value}"
        yield key, Entry(f"{line.side}{category}:{value}, {line.file} line {line.line}", line.steps)
        of_query[line.query].append(key)
        of_node[line.node].append(key)
    for each in explanations.classes:
        key = f"class {each.class_name}"
        yield key, Entry(f"{each.class_name} {each.value}", each.steps)
        missed[each.query].append(key)
    for at, query in enumerate(explanations.queries):
        groups = [("Missed classes", missed[query.query]), ("Lines", of_query[query.query])]
        filled = [(title, keys) for title, keys in groups if keys]
        drawing = _precision_chart(query, f"precision-{at}")
        yield f"query {query.query}", Entry(query.query, query.steps, filled, drawing)
    for node, keys in of_node.items():
        if node is not None and len(keys) > 1:
            yield f"node {node}", Entry(node, (), [("Lines", keys)])


def precision_charts(document: Any) -> Iterator[Drawing]:
    """Precision at each rank of each query."""
    drawings = (_precision_chart(query, "precision") for query in getattr(document.explanations, "queries", ()))
    return (drawing for drawing in drawings if drawing is not None)


def _precision_chart(query: Any, name: str) -> Drawing | None:
    """The precision at each rank of a query; None where it has no nodes."""
    curves = {
        f"hop {level}" if level != "ALL" else "all hops": list(enumerate(values, 1))
        for level, values in query.precision_at.items()
        if values
    }
    if not curves:
        return None
    text = "; ".join(f"{level}: " + ", ".join(f"{value:.4f}" for _, value in curve) for level, curve in curves.items())
    title, axes = f"Precision at rank: {query.query}", ("rank of the node", "precision")
    return lines(name, title, axes, f"{text}.", curves, of=query.query)


# ---- How it can be made again: signature, inputs with their digests, options in force, commands

_INPUT: Final = {"role": "Role", "name": "File", "sha256": "SHA-256 of the content"}


def _section(*blocks: Block) -> Section:
    return Section("origin", "How to reproduce this page", blocks)


def analysis_origin(document: Any) -> Section:
    """How the page of one run can be made again."""
    origin, runs = document.origin, _named(document.origin, RUN)

    def text(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ":".join(map(str, value)) or "none"
        return "none" if value is None else str(value)

    words = _task_words(origin, runs)
    if origin.task == COLD_START_MODE:
        words = ["--run", document.run, *words]
    elif runs:
        words = [*words[: -len(runs)], "--predictions", *runs]
    words += ["--measure", document.measure, *_top(document)]
    words += [word for by in document.groups if "," in by for word in ("--by", by)]
    for policy in getattr(document, "policies", None) or ():
        if origin.task != COLD_START_MODE:
            words += ["--also-policy", policy.policy]
        elif policy.name not in PRESETS:
            parts = ",".join(f"{part}={text}" for part, text in policy.policy.items())
            words += ["--also-policy", f"{policy.name}:{parts}"]
    words += _resampling(origin.options.get("bootstrap"))
    options = [{"name": name, "value": text(value)} for name, value in origin.options.items()]
    return _section(
        f"cs-score {origin.version}, from these files and under these options:",
        *table_of("inputs", "Inputs", origin.inputs, True, **_INPUT),
        *table_of("options", "Options", options, True, name="Option", value="Value"),
        *_commands("analyze", words, "analysis.json"),
        Code([document.signature]),
    )


def difference_origin(document: Any) -> Section:
    """How the page of two runs can be made again: by a command where both have the same gold and options."""
    one, other = (document.origins[side] for side in "ab")
    rows = [{"side": side, **asdict(given)} for side, origin in (("A", one), ("B", other)) for given in origin.inputs]
    inputs = table_of("inputs", "Inputs", rows, True, side="Of", **_INPUT)
    blocks: list[Block] = [f"cs-score {one.version}, from these files:", *inputs]
    gold = [[given for given in origin.inputs if given.role != RUN] for origin in (one, other)]
    if one.options == other.options and gold[0] == gold[1]:
        words = [*_task_words(one, [*_named(one, RUN), *_named(other, RUN)]), "--measure", document.measure]
        words += [*_top(document), *_resampling(document.resampling and document.resampling.as_json())]
        blocks += _commands("diff", words, "diff.json")
    return _section(*blocks)


def batch_origin() -> Section:
    """How the page of a batch can be made again."""
    about = (
        "This page shows the contents of batch.json beside it; leaderboard.json has what each score was computed from."
    )
    return _section(about, Code(["cs-score report batch.json -o index.html"]))


def _commands(verb: str, words: Sequence[str], file: str) -> Sequence[Block]:
    made = f"{shlex.join(['cs-score', verb, *words])} -o {file}"
    return "with these commands:", Code([made, f"cs-score report {file} -o page.html"])


def _top(document: Any) -> list[str]:
    return ["--top", str(document.top)] if document.top else []


def _resampling(settings: Mapping[str, Any] | None) -> Iterator[str]:
    keys = {"bootstrap": "resamples", "seed": "seed", "confidence": "confidence", "interval": "method"}
    for name, key in keys.items():
        if settings and (value := settings.get(key)) is not None:
            yield from (f"--{name}", f"{value:g}" if isinstance(value, float) else str(value))
    if settings and "clusters" in settings:
        yield from ("--clusters", settings["clusters"]["file"])


def _task_words(origin: Origin, runs: Sequence[str]) -> list[str]:
    """The words behind the name of a command: options in force and files, `runs` among them, last for evidence."""
    if origin.task == COLD_START_MODE:
        return [*_scoring_words(origin.options), *_named(origin, QUERIES), *runs, *_named(origin, POOL)]
    names = mode_named(origin.task).options.__struct_fields__
    given = {name: origin.options.get(name) or None for name in names}
    options = [word for name, value in given.items() for word in _switch(f"--{name.replace('_', '-')}", value)]
    return [
        *words_of(origin.task),
        *(word for gold in _named(origin, GOLD) for word in ("--gold", gold)),
        *options,
        *runs,
    ]


def _scoring_words(options: Mapping[str, Any]) -> list[str]:
    """Return the options of scoring that an origin has, as words of a command line."""
    has_limits = EDITIONS[options.get("follow") or LATEST.name].has_limits
    words = []
    for option in options_in_order(Rule.POLICY, Rule.LIMITS, Rule.SCORING, Rule.EDITION):
        if option.rule is not Rule.LIMITS or has_limits:
            words += _switch(option.switch, options.get(option.name))
    return words


def _switch(name: str, value: Any) -> list[str]:
    """Return an option with its value as a command line has it; nothing for one that was not given."""
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    return [name, ":".join(value) if isinstance(value, list) else str(value)]


def _named(origin: Origin, role: str) -> list[str]:
    return [given.name for given in origin.inputs if given.role == role]
