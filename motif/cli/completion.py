"""What a shell offers where a player or a preset is to be named; it loads nothing heavy."""

from collections.abc import Iterator
from glob import escape
from importlib import resources
from pathlib import Path

from motif.evaluators.named import ROLLOUT_PREFIX, roster

NAMES = tuple(entry.name for entry in roster() if entry.home and entry.is_one)
"""Players that are no files of one's own."""
_WEIGHTS = (".yaml", ".yml")


def complete_player(incomplete: str) -> list[str]:
    """Names of players, and paths to weight files, that begin with `incomplete`."""
    begun = ROLLOUT_PREFIX if incomplete.startswith(ROLLOUT_PREFIX) else ""
    rest = incomplete.removeprefix(begun)
    known = (*NAMES, *([] if begun else [ROLLOUT_PREFIX]))
    return [begun + name for name in (*known, *_paths(rest)) if name.startswith(rest)]


def complete_preset(incomplete: str) -> list[str]:
    """Names of presets that begin with `incomplete`."""
    presets = resources.files("motif").joinpath("data", "presets")
    names = sorted(entry.name.removesuffix(".yaml") for entry in presets.iterdir())
    return [name for name in names if name.startswith(incomplete)]


def complete_parameters(incomplete: str) -> list[str]:
    """Paths to Python files, and folders, that begin with `incomplete`, behind motif's own sets."""
    names = ("motif", "keith", "bras", "phase", *_paths(incomplete, (".py",)))
    return [name for name in names if name.startswith(incomplete)]


def _paths(begun: str, suffixes: tuple[str, ...] = _WEIGHTS) -> Iterator[str]:
    """Files with one of `suffixes` and folders that begin with `begun`, hidden ones only where it says so."""
    folder, _, name = begun.rpartition("/")
    place = Path(folder or ("/" if begun.startswith("/") else "."))
    if not place.is_dir():
        return
    before = begun[: len(begun) - len(name)]
    for path in sorted(place.glob(f"{escape(name)}*")):
        if path.name.startswith(".") and not name.startswith("."):
            continue
        if path.is_dir():
            yield f"{before}{path.name}/"
        elif path.suffix in suffixes:
            yield before + path.name
