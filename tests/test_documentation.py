"""README.md and README-Usage.md against the tables of the code, and their examples against the tool."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from cs_score.cli import main
from cs_score.cli.core import load
from cs_score.cli.many import BATCH_SWITCHES
from cs_score.cli.options import DEFAULTS
from cs_score.coldstart.options import POLICY_ITEMS, PRESETS, SIDES
from cs_score.coldstart.outputs import DEFAULT_FIELDS, OUTPUTS, SCORE_FIELDS
from cs_score.coldstart.tab_files import SCHEMAS
from cs_score.problems.codes import CODES
from tests.coldstart.command import score_in
from tests.documents import (
    ROOT,
    Formula,
    Quotation,
    code_blocks,
    console_examples,
    copy_samples,
    formulas,
    missing_line,
    quotations,
    sections,
    table,
)

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
USAGE: Final = (ROOT / "README-Usage.md").read_text(encoding="utf-8")
GUIDE: Final = (ROOT / "docs" / "my-run-scored.md").read_text(encoding="utf-8")
STATISTICS: Final = [
    example
    for page in sorted((ROOT / "docs" / "statistics").glob("*.md"))
    for example in console_examples(page.read_text(encoding="utf-8"))
]
EXAMPLE: Final = ROOT / "tests" / "evidence" / "golden" / "scifact" / "v04-spec-example"
PROGRAMS: Final = (
    *("validate-run", "validate-queries", "generate-queries", "package-output", "validate-assessments", "apply-k"),
    *("validate-kb", "resolve-queries"),
)
PARTS: Final = ("right", "wrong", "ignore", "justifications")


def section(heading: str) -> str:
    """The text of a section of level two."""
    return dict(sections(USAGE))[heading]


def spans(cell: str) -> list[str]:
    """The code spans of a table cell."""
    return re.findall(r"`([^`]*)`", cell)


def rows_by_name(text: str, first_header: str) -> dict[str, dict[str, str]]:
    """The rows of a table by the first code span of their first column."""
    return {spans(row[first_header])[0]: row for row in table(text, first_header)}


SWITCHES_OF_ALL: Final = ("-h", "-help", "-version", "--version")


def test_every_switch_with_its_default() -> None:
    text = section("Scoring Cold Start runs")
    described = {name: row for row in table(text, "switch") for name in spans(row["switch"])}
    assert set(described) == {*(switch.long for switch in load("").options), *SWITCHES_OF_ALL}
    defaults = {**DEFAULTS, "--seed": "0", "--confidence": "95", "--interval": "percentile"}
    for switch in load("").options:
        row = described[switch.long]
        # What is no value but words, such as "all runs", stands there as words.
        assert spans(row["default"]) == ([defaults[switch.long]] if switch.long in defaults else [])
        assert bool(row["value"]) == (switch.value is not None)


def test_every_policy_category_with_the_sides_it_may_stand_on() -> None:
    described = rows_by_name(section("Scoring Cold Start runs"), "category")
    assert set(described) == set(POLICY_ITEMS)
    for name, item in POLICY_ITEMS.items():
        assert set(spans(described[name]["may stand in"])) == {f"-{side.lower()}" for side in item.sides}


def test_every_published_policy() -> None:
    described = rows_by_name(section("Scoring Cold Start runs"), "policy")
    assert {name: [spans(row[f"`-{part}`"])[0] for part in PARTS] for name, row in described.items()} == {
        name: [*(preset.policy.texts()[side] for side in SIDES), str(preset.justifications)]
        for name, preset in PRESETS.items()
    }


def test_every_field_with_its_header() -> None:
    described = rows_by_name(section("Output files"), "field")
    assert tuple(described) == DEFAULT_FIELDS
    assert {name: (spans(row["header"])[0], row["meaning"]) for name, row in described.items()} == {
        name: (field.header, field.meaning) for name, field in SCORE_FIELDS.items()
    }


def test_every_output_file() -> None:
    described = rows_by_name(section("Output files"), "file")
    assert {name: row["content"] for name, row in described.items()} == {
        f"P.{output.ending}": output.content for output in OUTPUTS
    }
    for output in OUTPUTS:
        written = described[f"P.{output.ending}"]["written"]
        assert written.startswith(f"with `{output.switch}`" if output.switch else "always")


def test_every_problem_code_with_its_severity_and_every_condition_that_ends_a_program() -> None:
    text = section("Problem report and exit status")
    told = {
        first: {name: row[""] for name, row in rows_by_name(text, first).items()} for first in ("code", "condition")
    }
    assert told == {
        "code": {code: str(kind.severity).lower() for code, kind in CODES.items() if kind.template is not None},
        "condition": {code: kind.meaning for code, kind in CODES.items() if kind.template is None},
    }


def test_every_command_takes_the_common_switches_but_those_that_say_otherwise() -> None:
    switches_of = {command: preparation_switches(command) for command in PROGRAMS}
    described = table(section("Preparing runs"), "switch")
    names = {name.split()[0]: row["not taken by"] for row in described for name in spans(row["switch"])}
    assert "-error_file" in names
    for name, cell in names.items():
        named = set(spans(cell))
        refusing = set(switches_of) - named if cell.startswith("all but") else named
        assert refusing == {command for command, switches in switches_of.items() if name not in switches}, name


def preparation_switches(command: str) -> set[str]:
    return {*(option.long for option in load(command).options), *SWITCHES_OF_ALL}


def test_every_switch_and_file_of_a_batch() -> None:
    text = section("Many runs")
    described = set(re.findall(r"`(--?\w[\w-]*)", text))
    # Of these only the batch itself speaks: help, and parts of large runs, which are those of a single call.
    assert {switch.long for switch in BATCH_SWITCHES} - {"-h", "-help", "--parts"} <= described
    assert "`DIR/RUN/out.intervals`" in text


def test_every_layout_with_its_columns() -> None:
    layouts = table(section("Input files"), "columns")
    assert [int(row["columns"]) for row in layouts] == [len(schema.columns) for schema in SCHEMAS]
    for row, schema in zip(layouts, SCHEMAS):
        columns = re.findall(r"\b[A-Z_]{4,}\b", row["columns in order"])
        wanted = ("NODEID",) if schema.name == "2017 run" else schema.columns
        assert tuple(columns) == wanted
    described = {name for row in table(section("Input files"), "column") for name in re.findall(r"\w+", row["column"])}
    assert described <= {column for schema in SCHEMAS for column in schema.columns}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples, and `demo-out/` with what README.md's example writes."""
    copy = copy_samples(tmp_path_factory.mktemp("documentation"))
    for name in ("gold.jsonl", "predictions.jsonl"):
        shutil.copy(EXAMPLE / name, copy / name)
    better = (EXAMPLE / "predictions.jsonl").read_text("utf-8").replace('{"sentences": [5], "label": "SUPPORT"}', "")
    (copy / "better.jsonl").write_text(better.replace('"104": ', ""), encoding="utf-8")
    (copy / "demo-out").mkdir()
    example = re.search(r"^    cs-score (-output_file .*?)\n\n", README, re.MULTILINE | re.DOTALL)
    assert example is not None
    words = example.group(1).replace("\\\n", " ").split()
    assert score_in(copy, ["--json", "result.json", *words]).status == 0
    return copy


