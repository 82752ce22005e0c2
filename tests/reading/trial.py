"""Make a blind reading trial, and read what the reader wrote.

Functions of this package are shuffled among functions of well-kept projects, without the names of projects. Somebody
who has not seen the code rates each function; `docs/development/reading.md` has the brief.
"""

from __future__ import annotations

import ast
import csv
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple, TypeGuard

RATINGS: Final = {"P": "purpose", "F": "flow", "N": "names", "E": "English"}
"""The columns of the reader's table that hold a rating from 1 (worst) to 5, with their meanings."""

LOW: Final = 3
"""A rating up to this says that the function was hard to read."""

SHORTEST: Final = 4
LONGEST: Final = 60
"""The functions that enter a trial have so many lines of code."""


class Project(NamedTuple):
    """A project whose functions enter a trial."""

    name: str
    folder: Path
    functions: int
    """How many of its functions enter."""


class Sample(NamedTuple):
    """A function in a trial, as the key has it."""

    number: int
    """Its number in the text of the trial, from 1."""
    project: str
    path: str
    name: str


class ProjectRatings(NamedTuple):
    """What the reader thought of the functions of one project."""

    project: str
    functions: int
    means: dict[str, float]
    """The mean of each rating, by its column."""
    opens: float
    """How many other definitions the reader would have to open, on average."""
    low: int
    """How many functions have a rating of 3 or less."""


def make_trial(projects: Iterable[Project], folder: Path, seed: int) -> list[Sample]:
    """Write `trial.txt`, for the reader, and `key.json`, which the reader must not see. Return the key."""
    generator = random.Random(seed)
    projects = list(projects)
    drawn: list[tuple[str, Path, str, str]] = []
    for project in projects:
        texts = list(_function_texts(project.folder))
        for path, name, text in generator.sample(texts, min(project.functions, len(texts))):
            drawn.append((project.name, path, name, text))
    generator.shuffle(drawn)
    folder.mkdir(parents=True, exist_ok=True)
    key = []
    sheets = []
    for number, (project_name, path, name, text) in enumerate(drawn, 1):
        key.append(Sample(number, project_name, str(path), name))
        sheets.append(f"===== FUNCTION {number} =====\n{_without_names(text, projects)}\n")
    (folder / "trial.txt").write_text("\n".join(sheets), "utf-8")
    (folder / "key.json").write_text(json.dumps(key), "utf-8")
    return key


def read_ratings(folder: Path) -> list[ProjectRatings]:
    """Return the means for each project from the reader's `ratings.tsv` (columns n, P, F, N, E, D, reason)."""
    project_by_number = {
        number: project for number, project, _, _ in json.loads((folder / "key.json").read_text("utf-8"))
    }
    rows_by_project: dict[str, list[dict[str, str]]] = {}
    with (folder / "ratings.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            project = project_by_number[int(row["n"])]
            rows_by_project.setdefault(project, []).append(row)
    return [_ratings_of_project(project, rows) for project, rows in sorted(rows_by_project.items())]


def _ratings_of_project(project: str, rows: list[dict[str, str]]) -> ProjectRatings:
    means = {}
    for column in RATINGS:
        ratings = [float(row[column]) for row in rows if row[column] != "-"]
        means[column] = mean(ratings) if ratings else 0.0
    return ProjectRatings(
        project=project,
        functions=len(rows),
        means=means,
        opens=mean(float(row["D"].rstrip("+")) for row in rows),
        low=sum(_has_low_rating(row) for row in rows),
    )


def _has_low_rating(row: dict[str, str]) -> bool:
    return any(row[column] != "-" and float(row[column]) <= LOW for column in RATINGS)


def _without_names(text: str, projects: Iterable[Project]) -> str:
    """Replace the projects' names by `pkg`, so that the reader cannot tell whose function it is."""
    names: set[str] = set()
    for project in projects:
        names.update((project.name, project.name.replace("_", "-"), project.folder.name))
    longest_first = sorted(names, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), "pkg", text, flags=re.IGNORECASE)


def _function_texts(folder: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield path, name and text of each function.

    The text begins with the first paragraphs of the docstrings of its module and its class.
    """
    for path in sorted(folder.rglob("*.py")):
        if {"tests", "test", "externals"} & set(path.parts):
            continue
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        module_line = f"module: {_first_paragraph(tree)}\n"
        for node in tree.body:
            if _is_of_size(node):
                yield path, node.name, module_line + _text_of(node, source)
        for owner in ast.walk(tree):
            if isinstance(owner, ast.ClassDef):
                class_line = f"class {owner.name}:  # {_first_paragraph(owner)}\n"
                for node in owner.body:
                    if _is_of_size(node):
                        yield path, node.name, module_line + class_line + _text_of(node, source)


def _is_of_size(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """Say whether the statement is a function of the size that enters a trial."""
    return isinstance(node, ast.FunctionDef) and SHORTEST <= _lines_of_code(node) <= LONGEST


def _lines_of_code(node: ast.FunctionDef) -> int:
    docstring = ast.get_docstring(node) or ""
    return (node.end_lineno or node.lineno) - node.lineno + 1 - len(docstring.splitlines())


def _first_paragraph(node: ast.Module | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").partition("\n\n")[0].replace("\n", " ")[:300]


def _text_of(node: ast.FunctionDef, source: str) -> str:
    first_line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(source.splitlines()[first_line - 1 : node.end_lineno]) + "\n"
