"""No file is lost, in any command: an output is never an input, another output or somebody else's file."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cs_score.cli.core import COMMANDS
from tests.cli.forms import (
    FOLDER,
    FORMS,
    NAMED,
    NEW,
    OUTPUTS,
    OWN,
    PREFIX,
    READ,
    Form,
    Word,
    copied,
    digests,
    give_inputs,
    refusal,
)
from tests.coldstart.command import score_in


def test_there_is_a_form_of_every_command() -> None:
    """`diff` of runs writes what that of predictions does; `help` and `version` write nothing."""
    there = {name for form in FORMS.values() for name in ((*form.first, "")[0], " ".join(form.first[:2]))}
    assert set(COMMANDS) <= there | {"help", "version"}


@pytest.mark.parametrize("name", FORMS)
def test_the_forms_do_their_work(name: str, folder: Path) -> None:
    give_inputs(name, folder)
    outcome = score_in(folder, FORMS[name].with_values({}))
    assert outcome.status == 0, outcome.stderr
    written = {word.value for _, word in FORMS[name].slots() if word.kind in (NEW, NAMED, OWN)}
    assert written <= outcome.files.keys()


def _called(slot: str | int) -> str:
    """What messages call an output."""
    return slot if isinstance(slot, str) else "OUTPUTFILE"


@pytest.mark.parametrize(("name", "slot"), OUTPUTS)
def test_an_output_is_in_the_plan_beside_all_inputs_and_outputs(name: str, slot: str | int, folder: Path) -> None:
    """A link to any of them is refused in its place; `test_output_plan` knows the other ways to name a file twice."""
    form = FORMS[name]
    output = dict(form.slots())[slot]
    others = [(other, word) for other, word in form.slots() if other != slot]
    targets = {word.value: slot for _, word in others if word.kind is READ and (folder / word.value).is_file()}
    targets |= {"text.json": slot} if "-docs" in form.options else {}
    assert targets
    for other, word in others:
        if word.kind is not READ:
            targets |= {path: other for path in word.written(word.value) if (folder / path).parent.is_dir()}
    ending = Path(output.value).suffix if output.kind is OWN else ""
    for target, other in targets.items():
        for path in map(folder.joinpath, output.written(f"other{ending}")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(folder / target)
            before = digests(folder)
            outcome = score_in(folder, form.with_values({slot: f"other{ending}"}))
            assert (outcome.status, digests(folder)) == (form.wrong_usage, before), (target, path)
            assert _called(slot) in refusal(outcome) or _called(other) in refusal(outcome)
            path.unlink()


# ----- any assignment of files to options and places

_NAMES: Final = (
    "q.xml", "run.tab", "qrel", "docs", "text.json", "ids", "list", "gold.jsonl", "predictions.jsonl", "notes",
    "notes.json", "notes.tsv", "notes.sarif", "notes.sf", "notes.json.gz", "empty.json", "runs", "link", "link.json",
    "nowhere.json", "hard.tsv", "hard", "ours", "ours.json", "ours.tsv", "./ours.json", "runs/../notes.json",
    "new", "new.json", "new.tsv", "new.tsv.gz", "-", "runs/a.tab.txt", "runs/problems.tsv", "ours.sf", "none/x.json",
)  # fmt: skip


@st.composite
def _calls(draw: st.DrawFn) -> tuple[str, dict[str, str], tuple[str, ...], bool]:
    name = draw(st.sampled_from(sorted(FORMS)))
    form = FORMS[name]
    names = st.sampled_from(_NAMES)

    def value(word: Word) -> str:
        return word.value if draw(st.booleans()) else draw(names)

    chosen = [option for option in form.options if draw(st.booleans())]
    options = {option: value(form.options[option]) for option in chosen}
    return name, options, tuple(map(value, form.words)), draw(st.booleans())


def _may_change(
    form: Form, options: Mapping[str, str], words: tuple[str, ...], folder: Path, is_forced: bool
) -> set[str]:
    """Paths that a call may replace or remove: none that is read, and of the rest those that its outputs mean."""
    slots = [(form.options[option], value) for option, value in options.items()]
    slots += list(zip(form.words, words))
    may = set()
    for word, value in slots:
        if word.kind in (NAMED, PREFIX, FOLDER) or (word.kind is OWN and ("ours" in value or is_forced)):
            may |= {os.path.relpath(os.path.realpath(folder / path), folder) for path in word.written(value)}
    read = set()
    for word, value in slots:
        if word.kind is READ and (folder / value).exists():
            paths = [folder / value, *(folder / value).glob("*.tab.txt")]
            read |= {os.path.relpath(path.resolve(), folder) for path in paths}
    return may - read


@given(call=_calls())
@example(call=("score", {"-o": "scored"}, ("q.xml", "run.tab", "q.xml"), False))
def test_nothing_changes_that_a_call_did_not_write(
    filled: Path, call: tuple[str, dict[str, str], tuple[str, ...], bool]
) -> None:
    name, options, words, is_pressed = call
    form = FORMS[name]
    with tempfile.TemporaryDirectory() as parent:
        folder = copied(filled, Path(parent).resolve() / "copy")
        before = digests(folder)
        line = form.call(options, words)
        if name == "scorer" and is_pressed:
            line = ["-expand", "WRONG", *line]
        if is_pressed and form.takes_force and not form.first[1:]:
            line[len(form.first) : len(form.first)] = ["--force"]
        outcome = score_in(folder, line)
        after = digests(folder)
        changed = {path for path, digest in before.items() if after.get(path) != digest}
        assert changed <= _may_change(form, options, words, folder, "--force" in line), (line, outcome)
        assert not [path for path in after if path.endswith(".part")]
        if outcome.status == form.wrong_usage == 2:
            assert after == before


# ----- files of the options that the reference lacks: how they are called, what they replace


DEMO: Final = Path(__file__).parents[2]
L, R, P = "queries/ldc-queries.xml", "submissions/tide-kb.tab.txt", "assessments/pool-2016.tab"
OWN_OPTIONS: Final = [(name, str(slot)) for name, slot in OUTPUTS if dict(FORMS[name].slots())[slot].kind is OWN]


@pytest.mark.parametrize(("name", "slot"), OWN_OPTIONS)
def test_the_file_of_an_own_option_is_in_the_plan(name: str, slot: str, folder: Path) -> None:
    """Called after its format; what somebody else wrote is replaced by force alone, and its own without."""
    give_inputs(name, folder)
    form = FORMS[name]
    before = digests(folder)
    outcome = score_in(folder, form.with_values({slot: "notes"}))
    assert (outcome.status, digests(folder)) == (form.wrong_usage, before)
    said = refusal(outcome)  # where files are words, one more of them is what is wrong
    assert f"{slot} takes a file; did you mean {slot} " in said or "notes exists" in said
    path = folder / dict(form.slots())[slot].value
    path.write_bytes(b"{}")
    before = digests(folder)
    outcome = score_in(folder, form.with_values({}))
    assert (outcome.status, digests(folder)) == (form.wrong_usage, before)
    assert f"exists; name another {slot}, or replace it with --force" in refusal(outcome)
    failing = form.with_values({"-error_file": "stderr", "--gold": "none", 0: "none"})
    assert score_in(folder, _forced(form, failing)).status != 0
    is_reported = slot == "--problems" and name != "batch"  # of a failure, too
    assert (path.read_bytes() == b"{}") != is_reported
    sound = form.with_values({"-error_file": "stderr"})
    assert score_in(folder, _forced(form, sound)).status == 0
    assert (written := path.read_bytes()) not in (b"", b"{}")
    for output in ("o", "o.index"):
        (folder / output).unlink(missing_ok=True)
    assert (score_in(folder, sound).status, path.read_bytes()) == (0, written)


def _forced(form: Form, words: list[str]) -> list[str]:
    return [*form.first, "--force", *words[len(form.first) :]]


def test_a_result_of_an_earlier_call_does_not_stand_beside_a_failure(folder: Path) -> None:
    words = ["--json", "ours.json", "-output_file", "ours", "q.xml", "run.tab", "nope"]
    assert score_in(folder, words).status == 255
    assert (folder / "ours.sf").exists(), "an input is missing: nothing has begun"
    words[-1] = "docs"
    assert score_in(folder, words).status == 255
    assert not (folder / "ours.json").exists()
    assert not (folder / "ours.sf").exists()


def test_the_problems_of_a_batch_may_lie_in_its_new_folder(folder: Path) -> None:
    words = ["batch", "--jobs", "1", "-o", "new", "--problems", "new/p.json", "q.xml", "qrel", "run.tab"]
    assert score_in(folder, words).status == 0
    assert json.loads((folder / "new" / "p.json").read_bytes())["problems"] == []
    assert score_in(folder, words).status == 0, "its own file is replaced"


def test_a_batch_leaves_what_others_put_into_the_folder_of_a_run(folder: Path) -> None:
    (folder / "new" / "run").mkdir(parents=True)
    notes = [folder / "new" / "run" / name for name in ("out.tab", "out.md", "out.sf.old", "signature.txt", "notes")]
    for path in notes:
        path.write_text("a shopping list")
    (folder / "new" / "run" / "out.ldcmax").write_text("of a call with -expand")
    words = ["batch", "--jobs", "1", "-o", "new", "q.xml", "qrel", "run.tab"]
    for words_now in (words, [words[0], "--resume", *words[1:]], words):
        assert score_in(folder, words_now).status == 0
        assert [path.read_text() for path in notes] == ["a shopping list"] * len(notes)
    assert not (folder / "new" / "run" / "out.ldcmax").exists()


def test_an_input_led_to_standard_input_is_one_too(folder: Path) -> None:
    (folder / "gold.tsv").write_bytes((folder / "gold.jsonl").read_bytes())
    words = ["scifact", "--gold", "-", "--predictions", "predictions.jsonl", "--per-item", "gold.tsv"]
    with open(folder / "gold.tsv", "rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "cs_score", *words], stdin=stdin, cwd=folder, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(DEMO)}, check=False,
        )  # fmt: skip
    assert (done.returncode, b"gold.tsv is an input" in done.stderr) == (2, True)


def test_a_comparison_knows_query_files_as_the_scorer_does(tmp_path: Path) -> None:
    (tmp_path / "q.xml.gz").write_bytes(gzip.compress((DEMO / L).read_bytes()))
    files = [str(DEMO / name) for name in (L, R, "submissions/gull-sf.tab.txt", P)]
    words = ["compare", "coldstart", "-expand", "ISLE26", "--bootstrap", "20"]
    packed = score_in(tmp_path, [*words, "q.xml.gz", *files[1:]])
    assert (packed.status, packed.stdout) == (0, score_in(tmp_path, [*words, *files]).stdout)
