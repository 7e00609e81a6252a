"""Lookahead: the mean over all rolls of the value of the best reply.

Plies are counted as in gnubg: 0-ply is the static evaluation; 1-ply averages the static values of the best
replies over the 21 rolls, with weights 1/36 and 2/36; n-ply averages the (n - 1)-ply values of the replies.
As in gnubg, replies are the plays that are best without lookahead.

To save time, each ply evaluates only the best plays of the previous ply: those within some equity of the best
one, up to a maximum number (gnubg's move filters). The other plays keep their last value, or the lowest value
of the plays that were evaluated deeper if that is lower.

Static evaluators are weak in late endings, such as an ace-point game against the last checkers, or a race
with gammon or backgammon chances. Such games are short, so they can be valued by playing them to the end
(`LookaheadEvaluator.with_rollouts`).

The plays that remain can be rolled out, too (`Depth.rollout`): lookahead and the mean of short games have
different errors, so a mixture is better than either.

The best of several estimates tends to be too high. At odd plies the opponent chooses last, at even plies the
player, so the errors of successive plies have opposite signs, and a mixture of the two is better than either.
"""

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import ROLL_SHARES, ROLLS
from motif.board.moves import PlayBatch, play_batches
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many
from motif.board.position import Position, as_boards
from motif.compiler.jit import compile_ahead
from motif.evaluators.bearoff import bearoff_tables, covered_boards
from motif.evaluators.cube_model import NO_CUBE, NO_STATE, CubeModel, best_of_double, cube_pairs
from motif.evaluators.evaluator import (
    ROLLOUT_SOURCE,
    BestPlays,
    Evaluator,
    PlayEstimates,
    best_few,
    first_best,
    with_closer_look,
    without_ties,
)
from motif.evaluators.kernels import score_boards, trace_value
from motif.evaluators.lookahead_kernels import (
    A_SEVENTH,
    A_THIRD,
    CLEARLY,
    EVERY_ROLL,
    choose_replies,
    look_ahead,
    look_ahead_many,
    look_ahead_with_cube,
    look_ahead_with_cube_many,
)
from motif.evaluators.lookahead_memory import MAX_PLIES, Tree, thread_tree
from motif.evaluators.model import Model, Workspace
from motif.evaluators.probabilities import OUTPUTS, switch_sides, switched_equities
from motif.evaluators.static import StaticEvaluator, filtered, prepared, simple
from motif.parameters.position_class import LATE_CONTACT, RACE, classify_many
from motif.runtime.arrays import BoolArray, Float32Array, FloatArray, IntArray, slices
from motif.runtime.errors import PlayerError, plain_text
from motif.runtime.progress import end_if_cancelled

_POSITIONS_AT_ONCE = 512
_BETWEEN_CHECKPOINTS = 16
"""Number of positions per call of a kernel, between checks for cancellation: some tenths of a second at
most.
"""
_UNSEEN = -1
"""Number of plies of a value before any is known."""


class MoveFilter(NamedTuple):
    """Limits of the plays of a decision that are evaluated one ply deeper."""

    plays: int
    """Maximum number of plays: the best ones at the previous ply."""
    within: float
    """Maximum equity below that of the best play."""


class Depth(NamedTuple):
    """Settings of lookahead."""

    filters: tuple[MoveFilter, ...]
    """Move filters of the first ply, the second ply, ..."""
    shares: tuple[float, ...]
    """Weight of the previous ply in the value of each ply."""
    replies: float
    """Number of replies that are evaluated, relative to the number of plays that the weight file's own move
    filter keeps; 0 for all replies.
    """
    endings: bool
    """Whether late endings are played to the end, from 2 plies on."""
    thin: int = 0
    """From this number of plies on, the last ply uses only a share of the rolls, in turn, so that each roll
    is used as often as it should be. With 0, and for evaluators that are not compiled, it uses all rolls.
    """
    rolls: int = A_THIRD
    """The share: a third or a seventh of the rolls."""
    returns: bool = False
    """Whether plays that a filter excluded are evaluated deeper after all, if the best plays turn out to be
    worse.
    """
    rollout: "ShortRollouts | None" = None
    """Rollout of the remaining plays; None for no rollout."""


