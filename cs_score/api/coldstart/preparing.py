"""Runs that are made or mended in memory before they are scored: knowledge bases resolved, runs validated."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.base.records import replace
from cs_score.base.sources import Input
from cs_score.coldstart.gold import Gold, Run, load_run
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Justifications
from cs_score.knowledge_base.recognition import is_knowledge_base


def loaded_run(
    gold: Gold, files: Sequence[Input], pool: Sequence[Input], limits: Justifications, *, validate: bool
) -> Run:
    """The lines of a run, of knowledge bases what they answer; with `validate` as validation leaves them.

    `pool`: assessments that are read behind the run. Raises InputError for what cannot be prepared or linked.
    """
    if not validate and not any(is_knowledge_base(member) for file in files for member in members(file)):
        return load_run(gold, [*files, *pool], limits)
    from cs_score.knowledge_base.validation import resolve_knowledge_bases
    from cs_score.preparation.prevalidation import Preparation, load_prepared, validate_runs

    prepared = resolve_knowledge_bases(files, gold.table)
    for one in prepared.runs:
        one.check()
    if validate:
        validated = validate_runs(prepared.files, gold.table, limits)
        for one in validated.runs:
            one.check()
        prepared = Preparation(validated.files, [*prepared.runs, *validated.runs])
    run = load_prepared(gold, Preparation([*prepared.files, *pool], prepared.runs), limits)
    return replace(run, remarks=[*(one.account for one in prepared.runs), *run.remarks])
