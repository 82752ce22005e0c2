"""`cs-score batch [switches] --out DIR QUERIES.xml POOL RUN...`: the switches of the scorer, and those of a batch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import InputError, UsageError
from cs_score.base.sources import name_of
from cs_score.batch.plan.policies import read_policies
from cs_score.cli.batch.options import BATCH_OPTIONS, MOST_JOBS
from cs_score.cli.form import BATCH, Form, Parameter, whole_number
from cs_score.cli.options import CommandLine, Option, SwitchError
from cs_score.cli.resampling_options import read_resampling
from cs_score.cli.scorer.command import fields, legend, policies, policy_form
from cs_score.cli.scorer.options import POLICY_SWITCHES, layout_of, options_of, policy_texts
from cs_score.cli.scorer.switches import OF_A_BATCH
from cs_score.coldstart.linking import RUN_SUFFIX, members
from cs_score.coldstart.options import PRESETS, NamedPolicy
from cs_score.coldstart.query_files import is_query_file
from cs_score.measures.registry import COLD_START_MODE, rankable, usual

if TYPE_CHECKING:  # the help of a batch needs no scoring code
    from cs_score.batch.coldstart import ColdStartPlan
    from cs_score.batch.plan.inputs import InputFile


def _measures() -> Iterable[str]:
    return map(str, rankable(COLD_START_MODE, True))


_OF_A_BATCH: Final = (
    *BATCH_OPTIONS,
    Option("--json", None, "Write DIR/RUN/out.json for every run, too"),
    Option("--policy", "NAME[:LIST]", "Score under this policy; may be repeated; see below", choices=tuple(PRESETS)),
    Option("--pool", "FILE", "Further assessments, after POOL; may be repeated"),
    Option(
        "--sort-by",
        "MEASURE",
        "Measure that ranks the leaderboard",
        f"{usual()} or {usual(with_ldc=False)}",
        _measures,
    ),
)

# The batch chooses the names of files.
BATCH_SWITCHES: Final = (*OF_A_BATCH, *_OF_A_BATCH)


class _Batch(Form):
    """A batch, whose files are told apart by their names."""

    def read(self, words: Sequence[str]) -> CommandLine:
        """As for every form. Raises SwitchError for a lack of files, too."""
        line = super().read(words)
        if (missing := _missing(line)) is not None:
            raise SwitchError(f"ERROR: {missing}", missing)
        return line


def _run(line: CommandLine) -> int:
    """Score a batch; the exit status. Raises CsScoreError where nothing can be scored."""
    from cs_score.cli.batch.command import choices_of, score_batch

    queries = tuple(word for word in line.words if is_query_file(word))
    pool, *runs = (word for word in line.words if not is_query_file(word))
    jobs = whole_number(line, "--jobs", MOST_JOBS)
    choices = choices_of(line, runs, _gold(line, queries, (pool, *line.texts("--pool"))), jobs)
    if [*choices.gold, *runs, choices.runs_from].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    return score_batch(_plan(line, queries, (pool, *line.texts("--pool"))), choices, (RUN_SUFFIX,))


def _missing(line: CommandLine) -> str | None:
    """What a command line lacks, in words."""
    if not any(map(is_query_file, line.words)):
        return "Not enough arguments; a query file (*.xml) must be given"
    if all(map(is_query_file, line.words)):
        return "Not enough arguments; assessments and runs must be given after the query files"
    return None


def _plan(line: CommandLine, queries: tuple[str, ...], pool: tuple[str, ...]) -> ColdStartPlan:
    from cs_score.batch.coldstart import ColdStartPlan
    from cs_score.batch.single_call import SingleCall
    from cs_score.cli.batch.command import held, page_maker_if

    options = options_of(line)
    texts = policy_texts(line)
    policies = read_policies(line.texts("--policy"), options, texts)
    return ColdStartPlan(
        queries=tuple(map(held, queries)),
        pool=tuple(map(held, _pool_files(pool))),
        options=options,
        policies=tuple(policies) or (NamedPolicy("", options.policy, options.justifications, texts),),
        call=SingleCall(layout_of(line), "--json" in line.switches, _scoring_switches(line), os.getcwd()),
        query_list=_option_file(options.queries),
        samples=_option_file(options.samples),
        resampling=read_resampling(line.switches),
        validates="--validate" in line.switches,
        records="--problems" in line.switches,
        page=page_maker_if("--html" in line.switches),
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
    from cs_score.batch.plan.inputs import InputFile

    return InputFile(choice) if choice is not None and os.path.isfile(choice) else None


def _scoring_switches(line: CommandLine) -> tuple[str, ...]:
    """The switches that a single call takes as well, but for the policy and its limits."""
    own = {switch.name for switch in _OF_A_BATCH} | {*POLICY_SWITCHES, "-justifications", "--problems", "--force"}
    words: list[str] = []
    for name, value in line.switches.items():
        if name not in own:
            words += [name] if value is None else [name, value]
    return tuple(words)


FORM: Final = _Batch(
    "batch",
    BATCH_SWITCHES,
    (
        Parameter(
            "files",
            "Query files (*.xml), the assessments, and the runs in this order. A run is a file, a folder "
            "(its files *.tab.txt, perhaps compressed) or a quoted pattern",
            is_repeated=True,
        ),
    ),
    contract=BATCH,
    required=("--out",),
    sections=lambda: (
        policy_form(),
        policies(),
        ("Files", "The files of a run are DIR/RUN/out.sf and so on, with several policies DIR/POLICY/RUN/out.sf."),
        fields(),
        *legend(),
    ),
    body=_run,
)
