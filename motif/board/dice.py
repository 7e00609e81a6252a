"""The 21 rolls of two dice and how often they come."""

import numpy as np

from motif.runtime.errors import PlayError, shown

ROLLS = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)], np.int64)
"""The 21 rolls (21, 2), the higher die first."""
ROLL_COUNTS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2).astype(np.int64)
"""How many of the 36 throws show each of `ROLLS`."""
ROLLS.setflags(write=False)
ROLL_COUNTS.setflags(write=False)


def checked_roll(first: int, second: int) -> tuple[int, int]:
    """The roll of two dice, the higher first; raises `PlayError` for a die that is not 1 to 6."""
    for die in (first, second):
        if die not in range(1, 7):
            # Not as it is: Python refuses to write a number of thousands of digits.
            raise PlayError(f"no roll: {shown(die) if type(die) is int else die} is not a die (1 to 6)")
    return int(max(first, second)), int(min(first, second))
