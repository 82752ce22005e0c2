"""Dataclasses that are soon made, and records that are made by the million.

A command makes some sixty such classes before it reads its first file. For each of them the module `dataclasses` writes
up to six functions as text and compiles them, which took a third of the time in which ten lines were scored. Here only
`__init__` is compiled, and all classes share the other functions. The type checker takes `dataclass`, `field` and
`replace` for those of `dataclasses`; what that module does with its classes it does with these, too.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace

__all__ = ["dataclass", "field", "record", "replace"]

T = TypeVar("T")

_REQUIRED: Final = object()


class _Factory:
    """Makes the default of a field anew for each instance."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make

    def __repr__(self) -> str:
        return "<factory>"


class _Field:
    """A field: its type as written, its default or what makes it, whether it is given by its name only."""

    __slots__ = ("default", "is_keyword", "type")

    def __init__(self, written_type: str, default: object, is_keyword: bool) -> None:
        self.type = written_type
        self.default = default
        self.is_keyword = is_keyword


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True
) -> Callable[[type[T]], type[T]]:
    """As `dataclasses.dataclass`, without its rarer parameters. Annotations are texts, as they are everywhere here."""

    def completed(cls: type[Any]) -> type[Any]:
        fields: dict[str, _Field] = {}
        for base in reversed(cls.__mro__[1:]):
            fields |= base.__dict__.get("__record_fields__", {})
        own = _own_fields(cls.__dict__)
        new = tuple(name for name in own if name not in fields)
        fields |= own
        made = _shared(frozen, eq, repr)
        made |= {
            "__init__": _init(cls, fields, frozen),
            "__match_args__": tuple(name for name in fields if not fields[name].is_keyword),
            "__record_fields__": fields,
            "__record_values__": operator.attrgetter(*fields),
            "__dataclass_fields__": _ForDataclasses("__dataclass_fields__"),
            "__dataclass_params__": _ForDataclasses("__dataclass_params__"),
        }
        if not slots:
            for name, value in made.items():
                if name not in cls.__dict__:
                    setattr(cls, name, value)
            return cls
        kept = {name: value for name, value in cls.__dict__.items() if name not in (*own, "__dict__", "__weakref__")}
        made |= {"__qualname__": cls.__qualname__, "__slots__": new}
        metaclass: Any = type(cls)
        return metaclass(cls.__name__, cls.__bases__, made | kept)  # type: ignore[no-any-return]

    return completed


def _own_fields(body: Mapping[str, Any]) -> dict[str, _Field]:
    """The fields that the body of a class annotates."""
    fields: dict[str, _Field] = {}
    is_keyword = False
    for name, written_type in body.get("__annotations__", {}).items():
        if written_type == "KW_ONLY":
            is_keyword = True
        elif not written_type.startswith("ClassVar"):
            fields[name] = _Field(written_type, body.get(name, _REQUIRED), is_keyword)
    return fields


def _init(cls: type[Any], fields: Mapping[str, _Field], frozen: bool) -> Callable[..., None]:
    """The function that sets the fields of a new instance."""
    space: dict[str, Any] = {"set_field": object.__setattr__}
    parameters, body = ["self"], []
    for name, field in sorted(fields.items(), key=lambda item: item[1].is_keyword):
        value = name
        if field.is_keyword and "*" not in parameters:
            parameters.append("*")
        if field.default is _REQUIRED:
            parameters.append(name)
        else:
            default = f"default_{name}"
            space[default] = field.default
            parameters.append(f"{name}={default}")
            if isinstance(field.default, _Factory):
                value = f"{default}.make() if {name} is {default} else {name}"
        body.append(f"set_field(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), space)
    init: Callable[..., None] = space["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {name: field.type for name, field in fields.items()} | {"return": None}
    return init


def _shared(frozen: bool, eq: bool, repr: bool) -> dict[str, Any]:
    """The functions that a class has in common with others of its kind."""
    functions: dict[str, Any] = {}
    if repr:
        functions["__repr__"] = _shown
    if eq:
        functions |= {"__eq__": _is_equal, "__hash__": _hash if frozen else None}
    if frozen:
        functions |= {"__setattr__": _refuse, "__delattr__": _refuse}
        functions |= {"__getstate__": _state, "__setstate__": _set_state}
    return functions


@reprlib.recursive_repr()
def _shown(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__record_fields__)
    return f"{type(self).__qualname__}({shown})"


def _is_equal(self: Any, other: Any) -> Any:
    return (
        self.__record_values__(self) == other.__record_values__(other) if type(self) is type(other) else NotImplemented
    )


def _hash(self: Any) -> int:
    return hash(self.__record_values__(self))


def _refuse(self: Any, name: str, *value: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: Any) -> dict[str, Any]:
    return {name: getattr(self, name) for name in self.__record_fields__}


def _set_state(self: Any, state: Mapping[str, Any]) -> None:
    for name, value in state.items():
        object.__setattr__(self, name, value)


def _replace(instance: T, /, **changes: Any) -> T:
    """As `dataclasses.replace`."""
    fields = getattr(type(instance), "__record_fields__", None)
    if fields is None:
        import dataclasses

        return dataclasses.replace(instance, **changes)  # type: ignore[type-var]
    return type(instance)(**{name: getattr(instance, name) for name in fields} | changes)


class _ForDataclasses:
    """What the module `dataclasses` knows its classes by, made when that is looked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        import dataclasses

        fields = [(name, field.type, _as_theirs(field)) for name, field in owner.__record_fields__.items()]
        is_frozen = owner.__setattr__ is _refuse
        documented = {"__doc__": owner.__doc__ or owner.__name__}  # otherwise a signature is found for it, at length
        theirs = dataclasses.make_dataclass(
            owner.__name__, fields, namespace=documented, init=False, repr=False, eq=False, frozen=is_frozen
        )
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(owner, name, getattr(theirs, name))
        return getattr(owner, self._name)


def _as_theirs(field: _Field) -> Any:
    import dataclasses

    if field.default is _REQUIRED:
        return dataclasses.field(kw_only=field.is_keyword)
    if isinstance(field.default, _Factory):
        return dataclasses.field(default_factory=field.default.make, kw_only=field.is_keyword)
    return dataclasses.field(default=field.default, kw_only=field.is_keyword)


def _field(*, default_factory: Callable[[], object]) -> Any:
    """A field whose default is made anew for each instance."""
    return _Factory(default_factory)


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace


@dataclass_transform(frozen_default=True)
def record(*, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """A slotted dataclass that nothing may change once it is made. Without `eq` it is equal to itself only, and may be
    a key.

    Frozen for the type checker alone: made, it costs two thirds of a named tuple and a sixth of a frozen dataclass; its
    fields are read twice as fast as those of a named tuple.
    """
    return _dataclass(slots=True, eq=eq)
