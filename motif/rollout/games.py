"""Many games played side by side, whoever chooses the plays, without a cube and with one; and their dice.

With a cube whoever comes on roll may double, and the other one takes or passes, each by his own chances;
plays are chosen with the cube where it lies.  Every cube that a game may come to stands in arrays for
kernels: what to do with it, and which play to choose.  That is decided by what the position is worth with the
cube where it then lies: exactly where the tables know, elsewhere by Janowski's model
(`motif.evaluators.stakes`).  Rollouts, the fit of efficiency and matches all play by these kernels.

The dice of a game depend on seed, game and ply alone: so the same seed throws the same for any number of
games and workers, and a play that is taken back brings no new luck.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.movegen import OPENING_SHARES, ROLL_SHARES, ROLLS, roll_numbers
from motif.board.outcome import finished_points_many
from motif.board.packed import Board, pack_many, unpack
from motif.board.position import Position
from motif.compiler.jit import NOTHING, inline_kernel, kernel, lean_kernel, words_of
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.kernels import best_reply_at_stake
from motif.evaluators.probabilities import WIN, WIN_GAMMON, turned, turned_equities, write_finished
from motif.evaluators.stakes import EVEN, NO_DOUBLE, Stakes, is_known, known_boards, value_held
from motif.parameters.position_class import RACE, classify_many
from motif.rollout.playout import FIXED_ROLLS, MAX_PLIES, first_rolls
from motif.runtime.errors import check_seed
from motif.runtime.progress import checkpoint
from motif.runtime.streams import derive, next_below, next_roll, next_uint64

_SIDES = 6

Games = npt.NDArray[np.int64]
Rolls = npt.NDArray[np.int64]
States = npt.NDArray[np.uint64]
Choose = Callable[[Board, Rolls, States], Board]
"""What chooses plays, like `motif.players.player.Player.choose_many`."""
Dice = Callable[[Games, int], tuple[Rolls, States]]
"""Rolls (n, 2), the higher die first, of a ply in each of n games; and seeds (n,) of random choices."""


@inline_kernel
def _in_state(stakes, state):
    """`stakes` with the cube in one of their states."""
    return Stakes(
        state,
        stakes.kind,
        stakes.owner,
        stakes.last,
        stakes.worth,
        stakes.played_out,
        stakes.efficiency,
        stakes.cube,
        stakes.doubled,
        stakes.like,
        stakes.ratio,
        stakes.beavers,
        stakes.exact,
        stakes.column,
        stakes.middle,
        stakes.factor,
    )


@inline_kernel
def _decided(cubes, state, side, held, taken, nothing_more):
    """Whether `side` should double, whether the other side should take, and what that is worth to him.

    He has `held` without a double and `taken` after one that is taken; `nothing_more` is won by playing on.
    """
    passed = cubes.worth[state, side, 0, EVEN + 1]
    best = min(taken, passed)
    doubles = best >= held or (taken >= passed and nothing_more)
    return doubles, taken < passed, best if doubles else held


@lean_kernel(NOTHING)
def turn_cubes(cubes, states, sides, packed, rows, doubles, takes, values):
    """Decide on the cube in packed boards (n, 64), whose `sides` (n,) are on roll in `states` (n,).

    `rows` float64 (n, 5) are their chances.  Writes whether they should double, whether the other side should
    take a double, and what the boards are worth to `sides` when both do so.
    """
    words = words_of(packed)
    for k in range(states.shape[0]):
        state, side = states[k], sides[k]
        known = is_known(cubes, words[k])
        held = value_held(cubes, state, side, words[k], packed[k], rows[k], known)
        doubles[k], takes[k], values[k] = False, False, held
        doubled = cubes.doubled[state, side]
        if doubled == NO_DOUBLE:
            continue
        taken = value_held(cubes, doubled, side, words[k], packed[k], rows[k], known)
        # Without gammons nothing is won by playing on: what seems to be is the model's rounding.
        nothing_more = known or rows[k, WIN_GAMMON] <= 0
        doubles[k], takes[k], values[k] = _decided(cubes, state, side, held, taken, nothing_more)


@lean_kernel(NOTHING)
def decide_cubes(cubes, states, sides, rows, known, held, taken, doubles, takes):
    """Write what `turn_cubes` does, where all `sides` (n,) may double and it is known what boards are worth.

    That is `held` (n,) without a double and `taken` (n,) after one; exact tables have the `known` ones (n,).
    """
    for k in range(states.shape[0]):
        nothing_more = known[k] or rows[k, WIN_GAMMON] <= 0
        doubles[k], takes[k], _ = _decided(cubes, states[k], sides[k], held[k], taken[k], nothing_more)


@lean_kernel(NOTHING)
def value_rolled(cubes, states, sides, packed, rows, values):
    """Write what packed boards (n, 64) are worth to `sides`, who are on roll and do not double."""
    words = words_of(packed)
    for k in range(states.shape[0]):
        known = is_known(cubes, words[k])
        values[k] = value_held(cubes, states[k], sides[k], words[k], packed[k], rows[k], known)


@lean_kernel(NOTHING)
def choose_with_cubes(model, cubes, states, side, packed, rolls, space, results):
    """Write to `results` int8 (n, 26) the boards after the best plays for `side`, who moves.

    The packed boards are int8 (n, 64), `rolls` (n, 2); the cube lies as `states` (n,) say.
    """
    words = words_of(packed)
    for k in range(states.shape[0]):
        stakes = _in_state(cubes, states[k])
        high, low = rolls[k, 0], rolls[k, 1]
        play = best_reply_at_stake(model, stakes, side, words[k], packed[k], high, low, space)
        unpack(space.plays.boards[play], results[k])


@kernel
def trial_states(seed, items, first_trial, trials):
    """Random streams uint64 (n, trials) of trials `first_trial`, ... of `items` (n,)."""
    states = np.empty((items.shape[0], trials), np.uint64)
    for k in range(items.shape[0]):
        for t in range(trials):
            states[k, t] = derive(np.uint64(seed), np.uint64(items[k]), np.uint64(first_trial + t))
    return states


class Ply(NamedTuple):
    """A moment of all games that go on, before a roll; and of those that have just ended."""

    number: int
    """From 0; the one who began is on roll where it is even."""
    games: Games
    """(n,): which games, counted from 0."""
    boards: Board
    """(n, 26), seen by the player on roll."""
    points: npt.NDArray[np.int64]
    """(n,): what the one who began has won; 0 while a game goes on."""


def starts(games: int) -> Board:
    """Return the starting position (games, 26) of so many games."""
    return np.repeat(Position.start().board[None], games, axis=0)


def lockstep(choose: Choose, dice: Dice, boards: Board, other: Choose | None = None) -> Iterator[Ply]:
    """Play on from `boards` (n, 26) until all games are over, or for `MAX_PLIES` plies.

    `choose` plays for both sides; where there is an `other`, only for those who began.
    """
    games = np.arange(len(boards))
    for number in range(MAX_PLIES + 1):
        points = finished_points_many(pack_many(boards).view(np.int64)).astype(np.int64)
        yield Ply(number, games, boards, points if number % 2 == 0 else turned_equities(points))
        games, boards = games[points == 0], boards[points == 0]
        if not len(games) or number == MAX_PLIES:
            return
        rolls, states = dice(games, number)
        boards = (choose if other is None or number % 2 == 0 else other)(boards, rolls, states)


Values = npt.NDArray[np.float64]


Flags = npt.NDArray[np.bool_]
Decided = Callable[[Stakes, Games, Games, Board, Values], tuple[Flags, Flags]]
"""Whether to double, and whether to take: (n,) each, of cubes, their states (n,) in which who is on roll may
double, his sides (n,), boards (n, 26) and chances (n, 5)."""


class CubePlayer(NamedTuple):
    """Who plays a side of games with a cube."""

    choose: Callable[[Stakes, npt.NDArray[np.int64], int, Board, Rolls, States], Board]
    """Boards (n, 26) after his plays: of the cubes, their states (n,), his side, and as `Choose` has them."""
    chances: Callable[[Board], npt.NDArray[np.floating]]
    """The five probabilities (n, 5) of boards (n, 26) by which he turns the cube and values a game."""
    decided: Decided | None = None
    """How he turns it where that is not the model's way."""


