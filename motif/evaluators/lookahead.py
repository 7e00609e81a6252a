"""Lookahead: the mean over every roll of what the best reply is worth.

Plies are gnubg's and Motif's: 0-ply is the static evaluation; 1-ply averages over the 21 rolls, with weights
1/36 and 2/36, the static value of the best reply; n-ply averages the (n - 1)-ply values of the replies.
As in gnubg, replies are those that are best without lookahead.

Not every play of a decision is worth the time.  Each ply sees those plays alone that the ply before left
within some equity of its best one, and no more than so many of them (gnubg's move filters).  The others
keep what they were last seen to be worth, or what the worst play is worth that was seen deeper, if that is
less.
"""

from threading import local
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.dice import ROLL_COUNTS, ROLLS
from motif.board.moves import PlayBatch
from motif.board.outcome import finished_points_many
from motif.board.packed import PACKED_SIZE, PACKED_WORDS, Board, pack_many
from motif.board.position import as_boards
from motif.evaluators.evaluator import BestPlays, Evaluator, first_best
from motif.evaluators.lookahead_kernels import look_ahead_many
from motif.evaluators.probabilities import OUTPUTS, turned, turned_equities
from motif.evaluators.static import StaticEvaluator, filtered, prepared
from motif.runtime.errors import PlayerError

MAX_PLIES = 3
_POSITIONS_AT_ONCE = 512
_ROLL_WEIGHTS = ROLL_COUNTS / 36


class MoveFilter(NamedTuple):
    """Which plays of a decision are seen one ply deeper."""

    plays: int
    """At most so many, the best by the ply before."""
    within: float
    """Only those whose equity is at most so much below that of the best."""


Filters = tuple[MoveFilter, ...]
"""For the first ply, for the second, ..."""
_EVERY = MoveFilter(1 << 30, np.inf)
FILTERS: dict[str, Filters] = {
    "narrow": (MoveFilter(4, 0.1), MoveFilter(2, 0.05), MoveFilter(2, 0.03)),
    "normal": (MoveFilter(8, 0.16), MoveFilter(3, 0.1), MoveFilter(2, 0.05)),
    "wide": (MoveFilter(12, 0.25), MoveFilter(6, 0.15), MoveFilter(4, 0.08)),
    "full": (_EVERY,) * MAX_PLIES,
}
"""By the name that follows the plies: ``motif-v6@2:wide``.  ``full`` also looks at every reply."""
DEFAULT_FILTERS = "normal"


class LookaheadSpace(NamedTuple):
    """Memory of one thread: what stands at each level of the tree."""

    words: npt.NDArray[np.int64]
    """Packed boards (levels, 8)."""
    boards: npt.NDArray[np.int8]
    """The same memory as bytes (levels, 64)."""
    number: npt.NDArray[np.int64]
    """(levels,): the roll that comes next."""
    equity: npt.NDArray[np.float64]
    """(levels,): summed up until now."""
    rows: npt.NDArray[np.float64]
    """(levels, 5): the probabilities, likewise."""


_thread = local()


def _thread_space() -> LookaheadSpace:
    space: LookaheadSpace | None = getattr(_thread, "space", None)
    if space is None:
        words = np.zeros((MAX_PLIES, PACKED_WORDS), np.int64)
        boards = words.view(np.int8).reshape(MAX_PLIES, PACKED_SIZE)
        rows = np.zeros((MAX_PLIES, len(OUTPUTS)))
        space = LookaheadSpace(words, boards, np.zeros(MAX_PLIES, np.int64), np.zeros(MAX_PLIES), rows)
        _thread.space = space
    return space


