"""Learning without prior knowledge: sample, label, fit, and repeat with the result."""

from typing import TYPE_CHECKING

from motif.runtime.package import lazy_names

if TYPE_CHECKING:
    from motif.learning.bootstrap_run import (
        BootstrapConfig,
        VersionStep,
        load_config,
        load_preset,
        preset_names,
        run_bootstrap,
        with_seed,
    )

__all__ = [
    "BootstrapConfig",
    "VersionStep",
    "load_config",
    "load_preset",
    "preset_names",
    "run_bootstrap",
    "with_seed",
]

# Imported on first use, so that importing the settings of a fit is fast.
__getattr__ = lazy_names(__name__, {"motif.learning.bootstrap_run": __all__})