class CubeGames(NamedTuple):
    """How n games with a cube ended."""

    points: npt.NDArray[np.int64]
    """(n,): what side 0 has won, in units of the cube; 0 where a game was broken off."""
    states: npt.NDArray[np.int64]
    """(n,): where the cube lay then."""
    results: Values
    """(n, 6): the five probabilities of side 0, and its equity.  Where a double was passed or the game broken
    off the probabilities are those by chances."""
    luck: Values
    """(n,): what the rolls gained side 0 in equity, in the opinion of a judge; 0 without one."""


class CubeGameRules(NamedTuple):
    """How games with a cube begin and end."""

    doubles_first: bool = False
    """Whether who is on roll first may double before his first roll."""
    cut: int = 0
    """End after so many plies with the value by chances and cube; 0: never."""
    stop_at_race: bool = False
    """End so when contact ends."""
    stop_at_known: bool = False
    """End where the exact tables know the value."""
    luck_plies: int = 0
    """Take the luck of the first so many rolls off the results."""


PLAYED_OUT = CubeGameRules()
"""Games that are played to their end, with no double before the first roll."""


class _Table:
    """Games with a cube that are played side by side, until they end."""

    def __init__(
        self,
        players: tuple[CubePlayer, CubePlayer],
        cubes: Stakes,
        states: npt.NDArray[np.int64],
        sides: npt.NDArray[np.int64],
        boards: Board,
    ) -> None:
        self.players, self.cubes, self.boards = players, cubes, boards
        self.sides = sides.copy()
        """Who is on roll in each game that goes on; so are the next two."""
        self.states = states.copy()
        self.games = np.arange(len(boards))
        self.ends = CubeGames(
            np.zeros(len(boards), np.int64),
            states.copy(),
            np.zeros((len(boards), len(OUTPUTS) + 1)),
            np.zeros(len(boards)),
        )

    def chances(self, rows: npt.NDArray[np.int64], of_opponent: bool = False) -> Values:
        """Return the five probabilities (m, 5) of the player on roll in `rows` (m,), seen by either side."""
        return self._chances(self.boards[rows], self.sides[rows], of_opponent)

    def _chances(self, boards: Board, sides: npt.NDArray[np.int64], of_opponent: bool = False) -> Values:
        if self.players[0].chances == self.players[1].chances:
            return self.players[0].chances(boards).astype(np.float64)
        chances = np.empty((len(boards), len(OUTPUTS)))
        for side in np.unique(sides).tolist():
            rows = sides == side
            chances[rows] = self.players[1 - side if of_opponent else side].chances(boards[rows])
        return chances

    def worth(
        self, boards: Board, states: npt.NDArray[np.int64], sides: npt.NDArray[np.int64], may_double: bool
    ) -> Values:
        """Results (n, 6) for side 0 if `boards` (n, 26) are valued, with `sides` (n,) on roll."""
        chances, packed = self._chances(boards, sides), pack_many(boards)
        if may_double:
            values = self._turned(states, sides, packed, chances)[2]
        else:
            values = np.empty(len(states))
            value_rolled(self.cubes, states, sides, packed, chances, values)
        return _for_first(np.concatenate([chances, values[:, None]], axis=1), sides)

    def _turned(
        self, states: npt.NDArray[np.int64], sides: npt.NDArray[np.int64], packed: Board, chances: Values
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], Values]:
        doubles, takes = np.empty((2, len(states)), np.bool_)
        values = np.empty(len(states))
        turn_cubes(self.cubes, states, sides, packed, chances, doubles, takes, values)
        return doubles, takes, values

    def _decisions(self, rows: Games, chances: Values, of_opponent: bool = False) -> tuple[Flags, Flags]:
        """Whether to double and to take in `rows` (m,), with `chances` (m, 5), in own or the other's eyes."""
        boards, states, sides = self.boards[rows], self.states[rows], self.sides[rows]
        doubles, takes, _ = self._turned(states, sides, pack_many(boards), chances)
        for side in np.unique(sides).tolist():
            decided = self.players[1 - side if of_opponent else side].decided
            if decided is not None:
                own = sides == side
                asked = (values[own] for values in (states, sides, boards, chances))
                doubles[own], takes[own] = decided(self.cubes, *asked)
        return doubles, takes

    def end(self, rows: npt.NDArray[np.int64], results: Values) -> None:
        """End the games in `rows`; they are still there until `keep`."""
        games = self.games[rows]
        self.ends.results[games], self.ends.states[games] = results, self.states[rows]

    def keep(self, going: npt.NDArray[np.bool_]) -> None:
        """Go on with those of the games that are `going`."""
        if not going.all():
            self.games, self.boards = self.games[going], self.boards[going]
            self.sides, self.states = self.sides[going], self.states[going]

    def end_finished(self) -> None:
        """End games in which a side has borne off everything."""
        packed = pack_many(self.boards)
        points = finished_points_many(packed.view(np.int64)).astype(np.int64)
        rows = np.flatnonzero(points)
        if len(rows):
            chances = np.empty((len(rows), len(OUTPUTS)), np.float32)
            write_finished(packed[rows], chances)
            self._end_with(rows, points[rows], chances.astype(np.float64))
            self.keep(points == 0)

    def _end_with(self, rows: npt.NDArray[np.int64], points: npt.NDArray[np.int64], chances: Values) -> None:
        """End games in which who is on roll won `points` (m,) times the cube, with his `chances` (m, 5)."""
        sides, states = self.sides[rows], self.states[rows]
        equities = self.cubes.worth[states, sides, 0, EVEN + points]
        self.end(rows, _for_first(np.concatenate([chances, equities[:, None]], axis=1), sides))
        self.ends.points[self.games[rows]] = np.where(sides == 0, points, turned_equities(points))

    def turn(self) -> None:
        """Let those on roll double, and the others answer."""
        may = np.flatnonzero(self.cubes.doubled[self.states, self.sides] != NO_DOUBLE)
        if not len(may):
            return
        chances = self.chances(may)
        doubles, takes = self._decisions(may, chances)
        rows, chances, takes = may[doubles], chances[doubles], takes[doubles]
        one, other = ((player.chances, player.decided) for player in self.players)
        if one != other and len(rows):
            takes = self._decisions(rows, self.chances(rows, of_opponent=True), of_opponent=True)[1]
        taken, passed = rows[takes], rows[~takes]
        self.states[taken] = self.cubes.doubled[self.states[taken], self.sides[taken]]
        if len(passed):
            self._end_with(passed, np.ones(len(passed), np.int64), chances[~takes])
            going = np.ones(len(self.games), np.bool_)
            going[passed] = False
            self.keep(going)

    def after(self, boards: Board, games: Games, rolls: Rolls, seeds: States) -> Board:
        """Boards after the plays of `rolls` (m, 2) on `boards` (m, 26) of the games in rows `games` (m,)."""
        results, sides = np.empty_like(boards), self.sides[games]
        for side in np.unique(sides).tolist():
            rows = np.flatnonzero(sides == side)
            states = self.states[games[rows]]
            choose = self.players[side].choose
            results[rows] = choose(self.cubes, states, side, boards[rows], rolls[rows], seeds[rows])
        return results

    def roll(self, rolls: Rolls, seeds: States) -> None:
        """Play `rolls` (n, 2)."""
        self.boards = self.after(self.boards, np.arange(len(self.games)), rolls, seeds)
        self.sides = 1 - self.sides

    def luck(self, judge: Evaluator, rolls: Rolls, opening: bool) -> Values:
        """Return what `rolls` (n, 2) gain side 0 above the mean roll, with the cubes where they lie: (n,)."""
        gains = np.empty(len(rolls))
        for state, side in np.unique(np.stack([self.states, self.sides], axis=1), axis=0).tolist():
            rows = np.flatnonzero((self.states == state) & (self.sides == side))
            staked = judge.staked(self.cubes._replace(state=state), side)
            own = luck_of_rolls(staked, self.boards[rows], rolls[rows], opening)
            gains[rows] = own if side == 0 else turned_equities(own)
        return gains

    def roll_without_luck(self, rolls: Rolls, seeds: States, luck: Values) -> None:
        """Play `rolls` (n, 2), and take off `luck` (all games, 6) what they are worth above the mean roll."""
        count, every = len(self.games), len(ROLLS)
        rows = np.repeat(np.arange(count), every)
        after = self.after(self.boards[rows], rows, np.tile(ROLLS, (count, 1)), seeds[rows])
        worth = self.worth(after, self.states[rows], 1 - self.sides[rows], True).reshape(count, every, -1)
        thrown = roll_numbers(rolls)
        here = np.arange(count)
        luck[self.games] += np.einsum("r,nrc->nc", ROLL_SHARES, worth) - worth[here, thrown]
        self.boards = after.reshape(count, every, -1)[here, thrown]
        self.sides = 1 - self.sides


