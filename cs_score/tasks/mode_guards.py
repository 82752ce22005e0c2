"""Guard the modes of other packages, so that a fault of a package becomes a one-line error that names the package.
A mode describes how an evidence task is scored. Its hooks are the methods that the package defines, such as `row`,
which returns the statistics of a unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from msgspec.inspect import BoolType, FloatType, IntType, LiteralType, Metadata, NoneType, StrType, UnionType, type_info

from cs_score.base.errors import CsScoreError
from cs_score.base.records import Record
from cs_score.evidence.mode import Mode, Part, ReportRow


class PackageError(CsScoreError):
    """A fault of an installed package that offers a task, not of cs-score and not of an input."""


_TEXTS: Final = ("name", "unit", "summary", "files")
_LISTS_OF_TEXTS: Final = ("columns", "headings", "kinds", "headlines", "endings")


# ---- The declarations of a mode


def problem_of_declaration(mode: Mode) -> str | None:
    """Return a fault in the attributes of a mode, such as "summary must be a text, not None".

    The message is about the first attribute that does not satisfy the description of `Mode`. Return None if all do.
    """
    for find_problem in (_problem_of_texts, _problem_of_measures, _problem_of_options):
        problem = find_problem(mode)
        if problem is not None:
            return problem
    return None


def _problem_of_texts(mode: Mode) -> str | None:
    """Return a fault in the texts of a mode, such as "summary must be a text, not None"; None if there is no fault.

    Some attributes should be a text, and others a tuple of texts.
    """
    for name in _TEXTS:
        text = getattr(mode, name, None)
        if not isinstance(text, str) or not text:
            return f"{name} must be a text, not {text!r}"
    for name in _LISTS_OF_TEXTS:
        texts = getattr(mode, name, None)
        if not _is_tuple_of(str, texts):
            return f"{name} must be a tuple of texts, not {texts!r}"
    return None


def _problem_of_measures(mode: Mode) -> str | None:
    """Return a fault in the measures of a mode, such as "rows name a measure twice", or None if there is none.

    The attribute `rows` says which measures the rows of a report have, and `headlines` which of them are shown first.
    """
    rows = getattr(mode, "rows", None)
    if not rows or not _is_tuple_of(ReportRow, rows):
        return f"rows must be a tuple of ReportRow, not {rows!r}"
    distinct_measures = set(mode.measures)  # the measures of all rows, in their order
    if len(distinct_measures) < len(mode.measures):
        return "rows name a measure twice"
    for measure in mode.headlines:
        if measure not in distinct_measures:
            return f"headlines names {measure}, which is no measure of rows"
    return None


def _is_tuple_of(kind: type, value: Any) -> bool:
    """Return whether a value is a tuple of objects of a class; it may be empty."""
    return isinstance(value, tuple) and all(isinstance(item, kind) for item in value)


def _problem_of_options(mode: Mode) -> str | None:
    """Return the reason why the options of a mode cannot be options of a command, or None if they can.

    An example is "option limit must be a text, a number, a flag (bool) or a choice (Literal)". The attribute `options`
    of a mode should be a record class with a field for each option.
    """
    options: Any = mode.options
    if not isinstance(options, type) or not issubclass(options, Record):
        return f"options must be a class derived from Record, not {options!r}"
    try:
        options()  # all fields have their defaults
    except TypeError:
        return f"every option of {options.__name__} needs a default"
    description: Any = type_info(options)
    for field in description.fields:
        if not _is_type_of_option(field.type):
            return f"option {field.name} must be a text, a number, a flag (bool) or a choice (Literal)"
    return None


def _is_type_of_option(option_type: Any) -> bool:
    """Return whether an option of a command line can have values of this type.

    The possible types are text, numbers, flags and choices. A type may also be a union of one of these with None, and
    it may have a description.
    """
    if isinstance(option_type, Metadata):
        return _is_type_of_option(option_type.type)
    if isinstance(option_type, UnionType):
        other_types = [member for member in option_type.types if not isinstance(member, NoneType)]
        return len(other_types) == 1 and _is_type_of_option(other_types[0])
    return isinstance(option_type, (BoolType, FloatType, IntType, LiteralType, StrType))


# ---- The values that hooks return


class _WrongValueError(Exception):
    """An error about a value that a hook must not return. The message says which value is expected."""


def _check_row(mode: Mode, row: Any) -> Any:
    """Return the statistics of a unit, which a hook has returned.

    Raises _WrongValueError unless they are a tuple with a finite number for each column.
    """
    is_row = isinstance(row, tuple) and len(row) == len(mode.columns)
    if not is_row or not all(_is_finite_number(statistic) for statistic in row):
        raise _WrongValueError(f"a tuple of {len(mode.columns)} numbers is expected, not {row!r}")
    return row


def _is_finite_number(value: Any) -> bool:
    """Return whether a value is a number that is neither infinite nor NaN."""
    return isinstance(value, (int, float)) and math.isfinite(value)


def _check_scores(mode: Mode, scores: Any) -> Any:
    """Return the scores that the formula of a mode has returned, which are numbers or arrays.

    Raises _WrongValueError unless there is a score for each measure.
    """
    has_all_scores = isinstance(scores, (tuple, list)) and len(scores) == len(mode.measures)
    if not has_all_scores or any(score is None or isinstance(score, str) for score in scores):
        raise _WrongValueError(f"a tuple of {len(mode.measures)} numbers is expected, not {scores!r}")
    return scores


def _check_units_and_notices(mode: Mode, value: Any) -> Any:
    """Return the units of a run, each with its id, gold and prediction, and the notices.

    Raises _WrongValueError if the value that a hook has returned is anything but a pair of units and notices.
    """
    if not isinstance(value, tuple) or len(value) != 2:
        raise _WrongValueError(f"a pair (units, notices) is expected, not {value!r}")
    units, notices = value
    unit_list = list(units)
    for unit in unit_list:
        if not isinstance(unit, tuple) or len(unit) != 3:
            raise _WrongValueError(f"a unit is a tuple (id, gold, prediction), not {unit!r}")
    return unit_list, _check_texts(mode, notices)


def _check_texts(mode: Mode, values: Any) -> Any:
    """Return the texts that a hook returned, as a list. Raises _WrongValueError if one of them is not a text.

    `mode` is not used; it is there because all functions that check values of hooks have the same parameters.
    """
    texts = list(values)
    for text in texts:
        if not isinstance(text, str):
            raise _WrongValueError(f"texts are expected, not {text!r}")
    return texts


def _check_parts(mode: Mode, values: Any) -> Any:
    """Return the parts of a unit that a hook has returned, as a list.

    Raises _WrongValueError for a value that is not a `Part`, and for a fault whose kind is not one of the mode's kinds.
    """
    parts = list(values)
    for part in parts:
        if not isinstance(part, Part):
            raise _WrongValueError(f"Part is expected, not {part!r}")
        for fault in part.faults:
            if fault.kind not in mode.kinds:
                raise _WrongValueError(f"a fault has the kind {fault.kind!r}; kinds has {', '.join(mode.kinds)}")
    return parts


def _check_mapping(mode: Mode, value: Any) -> Any:
    """Return the mapping that a hook has returned. Raises _WrongValueError for any other value."""
    if not isinstance(value, Mapping):
        raise _WrongValueError(f"a mapping is expected, not {value!r}")
    return value


def _check_measure(mode: Mode, name: Any) -> Any:
    """Return the name of a measure that a hook has returned. Raises _WrongValueError for any other value."""
    if name not in mode.measures:
        raise _WrongValueError(f"one of {', '.join(mode.measures)} is expected, not {name!r}")
    return name


def _check_contents(mode: Mode, value: Any) -> Any:
    """Return the contents of gold and predictions, as a hook returns them: `(((300, "claim"),), ((412, "abstract"),))`.

    `mode` is not used; it is there because all functions that check values of hooks have the same parameters. Raises
    _WrongValueError unless the contents are numbers with their nouns. If the value has a different shape, Python raises
    an error, and the caller blames the package for that error, too.
    """
    gold_contents, predictions_contents = value
    for number, noun in (*gold_contents, *predictions_contents):
        if not isinstance(number, int) or not isinstance(noun, str):
            raise _WrongValueError(f"numbers with nouns are expected, not {value!r}")
    return value


_CHECK_BY_HOOK: Final[Mapping[str, Callable[[Mode, Any], Any]]] = {
    "contents": _check_contents,
    "explain_unit": _check_texts,
    "formula": _check_scores,
    "groups": _check_mapping,
    "head": _check_texts,
    "headline_of": _check_measure,
    "mismatches": _check_texts,
    "pair_units": _check_units_and_notices,
    "parts": _check_parts,
    "remarks": _check_texts,
    "row": _check_row,
    "undefined_measures": _check_mapping,
}
"""The function that checks the values of a hook, by the name of the hook.

