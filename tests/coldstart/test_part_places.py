"""Parts of a text find their places, whoever makes them."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given, settings
from hypothesis import strategies as st

from cs_score.coldstart.partition.part_places import PartPlaces


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1 << 40), st.integers(0, 5)), min_size=1, max_size=12), st.integers(1, 4))
def test_every_part_begins_where_the_one_before_it_ends(lengths: list[tuple[int, int]], workers: int) -> None:
    places = PartPlaces(len(lengths), texts=2)
    with ThreadPoolExecutor(workers) as executor:
        starts = list(executor.map(places.place, range(len(lengths)), lengths))
    for text in range(2):
        ends = [start[text] + length[text] for start, length in zip(starts, lengths)]
        assert [start[text] for start in starts] == [0, *ends[:-1]]
        assert places.lengths[text] == ends[-1]


def test_processes_agree() -> None:
    places = PartPlaces(2, texts=1)
    if (child := os.fork()) == 0:
        time.sleep(0.05)
        places.place(0, [7])
        os._exit(0)
    assert places.place(1, [2]) == [7]
    assert places.lengths == [9]
    assert os.waitpid(child, 0)[1] == 0
