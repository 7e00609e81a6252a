"""The package's version, and names that it imports on first use."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from motif.runtime.errors import did_you_mean

DISTRIBUTION = "motif-backgammon"
"""Name on the package index, where ``motif`` is somebody else's."""

try:
    VERSION = version(DISTRIBUTION)
except PackageNotFoundError:  # run from a checkout that was never installed
    VERSION = "unknown"


def install_command(extra: str) -> str:
    """Return what installs motif with one of its extras, for a person to type."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def lazy_names(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of `package`, whose names are those of the modules `homes`.

    ``name=there`` stands for something that is called `there` in its module.
    """
    places = {
        name: (home, there or name)
        for home, names in homes.items()
        for name, _, there in (entry.partition("=") for entry in names)
    }

    def attribute(name: str) -> Any:
        if name not in places:
            hint = did_you_mean(name, places) if not name.startswith("_") else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        home, there = places[name]
        value = getattr(import_module(home), there)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
