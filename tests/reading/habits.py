"""Count the habits of code that slow a reader down, per function.

A habit is a sign and no verdict: the trial with a reader decides (`tests/reading/trial.py`). `tests/test_structure.py`
holds the package to limits, so that the habits do not come back.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple


class Habit(StrEnum):
    """A habit that is counted, by the name that is printed."""

    PARTICIPLE = "participle or pronoun as a name"
    NO_VERB = "docstring that does not begin with a verb"
    RELATIVE_CLAUSE = "relative clause instead of a term"
    CONDITION_IN_ITERABLE = "condition inside an iterable"
    STARRED_WORK = "starred expression with work in it"
    UNRELATED_VALUES = "unrelated values in one assignment"
    NESTED_COMPREHENSION = "nested comprehension"
    HAND_OVER = "map, chain, partial and the like"
    WALRUS = "walrus"
    NESTED_CONDITIONAL = "nested conditional expression"
    INNER_FUNCTION = "function inside a function"
    MANY_PARAMETERS = "more than five parameters"
    DEEP_NESTING = "nesting deeper than three"


VERBS: Final = frozenset(
    """
    accept add adjust aggregate align allow append apply ask assert assign attach average begin bind build cache
    calculate call cast check choose classify clean clear close collect combine compare compute configure
    connect convert copy correct count create cut decide decode decompose define delegate delete derive describe
    detect determine discard display distribute divide do draw drop emit encode end ensure enter enumerate
    escape estimate evaluate exit expand explain export extract fail fetch fill filter find fit flatten follow
    format gather generate get give group guess handle hash hide hold identify ignore import include index
    initialize insert install interpret iterate join judge keep label leave let limit link list load lock look
    lower make map mark match measure merge move name normalize note number open order pack pad pair parse pass
    perform pick place plan plot prefix prepare present print process produce project prune put raise rank read
    rebuild record reduce refuse register reject release remember remove rename render reorder repeat replace
    report request resample reserve reset resolve restore restrict retrieve return reuse reverse round run
    sample save say scale schedule score search see select send separate set shift shorten show shuffle sign
    simplify simulate skip sort specify split start stop store strip subtract sum summarize support swap take
    tell test throw time total track transform translate traverse trim try turn unify unpack update use validate
    verify view visit wait walk warn weigh wrap write yield whether like
    """.split()
)
"""Words with which a docstring begins that says what its function does."""

PARTICIPLES: Final = frozenset(
    """
    given found held known asked noted met shared wanted told shown taken kept seen named called read written
    said done gone left made tried counted matched ranked added removed changed chosen meant wished answered
    judged lacking waiting holding giving leading beside before after above below apart alone again of at by one
    each other others this that here there which what how own both it its as on per all
    """.split()
)
"""Names that do not say what they hold."""

HANDED_OVER: Final = frozenset(
    """
    map filter starmap chain from_iterable partial reduce accumulate groupby attrgetter itemgetter methodcaller
    islice pairwise compress takewhile dropwhile zip_longest
    """.split()
)
"""Functions that take a function or an iterable where a loop would do."""

RELATIVE_CLAUSE: Final = re.compile(
    r"\b(what (is|are|was|were|has|have|a|an|the|of|stands|counts|holds)|that which|those (that|which|of)|of which"
    r"|where there (is|are)|which (is|are) those|who (has|is)|stands? (in|for|there)|such (a|an) \w+ (is|are))\b",
    re.IGNORECASE,
)

FEWEST_LINES: Final = 4
"""Functions with fewer lines of code are not counted."""

MOST_PARAMETERS: Final = 5
DEEPEST_NESTING: Final = 3
MANY_HABITS: Final = 3
"""From so many habits on, a function counts as one with many."""

COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BLOCKS: Final = (ast.For, ast.While, ast.If, ast.With, ast.Try)


class ReadFunction(NamedTuple):
    """A function of the package with its habits."""

    path: Path
    line: int
    """The line on which it begins, from 1."""
    name: str
    lines: int
    """Its lines of code, without the docstring."""
    habits: Counter[Habit]
    names: int
    """How many parameters and assignments of names it has."""
    unclear_names: int
    """How many of these are participles or pronouns; its habits count each such name once."""
    has_docstring: bool
    """Whether it has one that should begin with a verb; that of a property is a noun."""


class Signs(NamedTuple):
    """The counts of many functions in the units of the limits."""

    functions: int
    verb_first: float
    """Share of docstrings that begin with a verb, in percent."""
    participles: float
    """Share of names that are participles or pronouns, in percent."""
    with_many_habits: float
    """Share of functions with three habits or more, in percent."""
    per_1000_lines: dict[Habit, float]
    """How often each other habit occurs in 1,000 lines of functions."""


def read_functions(folder: Path) -> list[ReadFunction]:
    """Return the functions of four lines and more below `folder`, in order of files and lines."""
    functions = []
    for path in sorted(folder.rglob("*.py")):
        if path.name == "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                function = _read_function(path, node)
                if function.lines >= FEWEST_LINES:
                    functions.append(function)
    return functions


def signs_of(functions: Iterable[ReadFunction]) -> Signs:
    """Return the counts over the functions, as shares and per 1,000 lines."""
    functions = list(functions)
    habits: Counter[Habit] = Counter()
    for function in functions:
        habits.update(function.habits)
    lines = sum(function.lines for function in functions)
    names = sum(function.names for function in functions)
    unclear_names = sum(function.unclear_names for function in functions)
    docstrings = sum(function.has_docstring for function in functions)
    with_many = sum(function.habits.total() >= MANY_HABITS for function in functions)
    shares = {Habit.PARTICIPLE, Habit.NO_VERB}
    return Signs(
        functions=len(functions),
        verb_first=100 - _percent(habits[Habit.NO_VERB], docstrings),
        participles=_percent(unclear_names, names),
        with_many_habits=_percent(with_many, len(functions)),
        per_1000_lines={habit: 1000 * habits[habit] / max(1, lines) for habit in Habit if habit not in shares},
    )


def _percent(part: int, whole: int) -> float:
    return 100 * part / max(1, whole)


def _read_function(path: Path, node: ast.FunctionDef) -> ReadFunction:
    docstring = ast.get_docstring(node) or ""
    docstring_lines = len(docstring.splitlines())
    parameters = _parameters(node)
    names = [*parameters, *_assigned_names(node)]
    unclear_names = [name.strip("_") for name in names if name.strip("_") in PARTICIPLES]
    habits: Counter[Habit] = Counter()
    habits[Habit.PARTICIPLE] = len(set(unclear_names))
    for inner in _nodes_but_sort_keys(node):
        for habit, has_habit in _CHECKS.items():
            if has_habit(inner) and inner is not node:
                habits[habit] += 1
    if len(parameters) > MOST_PARAMETERS:
        habits[Habit.MANY_PARAMETERS] += 1
    if _nesting(node, 0) > DEEPEST_NESTING:
        habits[Habit.DEEP_NESTING] += 1
    habits[Habit.RELATIVE_CLAUSE] += len(RELATIVE_CLAUSE.findall(docstring))
    has_docstring = bool(docstring) and not _is_property(node)
    if has_docstring and not _begins_with_verb(docstring):
        habits[Habit.NO_VERB] += 1
    lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_lines
    return ReadFunction(
        path=path,
        line=node.lineno,
        name=node.name,
        lines=lines,
        habits=habits,
        names=len(names),
        unclear_names=len(unclear_names),
        has_docstring=has_docstring,
    )


def _parameters(node: ast.FunctionDef) -> list[str]:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in arguments if argument.arg not in ("self", "cls")]


def _assigned_names(node: ast.FunctionDef) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _nodes_but_sort_keys(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the node and all below it, but for the value of an argument `key`: a sort key is no trick."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.keyword) and child.arg == "key"):
            yield from _nodes_but_sort_keys(child)


def _nesting(node: ast.AST, level: int) -> int:
    """Return the depth of the deepest block below `node`, which is at depth `level`.

    `elif` is not deeper than its `if`.
    """
    deepest = level
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        is_deeper = isinstance(child, BLOCKS) and not is_elif
        deepest = max(deepest, _nesting(child, level + is_deeper))
    return deepest


def _is_property(node: ast.FunctionDef) -> bool:
    return any("property" in ast.dump(decorator) for decorator in node.decorator_list)


def _begins_with_verb(docstring: str) -> bool:
    """Say whether the first word is a verb, as it is or in the third person (`Returns`)."""
    first = re.match(r"[A-Za-z]+", docstring)
    word = first.group().lower() if first else ""
    stems = {word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word)}
    return not stems.isdisjoint(VERBS)


def _is_condition_in_iterable(node: ast.AST) -> bool:
    if isinstance(node, ast.For | ast.comprehension):
        return any(isinstance(inner, ast.IfExp) for inner in ast.walk(node.iter))
    return isinstance(node, ast.AugAssign) and isinstance(node.value, ast.IfExp)


def _is_starred_work(node: ast.AST) -> bool:
    work = (ast.IfExp, ast.GeneratorExp, ast.ListComp, ast.Call)
    return isinstance(node, ast.Starred) and isinstance(node.value, work) and not isinstance(node.ctx, ast.Store)


def _has_unrelated_values(node: ast.AST) -> bool:
    """Say whether an assignment sets several names to values that are more than names and constants."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
        return False
    if not isinstance(node.value, ast.Tuple) or len(node.value.elts) < 2:
        return False
    return not all(isinstance(value, ast.Constant | ast.Name) for value in node.value.elts)


