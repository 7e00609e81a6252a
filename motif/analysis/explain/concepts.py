"""The difference between two plays, split over the changes on the board.

After two plays of a roll, the boards differ by the places of a few checkers and by hits.  Each checker is
matched with its place after the other play: a checker that only one play moved, with the point it came from;
the others, in order.  Moves that belong together form one `Event`: those that make or break a point, and
those that depend on a hit.

Every subset of events, applied to the board after the second play, gives a position that the evaluator can
value.  An event's contribution is its Shapley value (L. S. Shapley, "A Value for n-Person Games", 1953): its
effect, averaged over all orders of events.  Contributions therefore add up to the difference, an irrelevant
event contributes nothing, and a change of class is attributed to the events that cause it.

Exposure is treated as an additional event, which exchanges the parameters that measure hitting rolls, if it
favours the play that leaves fewer shots.  Otherwise these parameters stay with the events.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import factorial
from typing import NamedTuple

import numpy as np

from motif.analysis.explain.exposure import safe_next_rolls
from motif.analysis.explain.situation import Situation, own_checkers
from motif.analysis.explain.valued_position import values_of
from motif.board.moves import Play
from motif.board.notation import OFF
from motif.board.packed import BOARD_SIZE, OPPONENT_BAR, OWN_BAR, Board
from motif.evaluators import StaticEvaluator
from motif.evaluators.probabilities import switched_equities
from motif.evaluators.static import weights_of
from motif.parameters.motif_set import MOTIF_SET
from motif.parameters.named_sets import features
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.streams import DICE_PAIRS

_MAX_EVENTS = 8
"""Maximum number of separate events; with the exposure, they give 512 positions."""
MIN_SHOTS = 2
"""Minimum difference of hitting rolls to mention, and that counts as an event of its own."""
_MAX_CALM = 5
"""Maximum number of events for which next rolls are counted: 32 positions, 21 rolls each."""
_SHOTS = ("hitting_rolls", "direct_shots", "hit_loss", "indirect_shots")
"""Parameters that measure shots, in any set."""
_COUNTED = [
    MOTIF_SET.names.index(name) for name in ("hitting_rolls", "contained_opponent", "spare_pips_opponent")
]
"""Parameters of `Counted`, seen by the mover, who is no longer on roll."""
Moves = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Event:
    """A set of related changes between the boards after two plays."""

    moves: tuple[tuple[int, int], ...]
    """Own checkers' places after the other play and after this one; 0 is off."""
    hits: tuple[int, ...] = ()
    """Points where only this play hit."""
    missed: tuple[int, ...] = ()
    """Points where only the other play hit."""

    def arrives(self, point: int) -> bool:
        """Return whether the event brings a checker to a point or hits there."""
        return point in self.hits or any(target == point for _, target in self.moves)

    def leaves(self, point: int) -> bool:
        """Return whether the event takes a checker away from a point or undoes a hit there."""
        return point in self.missed or any(source == point for source, _ in self.moves)

    @property
    def reversed(self) -> "Event":
        """The event seen from the other play."""
        moves = tuple((target, source) for source, target in self.moves)
        return Event(moves, self.missed, self.hits)

    def joined(self, other: "Event") -> "Event":
        """Return both events as one."""
        return Event(self.moves + other.moves, self.hits + other.hits, self.missed + other.missed)


class Counted(NamedTuple):
    """Counts on the board after a play, or differences of such counts."""

    safe: float
    """Opponent's rolls, of 36, that do not hit."""
    held: float
    """Rolls, of 36, that the opponent's rearmost checker cannot play in full because of the mover's
    points."""
    spare: float
    """Pips to play before a point breaks or a back checker moves."""
    safe_next: float = 0.0
    """The mover's next rolls, of 36, that leave no shot; 0 if not counted."""

    @property
    def reversed(self) -> "Counted":
        """The counts with opposite signs."""
        return Counted(*(-number for number in self))


@dataclass(frozen=True)
class Contribution:
    """The contribution of one event to the difference between two plays."""

    event: Event | None
    """None for the exposure."""
    amount: float
    """In the evaluator's values; negative if it favours the second play."""
    gain: Counted
    """Approximate increase of each count after the first play due to the event; safe rolls, and only these,
    are attributed to the exposure."""


