"""Documents: the JSON that the package writes, and a strict reader for it, since anybody may have written a file.

A kind of document is a record and a row of `KINDS`; its fields are the keys of the JSON:

    class Comparison(Document, frozen=True, kw_only=True, tag="comparison"):
        schema_version: Literal[2] = 2
    json_text(comparison); record_in(document_in(data, file), Comparison, file); cs-score schema comparison

A document is an object whose numbers are finite, whose members have different names, and that is nested no deeper than
any of ours. Strings may hold single surrogates: names of files that are not UTF-8 are written so.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, to_builtins
from cs_score.base.signature import Origin
from cs_score.base.sources import Input, open_source

Json: TypeAlias = Any
"""A value as `json` reads it: a dictionary, list, text, number, boolean or None."""

Kind = TypeVar("Kind")

DEEPEST: Final = 50
"""Levels of objects and arrays that a document may have; a result has fifteen."""


class Document(Record, frozen=True, kw_only=True, tag_field="kind"):
    """The head that all documents share; a subclass names its kind as `tag` and gives `schema_version` its number.

    `measure` is the one that the document is about, `signature` the citable line, `origin` what it was computed from.
    What is about several runs has signatures and origins of its own.
    """

    schema_version: int
    task: str
    measure: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET
    origin: Origin | UnsetType = UNSET


DocumentKind = TypeVar("DocumentKind", bound=Document)

KINDS: Final[Mapping[str, Sequence[str]]] = {
    "batch": ("batch.documents:Overview",),
    "batch-run": ("batch.documents:Outcome",),
    "analysis": ("analysis.coldstart.analysis:Analysis", "analysis.evidence.documents:Analysis"),
    "aggregate": ("analysis.aggregate:Aggregate",),
    "difference": ("analysis.coldstart.difference:Difference", "analysis.evidence.documents:Difference"),
    "comparison": ("statistics.results:Comparison",),
    "power": ("statistics.planning:Power",),
    "assessors": ("analysis.many.assessors:Assessors",),
    "sampled-pool": ("analysis.many.sampled_pools:SampledPool",),
    "pool-bias": ("analysis.many.pool_bias:PoolBias",),
    "problems": ("problems.reports:ProblemReport",),
    "problem-codes": ("problems.reports:ProblemCodes",),
    "kb-statistics": ("knowledge_base.writers:KbStatistics",),
    "score": ("coldstart.documents:Scores", "evidence.report:Scores", "evidence.report:ScoresOfRuns"),
    "check": ("verification.checking:Checked",),
    "bundle": ("bundle.settings:Bundle",),
    "lock": ("verification.locks:Lock",),
    "verification": ("verification.verifying:Verification",),
    "leaderboard": ("batch.documents:Leaderboard",),
    "explanation": ("analysis.coldstart.explanation.document:Explanation", "analysis.evidence.documents:Explanation"),
}
"""The records of each kind of document, `module:class`, that of Cold Start first; loaded when they are asked for."""


def json_pieces(value: object) -> Iterator[str]:
    """Yield a record as JSON, in pieces.

    Numbers are written as Python's `json` does, which reads them back as the same. Raises InputError for a number that
    is not finite: JSON has none, and no result should.
    """
    plain = to_builtins(value)
    with refusing_infinity(plain):
        yield from json.JSONEncoder(indent=1, allow_nan=False).iterencode(plain)
    yield "\n"


def json_line(plain: Json) -> str:
    """Return a plain value as JSON on one line. Raises InputError for a number that is not finite."""
    with refusing_infinity(plain):
        return json.dumps(plain, allow_nan=False)


@contextlib.contextmanager
def refusing_infinity(plain: Json) -> Iterator[None]:
    """Turn the ValueError of `json` for a number of `plain` that is not finite into an InputError with its place."""
    try:
        yield
    except ValueError:
        place = next(_places_of_infinity(plain, ""), None)
        if place is None:
            raise
        raise InputError(
            "a number of the result is not finite, and JSON has no such numbers",
            place=place or None,
            remedy="the inputs have numbers too large to compute with",
        ) from None


def _places_of_infinity(value: Json, place: str) -> Iterator[str]:
    """Yield the places of numbers that are infinite or undefined."""
    if isinstance(value, float) and not math.isfinite(value):
        yield place
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _places_of_infinity(member, member_place(place, str(name)))
    elif isinstance(value, list | tuple):
        for number, entry in enumerate(value):
            yield from _places_of_infinity(entry, f"{place}[{number}]")


def json_text(value: object) -> str:
    """Return a record as JSON. Raises InputError for a number that is not finite."""
    return "".join(json_pieces(value))


@contextlib.contextmanager
def refusing_incomplete(file: str) -> Iterator[None]:
    """Turn any failure while a document is shown into an InputError with the name of its file.

    Records leave some things open, such as the names of two systems or the scores by measure. They may be missing or
    wrong in a document that somebody else has written.
    """
    try:
        yield
    except (LookupError, ValueError, TypeError, ArithmeticError, AttributeError) as error:
        problem = f"it has no {error}" if isinstance(error, KeyError) else f"it cannot be shown ({error})"
        remedy = "make it anew with this version"
        raise InputError(f"no whole document of cs-score: {problem}", file=file, remedy=remedy) from None


def schema_of(kind: str) -> dict[str, Json]:
    """Return the JSON Schema of a kind of documents, made from its records."""
    import pkgutil  # scoring starts without it

    records = [pkgutil.resolve_name(f"cs_score.{name}") for name in KINDS[kind]]
    choices, definitions = msgspec.json.schema_components(records, ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = " ".join(definition["description"].split())
    document_schema = choices[0] if len(choices) == 1 else {"anyOf": list(choices)}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:cs-score:schema:{kind}",
        **document_schema,
        "$defs": definitions,
    }
    return document_in(json.dumps(schema), kind)


# ---- Reading JSON


class _Fault(str):
    """A problem of a JSON text. It replaces the refused value in the decoded value, so that its place can be found."""


class _FaultCollector:
    """The hooks of `json.loads` that refuse what no document may hold; `faults` has the problems in order."""

    def __init__(self) -> None:
        self.faults: list[_Fault] = []

    def parse_float(self, digits: str) -> float | _Fault:
        """Return a number, or the fault that it is too large to be finite."""
        number = float(digits)
        return number if math.isfinite(number) else self._too_large(digits)

    def parse_integer(self, digits: str) -> int | _Fault:
        """Return a whole number, or the fault that it is too large: the time to read it grows with its square."""
        return int(digits) if len(digits) < _MOST_DIGITS else self._too_large(digits)

    def parse_constant(self, name: str) -> _Fault:
        """Return the fault that NaN or Infinity is no number of JSON."""
        return self._refuse(f"{name} is no number of JSON")

    def parse_object(self, members: Sequence[tuple[str, Json]]) -> dict[str, Json] | _Fault:
        """Return an object as a dictionary, or the fault that two members have the same name."""
        value_by_name = dict(members)
        if len(value_by_name) == len(members):
            return value_by_name
        return self._refuse(f"an object has two members {_first_repeated(name for name, _ in members)!r}")

    def _too_large(self, digits: str) -> _Fault:
        """Return the fault that a number is too large."""
        number = digits if len(digits) <= 20 else f"a number of {len(digits)} characters"
        return self._refuse(f"{number} is too large a number")

    def _refuse(self, problem: str) -> _Fault:
        """Return a new fault, and add it to the list."""
        fault = _Fault(problem)
        self.faults.append(fault)
        return fault


_MOST_DIGITS: Final = 300
"""Digits of a whole number; none that means something has as many."""


def read_document(file: Input, *, stdin_as_dash: bool = True) -> dict[str, Json]:
    """Return the object in a file of JSON. Raises InputError for an unreadable file, and as `document_in` does."""
    with open_source(file, stdin_as_dash=stdin_as_dash) as source:
        data = source.read_bytes()
    return document_in(data, source.name)


def document_in(data: bytes | str, file: str) -> dict[str, Json]:
    """Return the object in a text of JSON. Raises InputError with the place for another value, and as `value_in`."""
    value = value_in(data, file)
    if not isinstance(value, dict):
        raise InputError("no JSON object", file=file)
    return value


def value_in(data: bytes | str, file: str) -> Json:
    """Return the value in a text of JSON.

    Raises InputError with the place for a text that is not UTF-8 or not JSON, for numbers that are not finite, for two
    members of the same name, and for deep nesting. `file` is the name in the error.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=file, place=f"byte {error.start + 1}") from None
    collector = _FaultCollector()
    try:
        value = json.loads(
            text,
            parse_float=collector.parse_float,
            parse_int=collector.parse_integer,
            parse_constant=collector.parse_constant,
            object_pairs_hook=collector.parse_object,
        )
    except RecursionError:
        raise _too_deep(text, file) from None
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}", file=file, place=_position(text, error.pos)) from None
    if not _is_shallow(value):
        raise _too_deep(text, file)
    if collector.faults:
        fault = collector.faults[0]
        place = next(_places_of_fault(value, fault, ""), None)
        raise InputError(f"no JSON: {fault}", file=file, place=place or None)
    return value


