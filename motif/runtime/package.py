"""The package's version, and names that it imports on first use."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from motif.runtime.errors import did_you_mean

DISTRIBUTION = "motif-backgammon"
"""Name on the package index, where ``motif`` is another project."""

try:
    VERSION = version(DISTRIBUTION)
except PackageNotFoundError:  # a checkout that is not installed
    VERSION = "unknown"


def install_command(extra: str) -> str:
    """Return the command that installs motif with one of its extras."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def lazy_names(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """Return a `__getattr__` for `package` that imports names from modules on first use.

    `homes` lists the names by module; ``name=original`` stands for a name that is `original` in its module.
    """
    places = {
        name: (home, there or name)
        for home, names in homes.items()
        for name, _, there in (entry.partition("=") for entry in names)
    }

    def attribute(name: str) -> object:
        if name not in places:
            hint = did_you_mean(name, places) if not name.startswith("_") else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        home, there = places[name]
        value = getattr(import_module(home), there)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
