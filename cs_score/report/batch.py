"""The page of a batch, from `batch.json`, and its charts by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from cs_score.base.display import cell
from cs_score.base.records import asdict
from cs_score.batch.documents import Limits, Overview, Ranking, family_lines
from cs_score.batch.plan import page_name
from cs_score.report.charts import DOT_PLACES, Bar, Dots, Drawing, Scale, bars, dots, grid, limits, lines, shade
from cs_score.report.page import Block, Page, Section, away, charts, slug, table_of
from cs_score.report.reproduction import batch_origin
from cs_score.statistics.options import sentences
from cs_score.tables.layout import Cell

_MOST_DRAWN: Final = 50
_MOST_RANKINGS: Final = 40
_MOST_CELLS: Final = 60
_MOST_PAIRED: Final = 40
_MOST_BARS: Final = 24


def batch_page(document: Overview) -> Page:
    """The page of a batch."""
    sections = [_leaderboard(document), _heatmap(document)]
    sections += [_difficulty(document)] if document.answers else []
    sections += [_agreement(document), _stability(document), batch_origin()]
    count = len(document.runs)
    return Page("Leaderboard", f"{count} run{'' if count == 1 else 's'} by {document.measure}", sections)


def labels_of(document: Overview) -> list[str]:
    """The names of the runs, with the run id where several share a name."""
    runs = document.runs
    often = Counter(each.run for each in runs)
    return [each.run if often[each.run] == 1 else f"{each.run} {each.run_id}" for each in runs]


def _places(document: Overview) -> dict[tuple[str, str], int]:
    """The places of the runs by name and run id; those that failed have none."""
    return {(each.run, each.run_id): at for at, each in enumerate(document.runs)}


def _limits(interval: Limits | None) -> dict[str, Any]:
    return {} if interval is None else asdict(interval)


def _policy_text(document: Overview, policy: str) -> str:
    """What a title adds where there are several policies."""
    return f" ({policy})" if len(document.policies) > 1 else ""


def _page_of_run(document: Overview, policy: str, place: int, unit: str | None = None) -> str:
    """The address of a run's page, from the folder of the batch; at a unit where one is given."""
    name = document.runs[place].run
    same = [at for at, each in enumerate(document.runs) if each.run == name]
    folders = [policy, name] if len(document.policies) > 1 else [name]
    parts = (*folders, page_name(same.index(place), len(same)))
    address = "/".join(quote(each, safe="", errors="surrogateescape") for each in parts)
    if unit is None:
        return address
    column = "ldc" if document.unit == "LDC query" else "unit"  # of the table of units on that page
    return f"{address}#units.only={quote(f'{column}:{cell(unit)}', safe='')}"


# ---- Leaderboard


def _leaderboard(document: Overview) -> Section:
    """The interval plots, and the table whose runs lead to their pages."""
    settings = document.bootstrap
    about = f"Ranked by {document.measure}."
    if settings is not None:
        about += (
            f" Intervals of {settings.confidence:g} % ({settings.method} bootstrap of {settings.resamples} "
            f"resamples of {settings.unit}, seed {settings.seed}). The runs of a tier do not differ "
            "significantly from its first; p is that of the difference to the run above, by randomisation."
        )
    about = " ".join([about, *family_lines(document.families, document.measure), *sentences(document.notes)])
    places = _places(document)
    rows = []
    for row in document.leaderboard:
        place = places.get((row.run, row.run_id))
        name: object = row.run
        if place is not None and document.pages and row.score is not None:
            name = away(row.run, _page_of_run(document, row.policy, place))
        rows.append({**asdict(row), "run": name, **_limits(row.interval), "p_baseline": row.p_baseline or None})
    keys = ("rank", "policy", "run", "run_id", "score", "low", "high", "tier")
    tests = {"p_above": "p against the run above", "p_baseline": "p against the baseline"}
    found = table_of("runs", "Leaderboard", rows, None, *keys, **tests)
    return Section("leaderboard", "Leaderboard", (about, charts(_interval_charts(document)), *found))


