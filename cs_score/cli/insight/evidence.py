"""`cs-score analyze MODE --gold GOLD --predictions PREDICTIONS`: why predictions score as they do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.cli.evidence import (
    COMMANDS,
    GOLD,
    PREDICTIONS,
    EvidenceCommand,
    input_files,
    measure_names,
    tell_notices,
    with_bar,
)
from cs_score.cli.form import Form
from cs_score.cli.insight.options import (
    TOP,
    TSV,
    deliver,
    make_way,
    measure_option,
    result_options,
    top_of,
    write_tables,
)
from cs_score.cli.options import CommandLine

if TYPE_CHECKING:
    from cs_score.evidence.result import Result


def _analyze(command: EvidenceCommand, line: CommandLine) -> int:
    from cs_score.analysis.evidence import tables
    from cs_score.analysis.evidence.analysis import analyze
    from cs_score.analysis.evidence.examiners import measure_of
    from cs_score.analysis.evidence.text import TOP as SHOWN
    from cs_score.analysis.evidence.text import analysis_text

    top = top_of(line)
    files, own = input_files(line), command.own(line)
    measure = measure_of(command.name, line.switches.get("--measure"))
    make_way(line, files, "score", {name: tables.header(columns) for name, columns in tables.COLUMNS.items()})
    analysis = analyze(_scored(command, files, own), measure, progress=partial(with_bar, doing="analysing"))
    if (folder := line.switches.get(TSV)) is not None:
        write_tables(folder, ((table.name, table.blocks()) for table in tables.tables(analysis, top)))
    deliver(line, lambda: analysis.as_json(top), lambda width: analysis_text(analysis, width, top or SHOWN))
    return 0


def _scored(command: EvidenceCommand, files: tuple[str, str], own: Mapping[str, Any]) -> Result:
    result = command.score(*files, own)
    tell_notices(result)
    return result


def _analyze_form(command: EvidenceCommand) -> Form:
    return Form(
        f"analyze {command.name}",
        (
            GOLD,
            PREDICTIONS,
            measure_option(partial(measure_names, command.name)),
            TOP,
            *result_options("the analysis", tables=True),
            *command.options,
        ),
        (),
        required=("--gold", "--predictions"),
        sections=lambda: (("Files", command.files), *_MEANING),
        body=partial(_analyze, command),
    )


_MEANING: Final = (
    (
        "Mistakes",
        "A mistake is one abstract, sentence, fact, label or answer. Its gain is the difference between two scores: of "
        "predictions in which it is mended, and of those given. Gains of several mistakes do not add up.",
    ),
)

ANALYZE_SCIFACT, ANALYZE_CLAIMS, ANALYZE_R4C, ANALYZE_HOTPOTQA = map(_analyze_form, COMMANDS.values())
