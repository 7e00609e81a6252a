"""Check the facts in explanations by recounting them on the boards, slowly.

This shares nothing with motif's measuring: boards are tuples of 26 numbers, and plays are those of the oracle
`tests.board.oracle`, or of motif's generator, which is faster and tested against it. Every phrase has its own
check here; a phrase without one is an error.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from motif.analysis.explain.board_facts import FORGONE
from motif.analysis.explain.explanation import Explanation
from motif.analysis.explain.reasons import Reason
from motif.board.moves import play_batches
from tests.board.oracle import PlainBoard, boards_after, other_view

OFF, BAR = 0, 25
THROWS = [(first, second) for first in range(1, 7) for second in range(1, 7)]
ROLLS = [(first, second) for first in range(1, 7) for second in range(1, first + 1)]
HOME, BACK = range(1, 7), range(19, 26)


Plays = Callable[[PlainBoard, tuple[int, int]], set[PlainBoard]]
"""Every board that a legal play can leave, still seen by the player who moved."""


def generated(board: PlainBoard, roll: tuple[int, int]) -> set[PlainBoard]:
    """Like the oracle's `boards_after`, by motif's generator."""
    (batch,) = play_batches(np.array([board], np.int8), np.array([roll]))
    return set(map(tuple, (-batch.boards[:, ::-1]).tolist()))


def checkers(board: PlainBoard) -> list[int]:
    """Own checkers by place: 0 for those off, 25 for the bar."""
    counts = [max(number, 0) for number in board]
    counts[OFF] = 15 - sum(counts[1:])
    return counts


def throws(roll: tuple[int, int]) -> int:
    return 1 if roll[0] == roll[1] else 2


@lru_cache(maxsize=4096)
def hits_outside(board: PlainBoard, plays: Plays) -> int:
    """Rolls out of 36 with which the opponent can hit a blot outside the opponent's home board."""
    blots = [point for point in range(1, 19) if board[point] == 1]
    if not blots or not any(number < 0 for number in board):
        return 0
    theirs = other_view(board)
    count = 0
    for roll in ROLLS:
        after = (other_view(result) for result in plays(theirs, roll))
        count += throws(roll) * any(result[point] < 1 for result in after for point in blots)
    return count


@lru_cache(maxsize=4096)
def can_be_hit(board: PlainBoard, plays: Plays) -> bool:
    """Whether the opponent has a roll that hits."""
    if not any(board[p] == 1 and any(number < 0 for number in board[:p]) for p in range(1, 25)):
        return False
    theirs = other_view(board)
    return any(other_view(result)[BAR] > board[BAR] for roll in ROLLS for result in plays(theirs, roll))


@lru_cache(maxsize=1024)
def next_rolls_with_shots(board: PlainBoard, plays: Plays) -> int:
    """Own next rolls out of 36 that leave a shot whatever is played, if the opponent does not move."""
    return sum(
        throws(roll) for roll in ROLLS if all(can_be_hit(after, plays) for after in plays(board, roll))
    )


def longest_prime(board: PlainBoard, holding: bool = False) -> int:
    """Own made points in a row; `holding` counts only runs that end on the 5 point or beyond."""
    longest = 0
    for low in range(1, 25):
        high = low
        while high <= 24 and board[high] >= 2:
            high += 1
        if high > (5 if holding else 0):
            longest = max(longest, high - low)
    return longest


def freeing_rolls(board: PlainBoard) -> int:
    """Rolls with which the opponent's rearmost checker can play both dice, one after the other."""
    rear = next((place for place in range(26) if board[place] < 0), None)
    if rear is None:
        return 36

    def is_open(place: int) -> bool:
        return place > 24 or board[place] < 2

    return sum(
        is_open(rear + first + second) and (is_open(rear + first) or is_open(rear + second))
        for first, second in THROWS
    )


def spare_pips(board: PlainBoard) -> int:
    """Pips to play without breaking a point or moving back checkers; home down to 1, elsewhere to 6."""
    spare = 0
    for point in range(1, 19):
        extra = board[point] if board[point] == 1 and point > 6 else max(board[point] - 2, 0)
        spare += extra * (point - (1 if point <= 6 else 6))
    return spare


