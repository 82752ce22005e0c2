"""Files of another form are named for what they are, and the line to type makes a file that scores alike."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from cs_score.base.display import one_line
from cs_score.base.records import replace
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.lines import Line, Q, query_xml

QUERIES: Final = f"<query_set>\n{query_xml()}</query_set>\n".encode()
RUN: Final = "".join(f"{line.text()}\n" for line in (Line("Bo Zoë Ek"), Line("Al", node=":E2", span="13-15"))).encode()
POOL: Final = "".join(
    f"{text}\n" for text in (Line("Bo Zoë Ek").judged("1"), Line("Al", span="13-15").judged())
).encode()
LINE_TO_TYPE: Final = re.compile(r"(?<=: )(iconv|tr|awk|python3|sed|mv|gzip|bzip2) .*?(?= \(then|$)")


def zipped(data: bytes, name: str = "inside.tab") -> bytes:
    """An archive of one file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def separated(separator: str) -> Callable[[bytes], bytes]:
    """Another separator in the place of tabs."""
    return lambda data: data.replace(b"\t", separator.encode())


def with_last_column_empty(data: bytes) -> bytes:
    """Assessments without mention types of classes."""
    return b"".join(b"\t".join(line.split(b"\t")[:-1]) + b"\t\n" for line in data.splitlines())


FORMS: Final[dict[str, tuple[str, Callable[[bytes], bytes], str]]] = {
    "UTF-16": ("run.tab", lambda data: data.decode().encode("utf-16"), "it is UTF-16"),
    "UTF-16, no mark, little": ("run.tab", lambda data: data.decode().encode("utf-16-le"), "it is UTF-16"),
    "UTF-16, no mark, big": ("pool.tab", lambda data: data.decode().encode("utf-16-be"), "it is UTF-16"),
    "Windows": ("run.tab", lambda data: data.decode().encode("cp1252"), "Western European"),
    "zip": ("run.tab", zipped, "it is a zip archive"),
    "gzip without its ending": ("run.tab", gzip.compress, "compressed by gzip"),
    "bzip2 without its ending": ("pool.tab", bz2.compress, "compressed by bzip2"),
    "xz without its ending": ("run.tab", lzma.compress, "compressed by xz"),
    "carriage returns": ("run.tab", lambda data: data.replace(b"\n", b"\r"), "carriage returns only"),
    "blanks in a run": ("run.tab", separated(" "), "its columns are separated by blanks"),
    "several blanks in a pool": ("pool.tab", separated("   "), "its columns are separated by blanks"),
    "semicolons": ("run.tab", separated(";"), "separated by semicolons"),
    "commas": ("pool.tab", separated(","), "separated by commas"),
    "bars": ("run.tab", separated("|"), "separated by vertical bars"),
    "header": ("run.tab", lambda data: b"FULL_QUERY_ID\tSLOT_NAME\tRUNID\n" + data, "this line is a header"),
    "header of other names": ("pool.tab", lambda data: b"id\tquery\tanswer\n" + data, "the line after it fits"),
    "NIL line first": ("run.tab", lambda data: b"Q1\tper:age\trunA\tNIL\n" + data, "NIL line of regular slot filling"),
    "NIL line later": ("run.tab", lambda data: data + b"Q1\tper:age\trunA\tNIL\n", "NIL line(s) of regular slot"),
    "last column empty": ("pool.tab", with_last_column_empty, "column 10 (EC_MENTION_TYPE) is empty"),
    "queries in UTF-16": ("queries.xml", lambda data: data.decode().encode("utf-16"), "it is UTF-16"),
    "queries in UTF-16, no mark": ("queries.xml", lambda data: data.decode().encode("utf-16-le"), "it is UTF-16"),
    "queries compressed": ("queries.xml", gzip.compress, "compressed by gzip"),
    "blanks in document ids": (
        "queries.xml",
        lambda data: data.replace(b"<docid>", b"<docid> ").replace(b"</beg>", b" </beg>"),
        "there are blanks around document ids or offsets",
    ),
    "UTF-16, compressed": ("run.tab.gz", lambda data: gzip.compress(data.decode().encode("utf-16")), "it is UTF-16"),
}
"""By name of a form: the file that has it, how it comes about, what is said."""


def filled(folder: Path) -> None:
    """Write a sound evaluation."""
    for name, data in (("queries.xml", QUERIES), ("run.tab", RUN), ("pool.tab", POOL)):
        (folder / name).write_bytes(data)


def without_signatures(outcome: Outcome) -> list[bytes]:
    """Return the lines of a table of scores without their last column."""
    return [line.rpartition(b"\t")[0] for line in outcome.stdout.splitlines()]


def scored(folder: Path, names: list[str]) -> Outcome:
    return score_in(folder, ["score", "-expand", "CSX", "--format", "tsv", *names])


