"""How much a knowledge base holds, as text and as JSON (specification 15)."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from cs_score.base.planned_outputs import Format, OwnOption
from cs_score.base.records import Record
from cs_score.knowledge_base.contents.assertions import CANONICAL, LINK, NAMED, TYPE, KnowledgeBase

_WITHOUT_DOMAIN = frozenset((TYPE, NAMED, CANONICAL, LINK))


class KbStatistics(Record):
    """Counts by title and key; titles join the names of the levels by colons."""

    run_id: str
    has_multiple_confidences: bool
    counts: dict[str, dict[str, int]]


def statistics_of(base: KnowledgeBase) -> KbStatistics:
    """Count what was asserted, omitted and rejected, and the nodes, by type and predicate."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for assertion in base.assertions:
        title = "OMITTED" if assertion.is_omitted else "ASSERTED"
        node_type, name = assertion.subject.known_type, assertion.verb.name
        counts[f"{title}:DOMAIN"][node_type] += 1
        counts[f"{title}:DOMAIN"]["ALL"] += 1
        counts[f"{title}:PREDICATE"][name if name in _WITHOUT_DOMAIN else f"{node_type}:{name}"] += 1
    for node in base.nodes.values():
        counts["ENTITY"][node.known_type] += 1
        counts["ENTITY"]["ALL"] += 1
    if base.rejected:
        counts["REJECTED_ASSERTIONS"] = base.rejected
    confidences = {float(assertion.confidence) for assertion in base.assertions}
    ordered = {title: dict(sorted(counts[title].items())) for title in sorted(counts)}
    return KbStatistics(base.run_id, len(confidences) > 1, ordered)


def statistics_text(statistics: KbStatistics) -> Iterator[str]:
    """The lines of the reference's statistics file."""
    yield f"RUNID\t\t{statistics.run_id}\n"
    yield f"HAS_MULTIPLE_CONFIDENCES\t\t{'YES' if statistics.has_multiple_confidences else 'NO'}\n"
    for title, of_title in statistics.counts.items():
        for key, count in of_title.items():
            yield f"{title}\t{key}\t{count}\n"


JSON_OPTION: Final = OwnOption(
    "--json",
    {".json": Format(re.compile(rb'\{\s*(?:"schema_version":\s*\d+,\s*)?"run_id":'))},
    "statistics.json",
    takes_dash=True,
)
"""The option that names the file of the statistics as JSON."""


SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""


def statistics_json(statistics: KbStatistics) -> str:
    """The same as a JSON object."""
    levels: dict[str, object] = {}
    for title, of_title in statistics.counts.items():
        first, colon, second = title.lower().partition(":")
        if colon:
            of_first = levels.setdefault(first, {})
            assert isinstance(of_first, dict)
            of_first[second] = of_title
        else:
            levels[first] = of_title
    whole = {
        "schema_version": SCHEMA_VERSION,
        "run_id": statistics.run_id,
        "has_multiple_confidences": statistics.has_multiple_confidences,
        **levels,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