@dataclass(frozen=True)
class Claim:
    """A reason for a play, with its boards from the mover's side."""

    reason: Reason
    before: PlainBoard
    own: PlainBoard
    """After the play that it speaks for."""
    other: PlainBoard
    """After the other one."""
    moves: tuple[tuple[int, int], ...]
    plays: Plays

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.reason.facts

    def __getattr__(self, name: str) -> Any:
        if name in self.reason.facts:
            return self.reason.facts[name]
        raise AttributeError(name)

    @cached_property
    def had(self) -> list[int]:
        return checkers(self.before)

    @cached_property
    def has(self) -> list[int]:
        return checkers(self.own)

    @cached_property
    def there(self) -> list[int]:
        return checkers(self.other)

    @property
    def hits(self) -> tuple[int, int]:
        """Checkers that this play hits, and the other play."""
        return -self.own[OFF] + self.before[OFF], -self.other[OFF] + self.before[OFF]

    def sums(self, places) -> tuple[int, int]:
        return sum(self.has[p] for p in places), sum(self.there[p] for p in places)

    def more(self, places) -> int:
        first, second = self.sums(places)
        return first - second

    def hit_on(self, point: int) -> bool:
        """Whether this play hits on the point."""
        return self.before[point] == -1 and self.own[point] >= 0

    def made(self, low: int, high: int) -> bool:
        return low <= self.point <= high and self.has[self.point] >= 2 > max(
            self.there[self.point], self.had[self.point]
        )

    def kept(self, low: int, high: int, point: int | None = None) -> bool:
        at = self.point if point is None else point
        return low <= at <= high and min(self.had[at], self.has[at]) >= 2 > self.there[at]

    def home_points(self) -> tuple[int, int]:
        return tuple(sum(side[p] >= 2 for p in HOME) for side in (self.has, self.there))

    def contact(self) -> bool:
        """Whether the opponent has a checker behind one of the mover's after this play."""
        return any_contact(self.own)

    def behind(self, board: PlainBoard) -> int:
        """Own checkers with an opposing checker behind them."""
        return sum(max(board[p], 0) for p in range(1, 26) if any(board[q] < 0 for q in range(p)))

    def frees(self) -> bool:
        """Whether the counts hold; with two checkers on the bar, neither plays both dice."""
        return (
            min(self.own[OFF], self.other[OFF]) >= -1
            and (self.count, self.others) == (freeing_rolls(self.own), freeing_rolls(self.other))
            and self.count < self.others
        )

    def shots(self) -> tuple[int, int]:
        return hits_outside(self.own, self.plays), hits_outside(self.other, self.plays)

    def risks(self) -> tuple[int, int]:
        return next_rolls_with_shots(self.own, self.plays), next_rolls_with_shots(self.other, self.plays)

    def blots_back(self) -> bool:
        return any(1 in (self.own[p], self.other[p]) for p in range(19, 25))

    def pips_outside(self) -> tuple[int, int]:
        return tuple(sum(side[p] * (p - 6) for p in range(7, 26)) for side in (self.has, self.there))

    def pips_back(self) -> tuple[int, int]:
        return tuple(sum(side[p] * (p - 18) for p in BACK) for side in (self.has, self.there))

    def out_of_board(self) -> bool:
        """Whether this play takes `count` more checkers out of the opponent's home board, and none is off."""
        return -self.more(BACK) == self.count > 0 and self.has[OFF] == self.there[OFF] == 0

    def faces(self) -> bool:
        """Whether an opposing checker is still behind the point after this play."""
        return any(self.own[p] < 0 for p in range(self.point))

    def leads_home(self) -> bool:
        """Whether this play leads the race and has no back checkers, comes home past the opponent or ends
        the contact.
        """
        if not self.contact():
            return True
        own = sum(max(self.own[p], 0) * p for p in range(26))
        theirs = sum(-min(self.own[p], 0) * (25 - p) for p in range(26))
        return (own < theirs and not any(self.has[19:])) or max(p for p in range(26) if self.had[p]) <= 13

    def arrives(self) -> bool:
        """Whether this play moves a checker to the point and leaves it there."""
        ends = {to for _, to in self.moves}
        return self.point in ends and self.has[self.point] > self.had[self.point]


def any_contact(board: PlainBoard) -> bool:
    own = [p for p in range(1, 26) if board[p] > 0]
    return bool(own) and any(board[p] < 0 for p in range(max(own)))


def facing_blots(board: PlainBoard) -> int:
    """Own blots outside the opponent's home board with an opposing checker behind them."""
    return sum(board[p] == 1 and any(board[q] < 0 for q in range(p)) for p in range(1, 19))


