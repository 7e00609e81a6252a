"""The base class of all evaluators, which estimate the probabilities of positions."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import ROLLS
from motif.board.moves import PlayBatch, play_batches
from motif.board.packed import Board, pack_many
from motif.board.position import Position, PositionLike, as_boards
from motif.evaluators.cube_model import NO_CUBE, CubeModel, best_of_double, cube_pairs
from motif.evaluators.probabilities import EQUITY_BOUND, Probabilities, equities, switched_equities
from motif.runtime.arrays import ArrayLike, BoolArray, Float32Array, FloatArray, IntArray
from motif.runtime.errors import PlayerError

_PLAYS_AT_ONCE = 1 << 20
_TIED = 1e-9
"""Maximum difference of the values of equally good plays."""


class BestPlays(NamedTuple):
    """The best play of each of n decisions."""

    boards: Board
    """(n, 26): boards after the plays, from the perspective of the next player on roll."""
    equities: FloatArray
    """(n,): equities of the movers."""


ROLLOUT_SOURCE = 10
"""Entry of `PlayEstimates.sources` for a value that comes from a rollout, wholly or in part."""


class PlayEstimates(NamedTuple):
    """Equities of plays for their movers, and the source of each."""

    values: FloatArray
    """(m,): equities."""
    sources: IntArray
    """(m,): plies of lookahead for each play, or `ROLLOUT_SOURCE`."""


def first_best(values: FloatArray, starts: npt.NDArray[np.integer]) -> IntArray:
    """Return the rows (n,) of the highest `values` (m,) by decision; decisions begin at `starts` (n,).

    Of equal values the first is used, in the order of the legal plays; all ties are broken in this way.
    """
    if not len(starts):
        return np.empty(0, np.int64)
    peaks = np.repeat(np.maximum.reduceat(values, starts), np.diff(starts, append=len(values)))
    # Not ==, which finds no row of a decision with a NaN.
    highest = np.flatnonzero(~(values < peaks))
    return highest[np.searchsorted(highest, starts)]


def best_few(values: FloatArray, plays: PlayBatch, count: int) -> BoolArray:
    """Return which of `plays` (m,) are among the `count` best of their decisions by `values` (m,)."""
    return ranks(plays.decision, -values) < count


def ranks(decision: IntArray, *keys: npt.NDArray[np.generic]) -> IntArray:
    """Return the rank (n,) of each row in its decision, from 0, by ascending `keys` (n,) in turn."""
    order = np.lexsort((*reversed(keys), decision))
    ordered = decision[order]
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return found


def without_ties(values: FloatArray, before: Board, plays: PlayBatch, evaluator: "Evaluator") -> FloatArray:
    """Return cubeful `values` (m,) of plays, with ties for the best broken by cubeless equities.

    If the opponent cashes after every play, all plays have the same equity, but some are better in case the
    opponent makes an error. `evaluator` computes the cubeless equities.
    """
    starts = plays.offsets[:-1]
    tied = values >= np.maximum.reduceat(values, starts)[plays.decision] - _TIED
    tied &= np.bincount(plays.decision[tied], minlength=len(starts))[plays.decision] > 1
    if not tied.any():
        return values
    some, decisions = plays.filter(tied)
    values = values.copy()
    # Values are only lowered, because none may exceed what the cube allows.
    values[tied] += _TIED * (evaluator.play_equities(before[decisions], some) - EQUITY_BOUND)
    return values


def with_closer_look(values: FloatArray, plays: PlayBatch, seen: BoolArray, closer: FloatArray) -> FloatArray:
    """Return `values` (m,) of plays, with those of the plays `seen` (m,) replaced by `closer` (k,).

    Other plays keep their values, but at most the lowest closer value of their decision.
    """
    lowest = np.full(len(plays.offsets) - 1, np.inf)
    np.minimum.at(lowest, plays.decision[seen], closer)
    values = np.minimum(values, lowest[plays.decision])
    values[seen] = closer
    return values


class Evaluator(ABC):
    """Base class of evaluators, which value positions for the player on roll, before the roll.

    Your own evaluator need not be a subclass: any object with a method ``evaluate_many(boards)`` is accepted
    wherever a player is. The method receives int8 boards (n, 26): entry p, 1 to 24, is positive for checkers
    of the player on roll on point p and negative for the opponent's, entry 25 is the bar of the player on
    roll and entry 0, negative, the opponent's. It returns the five probabilities (n, 5) of `Probabilities`,
    or cubeless equities (n,). The rules determine the values of finished games. `motif.load_evaluator` wraps
    such an object in an `Evaluator`, and `motif.from_sklearn` wraps a fitted model; on the command line, use
    ``--player FILE.py``.

    >>> class PipLead:
    ...     def evaluate_many(self, boards):
    ...         opponents = -boards.clip(max=0).sum(axis=1)
    ...         lead = 25 * opponents - np.abs(boards) @ np.arange(26)
    ...         return np.tanh(lead / 60)
    """

    name: str
    """Name of the player, by which it can be loaded."""

    def __repr__(self) -> str:
        return f"<evaluator {self.name}>"

    @property
    def fingerprint(self) -> str:
        """Hash of everything that the values depend on; empty if it is unknown."""
        return ""

    @property
    def without_lookahead(self) -> "Evaluator":
        """The static evaluator behind the lookahead; the evaluator itself if there is no lookahead."""
        return self

    @property
    def gives_chances(self) -> bool:
        """Whether the probabilities are accurate enough for cube decisions, not only to rank plays."""
        static = self.without_lookahead
        return static is self or static.gives_chances

    @abstractmethod
    def evaluate_many(self, positions: ArrayLike) -> Float32Array:
        """Return the five cumulative probabilities float32 (n, 5) of `positions` int8 (n, 26).

        Raises `PositionError`, which names the first invalid row.
        """

    def evaluate(self, position: PositionLike) -> Probabilities:
        """Return the five probabilities of one position."""
        return Probabilities(*map(float, self.evaluate_many(Position.of(position).board[None])[0]))

    def equity_many(self, boards: Board) -> FloatArray:
        """Return the equities float64 (n,) that rank positions: those of the equity head if there is one."""
        return equities(self.evaluate_many(boards).astype(np.float64))

    def play_equities(self, before: Board, plays: PlayBatch) -> FloatArray:
        """Return the equities (m,) of `plays` for their movers, from the boards `before` (n, 26).

        Plays are ranked by these equities everywhere.
        """
        return switched_equities(self.equity_many(plays.boards))

    def play_estimates(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel = NO_CUBE
    ) -> PlayEstimates:
        """Return the cubeful `play_equities` of side 0, who moves, and their sources."""
        values = self.with_cube(cube_model).play_equities(before, plays)
        return PlayEstimates(values, self.sources_of(plays.boards))

    def sources_of(self, boards: Board) -> IntArray:
        """Return the sources (n,) of the values of `boards` (n, 26), as in `PlayEstimates.sources`."""
        return np.zeros(len(boards), np.int64)

    def is_exact(self, boards: Board) -> BoolArray:
        """Return which of `boards` (n, 26) have exact probabilities, such as finished games; here, none."""
        return np.zeros(len(boards), np.bool_)

    def choosing_equities(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel = NO_CUBE, side: int = 0
    ) -> FloatArray:
        """Return the equities by which plays are chosen: the cubeful `play_equities` of `side`, who moves.

        An evaluator may skip work that cannot change the best play.
        """
        return self.with_cube(cube_model, side).play_equities(before, plays)

    def best_plays(self, boards: Board, rolls: IntArray, plays_at_once: int = _PLAYS_AT_ONCE) -> BestPlays:
        """Return the best plays of `rolls` (n, 2; higher die first) on `boards` (n, 26): see `first_best`."""
        after, equities = np.empty_like(boards), np.empty(len(boards))
        for batch in play_batches(boards, rolls, plays_at_once):
            values = self.choosing_equities(boards[batch.decisions], batch)
            best = first_best(values, batch.offsets[:-1])
            after[batch.decisions], equities[batch.decisions] = batch.boards[best], values[best]
        return BestPlays(after, equities)

    def roll_equities(self, boards: Board) -> FloatArray:
        """Return the equities (n, 21) of the best play of every roll on `boards` (n, 26) for the mover."""
        every = np.tile(ROLLS, (len(boards), 1))
        best = self.best_plays(np.repeat(boards, len(ROLLS), axis=0), every)
        return best.equities.reshape(len(boards), len(ROLLS))

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> "Evaluator":
        """Return an evaluator whose equities are cubeful, by `cube_model`.

        `side` is on roll in the positions that it evaluates, and may double first.  For cubeless money play
        this is the evaluator itself.
        """
        return self if cube_model.is_cubeless else CubefulEvaluator(self, cube_model, side)

    def cubeful_probabilities(self, boards: Board, cube_model: CubeModel, side: int) -> Float32Array:
        """Return the five probabilities (n, 5) of `boards` (n, 26) under cubeful play."""
        return self.evaluate_many(boards)

    def cube_equities(self, boards: Board, cube_model: CubeModel, side: int) -> FloatArray:
        """Return the cubeful equities (n, 2) of `boards` (n, 26) for `side`, on roll.

        Column 0 is the equity without a double before this roll, column 1 after double and take; both are
        the same if `side` may not double.
        """
        rows = self.evaluate_many(boards).astype(np.float64)
        return np.asarray(cube_pairs(cube_model, side, pack_many(boards), rows))

    def cubeful_equities(self, boards: Board, cube_model: CubeModel, side: int) -> FloatArray:
        """Return the cubeful equities (n,) of `boards` (n, 26) for `side`, on roll, who may double first."""
        return best_of_double(cube_model, side, self.cube_equities(boards, cube_model, side))

    def cubeful_play_equities(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel, side: int
    ) -> FloatArray:
        """Return the cubeful `play_equities` of `side`, who moves."""
        return switched_equities(self.cubeful_equities(plays.boards, cube_model, 1 - side))

    def details(self, position: Position) -> dict[str, object]:
        """Return details of the evaluation of a position: ``features`` (name -> value), raw sums and scores.

        Raises `PlayerError` if the evaluator has no details.
        """
        raise PlayerError(f"the player {self.name!r} has no details to show")


class CubefulEvaluator(Evaluator):
    """An evaluator with cubeful equities: see `Evaluator.with_cube`."""

    def __init__(self, base: Evaluator, cube_model: CubeModel, side: int) -> None:
        self.name = base.name
        self.cube_model = cube_model
        self._base = base
        self._side = side

    @property
    def without_lookahead(self) -> Evaluator:
        """See `Evaluator.without_lookahead`."""
        static = self._base.without_lookahead
        return self if static is self._base else static.with_cube(self.cube_model, self._side)

    @property
    def gives_chances(self) -> bool:
        """See `Evaluator.gives_chances`."""
        return self._base.gives_chances

    def with_cube(self, cube_model: CubeModel, side: int = 0) -> Evaluator:
        """See `Evaluator.with_cube`."""
        return self._base.with_cube(cube_model, side)

    def evaluate_many(self, positions: ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`; the probabilities are those of cubeful play."""
        return self._base.cubeful_probabilities(as_boards(positions), self.cube_model, self._side)

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`; equities are normalised to the root of the cube model."""
        return self._base.cubeful_equities(boards, self.cube_model, self._side)

    def play_equities(self, before: Board, plays: PlayBatch) -> FloatArray:
        """See `Evaluator.play_equities`."""
        return self._base.cubeful_play_equities(before, plays, self.cube_model, self._side)

    def choosing_equities(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel = NO_CUBE, side: int = 0
    ) -> FloatArray:
        """See `Evaluator.choosing_equities`; the evaluator's own cube model is used."""
        values = self._base.choosing_equities(before, plays, self.cube_model, self._side)
        return without_ties(values, before, plays, self._base.without_lookahead)

    def details(self, position: Position) -> dict[str, object]:
        """See `Evaluator.details`."""
        return self._base.details(position)
