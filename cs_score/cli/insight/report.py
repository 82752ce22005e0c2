"""`cs-score report` and `cs-score plot`: what an analysis found, as a page or a chart to look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.cli.evidence import (
    GOLD,
    PREDICTIONS,
    input_files,
    measure_names,
    own_arguments,
    score,
    tell_notices,
    with_bar,
)
from cs_score.cli.evidence_modes import EVIDENCE_MODES, EvidenceMode
from cs_score.cli.form import Form, Parameter
from cs_score.cli.insight import coldstart
from cs_score.cli.insight.options import TOP, measure_option, top_of
from cs_score.cli.options import FORCE, CommandLine, Option
from cs_score.foundation.errors import UsageError
from cs_score.foundation.outputs import encoded, write_packed
from cs_score.foundation.planned_outputs import Format, OutputPlan, OwnOption, ending_of
from cs_score.report import BEGINNING

if TYPE_CHECKING:
    from collections.abc import Mapping

_OUT: Final = "--out"

_PAGES: Final = OwnOption(_OUT, {".html": Format(re.compile(re.escape(BEGINNING.encode())))}, "report.html")
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


def _report(line: CommandLine) -> int:
    """The page of a Cold Start run, or of an analysis that was written before. Raises UsageError, InputError."""
    if len(line.words) == 1 and ending_of(line.words[0]) == ".json":
        _refuse_switches(line)
        return _page(line, line.words, partial(_read, line.words[0]))
    return _page(line, list(coldstart.inputs(line)), lambda: _made(coldstart.analysis_of(line).as_json()))


def _report_evidence(mode: EvidenceMode, line: CommandLine) -> int:
    from cs_score.analysis.evidence.analysis import analyze
    from cs_score.analysis.evidence.modes.examiners import measure_of

    top = top_of(line)
    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))

    def analysed() -> Mapping[str, Any]:
        result = score(mode, *files, own)
        tell_notices(result)
        return _made(analyze(result, measure, progress=partial(with_bar, doing="analysing")).as_json(top))

    return _page(line, files, analysed)


def _read(name: str) -> Mapping[str, Any]:
    from cs_score.report.documents import read_document

    return read_document(name)


def _made(value: Mapping[str, object]) -> Mapping[str, Any]:
    from cs_score.report.documents import document_of

    return document_of(value)


def _refuse_switches(line: CommandLine) -> None:
    """Raises UsageError for switches that say how to score, where everything has been scored."""
    known = {_OUT, FORCE.name, "--quiet"}
    for name in line.switches:
        if name not in known:
            raise UsageError(f"{name} says what to analyse, but {line.words[0]} is an analysis already")


def _page(line: CommandLine, inputs: Sequence[str], document: Callable[[], Mapping[str, Any]]) -> int:
    from cs_score.report.documents import page_of
    from cs_score.report.rendering.html import require_templates

    require_templates()
    path = line.switches[_OUT] or ""
    plan = OutputPlan(inputs, list(_PAGES.outputs(path)), "--force" in line.switches)
    plan.check()
    plan.clear()
    write_packed(path, encoded([page_of(document())]))
    return 0


def _plot(line: CommandLine) -> int:
    from cs_score.report.documents import chart_of, read_document
    from cs_score.report.rendering.files import chart_bytes

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


_OUT_PAGE: Final = Option(_OUT, "FILE.html", "The page, one file that loads nothing from elsewhere")

_MEANING: Final = (
    (
        "Result",
        "A page that browsers show without a network: scores, error budget, scores by group, what every mistake costs, "
        "and how to make it again. Tables sort, filter and copy; what is shown stands in the address. Needs the "
        "extra report: pip install 'cs-score[report]'",
    ),
)

REPORT: Final = Form(
    "report",
    (*coldstart.SWITCHES, _OUT_PAGE, FORCE),
    (
        Parameter(
            "files",
            "What analyze --json or diff --json wrote, or the files that analyze takes: query files, the run, its "
            "assessments",
            is_repeated=True,
        ),
    ),
    required=(_OUT,),
    sections=lambda: _MEANING,
    body=_report,
)


def _evidence_form(mode: EvidenceMode) -> Form:
    return Form(
        f"report {mode.name}",
        (GOLD, PREDICTIONS, measure_option(partial(measure_names, mode.name)), TOP, _OUT_PAGE, FORCE, *mode.options),
        (),
        required=("--gold", "--predictions", _OUT),
        sections=lambda: (("Files", mode.files), *_MEANING),
        body=partial(_report_evidence, mode),
    )


EVIDENCE: Final = {name: _evidence_form(mode) for name, mode in EVIDENCE_MODES.items()}

PLOT: Final = Form(
    "plot",
    (
        Option(_OUT, "FILE", "The chart, as .svg, .pdf or .png by the ending of the name"),
        Option("--of", "NAME", "Which of several charts of a kind, such as the dimension of groups", "the first"),
        FORCE,
    ),
    (
        Parameter("kind", "The chart", choices=_chart_kinds),
        Parameter("analysis", "What analyze --json or diff --json wrote"),
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
                ("contributions", "What units contribute to the difference of two runs"),
            ),
        ),
    ),
    body=_plot,
)
