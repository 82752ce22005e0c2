"""`cs-score analyze MODE --gold GOLD --predictions PREDICTIONS`: why predictions score as they do."""

from __future__ import annotations

from collections.abc import Mapping
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


def _analyze(mode: EvidenceMode, line: CommandLine) -> int:
    from cs_score.analysis.evidence import tables
    from cs_score.analysis.evidence.analysis import analyze
    from cs_score.analysis.evidence.examiners import measure_of
    from cs_score.analysis.evidence.text import TOP as SHOWN
    from cs_score.analysis.evidence.text import analysis_text

    top = top_of(line)
    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))
    make_way(line, files, "score", {name: tables.header(columns) for name, columns in tables.COLUMNS.items()})
    analysis = analyze(_scored(mode, files, own), measure, progress=partial(with_bar, doing="analysing"))
    if (folder := line.switches.get(TSV)) is not None:
        write_tables(folder, ((table.name, table.blocks()) for table in tables.tables(analysis, top)))
    deliver(line, lambda: analysis.as_json(top), lambda width: analysis_text(analysis, width, top or SHOWN))
    return 0


def _scored(mode: EvidenceMode, files: tuple[str, str], own: Mapping[str, Any]) -> Result:
    result = score(mode, *files, own)
    tell_notices(result)
    return result


def _analyze_form(mode: EvidenceMode) -> Form:
    return Form(
        f"analyze {mode.name}",
        (
            GOLD,
            PREDICTIONS,
            measure_option(partial(measure_names, mode.name)),
            TOP,
            *result_options("the analysis", tables=True),
            *mode.options,
        ),
        (),
        required=("--gold", "--predictions"),
        sections=lambda: (("Files", mode.files), *_MEANING),
        body=partial(_analyze, mode),
    )


_MEANING: Final = (
    (
        "Mistakes",
        "A mistake is one abstract, sentence, fact, label or answer. Its gain is the difference between two scores: of "
        "predictions in which it is mended, and of those given. Gains of several mistakes do not add up.",
    ),
)

ANALYZE: Final = {name: _analyze_form(mode) for name, mode in EVIDENCE_MODES.items()}
