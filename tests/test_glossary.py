"""The package has one word for one concept: those that the glossary names, and not their synonyms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cs_score
from tests.documents import ROOT

PACKAGE = Path(cs_score.__file__).parent
GLOSSARY = ROOT / "docs/development/glossary.md"


def _rows() -> list[tuple[str, list[str]]]:
    """Return each word of the glossary with its synonyms."""
    rows = []
    for line in GLOSSARY.read_text("utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| word "):
            word, _meaning, synonyms = [cell.strip() for cell in line.strip("|").split("|")]
            rows.append((word, re.findall(r"`([^`]+)`", synonyms)))
    return rows


@pytest.fixture(scope="module")
def text() -> str:
    """The source text of the whole package, white space between words as one blank."""
    sources = [path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))]
    return re.sub(r"\s+", " ", "\n".join(sources)).lower()


@pytest.mark.parametrize(("word", "synonyms"), _rows(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_concept_has_one_word(word: str, synonyms: list[str], text: str) -> None:
    assert re.search(rf"\b{word}", text), f"{word} is not used"
    used = [synonym for synonym in synonyms if re.search(rf"\b{re.escape(synonym)}s?\b", text)]
    assert used == []
