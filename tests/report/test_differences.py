"""The page of two runs: contributions as diverging bars, answers side by side."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.evidence.test_command import files
from tests.report.analyses import HOSTILE, SHOWN, done, exact, parsed, write

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def difference(tmp_path: Path) -> dict[str, Any]:
    """What `diff --json` writes of predictions, and of the same without any evidence."""
    gold, predictions = (path.read_text() for path in files("scifact"))
    without = [json.dumps(json.loads(line) | {"evidence": {}}) for line in predictions.splitlines()]
    for name, text in (("gold", gold), ("a", predictions), ("b", "\n".join(without))):
        (tmp_path / name).write_text(text)
    words = ["diff", "scifact", "--gold", "gold", "a", "b", "--bootstrap", "99", "--top", "5", "-o", "diff.json"]
    assert score_in(tmp_path, words).status == 0
    found: dict[str, Any] = json.loads((tmp_path / "diff.json").read_bytes())
    assert len(found["units"]) > 1
    assert len(found["answers"]) > 1
    return found


@pytest.mark.parametrize("extra", ["x", {}, [1], None])
def test_a_member_that_nobody_knows_is_passed_over(extra: object, difference: dict[str, Any], tmp_path: Path) -> None:
    page_in(tmp_path, {**difference, "p": {**difference["p"], "another": extra}, "another": extra})


def page_in(folder: Path, value: object) -> Any:
    write(folder, value, "diff.json")
    data = done(score_in(folder, ["report", "diff.json", "-o", "diff.html"])).files["diff.html"]
    return parsed(data)


def test_contributions_and_answers_are_those_of_the_json(difference: dict[str, Any], tmp_path: Path) -> None:
    page = page_in(tmp_path, difference)
    assert exact(page, "units", "contribution") == [row["contribution"] for row in difference["units"]]
    rows = page.xpath("//*[@id='answers']//tbody/tr")
    assert [row[3].text_content() for row in rows] == [row["outcome"] for row in difference["answers"]]
    for row, answer in zip(rows, difference["answers"]):
        for cell, side in ((row[4], "a"), (row[5], "b")):
            assert cell.text_content().endswith("not given" if answer[side] is None else answer[side]["judgment"])
    for link in page.xpath("//*[@id='units']//td/a"):
        assert len([row for row in rows if row[0].text_content() == link.get("data-value")]) == int(link.text)
    assert page.xpath("string(//*[@class='facts main']//dd)").startswith(f"{difference['difference']:+.4f}")


def test_the_page_of_two_cold_start_runs(tmp_path: Path) -> None:
    for name in ("queries", "submissions", "assessments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    runs = [f"submissions/{name}.tab.txt" for name in ("tide-kb", "gull-sf")]
    words = ["-expand", "ISLE26", "queries/ldc-queries.xml", *runs, "assessments/pool-2016.tab", "--bootstrap", "99"]
    words += ["--top", "3"]
    assert score_in(tmp_path, ["diff", *words, "-o", "diff.json"]).status == 0
    difference = json.loads((tmp_path / "diff.json").read_bytes())
    page = page_in(tmp_path, difference)
    assert page.xpath("//section/@id") == ["scores", "contributions", "groups", "side-by-side", "classes", "origin"]
    assert exact(page, "units", "contribution") == [row["contribution"] for row in difference["units"]]
    rows = page.xpath("//*[@id='answers']//tbody/tr")
    assert [row[2].text_content() for row in rows] == [row["value"] for row in difference["answers"]]
    given = [row["a"] for row in difference["answers"]]
    assert [row[4].text_content() == "not given" for row in rows] == [fate is None for fate in given]
    (commands,) = (pre for pre in page.xpath("//pre/text()") if pre.startswith("cs-score diff"))
    assert score_in(tmp_path, commands.splitlines()[0].split()[1:]).status == 0
    again = json.loads((tmp_path / "diff.json").read_bytes())
    for key in ("units", "answers", "interval", "p"):
        assert again[key] == difference[key]
    page_of_json = (tmp_path / "diff.html").read_bytes()
    assert score_in(tmp_path, ["report", *words, "--compare", "-o", "both.html"]).status == 0
    assert (tmp_path / "both.html").read_bytes() == page_of_json


def test_hostile_names_are_text(difference: dict[str, Any], tmp_path: Path) -> None:
    plain = page_in(tmp_path, difference)
    (tmp_path / "diff.html").unlink()
    difference["names"] = {"a": HOSTILE, "b": HOSTILE}
    for row in difference["answers"]:
        row["value"] = HOSTILE
        for side in ("a", "b"):
            if row[side] is not None:
                row[side]["fate"] = HOSTILE
    page = page_in(tmp_path, difference)
    assert [each.tag for each in page.iter()] == [each.tag for each in plain.iter()]
    assert page.findtext(".//h1") == f"{SHOWN} against {SHOWN}"
    assert not re.search("[\u202e\x07]", page.text_content())
