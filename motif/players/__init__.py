"""Players by name, and rankings of plays."""

from motif.players.player import (
    CompiledPlayer,
    EvaluatorPlayer,
    Player,
    as_player,
    evaluator_of,
    load,
    static_player,
)

__all__ = [
    "CompiledPlayer",
    "EvaluatorPlayer",
    "Player",
    "as_player",
    "evaluator_of",
    "load",
    "static_player",
]
