"""Names of nodes, and the types that they suit (specification 3.6)."""

from __future__ import annotations

import re
from typing import Final

from cs_score.coldstart.queries import ENTITY_TYPES

_NAME: Final = re.compile(r":?(?:entity|event|string)[^-]+", re.IGNORECASE | re.DOTALL)


def is_node_name(text: str) -> bool:
    """Whether a text is the name of a node, with or without its colon."""
    return _NAME.fullmatch(text) is not None


def suits(name: str, node_type: str) -> bool:
    """Whether a node of this name may have this type."""
    if node_type == "string":
        return name.startswith(":String")
    return name.startswith(":Entity" if node_type in ENTITY_TYPES else ":Event")
