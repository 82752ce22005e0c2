"""What a Cold Start score was computed from: the options that change it, as a signature shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cs_score.base.signing.origin import QUERY_LIST, SAMPLES, Origin, digest_of, short_digest
from cs_score.base.sources import InputDigest
from cs_score.coldstart.options import PRESETS, Options, Policy
from cs_score.measures.registry import COLD_START_MODE, usual


def origin_of(options: Options, inputs: Sequence[InputDigest], has_ldc_index: bool, *, validated: bool) -> Origin:
    """The origin of scores made with these options from these inputs; `validated`: runs were validated first."""
    measure = str(usual(COLD_START_MODE, has_ldc_index))
    origin = Origin(COLD_START_MODE, options.as_json(), tuple(inputs), tuple(_settings(options, inputs)), measure)
    return as_validated(origin) if validated else origin


def as_validated(origin: Origin) -> Origin:
    """The origin of scores of runs that were validated on the way to the scorer."""
    return origin.with_option("validate", True, "validate=true")


def _settings(options: Options, inputs: Sequence[InputDigest]) -> Iterator[str]:
    """Policy and limits, then whatever is not as usual; choices that are files by digest."""
    usually = Options()
    yield _policy(options.policy)
    yield str(options.justifications)
    if options.discipline != usually.discipline:
        yield f"discipline={options.discipline}"
    if options.expand is not None:
        yield f"expand={options.expand}"
    if options.queries is not None:
        files = [given for given in inputs if given.role == QUERY_LIST]
        yield f"queries={digest_of(files) if files else short_digest(options.queries.rstrip(':'))}"
    if options.runids is not None:
        yield f"runids={':'.join(options.runids)}"
    if options.samples is not None:
        yield f"samples={digest_of(given for given in inputs if given.role == SAMPLES)}"


def _policy(policy: Policy) -> str:
    """The name of a published policy, otherwise its categories.

    The order of those that are right decides which of two right responses is the duplicate; that of others changes
    nothing.
    """
    plain = _plain(policy)
    names = [name for name, preset in PRESETS.items() if _plain(preset.policy) == plain]
    return names[0] if names else ";".join(f"{side}={':'.join(items)}" for side, items in plain.items())


def _plain(policy: Policy) -> dict[str, Sequence[str]]:
    return {"right": policy.right, "wrong": sorted(policy.wrong), "ignore": sorted(policy.ignore)}
