"""Training of the phase net: samples, both stages, and the games that measure its strength.

Strength is measured by the share of games won, as in the source.

Stage 1 learns the heuristic's scores on boards of random play; stage 2 learns the winner, from boards of
games between best-of-four and its opponents (by default itself).  A replay buffer holds recent and some older
boards: new boards replace random old ones, so a board in a full buffer survives k rounds of m new boards with
probability (1 - m / size)**k. The source also limits its sample file, without specifying which samples are
dropped.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from motif.board.packed import Board
from motif.contests.pairs import Contest, play_contest
from motif.contests.result import EVEN_SHARE, ContestRules, contest_result, mean_of_pairs
from motif.evaluators.nets.net import Net
from motif.evaluators.nets.net_evaluators import MoverScoreEvaluator
from motif.evaluators.phase import phase_scores
from motif.parameters.named_sets import features
from motif.parameters.phase_set import PHASE_SET
from motif.phase_net.phase_classifier import Layers, PhaseNet, check_packages, onnx_bytes, read_layers
from motif.phase_net.phase_settings import ITSELF, PhaseNetSettings
from motif.phase_net.phase_training import (
    Difference,
    Epoch,
    FinalGames,
    GameFigures,
    HeuristicStage,
    OutcomeStage,
    PhaseNetTraining,
    Round,
)
from motif.players import EvaluatorPlayer, Player, load
from motif.players.best_of_four import best_of_four
from motif.players.player import random_player
from motif.rollouts.games import SeededDice, lockstep, starts
from motif.runtime.arrays import BoolArray, Float32Array, IntArray
from motif.runtime.errors import SettingError
from motif.runtime.files import (
    clear_temporaries,
    contents,
    csv_text,
    path_of,
    replacing,
    working_in,
    write_text,
)
from motif.runtime.progress import Stopwatch, progress
from motif.runtime.settings import settings_with


@dataclass(frozen=True)
class PlayedBoards:
    """Boards after plays, by game and in order of play, without finished games."""

    boards: Board
    """int8 (n, 26), from the perspective of the next player on roll."""
    game: IntArray
    """(n,): game number."""
    won: BoolArray
    """(n,): whether the player who made the board won the game."""


def played_boards(
    player: Player, games: int, seed: int, other: Player | None = None, first: int = 0
) -> PlayedBoards:
    """Return every board of `games` games that end within `MAX_GAME_PLIES` plies.

    `player` plays both sides, or alternates with `other`, which starts every second game.  Dice depend on the
    number of the `first` game.
    """
    numbers = np.arange(first, first + games)
    if other is None:
        return _played(player, numbers, seed)
    ours = _played(player, numbers[::2], seed, other)
    theirs = _played(other, numbers[1::2], seed, player)
    game = np.concatenate([ours.game, theirs.game])
    order = np.argsort(game, kind="stable")
    boards, won = np.concatenate([ours.boards, theirs.boards]), np.concatenate([ours.won, theirs.won])
    return PlayedBoards(boards[order], game[order], won[order])


def _played(first: Player, numbers: IntArray, seed: int, second: Player | None = None) -> PlayedBoards:
    """Return the boards of the games `numbers`; `first` starts against `second`, by default itself."""
    # 1 if the player of the even plies wins, -1 if the other one does.
    winners = np.zeros(len(numbers), np.int64)
    kept: list[tuple[Board, IntArray, int]] = []
    reply = None if second is None else second.choose_many
    dice = SeededDice(seed).of(numbers)
    for ply in lockstep(first.choose_many, dice, starts(len(numbers)), reply):
        winners[ply.games] = np.sign(ply.points)
        if ply.number:
            going = ply.points == 0
            kept.append((ply.boards[going], ply.games[going], 1 if ply.number % 2 else -1))
    every = np.concatenate([rows for rows, _, _ in kept])
    game = np.concatenate([places for _, places, _ in kept])
    sides = np.repeat([side for _, _, side in kept], [len(rows) for rows, _, _ in kept])
    order = np.argsort(game, kind="stable")
    order = order[winners[game[order]] != 0]
    return PlayedBoards(every[order], numbers[game[order]], (winners[game] == sides)[order])


def evenly(count: int, wanted: int) -> IntArray:
    """Return `wanted` evenly spaced numbers below `count`, or all of them if there are fewer."""
    wanted = min(wanted, count)
    return (np.arange(wanted) * count + count // 2) // max(wanted, 1)


def drawn_of_each_game(played: PlayedBoards, boards_a_game: int, random: np.random.Generator) -> IntArray:
    """Return the rows of `boards_a_game` random boards of each game, or of all if there are fewer."""
    lots = np.lexsort((random.random(len(played.game)), played.game))
    starts = np.searchsorted(played.game, played.game)
    return np.asarray(lots[np.arange(len(lots)) - starts < boards_a_game])


_HELD_OUT = 10
"""One of this number of boards is held out to measure the error."""


class Samples(NamedTuple):
    """Boards as inputs of the network, with targets."""

    inputs: Float32Array
    """(n, 48): features of the set ``phase``."""
    targets: Float32Array
    """(n,), 0 to 1: score for the player who has just moved."""


def heuristic_samples(settings: PhaseNetSettings, seed: int) -> tuple[Samples, Samples]:
    """Return boards of random play with the heuristic's scores: those for training, and those held out."""
    boards = played_boards(random_player(), settings.games, seed).boards
    boards = boards[evenly(len(boards), settings.boards)]
    held_out = np.arange(len(boards)) % _HELD_OUT == _HELD_OUT - 1
    return _scored(boards[~held_out]), _scored(boards[held_out])


