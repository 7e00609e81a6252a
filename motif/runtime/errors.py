"""Failures that motif itself reports, and values as their messages show them.

A message is one line that names what is wrong and where.  The command line prints it and exits
with code 2, with 1 for a `FailedFitError`; a library caller catches `MotifError` or the subclass that it
can handle.
"""

import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from numbers import Integral
from typing import Any, TypeVar

_Settings = TypeVar("_Settings")


class MotifError(Exception):
    """Root of all errors that motif raises on purpose."""

    def __init__(self, problem: str = "", *fields: str) -> None:
        """`fields` are settings at fault: one begins `problem`, others are in it as ``{field}``."""
        self.fields = fields
        self.problem = problem
        super().__init__(self.naming({}))

    def naming(self, names: Mapping[str, str]) -> str:
        """Return the message with other `names` for its fields, such as the options of a command."""
        text = self.problem
        for field in self.fields:
            name = names.get(field, field)
            if text.startswith((f"{field} ", f"{field}:")):
                text = name + text.removeprefix(field)
            text = text.replace(f"{{{field}}}", name)
        return text


class PositionError(MotifError):
    """A board that cannot occur, or an identifier that does not encode one."""


class PlayError(MotifError):
    """A roll that no dice show, a play that is not legal, or notation that cannot be read."""


class WeightFileError(MotifError):
    """A weight file that cannot be read, or that does not fit this program's parameters."""


class ParameterError(MotifError):
    """A file of parameters of your own that cannot be found, read, compiled or measured."""


class PlayerError(MotifError):
    """A player's name that means nothing here, or a player asked for what it cannot do."""


class DatasetError(MotifError):
    """A dataset that is missing, empty, damaged, or made with other settings."""


class FitError(MotifError):
    """A fit that cannot be done: no data, a non-finite number, options that exclude each other."""


class FailedFitError(FitError):
    """A fit that found no weights of use, though nothing was wrong with its input: exit code 1."""


class FileError(MotifError):
    """A file or folder that cannot be written, or in which another process is at work."""


class RecordError(MotifError):
    """A record of games that cannot be read, or actions that cannot follow one another."""


class BenchmarkError(MotifError):
    """A benchmark file that cannot be read."""


class SettingError(MotifError):
    """A setting outside its range, or settings that exclude each other."""


class WorkerError(MotifError):
    """Work that was not done because the process that did it was killed."""


class ClusterError(MotifError):
    """A cluster that cannot be reached, has no workers, or whose workers would give other results."""


TRACEBACK_VARIABLE = "MOTIF_TRACEBACK"
"""Environment variable that lets faults of the program itself show where they are."""
_LONGEST = 40
_LONGEST_LINE = 1000
_CUT = "..."


class _Short(reprlib.Repr):
    """Looks at a few elements of the outer levels only, so that no value takes long to show."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        # Only what `shown` cuts anyway.
        self.maxstring = self.maxother = 2 * _LONGEST

    def repr_int(self, number: int, level: int) -> str:
        """Return the number; Python itself refuses to write one of thousands of digits."""
        try:
            return repr(number)
        except ValueError:
            return f"a number of {number.bit_length()} bits"


_SHORT = _Short()


def shown(value: object) -> str:
    """`value` as Python writes it, cut to 40 characters."""
    text = _SHORT.repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - len(_CUT)] + _CUT


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'latest'?"`` where `word` is like one of the `known` words, else nothing."""
    similar = get_close_matches(word, known, 1)
    return f"; did you mean {similar[0]!r}?" if similar else ""


def changed(settings: _Settings, changes: Mapping[str, Any]) -> _Settings:
    """Return dataclass `settings` with some `changes`; raises `SettingError` for an unknown one."""
    known = [field.name for field in fields(settings)]  # type: ignore[arg-type]
    for name in changes:
        if name not in known:
            others = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise SettingError(f"there is no setting {name!r}{others}")
    return replace(settings, **changes) if changes else settings  # type: ignore[type-var]


def plain_text(text: str) -> str:
    """`text` as it is where that is one short line, otherwise as `shown` has it."""
    return text if text.isprintable() and len(text) <= _LONGEST_LINE else shown(text)


SEED_LIMIT = 2**63
"""Seeds are below this: compiled code takes them as 64-bit numbers."""


def check_seed(seed: object) -> None:
    """Raise `SettingError` unless `seed` is a whole number, at least 0 and below `SEED_LIMIT`."""
    if not isinstance(seed, Integral):
        raise SettingError(f"seed must be a whole number, not {shown(seed)}", "seed")
    if int(seed) < 0:
        raise SettingError(f"seed must be at least 0, not {shown(seed)}", "seed")
    if int(seed) >= SEED_LIMIT:
        raise SettingError(f"seed must be below 2**63, not {shown(seed)}", "seed")
