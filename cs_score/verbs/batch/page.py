"""The page of a batch, from `batch.json`, and its charts by kind."""

from __future__ import annotations

import math
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
from cs_score.statistics.resampling_settings import note_sentences
from cs_score.tables.layout import Cell
from cs_score.verbs.batch.batch_documents import BatchOverview, family_lines, limit_lines
from cs_score.verbs.batch.folder_layout import page_name
from cs_score.verbs.batch.overview import FoundTogether, Overlap, UnitScores

_MOST_DRAWN: Final = 50
"""How many runs a chart of scores shows."""

_MOST_RANKINGS: Final = 40
"""How many rankings a chart compares with that of the leaderboard."""

_MOST_CELLS: Final = 60
"""How many units, and how many runs, a heat map shows."""

_MOST_PAIRED: Final = 40
"""How many runs a chart of agreement shows."""

_MOST_BARS: Final = 24
"""How many bars a chart of difficulty shows beside that of the answers that no run found."""


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
        """Return the end of a title that names the policy, ` (sf)`; it is empty if there is only one policy."""
        if len(self.document.policies) <= 1:
            return ""
        return f" ({policy})"

    def _address_of_run(self, policy: str, position: int, unit: str | None = None) -> str:
        """Return the address of the page of a run, from the folder of the batch: `sf/run/out.html`.

        `position` is the position of the run in the document. If a `unit` is given, the address leads to the table of
        units on that page, and leaves only this unit in it: `run/out.html#units.only=unit%3AQ1`.
        """
        document = self.document
        name = document.runs[position].run
        positions_in_file = [other for other, system in enumerate(document.runs) if system.run == name]
        file_name = page_name(positions_in_file.index(position), len(positions_in_file))
        path = [name, file_name]
        if len(document.policies) > 1:
            path.insert(0, policy)
        address = "/".join([quote(part, safe="", errors="surrogateescape") for part in path])
        if unit is None:
            return address
        column_of_units = "ldc" if document.unit == "LDC query" else "unit"
        row_selection = quote(f"{column_of_units}:{cell(unit)}", safe="")
        return f"{address}#units.only={row_selection}"

    # ---- Leaderboard

    def _leaderboard(self) -> Section:
        """Return the section of the leaderboard: charts of scores, and a table with links to the pages of the runs."""
        rows = []
        for row in self.document.leaderboard:
            cells = asdict(row)
            cells.update(_low_and_high(row.interval))
            cells["p_baseline"] = row.p_baseline or None
            position = self.position_by_run.get((row.run, row.run_id))
            has_page = self.document.pages and row.score is not None
            if position is not None and has_page:
                cells["run"] = link_to_file(row.run, self._address_of_run(row.policy, position))
            rows.append(cells)
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
        """Yield a chart for each policy: the scores of the best runs, with intervals and tiers if there are any."""
        document = self.document
        if document.bootstrap is None:
            title = "Scores"
            row_title = "run"
        else:
            title = "Scores with intervals"
            row_title = "run (tier)"
        for policy_number, policy in enumerate(document.policies):
            rows = []
            for row in document.leaderboard:
                if row.policy != policy or row.score is None:
                    continue
                position = self.position_by_run.get((row.run, row.run_id))
                label = row.run if position is None else self.labels[position]
                if row.tier is not None:
                    label += f" ({row.tier})"
                rows.append(Dots(label, {"score": row.score}, limits(row.interval, "score")))
            if not rows:
                continue
            about = ""
            if len(rows) > _MOST_DRAWN:
                about = f"The first {_MOST_DRAWN} of {len(rows)} runs. "
            caption = Caption(
                name=f"leaderboard-{policy_number}",
                title=title + self._policy_text(policy),
                across=document.measure,
                upwards=row_title,
                of=policy,
            )
            yield dots(caption, rows[:_MOST_DRAWN], introduction=about)

    # ---- Heat map

    def _heatmap(self) -> Section:
        """Return the section with the scores of all units in all runs: charts, and a table with a row for each unit.

        A cell of the table is a link to the unit on the page of the run.
        """
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
        """Return the cells of a unit: its mean, and its score in each run, coloured by the score.

        The cell of the run at position 0 has the key `r0`.
        """
        cells: dict[str, Any] = {"unit": scores.unit, "policy": scores.policy, "mean": _mean(scores.scores)}
        for position, score in enumerate(scores.scores):
            key = f"r{position}"
            if score is None:
                cells[key] = Cell(None)
            elif self.document.pages:
                address = self._address_of_run(scores.policy, position, scores.unit)
                cells[key] = link_to_file(score, address, shade(score))
            else:
                cells[key] = link_to_file(score, "", shade(score))
        return cells

    def heatmap_charts(self) -> Iterator[Drawing]:
        """Yield a chart of units by runs for each policy.

        If there are too many units for a chart, it shows those in which the scores of runs differ the most.
        """
        document = self.document
        for policy_number, policy in enumerate(document.policies):
            units = [row for row in document.queries if row.policy == policy]
            units_by_spread = sorted(units, key=lambda unit: _spread(unit.scores), reverse=True)
            drawn_units = units_by_spread[:_MOST_CELLS]
            rows = []
            texts = []
            for unit in units:  # in the order of the batch
                if unit not in drawn_units:
                    continue
                drawn_scores = unit.scores[:_MOST_CELLS]
                rows.append(GridRow(unit.unit, drawn_scores))
                mean = _mean(drawn_scores)
                if mean is not None:
                    texts.append(f"{unit.unit}: mean {mean:.4f}")
            if not rows or not self.labels:
                continue
            about = f"{'; '.join(texts)}."
            if len(units) > _MOST_CELLS:
                about += f" The {_MOST_CELLS} of {len(units)} in which runs differ the most."
            if len(self.labels) > _MOST_CELLS:
                about += f" The first {_MOST_CELLS} of {len(self.labels)} runs."
            caption = Caption(
                name=f"heatmap-{policy_number}",
                title=f"{document.unit_measure} by {document.unit} and run{self._policy_text(policy)}",
                across="run",
                upwards=document.unit,
                of=policy,
            )
            yield grid(caption, about, rows, self.labels[:_MOST_CELLS])

    # ---- What runs find together

    def _difficulty(self) -> Section:
        """Return the section that says how hard answers are to find.

        It counts the answers that no run, one run, two runs ... have found, and the answers that a run alone has found.
        """
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
            rows = []
            for answer_bin in _bins(row.found_by):
                count = answer_bin.answer_count
                rows.append(Bar(label=answer_bin.label, start=0.0, end=count, note=str(count)))
            noun = _plural(row.part)
            policy_number = self.document.policies.index(row.policy)
            caption = Caption(
                name=f"difficulty-{policy_number}-{slug(row.part)}",
                title=f"{noun.capitalize()} by how many runs found them{self._policy_text(row.policy)}",
                across=f"number of {noun}, of {row.total}",
                upwards="found by runs",
                of=_policy_and_part(row.policy, row.part),
            )
            yield bars(caption, rows, introduction="found by so many runs: ")

    def _agreement(self) -> Section:
        """Return the section about the agreement of pairs of runs, and the answers that several runs find together."""
        pair_rows = []
        union_rows = []
        for row in self.document.agreement:
            for pair in row.pairs:
                cells = asdict(pair)
                cells["policy"] = row.policy
                cells["a"] = self.labels[pair.a]
                cells["b"] = self.labels[pair.b]
                pair_rows.append(cells)
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
        """Yield a chart of runs by runs for each policy and part of gold: the agreement of their right answers."""
        if len(self.labels) < 2:
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
        """Return the chart of the agreement of the right answers of `pairs` of runs, as a grid of runs by runs.

        The cells of a run with itself are 1.
        """
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
        """Yield a chart for each policy and part of gold: the share of answers that one, two, three ... runs find."""
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
        """Return the section on how certain rankings are.

        It has the correlation of every two rankings, and how often each run comes first in a ranking.
        """
        pair_rows = []
        for pair in self.document.stability.pairs:
            cells = _low_and_high(pair.interval)
            cells["a"] = _ranking_text(pair.a)
            cells["b"] = _ranking_text(pair.b)
            cells["tau"] = pair.tau
            pair_rows.append(cells)
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
        """Yield a chart that compares the ranking of the leaderboard with each other ranking of the same runs.

        Rankings are by other measures or under other policies. There is no chart if there is only one ranking.
        """
        main_ranking = RunRanking(str(self.document.measure), self.document.policies[0])
        rows = []
        for pair in self.document.stability.pairs:
            if pair.tau is None:
                continue
            if pair.a == main_ranking:
                other_ranking = pair.b
            elif pair.b == main_ranking:
                other_ranking = pair.a
            else:
                continue
            rows.append(Dots(_ranking_text(other_ranking), {"tau-b": pair.tau}, limits(pair.interval, "tau-b")))
        if not rows:
            return
        caption = Caption(
            name="stability",
            title=f"Rankings against that by {_ranking_text(main_ranking)}",
            across="Kendall's tau-b (-1 to 1)",
            upwards="ranking",
        )
        start, end = DOT_PLACES
        correlations = Scale(start, end, low=-1.0, high=1.0, step=0.5)
        yield dots(caption, rows[:_MOST_RANKINGS], x_scale=correlations)

    CHARTS: ClassVar = {
        "leaderboard": interval_charts,
        "heatmap": heatmap_charts,
        "difficulty": difficulty_charts,
        "agreement": agreement_charts,
        "systems": systems_charts,
        "stability": stability_charts,
    }


