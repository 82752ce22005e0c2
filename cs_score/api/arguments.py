"""The arguments of the public functions: they are checked, and converted to the records that the library works with.

A text in the place of a list is read as the scorer's switch of that name reads it. In the place of files, one path or
one open file is a list of one.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType

from cs_score.base.errors import UsageError
from cs_score.base.sources import Input
from cs_score.coldstart.options import (
    SCORING_OPTIONS,
    USUAL,
    CallArguments,
    Justifications,
    Options,
    Policy,
    Rule,
    ScoringArguments,
    as_list,
    find_preset,
)
from cs_score.statistics.options import (
    DEFAULT_RESAMPLES,
    MANY_RESAMPLES,
    Correction,
    IntervalMethod,
    Resampling,
    too_many_resamples,
)
from cs_score.statistics.units import Clusters, read_clusters

Files: TypeAlias = Input | Iterable[Input]
"""A path, an open file, or several of them. A folder stands for its files `*.tab.txt`; `-` is standard input."""

Names: TypeAlias = str | Iterable[str]
"""Names as a list, or as one text with colons between them."""

Limits: TypeAlias = str | Justifications
"""Limits on justifications, `A:B`: A for each node and document, B for each node; digits, or `M` for any number."""

Together: TypeAlias = "str | os.PathLike[str] | Mapping[str, str] | None"
"""Units that are drawn together: a table with the columns unit, cluster, [stratum], or the cluster of each unit."""

USUAL_POLICY: Final = "kb"
"""The policy that runs are scored under if no argument names another."""

# ---- Types


class _Accepted(NamedTuple):
    """The types of values that an annotation accepts, and what messages call such a value."""

    types: Any
    description: str


_ACCEPTED: Final[Mapping[str, _Accepted]] = {
    "None": _Accepted(type(None), ""),
    "str": _Accepted(str, "a text"),
    "os.PathLike[str]": _Accepted(os.PathLike, "a path"),  # `str | os.PathLike[str]` is called a path
    "int": _Accepted(Integral, "a whole number"),
    "float": _Accepted(Real, "a number"),
    "bool": _Accepted(bool, "True or False"),
    "Wanted": _Accepted((str, Integral, Iterable), "a name or several"),
}
"""What values are accepted for an annotation, by its text."""

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def checked(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Decorate a public function so that it raises UsageError for an argument of another type than annotated.

    Only parameters whose annotation is made of simple types, such as `int | None`, are checked; the function checks all
    others itself.
    """
    signature = _signature_of(function)
    annotations_by_name = _simple_annotations(signature)

    @functools.wraps(function)
    def call(*positional: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        for name, value in signature.bind(*positional, **keywords).arguments.items():
            if name in annotations_by_name:
                _check_type(name, value, annotations_by_name[name])
        return function(*positional, **keywords)

    call.__dict__["__signature__"] = signature
    return call


def _simple_annotations(signature: inspect.Signature) -> dict[str, list[str]]:
    """Return the parts of each annotation that has only simple types, by parameter: `int | None` -> `[int, None]`."""
    annotations_by_name = {}
    for name, parameter in signature.parameters.items():
        annotations = str(parameter.annotation).split(" | ")
        if all(annotation in _ACCEPTED for annotation in annotations):
            annotations_by_name[name] = annotations
    return annotations_by_name


def _check_type(name: str, value: object, annotations: Sequence[str]) -> None:
    """Raise UsageError if an argument is of none of the types; True and False do not count as numbers."""
    is_accepted = any(isinstance(value, _ACCEPTED[annotation].types) for annotation in annotations)
    if isinstance(value, bool) and "bool" not in annotations:
        is_accepted = False
    if not is_accepted:
        descriptions = [_ACCEPTED[annotation].description for annotation in annotations if annotation != "None"]
        raise UsageError(f"{name} takes {descriptions[-1]}, not {value!r}")


def _signature_of(function: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a function, with the options of scoring in the place of `**options`."""
    signature = inspect.signature(function)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.annotation == "Unpack[ScoringArguments]":
            parameters += _parameters_of(ScoringArguments)
        elif parameter.annotation == "Unpack[CallArguments]":
            parameters += _parameters_of(CallArguments)
        else:
            parameters.append(parameter)
    return signature.replace(parameters=parameters)


def _parameters_of(arguments: type) -> list[inspect.Parameter]:
    """Return the options of scoring as keyword parameters with their defaults."""
    defaults: dict[str | None, object] = {"policy": USUAL_POLICY}
    for option in SCORING_OPTIONS:
        # Limits belong to the policy that is named, unless they are given themselves.
        defaults[option.python_name] = None if option.rule is Rule.LIMITS else option.usual
    parameters = []
    for name, annotation in arguments.__annotations__.items():
        parameter = inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation.__forward_arg__
        )
        parameters.append(parameter)
    return parameters


# ---- Numbers and files


def at_least_one(name: str, value: object) -> None:
    """Raise UsageError if the argument called `name` is neither None nor a whole number from 1."""
    if value is not None and (not isinstance(value, int) or value < 1):
        raise UsageError(f"{name} takes a number from 1, not {value!r}")


def files_of(value: object, name: str) -> list[Input]:
    """Return the files of the argument called `name`, which may be one file or several.

    Raises UsageError for a value that is neither a path nor an open file nor a collection of these.
    """
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray) and not _is_file(value):
        files: list[Any] = list(value)
    else:
        files = [value]
    for file in files:
        if not _is_file(file):
            raise UsageError(f"{name} takes paths or open files, not {file!r}")
    return files


def _is_file(value: object) -> bool:
    """Return whether a value is a path or an open file."""
    return isinstance(value, (str, os.PathLike)) or callable(getattr(value, "read", None))


# ---- Resampling


def resampling_of(
    bootstrap: int | None,
    seed: int,
    confidence: float,
    interval: IntervalMethod | None,
    clusters: Together,
    correction: Correction | None = None,
    baseline: str | None = None,
    *,
    force: bool = False,
) -> Resampling:
    """Return the settings of intervals and tests that the arguments of these names choose.

    Without a number of resamples (`bootstrap`) as many are drawn as significance needs. Raises UsageError for
    impossible values and for many resamples without `force`, InputError for a table of clusters that is none.
    """
    if bootstrap is not None and bootstrap > MANY_RESAMPLES and not force:
        raise UsageError(too_many_resamples(f"bootstrap={bootstrap}", "force=True"))
    return Resampling(
        DEFAULT_RESAMPLES if bootstrap is None else bootstrap,
        seed,
        confidence,
        interval or UNSET,
        can_grow=bootstrap is None or UNSET,
        correction=correction or UNSET,
        baseline=baseline or UNSET,
        clusters=_clusters_of(clusters),
    )


def _clusters_of(clusters: Together) -> Clusters | UnsetType:
    """Return the clusters of units that an argument gives or whose table it names. Raises InputError."""
    if clusters is None:
        return UNSET
    if isinstance(clusters, Mapping):
        return Clusters("clusters", dict(clusters))
    return read_clusters(clusters)


# ---- Scoring


def limits_of(limits: Limits) -> Justifications:
    """Return the limits on justifications that an argument gives: `"1:3"`. Raises UsageError for anything else."""
    if isinstance(limits, Justifications):
        return limits
    if not isinstance(limits, str):
        raise UsageError(f"justifications takes a text such as 1:3, not {limits!r}")
    return Justifications.parse(limits)


class PolicyAndLimits(NamedTuple):
    """A policy, and the limits on justifications under which it is applied."""

    policy: Policy
    limits: Justifications


def policy_of(policy: str | Policy | None, limits: Limits | None, defaults: PolicyAndLimits) -> PolicyAndLimits:
    """Return the policy and the limits that two arguments choose; for None the defaults hold.

    A name such as `"sf"` chooses a published policy with the limits that belong to it, unless `limits` are given.
    Raises UsageError for an unknown name, and for a value that is neither a name nor a policy.
    """
    chosen_policy, chosen_limits = defaults
    if isinstance(policy, str):
        preset = find_preset(policy)
        chosen_policy = preset.policy
        chosen_limits = preset.justifications
    elif isinstance(policy, Policy):
        chosen_policy = policy
    elif policy is not None:
        raise UsageError(f"policy takes the name of a policy or a Policy, not {policy!r}")
    if limits is not None:
        chosen_limits = limits_of(limits)
    return PolicyAndLimits(chosen_policy, chosen_limits)


def options_of(arguments: ScoringArguments | CallArguments) -> Options:
    """Return the options of a scoring that arguments choose. Raises UsageError for impossible ones."""
    values: dict[str, Any] = {**arguments}
    policy = values.pop("policy", USUAL_POLICY)
    limits = values.pop("justifications", None)
    chosen = policy_of(policy, limits, PolicyAndLimits(USUAL.policy, USUAL.justifications))
    fields = {}
    for option in SCORING_OPTIONS:
        if option.python_name in values:
            fields[option.name] = option.from_python(values[option.python_name])
    options = Options(policy=chosen.policy, justifications=chosen.limits, **fields)
    options.check()
    return options


def policy_words(policies: str | Iterable[str] | Mapping[str, Policy]) -> list[str]:
    """Return policies as the option --also-policy takes them: `["sf", "mine:ignore=UNASSESSED,right=CORRECT"]`.

    Raises UsageError for a value that is no policy.
    """
    if not isinstance(policies, Mapping):
        return list(as_list(policies, "also_policy"))
    words = []
    for name, policy in policies.items():
        if not isinstance(policy, Policy):
            raise UsageError(f"also_policy takes a Policy for each name; {name} is {policy!r}")
        sides = [f"{side.lower()}={text}" for side, text in policy.texts().items()]
        words.append(f"{name}:{','.join(sides)}")
    return words
