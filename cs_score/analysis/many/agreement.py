"""How much runs have in common, and what they find together (insight specification, section 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Final

from cs_score.analysis.many.findings import bits
from cs_score.base.records import Record

FOUND: Final = "1"

WHOLE: Final[Mapping[str, int]] = {"": -1}
"""All answers as one part."""


class Overlap(Record):
    """Two runs by their position: how many answers both have, and how many at least one of them.

    `part` is the part of gold that the answers belong to; empty where all answers are of one sort.
    """

    a: int
    b: int
    shared: int
    either: int
    part: str = ""

    @property
    def jaccard(self) -> float | None:
        """Shared / either, 0..1; None where neither has an answer (Jaccard 1912)."""
        return self.shared / self.either if self.either else None


class Pooled(Record):
    """What `systems` of the runs find: `recall` is the mean, over all choices of so many runs, of the share of things
    that at least one of them found; `agreed` is the share of things that at least so many runs found.
    """

    systems: int
    recall: float
    agreed: float


class Answers(Record):
    """What one run answers, as bits: which things it found, which of all runs' answers it has right, which wrong."""

    found: int
    right: int
    wrong: int


def as_bits(of_runs: Sequence[Collection[str]]) -> list[int]:
    """The answers of runs by their ids, each once, as bits that mean the same in all runs."""
    numbers = {answer: number for number, answer in enumerate(set[str]().union(*of_runs))}
    return [bits(map(numbers.__getitem__, of_run), len(numbers)) for of_run in of_runs]


def overlaps(answers: Sequence[int | None], parts: Mapping[str, int] = WHOLE) -> list[Overlap]:
    """Every pair of runs that have answers at all, in their order, by the bits of their answers.

    `parts` has the bits of each part of gold. Parts are never pooled: a sentence can be right only where its abstract
    is, so that their sum would count agreement twice.
    """
    there = [(place, of_run) for place, of_run in enumerate(answers) if of_run is not None]
    return [
        Overlap(a, b, (one & other & mask).bit_count(), ((one | other) & mask).bit_count(), part)
        for (a, one), (b, other) in combinations(there, 2)
        for part, mask in parts.items()
    ]


def marks(found: int, things: int) -> str:
    """For each of so many things `1` where its bit is set, else `0`."""
    return f"{found:0{things}b}"[::-1] if things else ""


def found_by(of_runs: Sequence[str], things: int) -> list[int]:
    """How many runs found each thing; `of_runs` has the marks of each run."""
    return [of_thing.count(FOUND) for of_thing in zip(*of_runs)] if of_runs else [0] * things


def recall_by_systems(often: Sequence[int], runs: int) -> list[Pooled]:
    """For 1 ... `runs` runs what they find; `often` tells of each thing how many runs found it. Nothing without things.

    Of all choices of k among n runs the share C(n - m, k) / C(n, k) misses a thing that m runs found.
    """
    if not often:
        return []
    counts = Counter(often)
    missed = dict.fromkeys(counts, 1.0)
    pooled = []
    for systems in range(1, runs + 1):
        for times in missed:  # C(n - m, k) / C(n, k) from that of k - 1
            missed[times] *= max(0, runs - times - systems + 1) / (runs - systems + 1)
        recall = sum((1 - missed[times]) * count for times, count in sorted(counts.items())) / len(often)
        agreed = sum(count for times, count in counts.items() if times >= systems) / len(often)
        pooled.append(Pooled(systems, recall, agreed))
    return pooled
