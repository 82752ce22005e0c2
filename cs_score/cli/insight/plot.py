"""`cs-score plot`: one chart of what an analysis, a comparison or a batch found, for a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cs_score.base.outputs import write_packed
from cs_score.base.planned_outputs import Format, OutputPlan, OwnOption, ending_of
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import FORCE, CommandLine, Option

_OUT: Final = "--out"

_UNKNOWN: Final = Format(re.compile(rb"(?!)"))
"""Of files that do not tell who wrote them: only force replaces them."""
_PLOTS: Final = OwnOption(
    _OUT,
    {
        ".svg": Format(re.compile(rb'<svg xmlns="http://www.w3.org/2000/svg" [^>]*class="chart"')),
        ".pdf": _UNKNOWN,
        ".png": _UNKNOWN,
    },
    "chart.svg",
)


def _plot(line: CommandLine) -> int:
    from cs_score.report.documents import chart_of, read_document
    from cs_score.report.drawing import chart_bytes

    kind, name = line.words
    path = line.switches[_OUT] or ""
    plan = OutputPlan([name], list(_PLOTS.outputs(path)), "--force" in line.switches)
    plan.check()
    drawing = chart_of(read_document(name), kind, line.switches.get("--of"))
    plan.clear()
    write_packed(path, [chart_bytes(drawing, ending_of(path))])
    return 0


def _chart_kinds() -> Sequence[str]:
    from cs_score.report.documents import CHART_KINDS

    return CHART_KINDS


PLOT: Final = Form(
    "plot",
    (
        Option(_OUT, "FILE", "The chart, as .svg, .pdf or .png by the ending of the name"),
        Option("--of", "NAME", "Which of several charts of a kind, such as the dimension of groups", "the first"),
        FORCE,
    ),
    (
        Parameter("kind", "The chart", choices=_chart_kinds),
        Parameter("analysis", "What analyze --json, diff --json or batch (batch.json) wrote"),
    ),
    required=(_OUT,),
    sections=lambda: (
        (
            "Charts",
            (
                ("budget", "What mending each kind of mistakes alone would bring"),
                ("cumulated", "The score with one kind after the other mended"),
                ("groups", "Precision, recall and F1 by slot, hop and so on"),
                ("sweep", "Scores by confidence threshold"),
                ("reliability", "How often answers of a confidence are right"),
                ("confusions", "Categories by slot, or labels predicted for those of gold"),
                ("precision", "Precision at each rank of a query's nodes"),
                ("contributions", "What units contribute to the difference of two runs"),
                ("leaderboard", "Scores of many runs with intervals and tiers"),
                ("heatmap", "Scores of queries, claims and so on by runs"),
                ("difficulty", "What is to be found, by how many runs have found it"),
                ("agreement", "How far the right answers of runs are the same"),
                ("systems", "What more and more runs find together"),
                ("stability", "How far rankings by other measures and policies are the same"),
            ),
        ),
    ),
    body=_plot,
)
