"""The version of motif, as installed."""

from importlib.metadata import version

VERSION = version("motif")
