"""Where motif keeps what it can make again: compiled kernels, tables."""

import os
from pathlib import Path


def cache_root() -> Path:
    """``NUMBA_CACHE_DIR``, or ``motif`` in ``XDG_CACHE_HOME`` or in ``~/.cache``; it need not exist."""
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(configured)
    if configured := os.environ.get("XDG_CACHE_HOME"):
        return Path(configured) / "motif"
    return Path.home() / ".cache" / "motif"
