from __future__ import annotations

import math
from typing import Any, Final

import pytest

from cs_score.base.errors import UsageError
from cs_score.statistics.options import Resampling

REFUSED: Final = {
    ("resamples", "number of resamples must be a whole number of at least 1, not"): (
        *(0, -1, 1.5, 10.0, math.nan, math.inf, "100", None, True),
    ),
    ("seed", "seed must be a whole number of at least 0, not"): (-1, 0.5, math.nan, "1", None, False),
    ("confidence", r"confidence is a percentage from 50 to 99\.99, not"): (
        *(0, 49, 99.995, 100, -5, 100.1, math.nan, math.inf, 10**400, "95", None, True),
    ),
    ("method", "no interval method called basic; there are percentile, bca"): ("basic",),
}


@pytest.mark.parametrize(
    ("name", "value", "said"), [(name, value, said) for (name, said), values in REFUSED.items() for value in values]
)
def test_what_is_no_setting_is_refused(name: str, value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Resampling(**{name: value})


@pytest.mark.parametrize(
    ("confidence", "meant"), [(0.95, "95"), (0.999, "99.9"), (5, "95"), (0.05, "95"), (99.999, None)]
)
def test_a_likely_confidence_is_named(confidence: float, meant: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        Resampling(confidence=confidence)
    assert str(caught.value).endswith(f"percent: did you mean {meant}?") == (meant is not None)
