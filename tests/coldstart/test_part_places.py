"""Parts of a text find their places, whoever makes them, and whoever does not."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cs_score.coldstart.part_places import AbandonedError, PartPlaces


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


@pytest.fixture
def waiting() -> Iterator[tuple[PartPlaces, ThreadPoolExecutor]]:
    places = PartPlaces(3, texts=1)
    with ThreadPoolExecutor(1) as executor:
        yield places, executor
        places.abandon()


def test_nobody_waits_for_a_part_that_will_not_come(waiting: tuple[PartPlaces, ThreadPoolExecutor]) -> None:
    places, executor = waiting
    third = executor.submit(places.place, 2, [1])
    assert places.place(0, [5]) == [0]
    places.settle(0)
    time.sleep(0.02)
    assert not third.done()
    places.settle(1)
    with pytest.raises(AbandonedError):
        third.result(timeout=10)


def test_what_is_placed_already_is_told_all_the_same() -> None:
    places = PartPlaces(2, texts=1)
    places.place(0, [5])
    places.abandon()
    assert places.place(1, [1]) == [5]
