"""Intervals: scipy as the oracle, degenerate input, and what must not change them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from numpy.typing import ArrayLike
from scipy import stats

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.statistics import resampling_settings as options
from cs_score.statistics.arithmetic import Floats, exact_statistics, scores_of
from cs_score.statistics.draws import bootstrap_counts, permuted_integer_sums, random_sign_flips, resampled_integer_sums
from cs_score.statistics.resampling import ResampledSystems, bootstrap_intervals, score_intervals
from cs_score.statistics.resampling_settings import IntervalMethod, Resampling
from cs_score.statistics.results import PairedSystems
from cs_score.statistics.units import Clusters, UnitTable
from tests.coldstart.command import score_in
from tests.documents import copy_samples
from tests.statistics.cases import FORMULA, MEAN, ROUNDING, compared, present, system, tiled

METHODS: tuple[IntervalMethod, ...] = ("percentile", "bca")


class Replay(np.random.Generator):
    """A generator whose index draws are those of cs-score, taken from the counts of each unit."""

    def __init__(self, seed: int, units: int) -> None:
        super().__init__(np.random.PCG64())
        self._seed, self._units = seed, units

    def integers(self, low: Any, high: Any = None, size: Any = None, **_: Any) -> Any:  # type: ignore[override]
        resamples, units = size
        assert (low, high, units) == (0, self._units, self._units)
        chunks = bootstrap_counts(self._seed, units, resamples)
        return np.array([np.repeat(np.arange(units), row.astype(int)) for counts in chunks for row in counts])


def scipy_interval(matrix: Floats, column: int, settings: Resampling, rng: np.random.Generator) -> Any:
    """What scipy makes of one score of FORMULA, resampling the rows of the matrix."""
    pytest.importorskip("scipy", minversion="1.15", reason="stats.bootstrap takes no generator by the name rng before")

    def statistic(*columns: Floats, axis: int) -> Floats:
        sums = np.stack([values.sum(axis=axis) for values in columns], axis=-1)
        scores = scores_of(FORMULA, sums)[..., column]
        return np.round(scores, 13)  # scipy takes scores for different that differ by rounding, and BCa counts ties

    return stats.bootstrap(
        tuple(matrix.T),
        statistic,
        paired=True,
        vectorized=True,
        n_resamples=settings.resamples,
        confidence_level=settings.confidence / 100,
        method="BCa" if settings.method == "bca" else "percentile",
        rng=rng,
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("confidence", [90, 95, 99.5])
def test_scipy_with_the_same_draws(method: IntervalMethod, confidence: float) -> None:
    matrix = system(0.35, units=41)
    settings = Resampling(999, seed=3, confidence=confidence, method=method)
    for column, ours in enumerate(bootstrap_intervals(matrix, FORMULA, settings)):
        theirs = scipy_interval(matrix, column, settings, Replay(3, 41))
        assert ours.low == pytest.approx(theirs.confidence_interval.low, rel=0, abs=1e-9)
        assert ours.high == pytest.approx(theirs.confidence_interval.high, rel=0, abs=1e-9)
        assert ours.point == scores_of(FORMULA, matrix.sum(axis=0))[column]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("matrix", "resamples", "limit", "note"),
    [
        ([[1, 2, 2]], 50, 0.5, "ONE_UNIT"),
        *((tiled((0, 1, 1), 9), resamples, 0.0, "ALL_EQUAL") for resamples in (2, 1000)),
        (tiled((0, 1, 1), 9), 1, 0.0, "ONE_RESAMPLE"),
        *((tiled((0, 0, 0), units), 50, None, "WITHHELD") for units in (1, 9)),
    ],
)
def test_units_without_any_spread(
    matrix: Floats, resamples: int, limit: float | None, note: str, method: IntervalMethod
) -> None:
    """No interval where there is no denominator."""
    for interval in bootstrap_intervals(matrix, FORMULA, Resampling(resamples, method=method)):
        assert (interval.point, interval.low, interval.high) == (limit or 0.0, limit, limit)
        assert interval.notes[0].code == note
        assert interval.undefined_resamples == (resamples if limit is None else 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_rare_label_that_is_always_right_is_not_sometimes_0(method: IntervalMethod) -> None:
    """100 claims, 3 of them with a label: one resample in twenty has none, and says nothing about the label."""
    matrix = np.zeros((100, 2))
    matrix[[7, 50, 99]] = 1.0
    [interval] = bootstrap_intervals(matrix, MEAN, Resampling(10_000, method=method))
    assert (interval.point, interval.low, interval.high) == (1.0, 1.0, 1.0)
    drawn = np.concatenate([*bootstrap_counts(0, 100, 10_000)])
    assert interval.undefined_resamples == np.count_nonzero(drawn[:, [7, 50, 99]].sum(axis=1) == 0)
    assert [note.code for note in interval.notes] == ["ALL_EQUAL", "RULE_OF_THREE", "LEFT_OUT"]
    assert f"{interval.undefined_resamples} of 10000 resamples" in interval.note
    assert "no error in 3 units: at 95 % confidence up to 63 % of such units have an error" in interval.note


@pytest.mark.parametrize("method", METHODS)
def test_limits_without_the_undefined_resamples_are_scipys(method: IntervalMethod) -> None:
    """The same draws in scipy, those without a score taken from it as it takes the others in."""
    matrix = np.zeros((40, 3))
    matrix[:6] = [[1, 1, 1], [0, 1, 1], [2, 3, 2], [0, 2, 1], [1, 1, 3], [0, 0, 1]]
    settings = Resampling(2000, method=method)
    ours = bootstrap_intervals(matrix, FORMULA, settings)[0]
    drawn = np.concatenate([*bootstrap_counts(0, 40, 2000)])
    sums = drawn @ matrix
    kept = np.flatnonzero(sums[:, 1])
    assert 0 < ours.undefined_resamples == 2000 - len(kept)
    if method == "percentile":
        expected = np.quantile(sums[kept, 0] / sums[kept, 1], [0.025, 0.975])
        assert [ours.low, ours.high] == pytest.approx(expected.tolist(), rel=0, abs=1e-12)
        return

    class Kept(Replay):
        def integers(self, low: Any, high: Any = None, size: Any = None, **_: Any) -> Any:  # type: ignore[override]
            return super().integers(low, high, (2000, 40))[kept]

    theirs = scipy_interval(matrix, 0, replace(settings, resamples=len(kept)), Kept(0, 40))
    assert ours.low == pytest.approx(theirs.confidence_interval.low, rel=0, abs=1e-9)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, rel=0, abs=1e-9)


@pytest.mark.parametrize(("score", "words"), [(1, "no error in 60 units"), (0, "nothing right in 60 units")])
def test_a_score_without_exception_tells_what_it_is_worth(score: int, words: str) -> None:
    matrix = tiled((score, 1, 1), 60)
    for confidence, most in ((95, "4.9"), (99, "7.4")):
        *_, interval = bootstrap_intervals(matrix, FORMULA, Resampling(50, confidence=confidence))
        assert interval.low == interval.high == score
        upper = stats.binomtest(0, 60).proportion_ci(2 * confidence / 100 - 1).high  # Clopper and Pearson, one-sided
        assert f"{100 * upper:.2g}" == most
        assert f"{words}: at {confidence} % confidence up to {most} % of such units" in interval.note


@pytest.mark.parametrize("method", METHODS)
def test_constant_statistic_has_no_spread_in_spite_of_rounding(method: IntervalMethod) -> None:
    """Every unit scores a third, by different sums, and the scores of resamples differ in the last digit."""
    matrix = [[1, 3], [2, 6], [3, 9], [7, 21]]
    resampled = ResampledSystems([matrix], ROUNDING, Resampling(500)).resampled_scores
    assert 0 < resampled.max() - resampled.min() < 1e-15
    [interval] = bootstrap_intervals(matrix, ROUNDING, Resampling(500, method=method))
    assert interval.low == interval.point == interval.high
    assert interval.note == options.ALL_EQUAL.text


# ---- Differences on few units


def pair_of(
    rows: Mapping[str, ArrayLike], settings: Resampling | None = None, ids: Sequence[str] = ()
) -> PairedSystems:
    """Return the pair of two systems, compared by the mean."""
    return compared(rows, settings, ids, measures=["mean"], formula=MEAN).measures[0].pairs[0]


@pytest.mark.parametrize("units", [2, 5, 8, 19])
@pytest.mark.parametrize("confidence", [90, 99])
def test_few_units_give_differences_of_means_the_paired_t_interval(units: int, confidence: float) -> None:
    rng = np.random.default_rng(units)
    first, second = rng.random((2, units))
    rows = {"a": np.column_stack([first, np.ones(units)]), "b": np.column_stack([second, np.ones(units)])}
    pair = pair_of(rows, Resampling(99, confidence=confidence))
    wanted = stats.ttest_rel(second, first).confidence_interval(confidence / 100)
    assert (pair.low, pair.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert (pair.undefined_resamples, pair.notes) == (0, ())


def test_a_ratio_goes_by_what_units_contribute() -> None:
    """Two systems that are right in 1/2 and 2/3 of their answers, 5 and 6: the mean score is 7/12.

    The first unit contributes ((1 - 1) - 7/12 (1 - 2)) / 5.5.
    """
    first = np.array([[1.0, 2.0], [1.0, 1.0], [0.0, 1.0], [0.5, 1.0]])
    second = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    mean_score = (2.5 / 5 + 4 / 6) / 2
    change = second - first
    shares = (change[:, 0] - mean_score * change[:, 1]) / (11 / 2)
    assert shares.sum() == pytest.approx(4 / 6 - 2.5 / 5)
    reach = stats.t.ppf(0.975, 3) * (4 * shares).std(ddof=1) / 2
    pair = pair_of({"a": first, "b": second}, Resampling(99))
    assert (pair.low, pair.high) == pytest.approx((shares.sum() - reach, shares.sum() + reach), abs=1e-12)


def test_clusters_are_the_units_of_the_paired_t_interval() -> None:
    """Thirty units in six clusters: five degrees of freedom, four where there are two strata, each with its mean."""
    rng = np.random.default_rng(5)
    ids = [str(unit) for unit in range(30)]
    rows = {name: np.column_stack([rng.random(30), np.ones(30)]) for name in "ab"}
    shares = (rows["b"][:, 0] - rows["a"][:, 0]).reshape(6, 5).sum(axis=1) / 30
    of_unit = {unit: "uvwxyz"[int(unit) // 5] for unit in ids}
    pair = pair_of(rows, Resampling(99, clusters=Clusters("", of_unit)), ids)
    reach = stats.t.ppf(0.975, 5) * math.sqrt(6 * shares.var(ddof=1))
    assert (pair.low, pair.high) == pytest.approx((pair.difference - reach, pair.difference + reach), abs=1e-12)
    strata = {cluster: "left" if cluster in "uvw" else "right" for cluster in "uvwxyz"}
    pair = pair_of(rows, Resampling(99, clusters=Clusters("", of_unit, strata)), ids)
    variance = 3 * shares[:3].var(ddof=1) + 3 * shares[3:].var(ddof=1)
    reach = stats.t.ppf(0.975, 4) * math.sqrt(variance)
    assert (pair.low, pair.high) == pytest.approx((pair.difference - reach, pair.difference + reach), abs=1e-12)


def test_a_method_that_was_named_serves_differences_too() -> None:
    rows = {name: system(quality, units=12)[:, [0, 2]] for name, quality in (("a", 0.4), ("b", 0.8))}
    by_default = compared(rows, Resampling(300), measures=["mean"], formula=MEAN)
    assert (by_default.resampling.method, by_default.resampling.differences) == ("bca", "t")
    again = compared(rows, by_default.resampling, measures=["mean"], formula=MEAN)  # as a record is verified
    assert again == by_default
    for method in METHODS:
        named = compared(rows, Resampling(300, method=method), measures=["mean"], formula=MEAN)
        assert named.resampling.differences is UNSET
        assert named.measures[0].pairs[0].low != by_default.measures[0].pairs[0].low
    bca = compared(rows, Resampling(300, method="bca"), measures=["mean"], formula=MEAN)
    assert by_default.measures[0].systems == bca.measures[0].systems


def test_where_the_paired_t_interval_is_no_interval() -> None:
    """One unit; no unit that differs; a score that is 0/0."""
    half = np.tile([0.5, 1.0], (9, 1))
    one = pair_of({"a": half[:1], "b": half[:1] * [0, 1]})
    assert (one.low, one.high, one.note) == (-0.5, -0.5, options.ONE_UNIT.text)
    same = pair_of({"a": half, "b": half})
    assert (same.low, same.high, same.note) == (0.0, 0.0, options.ALL_EQUAL.text)
    undefined = pair_of({"a": half, "b": half * 0})
    assert (undefined.low, undefined.high, undefined.notes[0].code) == (None, None, "WITHHELD")


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=7),
    st.integers(1, 40),
    st.sampled_from(METHODS),
    st.floats(50, 99.99),
)
def test_no_input_gives_nan_or_a_warning(
    rows: list[tuple[int, int, int]], resamples: int, method: IntervalMethod, confidence: float
) -> None:
    matrix = [[min(row), row[1], row[2]] for row in rows]
    for interval in bootstrap_intervals(matrix, FORMULA, Resampling(resamples, 1, confidence, method)):
        if interval.low is None:
            assert interval.high is None
            assert interval.undefined_resamples > 0.2 * resamples
        else:
            assert 0.0 <= interval.low <= present(interval.high) <= 1.0
            assert interval.undefined_resamples <= 0.2 * resamples


def test_what_cannot_be_resampled() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        bootstrap_intervals([[1.0]], lambda sums, divide: [math.nan * sums[0]])
    with pytest.raises(InputError, match="no unit to resample"):
        bootstrap_intervals(np.empty((0, 3)), FORMULA)


def test_no_measure_has_no_interval() -> None:
    found = score_intervals(UnitTable(("a", "b"), ("correct",), [(1,), (0,)]), (), lambda *_: (), Resampling(9))
    assert (found.units, found.scores) == (2, {})


Draw: TypeAlias = Callable[..., Floats]


def counts(seed: int, units: int, resamples: int) -> Floats:
    return np.concatenate([*bootstrap_counts(seed, units, resamples)])


def flags(seed: int, units: int, resamples: int) -> Floats:
    return np.concatenate([*random_sign_flips(seed, units, resamples)])


def test_first_bootstrap_draws_of_seed_0() -> None:
    """Recorded once: numpy may change Generator, and published numbers must then not change unnoticed."""
    assert counts(0, 6, 4).tolist() == [[1, 0, 1, 1, 0, 3], [1, 0, 1, 0, 3, 1], [3, 1, 0, 0, 0, 2], [1, 0, 1, 2, 2, 0]]


@pytest.mark.parametrize("units", [1, 2, 63, 64, 65, 1000])
@pytest.mark.parametrize("draw", [counts, flags])
def test_chunks_and_their_number_change_nothing(draw: Draw, units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draw(3, units, 300)
    assert len(whole) == 300
    for cells in (1, units, 3 * units + 1, 10**9):
        monkeypatch.setattr("cs_score.statistics.draws.CELLS_PER_CHUNK", cells)
        assert all((draw(3, units, fewer) == whole[:fewer]).all() for fewer in (1, 128, 130, 256, 300))


@pytest.mark.parametrize(("units", "columns"), [(1, 1), (30, 3), (700, 20), (3000, 5), (3, 9000)])
def test_gathered_sums_are_those_of_each_draw_alone(units: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws are gathered into products of matrices of several sizes, which no result may show."""
    exact = exact_statistics([np.random.default_rng(1).random((units, columns))])
    draws = [*bootstrap_counts(2, units, 900)]
    expected = np.concatenate([exact.weighted_integer_sums(counts.astype(np.float64)) for counts in draws])
    for cells in (units, 100 * units, 10**7):
        monkeypatch.setattr("cs_score.statistics.draws.CELLS_PER_CHUNK", cells)
        assert (np.concatenate(list(resampled_integer_sums(exact, bootstrap_counts(2, units, 900)))) == expected).all()


