"""Speed: games, plays and evaluations per second, on one core and on all cores.

All cores run at the same time, so the second figure includes the effects of shared memory and clock speed.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import count, islice
from numbers import Real

import numpy as np

from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators import load_static
from motif.evaluators.kernels import NO_ROWS, evaluate_packed
from motif.evaluators.known_players import LATEST
from motif.evaluators.model import Model, random_model
from motif.evaluators.static import filtered, prepared
from motif.players import load
from motif.players.player import PlayerLike, static_evaluator
from motif.rollouts.games import SeededDice, lockstep, starts
from motif.rollouts.playout import play_games
from motif.runtime.parallel import run_ordered, worker_count, working_on
from motif.runtime.progress import Stopwatch
from motif.runtime.settings import require

_GAMES_AT_ONCE = 100
ALL_CORES = "_all_cores"
_MIN_SECONDS = 0.01
"""Shortest measurement in seconds."""


def speed(player: PlayerLike = LATEST, *, seconds: float = 2.0, jobs: int | None = None) -> dict[str, float]:
    """Measure games, plays and evaluations per second, on one core and on all cores.

    Parameters
    ----------
    player
        Weights in any form, by default the newest.
    seconds
        Duration of each measurement, at least 0.01.
    jobs
        Number of processes, by default all cores.

    Returns
    -------
    dict
        Rates per second by name; with the suffix ``_all_cores``, those of all processes.  Games are those of
        PubEval and of the weights, without and with their move filter, against themselves, evaluating every
        legal play or those that the filter lets through; plays are the legal ones of random games.

    Raises
    ------
    PlayerError, WeightFileError, SettingError
        For a player that is not a static evaluator, or an invalid number of seconds.
    """
    evaluator = static_evaluator(player, "speed")
    is_valid = isinstance(seconds, Real) and _MIN_SECONDS <= seconds < math.inf
    require(is_valid, "seconds", seconds, f"at least {_MIN_SECONDS}")
    workers = worker_count(jobs)
    tasks = {
        "pubeval_games_per_second": partial(_games_per_second, load_static("pubeval").model),
        "motif_games_per_second": partial(_games_per_second, evaluator.model),
        "motif_filtered_games_per_second": partial(_games_per_second, filtered(evaluator).model),
        "plays_per_second": partial(_plays_per_second, random_model()),
        "evaluations_per_second": partial(_evaluations_per_second, evaluator.model),
    }
    for task in tasks.values():  # compile or load kernels
        task(0.0)
    one = {name: task(seconds) for name, task in tasks.items()}
    with working_on(None):
        every = {
            name + ALL_CORES: sum(run_ordered(task, [(seconds,)] * workers, workers))
            for name, task in tasks.items()
        }
    return one | every


def timed(step: Callable[[int], int], seconds: float) -> float:
    """Return the items per second of `step`, which receives a counter and returns its number of items."""
    step(0)  # compile or load kernels
    items, stopwatch = 0, Stopwatch()
    for number in count():
        items += step(number)
        if (elapsed := stopwatch.seconds) >= seconds:
            break
    return items / elapsed


def _games_per_second(model: Model, seconds: float) -> float:
    play = _player_of_games(model)

    def step(number: int) -> int:
        play(number)
        return _GAMES_AT_ONCE

    return timed(step, seconds)


def _plays_per_second(model: Model, seconds: float) -> float:
    return timed(_player_of_games(model), seconds)


def _player_of_games(model: Model) -> Callable[[int], int]:
    """Return a function that plays a batch of games and returns the number of legal plays generated.

    Games are played in batches, because a random game takes little longer than a call from Python.
    """
    start, (model, space) = pack_many(Position.start().board[None])[0], prepared(model)
    return lambda number: int(play_games(model, start, number * _GAMES_AT_ONCE, _GAMES_AT_ONCE, 0, space))


def _evaluations_per_second(model: Model, seconds: float) -> float:
    packed, (model, space) = pack_many(midgame_boards()), prepared(model)
    scores = np.empty(len(packed))

    def step(_: int) -> int:
        evaluate_packed(model, packed, space, scores, NO_ROWS)
        return len(packed)

    return timed(step, seconds)


def midgame_boards() -> Board:
    """Return about 3000 boards (n, 26) from the first 30 plies of PubEval's games against itself."""
    dice = SeededDice(0).of(np.arange(_GAMES_AT_ONCE))
    games = lockstep(load("pubeval").choose_many, dice, starts(_GAMES_AT_ONCE))
    return np.concatenate([ply.boards for ply in islice(games, 1, 31)])
