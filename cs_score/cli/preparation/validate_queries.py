"""`cs-score validate-queries QUERYFILE OUTPUTFILE` (specification of the companions, 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, TypeVar

from cs_score.base.errors import UsageError
from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing, PlannedOutput
from cs_score.cli.destinations import Destination, file_named, write_result
from cs_score.cli.form import Parameter
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.preparation.program import (
    ERROR_FILE,
    PROBLEMS,
    Program,
    Session,
)
from cs_score.coldstart.query_files import load_queries
from cs_score.preparation.queries import (
    SUBTYPE_ACTIONS,
    TYPE_ACTIONS,
    Duplicates,
    HopChecks,
    QueryOptions,
    query_file_text,
    validate_queries,
)

DEFAULT_BASE: Final = "TAC2015CS"
DEFAULT_LANGUAGES: Final = "ENGLISH:CHINESE:SPANISH"

PROGRAM: Final = Program(
    "validate-queries",
    (
        Option("-dups", "VALUE", "Queries that share entry points: none, ignore, delete", "none"),
        ERROR_FILE,
        Option("-expand", None, "Write one query for each entry point"),
        Option("-index_file", "FILE", "Names of expanded queries, each with the name it comes from"),
        Option("-languages", "LIST", "Colon-separated languages to write; empty for all", DEFAULT_LANGUAGES),
        Option("-query_base", "BASE", "Beginning of the names of expanded queries", DEFAULT_BASE),
        Option("-retain_sf", None, "Leave out event and sentiment slots"),
        Option("-subtypes", "VALUE", "Places that do not fit: none, repair, delete-slot, delete-query", "none"),
        Option("-types", "VALUE", "Slots that do not fit: none, delete-slot, delete-query", "none"),
        *PROBLEMS,
    ),
    (
        Parameter("queryfile", "The queries"),
        Parameter("outputfile", "A new file for the validated queries", is_output=True),
    ),
    outputs=lambda line: _outputs(line),
    work=lambda line, session: _validate(line, session),
)

_Choice = TypeVar("_Choice", bound=StrEnum)


def _validate(line: CommandLine, session: Session) -> int:
    query_file, output_file = line.words
    output, index = file_named(output_file), _index(line)
    checks = HopChecks(_choice(line, "-types", TYPE_ACTIONS), _choice(line, "-subtypes", SUBTYPE_ACTIONS))
    duplicates = _choice(line, "-dups", tuple(Duplicates))
    session.report_to(line.text("-error_file", "stderr"))
    base = line.text("-query_base", DEFAULT_BASE) if "-expand" in line.switches else None
    languages = frozenset(filter(None, line.text("-languages", DEFAULT_LANGUAGES).split(":")))
    options = QueryOptions(checks, duplicates, base, languages, "-retain_sf" in line.switches)
    queries = load_queries([query_file], None, session.problems)
    for remark in queries.remarks:
        session.remark(remark)
    validated = validate_queries(queries.table, options, session.problems)
    text = query_file_text(validated.queries)

    def write() -> None:
        write_result(output, encoded((text,)))
        if index is not None:
            pairs = "".join(f"{expanded}\t{origin}\n" for expanded, origin in validated.index)
            write_result(index, encoded((pairs,)))

    return session.finish(write, write_in_spite_of_errors=True)


def _choice(line: CommandLine, name: str, choices: Sequence[_Choice]) -> _Choice:
    text = line.text(name, "none").lower()
    for choice in choices:
        if choice.value == text:
            return choice
    raise UsageError(f"Unknown {name} argument: {text}; choose {', '.join(choice.value for choice in choices)}")


def _outputs(line: CommandLine) -> Iterator[PlannedOutput]:
    yield from file_named(line.words[1]).planned("OUTPUTFILE", Existing.REFUSED)
    if (index := _index(line)) is not None:
        yield from index.planned("-index_file", Existing.REFUSED)


def _index(line: CommandLine) -> Destination | None:
    name = line.switches.get("-index_file")
    return None if name is None else Destination(name)