def _opponents_back(board: PlainBoard) -> int:
    return sum(-min(board[p], 0) for p in range(7))


CHECKS: Mapping[str, Callable[[Claim], bool]] = {
    "win": lambda it: it.has[OFF] == 15,
    "save_gammon": lambda it: it.had[OFF] == it.there[OFF] == 0 < it.has[OFF],
    "bear_off": lambda it: it.more([OFF]) == it.count > 0,
    "hit": lambda it: (
        it.hit_on(it.point)
        and it.hits == (1, 0)
        and it.before[OFF] == 0
        and it.nth == _opponents_back(it.own)
    ),
    "hit_home": lambda it: it.hit_on(it.point) and it.hits == (1, 0) and it.before[OFF] == 0,
    "hit_on_bar": lambda it: (
        it.hit_on(it.point) and it.hits == (1, 0) and it.before[OFF] < 0 and it.nth == -it.own[OFF] >= 2
    ),
    "hit_rather": lambda it: (
        it.hit_on(it.point)
        and it.hits[0] <= it.hits[1]
        and it.before[it.source] == it.own[it.source] == -1 < it.other[it.source]
    ),
    "hit_there": lambda it: it.hit_on(it.point) and it.other[it.point] < 0,
    "not_hit": lambda it: it.hits[0] == 0 < it.hits[1],
    "hit_and_make": lambda it: it.hit_on(it.point) and it.has[it.point] >= 2 and it.other[it.point] < 0,
    "hit_two": lambda it: it.hits == (it.length, 0) and it.length > 1,
    "hit_more": lambda it: it.hits == (it.count, it.others) and it.count > it.others > 0,
    "close_out": lambda it: it.home_points()[0] == 6 > it.home_points()[1] and it.own[OFF] < 0,
    "home_point": lambda it: (
        it.made(1, 6)
        and (it.count == 1 or (it.count, it.others) == it.home_points())
        and it.others == it.home_points()[1]
    ),
    "home_point_rather": lambda it: (
        it.made(1, 6)
        and it.source in HOME
        and it.there[it.source] >= 2 > max(it.had[it.source], it.has[it.source])
    ),
    "home_point_against_bar": lambda it: (
        it.made(1, 6)
        and max(it.own[OFF], it.other[OFF]) < 0
        and (it.rolls, it.others) == (dances(it.own), dances(it.other))
        and it.rolls > it.others
    ),
    "prime": lambda it: (
        it.made(1, 18)
        and it.faces()
        and it.length == prime_at(it.own, it.point) > longest_prime(it.other, holding=True)
    ),
    "keep_prime": lambda it: (
        it.length == longest_prime(it.own, holding=True) > longest_prime(it.other, holding=True)
        and it.length >= min(longest_prime(it.had), 6)
        and primes_kept(it)
    ),
    "keep_shorter_prime": lambda it: (
        it.length == longest_prime(it.own, holding=True) > longest_prime(it.other, holding=True)
        and it.length < min(longest_prime(it.had), 6)
        and primes_kept(it)
    ),
    "contain": lambda it: it.frees(),
    "bar_point": lambda it: bar_point(it),
    "bar_point_contains": lambda it: bar_point(it) and it.frees(),
    "block": lambda it: it.made(8, 11) and it.faces(),
    "block_contains": lambda it: it.made(8, 11) and it.frees() and it.faces(),
    "midpoint": lambda it: it.has[13] >= 2 > max(it.there[13], it.had[13]) and it.contact(),
    "landing_point": lambda it: it.made(12, 17) and it.faces() and any(it.has[it.point + 1 :]),
    "anchor": lambda it: it.made(19, 24),
    "other_bar_point": lambda it: it.has[18] >= 2 > max(it.there[18], it.had[18]),
    "keep_home_point": lambda it: it.kept(1, 6),
    "keep_block": lambda it: it.kept(8, 17),
    "keep_bar_point": lambda it: it.kept(7, 7, 7),
    "keep_midpoint": lambda it: it.kept(13, 13, 13),
    "keep_anchor": lambda it: it.kept(19, 24),
    "keep_other_bar_point": lambda it: it.kept(18, 18, 18),
    "escape": lambda it: it.arrives() and 1 <= it.count == min(-it.more(BACK), come_from_back(it)),
    "pass": lambda it: -it.more(BACK) == it.count > 0 and not it.contact() and any_contact(it.other),
    "run_on": lambda it: (
        it.arrives()
        and it.point <= 18
        and 1 <= it.count <= min(come_from_back(it), it.has[it.point] - it.had[it.point])
        and it.contact()
    ),
    "clear": lambda it: (
        it.had[it.point] >= 2
        and it.has[it.point] == 0 < it.there[it.point]
        and not any(it.had[it.point + 1 :])
        and it.contact()
    ),
    "past": lambda it: it.behind(it.other) - it.behind(it.own) == it.count > 0 and it.leads_home(),
    "no_shot": lambda it: it.shots() == (0, it.count) and not it.blots_back(),
    "fewer_shots": lambda it: (
        it.shots() == (it.count, it.others) and it.count < it.others and not it.blots_back()
    ),
    "no_shot_outside": lambda it: it.shots() == (0, it.count) and it.blots_back(),
    "fewer_shots_outside": lambda it: it.shots() == (it.count, it.others) and it.count < it.others,
    "next_rolls": lambda it: (it.count, it.others) == it.risks() and it.count < it.others,
    "even": lambda it: (
        (it.has[it.point], it.there[it.point]) == (it.count, it.others)
        and it.count % 2 == 0
        and it.others % 2 == 1
        and not any(it.has[it.point + 1 :])
    ),
    "to_safety": lambda it: (
        it.had[it.source] == it.there[it.source] == 1
        and it.has[it.source] == 0
        and it.has[it.point] >= 2
        and it.arrives()
    ),
    "no_blot": lambda it: (
        it.there[it.point] == 1 != it.has[it.point] and facing_blots(it.own) < facing_blots(it.other)
    ),
    "in_play": lambda it: (
        it.point <= 2 and it.there[it.point] > max(it.had[it.point], it.has[it.point]) and it.more((1, 2)) < 0
    ),
    "unstack": lambda it: it.has[it.point] < min(it.had[it.point], it.there[it.point]) >= 5,
    "step_up": lambda it: (
        it.arrives() and it.point > 18 and it.has[it.point] > it.there[it.point] <= it.had[it.point]
    ),
    "step_up_more": lambda it: (
        it.arrives()
        and it.point > 18
        and it.more([it.point]) == it.count > 0
        and it.there[it.point] > it.had[it.point]
    ),
    "stay_back": lambda it: (
        18 < it.point < 25 and it.had[it.point] >= it.has[it.point] > 0 == it.there[it.point]
    ),
    "stay_back_more": lambda it: (
        18 < it.point < 25
        and it.had[it.point] >= it.has[it.point]
        and it.there[it.point] > 0
        and it.more([it.point]) == it.count > 0
    ),
    "timing": lambda it: (
        (it.pips, it.others) == (spare_pips(it.own), spare_pips(it.other)) and it.pips > it.others
    ),
    "builder": lambda it: 7 <= it.point <= 11 and it.arrives() and 5 > it.has[it.point] > it.there[it.point],
    "keep_builder": lambda it: (
        7 <= it.point <= 11
        and it.had[it.point] >= it.has[it.point] > it.there[it.point]
        and it.has[it.point] < 5
    ),
    "slot": lambda it: (
        it.arrives() and it.has[it.point] == 1 and it.had[it.point] == 0 == it.there[it.point] and it.faces()
    ),
    "bring_home": lambda it: it.more(range(7)) == it.count > 0,
    "home_safely": lambda it: it.more(range(7)) == it.count > 0,
    "home_for_gammon": lambda it: it.more(range(7)) == it.count > 0 and it.had[OFF] == 0,
    "pips_for_gammon": lambda it: (it.count, it.others) == it.pips_outside() and it.count < it.others,
    "hurry": lambda it: (
        (it.count, it.others) == it.pips_outside()
        and it.count < it.others
        and it.has[it.point] > it.there[it.point]
    ),
    "save_backgammon": lambda it: it.out_of_board() and not any(it.has[19:]) and not it.contact(),
    "out_for_backgammon": lambda it: it.out_of_board(),
    "pips_for_backgammon": lambda it: (
        (it.count, it.others) == it.pips_back() and it.count < it.others and it.more(BACK) == it.has[OFF] == 0
    ),
    "fill_gap": lambda it: it.has[it.point] > 0 == it.there[it.point] and it.point in HOME,
    "lighter": lambda it: (
        (it.has[it.point], it.there[it.point]) == (it.count, it.others) and it.count < it.others
    ),
    "place": lambda it: it.has[it.point] > it.there[it.point] and (it.has[it.source] < it.there[it.source]),
    "move": lambda it: it.arrives() and it.has[it.source] < it.had[it.source],
    "hold": lambda it: it.had[it.point] >= it.has[it.point] > 0 == it.there[it.point],
    "hold_more": lambda it: (
        it.had[it.point] >= it.has[it.point]
        and it.there[it.point] > 0
        and it.more([it.point]) == it.count > 0
    ),
    "keep_from_off": lambda it: it.has[it.point] > it.there[it.point] and it.more([OFF]) < 0,
    "place_bar": lambda it: it.has[it.point] > it.there[it.point] and it.has[BAR] < it.there[BAR],
}
BEYOND = frozenset(
    {
        *(
            "score",
            "score_equal",
            "score_gammon_go",
            "score_gammon_save",
            "score_no_gammons",
            "score_dead_gammons",
            "cashed",
            "both_cashed",
            "rollout",
            "rest",
        ),
        *("cube", "cube_equal", "cube_no_gammons", "rolls", "ahead", "ending", "exact"),
    }
)
"""Phrases that say nothing of the board but which play they speak for."""


