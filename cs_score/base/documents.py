"""Documents: the JSON files that the package writes, and a strict reader that trusts no file. Each document has a kind,
such as `comparison`. A place in a document is written as `runs[2].score`.

A kind of document is a record and a row of `KINDS`; its fields are the keys of the JSON:

    class Comparison(Document, frozen=True, kw_only=True, tag="comparison"):
        schema_version: Literal[2] = 2
    json_text(comparison); checked_record(document_in(data, file), Comparison, file); cs-score schema comparison

In a valid document, all numbers are finite, the members of each object have different names, and the nesting is no
deeper than in the documents that the package writes. Strings may contain single surrogates, which represent file names
that are not UTF-8.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, to_builtins
from cs_score.base.signature import Origin
from cs_score.base.sources import Input, open_source
from cs_score.verbs import SLICES

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

_OWN_KINDS: Final[Mapping[str, Sequence[str]]] = {
    "score": (
        "coldstart.score_documents:RunScoresDocument",
        "evidence.report:PredictionScores",
        "evidence.report:ScoresOfRuns",
    ),
    "comparison": ("statistics.results:SystemComparison",),
    "power": ("statistics.planning:PowerPlan",),
    "aggregate": ("analysis.aggregate:Aggregate",),
    "sampled-pool": ("analysis.sampled_pools:SampledPoolDocument",),
    "problems": ("problems.reports:ProblemReport",),
    "problem-codes": ("problems.reports:ProblemCodes",),
}
"""The records of each kind of document that does not belong to a single command."""


def _list_kinds() -> dict[str, Sequence[str]]:
    """Return the paths of the classes of every kind of document: `{"power": ["statistics.planning:PowerPlan"]}`.

    A path is `module:class` below the package `cs_score`. The kinds of a command are listed by the command itself.
    """
    paths_by_kind = dict(_OWN_KINDS)
    for slice_ in SLICES:  # the folders of commands below `verbs`
        for kind, paths in slice_.documents.items():
            paths_by_kind[kind] = [f"verbs.{slice_.folder}.{path}" for path in paths]
    return paths_by_kind


KINDS: Final[Mapping[str, Sequence[str]]] = _list_kinds()
"""The records of each kind of document, `module:class`, that of Cold Start first; loaded when they are asked for."""


def json_pieces(value: object) -> Iterator[str]:
    """Yield the pieces of a record's JSON text, which is indented and ends in a line feed.

    Numbers are written so that they are read back as the same numbers. Raises InputError for a number that is not
    finite, which JSON cannot express.
    """
    json_value = to_builtins(value)
    with infinity_as_input_error(json_value):
        yield from json.JSONEncoder(indent=1, allow_nan=False).iterencode(json_value)
    yield "\n"


def json_line(value: Json) -> str:
    """Return a value of dictionaries, lists, texts and numbers as JSON on one line.

    Raises InputError for a number that is not finite, which JSON cannot express.
    """
    with infinity_as_input_error(value):
        return json.dumps(value, allow_nan=False)


@contextlib.contextmanager
def infinity_as_input_error(value: Json) -> Iterator[None]:
    """Raise InputError instead of the ValueError that `json` raises in the block for a number that is not finite.

    `value` is the value that the block writes as JSON; the error names the place of the number in it: `runs[2].score`.
    """
    try:
        yield
    except ValueError:
        place = _place_of_infinity(value)
        if place is None:  # all numbers are finite: this is another ValueError
            raise
        raise InputError(
            "a number of the result is not finite, and JSON has no such numbers",
            place=place or None,  # the place of the value itself is empty and is not named
            remedy="the inputs have numbers too large to compute with",
        ) from None


class _PlacedValue(NamedTuple):
    """A value inside a document, and its place there: `runs[2].score`, empty for the document itself."""

    place: str
    value: Json


def _all_values(value: Json, place: str) -> Iterator[_PlacedValue]:
    """Yield a value and all values inside it, each with its place; `place` is the place of the value itself.

    `{"runs": [0.5]}` at the place "" gives the dictionary at "", the list at "runs" and the number at "runs[0]".
    """
    yield _PlacedValue(place, value)
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _all_values(member, member_place(place, str(name)))
    elif isinstance(value, list | tuple):
        for number, entry in enumerate(value):
            yield from _all_values(entry, f"{place}[{number}]")


def _place_of_infinity(document: Json) -> str | None:
    """Return the place of the first number in a document that is infinite or not a number.

    Returns None if all numbers are finite.
    """
    for place, value in _all_values(document, ""):
        if isinstance(value, float) and not math.isfinite(value):
            return place
    return None


def json_text(value: object) -> str:
    """Return a record as JSON. Raises InputError for a number that is not finite."""
    return "".join(json_pieces(value))


@contextlib.contextmanager
def failures_as_input_error(file: str) -> Iterator[None]:
    """Turn any failure in the block, which makes the text of a document, into an InputError with the name of its file.

    A document from another source may fit the schema and still be incomplete. For example, a score or the name of a
    system may be missing.
    """
    try:
        yield
    except (LookupError, ValueError, TypeError, ArithmeticError, AttributeError) as error:
        problem = f"it has no {error}" if isinstance(error, KeyError) else f"it cannot be shown ({error})"
        remedy = "make it anew with this version"
        raise InputError(f"no whole document of cs-score: {problem}", file=file, remedy=remedy) from None


def schema_of(kind: str) -> dict[str, Json]:
    """Return the JSON Schema of a kind of documents, such as `comparison`, made from the records of the kind."""
    import pkgutil  # not imported at the start, since scoring does not need it

    classes = [pkgutil.resolve_name(f"cs_score.{name}") for name in KINDS[kind]]
    class_schemas, definitions = msgspec.json.schema_components(classes, ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = " ".join(definition["description"].split())  # on one line
    alternatives = list(class_schemas)
    union_schema: Json = alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    schema: dict[str, Json] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:cs-score:schema:{kind}",
        **union_schema,
        "$defs": definitions,
    }
    return document_in(json.dumps(schema), kind)  # tuples become lists


# ---- Reading JSON


class _Fault(str):
    """A problem of a JSON text. It replaces the refused value in the decoded value, so that its place can be found."""


class _FaultCollector:
    """Makes the numbers and objects for `json.loads`. In place of what a document may not hold, it makes a fault: a
    text about the problem.

    Faults are NaN, too large a number, and an object with two members of the same name. `faults` lists them in the
    order in which they were met.
    """

    def __init__(self) -> None:
        """Begin without any fault."""
        self.faults: list[_Fault] = []

    def parse_float(self, digits: str) -> float | _Fault:
        """Return the number that digits such as `1.5e3` mean, or a fault if it is too large to be finite."""
        number = float(digits)
        return number if math.isfinite(number) else self._refuse_number(digits)

    def parse_integer(self, digits: str) -> int | _Fault:
        """Return the whole number that digits mean, or a fault if there are too many of them.

        The time to read a whole number grows with the square of its length.
        """
        return int(digits) if len(digits) < _MOST_DIGITS else self._refuse_number(digits)

    def parse_constant(self, name: str) -> _Fault:
        """Return the fault that `NaN` or `Infinity` is no number of JSON."""
        return self._add_fault(f"{name} is no number of JSON")

    def parse_object(self, members: Sequence[tuple[str, Json]]) -> dict[str, Json] | _Fault:
        """Return the members of an object as a dictionary, or a fault if two of them have the same name."""
        value_by_name = dict(members)
        if len(value_by_name) == len(members):
            return value_by_name
        repeated_name = _first_repeated(name for name, _ in members)
        return self._add_fault(f"an object has two members {repeated_name!r}")

    def _refuse_number(self, digits: str) -> _Fault:
        """Return the fault that a number is too large."""
        number = digits if len(digits) <= 20 else f"a number of {len(digits)} characters"
        return self._add_fault(f"{number} is too large a number")

    def _add_fault(self, problem: str) -> _Fault:
        """Return a new fault with this problem, after adding it to the list."""
        fault = _Fault(problem)
        self.faults.append(fault)
        return fault


_MOST_DIGITS: Final = 300
"""The number of digits from which on a whole number is refused; no number of a document has so many."""


def read_document(file: Input, *, dash_is_stdin: bool = True) -> dict[str, Json]:
    """Return the object in a JSON file as a dictionary.

    With `dash_is_stdin` the path `-` is standard input. Raises InputError for a file that cannot be read, and for
    everything that `document_in` refuses.
    """
    with open_source(file, dash_is_stdin=dash_is_stdin) as source:
        data = source.read_bytes()
    return document_in(data, source.name)


def document_in(data: bytes | str, file: str) -> dict[str, Json]:
    """Return the object in a JSON text as a dictionary. `file` is the name of its file in messages.

    Raises InputError if the value is not an object, and for everything that `parse_json` refuses.
    """
    value = parse_json(data, file)
    if not isinstance(value, dict):
        raise InputError("no JSON object", file=file)
    return value


def parse_json(data: bytes | str, file: str) -> Json:
    """Return the value in a JSON text: a dictionary, list, text, number, boolean or None.

    `file` is the name of its file in messages. Raises InputError with the place for a text that is not UTF-8 or not
    JSON, for a number that is not finite, for two members with the same name, and for nesting that is too deep.
    """
    text = data if isinstance(data, str) else _decode_utf8(data, file)
    collector = _FaultCollector()
    value = _load_json(text, collector, file)  # wrong values are replaced by faults
    # Depth is checked first: the search for the place of a fault is recursive, and would fail in a deep value.
    if not _is_shallow(value):
        raise _nesting_error(text, file)
    if collector.faults:
        first_fault = collector.faults[0]
        place = _place_of_fault(value, first_fault)
        raise InputError(f"no JSON: {first_fault}", file=file, place=place or None)
    return value


def _decode_utf8(data: bytes, file: str) -> str:
    """Return the bytes of a file decoded as UTF-8. Raises InputError with the position of the first wrong byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=file, place=f"byte {error.start + 1}") from None


