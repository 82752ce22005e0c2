"""The page of a batch, from `batch.json`, and its charts by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final, NamedTuple
from urllib.parse import quote

from cs_score.analysis.rankings import RankingLimits, RunRanking
from cs_score.base.display import cell
from cs_score.base.records import asdict
from cs_score.measures.registry import undefined_sentences
from cs_score.pages.charts import (
    DOT_PLACES,
    Bar,
    Caption,
    Dots,
    Drawing,
    GridRow,
    Scale,
    bars,
    dots,
    grid,
    limits,
    lines,
    shade,
)
from cs_score.pages.origins import batch_origin
from cs_score.pages.page import (
    Block,
    Contradiction,
    Page,
    PageMaker,
    Section,
    charts_side_by_side,
    link_to_file,
    slug,
    table_of_rows,
)
from cs_score.statistics.options import note_sentences
from cs_score.tables.layout import Cell
from cs_score.verbs.batch.documents import BatchOverview, family_lines, limit_lines
from cs_score.verbs.batch.layout import page_name
from cs_score.verbs.batch.overview import FoundTogether, Overlap, UnitScores

_MOST_DRAWN: Final = 50
"""Runs whose scores a chart shows."""

_MOST_RANKINGS: Final = 40
_MOST_CELLS: Final = 60
"""Units, and runs, of a heat map."""

_MOST_PAIRED: Final = 40
"""Runs whose agreement a chart shows."""

_MOST_BARS: Final = 24


class BatchPage(PageMaker):
    """The page and the charts of a batch.

    A run has a label: its name, with the run id if several runs share the name.
    """

    document: BatchOverview

    def __init__(self, document: BatchOverview) -> None:
        """Show an overview of runs. Runs that failed are in its leaderboard only, and have no position."""
        super().__init__(document)
        row_count_by_run = Counter([system.run for system in document.runs])
        self.labels = []
        self.position_by_run: dict[tuple[str, str], int] = {}
        for position, system in enumerate(document.runs):
            has_own_name = row_count_by_run[system.run] == 1
            self.labels.append(system.run if has_own_name else f"{system.run} {system.run_id}")
            self.position_by_run[system.run, system.run_id] = position

    def page(self) -> Page:
        """Return the page: leaderboard, heat map, difficulty, agreement and rank stability."""
        sections = [self._leaderboard(), self._heatmap()]
        if self.document.answers:
            sections.append(self._difficulty())
        sections += [self._agreement(), self._stability(), batch_origin()]
        run_count = len(self.labels)
        noun = "run" if run_count == 1 else "runs"
        return Page("Leaderboard", f"{run_count} {noun} by {self.document.measure}", sections)

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield the places of the batch that do not fit its runs or its policies."""
        yield from _contradictions_of_batch(self.document)

    def _policy_text(self, policy: str) -> str:
        """Return the ending of a title that names the policy, ` (sf)`; empty if there is only one policy."""
        return f" ({policy})" if len(self.document.policies) > 1 else ""

    def _address_of_run(self, policy: str, position: int, unit: str | None = None) -> str:
        """Return the address of a run's page from the folder of the batch, `sf/run/out.html`; at a unit if given."""
        document = self.document
        name = document.runs[position].run
        positions_of_file = [other for other, system in enumerate(document.runs) if system.run == name]
        file_name = page_name(positions_of_file.index(position), len(positions_of_file))
        parts = [name, file_name]
        if len(document.policies) > 1:
            parts.insert(0, policy)
        address = "/".join([quote(part, safe="", errors="surrogateescape") for part in parts])
        if unit is None:
            return address
        column = "ldc" if document.unit == "LDC query" else "unit"  # of the table of units on that page
        return f"{address}#units.only={quote(f'{column}:{cell(unit)}', safe='')}"

    # ---- Leaderboard

    def _leaderboard(self) -> Section:
        """Return the section of the leaderboard: charts of scores, and the table, whose runs lead to their pages."""
        rows = []
        for row in self.document.leaderboard:
            position = self.position_by_run.get((row.run, row.run_id))
            name: object = row.run
            if position is not None and self.document.pages and row.score is not None:
                name = link_to_file(row.run, self._address_of_run(row.policy, position))
            p_baseline = row.p_baseline or None
            rows.append({**asdict(row), "run": name, **_low_and_high(row.interval), "p_baseline": p_baseline})
        headings = dict.fromkeys(("rank", "policy", "run", "run_id", "score", "low", "high", "tier"), "")
        headings["p_above"] = "p against the run above"
        headings["p_baseline"] = "p against the baseline"
        run_tables = table_of_rows("runs", "Leaderboard", rows, headings)
        blocks: list[Block] = [self._about_leaderboard(), charts_side_by_side(self.interval_charts()), *run_tables]
        return Section("leaderboard", "Leaderboard", blocks)

    def _about_leaderboard(self) -> str:
        """Return the sentences above the leaderboard: verdicts, tests, limits, missing scores and notes."""
        document = self.document
        sentences = family_lines(document.families, document.verdicts, document.measure)
        sentences.append(f"Ranked by {document.measure}.")
        if document.bootstrap is not None:
            unit_count = len(document.queries) // len(document.policies)
            sentences += limit_lines(document.bootstrap, unit_count, document.families)
        for row in document.leaderboard:
            for sentence in undefined_sentences(row.undefined or {}):
                sentences.append(f"{row.run} has no {sentence}; it has no rank by these.")
        sentences += note_sentences(document.notes)
        return " ".join(sentences)

    def interval_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy: the scores of its runs with their intervals."""
        document = self.document
        for policy_number, policy in enumerate(document.policies):
            rows = [row for row in document.leaderboard if row.policy == policy and row.score is not None]
            drawn_rows = []
            for row in rows[:_MOST_DRAWN]:
                position = self.position_by_run.get((row.run, row.run_id))
                label = row.run if position is None else self.labels[position]
                if row.tier is not None:
                    label += f" ({row.tier})"
                drawn_rows.append(Dots(label, {"score": row.score or 0.0}, limits(row.interval, "score")))
            if not drawn_rows:
                continue
            about = f"The first {_MOST_DRAWN} of {len(rows)} runs. " if len(rows) > _MOST_DRAWN else ""
            has_intervals = document.bootstrap is not None
            title = "Scores with intervals" if has_intervals else "Scores"
            caption = Caption(
                name=f"leaderboard-{policy_number}",
                title=title + self._policy_text(policy),
                across=document.measure,
                upwards="run (tier)" if has_intervals else "run",
                of=policy,
            )
            yield dots(caption, drawn_rows, introduction=about)

    # ---- Heat map

    def _heatmap(self) -> Section:
        """Return the section of all units by all runs; cells of the table lead to the page of the run at the unit."""
        document = self.document
        rows = [self._heatmap_row(scores) for scores in document.queries]
        about = f"{document.unit_measure} of each {document.unit} in each run; the lowest means are the hardest."
        if document.pages:
            about += f" A cell leads to the page of the run at that {document.unit}."
        headings = {"unit": document.unit}
        if len(document.policies) > 1:
            headings["policy"] = "Policy"
        headings["mean"] = "Mean"
        for position, label in enumerate(self.labels):
            headings[f"r{position}"] = label
        unit_tables = table_of_rows("units", f"Scores by {document.unit} and run", rows, headings, is_small=False)
        return Section("heatmap", "Heat map", [about, charts_side_by_side(self.heatmap_charts()), *unit_tables])

    def _heatmap_row(self, scores: UnitScores) -> dict[str, Any]:
        """Return the cells of a unit: its mean, and its score in each run, coloured by the score."""
        cells: dict[str, Any] = {"unit": scores.unit, "policy": scores.policy, "mean": _mean(scores.scores)}
        for position, score in enumerate(scores.scores):
            if score is None:
                cells[f"r{position}"] = Cell(None)
                continue
            address = ""
            if self.document.pages:
                address = self._address_of_run(scores.policy, position, scores.unit)
            cells[f"r{position}"] = link_to_file(score, address, shade(score))
        return cells

    def heatmap_charts(self) -> Iterator[Drawing]:
        """Yield a chart of units by runs for each policy; of many units it shows those in which runs differ most."""
        document = self.document
        for policy_number, policy in enumerate(document.policies):
            unit_rows = [row for row in document.queries if row.policy == policy]
            by_spread = sorted(unit_rows, key=lambda row: -_spread(row.scores))
            most_different = by_spread[:_MOST_CELLS]
            drawn_rows = [GridRow(row.unit, row.scores[:_MOST_CELLS]) for row in unit_rows if row in most_different]
            if not drawn_rows or not self.labels:
                continue
            texts = []
            for row in drawn_rows:
                mean = _mean(row.values)
                if mean is not None:
                    texts.append(f"{row.label}: mean {mean:.4f}")
            about = f"{'; '.join(texts)}."
            if len(unit_rows) > _MOST_CELLS:
                about += f" The {_MOST_CELLS} of {len(unit_rows)} in which runs differ the most."
            if len(self.labels) > _MOST_CELLS:
                about += f" The first {_MOST_CELLS} of {len(self.labels)} runs."
            caption = Caption(
                name=f"heatmap-{policy_number}",
                title=f"{document.unit_measure} by {document.unit} and run{self._policy_text(policy)}",
                across="run",
                upwards=document.unit,
                of=policy,
            )
            yield grid(caption, about, drawn_rows, self.labels[:_MOST_CELLS])

    # ---- What runs find together

    def _difficulty(self) -> Section:
        """Return the section of how many answers so many runs have found, and how many only one has."""
        found_rows = []
        only_rows = []
        for row in self.document.answers:
            for run_count, answer_count in enumerate(row.found_by):
                found_rows.append({"policy": row.policy, "part": row.part, "times": run_count, "count": answer_count})
            for position, answer_count in enumerate(row.only):
                label = self.labels[position]
                only_rows.append({"policy": row.policy, "part": row.part, "run": label, "count": answer_count})
        about = "What is to be found, by how many runs have found it. What no run found is hardest."
        found_headings = {"policy": "", "part": "", "times": "Runs that found it", "count": "Number"}
        only_headings = {"policy": "", "part": "", "run": "", "count": "Found by it alone"}
        blocks: list[Block] = [about, charts_side_by_side(self.difficulty_charts())]
        blocks += table_of_rows("found", "Found by so many runs", found_rows, found_headings)
        blocks += table_of_rows("only", "Found by one run alone", only_rows, only_headings)
        return Section("difficulty", "Difficulty", blocks)

    def difficulty_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy and part of gold: how many answers no run, one run, two ... have found."""
        for row in self.document.answers:
            drawn_bars = [
                Bar(group.label, 0.0, group.answer_count, str(group.answer_count)) for group in _binned(row.found_by)
            ]
            noun = _plural(row.part)
            policy_number = self.document.policies.index(row.policy)
            caption = Caption(
                name=f"difficulty-{policy_number}-{slug(row.part)}",
                title=f"{noun.capitalize()} by how many runs found them{self._policy_text(row.policy)}",
                across=f"number of {noun}, of {row.total}",
                upwards="found by runs",
                of=_policy_and_part(row.policy, row.part),
            )
            yield bars(caption, drawn_bars, introduction="found by so many runs: ")

    def _agreement(self) -> Section:
        """Return the section about the agreement of pairs of runs, and the answers that several runs find together."""
        pair_rows = []
        union_rows = []
        for row in self.document.agreement:
            for pair in row.pairs:
                runs = {"a": self.labels[pair.a], "b": self.labels[pair.b]}
                pair_rows.append({**asdict(pair), "policy": row.policy, **runs})
            for measure, score in row.union.scores.items():
                union_rows.append({"policy": row.policy, "measure": measure, "score": score})
        about = (
            "Agreement is the share of the answers of two runs that both give (Jaccard): 1 where they give the same. "
            "The union is what all that is right in any run would score: no vote among these runs can do better. "
            "Recall is the mean over all choices of so many runs; agreed is what at least so many have found."
        )
        pair_headings = {"policy": "", "part": "", "a": "Run", "b": "Other run"}
        pair_headings |= {"right": "Right answers", "wrong": "Wrong answers"}
        union_headings = {"policy": "", "measure": "", "score": "Score of the union"}
        blocks: list[Block] = [about, charts_side_by_side(self.agreement_charts(), self.systems_charts())]
        blocks += table_of_rows("pairs", "Agreement of pairs", pair_rows, pair_headings)
        blocks += table_of_rows("union", "Union of all runs", union_rows, union_headings)
        return Section("agreement", "Agreement", blocks)

    def agreement_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy and part of gold: runs by runs, the overlap of their right answers."""
        if len(self.labels[:_MOST_PAIRED]) < 2:
            return
        for policy_number, agreement in enumerate(self.document.agreement):
            parts = dict.fromkeys([pair.part for pair in agreement.pairs]) or ("",)
            for part in parts:
                pairs = [pair for pair in agreement.pairs if pair.part == part]
                name = f"agreement-{policy_number}"
                title = "Agreement of right answers (Jaccard)"
                if part:
                    name += f"-{slug(part)}"
                    title += f" by {part}"
                caption = Caption(
                    name=name,
                    title=title + self._policy_text(agreement.policy),
                    across="run",
                    upwards="run",
                    of=_policy_and_part(agreement.policy, part),
                )
                yield self._agreement_chart(caption, pairs)

    def _agreement_chart(self, caption: Caption, pairs: Sequence[Overlap]) -> Drawing:
        """Return the chart of the overlap of pairs of runs; a run agrees fully with itself."""
        labels = self.labels[:_MOST_PAIRED]
        overlap_by_pair: dict[tuple[int, int], float | None] = {}
        for position in range(len(labels)):
            overlap_by_pair[position, position] = 1.0
        texts = []
        for pair in pairs:
            overlap_by_pair[pair.a, pair.b] = pair.right
            overlap_by_pair[pair.b, pair.a] = pair.right
            if pair.right is not None and max(pair.a, pair.b) < len(labels):
                texts.append(f"{labels[pair.a]} and {labels[pair.b]} {pair.right:.4f}")
        rows = []
        for position, label in enumerate(labels):
            overlaps = [overlap_by_pair.get((position, other)) for other in range(len(labels))]
            rows.append(GridRow(label, overlaps))
        return grid(caption, f"{'; '.join(texts)}.", rows, labels)

    def systems_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy and part of gold: the recall of more and more runs together, and agreement."""
        for policy_number, agreement in enumerate(self.document.agreement):
            for part in dict.fromkeys([shares.part for shares in agreement.systems]):
                shares_of_part = [shares for shares in agreement.systems if shares.part == part]
                caption = Caption(
                    name=f"systems-{policy_number}-{slug(part)}",
                    title=f"{_plural(part).capitalize()} found by so many runs{self._policy_text(agreement.policy)}",
                    across="number of runs",
                    upwards="share",
                    of=_policy_and_part(agreement.policy, part),
                )
                yield _found_together_chart(caption, shares_of_part)

    # ---- Rank stability

    def _stability(self) -> Section:
        """Return the section of the correlation of every two rankings, and of who comes first in each."""
        pair_rows = []
        for pair in self.document.stability.pairs:
            rankings = {"a": _ranking_text(pair.a), "b": _ranking_text(pair.b)}
            pair_rows.append({**_low_and_high(pair.interval), **rankings, "tau": pair.tau})
        first_rows = []
        for ranking in self.document.stability.first:
            for position, share in enumerate(ranking.shares):
                is_first = position in ranking.runs
                if share or is_first:
                    first_rows.append(
                        {
                            "a": _ranking_text(ranking),
                            "run": self.labels[position],
                            "is_first": "yes" if is_first else "no",
                            "share": share,
                        }
                    )
        about = (
            "Kendall's tau-b between two rankings of the same runs: 1 where they are the same, -1 where one is the "
            "other reversed. How often each run comes first is counted over resamples, ties split evenly."
        )
        pair_headings = {"a": "Ranking", "b": "Other ranking", "tau": "tau-b", "low": "Low", "high": "High"}
        first_headings = {"a": "Ranking", "run": "Run", "is_first": "First", "share": "Share of resamples"}
        blocks: list[Block] = [about, charts_side_by_side(self.stability_charts())]
        blocks += table_of_rows("rankings", "Pairs of rankings", pair_rows, pair_headings)
        blocks += table_of_rows("first", "First places", first_rows, first_headings)
        return Section("stability", "Rank stability", blocks)

    def stability_charts(self) -> Iterator[Drawing]:
        """Yield a chart of the correlation of the ranking by the measure of the leaderboard with each other ranking."""
        main_ranking = RunRanking(str(self.document.measure), self.document.policies[0])
        rows = []
        for pair in self.document.stability.pairs:
            if main_ranking in (pair.a, pair.b) and pair.tau is not None:
                other_ranking = pair.b if pair.a == main_ranking else pair.a
                rows.append(Dots(_ranking_text(other_ranking), {"tau-b": pair.tau}, limits(pair.interval, "tau-b")))
        if not rows:
            return
        title = f"Rankings against that by {_ranking_text(main_ranking)}"
        caption = Caption("stability", title, "Kendall's tau-b (-1 to 1)", "ranking")
        yield dots(caption, rows[:_MOST_RANKINGS], x_scale=Scale(*DOT_PLACES, -1.0, 1.0, 0.5))

    CHARTS: ClassVar = {
        "leaderboard": interval_charts,
        "heatmap": heatmap_charts,
        "difficulty": difficulty_charts,
        "agreement": agreement_charts,
        "systems": systems_charts,
        "stability": stability_charts,
    }


