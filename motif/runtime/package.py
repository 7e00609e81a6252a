"""The installed package: its version, and how to install its extras."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_DISTRIBUTION = "motif-backgammon"
"""Name on the package index, where ``motif`` is another project."""

try:
    VERSION = version(_DISTRIBUTION)
except PackageNotFoundError:  # a checkout that is not installed
    VERSION = "unknown"


_CHECKOUT = Path(__file__).resolve().parents[2]


def install_command(extra: str) -> str:
    """Return the command that installs motif with one of its extras, in a checkout from its source."""
    if (_CHECKOUT / "pyproject.toml").is_file():
        return f"pip install '.[{extra}]' in the checkout"
    return f"pip install '{_DISTRIBUTION}[{extra}]'"
