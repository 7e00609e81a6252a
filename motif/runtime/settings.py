"""Fields of settings with the help that a command shows for them."""

from dataclasses import Field, field
from typing import TypeVar

_Value = TypeVar("_Value")


def setting(default: _Value, help: str) -> _Value:
    """Return a field of a dataclass of settings; in `help` names of other fields have backquotes."""
    made: _Value = field(default=default, metadata={"help": help})
    return made


def help_of(made: "Field[object]") -> str:
    """Return the help of a field; empty where it has none."""
    return str(made.metadata.get("help", ""))