def _found_together_chart(caption: Caption, shares_by_run_count: Sequence[FoundTogether]) -> Drawing:
    """Return the chart of the shares of answers that any of so many runs finds, and that at least so many find."""
    curves: dict[str, list[tuple[float, float]]] = {"found by any": [], "found by so many at least": []}
    texts = []
    for shares in shares_by_run_count:
        numbers = []
        if shares.recall is not None:
            curves["found by any"].append((shares.systems, shares.recall))
            numbers.append(f"recall {shares.recall:.4f}")
        if shares.agreed is not None:
            curves["found by so many at least"].append((shares.systems, shares.agreed))
            numbers.append(f"agreed {shares.agreed:.4f}")
        texts.append(f"{shares.systems} runs: {', '.join(numbers)}")
    return lines(caption, f"{'; '.join(texts)}.", curves)


def _low_and_high(interval: RankingLimits | None) -> dict[str, Any]:
    """Return the limits of an interval as cells `low` and `high`; none without an interval."""
    return {} if interval is None else asdict(interval)


def _mean(scores: Sequence[float | None]) -> float | None:
    """Return the mean of the scores that there are, or None."""
    defined_scores = [score for score in scores if score is not None]
    return sum(defined_scores) / len(defined_scores) if defined_scores else None


def _spread(scores: Sequence[float | None]) -> float:
    """Return the distance of the highest from the lowest of the scores; -1 if there are none."""
    defined_scores = [score for score in scores if score is not None]
    return max(defined_scores) - min(defined_scores) if defined_scores else -1.0


