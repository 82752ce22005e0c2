"""The options that say how to resample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from cs_score.base.errors import UsageError
from cs_score.base.patterns import pattern
from cs_score.cli.options import Option
from cs_score.statistics.options import DEFAULT_RESAMPLES, INTERVAL_METHODS, IntervalMethod, Resampling

MOST_RESAMPLES: Final = 1_000_000
"""More would need gigabytes for the scores alone, and would tell no more about the test set."""


OPTIONS: Final = (
    Option("--bootstrap", "N", "Bootstrap intervals of all scores from N resamples"),
    Option("--seed", "S", "Seed of the resamples, a whole number", "0"),
    Option("--confidence", "C", "Confidence of the intervals in percent, 50 to 99.99", "95"),
    Option(
        "--interval",
        "METHOD",
        f"Interval method, {' or '.join(INTERVAL_METHODS)}",
        "percentile",
        tuple(INTERVAL_METHODS),
    ),
)

DEFAULTS: Final = {option.name: option.default for option in OPTIONS if option.default is not None}

COMPARISON_OPTIONS: Final = (
    Option(
        "--bootstrap", "N", "Resamples; if not given, more than that where many pairs need them", str(DEFAULT_RESAMPLES)
    ),
    *OPTIONS[1:],
)
"""The same for a comparison, which cannot do without resampling."""

_WHOLE: Final = pattern(r"[0-9]{1,100}")
_NUMBER: Final = pattern(r"[0-9]{1,3}(\.[0-9]{0,15})?")


def read_resampling(given: Mapping[str, str | None], options: tuple[Option, ...] = OPTIONS) -> Resampling | None:
    """The settings that the options given ask for, by name; None where they ask for no resampling.

    Raises UsageError for impossible values, and for settings of a bootstrap that was not asked for.
    """
    words = {name: text for name, text in given.items() if text is not None}
    texts = {option.name: option.default for option in options if option.default is not None} | words
    if "--bootstrap" not in texts:
        for option in options:
            if option.name in words:
                raise UsageError(f"{option.name} is about intervals: give --bootstrap N, too")
        return None
    resamples, seed, confidence, method = (texts[option.name] for option in options)
    if not _WHOLE.fullmatch(resamples) or not 1 <= int(resamples) <= MOST_RESAMPLES:
        raise UsageError(f"--bootstrap takes a whole number from 1 to {MOST_RESAMPLES}, not {resamples}")
    if not _WHOLE.fullmatch(seed):
        raise UsageError(f"--seed takes a whole number of at least 0, not {seed}")
    if not _NUMBER.fullmatch(confidence):
        raise UsageError(f"--confidence takes a percentage from 50 to 99.99, not {confidence}")
    if method not in INTERVAL_METHODS:
        raise UsageError(f"--interval takes {' or '.join(INTERVAL_METHODS)}, not {method}")
    return Resampling(
        int(resamples),
        int(seed),
        float(confidence),
        cast(IntervalMethod, method),
        can_grow="--bootstrap" not in words,
    )