def dances(board: PlainBoard) -> int:
    """Rolls with which a checker on the opponent's bar cannot enter."""
    return sum(all(board[die] >= 2 for die in throw) for throw in THROWS)


def prime_at(board: PlainBoard, point: int) -> int:
    low = high = point
    while board[low - 1] >= 2 and low > 1:
        low -= 1
    while high < 24 and board[high + 1] >= 2:
        high += 1
    return high - low + 1


def primes_kept(it: Claim) -> bool:
    """Whether a longest prime includes a point that existed before and is gone after the other play."""
    return any(
        prime_at(it.own, p) == it.length and min(it.had[p], it.has[p]) >= 2 > it.there[p]
        for p in range(1, 19)
        if it.own[p] >= 2
    )


def bar_point(it: Claim) -> bool:
    return it.has[7] >= 2 > max(it.there[7], it.had[7])


def come_from_back(it: Claim) -> int:
    """How many checkers leave the opponent's home board with this play and end on the point."""
    places: list[int] = []
    for start, end in sorted(it.moves, reverse=True):
        if start in places:
            places.remove(start)
        elif start < 19:
            continue
        places.append(end)
    return places.count(it.point)


def claims(told: Explanation, plays: Plays = boards_after) -> Iterator[Claim]:
    """Every reason shown, with its boards."""
    before = tuple(told.position.board.tolist())
    after = [tuple(play.position.switch_sides().board.tolist()) for play in (told.better, told.worse)]
    for reason in told.reasons:
        side = reason.play == "worse"
        moves = (told.better, told.worse)[side].moves
        yield Claim(reason, before, after[side], after[not side], tuple(moves), plays)


