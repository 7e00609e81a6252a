"""Fields of settings dataclasses with help for the command line."""

from dataclasses import Field, field
from typing import TypeVar

_Value = TypeVar("_Value")


def setting(default: _Value, help: str) -> _Value:
    """Return a dataclass field with a default and `help`, which names other fields in backquotes."""
    made: _Value = field(default=default, metadata={"help": help})
    return made


def help_of(made: "Field[object]") -> str:
    """Return the help of a field, or an empty string."""
    return str(made.metadata.get("help", ""))
