"""From nothing to version one: sample, label, fit, and again with what came of it."""

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
