"""motif learns a backgammon evaluator that a person can read, from nothing but the rules.

A position is a `Position`, an ID or 26 numbers; a roll ``"31"``; a player a name such as ``"latest@1"``,
weights, a fitted model (`from_sklearn`), or any object with ``evaluate_many(boards)`` (`Evaluator`).

Ask      rank(position, roll)   best_play   evaluate(position)   evaluate_many   cube(position)   decide
         explain(position, roll)   legal_plays   bearoff   cube_windows   cube_efficiency
Roll out rollout(position, trials=1296)   compare_plays(position, roll)   rollout_cube(position)
Play     Game   analyse("match.mat")   read_match   write_match   convert
Measure  play_money_games(a, b)   play_matches(a, b, length=5)   play_tournament   benchmark(player)   speed
Learn    sample(player="latest", games=300, out="data")   read_dataset("data")
         fit("data").weights   calibrate   bootstrap   report   make_benchmark   train_phase_net
Load     load_player   load_evaluator   from_sklearn   read_weight_file   export

Results have ``to_dict()`` and ``to_frame()``, print as tables and show themselves in notebooks.  What goes
wrong is a `MotifError` of one line.  ``help(motif.rank)`` tells more; so do the pages in docs/how-to.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from motif.compiler.program import Program, configure
from motif.runtime.cache_folder import cache_folder, cache_problem, open_private
from motif.runtime.package import lazy_names
from motif.runtime.progress import COMPILATION

if TYPE_CHECKING:
    from motif.analysis.explain import Explanation
    from motif.analysis.match import MatchAnalysis
    from motif.analysis.turn import TurnDecision
    from motif.benchmarks.benchmark_making import make_benchmark
    from motif.board.match_file import read_match, write_match
    from motif.board.match_state import MatchState
    from motif.board.moves import Play
    from motif.board.parsing import parse_position
    from motif.board.position import Position
    from motif.contests import (
        ContestResult,
        TournamentResult,
        play_matches,
        play_money_games,
        play_tournament,
    )
    from motif.doubling import CubeDecision
    from motif.doubling.bras_windows import doubling_set as cube_windows
    from motif.doubling.cubeful_rollout import CubeRollout
    from motif.doubling.efficiency_fit import fit_efficiency as cube_efficiency
    from motif.evaluators import Evaluator, Probabilities, WeightFile, load_static, read_weight_file
    from motif.evaluators.own import from_sklearn
    from motif.learning.fit_settings import FitSettings
    from motif.library import (
        analyse,
        bearoff,
        best_play,
        compare_plays,
        cube,
        decide,
        evaluate,
        evaluate_many,
        explain,
        legal_plays,
        load_evaluator,
        rank,
        rollout,
        rollout_cube,
    )
    from motif.library_game import Game
    from motif.library_learn import Fit, bootstrap, calibrate, export, fit, report, sample
    from motif.library_play import BenchmarkResult, benchmark, speed
    from motif.phase_net import train_phase_net
    from motif.players import Player
    from motif.players import as_player as load_player
    from motif.players.ranking import Ranking
    from motif.rollouts import Comparison, RolloutResult, RolloutSettings
    from motif.runtime.errors import MotifError
    from motif.runtime.parallel import working_on
    from motif.sampling import Dataset, SampleResult, SampleSettings, read_dataset
    from motif.sampling.conversion import convert

    load = load_player
    __version__: str

    # Not at run time: `help(motif)` would print every page at once.
    __all__ = [
        "BenchmarkResult",
        "Comparison",
        "ContestResult",
        "CubeDecision",
        "CubeRollout",
        "Dataset",
        "Evaluator",
        "Explanation",
        "Fit",
        "FitSettings",
        "Game",
        "MatchAnalysis",
        "MatchState",
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
        "TurnDecision",
        "WeightFile",
        "__version__",
        "analyse",
        "bearoff",
        "benchmark",
        "best_play",
        "bootstrap",
        "calibrate",
        "compare_plays",
        "convert",
        "cube",
        "cube_efficiency",
        "cube_windows",
        "decide",
        "evaluate",
        "evaluate_many",
        "explain",
        "export",
        "fit",
        "from_sklearn",
        "legal_plays",
        "load",
        "load_evaluator",
        "load_player",
        "load_static",
        "make_benchmark",
        "parse_position",
        "play_matches",
        "play_money_games",
        "play_tournament",
        "rank",
        "read_dataset",
        "read_match",
        "read_weight_file",
        "report",
        "rollout",
        "rollout_cube",
        "sample",
        "speed",
        "train_phase_net",
        "working_on",
        "write_match",
    ]

_HOMES = {
    "motif.analysis.explain": ("Explanation",),
    "motif.analysis.match": ("MatchAnalysis",),
    "motif.players.ranking": ("Ranking",),
    "motif.analysis.turn": ("TurnDecision",),
    "motif.benchmarks.benchmark_making": ("make_benchmark",),
    "motif.board.match_file": ("read_match", "write_match"),
    "motif.board.match_state": ("MatchState",),
    "motif.board.moves": ("Play",),
    "motif.board.parsing": ("parse_position",),
    "motif.board.position": ("Position",),
    "motif.contests": (
        "ContestResult", "TournamentResult", "play_matches", "play_money_games", "play_tournament",
    ),
    "motif.doubling": ("CubeDecision",),
    "motif.doubling.bras_windows": ("cube_windows=doubling_set",),
    "motif.doubling.efficiency_fit": ("cube_efficiency=fit_efficiency",),
    "motif.doubling.cubeful_rollout": ("CubeRollout",),
    "motif.evaluators": ("Evaluator", "Probabilities", "WeightFile", "load_static", "read_weight_file"),
    "motif.evaluators.own": ("from_sklearn",),
    "motif.learning.fit_settings": ("FitSettings",),
    "motif.library": (
        "analyse", "bearoff", "best_play", "compare_plays", "cube", "decide", "evaluate", "evaluate_many",
        "explain", "legal_plays", "load_evaluator", "rank", "rollout", "rollout_cube",
    ),
    "motif.library_game": ("Game",),
    "motif.library_learn": ("Fit", "bootstrap", "calibrate", "export", "fit", "report", "sample"),
    "motif.library_play": ("BenchmarkResult", "benchmark", "speed"),
    "motif.phase_net": ("train_phase_net",),
    "motif.players": ("Player", "load=as_player", "load_player=as_player"),
    "motif.rollouts": ("Comparison", "RolloutResult", "RolloutSettings"),
    "motif.runtime.errors": ("MotifError",),
    "motif.runtime.package": ("__version__=VERSION",),
    "motif.runtime.parallel": ("working_on",),
    "motif.sampling.conversion": ("convert",),
    "motif.sampling": ("Dataset", "SampleResult", "SampleSettings", "read_dataset"),
}  # fmt: skip
configure(
    Program("motif", Path(__file__).resolve().parent, cache_folder, cache_problem, open_private, COMPILATION)
)
# Imported on first use, so that a command which needs only the rules does not wait for the rest.
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(entry.partition("=")[0] for entries in _HOMES.values() for entry in entries)
