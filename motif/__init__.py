"""Human-readable backgammon evaluators, learned from nothing but the rules.

A position is a `Position`, an ID or 26 numbers.  A roll is ``"31"`` or ``(3, 1)``.  A player is a name such
as ``"latest@1"``, weights, a fitted model (`from_sklearn`), or an object with ``evaluate_many(boards)``.

Ask      rank(position, roll)   evaluate(position)   evaluate_many   cube(position)   decide   legal_plays
         explain(position, roll)   best_play(position, value=f)   bearoff   cube_windows   cube_efficiency
Roll out rollout(position, trials=1296)   compare_plays(position, roll)   rollout_cube(position)
Play     Game   analyse("match.mat")   read_match   write_match   convert   export(weights, "x.onnx")
Measure  play_money_games(a, b)   play_matches(a, b, length=5)   play_tournament   benchmark(player)   speed
Learn    sample(player="latest", games=300, out="data")   read_dataset("data")   fit("data").weights
         terms   inspect   calibrate   bootstrap   report   make_benchmark   train_phase_net   working_on
Load     load_player   load_evaluator   load_static   from_sklearn   read_weight_file   parse_position
Tabular results print as tables and have ``to_dict()`` and ``to_frame()``.  Errors are a `MotifError`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from motif.compiler.program import Program, configure
from motif.runtime.cache_folder import cache_folder, cache_problem, open_private
from motif.runtime.lazy_imports import lazy_names
from motif.runtime.progress import COMPILATION

if TYPE_CHECKING:
    from motif.analysis.explain.explanation import Explanation as Explanation
    from motif.analysis.match.match_analysis import MatchAnalysis as MatchAnalysis
    from motif.analysis.turn import TurnDecision as TurnDecision
    from motif.benchmarks.benchmark_making import MakeSettings as MakeSettings
    from motif.benchmarks.benchmark_making import make_benchmark as make_benchmark
    from motif.benchmarks.choices import BenchmarkResult as BenchmarkResult
    from motif.benchmarks.speed import speed as speed
    from motif.board.match_file import read_match as read_match
    from motif.board.match_file import write_match as write_match
    from motif.board.match_state import MatchState as MatchState
    from motif.board.moves import Play as Play
    from motif.board.parsing import parse_position as parse_position
    from motif.board.position import Position as Position
    from motif.contests import ContestResult as ContestResult
    from motif.contests import TournamentResult as TournamentResult
    from motif.contests import play_matches as play_matches
    from motif.contests import play_money_games as play_money_games
    from motif.contests import play_tournament as play_tournament
    from motif.doubling import CubeDecision as CubeDecision
    from motif.doubling.cubeful_rollout import CubeRollout as CubeRollout
    from motif.evaluators import Evaluator as Evaluator
    from motif.evaluators import Probabilities as Probabilities
    from motif.evaluators import WeightFile as WeightFile
    from motif.evaluators import load_static as load_static
    from motif.evaluators import read_weight_file as read_weight_file
    from motif.evaluators.own import from_sklearn as from_sklearn
    from motif.learning.fit_settings import FitSettings as FitSettings
    from motif.library import analyse as analyse
    from motif.library import bearoff as bearoff
    from motif.library import best_play as best_play
    from motif.library import cube as cube
    from motif.library import decide as decide
    from motif.library import evaluate as evaluate
    from motif.library import evaluate_many as evaluate_many
    from motif.library import explain as explain
    from motif.library import legal_plays as legal_plays
    from motif.library import load_evaluator as load_evaluator
    from motif.library import rank as rank
    from motif.library_game import Game as Game
    from motif.library_learn import Fit as Fit
    from motif.library_learn import PlayerCalibration as PlayerCalibration
    from motif.library_learn import bootstrap as bootstrap
    from motif.library_learn import calibrate as calibrate
    from motif.library_learn import export as export
    from motif.library_learn import fit as fit
    from motif.library_learn import report as report
    from motif.library_learn import sample as sample
    from motif.library_play import benchmark as benchmark
    from motif.library_play import cube_efficiency as cube_efficiency
    from motif.library_play import cube_windows as cube_windows
    from motif.library_play import terms as terms
    from motif.library_rollouts import compare_plays as compare_plays
    from motif.library_rollouts import rollout as rollout
    from motif.library_rollouts import rollout_cube as rollout_cube
    from motif.phase_net import PhaseNetSettings as PhaseNetSettings
    from motif.phase_net import train_phase_net as train_phase_net
    from motif.players import Player as Player
    from motif.players.player import load_player as load_player
    from motif.players.ranking import Ranking as Ranking
    from motif.reports.analysis_page import WrittenAnalysis as WrittenAnalysis
    from motif.reports.analysis_page import inspect as inspect
    from motif.reports.term_pages import TermReport as TermReport
    from motif.rollouts import Comparison as Comparison
    from motif.rollouts import RolloutResult as RolloutResult
    from motif.rollouts import RolloutSettings as RolloutSettings
    from motif.runtime.errors import BenchmarkError as BenchmarkError
    from motif.runtime.errors import ClusterError as ClusterError
    from motif.runtime.errors import DatasetError as DatasetError
    from motif.runtime.errors import FailedFitError as FailedFitError
    from motif.runtime.errors import FileError as FileError
    from motif.runtime.errors import FitError as FitError
    from motif.runtime.errors import IncompleteDatasetWarning as IncompleteDatasetWarning
    from motif.runtime.errors import MotifError as MotifError
    from motif.runtime.errors import ParameterError as ParameterError
    from motif.runtime.errors import PlayerError as PlayerError
    from motif.runtime.errors import PlayError as PlayError
    from motif.runtime.errors import PositionError as PositionError
    from motif.runtime.errors import RecordError as RecordError
    from motif.runtime.errors import SettingError as SettingError
    from motif.runtime.errors import WeightFileError as WeightFileError
    from motif.runtime.errors import WorkerError as WorkerError
    from motif.runtime.package import VERSION
    from motif.runtime.parallel import working_on as working_on
    from motif.sampling.conversion import convert as convert
    from motif.sampling.dataset import Dataset as Dataset
    from motif.sampling.dataset import read_dataset as read_dataset
    from motif.sampling.sample import SampleResult as SampleResult
    from motif.sampling.sample import SampleSettings as SampleSettings

    __version__ = VERSION
    load = load_player

configure(
    Program("motif", Path(__file__).resolve().parent, cache_folder, cache_problem, open_private, COMPILATION)
)
# Names are imported on first use, which keeps `import motif` fast.
__getattr__, __dir__ = lazy_names(__name__, __file__)
