"""Bad input of every kind, for every program: a clear line and status 0 or 255, no exception, never half a file."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.coldstart.command import Outcome, score_in
from tests.coldstart.lines import SCHOOLS
from tests.coldstart.test_hostile import ESCAPE, MUTATIONS
from tests.verbs.preparation.invented import OTHER, AskedQuery, Inputs, Judged, RunLine

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

FILES: Final = ("q.xml", "run.tab", "round2.tab", "qrel", "docs", "text")

CALLS: Final[dict[str, tuple[str, ...]]] = {
    "run": ("validate-run", "-output_file", "out", "--problems", "out.json", "q.xml", "run.tab"),
    "run, everything": (
        *("validate-run", "-allow_comments", "-depth", "B:1", "-docs", "docs", "-error_file", "out.log", "--diff"),
        *("--problems", "out.sarif", "-justifications", "1:1", "-output_file", "out", "q.xml", "run.tab"),
    ),
    "run, scheme A": ("validate-run", "-depth", "A:1", "-justifications", "M:2", "q.xml", "run.tab"),
    "queries": (
        *("validate-queries", "-expand", "-types", "delete-slot", "-subtypes", "repair", "-dups", "delete"),
        *("-index_file", "out.index", "--problems", "out.tsv", "q.xml", "out"),
    ),
    "queries, as they are": ("validate-queries", "-retain_sf", "-languages", "", "q.xml", "out"),
    "first round": ("generate-queries", "-docs", "docs", "q.xml", "out"),
    "second round": ("generate-queries", "-error_file", "out.log", "q.xml", "out", "run.tab"),
    "package": ("package-output", "-docs", "docs", "q.xml", "run.tab", "round2.tab", "out"),
    "assessments": ("validate-assessments", "-output_file", "out", "-docs", "docs", "q.xml", "qrel"),
    "filter": ("apply-k", "run.tab", "out"),
    "score": ("--validate", "--problems", "out.json", "-output_file", "out", "q.xml", "qrel", "run.tab"),
}
OUTPUTS: Final = re.compile(r"out(\.\w+)?")


def _sound(folder: Path) -> Inputs:
    """A folder with sound inputs of every kind."""
    inputs = Inputs(folder)
    two_slots = ("per:cities_of_residence", "gpe:residents_of_country")
    inputs.queries(AskedQuery(), AskedQuery(OTHER, two_slots, name="Ann &amp; Bo", has_tags=True))
    parent = RunLine()
    inputs.lines(parent, RunLine("Cy", "ENG_2", "1", span="3-4,ENG_2:8-9"), RunLine("Zoë", node=":E2"), parent.child())
    inputs.lines(parent.child(value="MIT"), name="round2.tab")
    child = Judged("W", "0", "NAM", "0", query=parent.child().query, slot=SCHOOLS, value="Yale", docid="ENG_9", id="a3")
    inputs.lines(Judged(), Judged(value="Zoë", id="a2", docid="ENG_2"), child, name="qrel")
    inputs.write("docs", "ENG_A\t50\nENG_1\t50\ttext\nENG_2\t50\ttext\nENG_9\t50\n")
    inputs.write("text", "...Bo <b>Zoë</b>\r\n" * 3)
    return inputs


def _check(outcome: Outcome) -> Outcome:
    assert outcome.status in (0, 255)
    report = outcome.stderr.decode("utf-8")
    assert "Traceback" not in report
    assert _CONTROL.findall(report) == []
    assert [name for name in outcome.files if not OUTPUTS.fullmatch(name)] == [], "a file left behind"
    for name, content in outcome.files.items():
        assert not content or content.endswith(b"\n") or name == "out.params", name
    if outcome.status:
        said = report + outcome.files.get("out.log", b"").decode()
        assert said.strip()
        # Only validate-queries and the scorer write their results in spite of errors.
        has_results = not outcome.files.keys().isdisjoint({"out", "out.eng", "out.sf"})
        assert not has_results or re.search("errors? encountered", said) or "AP is greater" in said
    return outcome


@pytest.mark.parametrize("name", CALLS)
def test_the_sound_files_pass(name: str, tmp_path: Path) -> None:
    _sound(tmp_path)
    outcome = _check(score_in(tmp_path, CALLS[name], terminal=True))
    assert outcome.status == 0, outcome.stderr
    assert outcome.files or name == "run, scheme A"


_DISTORTIONS: Final = st.lists(
    st.tuples(st.sampled_from(FILES), st.sampled_from(sorted(MUTATIONS)), st.floats(0, 1, exclude_max=True)),
    min_size=1,
    max_size=3,
)


@given(st.sampled_from(sorted(CALLS)), _DISTORTIONS)
def test_distorted_files(name: str, distortions: list[tuple[str, str, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _sound(Path(folder))
        for file, mutation, place in distortions:
            path = Path(folder, file)
            path.write_bytes(MUTATIONS[mutation](path.read_bytes(), place))
        _check(score_in(Path(folder), CALLS[name], terminal=True))


_NAMED: Final = [(name, file) for name, words in CALLS.items() for file in words if file in FILES]


@pytest.mark.parametrize(("name", "file"), _NAMED)
def test_a_missing_file_is_named(name: str, file: str, tmp_path: Path) -> None:
    _sound(tmp_path)
    (tmp_path / file).unlink()
    outcome = _check(score_in(tmp_path, CALLS[name]))
    assert outcome.status == 255
    assert re.search(rf"(Could not open|File) {file}(: No such file| does not exist)", outcome.stderr.decode())
    assert outcome.files.keys() <= {"out.json", "out.sarif", "out.tsv", "out.log"}


@pytest.mark.parametrize("number", range(9))
def test_escape_sequences_in_a_run_do_not_reach_the_terminal(number: int, tmp_path: Path) -> None:
    _sound(tmp_path)
    lines = [line.split("\t") for line in (tmp_path / "run.tab").read_text(encoding="utf-8").split("\n")]
    lines[1][number] = f"x{ESCAPE}y"
    (tmp_path / "run.tab").write_text("\n".join(map("\t".join, lines)), encoding="utf-8")
    for name in ("run", "run, everything", "package", "second round", "filter"):
        _check(score_in(tmp_path, CALLS[name], terminal=True))
        for path in tmp_path.glob("out*"):
            path.unlink()


@pytest.mark.parametrize("program", sorted({words[0] for words in CALLS.values() if not words[0].startswith("-")}))
def test_arguments_that_make_no_sense(program: str, tmp_path: Path) -> None:
    _sound(tmp_path)
    for words in (
        (),
        ("q.xml",),
        ("q.xml", "run.tab", "x", "y", "z"),
        ("-no_such_switch", "q.xml", "run.tab"),
        ("-error_file",),
        ("-justifications", "1:0", "q.xml", "run.tab"),
        ("-docs", "\x00", "q.xml", "run.tab"),
        ("--problems", "out.txt", "q.xml", "run.tab"),
        ("--problems", "no/out.json", "q.xml", "out"),
        (f"a{ESCAPE}", f"b{ESCAPE}", f"c{ESCAPE}"),
        ("nul\x00.tab", "out", "run.tab"),
        ("\udcff", "\udcff"),
    ):
        outcome = score_in(tmp_path, (program, *words))
        said = (outcome.stdout + outcome.stderr).decode("utf-8")
        assert outcome.status in (0, 255), words
        assert "Traceback" not in said
        assert _CONTROL.findall(outcome.stderr.decode()) == []