def luck_of_rolls(judge: Evaluator, boards: Board, rolls: Rolls, opening: bool) -> Values:
    """Return what `rolls` (n, 2) on `boards` (n, 26) gain their players above the mean roll: (n,).

    A roll is worth what the best play of it is by `judge`.  The `opening` roll of a game is no double.
    """
    every = np.tile(ROLLS, (len(boards), 1))
    best = judge.best_plays(np.repeat(boards, len(ROLLS), axis=0), every).equities.reshape(len(boards), -1)
    thrown = best[np.arange(len(boards)), roll_numbers(rolls)]
    return thrown - best @ (OPENING_SHARES if opening else ROLL_SHARES)


def _for_first(results: Values, sides: npt.NDArray[np.int64]) -> Values:
    """Results (n, 6) of the players on roll, `sides` (n,), as side 0 has them."""
    others = np.concatenate([turned(results[:, :-1]), turned_equities(results[:, -1:])], axis=1)
    return np.where(sides[:, None] == 0, results, others)


def games_with_cube(
    players: tuple[CubePlayer, CubePlayer],
    cubes: Stakes,
    states: npt.NDArray[np.int64],
    sides: npt.NDArray[np.int64],
    boards: Board,
    dice: Dice,
    rules: CubeGameRules = PLAYED_OUT,
    judge: Evaluator | None = None,
) -> CubeGames:
    """Play on from `boards` (n, 26), with `sides` (n,) on roll and the cubes in `states` (n,), to the end.

    The `players` are those of side 0 and of side 1.  A game is broken off after `MAX_PLIES` plies as a draw.
    Of games from the start a `judge` tells the `luck` of side 0, by the plays that it finds best.
    """
    table = _Table(players, cubes, states, sides, boards)
    contact = classify_many(pack_many(boards)) != RACE
    luck = np.zeros_like(table.ends.results)
    judged = np.zeros(len(boards))
    for ply in range(MAX_PLIES + 1):
        checkpoint()
        table.end_finished()
        may_double = ply > 0 or rules.doubles_first
        _end_early(table, rules, ply, contact, may_double)
        if not len(table.games):
            break
        if ply == MAX_PLIES:
            drawn = np.zeros(table.ends.results.shape[1])
            drawn[WIN] = 0.5
            table.end(np.arange(len(table.games)), drawn)
            break
        if may_double:
            table.turn()
        rolls, seeds = dice(table.games, ply)
        if judge is not None:
            judged[table.games] += table.luck(judge, rolls, opening=ply == 0)
        if ply < rules.luck_plies:
            table.roll_without_luck(rolls, seeds, luck)
        else:
            table.roll(rolls, seeds)
    return table.ends._replace(results=table.ends.results + luck, luck=judged)


