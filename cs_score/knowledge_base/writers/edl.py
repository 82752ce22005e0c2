"""The mentions of entities for the evaluation of entity discovery and linking (specification 11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cs_score.knowledge_base.contents.assertions import LINK, NAMED, NOMINAL, TYPE, KnowledgeBase

_KINDS: Final = {NAMED: "NAM", NOMINAL: "NOM"}


def edl_text(base: KnowledgeBase, link_kb: str) -> Iterator[str]:
    """A line for each mention; `link_kb` is the prefix of the links that name entities."""
    types: dict[str, str] = {}
    ids: dict[str, str] = {}
    linked: dict[str, str] = {}
    mentions = []
    for assertion in base.in_order():
        name = assertion.verb.name
        subject = assertion.subject.name
        if name == TYPE:
            types[subject] = assertion.object.upper()
            ids.setdefault(subject, f"NIL_{len(ids) + 1:04d}")
        elif name == LINK:
            prefix, _, rest = assertion.object.partition(":")
            if prefix == link_kb:
                linked[subject] = rest
        elif name in _KINDS and not assertion.is_omitted and not assertion.subject.is_event:
            mentions.append(assertion)
    ids.update(linked)
    for number, mention in enumerate(mentions, 1):
        subject = mention.subject.name
        columns = (
            base.run_id, f"{subject}_{_mention_id(number)}", mention.text, mention.provenance.text,
            ids.get(subject, ""), types.get(subject, ""), _KINDS[mention.verb.name], mention.confidence,
        )  # fmt: skip
        yield "\t".join(columns) + "\n"


def _mention_id(number: int) -> str:
    """M00001, M00002, ... M99999, N00000."""
    letter, rest = divmod(number, 100_000)
    return f"{chr(ord('M') + letter)}{rest:05d}"