class _Bin(NamedTuple):
    """How many answers were found by some numbers of runs: `3 to 4`."""

    label: str
    answer_count: int


def _binned(counts: Sequence[int]) -> Iterator[_Bin]:
    """Yield the counts of answers by the number of runs that found them; of many numbers, several together."""
    yield _Bin("no run", counts[0])
    width = -(-len(counts) // _MOST_BARS)
    for first in range(1, len(counts), width):
        last = min(first + width, len(counts)) - 1
        label = str(first) if first == last else f"{first} to {last}"
        yield _Bin(label, sum(counts[first : last + 1]))


def _plural(part: str) -> str:
    """Return the plural of a part of gold: `class` -> `classes`."""
    return f"{part}es" if part.endswith("s") else f"{part}s"


def _policy_and_part(policy: str, part: str) -> str:
    """Return the text that distinguishes charts of the same kind: policy and part of gold, if they are not empty."""
    return f"{policy} {part}".strip()


def _ranking_text(ranking: RunRanking) -> str:
    """Return the measure of a ranking, with its policy if it has one: `SF-AP (sf)`."""
    return f"{ranking.measure} ({ranking.policy})" if ranking.policy else str(ranking.measure)


# ---- Contradictions


def _contradictions_of_batch(batch: BatchOverview) -> Iterator[Contradiction]:
    """Yield the places of a batch that do not fit its runs or its policies."""
    yield from _lists_of_wrong_length(batch)
    positions: list[int] = []
    for agreement in batch.agreement:
        for pair in agreement.pairs:
            positions += [pair.a, pair.b]
    for ranking in batch.stability.first:
        positions += ranking.runs
    last_position = max(positions, default=-1)
    if last_position >= len(batch.runs):
        yield Contradiction("", f"there is no run {last_position}")
    for member in ("leaderboard", "queries", "answers", "agreement"):
        for position, row in enumerate(getattr(batch, member)):
            if row.policy not in batch.policies:
                yield Contradiction(f"/{member}/{position}/policy", "is no policy of the batch")
    if not batch.policies or not all(row.found_by for row in batch.answers):
        yield Contradiction("", "there are no policies, or no numbers of runs")


def _lists_of_wrong_length(batch: BatchOverview) -> Iterator[Contradiction]:
    """Yield the lists of a batch that should have an entry for each run, but have another number."""
    run_count = len(batch.runs)
    problem = f"must have an entry for each of {run_count} runs"
    for position, unit in enumerate(batch.queries):
        if len(unit.scores) != run_count:
            yield Contradiction(f"/queries/{position}/scores", problem)
    for position, difficulty in enumerate(batch.answers):
        if len(difficulty.only) != run_count:
            yield Contradiction(f"/answers/{position}/only", problem)
    for position, ranking in enumerate(batch.stability.first):
        if len(ranking.shares) != run_count:
            yield Contradiction(f"/stability/first/{position}/shares", problem)
