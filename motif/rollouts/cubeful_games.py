"""Play games with a cube side by side, with doubles, takes and passes.

The player on roll may double, and the opponent takes or passes, each by their own evaluation; plays are
chosen with the current cube.  Arrays describe all cube states that a game may reach, for kernels that make
cube decisions and choose plays by cubeful equities.  These are exact where tables exist, and otherwise come
from Janowski's model (`motif.evaluators.cube_model`). Rollouts, the fit of cube efficiencies and matches
use these kernels.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import ROLL_SHARES, ROLLS, roll_numbers
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many, unpack
from motif.compiler.jit import NOTHING, inline_kernel, lean_kernel, words_of
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.cube_model import EPSILON, EVEN, NO_STATE, CubeModel, is_known, known_boards, value_held
from motif.evaluators.kernels import best_cubeful_reply
from motif.evaluators.probabilities import (
    HEADS,
    WIN,
    WIN_GAMMON,
    switch_sides,
    switched_equities,
    write_finished,
)
from motif.parameters.position_class import RACE, classify_many
from motif.rollouts.games import Choose, Dice, Streams, luck_of_rolls
from motif.rollouts.playout import MAX_GAME_PLIES
from motif.rollouts.rollout_settings import RolloutSettings, truncated
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.progress import end_if_cancelled


@inline_kernel
def _decided(cubes, state, side, held, taken, nothing_more):
    """Return whether `side` should double, whether the opponent should take, and the value for `side`.

    The value is `held` without a double and `taken` after double/take; `nothing_more` says that playing on
    gains nothing.
    """
    passed = cubes.equities[state, side, 0, EVEN + 1]
    best = min(taken, passed)
    doubles = best >= held or (taken >= passed and nothing_more)
    return doubles, taken < passed, best if doubles else held


@lean_kernel(NOTHING)
def turn_cubes(cubes, states, sides, packed, rows, doubles, takes, values):
    """Make cube decisions for packed boards (n, 64), with `sides` (n,) on roll in `states` (n,).

    `rows` float64 (n, 5) are the chances of `sides`. Writes whether they should double, whether the other
    side should take, and the value for `sides` with these decisions.
    """
    words = words_of(packed)
    for k in range(states.shape[0]):
        state, side = states[k], sides[k]
        known = is_known(cubes, words[k])
        held = value_held(cubes, state, side, words[k], packed[k], rows[k], known)
        doubles[k], takes[k], values[k] = False, False, held
        doubled = cubes.doubled[state, side]
        if doubled == NO_STATE:
            continue
        taken = value_held(cubes, doubled, side, words[k], packed[k], rows[k], known)
        # Without gammons, playing on gains nothing; an apparent gain is a rounding error of the model.
        nothing_more = known or rows[k, WIN_GAMMON] <= 0
        doubles[k], takes[k], values[k] = _decided(cubes, state, side, held, taken, nothing_more)


@lean_kernel(NOTHING)
def decide_cubes(cubes, states, sides, rows, known, held, taken, doubles, takes):
    """Write the decisions of `turn_cubes` for `sides` (n,) that may double, from known values.

    The values are `held` (n,) without a double and `taken` (n,) after double/take; values that are `known`
    (n,) come from exact tables.
    """
    for k in range(states.shape[0]):
        nothing_more = known[k] or rows[k, WIN_GAMMON] <= 0
        doubles[k], takes[k], _ = _decided(cubes, states[k], sides[k], held[k], taken[k], nothing_more)


@lean_kernel(NOTHING)
def value_rolled(cubes, states, sides, packed, rows, values):
    """Write the values of packed boards (n, 64) for `sides`, which are on roll and do not double."""
    words = words_of(packed)
    for k in range(states.shape[0]):
        known = is_known(cubes, words[k])
        values[k] = value_held(cubes, states[k], sides[k], words[k], packed[k], rows[k], known)


@lean_kernel(NOTHING)
def choose_with_cubes(model, cubes, states, side, packed, rolls, space, results):
    """Write the boards after the best plays of `side`, the mover, to `results` int8 (n, 26).

    The packed boards are int8 (n, 64) and the `rolls` (n, 2); `states` (n,) are the cube states.
    """
    words = words_of(packed)
    for k in range(states.shape[0]):
        cube_model = CubeModel(states[k], *cubes[1:])
        high, low = rolls[k, 0], rolls[k, 1]
        play = best_cubeful_reply(model, cube_model, side, words[k], packed[k], high, low, space)
        unpack(space.plays.boards[play], results[k])


Decided = Callable[[CubeModel, IntArray, IntArray, Board, FloatArray], tuple[BoolArray, BoolArray]]
"""Function that returns whether to double and whether to take, (n,) each, from cubes, states (n,) in which
a double is allowed, the sides (n,) on roll, boards (n, 26) and chances (n, 5).
"""


class CubePlayer(NamedTuple):
    """Player of one side in games with a cube."""

    choose: Callable[[CubeModel, IntArray, int, Board, IntArray, Streams], Board]
    """Returns boards (n, 26) after plays, from cubes, states (n,), the side and the arguments of `Choose`."""
    chances: Callable[[Board], npt.NDArray[np.floating]]
    """Returns the five probabilities (n, 5) of boards (n, 26), for cube decisions and truncated games."""
    decided: Decided | None = None
    """Makes the cube decisions instead of the model, if given."""


def chosen_in_states(
    with_cube: Callable[[CubeModel, int], Choose],
    cubes: CubeModel,
    states: IntArray,
    side: int,
    boards: Board,
    rolls: IntArray,
    seeds: Streams,
) -> Board:
    """Do `CubePlayer.choose` state by state; `with_cube` returns the choice of plays with a cube."""
    after = np.empty_like(boards)
    for state in np.unique(states).tolist():
        rows = np.flatnonzero(states == state)
        choose = with_cube(cubes._replace(state=state), side)
        after[rows] = choose(boards[rows], rolls[rows], seeds[rows])
    return after


_NEAR = 0.12
"""Margin of a double below which lookahead decides, in units of half the difference between a single win
and a single loss; lookahead rarely changes clearer decisions.
"""


def decided_ahead(
    judge: Evaluator, cubes: CubeModel, states: IntArray, sides: IntArray, boards: Board, chances: FloatArray
) -> tuple[BoolArray, BoolArray]:
    """Return whether `sides` (n,), who are on roll and may double, should double, and whether to take.

    The model decides from the `chances` (n, 5) of `boards` (n, 26); in close cases, the `judge`'s lookahead
    decides.
    """
    packed, doubled = pack_many(boards), cubes.doubled[states, sides]
    held, taken = np.empty((2, len(states)))
    value_rolled(cubes, states, sides, packed, chances, held)
    value_rolled(cubes, doubled, sides, packed, chances, taken)
    lost, won = (cubes.equities[states, sides, 0, EVEN + points] for points in (-1, 1))
    known = known_boards(cubes, packed)
    close = ~known & (np.abs(np.minimum(taken, won) - held) < _NEAR * (won - lost) / 2)
    for state, side in np.unique(np.stack([states, sides], axis=1)[close], axis=0).tolist():
        rows = np.flatnonzero(close & (states == state) & (sides == side))
        held[rows], taken[rows] = judge.cube_equities(boards[rows], cubes._replace(state=state), side).T
    doubles, takes = np.empty((2, len(states)), np.bool_)
    decide_cubes(cubes, states, sides, chances, known, held - EPSILON, taken, doubles, takes)
    return doubles, takes


class CubeGames(NamedTuple):
    """Results of n games with a cube."""

    points: IntArray
    """Points won by side 0 (n,), in units of the cube; 0 for a truncated game."""
    states: IntArray
    """Final cube states (n,)."""
    results: FloatArray
    """Five probabilities and equity of side 0 (n, 6). After a pass or truncation, the probabilities are the
    player's evaluation.
    """
    luck: FloatArray
    """Luck of side 0 in equity according to the judge (n,); 0 without a judge."""


_PLAYED_OUT = RolloutSettings()


class _Table:
    """Games with a cube that are played side by side."""

    def __init__(
        self,
        players: tuple[CubePlayer, CubePlayer],
        cubes: CubeModel,
        states: IntArray,
        sides: IntArray,
        boards: Board,
    ) -> None:
        self.players, self.cubes, self.boards = players, cubes, boards
        self.sides = sides.copy()
        """The side on roll in each unfinished game, like the next two attributes."""
        self.states = states.copy()
        self.games = np.arange(len(boards))
        self.ends = CubeGames(
            np.zeros(len(boards), np.int64),
            states.copy(),
            np.zeros((len(boards), len(HEADS))),
            np.zeros(len(boards)),
        )

    def chances(self, boards: Board, sides: IntArray, of_opponent: bool = False) -> FloatArray:
        """Return the probabilities (m, 5) of the players on roll, `sides` (m,), by their own evaluation."""
        if self.players[0].chances == self.players[1].chances:
            return self.players[0].chances(boards).astype(np.float64)
        chances = np.empty((len(boards), len(OUTPUTS)))
        for side in np.unique(sides).tolist():
            rows = sides == side
            chances[rows] = self.players[1 - side if of_opponent else side].chances(boards[rows])
        return chances

    def results_of(self, boards: Board, states: IntArray, sides: IntArray, may_double: bool) -> FloatArray:
        """Evaluate `boards` (n, 26) with `sides` (n,) on roll; return the results (n, 6) for side 0."""
        chances, packed = self.chances(boards, sides), pack_many(boards)
        if may_double:
            values = self._turned(states, sides, packed, chances)[2]
        else:
            values = np.empty(len(states))
            value_rolled(self.cubes, states, sides, packed, chances, values)
        return _for_first(np.concatenate([chances, values[:, None]], axis=1), sides)

    def _turned(
        self, states: IntArray, sides: IntArray, packed: Board, chances: FloatArray
    ) -> tuple[BoolArray, BoolArray, FloatArray]:
        doubles, takes = np.empty((2, len(states)), np.bool_)
        values = np.empty(len(states))
        turn_cubes(self.cubes, states, sides, packed, chances, doubles, takes, values)
        return doubles, takes, values

    def _decisions(
        self, rows: IntArray, chances: FloatArray, of_opponent: bool = False
    ) -> tuple[BoolArray, BoolArray]:
        """Return whether to double and take in `rows` (m,), by `chances` (m, 5) of the player who decides."""
        boards, states, sides = self.boards[rows], self.states[rows], self.sides[rows]
        doubles, takes, _ = self._turned(states, sides, pack_many(boards), chances)
        for side in np.unique(sides).tolist():
            decided = self.players[1 - side if of_opponent else side].decided
            if decided is not None:
                own = sides == side
                asked = (values[own] for values in (states, sides, boards, chances))
                doubles[own], takes[own] = decided(self.cubes, *asked)
        return doubles, takes

    def end(self, rows: IntArray, results: FloatArray) -> None:
        """Mark the games in `rows` as ended; `keep` removes them."""
        games = self.games[rows]
        self.ends.results[games], self.ends.states[games] = results, self.states[rows]

    def keep(self, going: BoolArray) -> None:
        """Keep only the games that are `going`."""
        if not going.all():
            self.games, self.boards = self.games[going], self.boards[going]
            self.sides, self.states = self.sides[going], self.states[going]

    def end_finished(self) -> None:
        """End games in which a side has borne off all checkers."""
        packed = pack_many(self.boards)
        points = finished_points_many(packed.view(np.int64)).astype(np.int64)
        rows = np.flatnonzero(points)
        if len(rows):
            chances = np.empty((len(rows), len(OUTPUTS)), np.float32)
            write_finished(packed[rows], chances)
            self._end_with(rows, points[rows], chances.astype(np.float64))
            self.keep(points == 0)

    def _end_with(self, rows: IntArray, points: IntArray, chances: FloatArray) -> None:
        """End games that the players on roll, with `chances` (m, 5), win by `points` (m,) times the cube."""
        sides, states = self.sides[rows], self.states[rows]
        equities = self.cubes.equities[states, sides, 0, EVEN + points]
        self.end(rows, _for_first(np.concatenate([chances, equities[:, None]], axis=1), sides))
        self.ends.points[self.games[rows]] = np.where(sides == 0, points, switched_equities(points))

    def turn(self) -> None:
        """Let the players on roll double, and their opponents answer."""
        may = np.flatnonzero(self.cubes.doubled[self.states, self.sides] != NO_STATE)
        if not len(may):
            return
        chances = self.chances(self.boards[may], self.sides[may])
        doubles, takes = self._decisions(may, chances)
        rows, chances, takes = may[doubles], chances[doubles], takes[doubles]
        first, second = ((player.chances, player.decided) for player in self.players)
        if first != second and len(rows):
            opponents = self.chances(self.boards[rows], self.sides[rows], of_opponent=True)
            takes = self._decisions(rows, opponents, of_opponent=True)[1]
        taken, passed = rows[takes], rows[~takes]
        self.states[taken] = self.cubes.doubled[self.states[taken], self.sides[taken]]
        if len(passed):
            self._end_with(passed, np.ones(len(passed), np.int64), chances[~takes])
            going = np.ones(len(self.games), np.bool_)
            going[passed] = False
            self.keep(going)

    def after(self, boards: Board, games: IntArray, rolls: IntArray, seeds: Streams) -> Board:
        """Return the boards after `rolls` (m, 2) are played on `boards` (m, 26) in the rows `games` (m,)."""
        results, sides = np.empty_like(boards), self.sides[games]
        for side in np.unique(sides).tolist():
            rows = np.flatnonzero(sides == side)
            states = self.states[games[rows]]
            choose = self.players[side].choose
            results[rows] = choose(self.cubes, states, side, boards[rows], rolls[rows], seeds[rows])
        return results

    def roll(self, rolls: IntArray, seeds: Streams) -> None:
        """Play `rolls` (n, 2)."""
        self.boards = self.after(self.boards, np.arange(len(self.games)), rolls, seeds)
        self.sides = 1 - self.sides

    def luck(self, judge: Evaluator, rolls: IntArray, opening: bool) -> FloatArray:
        """Return the luck (n,) of side 0 in `rolls` (n, 2), with the current cubes."""
        gains = np.empty(len(rolls))
        for state, side in np.unique(np.stack([self.states, self.sides], axis=1), axis=0).tolist():
            rows = np.flatnonzero((self.states == state) & (self.sides == side))
            cubeful = judge.with_cube(self.cubes._replace(state=state), side)
            own = luck_of_rolls(cubeful, self.boards[rows], rolls[rows], opening)
            gains[rows] = own if side == 0 else switched_equities(own)
        return gains

    def roll_luck_adjusted(self, rolls: IntArray, seeds: Streams, luck: FloatArray) -> None:
        """Play `rolls` (n, 2) and subtract their luck from `luck` (all games, 6)."""
        # Stratified games share their first positions.
        alike = np.column_stack([self.sides, self.states, self.boards])
        _, games, group = np.unique(alike, axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        count, every = len(games), len(ROLLS)
        rows = np.repeat(games, every)
        after = self.after(self.boards[rows], rows, np.tile(ROLLS, (count, 1)), seeds[rows])
        results = self.results_of(after, self.states[rows], 1 - self.sides[rows], True)
        results = results.reshape(count, every, -1)
        number = roll_numbers(rolls)
        mean = np.einsum("r,nrc->nc", ROLL_SHARES, results)
        luck[self.games] += mean[group] - results[group, number]
        self.boards = after.reshape(count, every, -1)[group, number]
        self.sides = 1 - self.sides


def _for_first(results: FloatArray, sides: IntArray) -> FloatArray:
    """Convert results (n, 6) for the players on roll, `sides` (n,), to results for side 0."""
    others = np.concatenate([switch_sides(results[:, :-1]), switched_equities(results[:, -1:])], axis=1)
    return np.where(sides[:, None] == 0, results, others)


def games_with_cube(
    players: tuple[CubePlayer, CubePlayer],
    cubes: CubeModel,
    states: IntArray,
    sides: IntArray,
    boards: Board,
    dice: Dice,
    settings: RolloutSettings = _PLAYED_OUT,
    *,
    doubles_first: bool = False,
    judge: Evaluator | None = None,
) -> CubeGames:
    """Play games from `boards` (n, 26), with `sides` (n,) on roll and the cubes in `states` (n,).

    The `players` play side 0 and side 1.  The `settings` say where games are truncated, with the cubeful
    equity, and how many rolls have variance reduction; `doubles_first` says whether there may be a double
    before the first roll.  A game is stopped as a draw after `MAX_GAME_PLIES` plies.  For games from the
    starting position, a `judge` measures the `luck` of side 0 by the judge's best plays.
    """
    table = _Table(players, cubes, states, sides, boards)
    contact = classify_many(pack_many(boards)) != RACE
    luck = np.zeros_like(table.ends.results)
    judged = np.zeros(len(boards))
    for ply in range(MAX_GAME_PLIES + 1):
        end_if_cancelled()
        table.end_finished()
        may_double = ply > 0 or doubles_first
        _end_early(table, settings, ply, contact, may_double)
        if not len(table.games):
            break
        if ply == MAX_GAME_PLIES:
            drawn = np.zeros(table.ends.results.shape[1])
            drawn[WIN] = 0.5
            table.end(np.arange(len(table.games)), drawn)
            break
        if may_double:
            table.turn()
            if not len(table.games):
                break
        rolls, seeds = dice(table.games, ply)
        if judge is not None:
            judged[table.games] += table.luck(judge, rolls, opening=ply == 0)
        if ply < settings.luck_plies:
            table.roll_luck_adjusted(rolls, seeds, luck)
        else:
            table.roll(rolls, seeds)
    return table.ends._replace(results=table.ends.results + luck, luck=judged)


def _end_early(
    table: _Table, settings: RolloutSettings, ply: int, contact: BoolArray, may_double: bool
) -> None:
    """Truncate games at this ply by the `settings`; `contact` (all games,) says which began with contact."""
    packed = pack_many(table.boards)
    stops = truncated(packed, settings, ply, contact[table.games])
    if settings.stop_at_bearoff:
        stops |= known_boards(table.cubes, packed)
    rows = np.flatnonzero(stops)
    if len(rows):
        boards, states, sides = table.boards[rows], table.states[rows], table.sides[rows]
        table.end(rows, table.results_of(boards, states, sides, may_double))
        table.keep(~stops)
