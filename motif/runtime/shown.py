"""Values as error messages show them: short and on one line, whatever they hold."""

import reprlib

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
        """The number; Python itself refuses to write one of thousands of digits."""
        try:
            return repr(number)
        except ValueError:
            return f"a number of {number.bit_length()} bits"


_SHORT = _Short()


def shown(value: object) -> str:
    """`value` as Python writes it, cut to 40 characters."""
    text = _SHORT.repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - len(_CUT)] + _CUT


def plain_text(text: str) -> str:
    """`text` as it is where that is one short line, otherwise as `shown` has it."""
    return text if text.isprintable() and len(text) <= _LONGEST_LINE else shown(text)
