"""Each run of a batch has the bytes that a call gives it alone: the old call, `score` where a file has several runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pytest
from click.exceptions import Exit

from cs_score.base.errors import UsageError
from cs_score.cli.core import load_command
from cs_score.coldstart.output_files import MAY_BE_REPLACED
from tests.coldstart.command import score_in as cs_score_in
from tests.coldstart.recorded import Case, committed_cases, copy_inputs, shared_cases
from tests.verbs.batch.command import contents, leaderboard, without_call

# What a batch decides itself, or has in another form.
NOT_COMPARED: Final = {"-output_file", "-error_file", "--json"}


def scoring_words(case: Case) -> tuple[list[str], list[str]] | None:
    """Switches and query files of a case with one pool and one run; None for other cases."""
    try:
        line = load_command("").parse(case.args)
    except (UsageError, Exit):
        return None
    queries = [word for word in line.positional_words if word.endswith(".xml")]
    others = {word for word in line.positional_words if not word.endswith(".xml")}
    if others != {"pool.tab", "run.tab"} or not all((case.folder / name).is_file() for name in (*queries, *others)):
        return None
    switches = [
        word
        for name, value in line.value_by_option.items()
        if name not in NOT_COMPARED
        for word in ([name] if value is None else [name, value])
    ]
    # A batch has each run; it writes limits as it reads them.
    if "-runids" in switches and not line.text("-runids").strip(":"):
        return None
    if "\n" in line.text("-justifications", ""):
        return None
    return switches, queries


def is_of_one_run(case: Case) -> bool:
    """Whether the run file has one run, and all that are asked for; other files the old call scores in its own way."""
    lines = (case.folder / "run.tab").read_bytes().split(b"\n")
    run_ids = {columns[2].decode("latin-1") for line in lines if len(columns := line.split(b"\t")) > 3}
    asked = case.args[case.args.index("-runids") + 1].split(":") if "-runids" in case.args else ()
    return len({*run_ids, *asked}) <= 1


def has_failed_without_lines(folder: Path) -> bool:
    """Whether the one run of a batch has failed because no line of it was scored, which the old call calls done."""
    failures = [row["failure"] for row in leaderboard(folder)]
    return failures == ["run.tab: no line of it could be scored"]


def differing(case: Case, folder: Path, *more: str) -> list[str]:
    """Names of the files that batch and single call do not share byte for byte, and statuses that differ.

    `more` are switches of both beside those of the case.
    """
    found = scoring_words(case)
    assert found is not None
    switches, queries = [*found[0], *more], found[1]
    copy_inputs(case, folder)
    (folder / "single").mkdir()
    files, is_of_one = [*queries, "pool.tab", "run.tab"], is_of_one_run(case)
    outputs = ["-output_file", "single/out", "-error_file", "single/out.errlog"]
    alone = outputs if is_of_one else ["score", "-o", "single"]
    single = cs_score_in(folder, [*alone, *switches, *files])
    batch = cs_score_in(folder, ["batch", *switches, "-o", "batch", "--jobs", "1", *files])
    if not (folder / "batch" / "run").exists():  # nothing can be scored with these files and switches, by no one
        return [] if batch.status and single.status in (255, 1) else [f"refused: {batch.stderr!r}"]
    if single.status == 2:  # a run that is asked for is not there
        return [] if batch.status and b"no run called" in batch.stderr else [f"not refused: {batch.stderr!r}"]
    different = []
    if (batch.status == 0) is not (single.status == 0) and not has_failed_without_lines(folder / "batch"):
        different.append(f"status {batch.status}")
    ours, theirs = contents(folder / "batch" / "run"), contents(folder / "single")
    ours.pop("signature.json", None)
    if not is_of_one:  # `score` prints what the log holds, and has a document
        ours.pop("out.errlog")
        theirs.pop("out.json", None)
    names = sorted({*ours, *theirs})
    theirs = {name: data.removesuffix(MAY_BE_REPLACED.encode()) for name, data in theirs.items()}
    return different + [n for n in names if without_call(ours.get(n, b"-")) != without_call(theirs.get(n, b"-"))]


CASES = [case for case in committed_cases() if scoring_words(case) is not None]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder.name)
def test_a_committed_case(case: Case, tmp_path: Path) -> None:
    assert differing(case, tmp_path) == []


@pytest.mark.parametrize("case", [*filter(is_of_one_run, CASES)][::4], ids=lambda case: case.folder.name)
def test_a_committed_case_whose_run_is_validated(case: Case, tmp_path: Path) -> None:
    assert differing(case, tmp_path, "--validate") == []


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in shared_cases() if scoring_words(case)], ids=lambda c: c.folder.name)
def test_a_shared_case(case: Case, tmp_path: Path) -> None:
    assert differing(case, tmp_path) == []


def test_intervals_are_those_of_single_calls(tmp_path: Path) -> None:
    [case] = [case for case in CASES if case.folder.name == "multi_ep_011"]
    copy_inputs(case, tmp_path)
    words = ["-expand", "CSSF17", "--bootstrap", "200", "--seed", "3"]
    files = ["queries.xml", "pool.tab", "run.tab"]
    assert cs_score_in(tmp_path, [*words, "-output_file", "o", "--json", "o.json", *files]).status == 0
    assert cs_score_in(tmp_path, ["batch", *words, "--with-json", "-o", "batch", *files]).status == 0
    for ending in ("intervals", "json", "summary"):
        assert (tmp_path / f"batch/run/out.{ending}").read_bytes() == (tmp_path / f"o.{ending}").read_bytes()


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: case.folder.name)
def test_runs_do_not_see_each_other(case: Case, tmp_path: Path) -> None:
    """The same run three times, between others: equal bytes at every place in the batch."""
    found = scoring_words(case)
    assert found is not None
    copy_inputs(case, tmp_path)
    policies = ("--policy", "kb", "--also-policy", "sf", "--also-policy", "open:ignore=DUPLICATE")
    words = ["batch", *found[0], "--jobs", "1", *policies]
    files = [*found[1], "pool.tab"]
    cs_score_in(tmp_path, [*words, "-o", "alone", *files, "run.tab"])
    if not (tmp_path / "alone" / "leaderboard.tsv").exists():
        pytest.skip("nothing can be scored")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(tmp_path / "run.tab", tmp_path / name / "run.tab")
    (tmp_path / "broken.tab").write_bytes(b"\xff\xfe\n")
    together = cs_score_in(tmp_path, [*words, "-o", "all", *files, "broken.tab", "run.tab", "broken.tab"])
    assert together.status == 1
    for policy in ("kb", "sf", "open"):
        ours, theirs = contents(tmp_path / "all" / policy / "run"), contents(tmp_path / "alone" / policy / "run")
        assert ours == theirs
        assert "out.errlog" in ours
    failed = {row["run"]: row["failure"] for row in leaderboard(tmp_path / "all") if row["state"] == "failed"}
    assert "not UTF-8" in failed["broken"]
