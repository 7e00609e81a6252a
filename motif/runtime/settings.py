"""Settings: dataclass fields with help for the command line, changes by name, and rules for values."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, Field, field, fields, replace
from inspect import cleandoc
from numbers import Integral, Real
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, TypeVar, Union, get_args, get_origin

from motif.runtime.errors import MotifError, SettingError, did_you_mean, shown
from motif.runtime.layout import listed

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Value = TypeVar("_Value")
_Settings = TypeVar("_Settings")
SEED_LIMIT = 2**63
"""Upper bound of seeds, which compiled code takes as 64-bit integers."""
COUNT_LIMIT = 2**31
"""Limit below which numbers of trials, plies and games must be."""
SIGNIFICANCE = 0.05
"""Default probability that a contest between equal players ends with a difference called certain."""


def setting(default: _Value, help: str) -> _Value:
    """Return a dataclass field with a default and `help`, which names other fields in backquotes."""
    made: _Value = field(default=default, metadata={"help": help})
    return made


def help_of(made: "Field[object]") -> str:
    """Return the help of a field, or an empty string."""
    return str(made.metadata.get("help", ""))


def number_in(text: str) -> float:
    """Return the number in `text`, or NaN if it is not one.

    Unlike float(), this accepts neither the digits of other scripts nor underscores.
    """
    try:
        return float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        return math.nan


def is_truth(value: object) -> bool:
    """Return whether `value` is a truth value of Python or NumPy, whose own is no subclass of bool."""
    return type(value).__name__ in ("bool", "bool_")


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether `value` is an integer of Python or NumPy, and not a truth value."""
    return isinstance(value, Integral) and not is_truth(value)


def plain(value: object) -> object:
    """Return a number or truth value, such as one of NumPy, as Python's; return other values unchanged."""
    if is_truth(value):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    # Only NumPy's numbers have `item`.
    return float(value) if isinstance(value, Real) and hasattr(value, "item") else value


def given_items(given: object) -> list[Any]:
    """Return the items of a list, an iterator, an array or a column of a table; anything else is one item."""
    is_table = isinstance(given, Mapping) or hasattr(given, "columns")
    is_one = isinstance(given, str) or is_table or getattr(given, "ndim", 1) == 0
    return list(given) if isinstance(given, Iterable) and not is_one else [given]


class SettingFields:
    """Base class of dataclasses of settings, whose numbers and truth values become Python's."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if type(value) not in _PLAIN:
                # The dataclasses are frozen.
                object.__setattr__(self, name, plain(value))


_PLAIN = (int, float, bool, str, type(None))


def documented(settings: type[_Settings]) -> type[_Settings]:
    """Add a section with the fields to the docstring of a dataclass of settings."""
    head = cleandoc(settings.__doc__ or "")
    settings.__doc__ = f"{head}\n\nParameters\n----------\n{field_lines(settings)}\n"
    return settings


def field_lines(
    settings: type, without: Collection[str] = (), types: Mapping[str, object] | None = None
) -> str:
    """Return an entry of a numpydoc section for each field of `settings`, except those in `without`.

    The types are those of the fields, unless `types` has others.
    """
    described: Any = settings
    types = types or {}
    return "\n".join(
        f"{one.name} : {_type_text(types.get(one.name, one.type))}{_default_text(one)}\n"
        f"    {help_of(one)}".rstrip()
        for one in fields(described)
        if one.name not in without
    )


def _type_text(kind: object) -> str:
    """Return the annotation of a field in numpydoc's notation."""
    if get_origin(kind) is Literal:
        return "{" + ", ".join(map(repr, get_args(kind))) + "}"
    if get_origin(kind) in (Union, UnionType):
        return " or ".join("None" if one is type(None) else _type_text(one) for one in get_args(kind))
    return kind.__name__ if type(kind) is type else str(kind)


def _default_text(made: "Field[object]") -> str:
    return "" if made.default is MISSING else f", default {made.default!r}"


def changed(settings: _Settings, changes: Mapping[str, object]) -> _Settings:
    """Return a copy of dataclass `settings` with `changes`; raises `SettingError` for unknown fields."""
    known = [field.name for field in fields(settings)]  # type: ignore[arg-type]
    for name in changes:
        if name not in known:
            hint = did_you_mean(name, known) or f"; known settings: {', '.join(known)}"
            raise SettingError(f"unknown setting {name!r}{hint}")
    return replace(settings, **changes) if changes else settings  # type: ignore[type-var]


