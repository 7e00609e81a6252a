"""Where the program gnubg is."""

import os
import shutil
from pathlib import Path

from motif.runtime.errors import PlayerError

VARIABLE = "MOTIF_GNUBG"
"""The environment variable that names the program, where it is not found by itself."""

# Debian puts it into a folder for games that is not on everybody's PATH.
_GAMES_FOLDERS = os.pathsep.join(["/usr/games", "/usr/local/games", "/usr/local/bin", "/opt/homebrew/bin"])


def gnubg_path() -> str | None:
    """The program `VARIABLE` names, or else gnubg on the PATH or in a usual folder; None without one.

    Raises `PlayerError` when the variable names no program.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not (Path(named).is_file() and os.access(named, os.X_OK)):
            raise PlayerError(f"{VARIABLE}={named} is no program that can be started")
        return str(Path(named).resolve())
    return shutil.which("gnubg") or shutil.which("gnubg", path=_GAMES_FOLDERS)


def installed_gnubg() -> str:
    """`gnubg_path`, but raises `PlayerError`, saying how to get it, when it is not installed."""
    path = gnubg_path()
    if path is None:
        raise PlayerError(
            "gnubg is not installed (Debian, Ubuntu: apt install gnubg; others: www.gnu.org/software/gnubg); "
            f"where it lies in no usual folder, {VARIABLE}=/path/to/gnubg names it"
        )
    return path