class LookaheadEvaluator(Evaluator):
    """Any evaluator, seen `plies` further."""

    def __init__(self, base: Evaluator, plies: int, filters: str = DEFAULT_FILTERS) -> None:
        """`filters` is one of `FILTERS`; raises `PlayerError` for another one, and for plies out of range."""
        if not 1 <= plies <= MAX_PLIES:
            raise PlayerError(f"{base.name}@{plies}: lookahead must be 1 to {MAX_PLIES} plies")
        if filters not in FILTERS:
            raise PlayerError(f"{base.name}@{plies}:{filters}: there are {', '.join(FILTERS)}")
        self.name = f"{base.name}@{plies}" + (f":{filters}" if filters != DEFAULT_FILTERS else "")
        self.plies = plies
        self.filters = FILTERS[filters]
        self._base = base
        self._replies = base
        if isinstance(base, StaticEvaluator) and filters != "full":
            self._replies = filtered(base)

    @property
    def without_lookahead(self) -> Evaluator:
        """See `Evaluator.without_lookahead`."""
        return self._base.without_lookahead

    def evaluate_many(self, positions: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """See `Evaluator.evaluate_many`."""
        return self._probabilities(as_boards(positions), self.plies).astype(np.float32)

    def equity_many(self, boards: Board) -> npt.NDArray[np.float64]:
        """See `Evaluator.equity_many`."""
        return self._equities(boards, self.plies)

    def play_equities(self, before: Board, plays: PlayBatch) -> npt.NDArray[np.float64]:
        """See `Evaluator.play_equities`."""
        return self._deepened(before, plays, alone_too=True)

    def best_plays(
        self, boards: Board, rolls: npt.NDArray[np.int64], plays_at_once: int = 1 << 14
    ) -> BestPlays:
        """See `Evaluator.best_plays`; a play that no other comes near is not seen deeper."""
        return super().best_plays(boards, rolls, plays_at_once)

    def _deepened(self, before: Board, plays: PlayBatch, alone_too: bool) -> npt.NDArray[np.float64]:
        """Values (m,) of plays, those that are worth it seen deeper and deeper."""
        values = self._base.play_equities(before, plays)
        worth = np.ones(len(values), np.bool_)
        for ply, filter_ in enumerate(self.filters[: self.plies], 1):
            worth &= _let_through(values, plays, worth, filter_)
            seen = worth if alone_too else worth & (_count(worth, plays)[plays.decision] > 1)
            deeper = turned_equities(self._equities(plays.boards[seen], ply))
            lowest = np.full(len(plays.offsets) - 1, np.inf)
            np.minimum.at(lowest, plays.decision[seen], deeper)
            values = np.minimum(values, lowest[plays.decision])
            values[seen] = deeper
        return values

    def _equities(self, boards: Board, plies: int) -> npt.NDArray[np.float64]:
        if isinstance(self._replies, StaticEvaluator):
            return _looked_ahead(self._replies, boards, plies, False)[0]
        if plies == 0:
            return self._base.equity_many(boards)
        values = np.empty(len(boards))
        for part in _slices(len(boards)):
            values[part] = self._mean_over_rolls(boards[part], plies, want_probabilities=False)
        return values

    def _probabilities(self, boards: Board, plies: int) -> npt.NDArray[np.float64]:
        if isinstance(self._replies, StaticEvaluator):
            return _looked_ahead(self._replies, boards, plies, True)[1]
        if plies == 0:
            return self._base.evaluate_many(boards).astype(np.float64)
        values = np.empty((len(boards), len(OUTPUTS)))
        for part in _slices(len(boards)):
            values[part] = self._mean_over_rolls(boards[part], plies, want_probabilities=True)
        return values

    def _mean_over_rolls(
        self, boards: Board, plies: int, want_probabilities: bool
    ) -> npt.NDArray[np.float64]:
        """Mean over the rolls of the best replies' probabilities (n, 5) or equities (n,)."""
        shape = (len(boards), len(OUTPUTS)) if want_probabilities else (len(boards),)
        values = np.zeros(shape)
        finished = finished_points_many(pack_many(boards).view(np.int64)) != 0
        if finished.any():
            ended, base = boards[finished], self._base
            values[finished] = base.evaluate_many(ended) if want_probabilities else base.equity_many(ended)
        going = np.flatnonzero(~finished)
        if not len(going):
            return values
        every_roll = np.tile(ROLLS, (len(going), 1))
        best = self._base.best_plays(np.repeat(boards[going], len(ROLLS), axis=0), every_roll)
        if want_probabilities:
            replies = turned(self._probabilities(best.boards, plies - 1)).reshape(len(going), len(ROLLS), -1)
            values[going] = (replies * _ROLL_WEIGHTS[:, None]).sum(axis=1)
        else:
            below = best.equities
            if plies > 1:
                below = turned_equities(self._equities(best.boards, plies - 1))
            values[going] = (below.reshape(len(going), len(ROLLS)) * _ROLL_WEIGHTS).sum(axis=1)
        return values


def _looked_ahead(
    evaluator: StaticEvaluator, boards: Board, plies: int, want_probabilities: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Equities (n,) and, where they are wanted, probabilities (n, 5), by kernels."""
    packed, equities = pack_many(boards), np.empty(len(boards))
    rows = np.empty((len(boards) if want_probabilities else 0, len(OUTPUTS)))
    model, space = prepared(evaluator.model)
    look_ahead_many(model, packed, plies, space, _thread_space(), equities, rows)
    return equities, rows


def _count(worth: npt.NDArray[np.bool_], plays: PlayBatch) -> npt.NDArray[np.int64]:
    """How many plays of each decision (n,) are worth it."""
    return np.add.reduceat(worth.astype(np.int64), plays.offsets[:-1])


def _let_through(
    values: npt.NDArray[np.float64], plays: PlayBatch, among: npt.NDArray[np.bool_], filter_: MoveFilter
) -> npt.NDArray[np.bool_]:
    """Which plays (m,) a filter lets through, of those `among` which it chooses."""
    candidates = np.where(among, values, -np.inf)
    best = np.maximum.reduceat(candidates, plays.offsets[:-1])[plays.decision]
    ranked = np.lexsort((-candidates, plays.decision))
    rank = np.empty(len(values), np.int64)
    rank[ranked] = np.arange(len(values)) - plays.offsets[plays.decision]
    return among & (rank < filter_.plays) & (candidates >= best - filter_.within)


def _slices(count: int) -> list[slice]:
    return [slice(k, k + _POSITIONS_AT_ONCE) for k in range(0, count, _POSITIONS_AT_ONCE)]