def settings_with(
    kind: type[_Settings], given: _Settings | None, changes: Mapping[str, object] | None = None
) -> _Settings:
    """Return the settings `given`, by default ``kind()``, with `changes`.

    Raises `SettingError` for settings of another type, and as `changed` does.
    """
    if given is not None and not isinstance(given, kind):
        hint = ""
        if changes is not None:
            names = [f"{field.name}=" for field in fields(kind)[:3]]  # type: ignore[arg-type]
            hint = f"; write single settings by name, such as {', '.join(names)}"
        raise SettingError(f"settings must be {kind.__name__}, not {shown(given)}{hint}")
    return changed(kind() if given is None else given, changes or {})


_KINDS: dict[Any, tuple[str, type]] = {
    int: ("a whole number", Integral),
    float: ("a number", Real),
    bool: ("True or False", object),
}
"""Rules and accepted types of settings, by the annotation of the field.

Of others, only literal choices are checked.
"""


def check_types(settings: "DataclassInstance", error: type[MotifError]) -> None:
    """Raise `error` unless numbers, truth values and choices in `settings` have the types of their fields."""
    for one in fields(settings):
        value = getattr(settings, one.name)
        choices = get_args(one.type) if get_origin(one.type) is Literal else ()
        if choices and not any(isinstance(value, type(choice)) and value == choice for choice in choices):
            raise error(f"{one.name} must be {listed(choices, 'or')}, not {shown(value)}", one.name)
        for kind, (rule, accepted) in _KINDS.items():
            if one.type != kind and (one.type != kind | None or value is None):
                continue
            if not isinstance(value, accepted) or is_truth(value) != (kind is bool):
                raise error(f"{one.name} must be {rule}, not {shown(value)}", one.name)


def check_unused(
    settings: "DataclassInstance", names: Collection[str], error: type[MotifError], when: str
) -> None:
    """Raise `error` if a setting in `names`, which have no effect `when`, is not its default."""
    for one in fields(settings):
        if one.name in names and getattr(settings, one.name) != one.default:
            raise error(f"{one.name}: has no effect {when}", one.name)


def require(
    is_valid: bool, name: str, value: object, rule: str, error: type[MotifError] = SettingError
) -> None:
    """Raise `error` unless the `value` of the setting `name` is valid: it must be as the `rule` says."""
    if not is_valid:
        raise error(f"{name} must be {rule}, not {shown(value)}", name)


def check_seed(seed: object) -> int:
    """Return `seed` as an int; raise `SettingError` unless it is an integer from 0 to `SEED_LIMIT` - 1."""
    return check_count("seed", seed, 0, SEED_LIMIT)


def check_count(name: str, value: object, low: int, limit: int = COUNT_LIMIT) -> int:
    """Return the `value` of the setting `name` as an int.

    Raises `SettingError` unless it is `low` to `limit` - 1.  The limit is a power of two.
    """
    if not is_whole(value):
        raise SettingError(f"{name} must be a whole number, not {shown(value)}", name)
    require(int(value) >= low, name, value, f"at least {low}")
    require(int(value) < limit, name, value, f"below 2**{limit.bit_length() - 1}")
    return int(value)


def check_flag(name: str, value: object) -> None:
    """Raise `SettingError` unless the `value` of the setting `name` is True or False."""
    require(is_truth(value), name, value, "True or False")


def check_word(name: str, value: object, choices: Collection[str]) -> None:
    """Raise `SettingError` unless the `value` of the setting `name` is one of `choices`."""
    require(isinstance(value, str) and value in choices, name, value, listed(list(choices), "or"))


def check_only_one(**given: object) -> None:
    """Raise `SettingError` if more than one of the settings `given` has a value other than None."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise SettingError(f"{' and '.join(f'{{{name}}}' for name in named)} cannot be combined", *named)


def check_significance(significance: object) -> None:
    """Raise `SettingError` unless `significance` is above 0 and below 1."""
    is_valid = isinstance(significance, Real) and 0 < float(significance) < 1
    require(is_valid, "significance", significance, "above 0 and below 1")