def _load_json(text: str, collector: _FaultCollector, file: str) -> Json:
    """Return the value in a JSON text. Numbers and objects that a document may not hold are replaced by faults.

    For example, `{"score": NaN}` gives a dictionary with a fault as its score. `collector` gets all faults. Raises
    InputError for a text that is not JSON, and for nesting so deep that Python cannot read it.
    """
    try:
        return json.loads(
            text,
            parse_float=collector.parse_float,
            parse_int=collector.parse_integer,
            parse_constant=collector.parse_constant,
            object_pairs_hook=collector.parse_object,
        )
    except RecursionError:
        raise _nesting_error(text, file) from None
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}", file=file, place=_position(text, error.pos)) from None


def _first_repeated(names: Iterable[str]) -> str:
    """Return the first name that is equal to an earlier one: `["a", "b", "a"]` gives `a`.

    Raises ValueError if all names are different.
    """
    earlier_names: set[str] = set()
    for name in names:
        if name in earlier_names:
            return name
        earlier_names.add(name)
    raise ValueError("no name is repeated")


def member_place(place: str, name: str) -> str:
    """Return the place of a member in a document, given the place of its object.

    `signature.inputs[2]` and `sha256` give `signature.inputs[2].sha256`. The place of the document itself is empty.
    """
    return f"{place}.{name}" if place else name


