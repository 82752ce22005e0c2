r"""Write and read lists of names such as `right=A:B,wrong=C`, in which a name may contain the separators themselves.

A backslash stands before each separator that belongs to a name: the label `yes, mostly` is written `yes\, mostly`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from cs_score.base.errors import UsageError, did_you_mean

SEPARATORS: Final = ",:="
"""The characters that separate names in the values of options such as `--policy` and `--columns`."""


def escape_separators(name: str) -> str:
    r"""Return a name with a backslash before each separator and each backslash.

    >>> print(escape_separators("yes, mostly"))
    yes\, mostly
    """
    return re.sub(rf"[\\{SEPARATORS}]", r"\\\g<0>", name)


def split_unescaped(text: str, separator: str) -> list[str]:
    r"""Return the parts of a text between the separators that have no backslash before them.

    The parts keep all their backslashes, so that each can be split once more at another separator.

    >>> for part in split_unescaped(r"a\,b,c", ","):
    ...     print(part)
    a\,b
    c
    """
    parts = [""]
    is_escaped = False
    for character in text:
        if character == separator and not is_escaped:
            parts.append("")
        else:
            parts[-1] += character
        is_escaped = character == "\\" and not is_escaped
    return parts


def unescape_separators(text: str) -> str:
    r"""Return the name that `escape_separators` has written as this text.

    A backslash before any other character belongs to the name, and so does one at the end.

    >>> print(unescape_separators(r"yes\, mostly"))
    yes, mostly
    """
    return re.sub(rf"\\([\\{SEPARATORS}])", r"\1", text)


def read_column_names(text: str, columns: Collection[str], message_start: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of the value of `--columns`: one of our `columns`, and the name that a file has for it.

    "unit=question_id,label=verdict" gives `("unit", "question_id")` and `("label", "verdict")`. An empty text yields
    nothing. Raises UsageError for a pair without a name, and for an unknown column. The message about an unknown column
    begins with `message_start`, for example "nothing is called".
    """
    pairs = split_unescaped(text, ",") if text else []
    for pair in pairs:
        column, *names = [unescape_separators(part) for part in split_unescaped(pair, "=")]
        if column not in columns:
            our_columns = ", ".join(columns)
            raise UsageError(
                f"--columns: {message_start} {column}; there are {our_columns}{did_you_mean(column, columns)}"
            )
        if len(names) != 1 or not names[0]:  # no name, several, or an empty one
            raise UsageError(f"--columns {column}: write {column}=NAME, the name that the file has for it")
        yield column, names[0]
