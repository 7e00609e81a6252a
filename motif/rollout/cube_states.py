"""Every cube that a game may come to, as arrays for kernels: what to do with it, and which play to choose.

Whoever is on roll doubles, and his opponent takes or passes, by what the position is worth with the cube
where it then lies: exactly where the tables know, elsewhere by Janowski's model (`motif.evaluators.stakes`).
Rollouts, the fit of the cube's efficiency and matches all play by these kernels.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.packed import PACKED_WORDS, unpack
from motif.evaluators.bearoff.lookup import all_home, home_number
from motif.evaluators.kernels import best_reply
from motif.evaluators.probabilities import WIN_GAMMON
from motif.evaluators.stakes import EVEN, Stakes, value_for_side
from motif.runtime.jit import FLAG, NOTHING, inline_kernel, kernel, lean_kernel, words_of
from motif.runtime.streams import derive

NO_DOUBLE = -1
"""In place of a state where a double is of no use."""
_OPPONENT = PACKED_WORDS // 2


class CubeStates(NamedTuple):
    """The S cubes that a game may come to from one state of the match, the root, which is number 0.

    Side 0 is a player of the root, mostly the one on roll there, side 1 his opponent.  All values are
    normalised equities of the root, as those of `Stakes` are; those of the two sides add up to 0.
    """

    kind: npt.NDArray[np.int64]
    """(S,): this and the next four are those of the `Stakes` of each state."""
    owner: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    worth: npt.NDArray[np.float64]
    """(S, 2, levels, 7)"""
    played_out: npt.NDArray[np.int64]
    """(S, 2)"""
    efficiency: npt.NDArray[np.float64]
    """The numbers of the cube's efficiency."""
    cube: npt.NDArray[np.int64]
    """(S,): what the cube shows."""
    doubled: npt.NDArray[np.int64]
    """(S, 2): the state when a double of either side is taken; or `NO_DOUBLE`."""
    exact: npt.NDArray[np.float64]
    """(V, n, n, T): exact values, without a double before this roll, of the player on roll: seen by either
    side, or by both alike where V is 1; by the numbers of his home position and of his opponent's."""
    column: npt.NDArray[np.int64]
    """(S, 2): where in `exact` each state stands when either side is on roll."""
    middle: npt.NDArray[np.float64]
    """(2,): the entry of `exact` that stands for the equity 0 of either side."""
    factor: npt.NDArray[np.float64]
    """(S,): equity for each unit of `exact`."""


def stakes_in(cubes: CubeStates, state: int) -> Stakes:
    """What is at stake with the cube in one state."""
    return Stakes(
        cubes.kind[state],
        cubes.owner[state],
        cubes.last[state],
        cubes.worth[state],
        cubes.played_out[state],
        cubes.efficiency,
    )


_stakes_at = inline_kernel(stakes_in)


@lean_kernel(FLAG)
def is_known(cubes, words):
    """Whether the exact tables of `cubes` have the packed board `words` int64[8]."""
    if not all_home(words):
        return False
    positions = cubes.exact.shape[1]
    return home_number(words[0]) < positions and home_number(words[_OPPONENT]) < positions


@inline_kernel
def _rolled(cubes, state, side, words, packed, row, known):
    """What a board is worth to `side`, who is on roll and does not double."""
    if not known:
        return value_for_side(_stakes_at(cubes, state), side, words, packed, row)
    own, opponent = home_number(words[0]), home_number(words[_OPPONENT])
    value = cubes.exact[side % cubes.exact.shape[0], own, opponent, cubes.column[state, side]]
    return (value - cubes.middle[side]) * cubes.factor[state]


@lean_kernel(NOTHING)
def turn_cubes(cubes, states, sides, packed, rows, doubles, takes, values):
    """What to do with the cube in packed boards (n, 64), whose `sides` (n,) are on roll in `states` (n,).

    `rows` float64 (n, 5) are their chances.  Writes whether they should double, whether the other side should
    take a double, and what the boards are worth to `sides` when both do so.
    """
    words = words_of(packed)
    for k in range(states.shape[0]):
        state, side = states[k], sides[k]
        known = is_known(cubes, words[k])
        values[k] = _rolled(cubes, state, side, words[k], packed[k], rows[k], known)
        doubles[k], takes[k] = False, False
        doubled = cubes.doubled[state, side]
        if doubled == NO_DOUBLE:
            continue
        passed = cubes.worth[state, side, 0, EVEN + 1]
        taken = _rolled(cubes, doubled, side, words[k], packed[k], rows[k], known)
        takes[k] = taken < passed
        best = min(taken, passed)
        # Without gammons nothing is won by playing on: what seems to be is the model's rounding.
        nothing_more = known or rows[k, WIN_GAMMON] <= 0
        if best >= values[k] or (not takes[k] and nothing_more):
            doubles[k], values[k] = True, best


@lean_kernel(NOTHING)
def value_rolled(cubes, states, sides, packed, rows, values):
    """Write what packed boards (n, 64) are worth to `sides`, who are on roll and do not double."""
    words = words_of(packed)
    for k in range(states.shape[0]):
        known = is_known(cubes, words[k])
        values[k] = _rolled(cubes, states[k], sides[k], words[k], packed[k], rows[k], known)


@kernel
def known_boards(cubes, packed):
    """Whether the exact tables have each of the packed boards (n, 64)."""
    words, known = words_of(packed), np.empty(len(packed), np.bool_)
    for k in range(len(packed)):
        known[k] = is_known(cubes, words[k])
    return known


@lean_kernel(NOTHING)
def choose_with_cubes(model, cubes, states, side, packed, rolls, space, results):
    """Write for each of the packed boards int8 (n, 64) and `rolls` (n, 2) to `results` int8 (n, 26) the board
    after the play that is best for `side`, who moves, with the cube where it lies in `states` (n,)."""
    words = words_of(packed)
    for k in range(states.shape[0]):
        stakes = _stakes_at(cubes, states[k])
        play, _ = best_reply(model, stakes, side, words[k], packed[k], rolls[k, 0], rolls[k, 1], space)
        unpack(space.plays.boards[play], results[k])


@kernel
def trial_states(seed, items, first_trial, trials):
    """Random streams uint64 (n, trials) of trials `first_trial`, ... of `items` (n,)."""
    states = np.empty((items.shape[0], trials), np.uint64)
    for k in range(items.shape[0]):
        for t in range(trials):
            states[k, t] = derive(np.uint64(seed), np.uint64(items[k]), np.uint64(first_trial + t))
    return states
