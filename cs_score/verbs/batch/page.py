"""The page of a batch (many runs scored against the same gold), from `batch.json`, and its charts by kind.
It shows the leaderboard, the score of each unit (query, claim, question) in each run, which answers few runs found, how
much the runs agree, and how certain their ranks are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import quote

from cs_score.analysis.rankings import RankingLimits, RankingPair, RunRanking
from cs_score.base.display import safe_cell
from cs_score.base.records import asdict
from cs_score.measures import undefined_sentences
from cs_score.pages.charts import (
    DOT_PLACES,
    Bar,
    Caption,
    Dots,
    Drawing,
    GridRow,
    Scale,
    bar_chart,
    curve_chart,
    dot_chart,
    grid_chart,
    limits_by_series,
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
from cs_score.verbs.batch.batch_documents import BatchOverview, RankedRow, sentences_on_limits, sentences_on_tests
from cs_score.verbs.batch.folder_layout import page_name
from cs_score.verbs.batch.overview import Agreement, Difficulty, FoundTogether, Overlap, System, UnitScores

_RUNS_IN_SCORE_CHART: Final = 50
"""How many runs a chart of scores shows."""

_RANKINGS_IN_CHART: Final = 40
"""How many rankings a chart compares with that of the leaderboard."""

_MOST_RUNS_OR_UNITS_IN_HEAT_MAP: Final = 60
"""The most units, and the most runs, that a heat map shows."""

_RUNS_IN_AGREEMENT_CHART: Final = 40
"""How many runs a chart of agreement shows."""

_BARS_IN_DIFFICULTY_CHART: Final = 24
"""How many bars a chart of difficulty shows beside that of the answers that no run found."""

_SCALE_OF_CORRELATIONS: Final = Scale(*DOT_PLACES, low=-1.0, high=1.0, step=0.5)
"""The axis of a chart of correlations."""


class BatchPage(PageMaker):
    """The page of a batch (many runs scored against the same gold), and its charts. A run is known by its position in
    the document, counted from 0. Its label is its name, with the run id if several runs share the name. A *part* of
    gold is `class` in Cold Start, and a measure in evidence tasks.
    """

    document: BatchOverview

    def __init__(self, document: BatchOverview) -> None:
        """Prepare the page of `document`. Failed runs appear only in the leaderboard, and do not have a position."""
        super().__init__(document)
        self.labels = _labels_of_runs(document.runs)
        self.position_by_run: dict[tuple[str, str], int] = {}
        # A run is identified by its name in the batch (`run`) and the run id in its lines.
        for position, overview in enumerate(document.runs):
            self.position_by_run[overview.run, overview.run_id] = position

    def page(self) -> Page:
        """Return the page: leaderboard, heat map, difficulty, agreement and rank stability."""
        sections = [self._section_of_leaderboard(), self._section_of_heatmap()]
        if self.document.difficulties:
            sections.append(self._section_of_difficulty())
        sections += [self._section_of_agreement(), self._section_of_stability(), batch_origin()]
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

    # ---- Links to the pages of runs

    def _address_of_run(self, policy: str, position: int) -> str:
        """Return the address of a run's page under a policy, relative to the folder of the batch: `sf/run/out.html`.

        The folder of the policy is left out if there is only one policy.
        """
        run = self.document.runs[position]
        folders = [run.run]  # the folder of a run has the name of the run
        if len(self.document.policies) > 1:
            folders.insert(0, policy)
        path = [*folders, self._page_file(position)]
        return "/".join([quote(part, safe="", errors="surrogateescape") for part in path])

    def _page_file(self, position: int) -> str:
        """Return the name of the page of a run in its folder: `out.html`, or `out.2.html` if its file holds several."""
        name = self.document.runs[position].run  # runs of one file have the same name and different run ids
        positions_in_file = []
        for other_position, system in enumerate(self.document.runs):
            if system.run == name:
                positions_in_file.append(other_position)
        return page_name(positions_in_file.index(position), len(positions_in_file))

    def _address_of_unit(self, policy: str, position: int, unit: str) -> str:
        """Return the address of a unit on the page of a run: `run/out.html#units.only=unit%3AQ1`.

        The address leads to the table of units on that page, filtered to this unit.
        """
        column_of_units = "ldc" if self.document.unit == "LDC query" else "unit"
        cell_text = safe_cell(unit)  # as the table of units shows it
        row_selection = quote(f"{column_of_units}:{cell_text}", safe="")
        return f"{self._address_of_run(policy, position)}#units.only={row_selection}"

    # ---- Leaderboard

    def _section_of_leaderboard(self) -> Section:
        """Return the section of the leaderboard: charts of scores, and a table with links to the pages of the runs."""
        rows = [self._leaderboard_cells(row) for row in self.document.leaderboard]
        # A column with an empty heading shows the words of its key.
        headings = dict.fromkeys(("rank", "policy", "run", "run_id", "score", "low", "high", "tier"), "")
        headings["p_above"] = "p against the run above"
        headings["p_baseline"] = "p against the baseline"
        run_tables = table_of_rows("runs", "Leaderboard", rows, headings)
        blocks: list[Block] = [self._about_leaderboard(), charts_side_by_side(self.interval_charts()), *run_tables]
        return Section("leaderboard", "Leaderboard", blocks)

    def _leaderboard_cells(self, row: RankedRow) -> dict[str, Any]:
        """Return the cells of a row of the leaderboard by the key of the column: `{"rank": 1, "run": ..., ...}`.

        The name of a run that was scored is a link to its page, if the batch has pages.
        """
        cells = asdict(row)
        cells.update(_low_and_high(row.interval))
        cells["p_baseline"] = row.p_baseline or None  # it is not set in a batch without a baseline
        position = self.position_by_run.get((row.run, row.run_id))
        has_page = self.document.pages and row.score is not None
        if position is not None and has_page:
            cells["run"] = link_to_file(row.run, self._address_of_run(row.policy, position))
        return cells

    def _about_leaderboard(self) -> str:
        """Return the sentences above the leaderboard.

        They give the verdicts of the tests, explain how runs were tested and how confidence limits were computed, and
        list missing scores.
        """
        document = self.document
        sentences = sentences_on_tests(document.families, document.verdicts, document.measure)
        sentences.append(f"Ranked by {document.measure}.")
        if document.bootstrap is not None:
            # The document lists all units once for each policy.
            unit_count = len(document.unit_scores) // len(document.policies)
            sentences += sentences_on_limits(document.bootstrap, unit_count, document.families)
        sentences += _sentences_on_missing_scores(document.leaderboard)
        sentences += note_sentences(document.notes)
        return " ".join(sentences)

    def interval_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy: the scores of the best runs, with intervals and tiers if there are any."""
        for policy in self.document.policies:
            rows = self._dots_of_runs(policy)
            if rows:
                yield self._interval_chart(policy, rows)

    def _dots_of_runs(self, policy: str) -> list[Dots]:
        """Return the rows of a chart, one for each run with a score under a policy: its label, score and interval."""
        chart_rows = []
        for row in self.document.leaderboard:
            if row.policy == policy and row.score is not None:
                label = self._label_with_tier(row)
                chart_rows.append(Dots(label, {"score": row.score}, limits_by_series(row.interval, "score")))
        return chart_rows

    def _label_with_tier(self, row: RankedRow) -> str:
        """Return the label of the run of a row, followed by its tier if the row has one: `run (2)`.

        The runs in a tier do not differ significantly from its first run.
        """
        position = self.position_by_run.get((row.run, row.run_id))
        label = row.run if position is None else self.labels[position]
        if row.tier is None:
            return label
        return f"{label} ({row.tier})"

    def _interval_chart(self, policy: str, rows: Sequence[Dots]) -> Drawing:
        """Return the chart of the scores of runs under a policy.

        `rows` has a row for each run. Only the first `_RUNS_IN_SCORE_CHART` rows are drawn.
        """
        has_intervals = self.document.bootstrap is not None
        title = "Scores with intervals" if has_intervals else "Scores"
        introduction = ""
        if len(rows) > _RUNS_IN_SCORE_CHART:
            introduction = f"The first {_RUNS_IN_SCORE_CHART} of {len(rows)} runs. "
        caption = Caption(
            name=f"leaderboard-{self.document.policies.index(policy)}",
            title=title + self._policy_text(policy),
            x_title=self.document.measure,
            y_title="run (tier)" if has_intervals else "run",
            subject=policy,
        )
        return dot_chart(caption, rows[:_RUNS_IN_SCORE_CHART], introduction=introduction)

    # ---- Heat map

    def _section_of_heatmap(self) -> Section:
        """Return the section with the scores of all units in all runs: charts, and a table with a row for each unit.

        A cell of the table is a link to the unit on the page of the run.
        """
        document = self.document
        introduction = f"{document.unit_measure} of each {document.unit} in each run; the lowest means are the hardest."
        if document.pages:
            introduction += f" A cell leads to the page of the run at that {document.unit}."
        rows = [self._heatmap_cells(unit_scores) for unit_scores in document.unit_scores]
        title = f"Scores by {document.unit} and run"
        unit_tables = table_of_rows("units", title, rows, self._headings_of_heatmap(), is_linked=True)
        blocks: list[Block] = [introduction, charts_side_by_side(self.heatmap_charts()), *unit_tables]
        return Section("heatmap", "Heat map", blocks)

    def _headings_of_heatmap(self) -> dict[str, str]:
        """Return the headings of the table of units by the key of the column: `{"unit": "claim", ..., "r0": "run1"}`.

        The heading of the run at position 0 has the key `r0`. Policies have a column only if there are several.
        """
        headings = {"unit": self.document.unit}
        if len(self.document.policies) > 1:
            headings["policy"] = "Policy"
        headings["mean"] = "Mean"
        for position, label in enumerate(self.labels):
            headings[f"r{position}"] = label
        return headings

    def _heatmap_cells(self, unit_scores: UnitScores) -> dict[str, Any]:
        """Return the cells of a unit: its mean, and its score in each run, coloured by the score.

        The cell of the run at position 0 has the key `r0`.
        """
        mean = _mean(unit_scores.scores)
        cells: dict[str, Any] = {"unit": unit_scores.unit, "policy": unit_scores.policy, "mean": mean}
        for position in range(len(unit_scores.scores)):
            cells[f"r{position}"] = self._score_cell(unit_scores, position)
        return cells

    def _score_cell(self, unit_scores: UnitScores, position: int) -> Cell:
        """Return the cell with the score of a unit in the run at a position. It is a link if the run has a page.

        The cell is empty if the run has no score for the unit.
        """
        score = unit_scores.scores[position]
        if score is None:
            return Cell(None)
        address = ""  # no link
        if self.document.pages:
            address = self._address_of_unit(unit_scores.policy, position, unit_scores.unit)
        return link_to_file(score, address, shade(score))

    def heatmap_charts(self) -> Iterator[Drawing]:
        """Yield a chart of units by runs for each policy.

        If there are too many units for a chart, it shows those in which the scores of runs differ the most.
        """
        for policy in self.document.policies:
            units = [row for row in self.document.unit_scores if row.policy == policy]
            if units and self.labels:
                yield self._heatmap_chart(policy, units)

    def _heatmap_chart(self, policy: str, units: Sequence[UnitScores]) -> Drawing:
        """Return the chart of the scores of units under a policy in each run, with a row for each unit.

        If there are too many units or runs, the chart shows the units whose scores vary most, and the first runs.
        """
        document = self.document
        drawn_units = _units_with_most_spread(units)
        caption = Caption(
            name=f"heatmap-{document.policies.index(policy)}",
            title=f"{document.unit_measure} by {document.unit} and run{self._policy_text(policy)}",
            x_title="run",
            y_title=document.unit,
            subject=policy,
        )
        introduction = self._about_heatmap(drawn_units, len(units))
        rows = [GridRow(unit.unit, unit.scores[:_MOST_RUNS_OR_UNITS_IN_HEAT_MAP]) for unit in drawn_units]
        return grid_chart(caption, introduction, rows, self.labels[:_MOST_RUNS_OR_UNITS_IN_HEAT_MAP])

    def _about_heatmap(self, drawn_units: Sequence[UnitScores], unit_count: int) -> str:
        """Return the means of the units that a heat map shows, and how many of all units and runs it shows.

        `unit_count` is the number of all units.
        """
        introduction = _means_in_words(drawn_units)
        if unit_count > _MOST_RUNS_OR_UNITS_IN_HEAT_MAP:
            introduction += f" The {_MOST_RUNS_OR_UNITS_IN_HEAT_MAP} of {unit_count} in which runs differ the most."
        if len(self.labels) > _MOST_RUNS_OR_UNITS_IN_HEAT_MAP:
            introduction += f" The first {_MOST_RUNS_OR_UNITS_IN_HEAT_MAP} of {len(self.labels)} runs."
        return introduction

    # ---- What runs find together

    def _section_of_difficulty(self) -> Section:
        """Return the section that says how hard answers are to find.

        Its first table counts the answers that no run, one run, two runs ... have found. Its second table counts for
        each run the answers that this run alone has found.
        """
        introduction = "What is to be found, by how many runs have found it. What no run found is hardest."
        # A column with an empty heading shows the words of its key.
        found_headings = {"policy": "", "part": "", "times": "Runs that found it", "count": "Number"}
        only_headings = {"policy": "", "part": "", "run": "", "count": "Found by it alone"}
        blocks: list[Block] = [introduction, charts_side_by_side(self.difficulty_charts())]
        blocks += table_of_rows("found", "Found by so many runs", self._rows_by_finder_count(), found_headings)
        blocks += table_of_rows("only", "Found by one run alone", self._rows_by_only_finder(), only_headings)
        return Section("difficulty", "Difficulty", blocks)

    def _rows_by_finder_count(self) -> list[dict[str, Any]]:
        """Return a row for each policy, part of gold and number of runs: how many answers exactly that many runs found.

        The key "times" has the number of runs, and "count" the number of answers.
        """
        rows = []
        for difficulty in self.document.difficulties:
            for run_count, answer_count in enumerate(difficulty.found_by):
                rows.append(
                    {"policy": difficulty.policy, "part": difficulty.part, "times": run_count, "count": answer_count}
                )
        return rows

    def _rows_by_only_finder(self) -> list[dict[str, Any]]:
        """Return a row for each policy, part of gold and run: how many answers were found by this run alone."""
        rows = []
        for difficulty in self.document.difficulties:
            for label, answer_count in zip(self.labels, difficulty.found_alone_counts):
                rows.append({"policy": difficulty.policy, "part": difficulty.part, "run": label, "count": answer_count})
        return rows

    def difficulty_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy and part of gold: how many answers no run, one run, two ... have found."""
        for difficulty in self.document.difficulties:
            bars_of_chart = []
            for label, answer_count in _answer_counts_by_bin(difficulty.found_by).items():
                bars_of_chart.append(Bar(label=label, start=0.0, end=answer_count, note=str(answer_count)))
            yield bar_chart(
                self._caption_of_difficulty(difficulty), bars_of_chart, introduction="found by so many runs: "
            )

    def _caption_of_difficulty(self, difficulty: Difficulty) -> Caption:
        """Return the caption of the chart that counts the answers in a part of gold by their number of finders.

        A caption holds the name, title and axes of a chart. A finder of an answer is a run that found it.
        """
        noun = _plural(difficulty.part)  # such as "classes"
        policy_number = self.document.policies.index(difficulty.policy)
        return Caption(
            name=f"difficulty-{policy_number}-{slug(difficulty.part)}",
            title=f"{noun.capitalize()} by how many runs found them{self._policy_text(difficulty.policy)}",
            x_title=f"number of {noun}, of {difficulty.total}",
            y_title="found by runs",
            subject=_policy_and_part(difficulty.policy, difficulty.part),
        )

    def _section_of_agreement(self) -> Section:
        """Return the section about the agreement of pairs of runs, and the answers that several runs find together.

        The section also shows the score of the union, which is a run with the right answers of all runs.
        """
        introduction = (
            "Agreement is the share of the answers of two runs that both give (Jaccard): 1 where they give the same. "
            "The union is what all that is right in any run would score: no vote among these runs can do better. "
            "Recall is the mean over all choices of so many runs; agreed is what at least so many have found."
        )
        # A column with an empty heading shows the words of its key.
        pair_headings = {"policy": "", "part": "", "a": "Run", "b": "Other run"}
        pair_headings |= {"right": "Right answers", "wrong": "Wrong answers"}
        union_headings = {"policy": "", "measure": "", "score": "Score of the union"}
        blocks: list[Block] = [introduction, charts_side_by_side(self.agreement_charts(), self.shared_finding_charts())]
        blocks += table_of_rows("pairs", "Agreement of pairs", self._rows_of_pairs(), pair_headings)
        blocks += table_of_rows("union", "Union of all runs", self._rows_of_unions(), union_headings)
        return Section("agreement", "Agreement", blocks)

    def _rows_of_pairs(self) -> list[dict[str, Any]]:
        """Return a row for each policy and pair of runs: their labels, and the agreement of their answers."""
        rows = []
        for agreement in self.document.agreement:
            for pair in agreement.pairs:
                cells = asdict(pair)
                cells["policy"] = agreement.policy
                cells["a"] = self.labels[pair.a]
                cells["b"] = self.labels[pair.b]
                rows.append(cells)
        return rows

    def _rows_of_unions(self) -> list[dict[str, Any]]:
        """Return a row for each policy and measure: the score of the union of the right answers of all runs."""
        rows: list[dict[str, Any]] = []
        for agreement in self.document.agreement:
            for measure, score in agreement.union.scores.items():
                rows.append({"policy": agreement.policy, "measure": measure, "score": score})
        return rows

    def agreement_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy and part of gold, which shows how far the right answers of two runs agree."""
        if len(self.labels) < 2:
            return
        for agreement in self.document.agreement:
            parts = list(dict.fromkeys([pair.part for pair in agreement.pairs]))  # each part once
            if not parts:
                parts = [""]  # if there are no pairs, there is one empty chart
            for part in parts:
                pairs = [pair for pair in agreement.pairs if pair.part == part]
                yield self._agreement_chart(self._caption_of_agreement(agreement, part), pairs)

    def _caption_of_agreement(self, agreement: Agreement, part: str) -> Caption:
        """Return the name, title and axes of the chart of the agreement of runs under a policy, in a part of gold.

        The part is empty in Cold Start, where all answers are of the same sort.
        """
        name = f"agreement-{self.document.agreement.index(agreement)}"
        title = "Agreement of right answers (Jaccard)"
        if part:
            name += f"-{slug(part)}"
            title += f" by {part}"
        return Caption(
            name=name,
            title=title + self._policy_text(agreement.policy),
            x_title="run",
            y_title="run",
            subject=_policy_and_part(agreement.policy, part),
        )

    def _agreement_chart(self, caption: Caption, pairs: Sequence[Overlap]) -> Drawing:
        """Return the chart of the agreement of the right answers of `pairs` of runs, as a grid of runs by runs.

        The cells of a run with itself are 1.
        """
        labels = self.labels[:_RUNS_IN_AGREEMENT_CHART]
        agreement_by_pair = _agreement_by_pair(pairs)
        rows = []
        for position, label in enumerate(labels):
            cells = [agreement_by_pair.get((position, other)) for other in range(len(labels))]
            cells[position] = 1.0
            rows.append(GridRow(label, cells))
        return grid_chart(caption, _agreement_in_words(pairs, labels), rows, labels)

    def shared_finding_charts(self) -> Iterator[Drawing]:
        """Yield a chart for each policy and part of gold: the share of answers that one, two, three ... runs find."""
        for policy_number, agreement in enumerate(self.document.agreement):
            for part in dict.fromkeys([shares.part for shares in agreement.found_together]):
                shares_of_part = [shares for shares in agreement.found_together if shares.part == part]
                caption = self._caption_of_shared_findings(agreement.policy, policy_number, part)
                yield _found_together_chart(caption, shares_of_part)

    def _caption_of_shared_findings(self, policy: str, policy_number: int, part: str) -> Caption:
        """Return the caption of a chart of shared findings, for one policy and one part of gold, such as "class".

        The chart shows, for each number of runs, what share of the answers these runs find. A caption has the name,
        title and axes of the chart.
        """
        noun = _plural(part)  # such as "classes"
        return Caption(
            name=f"systems-{policy_number}-{slug(part)}",
            title=f"{noun.capitalize()} found by so many runs{self._policy_text(policy)}",
            x_title="number of runs",
            y_title="share",
            subject=_policy_and_part(policy, part),
        )

    # ---- Rank stability

    def _section_of_stability(self) -> Section:
        """Return the section on how certain rankings are.

        It has the correlation of every two rankings, and how often each run comes first in a ranking.
        """
        introduction = (
            "Kendall's tau-b between two rankings of the same runs: 1 where they are the same, -1 where one is the "
            "other reversed. How often each run comes first is counted over resamples, ties split evenly."
        )
        pair_headings = {"a": "Ranking", "b": "Other ranking", "tau": "tau-b", "low": "Low", "high": "High"}
        first_headings = {"a": "Ranking", "run": "Run", "is_first": "First", "share": "Share of resamples"}
        pair_rows = [_cells_of_correlation(pair) for pair in self.document.stability.pairs]
        blocks: list[Block] = [introduction, charts_side_by_side(self.stability_charts())]
        blocks += table_of_rows("rankings", "Pairs of rankings", pair_rows, pair_headings)
        blocks += table_of_rows("first", "First places", self._rows_of_first_places(), first_headings)
        return Section("stability", "Rank stability", blocks)

    def _rows_of_first_places(self) -> list[dict[str, Any]]:
        """Return a row for each ranking and each run that is first in it, or was first in some resample."""
        rows = []
        for ranking in self.document.stability.first_places:
            for position, share in enumerate(ranking.shares):
                is_first = position in ranking.first_positions
                if share or is_first:
                    cells = _cells_of_first_place(ranking, self.labels[position], share, is_first=is_first)
                    rows.append(cells)
        return rows

    def stability_charts(self) -> Iterator[Drawing]:
        """Yield at most one chart, which compares the ranking of the leaderboard with every other ranking of its runs.

        The other rankings are by other measures or under other policies. If there are none, there is no chart.
        """
        main_ranking = RunRanking(str(self.document.measure), self.document.policies[0])
        rows = _dots_of_rankings(main_ranking, self.document.stability.pairs)
        if not rows:
            return
        caption = Caption(
            name="stability",
            title=f"Rankings against that by {_ranking_text(main_ranking)}",
            x_title="Kendall's tau-b (-1 to 1)",
            y_title="ranking",
        )
        yield dot_chart(caption, rows[:_RANKINGS_IN_CHART], x_scale=_SCALE_OF_CORRELATIONS)

    CHARTS: ClassVar = {
        "leaderboard": interval_charts,
        "heatmap": heatmap_charts,
        "difficulty": difficulty_charts,
        "agreement": agreement_charts,
        "systems": shared_finding_charts,
        "stability": stability_charts,
    }


