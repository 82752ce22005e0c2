"""Predicates that users define in a file of their own (specification 2.3)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.sources import open_source
from cs_score.coldstart.queries import NODE_TYPES, Predicate
from cs_score.knowledge_base.contents.predicates import NONE, PredicateTable

_FILE_NAME: Final = re.compile(r"(\w+)\.predicates\.txt")


def load_predicates(path: str, table: PredicateTable) -> None:
    """Add the predicates of a file LABEL.predicates.txt. Raises InputError for what cannot be added."""
    name = _FILE_NAME.fullmatch(os.path.basename(path))
    if name is None:
        raise InputError(
            "Filename for predicates files should be <label>.predicates.txt", file=path, code="ILLEGAL_USER_PREDICATES"
        )
    with open_source(path, stdin_as_dash=False) as source:
        data = source.read_bytes()
    try:
        text = data.decode("utf-8").lower()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", file=path, place=f"line {line}", code="NOT_UTF8") from None
    for number, line_text in enumerate(text.split("\n"), 1):
        columns = line_text.split()
        if columns and not columns[0].startswith("#"):
            _add(columns, name.group(1).upper(), table, path, number)


def _add(columns: list[str], label: str, table: PredicateTable, path: str, line: int) -> None:
    """Add the predicate of a line and its inverse."""

    def reject(problem: str) -> InputError:
        return InputError(problem, file=path, place=f"line {line}", code="ILLEGAL_USER_PREDICATES")

    domains, name, ranges, inverse = (*columns, "", "", "")[:4]  # missing columns are empty
    domain, range_ = _types(domains), _types(ranges)
    for node_type in domain:
        if node_type not in NODE_TYPES:
            raise reject(f"Illegal domain type: {node_type}")
    for node_type in range_:
        if node_type not in NODE_TYPES and node_type != "type":
            raise reject(f"Illegal range type: {node_type}")
    plain, inverse_plain = name.removesuffix("*"), inverse.removesuffix("*")
    defined = [(domains, _predicate(name, domain, range_, inverse_plain))]
    back = [node_type for node_type in range_ if node_type != "string"]
    if inverse_plain != NONE and back:
        defined.append((",".join(back), _predicate(inverse, back, domain, plain)))
    for written, predicate in defined:
        if not _is_known(predicate, written, table, reject):
            table.define(predicate, label)


def _types(text: str) -> list[str]:
    return [node_type for node_type in text.split(",") if node_type]


def _predicate(name: str, domain: list[str], range_: list[str], inverse: str) -> Predicate:
    return Predicate(
        name.removesuffix("*"),
        frozenset(domain),
        frozenset(range_),
        name.endswith("*"),
        None if inverse == NONE else inverse,
    )


def _is_known(predicate: Predicate, domain: str, table: PredicateTable, reject: Callable[[str], InputError]) -> bool:
    """Whether a predicate agrees with one there is; it must not change that one. Raises what `reject` makes."""
    for verb in table.named(predicate.name):
        known = verb.predicate
        if not (predicate.domain <= known.domain and predicate.range <= known.range):
            continue
        what = f"of predicate {domain}:{predicate.name} from"
        if predicate.inverse != known.inverse:
            raise reject(f"Attempt to redefine inverse {what} {_inverse(known)} to {_inverse(predicate)}")
        if predicate.single != known.single:
            raise reject(f"Attempt to redefine quantity {what} {_quantity(known)} to {_quantity(predicate)}")
        return True
    return False


def _inverse(predicate: Predicate) -> str:
    return NONE if predicate.inverse is None else predicate.inverse


def _quantity(predicate: Predicate) -> str:
    return "single" if predicate.single else "list"
