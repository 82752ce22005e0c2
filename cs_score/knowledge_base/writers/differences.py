"""How validation changes a knowledge base, as a diff in the order of its lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from cs_score.knowledge_base.contents.assertions import KnowledgeBase
from cs_score.knowledge_base.writers.tac import tac_lines
from cs_score.preparation.runs import file_differences


def differences(base: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """The diff of a knowledge base file; beside each line stands what is written for it and what follows from it."""
    written: dict[int, list[str]] = defaultdict(list)
    written[1].append(base.first_line)
    for assertion in base.assertions:
        written[assertion.line] += (line.removesuffix("\n") for line in tac_lines((assertion,), labels))
    return file_differences(base.name, written)
