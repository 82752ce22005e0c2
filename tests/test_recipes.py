"""What can be added to the tables: every program then knows it. `docs/architecture.md` has the recipes.

Each test adds an invented one to a copy of the package, as somebody would who follows its recipe.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from cs_score.base.records import Record
from tests.batch.command import leaderboard
from tests.documents import ROOT

SCORING: Final = ("-expand", "ISLE26")
FILES: Final = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")
OTHER: Final = "submissions/gull-sf.tab.txt"


class Scratch(Record):
    """A copy of the package, to which things are added, and the samples."""

    folder: Path

    def add(self, module: str, after: str, text: str) -> None:
        """Put text behind the one place in a module where `after` stands."""
        path = self.folder / "cs_score" / module
        before, found, rest = path.read_text().partition(after)
        assert found, f"{module} has no {after!r}"
        assert after not in rest, f"{module} has {after!r} twice"
        path.write_text(before + found + text + rest)

    def write(self, module: str, text: str) -> None:
        """Put a module into a folder of its own or of others."""
        path = self.folder / "cs_score" / module
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def call(self, *words: str) -> str:
        """What a call prints on standard output; it must end well."""
        done = self._run(words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _run(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cs_score", *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def refusal(self, *words: str) -> str:
        """The last line on standard error of a call that fails."""
        done = self._run(words)
        assert done.returncode != 0
        return done.stderr.splitlines()[-1]

    def text(self, name: str) -> str:
        """What stands in a file that a call wrote."""
        return (self.folder / name).read_text()


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    for name in ("cs_score", "queries", "assessments", "submissions"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return Scratch(tmp_path)


# ---- A problem code: an entry in the table, and the call that reports it

CODE: Final = """\
    "CERTAIN": warning(
        "Nobody is that certain: %s",
        "A confidence is 1.0.",
        "1.0",
        "The line is kept.",
        "Doubt a little.",
        column="CONFIDENCE",
        offender=0,
    ),
"""
REPORTING: Final = """
        if text.endswith("\\t1.0"):
            problems.add("CERTAIN", text.rpartition("\\t")[2], place=Place(name, number))\