def _is_shallow(value: Json) -> bool:
    """Return whether a value is nested no deeper than `DEEPEST`, so that functions may walk through it recursively."""
    # The dictionaries and lists at one level: first the value itself, then those inside it, and so on.
    containers_of_level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        containers_of_next_level = []
        for container in containers_of_level:
            members = container.values() if isinstance(container, dict) else container
            containers_of_next_level += [member for member in members if isinstance(member, dict | list)]
        containers_of_level = containers_of_next_level
    return not containers_of_level


_TOKEN_PATTERN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)
"""A string or a bracket of JSON."""

_LEVELS_BY_BRACKET: Final = {"{": 1, "[": 1, "}": -1, "]": -1}
"""How many levels deeper a value is nested after a bracket than before it."""


def _nesting_error(text: str, file: str) -> InputError:
    """Return the error for a JSON text that is nested too deeply, with the place of the first excess bracket."""
    level = 0
    place = None
    for token in _TOKEN_PATTERN.finditer(text):
        level += _LEVELS_BY_BRACKET.get(token[0], 0)  # 0 for a string, which is one token with its brackets
        if level > DEEPEST:
            place = _position(text, token.start())
            break
    return InputError(f"no JSON that can be read: it is nested more than {DEEPEST} levels deep", file=file, place=place)


def _position(text: str, index: int) -> str:
    """Return the place of the character with an index in a text: `line 2, column 7`."""
    text_before = text[:index]
    line = text_before.count("\n") + 1
    column = index - text_before.rfind("\n")  # in the first line, `rfind` returns -1: the first column is 1
    return f"line {line}, column {column}"


