from __future__ import annotations

import math
from typing import Any

import pytest

from cs_score.base.errors import UsageError
from cs_score.statistics.options import Resampling


@pytest.mark.parametrize("resamples", [0, -1, 1.5, math.nan, math.inf, "100", None, True, 10.0])
def test_number_of_resamples_is_checked(resamples: Any) -> None:
    with pytest.raises(UsageError, match="number of resamples must be a whole number of at least 1, not"):
        Resampling(resamples=resamples)


@pytest.mark.parametrize("seed", [-1, 0.5, math.nan, "1", None, False])
def test_seed_is_checked(seed: Any) -> None:
    with pytest.raises(UsageError, match="seed must be a whole number of at least 0, not"):
        Resampling(seed=seed)


@pytest.mark.parametrize("confidence", [0, 49, 99.995, 100, -5, 100.1, math.nan, math.inf, "95", None, True, 10**400])
def test_confidence_is_checked(confidence: Any) -> None:
    with pytest.raises(UsageError, match=r"confidence is a percentage from 50 to 99\.99, not"):
        Resampling(confidence=confidence)


def test_method_is_checked() -> None:
    with pytest.raises(UsageError, match="no interval method called basic; there are percentile, bca"):
        Resampling(method="basic")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("confidence", "meant"), [(0.95, "95"), (0.999, "99.9"), (5, "95"), (0.05, "95"), (99.999, None)]
)
def test_a_likely_confidence_is_named(confidence: float, meant: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        Resampling(confidence=confidence)
    assert str(caught.value).endswith(f"percent: did you mean {meant}?") == (meant is not None)