"""


def test_a_problem_code_is_one_entry(scratch: Scratch) -> None:
    scratch.add("problems/codes/lines.py", "KINDS: Final[Mapping[str, ProblemKind]] = {\n", CODE)
    scratch.add("coldstart/tab_files.py", "        seen.add(text)", REPORTING)
    explained = scratch.call("problems", "certain")
    assert explained.startswith("CERTAIN (WARNING)\n  Meaning:  A confidence is 1.0.\n")
    assert "  Remedy:   Doubt a little.\n" in explained
    codes = [line.split()[0] for line in scratch.call("problems").splitlines()]
    assert codes == sorted(codes)
    assert "CERTAIN" in codes
    assert scratch.call("completion", "candidates", "--", "problems", "CERT").split() == ["CERTAIN"]

    run = FILES[-1]
    lines = scratch.text(run).splitlines()
    certain = lines[2].rpartition("\t")[0] + "\t1.0"
    (scratch.folder / run).write_text("\n".join([*lines[:2], certain, *lines[3:]]) + "\n")
    for ending in ("json", "tsv", "sarif"):
        outputs = ("-output_file", ending, "-error_file", f"{ending}.log", "--problems", f"problems.{ending}")
        scratch.call(*SCORING, *outputs, *FILES)
    assert f"WARNING: Nobody is that certain: 1.0 ({run} line 3)\n" in scratch.text("json.log")
    (problem,) = [one for one in json.loads(scratch.text("problems.json"))["problems"] if one["code"] == "CERTAIN"]
    assert problem.items() >= {"line": 3, "column": "CONFIDENCE", "text": "1.0", "remedy": "Doubt a little."}.items()
    assert f"\nCERTAIN\tWARNING\t{run}\t3\t" in scratch.text("problems.tsv")
    rules = json.loads(scratch.text("problems.sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert "CERTAIN" in {rule["id"] for rule in rules}


# ---- A field of the debug file: its name and its value


def test_a_field_of_the_debug_file_is_its_name_and_its_value(scratch: Scratch) -> None:
    scratch.call(*SCORING, "-output_file", "without", *FILES)
    scratch.add("coldstart/outputs.py", '"TARGET_QID", ', '"CONFIDENCE", ')
    scratch.add("coldstart/outputs.py", "        response.target_full_id,\n", "        str(response.confidence),\n")
    scratch.call(*SCORING, "-output_file", "with", *FILES)
    lines = scratch.text("with.debug").splitlines(keepends=True)
    added = [number for number, line in enumerate(lines) if line.startswith("\tCONFIDENCE:\t")]
    assert len(added) == scratch.text("without.debug").count("\tTARGET_QID:\t") > 0
    for number in added:
        assert lines[number - 1].startswith("\tTARGET_QID:\t")
        assert float(lines[number].split("\t")[2]) == float(lines[number - 2].split("\t")[9])
    assert "".join(line for line in lines if "\tCONFIDENCE:\t" not in line) == scratch.text("without.debug")


# ---- An output file: a row of OUTPUTS, with what writes it

OUTPUT: Final = """
    Output(
        "rows",
        "the names of the rows",
        {Stage.SCORED: lambda of: encoded(f"{row.name}\\n" for row in of.run.tables.sf.rows)},
        "-expand",
    ),"""


def test_an_output_file_is_one_row(scratch: Scratch) -> None:
    scratch.add("coldstart/outputs.py", "OUTPUTS: Final = (", OUTPUT)
    assert re.search(r"\n  PREFIX.rows +the names of the rows; with -expand.\n", scratch.call("-help"))
    assert "PREFIX.rows" in scratch.call("man")

    (scratch.folder / "run.rows").write_text("of an earlier call")
    scratch.call("-output_file", "run", "queries/sf-queries.xml", *FILES[1:])
    assert scratch.text("run.rows") == "of an earlier call"
    scratch.call(*SCORING, "-output_file", "run", *FILES)
    rows = scratch.text("run.rows")
    assert rows.split() == [
        line.split()[0] for line in scratch.text("run.sf").splitlines()[1:] if " ISLE26" in f" {line}"
    ]
    assert scratch.call(*SCORING, *FILES).count(rows) == 1
    scratch.call("batch", *SCORING, "--out", "out", *FILES)
    assert scratch.text("out/tide-kb/out.rows") == rows


# ---- A measure of rankings: a row of the registry, and its formula

ROW: Final = '    _mean_of_rankings("RR", formulas.reciprocal_rank),\n'
FORMULA: Final = '''

def reciprocal_rank(values: Iterable[float], ground_truth: int | None) -> float:
    """One over the rank of the first node that is worth anything."""
    return next((1 / rank for rank, value in enumerate(values, 1) if value > 0), 0.0) if ground_truth else 0.0
'''


@pytest.fixture
def with_measure(scratch: Scratch) -> Scratch:
    scratch.add("measures/registry.py", '    _mean_of_rankings("AP", formulas.average_precision),\n', ROW)
    formulas = scratch.folder / "cs_score" / "measures" / "formulas.py"
    formulas.write_text(formulas.read_text() + FORMULA)
    return scratch


def test_a_measure_of_rankings_is_one_row_and_one_formula(with_measure: Scratch) -> None:
    with_measure.call(*SCORING, "-output_file", "run", "--bootstrap", "20", "--json", "run.json", *FILES)
    (run,) = json.loads(with_measure.text("run.json"))["runs"]
    assert 0 < run["scores"]["SF-RR"] <= 1
    assert {"SF-RR", "SF-RR@0", "SF-RR@1", "LDC-MEAN-RR"} <= run["intervals"]["scores"].keys()
    assert "SF-RR@0 " in with_measure.text("run.intervals")

    batch = (*SCORING, "--sort-by", "sf-rr", "--bootstrap", "20", "--out", "out")
    with_measure.call("batch", *batch, *FILES, OTHER)
    (row,) = [row for row in leaderboard(with_measure.folder / "out") if row["run"] == "tide-kb"]
    assert list(row)[4:7] == ["SF-RR", "SF-RR:low", "SF-RR:high"]
    assert float(row["SF-RR"]) == run["scores"]["SF-RR"]

    compared = json.loads(
        with_measure.call("compare", "coldstart", *SCORING, "--json", "--measure", "*-RR", *FILES, OTHER)
    )
    assert [measure["measure"] for measure in compared["measures"]] == ["SF-RR", "LDC-MEAN-RR"]


def test_the_files_of_the_reference_do_not_know_it(with_measure: Scratch) -> None:
    folder = with_measure.folder
    with_measure.call(*SCORING, "-output_file", "with", *FILES)
    shutil.rmtree(folder / "cs_score")
    shutil.copytree(ROOT / "cs_score", folder / "cs_score", ignore=shutil.ignore_patterns("__pycache__"))
    with_measure.call(*SCORING, "-output_file", "without", *FILES)
    for ending in ("sf", "ldcmax", "ldcmean", "summary", "ap", "debug"):
        assert (folder / f"with.{ending}").read_bytes() == (folder / f"without.{ending}").read_bytes()


# ---- An evidence mode: its folder, its measures, a row of the table that the command line reads, its examiner

MODE: Final = """\
from typing import ClassVar

