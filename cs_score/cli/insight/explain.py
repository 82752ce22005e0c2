"""`cs-score explain [switches] files...`: why a line, a class, a node or a query of a run scored as it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cs_score.base.errors import InputError, UsageError
from cs_score.cli.destinations import say
from cs_score.cli.form import Form, Parameter
from cs_score.cli.insight.coldstart import inputs, load, measures, run_words, warn
from cs_score.cli.insight.options import deliver, make_way, measure_option, result_options
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.scorer.command import legend
from cs_score.cli.scorer.options import defaults_of, options_of
from cs_score.cli.scorer.switches import KNOWLEDGE_BASE, POLICY, SCORING
from cs_score.coldstart.query_files import is_query_file

if TYPE_CHECKING:
    from cs_score.analysis.coldstart.scored import Scored

_SELECTORS: Final = (
    Option(
        "--line",
        "N",
        "A line of the run by its number, as editors show it; FILE:N in one of several files; may be repeated",
    ),
    Option("--query", "ID", "A query, of the SF or LDC form and of any hop; may be repeated"),
    Option("--class", "ID", "An equivalence class; may be repeated"),
    Option("--node", "ID", "A node, by its id in the run or with all that stands before it; may be repeated"),
    Option("--answer", "TEXT", "The lines that give an answer, in which * stands for any text; may be repeated"),
)


def _explain(line: CommandLine) -> int:
    """Explain as the command line says.

    Returns 1 where the run cannot be scored; what can be told of it is told all the same. Raises UsageError for a
    command line that means nothing, InputError where a selector meets nothing.
    """
    from cs_score.analysis.coldstart.explanation.explanation import explain

    if line.wrong_file is not None:  # a bare --json before a file: its name has been forgotten
        raise UsageError(line.wrong_file)
    make_way(line, list(inputs(line)), "explained")
    scored = _scored(line)
    explanation = explain(
        scored,
        line=line.texts("--line"),
        query=line.texts("--query"),
        class_name=line.texts("--class"),
        node=line.texts("--node"),
        answer=line.texts("--answer"),
        measure=line.switches.get("--measure"),
    )
    deliver(line, explanation.as_json, explanation.text)
    if explanation.fatal is None:
        return 0
    say(f"cs-score: {explanation.fatal}\n")
    return 1


def _scored(line: CommandLine) -> Scored:
    """Load and score what the command line names, as far as that goes; remarks go to standard error."""
    from cs_score.analysis.coldstart.explanation.partial import load_as_far_as_possible, score_as_far_as_possible
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


EXPLAIN: Final = Form(
    "explain",
    (
        *SCORING,
        POLICY,
        KNOWLEDGE_BASE,
        Option("-runids", "LIST", "Colon-separated runs to score, in this order", "all runs"),
        Option("--run", "ID", "The run to explain, where there are several"),
        *_SELECTORS,
        measure_option(measures),
        *result_options("the explanation", tables=False),
    ),
    (
        Parameter(
            "files",
            "Query files (names ending in .xml, perhaps compressed), the run, and its assessments, in an order in "
            "which parent lines come first. A folder stands for its files *.tab.txt, a knowledge base for the run that "
            "resolving it gives",
            is_repeated=True,
        ),
    ),
    sections=lambda: (
        (
            "Result",
            "A tree for each thing that was asked for: how it was read, judged, counted and ranked, by which rule, and "
            "what it is worth. Without a selector the run in one screen.",
        ),
        *legend(),
    ),
    body=_explain,
)
