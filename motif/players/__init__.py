"""Who chooses plays, and matches between them."""

from motif.players.named import load
from motif.players.player import CompiledPlayer, EvaluatorPlayer, Player

__all__ = ["CompiledPlayer", "EvaluatorPlayer", "Player", "load"]
