"""A second process that compiles kernels while the first one starts on a new machine."""

import atexit
import os
import subprocess
import sys
from contextlib import suppress

from motif.compiler.choice import STOCK, way
from motif.compiler.kernel_cache import cached_kernel_count, kernel_folder_problem

_is_started = False


def precompile_in_background(function: str) -> None:
    """Call `function`, ``module:name``, in a second process if no kernel is cached and a core is free.

    The process prints nothing, shares only the cache folder with this one, and ends with it or earlier.  At
    most one is started, and none with numba's own `njit`, which compiles a kernel together with its callees,
    so that a second process would only compete for the processor.
    """
    global _is_started
    if _is_started or way() == STOCK or _core_count() == 1:
        return
    if kernel_folder_problem() or cached_kernel_count():
        return
    _is_started = True
    module, _, name = function.partition(":")
    # It ends soon, so its garbage need not be collected.
    call = f"import gc, sys; gc.disable(); sys.path[:] = {sys.path!r}; from {module} import {name}; {name}()"
    nowhere = subprocess.DEVNULL
    with suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-c", call], stdin=nowhere, stdout=nowhere, stderr=nowhere
        )
        atexit.register(_end, process)


def _core_count() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