class ShortRollouts(NamedTuple):
    """Short rollouts of the plays that remain after lookahead."""

    filter: MoveFilter
    """Limits of the plays that are rolled out."""
    trials: int
    """Trials per play."""
    cut: int
    """Plies of a trial, which ends with a static evaluation."""
    shares: tuple[float, ...]
    """Weight of the rollout in the value of a play after 1, 2, ... plies of lookahead."""


_EVERY = MoveFilter(1 << 30, np.inf)
# Odd and even plies have errors of opposite signs, so some of the previous ply is mixed in
# (docs/explanation/lab-notes.md).
_SHARES = (0.3, 0.0, 0.5)
# Labels are always made with the same settings, even if others are better for play.
_LABEL_SHARES = (0.3, 0.2, 0.5)
_LABEL_FILTERS = (MoveFilter(8, 0.16), MoveFilter(4, 0.1), MoveFilter(3, 0.06))
# `make frontier` shows the cost and the gain of wider filters.
_NORMAL = Depth(
    (MoveFilter(12, 0.25), MoveFilter(4, 0.08), MoveFilter(3, 0.06)),
    _SHARES,
    1.0,
    endings=True,
    thin=3,
    returns=True,
)
_ROLLED = ShortRollouts(MoveFilter(4, 0.04), trials=1296, cut=6, shares=(0.7, 0.5, 0.5))
DEPTHS: dict[str, Depth] = {
    "narrow": Depth(
        (MoveFilter(6, 0.12), MoveFilter(3, 0.08), MoveFilter(2, 0.05)),
        _SHARES,
        0.625,
        endings=False,
        thin=2,
        returns=True,
    ),
    "normal": _NORMAL,
    "wide": Depth(
        (MoveFilter(16, 0.3), MoveFilter(6, 0.16), MoveFilter(4, 0.1)),
        _SHARES,
        2.0,
        endings=True,
        returns=True,
    ),
    "thin": Depth(_LABEL_FILTERS, _LABEL_SHARES, 0.625, endings=False, thin=2),
    "sparse": Depth(_LABEL_FILTERS, _LABEL_SHARES, 0.625, endings=False, thin=2, rolls=A_SEVENTH),
    "rollout": _NORMAL._replace(thin=2, rollout=_ROLLED),
    "full": Depth((_EVERY,) * MAX_PLIES, (0.0,) * MAX_PLIES, 0, False),
}
"""By the name that follows the plies: ``latest@2:wide``.  ``full`` evaluates every play and every reply, and
mixes in nothing of the previous ply; ``thin`` and ``sparse`` label samples.
"""
DEFAULT_DEPTH = "normal"
ENDING_PLIES = 2
"""Minimum plies of lookahead at which late endings are played to the end."""
_LATE_RACE = 6
"""Maximum number of checkers that one side has left in a late ending that is a race."""
_TO_THE_END = MoveFilter(6, 0.5)
"""Limits of the plays that are played to the end."""


class View(NamedTuple):
    """The cube model for which a position is valued, and its side on roll."""

    cube_model: CubeModel
    side: int
    present: int | None = None
    """The cube state whose replies the other states follow (see `CLEARLY`), if not the state of
    `cube_model`.
    """

    def switch_sides(self) -> "View":
        """Return the view after a play."""
        return self._replace(side=1 - self.side)

    def doubled(self) -> "View | None":
        """Return the view after a double by `side` and a take; None if `side` may not double."""
        state = int(self.cube_model.doubled[self.cube_model.state, self.side])
        return None if state == NO_STATE else self._in_state(state)

    def limited(self, pairs: FloatArray) -> FloatArray:
        """Return `Evaluator.cube_equities` (n, 2), limited to what results can give before another double."""
        results, state, side = self.cube_model.equities, self.cube_model.state, self.side
        doubled = int(self.cube_model.doubled[state, side])
        limits = [results[state, side, 0], results[state if doubled == NO_STATE else doubled, side, 0]]
        return np.clip(pairs, np.min(limits, axis=1), np.max(limits, axis=1))

    def at_present(self) -> "View":
        """Return the view with the cube in the state whose replies the others follow."""
        return self if self.present is None else self._in_state(self.present)

    def _in_state(self, state: int) -> "View":
        present = self.cube_model.state if self.present is None else self.present
        return self._replace(cube_model=self.cube_model._replace(state=state), present=present)

    def best_of(self, pairs: FloatArray) -> FloatArray:
        """Return the values (n,) of positions where `side` may double, from cube equities (n, 2)."""
        return best_of_double(self.cube_model, self.side, pairs)