from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.result import Mode, Result, means, report_rows, scores_of
from cs_score.base.signing.origin import RUN
from cs_score.measures.registry import names
from cs_score.statistics.unit_table import UnitTable

COLUMNS = ("questions", *names("quiz"))
MODE = Mode("quiz", "question", COLUMNS, names("quiz"), means, ("rate",), report_rows(("right",), names("quiz")))


@dataclass(frozen=True, slots=True, repr=False)
class QuizResult(Result):
    mode: ClassVar[Mode] = MODE

    gold: dict
    given: dict

    def explained(self, position):
        return [f"question {self.table.ids[position]}: right {self.table.rows[position][1]}"]


def read_gold(gold):
    with reader.open_document(gold, "gold") as source:
        return signed(source, reader.json_document(source))


def score(gold, predictions):
    known = gold if isinstance(gold, Gold) else read_gold(gold)
    with reader.open_document(predictions, "predictions") as source:
        given = signed(source, reader.json_document(source), RUN)
    rows = [(1, int(given.content.get(question) == answer)) for question, answer in known.content.items()]
    table = UnitTable(tuple(known.content), COLUMNS, rows)
    origin = MODE.origin({}, known.digest, given.digest)
    return QuizResult(table, scores_of(MODE, table), origin, (), (), known.content, given.content)
"""
MODE_EXAMINER: Final = """\
from cs_score.analysis.evidence.modes.examiner import Examiner, Fault


class QuizExaminer(Examiner):
    kinds = ("wrong",)

    def unit(self, position):
        return self.result.table.ids[position]

    def written(self, position):
        return self.result.given.get(self.unit(position))

    def row(self, position, prediction):
        return 1, int(prediction == self.result.gold[self.unit(position)])

    def faults(self, position, prediction):
        gold = self.result.gold[self.unit(position)]
        return [] if prediction == gold else [Fault("wrong", None, prediction, gold)]

    def mended(self, position, prediction, faults):
        return self.result.gold[self.unit(position)]

    def groups(self, position):
        return {}

    def confusions(self, position):
        return ()

    def parts(self, position):
        return ()


EXAMINER = QuizExaminer
"""
MODE_ROW: Final = """
        EvidenceMode("quiz", "question", "Score the answers of a quiz", "Both hold a JSON object of answers."),"""
MODE_MEASURES: Final = """
    "quiz": _official("right_rate"),"""
MODE_HEADLINE: Final = """
    "quiz": ("right_rate",),"""


def test_an_evidence_mode_is_a_folder_its_measures_a_row_and_an_examiner(scratch: Scratch) -> None:
    scratch.write("evidence/modes/quiz/__init__.py", MODE)
    scratch.write("analysis/evidence/modes/quiz.py", MODE_EXAMINER)
    scratch.add("measures/registry.py", "    COLD_START_MODE: _cold_start(),", MODE_MEASURES)
    scratch.add("measures/registry.py", "_HEADLINES: Final[Mapping[str, tuple[str, ...]]] = {", MODE_HEADLINE)
    scratch.add("cli/evidence_modes.py", "    for mode in (", MODE_ROW)
    for name, answers in (("gold", "abcd"), ("good", "abcx"), ("bad", "axxx")):
        (scratch.folder / f"{name}.json").write_text(json.dumps(dict(zip("1234", answers))))

    assert "Score the answers of a quiz" in scratch.call("-help")
    assert "quiz" in scratch.call("completion", "candidates", "--", "batch", "q").split()
    assert "Both hold a JSON object of answers." in scratch.call("quiz", "--help")
    assert "Score the answers of a quiz" in scratch.call("man")
    assert scratch.refusal("quizz") == "cs-score: there is no command quizz, and no such file; did you mean quiz?"
    assert "did you mean --gold?" in scratch.refusal("batch", "quiz", "--golt", "gold.json")
    one = ("quiz", "--gold", "gold.json", "--predictions", "good.json")
    assert json.loads(scratch.call(*one, "--json", "--bootstrap", "20"))["right_rate"] == 0.75
    assert scratch.call(*one, "--explain", "4") == "question 4: right 0\n"

    scratch.call("batch", "quiz", "--gold", "gold.json", "--out", "out", "good.json", "bad.json")
    assert [(row["run"], row["right_rate"]) for row in leaderboard(scratch.folder / "out")] == [
        ("good", "0.75"),
        ("bad", "0.25"),
    ]
    compared = json.loads(scratch.call("compare", "quiz", "--gold", "gold.json", "--json=-", "good.json", "bad.json"))
    assert [measure["measure"] for measure in compared["measures"]] == ["right_rate"]
    told = json.loads(scratch.call("analyze", *one, "--json"))
    assert [(each["unit"], each["gain"], each["prediction"]) for each in told["mistakes"]] == [("4", 0.25, "d")]


# ---- A section of the analysis of a run: its function, its field and key, its table

LENGTH_SECTION: Final = """\
from __future__ import annotations

