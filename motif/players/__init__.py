"""Who chooses plays: players by name, and matches between them."""

from motif.players.player import (
    CompiledPlayer,
    EvaluatorPlayer,
    Player,
    as_player,
    load,
    static_player,
)

__all__ = ["CompiledPlayer", "EvaluatorPlayer", "Player", "as_player", "load", "static_player"]