_MONEY = View(NO_CUBE, 0)


class LookaheadEvaluator(Evaluator):
    """An evaluator with lookahead."""

    def __init__(self, base: Evaluator, plies: int, depth: str = DEFAULT_DEPTH) -> None:
        """Create the evaluator; raises `PlayerError` for an unknown `depth` or invalid `plies`."""
        self.name = f"{base.name}@{plies}" + (f":{depth}" if depth != DEFAULT_DEPTH else "")
        if not 1 <= plies <= MAX_PLIES:
            raise PlayerError(f"{self.name}: lookahead must be 1 to {MAX_PLIES} plies")
        if depth not in DEPTHS:
            raise PlayerError(
                f"{plain_text(self.name)}: the depth after the plies must be one of {', '.join(DEPTHS)}"
            )
        if DEPTHS[depth].rollout and not isinstance(base, StaticEvaluator):
            raise PlayerError(f"{self.name}: only a static evaluator can be rolled out, not a net")
        self.plies = plies
        self.depth = DEPTHS[depth]
        self._depth_name = depth
        self._base = base
        self._endings: Callable[[], Evaluator] | None = None
        self._rollouts: Callable[[ShortRollouts], Evaluator] | None = None
        self._replies = base
        if isinstance(base, StaticEvaluator) and self.depth.replies:
            self._replies = filtered(base, share=self.depth.replies)

    @property
    def fingerprint(self) -> str:
        """See `Evaluator.fingerprint`."""
        base = self._base.fingerprint
        return base and f"{base}@{self.plies}:{self._depth_name}"

    @property
    def without_lookahead(self) -> Evaluator:
        """See `Evaluator.without_lookahead`."""
        return self._base.without_lookahead

    @property
    def takes_endings(self) -> bool:
        """Whether late endings should be played to the end."""
        return self.depth.endings and self.plies >= ENDING_PLIES

    def with_rollouts(
        self, rollout: Callable[[ShortRollouts], Evaluator], endings: Callable[[], Evaluator] | None
    ) -> "LookaheadEvaluator":
        """Return a copy with short rollouts by the evaluator that `rollout` makes, if its depth has any.

        It values late endings by the evaluator that `endings` makes, without lookahead, if its depth takes
        them.  In a late ending one side has few checkers left, and the bearoff tables do not cover the
        position.
        """
        further = copy(self)
        further._rollouts = rollout
        further._endings = endings if self.takes_endings else None
        return further

    @property
    def _rolled(self) -> tuple[ShortRollouts, Evaluator] | None:
        """The settings and the evaluator of short rollouts; None without rollouts."""
        rolled = self.depth.rollout
        return None if rolled is None or self._rollouts is None else (rolled, self._rollouts(rolled))

    def plays_out(self, boards: Board) -> BoolArray:
        """Return which of `boards` (n, 26) are late endings that are played to the end, bool (n,)."""
        if self._endings is None:
            return np.zeros(len(boards), np.bool_)
        few = np.minimum(np.maximum(boards, 0).sum(axis=1), np.maximum(-boards, 0).sum(axis=1))
        late = (few > 0) & (few <= max(_LATE_RACE, LATE_CONTACT))
        if late.any():
            some = np.ascontiguousarray(boards[late])
            most = np.where(classify_many(pack_many(some)) == RACE, _LATE_RACE, LATE_CONTACT)
            late[late] = (few[late] <= most) & ~covered_boards(bearoff_tables(), some)
        return late

    @property
    def below(self) -> Evaluator:
        """The same lookahead with one ply less, without rollouts and late endings played to the end."""
        if self.plies == 1:
            return self._base
        depth = DEFAULT_DEPTH if self.depth.rollout else self._depth_name
        return LookaheadEvaluator(self._base, self.plies - 1, depth)

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        return self._mixed(as_boards(positions), _MONEY, rows=True).astype(np.float32)

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`."""
        return self._mixed(boards, _MONEY, rows=False)

    def cubeful_probabilities(self, boards: Board, cube_model: CubeModel, side: int) -> Float32Array:
        """See `Evaluator.cubeful_probabilities`."""
        return self._mixed(boards, View(cube_model, side), rows=True).astype(np.float32)

    def cube_equities(self, boards: Board, cube_model: CubeModel, side: int) -> FloatArray:
        """See `Evaluator.cube_equities`: both sides double at every node of the lookahead."""
        return self._mixed(boards, View(cube_model, side), rows=False)

    def play_equities(self, before: Board, plays: PlayBatch) -> FloatArray:
        """See `Evaluator.play_equities`."""
        return self._full_estimates(before, plays, _MONEY).values

    def play_estimates(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel = NO_CUBE
    ) -> PlayEstimates:
        """See `Evaluator.play_estimates`."""
        return self._full_estimates(before, plays, View(cube_model, 0))

    def sources_of(self, boards: Board) -> IntArray:
        """See `Evaluator.sources_of`; all boards are evaluated to the full depth."""
        sources = np.full(len(boards), self.plies)
        sources[self.plays_out(boards)] = ROLLOUT_SOURCE
        if self._rolled is not None:
            sources[classify_many(pack_many(boards)) != RACE] = ROLLOUT_SOURCE
        return sources

    def choosing_equities(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel = NO_CUBE, side: int = 0
    ) -> FloatArray:
        """See `Evaluator.choosing_equities`; a play without rivals is not evaluated deeper.

        Late endings are not played to the end either, because that would take too long in a game.
        """
        return self._deepened(before, plays, View(cube_model, side), alone_too=False).values

    def cubeful_play_equities(
        self, before: Board, plays: PlayBatch, cube_model: CubeModel, side: int
    ) -> FloatArray:
        """See `Evaluator.cubeful_play_equities`."""
        return self._full_estimates(before, plays, View(cube_model, side)).values

    def _deepened(self, before: Board, plays: PlayBatch, view: View, alone_too: bool) -> PlayEstimates:
        """Return the equities of plays for the side of `view`; better plays are evaluated deeper."""
        values = self._base.with_cube(view.cube_model, view.side).play_equities(before, plays)
        opponent = view.switch_sides()
        if not view.cube_model.is_cubeless:
            values = without_ties(values, before, plays, self._base)
        latest, count = values.copy(), len(values)
        # The opponent's values after the plays, by the last ply only and mixed; and the number of that ply.
        unmixed = np.empty(self._shape(count, view, rows=False))
        plies_of = np.full(count, _UNSEEN)
        if view.cube_model.is_cubeless:
            unmixed, plies_of = switched_equities(values), np.zeros(count, np.int64)
        mixtures = unmixed.copy()
        passed = np.ones(count, np.bool_)

        def at(ply: int, rows: BoolArray) -> FloatArray:
            skipped = rows & (plies_of < ply - 1) & (self.depth.shares[ply - 1] > 0)
            if skipped.any():
                unmixed[skipped] = self._seen(plays.boards[skipped], ply - 1, opponent, rows=False)
            deeper = self._seen(plays.boards[rows], ply, opponent, rows=False)
            mixtures[rows] = self._mixture(plays.boards[rows], ply, deeper, unmixed[rows])
            unmixed[rows], plies_of[rows] = deeper, ply
            return switched_equities(_value(opponent, mixtures[rows]))

        for ply in range(1, self.plies + 1):
            limits = self.depth.filters[ply - 1]
            passed = _let_through(values, plays, passed, limits)
            seen = passed if alone_too else passed & (_count(passed, plays)[plays.decision] > 1)
            values, seen = self._closer(values, latest, plays, seen, limits, partial(at, ply))
            passed |= seen
        sources = np.maximum(plies_of, 0)
        rolling = self._rolled
        if rolling is None:
            return PlayEstimates(values, sources)
        how, player = rolling

        def rolled_out(rows: BoolArray) -> FloatArray:
            shallow = rows & (plies_of < self.plies)
            if shallow.any():
                latest[shallow] = at(self.plies, shallow)
            share = how.shares[self.plies - 1]
            mixed = self._shifted(plays.boards[rows], mixtures[rows], opponent, player, share)
            return switched_equities(_value(opponent, mixed))

        rolled = _let_through(values, plays, passed, how.filter)
        contact = classify_many(pack_many(plays.boards)) != RACE
        rolled &= contact
        if not alone_too:
            rolled &= (_count(rolled, plays) > 1)[plays.decision]
        values, rolled = self._closer(values, latest, plays, rolled, how.filter, rolled_out, contact)
        return PlayEstimates(values, np.where(rolled, ROLLOUT_SOURCE, sources))

    def _closer(
        self,
        values: FloatArray,
        latest: FloatArray,
        plays: PlayBatch,
        seen: BoolArray,
        limits: MoveFilter,
        look: Callable[[BoolArray], FloatArray],
        among: BoolArray | np.bool_ = np.True_,
    ) -> tuple[FloatArray, BoolArray]:
        """Evaluate the plays `seen` (m,) by `look`; return all values (m,), and which plays were evaluated.

        The best plays may turn out worse than the values of plays that a filter excluded: if the depth
        `returns`, these plays are evaluated as well, provided that they are `among` (m,) the eligible ones.
        `latest` (m,) has the last value of each play, and is updated.
        """
        several = (_count(seen, plays) > 1)[plays.decision]
        seen, more = seen.copy(), seen
        while more.any():
            latest[more] = look(more)
            seen |= more
            if not self.depth.returns:
                break
            known = np.where(seen, latest, -np.inf)
            best = np.maximum.reduceat(known, plays.offsets[:-1])[plays.decision]
            behind = among & several & ~seen & (latest > best)
            more = behind & best_few(np.where(behind, latest, -np.inf), plays, limits.plays)
        return with_closer_look(values, plays, seen, latest[seen]), seen

    def _full_estimates(self, before: Board, plays: PlayBatch, view: View) -> PlayEstimates:
        """Return the equities of plays for the side of `view`; late endings are played to the end."""
        estimates = self._deepened(before, plays, view, alone_too=True)
        late = self.plays_out(plays.boards)
        if self._endings is None or not late.any():
            return estimates
        values = estimates.values
        concerned = np.logical_or.reduceat(late, plays.offsets[:-1])[plays.decision]
        seen = _let_through(values, plays, concerned, _TO_THE_END)
        closer = values.copy()
        late &= seen
        opponent = view.switch_sides()
        ends = self._played_out(plays.boards[late], opponent, self._endings())
        closer[late] = switched_equities(_value(opponent, ends))
        sources = np.where(late, ROLLOUT_SOURCE, estimates.sources)
        return PlayEstimates(with_closer_look(values, plays, seen, closer[seen]), sources)

    def _shape(self, count: int, view: View, rows: bool) -> tuple[int, ...]:
        """Return the shape of the values: probabilities, `Evaluator.cube_equities` or equities."""
        return (count, len(OUTPUTS)) if rows else (count,) if view.cube_model.is_cubeless else (count, 2)

    def _mixed(self, boards: Board, view: View, rows: bool) -> FloatArray:
        """Return the values of boards (see `_shape`); late endings are played to the end."""
        late = self.plays_out(boards)
        values = np.empty(self._shape(len(boards), view, rows))
        if self._endings is not None and late.any():
            ends = self._endings()
            some = boards[late]
            values[late] = ends.evaluate_many(some) if rows else self._played_out(some, view, ends)
        if not late.all():
            values[~late] = self._with_rollout(boards[~late], view, rows)
        return values

    def _played_out(self, boards: Board, view: View, ends: Evaluator) -> FloatArray:
        """Return equities (n,), or `Evaluator.cube_equities` (n, 2), of late endings `boards`."""
        if view.cube_model.is_cubeless:
            return ends.equity_many(boards)
        return self._shifted(boards, self._with_share(boards, view, rows=False), view, ends, 1.0)

    def _with_rollout(self, boards: Board, view: View, rows: bool) -> FloatArray:
        """Return the values of boards (see `_shape`), mixed with a short rollout if the depth has one.

        Races are not rolled out, here and in `_deepened`, because lookahead is more accurate there.
        """
        values, rolling = self._with_share(boards, view, rows), self._rolled
        if rolling is None:
            return values
        how, player = rolling
        share = how.shares[self.plies - 1]
        mixed, contact = values.copy(), classify_many(pack_many(boards)) != RACE
        if contact.any():
            some, own = boards[contact], values[contact]
            if rows:
                mixed[contact] = (1 - share) * own + share * player.evaluate_many(some)
            else:
                mixed[contact] = self._shifted(some, own, view, player, share)
        return mixed

    def _with_share(self, boards: Board, view: View, rows: bool) -> FloatArray:
        """Return the values of boards (see `_shape`) by lookahead, mixed with the previous ply."""
        values = self._seen(boards, self.plies, view, rows)
        if self.depth.shares[self.plies - 1] > 0:
            before = self._seen(boards, self.plies - 1, view, rows)
            values = self._mixture(boards, self.plies, values, before)
        return values

    def _shifted(
        self, boards: Board, values: FloatArray, view: View, rollout: Evaluator, share: float
    ) -> FloatArray:
        """Return the `values` of boards, not probabilities, shifted by a `share` towards those of a rollout.

        The rollout knows the probabilities better, but only lookahead knows how both sides will use the cube.
        So cube equities are those of lookahead, plus the difference that the probabilities make in the static
        cube model, within the equities that results can have.
        """
        if view.cube_model.is_cubeless:
            return np.asarray((1 - share) * values + share * rollout.equity_many(boards))
        packed, side = pack_many(boards), view.side
        own, rolled = (
            np.asarray(cube_pairs(view.cube_model, side, packed, rows.astype(np.float64)))
            for rows in (self._with_share(boards, _MONEY, rows=True), rollout.evaluate_many(boards))
        )
        return view.limited(values + share * (rolled - own))

    def _mixture(self, boards: Board, plies: int, values: FloatArray, before: FloatArray) -> FloatArray:
        """Return `values` of boards at `plies` (see `_shape`), mixed with `before`, the previous ply's.

        Races are not mixed: lookahead soon reaches the end of the game there, and the previous ply does not.
        """
        share = self.depth.shares[plies - 1]
        if not share:
            return values
        shares = np.where(classify_many(pack_many(boards)) == RACE, 0.0, share)
        shares = shares.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray((1 - shares) * values + shares * before)

    def _seen(self, boards: Board, plies: int, view: View, rows: bool) -> FloatArray:
        """Return the values of boards at `plies`, with the side of `view` on roll (see `_shape`)."""
        if plies == 0:
            if rows:
                return self._base.evaluate_many(boards).astype(np.float64)
            if view.cube_model.is_cubeless:
                return self._base.equity_many(boards)
            return self._base.cube_equities(boards, view.cube_model, view.side)
        if isinstance(self._replies, StaticEvaluator):
            last = self.depth.rolls if 0 < self.depth.thin <= plies else EVERY_ROLL
            return _looked_ahead(self._replies, boards, plies, last, view, rows)
        values = np.empty(self._shape(len(boards), view, rows))
        for part in slices(len(boards), _POSITIONS_AT_ONCE):
            end_if_cancelled()
            held = self._mean_over_rolls(boards[part], plies, view, rows)
            if rows or view.cube_model.is_cubeless:
                values[part] = held
                continue
            doubled = view.doubled()
            taken = held if doubled is None else self._mean_over_rolls(boards[part], plies, doubled, rows)
            values[part] = np.stack([held, taken], axis=1)
        return values

    def _mean_over_rolls(self, boards: Board, plies: int, view: View, rows: bool) -> FloatArray:
        """Return the mean over the rolls of the best replies' probabilities (n, 5) or equities (n,)."""
        values = np.zeros((len(boards), len(OUTPUTS)) if rows else (len(boards),))
        finished = finished_points_many(pack_many(boards).view(np.int64)) != 0
        if finished.any():
            some = self._seen(boards[finished], 0, view, rows)
            # There is no double in a finished game.
            values[finished] = some if rows or some.ndim == 1 else some[:, 0]
        going = np.flatnonzero(~finished)
        if not len(going):
            return values
        every_roll = np.tile(ROLLS, (len(going), 1))
        best = self._best_replies(np.repeat(boards[going], len(ROLLS), axis=0), every_roll, view)
        opponent = view.switch_sides()
        if rows:
            below = switch_sides(self._seen(best.boards, plies - 1, opponent, rows))
            below = below.reshape(len(going), len(ROLLS), -1)
            values[going] = (below * ROLL_SHARES[:, None]).sum(axis=1)
        else:
            below = best.equities
            if plies > 1:
                below = switched_equities(
                    _value(opponent, self._seen(best.boards, plies - 1, opponent, rows))
                )
            values[going] = (below.reshape(len(going), len(ROLLS)) * ROLL_SHARES).sum(axis=1)
        return values

    def _best_replies(self, boards: Board, rolls: IntArray, view: View) -> BestPlays:
        """Return the best plays of `rolls` (n, 2) on `boards` (n, 26) for the side of `view`.

        The best play for the present cube state is used unless another one is clearly better.
        """
        present, own = view.at_present(), self._base.with_cube(view.cube_model, view.side)
        if present is view:
            return own.best_plays(boards, rolls)
        followed = self._base.with_cube(present.cube_model, present.side)
        clearly = CLEARLY * view.cube_model.ratio[view.cube_model.state]
        after, equities = np.empty_like(boards), np.empty(len(boards))
        for batch in play_batches(boards, rolls):
            here, starts = batch.decisions, batch.offsets[:-1]
            values = own.choosing_equities(boards[here], batch)
            best = first_best(values, starts)
            there = first_best(followed.choosing_equities(boards[here], batch), starts)
            chosen = np.where(values[best] < values[there] + clearly, there, best)
            after[here], equities[here] = batch.boards[chosen], values[chosen]
        return BestPlays(after, equities)


def _value(view: View, values: FloatArray) -> FloatArray:
    """Return the equities (n,) of the side of `view` from equities (n,) or cube equities (n, 2)."""
    return values if values.ndim == 1 else view.best_of(values)


def _looked_ahead(
    evaluator: StaticEvaluator, boards: Board, plies: int, last: int, view: View, rows: bool
) -> FloatArray:
    """Return equities (n,), `Evaluator.cube_equities` (n, 2) or probabilities (n, 5), computed by kernels."""
    packed = pack_many(boards)
    probabilities = np.empty((len(boards) if rows else 0, len(OUTPUTS)))
    model, space = prepared(evaluator.model)
    tree, cubeless = thread_tree(), view.cube_model.is_cubeless
    equities = np.empty(len(boards) if cubeless else (len(boards), 2))
    for part in slices(len(boards), _BETWEEN_CHECKPOINTS):
        end_if_cancelled()
        some, values, chances = packed[part], equities[part], probabilities[part]
        if cubeless:
            look_ahead_many(model, some, plies, last, space, tree, values, chances)
        else:
            look_ahead_with_cube_many(
                model, view.cube_model, view.side, some, plies, last, space, tree, values, chances
            )
    return probabilities if rows else equities


def warm_up() -> None:
    """Compile what lookahead by weights needs last, in a second process beside its first call.

    The first process reads the weights, builds tables and compiles the other kernels.  These share most of
    their building blocks, and they are ready before that process needs them.
    """
    model, space, tree = _compile_scoring()
    compile_ahead(look_ahead, model, 1, EVERY_ROLL, space, tree, False)
    _compile_evaluation(model, space)


def warm_up_with_cube() -> None:
    """Do the same as `warm_up` for cubeful lookahead."""
    model, space, tree = _compile_scoring()
    compile_ahead(look_ahead_with_cube, model, NO_CUBE, 0, 1, EVERY_ROLL, space, tree, False)
    compile_ahead(choose_replies, model, NO_CUBE, 0, 0, 1, 1, space, tree)
    _compile_evaluation(model, space)


def _compile_scoring() -> tuple[Model, Workspace, Tree]:
    # This evaluator needs the same kernels as the others, and no file.
    model, space = prepared(simple().model)
    plays, everything = space.plays, space.filter_kept[:0]
    compile_ahead(score_boards, model, plays.words, plays.boards, everything, 0, space, space.scores)
    return model, space, thread_tree()


def _compile_evaluation(model: Model, space: Workspace) -> None:
    compile_ahead(trace_value, model, space.plays.words[0], space.plays.boards[0], space, space.row)
    simple().evaluate(Position.start())


def _count(passed: BoolArray, plays: PlayBatch) -> IntArray:
    """Return the number of plays that pass (n,), by decision."""
    return np.add.reduceat(passed.astype(np.int64), plays.offsets[:-1])


def _let_through(values: FloatArray, plays: PlayBatch, among: BoolArray, limits: MoveFilter) -> BoolArray:
    """Return which of the plays `among` (m,) pass the filter `limits`."""
    candidates = np.where(among, values, -np.inf)
    best = np.maximum.reduceat(candidates, plays.offsets[:-1])[plays.decision]
    return among & best_few(candidates, plays, limits.plays) & (candidates >= best - limits.within)
