"""Validating a knowledge base: every problem named, what can be mended mended, what is left unsaid added.

Source: specification of knowledge bases, sections 3 to 7.
"""

from __future__ import annotations

from cs_score.base.records import Record, field
from cs_score.base.sources import Source
from cs_score.knowledge_base.checks.inference import infer_inverses, infer_mentions
from cs_score.knowledge_base.checks.mention_strings import MentionStrings
from cs_score.knowledge_base.checks.node_types import check_types
from cs_score.knowledge_base.checks.provenances import (
    check_confidences,
    check_endpoints,
    check_provenances,
    check_strings,
)
from cs_score.knowledge_base.contents.assertions import KnowledgeBase
from cs_score.knowledge_base.contents.predicates import PredicateTable
from cs_score.knowledge_base.reading.building import Builder
from cs_score.knowledge_base.reading.findings import Findings
from cs_score.knowledge_base.reading.kb_file import KbFile
from cs_score.knowledge_base.reading.repetitions import Multiple, Repetitions
from cs_score.preparation.documents import DocumentList
from cs_score.problems.log import ProblemLog

ONE_VALUE_CODE = "MULTIPLE_FILLS_ENTITY"
"""The code whose being ignored also lets single-valued slots have several values."""


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
    repetitions = Repetitions(options.multiple, findings, one_value=ONE_VALUE_CODE not in problems.ignored)
    lengths = options.documents.lengths if options.documents is not None else None
    builder = Builder(base, options.table, repetitions, findings, lengths)
    for line in file.lines():
        builder.add(line)
    check(builder, options, problems)
    problems.end_if_fatal()
    return base


def check(builder: Builder, options: KbOptions, problems: ProblemLog) -> None:
    """All that only a whole knowledge base can tell, in the order of the reference."""
    base, findings = builder.base, builder.findings
    nodes = list(base.nodes.values())
    check_types(base, findings)
    check_strings(nodes, findings)
    check_provenances(base.assertions, findings)
    strings = MentionStrings(options.documents, findings)
    strings.check(nodes)
    problems.fatal += strings.fatal
    infer_inverses(builder)
    infer_mentions(builder, base.nodes.values(), with_canonical=options.task == "CSKB")
    check_endpoints(base.assertions, findings)
    check_confidences(base.assertions, findings)
    builder.repetitions.finish()