@pytest.mark.parametrize("form", FORMS)
def test_the_line_to_type_makes_a_file_that_scores(form: str, tmp_path: Path) -> None:
    name, change, said = FORMS[form]
    filled(tmp_path)
    names = ["queries.xml", "pool.tab", "run.tab"]
    sound = scored(tmp_path, names)
    plain = name.removesuffix(".gz")
    (tmp_path / name).write_bytes(change((tmp_path / plain).read_bytes()))
    names[names.index(plain)] = name
    complaint = scored(tmp_path, names).stderr.decode()
    assert said in complaint
    (line,) = {match.group() for text in complaint.splitlines() if (match := LINE_TO_TYPE.search(text))}
    before = {path.name for path in tmp_path.iterdir()}
    subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True, timeout=60)
    (made,) = {path.name for path in tmp_path.iterdir()} - before
    if (tmp_path / made).is_dir():
        made = f"{made}/inside.tab"
    names[names.index(name)] = made
    again = scored(tmp_path, names)
    assert again.status == 0, again.stderr
    assert (again.stdout, again.stderr) == (sound.stdout, sound.stderr)


def test_queries_that_are_not_called_so_are_known(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "queries.txt").write_bytes(QUERIES)
    said = scored(tmp_path, ["queries.txt", "pool.tab", "run.tab"]).stderr.decode()
    assert "it is XML; query files are known by the end of their names: mv queries.txt queries.txt.xml" in said
    (tmp_path / "queries.txt").rename(tmp_path / "queries.txt.xml")
    assert scored(tmp_path, ["queries.txt.xml", "pool.tab", "run.tab"]).status == 0


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("run.tab", b"<!DOCTYPE html>\n<html>", "it is a web page (HTML)"),
        ("run.tab", b'{"claim_id": 1}\n', "it is JSON, which the tasks of evidence read"),
        ("run.tab", b"%PDF-1.7\n\xff", "it is a PDF"),
        ("run.tab", zipped(b"", "[Content_Types].xml"), "a document of an office program"),
        ("run.tab", RUN.replace(b"Al", b"\xff"), "other letters of it are UTF-8, so this one is damaged"),
        ("run.tab", b"word\n", "it has 1 column, where runs have 7, 8 or 9 and assessments 8, 10 or 11"),
        ("run.tab", RUN.replace(b"0.9", b".9"), "column 8, '.9', is no CONFIDENCE"),
        ("queries.xml", b"<!DOCTYPE html>\n<html>", "queries.xml: it is a web page (HTML)"),
        ("queries.xml", b"<queries/>", 'queries.xml: there is no <query id="...">...</query> in it'),
        ("queries.xml", re.sub(rb"<slot.*</slot1>", b"", QUERIES), "its query asks for no slot"),
    ],
)
def test_a_form_without_a_line_to_type_is_named(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / name).write_bytes(data)
    outcome = scored(tmp_path, ["queries.xml", "pool.tab", "run.tab"])
    assert outcome.status == 1
    assert said in outcome.stderr.decode()


def test_a_folder_without_runs_says_what_it_holds(tmp_path: Path) -> None:
    filled(tmp_path)
    for folder in ("empty", "runs", "outer/inner"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "runs" / "a.tab").write_bytes(RUN)
    (tmp_path / "outer" / "inner" / "a.tab.txt").write_bytes(RUN)
    for folder, said in (
        ("empty", "empty: it is empty"),
        ("runs", "runs: name the files in it: runs/a.tab"),
        ("outer", "outer: name the folder in it: outer/inner"),
    ):
        assert said in scored(tmp_path, ["queries.xml", "pool.tab", folder]).stderr.decode()
    for word in ("runs/a.tab", "outer/inner"):
        assert scored(tmp_path, ["queries.xml", "pool.tab", word]).status == 0


def test_queries_that_vanish_are_told(tmp_path: Path) -> None:
    filled(tmp_path)
    other = query_xml(2, docids=("N_ENG_R",))
    without_slots = re.sub("<slot.*</slot1>", "", query_xml(3))
    text = f"<query_set>\n{query_xml()}{query_xml()}{other}{without_slots}</query_set>\n"
    (tmp_path / "queries.xml").write_text(text)
    names = ["queries.xml", "pool.tab", "run.tab"]
    said = scored(tmp_path, names).stderr.decode()
    assert "queries.xml: 1 query names no slot and is left out (CSX_0003)\n" in said
    assert "one id" not in said  # the two are equal
    changed = query_xml(2).replace("<beg>5<", "<beg>6<")
    (tmp_path / "queries.xml").write_text(text.replace(without_slots, changed))
    said = scored(tmp_path, names).stderr.decode()
    assert "different queries have one id (CSX_0002 2 times), and of each id the last one counts" in said