def round_samples(settings: PhaseNetSettings, seed: int) -> Samples:
    """Return boards of one round of best-of-four's games, with 1 for the winner's and 0 for the loser's.

    The opponents have equal shares of the games, with different dice.
    """
    random, shares = np.random.default_rng(seed), len(settings.opponents)
    boards, won, first = [], [], 0
    for place, name in enumerate(settings.opponents):
        games = (settings.round_games + place) // shares
        other = None if name == ITSELF else load(name)
        played = played_boards(best_of_four(), games, seed, other, first)
        first += games
        rows = drawn_of_each_game(played, settings.boards_a_game, random)
        boards.append(played.boards[rows])
        won.append(played.won[rows])
    return Samples(features(PHASE_SET, np.concatenate(boards)), np.concatenate(won).astype(np.float32))


def _scored(boards: Board) -> Samples:
    return Samples(features(PHASE_SET, boards), phase_scores(boards).astype(np.float32))


class ReplayBuffer:
    """Buffer of at most `size` boards with their outcomes."""

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.samples: Samples | None = None
        self._random = np.random.default_rng(seed)

    def add(self, new: Samples) -> Samples:
        """Add `new` samples, replacing random old ones, and return the contents."""
        new = self._some(new, self.size)
        if self.samples is None:
            self.samples = new
        else:
            kept = self._some(self.samples, self.size - len(new.targets))
            self.samples = Samples(*map(np.concatenate, zip(kept, new, strict=True)))
        return self.samples

    def _some(self, samples: Samples, most: int) -> Samples:
        count = len(samples.targets)
        if count <= most:
            return samples
        rows = self._random.choice(count, most, replace=False)
        return Samples(*(column[rows] for column in samples))


def duel(first: Player, second: Player, games: int, *, seed: int, jobs: int | None) -> GameFigures:
    """Play games between two players, and return the results of `first`.

    Dice are paired as in `play_money_games`; errors are computed over pairs.
    """
    contest = Contest(ContestRules())
    played = play_contest(contest, first, second, games, seed, jobs)
    result = contest_result(contest.rules, played)
    share, share_se, _ = mean_of_pairs(played.values > 0, EVEN_SHARE)
    error = math.nan if share_se is None else share_se
    return GameFigures(result.games, result.wins, share, error, result.ppg, result.se)


def difference_to_heuristic(net: PhaseNet, boards: Samples) -> Difference:
    """Compare the net's scores with the heuristic's, which are the targets of `boards`."""
    found = net.scores(boards.inputs).astype(np.float64) - boards.targets
    return Difference(len(found), float(found.mean()), float(found.var()), float(np.abs(found).mean()))


SMALL_GAIN, ALL_EPOCHS = "small gain", "all epochs"
"""Reasons why stage 1 ended."""


def learn_heuristic(
    net: PhaseNet, settings: PhaseNetSettings, samples: Samples, validation: Samples
) -> tuple[list[Epoch], str]:
    """Run stage 1 until the loss stops falling; return its epochs and why it ended.

    As in the source, the loss is the sum of squared errors of an epoch's batches.
    """
    epochs: list[Epoch] = []
    best, waited = math.inf, 0
    label = "learning the heuristic"
    for epoch in _trained(label, net, 0, samples, validation, settings.epochs, settings.rate):
        epochs.append(epoch)
        loss = epoch.rmse_train**2 * epoch.boards
        waited = 0 if loss < best - settings.gain else waited + 1
        best = min(best, loss)
        if waited == settings.patience:
            return epochs, SMALL_GAIN
    return epochs, ALL_EPOCHS


