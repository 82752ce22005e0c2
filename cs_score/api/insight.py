"""Why a score is what it is, why two differ, which of several differ, from Python; and results read back from JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, overload

from msgspec import UNSET

from cs_score.analysis.comparison import compare as compare_systems
from cs_score.analysis.outcomes import as_builtins, json_text
from cs_score.api.arguments import policy_words
from cs_score.api.evidence import EvidenceResult, loaded_evidence
from cs_score.api.frames import Report, frame_of, frame_of_rows, html_table
from cs_score.api.records import Values, field_types, known
from cs_score.api.runs import RunResult, loaded_result
from cs_score.base.display import one_line
from cs_score.base.documents import Json, document_in, read_document
from cs_score.base.errors import InputError, UsageError
from cs_score.base.nearest import nearest
from cs_score.base.records import replace
from cs_score.base.signing.signature import Signature
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.documents import Scores
from cs_score.coldstart.options import as_list, read_policies
from cs_score.report.documents import checked
from cs_score.statistics.options import DEFAULT_RESAMPLES, IntervalMethod, Resampling
from cs_score.tables.comparison import WRITERS
from cs_score.tasks import COLD_START, task_named
from cs_score.verification.recorded import scores_in

if TYPE_CHECKING:
    import pandas

    from cs_score.coldstart.options import Policy
    from cs_score.statistics.results import Comparison as Compared
    from cs_score.tasks.task import Task

_WIDTH: Final = 120
_SHOWN: Final = 20
"""Rows that a notebook shows of it."""
_SPREAD: Final = ("effects", "counts", "scores", "policy")
"""Keys of rows whose values by name are columns of their own."""


class _Found:
    """What was found, as the JSON object that the command line writes."""

    def __init__(self, document: Mapping[str, Any], text: str | None = None) -> None:
        """`text`: what people are shown; None of what was loaded."""
        self._document, self._text = document, text

    @property
    def task(self) -> str:
        """`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`."""
        return str(self._document["task"])

    @property
    def measure(self) -> str:
        """The measure that was asked about."""
        return str(self._document["measure"])

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of rows that there are."""
        return tuple(key for key, value in self._document.items() if key == "groups" or _is_table(value))

    def rows(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The rows of a kind, each by the names of its columns, which are the keys of the JSON.

        `kind` is one of `kinds`; None: the mistakes of an analysis, the units of a difference. Values that have names
        (the effects of a mistake on each measure, the counts of a group) are columns of their own; rows of
        `groups` have their `dimension` in front. Raises UsageError for another kind.
        """
        if kind is None:
            kind = "mistakes" if "mistakes" in self._document else "units"
        if kind not in self.kinds:
            raise UsageError(f"no rows called {kind!r}; there are {', '.join(self.kinds)}{nearest(kind, self.kinds)}")
        found = self._document[kind]
        if isinstance(found, Mapping):
            found = [{"dimension": dimension, **row} for dimension, rows in found.items() for row in rows]
        return list(map(_flat, found))

    def to_frame(self, kind: str | None = None) -> pandas.DataFrame:
        """The same rows as a pandas data frame, whose `attrs` hold the `measure` and the signature, or both of two.

        Raises UsageError for another kind, MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        return frame_of_rows(self.rows(kind), {"measure": self.measure, **self._signed()})

    def to_json(self) -> str:
        """The whole of it as JSON, the text that `--format json` prints; `load` reads it."""
        return "".join(json_text(self._document))

    def to_text(self) -> str:
        """What the command line prints, in lines of up to 120 columns. Raises UsageError for what was loaded."""
        if self._text is None:
            raise UsageError("the text is not in JSON; make it from the files again, or take report()")
        return self._text

    def __str__(self) -> str:
        return repr(self) if self._text is None else self._text

    def _repr_html_(self) -> str:
        """The error budget of an analysis, the units of a difference."""
        rows = self.rows("budget" if "budget" in self.kinds else "units")[:_SHOWN]
        header = [key for key in (rows[0] if rows else {}) if not isinstance(rows[0][key], dict | list)]
        return html_table(repr(self).strip("<>"), header, [[row.get(key) for key in header] for row in rows])

    def report(self) -> Report:
        """The page that `cs-score report` makes of it; a notebook shows it.

        Raises MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        return Report(self._document)

    def _signed(self) -> dict[str, object]:
        raise NotImplementedError


class Analysis(_Found):
    """Why a result scores what it does: what each mistake costs, and what else `cs-score analyze` finds.

    Made by `analyze` and `load`. The keys of the JSON are described in README-Usage and by the schema that
    `cs-score schema` prints.
    """

    @property
    def score(self) -> float:
        """The score under the measure that was asked about; 0 to 1."""
        return float(self._document["score"])

    @property
    def scores(self) -> Mapping[str, float]:
        """Every score of the result by the name of its measure."""
        scores: Mapping[str, float] = self._document["scores"]
        return scores

    @property
    def signature(self) -> Signature:
        """The citable line of the score."""
        return Signature.parse(self._document["signature"])

    @property
    def scenarios(self) -> Mapping[str, Any] | None:
        """Scores if what nobody assessed were wrong, or right: `pessimistic`, `score`, `optimistic`, `unassessed` and
        the `added_pool` lines; None of a task of evidence."""
        return self._document.get("scenarios")

    @property
    def best(self) -> Mapping[str, float] | None:
        """The best `threshold` of confidence and its `gain`; None where there is none, and of a task of evidence."""
        return self._document.get("best")

    def _signed(self) -> dict[str, object]:
        return {"signature": str(self.signature)}

    def __repr__(self) -> str:
        name = self._document.get("run", self.task)
        mistakes = self._document.get("mistake_count", len(self._document["mistakes"]))
        return one_line(f"<analysis of {name}: {self.measure} {self.score:.4f}, {mistakes} mistakes>")


class Difference(_Found):
    """Why B scores otherwise than A: what each unit contributes, and what else `cs-score diff` finds.

    Made by `diff` and `load`.
    """

    @property
    def names(self) -> tuple[str, str]:
        """What A and B are called."""
        names = self._document["names"]
        return names["a"], names["b"]

    @property
    def a(self) -> float:
        """The score of A; 0 to 1."""
        return float(self._document["a"])

    @property
    def b(self) -> float:
        """The score of B; 0 to 1."""
        return float(self._document["b"])

    @property
    def difference(self) -> float:
        """The score of B minus that of A, which the contributions of the units add up to."""
        return float(self._document["difference"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the numbers, one line each."""
        return tuple(note["text"] for note in self._document["notes"])

    def _signed(self) -> dict[str, object]:
        return {"signatures": dict(self._document["signatures"])}

    def __repr__(self) -> str:
        first, second = self.names
        return one_line(f"<{self.measure}: {second} - {first} = {self.difference:+.4f}>")


def analyze(
    result: RunResult | EvidenceResult,
    measure: str | None = None,
    *,
    policy: str | Policy | None = None,
    also_policy: str | Iterable[str] | Mapping[str, Policy] = (),
    top: int | None = None,
    by: str | Iterable[str] = (),
    run: str | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod = "percentile",
) -> Analysis:
    """Why a result scores what it does under `measure`; None: the one that ranks leaderboards.

    `top` is the number of mistakes to list, None for all. Of Cold Start runs alone: `policy` is the one in force, `kb`,
    `sf` or a Policy, None for that of the result; `also_policy`, by name or with their Policy, are others to give the
    scores under, beside the published ones; `by` are groups that are crossed
    (`slot,language`); `run` chooses one of several runs; with `bootstrap` scores and groups have bootstrap
    intervals, with `seed`, `confidence` (a percentage) and `interval` (`percentile` or `bca`).

    Raises UsageError for impossible arguments and for a result that was loaded from JSON, InputError for a run without
    that score.
    """
    if top is not None and (not isinstance(top, int) or top < 1):
        raise UsageError(f"top takes a number from 1, not {top!r}")
    task = _task_of("analyze", result)
    scored: Any
    settings: dict[str, Any] = {}
    if isinstance(result, RunResult):
        scored = (result if policy is None else result.rescore(policy))._for_analysis("analyze", run)
        options = replace(scored.run.gold.options, policy=scored.policy, justifications=scored.run.limits)
        settings = {
            "policies": read_policies(policy_words(also_policy), options, scored.policy.texts()),
            "by": [by] if isinstance(by, str) else list(by),
            "resampling": None if bootstrap is None else Resampling(bootstrap, seed, confidence, interval),
        }
    elif policy is not None or policy_words(also_policy) or list(by) or run is not None or bootstrap is not None:
        raise UsageError("policy, also_policy, by, run and bootstrap are for Cold Start runs")
    else:
        scored = result._scored("analyze")
    found = task.analyze(scored, measure, top=top, **settings)
    return Analysis(as_builtins(found), task.text(found, _WIDTH, top))


def diff(
    a: RunResult | EvidenceResult,
    b: RunResult | EvidenceResult,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    top: int | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod = "percentile",
) -> Difference:
    """Why `b` scores otherwise than `a` under `measure`; None: the one that ranks leaderboards.

    A run against itself under another policy is `diff(run, run.rescore("sf"))`. `names` are what the two are called,
    `top` is the number of units, answers and classes to list, None for all; interval and p-values come from
    `bootstrap`, as many as significance needs unless given, as in `compare`.

    Raises UsageError for impossible arguments, results of different kinds and one that was loaded from JSON,
    InputError for a run without that score.
    """
    task = _task_of("diff", a, b)
    settings = _resampling(bootstrap, seed, confidence, interval)
    first, second = names
    found = task.diff(
        _analysed(a, "diff"), _analysed(b, "diff"), measure, names=(first, second), top=top, resampling=settings
    )
    return Difference(as_builtins(found, top), task.text(found, _WIDTH, top))


def _task_of(what: str, *results: RunResult | EvidenceResult) -> Task:
    """The task that results are of. Raises UsageError for what are no results of one task."""
    kinds = {
        COLD_START if isinstance(each, RunResult) else each.task if isinstance(each, EvidenceResult) else None
        for each in results
    }
    if len(kinds) != 1 or None in kinds:
        shown = " and ".join(map(repr, results))
        raise UsageError(f"{what} takes {'a result' if len(results) == 1 else 'results of one kind'}, not {shown}")
    (name,) = kinds
    return task_named(str(name))


def _analysed(result: RunResult | EvidenceResult, what: str) -> Any:
    """What analyses begin with. Raises UsageError for several runs and for a result that was loaded."""
    if isinstance(result, RunResult):
        _ = result.run_id  # one run
        return result._for_analysis(what)
    return result._scored(what)


def _resampling(bootstrap: int | None, seed: int, confidence: float, interval: IntervalMethod) -> Resampling:
    """The settings of a comparison: as many resamples as significance needs unless their number is given."""
    count = DEFAULT_RESAMPLES if bootstrap is None else bootstrap
    return Resampling(count, seed, confidence, interval, can_grow=bootstrap is None or UNSET)


def _is_table(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(row, Mapping) for row in value)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in which values that have names are columns; a name that is there already has its key before it."""
    flat = {key: value for key, value in row.items() if key not in _SPREAD or not isinstance(value, Mapping)}
    for key in _SPREAD:
        if isinstance(row.get(key), Mapping):
            flat |= {name if name not in flat else f"{key}_{name}": value for name, value in row[key].items()}
    return flat


# ---- Several systems

Side: TypeAlias = Literal["systems", "pairs"]

Format: TypeAlias = Literal["text", "json", "tsv", "markdown", "latex"]


class SystemRow(NamedTuple):
    """One system under one measure.

    `score` (0 to 1) with limits and standard error of its interval, None where too many resamples are undefined.
    `rank` counts from 1; `rank_low` to `rank_high` is its range over the resamples; systems of one `tier` do not differ
    significantly from the best of it.
    """

    measure: str
    system: str
    score: float
    low: float | None
    high: float | None
    standard_error: float | None
    rank: int
    rank_low: int
    rank_high: int
    tier: int


class PairRow(NamedTuple):
    """Two systems under one measure: `difference` is the score of `second` minus that of `first`, with its interval.

    The p-values (0 to 1) are those of approximate randomisation and of the paired bootstrap, each as it is and after
    Holm's correction over all pairs of the measure. `wins`, `ties` and `losses` count units that add to the
    difference, leave it, and take from it, None where a score is undefined. `effect_size` is the difference over the
    standard deviation of the units' differences, `superiority` the share of units that speak for the second, ties
    counting half; the p-values of equivalence are None unless `compare` was given a margin.
    """

    measure: str
    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    p_randomisation: float
    p_randomisation_holm: float
    p_bootstrap: float
    p_bootstrap_holm: float
    wins: int | None
    ties: int | None
    losses: int | None
    effect_size: float | None
    superiority: float | None
    p_equivalence: float | None
    p_equivalence_holm: float | None


class Comparison:
    """Two or more systems on the same units, under every measure; made by `compare`."""

    def __init__(self, compared: Compared) -> None:
        self._compared = compared

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order in which they were given."""
        return self._compared.systems

    @property
    def units(self) -> int:
        """How many units (LDC queries, claims, ...) all systems were compared on."""
        return self._compared.units

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of all of it, one line each."""
        return tuple(note.text for note in self._compared.notes)

    @overload
    def rows(self, kind: Literal["systems"] = "systems") -> list[SystemRow]: ...
    @overload
    def rows(self, kind: Literal["pairs"]) -> list[PairRow]: ...

    def rows(self, kind: Side = "systems") -> Sequence[SystemRow | PairRow]:
        """The records of a kind: `systems`, from best to worst under each measure, or `pairs`.

        Raises UsageError for another kind.
        """
        return list(map(known(_RECORDS, kind)._make, _ROWS_OF[kind](self._compared)))

    def to_frame(self, kind: Side = "systems") -> pandas.DataFrame:
        """The same records as a pandas data frame, whose `attrs` hold the `signatures` by system.

        Raises UsageError for another kind, MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        fields = field_types(known(_RECORDS, kind))
        return frame_of(fields, _ROWS_OF[kind](self._compared), {"signatures": self._compared.signatures})

    def to_text(self, format: Format = "text") -> str:
        """What `cs-score compare` prints: aligned text, `json`, `tsv`, `markdown` or `latex`.

        Raises UsageError for another format.
        """
        if format not in WRITERS:
            raise UsageError(f"no format called {format}; there are {', '.join(WRITERS)}{nearest(format, WRITERS)}")
        return WRITERS[format](self._compared)

    def to_json(self) -> str:
        """The comparison as JSON, the text that `cs-score compare --format json` prints."""
        return self.to_text("json")

    def __repr__(self) -> str:
        measures = len(self._compared.measures)
        return one_line(f"<comparison of {', '.join(self.systems)}: {self.units} units, {measures} measures>")

    def _repr_html_(self) -> str:
        header = ("measure", "system", "score", "low", "high", "rank", "tier")
        rows = [[getattr(row, name) for name in header] for row in self.rows("systems")]
        return html_table(f"{self.units} units", header, rows, self.notes)


def compare(
    results: Mapping[str, RunResult] | Mapping[str, EvidenceResult],
    *,
    measure: str | Iterable[str] = (),
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod = "percentile",
    common: bool = False,
    equivalence: float | None = None,
) -> Comparison:
    """Compare results of one gold standard, or of one evidence mode, by the names of their systems.

    `measure` holds names or patterns such as `*F1` (a text has commas between several); all unless given. `bootstrap`
    is the number of resamples, as many as significance needs unless given; `confidence` is a percentage, `interval`
    `percentile` or `bca`. With `common` systems are compared on the units that all have; otherwise they must have the
    same ones. `equivalence` is a margin, a number above 0: every pair is tested for a smaller difference, either way.

    Raises UsageError for fewer than two systems and for impossible arguments, InputError for systems that cannot be
    compared. README-Usage, Statistics, says how the numbers come about.
    """
    texts = measure.split(",") if isinstance(measure, str) else as_list(measure, "measure")
    wanted = [name.strip() for name in texts if name.strip()]
    given: object = results
    if not isinstance(given, Mapping):
        raise UsageError(f"compare takes results by name, such as {{'mine': run}}, not {given!r}")
    if not given:
        raise UsageError("a comparison needs at least two systems")
    task = _task_of("compare", *given.values())
    scored = {name: _compared(result) for name, result in given.items()}
    settings = _resampling(bootstrap, seed, confidence, interval)
    return Comparison(compare_systems(task, scored, settings, measures=wanted, common=common, equivalence=equivalence))


def _compared(result: RunResult | EvidenceResult) -> Any:
    if isinstance(result, RunResult):
        _ = result.run_id  # one run each
        return result._scored("compare").result
    return result._scored("compare")


def _system_rows(compared: Compared) -> Iterator[Values]:
    for measure in compared.measures:
        for one in measure.systems:
            yield (
                measure.measure, one.system, one.point, one.low, one.high, one.standard_error,
                one.rank, one.rank_low, one.rank_high, one.tier,
            )  # fmt: skip


def _pair_rows(compared: Compared) -> Iterator[Values]:
    for measure in compared.measures:
        for pair in measure.pairs:
            difference = pair.difference
            yield (
                measure.measure, pair.first, pair.second, difference.point, difference.low, difference.high,
                pair.randomisation.raw, pair.randomisation.holm, pair.bootstrap.raw, pair.bootstrap.holm,
                pair.wins, pair.ties, pair.losses, pair.effect_size, pair.superiority,
                pair.equivalence and pair.equivalence.p, pair.equivalence and pair.equivalence.p_adjusted,
            )  # fmt: skip


_RECORDS: Final[Mapping[str, type[SystemRow | PairRow]]] = {"systems": SystemRow, "pairs": PairRow}
_ROWS_OF: Final[Mapping[str, Callable[[Any], Iterator[Values]]]] = {"systems": _system_rows, "pairs": _pair_rows}


# ---- Results read back


def load(given: Input) -> RunResult | EvidenceResult | Analysis | Difference:
    """A result, an analysis or a difference from the JSON that `to_json` and `--format json` make.

    `given` is a path, an open file, or the text itself. What is loaded has the scores, records, frames and the
    signature of what was stored. What needs the files (`rescore`, `write`, `explain`, `compare`, `analyze`) raises
    UsageError. Raises InputError for what is no such JSON, and for that of a version with another schema.
    """
    name, content = _read(given)
    if "leaderboard" in content:
        raise InputError("neither an analysis nor a difference, but a batch", file=name)
    if "measure" in content and {"mistakes", "answers"} & content.keys():
        return (Analysis if "mistakes" in content else Difference)(checked(content, name))
    scores = scores_in(content, name)
    return loaded_result(scores, name) if isinstance(scores, Scores) else loaded_evidence(scores, name)


def _read(given: Input) -> tuple[str, dict[str, Json]]:
    """What messages call the JSON, and its object."""
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        return "the JSON", document_in(given, "the JSON")
    if isinstance(given, (str, os.PathLike)) or hasattr(given, "read"):
        return name_of(given), read_document(given)
    raise UsageError(f"load takes a path, an open file or JSON text, not {given!r}")
