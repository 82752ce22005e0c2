"""Bundles unpacked and run as platforms do it: by a Python that has nothing installed, and without network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.verbs.bundle.wheelhouse import make_installed_wheels

QUERIES: Final = str(ROOT / "queries/ldc-queries.xml")
POOL: Final = str(ROOT / "assessments/pool-2016.tab")
RUN: Final = str(ROOT / "submissions/tide-kb.tab.txt")
GOLD: Final = str(ROOT / "assessments/claims-gold.jsonl")
PREDICTIONS: Final = str(ROOT / "submissions/claims-a.jsonl")
EXAMPLE: Final = ROOT / "examples" / "cs-score-fever"
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the wheels of what is installed here."""
    return str(make_installed_wheels(tmp_path_factory.mktemp("installed")))


@pytest.fixture(scope="module")
def clean_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with pip and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
    return str(folder / "bin" / "python3")


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command without network, where this machine can take it away from a process."""
    without_network = ["unshare", "--map-root-user", "--net"]
    can_unshare = shutil.which("unshare") is not None
    if can_unshare:
        can_unshare = subprocess.run([*without_network, "true"], capture_output=True, check=False).returncode == 0
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    command = [*without_network, *words] if can_unshare else words
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def bundle(folder: Path, *words: str) -> None:
    """Make a bundle in the folder `made`."""
    outcome = score_in(folder, ["bundle", *words, "--python", PYTHON, "-o", "made"])
    assert outcome.status == 0, outcome.stderr


def unpack(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(target)


def test_codabench_scores_without_network(tmp_path: Path, wheels: str, clean_python: str) -> None:
    """What is uploaded is one archive; the platform unpacks those in it, and calls what metadata.yaml says."""
    bundle(tmp_path, "codabench", "-expand", "ISLE26", QUERIES, POOL, "--wheels", wheels)
    unpack(tmp_path / "made" / "bundle.zip", tmp_path / "uploaded")
    app = tmp_path / "app"
    unpack(tmp_path / "uploaded" / "scoring_program.zip", app / "program")
    unpack(tmp_path / "uploaded" / "reference_data.zip", app / "input" / "ref")
    (app / "input" / "res").mkdir()
    shutil.copy(RUN, app / "input" / "res" / "run.tab")
    (app / "output").mkdir()
    yaml = pytest.importorskip("yaml")
    command = yaml.safe_load((app / "program" / "metadata.yaml").read_text("utf-8"))["command"]
    assert command == "python3 /app/program/scoring.py /app/input/ /app/output/"
    program, *places = command.replace("/app/", f"{app}/").split()[1:]
    done = run([clean_python, program, *places], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    scored = json.loads(
        score_in(tmp_path, ["score", "-expand", "ISLE26", QUERIES, POOL, RUN, "--all", "--format", "json"]).stdout
    )
    scores = {name: score for name, score in scored["runs"][0]["scores"].items() if "@" not in name}
    assert json.loads((app / "output" / "scores.json").read_bytes()) == scores
    assert sorted(os.listdir(app / "output")) == ["detailed_results.html", "scores.json"]
    (app / "input" / "res" / "run.tab").write_bytes(b"no run\n")
    shutil.rmtree(app / "output")
    (app / "output").mkdir()
    done = run([clean_python, program, *places], tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("run.tab: ")
    assert os.listdir(app / "output") == ["detailed_results.html"]


def test_evalai_evaluates_without_network(tmp_path: Path, wheels: str, clean_python: str) -> None:
    bundle(tmp_path, "evalai", "claims", "--gold", GOLD, "--wheels", wheels)
    unpack(tmp_path / "made" / "challenge.zip", tmp_path / "uploaded")
    unpack(tmp_path / "uploaded" / "evaluation_script.zip", tmp_path / "evaluation_script")
    script = (
        "import json, sys, evaluation_script; "
        "print(json.dumps(evaluation_script.evaluate(*sys.argv[1:], submission_metadata={})))"
    )
    reference = str(tmp_path / "uploaded" / "annotations" / "reference.zip")
    done = run([clean_python, "-c", script, reference, PREDICTIONS, "evaluation"], tmp_path)
    assert done.returncode == 0, done.stderr
    scored = json.loads(score_in(tmp_path, ["score", "claims", GOLD, PREDICTIONS, "--format", "json"]).stdout)
    assert json.loads(done.stdout) == {"result": [{"test": scored["signature"]["scores"]}]}
    (tmp_path / "own.jsonl").write_text("{")
    done = run([clean_python, "-c", script, reference, "own.jsonl", "evaluation"], tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "cs_score.verbs.bundle.submission.SubmissionError: own.jsonl: line 1: "
    )


@pytest.fixture
def outside(tmp_path: Path) -> str:
    """A folder in which the package of the example is installed as pip would do it."""
    folder = tmp_path / "site"
    place = folder / "cs_score_fever-0.1.0.dist-info"
    place.mkdir(parents=True)
    shutil.copy(EXAMPLE / "cs_score_fever.py", folder)
    texts = {
        "METADATA": "Metadata-Version: 2.1\nName: cs-score-fever\nVersion: 0.1.0\nRequires-Dist: cs-score\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "[cs_score.tasks]\nfever = cs_score_fever:MODE\n",
    }
    for name, text in texts.items():
        (place / name).write_text(text, "utf-8")
    names = ["cs_score_fever.py", *[f"{place.name}/{name}" for name in (*texts, "RECORD")]]
    (place / "RECORD").write_text("".join([f"{name},,\n" for name in names]), "utf-8")
    return str(folder)


def test_a_task_from_outside_is_packed_with_its_package(
    tmp_path: Path, wheels: str, clean_python: str, outside: str
) -> None:
    """Its package is known where the bundle is made, and travels in it."""
    case = EXAMPLE / "tests" / "golden" / "fever_visible_001"
    gold, predictions = str(case / "gold.jsonl"), str(case / "predictions.jsonl")
    command = [sys.executable, "-m", "cs_score"]
    known = {**os.environ, "PYTHONPATH": outside}
    words = ["bundle", "codabench", "fever", "--gold", gold, "--sample", predictions, "--wheels", wheels]
    made = subprocess.run([*command, *words, "--python", PYTHON, "-o", "made"], cwd=tmp_path, env=known, check=False)
    assert made.returncode == 0
    app = tmp_path / "app"
    unpack(tmp_path / "made" / "scoring_program.zip", app / "program")
    unpack(tmp_path / "made" / "reference_data.zip", app / "input" / "ref")
    (app / "input" / "res").mkdir()
    shutil.copy(predictions, app / "input" / "res")
    done = run([clean_python, "app/program/scoring.py", "app/input", "app/output"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    words = ["score", "fever", gold, predictions, "--format", "json"]
    scored = subprocess.run([*command, *words], cwd=tmp_path, env=known, capture_output=True, check=True)
    assert json.loads((app / "output" / "scores.json").read_bytes()) == json.loads(scored.stdout)["signature"]["scores"]


def test_an_older_python_is_told_what_is_needed(tmp_path: Path, wheels: str) -> None:
    """The script runs on older versions as far as that."""
    bundle(tmp_path, "codabench", "-expand", "ISLE26", QUERIES, POOL, "--wheels", wheels)
    unpack(tmp_path / "made" / "scoring_program.zip", tmp_path / "program")
    script = tmp_path / "program" / "install_wheels.py"
    needed = f"NEEDED = ({PYTHON.replace('.', ', ')})"
    assert needed in script.read_text("utf-8")
    script.write_text(script.read_text("utf-8").replace(needed, "NEEDED = (3, 99)"), "utf-8")
    done = run([sys.executable, "program/scoring.py", "input", "output"], tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("cs-score needs Python 3.99 or later; this is ")