def _trained(
    label: str, net: PhaseNet, number: int, samples: Samples, validation: Samples, epochs: int, rate: float
) -> Iterator[Epoch]:
    with progress(label, epochs) as advance:
        for epoch, loss in enumerate(net.train(*samples, epochs, rate), 1):
            yield Epoch(number, epoch, len(samples.targets), math.sqrt(loss), net.rmse(*validation))
            advance(1)


STARTED, PRETRAINED, REFINED = "start", "pretrained", "refined"
"""The nets of a run: the initial net and those after each stage."""
_HISTORY, _SUMMARY = "history.csv", "phase-net.json"
_HEURISTIC, _RANDOM, _SIMPLE = "phase", "random", "simple"
"""Players that the network is measured against."""
WON_EVERY_GAME, ALL_ROUNDS = "won every game", "all rounds"
"""Reasons why stage 2 ended."""
_MAX_COMPARED = 500
"""Games of random play for the comparison of a net with the heuristic, if stage 1 is skipped."""
# Steps of a run, each with its own seed.
_GAMES, _NET, _BUFFER, _VALIDATION, _CHOOSING, _REPORTING = range(6)
Tell = Callable[[str], None]
_Found = TypeVar("_Found")


def train_phase_net(
    folder: Path | str,
    settings: PhaseNetSettings | None = None,
    *,
    jobs: int | None = None,
    tell: Tell | None = None,
) -> PhaseNetTraining:
    """Train the phase net and write it to a folder, before and after its second stage.

    The folder gets ``pretrained.onnx`` and ``refined.onnx`` (of the stages run), ``history.csv`` with one row
    per epoch, and ``phase-net.json``.  The refined net is that of the round with the most wins against the
    opponents, or against the heuristic if best-of-four plays itself; the final contests use different dice.

    Parameters
    ----------
    folder
        An empty or new folder.
    settings
        Settings of the training; by default those of ``PhaseNetSettings()``.
    jobs
        Number of processes, by default all cores; the nets do not depend on it.
    tell
        Function that receives a line about each step; none by default.

    Returns
    -------
    PhaseNetTraining
        The record of the training.

    Raises
    ------
    SettingError
        For invalid settings, a folder that is not empty or an invalid `start`.
    FileError
        If a file cannot be written.
    PlayerError
        For an unknown player or a missing package.
    """
    settings = settings_with(PhaseNetSettings, settings)
    settings.check()
    check_packages()
    start = None if settings.start is None else read_layers(Path(settings.start))
    for name in settings.opponents:
        load(name)
    folder = path_of("folder", folder)
    with working_in(folder):
        if files := contents(folder):
            raise SettingError(
                f"{folder}: the folder is not empty (it contains {files[0].name}); choose another folder"
            )
        clear_temporaries(folder)
        run = _Run(settings, start, jobs, tell or (lambda line: None))
        training = run.whole()
        for name in run.models.keys() - {STARTED}:
            with replacing(folder / f"{name}.onnx") as temporary:
                temporary.write_bytes(run.models[name])
        write_text(folder / _HISTORY, csv_text(Epoch._fields, training.epochs))
        write_text(folder / _SUMMARY, json.dumps(training.to_dict(), indent=1) + "\n")
    return training


