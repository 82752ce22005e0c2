"""Writers for a `Comparison`: aligned text, JSON, TSV, Markdown and LaTeX.

A writer takes the comparison and gives text; it computes nothing. The names of systems come from users and files, so
each writer escapes them as its format needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cs_score.statistics.comparison_result import Comparison
from cs_score.statistics.comparison_writers.json import comparison_json
from cs_score.statistics.comparison_writers.latex import comparison_latex
from cs_score.statistics.comparison_writers.markdown import comparison_markdown
from cs_score.statistics.comparison_writers.text import comparison_text
from cs_score.statistics.comparison_writers.tsv import comparison_tsv

WRITERS: Final[dict[str, Callable[[Comparison], str]]] = {
    "text": comparison_text,
    "json": comparison_json,
    "tsv": comparison_tsv,
    "markdown": comparison_markdown,
    "latex": comparison_latex,
}
"""Format -> writer; every text ends with a line feed."""
