"""The version of motif."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("motif")
except PackageNotFoundError:  # run from a checkout that was never installed
    VERSION = "unknown"
