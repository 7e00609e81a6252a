"""The version of motif, and the name by which it is installed."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "motif-backgammon"
"""Name on the package index, where ``motif`` is somebody else's."""

try:
    VERSION = version(DISTRIBUTION)
except PackageNotFoundError:  # run from a checkout that was never installed
    VERSION = "unknown"


def install_command(extra: str) -> str:
    """What installs motif with one of its extras, for a person to type."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"