def _interval_charts(document: Overview) -> Iterator[Drawing]:
    """Scores with their intervals, by policy."""
    labels, places = labels_of(document), _places(document)
    for at, policy in enumerate(document.policies):
        rows = [row for row in document.leaderboard if row.policy == policy and row.score is not None]
        drawn = []
        for row in rows[:_MOST_DRAWN]:
            place = places.get((row.run, row.run_id))
            label = row.run if place is None else labels[place]
            tier = "" if row.tier is None else f" ({row.tier})"
            drawn.append(Dots(f"{label}{tier}", {"score": row.score or 0.0}, limits(row.interval, "score")))
        if not drawn:
            continue
        some = f"The first {_MOST_DRAWN} of {len(rows)} runs. " if len(rows) > _MOST_DRAWN else ""
        title = f"Scores{' with intervals' if document.bootstrap else ''}{_policy_text(document, policy)}"
        axes = (document.measure, "run (tier)" if document.bootstrap else "run")
        yield dots(f"leaderboard-{at}", title, axes, drawn, about=some, of=policy)


# ---- Heat map


def _heatmap(document: Overview) -> Section:
    """The charts, and the table of all units, whose cells lead to the pages of the runs at that unit."""
    unit = document.unit
    names = {f"r{at}": label for at, label in enumerate(labels_of(document))}
    several = {"policy": "Policy"} if len(document.policies) > 1 else {}
    rows = []
    for row in document.queries:
        cells: dict[str, Any] = {"unit": row.unit, "policy": row.policy, "mean": _mean(row.scores)}
        for place, value in enumerate(row.scores):
            address = _page_of_run(document, row.policy, place, row.unit) if document.pages else ""
            cells[f"r{place}"] = Cell(None) if value is None else away(value, address, shade(value))
        rows.append(cells)
    about = f"{document.unit_measure} of each {unit} in each run; the lowest means are the hardest."
    if document.pages:
        about += f" A cell leads to the page of the run at that {unit}."
    heads = {"unit": unit, **several, "mean": "Mean", **names}
    table = table_of("units", f"Scores by {unit} and run", rows, False, **heads)
    return Section("heatmap", "Heat map", (about, charts(_heatmap_charts(document)), *table))


def _heatmap_charts(document: Overview) -> Iterator[Drawing]:
    """Units by runs, by policy; of many units those whose scores differ the most."""
    labels = labels_of(document)
    for at, policy in enumerate(document.policies):
        every = [row for row in document.queries if row.policy == policy]
        widest = sorted(every, key=lambda row: -_spread(row.scores))[:_MOST_CELLS]
        drawn = [(row.unit, row.scores[:_MOST_CELLS]) for row in every if row in widest]
        if not drawn or not labels:
            continue
        some = ""
        if len(every) > _MOST_CELLS:
            some += f" The {_MOST_CELLS} of {len(every)} in which runs differ the most."
        if len(labels) > _MOST_CELLS:
            some += f" The first {_MOST_CELLS} of {len(labels)} runs."
        means = ((unit, _mean(values)) for unit, values in drawn)
        text = "; ".join(f"{unit}: mean {mean:.4f}" for unit, mean in means if mean is not None)
        title = f"{document.unit_measure} by {document.unit} and run{_policy_text(document, policy)}"
        axes = ("run", document.unit)
        yield grid(f"heatmap-{at}", title, axes, f"{text}.{some}", drawn, labels[:_MOST_CELLS], of=policy)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _spread(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known) if known else -1.0


# ---- What runs find together


