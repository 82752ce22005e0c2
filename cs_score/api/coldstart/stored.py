"""A Cold Start result that was stored as JSON (`--json`, `RunResult.to_json`), without the lines of its runs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from cs_score.api.coldstart.records import RECORDS
from cs_score.api.coldstart.rows import query_values
from cs_score.api.kinds import Values, field_types
from cs_score.base.errors import CsScoreError, InputError
from cs_score.coldstart.documents import SCHEMA_VERSION
from cs_score.coldstart.judging import Counts, sum_counts
from cs_score.coldstart.options import Justifications, Policy
from cs_score.coldstart.projection import ALL_LEVELS
from cs_score.measures.registry import parse
from cs_score.verification.recorded import origin_of

Object: TypeAlias = Mapping[str, Any]


MALFORMED: Final = (KeyError, TypeError, ValueError, AttributeError, CsScoreError)
"""What reading an object raises that is not as it should be."""


def not_whole(error: Exception, name: str) -> InputError:
    """The error for an object that is not as it should be."""
    if isinstance(error, InputError):
        return error
    return InputError(f"no whole result of cs-score ({type(error).__name__}: {error})", file=name)


def check_version(version: object, known: int, name: str) -> None:
    """Raises InputError for JSON of another schema."""
    if version != known:
        raise InputError(
            f"schema version {version!r} where this version of cs-score reads {known}",
            file=name,
            remedy="score the files again",
        )


class Stored:
    """What the JSON object `told` says. Raises InputError where it is no whole result."""

    def __init__(self, told: Object, name: str) -> None:
        self._told = told
        check_version(told.get("schema_version"), SCHEMA_VERSION, name)
        try:
            self.origin: Final = origin_of(told["signature"], name, "signature")
            options = self.origin.options
            self.policy: Final = Policy(*(plain_texts(options[side]) for side in ("right", "wrong", "ignore")))
            self.limits: Final = Justifications.parse(str(options["justifications"]))
            self.scores: Final = {plain_text(run["run_id"]): _scores(run["scores"]) for run in told["runs"]}
            self.remarks: Final = plain_texts(told["remarks"])
            self.errors: Final = int(told["errors"])
            self.warnings: Final = int(told["warnings"])
            for kind in RECORDS:
                _check(kind, self.values(kind))
        except MALFORMED as error:
            raise not_whole(error, name) from None

    def values(self, kind: str) -> Iterator[Values]:
        """The values of all records of a kind."""
        if kind == "problems":
            return _problem_rows(self._told["problems"])
        of_run = _ROWS[kind]
        return (values for run in self._told["runs"] for values in of_run(run["run_id"], run))

    def json(self) -> str:
        """The same text as the result had."""
        return json.dumps(self._told, indent=1) + "\n"


def plain_text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{given!r} where a text should be")
    return given


def plain_texts(given: object) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise TypeError(f"{given!r} where a list should be")
    return tuple(map(plain_text, given))


def _scores(given: Mapping[str, object]) -> dict[str, float]:
    for name, score in given.items():
        parse(name)
        if not isinstance(score, float):
            raise TypeError(f"score {score!r}")
    return dict(given)  # type: ignore[arg-type]  # all are floats


_TYPES: Final[Mapping[str, type]] = {"str": str, "int": int, "float": float, "None": type(None)}


def _check(kind: str, rows: Iterator[Values]) -> None:
    """Raises TypeError where a value is not what a record of its kind may hold."""
    fields = field_types(RECORDS[kind])
    legal = [tuple(_TYPES[name] for name in annotation.split(" | ")) for annotation in fields.values()]
    for values in rows:
        for name, value, types in zip(fields, values, legal):
            if not isinstance(value, types):
                raise TypeError(f"{name} is {value!r} in {kind}")


def _table_rows(run_id: str, run: Object) -> Iterator[Values]:
    for table, rows in run["tables"].items():
        for row in rows["rows"]:
            counts = (None,) * len(Counts._fields) if row["counts"] is None else _counts(row)
            yield (run_id, table, row["name"], row["level"], *counts, row["precision"], row["recall"], row["f1"])


def _counts(row: Object) -> Counts:
    return Counts(*(row["counts"][name] for name in Counts._fields))


def _query_rows(run_id: str, run: Object) -> Iterator[Values]:
    counts_of: dict[str, list[Counts]] = defaultdict(list)
    for row in run["tables"]["SF"]["rows"]:
        counts_of[row["name"].partition(":")[0]].append(_counts(row))
    ranked = {} if run["average_precision"] is None else run["average_precision"]["tables"]["SF"]
    scores = {row["name"]: row["average_precision"] for row in ranked.get("rows", ()) if row["level"] == ALL_LEVELS}
    for query, unit in run["queries"].items():
        yield query_values(run_id, query, unit, sum_counts(counts_of[query]), scores.get(query))


def _response_rows(run_id: str, run: Object) -> Iterator[Values]:
    for response in run["responses"]:
        met = response["assessment"] or {"file": None, "line": None, "class": None}
        yield (
            run_id, response["row"], response["query"], response["file"], response["line"], response["node"],
            response["value"], response["confidence"], met["file"], met["line"], met["class"],
            response["pre_policy"], ",".join(response["post_policy"]),
        )  # fmt: skip


def _ranking_rows(run_id: str, run: Object) -> Iterator[Values]:
    for ranking in () if run["average_precision"] is None else run["average_precision"]["rankings"]:
        head = (run_id, ranking["query"], ranking["level"], ranking["average_precision"], ranking["ground_truth"])
        for rank, node in enumerate(ranking["nodes"], 1):
            of_node = (node[name] for name in ("node", "confidence", "mapped_class", "value", "line"))
            yield (*head, rank, *of_node)
        if not ranking["nodes"]:
            yield (*head, None, None, None, None, None, None)


def _problem_rows(problems: Sequence[Object]) -> Iterator[Values]:
    for problem in problems:
        for place in problem["places"]:
            file, line = (None, None) if place is None else (place["file"], place["line"])
            yield (problem["code"], problem["severity"], problem["message"], problem["occurrences"], file, line)


_ROWS: Final[Mapping[str, Callable[[str, Object], Iterator[Values]]]] = {
    "rows": _table_rows,
    "queries": _query_rows,
    "responses": _response_rows,
    "rankings": _ranking_rows,
}
