"""Players by name, and rankings of plays."""

from motif.players.player import (
    CompiledPlayer,
    EvaluatorPlayer,
    Player,
    evaluator_of,
    load,
    load_player,
    static_player,
)

__all__ = [
    "CompiledPlayer",
    "EvaluatorPlayer",
    "Player",
    "evaluator_of",
    "load",
    "load_player",
    "static_player",
]