def _end_early(
    table: _Table, rules: CubeGameRules, ply: int, contact: npt.NDArray[np.bool_], may_double: bool
) -> None:
    """End the games that the `rules` end at this ply; those with `contact` (all games,) had it at first."""
    packed = pack_many(table.boards)
    stops = np.full(len(packed), 0 < rules.cut <= ply)
    if rules.stop_at_race and ply:
        stops |= contact[table.games] & (classify_many(packed) == RACE)
    if rules.stop_at_known:
        stops |= known_boards(table.cubes, packed)
    rows = np.flatnonzero(stops)
    if len(rows):
        boards, states, sides = table.boards[rows], table.states[rows], table.sides[rows]
        table.end(rows, table.worth(boards, states, sides, may_double))
        table.keep(~stops)


class SeededDice:
    """Rolls that anyone can repeat who knows the seed."""

    def __init__(self, seed: int) -> None:
        """Raise `SettingError` for a seed that is none."""
        check_seed(seed)
        self.seed = seed

    def of(self, numbers: Games) -> Dice:
        """Dice of the games with these `numbers`, of which none begins with a double."""
        return lambda games, ply: rolls_of_games(self.seed, numbers[games], ply)

    def opening(self, game: int) -> tuple[int, int]:
        """Return the first player's die and the second's, which differ, at the start of a game."""
        first, second = _opening(self.seed, game)
        return int(first), int(second)

    def roll(self, game: int, ply: int) -> tuple[int, int]:
        """Return the roll of a ply, counted from 0, of a game; the higher die first."""
        high, low, _ = _ply(self.seed, game, ply)
        return int(high), int(low)

    def choice_seed(self, game: int, ply: int) -> int:
        """Return the seed with which a player chooses at a ply, where chance plays a part for him."""
        return int(_ply(self.seed, game, ply)[2])


