"""What opens on a page, packed: it is large, repeats itself, and is wanted one piece after the other."""

from __future__ import annotations

import base64
import json
import zlib

from cs_score.base.display import cell, terminal_safe
from cs_score.report.model import Told

_LONGEST = 2000


def packed(told: Told) -> str:
    """Texts and things as JSON, deflated, in Base64, which no text of an input can break out of.

    Of each thing: its head, the numbers of its texts, groups of other things by number, and its chart as SVG.
    """
    things = [
        [
            cell(thing.head, _LONGEST),
            list(thing.steps),
            [[title, [told.numbers[key] for key in keys]] for title, keys in thing.groups],
            "" if thing.drawing is None else thing.drawing.svg(),
        ]
        for thing in told.things.values()
    ]
    value = {"trees": told.are_trees, "texts": [terminal_safe(text) for text in told.texts], "things": things}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return base64.b64encode(zlib.compress(data, 6)).decode()
