"""Why a play is better, as a player says it: each part of the difference with what it did on the board.

A part speaks for one of the two plays, and is told by what that play has of it: what it makes, keeps, hits or
brings somewhere where the other does not.  So nothing is told that is the same after both, and nothing speaks
for a play that a player would hold against it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from motif.analysis.explain.concepts import (
    OFF,
    Counted,
    Event,
    Moves,
    Part,
    counted_on,
    own_checkers,
    whole_ways,
)
from motif.analysis.phrases import Phrases, sentence
from motif.board.moves import Play
from motif.board.packed import CHECKERS, HOME, OPPONENT_BAR, OWN_BAR, POINTS, Board
from motif.runtime.streams import THROWS

Side = Literal["better", "worse"]
CONCEPTS: Mapping[str, str] = {
    "win": "bear_off",
    "save_gammon": "save_gammon",
    "bear_off": "bear_off",
    "hit": "hit",
    "hit_home": "hit",
    "not_hit": "safety",
    "hit_and_make": "hit",
    "hit_two": "hit",
    "close_out": "home_board",
    "home_point": "home_board",
    "home_point_against_bar": "home_board",
    "keep_home_point": "home_board",
    "prime": "prime",
    "keep_prime": "prime",
    "bar_point": "block",
    "block": "block",
    "bar_point_contains": "block",
    "block_contains": "block",
    "keep_block": "block",
    "keep_bar_point": "block",
    "midpoint": "safety",
    "landing_point": "safety",
    "keep_midpoint": "safety",
    "anchor": "anchor",
    "keep_anchor": "keep_anchor",
    "escape": "escape",
    "pass": "escape",
    "clear": "clear_rear",
    "past": "safety",
    "no_shot": "shots",
    "fewer_shots": "shots",
    "to_safety": "safety",
    "no_blot": "safety",
    "in_play": "distribution",
    "unstack": "stack",
    "step_up": "mobility",
    "stay_back": "timing",
    "timing": "timing",
    "builder": "builder",
    "keep_builder": "builder",
    "slot": "make_point",
    "bring_home": "distribution",
    "home_safely": "safety",
    "home_for_gammon": "save_gammon",
    "hurry": "save_gammon",
    "fill_gap": "distribution",
    "place": "distribution",
    "hold": "distribution",
    "keep_from_off": "distribution",
    "place_bar": "escape",
}
"""Concept of each phrase."""
_BACK = POINTS - HOME
"""The highest point outside the opponent's home board."""
_BAR_POINT, _MIDPOINT = 7, 13
_BLOCKS, _BUILDERS, _SLOTS = range(8, 12), range(7, 12), range(3, 8)
_DEEP, _STACK, _PRIME, _LOW = 2, 5, 4, 5
"""The last point where a checker is buried; at least: checkers of a stack, points of a prime, its end."""
_TOLD_SHOTS = 2
"""Shots that an event must save for that to be what it is about."""
_TOLD_HELD, _TOLD_SPARE = 3, 3
"""Rolls that must be taken from the opponent's last checker, and pips that must be kept, to be told."""
_HELD = 18
"""Rolls that he cannot play in full if he is held."""
_SOON = 3
"""Rolls within which points that break break soon."""
_NOTHING = 1e-9
_PIPS_A_ROLL = 49 / 6
_NEAR = 0.6
"""A gammon is at stake if one needs more rolls for the first checker than this share of the opponent's."""
_WEAK = ("hold", "place", "keep_from_off")
"""Phrases that say no more than where a checker stands."""
_WORTH = (5, 4, 6, 7, 3, 20, 21, 18, 8, 9, 22, 10, 2, 23, 11, 19, 24, 1, *range(12, 18))
"""The points, those first that one would name of several made at once."""


