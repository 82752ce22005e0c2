"""Functions that check the arguments of the public functions and convert them to the records of the library. A policy
says which answers count as right and as wrong; limits say how many justifications of a node count at most.

Where a list is expected, a text such as `"A:B"` may be given; it is read like the value of the scorer's switch of the
same name. Where files are expected, a single path or open file may be given.
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
    DEFAULT_OPTIONS,
    SCORING_OPTIONS,
    CallArguments,
    JustificationLimits,
    Options,
    OptionTopic,
    Policy,
    ScoringArguments,
    find_preset,
    texts_of_list,
)
from cs_score.statistics.resampling_settings import (
    DEFAULT_RESAMPLES,
    MANY_RESAMPLES,
    Correction,
    IntervalMethod,
    Resampling,
    message_on_many_resamples,
)
from cs_score.statistics.units import Clusters, read_clusters

Files: TypeAlias = Input | Iterable[Input]
"""A path, an open file, or several of them. A folder means its files `*.tab.txt`; `-` is standard input."""

Names: TypeAlias = str | Iterable[str]
"""Names as a list, or as one text with colons between them."""

Limits: TypeAlias = str | JustificationLimits
"""Limits on justifications, `A:B`: A for each node and document, B for each node; digits, or `M` for any number."""

Selectors: TypeAlias = str | int | Sequence[str | int]
"""What names the parts of a result to explain: one name or several."""

ClustersArgument: TypeAlias = "str | os.PathLike[str] | Mapping[str, str] | None"
"""Units that are drawn together: a table with the columns unit, cluster, [stratum], or the cluster of each unit."""

USUAL_POLICY: Final = "kb"
"""The policy that runs are scored under if no argument names another."""

# ---- Types


class _Accepted(NamedTuple):
    """The types of values that an annotation accepts, and what messages call such a value."""

    types: Any
    description: str


_ACCEPTED_TYPES_BY_ANNOTATION: Final[Mapping[str, _Accepted]] = {
    "None": _Accepted(type(None), ""),
    "str": _Accepted(str, "a text"),
    "os.PathLike[str]": _Accepted(os.PathLike, "a path"),  # `str | os.PathLike[str]` is called a path
    "int": _Accepted(Integral, "a whole number"),
    "float": _Accepted(Real, "a number"),
    "bool": _Accepted(bool, "True or False"),
    "Selectors": _Accepted((str, Integral, Iterable), "a name or several"),
}
"""What values are accepted for an annotation, by its text."""

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def checked(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Return a function that checks the types of its arguments and then calls `function`, a public function.

    It is used as a decorator. If the type of an argument does not match its annotation, UsageError is raised. Only
    parameters with simple annotations, such as `int | None`, are checked here; the public function itself checks all
    others. In the signature of the returned function, each option of scoring has a parameter of its own.
    """
    signature = _signature_with_scoring_options(function)
    annotations_by_name = _simple_annotations(signature)  # of the parameters to be checked

    @functools.wraps(function)
    def call(*positional: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        """Check the types of the arguments, then call the public function, whose docstring is shown by `help`."""
        value_by_parameter = signature.bind(*positional, **keywords).arguments
        _check_types(value_by_parameter, annotations_by_name)
        return function(*positional, **keywords)

    call.__dict__["__signature__"] = signature  # `help` and documentation show it
    return call


def _simple_annotations(signature: inspect.Signature) -> dict[str, list[str]]:
    """Return the types of parameters with only simple types: `top: int | None` gives `{"top": ["int", "None"]}`."""
    annotations_by_name = {}
    for name, parameter in signature.parameters.items():
        annotations = str(parameter.annotation).split(" | ")  # modules of the API keep annotations as text
        if all(annotation in _ACCEPTED_TYPES_BY_ANNOTATION for annotation in annotations):
            annotations_by_name[name] = annotations
    return annotations_by_name


def _check_types(value_by_parameter: Mapping[str, object], annotations_by_name: Mapping[str, Sequence[str]]) -> None:
    """Raise UsageError if an argument has none of the types that its parameter accepts.

    `annotations_by_name` has the types of the parameters that are checked: `{"top": ["int", "None"]}`.
    """
    for name, value in value_by_parameter.items():
        if name in annotations_by_name:
            _check_type(name, value, annotations_by_name[name])


def _check_type(name: str, value: object, annotations: Sequence[str]) -> None:
    """Raise UsageError if the argument called `name` has none of the annotated types.

    The last annotation is the widest type, which the error names. True and False do not count as numbers.
    """
    has_accepted_type = any(
        isinstance(value, _ACCEPTED_TYPES_BY_ANNOTATION[annotation].types) for annotation in annotations
    )
    is_misplaced_bool = isinstance(value, bool) and "bool" not in annotations
    if has_accepted_type and not is_misplaced_bool:
        return
    descriptions = [
        _ACCEPTED_TYPES_BY_ANNOTATION[annotation].description for annotation in annotations if annotation != "None"
    ]
    description_of_widest_type = descriptions[-1]  # `str | os.PathLike[str]` is called a path
    raise UsageError(f"{name} takes {description_of_widest_type}, not {value!r}")


def _signature_with_scoring_options(function: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a function in which `**options` is replaced by a parameter for each option of scoring."""
    signature = inspect.signature(function)
    parameters = []
    for parameter in signature.parameters.values():
        # Annotations are texts here, because their modules have `from __future__ import annotations`.
        if parameter.annotation == "Unpack[ScoringArguments]":
            parameters += _parameters_of(ScoringArguments)
        elif parameter.annotation == "Unpack[CallArguments]":
            parameters += _parameters_of(CallArguments)
        else:
            parameters.append(parameter)
    return signature.replace(parameters=parameters)


def _parameters_of(arguments: type) -> list[inspect.Parameter]:
    """Return a keyword parameter for each option of scoring.

    `arguments` is the typed dictionary whose members are these options: `ScoringArguments` or `CallArguments`.
    """
    default_by_name = _defaults_of_options()
    parameters = []
    for name, annotation in arguments.__annotations__.items():
        parameter = inspect.Parameter(
            name,
            kind=inspect.Parameter.KEYWORD_ONLY,
            default=default_by_name[name],
            annotation=annotation.__forward_arg__,  # the text of the annotation, which Python has not evaluated
        )
        parameters.append(parameter)
    return parameters


def _defaults_of_options() -> dict[str | None, object]:
    """Return the default of each option of scoring by its name in Python: `{"policy": "kb", "expand": None, ...}`.

    The limits on justifications are None, since by default the limits of the policy are used. Options without a name in
    Python share the key None, which is never looked up.
    """
    default_by_name: dict[str | None, object] = {"policy": USUAL_POLICY}
    for option in SCORING_OPTIONS:
        default_by_name[option.python_name] = None if option.topic is OptionTopic.LIMITS else option.default
    return default_by_name


# ---- Numbers and files


def check_at_least_one(name: str, value: object) -> None:
    """Raise UsageError if the value of the argument called `name` is neither None nor a whole number of at least 1."""
    if value is None:
        return
    if not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} takes a number from 1, not {value!r}")


def files_of(value: object, name: str) -> list[Input]:
    """Return the files of the argument called `name`, whose value is one file or several, as a list.

    Raises UsageError for a value that is neither a path nor an open file nor a collection of these.
    """
    # Bytes can also be iterated, but a message about their numbers would be confusing, so they are refused as a whole.
    is_one_value = _is_file(value) or isinstance(value, bytes | bytearray)
    files: list[Any] = [value]
    if isinstance(value, Iterable) and not is_one_value:
        files = list(value)
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
    clusters: ClustersArgument,
    correction: Correction | None = None,
    baseline: str | None = None,
    *,
    force: bool = False,
) -> Resampling:
    """Return the settings of bootstrap intervals and tests that these arguments of public functions choose.

    `bootstrap` is the number of resamples; if it is None, as many resamples are drawn as small p-values need. Raises
    UsageError for impossible values and for too many resamples without `force`, and InputError for a file that is not a
    table of clusters.
    """
    if bootstrap is not None and bootstrap > MANY_RESAMPLES and not force:
        raise UsageError(message_on_many_resamples(f"bootstrap={bootstrap}", "force=True"))
    # A value that is UNSET is left out of JSON. With `can_grow`, the comparison increases the default number of
    # resamples to the number that small p-values need.
    return Resampling(
        resamples=DEFAULT_RESAMPLES if bootstrap is None else bootstrap,
        seed=seed,
        confidence=confidence,
        method=interval or UNSET,
        can_grow=True if bootstrap is None else UNSET,
        correction=correction or UNSET,
        baseline=baseline or UNSET,
        clusters=_clusters_of(clusters),
    )


def _clusters_of(clusters: ClustersArgument) -> Clusters | UnsetType:
    """Return the clusters of units from a mapping or from a table at a path, or UNSET if `clusters` is None.

    Raises InputError if the file is not a table of clusters.
    """
    if clusters is None:
        return UNSET
    if isinstance(clusters, Mapping):
        return Clusters(file="clusters", cluster_by_unit=dict(clusters))
    return read_clusters(clusters)


# ---- Scoring


def read_limits(limits: Limits) -> JustificationLimits:
    """Return the limits on justifications as a record, also from a text such as `"1:3"`.

    Raises UsageError for any other value.
    """
    if isinstance(limits, JustificationLimits):
        return limits
    if not isinstance(limits, str):
        raise UsageError(f"justifications takes a text such as 1:3, not {limits!r}")
    return JustificationLimits.parse(limits)


class PolicyAndLimits(NamedTuple):
    """A policy, and the limits on justifications under which it is applied."""

    policy: Policy
    limits: JustificationLimits


def policy_of(policy: str | Policy | None, limits: Limits | None, defaults: PolicyAndLimits) -> PolicyAndLimits:
    """Return the policy and the limits on justifications that two arguments of public functions choose.

    An argument that is None is replaced by its default. A name such as `"sf"` chooses a published policy, and also the
    limits that belong to it unless `limits` are given.
    Raises UsageError for an unknown name, and for a value that is neither a name nor a policy.
    """
    policy_and_limits = _policy_with_its_limits(policy, defaults)
    if limits is None:
        return policy_and_limits
    return policy_and_limits._replace(limits=read_limits(limits))


def _policy_with_its_limits(policy: str | Policy | None, defaults: PolicyAndLimits) -> PolicyAndLimits:
    """Return the policy that an argument chooses, with the limits on justifications that belong to it.

    A published policy, such as `sf`, has its own limits. With the limits `1:3`, one justification counts for each node
    and document, and three justifications count for each node. For any other policy, the default limits are returned.
    Raises UsageError for an unknown name, and for a value that is neither a name nor a policy.
    """
    if policy is None:
        return defaults
    if isinstance(policy, Policy):
        return PolicyAndLimits(policy, defaults.limits)
    if isinstance(policy, str):
        preset = find_preset(policy)
        return PolicyAndLimits(preset.policy, preset.justifications)
    raise UsageError(f"policy takes the name of a policy or a Policy, not {policy!r}")


def options_of(arguments: ScoringArguments | CallArguments) -> Options:
    """Return the options of a scoring as a record, from the keyword arguments of a public function.

    Raises UsageError for impossible values.
    """
    value_by_argument: dict[str, Any] = dict(arguments.items())
    # The policy is read together with its limits. If the argument is missing, the usual policy `kb` is used with its
    # limits. `policy=None` means the scorer's default policy, which applies without the switch.
    policy = value_by_argument.pop("policy", USUAL_POLICY)
    limits = value_by_argument.pop("justifications", None)
    defaults = PolicyAndLimits(DEFAULT_OPTIONS.policy, DEFAULT_OPTIONS.justifications)
    policy_and_limits = policy_of(policy, limits, defaults)
    value_by_field = _values_by_field(value_by_argument)
    options = Options(policy=policy_and_limits.policy, justifications=policy_and_limits.limits, **value_by_field)
    options.check()
    return options


def _values_by_field(value_by_argument: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of scoring options from arguments of a public function, by field of the record `Options`.

    The policy and its limits are not included. Raises UsageError for impossible values.
    """
    value_by_field = {}
    for option in SCORING_OPTIONS:
        argument = option.python_name
        if argument is not None and argument in value_by_argument:
            value_by_field[option.name] = option.from_python(value_by_argument[argument])
    return value_by_field


def policy_words(policies: str | Iterable[str] | Mapping[str, Policy]) -> list[str]:
    """Return policies in the form of the option --also-policy: `["sf", "mine:ignore=UNASSESSED,right=CORRECT"]`.

    `policies` are names of published policies, or policies by the names that the caller gives them. Raises UsageError
    for a value that is not a policy.
    """
    if not isinstance(policies, Mapping):
        return list(texts_of_list(policies, "also_policy"))
    return [_option_text_of_policy(name, policy) for name, policy in policies.items()]


def _option_text_of_policy(name: str, policy: object) -> str:
    """Return a policy as text that the option --also-policy takes: `mine:ignore=UNASSESSED,right=CORRECT`.

    `name` is the name of the policy, here `mine`. Raises UsageError if `policy` is not a `Policy`.
    """
    if not isinstance(policy, Policy):
        raise UsageError(f"also_policy takes a Policy for each name; {name} is {policy!r}")
    categories_by_side = policy.texts()  # for example {"RIGHT": "CORRECT:INEXACT"}
    assignments = [f"{side.lower()}={categories}" for side, categories in categories_by_side.items()]
    return f"{name}:{','.join(assignments)}"
