"""The choice between two ways to compile: linked kernels, or numba's own `njit`.

Linking (`linker`) relies on numba's internals, so it is used only with tested versions of numba.  With other
versions, `stock` uses only what numba's manual documents.
"""

import os
import sys
from contextlib import suppress
from functools import cache

import numba

from motif.compiler.program import program

LINKED, STOCK = "linked", "numba"
TESTED = ("0.68",)
"""Versions of numba that linking is tested with, major and minor number."""


def variable() -> str:
    """Return the name of the environment variable that chooses the way, such as ``MOTIF_COMPILER``."""
    return f"{program().name.upper()}_COMPILER"


@cache
def way() -> str:
    """Return `LINKED` or `STOCK`, according to the environment variable or to numba's version.

    An untested version is reported once, on stderr; child processes inherit the choice silently.
    """
    wanted = os.environ.get(variable(), "")
    if wanted in (LINKED, STOCK):
        return wanted
    if wanted:
        _say(f"invalid {variable()} {wanted!r}: it must be {LINKED} or {STOCK}")
    version = numba.__version__
    if ".".join(version.split(".")[:2]) in TESTED:
        return LINKED
    _say(f"numba {version} is not a tested version ({', '.join(TESTED)}): kernels take longer to compile")
    os.environ[variable()] = STOCK
    return STOCK


def _say(line: str) -> None:
    with suppress(OSError, ValueError):  # stderr may be closed
        print(f"{program().name}: {line}", file=sys.stderr, flush=True)