It takes the mode and a value, and returns the value. An iterable value is returned as a list.
"""


# ---- Hooks of a package


def guard_hooks(mode: Mode, task_in_words: str, restore: Callable[[Mapping[str, Any]], Mode]) -> None:
    """Replace every hook of a mode with a function that raises PackageError if the package is at fault.

    Hooks are the public methods that the classes of the package define. A fault is an error that a hook raises, or a
    value that it must not return. `task_in_words` names the task and its package in the message: "task fever of the
    package cs-score-fever 0.1.0".

    The mode is changed in place: it gets a class of its own, in which the hooks are replaced. Another process cannot
    import this class. Therefore, a mode is pickled as the function `restore` and the attributes of the mode, from which
    `restore` makes the mode anew in the other process.
    """
    class_of_package = type(mode)
    attributes: dict[str, Any] = {
        # Pickling calls this method, which returns a function and the tuple of its arguments.
        "__reduce__": lambda mode: (restore, (dict(vars(mode)),)),
        "__copy__": _copy_mode,
        "is_guarded": True,
    }
    for hook_name, hook in _hooks_of(class_of_package).items():
        attributes[hook_name] = _guarded_hook(hook, hook_name, task_in_words)
    # A subclass of the package's class keeps the methods that are not hooks.
    guarded_class = type(class_of_package.__name__, (class_of_package,), attributes)
    mode.__class__ = guarded_class


def _hooks_of(class_of_package: type[Mode]) -> dict[str, Callable[..., Any]]:
    """Return the public methods of a mode's class by name, except for inherited methods of `Mode` itself."""
    # The class itself comes first, then its base classes: classes of the package, `Mode`, and base classes of `Mode`.
    bases = class_of_package.__mro__
    classes_of_package = bases[: bases.index(Mode)]
    hooks = {}
    for base in reversed(classes_of_package):  # methods of derived classes replace those of their base classes
        for name, value in vars(base).items():
            is_method = callable(value) and not isinstance(value, type)
            if is_method and not name.startswith("_"):
                hooks[name] = value
    return hooks


