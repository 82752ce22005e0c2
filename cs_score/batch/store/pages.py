"""The pages of the runs of a batch: how their files are called, and what makes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

MakePage: TypeAlias = Callable[[Mapping[str, object]], str]
"""Makes a page of a JSON object: of the analysis of a run, or of what a batch tells of all runs."""

_PAGE: Final = re.compile(r"out(\.[1-9][0-9]*)?\.html", re.ASCII)


def page_name(at: int, of: int) -> str:
    """The file of the page of one of the `of` run ids of a run's file, from 0."""
    return "out.html" if of == 1 else f"out.{at + 1}.html"


def is_page(name: str) -> bool:
    """Whether the page of a run is called like this."""
    return _PAGE.fullmatch(name) is not None
