"""A call of the scorer as its command line asks for it: what is read, how it is scored, where results go."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cs_score.base.errors import OutputError
from cs_score.base.planned_outputs import Existing, OutputPlan, PlannedOutput, why_not_writable
from cs_score.base.records import Record
from cs_score.base.sources import Input, name_of
from cs_score.cli.destinations import Destination
from cs_score.cli.options import CommandLine
from cs_score.cli.parts_options import Division, read_division
from cs_score.cli.resampling_options import read_resampling
from cs_score.cli.scorer.options import defaults_of, layout_of, options_of, policy_texts
from cs_score.cli.scorer.switches import DEFAULTS, PROGRAM
from cs_score.coldstart.editions import AS_GIVEN, LATEST, edition_of
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Options
from cs_score.coldstart.outputs import Invocation, Layout, is_of_failed_call, written
from cs_score.coldstart.query_files import is_query_file

if TYPE_CHECKING:
    from cs_score.statistics.options import Resampling


class Call(Record):
    """What a command line asks for, understood and checked. Without `output` no table is written."""

    plan: OutputPlan
    options: Options
    layout: Layout
    output: Destination | None
    errors: Destination
    query_files: tuple[str, ...]
    files: tuple[Input, ...]
    knowledge_bases: frozenset[str]
    invocation: Invocation
    json_file: str | None
    problems_file: str | None
    validates: bool
    resampling: Resampling | None
    division: Division


def understand(line: CommandLine) -> Call:
    """Check the command line in the reference's order, so that the same fault is named first; touches no file."""
    output = Destination(line.text("-output_file", DEFAULTS["-output_file"]))
    if output.stream is None and (reason := why_not_writable(f"{output.text}.debug")) is not None:
        raise OutputError(
            f"Could not open {output.text} .  . lc(DEBUG): {reason}; -output_file is a prefix: {output.text}.debug and "
            "others are written, into a folder that must be there"
        )
    errors = Destination(line.text("-error_file", DEFAULTS["-error_file"]))
    existing = Existing.REPLACED if is_of_failed_call(errors.text) else Existing.REFUSED
    outputs = [*tables("-output_file", output, line), *errors.planned("-error_file", existing), *_own(line)]
    plan = planned(line, outputs)
    plan.check()
    return call_of(line, plan, output, errors)


def call_of(line: CommandLine, plan: OutputPlan, output: Destination | None, errors: Destination) -> Call:
    """The call that a command line asks for, with its outputs as planned. Raises UsageError."""
    defaults = defaults_of(line)
    options = options_of(line, defaults)
    return Call(
        plan=plan,
        options=options,
        layout=layout_of(line),
        output=output,
        errors=errors,
        query_files=tuple(word for word in line.words if is_query_file(word)),
        files=(*(word for word in line.words if not is_query_file(word)), *line.texts("--knowledge-base")),
        knowledge_bases=frozenset(line.texts("--knowledge-base")),
        invocation=Invocation(
            time.localtime(),
            os.getcwd(),
            (PROGRAM, *line.typed),
            policy_texts(line, defaults),
            options.samples is not None,
        ),
        json_file=line.switches.get("--json"),
        problems_file=line.switches.get("--problems"),
        validates="--validate" in line.switches,
        resampling=read_resampling(line.switches),
        division=read_division(line),
    )


def planned(line: CommandLine, outputs: Sequence[PlannedOutput], folder: str | None = None) -> OutputPlan:
    """What the call reads and writes; `folder` is one that it makes."""
    named = (*line.words, *filter(None, map(line.switches.get, ("-queries", "-samples"))))
    read = [name_of(member) for word in named for member in members(word)]
    return OutputPlan(read, outputs, "--force" in line.switches, folder)


def tables(option: str, output: Destination, line: CommandLine) -> Iterator[PlannedOutput]:
    """The files behind the prefix that an option names; none for a stream."""
    if output.stream is None:
        edition = edition_of(line.text("--follow", LATEST.name), line.text("--mention-types", AS_GIVEN))
        for file in written(line.switches, edition):
            yield PlannedOutput(option, f"{output.text}.{file.ending}", Existing.CLEARED)


def _own(line: CommandLine) -> Iterator[PlannedOutput]:
    """The files of the options that the reference does not have. Raises UsageError for a name they refuse."""
    if "--json" in line.switches:
        from cs_score.coldstart import documents

        yield from documents.OPTION.outputs(line.switches["--json"])
    yield from problems_report(line)


def problems_report(line: CommandLine) -> Iterator[PlannedOutput]:
    """The file of --problems. Raises UsageError for a name they refuse."""
    if "--problems" in line.switches:
        from cs_score.problems import reports as problem_reports

        yield from problem_reports.OPTION.outputs(line.switches["--problems"])
