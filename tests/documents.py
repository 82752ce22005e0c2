"""What a document claims, taken out of its text so that a test can hold it against the tool.

A `console` block has commands, each with `$ ` before it, and what they print; `...` stands for lines left out, a
backslash at the end of a line goes on in the next. A `python` block is a program; those of a page share their names. A
fenced block whose info string names a file (```text demo-out/run.sf) quotes lines of that file in their order, not
necessarily next to each other. A code span with an equals sign whose right side is a decimal number
(`3 right / 5 to be found = 0.6000`) is a formula; words in it say what its numbers are.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from cs_score.base.records import Record

ROOT: Final = Path(__file__).parents[1]
SAMPLES: Final = ("queries", "assessments", "submissions")


def copy_samples(folder: Path) -> Path:
    for name in SAMPLES:
        shutil.copytree(ROOT / name, folder / name)
    return folder


_FENCE: Final = re.compile(r"^```([\w{}-]*) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_FORMULA: Final = re.compile(r"`([^`\n]*\d[^`\n]*) = (\d\.\d+)`")
_LABELLED: Final = re.compile(r"(\d+) ([a-z]+(?: [a-z]+)*)")
_WORDS: Final = re.compile(r"[a-z]+(?: [a-z]+)*")


class Quotation(Record):
    """A block that quotes `source`, and the section (text of the heading) that it stands in."""

    section: str
    source: str
    lines: tuple[str, ...]


class Formula(Record):
    """A formula with its result as printed; `labelled` are the numbers that words stand behind, by these words."""

    section: str
    text: str
    result: str
    labelled: dict[str, int]
    in_table: bool

    def value(self) -> float:
        """What the left side gives."""
        left = _WORDS.sub("", self.text)
        assert re.fullmatch(r"[\d\s.()*/+-]+", left), f"no arithmetic: {left}"
        return float(eval(left))


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Heading and text of each section of level two; what comes before the first has an empty heading."""
    heading, *rest = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    yield "", heading
    yield from zip(rest[::2], rest[1::2])


def quotations(text: str) -> Iterator[Quotation]:
    """The blocks that quote a file."""
    for section, body in sections(text):
        for _, source, quoted in _FENCE.findall(body):
            if source:
                yield Quotation(section, source, tuple(quoted.splitlines()))


def code_blocks(text: str, language: str) -> list[str]:
    """The fenced blocks in a language that quote no file."""
    return [body for found, source, body in _FENCE.findall(text) if found == language and not source]


class Command(Record):
    """A command of a console block, and the lines that it is said to print."""

    words: str
    lines: tuple[str, ...]


Step: TypeAlias = Command | Quotation | str
"""What a page does: a command, a file that it quotes, or a Python program."""


def steps(text: str) -> Iterator[Step]:
    """The console blocks, Python blocks and quotations of a page, in their order."""
    for language, source, body in _FENCE.findall(text):
        if source and not language.startswith("{"):
            yield Quotation("", source, tuple(body.splitlines()))
        elif language == "python":
            yield body
        elif language == "console":
            for typed in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                words, *lines = re.sub(r"\\\n\s*", "", typed).splitlines()
                yield Command(words, tuple(lines))


def formulas(text: str) -> Iterator[Formula]:
    """The formulas of the running text and of tables."""
    for section, body in sections(text):
        for line in _FENCE.sub("", body).splitlines():
            for left, result in _FORMULA.findall(line):
                labelled = {words: int(number) for number, words in _LABELLED.findall(left)}
                yield Formula(section, left, result, labelled, line.startswith("|"))


def table(text: str, first_header: str) -> list[dict[str, str]]:
    """The rows of the table whose first column has this header, as header -> cell."""
    lines = iter(text.splitlines())
    header: list[str] = next(cells for cells in map(_cells, lines) if cells[:1] == [first_header])
    next(lines)  # the rule below the header
    rows: list[dict[str, str]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(header, _cells(line), strict=True)))
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


def missing_line(quoted: Sequence[str], source: str) -> str | None:
    """The first quoted line that `source` does not have after the one before it; None where all are there."""
    lines = iter([line.rstrip() for line in source.split("\n")])
    return next((line for line in quoted if line != "..." and line.rstrip() not in lines), None)


def in_shell(words: str, folder: Path) -> str:
    """What a command prints on standard output; it has to end with status 0, unless it prints its status."""
    entry = f'cs-score() {{ "{sys.executable}" -m cs_score "$@"; }}; {words}'
    done = subprocess.run(("bash", "-c", entry), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stderr}"
    return done.stdout


def refreshed(text: str) -> str:
    """A page whose console blocks show what their commands print now.

    Where lines are left out nothing is changed, but what is printed is shown on standard error where it differs.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = copy_samples(Path(name))
        program = ""  # the blocks of a page share their names, so that each is run after those before it
        for step in steps(text):
            if isinstance(step, str):
                program += f"{step}\n"
                subprocess.run((sys.executable, "-c", program), cwd=folder, capture_output=True, check=False)
            elif isinstance(step, Command):
                printed = in_shell(step.words, folder)
                if "..." in step.lines:
                    if missing_line(step.lines, printed) is not None:
                        sys.stderr.write(f"$ {step.words}\n{printed}\n")
                elif step.lines != tuple(printed.rstrip("\n").splitlines()):
                    shown = "".join(f"{line}\n" for line in step.lines)
                    text = text.replace(f"\n{shown}" if shown else f"{step.words}\n", f"\n{printed}", 1)
    return text


if __name__ == "__main__":  # python -m tests.documents PAGE...
    for page in map(Path, sys.argv[1:]):
        page.write_text(refreshed(page.read_text(encoding="utf-8")), encoding="utf-8")
