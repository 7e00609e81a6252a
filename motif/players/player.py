"""Players, which choose plays, and loading them by name."""

from abc import ABC, abstractmethod
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import gnubg_id
from motif.board.moves import Play, RollLike, as_roll, legal_plays, play_batches
from motif.board.packed import Board
from motif.board.position import Position, PositionLike
from motif.evaluators import Evaluator, Probabilities, StaticEvaluator
from motif.evaluators.cube_model import CubeModel
from motif.evaluators.kernels import choose_boards
from motif.evaluators.known_players import (
    Kind,
    description_of,
    entry_of,
    load_evaluator,
    load_weighted,
    own_name,
)
from motif.evaluators.model import Model, random_model
from motif.evaluators.own import EvaluatorLike, as_evaluator, failures_of, own_evaluator, own_object
from motif.evaluators.static import no_weights, prepared
from motif.evaluators.weight_file import WeightFile
from motif.runtime.arrays import ArrayLike, Float32Array, IntArray
from motif.runtime.errors import PlayerError, PlayError
from motif.runtime.settings import check_seed
from motif.runtime.streams import derive_states

_PLAYS_AT_ONCE = 4096


class Player(ABC):
    """Base class of players, which choose plays; most players can also evaluate.

    The plays of your own subclass are checked, and its `name` is by default that of the class.
    """

    name: str
    evaluator: Evaluator | None = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__
        own = vars(cls).get("choose_many")
        if own is not None and cls.__module__.partition(".")[0] != "motif":

            @wraps(own)
            def choose_many(
                self: Player, boards: Board, rolls: IntArray, states: npt.NDArray[np.uint64]
            ) -> Board:
                with failures_of(f"{self.name}: choose_many"):
                    chosen = np.asarray(own(self, boards.copy(), rolls, states))
                return _legal(self.name, boards, rolls, chosen)

            cls.choose_many = choose_many  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<player {self.name}{description_of(self.name)}>"

    @abstractmethod
    def choose_many(self, boards: Board, rolls: IntArray, states: npt.NDArray[np.uint64]) -> Board:
        """Return the boards int8 (n, 26) after the chosen plays, from the next player's perspective.

        `boards` (n, 26) are those of the players on roll before the plays, in the layout of `Position.board`;
        `rolls` is (n, 2) with the higher die first; `states` uint64 (n,) seed random choices.  Your own
        method may return the boards of any legal plays; for others, the caller gets a `PlayError`.
        """

    def choose(self, position: PositionLike, roll: RollLike, seed: int = 0) -> Play:
        """Return the play chosen for one roll.

        A position may be given by its ID, a roll as ``(3, 1)`` or ``"31"``; `seed` determines random choices.
        Raises `PlayError` for an invalid roll, `SettingError` for an invalid seed.
        """
        check_seed(seed)
        position, roll = Position.of(position), as_roll(roll)
        board = self.choose_many(position.board[None], np.array([roll]), derive_states(seed, 0, 1, 0))[0]
        return next(play for play in legal_plays(position, roll) if (play.position.board == board).all())

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> "Player":
        """Return a player that chooses plays by the cubeful equity of `side` in `cube_model`.

        Returns the player itself if score and cube do not change its plays.
        """
        return self

    def evaluate_many(self, positions: ArrayLike) -> Float32Array:
        """Return the probabilities (n, 5) of positions (n, 26); raises `PlayerError` without an evaluator."""
        return self.require_evaluator().evaluate_many(positions)

    def evaluate(self, position: PositionLike) -> Probabilities:
        """Return the probabilities of one position; raises `PlayerError` without an evaluator."""
        return self.require_evaluator().evaluate(position)

    def require_evaluator(self) -> Evaluator:
        """Return the evaluator; raises `PlayerError` for a player that only chooses plays."""
        if self.evaluator is None:
            raise PlayerError(f"the player {self.name!r} chooses plays but cannot evaluate positions")
        return self.evaluator


def _legal(name: str, boards: Board, rolls: IntArray, after: npt.NDArray[Any]) -> Board:
    """Return the boards `after` plays of your own player; raises `PlayError` for an illegal play."""
    if after.shape != boards.shape or after.dtype.kind not in "iuf":
        raise PlayError(f"{name}: choose_many must return boards of shape {boards.shape}, not {after.shape}")
    for batch in play_batches(boards, rolls):
        decision, first = batch.decision, batch.decisions.start
        same = (batch.boards == after[first + decision]).all(axis=1)
        wrong = np.bincount(decision[same], minlength=len(batch.offsets) - 1) == 0
        if wrong.any():
            row = first + int(np.argmax(wrong))
            place, (high, low) = gnubg_id(Position(boards[row])), rolls[row]
            raise PlayError(f"{name}: illegal play of {high}{low} in the position {place}")
    return after.astype(np.int8)


class CompiledPlayer(Player):
    """A player that uses a compiled model, without lookahead."""

    _choose_boards = staticmethod(choose_boards)
    """The kernel that chooses plays."""

    def __init__(self, name: str, model: Model, evaluator: StaticEvaluator | None = None) -> None:
        self.name = name
        self.model = model
        self.evaluator = evaluator

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> Player:
        """See `Player.with_cube`.  Models without gammon probabilities ignore the cube."""
        if self.evaluator is None or self.model.win_only or cube_model.is_cubeless:
            return self
        return EvaluatorPlayer(self.evaluator.with_cube(cube_model, side))

    def choose_many(self, boards: Board, rolls: IntArray, states: npt.NDArray[np.uint64]) -> Board:
        """See `Player.choose_many`."""
        results = np.empty_like(boards)
        model, space = prepared(self.model)
        self._choose_boards(model, boards, rolls, states, space, results)
        return results


