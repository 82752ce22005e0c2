"""Whether every node has one type, and says so itself (specification 6.1 and 6.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cs_score.knowledge_base.findings import Findings
from cs_score.knowledge_base.nodes import TYPEDEF, Node, best_line


def check_types(nodes: Iterable[Node], findings: Findings) -> None:
    """Report nodes without type, with several types, and with types that no line declares."""
    for node in nodes:
        if not node.types:
            findings.report("UNKNOWN_TYPE", node.name, line=best_line(node.uses))
        elif len(node.types) > 1:
            definitions = ", ".join(f"{name} at line {best_line(node.types[name])}" for name in sorted(node.types))
            findings.report("MULTITYPED_ENTITY", node.name, definitions)
        _check_choices(node, findings)
        for uses in node.types.values():
            if uses[TYPEDEF] == math.inf:
                findings.report("MISSING_TYPEDEF", node.name, line=best_line(uses))


def _check_choices(node: Node, findings: Findings) -> None:
    """Report the choices of types that leave out the type that a node has."""
    known = node.type
    for types, lines in node.possible.items():
        if known in types:
            continue
        choice = " or ".join(sorted(types))
        for line in lines:
            findings.report(
                "MULTITYPED_ENTITY", node.name,
                f"{choice} at line {line} and {node.known_type} at line {best_line(node.uses)}",
            )  # fmt: skip
