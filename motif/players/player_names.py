"""Players by name, the same names wherever a player is asked for."""

import re

from motif.evaluators import StaticEvaluator, load_evaluator
from motif.evaluators.shipped import RANDOM_NAME
from motif.players.best_of_four import BEST_OF_FOUR_NAME, best_of_four
from motif.players.player import CompiledPlayer, EvaluatorPlayer, Player, random_player
from motif.rollout.rollout_evaluator import PREFIX, load_rollout
from motif.runtime.errors import PlayerError

HUMAN_NAME = "human"
_GNUBG = re.compile(r"gnubg(@.*)?")


def load(name: str) -> Player:
    """The player called `name`: ``pubeval``, ``bras``, ``FILE.yaml`` and so on, any with ``@1``.

    ``random``, ``best-of-four``, ``gnubg`` and ``gnubg@2`` are names too; ``rollout:PLAYER,trials=36,cut=7``,
    say, plays by rollouts (see `motif.rollout.rollout_evaluator`), ``onnx:PATH`` by a net.
    Raises `PlayerError` for a name that means nothing, `WeightFileError` for a bad weight file.
    """
    if name == RANDOM_NAME:
        return random_player()
    if name == BEST_OF_FOUR_NAME:
        return best_of_four()
    if name == HUMAN_NAME:
        raise PlayerError(f"{HUMAN_NAME!r} plays only in `motif play`")
    if _GNUBG.fullmatch(name):
        from motif.players.gnubg import load_gnubg

        return load_gnubg(name)
    if name.startswith(PREFIX):
        return EvaluatorPlayer(load_rollout(name))
    evaluator = load_evaluator(name)
    if isinstance(evaluator, StaticEvaluator):
        return CompiledPlayer(name, evaluator.model, evaluator)
    return EvaluatorPlayer(evaluator)
