"""A folder with inputs and results of every kind, recorded once, and a copy of it for each test."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.cli.forms import fill
from tests.coldstart.command import score_in
from tests.evidence.test_command import files as evidence_files
from tests.verbs.preparation.invented import QUERY, Inputs, Judged, RunLine

SCORED: Final = ("q.xml", "run.tab", "qrel")
RUNS: Final = ("good.tab", "two.tab", "bad.tab", "wrong.tab", "none.tab")

CALLS: Final = {
    "plain.json": ["--json=plain.json", *SCORED],
    "chosen.json": [
        "--json=chosen.json", "-queries", "ids", "-runids", "r1", "-discipline", "STRING_EXACT", "--bootstrap=9",
        *SCORED,
    ],
    "june.json": ["--json=june.json", "--follow=2017.1.5", *SCORED],
    "sf.json": ["--json=sf.json", "--policy=sf", "-right", "CORRECT:INEXACT", "--validate", *SCORED],
    "kb.json": ["--json=kb.json", "--knowledge-base=kb.tac", "q.xml", "qrel"],
    "claims.json": ["claims", "--output=claims.json", "--bootstrap=9", "--gold=gold.jsonl", "--predictions=more.jsonl"],
    **{
        f"{mode}.json": [mode, f"--output={mode}.json", f"--gold={mode}.gold", f"--predictions={mode}.run", *words]
        for mode, words in (("scifact", ["--any-order"]), ("r4c", ["--references=2"]), ("hotpotqa", []))
    },
    "batch": [
        "batch", "--jobs=1", "--output=batch", "--with-json", "--policy=kb", "--also-policy=own:right=CORRECT:INEXACT",
        "--bootstrap=9", "--problems=p.json", "q.xml", "qrel", "run.tab", "round2.tab",
    ],
}  # fmt: skip
"""What is recorded, and the call that records it."""

BATCHES: Final = {
    "policies": [
        "--policy=kb", "--also-policy=own:right=CORRECT:INEXACT", "--bootstrap=9", "--measure=SF-ALL-Macro-R",
        "--problems=p.json", "-queries", "ids", "q.xml", "pool", *RUNS,
    ],
    "plain": ["q.xml", "pool", "none.tab", "bad.tab", "two.tab", "good.tab", "wrong.tab"],
    "html": ["--html", "--validate", "--pool=qrel2", "q.xml", "qrel", *RUNS],
    "claims": ["claims", "--bootstrap=9", "--gold=gold.jsonl", "predictions.jsonl", "bad.tab", "more.jsonl"],
    "sorted": ["claims", "--measure=sentence_f1", "--gold=gold.jsonl", "less.jsonl", "more.jsonl"],
}  # fmt: skip
"""Batches, some of whose runs fail, and what they are called with."""


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs and all results. In `two.tab` the better run id stands first; the other ties with good."""
    folder = tmp_path_factory.mktemp("recorded")
    fill(folder)
    for mode in ("scifact", "r4c", "hotpotqa"):
        for source, target in zip(evidence_files(mode), ("gold", "run")):
            shutil.copy(source, folder / f"{mode}.{target}")
    inputs = Inputs(folder)
    ann = RunLine("Ann", node=":E2", run_id="best", span="7-8")
    inputs.lines(
        Judged(),
        Judged(value="Zoë", id="a2"),
        Judged(value="Ann", id="a3", span="7-8", value_class=f"{QUERY}:2"),
        name="pool",
    )
    inputs.lines(RunLine(run_id="good"), name="good.tab")
    inputs.lines(RunLine(run_id="best"), ann, RunLine("Zoë", node=":E3", run_id="other"), name="two.tab")
    inputs.lines(RunLine("Eve"), RunLine("Max", confidence="2.5"), name="wrong.tab")
    (folder / "bad.tab").write_bytes(b"\xff\xfe\n")
    (folder / "none.tab").write_bytes(b"")
    (folder / "less.jsonl").write_text("".join((folder / "more.jsonl").read_text().splitlines(keepends=True)[1:]))
    batches = {name: ["batch", *words, "--jobs=1", f"--output={name}"] for name, words in BATCHES.items()}
    for name, words in {**CALLS, **batches}.items():
        score_in(folder, words)
        assert (folder / name).exists(), name
    printed = score_in(folder, ["score", "--format=json", "--measure=*", "--bootstrap=9", *SCORED]).stdout
    (folder / "scores.json").write_bytes(printed)
    (folder / "printed.json").write_bytes(score_in(folder, ["hotpotqa", "--json", *CALLS["hotpotqa.json"][2:]]).stdout)
    return folder


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of it, in which the test works."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded, copy, symlinks=True)
    with contextlib.chdir(copy):
        yield copy
