"""`cs-score batch [switches] --out DIR QUERIES.xml POOL RUN...`: the switches of the scorer, and those of a batch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.plan.inputs import InputFile
from cs_score.batch.plan.policies import PRESETS, NamedPolicy, read_policies
from cs_score.cli.batch.command import MOST_JOBS, Choices, held, score_batch
from cs_score.cli.destinations import write_text
from cs_score.cli.parts_options import whole_number
from cs_score.cli.resampling_options import read_resampling
from cs_score.cli.scorer.options import POLICY_SWITCHES, layout_of, options_of, policy_texts
from cs_score.cli.scorer.usage import SWITCHES
from cs_score.cli.switches import CommandLine, HelpWanted, Switch, SwitchError, read_command_line, switch_help
from cs_score.coldstart.lines.loading import RUN_SUFFIX, members
from cs_score.coldstart.queries.query_files import is_query_file
from cs_score.foundation.errors import InputError, UsageError
from cs_score.foundation.sources import name_of
from cs_score.measures.registry import usual

FAILED: Final = 255

# The batch chooses the names of files, and JSON is a file of every run or of none.
_NOT_OF_A_BATCH: Final = frozenset({"-output_file", "-error_file", "-version", "--json", "--knowledge-base"})

_OF_A_BATCH: Final = (
    Switch("--out", "DIR", "Output folder; made if missing"),
    Switch("--policy", "NAME[:LIST]", "Score under this policy; may be repeated. See below"),
    Switch("--pool", "FILE", "Further assessments, after POOL; may be repeated"),
    Switch("--runs-from", "FILE", "File with further runs, one a line; - is standard input"),
    Switch("--sort-by", "MEASURE", "Measure that ranks the leaderboard", f"{usual()} or {usual(with_ldc=False)}"),
    Switch("--json", None, "Write out.json for every run, too"),
    Switch("--jobs", "N", "Processes on this machine", "the number of processors"),
    Switch("--dask", "ADDRESS", "Compute on the Dask cluster with this scheduler"),
    Switch("--ship-inputs", None, "Send inputs to the workers of --dask, which share no storage"),
    Switch("--resume", None, "Keep runs that an earlier batch scored from the same inputs"),
)

BATCH_SWITCHES: Final = (*(switch for switch in SWITCHES if switch.name not in _NOT_OF_A_BATCH), *_OF_A_BATCH)


def usage_text() -> str:
    """The text of `cs-score batch -help`."""
    presets = "\n".join(f"  {name:<4} {text}" for name, text in PRESETS.items())
    return (
        "cs-score batch:  Score many runs against one pool, or many predictions against one gold file\n\n"
        "Usage: cs-score batch {-switch {-switch ...}} --out DIR QUERIES.xml POOL RUN...\n"
        "       cs-score batch scifact|claims|r4c|hotpotqa --gold GOLD --out DIR PREDICTIONS...\n\n"
        f"Switches of the first form are:\n{switch_help(BATCH_SWITCHES)}\n\n"
        "A RUN is a file, a folder (its files *.tab.txt, perhaps compressed) or a quoted pattern. The files of a run\n"
        "are DIR/RUN/out.sf and so on, with several policies DIR/POLICY/RUN/out.sf.\n\n"
        "A policy is NAME:right=A:B,wrong=C,ignore=D,justifications=1:3, parts left out being those of the\n"
        f"switches, or one of these names:\n{presets}\n"
    )


def run(words: list[str]) -> int:
    """Score a batch; the exit status. Raises CsScoreError where nothing can be scored."""
    try:
        line = read_command_line(words, BATCH_SWITCHES)
        missing = _missing(line)
    except HelpWanted:
        write_text("stdout", usage_text())
        return 0
    except SwitchError as error:
        missing = str(error)
    if missing is not None:
        write_text("stdout", f"{missing}\n\n{usage_text()}")
        return FAILED
    queries = tuple(word for word in line.words if is_query_file(word))
    pool, *runs = (word for word in line.words if not is_query_file(word))
    choices = Choices(
        out=line.text("--out", ""),
        runs=tuple(runs),
        runs_from=line.switches.get("--runs-from"),
        sort_by=line.switches.get("--sort-by"),
        jobs=whole_number(line, "--jobs", MOST_JOBS),
        dask=line.switches.get("--dask"),
        ship_inputs="--ship-inputs" in line.switches,
        resume="--resume" in line.switches,
        gold=_gold(line, queries, (pool, *line.texts("--pool"))),
        problems=line.switches.get("--problems"),
        forced="--force" in line.switches,
    )
    if [*choices.gold, *runs, choices.runs_from].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    return score_batch(_plan(line, queries, (pool, *line.texts("--pool"))), choices, (RUN_SUFFIX,))


def _missing(line: CommandLine) -> str | None:
    """What a command line lacks, in words."""
    if "--out" not in line.switches:
        return "ERROR: --out DIR must be given"
    if not any(map(is_query_file, line.words)):
        return "ERROR: Not enough arguments; a query file (*.xml) must be given"
    if all(map(is_query_file, line.words)):
        return "ERROR: Not enough arguments; assessments and runs must be given after the query files"
    return None


def _plan(line: CommandLine, queries: tuple[str, ...], pool: tuple[str, ...]) -> ColdStartPlan:
    options = options_of(line)
    texts = policy_texts(line)
    policies = read_policies(line.texts("--policy"), options, texts)
    return ColdStartPlan(
        queries=tuple(map(held, queries)),
        pool=tuple(map(held, _pool_files(pool))),
        options=options,
        policies=tuple(policies) or (NamedPolicy("", options.policy, options.justifications, texts),),
        layout=layout_of(line),
        with_json="--json" in line.switches,
        switches=_scoring_switches(line),
        folder=os.getcwd(),
        query_list=_option_file(options.queries),
        samples=_option_file(options.samples),
        resampling=read_resampling(line.switches),
        validates="--validate" in line.switches,
        records="--problems" in line.switches,
    )


def _gold(line: CommandLine, queries: Sequence[str], pool: Sequence[str]) -> tuple[str, ...]:
    """The files that all runs share, those that options name with them."""
    named = (line.switches.get(name) for name in ("-queries", "-samples"))
    of_options = [name for name in named if name is not None and os.path.isfile(name)]
    return (*queries, *_pool_files(pool), *of_options)


def _pool_files(pool: Sequence[str]) -> list[str]:
    """The files of the pool; a folder stands for its members. Raises InputError for a folder without any."""
    for word in pool:
        if not members(word):
            raise InputError(f"no file *{RUN_SUFFIX} in it", file=word, remedy="name the files of the pool")
    return [name_of(member) for word in pool for member in members(word)]


def _option_file(choice: str | None) -> InputFile | None:
    """The file that an option names; None where its value is a list, or there is no such file."""
    return InputFile(choice) if choice is not None and os.path.isfile(choice) else None


def _scoring_switches(line: CommandLine) -> tuple[str, ...]:
    """The switches that a single call takes as well, but for the policy and its limits."""
    own = {switch.name for switch in _OF_A_BATCH} | {*POLICY_SWITCHES, "-justifications", "--problems", "--force"}
    words: list[str] = []
    for name, value in line.switches.items():
        if name not in own:
            words += [name] if value is None else [name, value]
    return tuple(words)
