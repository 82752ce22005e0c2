"""Pages without a browser, of one run, two and many: what is on them, what never gets there, what opens on them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.coldstart.command import score_in
from tests.documents import copy_samples
from tests.evidence.test_command import EXAMPLES, files
from tests.verbs.report.analyses import (
    HOSTILE,
    SHOWN,
    UNITS,
    analysis,
    batch,
    column,
    done,
    exact,
    page_in,
    parsed,
    texts,
    told_in,
    write,
)


def page_of(folder: Path, value: object) -> Any:
    return parsed(page_in(folder, value))


def test_exact_numbers_are_those_of_the_json(tmp_path: Path) -> None:
    run, many = analysis(), batch()
    for value, tables in (
        (run, {"mistakes": ("gain", run["mistakes"]), "budget": ("cumulated", run["budget"]),
               "by-slot": ("f1", run["groups"]["slot"]), "unassessed": ("share", run["scenarios"]["slots"])}),
        (many, {"runs": ("p_above", many["leaderboard"]), "rankings": ("tau", many["stability"]["pairs"]),
                "pairs": ("right", [pair for row in many["agreement"] for pair in row["pairs"]])}),
    ):  # fmt: skip
        page = page_of(tmp_path, value)
        for table, (key, rows) in tables.items():
            assert exact(page, table, key) == [row[key] for row in rows], table


def test_a_cell_of_the_heat_map_leads_to_the_page_of_the_run_at_that_unit(tmp_path: Path) -> None:
    page = page_of(tmp_path, batch("a/b #?"))
    (address, *_) = [cell.xpath("./a/@href")[0] for cell in column(page, "units", "r0")]
    parts = urlsplit(address)
    assert [unquote(each) for each in parts.path.split("/")] == ["strict", "a/b #?", "out.html"]
    assert parse_qs(parts.fragment) == {"units.only": [f"ldc:{UNITS[0]}a/b #?"]}
    assert [cell.get("class") for cell in column(page, "units", "r2")] == ["number shade2"] * 8
    runs = [cell.xpath("./a/@href") for cell in column(page, "runs", "run")]
    assert [len(links) for links in runs] == [1] * 6 + [0]


@pytest.mark.parametrize("made", [partial(analysis, 9), batch], ids=["run", "batch"])
def test_hostile_text_is_text_wherever_it_stands(made: Any, tmp_path: Path) -> None:
    plain, data = page_of(tmp_path, made(text="Bo")), page_in(tmp_path, made(text=HOSTILE))
    page = parsed(data)
    assert _tags(page) == _tags(plain)
    assert {name for each in page.iter() for name in each.attrib} == {
        name for each in plain.iter() for name in each.attrib
    }
    assert SHOWN in texts(page, *(("mistakes", "value") if made is not batch else ("runs", "run")))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\x7f-\x9f]", data.decode())
    for address in page.xpath("//td/a/@href"):
        assert re.fullmatch(r"[A-Za-z0-9%._~/#=-]+", address)


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


@pytest.mark.parametrize("more", [[], ["--top", "3"], ["--follow", "3.0"]])
def test_a_run_gives_the_page_of_its_analysis_and_the_page_tells_how(more: list[str], tmp_path: Path) -> None:
    run = copy_samples(tmp_path) / "submissions" / "tide-kb.tab.txt"
    if "3.0" in more:  # runs of 2016 have no nodes
        run.write_text(re.sub(r"(?m)\t[^\t]*$", "", run.read_text("utf-8")), "utf-8")
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
    ("value", "complaint"),
    [
        (analysis(3) | {"task": "chess"}, "neither an analysis nor a difference"),
        (analysis(3) | {"score": "0.5"}, "score: Expected `float`, got `str`"),
        (analysis(3) | {"budget": [{"kind": "incorrect"}]}, "budget[0]: has no count"),
        (batch() | {"queries": [{"policy": "strict", "unit": "u", "scores": [0.5]}]}, "/queries/0/scores: must"),
        (batch() | {"policies": ["strict"]}, "/leaderboard/3/policy: is no policy of the batch"),
        (batch() | {"stability": {"pairs": [], "first": [
            {"measure": "m", "policy": "strict", "runs": [3], "shares": [None] * 3}]}}, "there is no run 3"),
        (batch() | {"stability": {"pairs": [], "first": [
            {"measure": "m", "policy": "strict", "runs": [], "shares": [1.0]}]}},
         "/stability/first/0/shares: must have"),
    ],
    ids=str,
)  # fmt: skip
def test_what_has_no_page_is_refused_in_a_line(value: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    write(tmp_path, value)
    outcome = score_in(tmp_path, ["report", "analysis.json", "-o", "page.html"])
    assert (outcome.status, outcome.stdout, outcome.files) == (1, b"", {})
    (line,) = outcome.stderr.decode().splitlines()
    assert line.startswith(f"cs-score: analysis.json: {complaint}")


def test_without_jinja2_a_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cs_score.pages.page import page_template

    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    page_template.cache_clear()
    write(tmp_path, analysis(3))
    outcome = score_in(tmp_path, ["report", "analysis.json", "-o", "page.html"])
    assert outcome.status != 0
    assert outcome.stderr == b"cs-score: this needs the package jinja2: pip install 'cs-score[report]'\n"


def test_groups_that_say_whether_an_answer_is_right_have_no_scores(tmp_path: Path) -> None:
    value = analysis()
    value["groups"]["category"] = value["groups"]["slot"]
    value["groups"]["judgment"] = value["groups"]["slot"]
    page = page_of(tmp_path, value)
    assert page.xpath("//*[@id='by-slot']")
    assert not page.xpath("//*[@id='by-category' or @id='by-judgment']")
    titles = page.xpath("//figcaption/text()")
    assert "Scores by slot" in titles
    assert not {"Scores by category", "Scores by judgment"} & set(titles)


def test_numbers_below_zero_have_minus_signs_and_keep_their_exact_value(tmp_path: Path) -> None:
    value = analysis(3)
    value["mistakes"][0]["gain"] = -0.125
    page = page_of(tmp_path, value)
    assert exact(page, "mistakes", "gain")[0] == -0.125
    assert texts(page, "mistakes", "gain")[0] == "\u22120.1250"


# ---- Two runs


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


def test_hostile_names_are_text(difference: dict[str, Any], tmp_path: Path) -> None:
    plain = page_of(tmp_path, difference)
    difference["names"] = {"a": HOSTILE, "b": HOSTILE}
    for row in difference["answers"]:
        row["value"] = HOSTILE
        for side in ("a", "b"):
            if row[side] is not None:
                row[side]["fate"] = HOSTILE
    page = page_of(tmp_path, difference)
    assert [each.tag for each in page.iter()] == [each.tag for each in plain.iter()]
    assert page.findtext(".//h1") == f"{SHOWN} against {SHOWN}"
    assert not re.search("[\u202e\x07]", page.text_content())


def test_a_comparison_begins_with_its_verdict_and_has_a_short_menu(tmp_path: Path) -> None:
    copy_samples(tmp_path)
    words = ["compare", *RUN, "submissions/gull-sf.tab.txt", "--bootstrap", "99", "--all"]
    page = parsed(done(score_in(tmp_path, [*words, "-o", "c.html"])).files["c.html"])
    found = json.loads(score_in(tmp_path, [*words, "--format", "json"]).stdout)
    primary = next(measure for measure in found["measures"] if not measure["exploratory"])
    assert page.xpath("string(//main/section[1]/p[1])") == f"{primary['verdict']}."
    menu = page.xpath("//nav//a")
    assert [link.text for link in menu] == [
        "Verdict", primary["measure"], "Other measures", "How these numbers were found"
    ]  # fmt: skip
    addresses = [link.get("href") for link in [*menu, *page.xpath("//*[@id='verdicts']//td/a")]]
    assert len(addresses) == 4 + len(found["measures"]) - 1
    assert all(page.xpath("//section[@id=$name]", name=address[1:]) for address in addresses)


# ---- What opens, as `explain` says it

RUN = (
    "-expand ISLE26 --policy kb queries/ldc-queries.xml submissions/tide-kb.tab.txt assessments/pool-2016.tab"
).split()


def openings(page: bytes, table: str, key: str) -> list[tuple[str, str | None]]:
    """The texts of a column, each with the number of what it opens."""
    return [(cell.text_content(), cell.get("data-open")) for cell in column(parsed(page), table, key)]


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample run, its analysis and its page."""
    folder = copy_samples(tmp_path_factory.mktemp("run"))
    done(score_in(folder, ["analyze", *RUN, "-o", "a.json"]))
    done(score_in(folder, ["report", "a.json", "-o", "page.html"]))
    return folder


