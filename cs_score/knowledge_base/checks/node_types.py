"""Whether every node has one type, and says so itself (specification 6.1 and 6.2)."""

from __future__ import annotations

from collections.abc import Iterator

from cs_score.knowledge_base.contents.assertions import KnowledgeBase, Node
from cs_score.knowledge_base.contents.predicates import Use
from cs_score.knowledge_base.reading.findings import Findings


def check_types(base: KnowledgeBase, findings: Findings) -> None:
    """Report nodes without type, with several types, and with types that no line declares."""
    has_excluded = False
    for node in base.nodes.values():
        if not node.types:
            findings.report("UNKNOWN_TYPE", node.name, line=node.best_line)
        elif node.type is None:
            definitions = ", ".join(f"{name} at line {node.definition(name)}" for name in sorted(node.types))
            findings.report_without_place("MULTITYPED_ENTITY", node.name, definitions, line=node.best_line)
        for node_type in node.types:
            if not node.declares(node_type):
                findings.report("MISSING_TYPEDEF", node.name, line=node.definition(node_type))
        has_excluded = has_excluded or any(_excludes(use, node) for use in node.uses)
    if has_excluded:  # only then all that lines say is looked at once more
        _check_choices(base, findings)


def _excludes(use: Use, node: Node) -> bool:
    """Whether a use leaves a choice of types that the node's is not among."""
    return use.only is None and node.type not in use.types and bool(use.types)


def _check_choices(base: KnowledgeBase, findings: Findings) -> None:
    """Report the choices of types that leave out the type that a node has."""
    for node, use, line in _statements(base):
        if _excludes(use, node):
            choice = " or ".join(sorted(use.types))
            shown = f"{choice} at line {line} and {node.known_type} at line {node.best_line}"
            findings.report_without_place("MULTITYPED_ENTITY", node.name, shown, line=line)


def _statements(base: KnowledgeBase) -> Iterator[tuple[Node, Use, int]]:
    """How each line uses its nodes, those that were not recorded last."""
    for assertion in base.assertions:
        yield assertion.subject, assertion.verb.as_subject, assertion.line
        if assertion.node is not None:
            yield assertion.node, assertion.verb.as_object, assertion.line
    yield from base.unrecorded
