"""motif learns a backgammon evaluator that a person can read, from nothing but the rules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from motif.runtime.lazy_names import lazy_names

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

    __version__: str

# Imported on first use, so that a command which needs only the rules does not wait for the rest.
_from_its_home = lazy_names(
    __name__,
    {
        "motif.board.moves": ("Play", "legal_plays"),
        "motif.board.parsing": ("parse_position",),
        "motif.board.position": ("Position",),
        "motif.learning.fit": ("FitSettings", "FittedWeights", "fit=fit_dataset"),
        "motif.evaluators": ("Evaluator", "Probabilities", "WeightFile", "load_static", "read_weight_file"),
        "motif.players": ("Player", "load"),
        "motif.players.match": ("MatchResult", "play_match"),
        "motif.players.tournament": ("TournamentResult", "play_tournament"),
        "motif.rollout": ("RolloutResult", "RolloutSettings"),
        "motif.runtime.errors": ("MotifError",),
        "motif.runtime.parallel": ("working_on",),
        "motif.runtime.version": ("__version__=VERSION",),
        "motif.sampling": ("SampleResult", "SampleSettings", "sample"),
    },
)


def __getattr__(name: str) -> Any:
    # The function is the package, which the import system binds to the name itself.
    return import_module("motif.rollout") if name == "rollout" else _from_its_home(name)


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