def _difficulty(document: Overview) -> Section:
    """How many answers so many runs have found, and how many only one."""
    labels, answers = labels_of(document), document.answers
    found = (
        {**asdict(row), "times": times, "count": count} for row in answers for times, count in enumerate(row.found_by)
    )
    only = ({**asdict(row), "run": labels[at], "count": count} for row in answers for at, count in enumerate(row.only))
    of = ("policy", "part")
    blocks: tuple[Block, ...] = (
        "What is to be found, by how many runs have found it. What no run found is hardest.",
        charts(_difficulty_charts(document)),
        *table_of("found", "Found by so many runs", found, None, *of, times="Runs that found it", count="Number"),
        *table_of("only", "Found by one run alone", only, None, *of, "run", count="Found by it alone"),
    )
    return Section("difficulty", "Difficulty", blocks)


def _difficulty_charts(document: Overview) -> Iterator[Drawing]:
    """How many so many runs have found, by policy and part."""
    for row in document.answers:
        drawn = [Bar(label, 0.0, count, str(count)) for label, count in _binned(row.found_by)]
        several = _plural(row.part)
        title = f"{several.capitalize()} by how many runs found them{_policy_text(document, row.policy)}"
        name = f"difficulty-{document.policies.index(row.policy)}-{slug(row.part)}"
        axes, of = ((f"number of {several}, of {row.total}", "found by runs"), f"{row.policy} {row.part}".strip())
        yield bars(name, title, axes, drawn, about="found by so many runs: ", of=of)