class _Run:
    def __init__(
        self, settings: PhaseNetSettings, start: Layers | None, jobs: int | None, tell: Tell
    ) -> None:
        self.settings, self.jobs, self.tell = settings, jobs, tell
        seed = settings.step_seed(_NET)
        self.net = PhaseNet(settings.batch, seed, start=start, scaling=settings.scaling)
        self.epochs: list[Epoch] = []
        self.models: dict[str, bytes] = {}
        self.players: dict[str, Player] = {}
        self.differences: dict[str, Difference] = {}
        self.seconds: dict[str, float] = {}
        self.random_boards: Samples | None = None

    def whole(self) -> PhaseNetTraining:
        """Do every step of the settings."""
        whole, stage = Stopwatch(), self.settings.stage
        if self.settings.start is not None:
            self._record_net(STARTED)
        first = None if stage == "2" else self._timed("stage_1", self._learn_heuristic)
        second = None if stage == "1" else self._timed("stage_2", self._learn_outcomes)
        matches = self._timed("matches", self._final_games)
        return PhaseNetTraining(
            settings=self.settings,
            stage_1=first,
            stage_2=second,
            matches=matches,
            difference_to_heuristic=self.differences,
            epochs=tuple(self.epochs),
            seconds=whole.seconds,
            seconds_by_step=self.seconds,
        )

    def _timed(self, name: str, step: Callable[[], _Found]) -> _Found:
        stopwatch = Stopwatch()
        found = step()
        self.seconds[name] = stopwatch.seconds
        return found

    def _record_net(self, name: str) -> None:
        """Record the present net: its model, a player, and its difference from the heuristic."""
        if self.random_boards is None:
            few = replace(self.settings, games=min(self.settings.games, _MAX_COMPARED))
            self.random_boards = heuristic_samples(few, self.settings.step_seed(_GAMES))[1]
        self.models[name] = self._model(name)
        self.players[name] = _player(name, self.models[name])
        self.differences[name] = difference_to_heuristic(self.net, self.random_boards)

    def _learn_heuristic(self) -> HeuristicStage:
        settings = self.settings
        self.tell(f"{settings.games:,} games of random play")
        samples, validation = heuristic_samples(settings, settings.step_seed(_GAMES))
        self.random_boards = validation
        self.tell(f"learning the heuristic from {len(samples.targets):,} boards")
        epochs, stopped = learn_heuristic(self.net, settings, samples, validation)
        self.epochs += epochs
        self._record_net(PRETRAINED)
        return HeuristicStage(len(epochs), stopped, *_errors(epochs[-1]))

    def _learn_outcomes(self) -> OutcomeStage:
        settings = self.settings
        buffer = ReplayBuffer(settings.buffer, settings.step_seed(_BUFFER))
        validation = round_samples(settings, settings.step_seed(_VALIDATION))
        before = self.net.rmse(*validation)
        previous, rounds = list(self.players.values())[-1], []
        best, stopped = -1, ALL_ROUNDS
        others = [name for name in settings.opponents if name != ITSELF]
        for number in range(1, settings.rounds + 1):
            samples = buffer.add(round_samples(settings, settings.round_seed(number)))
            label, passes, rate = f"round {number}", settings.round_epochs, settings.round_rate
            epochs = list(_trained(label, self.net, number, samples, validation, passes, rate))
            self.epochs += epochs
            model = self._model(f"round-{number}")
            player = _player(f"round-{number}", model)
            result = self._duel(player, load(_HEURISTIC), settings.test_games, _CHOOSING)
            against = {
                name: self._duel(player, load(name), settings.test_games, _CHOOSING) for name in others
            }
            watched = list(against.values()) or [result]
            versus_previous = self._duel(player, previous, settings.test_games, _CHOOSING)
            rounds.append(Round(number, *_errors(epochs[-1]), result, versus_previous, against))
            results = {"the heuristic": result, **against}
            words = "; ".join(f"{figures} against {name}" for name, figures in results.items())
            self.tell(f"round {number}: {words}")
            wins = sum(figures.wins for figures in watched)
            if wins > best:
                best, best_round = wins, number
                self._record_net(REFINED)
            if wins == sum(figures.games for figures in watched):
                stopped = WON_EVERY_GAME
                break
            previous = player
        return OutcomeStage(stopped, best_round, before, rounds)

    def _final_games(self) -> tuple[FinalGames, ...]:
        nets = self.players
        names = dict.fromkeys((_RANDOM, _HEURISTIC, _SIMPLE, *self.settings.opponents))
        others = {name: load(name) for name in names if name != ITSELF}
        pairs = [(name, other) for name in nets for other in others]
        # Each net plays against its predecessor.
        pairs += [(after, before) for before, after in pairwise(nets)]
        contests = []
        for name, other in pairs:
            opponent = nets.get(other) or others[other]
            result = self._duel(nets[name], opponent, self.settings.final_games, _REPORTING)
            contests.append(FinalGames(name, other, result))
            self.tell(f"{name} against {other}: {result}")
        return tuple(contests)

    def _duel(self, first: Player, second: Player, games: int, step: int) -> GameFigures:
        return duel(first, second, games, seed=self.settings.step_seed(step), jobs=self.jobs)

    def _model(self, name: str) -> bytes:
        return onnx_bytes(self.net, f"phase-net-{name}")


def _errors(last: Epoch) -> tuple[int, float, float]:
    return last.boards, last.rmse_train, last.rmse_validation


def _player(name: str, model: bytes) -> Player:
    """Return the player of a net's ONNX file, so that the strength of the file is measured."""
    return EvaluatorPlayer(MoverScoreEvaluator(name, Net(model, name), PHASE_SET))
