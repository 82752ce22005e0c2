"""What a platform gets of a submission: the scores of the scorer, a page, or one line that says nothing of gold."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.evidence.reading import read_input
from cs_score.tasks import COLD_START, mode_named
from cs_score.verbs.bundle import contents
from cs_score.verbs.bundle.contents import FORMS
from cs_score.verbs.bundle.platforms import evaluate_for_evalai, score_for_codabench
from cs_score.verbs.bundle.submission import SubmissionError
from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.verbs.bundle.canaries import TASKS, canaries_in, cold_start_with_canaries, evidence_with_canaries, options_of
from tests.verbs.preparation.invented import AskedQuery, Inputs, RunLine

DOES_NOT_FIT: Final = "the submission can be read, but not scored against the reference data: "
QUERIES: Final = str(ROOT / "queries/ldc-queries.xml")
POOL: Final = str(ROOT / "assessments/pool-2016.tab")
RUN: Final = ROOT / "submissions/tide-kb.tab.txt"


@pytest.fixture(autouse=True)
def without_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wheels are packed: what the program does is called here, where the package is."""
    monkeypatch.setattr(contents, "find_wheels", lambda requirements, target, folder: [])


class Platform:
    """A platform with a program, gold and a submission in folders, as Codabench lays them out."""

    def __init__(self, folder: Path, words: Sequence[str]) -> None:
        """Make the bundle that these words of a command line ask for, and unpack it."""
        self.folder = folder
        made = folder / "made"
        command = ["bundle", "codabench", *words, "-o", str(made)]
        outcome = score_in(folder, command)
        assert outcome.status == 0, outcome.stderr
        self.made = made
        self.program = self._unpacked("scoring_program.zip", "program")
        self._unpacked("reference_data.zip", "input/ref")
        (folder / "input" / "res").mkdir()
        self.output = folder / "output"

    def _unpacked(self, archive: str, name: str) -> Path:
        """Unpack an archive of the bundle into a folder of the platform."""
        target = self.folder / name
        target.mkdir(parents=True)
        with zipfile.ZipFile(self.made / archive) as opened:
            opened.extractall(target)
        return target

    def hand_in(self, name: str, content: bytes) -> int:
        """Score a submission of one file, and return the status of the program."""
        return self.hand_in_all({name: content})

    def hand_in_all(self, files: dict[str, bytes]) -> int:
        """Score a submission of these files, and return the status of the program."""
        place = self.folder / "input" / "res"
        shutil.rmtree(place)
        place.mkdir()
        shutil.rmtree(self.output, ignore_errors=True)
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(content)
        return score_for_codabench(str(self.program), str(self.folder / "input"), str(self.output))

    @property
    def scores(self) -> dict[str, float]:
        scores: dict[str, float] = json.loads((self.output / "scores.json").read_text("utf-8"))
        return scores

    @property
    def page(self) -> str:
        return (self.output / "detailed_results.html").read_text("utf-8")


def evidence_words(task: str) -> list[str]:
    """Return the words that bundle the sample gold of a task."""
    return [task, "--gold", str(ROOT / "assessments" / f"{task}-gold.{TASKS[task]}"), *options_of(task)]


def sample_submission(task: str) -> Path:
    return ROOT / "submissions" / f"{task}-a.{TASKS[task]}"


COLD: Final = ["-expand", "ISLE26", QUERIES, POOL]

# ---- Scores


@pytest.mark.parametrize("task", TASKS)
def test_scores_are_those_of_score(task: str, tmp_path: Path) -> None:
    platform = Platform(tmp_path, evidence_words(task))
    submission = sample_submission(task)
    assert platform.hand_in(submission.name, submission.read_bytes()) == 0
    words = [*evidence_words(task), "--predictions", str(submission), "--format", "json"]
    scored = json.loads(score_in(tmp_path, ["score", *words]).stdout)
    assert platform.scores == scored["signature"]["scores"]
    assert sorted(os.listdir(platform.output)) == ["detailed_results.html", "scores.json"]


