"""Untrusted text on its way into Markdown and LaTeX: it is shown as it is and begins no markup."""

from __future__ import annotations

import re
from typing import Final

from cs_score.base.display import cell

# Every sign that may begin markup inside a line or end a cell, and those of links that are recognised without markup.
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()<>#!|~&$@:.^=+-])")

_SIGNS: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # active in babel's German
    "`": r"\char96{}",
    "[": "{[}",  # an optional argument where it follows \\
    "]": "{]}",
    "*": "{*}",
}
_SPECIAL: Final = re.compile("[" + re.escape("".join(_SIGNS)) + "]")
_LIGATURE: Final = re.compile(r"([-',])(?=\1)")


def escape_markdown(text: str) -> str:
    """`text` such that Markdown shows it as it is, in one line."""
    return _MARKUP.sub(r"\\\1", cell(text))


def escape_latex(text: str) -> str:
    """`text` such that LaTeX sets it as it is, in one line."""
    escaped = _SPECIAL.sub(lambda match: _SIGNS[match.group()], cell(text))
    return _LIGATURE.sub(r"\1{}", escaped)
