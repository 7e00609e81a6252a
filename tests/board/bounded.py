"""Limits of time and memory, measured so that other programs have no influence."""

import time
from collections.abc import Callable
from typing import Any

from motif.runtime.errors import MotifError

SECONDS = 5.0
"""Processor time: about twenty times what a linear reader takes for the longest inputs of these tests."""


def answer(read: Callable[..., Any], *given: Any) -> str:
    """Read `given` within the limit; return the error message, or nothing if it is accepted."""
    started = time.process_time()
    try:
        read(*given)
        said = ""
    except MotifError as error:
        said = str(error)
    taken = time.process_time() - started
    assert taken < SECONDS, f"it took {taken:.1f} seconds"
    assert "\n" not in said
    assert len(said) < 2000
    return said
