"""Time and memory limits of answers, measured so that other programs do not matter."""

import time
from collections.abc import Callable
from typing import Any

from motif.runtime.errors import MotifError

SECONDS = 5.0
"""Of the processor: some twenty times what a linear reader takes for the longest inputs of these tests."""


def answer(read: Callable[..., Any], *given: Any) -> str:
    """The result of reading `given`, in time: the error message, or nothing if it is accepted."""
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
