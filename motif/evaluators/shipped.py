"""Names of evaluators, and the weight files that come with the checkout, in `weights/`, by theirs."""

import re
from functools import cache
from pathlib import Path

LATEST = "latest"
"""Name that stands for the newest ``motif-vN``."""
RANDOM_NAME, WILDBG_NAME, NET_PREFIX = "random", "wildbg", "onnx:"

_FOLDER = Path(__file__).resolve().parent.parent.parent / "weights"
_VERSION = re.compile(r"motif-v(\d+)")
_WITHOUT_WEIGHTS = "pubeval"


@cache
def shipped_weights() -> dict[str, Path]:
    """Short name (``motif-v2``) -> weight file; empty where motif was installed without its checkout."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.yaml"))}


def default_player() -> str:
    """The newest ``motif-vN`` that came along; PubEval where none did."""
    versions = [int(match[1]) for name in shipped_weights() if (match := _VERSION.fullmatch(name))]
    return f"motif-v{max(versions)}" if versions else _WITHOUT_WEIGHTS