def stream_dice(states: States) -> Dice:
    """Dice of the random streams `states` (n,), one a game, which go on from roll to roll."""
    states = states.copy()

    def dice(games: Games, _: int) -> tuple[Rolls, States]:
        streams = states[games]
        rolls = next_rolls(streams)
        states[games] = streams
        return rolls, streams

    return dice


def trial_dice(seed: int, items: Games, first: int, trials: int, stratified: bool) -> Dice:
    """Return the dice of trials `first`, ... of `items`, item by item: those of `roll_trials`."""
    later = stream_dice(trial_states(seed, items, first, trials).reshape(-1))
    if not stratified:
        return later
    fixed = {item: first_rolls(seed, item, first, trials) for item in np.unique(items).tolist()}
    numbers = np.concatenate([fixed[item] for item in items.tolist()])

    def dice(games: Games, ply: int) -> tuple[Rolls, States]:
        if ply < FIXED_ROLLS:
            return ROLLS[numbers[games, ply]], np.zeros(len(games), np.uint64)
        return later(games, ply)

    return dice


@kernel
def _opening(seed, game):
    stream = np.zeros(1, np.uint64)
    stream[0] = derive(np.uint64(seed), np.uint64(game), np.uint64(0))
    first, second = 0, 0
    while first == second:
        first, second = next_below(stream, _SIDES) + 1, next_below(stream, _SIDES) + 1
    return first, second


