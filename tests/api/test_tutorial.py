"""The tutorial runs, and shows what it has stored."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from tests.documents import ROOT

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
for package in ("ipykernel", "matplotlib"):
    pytest.importorskip(package)
pytest.importorskip("pandas", minversion="3", reason="pandas printed frames in another way before")

DOCS = ROOT / "docs" / "guides"


def _texts(cell: Any) -> list[str]:
    """What a code cell shows, as text; of figures and of HTML the text that stands for them.

    On a slow machine what a cell prints may come in several parts.
    """
    texts: list[str] = []
    for is_printed, outputs in groupby(cell.get("outputs", ()), key=lambda output: "text" in output):
        if is_printed:
            texts.append("".join(output["text"] for output in outputs))
        else:
            texts += (output["data"]["text/plain"] for output in outputs)
    return texts


# What Jupyter's packages warn of is theirs.
@pytest.mark.filterwarnings("ignore")
def test_the_tutorial_shows_what_it_computes() -> None:
    stored = nbformat.read(DOCS / "tutorial.ipynb", 4)
    executed = nbformat.from_dict({**stored, "cells": [dict(cell) for cell in stored.cells]})
    for cell in executed.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    there = {"metadata": {"path": str(DOCS)}}
    nbclient.NotebookClient(executed, timeout=240, startup_timeout=240, resources=there).execute()
    shown = [_texts(cell) for cell in executed.cells]
    assert shown == [_texts(cell) for cell in stored.cells]
    assert any("image/png" in output.get("data", {}) for cell in executed.cells for output in cell.get("outputs", ()))
    assert sum(map(bool, shown)) == sum(cell.cell_type == "code" for cell in executed.cells)
