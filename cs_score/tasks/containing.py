"""Hold what the mode of an installed package does: a fault of it is one line that names the package."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, TypeAlias

from msgspec.inspect import BoolType, FloatType, IntType, LiteralType, Metadata, NoneType, StrType, UnionType, type_info

from cs_score.base.errors import CsScoreError
from cs_score.base.records import Record
from cs_score.evidence.mode import Mode, Part, ReportRow


class PackageError(CsScoreError):
    """A fault of an installed package that offers a task, not of cs-score and not of an input."""


Problem: TypeAlias = str | None
"""What is wrong with a value that a hook returns; None where nothing is."""

_TEXTS: Final = ("name", "unit", "summary", "files")
_LISTS_OF_TEXTS: Final = ("columns", "headings", "kinds", "headlines", "endings")


# ---- What a mode declares


def problem_of_declaration(mode: Mode) -> Problem:
    """Return the first attribute of a mode that is not as `Mode` describes it, with what is expected; else None."""
    for name in _TEXTS:
        text = getattr(mode, name, None)
        if not isinstance(text, str) or not text:
            return f"{name} must be a text, not {text!r}"
    for name in _LISTS_OF_TEXTS:
        texts = getattr(mode, name, None)
        if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
            return f"{name} must be a tuple of texts, not {texts!r}"
    rows = getattr(mode, "rows", None)
    if not isinstance(rows, tuple) or not rows or not all(isinstance(row, ReportRow) for row in rows):
        return f"rows must be a tuple of ReportRow, not {rows!r}"
    if len(set(mode.measures)) < len(mode.measures):
        return "rows name a measure twice"
    unknown = [name for name in mode.headlines if name not in mode.measures]
    if unknown:
        return f"headlines names {unknown[0]}, which is no measure of rows"
    return _problem_of_options(mode.options)


def _problem_of_options(options: Any) -> Problem:
    """Return why no command can have the options of a mode; None where it can."""
    if not isinstance(options, type) or not issubclass(options, Record):
        return f"options must be a class derived from Record, not {options!r}"
    try:
        options()
    except TypeError:
        return f"every option of {options.__name__} needs a default"
    described: Any = type_info(options)
    for field in described.fields:
        if not _is_type_of_option(field.type):
            return f"option {field.name} must be a text, a number, a flag (bool) or a choice (Literal)"
    return None


def _is_type_of_option(type_: Any) -> bool:
    """Return whether a command line can give values of a type, which may be described, or None as well."""
    if isinstance(type_, Metadata):
        return _is_type_of_option(type_.type)
    if isinstance(type_, UnionType):
        others = [member for member in type_.types if not isinstance(member, NoneType)]
        return len(others) == 1 and _is_type_of_option(others[0])
    return isinstance(type_, (BoolType, FloatType, IntType, LiteralType, StrType))


# ---- What hooks return


class _WrongValueError(Exception):
    """A value that a hook may not return; the text says what is expected."""


def _row(mode: Mode, row: Any) -> Any:
    """Return the statistics of a unit. Raises _WrongValueError unless they are a finite number for each column."""
    is_row = isinstance(row, tuple) and len(row) == len(mode.columns)
    if not is_row or not all(isinstance(number, (int, float)) and math.isfinite(number) for number in row):
        raise _WrongValueError(f"a tuple of {len(mode.columns)} numbers is expected, not {row!r}")
    return row


def _scores(mode: Mode, scores: Any) -> Any:
    """Return the results of a formula, numbers or arrays. Raises _WrongValueError unless there is one a measure."""
    is_tuple = isinstance(scores, (tuple, list)) and len(scores) == len(mode.measures)
    if not is_tuple or any(score is None or isinstance(score, str) for score in scores):
        raise _WrongValueError(f"a tuple of {len(mode.measures)} numbers is expected, not {scores!r}")
    return scores


def _pairs(mode: Mode, value: Any) -> Any:
    """Return the units, each with gold and prediction, and the notices. Raises _WrongValueError for anything else."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise _WrongValueError(f"a pair (units, notices) is expected, not {value!r}")
    units = list(value[0])
    for unit in units:
        if not isinstance(unit, tuple) or len(unit) != 3:
            raise _WrongValueError(f"a unit is a tuple (id, gold, prediction), not {unit!r}")
    return units, _texts(mode, value[1])


def _texts(mode: Mode, values: Any) -> Any:
    """Return lines of text as a list. Raises _WrongValueError where one is no text."""
    texts = list(values)
    for text in texts:
        if not isinstance(text, str):
            raise _WrongValueError(f"texts are expected, not {text!r}")
    return texts