def _labels_of_runs(systems: Sequence[System]) -> list[str]:
    """Return a label for each run: its name, followed by the run id if several runs share the name: `"kb ID2"`."""
    count_by_name = Counter([system.run for system in systems])
    labels = []
    for system in systems:
        has_own_name = count_by_name[system.run] == 1
        labels.append(system.run if has_own_name else f"{system.run} {system.run_id}")
    return labels


def _sentences_on_missing_scores(rows: Iterable[RankedRow]) -> list[str]:
    """Return a sentence for each run and reason why some measures are undefined: `run has no SF-AP: ...`."""
    sentences = []
    for row in rows:
        for measures_and_reason in undefined_sentences(row.undefined or {}):
            sentences.append(f"{row.run} has no {measures_and_reason}; it has no rank by these.")
    return sentences


def _means_in_words(drawn_units: Iterable[UnitScores]) -> str:
    """Return the mean score of each unit in the runs that a heat map shows: `"Q1: mean 0.5000; Q2: mean 0.2500."`."""
    texts = []
    for unit_scores in drawn_units:
        mean = _mean(unit_scores.scores[:_MOST_RUNS_OR_UNITS_IN_HEAT_MAP])
        if mean is not None:
            texts.append(f"{unit_scores.unit}: mean {mean:.4f}")
    return f"{'; '.join(texts)}."


