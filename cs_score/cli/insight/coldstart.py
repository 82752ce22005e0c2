"""`cs-score analyze [switches] files...`: why a Cold Start run scored what it did, and what its mistakes cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import InputError, UsageError
from cs_score.cli.destinations import say
from cs_score.cli.evidence import with_bar
from cs_score.cli.form import Form, Parameter
from cs_score.cli.insight.options import (
    TOP,
    deliver,
    make_way,
    measure_option,
    result_options,
    top_of,
)
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.resampling_options import OPTIONS as INTERVALS
from cs_score.cli.resampling_options import read_resampling
from cs_score.cli.scorer.command import legend, policies, policy_form
from cs_score.cli.scorer.options import defaults_of, options_of, policy_texts
from cs_score.cli.scorer.switches import KNOWLEDGE_BASE, POLICY, SCORING
from cs_score.coldstart.options import PRESETS, read_policies
from cs_score.coldstart.query_files import is_query_file
from cs_score.measures.registry import COLD_START_MODE, parse, rankable

if TYPE_CHECKING:
    from cs_score.analysis.coldstart.analysis import Analysis
    from cs_score.analysis.coldstart.scored import Scored
    from cs_score.base.sources import Input
    from cs_score.coldstart.gold import Gold, Run


def measures() -> Iterable[str]:
    """The names of the measures that can be asked about."""
    return map(str, rankable(COLD_START_MODE, True))


def dimensions() -> Iterable[str]:
    """What groups are told apart by."""
    from cs_score.analysis.coldstart.sections.counted import DIMENSIONS

    return DIMENSIONS


def _analyze(line: CommandLine) -> int:
    """Analyse as the command line says.

    Raises UsageError for a command line that means nothing, InputError where the run cannot be analysed.
    """
    from cs_score.analysis.coldstart import tables
    from cs_score.analysis.coldstart.text import analysis_text

    if line.wrong_file is not None:  # a bare --json before a file: its name has been forgotten
        raise UsageError(line.wrong_file)
    top, analyse = top_of(line), _analysing(line)
    make_way(line, list(inputs(line)), "run", {f"{name}.tsv": tables.header(name) for name in tables.COLUMNS})
    analysis = analyse(_scored(line))
    written = ((f"{table.name}.tsv", table.blocks()) for table in tables.tables_of(analysis))
    deliver(line, analysis.as_json, lambda width: analysis_text(analysis, width, top), written)
    return 0


def analysis_of(line: CommandLine) -> Analysis:
    """The analysis of the run that a command line names, by its measure.

    Raises UsageError for a command line that means nothing, InputError where the run cannot be analysed.
    """
    return _analysing(line)(_scored(line))


def _analysing(line: CommandLine) -> Callable[[Scored], Analysis]:
    """The analysis that a command line asks for. Raises UsageError, before any file is read or removed."""
    from cs_score.analysis.coldstart.analysis import analyze
    from cs_score.analysis.coldstart.sections.groups import crossed

    if (measure := line.switches.get("--measure")) is not None:
        parse(measure)
    defaults = defaults_of(line)
    return partial(
        analyze,
        measure=measure,
        top=top_of(line),
        policies=read_policies(
            line.texts(ALSO.name), options_of(line, defaults), policy_texts(line, defaults), ALSO.name
        ),
        by=crossed(line.texts("--by")),
        progress=with_bar,
        resampling=read_resampling({option.name: line.switches.get(option.name) for option in INTERVALS}),
    )


def inputs(line: CommandLine) -> Iterator[str]:
    """The files that a command line names."""
    from cs_score.base.sources import name_of
    from cs_score.coldstart.linking import members

    for word in (*line.words, *line.texts(KNOWLEDGE_BASE.name), *filter(None, [line.switches.get("-queries")])):
        yield from map(name_of, members(word))


def _scored(line: CommandLine) -> Scored:
    """Load and score what the command line names; remarks go to standard error."""
    from cs_score.analysis.coldstart.scored import score_for_analysis
    from cs_score.base.garbage_collection import paused_collector
    from cs_score.coldstart.gold import noting_folders, open_gold

    options = options_of(line, defaults_of(line))
    queries = [word for word in line.words if is_query_file(word)]
    files, knowledge_bases = run_words(line)
    with paused_collector():
        gold = noting_folders(open_gold(queries, options), files)
        run = load(gold, files, knowledge_bases)
        scored = score_for_analysis(run, options.policy, line.switches.get("--run"))
    for remark in run.remarks:
        warn(str(InputError(remark)))
    if run.problems.has_errors:
        warn("there are errors in the input; score the run to see them")
    if scored.stopped is not None:
        warn(f"there is no average precision: {scored.stopped}")
    return scored


def warn(remark: str) -> None:
    """Say on standard error what should be known beside the result."""
    say(f"cs-score: warning: {remark}\n")


def run_words(line: CommandLine) -> tuple[list[str], frozenset[str]]:
    """The runs and assessments that a command line names, and which of them are knowledge bases, told or recognised."""
    from cs_score.cli.scorer.validated import knowledge_bases_in

    named = line.texts(KNOWLEDGE_BASE.name)
    files = [*(word for word in line.words if not is_query_file(word)), *named]
    if not files:
        raise UsageError("name a run and its assessments, too")
    return files, knowledge_bases_in(files) | frozenset(named)


def load(gold: Gold, files: Sequence[Input], knowledge_bases: Collection[str]) -> Run:
    """Load runs and assessments; knowledge bases are resolved, as the scorer does it. Raises InputError."""
    from cs_score.cli.scorer.validated import load_prepared
    from cs_score.coldstart.gold import load_run

    if not knowledge_bases:
        return load_run(gold, files)
    return load_prepared(gold, files, knowledge_bases, gold.problems.branch(), validates=False)


ALSO: Final = Option(
    "--also-policy",
    "NAME[:LIST]",
    "Tell the scores under this policy, too; may be repeated; see below",
    choices=tuple(PRESETS),
)

SWITCHES: Final = (
    *SCORING,
    KNOWLEDGE_BASE,
    Option("-runids", "LIST", "Colon-separated runs to score, in this order", "all runs"),
    Option("--run", "ID", "The run to analyse, where there are several"),
    measure_option(measures),
    POLICY,
    ALSO,
    TOP,
    Option(
        "--by", "LIST", "Groups by several dimensions at once, such as slot,language; may be repeated", None, dimensions
    ),
    *INTERVALS,
)
"""The switches that say what is analysed, and how."""

FILES: Final = Parameter(
    "files",
    "Query files (names ending in .xml, perhaps compressed), the run, and its assessments, in an order in which parent "
    "lines come first. A folder stands for its files *.tab.txt, a knowledge base for the run that resolving it gives",
    is_repeated=True,
)

ANALYZE: Final = Form(
    "analyze",
    (*SWITCHES, *result_options("the analysis")),
    (FILES,),
    sections=lambda: (
        (
            "Result",
            "Every mistake with what mending it alone would bring, exactly as the scorer would score the files "
            "without it, and an error budget by kind of mistakes; scenarios for what nobody assessed; its scores under "
            "other policies. Predictions of the evidence modes are analysed by the commands below.",
        ),
        policy_form(),
        policies(),
        *legend(),
    ),
    body=_analyze,
)