@pytest.mark.parametrize("words", [["score"], ["analyze"], [], ["validate-run"]])
def test_what_is_wrong_with_the_xml_is_told_before_the_error_that_it_causes(words: list[str], tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "queries.xml").write_bytes(QUERIES.replace(b"</query>", b"", 1).replace(b"</query_set>", b""))
    names = ["queries.xml", "run.tab"] if words == ["validate-run"] else ["queries.xml", "pool.tab", "run.tab"]
    switches = [] if words == ["validate-run"] else ["-expand", "CSX"]
    outcome = score_in(tmp_path, [*words, *switches, *names])
    assert outcome.status != 0
    *_, remark, error = [line for line in outcome.stderr.decode().splitlines() if line.startswith("cs-score")]
    assert "not loaded" in error
    assert "queries.xml: not well-formed XML" in outcome.stderr.decode()
    assert one_line(remark) == remark


def test_the_remark_on_xml_that_ends_with_an_id_that_is_none(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "queries.xml").write_bytes(QUERIES.replace(b"CSX_0001", b"CSX").replace(b"</query_set>", b""))
    said = scored(tmp_path, ["queries.xml", "pool.tab", "run.tab"]).stderr.decode()
    assert "not well-formed XML" in said.splitlines()[-2]
    assert "sent to parse_queryid" in said.splitlines()[-1]


def test_mention_types_that_are_none_are_told(tmp_path: Path) -> None:
    filled(tmp_path)
    names = ["queries.xml", "pool.tab", "run.tab"]
    sound = scored(tmp_path, names)
    for change in ((b"\tNAM\tC", b"\tnam\tC"), (b"\tNAM\tC", b"\t0\tC")):
        (tmp_path / "pool.tab").write_bytes(POOL.replace(*change))
        said = scored(tmp_path, names).stderr.decode()
        assert "1 of 1 answers that it calls correct are no names" in said
        assert "all of them are ignored and every score is 0" in said
        (line,) = {match.group() for text in said.splitlines() if (match := LINE_TO_TYPE.search(text))}
        subprocess.run(["bash", "-c", line], cwd=tmp_path, check=True, timeout=60)
        again = scored(tmp_path, ["queries.xml", "names-pool.tab", "run.tab"])
        assert without_signatures(again) == without_signatures(sound)
    assert b"no names" not in score_in(tmp_path, ["score", "-expand", "CSX", "--follow", "3.0", *names]).stderr


def test_one_answer_of_another_mention_type_is_told(tmp_path: Path) -> None:
    filled(tmp_path)
    further = Line("Al", span="13-15").judged("2", mention="PRO")
    (tmp_path / "pool.tab").write_bytes(POOL.splitlines(keepends=True)[0] + further.encode() + b"\n")
    said = scored(tmp_path, ["queries.xml", "pool.tab", "run.tab"]).stderr.decode()
    assert "1 of 2 answers that it calls correct are no names (mention type 'PRO'," in said
    assert "nodes without another are ignored" in said


def test_the_cause_comes_before_what_follows_from_it(tmp_path: Path) -> None:
    filled(tmp_path)
    parent = Line("Bo Zoë Ek")
    lines = [Line("Bo Zoë Ek", slot="per:child"), parent.child(), Line("Al", node=":E2", span="13-15")]
    (tmp_path / "run.tab").write_text("".join(f"{line.text()}\n" for line in lines))
    said = scored(tmp_path, ["queries.xml", "pool.tab", "run.tab"]).stderr.decode()
    places = [said.index(text) for text in ("Unknown slot name", "has been discarded", "come before their parent")]
    assert places == sorted(places)
    assert "1 line(s) that are called discarded count in the scores all the same" in said


def test_an_id_in_capitals_is_told_from_one_that_nothing_leads_to(tmp_path: Path) -> None:
    filled(tmp_path)
    parent = Line("Bo Zoë Ek")
    child = parent.child()
    shouted = f"{Q}_{child.query.rpartition('_')[2].upper()}"
    assert shouted != child.query
    (tmp_path / "run.tab").write_text(f"{parent.text()}\n{replace(child, query=shouted).text()}\n")
    said = scored(tmp_path, ["queries.xml", "pool.tab", "run.tab"]).stderr.decode()
    assert f"an earlier line gives the answer; the id is written in small letters: {child.query}" in said


def test_the_error_file_says_no_more_of_a_file_that_is_not_utf8_than_before(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "run.tab").write_bytes(RUN.replace(b"Al", b"\xff"))
    words = ["-expand", "CSX", "-output_file", "out", "-error_file", "out.errlog", "queries.xml", "run.tab", "pool.tab"]
    outcome = score_in(tmp_path, words)
    first_line = (tmp_path / "out.errlog").read_text(encoding="utf-8").split("\n")[0]
    assert re.fullmatch(r"run\.tab: line \d+: not UTF-8", first_line)
    assert f"cs-score: {first_line}; " in outcome.stderr.decode()
