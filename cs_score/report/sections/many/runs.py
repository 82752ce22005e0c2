"""The runs of a batch: what they are called on a page, and where their own pages are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from cs_score.base.display import cell
from cs_score.batch.store.pages import page_name
from cs_score.report.model import Column, Table, Value, kept
from cs_score.report.schema import Fault

Document = Mapping[str, Any]

_COLUMNS = {"LDC query": "ldc"}
"""The column of the table of units on a run's page that a unit of the batch stands in, where it is not its first."""


def labels_of(document: Document) -> list[str]:
    """The names of the runs, with the run id where several share a name."""
    runs = document["runs"]
    often = Counter(each["run"] for each in runs)
    return [each["run"] if often[each["run"]] == 1 else f"{each['run']} {each['run_id']}" for each in runs]


def label_of(document: Document, row: Mapping[str, Any]) -> str:
    """The name of a run in the leaderboard."""
    place = place_of(document, row)
    return str(row["run"]) if place is None else labels_of(document)[place]


def place_of(document: Document, row: Mapping[str, Any]) -> int | None:
    """The place among `runs` of a row of the leaderboard; None for a run that failed."""
    names = [(each["run"], each["run_id"]) for each in document["runs"]]
    return names.index((row["run"], row["run_id"])) if (row["run"], row["run_id"]) in names else None


def misplaced(document: Document) -> Iterator[Fault]:
    """Places of runs, and lists by run, that do not fit the runs, which no schema can say."""
    size, policies = len(document["runs"]), document["policies"]
    lists = {"queries": "scores", "answers": "only"}
    for key, by_run in lists.items():
        for at, row in enumerate(document[key]):
            if len(row[by_run]) != size:
                yield Fault(f"/{key}/{at}/{by_run}", f"must have an entry for each of {size} runs")
    places = [pair[side] for row in document["agreement"] for pair in row["pairs"] for side in ("a", "b")]
    places += [place for row in document["stability"]["first"] for place in row["runs"]]
    if max(places, default=-1) >= size:
        yield Fault("", f"there is no run {max(places)}")
    for key in ("leaderboard", "queries", "answers", "agreement"):
        for at, row in enumerate(document[key]):
            if row["policy"] not in policies:
                yield Fault(f"/{key}/{at}/policy", "is no policy of the batch")
    if not policies or not all(row["found_by"] for row in document["answers"]):
        yield Fault("", "there are no policies, or no numbers of runs")


def table_of(name: str, caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> Table:
    """A table without the columns that say nothing, such as that of policies where there are none."""
    used = [at for at in range(len(columns)) if any(row[at] not in (None, "") for row in rows)]
    cells, left_out = kept([[row[at] for at in used] for row in rows])
    return Table(name, caption, [columns[at] for at in used], cells, left_out, is_small=len(rows) <= 25)


def policy_text(document: Document, policy: str) -> str:
    """What a title adds where there are several policies."""
    return f" ({policy})" if len(document["policies"]) > 1 else ""


def page_of_run(document: Document, policy: str, place: int, unit: str | None = None) -> str:
    """The address of a run's page, from the folder of the batch; at a unit where one is given."""
    runs: Sequence[Mapping[str, Any]] = document["runs"]
    same = [at for at, each in enumerate(runs) if each["run"] == runs[place]["run"]]
    folders = [policy, runs[place]["run"]] if len(document["policies"]) > 1 else [runs[place]["run"]]
    address = "/".join(
        quote(each, safe="", errors="surrogateescape") for each in (*folders, page_name(same.index(place), len(same)))
    )
    if unit is None:
        return address
    column = _COLUMNS.get(document["unit"], "unit")
    return f"{address}#units.only={quote(f'{column}:{cell(unit)}', safe='')}"
