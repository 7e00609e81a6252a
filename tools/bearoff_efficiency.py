"""Compare Janowski's cube model with exact equities in bearoffs, for docs/explanation/lab-notes.md.

x is fitted in two ways to all pairs of at most six checkers in which each side wins 5 to 95 %: for the
smallest error of the equities, and for the lowest cost of wrong actions. The results are measured on other
pairs: up to eight checkers against up to seven, at least one side with more than six, with win probabilities
from the one-sided tables, as in play.

``python -m tools.bearoff_efficiency``
"""

from typing import NamedTuple

import numpy as np

from motif.board.match_state import MatchState
from motif.board.packed import HOME
from motif.compiler.jit import kernel
from motif.doubling.equities import cubeful_equities
from motif.evaluators.bearoff import bearoff_tables
from motif.evaluators.bearoff.lookup import TWO_SIDED_POSITIONS, chance_before, number_of
from motif.evaluators.bearoff.tables import cubeless_equities
from motif.evaluators.bearoff.two_sided_cubes import (
    MONEY_STATES,
    OPPONENTS,
    home_plays_from,
    money_cubes,
    money_rules,
    pair_values,
)
from motif.runtime.arrays import FloatArray

_STATES = MatchState(), MatchState(cube=2, cube_owner="me"), MatchState(cube=2, cube_owner="opponent")
_OPEN = 0.05
DOUBLED = 2
_SAMPLE = 200_000
_GRID = np.arange(0.4, 0.7001, 0.01)


class Pairs(NamedTuple):
    """Pairs of home positions."""

    wins: FloatArray
    """(n,): win probability of the player on roll."""
    exact: FloatArray
    """(n, 3): exact money equities without a double, by the position of the cube."""

    def open(self) -> "Pairs":
        """Pairs that both sides may still win."""
        rows = (self.wins > _OPEN) & (self.wins < 1 - _OPEN)
        return Pairs(self.wins[rows], self.exact[rows])


class Model:
    """The model's equities (n, 3) of pairs, for any x."""

    def __init__(self, pairs: Pairs) -> None:
        chances = np.zeros((len(pairs.wins), 5))
        chances[:, 0] = pairs.wins
        dead, live = (
            np.stack([cubeful_equities(chances, state, x) for state in _STATES], axis=1) for x in (0.0, 1.0)
        )
        self.pairs, self.dead, self.way = pairs, dead, live - dead

    def nearest(self) -> float:
        """Return x by least squares over all cube positions."""
        return float((self.way * (self.pairs.exact - self.dead)).sum() / (self.way**2).sum())

    def cheapest(self) -> float:
        """Return the x with the lowest cost of wrong actions, to a hundredth."""
        return float(min(_GRID, key=lambda x: sum(self.measured(float(x))[1:])))

    def measured(self, x: float) -> tuple[float, float, float, float]:
        """Return the RMS error of the equities at `x`, and the cost of wrong actions.

        Costs are in millipoints per position, for doubles, redoubles and answers to correct doubles.
        """
        exact, values = self.pairs.exact, self.dead + x * self.way
        taken = DOUBLED * exact[:, OPPONENTS]
        best = np.minimum(taken, 1)
        takes = DOUBLED * values[:, OPPONENTS] < 1
        costs = []
        for owner in range(MONEY_STATES - 1):
            doubles = np.minimum(DOUBLED * values[:, OPPONENTS], 1) >= values[:, owner]
            costs.append(np.maximum(exact[:, owner], best) - np.where(doubles, best, exact[:, owner]))
        costs.append((np.where(takes, taken, 1) - best) * (best >= exact[:, 0]))
        rms = float(np.sqrt(((values - exact) ** 2).mean()))
        double, redouble, answer = (1000 * float(cost.mean()) for cost in costs)
        return rms, double, redouble, answer


@kernel
def _wins(rows, values, own, opponent, wins):
    for k in range(own.shape[0]):
        wins[k] = chance_before(rows, values, own[k], opponent[k], 0)


def fitted_pairs() -> Pairs:
    """Return all pairs of at most six checkers per side."""
    wins = (cubeless_equities(bearoff_tables())[1:, 1:] + 1) / 2
    return Pairs(wins.reshape(-1), money_cubes()[1:, 1:].reshape(-1, MONEY_STATES)).open()


def unseen_pairs() -> Pairs:
    """Return random pairs with more checkers."""
    sides = tuple(home_plays_from(number_of([*[0] * (HOME - 1), checkers])) for checkers in (8, 7))
    values = pair_values(money_rules(), (sides[0], sides[1]), lambda steps=1: None)
    random = np.random.default_rng(1)
    first, second = (random.integers(1, len(side.numbers), _SAMPLE) for side in sides)
    player = random.integers(0, 2, _SAMPLE)
    numbers = np.stack([sides[0].numbers[first], sides[1].numbers[second]])
    rows = numbers.max(axis=0) >= TWO_SIDED_POSITIONS
    own = np.where(player == 0, numbers[0], numbers[1])[rows]
    opponent = np.where(player == 0, numbers[1], numbers[0])[rows]
    wins, tables = np.empty(len(own)), bearoff_tables()
    _wins(tables.rows, tables.values, own, opponent, wins)
    return Pairs(wins, values[player, first, second][rows]).open()


def main() -> None:
    """Print the table."""
    fit, unseen = Model(fitted_pairs()), Model(unseen_pairs())
    kinds = (("gnubg's", 0.6), ("nearest equities", fit.nearest()), ("cheapest actions", fit.cheapest()))
    for words, model in (("fitted", fit), ("unseen", unseen)):
        print(f"{len(model.pairs.wins):,} pairs, {words}; x, RMS, millipoints of double, redouble, answer:")
        for name, x in kinds:
            print(f"  {name:18}{x:.3f}", *(f"{value:8.4f}" for value in model.measured(x)))


if __name__ == "__main__":
    main()
