"""Exceptions of motif, and the format of values in their messages.

A message is one line that names the fault and its place.  The command line prints it and exits with code 2,
or 1 for a `FailedFitError` or a `WorkerError`.
"""

import reprlib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches


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
    """An impossible board, or an identifier that does not encode one.

    Parameters
    ----------
    problem, fields
        As of `MotifError`.
    about
        What is at fault, such as ``invalid position``.  The message begins with it.

    Attributes
    ----------
    reason
        `problem` without what it is about, for a message about something else.
    """

    def __init__(self, problem: str = "", *fields: str, about: str = "") -> None:
        self.reason = problem
        super().__init__(f"{about}: {problem}" if about else problem, *fields)


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


class IncompleteDatasetWarning(UserWarning):
    """A dataset that lacks parts because its sample was interrupted."""


class FitError(MotifError):
    """A fit that is impossible: no data, non-finite numbers, or contradictory settings."""


class FailedFitError(FitError):
    """A fit that found no useful weights although its input was valid; exit code 1."""


class FileError(MotifError):
    """A file or folder that cannot be written or has too long a name, or that another process is using."""


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
_MAX_SHOWN = 40
_MAX_LINE = 1000
_CUT = "..."


class _Short(reprlib.Repr):
    """A `Repr` that shows only a few elements of the outer levels, so that it is fast for every value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        # `shown` cuts longer texts anyway.
        self.maxstring = self.maxother = 2 * _MAX_SHOWN

    def repr_int(self, number: int, level: int) -> str:
        """Return the number as text; Python refuses to convert numbers with thousands of digits."""
        try:
            return repr(number)
        except ValueError:
            return f"a number of {number.bit_length()} bits"


_SHORT = _Short()


def shown(value: object) -> str:
    """Return the `repr` of a value on one line, cut to 40 characters."""
    text = _SHORT.repr(value).replace("\n", "")
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - len(_CUT)] + _CUT


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'latest'?"`` if `word` resembles a `known` word, otherwise nothing."""
    similar = get_close_matches(word, known, 1) if isinstance(word, str) else []
    return f"; did you mean {similar[0]!r}?" if similar else ""


def plain_text(text: str) -> str:
    """Return `text` if it is one short line, otherwise its `shown` form."""
    return text if text.isprintable() and len(text) <= _MAX_LINE else shown(text)
