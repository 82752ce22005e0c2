"""The names that the pages of docs/development on how the package is built use are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cs_score
from tests.test_structure import ROOMS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs" / "development" / f"{name}.md" for name in ("architecture", "recipes", "sixth-task")]
TEXT = "".join(re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE) for page in PAGES)
PACKAGE = Path(cs_score.__file__).parent
SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for path in (*sorted(PACKAGE.rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py")), ROOT / "docs" / "generate.py")
)
SPANS = sorted({re.sub(r"\(.*\)$", "", span) for span in re.findall(r"`([^`\n]+)`", TEXT)})


@pytest.mark.parametrize("path", [span for span in SPANS if re.fullmatch(r"[a-z_]+(/[a-z_]+)*(/|\.py)", span)])
def test_every_room_and_module_is_there(path: str) -> None:
    folders = [folder for folder in (*PACKAGE.iterdir(), *(PACKAGE / "verbs").iterdir()) if folder.is_dir()]
    wanted = [ROOT / path, PACKAGE / path, *(folder / path for folder in folders)]
    assert any(place.exists() for place in wanted)


@pytest.mark.parametrize("name", [span for span in SPANS if re.fullmatch(r"[A-Za-z_]+(\.(?!py$)[a-z_]+)?", span)])
def test_every_name_is_defined(name: str) -> None:
    last = name.rpartition(".")[2]
    assert re.search(rf"^\s*(def {last}\(|class {last}\b|(self\.)?{last}\b.*=)", SOURCE, re.MULTILINE)


def test_names_were_found() -> None:
    assert {"score_unit", "Loading.load_lines", "coldstart/gold.py", "measures/"} <= set(SPANS)


def test_the_table_of_rooms_is_in_their_order() -> None:
    assert (
        re.findall(r"^\| `(\w+)/` \|", TEXT, re.MULTILINE) == [*ROOMS][:-1]
    )  # the last room is the slices, which have a table of their own