def _parts(mode: Mode, values: Any) -> Any:
    """Return the parts of a unit as a list. Raises _WrongValueError for others, and for faults of an unknown kind."""
    parts = list(values)
    for part in parts:
        if not isinstance(part, Part):
            raise _WrongValueError(f"Part is expected, not {part!r}")
        unknown = [fault.kind for fault in part.faults if fault.kind not in mode.kinds]
        if unknown:
            raise _WrongValueError(f"a fault has the kind {unknown[0]!r}; kinds has {', '.join(mode.kinds)}")
    return parts


def _mapping(mode: Mode, value: Any) -> Any:
    """Return a mapping. Raises _WrongValueError for anything else."""
    if not isinstance(value, Mapping):
        raise _WrongValueError(f"a mapping is expected, not {value!r}")
    return value


def _measure(mode: Mode, name: Any) -> Any:
    """Return the name of a measure. Raises _WrongValueError for anything else."""
    if name not in mode.measures:
        raise _WrongValueError(f"one of {', '.join(mode.measures)} is expected, not {name!r}")
    return name


def _contents(mode: Mode, value: Any) -> Any:
    """Return how much both files hold. Raises _WrongValueError unless it is numbers with their nouns."""
    of_gold, of_predictions = value
    for number, noun in (*of_gold, *of_predictions):
        if not isinstance(number, int) or not isinstance(noun, str):
            raise _WrongValueError(f"numbers with nouns are expected, not {value!r}")
    return value


_CHECKS: Final[Mapping[str, Callable[[Mode, Any], Any]]] = {
    "contents": _contents,
    "explain_unit": _texts,
    "formula": _scores,
    "groups": _mapping,
    "head": _texts,
    "headline_of": _measure,
    "mismatches": _texts,
    "pair_units": _pairs,
    "parts": _parts,
    "remarks": _texts,
    "row": _row,
    "undefined_measures": _mapping,
}
"""What is checked of values that hooks return, by the name of the hook."""


# ---- Hooks of a package


def contain(mode: Mode, offer: str, restore: Callable[[Mapping[str, Any]], Mode]) -> None:
    """Make every hook of a mode raise PackageError for a fault of its package, which `offer` names.

    Hooks are the methods that the classes of the package define. The mode gets a class of its own for it. `restore`
    makes a mode with these attributes in another process, where nobody finds that class by its name.
    """
    kind = type(mode)

    def reduced(mode: Mode) -> tuple[Any, ...]:
        return restore, (dict(vars(mode)),)

    hooks: dict[str, Any] = {"__reduce__": reduced, "__copy__": _copied, "is_contained": True}
    for base in reversed(kind.__mro__[: kind.__mro__.index(Mode)]):
        for name, value in vars(base).items():
            if not name.startswith("_") and callable(value) and not isinstance(value, type):
                hooks[name] = _contained(name, value, offer)
    mode.__class__ = type(kind.__name__, (kind,), hooks)


def _contained(name: str, hook: Callable[..., Any], offer: str) -> Callable[..., Any]:
    """Return a hook that raises PackageError where the one of the package fails, or returns what it may not."""

    @wraps(hook)
    def call(mode: Mode, *arguments: Any, **options: Any) -> Any:
        with _blaming(offer, name):
            value = hook(mode, *arguments, **options)
            if name in _CHECKS:
                value = _CHECKS[name](mode, value)
        return _items(value, offer, name) if isinstance(value, Iterator) else value

    return call


def _items(values: Iterator[Any], offer: str, name: str) -> Iterator[Any]:
    """Yield what a hook yields. Raise PackageError where it fails on the way."""
    with _blaming(offer, name):
        yield from values


@contextmanager
def _blaming(offer: str, name: str) -> Iterator[None]:
    """Raise PackageError for an error in a hook that is none of those which cs-score raises on purpose."""
    try:
        yield
    except CsScoreError:
        raise
    except _WrongValueError as error:
        raise PackageError(f"{offer}: {name}: {error}; report it to the makers of the package") from None
    except (Exception, SystemExit) as error:
        problem = f"{type(error).__name__}: {error}"
        raise PackageError(f"{offer}: {name} failed: {problem}; report it to the makers of the package") from error


def _copied(mode: Mode) -> Mode:
    """Return a copy of a mode, which has the same class."""
    return with_attributes(type(mode), vars(mode))


def with_attributes(kind: type[Mode], attributes: Mapping[str, Any]) -> Mode:
    """Return a mode of a class that has these attributes."""
    mode = kind.__new__(kind)
    mode.__dict__.update(attributes)
    return mode
