"""The weight files that come with the checkout, in `weights/`, by their short names."""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from motif.runtime.errors import PlayerError

if TYPE_CHECKING:
    from motif.evaluators.static import StaticEvaluator

LATEST = "latest"
"""Name that stands for the newest ``motif-vN``."""

_FOLDER = Path(__file__).resolve().parent.parent.parent / "weights"
_VERSION = re.compile(r"motif-v(\d+)")


@cache
def shipped_weights() -> dict[str, Path]:
    """Short name (``motif-v2``) -> weight file; empty where motif was installed without its checkout."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.yaml"))}


def default_player() -> str:
    """The newest ``motif-vN`` that came along; `LATEST`, which nobody can load, where none did."""
    versions = [int(match[1]) for name in shipped_weights() if (match := _VERSION.fullmatch(name))]
    return f"motif-v{max(versions)}" if versions else LATEST


def load_shipped(name: str) -> "StaticEvaluator":
    """The evaluator of weights that came along, or of the `LATEST`; raises `PlayerError` where none did."""
    from motif.evaluators.static import from_weight_file

    name = default_player() if name == LATEST else name
    if name not in shipped_weights():
        raise PlayerError(f"no weights came with this motif for {name!r} to play by: name another player")
    return from_weight_file(shipped_weights()[name], name)
