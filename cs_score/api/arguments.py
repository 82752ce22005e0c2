"""Arguments of the public functions: checked where they are given, and brought into the form that the library takes.

A text that stands where a list belongs is read as the scorer's switch of that name reads it; where files belong, one
path or one open file is a list of one.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar

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


_TAKEN: Final[Mapping[str, tuple[Any, str]]] = {
    "None": (type(None), ""),
    "str": (str, "a text"),
    "os.PathLike[str]": (os.PathLike, "a path"),  # which may be a text, too
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
    "bool": (bool, "True or False"),
    "Wanted": ((str, Integral, Iterable), "a name or several"),
}
"""Annotations that are checked, what they take, and what messages call it."""

Given = ParamSpec("Given")
Made = TypeVar("Made")


def checked(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """A public function whose arguments are held against their annotations, where these are simple.

    It raises UsageError for what is none of the types; all else the function checks itself.
    """
    signature = _signature_of(function)
    parts_of = {name: str(each.annotation).split(" | ") for name, each in signature.parameters.items()}
    simple = {name: parts for name, parts in parts_of.items() if {*parts} <= {*_TAKEN}}

    @functools.wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Made:
        for name, value in signature.bind(*given, **named).arguments.items():
            parts = simple.get(name, ())
            is_taken = any(isinstance(value, _TAKEN[part][0]) for part in parts)
            if parts and (not is_taken or (isinstance(value, bool) and "bool" not in parts)):
                *_, taken = (_TAKEN[part][1] for part in parts if part != "None")
                raise UsageError(f"{name} takes {taken}, not {value!r}")
        return function(*given, **named)

    call.__dict__["__signature__"] = signature
    return call


USUAL_POLICY: Final = "kb"
"""The policy that runs are scored under where no argument names another."""


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
    """Return the options of scoring as parameters, with their usual values."""
    defaults: dict[str | None, object] = {"policy": USUAL_POLICY}
    for option in SCORING_OPTIONS:
        # Limits belong to the policy that is named, unless they are given themselves.
        defaults[option.python_name] = None if option.rule is Rule.LIMITS else option.usual
    parameters = []
    for name, annotation in arguments.__annotations__.items():
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation.__forward_arg__
            )
        )
    return parameters


def at_least_one(what: str, given: object) -> None:
    """Raises UsageError for an argument that is given and no number from 1."""
    if given is not None and (not isinstance(given, int) or given < 1):
        raise UsageError(f"{what} takes a number from 1, not {given!r}")


def files_of(given: object, what: str) -> list[Input]:
    """The files that an argument named `what` stands for. Raises UsageError where it is no file and no list of them."""

    def is_file(one: object) -> bool:
        return isinstance(one, (str, os.PathLike)) or callable(getattr(one, "read", None))

    files: list[Any] = [given]
    if isinstance(given, Iterable) and not isinstance(given, bytes | bytearray) and not is_file(given):
        files = [*given]
    for file in files:
        if not is_file(file):
            raise UsageError(f"{what} takes paths or open files, not {file!r}")
    return files


Together: TypeAlias = "str | os.PathLike[str] | Mapping[str, str] | None"
"""Units that are drawn together: a table with the columns unit, cluster, [stratum], or the cluster of each unit."""


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
    """Return the settings that arguments ask for; without a number of resamples as many as significance needs.

    Raises UsageError for impossible ones and for many resamples without `force`, InputError for a table that is none.
    """
    if bootstrap is not None and bootstrap > MANY_RESAMPLES and not force:
        raise UsageError(too_many_resamples(f"bootstrap={bootstrap}", "force=True"))
    together: Clusters | UnsetType = UNSET
    if isinstance(clusters, Mapping):
        together = Clusters("clusters", dict(clusters))
    elif clusters is not None:
        together = read_clusters(clusters)
    return Resampling(
        DEFAULT_RESAMPLES if bootstrap is None else bootstrap,
        seed,
        confidence,
        interval or UNSET,
        can_grow=bootstrap is None or UNSET,
        correction=correction or UNSET,
        baseline=baseline or UNSET,
        clusters=together,
    )


def limits_of(given: Limits) -> Justifications:
    """The limits of an argument. Raises UsageError for what are none."""
    if not isinstance(given, str | Justifications):
        raise UsageError(f"justifications takes a text such as 1:3, not {given!r}")
    return Justifications.parse(given) if isinstance(given, str) else given


def policy_of(
    policy: str | Policy | None, limits: Limits | None, policy_before: Policy, limits_before: Justifications
) -> tuple[Policy, Justifications]:
    """The policy and the limits that two arguments choose.

    A name stands for a published policy with the limits that belong to it; what is not given stays as it was before.
    Raises UsageError for an unknown name, and for what is neither a name nor a policy.
    """
    if isinstance(policy, str):
        preset = find_preset(policy)
        policy_before, limits_before = preset.policy, preset.justifications
    elif policy is not None:
        if not isinstance(policy, Policy):
            raise UsageError(f"policy takes the name of a policy or a Policy, not {policy!r}")
        policy_before = policy
    return policy_before, limits_before if limits is None else limits_of(limits)


def options_of(arguments: ScoringArguments | CallArguments) -> Options:
    """Return the options of a scoring that arguments choose. Raises UsageError for impossible ones."""
    values: dict[str, Any] = {**arguments}
    policy, limits = policy_of(
        values.pop("policy", USUAL_POLICY), values.pop("justifications", None), USUAL.policy, USUAL.justifications
    )
    values_of_fields = {}
    for option in SCORING_OPTIONS:
        if option.python_name in values:
            values_of_fields[option.name] = option.from_python(values[option.python_name])
    options = Options(policy=policy, justifications=limits, **values_of_fields)
    options.check()
    return options


def policy_words(given: str | Iterable[str] | Mapping[str, Policy]) -> list[str]:
    """Policies by name as --also-policy takes them. Raises UsageError for what are no policies."""
    if not isinstance(given, Mapping):
        return list(as_list(given, "also_policy"))
    words = []
    for name, policy in given.items():
        if not isinstance(policy, Policy):
            raise UsageError(f"also_policy takes a Policy for each name; {name} is {policy!r}")
        words.append(f"{name}:" + ",".join(f"{side.lower()}={text}" for side, text in policy.texts().items()))
    return words
