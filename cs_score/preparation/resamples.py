"""Drawing bootstrap resamples: the index of queries, and the lines of a resample file.

A resample draws as many LDC queries as there are, uniformly and with replacement. Every draw brings all SF queries
of its LDC query, in a random order: the scorer takes the first one as *the* entry point of that draw.

The draws come from Python's Mersenne Twister through `random.Random.random`, the one method whose stream Python
promises never to change for a seed: a seed gives the same bytes on every platform and in every release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.sources import NO_SPACE, Input, open_source
from cs_score.coldstart.queries import parse_query_id

Groups: TypeAlias = Mapping[str, Sequence[str]]
"""LDC id -> its SF ids; both sorted as strings, as written in the file."""

_COLUMN: Final = re.compile(f"{NO_SPACE}+")


def read_groups(given: Input) -> dict[str, list[str]]:
    """Read a query index: lines `LDC_ID SF_ID`, separated by white space, further columns ignored.

    A repeated SF id belongs to the last LDC id that it appears with, and an LDC id that loses all its SF ids that way
    is no longer drawn. Blank lines are skipped. Bytes that are not UTF-8 are carried over as they are.

    Raises InputError where the file cannot be read, a line has one column only, or the columns are the other way round.
    """
    with open_source(given) as source:
        text = source.read_bytes().decode("utf-8-sig", "surrogateescape")
    ldc_of: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        columns = _COLUMN.findall(line)
        if not columns:
            continue
        if len(columns) == 1:
            raise InputError(
                f"{columns[0]} has no SF query id",
                file=source.name,
                place=f"line {number}",
                remedy="every line needs an LDC query id and an SF query id",
            )
        ldc_of[columns[1]] = columns[0]
    if ldc_of and all(_is_slot_filling(ldc) and not _is_slot_filling(sf) for sf, ldc in ldc_of.items()):
        raise InputError(
            "the columns are the other way round: SF_ID LDC_ID, as validate-queries -index_file writes them",
            file=source.name,
            remedy="every line needs an LDC query id and then an SF query id; awk '{ print $2, $1 }' exchanges them",
        )
    groups: dict[str, list[str]] = {}
    for sf_id in sorted(ldc_of):
        groups.setdefault(ldc_of[sf_id], []).append(sf_id)
    return dict(sorted(groups.items()))


def _is_slot_filling(text: str) -> bool:
    parts = parse_query_id(text)
    return parts is not None and parts.expanded


def resample_lines(groups: Groups, resamples: int, seed: int) -> Iterator[str]:
    """The lines of a resample file, numbered from 1, each with its line feed: `NUMBER LDC_ID:SF_ID,SF_ID,... ...`."""
    random = Random(seed).random
    members = list(groups.items())
    for number in range(1, resamples + 1):
        columns = [str(number)]
        for _ in members:
            ldc_id, sf_ids = members[int(random() * len(members))]
            order = list(sf_ids)
            for last in range(len(order) - 1, 0, -1):  # Fisher and Yates
                other = int(random() * (last + 1))
                order[last], order[other] = order[other], order[last]
            columns.append(f"{ldc_id}:{','.join(order)}")
        yield " ".join(columns) + "\n"
