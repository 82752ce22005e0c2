"""Knowledge bases and runs that the scorer prepares on the way, which the reference cannot.

Nothing of the programs before the scorer is imported unless it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from cs_score.base.records import replace
from cs_score.base.sources import Input
from cs_score.cli.destinations import say
from cs_score.cli.problem_display import report_on_stderr
from cs_score.cli.scorer.switches import PROGRAM
from cs_score.coldstart.gold import Gold, Run
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import as_validated
from cs_score.coldstart.result import Result
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:
    from cs_score.preparation.prevalidation import PreparedRun


def load_prepared(
    gold: Gold, files: Sequence[Input], knowledge_bases: Collection[str], problems: ProblemLog, *, validates: bool
) -> Run:
    """Load files as the scorer does, knowledge bases resolved and, with `validates`, every run validated first.

    What that changed is said on standard error. Raises InputError where something has errors: it would not exist.
    """
    from cs_score.preparation.prevalidation import Preparation, load_prepared, validate_runs
    from cs_score.problems.occurrences import RecordingLog

    new_log = RecordingLog if isinstance(problems, RecordingLog) else ProblemLog
    prepared = Preparation(list(files))
    if knowledge_bases:
        from cs_score.knowledge_base.validation import resolve_knowledge_bases

        prepared = resolve_knowledge_bases(files, gold.table, new_log, knowledge_bases)
        _account(prepared.runs, problems)
    if validates:
        validated = validate_runs(prepared.files, gold.table, gold.options.justifications, new_log)
        _account(validated.runs, problems)
        prepared = Preparation(validated.files, [*prepared.runs, *validated.runs])
    return load_prepared(gold, prepared, problems=problems)


def _account(runs: Iterable[PreparedRun], problems: ProblemLog) -> None:
    """Say what was found in runs and what was made of them. Raises InputError where one has errors."""
    from cs_score.problems.occurrences import RecordingLog

    for run in runs:
        say(report_on_stderr(run.problems))
        if isinstance(problems, RecordingLog) and isinstance(run.problems, RecordingLog):
            problems.also_report(run.problems)
        run.check()
        say(f"{PROGRAM}: {run.account}\n")


def knowledge_bases_in(files: Iterable[Input]) -> frozenset[str]:
    """The knowledge bases among the files that words of the command line stand for."""
    from cs_score.knowledge_base.recognition import is_knowledge_base

    found = (member for word in files for member in members(word))
    return frozenset(member for member in found if isinstance(member, str) and is_knowledge_base(member))


def signed_as_validated(result: Result) -> Result:
    """The result with a signature that tells that its runs were validated."""
    return replace(result, origin=as_validated(result.origin))
