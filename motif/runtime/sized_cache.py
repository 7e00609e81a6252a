"""A cache of the results of a function, limited by their size in memory."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def kept_within(
    most: int, size_of: Callable[[Any], int]
) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Return a decorator like `functools.lru_cache`, whose results together have at most `most` bytes.

    The latest result stays even if it alone is larger.  Arguments are positional and hashable.
    """

    def decorate(function: Callable[..., _Result]) -> Callable[..., _Result]:
        kept: OrderedDict[Hashable, _Result] = OrderedDict()
        lock = Lock()

        @wraps(function)
        def known(*arguments: Hashable) -> _Result:
            with lock:
                if arguments in kept:
                    kept.move_to_end(arguments)
                    return kept[arguments]
            result = function(*arguments)
            with lock:
                kept[arguments] = result
                total = sum(map(size_of, kept.values()))
                while total > most and len(kept) > 1:
                    total -= size_of(kept.popitem(last=False)[1])
            return result

        return known

    return decorate
