"""The page of a batch, from `batch.json`, and its charts by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from cs_score.base.display import cell
from cs_score.batch.plan import page_name
from cs_score.report.charts import DOT_PLACES, Bar, Dots, bars, dots, grid, lines, shade
from cs_score.report.drawing import Drawing, Scale
from cs_score.report.model import (
    Away,
    Block,
    Charts,
    Column,
    Document,
    Page,
    Row,
    Section,
    Table,
    Text,
    Value,
    slug,
    table_of,
)
from cs_score.report.reproduction import batch_origin
from cs_score.statistics.options import Note, sentences

_MOST_DRAWN: Final = 50
_MOST_RANKINGS: Final = 40
_MOST_CELLS: Final = 60
_MOST_PAIRED: Final = 40
_MOST_BARS: Final = 24

_POLICY: Final = Column("policy", "Policy")
_PART: Final = Column("part", "Part")


def batch_page(document: Document) -> Page:
    """The page of a batch."""
    sections = [_leaderboard(document), _heatmap(document)]
    sections += [_difficulty(document)] if document["answers"] else []
    sections += [_agreement(document), _stability(document), batch_origin()]
    count = len(document["runs"])
    return Page("Leaderboard", f"{count} run{'' if count == 1 else 's'} by {document['measure']}", sections)


# ---- Runs


def labels_of(document: Document) -> list[str]:
    """The names of the runs, with the run id where several share a name."""
    runs = document["runs"]
    often = Counter(each["run"] for each in runs)
    return [each["run"] if often[each["run"]] == 1 else f"{each['run']} {each['run_id']}" for each in runs]


def _places(document: Document) -> dict[tuple[str, str], int]:
    """The places of the runs by name and run id; those that failed have none."""
    return {(each["run"], each["run_id"]): at for at, each in enumerate(document["runs"])}


def _policy_text(document: Document, policy: str) -> str:
    """What a title adds where there are several policies."""
    return f" ({policy})" if len(document["policies"]) > 1 else ""


def _page_of_run(document: Document, policy: str, place: int, unit: str | None = None) -> str:
    """The address of a run's page, from the folder of the batch; at a unit where one is given."""
    runs: Sequence[Document] = document["runs"]
    same = [at for at, each in enumerate(runs) if each["run"] == runs[place]["run"]]
    folders = [policy, runs[place]["run"]] if len(document["policies"]) > 1 else [runs[place]["run"]]
    parts = (*folders, page_name(same.index(place), len(same)))
    address = "/".join(quote(each, safe="", errors="surrogateescape") for each in parts)
    if unit is None:
        return address
    column = "ldc" if document["unit"] == "LDC query" else "unit"  # of the table of units on that page
    return f"{address}#units.only={quote(f'{column}:{cell(unit)}', safe='')}"