def _found_together_chart(caption: Caption, shares_by_run_count: Sequence[FoundTogether]) -> Drawing:
    """Return the chart of the shares of the answers that one, two, three ... runs find.

    One curve is the share that at least one of so many runs finds, in the mean over all choices of runs. The other is
    the share that at least so many of all runs find. `shares_by_run_count` has the points of both curves, the first for
    one run.
    """
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
    """Return the limits of an interval as cells with the keys `low` and `high`; no cells without an interval."""
    if interval is None:
        return {}
    return asdict(interval)


def _mean(scores: Sequence[float | None]) -> float | None:
    """Return the mean of the scores that are not None, or None if there are none."""
    defined_scores = [score for score in scores if score is not None]
    if not defined_scores:
        return None
    return sum(defined_scores) / len(defined_scores)


def _spread(scores: Sequence[float | None]) -> float:
    """Return the distance of the highest from the lowest of the scores that are not None; -1 if there are none."""
    defined_scores = [score for score in scores if score is not None]
    if not defined_scores:
        return -1.0
    return max(defined_scores) - min(defined_scores)


class _Bin(NamedTuple):
    """How many answers were found by a number of runs within some limits; the label is `no run`, `3` or `3 to 4`."""

    label: str
    answer_count: int


def _bins(answer_counts: Sequence[int]) -> Iterator[_Bin]:
    """Yield how many answers were found by no run, by one run, by two ... in at most some two dozen bins.

    `answer_counts[k]` is the number of answers that exactly k runs found. If there are many runs, a bin takes several
    numbers of runs together: `1 to 3`, `4 to 6` ...
    """
    yield _Bin("no run", answer_counts[0])
    most_runs = len(answer_counts) - 1
    bin_width = math.ceil(len(answer_counts) / _MOST_BARS)
    for first in range(1, most_runs + 1, bin_width):
        last = min(first + bin_width - 1, most_runs)
        label = str(first) if first == last else f"{first} to {last}"
        yield _Bin(label, sum(answer_counts[first : last + 1]))


