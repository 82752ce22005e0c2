"""Knowledge bases on their way to the scorer: validated, and resolved to runs, in memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable

from cs_score.base.outputs import encoded
from cs_score.base.signing.origin import RUN
from cs_score.base.sources import InMemory, Input, Source, name_of, open_source
from cs_score.coldstart.linking import members
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.knowledge_base.reading.recognition import is_knowledge_base
from cs_score.preparation.prevalidation import Preparation, PreparedRun, rereadable
from cs_score.problems.log import ProblemLog


def resolve_knowledge_bases(
    files: Iterable[Input],
    queries: QuerySet,
    new_log: Callable[[], ProblemLog] = ProblemLog,
    known: Collection[Input] = (),
) -> Preparation:
    """Put runs in the place of the knowledge bases among files, as validate-kb and resolve-queries make them.

    `known` are files that are knowledge bases whatever they look like; `new_log` makes the log of problems of each.
    Raises InputError where one cannot be resolved; one with errors is told by the `check` of its `PreparedRun`, and has
    no run.
    """
    prepared = Preparation()
    asked = list(queries.scored_by_default())
    for given in files:
        for member in members(given):
            if member in known or is_knowledge_base(member):
                run = _resolved(rereadable(member), asked, new_log(), prepared)
                prepared.runs.append(run)
            else:
                prepared.files.append(member)
    return prepared


def _resolved(given: Input, queries: list[Query], problems: ProblemLog, prepared: Preparation) -> PreparedRun:
    # Loaded here, since most runs are no knowledge bases: a fiftieth of a small batch.
    from cs_score.knowledge_base.contents.predicates import TAC
    from cs_score.knowledge_base.ignoring import IGNORED_BY_DEFAULT, ignored_codes
    from cs_score.knowledge_base.resolution.answering import documents_of, resolve, slots_of
    from cs_score.knowledge_base.resolution.validated_kb import read_validated
    from cs_score.knowledge_base.validation import KbOptions, validate_kb
    from cs_score.knowledge_base.writers.tac import tac_text

    name = name_of(given)
    resolved_name = f"{name} (resolved)"
    problems.ignored = ignored_codes(IGNORED_BY_DEFAULT)
    with open_source(given) as source:
        base = validate_kb(source, KbOptions(), problems)
        digest = source.digest(RUN)
    answers = 0
    if not problems.has_errors:
        valid = io.BytesIO(b"".join(encoded(tac_text(base, (TAC,)))))
        with Source(name, valid, decompress=False) as source:
            kb = read_validated(source, slots_of(queries), documents_of(queries))
        resolution = resolve(kb, queries)
        answers = len(resolution.lines)
        prepared.files.append(InMemory(resolved_name, b"".join(encoded(resolution.lines))))
        entered = resolution.counts.entered
        account = f"validated and resolved; {entered} of {len(queries)} queries found their entity, {answers} answers"
    else:
        account = "has errors"
    remedy = "a knowledge base with errors is not resolved; mend them first"
    return PreparedRun(name, resolved_name, problems, account, (digest,), "KB_WITH_ERRORS", remedy)