def is_true(claim: Claim, told: Explanation) -> bool:
    """Whether the claim holds; a phrase without a check raises `KeyError`."""
    phrase = claim.reason.phrase
    if phrase in BEYOND:
        return True
    if claim.reason.concept == "lookahead" and phrase == "next_rolls":
        is_own = claim.facts["play"] == (claim.reason.play == "worse")
        counts = claim.risks() if is_own else claim.risks()[::-1]
        return (claim.facts["count"], claim.facts["others"]) == counts
    if phrase == "hits":
        return hits_are_true(claim, told)
    if (point := claim.facts.get(FORGONE)) is not None:
        there = [board[point] for board in (claim.before, claim.own, claim.other)]
        opponents_on_bar = -claim.own[0], -claim.other[0]
        if not (there[0] < 0 and there[1] < 0 <= there[2] and opponents_on_bar[0] <= opponents_on_bar[1]):
            return False
    return CHECKS[phrase](claim)


def hits_are_true(claim: Claim, told: Explanation) -> bool:
    """Whether each of the named rolls can hit, and their number is right."""
    assert told.evidence.replies is not None
    play = claim.facts["play"]
    theirs = tuple((told.better, told.worse)[play].position.board.tolist())
    count = 0
    for roll, hits in zip(ROLLS, told.evidence.replies.hit_rolls[play].tolist(), strict=True):
        if hits:
            count += throws(roll)
            if not any(result[OFF] < theirs[OFF] for result in claim.plays(theirs, roll)):
                return False
    return count == claim.facts["count"]