def _guarded_hook(hook: Callable[..., Any], hook_name: str, task_in_words: str) -> Callable[..., Any]:
    """Return a function that calls a hook, checks its value, and raises PackageError if the package is at fault.

    `task_in_words` names the task and its package in the message of the error.
    """

    @wraps(hook)
    def call_hook(mode: Mode, *arguments: Any, **options: Any) -> Any:
        """Call the hook and return its value after checking it. Errors become PackageErrors."""
        with _blame_package(hook_name, task_in_words):
            returned_value = hook(mode, *arguments, **options)
            value = _check_value(hook_name, mode, returned_value)
        if not isinstance(value, Iterator):
            return value
        # The code of a generator runs only when its items are taken, outside the block above.
        return _guarded_items(value, hook_name, task_in_words)

    return call_hook


def _check_value(hook_name: str, mode: Mode, value: Any) -> Any:
    """Return the value that a hook of a mode has returned, or a list of its items if it must be an iterable.

    Raises _WrongValueError for a value that the hook must not return. The values of some hooks are not checked.
    """
    check = _CHECK_BY_HOOK.get(hook_name)
    return value if check is None else check(mode, value)


def _guarded_items(items: Iterator[Any], hook_name: str, task_in_words: str) -> Iterator[Any]:
    """Yield the items that a hook yields. Raises PackageError if the hook fails before the last one."""
    with _blame_package(hook_name, task_in_words):
        yield from items


@contextmanager
def _blame_package(hook_name: str, task_in_words: str) -> Iterator[None]:
    """Return a context manager that raises PackageError for an error in its block, which calls a hook.

    The message names the hook, the task and its package: `task fever of the package cs-score-fever 0.1.0: row: ...`.
    Errors of cs-score, such as an InputError about a malformed file, are not changed, because the package raises them
    on purpose.
    """
    try:
        yield
    except CsScoreError:
        raise
    except _WrongValueError as error:  # a check of the returned value has raised it
        problem = f"{hook_name}: {error}"
        raise PackageError(f"{task_in_words}: {problem}; report it to the makers of the package") from None
    except (Exception, SystemExit) as error:
        problem = f"{hook_name} failed: {type(error).__name__}: {error}"
        raise PackageError(f"{task_in_words}: {problem}; report it to the makers of the package") from error


def _copy_mode(mode: Mode) -> Mode:
    """Return a copy of a mode, of the same class and with the same attributes."""
    return mode_with_attributes(type(mode), vars(mode))


def mode_with_attributes(mode_class: type[Mode], attributes: Mapping[str, Any]) -> Mode:
    """Return a mode of a class with these attributes. The method `__init__` of the class is not called."""
    mode = mode_class.__new__(mode_class)
    mode.__dict__.update(attributes)
    return mode
