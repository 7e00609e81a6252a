"""Games for money with the cube, many at a time in lockstep.

Plays are chosen by cubeless equity, so a game's moves do not depend on its cube: one game is scored with
the cube in the centre, with either player and without any, which cancels most of the luck of the dice in
the differences.  Both sides decide the cube by the model at given efficiencies; no Jacoby rule, no beavers.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from motif.board.match_state import MatchState
from motif.board.moves import play_batches
from motif.board.outcome import finished_points_many
from motif.board.position import Board, pack_many
from motif.cube.efficiency import Efficiency
from motif.cube.equities import cube_equities
from motif.cube.outcomes import Floats
from motif.evaluators import OUTPUTS, Evaluator
from motif.evaluators.probabilities import WIN, turned_equities
from motif.rollout.playout import MAX_PLIES
from motif.runtime.jit import kernel
from motif.runtime.streams import derive_states, next_roll

CENTRE, MINE, THEIRS = range(3)
"""Where the cube lies at first, seen by the player on roll then."""
OWNERS = 3

_CENTRED = MatchState()
_OWNED = MatchState(cube=2, cube_owner="me")


class _Cubes:
    """The cubes of n games, each begun with every owner, and what the first player has won with them."""

    def __init__(self, games: int) -> None:
        self.value = np.ones((OWNERS, games))
        # 0 in the centre, 1 with the player on roll, -1 with the other.
        self.owner = np.repeat(np.array([0, 1, -1])[:, None], games, axis=1)
        self.won = np.full((OWNERS, games), np.nan)

    def turn(self) -> None:
        """The other player comes on roll."""
        self.owner = turned_equities(self.owner)

    def decide(self, games: npt.NDArray[np.int64], sign: int, chances: Floats, x: Floats) -> None:
        """The player on roll of each of `games` doubles or not; `sign` is 1 if he was first."""
        centre, own = (cube_equities(chances, state, x) for state in (_CENTRED, _OWNED))
        doubled = np.minimum(centre.double_take, centre.double_pass)
        wants = np.stack([doubled >= own.no_double, doubled >= centre.no_double])
        owner = self.owner[:, games]
        turns = np.where(owner == 1, wants[0], wants[1]) & (owner >= 0) & np.isnan(self.won[:, games])
        takes = centre.double_take < centre.double_pass
        rows, columns = np.nonzero(turns & ~takes)
        self.won[rows, games[columns]] = sign * self.value[rows, games[columns]]
        rows, columns = np.nonzero(turns & takes)
        self.value[rows, games[columns]] *= 2
        self.owner[rows, games[columns]] = -1

    def finish(self, games: npt.NDArray[np.int64], points: npt.NDArray[np.int64]) -> None:
        """The first player has won `points` of `games` over the board."""
        still = np.isnan(self.won[:, games])
        self.won[:, games] = np.where(still, points * self.value[:, games], self.won[:, games])


def best_boards(evaluator: Evaluator, boards: Board, rolls: npt.NDArray[np.int64]) -> Board:
    """The boards (n, 26) after the best plays of `rolls` (n, 2), as the next players see them."""
    after = np.empty_like(boards)
    done = 0
    for batch in play_batches(boards, rolls):
        counts = np.diff(batch.offsets)
        equities = evaluator.play_equities(boards[done : done + len(counts)], batch)
        best = np.repeat(np.maximum.reduceat(equities, batch.offsets[:-1]), counts)
        found = np.flatnonzero(equities == best)
        decision = np.repeat(np.arange(len(counts)), counts)[found]
        after[done : done + len(counts)] = batch.boards[found[np.unique(decision, return_index=True)[1]]]
        done += len(counts)
    return after


def plies(
    evaluator: Evaluator, boards: Board, states: npt.NDArray[np.uint64]
) -> Iterator[tuple[int, npt.NDArray[np.int64], Board, npt.NDArray[np.int64]]]:
    """Play on from `boards` (n, 26), with dice from the streams `states` (n,), until all games are over.

    Yields, for each ply, its number, the games still played at its start, their boards seen by the player
    on roll, and the points that he has won in them: 0 while a game goes on.
    """
    games, states = np.arange(len(boards)), states.copy()
    for ply in range(MAX_PLIES):
        points = finished_points_many(pack_many(boards).view(np.int64)).astype(np.int64)
        yield ply, games, boards, points
        going = points == 0
        games, boards, states = games[going], boards[going], states[going]
        if not len(games):
            return
        boards = best_boards(evaluator, boards, _rolls(states))


def cubeful_results(
    evaluator: Evaluator, efficiency: Efficiency, seed: int, trials: int, first: int, boards: Board
) -> tuple[Floats, Floats]:
    """Mean points (n, `OWNERS`) that the players on roll of `boards` (n, 26) win, in units of the cube, which
    is not turned before the first roll; and the chances (n, 5) with which the same games end without it.

    The dice of trial t of board k are those of the stream (seed, `first` + k, t).
    """
    states = np.concatenate([derive_states(seed, first, len(boards), trial) for trial in range(trials)])
    cubes = _Cubes(len(states))
    final = np.zeros(len(states), np.int64)
    for ply, games, now, points in plies(evaluator, np.tile(boards, (trials, 1)), states):
        sign = 1 if ply % 2 == 0 else -1
        over = points != 0
        final[games[over]] = sign * points[over]
        cubes.finish(games[over], final[games[over]])
        if ply:
            cubes.turn()
            going = now[~over]
            chances = evaluator.evaluate_many(going).astype(np.float64)
            cubes.decide(games[~over], sign, chances, efficiency.of_boards(going))
    # A game without an end, which is broken off, is nobody's.
    won = np.nan_to_num(cubes.won).reshape(OWNERS, trials, len(boards)).mean(axis=1).T
    return won, _ends(final.reshape(trials, len(boards)))


def _ends(points: npt.NDArray[np.int64]) -> Floats:
    """The five probabilities (n, 5) of games (trials, n) that ended with `points`."""
    ends = np.empty((points.shape[1], len(OUTPUTS)))
    for column, least in enumerate((1, 2, 3)):
        ends[:, WIN + column] = (points >= least).mean(axis=0)
    for column, most in enumerate((-2, -3)):
        ends[:, 3 + column] = (points <= most).mean(axis=0)
    return ends


@kernel
def _rolls(states):
    """The next roll (n, 2) of each of the streams `states`, which go on."""
    rolls = np.empty((states.shape[0], 2), np.int64)
    stream = np.zeros(1, np.uint64)
    for k in range(states.shape[0]):
        stream[0] = states[k]
        rolls[k, 0], rolls[k, 1] = next_roll(stream)
        states[k] = stream[0]
    return rolls