def _units_with_most_spread(units: Sequence[UnitScores]) -> list[UnitScores]:
    """Return the units in which the scores of runs differ most, in the order of `units`; a heat map shows them."""
    units_by_spread = sorted(units, key=lambda unit: _spread(unit.scores), reverse=True)
    drawn_units = units_by_spread[:_MOST_RUNS_OR_UNITS_IN_HEAT_MAP]
    return [unit for unit in units if unit in drawn_units]


def _agreement_by_pair(pairs: Iterable[Overlap]) -> dict[tuple[int, int], float | None]:
    """Return the agreement of the right answers of each two runs: `{(0, 1): 0.5, (1, 0): 0.5}`.

    The key has the positions of the two runs, in either order.
    """
    agreement_by_pair = {}
    for pair in pairs:
        agreement_by_pair[pair.a, pair.b] = pair.right
        agreement_by_pair[pair.b, pair.a] = pair.right
    return agreement_by_pair


def _agreement_in_words(pairs: Iterable[Overlap], labels: Sequence[str]) -> str:
    """Describe how far the right answers of each pair of runs agree: `"run1 and run2 0.5000; ..."`.

    `labels` are the labels of the runs in the chart. Pairs with other runs are left out. If there are no pairs, the
    text is a full stop.
    """
    texts = []
    for pair in pairs:
        is_drawn = max(pair.a, pair.b) < len(labels)
        if is_drawn and pair.right is not None:
            texts.append(f"{labels[pair.a]} and {labels[pair.b]} {pair.right:.4f}")
    return f"{'; '.join(texts)}."


