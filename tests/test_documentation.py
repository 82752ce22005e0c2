"""The documentation: its examples run, its links lead somewhere, its generated parts have all that the tables have."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

import cs_score as cs
from cs_score.analysis.views import view_of_kind
from cs_score.base.documents import KINDS, schema_of
from cs_score.cli import main
from cs_score.cli.core import COMMANDS, Status, load_command
from cs_score.cli.run_options import DEFAULTS
from cs_score.coldstart.file_columns import SCHEMAS
from cs_score.coldstart.options import POLICY_CATEGORIES, PRESETS, SCORING_OPTIONS, SIDES
from cs_score.coldstart.output_files import OUTPUTS, SCORE_FIELDS
from cs_score.measures import measure_names
from cs_score.problems.codes import CODES
from cs_score.tasks import TASKS, task_named
from tests.documents import (
    ROOT,
    Command,
    Formula,
    Quotation,
    code_blocks,
    copy_samples,
    formulas,
    in_shell,
    missing_line,
    sections,
    steps,
    table,
)

DOCS: Final = ROOT / "docs"
TOP: Final = (ROOT / "README.md", ROOT / "README-Usage.md")
PAGES: Final = (*TOP, *sorted(path for path in DOCS.rglob("*.md")))
"""The pages that people read; what they print is held against what is printed."""

TEXTS: Final = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
USAGE: Final = TEXTS["README-Usage.md"]


def _generated_parts() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parts: dict[str, Any] = module.PARTS
    return parts


PARTS: Final = _generated_parts()
OF_OTHERS: Final = {"--option", "--tabs", "--no-deps", "--nodes", "--ntasks", "--ntasks-per-node"}
"""Options that pages name although no command has them: a placeholder, a wrong spelling, those of pip and SLURM."""


# ---- Examples


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if any(steps(text))])
def test_examples_run_and_print_what_is_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(copy_samples(tmp_path))
    known: dict[str, Any] = {}
    for step in steps(TEXTS[name]):
        if isinstance(step, Command):
            printed = _printed(step.words, capfd)
            lacking = missing_line(step.lines, printed)
            assert lacking is None, f"{step.words}\ndoes not print: {lacking}\npython -m tests.documents {name}"
            whole = len(printed.rstrip().splitlines()) == len(step.lines)
            assert whole or "..." in step.lines, f"{step.words}\nprints more\npython -m tests.documents {name}"
        elif isinstance(step, Quotation):
            assert missing_line(step.lines, Path(step.source).read_text(encoding="utf-8")) is None, step.source
        else:
            exec(compile(step, name, "exec"), known)
    capfd.readouterr()


def _printed(words: str, capfd: Any) -> str:
    """What a command prints on standard output. It has to end with status 0, unless the status is printed."""
    command, asked, _ = words.partition("; echo $?")
    program, *arguments = shlex.split(command)
    if program != "cs-score" or re.search(r"[|<>]", command):
        return in_shell(words, Path.cwd())
    capfd.readouterr()
    status = main.main(arguments)
    assert asked or status == 0, command
    printed: str = capfd.readouterr().out
    return f"{printed}{int(status)}\n" if asked else printed


@pytest.mark.parametrize(
    "formula", [each for text in TEXTS.values() for each in formulas(text)], ids=lambda formula: formula.text
)
def test_formulas_hold(formula: Formula) -> None:
    assert f"{formula.value():.4f}" == formula.result


# ---- README-Usage.md


def section(heading: str) -> str:
    """The text of a section of level two."""
    return dict(sections(USAGE))[heading]


def spans(cell: str) -> list[str]:
    """The code spans of a table cell."""
    return re.findall(r"`([^`]*)`", cell)


def rows_by_name(text: str, first_header: str) -> dict[str, dict[str, str]]:
    """The rows of a table by the first code span of their first column."""
    return {spans(row[first_header])[0]: row for row in table(text, first_header)}


def test_every_switch_with_its_default() -> None:
    described = {name: row for row in table(section("Switches"), "switch") for name in spans(row["switch"])}
    options = load_command("").options
    assert set(described) == {*(option.long_name for option in options), "-h", "--version"}
    defaults = {**DEFAULTS, "--seed": "0", "--confidence": "95"}
    for option_of_scoring in SCORING_OPTIONS:
        if option_of_scoring.default_text is not None and option_of_scoring.shown_default is None:
            defaults[option_of_scoring.switch] = option_of_scoring.default_text
    for option in options:
        row = described[option.long_name]
        # What is no value but words, such as "all runs", stands there as words.
        assert spans(row["default"]) == ([defaults[option.long_name]] if option.long_name in defaults else [])
        assert bool(row["value"]) == (option.value_name is not None)


def test_every_policy_category_with_the_sides_it_may_stand_on() -> None:
    described = rows_by_name(section("Policies"), "category")
    assert set(described) == set(POLICY_CATEGORIES)
    for name, item in POLICY_CATEGORIES.items():
        assert set(spans(described[name]["may be listed in"])) == {f"-{side.lower()}" for side in item.sides}


def test_every_published_policy() -> None:
    described = rows_by_name(section("Policies"), "policy")
    parts = ("right", "wrong", "ignore", "justifications")
    assert {name: [spans(row[f"`-{part}`"])[0] for part in parts] for name, row in described.items()} == {
        name: [*(preset.policy.texts()[side] for side in SIDES), str(preset.justifications)]
        for name, preset in PRESETS.items()
    }


def test_every_output_file() -> None:
    described = rows_by_name(section("Files that are written"), "file")
    assert {name: row["content"] for name, row in described.items()} == {
        f"P.{output.ending}": output.content for output in OUTPUTS
    }
    for output in OUTPUTS:
        written = described[f"P.{output.ending}"]["written"]
        assert written.startswith(f"with `{output.switch}`" if output.switch else "always")


def test_the_first_pages_are_short() -> None:
    assert len(TEXTS["README.md"].splitlines()) <= 60
    assert len(USAGE.splitlines()) <= 400


# ---- What is made from tables


def test_every_part_that_a_page_asks_for_is_there() -> None:
    asked = [
        line.split() for text in TEXTS.values() for line in re.findall(r"^```\{generated\} (.*)$", text, re.MULTILINE)
    ]
    assert all(name in PARTS for name, *_ in asked)
    # Every command has its place, and every table its page.
    assert sorted(" ".join(words) for name, *words in asked if name == "command") == sorted(COMMANDS)
    assert set(PARTS) == {name for name, *_ in asked}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_its_sentence(name: str) -> None:
    made = PARTS["command"](*filter(None, [name]))
    rows = {row["option"]: row for row in table(made, "option")}
    for task in TASKS if COMMANDS[name].is_split_by_task else ("coldstart",):
        form = load_command(name, task)
        assert form.help
        assert form.full_name in made
        for option in form.options:
            shown, meaning = option.get_help_record()
            assert len(meaning.split()) > 1, f"{form.full_name} {option.long_name}"
            assert rows[f"`{shown}`".replace("|", r"\|")]["meaning"]
        for parameter in form.parameters:
            assert f"`{parameter.label}`" in made


def test_generated_tables_have_every_row() -> None:
    wanted = {
        "commands": COMMANDS,
        "measures": [each for task in TASKS for each in measure_names(task)],
        "problems": CODES,
        "fields": SCORE_FIELDS,
        "layouts": [column for schema in SCHEMAS for column in schema.columns],
        "output-files": [f"P.{output.ending}" for output in OUTPUTS],
        "tables": [
            file
            for task in TASKS
            for kind in ("analysis", "difference")
            for file in view_of_kind(kind, task_named(task)).headers()
        ],
    }
    for part, rows in wanted.items():
        made = PARTS[part]()
        assert [row for row in rows if f"{row}`" not in made and f"## {row}\n" not in made] == [], part


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_document_is_described(kind: str) -> None:
    made = PARTS["document"](kind)
    for record in schema_of(kind)["$defs"].values():
        for key in record.get("properties", ()):
            assert f"| `{key}` |" in made + PARTS["shared-records"](), (record["title"], key)
        assert record.get("description") or "enum" in record, record["title"]


def test_every_key_of_the_json_of_a_run_is_explained() -> None:
    text = TEXTS["docs/reference/output-files.md"]
    records = schema_of("score")["$defs"]
    for heading, record in (("key", records["RunScoresDocument"]), ("key of a run", records["RunScoresRecord"])):
        explained = {name for row in table(text, heading) for name in spans(row[heading])}
        assert explained == set(record["properties"]), heading


def test_columns_that_are_explained_are_those_of_layouts() -> None:
    rows = table(TEXTS["docs/reference/input-files.md"], "column")
    explained = {name for row in rows for name in re.findall(r"\w+", row["column"])}
    assert explained <= {column for schema in SCHEMAS for column in schema.columns}


def test_every_exit_status_is_described() -> None:
    rows = table(TEXTS["docs/reference/commands/index.md"], "status")
    assert {str(int(status)) for status in Status} <= {number for row in rows for number in row["status"].split(", ")}


def test_every_name_of_the_api_is_described() -> None:
    described = re.findall(r"^\.\. auto\w+:: (\w+)$", TEXTS["docs/python/reference.md"], re.MULTILINE)
    assert sorted(described) == sorted(set(cs.__all__) - {"__version__"})


def test_every_option_that_a_page_names_is_there() -> None:
    known = {"--help", "--version"} | {
        option.long_name
        for name, entry in COMMANDS.items()
        for task in (TASKS if entry.is_split_by_task else ("coldstart",))
        for option in load_command(name, task).options
    }
    for page in (*TOP, ROOT / "SECURITY.md", *(path for path in PAGES if path.parent.name != "development")):
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        named = {word for span in spans(text) for word in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span)}
        assert named - known <= OF_OTHERS, page


def test_every_target_of_make_that_a_page_names_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = re.compile(r"(?:`|^)make ([a-z-]+)(?=[`\n]| {2}| ONLY)", re.MULTILINE)
    for page in (*PAGES, ROOT / "CONTRIBUTING.md"):
        assert {*named.findall(page.read_text(encoding="utf-8"))} <= targets, page


def test_the_workflow_checks_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copy_samples(tmp_path))
    text = TEXTS["docs/guides/continuous-integration.md"]
    (workflow,) = code_blocks(text, "yaml")
    assert f"cs_score-{cs.__version__}-py3-none-any.whl" in workflow
    shutil.copy("submissions/tide-kb.tab.txt", "run.tab.txt")
    scored = next(step.words for step in steps(text) if isinstance(step, Command))
    in_shell(scored, tmp_path)
    calls = re.findall(r"run: >\n((?: {10}.*\n)+)", workflow)
    assert len(calls) == 2
    for call in calls:
        in_shell(" ".join(call.split()), tmp_path)
    assert ElementTree.parse("scores.xml").getroot().tag == "testsuite"


# ---- Links


def _links(text: str) -> Iterator[str]:
    without_code = re.sub(r"^```.*?^```$|^ {4}.*$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
        if not target.startswith("https://"):
            yield target


def _anchors(text: str) -> set[str]:
    for name, *words in re.findall(r"^```\{generated\} (\S+) ?(.*)$", text, re.MULTILINE):
        text += PARTS[name](*filter(None, words))
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", [*TEXTS, "submissions/README.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    text = TEXTS[name] if name in TEXTS else (ROOT / name).read_text(encoding="utf-8")
    for target in _links(text):
        file, _, anchor = target.partition("#")
        linked = (ROOT / name).parent / file if file else ROOT / name
        assert linked.exists(), target
        if anchor:
            there = linked.read_text(encoding="utf-8")
            if included := re.search(r"\{include\} (\S+)", there):
                there = (linked.parent / included[1]).read_text(encoding="utf-8")
            assert anchor in _anchors(there), target


def test_every_page_of_the_site_is_in_a_table_of_contents() -> None:
    listed = set()
    for name, text in TEXTS.items():
        for body in re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            folder = (ROOT / name).parent
            for entry in body.split():
                if not entry.startswith(":"):
                    base, pattern = (DOCS, entry[1:]) if entry.startswith("/") else (folder, entry)
                    listed |= set(base.glob(f"{pattern}.md"))
    assert {path for path in PAGES if DOCS in path.parents} - listed == {DOCS / "index.md"}


def test_no_page_speaks_of_what_users_do_not_have() -> None:
    for name, text in TEXTS.items():
        assert not re.search(r"\bCS \d|insight\.md|/spec/", text), name
        assert "pip install cs-score" not in text, name
        assert "pip install 'cs-score" not in text, name


def test_every_rule_that_explanations_cite_has_its_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(copy_samples(tmp_path))
    known = _anchors(TEXTS["docs/background/scoring.md"])
    files = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab"
    cited: set[str] = set()
    for words in ("submissions/tide-kb.tab.txt", "--policy sf submissions/gull-sf.tab.txt"):
        asked = "--answer * --unit ISLE26_0001 --node E20 --class ISLE26_ENG_4d2650256f:0"
        main.main(f"explain {words} {asked} {files}".split())
        cited |= set(re.findall(r"\(rule\s+([\w-]+)\)", capfd.readouterr().out))
    assert len(cited) > 15
    assert cited <= known


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    words = (sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", str(DOCS), str(tmp_path))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "searchindex.js").is_file()
