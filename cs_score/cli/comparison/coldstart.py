"""`cs-score compare coldstart [switches] files...`: Cold Start runs compared, each scored as if it were alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cs_score.base.errors import InputError, UsageError
from cs_score.cli.comparison.options import comparison_options, make_way, print_comparison, read_settings
from cs_score.cli.destinations import say
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import CommandLine
from cs_score.cli.scorer.command import legend, policies
from cs_score.cli.scorer.options import defaults_of, options_of
from cs_score.cli.scorer.switches import POLICY, SCORING
from cs_score.coldstart.query_files import is_query_file
from cs_score.measures.registry import COLD_START_MODE, rankable


def _measures() -> Iterable[str]:
    return map(str, rankable(COLD_START_MODE, True))


def _run(line: CommandLine) -> int:
    """Compare as the command line says.

    Raises UsageError for an impossible command line, InputError where a run cannot be scored or compared.
    """
    from cs_score.coldstart.scorer import run_files, score_separately

    settings = read_settings(line)
    if "-" in line.words:
        raise UsageError("standard input cannot be read once for each run: name a file")
    options = options_of(line, defaults_of(line))
    queries = [word for word in line.words if is_query_file(word)]
    runs, assessments = run_files([word for word in line.words if not is_query_file(word)])
    make_way(line, line.words)
    if len(runs) < 2:
        raise UsageError(
            f"a comparison needs at least two run files, not {len(runs)}; see cs-score compare coldstart -help"
        )

    from cs_score.analysis.comparison import compare_coldstart, system_names

    results = dict(zip(system_names(runs), score_separately(queries, assessments, runs, options)))
    for name, result in results.items():
        for remark in result.warnings:
            _remark(name, remark)
        if result.error_count:
            _remark(name, f"{result.error_count} errors in the input; score the run by itself to see them")
    compared = compare_coldstart(results, settings.resampling, measures=settings.measures, common=settings.common)
    print_comparison(compared, settings)
    return 0


def _remark(system: str, remark: str) -> None:
    say(f"cs-score: warning: {InputError(remark, file=system)}\n")


FORM: Final = Form(
    "compare coldstart",
    (*SCORING, POLICY, *comparison_options(_measures)),
    (
        Parameter(
            "files",
            "Query files (names ending in .xml, perhaps compressed), assessment files, and two or more runs, in any "
            "order. Each run is scored with all queries and assessments as if alone. A folder stands for its files "
            "*.tab.txt",
            is_optional=True,
            is_repeated=True,
        ),
    ),
    sections=lambda: (policies(), *legend()),
    body=_run,
)
