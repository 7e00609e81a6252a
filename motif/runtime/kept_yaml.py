"""YAML that was read before: large documents are kept, parsed, in the cache folder.

A weight file of several megabytes takes seconds to parse and a twentieth of that to load.  A document is
found again by the hash of its text, so whatever changes in a file is read anew; what cannot be loaded is
parsed again, and a cache folder that cannot be written is no error.
"""

import hashlib
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

from motif.runtime.cache import cache_root
from motif.runtime.errors import FileError
from motif.runtime.files import replacing
from motif.runtime.yaml_text import parse_yaml

_LARGE = 1 << 18
"""Characters from which on a document is worth keeping."""
_MOST_KEPT = 16
_SUFFIX = ".pickle"


def parse_large_yaml(text: str) -> Any:
    """What `parse_yaml` gives for `text`; raises `YamlTextError` as it does."""
    if len(text) < _LARGE:
        return parse_yaml(text)
    folder = cache_root() / "documents"
    # A lone surrogate, which no YAML holds, has no UTF-8.
    path = folder / (hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() + _SUFFIX)
    # Whatever a torn or foreign file raises: unpickling promises no kind of error.
    with suppress(Exception):
        document: Any = pickle.loads(path.read_bytes())
        path.touch()
        return document
    document = parse_yaml(text)
    with suppress(OSError, FileError):
        _keep(path, document)
    return document


def _keep(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(pickle.dumps(document, pickle.HIGHEST_PROTOCOL))
    by_age = sorted(path.parent.glob("*" + _SUFFIX), key=lambda kept: kept.stat().st_mtime)
    for old in by_age[:-_MOST_KEPT]:
        old.unlink(missing_ok=True)
