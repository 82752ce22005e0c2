"""The validated knowledge base, in the format that it is read in (specification 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from cs_score.knowledge_base.contents.assertions import TYPE, Assertion, KnowledgeBase, Node
from cs_score.knowledge_base.contents.predicates import Verb


def tac_text(base: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """The lines of a validated knowledge base, node by node; predicates of other labels are left out."""
    yield f"{base.first_line}\n\n"
    for assertions in base.by_node():
        yield "".join(tac_lines(assertions, labels))


def tac_lines(assertions: Iterable[Assertion], labels: Collection[str]) -> list[str]:
    """The lines of a node's assertions, without omitted ones and predicates of other labels."""
    lines = []
    verb: Verb | None = None
    realis: str | None = None
    beginning = ""
    for assertion in assertions:
        if assertion.is_omitted or assertion.verb.label not in labels:
            continue
        if assertion.verb is not verb or assertion.realis != realis:  # lines that begin alike follow each other
            verb, realis = assertion.verb, assertion.realis
            beginning = _beginning(assertion.subject, verb, realis)
        end = f"{assertion.comment}\n" if verb.name == TYPE else f"\t{assertion.confidence}{assertion.comment}\n"
        lines.append(f"{beginning}{assertion.object}\t{assertion.provenance.text}{end}")
    return lines


def _beginning(subject: Node, verb: Verb, realis: str | None) -> str:
    """The first two columns."""
    name = f"{subject.type}:{verb.name}" if verb.has_domain else verb.name
    return f"{subject.name}\t{name}\t" if realis is None else f"{subject.name}\t{name}.{realis}\t"