def _cells_of_correlation(pair: RankingPair) -> dict[str, Any]:
    """Return the cells of two rankings: their names, their correlation, and its limits if there are any."""
    cells = _low_and_high(pair.interval)
    cells["a"] = _ranking_text(pair.a)
    cells["b"] = _ranking_text(pair.b)
    cells["tau"] = pair.tau
    return cells


def _cells_of_first_place(ranking: RunRanking, label: str, share: float | None, *, is_first: bool) -> dict[str, Any]:
    """Return the cells of a run in a ranking: whether it is first, and the share of resamples in which it was first."""
    return {"a": _ranking_text(ranking), "run": label, "is_first": "yes" if is_first else "no", "share": share}


def _dots_of_rankings(main_ranking: RunRanking, pairs: Iterable[RankingPair]) -> list[Dots]:
    """Return the row of a chart for each ranking that is compared with the main one: its name and its correlation.

    `pairs` compare all rankings. Pairs without the main ranking, and those without a correlation, are left out.
    """
    rows = []
    for pair in pairs:
        other_ranking = _other_ranking(pair, main_ranking)
        if other_ranking is not None and pair.tau is not None:
            rows.append(
                Dots(_ranking_text(other_ranking), {"tau-b": pair.tau}, limits_by_series(pair.interval, "tau-b"))
            )
    return rows


