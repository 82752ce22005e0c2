"""A knowledge base validated: problems named, what can be repaired repaired; and resolved to a run in memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.outputs import encoded
from cs_score.base.records import Record, field
from cs_score.base.signature import RUN
from cs_score.base.sources import InMemory, Input, Source, name_of, open_source
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.knowledge_base.assertions import KnowledgeBase
from cs_score.knowledge_base.building import Builder, Findings, Multiple, Repetitions
from cs_score.knowledge_base.checks import (
    check_confidences,
    check_endpoints,
    check_mention_strings,
    check_provenances,
    check_strings,
    check_types,
    infer_inverses,
    infer_mentions,
)
from cs_score.knowledge_base.kb_file import KbFile
from cs_score.knowledge_base.predicates import TAC, PredicateTable
from cs_score.knowledge_base.recognition import is_knowledge_base
from cs_score.knowledge_base.resolution import Resolution, read_validated
from cs_score.knowledge_base.writers import tac_text
from cs_score.preparation.documents import DocumentList
from cs_score.preparation.prevalidation import Preparation, PreparedRun, rereadable, validate_runs
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import ProblemLog

IGNORED_BY_DEFAULT: Final = "MULTIPLE_FILLS_ENTITY"
"""Where it is ignored, slots that take one value may have several."""

# Codes that the reference knows and that nothing reports.
_SILENT_WARNINGS: Final = frozenset(
    (
        "BAD_QUERY",
        "DUPLICATE_QUERY_ID",
        "MISSING_MENTION",
        "MULTIPLE_FILLS_SLOT",
        "MULTIPLE_LINKS",
        "TOO_MANY_PROVENANCE_TRIPLES",
        "UNLOADED_QUERY",
    )
)
_SILENT_ERRORS: Final = frozenset(("ILLEGAL_OFFSET_PAIR_STRING", "MISSING_CANONICAL_E", "MISSING_REALIS"))


def ignored_codes(text: str) -> frozenset[str]:
    """The codes of a list that is separated by colons. Raises UsageError for one that is unknown or no warning."""
    codes = [code for code in text.upper().split(":") if code]
    for code in codes:
        if code in _SILENT_WARNINGS:
            continue
        if code not in _SILENT_ERRORS and (code not in CODES or CODES[code].template is None):
            raise UsageError(f"Unknown warning: {code}")
        if code in _SILENT_ERRORS or CODES[code].severity is not Severity.WARNING:
            raise UsageError(f"{code} is a fatal error; cannot ignore it")
    return frozenset(codes)


class KbOptions(Record):
    """How a knowledge base is validated."""

    task: str = "CSKB"
    multiple: Multiple = Multiple.MANY
    documents: DocumentList | None = None
    table: PredicateTable = field(default_factory=PredicateTable)


def validate_kb(source: Source, options: KbOptions, problems: ProblemLog) -> KnowledgeBase:
    """Read and check a knowledge base; nothing of it may be used where `problems` then holds errors.

    Raises InputError for fatal conditions, once as much as possible has been read and checked.
    """
    file = KbFile(source, problems, options.task)
    base = KnowledgeBase(file.name, file.run_id, file.first_line)
    findings = Findings(file.name, problems)
    repetitions = Repetitions(options.multiple, findings, one_value=IGNORED_BY_DEFAULT not in problems.ignored)
    lengths = options.documents.lengths if options.documents is not None else None
    builder = Builder(base, options.table, repetitions, findings, lengths)
    for line in file.lines():
        builder.add(line)
    # In the order of the reference.
    nodes = list(base.nodes.values())
    check_types(base, findings)
    check_strings(nodes, findings)
    check_provenances(base.assertions, findings)
    problems.fatal += check_mention_strings(nodes, options.documents, findings)
    infer_inverses(builder)
    infer_mentions(builder, base.nodes.values(), with_canonical=options.task == "CSKB")
    check_endpoints(base.assertions, findings)
    check_confidences(base.assertions, findings)
    repetitions.finish()
    problems.end_if_fatal()
    return base


def resolve_knowledge_bases(
    files: Iterable[Input],
    queries: QuerySet,
    new_log: Callable[[], ProblemLog] = ProblemLog,
    known: Collection[Input] = (),
) -> Preparation:
    """Put runs in the place of the knowledge bases among files, as validate-kb and resolve-queries make them.

    `known` are files that are knowledge bases whatever they look like; `new_log` makes the log of problems of each.
    Raises InputError where one cannot be resolved; one with errors is reported by the `check` of its `PreparedRun`, and
    has no run.
    """
    prepared = Preparation()
    asked = list(queries.scored_by_default())
    for member in chain.from_iterable(map(members, files)):
        if member in known or is_knowledge_base(member):
            run, resolved = _resolved(rereadable(member), asked, new_log())
            prepared.runs.append(run)
            prepared.files += [] if resolved is None else [resolved]
        else:
            prepared.files.append(member)
    return prepared


def prepared_files(
    files: Iterable[Input], queries: QuerySet, limits: Justifications, *, validate: bool, known: Collection[Input] = ()
) -> Preparation:
    """Files with runs in the place of knowledge bases, with `validate` as validation leaves them.

    Raises InputError where one has errors, or cannot be prepared.
    """
    prepared = resolve_knowledge_bases(files, queries, known=known)
    for one in prepared.runs:
        one.check()
    if validate:
        validated = validate_runs(prepared.files, queries, limits)
        for one in validated.runs:
            one.check()
        prepared = Preparation(validated.files, [*prepared.runs, *validated.runs])
    return prepared


def _resolved(given: Input, queries: list[Query], problems: ProblemLog) -> tuple[PreparedRun, InMemory | None]:
    name = name_of(given)
    resolved_name = f"{name} (resolved)"
    problems.ignored = ignored_codes(IGNORED_BY_DEFAULT)
    with open_source(given) as source:
        base = validate_kb(source, KbOptions(), problems)
        digest = source.digest(RUN)
    resolved, account = None, "has errors"
    if not problems.has_errors:
        valid = io.BytesIO(b"".join(encoded(tac_text(base, (TAC,)))))
        with Source(name, valid, decompress=False) as source:
            resolution = Resolution(read_validated(source, queries), queries)
        resolved = InMemory(resolved_name, b"".join(encoded(resolution.lines)))
        found = f"{resolution.entered} of {len(queries)} queries found their entity, {len(resolution.lines)} answers"
        account = f"validated and resolved; {found}"
    remedy = "a knowledge base with errors is not resolved; correct them first"
    return PreparedRun(name, resolved_name, problems, account, (digest,), "KB_WITH_ERRORS", remedy), resolved
