"""The difference of two plays, shared among what changed on the board.

After two plays of a roll the boards differ by a few checkers: those that stand elsewhere, and the opponent's
that one of the plays hit.  Each of them is matched with where it stands after the other play: a checker that
only one play moved with where it came from, the others in order, so that their ways do not cross.  Moves that
only together mean something are one `Event`: those that make a point or leave it, and those that need a hit.

Every set of events, applied to the board after the one play, is a position, and is worth what the evaluator
says of it.  What an event brings is its Shapley value (L. S. Shapley, "A Value for n-Person Games", 1953):
its effect on that value, averaged over all orders in which the events may happen.  So the parts add up to the
difference, an event that changes nothing brings nothing, and a change of game plan or class goes to whatever
changes it.

Exposure is separate from the events that bring it about: what is measured of rolls that hit is taken from
the one board or from the other, as if that were an event.  This is done where it brings what a player
expects, more for the play that leaves fewer shots.  Elsewhere such measurements stand for something else as
well, and the events keep it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.analysis.explain.exposure import calm_rolls
from motif.analysis.explain.judged import FloatArray, explainable, values_of
from motif.analysis.explain.situation import OFF, Situation, own_checkers
from motif.board.moves import Play
from motif.board.packed import BOARD_SIZE, OPPONENT_BAR, OWN_BAR, Board
from motif.evaluators import StaticEvaluator
from motif.evaluators.probabilities import switched_equities
from motif.parameters.motif_set import MOTIF_SET
from motif.parameters.named_sets import features
from motif.runtime.streams import THROWS

_MOST = 8
"""Events that are shown separately: with their exposure, 512 positions."""
_MAX_CALM = 5
"""Events up to which the next rolls are counted after every set of them: 32 positions, 21 rolls each."""
_SHOTS = ("hitting_rolls", "direct_shots", "hit_loss", "indirect_shots")
"""Parameters that measure what may be hit, by whatever set."""
_COUNTED = [
    MOTIF_SET.names.index(name) for name in ("hitting_rolls", "contained_opponent", "spare_pips_opponent")
]
"""What the mover counts, who is not on roll any more; see `Counted`."""
Moves = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Event:
    """What belongs together of that by which one play's board differs from another's."""

    moves: tuple[tuple[int, int], ...]
    """Of own checkers: from where each stands after the other play, to where after this one; 0 is off."""
    hits: tuple[int, ...] = ()
    """Points where this play alone hit."""
    missed: tuple[int, ...] = ()
    """Points where the other play alone hit."""

    def arrives(self, point: int) -> bool:
        """Whether it brings a checker to a point, or hits there."""
        return point in self.hits or any(target == point for _, target in self.moves)

    def leaves(self, point: int) -> bool:
        """Whether it takes a checker away from a point, or what was hit there back."""
        return point in self.missed or any(source == point for source, _ in self.moves)

    @property
    def turned(self) -> "Event":
        """The same seen from the other play."""
        moves = tuple((target, source) for source, target in self.moves)
        return Event(moves, self.missed, self.hits)

    def joined(self, other: "Event") -> "Event":
        """Both as one."""
        return Event(self.moves + other.moves, self.hits + other.hits, self.missed + other.missed)


class Counted(NamedTuple):
    """What a player counts on the board that the mover leaves; or how much more of it there is."""

    safe: float
    """Rolls of 36 that do not hit."""
    held: float
    """Rolls of 36 that the opponent's rearmost checker cannot play in full because of the mover's points."""
    spare: float
    """Pips that can be played before a point breaks or a back checker moves."""
    calm: float = 0.0
    """The mover's next rolls of 36 that leave no shot; 0 where nobody counts them."""

    @property
    def turned(self) -> "Counted":
        """How much less of it there is."""
        return Counted(*(-number for number in self))


@dataclass(frozen=True)
class Contribution:
    """What one thing brings of the difference of two plays."""

    event: Event | None
    """None for the exposure."""
    amount: float
    """In the evaluator's values; below 0 where it speaks for the second play."""
    gain: Counted
    """About how much more there is of each after the first play because of it; the exposure has nothing but
    safe rolls, and all of them."""


def events_between(first: Board, second: Board, moves: tuple[Moves, Moves]) -> tuple[Event, ...]:
    """By what the board `first` (26,) differs from `second`, as the mover sees them; at most `_MOST`.

    `moves` are those of single dice by which the two plays led there.
    """
    own = own_checkers(first), own_checkers(second)
    points = range(1, OWN_BAR)
    hits = {point for point in points if first[point] >= 0 > second[point]}
    missed = {point for point in points if second[point] >= 0 > first[point]}
    events = [Event((move,) * count) for move, count in Counter(_matched(*own, moves)).items()]
    events += [Event((), hits=(point,)) for point in sorted(hits)]
    events += [Event((), missed=(point,)) for point in sorted(missed)]
    for point in points:
        # A point that only one of the two has is made, or left, by all its checkers at once.
        if own[0][point] >= 2 > own[1][point] or point in hits:
            events = _together(events, partial(Event.arrives, point=point))
        if own[1][point] >= 2 > own[0][point] or point in missed:
            events = _together(events, partial(Event.leaves, point=point))
    while len(events) > _MOST:
        events = [*events[:-2], events[-2].joined(events[-1])]
    return tuple(events)