def test_a_swap_is_a_fair_coin_for_every_unit() -> None:
    drawn = flags(1, 130, 2000)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert (np.abs(drawn.mean(axis=0) - 0.5) < 5 * 0.5 / math.sqrt(2000)).all()
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 64])[0, 1]) < 0.15


def test_first_permutations_of_seed_0() -> None:
    """Recorded as the draws above: what the places of three systems add up to over five units of powers of ten."""
    rows = [[[system * 10**unit] for unit in range(5)] for system in range(3)]
    drawn = next(permuted_integer_sums(exact_statistics(rows), 4, 0))
    assert drawn[..., 0].tolist() == [
        [20101.0, 11212.0, 2020.0],
        [12200.0, 20112.0, 1021.0],
        [12010.0, 221.0, 21102.0],
        [11122.0, 0.0, 22211.0],
    ]


# ---- What stands beside limits

COLD_START_FILES = (
    "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab submissions/tide-kb.tab.txt --measure SF-*-F1"
).split()
EVIDENCE_FILES = "--gold assessments/scifact-gold.jsonl submissions/scifact-a.jsonl --measure sent*f1".split()
HOPS_FILES = "--gold assessments/hotpotqa-gold.json submissions/hotpotqa-a.json --measure *f1".split()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_samples(tmp_path_factory.mktemp("limits"))