def events_between(first: Board, second: Board, moves: tuple[Moves, Moves]) -> tuple[Event, ...]:
    """Return at most `_MAX_EVENTS` events that turn the board `second` (26,) into `first`, seen by the mover.

    `moves` has the moves of both plays, one for each die.
    """
    own = own_checkers(first), own_checkers(second)
    points = range(1, OWN_BAR)
    hits = {point for point in points if first[point] >= 0 > second[point]}
    missed = {point for point in points if second[point] >= 0 > first[point]}
    events = [Event((move,) * count) for move, count in Counter(_matched(*own, moves)).items()]
    events += [Event((), hits=(point,)) for point in sorted(hits)]
    events += [Event((), missed=(point,)) for point in sorted(missed)]
    for point in points:
        # All checkers that make or leave a point belong together.
        if own[0][point] >= 2 > own[1][point] or point in hits:
            events = _together(events, partial(Event.arrives, point=point))
        if own[1][point] >= 2 > own[0][point] or point in missed:
            events = _together(events, partial(Event.leaves, point=point))
    while len(events) > _MAX_EVENTS:
        events = [*events[:-2], events[-2].joined(events[-1])]
    return tuple(events)


def parts_between(
    static: StaticEvaluator, first: Play, second: Play, fewer: int, situation: Situation
) -> tuple[Contribution, ...]:
    """Return the contributions to the difference between the plays `first` and `second`.

    `fewer` is how many fewer of the opponent's 36 rolls hit after the first play.  The amounts are the
    mover's and add up to the difference of `ValuedPosition.value`.  In a race, all changes form one event.
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
    counted = counted_on(seen, with_next=situation.is_bringing_in and len(events) <= _MAX_CALM)
    gains = [Counted(*gain) for gain in zip(*map(shapley, counted.T), strict=True)]
    parameters = weights_of(static).parameters.parameters
    # Those that measure shots at the mover.
    exposed = np.array([parameter.side == "own" and parameter.name in _SHOTS for parameter in parameters])
    if abs(fewer) >= MIN_SHOTS and exposed.any():
        *amounts, exposure = shapley(_with_exposure(static, seen, exposed))
        if exposure * fewer > 0:
            gains = [gain._replace(safe=0.0) for gain in gains]
            return (
                *map(Contribution, events, amounts, gains),
                Contribution(None, exposure, Counted(fewer, 0.0, 0.0)),
            )
    return tuple(map(Contribution, events, shapley(switched_equities(values_of(static, seen))), gains))


def counted_on(boards: Board, *, with_next: bool = False) -> FloatArray:
    """Return the counts (n, 4) of `Counted` for `boards` (n, 26) with the opponent on roll."""
    measured = np.round(
        features(MOTIF_SET, boards)[:, _COUNTED].astype(np.float64) / MOTIF_SET.scales[_COUNTED]
    )
    measured[:, 0] = DICE_PAIRS - measured[:, 0]
    turned = np.ascontiguousarray(-boards[:, ::-1])
    safe_next = safe_next_rolls(turned) if with_next else np.zeros(len(boards))
    return np.column_stack([measured, safe_next])


def shapley(values: FloatArray) -> list[float]:
    """Return the Shapley values of k players from `values` (2^k,) of sets, bit i standing for player i."""
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


def _matched(first: IntArray, second: IntArray, moves: tuple[Moves, Moves]) -> Moves:
    """Return the moves that turn the checkers `second` into `first`."""
    sources, targets = np.maximum(second - first, 0), np.maximum(first - second, 0)
    pairs = []
    back = [(target, source) for source, target in whole_moves(moves[1])]
    # The order does not depend on which play comes first.
    for source, target in sorted([*whole_moves(moves[0]), *back], key=sorted):
        if sources[source] and targets[target]:
            pairs.append((source, target))
            sources[source] -= 1
            targets[target] -= 1
    places = np.arange(BOARD_SIZE)
    rest = (np.repeat(places, some).tolist() for some in (sources, targets))
    return [*pairs, *zip(*rest, strict=True)]


def whole_moves(moves: Moves) -> Moves:
    """Return the moves, with the moves of one checker joined into one."""
    ways: list[tuple[int, int]] = []
    for source, target in moves:
        before = next((way for way in ways if way[1] == source), None)
        if before is not None:
            ways.remove(before)
        ways.append((source if before is None else before[0], target))
    return ways


def _together(events: list[Event], belongs: Callable[[Event], bool]) -> list[Event]:
    """Return the `events`, with related ones joined."""
    those = [event for event in events if belongs(event)]
    if len(those) < 2:
        return events
    return [event for event in events if not belongs(event)] + [reduce(Event.joined, those)]


def hybrid(board: Board, events: Iterable[Event]) -> Board:
    """Return the `board` (26,) after the second play with `events` applied."""
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


def _with_exposure(static: StaticEvaluator, seen: Board, exposed: BoolArray) -> FloatArray:
    """Return the mover's values (2n,) of `seen` (n, 26) with the first and the last board's exposure."""
    count = len(seen)

    def exchanged(rows: FloatArray) -> FloatArray:
        mixed = rows.copy()
        mixed[:count, exposed] = rows[0, exposed]
        mixed[count:, exposed] = rows[-1, exposed]
        return mixed

    return switched_equities(values_of(static, np.concatenate([seen, seen]), exchanged))