def _used(name: str, caption: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """A table without the columns that say nothing, such as that of policies where there are none."""
    return table_of(name, caption, columns, rows, used_only=True)


# ---- Leaderboard


def _leaderboard(document: Document) -> Section:
    """The interval plots, and the table whose runs lead to their pages."""
    settings = document["bootstrap"]
    about = f"Ranked by {document['measure']}."
    if settings is not None:
        about += (
            f" Intervals of {settings['confidence']:g} % ({settings['method']} bootstrap of {settings['resamples']} "
            f"resamples of {settings['unit']}, seed {settings['seed']}). The runs of a tier are not told apart from "
            "its first; p is that of the difference to the run above. Randomisation, with Holm's correction over all "
            "pairs of runs."
        )
        about += "".join(f" {sentence}" for sentence in sentences(Note(**note) for note in document.get("notes", ())))
    columns = (
        Column("rank", "Rank", "count"),
        _POLICY,
        Column("run", "Run"),
        Column("run_id", "Run id"),
        Column("score", "Score", "score"),
        Column("low", "Low", "score"),
        Column("high", "High", "score"),
        Column("tier", "Tier", "count"),
        Column("p", "p against the run above", "score"),
    )
    places = _places(document)
    rows: list[Row] = []
    for row in document["leaderboard"]:
        place = places.get((row["run"], row["run_id"]))
        name: Value = row["run"]
        if place is not None and document["pages"] and row["score"] is not None:
            name = Away(row["run"], _page_of_run(document, row["policy"], place))
        scored = (row["run_id"], row["score"], *_limits(row))
        rows.append((row["rank"], row["policy"], name, *scored, row["tier"], row["p_above"]))
    charts = Charts(list(_interval_charts(document)))
    return Section("leaderboard", "Leaderboard", (Text(about), charts, _used("runs", "Leaderboard", columns, rows)))


def _limits(row: Document) -> tuple[float | None, float | None]:
    interval = row["interval"] or {"low": None, "high": None}
    return interval["low"], interval["high"]


def _interval_charts(document: Document) -> Iterator[Drawing]:
    """Scores with their intervals, by policy."""
    labels, places = labels_of(document), _places(document)
    for at, policy in enumerate(document["policies"]):
        rows = [row for row in document["leaderboard"] if row["policy"] == policy and row["score"] is not None]
        drawn = []
        for row in rows[:_MOST_DRAWN]:
            place = places.get((row["run"], row["run_id"]))
            label = row["run"] if place is None else labels[place]
            tier = "" if row["tier"] is None else f" ({row['tier']})"
            drawn.append(Dots(f"{label}{tier}", {"score": row["score"]}, _known("score", row)))
        if not drawn:
            continue
        text = "; ".join(
            f"{row.label} {row.values['score']:.4f}"
            + "".join(f" ({low:.4f} to {high:.4f})" for low, high in row.intervals.values())
            for row in drawn
        )
        some = f" The first {_MOST_DRAWN} of {len(rows)} runs." if len(rows) > _MOST_DRAWN else ""
        title = f"Scores{' with intervals' if document['bootstrap'] else ''}{_policy_text(document, policy)}"
        axes = (document["measure"], "run (tier)" if document["bootstrap"] else "run")
        yield dots(f"leaderboard-{at}", title, f"{text}.{some}", axes, ("score",), drawn, of=policy)


def _known(series: str, row: Document) -> Mapping[str, tuple[float, float]]:
    """The interval of a series, where it has both limits."""
    low, high = _limits(row)
    return {} if low is None or high is None else {series: (low, high)}


# ---- Heat map


def _heatmap(document: Document) -> Section:
    """The charts, and the table of all units, whose cells lead to the pages of the runs at that unit."""
    unit, labels = document["unit"], labels_of(document)
    columns = [Column("unit", unit), _POLICY, Column("mean", "Mean", "score")]
    columns += [Column(f"r{at}", label, "score") for at, label in enumerate(labels)]
    rows: list[list[Value]] = []
    for row in document["queries"]:
        cells: list[Value] = []
        for place, value in enumerate(row["scores"]):
            address = _page_of_run(document, row["policy"], place, row["unit"]) if document["pages"] else ""
            cells.append(None if value is None else Away(value, address, shade(value)))
        rows.append([row["unit"], row["policy"], _mean(row["scores"]), *cells])
    if len(document["policies"]) == 1:
        columns, rows = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in rows]
    about = f"{document['unit_measure']} of each {unit} in each run; the lowest means are the hardest."
    if document["pages"]:
        about += f" A cell leads to the page of the run at that {unit}."
    table = table_of("units", f"Scores by {unit} and run", columns, rows, is_small=False)
    return Section("heatmap", "Heat map", (Text(about), Charts(list(_heatmap_charts(document))), table))


def _heatmap_charts(document: Document) -> Iterator[Drawing]:
    """Units by runs, by policy; of many units those whose scores differ the most."""
    labels = labels_of(document)
    for at, policy in enumerate(document["policies"]):
        every = [row for row in document["queries"] if row["policy"] == policy]
        widest = sorted(every, key=lambda row: -_spread(row["scores"]))[:_MOST_CELLS]
        drawn = [(row["unit"], row["scores"][:_MOST_CELLS]) for row in every if row in widest]
        if not drawn or not labels:
            continue
        some = ""
        if len(every) > _MOST_CELLS:
            some += f" The {_MOST_CELLS} of {len(every)} in which runs differ the most."
        if len(labels) > _MOST_CELLS:
            some += f" The first {_MOST_CELLS} of {len(labels)} runs."
        means = ((unit, _mean(values)) for unit, values in drawn)
        text = "; ".join(f"{unit}: mean {mean:.4f}" for unit, mean in means if mean is not None)
        title = f"{document['unit_measure']} by {document['unit']} and run{_policy_text(document, policy)}"
        axes = ("run", document["unit"])
        yield grid(f"heatmap-{at}", title, f"{text}.{some}", axes, drawn, labels[:_MOST_CELLS], of=policy)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _spread(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known) if known else -1.0