@pytest.mark.parametrize("format_", ["text", "markdown", "latex"])
@pytest.mark.parametrize(
    "words", [["score", *COLD_START_FILES], ["scifact", *EVIDENCE_FILES], ["hotpotqa", *HOPS_FILES]]
)
def test_level_method_number_seed_and_units_stand_beside_limits(format_: str, words: list[str], samples: Path) -> None:
    outcome = score_in(samples, [*words, "--bootstrap", "300", "--confidence", "90", "--format", format_])
    text = " ".join(outcome.stdout.decode().replace("\\", "").split())
    limits = "In brackets" if words[0] == "score" else "Low, High"
    assert re.search(f"{limits}: 90 % BCa bootstrap limits, 300 resamples of [0-9]+ [a-zA-Z ]+, seed 0[.]", text)
    assert re.search("Note: [0-9]+ units only: below 20 the bootstrap's limits are too narrow", text)


@pytest.mark.parametrize("words", [["score", *COLD_START_FILES], ["scifact", *EVIDENCE_FILES]])
def test_files_for_programs_have_the_same_in_columns(words: list[str], samples: Path) -> None:
    text = score_in(samples, [*words, "--bootstrap", "300", "--format", "tsv"]).stdout.decode()
    head, *rows = (line.split("\t") for line in text.splitlines())
    assert rows
    for row in rows:
        said = dict(zip(head, row))
        assert [said[key] for key in ("confidence", "method", "resamples", "seed")] == ["95.0", "bca", "300", "0"]
        assert said["notes"].startswith(f"{said['units']} units only")
    bare = score_in(samples, [*words, "--format", "tsv"]).stdout.decode()
    assert "resamples" not in bare


def test_a_single_score_has_its_limits_and_says_on_standard_error_what_they_are(samples: Path) -> None:
    words = ["scifact", *EVIDENCE_FILES[:-1], "sentence_label_f1", "--format", "text"]
    outcome = score_in(samples, [*words, "--bootstrap", "300"])
    assert re.fullmatch(r"0\.3158 \[0\.[0-9]{4}, 0\.[0-9]{4}\]\n", outcome.stdout.decode())
    assert b"In brackets: 95 % BCa bootstrap limits, 300 resamples of 12 claims, seed 0" in outcome.stderr
    assert score_in(samples, words).stdout == b"0.3158\n"
