"""The 21 rolls of two dice and how often they come."""

import numpy as np

ROLLS = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)], np.int64)
"""The 21 rolls (21, 2), the higher die first."""
ROLL_COUNTS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2).astype(np.int64)
"""How many of the 36 throws show each of `ROLLS`."""
ROLLS.setflags(write=False)
ROLL_COUNTS.setflags(write=False)
