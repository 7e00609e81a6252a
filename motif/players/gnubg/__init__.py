"""GNU Backgammon itself as a player: a real process, asked over a socket."""

import re

from motif.board.identifiers import quoted
from motif.players.gnubg.gnubg_player import MAX_PLIES, GnubgEvaluator, GnubgPlayer
from motif.players.gnubg.process import gnubg_path
from motif.runtime.errors import PlayerError

__all__ = ["GnubgEvaluator", "GnubgPlayer", "gnubg_path", "load_gnubg"]

_NAME = re.compile(r"gnubg(?:@([0-9]))?")


def load_gnubg(name: str = "gnubg") -> GnubgPlayer:
    """The player called ``gnubg`` (0-ply), or ``gnubg@2`` for lookahead, up to 3 plies in gnubg's count.

    Raises `PlayerError` for another name, and when gnubg is not installed.
    """
    match = _NAME.fullmatch(name)
    if not match:
        raise PlayerError(
            f"no player is called {quoted(name)}; there are gnubg and gnubg@1 to gnubg@{MAX_PLIES}"
        )
    return GnubgPlayer(int(match[1] or 0))