@kernel
def _ply(seed, game, ply):
    """Two dice, the higher first, and 62 random bits."""
    stream = np.zeros(1, np.uint64)
    stream[0] = derive(np.uint64(seed), np.uint64(game), np.uint64(ply))
    high, low = next_roll(stream)
    return high, low, np.int64(next_uint64(stream) >> np.uint64(2))


@kernel
def rolls_of_games(seed, games, ply):
    """Roll (n, 2) of a ply in each of `games`, no double at the start, and states for random choices."""
    rolls = np.empty((games.shape[0], 2), np.int64)
    states = np.empty(games.shape[0], np.uint64)
    stream = np.zeros(1, np.uint64)
    for k in range(games.shape[0]):
        stream[0] = derive(np.uint64(seed), np.uint64(games[k]), np.uint64(ply))
        high, low = next_roll(stream)
        while ply == 0 and high == low:
            high, low = next_roll(stream)
        rolls[k, 0], rolls[k, 1] = high, low
        states[k] = stream[0]
    return rolls, states


@kernel
def next_rolls(states):
    """Return the next roll (n, 2) of each of the streams `states`, which go on."""
    rolls = np.empty((states.shape[0], 2), np.int64)
    stream = np.zeros(1, np.uint64)
    for k in range(states.shape[0]):
        stream[0] = states[k]
        rolls[k, 0], rolls[k, 1] = next_roll(stream)
        states[k] = stream[0]
    return rolls
