"""Players by name, the same names wherever a player is asked for."""

from motif.evaluators import StaticEvaluator, load_evaluator
from motif.evaluators.named import RANDOM_NAME
from motif.players.player import CompiledPlayer, EvaluatorPlayer, Player, random_player


def load(name: str) -> Player:
    """The player called `name`: ``random``, ``simple``, ``pubeval``, ``FILE.yaml``, any with ``@1``.

    Raises `PlayerError` for a name that means nothing, `WeightFileError` for a bad weight file.
    """
    if name == RANDOM_NAME:
        return random_player()
    evaluator = load_evaluator(name)
    if isinstance(evaluator, StaticEvaluator):
        return CompiledPlayer(name, evaluator.model, evaluator)
    return EvaluatorPlayer(evaluator)
