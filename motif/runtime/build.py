"""What this program is made of and compiled for, as far as it decides the bytes of a result."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from motif.runtime.version import VERSION

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def build_facts() -> dict[str, str]:
    """What two processes have to share for the same bytes to come of the same work, by its name.

    Kernels are compiled for the processor that they run on; tanh is the C library's there, and numpy's
    own for the processor elsewhere.  A last bit can decide a play.
    """
    from numpy import show_config

    from motif.runtime.jit import compilation_target

    processor, features = compilation_target()
    extensions = show_config(mode="dicts")["SIMD Extensions"]
    return {
        "motif": VERSION,
        "source": _digest(*_sources()),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": f"{version('numpy')} for {' '.join(extensions.get('found', ())) or 'any processor'}",
        **{name: version(name) for name in ("numba", "llvmlite")},
        "system": f"{platform.system()} {platform.machine()}",
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
        "processor": f"{processor} ({_digest(features.encode())})",
    }


@cache
def build_id() -> str:
    """One short name for all of `build_facts`."""
    return _digest(repr(build_facts()).encode())


def _sources() -> list[bytes]:
    """Name and text of every module of motif."""
    paths = sorted(_PACKAGE.rglob("*.py"))
    return [part for path in paths for part in (str(path.relative_to(_PACKAGE)).encode(), path.read_bytes())]


def _digest(*parts: bytes) -> str:
    """The beginning of a hash over `parts`, which are kept apart."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:12]
