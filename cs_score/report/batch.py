"""The page of a batch, from `batch.json`, and its charts by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import quote

from cs_score.analysis.many.rankings import Limits, Ranking
from cs_score.base.display import cell
from cs_score.base.records import asdict
from cs_score.batch.documents import Overview, family_lines, limit_lines
from cs_score.batch.plan import page_name
from cs_score.measures.registry import undefined_sentences
from cs_score.report.charts import DOT_PLACES, Bar, Dots, Drawing, Scale, bars, dots, grid, limits, lines, shade
from cs_score.report.page import Block, Page, PageMaker, Section, away, batch_origin, charts, slug, table_of
from cs_score.statistics.options import note_sentences
from cs_score.tables.layout import Cell

_MOST_DRAWN: Final = 50
_MOST_RANKINGS: Final = 40
_MOST_CELLS: Final = 60
_MOST_PAIRED: Final = 40
_MOST_BARS: Final = 24


class BatchPage(PageMaker):
    """The sections and charts of a batch. Runs have labels: their names, with the run id where several share one."""

    document: Overview

    def __init__(self, document: Overview) -> None:
        super().__init__(document)
        runs = document.runs
        often = Counter(each.run for each in runs)
        self.labels = [each.run if often[each.run] == 1 else f"{each.run} {each.run_id}" for each in runs]
        # Runs that failed have no place.
        self.places = {(each.run, each.run_id): at for at, each in enumerate(runs)}

    def page(self) -> Page:
        sections = [self.leaderboard(), self.heatmap()]
        sections += [self.difficulty()] if self.document.answers else []
        sections += [self.agreement(), self.stability(), batch_origin()]
        count = len(self.labels)
        return Page("Leaderboard", f"{count} run{'' if count == 1 else 's'} by {self.document.measure}", sections)

    def _policy_text(self, policy: str) -> str:
        """What a title adds where there are several policies."""
        return f" ({policy})" if len(self.document.policies) > 1 else ""

    def _page_of_run(self, policy: str, place: int, unit: str | None = None) -> str:
        """The address of a run's page, from the folder of the batch; at a unit where one is given."""
        document = self.document
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

    def leaderboard(self) -> Section:
        """The interval plots, and the table whose runs lead to their pages."""
        document, settings = self.document, self.document.bootstrap
        about = f"Ranked by {document.measure}."
        if settings is not None:
            units = len(document.queries) // len(document.policies)
            about = " ".join([about, *limit_lines(settings, units, document.families)])
        for row in document.leaderboard:
            for sentence in undefined_sentences(row.undefined or {}):
                about += f" {row.run} has no {sentence}; it has no rank by these."
        tested = family_lines(document.families, document.verdicts, document.measure)
        about = " ".join([*tested, about, *note_sentences(document.notes)])
        rows = []
        for row in document.leaderboard:
            place = self.places.get((row.run, row.run_id))
            name: object = row.run
            if place is not None and document.pages and row.score is not None:
                name = away(row.run, self._page_of_run(row.policy, place))
            rows.append({**asdict(row), "run": name, **_limits(row.interval), "p_baseline": row.p_baseline or None})
        keys = ("rank", "policy", "run", "run_id", "score", "low", "high", "tier")
        tests = {"p_above": "p against the run above", "p_baseline": "p against the baseline"}
        found = table_of("runs", "Leaderboard", rows, None, *keys, **tests)
        return Section("leaderboard", "Leaderboard", (about, charts(self.interval_charts()), *found))

    def interval_charts(self) -> Iterator[Drawing]:
        """Scores with their intervals, by policy."""
        document = self.document
        for at, policy in enumerate(document.policies):
            rows = [row for row in document.leaderboard if row.policy == policy and row.score is not None]
            drawn = []
            for row in rows[:_MOST_DRAWN]:
                place = self.places.get((row.run, row.run_id))
                label = row.run if place is None else self.labels[place]
                tier = "" if row.tier is None else f" ({row.tier})"
                drawn.append(Dots(f"{label}{tier}", {"score": row.score or 0.0}, limits(row.interval, "score")))
            if drawn:
                some = f"The first {_MOST_DRAWN} of {len(rows)} runs. " if len(rows) > _MOST_DRAWN else ""
                title = f"Scores{' with intervals' if document.bootstrap else ''}{self._policy_text(policy)}"
                axes = (document.measure, "run (tier)" if document.bootstrap else "run")
                yield dots(f"leaderboard-{at}", title, axes, drawn, about=some, of=policy)

    # ---- Heat map

    def heatmap(self) -> Section:
        """The charts, and the table of all units, whose cells lead to the pages of the runs at that unit."""
        document, unit = self.document, self.document.unit
        rows = []
        for row in document.queries:
            cells: dict[str, Any] = {"unit": row.unit, "policy": row.policy, "mean": _mean(row.scores)}
            for place, value in enumerate(row.scores):
                address = self._page_of_run(row.policy, place, row.unit) if document.pages else ""
                cells[f"r{place}"] = Cell(None) if value is None else away(value, address, shade(value))
            rows.append(cells)
        about = f"{document.unit_measure} of each {unit} in each run; the lowest means are the hardest."
        if document.pages:
            about += f" A cell leads to the page of the run at that {unit}."
        heads = {"unit": unit, **({"policy": "Policy"} if len(document.policies) > 1 else {}), "mean": "Mean"}
        heads |= {f"r{at}": label for at, label in enumerate(self.labels)}
        found = table_of("units", f"Scores by {unit} and run", rows, False, **heads)
        return Section("heatmap", "Heat map", (about, charts(self.heatmap_charts()), *found))

    def heatmap_charts(self) -> Iterator[Drawing]:
        """Units by runs, by policy; of many units those whose scores differ the most."""
        document, labels = self.document, self.labels
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
            title = f"{document.unit_measure} by {document.unit} and run{self._policy_text(policy)}"
            axes = ("run", document.unit)
            yield grid(f"heatmap-{at}", title, axes, f"{text}.{some}", drawn, labels[:_MOST_CELLS], of=policy)

    # ---- What runs find together

    def difficulty(self) -> Section:
        """How many answers so many runs have found, and how many only one."""
        of, found, only = ("policy", "part"), [], []
        for row in self.document.answers:
            whose = {"policy": row.policy, "part": row.part}
            found += [{**whose, "times": times, "count": count} for times, count in enumerate(row.found_by)]
            only += [{**whose, "run": self.labels[at], "count": count} for at, count in enumerate(row.only)]
        blocks: tuple[Block, ...] = (
            charts(self.difficulty_charts()),
            *table_of("found", "Found by so many runs", found, None, *of, times="Runs that found it", count="Number"),
            *table_of("only", "Found by one run alone", only, None, *of, "run", count="Found by it alone"),
        )
        about = "What is to be found, by how many runs have found it. What no run found is hardest."
        return Section("difficulty", "Difficulty", (about, *blocks))

    def difficulty_charts(self) -> Iterator[Drawing]:
        """How many so many runs have found, by policy and part."""
        for row in self.document.answers:
            drawn = [Bar(label, 0.0, count, str(count)) for label, count in _binned(row.found_by)]
            several = _plural(row.part)
            title = f"{several.capitalize()} by how many runs found them{self._policy_text(row.policy)}"
            name = f"difficulty-{self.document.policies.index(row.policy)}-{slug(row.part)}"
            axes, of = (f"number of {several}, of {row.total}", "found by runs"), f"{row.policy} {row.part}".strip()
            yield bars(name, title, axes, drawn, about="found by so many runs: ", of=of)

    def agreement(self) -> Section:
        """How far the right and the wrong answers of two runs are the same, and what several runs find together."""
        labels, pairs, union = self.labels, [], []
        for row in self.document.agreement:
            own = {"policy": row.policy}
            pairs += [{**asdict(pair), **own, "a": labels[pair.a], "b": labels[pair.b]} for pair in row.pairs]
            union += [{**own, "measure": measure, "score": score} for measure, score in row.union.scores.items()]
        headings = {"a": "Run", "b": "Other run", "right": "Right answers", "wrong": "Wrong answers"}
        about = (
            "Agreement is the share of the answers of two runs that both give (Jaccard): 1 where they give the same. "
            "The union is what all that is right in any run would score: no vote among these runs can do better. "
            "Recall is the mean over all choices of so many runs; agreed is what at least so many have found."
        )
        blocks: tuple[Block, ...] = (
            charts(self.agreement_charts(), self.systems_charts()),
            *table_of("pairs", "Agreement of pairs", pairs, None, "policy", "part", **headings),
            *table_of("union", "Union of all runs", union, None, "policy", "measure", score="Score of the union"),
        )
        return Section("agreement", "Agreement", (about, *blocks))

    def agreement_charts(self) -> Iterator[Drawing]:
        """Runs by runs: the overlap of their right answers, by policy and part."""
        labels = self.labels[:_MOST_PAIRED]
        for at, row in enumerate(self.document.agreement if len(labels) > 1 else ()):
            for part in dict.fromkeys(pair.part for pair in row.pairs) or ("",):
                overlap: dict[tuple[int, int], float | None] = {(place, place): 1.0 for place in range(len(labels))}
                shown = []
                for pair in (pair for pair in row.pairs if pair.part == part):
                    overlap[pair.a, pair.b] = overlap[pair.b, pair.a] = pair.right
                    if pair.right is not None and max(pair.a, pair.b) < len(labels):
                        shown.append(f"{labels[pair.a]} and {labels[pair.b]} {pair.right:.4f}")
                rows = [
                    (label, [overlap.get((one, other)) for other in range(len(labels))])
                    for one, label in enumerate(labels)
                ]
                by_part = f" by {part}" if part else ""
                title = f"Agreement of right answers (Jaccard){by_part}{self._policy_text(row.policy)}"
                name, of = f"agreement-{at}{f'-{slug(part)}' if part else ''}", f"{row.policy} {part}".strip()
                yield grid(name, title, ("run", "run"), f"{'; '.join(shown)}.", rows, labels, of=of)

    def systems_charts(self) -> Iterator[Drawing]:
        """What more and more runs find together, and agree on."""
        series = {"found by any": "recall", "found by so many at least": "agreed"}
        for at, row in enumerate(self.document.agreement):
            for part in dict.fromkeys(each.part for each in row.systems):
                curves: dict[str, list[tuple[float, float]]] = {name: [] for name in series}
                texts = []
                for one in (one for one in row.systems if one.part == part):
                    known = {name: value for name, key in series.items() if (value := getattr(one, key)) is not None}
                    for name, value in known.items():
                        curves[name].append((one.systems, value))
                    shares = ", ".join(f"{series[name]} {value:.4f}" for name, value in known.items())
                    texts.append(f"{one.systems} runs: {shares}")
                title = f"{_plural(part).capitalize()} found by so many runs{self._policy_text(row.policy)}"
                axes, of = ("number of runs", "share"), f"{row.policy} {part}".strip()
                yield lines(f"systems-{at}-{slug(part)}", title, axes, f"{'; '.join(texts)}.", curves, of=of)

    # ---- Rank stability

    def stability(self) -> Section:
        """Kendall's tau-b of every two rankings, and who comes first in each."""
        pairs = [
            {**_limits(pair.interval), "a": _ranking(pair.a), "b": _ranking(pair.b), "tau": pair.tau}
            for pair in self.document.stability.pairs
        ]
        first = []
        for row in self.document.stability.first:
            for place, share in enumerate(row.shares):
                if share or place in row.runs:
                    is_first = "yes" if place in row.runs else "no"
                    first.append({"a": _ranking(row), "run": self.labels[place], "is_first": is_first, "share": share})
        about = (
            "Kendall's tau-b between two rankings of the same runs: 1 where they are the same, -1 where one is the "
            "other reversed. How often each run comes first is counted over resamples, ties split evenly."
        )
        both = {"a": "Ranking", "b": "Other ranking", "tau": "tau-b", "low": "Low", "high": "High"}
        winners = {"a": "Ranking", "run": "Run", "is_first": "First", "share": "Share of resamples"}
        blocks: tuple[Block, ...] = (
            charts(self.stability_charts()),
            *table_of("rankings", "Pairs of rankings", pairs, None, **both),
            *table_of("first", "First places", first, None, **winners),
        )
        return Section("stability", "Rank stability", (about, *blocks))

    def stability_charts(self) -> Iterator[Drawing]:
        """Tau-b of the ranking by the measure of the leaderboard with every other ranking."""
        own = Ranking(str(self.document.measure), self.document.policies[0])
        rows = []
        for pair in self.document.stability.pairs:
            if own in (pair.a, pair.b) and pair.tau is not None:
                other = pair.b if pair.a == own else pair.a
                rows.append(Dots(_ranking(other), {"tau-b": pair.tau}, limits(pair.interval, "tau-b")))
        if rows:
            title, axes = f"Rankings against that by {_ranking(own)}", ("Kendall's tau-b (-1 to 1)", "ranking")
            across = Scale(*DOT_PLACES, -1.0, 1.0, 0.5)
            yield dots("stability", title, axes, rows[:_MOST_RANKINGS], across=across)

    CHARTS: ClassVar = {
        "leaderboard": interval_charts,
        "heatmap": heatmap_charts,
        "difficulty": difficulty_charts,
        "agreement": agreement_charts,
        "systems": systems_charts,
        "stability": stability_charts,
    }


def _limits(interval: Limits | None) -> dict[str, Any]:
    return {} if interval is None else asdict(interval)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _spread(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known) if known else -1.0


def _binned(counts: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Counts by number of runs; where these are many, of several numbers together."""
    width = -(-len(counts) // _MOST_BARS)
    yield "no run", counts[0]
    for first in range(1, len(counts), width):
        last = min(first + width, len(counts)) - 1
        yield (str(first) if first == last else f"{first} to {last}"), sum(counts[first : last + 1])


def _plural(part: str) -> str:
    return f"{part}es" if part.endswith("s") else f"{part}s"


def _ranking(by: Ranking) -> str:
    return f"{by.measure} ({by.policy})" if by.policy else str(by.measure)
