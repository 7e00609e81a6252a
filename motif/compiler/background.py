"""A second process that compiles kernels beside one that starts on a new machine."""

import atexit
import subprocess
import sys
from contextlib import suppress

from motif.compiler.choice import STOCK, way
from motif.compiler.kernel_cache import kept_kernels, kernel_folder_problem
from motif.runtime.parallel import worker_count

_is_asked = False


def precompile_in_background(function: str) -> None:
    """Let a second process call `function`, ``module:name``, if no kernel is kept and a core is free.

    numba's own way compiles a kernel with all that it calls: there it would only be in the way.

    It shares nothing with this process but the folder, without which it is not started, says nothing, and
    ends with it at the latest.  One is enough: who asks again, as a step of what asked first, gets no other.
    """
    global _is_asked
    if _is_asked or way() == STOCK or worker_count(None) == 1 or kernel_folder_problem() or kept_kernels():
        return
    _is_asked = True
    module, _, name = function.partition(":")
    call = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {name}; {name}()"
    nowhere = subprocess.DEVNULL
    with suppress(OSError):
        beside = subprocess.Popen([sys.executable, "-c", call], stdin=nowhere, stdout=nowhere, stderr=nowhere)
        atexit.register(_end, beside)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
