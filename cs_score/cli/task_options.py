"""Options of a single evidence task. They are made from the fields of its record of options, which Python users set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec.inspect import FloatType, IntType, LiteralType, Metadata, NoneType, StrType, UnionType, type_info

from cs_score.base.errors import UsageError, did_you_mean
from cs_score.cli.core import CommandLine, Option
from cs_score.cli.shared_options import LARGEST_NUMBER, positive_number, select_options, whole_number
from cs_score.tasks import mode_named


class TaskOption(NamedTuple):
    """An option of a task, such as `--references N`, made from a field of its record of options. Python users set the
    same field by the argument `references`.
    """

    field: str
    """The name of the field, which is also the name of the argument in Python."""
    name: str
    """The name on the command line, such as `--any-order`."""
    meaning: str
    kind: str
    """The kind of value: `number`, `decimal`, `choice`, `text` or `flag`."""
    default: Any
    default_text: str | None = None
    """The default as help shows it."""
    largest: int = 1
    """The largest value, if the kind is `number`."""
    choices: tuple[str, ...] = ()


_NAMES_OF_SHARED_OPTIONS: Final = frozenset({"--run"})
"""Options of tasks that are taken from the shared options, because they mean the same for Cold Start runs."""

_VALUE_NAMES: Final = {"number": "N", "decimal": "X", "text": "TEXT", "choice": "NAME"}
"""What help calls the value of an option, by its kind; a flag has no value."""


def options_of_task(task: str) -> list[Option]:
    """Return the options that only this task has, in the order of the fields.

    If the task has stages, `--stage` is the last option.
    """
    options = [_command_option(task_option) for task_option in _task_options(task)]
    stages = mode_named(task).stages
    if stages:
        options.append(_stage_option(stages))
    return options


def _command_option(task_option: TaskOption) -> Option:
    """Return the command-line option that corresponds to an option of a task, for example `--references N`.

    If the option has the same meaning for Cold Start runs, the option of the commands for runs is reused.
    """
    if task_option.name in _NAMES_OF_SHARED_OPTIONS:
        (shared_option,) = select_options(task_option.name)
        return shared_option
    value_name = _VALUE_NAMES.get(task_option.kind, "")
    usage = f"{task_option.name} {value_name}".rstrip()
    return Option(usage, task_option.meaning, task_option.default_text, task_option.choices)


def option_values_of_task(task: str, command_line: CommandLine) -> dict[str, Any]:
    """Return the values of the options of a task by field, as keyword arguments for scoring.

    Raises UsageError for a wrong value.
    """
    return {task_option.field: _value_of_option(task_option, command_line) for task_option in _task_options(task)}


def _value_of_option(task_option: TaskOption, command_line: CommandLine) -> Any:
    """Return the value of an option, or its default if it was not typed. Raises UsageError for a wrong value."""
    if task_option.kind == "flag":
        return task_option.name in command_line
    text = command_line.get(task_option.name)
    if text is None:
        return task_option.default
    if task_option.kind == "number":
        return whole_number(command_line, task_option.name, task_option.largest)
    if task_option.kind == "decimal":
        return positive_number(command_line, task_option.name)
    if task_option.kind == "choice":
        _check_choice(task_option, text)
    return text


def _check_choice(task_option: TaskOption, text: str) -> None:
    """Raise UsageError, with a suggestion, if a text is not one of the values that an option may have."""
    choices = task_option.choices
    if text not in choices:
        raise UsageError(f"{task_option.name} takes {', '.join(choices)}, not {text}{did_you_mean(text, choices)}")


def _task_options(task: str) -> Iterator[TaskOption]:
    """Yield the options of a task, one for each field of its record of options."""
    record: Any = type_info(mode_named(task).options)
    for field in record.fields:
        yield _option_of_field(field.name, field.type, field.default)


def _option_of_field(field: str, annotation: Any, default: Any) -> TaskOption:
    """Return the option for a field of a record: `any_order` becomes `--any-order`.

    `annotation` describes the type of the field, which decides what kind of value the option takes.
    """
    value_type = _type_of_value(annotation)
    kind = _kind_of_value(value_type)
    return TaskOption(
        field=field,
        name=f"--{field.replace('_', '-')}",
        meaning=_description(annotation),
        kind=kind,
        default=default,
        default_text=_default_text(kind, default),
        largest=_largest_value(value_type),
        choices=_choices_of(value_type),
    )


_KIND_BY_TYPE: Final[dict[type, str]] = {
    IntType: "number",
    FloatType: "decimal",
    LiteralType: "choice",
    StrType: "text",
}
"""The kind of value that an option takes, by the type of its field; fields of other types become flags."""


def _kind_of_value(value_type: Any) -> str:
    """Return the kind of value of an option, such as `number` for a field with whole numbers."""
    return _KIND_BY_TYPE.get(type(value_type), "flag")


def _default_text(kind: str, default: Any) -> str | None:
    """Return the default of an option as the help shows it, such as `3` or `0.5`, or None if it is not shown."""
    if kind == "number":
        return str(default)
    if kind == "decimal":
        return f"{default:g}"
    if kind in ("choice", "text"):
        return default or None
    return None


def _largest_value(value_type: Any) -> int:
    """Return the largest whole number that an option takes.

    For an option that takes a text, a decimal number or no value, the result is 1 and is not used.
    """
    if not isinstance(value_type, IntType):
        return 1
    return LARGEST_NUMBER if value_type.le is None else value_type.le


def _choices_of(value_type: Any) -> tuple[str, ...]:
    """Return the values that an option may have, as texts; empty if the type of the field does not list them."""
    if not isinstance(value_type, LiteralType):
        return ()
    return tuple(str(value) for value in value_type.values)


def _description(annotation: Any) -> str:
    """Return the description in the annotation of a field, or an empty text if there is none."""
    if not isinstance(annotation, Metadata):
        return ""
    schema = annotation.extra_json_schema or {}  # where msgspec keeps the arguments of `Meta` for JSON Schema
    description: str = schema.get("description", "")
    return description


def _type_of_value(annotation: Any) -> Any:
    """Return the type of the values of a field. For `int | None`, for example, it is the type of `int`."""
    # The field's annotation may be a type with a description and limits.
    field_type = annotation.type if isinstance(annotation, Metadata) else annotation
    if not isinstance(field_type, UnionType):
        return field_type
    types_besides_none = [alternative for alternative in field_type.types if not isinstance(alternative, NoneType)]
    return types_besides_none[0]


def _stage_option(stages: Mapping[str, str]) -> Option:
    """Return the option `--stage`, which chooses a stage of a task; `stages` gives the meaning of each stage."""
    meanings = ", ".join(f"{stage} ({meaning})" for stage, meaning in stages.items())
    return Option("--stage NAME", f"Score a stage of the pipeline by itself: {meanings}", "the whole task", [*stages])
