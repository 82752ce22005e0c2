"""What holds for every command and sub-form, driven from the one table."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from cs_score.base.errors import UsageError
from cs_score.cli.about import all_commands
from cs_score.cli.core import COMMANDS, WIDEST_HELP, Command, Misuse, Option, Parameter, ReferenceCommand, load_command
from cs_score.cli.main import find_command, root
from cs_score.tasks import TASKS
from tests.coldstart.command import Outcome, score_in
from tests.verbs.preparation.invented import AskedQuery, Inputs, RunLine

ALL: Final = {command.name or "": command for command in all_commands()}
NAMES: Final = sorted(ALL)
SUPERSEDED: Final = "expand-queries"
"""It takes whatever it is given, as the reference says."""

READING: Final = [name for name in NAMES if name != SUPERSEDED]


def call(folder: Path, name: str, *words: str) -> Outcome:
    return score_in(folder, [*name.split(), *words])


def one_line(outcome: Outcome) -> str:
    (line,) = outcome.stderr.decode().splitlines()
    assert line.startswith("cs-score: ")
    return line


def test_the_longest_name_is_the_command() -> None:
    for name in NAMES:
        command, rest = find_command([*name.split(), "x", "-h"])
        assert (command.name, rest) == (name, ["x", "-h"])
    assert find_command(["scifact", "x"]) == find_command(["score", "scifact", "x"])
    assert find_command(["analyze", "coldstart", "x"]) == find_command(["analyze", "x"])


# ---- Help


@pytest.mark.parametrize("name", NAMES)
def test_help_has_four_names_and_shows_all_that_the_command_takes(name: str, tmp_path: Path) -> None:
    command = ALL[name]
    calls = [[*name.split(), word] for word in ("-h", "-help", "--help")] if name else [["-help"]]
    calls += [["help", *name.split()]] if name else []
    texts = {score_in(tmp_path, words).stdout.decode() for words in calls}
    (text,) = texts
    beginning = f"{command.full_name}:  {command.help}" if command.follows_reference else f"{command.help}."
    assert " ".join(text.split()).startswith(" ".join(beginning.split()))
    assert max(map(len, text.splitlines())) <= WIDEST_HELP
    listed = {word.rstrip(",") for line in text.splitlines() if re.match("  -", line) for word in line.split()[:2]}
    assert {option.long_name for option in command.options} <= listed
    assert f"Usage: {command.full_name}" in text
    for parameter in command.parameters:
        assert f"\n  {parameter.label} " in text


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]], ids=str)
def test_the_first_page_names_the_commands(words: list[str], tmp_path: Path) -> None:
    outcome = score_in(tmp_path, words)
    page = outcome.stdout.decode()
    if words:
        assert (outcome.status, outcome.stderr) == (0, b"")
    else:
        assert outcome.status == 255
        assert one_line(outcome) == "cs-score: Not enough arguments; files must be provided; see cs-score -help"
        page = page.partition("ERROR: Not enough arguments; files must be provided\n\n")[2]
    lines = page.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert {word for name in (*COMMANDS, *TASKS) for word in name.split()} <= set(re.findall("[a-z0-9-]+", page))


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_help_is_as_wide_as_the_terminal(columns: int) -> None:
    for words in ((), ("batch",), ("scifact",)):
        text = on_terminal([*words, "-help"], columns)
        assert max(map(len, text.splitlines())) <= min(columns, WIDEST_HELP)


def on_terminal(words: list[str], columns: int = 80, **environment: str) -> str:
    """What both streams show of a call on a terminal."""
    return shown_by([sys.executable, "-m", "cs_score", *words], columns, **environment)


def shown_by(command: list[str], columns: int = 80, **environment: str) -> str:
    leader, follower = pty.openpty()
    surroundings = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **environment}
    with subprocess.Popen(command, stdout=follower, stderr=follower, env=surroundings, cwd=ROOT) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                block = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            shown += block
        process.wait(timeout=60)
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")


ROOT: Final = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("more", "terminal", "is_shown"),
    [([], "xterm", True), (["--quiet"], "xterm", False), ([], "dumb", False)],
    ids=["usual", "quiet", "a terminal that cannot erase a line"],
)
def test_what_takes_long_shows_on_a_terminal_for_how_long(more: list[str], terminal: str, is_shown: bool) -> None:
    script = (
        "import sys; from cs_score.cli import output; from cs_score.cli.main import main; "
        "output.SECONDS_BEFORE_PROGRESS = 0.01; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "explain", *more, *ALL[""].properties.example.split()]
    shown = shown_by(command, TERM=terminal)
    clock = "\r\x1b[Kcs-score explain, 0 s\r\x1b[K"
    assert (clock in shown) is is_shown
    assert shown.replace(clock, "").startswith("TIDE_KB" if more else "cs-score: 5 duplicates")


# ---- Wrong usage


@pytest.mark.parametrize("name", READING)
def test_wrong_usage_is_one_line_that_says_what_to_type(name: str, tmp_path: Path) -> None:
    command = ALL[name]

    def refused(*words: str) -> str:
        outcome = call(tmp_path, name, *words)
        assert (outcome.status, outcome.files) == (command.wrong_usage_status, {})
        assert outcome.stdout.startswith(b"ERROR: ") or b"Could not open" in outcome.stderr or not outcome.stdout
        return one_line(outcome)

    assert "unknown switch --hepl; did you mean " in refused("--hepl")
    behind = ["x"] * max(len(command.parameters), 1)
    if command.follows_reference:
        assert "Could not open -help: No such file or directory; options come before" in refused(*behind, "-help")
    else:
        assert call(tmp_path, name, *behind, "-help").stderr == b""
    for option in command.options:
        if option.value_name is not None and not option.value_name.startswith("["):
            assert f"{option.long_name} needs a value: {option.value_name}" in refused(option.long_name)


def test_a_file_that_is_nearly_called_like_a_command_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "scifac").write_bytes(b"")
    assert "no command" not in score_in(tmp_path, ["scifac"]).stderr.decode()
    assert "Could not open ./scifact:" in one_line(score_in(tmp_path, ["./scifact"]))


# ---- Laws of the tree of commands


def test_an_option_has_one_meaning_and_a_meaning_one_option() -> None:
    """In our own commands; what formats there are and which default holds may differ."""
    meanings: dict[str, set[str]] = {}
    names: dict[str, set[str]] = {}
    for command in ALL.values():
        assert len(command.options) == len({option.help for option in command.options})
        for option in command.options if not isinstance(command, ReferenceCommand) else ():
            meanings.setdefault(option.long_name, set()).add((option.help or "").partition(":")[0])
            names.setdefault(option.help or "", set()).add(option.long_name)
    # r4c has the option by another name, too; its help says so.
    meanings["--answered-only"].remove("The same as --ignore-missing, by its name in the other tasks")
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}
    assert {meaning: found for meaning, found in names.items() if len(found) > 1} == {}


def test_click_walks_the_whole_tree() -> None:
    """What completion, the manual page and `help` see is one tree."""
    assert set(_names_below(root())) == set(NAMES) - {""}


def _names_below(group: click.Group) -> Iterator[str | None]:
    """Yield the names of all commands of a group and of the groups in it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _names_below(command)
        else:
            yield command.name if command else None


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples, and files that examples make for others."""
    folder = tmp_path_factory.mktemp("samples")
    for name in ("queries", "assessments", "submissions"):
        (folder / name).symlink_to(ROOT / name)
    for words in (
        f"analyze {ALL[''].properties.example} -o analysis.json",
        f"--json result.json {ALL[''].properties.example}",
        f"validate-kb {ALL['validate-kb'].properties.example}",
        "validate-run -output_file round1.tab queries/sf-queries.xml submissions/tide-kb.tab.txt",
    ):
        assert score_in(folder, words.split()).status == 0
    (folder / "tide.tac.valid").rename(folder / "kept")
    shutil.copy(folder / "round1.tab", folder / "round2.tab")
    return folder


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"version"}))
def test_the_example_of_every_help_runs_on_the_samples(name: str, samples: Path) -> None:
    if name == "resolve-queries":
        shutil.copy(samples / "kept", samples / "tide.tac.valid")
    words = [*name.split(), *ALL[name].properties.example.split()]
    assert f"cs-score {' '.join(words)}".strip() in " ".join(ALL[name].help_text().split())
    assert score_in(samples, words).status in (0, 3)
    (samples / "tide.tac.valid").unlink(missing_ok=True)
    shutil.rmtree(samples / "bundle", ignore_errors=True)


_ON_SCORES: Final = {"score", "analyze", "explain", "diff", "compare", "batch", "check"}
FIRST: Final = [name for name in NAMES if ALL[name].verb_and_task[0] in _ON_SCORES]


@pytest.mark.parametrize("more", [[], ["--bootstrap", "9"]], ids=str)
@pytest.mark.parametrize("name", FIRST)
def test_the_first_screen_is_one(name: str, more: list[str], samples: Path) -> None:
    """Words that are longer than a line, such as signatures, are left whole."""
    takes = [] if "--bootstrap" not in ALL[name].option_by_spelling or ALL[name].verb_and_task[0] == "check" else more
    lines = (
        score_in(samples, [*name.split(), *takes, *ALL[name].properties.example.split(), "--force"])
        .stdout.decode()
        .splitlines()
    )
    assert 0 < len(lines) <= 40
    assert [line for line in lines if len(line) > 80 and not line.startswith("signature")] == []


@pytest.mark.parametrize("name", [name for name in FIRST if "json" in ALL[name].properties.formats])
def test_formats_hold_the_numbers_of_the_json(name: str, samples: Path) -> None:
    """But for differences to a number that stands in it, which have a sign."""
    words = [*name.split(), *ALL[name].properties.example.split(), "--force"]
    document = json.loads(score_in(samples, [*words, "--format", "json"]).stdout)
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", json.dumps(document))]
    shown = {f"{number:.4f}" for number in numbers}
    for form in {"tsv", "markdown", "latex"} & {*ALL[name].properties.formats}:
        text = score_in(samples, [*words, "--format", form]).stdout.decode().replace("\\", "")
        found = re.findall(r"(?<![\w./+-])(\d\.\d{4,})(?![\w.])", text)
        assert found or name.startswith("explain")
        assert {f"{float(number):.4f}" for number in found} <= shown, form


# ---- Spelling

OPTIONS: Final = (Option("-output_file F", ""), Option("--json [FILE.json]", ""), Option("--check", ""))


def made(contract: type[Command]) -> Command:
    return contract("made", OPTIONS, body=lambda _: 0)


def test_switches_have_one_dash_or_two_and_a_value_behind_an_equal_sign() -> None:
    for spelt in ("-output_file", "--output-file"):
        line = made(Command).parse([f"{spelt}=a=b", "--json=x", "--check"])
        assert line.value_by_option == {"-output_file": "a=b", "--json": "x", "--check": None}


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("-output_file=a", "-output_file a"),
        ("--output_file", "-output_file F"),
        ("-output-file", "-output_file F"),
        ("-json=x", "--json x"),
        ("-check", "--check"),
    ],
)
def test_where_the_reference_is_followed_its_switches_have_one_spelling(word: str, meant: str) -> None:
    with pytest.raises(Misuse) as refused:
        made(ReferenceCommand).parse([word, "a", "q"])
    assert refused.value.reference_message == f"ERROR: Unknown switch: {word}"
    assert str(refused.value) == f"unknown switch {word}; write {meant}"
    line = made(ReferenceCommand).parse(["-output_file", "a", "--json=x", "--check"])
    assert line.value_by_option == {"-output_file": "a", "--json": "x", "--check": None}


@pytest.mark.parametrize(
    ("words", "value", "rest"),
    [
        (["--json"], "-", ()),
        (["--json", "-", "x"], "-", ("x",)),
        (["--json", "r.JSON.gz", "x"], "r.JSON.gz", ("x",)),
        (["--json", "--check", "x"], "-", ("x",)),
    ],
)
def test_json_takes_no_input_for_its_file(words: list[str], value: str, rest: tuple[str, ...]) -> None:
    files = Parameter("[files...]", "")
    line = ReferenceCommand("made", OPTIONS, files, body=lambda _: 0).parse(words)
    assert (line.value_by_option["--json"], tuple(line.positional_words)) == (value, rest)


def test_where_options_come_first_a_file_behind_json_is_no_input_either() -> None:
    with pytest.raises(UsageError, match="--json takes a file; did you mean --json result"):
        load_command("").parse(["--json", "q.xml", "run"])


def test_versions_are_those_of_the_programs(tmp_path: Path) -> None:
    versions = score_in(tmp_path, ["version"]).stdout
    assert re.search(r"^  samples +follows 1\.1$", versions.decode(), re.MULTILINE)
    assert score_in(tmp_path, ["-V"]).stdout == versions
    for name in NAMES:
        assert call(tmp_path, name, "--version").stdout == versions
        if (entry := ALL[name].command_entry) and entry.followed_version:
            said = f"{ALL[name].full_name} version {entry.followed_version}\n"
            assert call(tmp_path, name, "-version").stdout.decode() == said


# ---- The manual page


ROFF: Final = re.compile(r"\.(TH|ad|nh|SH|IP|br)\b")


@pytest.mark.parametrize("name", NAMES)
def test_the_manual_page_of_a_command_has_every_option(name: str) -> None:
    """That of the call without one has every command, too."""
    page = score_in(ROOT, ["man", *name.split()]).stdout.decode()
    entries = " ".join(re.findall(r"^\.IP (.*)$", page, re.MULTILINE)).replace("\\-", "-")
    for entry in (*(option.long_name for option in ALL[name].options), *(() if name else COMMANDS)):
        assert entry in entries
    assert page.startswith(".TH CS-SCORE 1 ")
    assert len(page.splitlines()) <= 300
    assert not [line for line in page.splitlines() if line[:1] in ".'" and not ROFF.match(line)]


# ---- Completion in the shells

_ASK: Final = {
    "bash": """
        eval "$(cs-score completion bash)"
        compopt() { COMPREPLY+=("files"); }
        for line in "$@"; do
            COMPREPLY=()
            read -ra COMP_WORDS <<< "$line"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _cs_score_completion cs-score
            echo "${COMPREPLY[@]}"
        done
    """,
    "zsh": """
        compdef() { :; }
        _describe() { print -- ${${(P)3}%%:*}; }
        compadd() { print -- ${(P)5}; }
        _path_files() { print files; }
        eval "$(cs-score completion zsh)"
        for line in "$@"; do words=(${(z)line}); CURRENT=$#words; _cs_score_completion || echo; done
    """,
    "fish": """
        cs-score completion fish | source
        touch files
        for line in $argv; echo (complete -C $line | string replace -r '\\t.*' ''); end
    """,
}
"""Print what may come next, a line for each of the lines typed; the shell's own files are called `files`."""

