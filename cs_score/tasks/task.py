"""What a task offers: every verb is written once against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from cs_score.base.records import Record
from cs_score.base.signature import Origin
from cs_score.measures.registry import SumsFormula
from cs_score.statistics.options import Resampling
from cs_score.statistics.units import UnitTable
from cs_score.tables.layout import Layout, Table


class Statistics(Record):
    """A result as comparisons see it: what measures are made of, unit by unit.

    `unit` is what a row of the table is about; `answered` are the units that the run says something of, `known` those
    of gold.
    """

    unit: str
    table: UnitTable
    answered: Sequence[str]
    known: Sequence[str]
    origin: Origin


class Comparable(Protocol):
    """What systems that are compared have in common."""

    @property
    def name(self) -> str:
        """That of the task."""

    def measures(self, results: Iterable[Any]) -> Sequence[str]:
        """The measures that results can be compared by."""

    def headline_of(self, results: Iterable[Any]) -> str | None:
        """The measure that people are shown first of these results; None where the registry says it."""

    def undefined(self, result: Any) -> Mapping[str, str]:
        """The measures that have no value for a result, with the reasons; `measures` lacks them."""

    def statistics(self, result: Any, measures: Sequence[str]) -> Statistics:
        """What these measures of a result are made of."""

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """From the sums of the statistics' columns to these measures."""


class Task(Comparable, Protocol):
    """A task by its name. Measures are named as on the command line; None is the one that ranks leaderboards.

    What is found is a document: a record that is written as JSON. What is scored is the task's own.
    """

    def measure_of(self, wanted: str | None) -> str | None:
        """The measure that is meant, before anything is read. Raises UsageError for one that the task lacks."""

    def analyze(
        self, result: Any, measure: str | None = None, *, top: int | None = None, is_whole: bool = True,
        progress: Any = ..., **settings: Any,
    ) -> Any:  # fmt: skip
        """What each mistake costs, the error budget, groups; at most `top` mistakes.

        `is_whole`: with every mistake, and how everything was scored. `settings` are what only this task asks for.
        """

    def diff(
        self, a: Any, b: Any, measure: str | None = None, *, names: tuple[str, str] = ..., top: int | None = None,
        resampling: Resampling | None = None,
    ) -> Any:  # fmt: skip
        """Why B scores otherwise than A, unit by unit."""

    def headers(self, kind: str) -> Mapping[str, Sequence[str]]:
        """The columns of the tables of an `analysis` or a `difference` by the name of their file."""

    def layouts(self, document: Any) -> Sequence[Layout]:
        """What the tables of a document are, those for people and those for files."""

    def tables(self, document: Any) -> Sequence[Table]:
        """The tables of a document."""

    def text(self, document: Any, width: int, top: int | None = None) -> str:
        """A document for people, in lines of at most so many columns."""
