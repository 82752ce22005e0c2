"""The `.sample`, `.samplescores` and `.confidence` files (specification 11.3)."""

from __future__ import annotations

from collections.abc import Iterator

from cs_score.coldstart.resampling.values import VALUE_CODES, Bootstrap


def samples_text(bootstrap: Bootstrap, _: str) -> Iterator[str]:
    """Each sample with the first entry point of every LDC query drawn."""
    for sample in bootstrap.samples:
        draws = (f" {draw.ldc_id}:{draw.written[0] if draw.written else ''}" for draw in sample.draws)
        yield f"{sample.label}{''.join(draws)}\n"


def sample_scores_text(bootstrap: Bootstrap, run_id: str) -> Iterator[str]:
    """The values of each sample."""
    yield "Sample#{} #RUNID\n".format("".join(f" {code}" for code in VALUE_CODES))
    for sample, values in zip(bootstrap.samples, bootstrap.values):
        cells = "".join(f"{'':15}{float(value or 0):0.4f}" for value in values)
        yield f"{sample.number:6d}{cells} #{run_id}\n"


def confidence_text(bootstrap: Bootstrap, _: str) -> Iterator[str]:
    """Percentile limits, mean and score of every value."""
    yield f"{'':22}99%(   95%(   90%(   mean   scr.   )90%   )95%   )99%\n"
    for limits in bootstrap.limits:
        yield " ".join((str(limits.code), *limits.low, limits.mean, limits.score, *limits.high)) + "\n"