# ---- What runs find together


def _difficulty(document: Document) -> Section:
    """How many answers so many runs have found, and how many only one."""
    labels, answers = labels_of(document), document["answers"]
    found: list[Row] = [
        [row["policy"], row["part"], times, count] for row in answers for times, count in enumerate(row["found_by"])
    ]
    only: list[Row] = [
        [row["policy"], row["part"], labels[place], count] for row in answers for place, count in enumerate(row["only"])
    ]
    by = (_POLICY, _PART, Column("times", "Runs that found it", "count"), Column("count", "Number", "count"))
    alone = (_POLICY, _PART, Column("run", "Run"), Column("count", "Found by it alone", "count"))
    blocks = (
        Text("What is to be found, by how many runs have found it. What no run found is hardest."),
        Charts(list(_difficulty_charts(document))),
        _used("found", "Found by so many runs", by, found),
        _used("only", "Found by one run alone", alone, only),
    )
    return Section("difficulty", "Difficulty", blocks)


def _difficulty_charts(document: Document) -> Iterator[Drawing]:
    """How many so many runs have found, by policy and part."""
    for row in document["answers"]:
        drawn = [Bar(label, 0.0, count, str(count)) for label, count in _binned(row["found_by"])]
        text = "; ".join(f"found by {each.label}: {each.note}" for each in drawn)
        several = _plural(row["part"])
        title = f"{several.capitalize()} by how many runs found them{_policy_text(document, row['policy'])}"
        name = f"difficulty-{document['policies'].index(row['policy'])}-{slug(row['part'])}"
        axes = (f"number of {several}, of {row['total']}", "found by runs")
        yield bars(name, title, f"{text}.", axes, drawn, of=f"{row['policy']} {row['part']}".strip())