def _place_of_fault(document: Json, fault: _Fault) -> str | None:
    """Return the place of a fault in a decoded document, such as `runs[2].score`, or None if the fault is not found.

    A fault is a text about a problem. It replaces a wrong number or, if two members of an object have the same name,
    the whole object.
    """
    for place, value in _all_values(document, ""):
        if value is fault:
            return place
    return None


# ---- Records of documents


def checked_record(value: Mapping[str, Json], kind: type[DocumentKind], file: str, place: str = "") -> DocumentKind:
    """Return an object that was read from a JSON file as a document, a record of the class `kind`.

    `file` is the name of the file, `place` the place of the object in it: empty for the whole file. Raises InputError
    with the place for an object of another kind or version, and for a value that does not fit its field.
    """
    check_kind(value, kind, file, place)
    return convert_value(value, kind, file, place)


def document_record(value: Mapping[str, Json], file: str) -> Any:
    """Return an object that was read from a JSON file as a document. Its `kind` and its `task` determine the class.

    `file` is the name of its file in messages. Raises InputError for everything that `checked_record` refuses.
    """
    import pkgutil  # not imported at the start, since scoring does not need it

    class_names = KINDS[value["kind"]]
    # Of the classes of a kind, the first is for the task Cold Start and the last for the other tasks.
    class_name = class_names[0] if value.get("task") == "coldstart" else class_names[-1]
    return checked_record(value, pkgutil.resolve_name(f"cs_score.{class_name}"), file)


def check_kind(value: Mapping[str, Json], kind: type[Document], file: str, place: str = "") -> None:
    """Raise InputError if an object is not a document of a kind, or has a version that is not read here.

    `file` is the name of its file, and `place` its place in it: empty for the whole file.
    """
    tag = kind.__struct_config__.tag
    if value.get("kind") != tag:
        raise InputError(f"is no {tag} that cs-score wrote", file=file, place=member_place(place, "kind"))
    # The only version that the annotation of the field allows, such as `Literal[2]`.
    [readable_version] = get_args(get_type_hints(kind)["schema_version"])
    version = value.get("schema_version")
    if version != readable_version:
        raise InputError(
            f"is {version!r}, where this version of cs-score reads {readable_version}",
            file=file,
            place=member_place(place, "schema_version"),
            remedy="make it anew with this version",
        )


def convert_value(value: Json, target_type: type[Kind], file: str, place: str = "") -> Kind:
    """Return a value read from JSON, such as a dictionary, as a record or another type (`target_type`).

    `file` is the name of its file, and `place` its place there: `origin.options`. Raises InputError with the place of a
    value that does not fit the type.
    """
    # Each class of errors gives a problem and its place, with which InputError is raised at the end.
    try:
        return msgspec.convert(value, target_type)
    except msgspec.ValidationError as error:
        problem, fault_place = _split_validation_message(str(error), place)
    except UnicodeEncodeError as error:
        problem = f"{error.object!r} is no Unicode text"
        fault_place = _place_of_text(value, error.object, place) or place
    except UsageError as error:  # from a record that checks its own fields
        problem = str(error)
        fault_place = place
    raise InputError(problem, file=file, place=fault_place or "the whole")


def _split_validation_message(message: str, place: str) -> tuple[str, str]:
    """Return the problem and the place of the fault from a message of msgspec about the value at a place.

    The message "Expected `int`, got `str` - at `$.units[2]`" about the value at "origin" gives the problem "Expected
    `int`, got `str`" and the place "origin.units[2]". msgspec writes `$` for the value itself.
    """
    problem, _, place_inside = message.partition(" - at `$")  # `place_inside` is ".units[2]`", with a backtick
    problem = re.sub("^Object missing required field `(.*)`$", r"has no \1", problem)
    fault_place = f"{place}{place_inside.removesuffix('`')}"
    return problem, fault_place.lstrip(".")  # without the dot of ".units" if `place` is empty


def _place_of_text(document: Json, text: str, place_of_document: str) -> str | None:
    """Return the place of a text inside a value of JSON.

    Returns None if the text is not there. If the text is the name of a member, the place of the object is returned.
    `place_of_document` is the place of the value itself.
    """
    for place, value in _all_values(document, place_of_document):
        has_member = isinstance(value, dict) and text in value
        if value == text or has_member:
            return place
    return None
