"""Plots and pages."""

import os

from motif.runtime.cache_folder import cache_folder
from motif.runtime.files import can_be_written, home

# matplotlib caches its font list in the home folder, and warns if it cannot.
if not can_be_written(home() / ".config" / "matplotlib"):
    os.environ.setdefault("MPLCONFIGDIR", str(cache_folder("matplotlib")))