def _binned(counts: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Counts by number of runs; where these are many, of several numbers together."""
    width = -(-len(counts) // _MOST_BARS)
    yield "no run", counts[0]
    for first in range(1, len(counts), width):
        last = min(first + width, len(counts)) - 1
        yield (str(first) if first == last else f"{first} to {last}"), sum(counts[first : last + 1])


def _agreement(document: Overview) -> Section:
    """How far the right and the wrong answers of two runs are the same, and what several runs find together."""
    labels, agreement = labels_of(document), document.agreement
    pairs = [
        {**asdict(pair), "policy": row.policy, "a": labels[pair.a], "b": labels[pair.b]}
        for row in agreement
        for pair in row.pairs
    ]
    headings = {"a": "Run", "b": "Other run", "right": "Right answers", "wrong": "Wrong answers"}
    union = [
        {"policy": row.policy, "measure": measure, "score": score}
        for row in agreement
        for measure, score in row.union.scores.items()
    ]
    about = (
        "Agreement is the share of the answers of two runs that both give (Jaccard): 1 where they give the same. The "
        "union is what all that is right in any run would score: no vote among these runs can do better. Recall is the "
        "mean over all choices of so many runs; agreed is what at least so many have found."
    )
    blocks: tuple[Block, ...] = (
        about,
        charts(_agreement_charts(document), _systems_charts(document)),
        *table_of("pairs", "Agreement of pairs", pairs, None, "policy", "part", **headings),
        *table_of("union", "Union of all runs", union, None, "policy", "measure", score="Score of the union"),
    )
    return Section("agreement", "Agreement", blocks)


def _agreement_charts(document: Overview) -> Iterator[Drawing]:
    """Runs by runs: the overlap of their right answers, by policy and part."""
    labels = labels_of(document)[:_MOST_PAIRED]
    if len(labels) < 2:
        return
    for at, row in enumerate(document.agreement):
        for part in dict.fromkeys(pair.part for pair in row.pairs) or ("",):
            overlap: dict[tuple[int, int], float | None] = {(place, place): 1.0 for place in range(len(labels))}
            shown = []
            for pair in (pair for pair in row.pairs if pair.part == part):
                a, b, right = pair.a, pair.b, pair.right
                overlap[a, b] = overlap[b, a] = right
                if right is not None and max(a, b) < len(labels):
                    shown.append(f"{labels[a]} and {labels[b]} {right:.4f}")
            rows = [
                (label, [overlap.get((one, other)) for other in range(len(labels))]) for one, label in enumerate(labels)
            ]
            by_part, policy = f" by {part}" if part else "", _policy_text(document, row.policy)
            title = f"Agreement of right answers (Jaccard){by_part}{policy}"
            name, of = f"agreement-{at}{f'-{slug(part)}' if part else ''}", f"{row.policy} {part}".strip()
            yield grid(name, title, ("run", "run"), f"{'; '.join(shown)}.", rows, labels, of=of)


def _systems_charts(document: Overview) -> Iterator[Drawing]:
    """What more and more runs find together, and agree on."""
    series = {"found by any": "recall", "found by so many at least": "agreed"}
    for at, row in enumerate(document.agreement):
        for part in dict.fromkeys(each.part for each in row.systems):
            each = [one for one in row.systems if one.part == part]
            curves = {
                name: [(one.systems, getattr(one, key)) for one in each if getattr(one, key) is not None]
                for name, key in series.items()
            }
            shares = (
                ", ".join(f"{key} {value:.4f}" for key in series.values() if (value := getattr(one, key)) is not None)
                for one in each
            )
            text = "; ".join(f"{one.systems} runs: {share}" for one, share in zip(each, shares))
            title = f"{_plural(part).capitalize()} found by so many runs{_policy_text(document, row.policy)}"
            name, of = f"systems-{at}-{slug(part)}", f"{row.policy} {part}".strip()
            yield lines(name, title, ("number of runs", "share"), f"{text}.", curves, of=of)


def _plural(part: str) -> str:
    return f"{part}es" if part.endswith("s") else f"{part}s"


# ---- Rank stability


def _stability(document: Overview) -> Section:
    """Kendall's tau-b of every two rankings, and who comes first in each."""
    labels, stability = labels_of(document), document.stability
    pairs = [
        {**_limits(pair.interval), "a": _ranking(pair.a), "b": _ranking(pair.b), "tau": pair.tau}
        for pair in stability.pairs
    ]
    first = [
        {**asdict(row), "a": _ranking(row), "runs": ", ".join(labels[place] for place in row.runs)}
        for row in stability.first
    ]
    about = (
        "Kendall's tau-b between two rankings of the same runs: 1 where they are the same, -1 where one is the other "
        "reversed. How often another run comes first is counted over resamples."
    )
    both = {"a": "Ranking", "b": "Other ranking", "tau": "tau-b", "low": "Low", "high": "High"}
    winners = {"a": "Ranking", "runs": "First", "changes": "Share of resamples with another first"}
    blocks: tuple[Block, ...] = (
        about,
        charts(_stability_charts(document)),
        *table_of("rankings", "Pairs of rankings", pairs, None, **both),
        *table_of("first", "First places", first, None, **winners),
    )
    return Section("stability", "Rank stability", blocks)


def _stability_charts(document: Overview) -> Iterator[Drawing]:
    """Tau-b of the ranking by the measure of the leaderboard with every other ranking."""
    own = Ranking(str(document.measure), document.policies[0])
    rows = []
    for pair in document.stability.pairs:
        if own in (pair.a, pair.b) and pair.tau is not None:
            other = pair.b if pair.a == own else pair.a
            rows.append(Dots(_ranking(other), {"tau-b": pair.tau}, limits(pair.interval, "tau-b")))
    if rows:
        title, axes = f"Rankings against that by {_ranking(own)}", ("Kendall's tau-b (-1 to 1)", "ranking")
        across = Scale(-1.0, 1.0, 0.5, *DOT_PLACES)
        yield dots("stability", title, axes, rows[:_MOST_RANKINGS], across=across)


def _ranking(by: Ranking) -> str:
    return f"{by.measure} ({by.policy})" if by.policy else str(by.measure)


CHARTS: Final[Mapping[str, Callable[[Overview], Iterable[Drawing]]]] = {
    "leaderboard": _interval_charts,
    "heatmap": _heatmap_charts,
    "difficulty": _difficulty_charts,
    "agreement": _agreement_charts,
    "systems": _systems_charts,
    "stability": _stability_charts,
}
"""The charts of a batch by kind."""
