"""How the package is built: rooms in one direction, no circles, functions that can be read.

Imports are read from the source text, so that those within functions and those for type checkers count as well.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

import cs_score
from cs_score.verbs import SLICES
from tests.reading.habits import Habit, Signs, read_functions, signs_of

PACKAGE: Final = Path(cs_score.__file__).parent


def _name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


ROOMS: Final = (
    "verbs",  # the table of slices: text alone, which loads nothing
    "base",  # errors, sources, outputs with their plan, processes, records, signature, display, version, slices
    "problems",  # the table of codes, the log of one job, reports
    "measures",  # a measure as a value, the registry
    "statistics",  # resampling, intervals, paired tests, families of tests, planning; knows no task
    "tables",  # layout, renderers, frames
    "coldstart",  # queries, lines, judging, counting, ranking, resampling, gold, run, scorer, parts, writers
    "evidence",  # reading, one result, four modes (scoring, explanation)
    "judged",  # judged answers: tables, policies, counting, the mode `pool`
    "tasks",  # the interface and the table of six
    "preparation",  # what is done to runs, queries and assessments before they are scored
    "analysis",  # mistakes and their effects, comparisons, recorded results: what several slices need
    "pages",  # how pages and charts are made
    "cli",  # the contracts, the scorer's commands, and what the commands of slices share
    "api",  # results as people use them
    "slices",  # a folder below `verbs` for each feature
)
"""The rooms in order: each imports those before it and itself."""

DOOR: Final = {"", "__main__"}
"""Modules that stand in no room: the public names, and the process."""

MOST_LATE_IMPORTS: Final = 48
"""Imports inside functions: those of third-party packages that a short call must not load, and lazy commands."""

MOST_LINES: Final = 60

FEWEST_VERBS: Final = 95
"""Share of docstrings that begin with a verb, in percent."""

MOST_PARTICIPLES: Final = 1.0
"""Share of names that do not say what they hold, in percent."""

MOST_WITH_MANY_HABITS: Final = 2.0
"""Share of functions with three habits or more, in percent."""

MOST_HABITS: Final = {
    Habit.RELATIVE_CLAUSE: 2.0,
    Habit.CONDITION_IN_ITERABLE: 0.3,
    Habit.STARRED_WORK: 1.5,
    Habit.UNRELATED_VALUES: 1.0,
    Habit.NESTED_COMPREHENSION: 1.0,
    Habit.HAND_OVER: 3.0,
    Habit.WALRUS: 0.5,
    Habit.NESTED_CONDITIONAL: 0.1,
    Habit.INNER_FUNCTION: 3.0,
    Habit.MANY_PARAMETERS: 2.0,
    Habit.DEEP_NESTING: 1.0,
}
"""How often each habit may occur in 1,000 lines of functions."""


def test_imports_stand_at_the_top() -> None:
    late = {
        f"{name}:{node.lineno}"
        for name, path in _modules().items()
        for function in _functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert len(late) <= MOST_LATE_IMPORTS


def test_rooms_import_only_rooms_before_them() -> None:
    up = {(importer, imported) for importer, imported in _arrows() if _rank(importer) < _rank(imported)}
    assert up == set()


def test_every_module_stands_in_a_room() -> None:
    assert {module for module in _modules() if _room_of(module) not in ROOMS} == DOOR


def test_no_circle_among_files() -> None:
    _check_order(_arrows())


@pytest.mark.parametrize("folder", [_name_of(path) for path in sorted(PACKAGE.rglob("__init__.py"))])
def test_no_circle_among_the_parts_of_a_folder(folder: str) -> None:
    """What stands in a folder, modules and folders, has an order in which it can be read."""
    inside = [arrow for arrow in _arrows() if all(_is_below(folder, module) for module in arrow)]
    parts = {(_part_within(folder, importer), _part_within(folder, imported)) for importer, imported in inside}
    _check_order((one, other) for one, other in parts if one != other)


def test_slices_import_only_those_that_they_need() -> None:
    """No slice needs itself by way of others: `test_no_circle_among_the_parts_of_a_folder` holds that."""
    needs = {slice_.folder: set(slice_.needs) for slice_ in SLICES}
    for importer, imported in _arrows():
        if importer.startswith("verbs.") and imported.startswith("verbs."):
            user, used = importer.split(".")[1], imported.split(".")[1]
            assert user == used or used in needs[user], (importer, imported)


def test_each_slice_has_a_row_and_a_description() -> None:
    folders = {path.parent.name for path in (PACKAGE / "verbs").glob("*/__init__.py")}
    assert folders == {slice_.folder for slice_ in SLICES}
    for folder in folders:
        description = (PACKAGE / "verbs" / folder / "README.md").read_text("utf-8")
        for path in (PACKAGE / "verbs" / folder).rglob("*.py"):
            name = path.relative_to(PACKAGE / "verbs" / folder).as_posix()
            assert path.stem == "__init__" or f"| `{name}` |" in description, name


NAMES_IN_EVERY_SLICE: Final = {"command", "api", "page", "by_task", "run_tables", "run_text", "evidence_text"}
"""Names of modules that do the same in each slice that has them; no slice with one imports that of another."""


def test_each_module_has_a_name_of_its_own() -> None:
    names = Counter([name.rpartition(".")[2] for name, path in _modules().items() if path.stem != "__init__"])
    assert {name for name, count in names.items() if count > 1} <= NAMES_IN_EVERY_SLICE


def test_each_class_has_a_name_of_its_own() -> None:
    files_by_class: dict[str, list[str]] = {}
    for name, path in _modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                files_by_class.setdefault(node.name, []).append(name)
    repeated = {name: files for name, files in files_by_class.items() if len(files) > 1}
    assert repeated == {}


def test_functions_are_short_or_say_why_not() -> None:
    """Their complexity is measured by ruff (rule C901), which counts length in statements only."""
    long = {
        f"{name}.{function.name}"
        for name, path in _modules().items()
        for function in _functions(path)
        if (function.end_lineno or 0) - function.lineno >= MOST_LINES and not _has_comment_above(path, function)
    }
    assert long == set()


def test_docstrings_begin_with_a_verb() -> None:
    assert _signs().verb_first >= FEWEST_VERBS


def test_names_say_what_they_hold() -> None:
    assert _signs().participles <= MOST_PARTICIPLES


def test_few_functions_have_many_habits() -> None:
    assert _signs().with_many_habits <= MOST_WITH_MANY_HABITS


@pytest.mark.parametrize("habit", MOST_HABITS)
def test_habits_are_rare(habit: Habit) -> None:
    assert _signs().per_1000_lines[habit] <= MOST_HABITS[habit]


@cache
def _signs() -> Signs:
    return signs_of(read_functions(PACKAGE))


@cache
def _modules() -> Mapping[str, Path]:
    """The modules by name, without the package's own; `` is the package itself."""
    return {_name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def _arrows() -> Set[tuple[str, str]]:
    """Which module imports which."""
    return {
        (importer, imported)
        for importer, path in _modules().items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for imported in _imported(node)
        if importer != imported
    }


def _imported(node: ast.AST) -> Iterator[str]:
    """The package's own modules that a statement imports. Relative imports are not used here."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "imports are absolute"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in names:
        top, _, inner = name.partition(".")
        if top == PACKAGE.name:
            yield inner if inner in _modules() else inner.rpartition(".")[0]


def _room_of(module: str) -> str:
    """The folder of the module; the slices are a room of their own beside the table of slices, `verbs`."""
    folder, dot, _ = module.partition(".")
    return "slices" if dot and folder == "verbs" else folder


def _rank(module: str) -> int:
    """Its room's place in the order; what stands in no room comes last."""
    room = _room_of(module)
    return ROOMS.index(room) if room in ROOMS else len(ROOMS)


def _is_below(folder: str, module: str) -> bool:
    return not folder or module.startswith(f"{folder}.")


def _part_within(folder: str, module: str) -> str:
    """The module or folder directly in `folder` that the module is or stands in, by its whole name."""
    if not folder:
        return _room_of(module)
    start = len(folder) + 1
    return module[:start] + module[start:].partition(".")[0]


def _check_order(arrows: Iterable[tuple[str, str]]) -> None:
    """Raises CycleError, which names the modules, where there is a circle."""
    order = TopologicalSorter[str]()
    for importer, imported in arrows:
        order.add(importer, imported)
    order.prepare()


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _has_comment_above(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return path.read_text("utf-8").splitlines()[first - 2].lstrip().startswith("#")
