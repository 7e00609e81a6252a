"""Make positions of kinds that are rare in self-play, as starts of games for `motif sample --starts`.

``python -m tools.rare_positions 60000 --seed 1 --out starts.txt`` writes position IDs, of each kind in turn,
or only of some (``--kinds blitz race``):

- last-checker: the opponent's last checker behind a prime, with a strong home board opposite,
- both-back, one-back: many checkers back, of both sides or one,
- blitz: an opponent with few checkers back, or on the bar, and many of the player's checkers near them,
- hit: an opponent who was hit while bearing off,
- closeout: an opponent behind a closed board,
- race: a race with a gammon or a backgammon at stake,
- anywhere: checkers anywhere,
- primes: prime against prime, with checkers of both sides behind them,
- anchor: the player bears in or off against an anchor,
- holding: the opponent holds an anchor higher up, and perhaps the midpoint,
- back-game: the opponent holds two anchors in the player's home board,
- middle: both sides have two checkers back and a few points,
- straggler: one checker of the opponent has still to pass the player's.

The player on roll has the prime, makes the blitz or the hit, has closed the board, is ahead in the race, or
plays against the anchors or the straggler.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from motif.board.identifiers import gnubg_id
from motif.board.packed import BOARD_SIZE, OPPONENT_BAR
from motif.board.position import CHECKERS, Position
from motif.runtime.errors import PositionError
from motif.runtime.files import write_text

Random = np.random.Generator


class _Board:
    """A board on which both sides' checkers are placed at random."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.own = np.zeros(BOARD_SIZE, np.int64)
        self.opponent = np.zeros(BOARD_SIZE, np.int64)

    def place(self, own: bool, count: int, points: Iterable[int], pairs: float) -> None:
        """Place `count` checkers on `points` that the other side does not hold; a share `pairs` in twos."""
        side, other = (self.own, self.opponent) if own else (self.opponent, self.own)
        free = [point for point in points if other[point] == 0]
        while count > 0 and free:
            together = 2 if count > 1 and self.random.random() < pairs else 1
            side[self.random.choice(free)] += together
            count -= together

    def make(self, own: bool, points: Iterable[int], count: int) -> None:
        """Make `count` of the `points`."""
        side = self.own if own else self.opponent
        side[self.random.choice(list(points), count, replace=False)] += 2

    def rest(self, own: bool) -> int:
        """Return how many checkers of a side have no place yet."""
        return CHECKERS - int((self.own if own else self.opponent).sum())

    def between(self, low: int, high: int) -> int:
        """Return a random number from `low` to `high`."""
        return int(self.random.integers(low, high + 1))


def _last_checker(board: _Board) -> None:
    straggler = board.between(1, 4)
    board.make(True, range(straggler + 1, straggler + 9), board.between(5, 6))
    near = [point for point in range(max(1, straggler - 2), straggler + 13) if point != straggler]
    board.place(True, board.rest(True), near, 0)
    board.opponent[straggler] = 1
    board.make(False, range(19, 25), board.between(4, 6))
    board.place(False, board.rest(False), range(14, 25), 0)


def _many_back(board: _Board, own: int, opponent: int) -> None:
    parts = [
        (True, own, range(19, 25)),
        (False, opponent, range(1, 7)),
        (True, CHECKERS - own, range(1, 19)),
        (False, CHECKERS - opponent, range(7, 25)),
    ]
    for part in board.random.permutation(len(parts)):
        side, count, points = parts[part]
        board.place(side, count, points, 0.6)


def _both_back(board: _Board) -> None:
    _many_back(board, board.between(4, 6), board.between(4, 6))


def _one_back(board: _Board) -> None:
    many, few = board.between(6, 8), board.between(0, 3)
    _many_back(board, *((many, few) if board.random.random() < 0.5 else (few, many)))


def _blitz(board: _Board) -> None:
    board.place(True, CHECKERS - board.between(0, 2), range(3, 13), 0.7)
    board.place(True, board.rest(True), range(13, 25), 0.9)
    board.opponent[OPPONENT_BAR] = board.between(0, 2)
    board.place(False, board.between(1, 3), range(1, 6), 0.3)
    board.place(False, board.rest(False), range(12, 25), 0.7)


def _hit_while_bearing_off(board: _Board) -> None:
    off, caught = board.between(3, 12), board.between(1, 2)
    if board.random.random() < 0.5:
        board.opponent[OPPONENT_BAR] = caught
    else:
        board.place(False, caught, range(1, 9), 0.1)
    board.place(True, CHECKERS, range(1, 13), 0.7)
    board.place(False, board.rest(False) - off, range(19, 25), 0.5)