def _is_nested_comprehension(node: ast.AST) -> bool:
    if not isinstance(node, COMPREHENSIONS):
        return False
    has_inner = any(isinstance(inner, COMPREHENSIONS) for inner in ast.walk(node) if inner is not node)
    return has_inner or len(node.generators) > 1


def _hands_over(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in HANDED_OVER
    return isinstance(node.func, ast.Attribute) and node.func.attr in HANDED_OVER


def _is_walrus(node: ast.AST) -> bool:
    return isinstance(node, ast.NamedExpr)


def _is_nested_conditional(node: ast.AST) -> bool:
    if not isinstance(node, ast.IfExp):
        return False
    return any(isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node)


def _is_inner_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.Lambda)


_CHECKS: Final[dict[Habit, Callable[[ast.AST], bool]]] = {
    Habit.CONDITION_IN_ITERABLE: _is_condition_in_iterable,
    Habit.STARRED_WORK: _is_starred_work,
    Habit.UNRELATED_VALUES: _has_unrelated_values,
    Habit.NESTED_COMPREHENSION: _is_nested_comprehension,
    Habit.HAND_OVER: _hands_over,
    Habit.WALRUS: _is_walrus,
    Habit.NESTED_CONDITIONAL: _is_nested_conditional,
    Habit.INNER_FUNCTION: _is_inner_function,
}
"""The habits that a single node of the syntax tree shows."""
