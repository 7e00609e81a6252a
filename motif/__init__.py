"""motif learns a backgammon evaluator that a person can read, from nothing but the rules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from motif.runtime.version import VERSION

if TYPE_CHECKING:
    from motif.board.moves import Play, legal_plays
    from motif.board.parsing import parse_position
    from motif.board.position import Position
    from motif.evaluators import Evaluator, Probabilities, WeightFile, load_static, read_weight_file
    from motif.learning.fit import FitSettings, FittedWeights
    from motif.learning.fit import fit_dataset as fit
    from motif.players import Player, load
    from motif.players.match import MatchResult, play_match
    from motif.players.tournament import TournamentResult, play_tournament
    from motif.rollout import RolloutResult, RolloutSettings, rollout
    from motif.runtime.errors import MotifError
    from motif.runtime.parallel import working_on
    from motif.sampling import SampleResult, SampleSettings, sample

__version__ = VERSION

# Imported on first use, so that a command which needs only the rules does not wait for the rest.
_HOMES = {
    "motif.board.moves": ("Play", "legal_plays"),
    "motif.board.parsing": ("parse_position",),
    "motif.board.position": ("Position",),
    "motif.learning.fit": ("FitSettings", "FittedWeights", "fit"),
    "motif.evaluators": ("Evaluator", "Probabilities", "WeightFile", "load_static", "read_weight_file"),
    "motif.players": ("Player", "load"),
    "motif.players.match": ("MatchResult", "play_match"),
    "motif.players.tournament": ("TournamentResult", "play_tournament"),
    "motif.rollout": ("RolloutResult", "RolloutSettings"),
    "motif.runtime.errors": ("MotifError",),
    "motif.runtime.parallel": ("working_on",),
    "motif.sampling": ("SampleResult", "SampleSettings", "sample"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_NAME_THERE = {"fit": "fit_dataset"}


def __getattr__(name: str) -> Any:
    if name == "rollout":
        return import_module("motif.rollout")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), _NAME_THERE.get(name, name))
    globals()[name] = value
    return value


__all__ = [
    "Evaluator",
    "FitSettings",
    "FittedWeights",
    "MatchResult",
    "MotifError",
    "Play",
    "Player",
    "Position",
    "Probabilities",
    "RolloutResult",
    "RolloutSettings",
    "SampleResult",
    "SampleSettings",
    "TournamentResult",
    "WeightFile",
    "__version__",
    "fit",
    "legal_plays",
    "load",
    "load_static",
    "parse_position",
    "play_match",
    "play_tournament",
    "read_weight_file",
    "rollout",
    "sample",
    "working_on",
]