def _closed_out(board: _Board) -> None:
    board.make(True, range(1, 7), 6)
    board.place(True, board.between(0, 3), range(1, 7), 0)
    board.opponent[OPPONENT_BAR] = board.between(1, 2)
    board.place(False, board.rest(False) - board.between(0, 11), range(19, 25), 0.5)


def _race_for_a_gammon(board: _Board) -> None:
    board.place(True, board.between(1, 8), range(1, 7), 0.3)
    board.place(False, board.between(1, 3), range(7, 19), 0.3)
    board.place(False, board.rest(False) - board.between(0, 1), range(19, 25), 0.5)


def _anywhere(board: _Board) -> None:
    for own in board.random.permutation([True, False]):
        board.place(bool(own), CHECKERS, range(1, 25), 0.6)


def _prime_against_prime(board: _Board) -> None:
    own_prime, opponent_prime = board.between(3, 6), board.between(3, 6)
    board.make(True, range(own_prime, own_prime + 8), board.between(4, 6))
    free = [point for point in range(18 - opponent_prime, 26 - opponent_prime) if board.own[point] == 0]
    board.make(False, free, min(len(free), board.between(4, 6)))
    board.place(False, board.between(1, 3), range(1, own_prime + 2), 0.5)
    board.place(True, board.between(1, 3), range(23 - opponent_prime, 25), 0.5)
    board.place(True, board.rest(True), range(1, 19), 0.5)
    board.place(False, board.rest(False), range(7, 25), 0.5)


def _against_an_anchor(board: _Board) -> None:
    anchor = board.between(1, 5)
    board.opponent[anchor] = board.between(2, 3)
    off = max(0, board.between(-4, 6))
    behind = board.random.random() < 0.5
    board.place(True, CHECKERS - off, range(1 if behind else anchor + 1, 13), 0.7)
    board.place(False, board.rest(False), range(15, 25), 0.6)


def _holding_game(board: _Board) -> None:
    board.opponent[board.between(4, 8)] = board.between(2, 3)
    if board.random.random() < 0.5:
        board.opponent[12] = board.between(2, 3)
    if board.random.random() < 0.5:
        board.own[board.between(17, 21)] = 2
    board.place(True, board.rest(True), range(3, 17), 0.7)
    board.place(False, board.rest(False), range(13, 25), 0.7)


def _back_game(board: _Board) -> None:
    for anchor in board.random.choice(range(1, 6), 2, replace=False):
        board.opponent[anchor] = board.between(2, 3)
    board.place(True, CHECKERS, range(1, 15), 0.7)
    board.place(False, board.rest(False), range(9, 25), 0.6)


def _middle_game(board: _Board) -> None:
    board.place(False, 2, range(1, 8), 0.6)
    board.place(True, 2, range(18, 25), 0.6)
    free = [point for point in range(3, 10) if board.opponent[point] == 0]
    board.make(True, free, board.between(2, 4))
    board.place(True, board.rest(True), range(4, 17), 0.7)
    board.place(False, board.rest(False), range(9, 22), 0.7)


def _straggler(board: _Board) -> None:
    board.opponent[board.between(1, 12)] = 1
    board.place(True, CHECKERS - max(0, board.between(-3, 4)), range(1, 16), 0.7)
    board.place(False, board.rest(False), range(13, 25), 0.7)


KINDS: dict[str, Callable[[_Board], None]] = {
    "last-checker": _last_checker,
    "both-back": _both_back,
    "one-back": _one_back,
    "blitz": _blitz,
    "hit": _hit_while_bearing_off,
    "closeout": _closed_out,
    "race": _race_for_a_gammon,
    "anywhere": _anywhere,
    "primes": _prime_against_prime,
    "anchor": _against_an_anchor,
    "holding": _holding_game,
    "back-game": _back_game,
    "middle": _middle_game,
    "straggler": _straggler,
}


def rare_positions(seed: int, kinds: Iterable[str] = KINDS) -> Iterator[Position]:
    """Yield random positions of each kind in turn, without end."""
    random = np.random.default_rng(seed)
    for kind in cycle(kinds):
        position = None
        while position is None:
            board = _Board(random)
            KINDS[kind](board)
            position = _playable(board.own - board.opponent, board.own * board.opponent)
        yield position


def _playable(board: np.ndarray, shared: np.ndarray) -> Position | None:
    """Return the position unless it is impossible, or a side has no checkers left."""
    if shared.any() or not (board > 0).any() or not (board < 0).any():
        return None
    try:
        return Position(board)
    except PositionError:
        return None


def main() -> None:
    """Read the options and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("positions", type=int)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    options = parser.parse_args()
    found = islice(rare_positions(options.seed, options.kinds), options.positions)
    write_text(options.out, "".join(f"{gnubg_id(position)}\n" for position in found))


if __name__ == "__main__":
    main()