@dataclass(frozen=True)
class Reason:
    """A part of the difference, in words."""

    concept: str
    play: Side
    """For which play it speaks."""
    amount: float
    """How much it brings, in points of equity; at least 0."""
    sentence: str
    is_weak: bool = False
    """Whether it says no more than where a checker stands."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "concept": self.concept,
            "play": self.play,
            "amount": self.amount,
            "sentence": self.sentence,
        }


class Fact(NamedTuple):
    """What a play has of an event: a phrase and what fills its places."""

    phrase: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Sight:
    """An event seen from the play it speaks for."""

    event: Event
    """Its moves lead from the other play to this one."""
    before: Board
    """(26,): the board before the play, as the mover sees it."""
    board: Board
    """(26,) after this play."""
    other_board: Board
    """(26,) after the other."""
    ways: Moves
    """From where to where this play moved its checkers."""
    shots: tuple[int, int]
    """Rolls of 36 that hit after this play, and after the other."""
    counted: tuple[Counted, Counted]
    """What is counted after this play, and after the other."""
    gain: Counted
    """How much more of it because of the event; see `Part.gain`."""

    def facts(self) -> Iterator[Fact]:
        """What this play has of the event, what matters most first; at least one fact."""
        kinds = (
            self._borne_off,
            self._hit,
            self._far_out,
            self._made,
            self._cleared,
            self._escaped,
            self._passed,
            self._shots,
            self._kept,
            self._in_play,
            self._home,
            self._brought,
            self._timed,
            self._placed,
        )
        for some in kinds:
            yield from some()

    @property
    def _race(self) -> bool:
        """Whether nobody has anybody left to block or to hit, after either play."""
        return not self._contact and not _meets(self.other_board)

    @property
    def _own(self) -> npt.NDArray[np.int64]:
        return own_checkers(self.board)

    @property
    def _other(self) -> npt.NDArray[np.int64]:
        return own_checkers(self.other_board)

    @property
    def _had(self) -> npt.NDArray[np.int64]:
        return own_checkers(self.before)

    @property
    def _targets(self) -> list[int]:
        return [target for _, target in self.event.moves]

    @property
    def _contact(self) -> bool:
        """Whether the opponent has a checker behind one of the mover's."""
        return _meets(self.board)

    def _borne_off(self) -> Iterator[Fact]:
        if OFF not in self._targets:
            return
        if self._own[OFF] == CHECKERS:
            yield Fact("win", {})
        if self._had[OFF] == 0 == self._other[OFF] and self._may_lose_gammon:
            yield Fact("save_gammon", {})
        yield Fact("bear_off", {"count": max(int(self._own[OFF] - self._other[OFF]), 1)})

    @property
    def _may_lose_gammon(self) -> bool:
        """Whether the opponent has begun to bear off, or is about to."""
        opponent = np.maximum(-self.board, 0)
        return opponent.sum() < CHECKERS or opponent[_BACK + 1 :].sum() == CHECKERS

    @property
    def _gammon_at_stake(self) -> bool:
        """Whether the opponent may be off, in a race, before the mover has borne off one checker."""
        left = np.maximum(-self.board, 0)
        far = (self._own * np.maximum(np.arange(len(self._own)) - HOME, 0)).sum()
        rolls, others = far / _PIPS_A_ROLL + 1, left.sum() / 2
        return bool(self._own[OFF] == 0 and self._may_lose_gammon and rolls > _NEAR * others)

    def _hit(self) -> Iterator[Fact]:
        hits = self.event.hits
        if not hits:
            return
        point = max(hits)
        back = int(np.maximum(-self.board[: HOME + 1], 0).sum())
        made = [here for here in hits if self._own[here] >= 2]
        if len(hits) > 1:
            yield Fact("hit_two", {})
        elif made:
            yield Fact("hit_and_make", {"point": point})
        elif point > HOME:
            yield Fact("hit", {"point": point, "count": back, "nth": back})
        else:
            yield Fact("hit_home", {"point": point})

    def _made(self) -> Iterator[Fact]:
        for point in self._points(new=True):
            if (length := self._prime(point)) >= _PRIME:
                yield Fact("prime", {"point": point, "length": length})
            elif point <= HOME:
                yield self._home_point(point)
            elif point in (_BAR_POINT, *_BLOCKS) and (rolls := self._held):
                phrase = "bar_point_contains" if point == _BAR_POINT else "block_contains"
                yield Fact(phrase, {"point": point, "rolls": rolls[0], "others": rolls[1]})
            elif point == _BAR_POINT:
                yield Fact("bar_point", {})
            elif point in _BLOCKS:
                yield Fact("block", {"point": point})
            elif point == _MIDPOINT:
                yield Fact("midpoint", {})
            else:
                yield Fact("landing_point" if point < _BACK else "anchor", {"point": point})

    @property
    def _held(self) -> tuple[int, int] | None:
        """Rolls that play the opponent's last checker, here and after the other play, if this holds him."""
        own, other = (int(counted.held) for counted in self.counted)
        more = min(self.gain.held, own - other)
        return (THROWS - own, THROWS - other) if more >= _TOLD_HELD and own >= _HELD else None

    def _home_point(self, point: int) -> Fact:
        homes = [int((own[1 : HOME + 1] >= 2).sum()) for own in (self._own, self._other)]
        entering = [-int(board[OPPONENT_BAR]) for board in (self.board, self.other_board)]
        if entering[0] and homes[0] == HOME:
            return Fact("close_out", {})
        if entering[0] and entering[1] and homes[0] > homes[1]:
            rolls, other_rolls = (count**2 for count in homes)
            return Fact(
                "home_point_against_bar", {"point": point, "rolls": rolls, "other_rolls": other_rolls}
            )
        more = homes[0] if homes[0] > homes[1] else 1
        return Fact("home_point", {"point": point, "count": more, "other_count": homes[1]})

    def _kept(self) -> Iterator[Fact]:
        for point in self._points(new=False):
            if (length := self._prime(point)) >= _PRIME:
                yield Fact("keep_prime", {"point": point, "length": length})
            elif point in (_BAR_POINT, _MIDPOINT):
                yield Fact("keep_bar_point" if point == _BAR_POINT else "keep_midpoint", {})
            elif point > _BACK - 1:
                yield Fact("keep_anchor", {"point": point})
            else:
                yield Fact("keep_home_point" if point <= HOME else "keep_block", {"point": point})

    def _points(self, *, new: bool) -> list[int]:
        """The points that this play alone has of the event, new ones or those that were there."""
        there = set() if self._race else {point for point in self._targets if 1 <= point <= POINTS}
        return [
            point
            for point in _WORTH
            if point in there and self._own[point] >= 2 > self._other[point] and (self._had[point] < 2) == new
        ]

    def _prime(self, point: int) -> int:
        """Length of the run of points of this play at `point` if the other play has none as long; else 0."""
        length = _run(self._own, point)
        return (
            length if point < _BACK and length > max(_run(self._other, p) for p in range(1, OWN_BAR)) else 0
        )

    def _cleared(self) -> Iterator[Fact]:
        rear = int(np.flatnonzero(self._had).max())
        if (
            self._contact
            and rear <= _BACK
            and self._had[rear] >= 2
            and self._own[rear] == 0 < self._other[rear]
            and self.event.leaves(rear)
        ):
            yield Fact("clear", {"point": rear})

    def _escaped(self) -> Iterator[Fact]:
        yield from self._out(_BACK)

    def _far_out(self) -> Iterator[Fact]:
        yield from self._out(_MIDPOINT - 1)

    def _out(self, least: int) -> Iterator[Fact]:
        """Checkers that this play brings out of the opponent's home board, as far as the point `least`."""
        escaped = {to for at, to in self.ways if at > _BACK}
        out = [
            to
            for at, to in self.event.moves
            if least >= to > OFF and (at > _BACK or (at > to and to in escaped))
        ]
        if out and self._contact:
            yield Fact("escape", {"point": min(out), "count": len(out)})
        elif out:
            yield Fact("pass", {"point": min(out), "count": len(out)})

    def _passed(self) -> Iterator[Fact]:
        """Checkers that have met the last of the opponent's here, and have not there."""
        last = int(np.flatnonzero(self.board < 0).min(initial=OWN_BAR))
        past = [to for at, to in self.event.moves if OFF < to < last < at]
        if past:
            yield Fact("past", {"count": len(past)})

    def _shots(self) -> Iterator[Fact]:
        if self.gain.safe >= _TOLD_SHOTS and self.shots[0] < self.shots[1]:
            yield shots_fact(self.shots)
        for at, to in self.event.moves:
            alone = OFF < at <= _BACK and self._other[at] == 1 and self._own[at] != 1
            if not alone or not (self.other_board[:at] < 0).any():
                continue
            if self._had[at] == 1 and self._own[at] == 0 and at > to > OFF and self._own[to] >= 2:
                yield Fact("to_safety", {"source": at, "point": to})
            elif self.gain.safe > 0:
                yield Fact("no_blot", {"point": at})

    def _in_play(self) -> Iterator[Fact]:
        for at, to in self.event.moves:
            if OFF < at <= _DEEP < to and self._contact:
                yield Fact("in_play", {"point": at})

    def _brought(self) -> Iterator[Fact]:
        for at, to in self.event.moves:
            if to in _BUILDERS and self._contact:
                yield Fact("builder" if at > to else "keep_builder", {"point": to})
            if at > to > _BACK:
                yield Fact("step_up", {"point": to})
            elif to > at and OWN_BAR > to > _BACK:
                yield Fact("stay_back", {"point": to})
            if to in _SLOTS and at > to and self._own[to] == 1 and self._had[to] == 0 and self._contact:
                yield Fact("slot", {"point": to})
            if OFF < at < OWN_BAR and self._other[at] >= _STACK and self._own[at] < self._other[at]:
                yield Fact("unstack", {"point": at})

    def _timed(self) -> Iterator[Fact]:
        """That more can be played before a point breaks, where it will soon."""
        own, other = self.counted
        enough = min(self.gain.spare, own.spare - other.spare) >= _TOLD_SPARE
        if self._contact and enough and other.spare <= _SOON * _PIPS_A_ROLL:
            yield Fact("timing", {"pips": int(own.spare), "others": int(other.spare)})

    def _home(self) -> Iterator[Fact]:
        home = sum((at > HOME >= to) - (to > HOME >= at) for at, to in self.event.moves)
        if self._contact:
            if home > 1 and np.flatnonzero(self._own).max() <= _MIDPOINT:
                yield Fact("home_safely", {"count": home})
            return
        gammon = self._gammon_at_stake
        if home > 0:
            yield Fact("home_for_gammon" if gammon else "bring_home", {"count": home})
        for at, to in self.event.moves:
            if gammon and at > to > HOME:
                yield Fact("hurry", {"point": to})
        for _, to in self.event.moves:
            if OFF < to <= HOME and self._other[to] == 0:
                yield Fact("fill_gap", {"point": to})

    def _placed(self) -> Iterator[Fact]:
        for at, to in self.event.moves or ((OFF, OFF),):
            if to == OFF:
                yield Fact("not_hit" if at == OFF else "bear_off", {"count": 1})
            elif at == OFF:
                yield Fact("keep_from_off", {"point": to})
            elif at == OWN_BAR:
                yield Fact("place_bar", {"point": to})
            elif self._had[to] >= self._own[to]:
                yield Fact("hold", {"point": to})
            else:
                yield Fact("place", {"point": to, "source": at})