def _other_ranking(pair: RankingPair, ranking: RunRanking) -> RunRanking | None:
    """Return the ranking of a pair other than `ranking`, or None if `ranking` does not belong to the pair."""
    if pair.a == ranking:
        return pair.b
    if pair.b == ranking:
        return pair.a
    return None


def _found_together_chart(caption: Caption, shares_by_run_count: Sequence[FoundTogether]) -> Drawing:
    """Return the chart of the shares of the answers that one, two, three ... runs find.

    At k runs, one curve has the share that at least one of k runs finds, as the mean over all choices of k runs. The
    other curve has the share that at least k of all runs find. `shares_by_run_count` has the points of both curves, the
    first for one run.
    """
    found_by_any: list[tuple[float, float]] = []
    found_by_so_many: list[tuple[float, float]] = []
    for shares in shares_by_run_count:
        if shares.found_by_any is not None:
            found_by_any.append((shares.run_count, shares.found_by_any))
        if shares.found_by_at_least is not None:
            found_by_so_many.append((shares.run_count, shares.found_by_at_least))
    curves = {"found by any": found_by_any, "found by so many at least": found_by_so_many}
    texts = [_shares_in_words(shares) for shares in shares_by_run_count]
    return curve_chart(caption, f"{'; '.join(texts)}.", curves)


