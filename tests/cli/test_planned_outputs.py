"""No file is lost: an output is never an input, another output or somebody else's file, in any command."""

from __future__ import annotations

import os
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