def shots_fact(shots: tuple[int, int]) -> Fact:
    """That one play leaves fewer `shots` than the other, its own first."""
    own, other = shots
    return Fact("fewer_shots", {"count": own, "others": other}) if own else Fact("no_shot", {"count": other})


def reasons_of(
    parts: Iterable[Part],
    boards: tuple[Board, Board, Board],
    shots: tuple[int, int],
    plays: tuple[Play, Play],
    words: Phrases,
) -> tuple[Reason, ...]:
    """The `parts` in words, the largest first; together they add up to what those do.

    `boards` (26,) are those before and after the two plays, as the mover sees them; `shots` are the rolls of
    36 that hit after each of the `plays`.
    """
    names = [play.notation or words.say("no_move") for play in plays]
    ways = [whole_ways(play.moves) for play in plays]
    before, *after = boards
    counted = [Counted(*row) for row in counted_on(-np.array(after)[:, ::-1])]
    amounts: dict[tuple[Side, str, Any], float] = {}
    told: dict[tuple[Side, str, Any], tuple[str, bool]] = {}
    for part in sorted(parts, key=lambda part: -abs(part.amount)):
        first = part.amount >= 0
        own, other = (0, 1) if first else (1, 0)
        seen = shots[own], shots[other]
        if part.event is None:
            fact = shots_fact(seen)
        else:
            event = part.event if first else part.event.turned
            both, gain = (counted[own], counted[other]), part.gain if first else part.gain.turned
            fact = next(Sight(event, before, after[own], after[other], ways[own], seen, both, gain).facts())
        phrase = words.say("phrases", fact.phrase, **fact.facts, other=names[other])
        text = sentence(phrase) if first else words.say("against", play=names[1], phrase=phrase)
        # Two checkers that a play has more on one point are one matter.
        key: tuple[Side, str, Any] = (
            "better" if first else "worse",
            CONCEPTS[fact.phrase],
            fact.facts.get("point", text),
        )
        told.setdefault(key, (text, fact.phrase in _WEAK))
        amounts[key] = amounts.get(key, 0.0) + abs(part.amount)
    reasons = [
        Reason(concept, play, amounts[play, concept, what], *told[play, concept, what])
        for play, concept, what in told
        if amounts[play, concept, what] > _NOTHING
    ]
    return tuple(sorted(reasons, key=lambda reason: -reason.amount))


def _meets(board: Board) -> bool:
    """Whether on a `board` (26,), as the mover sees it, the opponent has a checker behind one of his."""
    own = np.flatnonzero(board > 0)
    return bool(len(own)) and bool((board[: own.max()] < 0).any())


def _run(own: npt.NDArray[np.int64], point: int) -> int:
    """How many points in a row a side has made around `point`; 0 where it has not made that.

    Points from the 4 point down, which hold nobody who has not come in yet, are none.
    """
    low = high = point
    while low > 0 and own[low] >= 2:
        low -= 1
    while high <= POINTS and own[high] >= 2:
        high += 1
    return high - low - 1 if low < point and high > _LOW else 0
