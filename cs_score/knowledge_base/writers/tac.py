"""The validated knowledge base, in the format that it is read in (specification 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cs_score.knowledge_base.contents.assertions import TYPE, Assertion, KnowledgeBase


def tac_text(base: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """The lines of a validated knowledge base, node by node; predicates of other labels are left out."""
    yield f"{base.first_line}\n\n"
    for assertions in base.by_node():
        yield "".join(
            [
                tac_line(assertion)
                for assertion in assertions
                if not assertion.is_omitted and assertion.verb.label in labels
            ]
        )


def tac_line(assertion: Assertion) -> str:
    """An assertion as a line."""
    subject, verb = assertion.subject, assertion.verb
    name = f"{subject.type}:{verb.name}" if verb.has_domain else verb.name
    if assertion.realis is not None:
        name = f"{name}.{assertion.realis}"
    line = f"{subject.name}\t{name}\t{assertion.object}\t{assertion.provenance.text}"
    if verb.name != TYPE:
        return f"{line}\t{assertion.confidence}{assertion.comment}\n"
    return f"{line}{assertion.comment}\n"
