"""Systems compared from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, overload

from cs_score.api.coldstart.results import RunResult
from cs_score.api.evidence import EvidenceResult
from cs_score.api.html import table
from cs_score.api.kinds import Values, field_types, known
from cs_score.base.display import one_line
from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.coldstart.options import as_list
from cs_score.statistics.options import DEFAULT_RESAMPLES, IntervalMethod, Resampling

if TYPE_CHECKING:
    import pandas

    from cs_score.statistics.results import Comparison as Compared

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
    difference, leave it, and take from it, None where a score is undefined.
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
        return list(map(known(_RECORDS, kind)._make, _ROWS[kind](self._compared)))

    def to_frame(self, kind: Side = "systems") -> pandas.DataFrame:
        """The same records as a pandas data frame, whose `attrs` hold the `signatures` by system.

        Raises UsageError for another kind, MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        from cs_score.api.frames import frame_of

        signatures = {name: str(origin.signature) for name, origin in self._compared.origins.items()}
        fields = field_types(known(_RECORDS, kind))
        return frame_of(fields, _ROWS[kind](self._compared), {"signatures": signatures})

    def to_text(self, format: Format = "text") -> str:
        """What `cs-score compare` prints: aligned text, `json`, `tsv`, `markdown` or `latex`.

        Raises UsageError for another format.
        """
        from cs_score.statistics.comparison_tables import WRITERS

        if format not in WRITERS:
            raise UsageError(f"no format called {format}; there are {', '.join(WRITERS)}{nearest(format, WRITERS)}")
        return WRITERS[format](self._compared)

    def to_json(self) -> str:
        """The comparison as JSON, the text that `cs-score compare --json` writes."""
        return self.to_text("json")

    def __repr__(self) -> str:
        measures = len(self._compared.measures)
        return one_line(f"<comparison of {', '.join(self.systems)}: {self.units} units, {measures} measures>")

    def _repr_html_(self) -> str:
        header = ("measure", "system", "score", "low", "high", "rank", "tier")
        rows = [[getattr(row, name) for name in header] for row in self.rows("systems")]
        return table(f"{self.units} units", header, rows, self.notes)


def compare(
    results: Mapping[str, RunResult] | Mapping[str, EvidenceResult],
    *,
    measures: str | Iterable[str] = (),
    resamples: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    method: IntervalMethod = "percentile",
    common: bool = False,
) -> Comparison:
    """Compare results of one gold standard, or of one evidence mode, by the names of their systems.

    `measures` are names or patterns such as `*F1` (a text has commas between several); all unless given. `resamples` is
    their number, as many as significance needs unless given; `confidence` is a percentage, `method` `percentile` or
    `bca`. With `common` systems are compared on the units that all have; otherwise they must have the same ones.

    Raises UsageError for fewer than two systems and for impossible arguments, InputError for systems that cannot be
    compared. README-Usage, Statistics, says how the numbers come about.
    """
    from cs_score.analysis.comparison import compare_coldstart, compare_evidence

    settings = Resampling(
        DEFAULT_RESAMPLES if resamples is None else resamples, seed, confidence, method, can_grow=resamples is None
    )
    texts = measures.split(",") if isinstance(measures, str) else as_list(measures, "measures")
    wanted = [name.strip() for name in texts if name.strip()]
    given: object = results
    if not isinstance(given, Mapping):
        raise UsageError(f"compare takes results by name, such as {{'mine': run}}, not {given!r}")
    runs = {name: result for name, result in given.items() if isinstance(result, RunResult)}
    evidence = {name: result for name, result in given.items() if isinstance(result, EvidenceResult)}
    if len(given) > max(len(runs), len(evidence)):
        raise UsageError(f"compare takes results of one kind, not {', '.join(map(repr, given.values()))}")
    if evidence:
        of_mode = {name: result._scored("compare") for name, result in evidence.items()}
        return Comparison(compare_evidence(of_mode, settings, measures=wanted, common=common))
    for result in runs.values():
        _ = result.run_id  # one run each
    scored = {name: result._scored("compare").result for name, result in runs.items()}
    return Comparison(compare_coldstart(scored, settings, measures=wanted, common=common))


def _system_rows(compared: Compared) -> Iterator[Values]:
    for measure in compared.measures:
        for one in measure.systems:
            score = one.score
            yield (
                measure.measure, one.system, score.point, score.low, score.high, score.standard_error,
                one.rank, one.rank_low, one.rank_high, one.tier,
            )  # fmt: skip


def _pair_rows(compared: Compared) -> Iterator[Values]:
    for measure in compared.measures:
        for pair in measure.pairs:
            difference, record = pair.difference, pair.record
            yield (
                measure.measure, pair.first, pair.second, difference.point, difference.low, difference.high,
                pair.randomisation.raw, pair.randomisation.holm, pair.bootstrap.raw, pair.bootstrap.holm,
                *((None, None, None) if record is None else (record.wins, record.ties, record.losses)),
            )  # fmt: skip


_RECORDS: Final[Mapping[str, type[SystemRow | PairRow]]] = {"systems": SystemRow, "pairs": PairRow}
_ROWS: Final[Mapping[str, Callable[[Any], Iterator[Values]]]] = {"systems": _system_rows, "pairs": _pair_rows}
