"""What explains a score: `analyze`, `explain`, `diff`, `report` and `plot`, for every task."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.analysis.outcomes import json_text
from cs_score.base.errors import InputError, OutputError, UsageError
from cs_score.base.outputs import encoded, make_folder, write_together
from cs_score.base.planned_outputs import Existing, Format, OutputPlan, PlannedOutput, ending_of
from cs_score.base.records import replace, to_builtins
from cs_score.cli.core import FORCE, FORMAT, OUTPUT, QUIET, Command, Line, Option, Parameter
from cs_score.cli.options import (
    ALL,
    ALSO,
    EVIDENCE_MODES,
    EXAMPLE,
    EXAMPLE_OF_TWO,
    FILES,
    INTERVALS,
    KNOWLEDGE_BASE,
    MOST_SHOWN,
    POLICY,
    RUN,
    RUNIDS,
    SCORING,
    TOP,
    EvidenceMode,
    defaults_of,
    legend,
    measure_option,
    options_of,
    policies,
    policy_form,
    policy_texts,
    read_resampling,
    top_of,
)
from cs_score.cli.output import Destination, print_text, say, text_width, with_bar, with_deltas, write_to_stream
from cs_score.cli.scoring import (
    FILES_OF_EVIDENCE,
    GOLD,
    PREDICTIONS,
    gold_and_words,
    input_files,
    knowledge_bases_in,
    load_as_prepared,
    own_arguments,
    score_evidence,
    tell_notices,
)
from cs_score.coldstart.editions import EDITIONS
from cs_score.coldstart.options import PRESETS, read_policies
from cs_score.coldstart.queries import is_query_file
from cs_score.measures.registry import COLD_START_MODE, parse
from cs_score.report import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cs_score.analysis.coldstart.analysis import Analysis
    from cs_score.analysis.coldstart.difference import Difference
    from cs_score.analysis.coldstart.scored import Scored
    from cs_score.analysis.evidence.difference import Difference as EvidenceDifference
    from cs_score.base.sources import Input
    from cs_score.coldstart.gold import Gold, Run
    from cs_score.coldstart.options import Options
    from cs_score.evidence.result import Result
    from cs_score.statistics.options import Resampling


def make_way(line: Line, inputs: Sequence[str], tables: Mapping[str, bytes]) -> None:
    """Check the tables that `-o FOLDER` will take, known by their first columns, and remove those of an earlier call.

    Raises UsageError or OutputError, also for what is no folder.
    """
    folder = line.folder
    if folder is None:
        return
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} is a file, where -o makes a folder")
    if os.path.islink(folder) and not os.path.isdir(folder):
        raise OutputError(f"Could not open {folder}: a link that leads to no folder; choose another -o")
    beginnings = {name: Format(re.compile(re.escape(header.rstrip(b"\n")))) for name, header in tables.items()}
    planned = [
        PlannedOutput("-o", os.path.join(folder, name), Existing.RECOGNISED, beginning)
        for name, beginning in beginnings.items()
    ]
    plan = OutputPlan(inputs, planned, "--force" in line.switches, folder)
    plan.check()
    plan.clear()


def deliver(
    line: Line,
    as_json: Callable[[], Mapping[str, object]],
    as_text: Callable[[int], str],
    tables: Iterable[tuple[str, Iterable[bytes]]] = (),
) -> None:
    """Print the result as text, in lines of so many columns, or as JSON; or write tables into a folder, all or none.

    Raises OutputError.
    """
    if (folder := line.folder) is not None:
        is_new = not os.path.exists(folder)
        try:
            make_folder(folder, "-o")
            write_together([(os.path.join(folder, name), blocks) for name, blocks in tables])
        except OutputError:
            if is_new:
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            raise
    elif line.format == "json":
        write_to_stream(Destination("stdout"), encoded(json_text(as_json())))
    else:
        print_text(as_text(text_width()), with_deltas)


def dimensions() -> Iterable[str]:
    """What groups are told apart by."""
    from cs_score.analysis.coldstart.groups import DIMENSIONS

    return DIMENSIONS


def _analyze_runs(line: Line) -> int:
    """Analyse as the command line says.

    Raises UsageError for a command line that means nothing, InputError where the run cannot be analysed.
    """
    from cs_score.analysis.coldstart import tables
    from cs_score.analysis.coldstart.text import analysis_text
    from cs_score.tables.renderers import tsv

    analyse = _analysing(line)
    headers = {f"{layout.name}.tsv": "\t".join(layout.keys).encode() for layout in tables.LAYOUTS}
    make_way(line, list(inputs(line)), headers)
    analysis = analyse(_scored_run(line), with_explanations=line.format == "json")
    written = ((f"{table.layout.name}.tsv", tsv(table)) for table in tables.tables_of(analysis))
    deliver(line, analysis.as_json, lambda width: analysis_text(analysis, width, _shown(line)), written)
    return 0


def _shown(line: Line) -> int | None:
    """The rows of each list in a text; None for the first screen."""
    return MOST_SHOWN if ALL.long in line.switches else top_of(line)


def analysis_of(line: Line) -> Analysis:
    """The analysis of the run that a command line names, by its measure.

    Raises UsageError for a command line that means nothing, InputError where the run cannot be analysed.
    """
    return _analysing(line)(_scored_run(line))


def _analysing(line: Line) -> Callable[..., Analysis]:
    """The analysis that a command line asks for. Raises UsageError, before any file is read or removed."""
    from cs_score.analysis.coldstart.analysis import analyze
    from cs_score.analysis.coldstart.groups import crossed

    if (measure := line.switches.get("--measure")) is not None:
        parse(measure)
    defaults = defaults_of(line)
    return partial(
        analyze,
        measure=measure,
        top=top_of(line),
        policies=read_policies(
            line.texts(ALSO.long), options_of(line, defaults), policy_texts(line, defaults), ALSO.long
        ),
        by=crossed(line.texts("--by")),
        progress=with_bar,
        resampling=read_resampling(line),
    )


def inputs(line: Line) -> Iterator[str]:
    """The files that a command line names."""
    from cs_score.base.sources import name_of
    from cs_score.coldstart.linking import members

    for word in (*line.words, *line.texts(KNOWLEDGE_BASE.long), *filter(None, [line.switches.get("-queries")])):
        yield from map(name_of, members(word))


def _scored_run(line: Line) -> Scored:
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


def run_words(line: Line) -> tuple[list[str], frozenset[str]]:
    """The runs and assessments that a command line names, and which of them are knowledge bases, told or recognised."""
    named = line.texts(KNOWLEDGE_BASE.long)
    files = [*(word for word in line.words if not is_query_file(word)), *named]
    if not files:
        raise UsageError("name a run and its assessments, too")
    return files, knowledge_bases_in(files) | frozenset(named)


def load(gold: Gold, files: Sequence[Input], knowledge_bases: Collection[str]) -> Run:
    """Load runs and assessments; knowledge bases are resolved, as the scorer does it. Raises InputError."""
    from cs_score.coldstart.gold import load_run

    if not knowledge_bases:
        return load_run(gold, files)
    return load_as_prepared(gold, files, knowledge_bases, gold.problems.branch(), validates=False)


ANALYZED: Final = (
    *SCORING,
    KNOWLEDGE_BASE,
    Option("-runids", "LIST", "Colon-separated runs to score, in this order", "all runs"),
    RUN,
    measure_option(COLD_START_MODE),
    POLICY,
    ALSO,
    TOP,
    Option(
        "--by",
        "LIST",
        "Groups by several dimensions at once, such as slot,language; may be repeated",
        None,
        dimensions,
        many=True,
    ),
    *INTERVALS,
)

"""The switches that say what is analysed, and how."""


UNIT: Final = "--unit"
OF_UNIT: Final = "One unit by its id; may be repeated; without it the run on one screen:"

_SELECTORS: Final = (
    Option(
        "--line",
        "N",
        "A line of the run by its number, as editors show it; FILE:N in one of several files; may be repeated",
        many=True,
    ),
    Option(UNIT, "ID", f"{OF_UNIT} a query, of the SF or LDC form and of any hop", many=True),
    Option("--class", "ID", "An equivalence class; may be repeated", many=True),
    Option(
        "--node", "ID", "A node, by its id in the run or with all that stands before it; may be repeated", many=True
    ),
    Option(
        "--answer", "TEXT", "The lines that give an answer, in which * stands for any text; may be repeated", many=True
    ),
)


def _explain_runs(line: Line) -> int:
    """Explain as the command line says.

    Returns 1 where the run cannot be scored; what can be told of it is told all the same. Raises UsageError for a
    command line that means nothing, InputError where a selector meets nothing.
    """
    from cs_score.analysis.coldstart.explanation.explanation import explain

    scored = _scored_to_explain(line)
    explanation = explain(
        scored,
        line=line.texts("--line"),
        query=line.texts(UNIT),
        class_name=line.texts("--class"),
        node=line.texts("--node"),
        answer=line.texts("--answer"),
        measure=line.switches.get("--measure"),
    )
    deliver(line, lambda: to_builtins(explanation), explanation.text)
    if explanation.fatal is None:
        return 0
    say(f"cs-score: {explanation.fatal}\n")
    return 1


def _scored_to_explain(line: Line) -> Scored:
    """Load and score what the command line names, as far as that goes; remarks go to standard error."""
    from cs_score.analysis.coldstart.explanation.explanation import load_as_far_as_possible, score_as_far_as_possible
    from cs_score.base.garbage_collection import paused_collector
    from cs_score.coldstart.gold import noting_folders, open_gold

    options = options_of(line, defaults_of(line))
    options.check()
    files, knowledge_bases = run_words(line)
    with paused_collector():
        gold = noting_folders(open_gold([word for word in line.words if is_query_file(word)], options), files)
        run, stop = (
            (load(gold, files, knowledge_bases), None) if knowledge_bases else load_as_far_as_possible(gold, files)
        )
        if stop is not None and not run.layouts:
            raise stop
        scored = score_as_far_as_possible(run, options.policy, line.switches.get("--run"), stop)
    for remark in run.remarks:
        warn(str(InputError(remark)))
    if run.problems.has_errors:
        warn("there are errors in the input; score the run to see them")
    if scored.stopped is not None and scored.result.tables.sf.rows:
        warn(f"there is no average precision: {scored.stopped}")
    return scored


POLICY_B: Final = Option(
    "--policy-b", "NAME[:LIST]", "Take one run, and score it as B under this policy; see below", choices=tuple(PRESETS)
)


POOL_B: Final = Option("--pool-b", "FILE", "Take one run, and score it as B with these assessments")


FOLLOW_B: Final = Option(
    "--follow-b", "VERSION", "Take one run, and score it as B under this edition", choices=tuple(EDITIONS)
)


def _diff_runs(line: Line) -> int:
    """Show the difference that the command line asks for.

    Raises UsageError for an impossible command line, InputError where a run cannot be scored.
    """
    from cs_score.analysis.coldstart.difference_text import difference_text

    top, resampling = top_of(line), read_resampling(line, always=True)
    found = difference_of(line, resampling)
    deliver(line, lambda: found.as_json(top), lambda width: difference_text(found, width, _shown(line)))
    return 0


def files_of_both(line: Line) -> list[str]:
    """The files that a command line names."""
    return [*line.words, *line.texts(KNOWLEDGE_BASE.long), *filter(None, [line.switches.get(POOL_B.long)])]


def difference_of(line: Line, resampling: Resampling | None) -> Difference:
    """The difference that a command line asks for.

    Raises UsageError for an impossible command line, InputError where a run cannot be scored.
    """
    from cs_score.analysis.coldstart.difference import diff

    a, b, names = _both(line)
    return diff(a, b, line.switches.get("--measure"), names=names, resampling=resampling)


def _both(line: Line) -> tuple[Scored, Scored, tuple[str, str]]:
    """A and B, scored, and what they are called."""
    from cs_score.analysis.comparison import system_names
    from cs_score.base.garbage_collection import paused_collector
    from cs_score.coldstart.gold import open_gold, with_pool
    from cs_score.coldstart.scorer import run_files

    if "-" in files_of_both(line):
        raise UsageError("standard input cannot be read once for each of the two: name a file")
    options = options_of(line, defaults_of(line))
    queries = [word for word in line.words if is_query_file(word)]
    files, knowledge_bases = run_words(line)
    runs, assessments = run_files(files, knowledge_bases)
    scored = partial(_scored_as, knowledge_bases=knowledge_bases)
    policy_b, pool_b, follow_b = (line.switches.get(option.long) for option in (POLICY_B, POOL_B, FOLLOW_B))
    wanted = 2 if policy_b is None and pool_b is None and follow_b is None else 1
    if len(runs) != wanted:
        raise UsageError(f"name {_RUNS[wanted]}; there are {len(runs)} among the files; see cs-score diff -help")
    with paused_collector():
        gold = with_pool(open_gold(queries, options), assessments)
        a = scored(gold, runs[0], options)
        if wanted == 2:
            names = system_names(runs)
            return a, scored(gold, runs[1], options), (names[0], names[1])
        a = replace(a, again=partial(_scored_again, queries, assessments, runs[0], knowledge_bases))
        other, name = options, []
        if follow_b is not None:
            line = line.with_value("--follow", follow_b)
            other = options_of(line, defaults_of(line))
            name.append(f"edition {other.follow}")
        if policy_b is not None:
            [policy] = read_policies([policy_b], other, policy_texts(line, defaults_of(line)), POLICY_B.long)
            other = policy.options(other)
            name.append(f"policy {policy.name}")
        if pool_b is not None or other != options:
            gold = with_pool(open_gold(queries, other), assessments if pool_b is None else [pool_b])
            name += [] if pool_b is None else [f"pool {pool_b}"]
        return a, scored(gold, runs[0], other), ("as given", ", ".join(name))


_RUNS: Final = {1: "one run, with --policy-b, --pool-b or --follow-b", 2: "two runs"}


def _scored_again(
    queries: Sequence[str],
    assessments: Sequence[Input],
    file: Input,
    knowledge_bases: Collection[str],
    options: Options,
) -> Scored:
    from cs_score.analysis.coldstart.scored import score_for_analysis
    from cs_score.coldstart.gold import open_gold, with_pool

    gold = with_pool(open_gold(queries, options), assessments)
    run = load(gold, [file], [name for name in knowledge_bases if name == file])
    return score_for_analysis(run, options.policy)


def _scored_as(gold: Gold, file: Input, options: Options, knowledge_bases: Collection[str]) -> Scored:
    from cs_score.analysis.coldstart.scored import score_for_analysis
    from cs_score.base.sources import name_of

    run = load(gold, [file], [name for name in knowledge_bases if name == file])
    scored = score_for_analysis(run, options.policy)
    for remark in run.remarks:
        say(f"cs-score: warning: {InputError(remark, file=name_of(file))}\n")
    if run.problems.has_errors:
        say(f"cs-score: warning: {name_of(file)}: there are errors in the input; score the run to see them\n")
    return scored


COMPARED: Final = (
    *SCORING,
    KNOWLEDGE_BASE,
    POLICY,
    measure_option(COLD_START_MODE),
    POLICY_B,
    POOL_B,
    FOLLOW_B,
    TOP,
    *INTERVALS,
)

"""The switches that say what is compared, and how."""


_progress: Final = partial(with_bar, doing="analysing")


def _analyze(mode: EvidenceMode, line: Line) -> int:
    from cs_score.analysis.evidence import text as tables
    from cs_score.analysis.evidence.analysis import analyze
    from cs_score.analysis.evidence.mistakes import measure_of
    from cs_score.analysis.evidence.text import TOP as SHOWN
    from cs_score.analysis.evidence.text import analysis_text

    top = top_of(line)
    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))
    make_way(line, files, {name: tables.header(columns) for name, columns in tables.COLUMNS.items()})
    analysis = analyze(_scored_predictions(mode, files, own), measure, progress=_progress)
    written = ((table.name, table.blocks()) for table in tables.tables(analysis, top))
    deliver(line, lambda: analysis.as_json(top), lambda width: analysis_text(analysis, width, top or SHOWN), written)
    return 0


def _scored_predictions(mode: EvidenceMode, files: tuple[str, str], own: Mapping[str, Any]) -> Result:
    result = score_evidence(mode, *files, own)
    tell_notices(result)
    return result


_MEANING: Final = (
    (
        "Mistakes",
        "A mistake is one abstract, sentence, fact, label or answer. Its gain is the difference between two scores: of "
        "predictions in which it is mended, and of those given. Gains of several mistakes do not add up.",
    ),
)


def _explain(mode: EvidenceMode, line: Line) -> int:
    from cs_score.analysis.evidence.explanation import explain
    from cs_score.analysis.evidence.mistakes import measure_of
    from cs_score.analysis.evidence.text import explanation_text

    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))
    result = score_evidence(mode, *files, own)
    found = explain(result, line.texts(UNIT), measure, progress=_progress)
    tell_notices(result)
    deliver(line, found.as_json, lambda width: explanation_text(found, result, width))
    return 0


def _diff(mode: EvidenceMode, line: Line) -> int:
    from cs_score.analysis.evidence.text import TOP as SHOWN
    from cs_score.analysis.evidence.text import difference_text

    top = top_of(line)
    _, compared = comparing(mode, line)
    found = compared()
    deliver(line, lambda: found.as_json(top), lambda width: difference_text(found, width, top or SHOWN))
    return 0


def comparing(mode: EvidenceMode, line: Line) -> tuple[tuple[str, str, str], Callable[[], EvidenceDifference]]:
    """The files of a comparison, gold first, and what compares them. Raises UsageError."""
    from cs_score.analysis.comparison import system_names
    from cs_score.analysis.evidence.difference import diff
    from cs_score.analysis.evidence.mistakes import measure_of

    own, resampling = own_arguments(mode, line), read_resampling(line, always=True)
    gold, words = gold_and_words(line)
    if len(words) != 2:
        raise UsageError(f"name two files of predictions, A and B, not {len(words)}")
    first, second = words
    if "-" in (gold, first, second):
        raise UsageError("standard input cannot be read once for each of the two: name a file")
    measure = measure_of(mode.name, line.switches.get("--measure"))

    def compared() -> EvidenceDifference:
        one, other = (_scored_predictions(mode, (gold, file), own) for file in (first, second))
        names = system_names((first, second))
        return diff(one, other, measure, names=(names[0], names[1]), resampling=resampling)

    return (gold, first, second), compared


def _report(line: Line) -> int:
    """The page of one Cold Start run, of two, or of what was analysed before. Raises UsageError, InputError."""
    if len(line.words) == 1 and ending_of(line.words[0]) == ".json":
        _refuse_others(line, (), f"says what to analyse, but {line.words[0]} is an analysis already")
        return _page(line, line.words, partial(_read_document, line.words[0]))
    if COMPARE.long in line.switches:
        _refuse_others(line, (COMPARE, *COMPARED), "is not for --compare")
        top, resampling = top_of(line), read_resampling(line, always=True)
        files = files_of_both(line)
        return _page(line, files, lambda: _made(difference_of(line, resampling).as_json(top)))
    _refuse_others(line, ANALYZED, "is for --compare")
    return _page(line, list(inputs(line)), lambda: _made(analysis_of(line).as_json(MOST_ROWS)))


def _report_evidence(mode: EvidenceMode, line: Line) -> int:
    """The page of one file of predictions, or of two. Raises UsageError, InputError."""
    top = top_of(line)
    if COMPARE.long in line.switches:
        _refuse_others(line, (COMPARE, GOLD, _MEASURE, TOP, *INTERVALS, *mode.options), "is not for --compare")
        if len(line.words) != 2:
            raise UsageError(f"--compare takes two files of predictions, A and B, not {len(line.words)}")
        both, compared = comparing(mode, line)
        return _page(line, both, lambda: _made(compared().as_json(top)))
    _refuse_others(line, (GOLD, PREDICTIONS, _MEASURE, TOP, *mode.options), "is for --compare")
    if PREDICTIONS.long not in line.switches or line.words:
        raise UsageError(f"unexpected word {line.words[0]}" if line.words else "--predictions FILE must be given")
    return _page(line, *_analysing_predictions(mode, line, top))


def _analysing_predictions(
    mode: EvidenceMode, line: Line, top: int | None
) -> tuple[Sequence[str], Callable[[], Mapping[str, Any]]]:
    """The files of one analysis, and what analyses them. Raises UsageError."""
    from cs_score.analysis.evidence.analysis import analyze
    from cs_score.analysis.evidence.mistakes import measure_of

    files, own = input_files(line), own_arguments(mode, line)
    measure = measure_of(mode.name, line.switches.get("--measure"))

    def analysed() -> Mapping[str, Any]:
        result = score_evidence(mode, *files, own)
        tell_notices(result)
        return _made(analyze(result, measure, progress=partial(with_bar, doing="analysing")).as_json(top))

    return files, analysed


def _read_document(name: str) -> Mapping[str, Any]:
    from cs_score.report.documents import read_document

    return read_document(name)


def _made(value: Mapping[str, object]) -> Mapping[str, Any]:
    from cs_score.report.documents import document_of

    return document_of(value)


def _refuse_others(line: Line, known: Iterable[Option], why: str) -> None:
    """Raises UsageError for an option that means nothing here."""
    names = {option.long for option in (*known, *_OF_EVERY_PAGE)}
    for name in line.switches:
        if name not in names:
            raise UsageError(f"{name} {why}")


def _page(line: Line, inputs: Sequence[str], document: Callable[[], Mapping[str, Any]]) -> int:
    from cs_score.report.documents import page_of
    from cs_score.report.html import require_templates

    require_templates()
    write_to_stream(Destination("stdout"), encoded([page_of(document())]))
    return 0


COMPARE: Final = Option("--compare", None, "The page of a difference: of two runs, as diff takes them")
_MEASURE: Final = measure_option(COLD_START_MODE)
_OF_EVERY_PAGE: Final = (OUTPUT, FORMAT, FORCE, QUIET)


def _together(*options: Option) -> tuple[Option, ...]:
    """Options of two commands, each once."""
    return tuple({option.long: option for option in options}.values())


def _plot(line: Line) -> int:
    from cs_score.report.documents import chart_of, read_document
    from cs_score.report.drawing import chart_bytes

    kind, name = line.words
    drawing = chart_of(read_document(name), kind, line.switches.get("--of"))
    write_to_stream(Destination("stdout"), [chart_bytes(drawing, f".{line.format}")])
    return 0


def _chart_kinds() -> Sequence[str]:
    from cs_score.report.documents import CHART_KINDS

    return CHART_KINDS


_PAGE_MEANING: Final = (
    (
        "Result",
        "A page that browsers show without a network: scores, error budget, scores by group, what every mistake costs, "
        "and how to make it again. Tables sort, filter and copy; what is shown stands in the address. Needs the "
        "extra report: pip install 'cs-score[report]'",
    ),
)

_DIFFERENCE: Final = (
    "Both scores with the interval and the p-values of their difference; what each unit contributes to it, which adds "
    "up to it exactly, and likewise groups of units; answers and classes with another outcome. A positive difference "
    "is in favour of the second"
)


def _cold_start_files(what: str) -> Parameter:
    return Parameter(
        "files", f"Query files (*.xml, perhaps compressed), {what}, in any order; {FILES}", is_repeated=True
    )


def analyze(task: str) -> Command:
    """The command of a task."""
    if task in EVIDENCE_MODES:
        mode = EVIDENCE_MODES[task]
        return Command(
            f"analyze {task}",
            (GOLD, PREDICTIONS, measure_option(task), TOP, FORCE, *mode.options),
            (FILES_OF_EVIDENCE,),
            sections=lambda: (("Files", mode.files), *_MEANING),
            formats=("text", "json", "tsv"),
            folder="tsv",
            body=partial(_analyze, mode),
            summary=f"What each mistake of {task} predictions costs",
        )
    return Command(
        "analyze",
        (*ANALYZED, ALL, FORCE),
        (_cold_start_files("the run and its assessments"),),
        sections=lambda: (
            (
                "Result",
                "What each mistake costs, just as the scorer would score the files without it; an error budget by "
                "kind of mistakes; scenarios for what nobody assessed; other policies.",
            ),
            policy_form(), policies(), *legend(),
        ),
        formats=("text", "json", "tsv"),
            folder="tsv",
        example=EXAMPLE,
        body=_analyze_runs,
    )  # fmt: skip


def explain(task: str) -> Command:
    """The command of a task."""
    if task in EVIDENCE_MODES:
        mode = EVIDENCE_MODES[task]
        unit = Option(
            UNIT,
            "ID",
            f"{OF_UNIT} a claim, instance or question",
            many=True,
        )
        return Command(
            f"explain {task}",
            (GOLD, PREDICTIONS, unit, measure_option(task), FORCE, *mode.options),
            (FILES_OF_EVIDENCE,),
            sections=lambda: (("Files", mode.files), *_MEANING),
            formats=("text", "json"),
            body=partial(_explain, mode),
            summary=f"How one {mode.unit} of {task} was scored, and what it costs",
        )
    run = (KNOWLEDGE_BASE, RUNIDS, RUN, *_SELECTORS, measure_option(task))
    return Command(
        "explain",
        (*SCORING, POLICY, *run, FORCE),
        (_cold_start_files("the run and its assessments"),),
        sections=lambda: (
            (
                "Result",
                "How the scorer decided, step by step, and what the line, class or node costs. Without a selection the "
                "run in one screen.",
            ),
            *legend(),
        ),
        formats=("text", "json"),
        example=f"--line 7 {EXAMPLE}",
        body=_explain_runs,
    )


def diff(task: str) -> Command:
    """The command of a task."""
    if task in EVIDENCE_MODES:
        mode = EVIDENCE_MODES[task]
        return Command(
            f"diff {task}",
            (GOLD, measure_option(task), TOP, *INTERVALS, FORCE, *mode.options),
            (Parameter("files", "Predictions A and B, behind gold where --gold does not name it", is_repeated=True),),
            sections=lambda: (("Files", mode.files), ("Result", _DIFFERENCE + ".")),
            formats=("text", "json"),
            body=partial(_diff, mode),
            summary=f"Why one {task} system scores higher than another, unit by unit",
        )
    return Command(
        "diff",
        (*COMPARED, ALL, FORCE),
        (Parameter("files", _BOTH_RUNS, is_optional=True, is_repeated=True),),
        sections=lambda: (("Result", _DIFFERENCE + "."), policy_form(), policies(), *legend()),
        formats=("text", "json"),
        example=EXAMPLE_OF_TWO,
        body=_diff_runs,
    )


_BOTH_RUNS: Final = (
    "Query files (*.xml, perhaps compressed), assessments, and two runs: the first is A, the second B; a positive "
    "difference is in favour of B. Each run is scored by itself"
)


def report(task: str) -> Command:
    """The command of a task."""
    if task in EVIDENCE_MODES:
        mode = EVIDENCE_MODES[task]
        return Command(
            f"report {task}",
            (GOLD, PREDICTIONS, measure_option(task), TOP, *INTERVALS, COMPARE, FORCE, *mode.options),
            (
                Parameter("A", "With --compare: the predictions that are compared with", is_optional=True),
                Parameter("B", "With --compare: the predictions that are compared", is_optional=True),
            ),
            required=(GOLD.long, OUTPUT.long),
            sections=lambda: (("Files", mode.files), *_PAGE_MEANING),
            formats=("html",),
            body=partial(_report_evidence, mode),
            summary=f"The page of {task} predictions",
        )
    return Command(
        "report",
        (COMPARE, *_together(*ANALYZED, *COMPARED), FORCE),
        (
            Parameter(
                "files",
                "JSON of analyze, diff or batch (batch.json), or the files that analyze takes: query "
                "files, the run, its assessments; with --compare two runs",
                is_repeated=True,
            ),
        ),
        required=(OUTPUT.long,),
        sections=lambda: _PAGE_MEANING,
        formats=("html",),
        example=f"-o report.html {EXAMPLE}",
        body=_report,
    )


def plot() -> Command:
    """One chart."""
    return Command(
        "plot",
        (
            Option("--of", "NAME", "Which of several charts of a kind, such as the dimension of groups", "the first"),
            FORCE,
        ),
        (
            Parameter("kind", "The chart", choices=_chart_kinds),
            Parameter("analysis", "What analyze -o FILE.json, diff -o FILE.json or batch (batch.json) wrote"),
        ),
        required=(OUTPUT.long,),
        sections=lambda: (
            (
                "Charts",
                (
                    ("budget", "What mending each kind of mistakes alone would bring"),
                    ("cumulated", "The score with one kind after the other mended"),
                    ("groups", "Precision, recall and F1 by slot, hop and so on"),
                    ("sweep", "Scores by confidence threshold"),
                    ("reliability", "How often answers of a confidence are right"),
                    ("confusions", "Categories by slot, or labels predicted for those of gold"),
                    ("precision", "Precision at each rank of a query's nodes"),
                    ("contributions", "What units contribute to the difference of two runs"),
                    ("leaderboard", "Scores of many runs with intervals and tiers"),
                    ("heatmap", "Scores of queries, claims and so on by runs"),
                    ("difficulty", "What is to be found, by how many runs have found it"),
                    ("agreement", "How far the right answers of runs are the same"),
                    ("systems", "What more and more runs find together"),
                    ("stability", "How far rankings by other measures and policies are the same"),
                ),
            ),
        ),
        formats=("svg", "pdf", "png"),
        body=_plot,
    )
