"""Documents: what the package writes as JSON, and the strict reader of it, since anybody may have written a file.

    class Comparison(Document, frozen=True, kw_only=True, tag="comparison"):   # and a row of KINDS; fields are the keys
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
"""A value as `json` reads it."""

Kind = TypeVar("Kind")

DEEPEST: Final = 50
"""Levels of objects and arrays; a result has fifteen."""


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
    """A record as JSON."""
    return "".join(json_pieces(value))


@contextlib.contextmanager
def refusing_incomplete(file: str) -> Iterator[None]:
    """Turn what fails while a document of a file is shown into an InputError with the file's name.

    What its records leave open may be missing or wrong in a document that somebody else has written, such as the names
    of two systems or the score of a measure.
    """
    try:
        yield
    except (LookupError, ValueError, TypeError, ArithmeticError, AttributeError) as error:
        problem = f"it has no {error}" if isinstance(error, KeyError) else f"it cannot be shown ({error})"
        remedy = "make it anew with this version"
        raise InputError(f"no whole document of cs-score: {problem}", file=file, remedy=remedy) from None


def schema_of(kind: str) -> dict[str, Json]:
    """The JSON Schema of a kind of documents, as its records have it."""
    import pkgutil  # scoring starts without it

    records = [pkgutil.resolve_name(f"cs_score.{name}") for name in KINDS[kind]]
    choices, definitions = msgspec.json.schema_components(records, ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = " ".join(definition["description"].split())
    whole = choices[0] if len(choices) == 1 else {"anyOf": list(choices)}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:cs-score:schema:{kind}",
        **whole,
        "$defs": definitions,
    }
    return document_in(json.dumps(schema), kind)


_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)


class _Fault(str):
    """A problem, which stands in a decoded value where something was refused, so that its place can be found."""


def read_document(given: Input, *, stdin_as_dash: bool = True) -> dict[str, Json]:
    """The object in a file. Raises InputError for a file that cannot be read, and as `document_in` does."""
    with open_source(given, stdin_as_dash=stdin_as_dash) as source:
        name, data = source.name, source.read_bytes()
    return document_in(data, name)


def document_in(data: bytes | str, file: str) -> dict[str, Json]:
    """The object that JSON text is. Raises InputError with the place for what is no document."""
    value = value_in(data, file)
    if not isinstance(value, dict):
        raise InputError("no JSON object", file=file)
    return value


def value_in(data: bytes | str, file: str) -> Json:
    """The value that JSON text is. Raises InputError with the place for what no document may hold."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=file, place=f"byte {error.start + 1}") from None
    faults: list[_Fault] = []

    def refused(problem: str) -> _Fault:
        faults.append(_Fault(problem))
        return faults[-1]

    def too_large(digits: str) -> _Fault:
        shown = digits if len(digits) <= 20 else f"a number of {len(digits)} characters"
        return refused(f"{shown} is too large a number")

    def members(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json] | _Fault:
        value_by_name = dict(pairs)
        if len(value_by_name) == len(pairs):
            return value_by_name
        return refused(f"an object has two members {_first_repeated(name for name, _ in pairs)!r}")

    try:
        value = json.loads(
            text,
            parse_float=lambda digits: number if math.isfinite(number := float(digits)) else too_large(digits),
            parse_int=lambda digits: int(digits) if len(digits) < 300 else too_large(digits),
            parse_constant=lambda name: refused(f"{name} is no number of JSON"),
            object_pairs_hook=members,
        )
    except RecursionError:
        raise _too_deep(text, file) from None
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}", file=file, place=_position(text, error.pos)) from None
    if not _is_shallow(value):
        raise _too_deep(text, file)
    if faults:
        raise InputError(f"no JSON: {faults[0]}", file=file, place=next(_places(value, faults[0], ""), None) or None)
    return value


def _first_repeated(names: Iterable[str]) -> str:
    """Return the first name that an earlier one repeats; there must be one."""
    earlier: set[str] = set()
    for name in names:
        if name in earlier:
            return name
        earlier.add(name)
    raise ValueError("no name is repeated")


def member_place(place: str, name: str) -> str:
    """The place of a member of the object at a place: `signature.inputs[2].sha256`."""
    return f"{place}.{name}".lstrip(".")


def _is_shallow(value: Json) -> bool:
    """Whether a value can be walked through without a thought for the depth of calls."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for values in inner for each in values if isinstance(each, dict | list)]
    return not level


def _too_deep(text: str, file: str) -> InputError:
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if depth > DEEPEST:
            break
    problem = f"no JSON that can be read: it is nested more than {DEEPEST} levels deep"
    return InputError(problem, file=file, place=_position(text, token.start()))


def _position(text: str, at: int) -> str:
    before = text[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - before.rfind(chr(10))}"


def _places(value: Json, wanted: _Fault, place: str) -> Iterator[str]:
    """Where a value stands; that of a refused object is the object's own."""
    if value is wanted:
        yield place
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _places(each, wanted, member_place(place, name))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _places(each, wanted, f"{place}[{at}]")


def record_in(value: Mapping[str, Json], kind: type[DocumentKind], file: str, place: str = "") -> DocumentKind:
    """An object as a document of a kind. Raises InputError with the place for another kind, version or shape."""
    check_kind(value, kind, file, place)
    return converted(value, kind, file, place)


def document_record(value: Mapping[str, Json], file: str) -> Any:
    """An object as the document that its kind and its task say. Raises InputError as `record_in`."""
    import pkgutil  # scoring starts without it

    names = KINDS[value["kind"]]
    name = names[0 if value.get("task") == "coldstart" else -1]
    return record_in(value, pkgutil.resolve_name(f"cs_score.{name}"), file)


def check_kind(value: Mapping[str, Json], kind: type[Document], file: str, place: str = "") -> None:
    """Raises InputError with the place for an object of another kind or version."""
    tag = kind.__struct_config__.tag
    if value.get("kind") != tag:
        raise InputError(f"is no {tag} that cs-score wrote", file=file, place=member_place(place, "kind"))
    (known,) = get_args(get_type_hints(kind)["schema_version"])
    if value.get("schema_version") != known:
        raise InputError(
            f"is {value.get('schema_version')!r}, where this version of cs-score reads {known}",
            file=file,
            place=member_place(place, "schema_version"),
            remedy="make it anew with this version",
        )


def converted(value: Json, kind: type[Kind], file: str, place: str = "") -> Kind:
    """A value of a document as a record or another type. Raises InputError with the place where it is none."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problem, _, within = str(error).partition(" - at `$")
        problem = re.sub("^Object missing required field `(.*)`$", r"has no \1", problem)
        raise InputError(problem, file=file, place=f"{place}{within[:-1]}".lstrip(".") or "the whole") from None
    except UnicodeEncodeError as error:
        text_place = next(_places_of_text(value, error.object, place), place)
        raise InputError(f"{error.object!r} is no Unicode text", file=file, place=text_place or "the whole") from None
    except UsageError as error:
        raise InputError(str(error), file=file, place=place or "the whole") from None


def _places_of_text(value: Json, text: str, place: str) -> Iterator[str]:
    """Yield the places where a text stands; that of a member's name is the object's own."""
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
