"""The page of many runs: leaderboard, heat map, what runs find together, stability of their ranks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.coldstart.command import score_in
from tests.report.analyses import HOSTILE, SHOWN, column, done, exact, parsed, texts, write
from tests.report.batches import UNITS, batch

SECTIONS = ["leaderboard", "heatmap", "difficulty", "agreement", "stability", "origin"]
KINDS = ("leaderboard", "heatmap", "difficulty", "agreement", "systems", "stability")
SVG = "{http://www.w3.org/2000/svg}"


def page_in(folder: Path, value: object) -> Any:
    write(folder, value, "batch.json")
    (folder / "index.html").unlink(missing_ok=True)
    data = done(score_in(folder, ["report", "batch.json", "-o", "index.html"])).files["index.html"]
    return parsed(data)


def test_numbers_are_those_of_the_json(tmp_path: Path) -> None:
    value = batch()
    page = page_in(tmp_path, value)
    assert page.xpath("//section/@id") == SECTIONS
    board = value["leaderboard"]
    assert exact(page, "runs", "score") == [row["score"] for row in board]
    assert exact(page, "runs", "p_above") == [row["p_above"] for row in board]
    for key in ("low", "high"):
        limits = [None if row["interval"] is None else row["interval"][key] for row in board]
        assert exact(page, "runs", key) == limits
    for at in range(3):
        scores = [row["scores"][at] for row in value["queries"]]
        assert exact(page, "units", f"r{at}") == scores
    means = [
        sum(known) / len(known) for row in value["queries"] if (known := [x for x in row["scores"] if x is not None])
    ]
    assert exact(page, "units", "mean") == pytest.approx(means)
    pairs = [pair for row in value["agreement"] for pair in row["pairs"]]
    assert exact(page, "pairs", "right") == [pair["right"] for pair in pairs]
    counts = [count for row in value["answers"] for count in row["found_by"]]
    assert list(map(int, texts(page, "found", "count"))) == counts
    taus = [pair["tau"] for pair in value["stability"]["pairs"]]
    assert exact(page, "rankings", "tau") == taus


def test_a_cell_of_the_heat_map_leads_to_the_page_of_the_run_at_that_unit(tmp_path: Path) -> None:
    page = page_in(tmp_path, batch("a/b #?"))
    (address, *_) = [cell.xpath("./a/@href")[0] for cell in column(page, "units", "r0")]
    parts = urlsplit(address)
    assert [unquote(each) for each in parts.path.split("/")] == ["strict", "a/b #?", "out.html"]
    assert parse_qs(parts.fragment) == {"units.only": [f"ldc:{UNITS[0]}a/b #?"]}
    assert [cell.get("class") for cell in column(page, "units", "r2")] == ["number shade2"] * 8
    runs = [cell.xpath("./a/@href") for cell in column(page, "runs", "run")]
    assert [len(links) for links in runs] == [1] * 6 + [0]


def test_hostile_names_are_text_also_in_addresses(tmp_path: Path) -> None:
    plain = page_in(tmp_path, batch())
    page = page_in(tmp_path, batch(HOSTILE))
    titles = {"title"}  # of shortened labels
    assert [each.tag for each in page.iter() if each.tag not in titles] == [
        each.tag for each in plain.iter() if each.tag not in titles
    ]
    assert column(page, "runs", "run")[0].text_content() == SHOWN
    assert not re.search("[\u202e\x07]", page.text_content())
    for address in page.xpath("//td/a/@href"):
        assert re.fullmatch(r"[A-Za-z0-9%._~/#=-]+", address)


def test_a_score_beyond_all_limits_has_a_shade(tmp_path: Path) -> None:
    value = batch()
    value["queries"][0]["scores"][0] = 1e308
    write(tmp_path, value, "batch.json")
    assert score_in(tmp_path, ["report", "batch.json", "-o", "page.html"]).status == 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"queries": [{"policy": "strict", "unit": "u", "scores": [0.5]}]}, "/queries/0/scores: must have an entry"),
        ({"policies": ["strict"]}, "/leaderboard/3/policy: is no policy of the batch"),
        ({"stability": {"pairs": [], "first": [
            {"measure": "m", "policy": "strict", "runs": [3], "changes": None}]}}, "there is no run 3"),
        ({"leaderboard": 3}, "leaderboard: Expected `array`, got `int`"),
    ],
)  # fmt: skip
def test_what_fits_no_batch_is_refused_in_a_line(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    write(tmp_path, batch() | change, "batch.json")
    outcome = score_in(tmp_path, ["report", "batch.json", "-o", "index.html"])
    assert (outcome.status, outcome.files) == (1, {})
    (line,) = outcome.stderr.decode().splitlines()
    assert complaint in line
