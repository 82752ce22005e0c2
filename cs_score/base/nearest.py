"""Names that a word may have been meant as, for messages about words that name nothing."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, names: Iterable[str], cutoff: float = 0.7) -> str:
    """Up to three of the names, `; did you mean ...?`; empty where none is near. Letter case and dashes are ignored.

    `cutoff`, 0..1, is how alike they have to be; short ids that differ in one of two characters are so by half.
    """
    import difflib

    plain = {_plain(name): name for name in names}
    key = _plain(word)
    begun = [each for each in plain if len(key) > 2 and each.startswith(key)]
    found = dict.fromkeys((*difflib.get_close_matches(key, plain, cutoff=cutoff), *begun))
    *some, last = [plain[each] for each in found][:3] or [""]
    return f"; did you mean {', '.join(some)}{' or ' if some else ''}{last}?" if last else ""


def _plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-").casefold()