@pytest.mark.parametrize("quotation", [*quotations(README), *quotations(USAGE)], ids=lambda q: q.source)
def test_quoted_lines_are_there(quotation: Quotation, folder: Path) -> None:
    assert missing_line(quotation.lines, (folder / quotation.source).read_text(encoding="utf-8")) is None


@pytest.mark.parametrize("formula", [*formulas(USAGE), *formulas(GUIDE)], ids=lambda formula: formula.text)
def test_formulas_hold(formula: Formula) -> None:
    assert f"{formula.value():.4f}" == formula.result


def test_the_python_examples_run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(folder)
    for text in ("Input files", "Python"):
        for block in code_blocks(section(text), "python"):
            names: dict[str, Any] = {}
            exec(compile(block, "README-Usage.md", "exec"), names)
    assert names["run"].run_id == "TIDE_KB"
    assert "demo-out/tide-python.summary" in capsys.readouterr().out


def test_the_examples_of_the_api_run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(folder)
    for block in code_blocks((ROOT / "docs" / "api.md").read_text(encoding="utf-8"), "python"):
        exec(compile(block, "docs/api.md", "exec"), {})
    assert capsys.readouterr().out.startswith("0.79166")


def test_the_example_of_statistics_runs(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(folder)
    (block,) = code_blocks(section("Statistics"), "python")
    exec(compile(block, "README-Usage.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "SF-ALL-Micro-P@0" in printed
    assert "### LDC\\-MEAN" in printed


@pytest.mark.parametrize(("command", "lines"), [*console_examples(USAGE), *console_examples(GUIDE), *STATISTICS])
def test_commands_print_what_is_shown(
    command: str, lines: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(folder)
    program, *words = shlex.split(command)
    assert program == "cs-score"
    assert main.main(words) == 0
    assert missing_line(lines, capfd.readouterr().out) is None


def test_the_ids_computed_in_the_example() -> None:
    (block,) = code_blocks(section("Input files"), "python")
    for call, result in re.findall(r"^(\w+_id\(.*\))  # (\w+)$", block, re.MULTILINE):
        names: dict[str, Any] = {}
        exec(block, names)
        assert eval(call, names) == result


def test_the_keys_of_the_json_result(folder: Path) -> None:
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    keys, run_keys = table(section("Output files"), "key"), table(section("Output files"), "key of a run")
    assert {name for row in keys for name in spans(row["key"])} == set(result)
    run = result["runs"][0]
    described = {spans(row["key of a run"])[0]: spans(row["content"]) for row in run_keys}
    assert set(described) - set(run) == {"reference_range"}  # of runs that the reference could score differently
    assert set(run) <= set(described)
    assert set(described["responses"]) == {*run["responses"][0], *run["responses"][0]["assessment"]}
    ranking = run["average_precision"]["rankings"][1]
    assert {*ranking, *_keys(ranking["nodes"])} <= set(described["average_precision"])
    assert {*run["tables"], *run["tables"]["SF"], *_keys(run["tables"]["SF"]["rows"])} == set(described["tables"])


def _keys(rows: Iterable[dict[str, Any]]) -> set[str]:
    return {key for row in rows for key in row}


def test_links_lead_somewhere() -> None:
    for name in ("README.md", "README-Usage.md", "submissions/README.md", "CHANGELOG.md", "docs/api.md"):
        code = re.compile("^ {4}.*$", re.MULTILINE)
        text = code.sub("", (ROOT / name).read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)]+)\)", text):
            if target.startswith("https://"):
                continue
            file, _, anchor = target.partition("#")
            linked = (ROOT / name).parent / file if file else ROOT / name
            assert linked.exists(), target
            if anchor:
                headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
                assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_fits_a_screen() -> None:
    assert len(README.splitlines()) <= 60


@pytest.mark.parametrize("program", ["validate-kb", "resolve-queries"])
def test_every_switch_of_the_programs_for_knowledge_bases(program: str) -> None:
    text = section("Knowledge bases").partition(f"### {program}\n")[2].partition("\n### ")[0]
    for name in preparation_switches(program) - {"-help", "-h", "-version", "--version", "--help", "--quiet"}:
        assert re.search(rf"`{name}\b", text), name


def test_every_rule_that_explanations_cite_has_its_section(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(folder)
    scoring = (ROOT / "docs" / "background" / "scoring.md").read_text(encoding="utf-8")
    known = {heading.lower().replace(" ", "-") for heading, _ in sections(scoring)}
    files = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab submissions"
    cited: set[str] = set()
    for words in ("submissions/tide-kb.tab.txt", "--policy sf submissions/gull-sf.tab.txt"):
        asked = "--answer * --unit ISLE26_0001 --node E20 --class ISLE26_ENG_4d2650256f:0"
        main.main(f"explain {words} {asked} {files.removesuffix(' submissions')}".split())
        cited |= set(re.findall(r"\(rule\s+([\w-]+)\)", capfd.readouterr().out))
    assert len(cited) > 15
    assert cited <= known
