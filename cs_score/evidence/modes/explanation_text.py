"""Words of explanations: values of the inputs as they are shown, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cs_score.evidence.reading.json_reader import plain, quoted

INDENT: Final = "  "


def right_or_wrong(right: bool) -> str:
    return "correct" if right else "wrong"


def listed(values: Iterable[object]) -> str:
    return f"[{', '.join(map(plain, values))}]"


def quoted_list(values: Iterable[object]) -> str:
    return f"[{', '.join(map(quoted, values))}]"


def quoted_set(values: Iterable[object]) -> str:
    """A set of sentences, small numbers first."""
    return f"{{{', '.join(sorted(map(quoted, values), key=lambda shown: (len(shown), shown)))}}}"


def quoted_sets(sets: Iterable[Iterable[object]]) -> str:
    return " ".join(map(quoted_set, sets))
