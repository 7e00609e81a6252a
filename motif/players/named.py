"""Players by name, the same names wherever a player is asked for."""

from motif.evaluators import StaticEvaluator, load_evaluator
from motif.evaluators.named import RANDOM_NAME
from motif.players.player import CompiledPlayer, EvaluatorPlayer, Player, random_player
from motif.rollout.named import PREFIX, load_rollout


def load(name: str) -> Player:
    """The player called `name`: ``random``, ``simple``, ``pubeval``, ``FILE.yaml``, any with ``@1``.

    ``rollout:PLAYER,trials=36,cut=7``, say, plays by rollouts (see `motif.rollout.named`).
    Raises `PlayerError` for a name that means nothing, `WeightFileError` for a bad weight file.
    """
    if name == RANDOM_NAME:
        return random_player()
    if name.startswith(PREFIX):
        return EvaluatorPlayer(load_rollout(name))
    evaluator = load_evaluator(name)
    if isinstance(evaluator, StaticEvaluator):
        return CompiledPlayer(name, evaluator.model, evaluator)
    return EvaluatorPlayer(evaluator)
