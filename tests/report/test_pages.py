"""Pages without a browser: what is on them, what never gets there, and that they depend on the JSON alone."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.report.analyses import HOSTILE, SHOWN, analysis, exact, page_in, parsed, texts, write

SECTIONS = [
    "scores",
    "errors",
    "groups",
    "confusions",
    "confidence",
    "costs",
    "queries",
    "scenarios",
    "policies",
    "problems",
    "origin",
]


def test_numbers_are_those_of_the_json(tmp_path: Path) -> None:
    value = analysis()
    page = parsed(page_in(tmp_path, value))
    assert exact(page, "mistakes", "gain") == [row["gain"] for row in value["mistakes"]]
    assert texts(page, "mistakes", "gain") == [
        "" if row["gain"] is None else f"{row['gain']:+.4f}" for row in value["mistakes"]
    ]
    for key in ("gain", "score", "cumulated"):
        assert exact(page, "budget", key) == [row[key] for row in value["budget"]]
    assert texts(page, "budget", "count") == [str(row["count"]) for row in value["budget"]]
    shown: dict[str, float] = {}
    for key, hop in {"all": "", "hop0": "@0", "hop1": "@1"}.items():
        rows = zip(texts(page, "measures", "measure"), exact(page, "measures", key))
        shown |= {f"{name}{hop}": score for name, score in rows if score is not None}
    assert shown == value["scores"]
    assert exact(page, "by-slot", "f1") == [row["f1"] for row in value["groups"]["slot"]]


def test_what_the_reference_could_also_have_printed(tmp_path: Path) -> None:
    assert "reference-range" not in parsed(page_in(tmp_path, analysis())).xpath("//@id")
    page = tmp_path / "page.html"
    files = ("queries/ldc-queries.xml", "submissions/gull-sf.tab.txt", "assessments/pool-2016.tab")
    score_in(ROOT, ["report", "--policy", "sf", "-expand", "ISLE26", *files, "-o", str(page)])
    shown = parsed(page.read_bytes())
    ranges = zip(*(texts(shown, "reference-range", key) for key in ("measure", "low", "high")))
    assert ("LDC-MEAN-AP", "0.2917", "0.3056") in ranges


def test_sections_of_an_analysis_are_on_the_page(tmp_path: Path) -> None:
    value = analysis()
    page = parsed(page_in(tmp_path, value))
    assert page.xpath("//section/@id") == SECTIONS
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    confusions, scenarios = value["confusions"], value["scenarios"]
    assert texts(page, "confused", "INCORRECT") == [str(row["count"]) for row in confusions["slots"]]
    assert texts(page, "wrong-values", "count") == [str(row["count"]) for row in confusions["wrong_values"]]
    assert texts(page, "near-misses", "same_value") == ["2"]
    assert exact(page, "unassessed", "share") == [row["share"] for row in scenarios["slots"]]
    assert exact(page, "reliability-judgments", "right") == [row["right"] for row in value["reliability"]["bins"]]
    assert texts(page, "problem", "count") == ["2"]
    assert texts(page, "policy", "right") == ["CORRECT", "CORRECT"]
    assert exact(page, "policy-kb", "score") == [0.4375]


def test_hostile_text_is_text_wherever_it_stands(tmp_path: Path) -> None:
    data = page_in(tmp_path, analysis(9, HOSTILE))
    page = parsed(data)
    plain = parsed(page_in(tmp_path, analysis(9)))
    assert _tags(page) == _tags(plain)
    assert {name for element in page.iter() for name in element.attrib} == {
        name for element in plain.iter() for name in element.attrib
    }
    assert page.findtext(".//h1") == SHOWN
    assert texts(page, "mistakes", "value")[0] == SHOWN
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\x7f-\x9f]", data.decode())


def _tags(page: Any) -> list[str]:
    """All elements but the titles of shortened labels."""
    return [element.tag for element in page.iter() if element.getparent() is None or element.getparent().tag != "text"]


def test_nothing_is_loaded_from_anywhere_and_only_its_own_script_and_style_run(tmp_path: Path) -> None:
    data = page_in(tmp_path, analysis(9, HOSTILE)).decode()
    page = parsed(data.encode())
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", data, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert allowed[rule] == f"'sha256-{digest}'"
        assert not re.search(r"url\(|@import|https?:|fetch\(|XMLHttp|innerHTML", text)
    assert not page.xpath("//*[@src or @style or @srcset] | //link | //iframe | //object | //form")
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on")]
    assert all(target.startswith("#") for target in page.xpath("//@href"))


@pytest.mark.parametrize("more", [[], ["--top", "3"]])
def test_a_run_gives_the_page_of_its_analysis_and_the_page_tells_how(more: list[str], tmp_path: Path) -> None:
    for folder in ("queries", "submissions", "assessments"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    given = [*more, "-expand", "ISLE26", "-queries", "queries/queryids.txt", "queries/ldc-queries.xml"]
    given += ["submissions/tide-kb.tab.txt", "assessments/pool-2016.tab"]
    assert score_in(tmp_path, ["analyze", *given, "-o", "a.json"]).status == 0
    for words, name in ((given, "one.html"), (["a.json"], "other.html")):
        assert score_in(tmp_path, ["report", *words, "-o", name]).status == 0
    page = (tmp_path / "one.html").read_bytes()
    assert page == (tmp_path / "other.html").read_bytes()
    (commands,) = (pre for pre in parsed(page).xpath("//pre/text()") if pre.startswith("cs-score analyze"))
    analyze, report = (line.split()[1:] for line in commands.splitlines())
    (tmp_path / "page.html").unlink(missing_ok=True)
    assert score_in(tmp_path, analyze).status == 0
    assert score_in(tmp_path, report).status == 0
    again = (tmp_path / "page.html").read_bytes()
    assert _without_commands(again) == _without_commands(page)


def _without_commands(page: bytes) -> bytes:
    """The page but for the order and the spelling of options that it was called with."""
    return re.sub(rb"(?s)<section id=\"origin\".*</section>", b"", page)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"task": "chess"}, "neither an analysis nor a difference"),
        ({"score": "0.5"}, "score: Expected `float`, got `str`"),
        ({"budget": [{"kind": "incorrect"}]}, "budget[0]: has no count"),
        ({"mistakes": [3]}, "mistakes[0]: Expected `object`, got `int`"),
    ],
)
def test_what_is_no_analysis_is_refused_in_a_line(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    write(tmp_path, analysis(3) | change)
    outcome = score_in(tmp_path, ["report", "analysis.json", "-o", "page.html"])
    assert (outcome.status, outcome.stdout, outcome.files) == (1, b"", {})
    (line,) = outcome.stderr.decode().splitlines()
    assert line.startswith(f"cs-score: analysis.json: {complaint}")


def test_without_jinja2_a_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cs_score.report.page import require_templates

    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    require_templates.__globals__["_template"].cache_clear()
    write(tmp_path, analysis(3))
    outcome = score_in(tmp_path, ["report", "analysis.json", "-o", "page.html"])
    assert outcome.status != 0
    assert outcome.stderr == b"cs-score: this needs the package jinja2: pip install 'cs-score[report]'\n"
