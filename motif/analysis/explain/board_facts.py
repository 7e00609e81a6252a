"""Facts on the board that distinguish one play from another, each with a phrase and its numbers.

Every fact can be counted on the boards before and after the plays.  It is true of the play that it favours
and false of the other.  The `Situation` determines which fact describes an event.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from motif.analysis.explain.concepts import MIN_SHOTS, Counted, Event, Moves
from motif.analysis.explain.exposure import Exposure
from motif.analysis.explain.situation import (
    BACK,
    MIDPOINT,
    PIPS_A_ROLL,
    PRIME,
    Situation,
    is_behind,
    meets,
    own_checkers,
    pips_to_home,
    pips_to_point,
    run_at,
)
from motif.board.notation import OFF
from motif.board.packed import CHECKERS, HOME, OPPONENT_BAR, OWN_BAR, POINTS, Board
from motif.board.position import Position
from motif.runtime.arrays import IntArray
from motif.runtime.streams import DICE_PAIRS

UNNAMED = "unnamed"
"""The phrase of an event that has no short description."""
WEAK = ("hold", "hold_more", "place", "move", "keep_from_off")
"""Phrases that only give the place of a checker."""
_PHRASES = {
    "bear_off": "win bear_off",
    "save_gammon": "save_gammon home_for_gammon pips_for_gammon hurry save_backgammon out_for_backgammon "
    "pips_for_backgammon",
    "hit": "hit hit_home hit_on_bar hit_rather hit_there hit_and_make hit_two hit_more",
    "shots": "no_shot fewer_shots no_shot_outside fewer_shots_outside",
    "next_rolls": "next_rolls",
    "safety": "not_hit midpoint landing_point keep_midpoint past to_safety no_blot home_safely",
    "home_board": "close_out home_point home_point_rather home_point_against_bar keep_home_point",
    "prime": "prime keep_prime keep_shorter_prime",
    "containing": "contain",
    "block": "bar_point block bar_point_contains block_contains keep_block keep_bar_point",
    "anchor": "anchor other_bar_point",
    "keep_anchor": "keep_anchor keep_other_bar_point",
    "escape": "escape run_on pass place_bar",
    "clear_rear": "clear even",
    "distribution": "in_play bring_home fill_gap lighter hold hold_more place move keep_from_off",
    "stack": "unstack",
    "mobility": "step_up step_up_more",
    "timing": "stay_back stay_back_more timing",
    "builder": "builder keep_builder",
    "make_point": "slot",
}
"""Phrases by concept."""
CONCEPTS = {phrase: concept for concept, phrases in _PHRASES.items() for phrase in phrases.split()}
"""Concept of each phrase."""
_BAR_POINT = 7
_NAMED_POINTS = {_BAR_POINT: "bar_point", MIDPOINT: "midpoint", BACK: "other_bar_point"}
"""Points outside the home boards that have names: their phrases when made, and after ``keep_`` when kept."""
_BLOCKS, _BUILDERS, _SLOTS = range(8, 12), range(7, 12), range(3, 8)
_DEEP, _STACK = 2, 5
"""Highest point where a checker is buried; minimum number of checkers in a stack."""
_FULL_PRIME = 6
"""Length of a prime that no checker passes; a longer one blocks no more."""
_MIN_SAFE_NEXT = 2
"""Minimum gain to mention in next rolls that leave no shot."""
_MIN_HELD, _MIN_SPARE = 3, 3
"""Minimum gain to mention: in rolls that contain the opponent's rearmost checker, and in pips of timing."""
_HELD = 18
"""Minimum number of rolls that a contained checker cannot play in full."""
_FEW_OUTSIDE = 4
"""Maximum number of checkers outside the home board with which the next points to clear are near."""
_SOON = 3
"""A point breaks soon if the spare pips last for at most this number of rolls."""
_WORTH = (5, 4, 6, 7, 3, 20, 21, 18, 8, 9, 22, 10, 2, 23, 11, 19, 24, 1, *range(12, 18))
"""The points, in the order in which they are named if several are made at once."""
FORGONE = "forgone"
"""Name of a value of `BoardFact`: the point on which only the other play hits."""
_ABOUT_HITS = ("not_hit", "hit_rather")
"""Phrases that say that the other play hits."""