def parts_between(
    static: StaticEvaluator, first: Play, second: Play, fewer: int, situation: Situation
) -> tuple[Contribution, ...]:
    """Return what makes the play `first` worth more than `second`.

    `fewer` is how many rolls of 36 fewer hit after the first, by the opponent's best replies.  The amounts
    are the mover's, and add up to the difference of `Judged.value`.  In a race all that a play does is one
    thing, for nothing else is there to weigh it against.
    """
    boards = situation.after
    events = events_between(*boards, (first.moves, second.moves))
    if situation.is_race:
        events = (reduce(Event.joined, events),)
    mixed = [
        hybrid(boards[1], [event for bit, event in enumerate(events) if number >> bit & 1])
        for number in range(1 << len(events))
    ]
    seen = np.ascontiguousarray(-np.array(mixed)[:, ::-1])
    counted = counted_on(seen, with_calm=situation.is_bringing_in and len(events) <= _MAX_CALM)
    gains = [Counted(*gain) for gain in zip(*map(shapley, counted.T), strict=True)]
    exposed = _exposed(static)
    if fewer and exposed.any():
        *amounts, exposure = shapley(_with_exposure(static, seen, exposed))
        if exposure * fewer > 0:
            gains = [gain._replace(safe=0.0) for gain in gains]
            return (
                *map(Contribution, events, amounts, gains),
                Contribution(None, exposure, Counted(fewer, 0.0, 0.0)),
            )
    return tuple(map(Contribution, events, shapley(switched_equities(values_of(static, seen))), gains))


def counted_on(boards: Board, *, with_calm: bool = False) -> FloatArray:
    """Return what a player counts who leaves `boards` (n, 26) to the opponent: (n, 4), as in `Counted`."""
    measured = np.round(
        features(MOTIF_SET, boards)[:, _COUNTED].astype(np.float64) / MOTIF_SET.scales[_COUNTED]
    )
    measured[:, 0] = THROWS - measured[:, 0]
    calm = calm_rolls(np.ascontiguousarray(-boards[:, ::-1])) if with_calm else np.zeros(len(boards))
    return np.column_stack([measured, calm])


def shapley(values: FloatArray) -> list[float]:
    """Return the Shapley value of each of k players, of `values` (2^k,) of sets with bit i for player i."""
    players = len(values).bit_length() - 1
    sets = np.arange(len(values))
    sizes = np.array([bin(k).count("1") for k in sets])
    weights = np.array(
        [factorial(k) * factorial(players - k - 1) / factorial(players) for k in range(players)]
    )
    amounts = []
    for player in range(players):
        without = sets[(sets >> player) & 1 == 0]
        steps = values[without | (1 << player)] - values[without]
        amounts.append(float((weights[sizes[without]] * steps).sum()))
    return amounts


def _matched(
    first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], moves: tuple[Moves, Moves]
) -> Moves:
    """From where in `second` to where in `first` each checker went that stands elsewhere."""
    sources, targets = np.maximum(second - first, 0), np.maximum(first - second, 0)
    pairs = []
    back = [(target, source) for source, target in whole_ways(moves[1])]
    # In an order that is the same when the plays are exchanged.
    for source, target in sorted([*whole_ways(moves[0]), *back], key=sorted):
        if sources[source] and targets[target]:
            pairs.append((source, target))
            sources[source] -= 1
            targets[target] -= 1
    places = np.arange(BOARD_SIZE)
    rest = (np.repeat(places, some).tolist() for some in (sources, targets))
    return [*pairs, *zip(*rest, strict=True)]


def whole_ways(moves: Moves) -> Moves:
    """Return the moves of single dice with those of one checker joined."""
    ways: list[tuple[int, int]] = []
    for source, target in moves:
        before = next((way for way in ways if way[1] == source), None)
        if before is not None:
            ways.remove(before)
        ways.append((source if before is None else before[0], target))
    return ways


def _together(events: list[Event], belongs: Callable[[Event], bool]) -> list[Event]:
    """Return the `events` with those that belong together as one."""
    those = [event for event in events if belongs(event)]
    if len(those) < 2:
        return events
    return [event for event in events if not belongs(event)] + [reduce(Event.joined, those)]


def hybrid(board: Board, events: Iterable[Event]) -> Board:
    """Return the board (26,) after the second play, with `events`."""
    board = board.copy()
    for event in events:
        for point in event.hits:
            board[point] += 1
            board[OPPONENT_BAR] -= 1
        for source, target in event.moves:
            board[source] -= source != OFF
            board[target] += target != OFF
        for point in event.missed:
            board[point] -= 1
            board[OPPONENT_BAR] += 1
    return board


def _with_exposure(static: StaticEvaluator, seen: Board, exposed: npt.NDArray[np.bool_]) -> FloatArray:
    """Mover's values (2n,) of the boards `seen` (n, 26), the first and the last those of the plays.

    The first n are exposed as the first is, the others as the last.
    """
    count = len(seen)

    def exchanged(rows: FloatArray) -> FloatArray:
        mixed = rows.copy()
        mixed[:count, exposed] = rows[0, exposed]
        mixed[count:, exposed] = rows[-1, exposed]
        return mixed

    return switched_equities(values_of(static, np.concatenate([seen, seen]), exchanged))


def _exposed(static: StaticEvaluator) -> npt.NDArray[np.bool_]:
    """Which parameters (n,) measure how the mover, who is not on roll any more, may be hit."""
    _, weights = explainable(static)
    return np.array([one.side == "own" and one.name in _SHOTS for one in weights.parameters.parameters])