def _shares_in_words(shares: FoundTogether) -> str:
    """Describe the shares of answers found by a number of runs, such as `"2 runs: recall 0.7500, agreed 0.2500"`.

    For a given number of runs, the recall is the mean share of answers found by any of that many runs. The agreed share
    is the share found by at least that many runs.
    """
    numbers = []
    if shares.found_by_any is not None:
        numbers.append(f"recall {shares.found_by_any:.4f}")
    if shares.found_by_at_least is not None:
        numbers.append(f"agreed {shares.found_by_at_least:.4f}")
    return f"{shares.run_count} runs: {', '.join(numbers)}"


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


def _answer_counts_by_bin(answer_counts: Sequence[int]) -> dict[str, int]:
    """Return how many answers were found by no run, by one run, by two ... as numbers for the bars of a chart.

    `answer_counts[k]` is the number of answers that exactly k runs found: `[5, 3, 1]` gives `{"no run": 5, "1": 3, "2":
    1}`. If there are many runs, a bar (bin) is for several numbers of runs: `"1 to 3"`, `"4 to 6"`.
    """
    count_by_bin = {"no run": answer_counts[0]}
    run_count = len(answer_counts) - 1
    bin_width = math.ceil(len(answer_counts) / _BARS_IN_DIFFICULTY_CHART)
    for first in range(1, run_count + 1, bin_width):
        last = min(first + bin_width - 1, run_count)
        label = str(first) if first == last else f"{first} to {last}"
        count_by_bin[label] = sum(answer_counts[first : last + 1])
    return count_by_bin