@pytest.mark.parametrize("policy", [[], ["--policy", "sf"], ["--follow", "2017.1.5", "-queries", "ids"]], ids=str)
def test_scores_of_a_run_are_those_of_score(policy: list[str], tmp_path: Path) -> None:
    shutil.copy(ROOT / "queries/queryids.txt", tmp_path / "ids")
    words = [*policy, *COLD]
    platform = Platform(tmp_path, words)
    assert platform.hand_in("run.tab", RUN.read_bytes()) == 0
    outcome = score_in(tmp_path, ["score", *words, str(RUN), "--all", "--format", "json"])
    (run,) = json.loads(outcome.stdout)["runs"]
    assert platform.scores == {name: score for name, score in run["scores"].items() if "@" not in name}


def test_options_of_evidence_tasks_reach_the_scorer(tmp_path: Path) -> None:
    """One claim of two is answered."""
    words = [*evidence_words("claims"), "--answered-only"]
    platform = Platform(tmp_path, words)
    lines = sample_submission("claims").read_bytes().splitlines(keepends=True)
    half = b"".join(lines[: len(lines) // 2])
    assert platform.hand_in("half.jsonl", half) == 0
    (tmp_path / "half.jsonl").write_bytes(half)
    scored = json.loads(score_in(tmp_path, ["score", *words, "half.jsonl", "--format", "json"]).stdout)
    assert platform.scores == scored["signature"]["scores"]


def test_columns_are_the_measures_and_keys_of_scores_are_columns(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    platform = Platform(tmp_path, ["--measure", "SF-ALL-Micro-F1,SF-AP", "--measure", "*-Macro-R", *COLD])
    described = yaml.safe_load((platform.made / "competition.yaml").read_text("utf-8"))
    (board,) = described["leaderboards"]
    keys = [column["key"] for column in board["columns"]]
    assert keys[:2] == ["SF-ALL-Micro-F1", "SF-ALL-Macro-R"]
    assert [column["index"] for column in board["columns"]] == list(range(len(keys)))
    assert {column["precision"] for column in board["columns"]} == {4}
    assert platform.hand_in("run.tab", RUN.read_bytes()) == 0
    assert list(platform.scores) == keys
    assert all(isinstance(score, float) for score in platform.scores.values())


def test_the_description_of_codabench_names_what_is_there(tmp_path: Path) -> None:
    """All files lie at the root of the archive to upload, and what programs and data need at the root of theirs."""
    yaml = pytest.importorskip("yaml")
    words = [*evidence_words("scifact"), "--title", 'A "title": #1', "--start", "2027-03-01", "--python", "3.13"]
    platform = Platform(tmp_path, words)
    described = yaml.safe_load((platform.made / "competition.yaml").read_text("utf-8"))
    (phase,) = described["phases"]
    (task,) = described["tasks"]
    named = [described["image"], described["terms"], *[page["file"] for page in described["pages"]]]
    named += [task["reference_data"], task["scoring_program"], phase["starting_kit"]]
    with zipfile.ZipFile(platform.made / "bundle.zip") as archive:
        assert {"competition.yaml", *named} == set(archive.namelist())
    assert (described["version"], described["title"]) == (2, 'A "title": #1')
    assert (described["docker_image"], phase["start"], phase["tasks"]) == ("python:3.13", "2027-03-01", [task["index"]])
    assert not described["make_programs_available"]
    assert described["enable_detailed_results"]
    assert yaml.safe_load((platform.program / "metadata.yaml").read_text("utf-8")) == {
        "command": "python3 /app/program/scoring.py /app/input/ /app/output/"
    }
    (board,) = described["leaderboards"]
    assert all(len(column["key"]) <= 36 and len(column["title"]) <= 36 for column in board["columns"])


def test_a_measure_without_a_value_has_no_key(tmp_path: Path) -> None:
    platform = Platform(tmp_path, COLD)
    without_nodes = re.sub(rb"(?m)\t[^\t\n]*$", b"", RUN.read_bytes())
    assert platform.hand_in("run.tab", without_nodes) == 0
    assert "SF-ALL-Micro-F1" in platform.scores
    assert not [measure for measure in platform.scores if measure.endswith("-AP")]
    assert "undefined" in platform.page


# ---- Submissions that cannot be scored


def refused(platform: Platform, files: dict[str, bytes], capfd: pytest.CaptureFixture[str]) -> str:
    """Return the line that the participant of a submission sees; there must be no score."""
    capfd.readouterr()
    assert platform.hand_in_all(files) == 1
    printed = capfd.readouterr()
    (line,) = printed.err.splitlines()
    assert printed.out == ""
    assert os.listdir(platform.output) == ["detailed_results.html"]
    assert "<h1>Not scored</h1>" in platform.page
    return line


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({}, "the submission has no file: hand in an archive with one file"),
        ({"a.jsonl": b"", "b.jsonl": b""}, "the submission has 2 files (a.jsonl, b.jsonl): hand in an archive"),
        ({"a.jsonl": b"{"}, "a.jsonl: line 1: "),
        ({"a.jsonl": b'{"id": 1}\n'}, "a.jsonl: line 1"),
        ({"a.jsonl": b'{"id": 1, "evidence": {}}\n'}, DOES_NOT_FIT),
        ({".a": b"", "__MACOSX/x": b"", "metadata": b"", "d/a.jsonl": b"\xff"}, "a.jsonl: "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_submission_is_one_line(
    files: dict[str, bytes], line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    platform = Platform(tmp_path, evidence_words("scifact"))
    assert refused(platform, files, capfd).startswith(line)


def test_what_is_wrong_with_a_run_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    platform = Platform(tmp_path, COLD)
    assert refused(platform, {"r": b"a\tb\n"}, capfd).startswith("r: ")
    pool = Path(POOL).read_bytes()
    assert refused(platform, {"r.tab": pool}, capfd) == "r.tab is no run: its lines have another number of columns"
    two = RUN.read_bytes() + RUN.read_bytes().replace(b"TIDE_KB", b"OTHER")
    assert refused(platform, {"r.tab": two}, capfd) == "r.tab has 2 run ids: hand in one run"


def test_a_link_to_gold_is_no_submission(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    platform = Platform(tmp_path, evidence_words("hotpotqa"))
    (platform.folder / "input" / "res" / "answers.json").symlink_to("../ref/hotpotqa-gold.json")
    assert score_for_codabench(str(platform.program), str(tmp_path / "input"), str(platform.output)) == 1
    assert capfd.readouterr().err == "answers.json is no ordinary file: hand in a file with its contents\n"


def test_a_fault_of_the_program_quotes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    platform = Platform(tmp_path, evidence_words("claims"))

    def fail(*arguments: Any, **options: Any) -> None:
        raise KeyError("CANARY")

    monkeypatch.setattr(mode_named("claims"), "score", fail)
    line = refused(platform, {"a.jsonl": sample_submission("claims").read_bytes()}, capfd)
    assert line == "the submission could not be scored because of a fault of the scoring program: tell the organisers"


# ---- Canaries


def spoilt(content: bytes) -> dict[str, bytes]:
    """Return submissions that do not fit gold, by what was done to one that does."""
    lines = content.splitlines(keepends=True)
    return {
        "a line less": b"".join(lines[:-1]),
        "a line twice": content + lines[-1],
        "in another order": b"".join([*lines[:1], *reversed(lines[1:])]),
        "nothing": b"",
        "other text": b"{}\n",
        "an empty list": b"[]",
        "half of the bytes": content[: len(content) // 2],
        "other ids": content.replace(b"CANARYq", b"own").replace(b"70000", b"1"),
    }


def seen_by_participants(platform: Platform, name: str, content: bytes, capfd: pytest.CaptureFixture[str]) -> str:
    """Return all that a participant sees of a submission: what is printed, and the files of the output folder."""
    capfd.readouterr()
    platform.hand_in(name, content)
    printed = capfd.readouterr()
    files = [path.read_text("utf-8") for path in sorted(platform.output.iterdir())]
    return "\n".join([printed.out, printed.err, *files])


@pytest.mark.parametrize("task", [*TASKS, COLD_START])
def test_no_canary_of_gold_is_seen(task: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither in scores and pages, nor in what is said of submissions that do not fit, nor in the starting kit."""
    if task == COLD_START:
        *words, run = [str(tmp_path / name) for name in cold_start_with_canaries(tmp_path)]
        submission = Path(run)
    else:
        gold, submission = evidence_with_canaries(task, tmp_path)
        words = [task, "--gold", str(gold), *options_of(task, "CANARY")]
    platform = Platform(tmp_path, words)
    content = submission.read_bytes()
    assert canaries_in(seen_by_participants(platform, submission.name, content, capfd)) == []
    assert "SF-AP" in platform.scores or task in words
    for change, other in spoilt(content).items():
        assert canaries_in(seen_by_participants(platform, submission.name, other, capfd)) == [], change
    for name in ("overview.md", "terms.md", "competition.yaml"):
        assert canaries_in((platform.made / name).read_text("utf-8")) == []
    with zipfile.ZipFile(platform.made / "starting_kit.zip") as kit:
        for name in kit.namelist():
            assert canaries_in(kit.read(name).decode("utf-8", "replace")) == [], name


def test_ids_of_queries_that_a_run_lacks_are_not_quoted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Nor those that are nearly what the run has."""
    *words, _ = [str(tmp_path / name) for name in cold_start_with_canaries(tmp_path)]
    platform = Platform(tmp_path, words)
    inputs = Inputs(tmp_path)
    for query in ("CSX_ENG_ca9b91ca9a", "CSX_ENG", "x"):
        inputs.lines(RunLine("Bo", query=query), name="own.tab")
        seen = seen_by_participants(platform, "own.tab", (tmp_path / "own.tab").read_bytes(), capfd)
        assert canaries_in(seen) == [], query


# ---- Starting kits


@pytest.mark.parametrize("task", FORMS)
def test_the_invented_sample_has_the_form_of_the_task(task: str, tmp_path: Path) -> None:
    """It can be read; scored it cannot be against any gold but one made for it."""
    name, text = FORMS[task]
    (tmp_path / name).write_text(text, "utf-8")
    if task == COLD_START:
        inputs = Inputs(tmp_path)
        query = "CSSF17_ENG_0123456789"
        inputs.queries(bundle_query(query))
        outcome = score_in(tmp_path, ["validate-run", "--check", "q.xml", name])
        assert outcome.status == 0, outcome.stderr
        return
    mode = mode_named(task)
    assert read_input(str(tmp_path / name), "predictions", mode.predictions, has_lines=mode.has_lines).content


def test_several_systems_in_a_file_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    platform = Platform(tmp_path, evidence_words("pool"))
    content = b"unit,answer,run\nq01,Hazel,a\nq01,Hazel,b\n"
    assert refused(platform, {"a.csv": content}, capfd) == "a.csv has 2 systems: hand in one"


def bundle_query(query_id: str) -> AskedQuery:
    """Return a query with this id."""
    return AskedQuery(id=query_id)


def test_a_sample_of_the_organisers_is_packed_once_it_can_be_scored(tmp_path: Path) -> None:
    words = [*evidence_words("scifact"), "--sample", str(sample_submission("scifact"))]
    platform = Platform(tmp_path, words)
    with zipfile.ZipFile(platform.made / "starting_kit.zip") as kit:
        assert kit.read("scifact-a.jsonl") == sample_submission("scifact").read_bytes()
        (wheel,) = (name for name in kit.namelist() if name.endswith(".whl"))
        assert f"pip install {wheel}, then cs-score help score scifact." in kit.read("README.md").decode()
    (tmp_path / "bad.jsonl").write_text('{"id": 1, "evidence": {}}\n')
    outcome = score_in(
        tmp_path, ["bundle", "codabench", *evidence_words("scifact"), "--sample", "bad.jsonl", "-o", "other"]
    )
    assert outcome.status == 1
    assert b"bad.jsonl: this sample cannot be scored: " in outcome.stderr
    assert not (tmp_path / "other").exists()


# ---- EvalAI


def challenge(folder: Path, words: Sequence[str]) -> tuple[Path, Path]:
    """Make a bundle for EvalAI, and return the folder of the evaluation script and the annotation file."""
    outcome = score_in(folder, ["bundle", "evalai", *words, "-o", "made"])
    assert outcome.status == 0, outcome.stderr
    program = folder / "evaluation_script"
    with zipfile.ZipFile(folder / "made" / "evaluation_script.zip") as archive:
        archive.extractall(program)
    return program, folder / "made" / "annotations" / "reference.zip"


def test_evalai_gets_scores_by_split(tmp_path: Path) -> None:
    words = [*evidence_words("hotpotqa"), "--split", "dev"]
    program, reference = challenge(tmp_path, words)
    submission = sample_submission("hotpotqa")
    found = evaluate_for_evalai(str(program), str(reference), str(submission))
    scored = json.loads(score_in(tmp_path, ["score", *words[:3], str(submission), "--format", "json"]).stdout)
    assert found == {"result": [{"dev": scored["signature"]["scores"]}]}


def test_evalai_gets_an_error_of_one_line(tmp_path: Path) -> None:
    program, reference = challenge(tmp_path, COLD)
    (tmp_path / "r.tab").write_bytes(b"a\tb\n")
    with pytest.raises(SubmissionError, match=r"^r\.tab: "):
        evaluate_for_evalai(str(program), str(reference), str(tmp_path / "r.tab"))
    (tmp_path / "r.tab").write_bytes(re.sub(rb"(?m)\t[^\t\n]*$", b"", RUN.read_bytes()))
    with pytest.raises(SubmissionError, match=r"SF-AP has no value for this submission, and the leaderboard needs"):
        evaluate_for_evalai(str(program), str(reference), str(tmp_path / "r.tab"))


def test_the_configuration_of_evalai_names_what_is_there(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    challenge(tmp_path, [*evidence_words("r4c"), "--title", "A <b> & c", "--start", "2027-03-01"])
    made = tmp_path / "made"
    described = yaml.safe_load((made / "challenge_config.yaml").read_text("utf-8"))
    (board,) = described["leaderboard"]
    assert board["schema"]["labels"] == list(board["schema"]["metadata"])
    assert board["schema"]["default_order_by"] == board["schema"]["labels"][0] == "er_f1"
    (phase,) = described["challenge_phases"]
    pages = [described[name] for name in ("description", "evaluation_details", "submission_guidelines", "image")]
    pages += [described["terms_and_conditions"], phase["description"]]
    for name in (described["evaluation_script"], phase["test_annotation_file"], *pages):
        assert (made / name).is_file(), name
    assert (described["title"], str(described["start_date"])) == ("A <b> & c", "2027-03-01 00:00:00")
    assert "<p>A &lt;b&gt; &amp; c</p>" in (made / described["description"]).read_text("utf-8")
    with zipfile.ZipFile(made / "starting_kit.zip") as kit:
        assert "Hand in one file in the form of predictions.json." in kit.read("README.md").decode()
        assert "submission.zip" not in kit.namelist()
    with zipfile.ZipFile(made / "challenge.zip") as archive:
        assert {"challenge_config.yaml", described["evaluation_script"], "logo.png"} <= set(archive.namelist())


def test_settings_are_a_document(tmp_path: Path) -> None:
    words = [*evidence_words("claims"), "--start", "2027-03-01"]
    outcome = score_in(tmp_path, ["bundle", "codabench", *words, "-o", "made", "--format", "json"])
    with zipfile.ZipFile(tmp_path / "made" / "scoring_program.zip") as archive:
        assert json.loads(archive.read("bundle.json")) == json.loads(outcome.stdout)


# ---- The command


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["codabench", *COLD, str(RUN)], "a bundle has no run: leave out "),
        (["codabench", "scifact", "--gold", "g", "p"], "a bundle has no run: leave out p"),
        (["codabench", *COLD[:2], QUERIES], "no assessments (pool) among the files"),
        (["evalai", *COLD, "--start", "2027-13-01"], "--start 2027-13-01: a day is needed, such as 2027-03-01"),
        (["evalai", *COLD, "--python", "3.9"], "--python 3.9: a version from 3.11 on is needed, such as 3.11"),
        (["codabench", *COLD, "--measure", "SF-AQ"], "no measure called SF-AQ; did you mean SF-AP"),
        (["codabench", *evidence_words("scifact"), "--stage", "label"], "of scifact-label: give --sample FILE"),
        ([], "say which: bundle codabench or bundle evalai"),
        (["kaggle"], "say which: bundle codabench or bundle evalai"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(words: list[str], complaint: str, tmp_path: Path) -> None:
    outcome = score_in(tmp_path, ["bundle", *words, *(["-o", "new"] if len(words) > 1 else [])])
    assert outcome.status == 2
    assert complaint in outcome.stderr.decode()
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_there_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    outcome = score_in(tmp_path, ["bundle", "codabench", *COLD, "-o", "made"])
    assert (outcome.status, outcome.stderr) == (2, b"cs-score: made exists; -o must name a new folder\n")
    assert os.listdir(tmp_path / "made") == []


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    words = ["bundle", "codabench", *COLD, "--start", "2027-03-01"]
    for name in ("one", "two"):
        assert score_in(tmp_path, [*words, "-o", name]).status == 0
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