TYPED: Final = {
    "cs-score sci": "scifact",
    "cs-score batch sci": "scifact",
    "cs-score -ri": "-right",
    "cs-score score --exp": "--expand",
    "cs-score -right DUP": "DUPLICATE",
    "cs-score -queries fi": "files",
    "cs-score validate-run --ch": "--check",
    "cs-score compare claims --measure label": "label_accuracy",
    "cs-score scifact --any": "--any-order",
    "cs-score problems EMPTY_FIE": "EMPTY_FIELD",
    "cs-score completion z": "zsh",
}


@pytest.mark.parametrize("shell", _ASK)
def test_a_shell_completes(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    start = {"bash": ["bash", "--norc"], "zsh": ["zsh", "-f"], "fish": ["fish", "-N"]}[shell]
    done = subprocess.run(
        [*start, "-c", _ASK[shell], *([] if shell == "fish" else [shell]), *TYPED], cwd=tmp_path, capture_output=True,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)}, text=True, check=True, timeout=100,
    )  # fmt: skip
    assert done.stdout.splitlines() == list(TYPED.values())


# ---- Terminals, and --quiet

QUERIES, RUN, POOL = "queries/ldc-queries.xml", "submissions/tide-kb.tab.txt", "assessments/pool-2016.tab"


def problematic(tmp_path: Path) -> list[str]:
    """A call whose run has twelve lines with a wrong confidence of its own each."""
    lines = (ROOT / RUN).read_text(encoding="utf-8").splitlines()
    columns = [line.split("\t") for line in lines[:13]]
    for number, line in enumerate(columns[1:]):
        line[7] = f"{number + 2}"
    (tmp_path / "run.tab").write_text("".join("\t".join(line) + "\n" for line in columns), encoding="utf-8")
    return ["-expand", "ISLE26", "-output_file", str(tmp_path / "o"), QUERIES, str(tmp_path / "run.tab"), POOL]