from cs_score.analysis.coldstart.sections.counted import CountedTable, lines_of


def lengths_of(table: CountedTable) -> list[int]:
    return sorted(len(line.value) for row in table.rows for line, _, _ in lines_of(row))
"""
LENGTH_TABLE: Final = """
    Layout("lengths", "Lengths of values:", ("length",), lambda analysis: ((each,) for each in analysis.lengths)),"""


def test_a_section_of_the_analysis_is_a_field_a_key_and_a_table(scratch: Scratch) -> None:
    scratch.write("analysis/coldstart/sections/lengths.py", LENGTH_SECTION)
    module = "analysis/coldstart/analysis.py"
    scratch.add(
        module,
        "import Structure, structure_of",
        "\nfrom cs_score.analysis.coldstart.sections.lengths import lengths_of",
    )
    scratch.add(module, "\n    structure: Structure", "\n    lengths: list[int]")
    scratch.add(module, '"structure": self.structure.as_json(),', '\n            "lengths": self.lengths,')
    scratch.add(module, "structure=structure_of(scored),", "\n        lengths=lengths_of(table),")
    scratch.add("analysis/coldstart/tables.py", "\nLAYOUTS: Final = (", LENGTH_TABLE)
    text = scratch.call("analyze", *SCORING, *FILES, "--tsv", "tables")
    assert "\nLengths of values (20 of " in text
    found = json.loads(scratch.call("analyze", *SCORING, *FILES, "--json", "-"))["lengths"]
    assert [int(line) for line in scratch.text("tables/lengths.tsv").splitlines()[1:]] == found
    assert len(found) > 9


# ---- A command: a row of COMMANDS, and its module

COMMAND: Final = """
from cs_score.cli.destinations import print_text
from cs_score.cli.form import Form, Parameter


def _run(line):
    print_text(f"Hello, {line.words[0]}!")
    return 0


FORM = Form("greet", (), (Parameter("name", "Who is greeted"),), body=_run)
"""
COMMAND_ROW: Final = """
        Command("greet", _G.ABOUT, "Greet somebody", "greeting:FORM"),"""


def test_a_command_is_a_row_and_its_module(scratch: Scratch) -> None:
    scratch.write("cli/greeting.py", COMMAND)
    scratch.add("cli/registry.py", "    for command in (", COMMAND_ROW)
    assert scratch.call("greet", "you") == "Hello, you!\n"
    assert re.search(r"\n +greet +Greet somebody\n", scratch.call("-help"))
    assert scratch.call("greet", "-h") == scratch.call("greet", "--help")
    assert "Who is greeted" in scratch.call("greet", "--help")
    assert "greet" in scratch.call("completion", "candidates", "--", "gre").split()
    assert "greet" in scratch.call("man")
    assert scratch.refusal("gret") == "cs-score: there is no command gret, and no such file; did you mean greet?"
    assert "Not enough arguments; name must be provided" in scratch.refusal("greet")
