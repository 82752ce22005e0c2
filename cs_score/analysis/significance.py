"""The interval and the p-values of the difference of two results, as JSON and as text."""

from __future__ import annotations

from cs_score.statistics.results import Comparison


def significance(compared: Comparison | None) -> dict[str, object]:
    """Interval, p-values and settings of a comparison of two systems by one measure; nulls where there is none."""
    if compared is None:
        return {"interval": None, "p": None, "resampling": None}
    pair = compared.measures[0].pairs[0]
    return {
        "interval": pair.difference.as_json(),
        "p": {"randomisation": pair.randomisation.raw, "bootstrap": pair.bootstrap.raw},
        "resampling": compared.resampling.as_json(),
    }


def significance_lines(compared: Comparison | None) -> list[str]:
    """The same as a line of text; none where there is none."""
    if compared is None:
        return []
    pair, settings = compared.measures[0].pairs[0], compared.resampling
    low, high = ("-" if limit is None else f"{limit:+.4f}" for limit in (pair.difference.low, pair.difference.high))
    return [
        f"{settings.confidence:g} % {settings.method} bootstrap interval of B - A: {low} to {high}; "
        f"p {pair.randomisation.raw:.4f} (randomisation), {pair.bootstrap.raw:.4f} (bootstrap)"
    ]