class BoardFact(NamedTuple):
    """A phrase and the values of its placeholders."""

    phrase: str
    facts: Mapping[str, int]


_KINDS = {
    "is_race": "borne_off left saved home smoothed placed",
    "is_saving_gammon": "borne_off hit left saved made kept shots escaped home brought placed",
    "is_back_game": "borne_off hit left made kept timed escaped brought in_play cleared home placed",
    "is_bringing_in": (
        "won hit closed primed shots cleared borne_off safer evened made kept passed home timed placed"
    ),
    "is_containing": (
        "borne_off hit made contained kept far_out escaped timed cleared passed shots in_play home brought "
        "placed"
    ),
}
"""The kinds of facts that matter in a situation, most important first; the first one that holds counts."""
_FIGHT = "borne_off hit left far_out made cleared escaped passed shots kept in_play home brought timed placed"
"""The kinds of facts that matter in all other situations."""


@dataclass(frozen=True, eq=False)
class EventView:
    """An event seen from the play it favours."""

    event: Event
    """The event whose moves lead from the other play to this one."""
    situation: Situation
    board: Board
    """(26,): after this play, seen by the mover."""
    other_board: Board
    """(26,): after the other play."""
    ways: Moves
    """The moves of this play's checkers."""
    exposures: tuple[Exposure, Exposure]
    """Exposure after this play and after the other."""
    counted: tuple[Counted, Counted]
    """Counts after this play and the other."""
    gain: Counted
    """Increase of the counts due to the event; see `Contribution.gain`."""

    def facts(self) -> Iterator[BoardFact]:
        """Yield at least one fact about the event, most important first."""
        kinds = next((kinds for name, kinds in _KINDS.items() if getattr(self.situation, name)), _FIGHT)
        for kind in kinds.split():
            yield from getattr(self, f"_{kind}")()

    def fact(self) -> BoardFact:
        """Return the most important fact about the event, with the hit that this play forgoes, if any."""
        fact = next(self.facts())
        hits_more = self.board[OPPONENT_BAR] < self.other_board[OPPONENT_BAR]
        if hits_more or not self.event.missed or fact.phrase in _ABOUT_HITS:
            return fact
        return BoardFact(fact.phrase, {**fact.facts, FORGONE: max(self.event.missed)})

    @cached_property
    def _own(self) -> IntArray:
        return own_checkers(self.board)

    @cached_property
    def _other(self) -> IntArray:
        return own_checkers(self.other_board)

    @cached_property
    def _had(self) -> IntArray:
        return own_checkers(self.situation.before)

    @property
    def _targets(self) -> list[int]:
        return [target for _, target in self.event.moves]

    @cached_property
    def _contact(self) -> bool:
        return meets(self.board)

    def _more(self, low: int, high: int) -> int:
        """Return how many more checkers this play has on the points from `low` to `high`."""
        return int(self._own[low : high + 1].sum() - self._other[low : high + 1].sum())

    def _more_there(self, phrase: str, point: int, *, also: bool) -> BoardFact:
        """Return a fact about a checker on `point`, or how many more if the other play `also` has one."""
        if not also:
            return BoardFact(phrase, {"point": point})
        return BoardFact(f"{phrase}_more", {"point": point, "count": self._more(point, point)})

    def _won(self) -> Iterator[BoardFact]:
        if OFF in self._targets and self._own[OFF] == CHECKERS:
            yield BoardFact("win", {})

    def _borne_off(self) -> Iterator[BoardFact]:
        yield from self._won()
        if OFF not in self._targets or self._more(OFF, OFF) < 1:
            return
        if self._had[OFF] == 0 == self._other[OFF] and self.situation.may_lose_gammon:
            yield BoardFact("save_gammon", {})
        yield BoardFact("bear_off", {"count": self._more(OFF, OFF)})

    def _hit(self) -> Iterator[BoardFact]:
        hits = self.event.hits
        if not hits:
            return
        point = max(hits)
        before = -int(self.situation.before[OPPONENT_BAR])
        bar, other_bar = -int(self.board[OPPONENT_BAR]), -int(self.other_board[OPPONENT_BAR])
        count, others = bar - before, other_bar - before
        back = int(np.maximum(-self.board[: HOME + 1], 0).sum())
        made = [here for here in hits if self._own[here] >= 2]
        if made and count <= max(others, 1):
            yield BoardFact("hit_and_make", {"point": max(made)})
        elif count <= others:
            yield self._hit_instead(point)
        elif others:
            yield BoardFact("hit_more", {"count": count, "others": others})
        elif count > 1:
            yield BoardFact("hit_two", {"length": count})
        elif before:
            yield BoardFact("hit_on_bar", {"point": point, "nth": bar})
        elif point > HOME:
            yield BoardFact("hit", {"point": point, "count": back, "nth": back})
        else:
            yield BoardFact("hit_home", {"point": point})

    def _hit_instead(self, point: int) -> BoardFact:
        """Return the fact if the other play hits as many checkers elsewhere."""
        places = range(1, OWN_BAR)
        before = self.situation.before
        alone = [p for p in places if before[p] < 0 <= self.other_board[p] and self.board[p] < 0]
        if len(alone) == 1 and alone[0] < point:
            return BoardFact("hit_rather", {"point": point, "source": alone[0]})
        return BoardFact("hit_there", {"point": point})

    def _closed(self) -> Iterator[BoardFact]:
        """Yield the point that closes the board."""
        yield from (fact for fact in self._made() if fact.phrase == "close_out")

    def _made(self) -> Iterator[BoardFact]:
        for point in self._points(new=True):
            if (length := self._prime(point)) >= PRIME:
                yield BoardFact("prime", {"point": point, "length": length})
            elif point <= HOME:
                yield self._home_point(point)
            elif point in (_BAR_POINT, *_BLOCKS) and (rolls := self._held):
                phrase = "bar_point_contains" if point == _BAR_POINT else "block_contains"
                yield BoardFact(phrase, {"point": point, "count": rolls[0], "others": rolls[1]})
            elif point in _NAMED_POINTS:
                yield BoardFact(_NAMED_POINTS[point], {})
            elif point in _BLOCKS:
                yield BoardFact("block", {"point": point})
            elif point > BACK:
                yield BoardFact("anchor", {"point": point})
            elif self._own[point + 1 :].any():
                yield BoardFact("landing_point", {"point": point})

    @property
    def _held(self) -> tuple[int, int] | None:
        """Rolls after each play that let the opponent's rearmost checker play both dice.

        None if this play does not contain it, or if several checkers are on the bar after a play: each of
        them needs a die of its own.
        """
        if min(self.board[OPPONENT_BAR], self.other_board[OPPONENT_BAR]) < -1:
            return None
        own, other = (int(counted.held) for counted in self.counted)
        more = min(self.gain.held, own - other)
        return (DICE_PAIRS - own, DICE_PAIRS - other) if more >= _MIN_HELD and own >= _HELD else None

    def _contained(self) -> Iterator[BoardFact]:
        primes = any(fact.phrase in ("keep_prime", "keep_shorter_prime") for fact in self._kept())
        if (rolls := self._held) and not primes:
            yield BoardFact("contain", {"count": rolls[0], "others": rolls[1]})

    def _home_point(self, point: int) -> BoardFact:
        homes = [int((own[1 : HOME + 1] >= 2).sum()) for own in (self._own, self._other)]
        entering = [-int(board[OPPONENT_BAR]) for board in (self.board, self.other_board)]
        if entering[0] and homes[0] == HOME:
            return BoardFact("close_out", {})
        if entering[0] and entering[1] and homes[0] > homes[1]:
            rolls, other_rolls = (count**2 for count in homes)
            return BoardFact(
                "home_point_against_bar", {"point": point, "rolls": rolls, "others": other_rolls}
            )
        more = homes[0] if homes[0] > homes[1] else 1
        return BoardFact("home_point", {"point": point, "count": more, "others": homes[1]})

    def _kept(self) -> Iterator[BoardFact]:
        for point in self._points(new=False):
            length, had = self._prime(point), run_at(self._had, point)
            if PRIME <= length <= had:
                is_whole = length >= min(had, _FULL_PRIME)
                yield BoardFact("keep_prime" if is_whole else "keep_shorter_prime", {"length": length})
            elif point in _NAMED_POINTS:
                yield BoardFact(f"keep_{_NAMED_POINTS[point]}", {})
            elif point > BACK:
                yield BoardFact("keep_anchor", {"point": point})
            else:
                yield BoardFact("keep_home_point" if point <= HOME else "keep_block", {"point": point})

    def _points(self, *, new: bool) -> list[int]:
        """Return the event's points that only this play has made (`new`) or kept.

        Points outside the home board count only with an opposing checker behind them.
        """
        places = (point for point in self._targets if 1 <= point <= POINTS)
        there = {point for point in places if point <= HOME or is_behind(self.board, point)}
        return [
            point
            for point in _WORTH
            if point in there and self._own[point] >= 2 > self._other[point] and (self._had[point] < 2) == new
        ]

    def _prime(self, point: int) -> int:
        """Return the length of this play's prime at `point`; 0 unless it is longer than the other play's.

        Primes do not count with no checker behind them, nor while bringing checkers home past an opponent who
        has none to bring home.
        """
        situation = self.situation
        is_late = situation.is_bringing_in and not situation.opponent_comes_home
        if point >= BACK or is_late or not is_behind(self.board, point):
            return 0
        length = run_at(self._own, point)
        return length if length > max(run_at(self._other, p) for p in range(1, OWN_BAR)) else 0

    def _primed(self) -> Iterator[BoardFact]:
        yield from (fact for fact in self._made() if fact.phrase == "prime")

    def _cleared(self) -> Iterator[BoardFact]:
        rear = int(np.flatnonzero(self._had).max())
        if (
            self._contact
            and rear <= BACK
            and self._had[rear] >= 2
            and self._own[rear] == 0 < self._other[rear]
            and self.event.leaves(rear)
        ):
            yield BoardFact("clear", {"point": rear})

    def _escaped(self) -> Iterator[BoardFact]:
        yield from self._out(BACK)

    def _far_out(self) -> Iterator[BoardFact]:
        """Yield checkers brought past the midpoint; also to it, if they are the last, or out of contact."""
        is_last = not self._own[BACK + 1 :].any()
        yield from self._out((MIDPOINT - 1 + is_last) if self._contact else BACK)

    def _out(self, least: int) -> Iterator[BoardFact]:
        """Yield checkers that this play brings out of the opponent's home board to `least` or beyond."""
        escaped = {to for at, to in self.ways if at > BACK}
        out = [
            to
            for at, to in self.event.moves
            if least >= to > OFF
            and to in escaped
            and (at > BACK or at > to)
            and self._own[to] > self._had[to]
        ]
        if not out:
            return
        more, point = -self._more(BACK + 1, OWN_BAR), min(out)
        there = sum(at > BACK and to == point for at, to in self.ways)
        if more >= 1 and not self._contact:
            yield BoardFact("pass", {"point": point, "count": more})
        elif more >= 1:
            yield BoardFact("escape", {"point": point, "count": min(more, there)})
        elif self._contact:
            yield BoardFact("run_on", {"point": point, "count": min(out.count(point), there)})

    def _passed(self) -> Iterator[BoardFact]:
        """Yield checkers that only this play brings past the opponent's rearmost checker."""
        behind = _behind(self._own, self.board), _behind(self._other, self.other_board)
        last = int(np.flatnonzero(self.board < 0).min(initial=OWN_BAR))
        past = any(_DEEP < to < last < at for at, to in self.event.moves)
        helps = self.situation.is_bringing_in or not self._contact or self._is_racing_home
        if past and behind[0] < behind[1] and helps:
            yield BoardFact("past", {"count": behind[1] - behind[0]})

    @property
    def _is_racing_home(self) -> bool:
        """Whether the mover leads the race after this play and has no back checkers."""
        after = Position(self.board)
        return after.pip_count < after.pip_count_opponent and not self._own[BACK + 1 :].any()

    def _shots(self) -> Iterator[BoardFact]:
        if min(self.gain.safe, self.exposures[1].shots - self.exposures[0].shots) >= MIN_SHOTS:
            yield shots_fact(self.exposures)
        for at, to in self.event.moves:
            alone = OFF < at <= BACK and self._other[at] == 1 and self._own[at] != 1
            if not alone or not (self.other_board[:at] < 0).any():
                continue
            moved = self._had[at] == 1 and self._own[at] == 0 and at > to > OFF
            if moved and self._own[to] >= 2 and self._own[to] > self._had[to]:
                yield BoardFact("to_safety", {"source": at, "point": to})
            elif self.gain.safe > 0 and _blots(self.board) < _blots(self.other_board):
                yield BoardFact("no_blot", {"point": at})

    def _safer(self) -> Iterator[BoardFact]:
        """Yield next rolls that leave a shot only after the other play."""
        own, other = (int(counted.safe_next) for counted in self.counted)
        if min(self.gain.safe_next, own - other) >= _MIN_SAFE_NEXT:
            yield BoardFact("next_rolls", {"count": DICE_PAIRS - own, "others": DICE_PAIRS - other})

    def _evened(self) -> Iterator[BoardFact]:
        """Yield an even number of checkers on the highest point, if the other play leaves an odd number.

        It matters when that point is among the last to clear.
        """
        if self._own[HOME + 1 :].sum() > _FEW_OUTSIDE:
            return
        point = int(np.flatnonzero(self._own[1:]).max(initial=-1)) + 1
        counts = int(self._own[point]), int(self._other[point])
        highest = point == int(np.flatnonzero(self._other[1:]).max(initial=-1)) + 1
        if point and highest and counts[0] % 2 == 0 and counts[1] % 2 and self.event.leaves(point):
            yield BoardFact("even", {"point": point, "count": counts[0], "others": counts[1]})

    def _in_play(self) -> Iterator[BoardFact]:
        """Yield checkers that only the other play buries, unless this one buries as many elsewhere."""
        if self._more(OFF + 1, _DEEP) >= 0:
            return
        for at, to in self.event.moves:
            buried = OFF < at <= _DEEP < to and self._other[at] > max(self._had[at], self._own[at])
            if buried and self._own[to] > self._other[to] and self._contact:
                yield BoardFact("in_play", {"point": at})

    def _brought(self) -> Iterator[BoardFact]:
        for at, to in self.event.moves:
            is_new, more = self._own[to] > self._had[to], self._own[to] > self._other[to]
            aims = is_behind(self.board, to)
            spare = to in _BUILDERS and self._own[to] < _STACK
            if spare and more and aims and not (is_new and at < to):
                yield BoardFact("builder" if is_new else "keep_builder", {"point": to})
            if at > to > BACK and is_new and more:
                yield self._more_there("step_up", to, also=bool(self._other[to] > self._had[to]))
            elif to > at and OWN_BAR > to > BACK and more and not is_new:
                yield self._more_there("stay_back", to, also=bool(self._other[to]))
            is_blot = self._own[to] == 1 and self._had[to] == 0
            if to in _SLOTS and at > to and is_blot and more and aims:
                yield BoardFact("slot", {"point": to})
            fewest = min(self._other[at], self._had[at])
            if OFF < at < OWN_BAR and self._own[at] < fewest >= _STACK:
                yield BoardFact("unstack", {"point": at})

    def _timed(self) -> Iterator[BoardFact]:
        """Yield more pips to play before a point breaks, if it would break soon after the other play.

        A midpoint that only one play gives up is not among the points to hold.
        """
        if (self._own[MIDPOINT] >= 2) != (self._other[MIDPOINT] >= 2):
            return
        own, other = self.counted
        enough = min(self.gain.spare, own.spare - other.spare) >= _MIN_SPARE
        if self._contact and enough and other.spare <= _SOON * PIPS_A_ROLL:
            yield BoardFact("timing", {"pips": int(own.spare), "others": int(other.spare)})

    def _left(self) -> Iterator[BoardFact]:
        """Yield progress out of the opponent's home board, if a backgammon is at stake."""
        if not self.situation.may_lose_backgammon or not any(at > BACK for at, _ in self.event.moves):
            return
        back, more = int(self._own[BACK + 1 :].sum()), -self._more(BACK + 1, OWN_BAR)
        own, other = pips_to_point(self._own, BACK), pips_to_point(self._other, BACK)
        if more > 0:
            is_saved = back == 0 and not self._contact
            yield BoardFact("save_backgammon" if is_saved else "out_for_backgammon", {"count": more})
        elif more == 0 and own < other:
            yield BoardFact("pips_for_backgammon", {"count": own, "others": other})

    def _saved(self) -> Iterator[BoardFact]:
        """Yield progress towards bearing off the first checker, if a gammon is at stake."""
        if not self.situation.is_saving_gammon:
            return
        more = self._more(OFF, HOME)
        if more > 0 and any(at > HOME >= to for at, to in self.event.moves):
            yield BoardFact("home_for_gammon", {"count": more})
        own, other = pips_to_home(self._own), pips_to_home(self._other)
        nearer = [to for at, to in self.event.moves if at > to >= OFF and at > HOME]
        if own < other and nearer:
            phrase = "pips_for_gammon" if max(nearer) <= HOME else "hurry"
            yield BoardFact(phrase, {"count": own, "others": other, "point": max(nearer)})

    def _home(self) -> Iterator[BoardFact]:
        more = self._more(OFF, HOME)
        if more < 1 or not any(at > HOME >= to for at, to in self.event.moves):
            return
        if not self._contact:
            yield BoardFact("bring_home", {"count": more})
        elif np.flatnonzero(self._own).max() <= MIDPOINT:
            yield BoardFact("home_safely", {"count": more})

    def _smoothed(self) -> Iterator[BoardFact]:
        """Yield a filled gap, or fewer checkers on a high point, in a race."""
        points = range(HOME, OFF, -1)
        filled = [point for point in points if self._own[point] > 0 == self._other[point]]
        empty = [point for point in points if self._own[point] == 0 < self._other[point]]
        if len(filled) > len(empty):
            new = [point for point in filled if self._had[point] == 0]
            kept = [point for point in filled if self._had[point] >= self._own[point]]
            if new or kept:
                yield BoardFact("fill_gap" if new else "hold", {"point": (new or kept)[0]})
        differing = [point for point in points if self._own[point] != self._other[point]]
        if differing and self._own[differing[0]] < self._other[differing[0]]:
            point = differing[0]
            counts = int(self._own[point]), int(self._other[point])
            yield BoardFact("lighter", {"point": point, "count": counts[0], "others": counts[1]})

    def _placed(self) -> Iterator[BoardFact]:
        for at, to in self.event.moves:
            if to == OFF:
                if self._more(OFF, OFF) > 0:
                    yield BoardFact("bear_off", {"count": self._more(OFF, OFF)})
            elif at == OFF:
                yield BoardFact("keep_from_off", {"point": to})
            elif at == OWN_BAR:
                yield BoardFact("place_bar", {"point": to})
            elif self._had[to] >= self._own[to]:
                yield self._more_there("hold", to, also=bool(self._other[to]))
            else:
                moved = (at, to) in self.ways and self._own[at] < self._had[at]
                yield BoardFact("move" if moved else "place", {"point": to, "source": at})
        bars = self.situation.before[OPPONENT_BAR], self.board[OPPONENT_BAR]
        if self.event.missed and bars[0] == bars[1]:
            yield BoardFact("not_hit", {})
        yield BoardFact(UNNAMED, {})


def shots_fact(exposures: tuple[Exposure, Exposure]) -> BoardFact:
    """Return the fact that a play, whose exposure comes first, leaves fewer shots than the other."""
    own, other = exposures
    outside = "_outside" * (own.blots_back or other.blots_back)
    if own.shots:
        return BoardFact(f"fewer_shots{outside}", {"count": own.shots, "others": other.shots})
    return BoardFact(f"no_shot{outside}", {"count": other.shots})


def _blots(board: Board) -> int:
    """Return how many own blots outside the opponent's home board a roll might hit on a `board` (26,)."""
    return sum(int(board[point] == 1) and is_behind(board, point) for point in range(1, BACK + 1))


def _behind(own: IntArray, board: Board) -> int:
    """Return how many of `own` (26,) still have to pass the opponent's rearmost checker on `board` (26,)."""
    last = int(np.flatnonzero(board < 0).min(initial=OWN_BAR + 1))
    return int(own[max(last + 1, 1) :].sum())
