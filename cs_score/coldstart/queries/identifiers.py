"""Query ids: their parts, and the hashes that name queries (specification 2 and 3.5)."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
from collections.abc import Callable
from typing import Final, NamedTuple

from cs_score.base.patterns import pattern

_md5: Callable[[bytes], hashlib._Hash] = functools.partial(hashlib.md5, usedforsecurity=False)
with contextlib.suppress(
    ImportError
):  # OpenSSL's, which hashlib prefers, takes half as long again for texts this short
    _md5 = importlib.import_module("_md5").md5

_NIL_NAMESPACE: Final = bytes(16)

_SLOT_FILLING_ID: Final = pattern(r"(?:(.+)_)?([0-9a-fA-F]{10})((?:_[0-9a-fA-F]{12})*)")
_LDC_ID: Final = pattern(r"(?:(.+)_)?(\d+)")

# What a JSON string must escape; every other character is hashed as it is, U+007F and U+2028 included.
_JSON_ESCAPES: Final = {
    **{code: f"\\u{code:04x}" for code in range(0x20)},
    0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\",
}  # fmt: skip


class QueryId(NamedTuple):
    """The parts of a query id.

    `prefix` is the text before the last component's underscore, or None; `base` names the query that the first hop
    answers; `short` is the last component, the key of the query table; `level` is 0 or 1; `expanded` is true for ids
    of the ten-digit form.
    """

    prefix: str | None
    base: str
    short: str
    level: int
    expanded: bool


def parse_query_id(text: str) -> QueryId | None:
    """The parts of `text`, or None if it is no query id (specification 2.1)."""
    if match := _SLOT_FILLING_ID.fullmatch(text):
        prefix, base, follow_on = match.groups()
        return QueryId(prefix, base, follow_on[-12:] or base, 1 if follow_on else 0, True)
    if match := _LDC_ID.fullmatch(text):
        prefix, number = match.groups()
        return QueryId(prefix, number, number, 0, False)
    return None


def name_hash(name: bytes, digits: int) -> str:
    """The last `digits` hexadecimal digits of MD5(sixteen zero bytes, name) (specification 3.5)."""
    return _md5(_NIL_NAMESPACE + name).hexdigest()[-digits:]


def slot_filling_id(docid: str, start: str, end: str, slots: tuple[str, ...]) -> str:
    """The ten-digit id of the query with this entry point and these slots, texts as in the query file."""
    return name_hash(":".join((docid, start, end, *slots)).encode("utf-8", "surrogatepass"), 10)


def follow_on_id(query_id: str, value: str, provenance: str) -> str:
    """The twelve-digit id of the query that asks about an answer (specification 3.5).

    `query_id` is the full id of the query that was answered, `value` the answer, `provenance` the canonical value
    provenance. Non-ASCII text is hashed in a double UTF-8 encoding, as the published ids were.
    """
    text = f"{query_id}:{value}:{provenance}"
    if not text.isprintable() or '"' in text or "\\" in text:
        text = text.translate(_JSON_ESCAPES)
    if text.isascii():
        name = text.encode("ascii")
    else:
        name = text.encode("utf-8", "surrogatepass").decode("latin-1").encode("utf-8")
    return _md5(_NIL_NAMESPACE + name).hexdigest()[-12:]
