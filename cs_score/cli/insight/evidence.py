"""`cs-score analyze`, `explain` and `diff` of an evidence mode: why predictions score as they do, or as others do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import UsageError
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
from cs_score.cli.insight.options import (
    TOP,
    TOP_UNITS,
    deliver,
    make_way,
    measure_option,
    resampling_of,
    result_options,
    top_of,
)
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.resampling_options import COMPARISON_OPTIONS

if TYPE_CHECKING:
    from cs_score.analysis.evidence.difference import Difference
    from cs_score.evidence.result import Result

UNIT: Final = "--unit"

_progress: Final = partial(with_bar, doing="analysing")


def _analyze(mode: EvidenceMode, line: CommandLine) -> int:
    from cs_score.analysis.evidence import tables
    from cs_score.analysis.evidence.analysis import analyze
    from cs_score.analysis.evidence.modes.examiners import measure_of
    from cs_score.analysis.evidence.text import TOP as SHOWN
    from cs_score.analysis.evidence.text import analysis_text

    top = top_of(line)
    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))
    make_way(line, files, "score", {name: tables.header(columns) for name, columns in tables.COLUMNS.items()})
    analysis = analyze(_scored(mode, files, own), measure, progress=_progress)
    written = ((table.name, table.blocks()) for table in tables.tables(analysis, top))
    deliver(line, lambda: analysis.as_json(top), lambda width: analysis_text(analysis, width, top or SHOWN), written)
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


def _explain(mode: EvidenceMode, line: CommandLine) -> int:
    from cs_score.analysis.evidence.explanation import explain
    from cs_score.analysis.evidence.explanation_text import explanation_text
    from cs_score.analysis.evidence.modes.examiners import measure_of

    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))
    make_way(line, files, "units")
    result = score(mode, *files, own)
    found = explain(result, line.texts(UNIT), measure, progress=_progress)
    tell_notices(result)
    deliver(line, found.as_json, lambda width: explanation_text(found, result, width))
    return 0


def _explain_form(mode: EvidenceMode) -> Form:
    return Form(
        f"explain {mode.name}",
        (
            GOLD,
            PREDICTIONS,
            Option(UNIT, "ID", f"The {mode.unit} to explain; may be repeated. Without it the run in one screen"),
            measure_option(partial(measure_names, mode.name)),
            *result_options("the explanation", tables=False),
            *mode.options,
        ),
        (),
        required=("--gold", "--predictions"),
        sections=lambda: (("Files", mode.files), *_MEANING),
        body=partial(_explain, mode),
    )


def _diff(mode: EvidenceMode, line: CommandLine) -> int:
    from cs_score.analysis.evidence.difference_text import difference_text
    from cs_score.analysis.evidence.text import TOP as SHOWN

    top = top_of(line)
    files, compared = comparing(mode, line)
    make_way(line, files, "a")
    found = compared()
    deliver(line, lambda: found.as_json(top), lambda width: difference_text(found, width, top or SHOWN))
    return 0


def comparing(mode: EvidenceMode, line: CommandLine) -> tuple[tuple[str, str, str], Callable[[], Difference]]:
    """The files of a comparison, gold first, and what compares them. Raises UsageError."""
    from cs_score.analysis.comparison import system_names
    from cs_score.analysis.evidence.difference import diff
    from cs_score.analysis.evidence.modes.examiners import measure_of

    own, resampling = own_arguments(mode, line), resampling_of(line)
    gold, first, second = line.text("--gold", ""), *line.words
    if "-" in (gold, first, second):
        raise UsageError("standard input cannot be read once for each of the two: name a file")
    measure = measure_of(mode.name, line.switches.get("--measure"))

    def compared() -> Difference:
        one, other = (_scored(mode, (gold, file), own) for file in (first, second))
        names = system_names((first, second))
        return diff(one, other, measure, names=(names[0], names[1]), resampling=resampling)

    return (gold, first, second), compared


def _diff_form(mode: EvidenceMode) -> Form:
    return Form(
        f"diff {mode.name}",
        (
            GOLD,
            measure_option(partial(measure_names, mode.name)),
            TOP_UNITS,
            *COMPARISON_OPTIONS,
            *result_options("the difference", tables=False),
            *mode.options,
        ),
        (
            Parameter("A", "The predictions that are compared with"),
            Parameter("B", "The predictions that are compared; a positive difference is in their favour"),
        ),
        required=("--gold",),
        sections=lambda: (("Files", mode.files),),
        body=partial(_diff, mode),
    )


ANALYZE: Final = {name: _analyze_form(mode) for name, mode in EVIDENCE_MODES.items()}
EXPLAIN: Final = {name: _explain_form(mode) for name, mode in EVIDENCE_MODES.items()}
DIFF: Final = {name: _diff_form(mode) for name, mode in EVIDENCE_MODES.items()}