def _binned(counts: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Counts by number of runs; where these are many, of several numbers together."""
    width = -(-len(counts) // _MOST_BARS)
    yield "no run", counts[0]
    for first in range(1, len(counts), width):
        last = min(first + width, len(counts)) - 1
        yield (str(first) if first == last else f"{first} to {last}"), sum(counts[first : last + 1])


def _agreement(document: Document) -> Section:
    """How far the right and the wrong answers of two runs are the same, and what several runs find together."""
    labels, agreement = labels_of(document), document["agreement"]
    pairs: list[Row] = [
        [row["policy"], pair.get("part"), labels[pair["a"]], labels[pair["b"]], pair["right"], pair["wrong"]]
        for row in agreement
        for pair in row["pairs"]
    ]
    columns = (
        *(_POLICY, _PART, Column("a", "Run"), Column("b", "Other run")),
        *(Column("right", "Right answers", "score"), Column("wrong", "Wrong answers", "score")),
    )
    union: list[Row] = [
        [row["policy"], measure, score] for row in agreement for measure, score in row["union"]["scores"].items()
    ]
    about = (
        "Agreement is the share of the answers of two runs that both give (Jaccard): 1 where they give the same. The "
        "union is what all that is right in any run would score: no vote among these runs can do better. Recall is the "
        "mean over all choices of so many runs; agreed is what at least so many have found."
    )
    blocks: list[Block] = [
        Text(about),
        Charts([*_agreement_charts(document), *_systems_charts(document)]),
        _used("pairs", "Agreement of pairs", columns, pairs),
    ]
    if union:
        of_union = (_POLICY, Column("measure", "Measure"), Column("score", "Score of the union", "score"))
        blocks.append(_used("union", "Union of all runs", of_union, union))
    return Section("agreement", "Agreement", blocks)


def _agreement_charts(document: Document) -> Iterator[Drawing]:
    """Runs by runs: the overlap of their right answers, by policy and part."""
    labels = labels_of(document)[:_MOST_PAIRED]
    if len(labels) < 2:
        return
    for at, row in enumerate(document["agreement"]):
        for part in dict.fromkeys(pair.get("part", "") for pair in row["pairs"]) or ("",):
            pairs = [pair for pair in row["pairs"] if pair.get("part", "") == part]
            overlap: dict[tuple[int, int], float | None] = {(place, place): 1.0 for place in range(len(labels))}
            shown = []
            for pair in pairs:
                a, b, right = pair["a"], pair["b"], pair["right"]
                overlap[a, b] = overlap[b, a] = right
                if right is not None and max(a, b) < len(labels):
                    shown.append(f"{labels[a]} and {labels[b]} {right:.4f}")
            rows = [
                (label, [overlap.get((one, other)) for other in range(len(labels))]) for one, label in enumerate(labels)
            ]
            by_part, policy = f" by {part}" if part else "", _policy_text(document, row["policy"])
            title = f"Agreement of right answers (Jaccard){by_part}{policy}"
            name, of = f"agreement-{at}{f'-{slug(part)}' if part else ''}", f"{row['policy']} {part}".strip()
            yield grid(name, title, f"{'; '.join(shown)}.", ("run", "run"), rows, labels, of=of)


def _systems_charts(document: Document) -> Iterator[Drawing]:
    """What more and more runs find together, and agree on."""
    series = {"found by any": "recall", "found by so many at least": "agreed"}
    for at, row in enumerate(document["agreement"]):
        for part in dict.fromkeys(each["part"] for each in row["systems"]):
            each = [one for one in row["systems"] if one["part"] == part]
            curves = {
                name: [(one["systems"], one[key]) for one in each if one[key] is not None]
                for name, key in series.items()
            }
            shares = (
                ", ".join(f"{key} {one[key]:.4f}" for key in series.values() if one[key] is not None) for one in each
            )
            text = "; ".join(f"{one['systems']} runs: {share}" for one, share in zip(each, shares))
            title = f"{_plural(part).capitalize()} found by so many runs{_policy_text(document, row['policy'])}"
            name, of = f"systems-{at}-{slug(part)}", f"{row['policy']} {part}".strip()
            yield lines(name, title, f"{text}.", ("number of runs", "share"), curves, of=of)


def _plural(part: str) -> str:
    return f"{part}es" if part.endswith("s") else f"{part}s"


# ---- Rank stability


def _stability(document: Document) -> Section:
    """Kendall's tau-b of every two rankings, and who comes first in each."""
    labels, stability = labels_of(document), document["stability"]
    pairs: list[Row] = [
        [_ranking(pair["a"]), _ranking(pair["b"]), pair["tau"], *_limits(pair)] for pair in stability["pairs"]
    ]
    first: list[Row] = [
        [_ranking(row), ", ".join(labels[place] for place in row["runs"]), row["changes"]] for row in stability["first"]
    ]
    about = (
        "Kendall's tau-b between two rankings of the same runs: 1 where they are the same, -1 where one is the other "
        "reversed. How often another run comes first is told of resamples."
    )
    numbers = (Column("tau", "tau-b", "score"), Column("low", "Low", "score"), Column("high", "High", "score"))
    both = (Column("a", "Ranking"), Column("b", "Other ranking"))
    changes = Column("changes", "Share of resamples with another first", "score")
    blocks = (
        Text(about),
        Charts(list(_stability_charts(document))),
        _used("rankings", "Pairs of rankings", (*both, *numbers), pairs),
        _used("first", "First places", (both[0], Column("runs", "First"), changes), first),
    )
    return Section("stability", "Rank stability", blocks)


def _stability_charts(document: Document) -> Iterator[Drawing]:
    """Tau-b of the ranking by the measure of the leaderboard with every other ranking."""
    own = {"measure": document["measure"], "policy": document["policies"][0]}
    rows = []
    for pair in document["stability"]["pairs"]:
        if own in (pair["a"], pair["b"]) and pair["tau"] is not None:
            other = pair["b"] if pair["a"] == own else pair["a"]
            rows.append(Dots(_ranking(other), {"tau-b": pair["tau"]}, _known("tau-b", pair)))
    if rows:
        rows = rows[:_MOST_RANKINGS]
        text = "; ".join(f"{row.label} {row.values['tau-b']:.4f}" for row in rows)
        title, axes = f"Rankings against that by {_ranking(own)}", ("Kendall's tau-b (-1 to 1)", "ranking")
        across = Scale(-1.0, 1.0, 0.5, *DOT_PLACES)
        yield dots("stability", title, f"{text}.", axes, ("tau-b",), rows, across=across)


def _ranking(by: Document) -> str:
    return f"{by['measure']} ({by['policy']})" if by["policy"] else str(by["measure"])


CHARTS: Final[Mapping[str, Callable[[Document], Iterable[Drawing]]]] = {
    "leaderboard": _interval_charts,
    "heatmap": _heatmap_charts,
    "difficulty": _difficulty_charts,
    "agreement": _agreement_charts,
    "systems": _systems_charts,
    "stability": _stability_charts,
}
"""The charts of a batch by kind."""
