"""An option whose value may be left out, such as ``--tutor [PLAYER]``; typer has none."""

from typing import Any

from typer.core import TyperCommand


def optional_value(option: str, value: str) -> type[TyperCommand]:
    """The class of a command whose `option` stands for ``option=value`` where no value follows it.

    None does where the command line ends there, or another option begins.
    """

    class OptionalValue(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            following = [*args, "-"][1:]
            filled = [
                f"{word}={value}" if word == option and behind.startswith("-") else word
                for word, behind in zip(args, following, strict=True)
            ]
            return super().parse_args(ctx, filled)

    return OptionalValue