def _plural(part: str) -> str:
    """Return the plural of the name of a part of gold: `class` -> `classes`."""
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
    """Yield the contradictions in the document of a batch. No page can be made if there are any.

    - A list does not have one entry for each run.
    - A run is named by a position outside the list of runs.
    - A policy is named but not listed.
    - There are no policies, or answers lack the numbers of runs that found them.
    """
    yield from _lists_of_wrong_length(batch)
    last_position = max(_positions_of_runs(batch), default=-1)
    if last_position >= len(batch.runs):
        yield Contradiction("", f"there is no run {last_position}")
    yield from _unknown_policies(batch)
    lacks_counts = any(not row.found_by for row in batch.difficulties)
    if not batch.policies or lacks_counts:
        yield Contradiction("", "there are no policies, or no numbers of runs")


def _positions_of_runs(batch: BatchOverview) -> list[int]:
    """Return all positions by which the agreement and the first places of a batch name its runs."""
    positions: list[int] = []
    for agreement in batch.agreement:
        for pair in agreement.pairs:
            positions += [pair.a, pair.b]
    for ranking in batch.stability.first_places:
        positions += ranking.first_positions
    return positions


def _unknown_policies(batch: BatchOverview) -> Iterator[Contradiction]:
    """Yield a contradiction for each row of a batch that refers to a policy that is not in the batch."""
    rows_by_key: dict[str, Sequence[RankedRow | UnitScores | Difficulty | Agreement]] = {
        "leaderboard": batch.leaderboard,
        "queries": batch.unit_scores,
        "answers": batch.difficulties,
        "agreement": batch.agreement,
    }
    for key, rows in rows_by_key.items():
        for position, row in enumerate(rows):
            if row.policy not in batch.policies:
                yield Contradiction(f"/{key}/{position}/policy", "is no policy of the batch")


def _lists_of_wrong_length(batch: BatchOverview) -> Iterator[Contradiction]:
    """Yield the lists of a batch that should have an entry for each run, but have another number."""
    run_count = len(batch.runs)
    for place, entry_count in _lengths_of_lists_by_run(batch).items():
        if entry_count != run_count:
            yield Contradiction(place, f"must have an entry for each of {run_count} runs")


def _lengths_of_lists_by_run(batch: BatchOverview) -> dict[str, int]:
    """Return the length of each list that should have an entry for each run: `{"/queries/0/scores": 3, ...}`.

    Each key is the place of a list in the document.
    """
    length_by_place = {}
    for position, unit_scores in enumerate(batch.unit_scores):
        length_by_place[f"/queries/{position}/scores"] = len(unit_scores.scores)
    for position, difficulty in enumerate(batch.difficulties):
        length_by_place[f"/answers/{position}/only"] = len(difficulty.found_alone_counts)
    for position, ranking in enumerate(batch.stability.first_places):
        # The share of resamples in which each run is first.
        length_by_place[f"/stability/first/{position}/shares"] = len(ranking.shares)
    return length_by_place
