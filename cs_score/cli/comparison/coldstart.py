"""`cs-score compare coldstart [switches] files...`: Cold Start runs compared, each scored as if it were alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.cli.comparison.options import OPTIONS, print_comparison, read_settings
from cs_score.cli.destinations import print_text, write_text
from cs_score.cli.resampling_options import COMPARISON_OPTIONS, switches
from cs_score.cli.scorer.options import options_of
from cs_score.cli.scorer.usage import SWITCHES, legend
from cs_score.cli.switches import HelpWanted, Switch, SwitchError, read_command_line, switch_help
from cs_score.coldstart.many_runs import run_files, score_separately
from cs_score.coldstart.queries.query_files import is_query_file
from cs_score.foundation.errors import InputError, UsageError

PROGRAM: Final = "cs-score compare coldstart"

# Those of the scorer's switches that say how a run is scored; each run has a file of its own and none is written.
_SCORING: Final = ("-discipline", "-expand", "-ignore", "-justifications", "-queries", "-right", "-wrong")

COMPARISON_SWITCHES: Final = (
    *(switch for switch in SWITCHES if switch.name in _SCORING),
    *switches(COMPARISON_OPTIONS),
    *(Switch(option.name, option.value, option.help) for option in OPTIONS),
    Switch("-help", None, "Show this text"),
    Switch("-h", None, "Show this text", is_listed=False),
)


def run(words: Sequence[str]) -> None:
    """Compare as the words after `compare coldstart` say.

    Raises UsageError for a command line that means nothing, InputError where a run cannot be scored or compared.
    """
    try:
        line = read_command_line(["-help" if word == "--help" else word for word in words], COMPARISON_SWITCHES)
    except HelpWanted:
        print_text(usage_text())
        return
    except SwitchError as error:
        raise UsageError(f"{str(error).removeprefix('ERROR: ')}; see {PROGRAM} -help") from None
    settings = read_settings({name: True if value is None else value for name, value in line.switches.items()})
    if "-" in line.words:
        raise UsageError("standard input cannot be read once for each run: name a file")
    options = options_of(line)
    queries = [word for word in line.words if is_query_file(word)]
    runs, assessments = run_files([word for word in line.words if not is_query_file(word)])
    if len(runs) < 2:
        raise UsageError(f"a comparison needs at least two run files, not {len(runs)}; see {PROGRAM} -help")

    from cs_score.analysis.comparison import compare_coldstart, system_names

    results = dict(zip(system_names(runs), score_separately(queries, assessments, runs, options)))
    for name, result in results.items():
        for remark in result.warnings:
            _remark(name, remark)
        if result.error_count:
            _remark(name, f"{result.error_count} errors in the input; score the run by itself to see them")
    compared = compare_coldstart(results, settings.resampling, measures=settings.measures, common=settings.common)
    print_comparison(compared, settings)


def _remark(system: str, remark: str) -> None:
    write_text("stderr", f"cs-score: warning: {InputError(remark, file=system)}\n")


def usage_text() -> str:
    """The text of `-help`."""
    return (
        f"{PROGRAM}:  Compare two or more Cold Start runs on the same queries and assessments\n\n"
        f"Usage: {PROGRAM} {{-switch {{-switch ...}}}} files...\n\n"
        f"Legal switches are:\n{switch_help(COMPARISON_SWITCHES)}\n\n"
        "Parameters are:\n"
        "files are query files (names ending in .xml, perhaps compressed), assessment files, and two or more runs, in\n"
        "any order. Each run is scored with all queries and assessments as if alone. A folder stands for its files\n"
        "*.tab.txt.\n\n"
        f"{legend().rstrip()}"
    )
