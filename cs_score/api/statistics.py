"""What a test set and a pool can show: `power`."""

from __future__ import annotations

from cs_score.api.documents import Comparison
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.sources import Input, name_of
from cs_score.statistics.planning import NO_NAMES, Power, of_comparison, planned
from cs_score.statistics.results import Comparison as Compared


def power(
    comparison: Comparison | Input | None = None,
    *,
    measure: str | None = None,
    difference: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    sd: float | None = None,
    units: int | None = None,
) -> Power:
    """What difference of two systems a paired t test detects, and how many units a `difference` needs.

    `comparison` is what `compare` made, or the file of its JSON, `measure` one of its measures, unless given the one
    that ranks. Without a comparison `sd` is the standard deviation of the units' paired differences, `units` their
    number. `alpha` is the level of the test of two sides, `power` the probability with which a difference is to be
    found, both between 0 and 1.

    Raises UsageError for impossible arguments, InputError for a comparison from which nothing can be planned.
    """
    if (comparison is None) == (sd is None):
        raise UsageError("power takes a comparison, or a standard deviation (sd)")
    if sd is not None:
        return planned({NO_NAMES: sd}, units, difference, alpha, power)
    if units is not None:
        raise UsageError("units goes with sd; a comparison has its own number of units")
    if isinstance(comparison, Comparison):
        compared = comparison._compared
    else:
        given: Input = comparison  # type: ignore[assignment]  # it is not None
        compared = record_in(read_document(given), Compared, name_of(given))
    return of_comparison(compared, measure, difference, alpha, power)
