"""What holds for every command and sub-form, driven from the one table."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from cs_score.cli.form import load
from cs_score.cli.help import WIDEST
from cs_score.cli.options import Option, OptionNames, SwitchError, read_command_line
from cs_score.cli.registry import COMMANDS, find
from tests.coldstart.command import Outcome, score_in

NAMES: Final = sorted(COMMANDS)
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
        command, rest = find([*name.split(), "x", "-h"])
        assert (command.name, list(rest)) == (name, ["x", "-h"])


# ---- Help


@pytest.mark.parametrize("name", NAMES)
def test_help_has_three_names_and_shows_all_that_the_command_takes(name: str, tmp_path: Path) -> None:
    form = load(COMMANDS[name])
    texts = {call(tmp_path, name, word).stdout.decode() for word in ("-h", "-help", "--help")}
    (text,) = texts
    assert call(tmp_path, name, "--help").status == 0
    assert text.startswith(f"{form.called}:  {form.summary[:30]}")
    assert max(map(len, text.splitlines())) <= WIDEST
    listed = [line.split()[0] for line in text.splitlines() if re.match("  -", line)]
    assert sorted(listed) == sorted(option.name for option in form.options)
    for parameter in form.parameters:
        assert f"\n  {parameter.name} " in text
    has_both = any(not option.is_addition for option in form.switches)
    assert ("\nLegal switches are:\n" in text) == (has_both or COMMANDS[name].follows is not None)


@pytest.mark.parametrize("columns", [30, 50, 80, 200])
def test_help_is_as_wide_as_the_terminal(columns: int) -> None:
    for words in ((), ("batch",), ("scifact",)):
        text = on_terminal([*words, "-help"], columns)
        assert max(map(len, text.splitlines())) <= min(columns, WIDEST)


def on_terminal(words: list[str], columns: int = 80, **environment: str) -> str:
    """What both streams show of a call on a terminal."""
    leader, follower = pty.openpty()
    surroundings = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **environment}
    command = [sys.executable, "-m", "cs_score", *words]
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


# ---- Wrong usage


@pytest.mark.parametrize("name", READING)
def test_an_unknown_option_is_one_line_with_the_nearest(name: str, tmp_path: Path) -> None:
    form = load(COMMANDS[name])
    outcome = call(tmp_path, name, "--hepl")
    assert outcome.status == form.contract.wrong_usage
    assert "unknown switch --hepl; did you mean -help?" in one_line(outcome)
    shown = outcome.stdout.decode()
    assert shown.startswith("ERROR: Unknown switch: --hepl\n\n") if form.contract.shows_usage else not shown


@pytest.mark.parametrize("name", READING)
def test_an_option_behind_the_files_is_no_file(name: str, tmp_path: Path) -> None:
    form = load(COMMANDS[name])
    words = ["x"] * max(len(form.parameters), 1)
    outcome = call(tmp_path, name, *words, "-help")
    if not form.contract.options_first:
        assert (outcome.status, outcome.stderr) == (0, b"")
        return
    assert outcome.status == 255
    assert "Could not open -help: No such file or directory; options come before the files" in one_line(outcome)
    assert outcome.files == {}


@pytest.mark.parametrize("name", READING)
def test_a_value_that_is_missing_is_asked_for(name: str, tmp_path: Path) -> None:
    form = load(COMMANDS[name])
    for option in form.options:
        if option.value is not None and not option.may_lack_value:
            outcome = call(tmp_path, name, option.name)
            assert outcome.status == form.contract.wrong_usage
            assert f"{option.name} needs a value: {option.value}" in one_line(outcome)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["scifac", "x"], "no command scifac, and no such file; did you mean scifact?"),
        (["valid"], "did you mean validate-run, validate-queries or validate-assessments?"),
        (["batch", "scifat"], "no command batch scifat, and no such file; did you mean scifact?"),
        (["compare", "cold-start"], "no command compare cold-start, and no such file; did you mean coldstart?"),
    ],
)
def test_a_command_that_is_nearly_one_is_named(words: list[str], meant: str, tmp_path: Path) -> None:
    outcome = score_in(tmp_path, words)
    assert outcome.status == load(find(words)[0]).contract.wrong_usage
    assert meant in one_line(outcome)


def test_a_file_that_is_nearly_called_like_a_command_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "scifac").write_bytes(b"")
    assert "no command" not in score_in(tmp_path, ["scifac"]).stderr.decode()


# ---- Spelling


@pytest.mark.parametrize("name", READING)
def test_every_option_has_all_its_spellings(name: str) -> None:
    options = OptionNames(load(COMMANDS[name]).options)
    for option in options.exact.values():
        plain = option.name.lstrip("-")
        for dashes in ("-", "--"):
            for spelt in (plain, plain.replace("_", "-"), plain.replace("-", "_")):
                found = options.find(dashes + spelt)
                if "version" not in option.name:
                    assert found == option


def test_a_value_stands_behind_an_equal_sign() -> None:
    options = (Option("-output_file", "F", ""), Option("--json", "[FILE.json]", ""), Option("--check", None, ""))
    line = read_command_line(["--output-file=a=b", "-json=x", "-check", "q"], options, options_first=False)
    assert line.switches == {"-output_file": "a=b", "--json": "x", "--check": None}
    assert line.words == ("q",)


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
    options = (Option("-output_file", "F", ""), Option("--json", "[FILE.json]", ""), Option("--check", None, ""))
    with pytest.raises(SwitchError, match=f"ERROR: Unknown switch: {word}") as refused:
        read_command_line([word, "a", "q"], options)
    assert refused.value.advice == f"unknown switch {word}; write {meant}"
    line = read_command_line(["-output_file", "a", "--json=x", "--check", "q"], options)
    assert line.switches == {"-output_file": "a", "--json": "x", "--check": None}


@pytest.mark.parametrize(
    ("words", "value", "rest"),
    [
        (["--json"], "-", ()),
        (["--json", "-"], "-", ()),
        (["--json", "r.JSON.gz", "x"], "r.JSON.gz", ("x",)),
        (["--json", "--check", "x"], "-", ("x",)),
        (["--json", "p.jsonl"], "-", ("p.jsonl",)),
        (["p.json", "--json"], "-", ("p.json",)),
    ],
)
def test_json_takes_no_input_for_its_file(words: list[str], value: str, rest: tuple[str, ...]) -> None:
    options = (Option("--json", "[FILE.json]", ""), Option("--check", None, ""))
    line = read_command_line(words, options, options_first=False)
    assert (line.switches["--json"], line.words) == (value, rest)


def test_versions_are_those_of_the_programs(tmp_path: Path) -> None:
    for name in NAMES:
        shown = call(tmp_path, name, "--version").stdout.decode()
        assert shown.startswith("cs-score ")
        assert re.search(r"^  samples +follows 1\.1$", shown, re.MULTILINE)
        follows = COMMANDS[name].follows
        if follows:
            assert (
                call(tmp_path, name, "-version").stdout.decode() == f"{load(COMMANDS[name]).called} version {follows}\n"
            )


# ---- The manual page


# ---- Completion in a real bash

_ASK: Final = """
eval "$(cs-score completion bash)"
COMP_LINE=$1; COMP_POINT=${#COMP_LINE}
IFS=' ' read -ra COMP_WORDS <<< "${COMP_LINE//[:=]/ & }"
[[ $COMP_LINE == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_cs_score cs-score
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def completed(tmp_path: Path) -> Path:
    (tmp_path / "sound.xml").touch()
    (tmp_path / "gold.jsonl").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cs-score sci", ["scifact"]),
        ("cs-score so", ["sound.xml"]),
        ("cs-score batch sci", ["scifact"]),
        ("cs-score -ri", ["-right"]),
        ("cs-score --output-f", ["--output-file"]),
        ("cs-score -right DUP", ["DUPLICATE"]),
        ("cs-score -right CORRECT:DUP", ["DUPLICATE"]),
        ("cs-score -discipline=STRING_C", ["STRING_CASE"]),
        ("cs-score -queries so", ["sound.xml"]),
        ("cs-score validate-run --ch", ["--check"]),
        ("cs-score validate-run -right", [""]),
        ("cs-score batch --policy k", ["kb"]),
        ("cs-score batch --sort-by LDC-MEAN-AP", ["LDC-MEAN-AP"]),
        ("cs-score compare claims --measure abstract_f1,label", ["abstract_f1,label_accuracy"]),
        ("cs-score scifact --gold go", ["gold.jsonl"]),
        ("cs-score scifact --any", ["--any-order"]),
        ("cs-score claims --any", [""]),
        ("cs-score problems EMPTY_FIE", ["EMPTY_FIELD"]),
        ("cs-score completion z", ["zsh"]),
    ],
)
def test_a_bash_completes(line: str, found: list[str], completed: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", _ASK, "bash", line],
        cwd=completed, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout.split("\n")[:-1], done.stderr) == (found, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_ask_the_table(shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = call(tmp_path, "completion", shell)
    assert b"completion candidates -- " in script.stdout
    monkeypatch.setenv("_CS_SCORE_COMPLETE", f"{shell}_source")
    assert score_in(tmp_path, []).stdout == script.stdout


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


def test_quiet_says_only_what_ends_the_command(tmp_path: Path) -> None:
    words = problematic(tmp_path)
    assert score_in(ROOT, words).stderr
    outcome = score_in(ROOT, ["--quiet", *words])
    assert (outcome.status, outcome.stderr) == (255, b"")
    assert on_terminal(["--quiet", *words]) == ""
    assert one_line(score_in(ROOT, ["--quiet", *words[:-1], "nowhere"])) == (
        "cs-score: Could not open nowhere: No such file or directory"
    )