def _first_repeated(names: Iterable[str]) -> str:
    """Return the first name that an earlier one repeats; there must be one."""
    earlier_names: set[str] = set()
    for name in names:
        if name in earlier_names:
            return name
        earlier_names.add(name)
    raise ValueError("no name is repeated")


def member_place(place: str, name: str) -> str:
    """Return the place of a member of the object at a place: `signature.inputs[2]`, `sha256` gives
    `signature.inputs[2].sha256`.
    """
    return f"{place}.{name}".lstrip(".")


def _is_shallow(value: Json) -> bool:
    """Return whether a value is nested no deeper than `DEEPEST`, so that functions may walk through it recursively."""
    containers = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner_containers = []
        for container in containers:
            members = container.values() if isinstance(container, dict) else container
            inner_containers += [member for member in members if isinstance(member, dict | list)]
        containers = inner_containers
    return not containers


_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)
"""A string or a bracket of JSON."""

_DEPTH_BY_BRACKET: Final = {"{": 1, "[": 1, "}": -1, "]": -1}


def _too_deep(text: str, file: str) -> InputError:
    """Return the error for a text of JSON that is nested too deeply, with the place of the first bracket too many."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += _DEPTH_BY_BRACKET.get(token[0], 0)
        if depth > DEEPEST:
            break
    problem = f"no JSON that can be read: it is nested more than {DEEPEST} levels deep"
    return InputError(problem, file=file, place=_position(text, token.start()))


def _position(text: str, index: int) -> str:
    """Return the place of a character: `line 2, column 7`."""
    text_before = text[:index]
    line = text_before.count("\n") + 1
    column = index - text_before.rfind("\n")
    return f"line {line}, column {column}"


def _places_of_fault(value: Json, fault: _Fault, place: str) -> Iterator[str]:
    """Yield the places of a fault in a value at a place. A refused object has its own place, not that of a member."""
    if value is fault:
        yield place
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _places_of_fault(member, fault, member_place(place, name))
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _places_of_fault(entry, fault, f"{place}[{number}]")


# ---- Records of documents


def record_in(value: Mapping[str, Json], kind: type[DocumentKind], file: str, place: str = "") -> DocumentKind:
    """Convert an object to a document of a kind.

    Raises InputError with the place for another kind, version or shape. `place` is that of the object in the file.
    """
    check_kind(value, kind, file, place)
    return convert_value(value, kind, file, place)


def document_record(value: Mapping[str, Json], file: str) -> Any:
    """Convert an object to the document that its members `kind` and `task` name. Raises InputError as `record_in`."""
    import pkgutil  # scoring starts without it

    names = KINDS[value["kind"]]
    name = names[0 if value.get("task") == "coldstart" else -1]
    return record_in(value, pkgutil.resolve_name(f"cs_score.{name}"), file)


def check_kind(value: Mapping[str, Json], kind: type[Document], file: str, place: str = "") -> None:
    """Raise InputError with the place for an object of another kind or version."""
    tag = kind.__struct_config__.tag
    if value.get("kind") != tag:
        raise InputError(f"is no {tag} that cs-score wrote", file=file, place=member_place(place, "kind"))
    [version] = get_args(get_type_hints(kind)["schema_version"])
    if value.get("schema_version") != version:
        raise InputError(
            f"is {value.get('schema_version')!r}, where this version of cs-score reads {version}",
            file=file,
            place=member_place(place, "schema_version"),
            remedy="make it anew with this version",
        )


def convert_value(value: Json, kind: type[Kind], file: str, place: str = "") -> Kind:
    """Convert a value read from JSON, such as a dictionary, to a record or another type.

    `file` is the file that it was read from, and `place` its place there: `origin.options`. Raises InputError with the
    place inside the value that does not fit the type.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        # The message ends in the place inside the value: "Expected `int`, got `str` - at `$.units[2]`".
        problem, _, place_inside = str(error).partition(" - at `$")
        problem = re.sub("^Object missing required field `(.*)`$", r"has no \1", problem)
        fault_place = f"{place}{place_inside.removesuffix('`')}".lstrip(".")
    except UnicodeEncodeError as error:
        problem = f"{error.object!r} is no Unicode text"
        fault_place = next(_places_of_text(value, error.object, place), place)
    except UsageError as error:  # from a record that checks its own fields
        problem = str(error)
        fault_place = place
    raise InputError(problem, file=file, place=fault_place or "the whole")


def _places_of_text(value: Json, text: str, place: str) -> Iterator[str]:
    """Yield the places of a text in a value at a place; for the name of a member the place of its object."""
    if value == text:
        yield place
    elif isinstance(value, dict):
        if text in value:
            yield place
        for name, member in value.items():
            yield from _places_of_text(member, text, member_place(place, name))
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _places_of_text(entry, text, f"{place}[{number}]")
