"""Who chooses plays: players by name, and matches between them."""

from motif.players.player import CompiledPlayer, EvaluatorPlayer, Player
from motif.players.player_names import load

__all__ = ["CompiledPlayer", "EvaluatorPlayer", "Player", "load"]
