"""Plots and pages."""

import os

from motif.runtime.cache_folder import cache_folder
from motif.runtime.files import can_be_written, home

# matplotlib keeps its list of fonts at home, and complains where it cannot.
if not can_be_written(home() / ".config" / "matplotlib"):
    os.environ.setdefault("MPLCONFIGDIR", str(cache_folder("matplotlib")))
