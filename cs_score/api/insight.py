"""Why a score is what it is, and why two differ, from Python: what `cs-score analyze` and `cs-score diff` find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from cs_score.api.arguments import policy_words
from cs_score.api.coldstart.results import RunResult
from cs_score.api.evidence import EvidenceResult
from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError
from cs_score.base.nearest import nearest
from cs_score.base.records import replace
from cs_score.base.signing.signature import Signature
from cs_score.statistics.options import DEFAULT_RESAMPLES, IntervalMethod, Resampling

if TYPE_CHECKING:
    import pandas

    from cs_score.api.report import Report
    from cs_score.coldstart.options import Policy

_WIDTH: Final = 120
_SPREAD: Final = ("effects", "counts", "scores", "policy")
"""Keys of rows whose values by name are columns of their own."""


class _Found:
    """What was found, as the JSON object that the command line writes."""

    def __init__(self, told: Mapping[str, Any], text: str | None = None) -> None:
        """`text`: what people are told; None of what was loaded."""
        self._told = told
        self._text = text

    @property
    def mode(self) -> str:
        """`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`."""
        return str(self._told["mode"])

    @property
    def measure(self) -> str:
        """The measure that was asked about."""
        return str(self._told["measure"])

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of rows that there are."""
        return tuple(key for key, value in self._told.items() if key == "groups" or _is_table(value))

    def rows(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The rows of a kind, each by the names of its columns, which are the keys of the JSON.

        `kind` is one of `kinds`; None: the mistakes of an analysis, the units of a difference. Values that are told by
        name (the effects of a mistake on each measure, the counts of a group) are columns of their own; rows of
        `groups` have their `dimension` in front. Raises UsageError for another kind.
        """
        if kind is None:
            kind = "mistakes" if "mistakes" in self._told else "units"
        if kind not in self.kinds:
            raise UsageError(f"no rows called {kind!r}; there are {', '.join(self.kinds)}{nearest(kind, self.kinds)}")
        return list(map(_flat, _rows(self._told[kind])))

    def to_frame(self, kind: str | None = None) -> pandas.DataFrame:
        """The same rows as a pandas data frame, whose `attrs` hold the `measure` and the signature, or both of two.

        Raises UsageError for another kind, MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        from cs_score.api.frames import frame_of_rows

        return frame_of_rows(self.rows(kind), {"measure": self.measure, **self._signed()})

    def to_json(self) -> str:
        """The whole of it as JSON, the text that `--json` writes; `load` reads it."""
        from cs_score.analysis.outcomes import json_text

        return "".join(json_text(self._told))

    def to_text(self) -> str:
        """What the command line prints, in lines of up to 120 columns. Raises UsageError for what was loaded."""
        if self._text is None:
            raise UsageError("the text is not in JSON; make it from the files again, or take report()")
        return self._text

    def report(self) -> Report:
        """The page that `cs-score report` makes of it; a notebook shows it.

        Raises MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        from cs_score.api.report import Report

        return Report(self._told)

    def _signed(self) -> dict[str, object]:
        raise NotImplementedError


class Analysis(_Found):
    """Why a result scores what it does: what each mistake costs, and what else `cs-score analyze` tells.

    Made by `analyze` and `load`. The keys of the JSON are told in README-Usage, those of a mode are in the schema that
    `cs-score schema` prints.
    """

    @property
    def score(self) -> float:
        """The score under the measure that was asked about; 0 to 1."""
        return float(self._told["score"])

    @property
    def scores(self) -> Mapping[str, float]:
        """Every score of the result by the name of its measure."""
        scores: Mapping[str, float] = self._told["scores"]
        return scores

    @property
    def signature(self) -> Signature:
        """The citable line of the score."""
        told = self._told["signature"]
        return Signature.parse(told if isinstance(told, str) else told["line"])

    @property
    def scenarios(self) -> Mapping[str, Any] | None:
        """Scores if what nobody assessed were wrong, or right: `pessimistic`, `score`, `optimistic`, `unassessed` and
        the `added_pool` lines; None of an evidence mode."""
        return self._told.get("scenarios")

    @property
    def best(self) -> Mapping[str, float] | None:
        """The best `threshold` of confidence and its `gain`; None where there is none, and of an evidence mode."""
        return self._told.get("best")

    def _signed(self) -> dict[str, object]:
        return {"signature": str(self.signature)}

    def __repr__(self) -> str:
        name = self._told.get("run", self.mode)
        mistakes = self._told.get("mistake_count", len(self._told["mistakes"]))
        return one_line(f"<analysis of {name}: {self.measure} {self.score:.4f}, {mistakes} mistakes>")


class Difference(_Found):
    """Why B scores otherwise than A: what each unit contributes, and what else `cs-score diff` tells.

    Made by `diff` and `load`.
    """

    @property
    def names(self) -> tuple[str, str]:
        """What A and B are called."""
        names = self._told["names"]
        return names["a"], names["b"]

    @property
    def a(self) -> float:
        """The score of A; 0 to 1."""
        return float(self._told["a"])

    @property
    def b(self) -> float:
        """The score of B; 0 to 1."""
        return float(self._told["b"])

    @property
    def difference(self) -> float:
        """The score of B minus that of A, which the contributions of the units add up to."""
        return float(self._told["difference"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers, one line each."""
        return tuple(note["text"] for note in self._told["notes"])

    def _signed(self) -> dict[str, object]:
        return {"signatures": {side: origin["line"] for side, origin in self._told["signatures"].items()}}

    def __repr__(self) -> str:
        first, second = self.names
        return one_line(f"<{self.measure}: {second} - {first} = {self.difference:+.4f}>")


def analyze(
    result: RunResult | EvidenceResult,
    measure: str | None = None,
    *,
    policy: str | Policy | None = None,
    also_policies: str | Iterable[str] | Mapping[str, Policy] = (),
    top: int | None = None,
    by: str | Iterable[str] = (),
    run_id: str | None = None,
    resamples: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    method: IntervalMethod = "percentile",
) -> Analysis:
    """Why a result scores what it does under `measure`; None: the one that ranks leaderboards.

    `top` is the number of mistakes to list, None for all. Of Cold Start runs alone: `policy` is the one in force, `kb`,
    `sf` or a Policy, None for that of the result; `also_policies`, by name or with their Policy, are others to give the
    scores under, beside the published ones; `by` are groups that are crossed
    (`slot,language`); `run_id` chooses one of several runs; with `resamples` scores and groups have bootstrap
    intervals, with `seed`, `confidence` (a percentage) and `method` (`percentile` or `bca`).

    Raises UsageError for impossible arguments and for a result that was loaded from JSON, InputError for a run without
    that score.
    """
    if top is not None and (not isinstance(top, int) or top < 1):
        raise UsageError(f"top takes a number from 1, not {top!r}")
    if isinstance(result, RunResult):
        result = result if policy is None else result.rescore(policy)
        settings = None if resamples is None else Resampling(resamples, seed, confidence, method)
        return _of_run(result, measure, top, also_policies, by, run_id, settings)
    if not isinstance(result, EvidenceResult):
        raise UsageError(f"analyze takes a result, not {result!r}")
    if policy is not None or policy_words(also_policies) or list(by) or run_id is not None or resamples is not None:
        raise UsageError("policy, also_policies, by, run_id and resamples are for Cold Start runs")
    from cs_score.analysis.evidence import analysis, text

    found = analysis.analyze(result._scored("analyze"), measure)
    return Analysis(found.as_json(top), text.analysis_text(found, _WIDTH, top or text.TOP))


def _of_run(
    result: RunResult,
    measure: str | None,
    top: int | None,
    policies: str | Iterable[str] | Mapping[str, Policy],
    by: str | Iterable[str],
    run_id: str | None,
    resampling: Resampling | None,
) -> Analysis:
    from cs_score.analysis.coldstart.analysis import analyze
    from cs_score.analysis.coldstart.text import analysis_text
    from cs_score.coldstart.options import read_policies

    scored = result._for_analysis("analyze", run_id)
    options = replace(scored.run.gold.options, policy=scored.policy, justifications=scored.run.limits)
    named = read_policies(policy_words(policies), options, scored.policy.texts())
    crossed = [by] if isinstance(by, str) else list(by)
    found = analyze(scored, measure, top, named, by=crossed, resampling=resampling)
    return Analysis(found.as_json(), analysis_text(found, _WIDTH, top))


def diff(
    a: RunResult | EvidenceResult,
    b: RunResult | EvidenceResult,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    top: int | None = None,
    resamples: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    method: IntervalMethod = "percentile",
) -> Difference:
    """Why `b` scores otherwise than `a` under `measure`; None: the one that ranks leaderboards.

    A run against itself under another policy is `diff(run, run.rescore("sf"))`. `names` are what the two are called,
    `top` is the number of units, answers and classes to list, None for all; interval and p-values come from
    `resamples`, as many as significance needs unless given, as in `compare`.

    Raises UsageError for impossible arguments, results of different kinds and one that was loaded from JSON,
    InputError for a run without that score.
    """
    settings = Resampling(resamples or DEFAULT_RESAMPLES, seed, confidence, method, can_grow=resamples is None)
    first, second = names
    if isinstance(a, RunResult) and isinstance(b, RunResult):
        from cs_score.analysis.coldstart.difference import diff as diff_of_runs
        from cs_score.analysis.coldstart.difference_text import difference_text as text_of_runs

        _ = a.run_id, b.run_id  # one run each
        found = diff_of_runs(
            a._for_analysis("diff"), b._for_analysis("diff"), measure, names=(first, second), resampling=settings
        )
        return Difference(found.as_json(top), text_of_runs(found, _WIDTH, top))
    if not isinstance(a, EvidenceResult) or not isinstance(b, EvidenceResult):
        raise UsageError(f"diff takes two results of one kind, not {a!r} and {b!r}")
    from cs_score.analysis.evidence import difference as of_evidence
    from cs_score.analysis.evidence.text import TOP, difference_text

    other = of_evidence.diff(a._scored("diff"), b._scored("diff"), measure, names=(first, second), resampling=settings)
    return Difference(other.as_json(top), difference_text(other, _WIDTH, top or TOP))


def stored_insight(told: Mapping[str, Any], name: str) -> Analysis | Difference:
    """What the JSON of a file of that name holds. Raises InputError where it is no analysis and no difference."""
    from cs_score.report.documents import checked

    if "leaderboard" in told:
        raise InputError("neither an analysis nor a difference, but a batch", file=name)
    return (Analysis if "mistakes" in told else Difference)(checked(told, name))


def _is_table(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


def _rows(value: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        yield from value
        return
    for dimension, rows in value.items():
        yield from ({"dimension": dimension, **row} for row in rows)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in which values that are told by name are columns; a name that is there already has its key before it."""
    flat = {key: value for key, value in row.items() if key not in _SPREAD or not isinstance(value, Mapping)}
    for key in _SPREAD:
        if isinstance(row.get(key), Mapping):
            flat |= {name if name not in flat else f"{key}_{name}": value for name, value in row[key].items()}
    return flat
