"""motif learns a backgammon evaluator that a person can read, from nothing but the rules.

Ask about a position, in any form (an ID, a `Position`, 26 numbers), a roll (``"31"``) and a player
(``"latest"``):

    rank(position, roll)         the legal plays, the best first
    best_play(position, roll, value=f)   the play that a value function of your own prefers
    evaluate(position)           the five chances and the equity; `evaluate_many` for arrays
    cube(position)               double or not, take or pass, for money or at a score
    explain(position, roll)      why one play is better than another, in words
    rollout(position)            the same by Monte Carlo, with standard errors
    legal_plays(position, roll)  what may be played
    analyse("match.mat")         errors, luck and ratings of a match; `read_match` and `write_match` for files

Play and measure: `load` (a player by name), `play_match`, `play_tournament`.

Learn: `sample` (positions and labels from self-play), `read_dataset` (them as arrays), `fit` (weights from
them), `read_weight_file`.

What they take and give: `Position`, `Dataset`, `Play`, `Player`, `Evaluator`, `Probabilities`, `Ranking`,
`Explanation`, `CubeDecision`, `MatchAnalysis`, `RolloutResult`, `WeightFile` and others; what goes wrong is
a `MotifError` of one line.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from motif.runtime.package import functions, lazy_names

if TYPE_CHECKING:
    from motif.analysis.explain import Explanation
    from motif.analysis.match import MatchAnalysis
    from motif.board.match_file import read_match, write_match
    from motif.board.moves import Play, legal_plays
    from motif.board.parsing import parse_position
    from motif.board.position import Position
    from motif.cube import CubeDecision
    from motif.evaluators import Evaluator, Probabilities, WeightFile, load_static, read_weight_file
    from motif.learning.fit import FitSettings, FittedWeights
    from motif.learning.fit import fit_dataset as fit
    from motif.library import Ranking, analyse, best_play, cube, evaluate, evaluate_many, explain, rank
    from motif.players import Player, load
    from motif.players.match import MatchResult, play_match
    from motif.players.tournament import TournamentResult, play_tournament
    from motif.rollout import RolloutResult, RolloutSettings, rollout
    from motif.runtime.errors import MotifError
    from motif.runtime.parallel import working_on
    from motif.sampling import Dataset, SampleResult, SampleSettings, read_dataset, sample

    __version__: str

# Imported on first use, so that a command which needs only the rules does not wait for the rest.
_from_its_home = lazy_names(
    __name__,
    {
        "motif.analysis.explain": ("Explanation",),
        "motif.analysis.match": ("MatchAnalysis",),
        "motif.board.match_file": ("read_match", "write_match"),
        "motif.board.moves": ("Play", "legal_plays"),
        "motif.board.parsing": ("parse_position",),
        "motif.board.position": ("Position",),
        "motif.cube": ("CubeDecision",),
        "motif.evaluators": ("Evaluator", "Probabilities", "WeightFile", "load_static", "read_weight_file"),
        "motif.learning.fit": ("FitSettings", "FittedWeights", "fit=fit_dataset"),
        "motif.library": ("Ranking", "analyse", "best_play", "evaluate", "evaluate_many", "explain", "rank"),
        "motif.players": ("Player", "load"),
        "motif.players.match": ("MatchResult", "play_match"),
        "motif.players.tournament": ("TournamentResult", "play_tournament"),
        "motif.rollout": ("RolloutResult", "RolloutSettings"),
        "motif.runtime.errors": ("MotifError",),
        "motif.runtime.parallel": ("working_on",),
        "motif.runtime.package": ("__version__=VERSION",),
        "motif.sampling": ("Dataset", "SampleResult", "SampleSettings", "read_dataset", "sample"),
    },
)
# These functions are packages, too, which the import system binds to their names.
functions.update({"motif.cube": "motif.library:cube", "motif.rollout": "motif.rollout.trials:rollout"})


def __getattr__(name: str) -> Any:
    package = f"{__name__}.{name}"
    return import_module(package) if package in functions else _from_its_home(name)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "CubeDecision",
    "Dataset",
    "Evaluator",
    "Explanation",
    "FitSettings",
    "FittedWeights",
    "MatchAnalysis",
    "MatchResult",
    "MotifError",
    "Play",
    "Player",
    "Position",
    "Probabilities",
    "Ranking",
    "RolloutResult",
    "RolloutSettings",
    "SampleResult",
    "SampleSettings",
    "TournamentResult",
    "WeightFile",
    "__version__",
    "analyse",
    "best_play",
    "cube",
    "evaluate",
    "evaluate_many",
    "explain",
    "fit",
    "legal_plays",
    "load",
    "load_static",
    "parse_position",
    "play_match",
    "play_tournament",
    "rank",
    "read_dataset",
    "read_match",
    "read_weight_file",
    "rollout",
    "sample",
    "working_on",
    "write_match",
]
