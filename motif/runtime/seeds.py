"""Which numbers are seeds."""

import numpy as np

from motif.runtime.errors import SettingError, shown

SEED_LIMIT = 2**63
"""Seeds are below this: compiled code takes them as 64-bit numbers."""


def check_seed(seed: object) -> None:
    """Raise `SettingError` unless `seed` is a whole number, at least 0 and below `SEED_LIMIT`."""
    if not isinstance(seed, int | np.integer):
        raise SettingError(f"seed must be a whole number, not {shown(seed)}", "seed")
    if seed < 0:
        raise SettingError(f"seed must be at least 0, not {shown(seed)}", "seed")
    if seed >= SEED_LIMIT:
        raise SettingError(f"seed must be below 2**63, not {shown(seed)}", "seed")