def test_a_terminal_shows_codes_ten_of_a_kind_and_the_averages_last(tmp_path: Path) -> None:
    words = problematic(tmp_path)
    shown = on_terminal(words, NO_COLOR="1")
    assert "\x1b" not in shown
    assert shown.count(" [ILLEGAL_CONFIDENCE_VALUE]\n") == 10
    assert "(2 more of ILLEGAL_CONFIDENCE_VALUE, which cs-score problems ILLEGAL_CONFIDENCE_VALUE explains)\n" in shown
    assert "12 errors encountered\n" in shown
    *averages, signature = filter(None, shown.splitlines())
    assert averages[-1].startswith("LDC-MEAN-ALL-Macro")
    assert signature.startswith("signature ")
    summary = (tmp_path / "o.summary").read_text(encoding="utf-8")
    assert [line.split() for line in averages if "ALL-M" in line] == [
        line.split() for line in summary.splitlines() if "ALL-M" in line and not line.startswith("*")
    ]


def test_colours_are_for_terminals(tmp_path: Path) -> None:
    words = problematic(tmp_path)
    assert "\x1b[31mERROR\x1b[0m: Illegal confidence value" in on_terminal(words)
    assert b"\x1b" not in score_in(ROOT, words).stderr
    compared = ["compare", "coldstart", "-expand", "ISLE26", QUERIES, POOL, RUN, "submissions/gull-sf.tab.txt"]
    compared += ["--bootstrap", "9", "--measure", "SF-ALL-Micro-F1"]
    assert re.search(r"\x1b\[3[12]m[-+]0\.\d{4}\x1b\[0m", on_terminal(compared))
    assert b"\x1b" not in score_in(ROOT, compared).stdout
    inputs = Inputs(tmp_path)
    inputs.queries(AskedQuery())
    inputs.lines(RunLine(confidence="5.0e-01"))
    validated = ["validate-run", "--diff", str(tmp_path / "q.xml"), str(tmp_path / "run.tab")]
    assert "\x1b[32m+" in on_terminal(validated)
    assert b"\x1b" not in score_in(ROOT, validated).stdout


def test_quiet_says_only_what_ends_the_command(tmp_path: Path) -> None:
    words = problematic(tmp_path)
    assert score_in(ROOT, words).stderr
    outcome = score_in(ROOT, ["--quiet", *words])
    assert (outcome.status, outcome.stderr) == (255, b"cs-score: 12 errors encountered\n")
    assert on_terminal(["--quiet", *words]) == "cs-score: 12 errors encountered\n"
    assert one_line(score_in(ROOT, ["--quiet", *words[:-1], "nowhere"])) == (
        "cs-score: Could not open nowhere: No such file or directory"
    )
