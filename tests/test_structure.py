"""How the package is built: rooms in one direction, no circles, folders and functions of a size that can be read.

Imports are read from the source text, so that those within functions and those for type checkers count as well.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from typing import Final

import cs_score

PACKAGE: Final = Path(cs_score.__file__).parent

ORDER: Final = (
    "base",
    "problems",
    "measures",
    "statistics",
    "tables",
    "coldstart",
    "evidence.reading",
    "evidence",
    "evidence.modes",
    "preparation",
    "knowledge_base.contents",
    "knowledge_base.reading",
    "knowledge_base.checks",
    "knowledge_base.writers",
    "knowledge_base.resolution",
    "knowledge_base",
    "analysis",
    "batch.store",
    "batch.plan",
    "batch.execution",
    "batch.tables",
    "batch",
    "verification",
    "gates",
    "report",
    "api",
    "cli",
)
"""The rooms; each imports those before it and itself. A module belongs to the longest name that it begins with."""

MOST_MODULES: Final = 30
MOST_LINES: Final = 60


def test_rooms_import_only_rooms_before_them() -> None:
    up = {(importer, imported) for importer, imported in _arrows() if _rank(importer) < _rank(imported)}
    assert up == set()


def test_every_module_stands_in_a_room() -> None:
    at_the_door = {"", "__main__"}
    homeless = {module for module in _modules() if _room_of(module) not in ORDER}
    assert homeless == at_the_door


def test_no_circle_among_files() -> None:
    assert not _circles(_arrows())


def test_no_circle_among_the_parts_of_a_folder() -> None:
    """What stands in a folder, modules and folders, has an order in which it can be read."""
    circles = set()
    for folder in sorted(PACKAGE.rglob("__init__.py")):
        within = _name_of(folder)
        arrows = {
            (_part_within(within, importer), _part_within(within, imported))
            for importer, imported in _arrows()
            if _is_below(within, importer) and _is_below(within, imported)
        }
        circles |= _circles((one, other) for one, other in arrows if one != other)
    assert not circles


def test_no_folder_is_crowded() -> None:
    sizes = Counter(path.parent for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    assert {str(folder.relative_to(PACKAGE)) for folder, size in sizes.items() if size > MOST_MODULES} == set()


def test_functions_are_short_or_say_why_not() -> None:
    """Their complexity is measured by ruff (rule C901), which counts length in statements only."""
    long = {
        f"{name}.{function.name}"
        for name, path in _modules().items()
        for function in _functions(path)
        if _length(function) > MOST_LINES and not _has_comment_above(path, function)
    }
    assert long == set()


@cache
def _modules() -> Mapping[str, Path]:
    """The modules by name, without the package's own; `` is the package itself."""
    return {_name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


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
    """The longest name in the order that the module's begins with; its own name where there is none."""
    rooms = [room for room in ORDER if f"{module}.".startswith(f"{room}.")]
    return max(rooms, key=len, default=module)


def _rank(module: str) -> int:
    """Its room's place in the order; what stands in no room comes last."""
    room = _room_of(module)
    return ORDER.index(room) if room in ORDER else len(ORDER)


def _is_below(folder: str, module: str) -> bool:
    return module != folder and (not folder or module.startswith(f"{folder}."))


def _part_within(folder: str, module: str) -> str:
    """The module or folder directly in `folder` that the module is or stands in, by its whole name."""
    start = len(folder) + 1 if folder else 0
    return module[:start] + module[start:].partition(".")[0]


def _circles(arrows: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    """The largest groups each of whose members leads to all others."""
    graph: dict[str, set[str]] = defaultdict(set)
    for one, other in arrows:
        graph[one].add(other)
    reached = {one: _reached(graph, one) for one in list(graph)}
    groups = {frozenset(other for other in of_one if one in reached.get(other, ())) for one, of_one in reached.items()}
    return {group for group in groups if group}


def _reached(graph: Mapping[str, Set[str]], start: str) -> set[str]:
    """What arrows lead to from `start`, which is among it where it stands in a circle."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def _has_comment_above(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return path.read_text("utf-8").splitlines()[first - 2].lstrip().startswith("#")
