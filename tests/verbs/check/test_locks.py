"""A bar that is fixed before the run: what a lock holds, what it is held against, and which changes it notices."""

from __future__ import annotations

import hashlib
import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.coldstart.command import Outcome, score_in
from tests.evidence.test_command import files as evidence_files
from tests.verbs.preparation.invented import Inputs, Judged, RunLine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Queries, a run that finds one of two answers, and its assessments."""
    inputs = Inputs(tmp_path)
    inputs.queries()
    inputs.lines(RunLine(), RunLine("Zoë", node=":E2"))
    inputs.lines(Judged(), Judged("W", value="Zoë", id="a2", value_class="0"), name="qrel")
    return tmp_path


def check(folder: Path, *words: str) -> Outcome:
    return score_in(folder, ["check", *words])


def locked(folder: Path, *limits: str) -> dict[str, Any]:
    """Write the lock `l.json` without a run, and return what it holds."""
    words = [word for limit in limits for word in ("--min", limit)]
    outcome = check(folder, "--write-lock", "l.json", *words, "q.xml", "qrel")
    assert outcome.status == 0, outcome.stderr
    lock: dict[str, Any] = json.loads((folder / "l.json").read_bytes())
    return lock


def test_a_lock_holds_limits_options_and_hashes_of_gold(folder: Path) -> None:
    lock = locked(folder, "sf-all-micro-p=0.5", "*-Macro-F1=0.25")
    assert lock["limits"] == [{"measure": "SF-ALL-Micro-P", "minimum": 0.5}, {"measure": "*-Macro-F1", "minimum": 0.25}]
    hashes = {file["name"]: file["sha256"] for file in lock["origin"]["inputs"]}
    assert hashes == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("q.xml", "qrel")}
    assert lock["origin"]["settings"] == ["kb", "1:3"]
    assert "|run:" not in lock["signature"]


def test_what_is_printed_has_the_hash_to_publish(folder: Path) -> None:
    outcome = check(folder, "--write-lock", "l.json", "--min", "SF-AP=0.5", "q.xml", "qrel")
    sha256 = hashlib.sha256((folder / "l.json").read_bytes()).hexdigest()
    assert f"lock       l.json, SHA-256 {sha256}\n" in outcome.stdout.decode()
    assert outcome.stdout.decode().startswith("SF-AP at least 0.5\n")


def test_the_run_is_held_against_the_limits_of_the_lock(folder: Path) -> None:
    locked(folder, "SF-ALL-Micro-P=0.5")
    outcome = check(folder, "--lock", "l.json", "q.xml", "run.tab", "qrel")
    assert (outcome.status, outcome.stdout[:2]) == (0, b"ok")
    (folder / "l.json").unlink()
    locked(folder, "SF-ALL-Micro-P=0.6")
    outcome = check(folder, "--lock", "l.json", "q.xml", "run.tab", "qrel")
    assert (outcome.status, outcome.stdout[:4]) == (3, b"FAIL")


def test_the_same_limit_may_be_typed_and_files_be_called_otherwise(folder: Path) -> None:
    locked(folder, "SF-ALL-Micro-P=0.5")
    shutil.move(folder / "qrel", folder / "pool.tab")
    outcome = check(folder, "--lock", "l.json", "--min", "SF-ALL-Micro-P=0.50", "q.xml", "run.tab", "pool.tab")
    assert outcome.status == 0, outcome.stdout


CHANGES = {
    "another pool": ((), "pool changed since the lock: qrel (SHA-256 "),
    "another policy": (("--policy", "sf"), "policy or options changed since the lock: kb|1:3 then, sf|1:1 now"),
    "another limit": (
        ("--min", "SF-ALL-Micro-P=0.4"),
        "limits changed since the lock: SF-ALL-Micro-P at least 0.5 then, SF-ALL-Micro-P at least 0.4 now",
    ),
    "another measure": (
        ("--min", "SF-AP=0.5"),
        "limits changed since the lock: SF-ALL-Micro-P at least 0.5 then, SF-AP at least 0.5 now",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_status_3_says_what_changed_and_scores_nothing(change: str, folder: Path) -> None:
    locked(folder, "SF-ALL-Micro-P=0.5")
    if change == "another pool":
        Inputs(folder).lines(Judged(), Judged(value="Zoë", id="a2"), name="qrel")
    words, message = CHANGES[change]
    outcome = check(folder, "--lock", "l.json", *words, "q.xml", "run.tab", "qrel")
    printed = " ".join(outcome.stdout.decode().split())
    assert outcome.status == 3
    assert printed.startswith(f"FAIL {message}")
    assert "The lock does not fit: the run was not scored, and no limit is kept." in printed


def test_every_format_says_what_changed(folder: Path) -> None:
    locked(folder, "SF-AP=0.5")
    words = ("--lock", "l.json", "--policy", "sf", "q.xml", "run.tab", "qrel")
    message = "policy or options changed since the lock: kb|1:3 then, sf|1:1 now"
    formats = ("json", "tsv", "junit", "github")
    printed = {name: check(folder, "--format", name, *words).stdout.decode() for name in formats}
    document = json.loads(printed["json"])
    assert (document["passed"], document["checks"]) == (False, [])
    assert document["lock"]["changes"] == [{"what": "policy or options", "locked": "kb|1:3", "now": "sf|1:1"}]
    assert f"\t{message}\t" in printed["tsv"]
    suite = ElementTree.fromstring(printed["junit"])
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert [failure.text for failure in suite.iter("failure")] == [message]
    assert printed["github"].splitlines()[0] == f"::error title=lock%3A policy or options::{message}"


def test_a_lock_is_never_overwritten_and_has_to_be_there(folder: Path) -> None:
    words = ("--min", "SF-AP=0.5", "q.xml", "qrel")
    locked(folder, "SF-AP=0.5")
    for force in ((), ("--force",)):
        outcome = check(folder, "--write-lock", "l.json", *force, *words)
        assert (outcome.status, outcome.stderr) == (
            2,
            b"cs-score: File l.json already exists; --write-lock must name a new file\n",
        )
    outcome = check(folder, "--lock", "none.json", "q.xml", "run.tab", "qrel")
    assert outcome.status == 1
    assert outcome.stderr.startswith(b"cs-score: Could not open none.json")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--write-lock=l.json", "--min=SF-AP=0.5", "run.tab"], "comes before there is a run: leave out run.tab"),
        (["--write-lock=l.json"], "--write-lock fixes least scores: give --min MEASURE=NUMBER, too"),
        (["--write-lock=l.json", "--min=SF-AQ=0.5"], "no measure called SF-AQ; did you mean SF-AP"),
        (["--write-lock=l.json", "--lock=m.json"], "fixes least scores before there is a run: leave out --lock"),
        (["--write-lock=l.txt", "--min=SF-AP=0.5"], "did you mean --write-lock lock.json?"),
        (["--write-lock=l.json", "--min=SF-AP=0.5", "--format=junit"], "--write-lock prints text or json, not junit"),
        (["--lock=l.json", "--baseline=b.json", "run.tab"], "the limits that were locked: leave out --baseline"),
        (["--lock=l.json", "-"], "a lock is about files that can be read again"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(words: list[str], complaint: str, folder: Path) -> None:
    outcome = check(folder, *words, "q.xml", "qrel")
    assert outcome.status == 2
    assert complaint in outcome.stderr.decode()
    assert not (folder / "l.json").exists()


def test_what_is_no_lock_is_told(folder: Path) -> None:
    score_in(folder, ["score", "q.xml", "run.tab", "qrel", "-o", "s.json"])
    outcome = check(folder, "--lock", "s.json", "q.xml", "run.tab", "qrel")
    assert outcome.status == 1
    assert "s.json: no lock of cs-score; write one with cs-score check --write-lock" in outcome.stderr.decode()


def test_another_version_is_a_note(folder: Path) -> None:
    lock = locked(folder, "SF-ALL-Micro-P=0.5")
    lock["origin"]["version"] = "0.9.0"
    (folder / "l.json").write_text(json.dumps(lock), "utf-8")
    outcome = check(folder, "--lock", "l.json", "--format", "json", "q.xml", "run.tab", "qrel")
    assert outcome.status == 0
    assert [note["code"] for note in json.loads(outcome.stdout)["notes"]] == ["OTHER_VERSION"]


@pytest.mark.parametrize("task", ["scifact", "claims", "r4c", "hotpotqa"])
def test_evidence_tasks_have_locks(task: str, tmp_path: Path) -> None:
    gold, predictions = (str(file) for file in evidence_files(task))
    measure = {"scifact": "sentence_label_f1", "claims": "sentence_f1", "r4c": "er_f1", "hotpotqa": "joint_f1"}[task]
    written = check(tmp_path, task, "--write-lock", "l.json", "--min", f"{measure}=0", "--gold", gold)
    assert written.status == 0, written.stderr
    words = ("--lock", "l.json", "--gold", gold, "--predictions", predictions)
    assert check(tmp_path, task, *words).status == 0
    changed = tmp_path / Path(gold).name
    changed.write_bytes(Path(gold).read_bytes().replace(b":", b": ", 1))
    outcome = check(tmp_path, task, "--lock", "l.json", "--gold", str(changed), "--predictions", predictions)
    assert outcome.status == 3
    assert outcome.stdout.startswith(b"FAIL  gold changed since the lock:")
    if task == "scifact":
        outcome = check(tmp_path, task, *words, "--answered-only")
        assert outcome.status == 3
        assert "scifact then, scifact|answered-only now" in " ".join(outcome.stdout.decode().split())


def test_predictions_have_no_place_in_a_lock(tmp_path: Path) -> None:
    gold, predictions = (str(file) for file in evidence_files("claims"))
    outcome = check(tmp_path, "claims", "--write-lock", "l.json", "--min", "sentence_f1=0", gold, predictions)
    assert outcome.status == 2
    assert b"--write-lock comes before there is a run: leave out " in outcome.stderr