class EvaluatorPlayer(Player):
    """A player that chooses the best play by an evaluator."""

    evaluator: Evaluator

    def __init__(self, evaluator: Evaluator) -> None:
        self.name = evaluator.name
        self.evaluator = evaluator

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> Player:
        """See `Player.with_cube`."""
        return EvaluatorPlayer(self.evaluator.with_cube(cube_model, side))

    def choose_many(self, boards: Board, rolls: IntArray, states: npt.NDArray[np.uint64]) -> Board:
        """See `Player.choose_many`."""
        return self.evaluator.best_plays(boards, rolls, _PLAYS_AT_ONCE).boards


class PlayerFromFile(Player):
    """A player of a class of your own from a Python file, loaded by each worker process."""

    def __init__(self, name: str, own: Player) -> None:
        self.name = name
        self.own = own
        self.evaluator = own.evaluator

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (self.name,)

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> Player:
        """See `Player.with_cube`."""
        player = self.own.with_cube(cube_model, side)
        return self if player is self.own else player

    def choose_many(self, boards: Board, rolls: IntArray, states: npt.NDArray[np.uint64]) -> Board:
        """See `Player.choose_many`."""
        return self.own.choose_many(boards, rolls, states)


def random_player() -> CompiledPlayer:
    """Return the player that chooses any legal play with equal probability."""
    return CompiledPlayer("random", random_model())


def static_player(evaluator: StaticEvaluator, name: str | None = None) -> CompiledPlayer:
    """Return the player of a static evaluator."""
    return CompiledPlayer(name or evaluator.name, evaluator.model, evaluator)


def load(name: str) -> Player:
    """Return the player `name`: ``pubeval``, ``motif-v1@1``, ``FILE.yaml`` or another known name.

    ``rollout:PLAYER,trials=36,cut=7`` plays by rollouts (see `motif.rollouts.rollout_evaluator`).  Raises
    `PlayerError` for an unknown name, `WeightFileError` for an invalid weight file.
    """
    name = own_name(name)
    entry = entry_of(name)
    if entry is not None and entry.kind is Kind.OWN:
        own = own_object(name)
        if isinstance(own, Player):
            return PlayerFromFile(name, own)
        evaluator = own_evaluator(name, own)
    elif entry is None or entry.looks_ahead:
        evaluator = load_evaluator(name)
    elif not entry.home:
        raise PlayerError(f"the player {name!r} is available only in `motif play`")
    elif entry.kind is Kind.ROLLOUT:
        evaluator = entry.load(name)
    else:
        player: Player = entry.load(name)
        return player
    if isinstance(evaluator, StaticEvaluator):
        return static_player(evaluator, name)
    return EvaluatorPlayer(evaluator)


def cube_evaluator(player: Player) -> Evaluator | None:
    """Return the evaluator for a player's cube decisions; None if its probabilities are too inaccurate."""
    evaluator = player.evaluator
    return evaluator if evaluator is not None and evaluator.gives_chances else None


PlayerLike = Player | EvaluatorLike | WeightFile | Path | str
"""A player, a name, a weight file, weights, or an object with a method ``evaluate_many(boards)``."""


def load_player(player: PlayerLike) -> Player:
    """Return a player for a name, weights, an evaluator or a player.

    Parameters
    ----------
    player
        A name such as ``"latest@1"``, a weight file, weights, a `Fit`, an object with
        ``evaluate_many(boards)`` or a player.

    Returns
    -------
    Player
        The player; for an evaluator, a player that chooses the plays with the highest value.

    Raises
    ------
    PlayerError, WeightFileError
        For an unknown name or an object of another type.
    """
    if isinstance(player, Player):
        return player
    if isinstance(player, str | Path):
        return load(str(player))
    evaluator = as_evaluator(player)
    return static_player(evaluator) if isinstance(evaluator, StaticEvaluator) else EvaluatorPlayer(evaluator)


def evaluator_of(player: PlayerLike) -> Evaluator:
    """Return the evaluator of a player in any form; raises `PlayerError` if it has none."""
    return player if isinstance(player, Evaluator) else load_player(player).require_evaluator()


def weighted_evaluator(weights: PlayerLike) -> StaticEvaluator:
    """Return the static evaluator of weights in any form; raises `PlayerError` for other players."""
    if isinstance(weights, str | Path):
        return load_weighted(str(weights))
    evaluator = evaluator_of(weights)
    if not isinstance(evaluator, StaticEvaluator):
        raise no_weights(evaluator.name)
    return evaluator


def static_evaluator(player: PlayerLike, purpose: str) -> StaticEvaluator:
    """Return the static evaluator of a player; raises `PlayerError` for others, whom `purpose` cannot use."""
    evaluator = evaluator_of(player)
    if not isinstance(evaluator, StaticEvaluator):
        raise PlayerError(f"invalid player {evaluator.name!r}: {purpose} requires weights without lookahead")
    return evaluator