def test_every_line_opens_the_text_of_explain(analysed: Path) -> None:
    value = json.loads((analysed / "a.json").read_bytes())
    lines, texts = value["explanations"]["lines"], value["explanations"]["texts"]
    wrong = {(row["file"], row["line"]) for row in value["mistakes"] if row["kind"] == "line"}
    words = [word for line in lines for word in ("--line", str(line["line"]))]
    explained = done(score_in(analysed, ["explain", *words, *RUN])).stdout.decode().split("\n\n")
    assert len(explained) == len(lines) > 10
    for line, text in zip(lines, explained):
        head, *steps = text.splitlines()
        assert head.startswith(f"{line['file']} line {line['line']}: {line['side']}")
        told = "\n".join(texts[step] for step in line["steps"])
        known = text if (line["file"], line["line"]) in wrong else text.partition("\n  Effect:")[0]
        assert told.split() == "\n".join(known.splitlines()[1:]).split()
        assert len(steps) >= len(told.splitlines())


@pytest.mark.parametrize("mode", EXAMPLES)
def test_every_unit_of_predictions_opens_how_it_was_scored(mode: str, tmp_path: Path) -> None:
    for source, name in zip(files(mode), ("gold", "predictions")):
        shutil.copy(source, tmp_path / name)
    given = [mode, "--gold", "gold", "--predictions", "predictions"]
    page = score_in(tmp_path, ["report", *given, "-o", "page.html"]).files["page.html"]
    told, shown = told_in(page), openings(page, "units", "unit")
    assert shown
    for unit, number in shown:
        words = ["explain", *given, "--format", "json", "--unit", unit.partition(" (")[0]]
        explained = json.loads(score_in(tmp_path, words).stdout)["units"]
        (step,) = told["entries"][int(number or "")][1]
        assert told["texts"][step].splitlines() in [each["lines"] for each in explained]
    assert {unit for unit, _ in openings(page, "mistakes", "unit")} <= {unit for unit, _ in shown}


def test_hostile_text_is_packed_as_people_are_to_see_it(tmp_path: Path) -> None:
    value = analysis(9, HOSTILE)
    value["explanations"]["texts"][0] += f"\n  {HOSTILE}"
    told = told_in(page_in(tmp_path, value))
    everything = json.dumps(told, ensure_ascii=False)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x07]", everything)
    heads = {head for head, *_ in told["entries"]}
    assert f"wrong (INCORRECT): {SHOWN}, {SHOWN} line 1" in heads
