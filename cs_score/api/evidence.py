"""The evidence modes from Python: SciFact, claims, R4C and HotpotQA, each with one function and one result."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from cs_score.api.frames import Report, frame_of, html_table
from cs_score.api.records import IntervalRow, interval_rows
from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import to_builtins
from cs_score.base.sources import Input
from cs_score.evidence import intervals
from cs_score.evidence.report import Scores, document_of, explanation_text, table_text
from cs_score.measures.registry import headline
from cs_score.statistics.options import Resampling
from cs_score.statistics.units import UnitTable
from cs_score.tasks import task_named

if TYPE_CHECKING:
    import pandas

    from cs_score.base.signing.origin import Origin
    from cs_score.base.signing.signature import Signature
    from cs_score.evidence.result import Result
    from cs_score.statistics.options import IntervalMethod

Lines: TypeAlias = Input | Iterable[object]
"""A path, an open file, or what its JSON holds as Python objects."""


class EvidenceResult:
    """The scores of one file of predictions; made by `scifact`, `claims`, `r4c`, `hotpotqa` and `load`."""

    def __init__(
        self,
        scores: Mapping[str, float],
        units: UnitTable,
        origin: Origin,
        remarks: Sequence[str],
        source: Result | Scores,
    ) -> None:
        """`source`: the result as it was scored, or the document that it was loaded from."""
        self._scores = scores
        self._units = units
        self._origin = origin
        self._remarks = tuple(remarks)
        self._source = source

    @property
    def task(self) -> str:
        """`scifact`, `claims`, `r4c` or `hotpotqa`."""
        return self._origin.task

    @property
    def scores(self) -> Mapping[str, float]:
        """Every official measure by its name; 0 to 1."""
        return self._scores

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know of the predictions, one line each; none of a result that was loaded."""
        return self._remarks

    @property
    def signature(self) -> Signature:
        """One citable line of what the scores were computed from."""
        return self._origin.signature

    def rows(self) -> list[Any]:
        """A named tuple for each unit (claim, instance, question): its `id`, then its statistics as in `--per-item`.

        Every measure is made of the sums of these statistics over all units.
        """
        make: Any = namedtuple  # each mode has fields of its own, which no type checker can know
        record = make("UnitRow", ("id", *self._units.columns))
        return [record(unit, *row) for unit, row in zip(self._units.ids, self._units.rows)]

    def to_frame(self) -> pandas.DataFrame:
        """The same as a pandas data frame, whose `attrs` hold the signature.

        Raises MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        types = {"id": "str"}
        for name, column in zip(self._units.columns, zip(*self._units.rows) if self._units.rows else ()):
            types[name] = "int" if all(isinstance(value, int) for value in column) else "float"
        attrs = {"signature": str(self.signature), "origin": to_builtins(self._origin)}
        return frame_of(types, iter(self.rows()), attrs)

    def explain(self, unit_id: str | int) -> str:
        """How the unit of this id was scored, in words: gold beside predicted, what counted and what did not.

        Raises InputError where gold has no such unit, UsageError for a result that was loaded from JSON.
        """
        return explanation_text(self._scored("explain").explain(unit_id))

    def intervals(
        self,
        bootstrap: int = 10_000,
        *,
        seed: int = 0,
        confidence: float = 95.0,
        interval: IntervalMethod = "percentile",
    ) -> list[IntervalRow]:
        """Bootstrap intervals of all scores, from resamples of the units.

        `confidence` is a percentage, `interval` `percentile` or `bca`. Raises UsageError for impossible arguments and
        for a result that was loaded from JSON, InputError where there is no unit.
        """
        settings = Resampling(bootstrap, seed, confidence, interval)
        return interval_rows(intervals(self._scored("intervals"), settings))

    def report(self, measure: str | None = None) -> Report:
        """A page of what each mistake costs, as `cs-score report` makes it; a notebook shows it.

        `measure` is what gains are measured by, None for the one that ranks leaderboards. Raises UsageError for a
        measure that there is not and for a result that was loaded from JSON, MissingExtraError without jinja2
        (`pip install 'cs-score[report]'`).
        """
        return Report(to_builtins(task_named(self.task).analyze(self._scored("report"), measure)))

    def to_json(self) -> str:
        """The scores with the signature and the statistics of each unit, as JSON; `load` reads it."""
        return json_text(
            self._source if isinstance(self._source, Scores) else document_of(self._source, with_units=True)
        )

    def __str__(self) -> str:
        """The text that the command prints."""
        if isinstance(self._source, Scores):
            return "\n".join([*(f"{name}  {score:.4f}" for name, score in self.scores.items()), str(self.signature)])
        return table_text(self._source)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {self.scores[name]:.4f}" for name in headline(self.task))
        return f"<{self.task}, {len(self._units.ids)} units: {shown}>"

    def _repr_html_(self) -> str:
        caption = f"{self.task}, {len(self._units.ids)} units"
        return html_table(caption, ("measure", "score"), self.scores.items(), (*self.remarks, str(self.signature)))

    def _scored(self, what: str) -> Result:
        if isinstance(self._source, Scores):
            raise UsageError(f"{what} needs the predictions, which JSON does not hold; score their file again")
        return self._source


def scifact(gold: Lines, predictions: Lines, *, any_order: bool = False) -> EvidenceResult:
    """Score SciFact predictions: abstracts found and labelled, sentences given as evidence.

    Both hold a JSON object for each claim; predictions list the same claims in the same order, with `any_order` in any.
    Raises InputError for what cannot be scored, UsageError for impossible arguments. Contract: SciFact.
    """
    from cs_score.evidence.scifact import score

    return result_of(score(_given(gold, "gold"), _given(predictions, "predictions"), any_order=any_order))


def claims(gold: Lines, predictions: Lines) -> EvidenceResult:
    """Score claim verification: documents retrieved, evidence sentences with their label, verdict.

    Claims are matched by id, in any order. Raises as `scifact`. Contract: claims.
    """
    from cs_score.evidence.claims import score

    return result_of(score(_given(gold, "gold"), _given(predictions, "predictions")))


def r4c(gold: Lines, predictions: Lines, *, references: int = 3, ignore_missing: bool = False) -> EvidenceResult:
    """Score R4C derivations against their reference derivations.

    `references` (1 to 3) are drawn for each evaluation of an instance; with `ignore_missing` instances without
    prediction are left out. Raises as `scifact`, and MissingExtraError without the packages of `cs-score[r4c]`.
    Contract: R4C.
    """
    from cs_score.evidence.r4c import score

    given: Any = _given(gold, "gold"), _given(predictions, "predictions")
    return result_of(score(*given, references=references, ignore_missing=ignore_missing))


def hotpotqa(gold: Lines, predictions: Lines) -> EvidenceResult:
    """Score HotpotQA: answers, supporting facts, and both jointly. Raises as `scifact`. Contract: HotpotQA."""
    from cs_score.evidence.hotpotqa import score

    given: Any = _given(gold, "gold"), _given(predictions, "predictions")
    return result_of(score(*given))


def result_of(result: Result) -> EvidenceResult:
    """What people use of a result of an evidence mode."""
    return EvidenceResult(result.scores, result.table, result.origin, result.notices, result)


def loaded_evidence(scores: Scores, name: str) -> EvidenceResult:
    """The result of a stored document. Raises InputError, which calls it `name`, for one without units."""
    if not scores.units:
        raise InputError(
            "stored without the statistics of the units", file=name, remedy="-o FILE.json and to_json store them"
        )
    return EvidenceResult(scores.scores, scores.units, scores.origin, (), scores)


def _given(source: Lines, what: str) -> Lines:
    """Raises UsageError for what is no path, no open file and no JSON in Python."""
    given: object = source
    if isinstance(given, (bytes, bytearray)) or not isinstance(given, (os.PathLike, Iterable)):
        raise UsageError(f"{what} takes a path, an open file, or what its JSON holds, not {given!r}")
    return source
