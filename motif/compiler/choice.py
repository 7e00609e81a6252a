"""Which of its two ways the compiler takes: kernels linked through cells, or numba's own `njit`.

Linking (`linker`) relies on numba's internals, so it is for versions of numba that it is tested with.  Any
other version gets `stock`, which asks numba for nothing but what its manual describes.
"""

import os
import sys
from contextlib import suppress
from functools import cache

import numba

LINKED, STOCK = "linked", "numba"
VARIABLE = "MOTIF_COMPILER"
"""Environment variable that says which way: `LINKED` or `STOCK`; without it the version of numba decides."""
TESTED = ("0.68",)
"""Versions of numba that linking is tested with, without their last number."""


@cache
def way() -> str:
    """Return `LINKED` or `STOCK`.

    That an untested numba takes the second is said once, on stderr; processes started from here inherit the
    choice, and say nothing.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted in (LINKED, STOCK):
        return wanted
    if wanted:
        _say(f"invalid {VARIABLE} {wanted!r}: it must be {LINKED} or {STOCK}")
    version = numba.__version__
    if ".".join(version.split(".")[:2]) in TESTED:
        return LINKED
    _say(f"numba {version} is not a tested version ({', '.join(TESTED)}): kernels take longer to compile")
    os.environ[VARIABLE] = STOCK
    return STOCK


def _say(line: str) -> None:
    with suppress(OSError, ValueError):  # a stderr that nobody reads any more, or that was closed
        print(f"motif: {line}", file=sys.stderr, flush=True)
