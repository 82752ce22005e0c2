"""Writing the files of the scorer's command line from Python."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping, Sequence

from cs_score.api.coldstart.scored import Scored
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import write_whole
from cs_score.base.planned_outputs import Existing, OutputPlan, PlannedOutput
from cs_score.base.records import replace
from cs_score.base.signing.origin import QUERY_LIST, SAMPLES
from cs_score.coldstart.options import Options
from cs_score.coldstart.outputs import (
    DEFAULT_FIELDS,
    Invocation,
    Layout,
    check_fields,
    doubly_encoded,
    file_blocks,
    resampled_metrics,
    whole_report,
    written,
)
from cs_score.coldstart.result import Result
from cs_score.coldstart.result import RunResult as OneRun


def write(
    scored: Scored,
    prefix: str | os.PathLike[str],
    fields: Sequence[str] | None,
    tabs: bool,
    error_file: str | os.PathLike[str] | None,
) -> list[str]:
    """Write the files of a result, and its problem report; returns their paths. Raises as `RunResult.write`."""
    layout = Layout(DEFAULT_FIELDS if fields is None else fields, tabs)
    try:
        check_fields(layout.fields)
    except InputError as error:
        raise UsageError(str(error)) from None
    result, stem = scored.result, os.fspath(prefix)
    options = result.options
    switches = other_switches(options, layout) | policy_switches(options)
    outputs = [PlannedOutput("prefix", f"{stem}.{file.ending}", Existing.CLEARED) for file in written(switches)]
    errors = None if error_file is None else os.fspath(error_file)
    if errors is not None:
        outputs.append(PlannedOutput("error_file", errors, Existing.REFUSED))
    plan = OutputPlan([given.name for given in result.origin.inputs], outputs)
    plan.check()
    words = [*words_of(switches), "-output_file", stem, *_files(result)]
    invocation = Invocation(
        time.localtime(), os.getcwd(), ["cs-score", *map(shlex.quote, words)], options.policy.texts(),
        options.samples is not None,
    )  # fmt: skip
    for ending, blocks in file_blocks(_resampled_as_shown(scored, layout), layout, invocation):
        write_whole(f"{stem}.{ending}", blocks)
    if errors is not None:
        report = whole_report(result.problems, result.error_count, result.warning_count)
        write_whole(errors, [doubly_encoded(report)])
    return [output.path for output in outputs]


def _resampled_as_shown(scored: Scored, layout: Layout) -> Result:
    """The result with resamples of just the scores that its tables show: the reference resamples these."""
    result = scored.result
    metrics = resampled_metrics(layout.fields)
    if all(run.bootstrap is None for run in result.runs) or metrics == result.options.metrics:
        return result
    from cs_score.coldstart.resampling import bootstrap

    queries = scored.run.gold.table
    runs: list[OneRun] = []
    for run in result.runs:
        if run.bootstrap is not None:
            tables, samples = run.tables, run.bootstrap.samples
            run = replace(run, bootstrap=bootstrap(tables.sf, tables.measures, samples, queries, metrics))
        runs.append(run)
    return replace(result, runs=tuple(runs))


def policy_switches(options: Options) -> dict[str, str]:
    """The switches that choose a policy and its limits, with their values."""
    sides = {f"-{side.lower()}": text for side, text in options.policy.texts().items()}
    return {"-justifications": str(options.justifications), **sides}


def other_switches(options: Options, layout: Layout) -> dict[str, str | None]:
    """The other switches of a command line that scores like this, with their values."""
    given = {
        "-discipline": options.discipline,
        "-expand": options.expand,
        "-queries": options.queries,
        "-runids": None if options.runids is None else ":".join(options.runids),
        "-samples": options.samples,
        "-fields": None if layout.fields == DEFAULT_FIELDS else ":".join(layout.fields),
    }
    chosen: dict[str, str | None] = {name: value for name, value in given.items() if value is not None}
    return chosen | ({"-tabs": None} if layout.tabs else {})


def words_of(switches: Mapping[str, str | None]) -> list[str]:
    """Switches as words of a command line."""
    return [word for name, value in switches.items() for word in (name, value) if word is not None]


def _files(result: Result) -> list[str]:
    """The files of that command line, without those that switches name."""
    return [given.name for given in result.origin.inputs if given.role not in (QUERY_LIST, SAMPLES)]
