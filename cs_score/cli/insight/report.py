"""`cs-score report`: what an analysis or a comparison found, as a page to look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import UsageError
from cs_score.base.outputs import encoded, write_packed
from cs_score.base.planned_outputs import Format, OutputPlan, OwnOption, ending_of
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
from cs_score.cli.insight import coldstart, difference, evidence
from cs_score.cli.insight.options import TOP, TOP_UNITS, measure_option, resampling_of, top_of
from cs_score.cli.options import FORCE, QUIET, CommandLine, Option
from cs_score.cli.resampling_options import COMPARISON_OPTIONS
from cs_score.report import BEGINNING, MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping

_OUT: Final = "--out"

_PAGES: Final = OwnOption(_OUT, {".html": Format(re.compile(re.escape(BEGINNING.encode())))}, "report.html")


def _report(line: CommandLine) -> int:
    """The page of one Cold Start run, of two, or of what was analysed before. Raises UsageError, InputError."""
    if len(line.words) == 1 and ending_of(line.words[0]) == ".json":
        _refuse_others(line, (), f"says what to analyse, but {line.words[0]} is an analysis already")
        return _page(line, line.words, partial(_read, line.words[0]))
    if COMPARE.name in line.switches:
        _refuse_others(line, (COMPARE, *difference.SWITCHES), "is not for --compare")
        top, resampling = top_of(line), resampling_of(line)
        files = difference.files_of_both(line)
        return _page(line, files, lambda: _made(difference.difference_of(line, resampling).as_json(top)))
    _refuse_others(line, coldstart.SWITCHES, "is for --compare")
    return _page(line, list(coldstart.inputs(line)), lambda: _made(coldstart.analysis_of(line).as_json(MOST_ROWS)))


def _report_evidence(mode: EvidenceMode, line: CommandLine) -> int:
    """The page of one file of predictions, or of two. Raises UsageError, InputError."""
    top = top_of(line)
    if COMPARE.name in line.switches:
        _refuse_others(line, (COMPARE, GOLD, _MEASURE, *_COMPARED, *mode.options), "is not for --compare")
        if len(line.words) != 2:
            raise UsageError(f"--compare takes two files of predictions, A and B, not {len(line.words)}")
        both, compared = evidence.comparing(mode, line)
        return _page(line, both, lambda: _made(compared().as_json(top)))
    _refuse_others(line, (GOLD, PREDICTIONS, _MEASURE, *_ANALYSED, *mode.options), "is for --compare")
    if PREDICTIONS.name not in line.switches or line.words:
        raise UsageError(f"unexpected word {line.words[0]}" if line.words else "--predictions FILE must be given")
    return _page(line, *_analysing(mode, line, top))


def _analysing(
    mode: EvidenceMode, line: CommandLine, top: int | None
) -> tuple[Sequence[str], Callable[[], Mapping[str, Any]]]:
    """The files of one analysis, and what analyses them. Raises UsageError."""
    from cs_score.analysis.evidence.analysis import analyze
    from cs_score.analysis.evidence.modes.examiners import measure_of

    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))

    def analysed() -> Mapping[str, Any]:
        result = score(mode, *files, own)
        tell_notices(result)
        return _made(analyze(result, measure, progress=partial(with_bar, doing="analysing")).as_json(top))

    return files, analysed


def _read(name: str) -> Mapping[str, Any]:
    from cs_score.report.documents import read_document

    return read_document(name)


def _made(value: Mapping[str, object]) -> Mapping[str, Any]:
    from cs_score.report.documents import document_of

    return document_of(value)


def _refuse_others(line: CommandLine, known: Iterable[Option], why: str) -> None:
    """Raises UsageError for an option that means nothing here."""
    names = {option.name for option in (*known, *_OF_EVERY_PAGE)}
    for name in line.switches:
        if name not in names:
            raise UsageError(f"{name} {why}")


def _page(line: CommandLine, inputs: Sequence[str], document: Callable[[], Mapping[str, Any]]) -> int:
    from cs_score.report.documents import page_of
    from cs_score.report.html import require_templates

    require_templates()
    path = line.switches[_OUT] or ""
    plan = OutputPlan(inputs, list(_PAGES.outputs(path)), "--force" in line.switches)
    plan.check()
    plan.clear()
    write_packed(path, encoded([page_of(document())]))
    return 0


_OUT_PAGE: Final = Option(_OUT, "FILE.html", "The page, one file that loads nothing from elsewhere")
COMPARE: Final = Option("--compare", None, "The page of a difference: of two runs, as diff takes them")
_OF_EVERY_PAGE: Final = (_OUT_PAGE, FORCE, QUIET)
_MEASURE: Final = measure_option(())
_ANALYSED: Final = (TOP,)
_COMPARED: Final = (TOP_UNITS, *COMPARISON_OPTIONS)
"""Options of the evidence modes' analyses and comparisons."""

_MEANING: Final = (
    (
        "Result",
        "A page that browsers show without a network: scores, error budget, scores by group, what every mistake costs, "
        "and how to make it again. Tables sort, filter and copy; what is shown stands in the address. Needs the "
        "extra report: pip install 'cs-score[report]'",
    ),
)


def _together(*options: Option) -> tuple[Option, ...]:
    """Options of two commands; one that both have is as the first has it."""
    return tuple({option.name: option for option in reversed(options)}.values())[::-1]


REPORT: Final = Form(
    "report",
    (COMPARE, *_together(*coldstart.SWITCHES, *difference.SWITCHES), _OUT_PAGE, FORCE),
    (
        Parameter(
            "files",
            "What analyze --json, diff --json or batch (batch.json) wrote, or the files that analyze takes: query "
            "files, the run, its assessments; with --compare two runs",
            is_repeated=True,
        ),
    ),
    required=(_OUT,),
    sections=lambda: _MEANING,
    body=_report,
)


def _evidence_form(mode: EvidenceMode) -> Form:
    measure = measure_option(partial(measure_names, mode.name))
    own = _together(GOLD, PREDICTIONS, measure, *_ANALYSED, *_COMPARED)
    return Form(
        f"report {mode.name}",
        (*own, COMPARE, _OUT_PAGE, FORCE, *mode.options),
        (
            Parameter("A", "With --compare: the predictions that are compared with", is_optional=True),
            Parameter("B", "With --compare: the predictions that are compared", is_optional=True),
        ),
        required=(GOLD.name, _OUT),
        sections=lambda: (("Files", mode.files), *_MEANING),
        body=partial(_report_evidence, mode),
    )


EVIDENCE: Final = {name: _evidence_form(mode) for name, mode in EVIDENCE_MODES.items()}
