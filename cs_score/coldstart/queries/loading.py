"""Loading query files: all of them into one table, expanded where that is asked for (specification 3)."""

from __future__ import annotations

from collections.abc import Iterable

from cs_score.base.records import Record
from cs_score.base.sources import Input, InputDigest, name_of, open_source
from cs_score.coldstart.queries.query_files import read_query_file
from cs_score.coldstart.queries.query_set import Query, QuerySet, build_query_set
from cs_score.coldstart.spans import DocumentLengths
from cs_score.problems.log import Place, ProblemLog


class QueryFiles(Record):
    """The queries of some files: the query table, remarks on the files, and their digests."""

    table: QuerySet
    remarks: list[str]
    digests: list[InputDigest]


def load_queries(
    files: Iterable[Input], base: str | None, problems: ProblemLog, documents: DocumentLengths | None = None
) -> QueryFiles:
    """Read query files and expand the queries where a `base` of the new names is given.

    Raises InputError where a file cannot be read or an id cannot be parsed.
    """
    loaded: list[Query] = []
    names: list[str] = []
    remarks: list[str] = []
    digests: list[InputDigest] = []
    for given in files:
        names.append(name_of(given))
        with open_source(given) as source:
            query_file = read_query_file(source, problems, documents)
        loaded += query_file.queries
        digests.append(query_file.digest)
        if query_file.note is not None:
            remarks.append(query_file.note)
    if names and not loaded:
        shown = ", ".join(names)
        problems.add("NO_QUERIES_LOADED", place=Place(shown, 0, f"files({shown})"))
    return QueryFiles(build_query_set(loaded, base, problems), remarks, digests)
