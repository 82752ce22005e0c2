"""`batch --html`: a page for each run, and one over all of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from lxml import html

from tests.coldstart.command import score_in

GIVEN = ["-expand", "ISLE26", "queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions"]
BATCH = ["batch", "-o", "out", "--jobs", "1", "--bootstrap", "20", *GIVEN]


def parsed(path: Path) -> Any:
    return html.document_fromstring(path.read_text(encoding="utf-8"))


def test_every_run_has_its_page_and_the_index_leads_to_it(folder: Path) -> None:
    assert score_in(folder, [*BATCH, "--html", "--policy", "kb", "--also-policy", "sf"]).status == 0
    index = parsed(folder / "out/index.html")
    links = index.xpath("//td/a/@href")
    policies = {urlsplit(each).path.split("/")[0] for each in links}
    assert policies == {"kb", "sf"}
    at_units = 0
    for each in links:
        path, fragment = urlsplit(each).path, urlsplit(each).fragment
        page = parsed(folder / "out" / unquote(path))
        if fragment:
            at_units += 1
            (wanted,) = parse_qs(fragment)["units.only"]
            key, _, unit = wanted.partition(":")
            heads = page.xpath("//*[@id='units']//th/@data-key")
            shown = [
                row.xpath("./td")[heads.index(key)].text_content() for row in page.xpath("//*[@id='units']//tbody/tr")
            ]
            assert unit in shown
    assert at_units > 4


def test_a_run_whose_name_is_no_text_has_its_page(folder: Path) -> None:
    name = os.fsdecode(b"a\xff.tab.txt")
    (folder / "submissions/tide-kb.tab.txt").rename(folder / name)
    words = [word for word in BATCH if word != "submissions"]
    assert score_in(folder, [*words, "--html", name]).status == 0
    links = parsed(folder / "out/index.html").xpath("//td/a/@href")
    assert "a%FF/out.html" in links
    assert (folder / os.fsdecode(b"out/a\xff/out.html")).exists()


def test_pages_are_recorded_and_kept_and_made_where_they_lack(folder: Path) -> None:
    assert score_in(folder, BATCH).status == 0
    assert not [*folder.glob("out/*/out.html"), *folder.glob("out/index.html")]
    first = score_in(folder, [*BATCH, "--html", "--resume"])
    assert b"of them before" not in first.stderr
    record = json.loads((folder / "out/tide-kb/signature.json").read_bytes())
    assert "out.html" in [name for name, _, _ in record["files"]]
    again = score_in(folder, [*BATCH, "--html", "--resume"])
    assert b"2 scored (2 of them before)" in again.stderr
    assert score_in(folder, ["verify", "out/tide-kb/signature.json"]).status == 0
    (folder / "out/gull-sf/out.html").write_text("changed")
    assert b"2 scored (1 of them before)" in score_in(folder, [*BATCH, "--html", "--resume"]).stderr


def test_a_run_that_fails_has_no_page(folder: Path) -> None:
    (folder / "submissions/broken.tab.txt").write_text("no line of a run\n")
    score_in(folder, [*BATCH, "--html"])
    assert not (folder / "out/broken/out.html").exists()
    index = parsed(folder / "out/index.html")
    (cell,) = [cell for cell in index.xpath("//*[@id='runs']//td") if cell.text_content() == "broken"]
    assert not cell.xpath("./a")
