"""What a document claims, taken out of its text so that a test can hold it against the tool.

A fenced block whose info string names a file (```text demo-out/run.sf) quotes lines of that file in their order, not
necessarily next to each other; `...` stands for lines left out. A code span with an equals sign whose right side is a
decimal number (`3 right / 5 to be found = 0.6000`) is a formula; words in it say what its numbers are.
"""

from __future__ import annotations

import ast
import operator
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from cs_score.base.records import Record

ROOT: Final = Path(__file__).parents[1]
SAMPLES: Final = ("queries", "assessments", "submissions")


def copy_samples(folder: Path) -> Path:
    for name in SAMPLES:
        shutil.copytree(ROOT / name, folder / name)
    return folder


_FENCE: Final = re.compile(r"^```(\w*) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_FORMULA: Final = re.compile(r"`([^`\n]*\d[^`\n]*) = (\d\.\d+)`")
_LABELLED: Final = re.compile(r"(\d+) ([a-z]+(?: [a-z]+)*)")
_WORDS: Final = re.compile(r"[a-z]+(?: [a-z]+)*")

_OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


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
        return _value(ast.parse(_WORDS.sub("", self.text), mode="eval").body)


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


def console_examples(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The commands of `console` blocks, each with the lines that it is said to print."""
    for block in code_blocks(text, "console"):
        command, *lines = block.splitlines()
        yield command.removeprefix("$ "), tuple(lines)


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


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    raise ValueError(f"no arithmetic: {ast.unparse(node)}")