def _plural(part: str) -> str:
    """Return the plural of a part of gold: `class` -> `classes`."""
    if part.endswith("s"):
        return f"{part}es"
    return f"{part}s"


def _policy_and_part(policy: str, part: str) -> str:
    """Return the text that distinguishes a chart from others of its kind, its policy and part of gold: `sf class`.

    Either may be empty.
    """
    return f"{policy} {part}".strip()


def _ranking_text(ranking: RunRanking) -> str:
    """Return the measure of a ranking, with its policy if it has one: `SF-AP (sf)`."""
    if not ranking.policy:
        return ranking.measure
    return f"{ranking.measure} ({ranking.policy})"


# ---- Contradictions


def _contradictions_of_batch(batch: BatchOverview) -> Iterator[Contradiction]:
    """Yield the places of a batch that do not fit its runs or its policies, so that no page can be made of it."""
    yield from _lists_of_wrong_length(batch)
    # Runs are named by their positions.
    positions_of_runs: list[int] = []
    for agreement in batch.agreement:
        for pair in agreement.pairs:
            positions_of_runs += [pair.a, pair.b]
    for ranking in batch.stability.first:
        positions_of_runs += ranking.runs
    last_position = max(positions_of_runs, default=-1)
    if last_position >= len(batch.runs):
        yield Contradiction("", f"there is no run {last_position}")
    # All rows belong to a policy.
    for name_of_list in ("leaderboard", "queries", "answers", "agreement"):
        for position, row in enumerate(getattr(batch, name_of_list)):
            if row.policy not in batch.policies:
                yield Contradiction(f"/{name_of_list}/{position}/policy", "is no policy of the batch")
    lacks_counts = any(not row.found_by for row in batch.answers)
    if not batch.policies or lacks_counts:
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
