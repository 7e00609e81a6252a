"""Exceptions of motif, and the format of values in their messages.

A message is one line that names the fault and its place.  The command line prints it and exits with code 2,
or 1 for a `FailedFitError` or a `WorkerError`.
"""

import reprlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from numbers import Integral, Real
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Settings = TypeVar("_Settings")


class MotifError(Exception):
    """Base class of all errors that motif raises for bad input and failed work.

    Parameters
    ----------
    problem
        The message, on one line.
    fields
        Names of the settings at fault.  `problem` may begin with one of them, and contain others as
        ``{field}``.
    """

    def __init__(self, problem: str = "", *fields: str) -> None:
        self.fields = fields
        self.problem = problem
        super().__init__(self.naming({}))

    def naming(self, names: Mapping[str, str]) -> str:
        """Return the message with `names` in place of its fields, such as the options of a command."""
        text = self.problem
        for field in self.fields:
            name = names.get(field, field)
            if text.startswith((f"{field} ", f"{field}:")):
                text = name + text.removeprefix(field)
            text = text.replace(f"{{{field}}}", name)
        return text


class PositionError(MotifError):
    """An impossible board, or an identifier that does not encode one."""


class PlayError(MotifError):
    """An impossible roll, an illegal play, or unreadable notation."""


class WeightFileError(MotifError):
    """A weight file that cannot be read, or that does not match this version's parameters."""


class ParameterError(MotifError):
    """A file of user-defined parameters that cannot be found, read, compiled or evaluated."""


class PlayerError(MotifError):
    """An unknown player, or a player without the required ability."""


class DatasetError(MotifError):
    """A dataset that is missing, empty, damaged, or made with other settings."""


class FitError(MotifError):
    """A fit that is impossible: no data, non-finite numbers, or contradictory settings."""


class FailedFitError(FitError):
    """A fit that found no useful weights although its input was valid; exit code 1."""


class FileError(MotifError):
    """A file or folder that cannot be written, or that another process is using."""


class RecordError(MotifError):
    """A match record that cannot be read, or an action that is not allowed now."""


class BenchmarkError(MotifError):
    """A benchmark file that cannot be read."""


class SettingError(MotifError):
    """A setting outside its range, or contradictory settings."""


class WorkerError(MotifError):
    """Work that was lost because its process was killed."""


class ClusterError(MotifError):
    """A cluster that cannot be reached, has no workers, or has workers whose results would differ."""


TRACEBACK_VARIABLE = "MOTIF_TRACEBACK"
"""Environment variable that makes internal errors print their traceback."""
_LONGEST = 40
_LONGEST_LINE = 1000
_CUT = "..."


class _Short(reprlib.Repr):
    """A `Repr` that shows only a few elements of the outer levels, so that it is fast for every value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        # `shown` cuts longer texts anyway.
        self.maxstring = self.maxother = 2 * _LONGEST

    def repr_int(self, number: int, level: int) -> str:
        """Return the number as text; Python refuses to convert numbers with thousands of digits."""
        try:
            return repr(number)
        except ValueError:
            return f"a number of {number.bit_length()} bits"


_SHORT = _Short()


def shown(value: object) -> str:
    """Return the `repr` of a value, cut to 40 characters."""
    text = _SHORT.repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - len(_CUT)] + _CUT


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'latest'?"`` if `word` resembles a `known` word, otherwise nothing."""
    similar = get_close_matches(word, known, 1)
    return f"; did you mean {similar[0]!r}?" if similar else ""


def changed(settings: _Settings, changes: Mapping[str, object]) -> _Settings:
    """Return a copy of dataclass `settings` with `changes`; raises `SettingError` for unknown fields."""
    known = [field.name for field in fields(settings)]  # type: ignore[arg-type]
    for name in changes:
        if name not in known:
            hint = did_you_mean(name, known) or f"; known settings: {', '.join(known)}"
            raise SettingError(f"unknown setting {name!r}{hint}")
    return replace(settings, **changes) if changes else settings  # type: ignore[type-var]


def settings_of(
    kind: type[_Settings], given: _Settings | None, changes: Mapping[str, object] | None = None
) -> _Settings:
    """Return the settings `given`, by default ``kind()``, with `changes`.

    Raises `SettingError` for settings of another type, and as `changed` does.
    """
    if given is not None and not isinstance(given, kind):
        names = [f"{field.name}=" for field in fields(kind)[:3]]  # type: ignore[arg-type]
        raise SettingError(
            f"settings must be {kind.__name__}, not {shown(given)}; write single settings by name, "
            f"such as {', '.join(names)}"
        )
    return changed(kind() if given is None else given, changes or {})


_KINDS: dict[Any, tuple[str, tuple[type, ...]]] = {
    int: ("a whole number", (Integral,)),
    int | None: ("a whole number", (Integral, NoneType)),
    float: ("a number", (Real,)),
    float | None: ("a number", (Real, NoneType)),
    bool: ("True or False", (object,)),
}
"""Rules and accepted types of settings, by the annotation of the field; others are not checked."""


def check_types(settings: "DataclassInstance", error: type[MotifError]) -> None:
    """Raise `error` unless the numbers and truth values in `settings` have the types of their fields."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        rule, kinds = _KINDS.get(field.type, ("", ()))
        # NumPy has a truth value of its own, which is no subclass of bool.
        is_truth = type(value).__name__ in ("bool", "bool_")
        if rule and not (isinstance(value, kinds) and is_truth == (field.type is bool)):
            raise error(f"{field.name} must be {rule}, not {shown(value)}", field.name)


def check_unused(
    settings: "DataclassInstance", names: Collection[str], error: type[MotifError], when: str
) -> None:
    """Raise `error` if a setting in `names`, which have no effect `when`, is not its default."""
    for field in fields(settings):
        if field.name in names and getattr(settings, field.name) != field.default:
            raise error(f"{field.name}: has no effect {when}", field.name)


def plain_text(text: str) -> str:
    """Return `text` if it is one short line, otherwise its `shown` form."""
    return text if text.isprintable() and len(text) <= _LONGEST_LINE else shown(text)


SEED_LIMIT = 2**63
"""Upper bound of seeds, which compiled code takes as 64-bit integers."""


def check_seed(seed: object) -> None:
    """Raise `SettingError` unless `seed` is an integer from 0 to `SEED_LIMIT` - 1."""
    if not isinstance(seed, Integral):
        raise SettingError(f"seed must be a whole number, not {shown(seed)}", "seed")
    if int(seed) < 0:
        raise SettingError(f"seed must be at least 0, not {shown(seed)}", "seed")
    if int(seed) >= SEED_LIMIT:
        raise SettingError(f"seed must be below 2**63, not {shown(seed)}", "seed")
