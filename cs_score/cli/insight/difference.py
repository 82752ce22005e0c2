"""`cs-score diff [switches] files...`: why one Cold Start run scores higher than another."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import InputError, UsageError
from cs_score.cli.destinations import say
from cs_score.cli.form import Form, Parameter
from cs_score.cli.insight.coldstart import load, measures, run_words
from cs_score.cli.insight.options import (
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
from cs_score.cli.scorer.command import legend, policies, policy_form
from cs_score.cli.scorer.options import defaults_of, options_of, policy_texts
from cs_score.cli.scorer.switches import KNOWLEDGE_BASE, POLICY, SCORING
from cs_score.coldstart.options import PRESETS, read_policies
from cs_score.coldstart.query_files import is_query_file

if TYPE_CHECKING:
    from cs_score.analysis.coldstart.difference.difference import Difference
    from cs_score.analysis.coldstart.scored import Scored
    from cs_score.base.sources import Input
    from cs_score.coldstart.gold import Gold
    from cs_score.coldstart.options import Options
    from cs_score.statistics.options import Resampling

POLICY_B: Final = Option(
    "--policy-b", "NAME[:LIST]", "Take one run, and score it as B under this policy; see below", choices=tuple(PRESETS)
)
POOL_B: Final = Option("--pool-b", "FILE", "Take one run, and score it as B with these assessments")


def _diff(line: CommandLine) -> int:
    """Show the difference that the command line asks for.

    Raises UsageError for an impossible command line, InputError where a run cannot be scored.
    """
    from cs_score.analysis.coldstart.difference.text import difference_text

    if line.wrong_file is not None:  # a bare --json before a file: its name has been forgotten
        raise UsageError(line.wrong_file)
    top, resampling = top_of(line), resampling_of(line)
    make_way(line, files_of_both(line), "a")
    found = difference_of(line, resampling)
    deliver(line, lambda: found.as_json(top), lambda width: difference_text(found, width, top))
    return 0


def files_of_both(line: CommandLine) -> list[str]:
    """The files that a command line names."""
    return [*line.words, *line.texts(KNOWLEDGE_BASE.name), *filter(None, [line.switches.get(POOL_B.name)])]


def difference_of(line: CommandLine, resampling: Resampling | None) -> Difference:
    """The difference that a command line asks for.

    Raises UsageError for an impossible command line, InputError where a run cannot be scored.
    """
    from cs_score.analysis.coldstart.difference.difference import diff

    a, b, names = _both(line)
    return diff(a, b, line.switches.get("--measure"), names=names, resampling=resampling)


def _both(line: CommandLine) -> tuple[Scored, Scored, tuple[str, str]]:
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
    scored = partial(_scored, knowledge_bases=knowledge_bases)
    policy_b, pool_b = line.switches.get(POLICY_B.name), line.switches.get(POOL_B.name)
    wanted = 2 if policy_b is None and pool_b is None else 1
    if len(runs) != wanted:
        raise UsageError(f"name {_RUNS[wanted]}; there are {len(runs)} among the files; see cs-score diff -help")
    with paused_collector():
        gold = with_pool(open_gold(queries, options), assessments)
        a = scored(gold, runs[0], options)
        if wanted == 2:
            names = system_names(runs)
            return a, scored(gold, runs[1], options), (names[0], names[1])
        other, name = options, []
        if policy_b is not None:
            [policy] = read_policies([policy_b], options, policy_texts(line, defaults_of(line)), POLICY_B.name)
            other = policy.options(options)
            name.append(f"policy {policy.name}")
        if pool_b is not None or other != options:
            gold = with_pool(open_gold(queries, other), assessments if pool_b is None else [pool_b])
            name += [] if pool_b is None else [f"pool {pool_b}"]
        return a, scored(gold, runs[0], other), ("as given", ", ".join(name))


_RUNS: Final = {1: "one run, with --policy-b or --pool-b", 2: "two runs"}


def _scored(gold: Gold, file: Input, options: Options, knowledge_bases: Collection[str]) -> Scored:
    from cs_score.analysis.coldstart.scored import score_for_analysis
    from cs_score.base.sources import name_of

    run = load(gold, [file], [name for name in knowledge_bases if name == file])
    scored = score_for_analysis(run, options.policy)
    for remark in run.remarks:
        say(f"cs-score: warning: {InputError(remark, file=name_of(file))}\n")
    if run.problems.has_errors:
        say(f"cs-score: warning: {name_of(file)}: there are errors in the input; score the run to see them\n")
    return scored


SWITCHES: Final = (
    *SCORING,
    KNOWLEDGE_BASE,
    POLICY,
    measure_option(measures),
    POLICY_B,
    POOL_B,
    TOP_UNITS,
    *COMPARISON_OPTIONS,
)
"""The switches that say what is compared, and how."""

DIFF: Final = Form(
    "diff",
    (*SWITCHES, *result_options("the difference", tables=False)),
    (
        Parameter(
            "files",
            "Query files (names ending in .xml, perhaps compressed), assessments, and two runs: the first is A, the "
            "second B; a positive difference is in favour of B. Each run is scored as if alone",
            is_optional=True,
            is_repeated=True,
        ),
    ),
    sections=lambda: (
        (
            "Result",
            "Both scores with the interval and the p-values of their difference; what each query contributes to it, "
            "which adds up to it exactly, and likewise slots, hops and entity types; answers and classes that fared "
            "differently. Predictions of the evidence modes are compared by the commands below.",
        ),
        policy_form(),
        policies(),
        *legend(),
    ),
    body=_diff,
)
