"""The interface of a task. Every verb of the command line and of Python uses only this interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from cs_score.base.records import Record
from cs_score.base.signature import Origin
from cs_score.measures import SumsFormula
from cs_score.statistics.units import UnitTable


class UnitStatistics(Record):
    """A result for comparisons: the statistics of each unit, from which the measures are computed.

    `unit` is the noun for a row of the table. `answered_units` are the ids of the units that the run has answers for,
    `gold_units` the ids of all units of gold.
    """

    unit: str
    table: UnitTable
    answered_units: Sequence[str]
    gold_units: Sequence[str]
    origin: Origin


class Comparable(Protocol):
    """The part of a task that comparisons of systems need."""

    @property
    def name(self) -> str:
        """The name of the task."""

    def measures(self, results: Iterable[Any]) -> Sequence[str]:
        """Return the measures that results can be compared by."""

    def headline_of(self, results: Iterable[Any]) -> str | None:
        """Return the measure of these results that is shown to people first, or None for the task's usual measure."""

    def undefined_measures(self, result: Any) -> Mapping[str, str]:
        """Return the measures without a value for a result, each with the reason; `measures` does not have them."""

    def statistics(self, result: Any, measures: Sequence[str]) -> UnitStatistics:
        """Return the statistics from which these measures of a result are computed."""

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return the function that computes these measures from the sums of the columns of the statistics."""


class Task(Comparable, Protocol):
    """A task as the verbs see it. Measures are named as on the command line; None is the headline measure.

    The results that its methods take are the task's own.
    """

    def measure_of(self, name: str | None) -> str | None:
        """Return the official name of a measure, before anything is read. Raises UsageError for an unknown measure."""
