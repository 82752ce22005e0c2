"""Files of the options that the reference lacks: how they are called, what they replace."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.forms import FORMS, OUTPUTS, OWN, Form, digests, give_inputs, refusal
from tests.coldstart.command import score_in

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
