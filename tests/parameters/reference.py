"""The parameters by their descriptions: slow and plain, and independent of motif's kernels.

A board is a tuple of 26 numbers from the side of the measured player, who moves from 24 to 1. 25 is this
player's bar and 0 the other player's bar; this player's checkers are positive and the other player's
negative.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from tests.parameters import heuristic_reference

PlainBoard = tuple[int, ...]

BAR = 25
POINTS = range(1, 25)
PLACES = range(1, 26)
HOME = range(1, 7)
OUTFIELDS = range(7, 19)
THROWS = [(first, second) for first in range(1, 7) for second in range(1, 7)]
"""All 36 rolls, so that each counts once."""


def other_view(board: PlainBoard) -> PlainBoard:
    return tuple(-checkers for checkers in reversed(board))


def own(board: PlainBoard, place: int) -> int:
    """Checkers of the measured player on a place."""
    return max(board[place], 0)


def made(board: PlainBoard, point: int) -> bool:
    return board[point] >= 2


def blocked(board: PlainBoard, point: int) -> bool:
    """Whether the other player has made the point; False beyond the ace point."""
    return point >= 1 and board[point] <= -2


def pips(board: PlainBoard) -> int:
    return sum(own(board, place) * place for place in PLACES)


def off(board: PlainBoard) -> int:
    return 15 - sum(own(board, place) for place in PLACES)


def rearmost(board: PlainBoard) -> int:
    return max((place for place in PLACES if own(board, place)), default=0)


def points_made(board: PlainBoard, points) -> int:
    return sum(made(board, point) for point in points)


def blots(board: PlainBoard, points) -> int:
    return sum(board[point] == 1 for point in points)


def others_bar(board: PlainBoard) -> int:
    return -board[0]


def longest_prime(board: PlainBoard) -> int:
    longest = run = 0
    for point in POINTS:
        run = run + 1 if made(board, point) else 0
        longest = max(longest, run)
    return longest


def runs_in_full(board: PlainBoard, place: int, throw: tuple[int, int]) -> bool:
    """Whether a checker on `place` could play both dice, one after the other in some order."""
    first, second = throw
    if blocked(board, place - first - second):
        return False
    return not (blocked(board, place - first) and blocked(board, place - second))


def rolls_running_in_full(board: PlainBoard, place: int) -> int:
    return sum(runs_in_full(board, place, throw) for throw in THROWS)


def contained(board: PlainBoard) -> int:
    """Rolls that the OTHER player's rearmost checker cannot play in full."""
    theirs = other_view(board)
    return 36 - rolls_running_in_full(theirs, rearmost(theirs)) if rearmost(theirs) else 0


def best_block(board: PlainBoard) -> int:
    theirs = other_view(board)
    return max(36 - rolls_running_in_full(theirs, place) for place in range(16, 26))


def orders(throw: tuple[int, int]) -> list[tuple[int, ...]]:
    first, second = throw
    return [(first,) * 4] if first == second else [(first, second), (second, first)]


def hits_on_the_way(board: PlainBoard, place: int, dice: tuple[int, ...]) -> set[int]:
    """Points where a checker from `place` hits when it plays `dice` in order as far as it can."""
    hits = set()
    for die in dice:
        place -= die
        if place < 1 or blocked(board, place):
            break
        if board[place] == -1:
            hits.add(place)
    return hits


@lru_cache(maxsize=64)
def hits(board: PlainBoard, throw: tuple[int, int]) -> tuple[set[int], set[int]]:
    """Points where the roll can hit, and points where it can hit with one die."""
    found, by_one_die = set(), set()
    for dice in orders(throw):
        on_bar = board[BAR]
        if on_bar == 0:
            for place in POINTS:
                if own(board, place):
                    found |= hits_on_the_way(board, place, dice)
                    by_one_die |= hits_on_the_way(board, place, dice[:1])
        elif on_bar == 1 and not blocked(board, BAR - dice[0]):
            found |= hits_on_the_way(board, BAR, dice)
            by_one_die |= hits_on_the_way(board, BAR, dice[:1])
            for place in POINTS:
                if own(board, place):
                    found |= hits_on_the_way(board, place, dice[1:])
                    by_one_die |= hits_on_the_way(board, place, dice[1:2])
        elif on_bar > 1:
            for die in dice:
                by_one_die |= hits_on_the_way(board, BAR, (die,))
            found |= by_one_die
    return found, by_one_die


def hitting_rolls(board: PlainBoard) -> int:
    return sum(bool(hits(board, throw)[0]) for throw in THROWS)


def directly_hitting_rolls(board: PlainBoard) -> int:
    return sum(bool(hits(board, throw)[1]) for throw in THROWS)


def hit_loss(board: PlainBoard) -> float:
    """A checker hit on my point p loses p pips: it stood on its owner's 25 - p and goes to the bar."""
    return sum(max(hits(board, throw)[0], default=0) for throw in THROWS) / 36


def mobility(board: PlainBoard) -> int:
    return sum(
        own(board, place) * (place - 6) * rolls_running_in_full(board, place) for place in range(7, 26)
    )


def passing_place(board: PlainBoard) -> int:
    """The other player's rearmost checker: the lowest place, 0 for the bar; 26 for none."""
    return min((place for place in range(25) if board[place] < 0), default=26)


def places_held(board: PlainBoard) -> list[int]:
    return [place for place in PLACES if own(board, place)]


def widest_gap(board: PlainBoard) -> int:
    held = places_held(board)
    return max([later - before - 6 for before, later in pairwise(held)] + [0])


def spare_pips(board: PlainBoard) -> int:
    at_home = sum(max(own(board, point) - 2, 0) * (point - 1) for point in HOME)
    loose = {
        point: own(board, point) if own(board, point) < 2 else own(board, point) - 2 for point in OUTFIELDS
    }
    return at_home + sum(checkers * (point - 6) for point, checkers in loose.items())


def one_by_one(board: PlainBoard) -> list[int]:
    """The place of every checker, the rearmost first."""
    return sorted((place for place in PLACES for _ in range(own(board, place))), reverse=True)


def points_ahead(board: PlainBoard) -> int:
    rear = rearmost(board)
    return sum(blocked(board, point) for point in range(rear - 6, rear)) if rear and any_other(board) else 0


def any_other(board: PlainBoard) -> bool:
    return any(checkers < 0 for checkers in board)


MOTIF: dict[str, Callable[[PlainBoard], float]] = {
    "pip_count": pips,
    "borne_off": off,
    "nothing_off": lambda board: off(board) == 0,
    "bring_home": lambda board: sum(own(board, place) * (place - 6) for place in range(7, 26)),
    "rearmost": rearmost,
    "spread": lambda board: sum(own(board, place) * (place - 8) ** 2 for place in PLACES),
    "stacked": lambda board: sum(max(own(board, place) - 3, 0) for place in PLACES),
    "spares_home": lambda board: sum(max(own(board, point) - 2, 0) for point in HOME),
    "deep_checkers": lambda board: own(board, 1) + own(board, 2),
    "on_bar": lambda board: board[BAR],
    "home_points": lambda board: points_made(board, HOME),
    "outfield_points": lambda board: points_made(board, OUTFIELDS),
    "longest_prime": longest_prime,
    "contained": contained,
    "best_block": best_block,
    "board_against_bar": lambda board: points_made(board, HOME) ** 2 if others_bar(board) else 0,
    "blots_home": lambda board: blots(board, HOME),
    "blots_elsewhere": lambda board: blots(board, range(7, 25)),
    "hitting_rolls": hitting_rolls,
    "direct_shots": directly_hitting_rolls,
    "hit_loss": hit_loss,
    "back_checkers": lambda board: sum(own(board, place) for place in range(19, 26)),
    "advanced_anchor": lambda board: points_made(board, [25 - 7, 25 - 5, 25 - 4]),
    "deep_anchors": lambda board: points_made(board, [25 - 3, 25 - 2, 25 - 1]),
    "midfield_checkers": lambda board: sum(own(board, point) for point in range(9, 16)),
    "mobility": mobility,
    "second_rear": lambda board: [*one_by_one(board), 0, 0][1],
    "pips_to_pass": lambda board: sum(max(place - passing_place(board), 0) for place in one_by_one(board)),
    "pips_past": lambda board: sum(
        place for place in one_by_one(board) if place <= passing_place(board) and any_other(board)
    ),
    "widest_gap": widest_gap,
    "spare_pips": spare_pips,
    "blots_back": lambda board: blots(board, range(19, 25)),
    "points_ahead": points_ahead,
    "board_against_back": lambda board: (
        points_made(board, HOME) * sum(max(-board[place], 0) for place in range(7))
    ),
}


def distances_before_a_blot(board: PlainBoard, distances: range) -> int:
    """Pairs of a distance and a blot of the other player at this distance from an own checker."""
    return sum(
        board[point] == -1 and point + distance <= BAR and own(board, point + distance) > 0
        for point in POINTS
        for distance in distances
    )


KEITH: dict[str, Callable[[PlainBoard], float]] = {
    "pip_count": pips,
    "borne_off": off,
    "on_bar": lambda board: board[BAR],
    "points_held": lambda board: points_made(board, range(7, 25)),
    "home_points": lambda board: points_made(board, HOME),
    "blots": lambda board: blots(board, POINTS),
    "direct_shots": lambda board: distances_before_a_blot(board, range(1, 7)),
    "indirect_shots": lambda board: distances_before_a_blot(board, range(7, 13)),
    "rearmost": rearmost,
}


def pip_lead(board: PlainBoard) -> int:
    return pips(other_view(board)) - pips(board)


def contact_left(board: PlainBoard) -> int:
    """How far my rearmost checker is behind the other player's."""
    return max(rearmost(board) - (25 - rearmost(other_view(board))), 0)


WHOLE = {"bras": heuristic_reference.bras, "phase": heuristic_reference.phase}
ONE_SIDE = {"motif": MOTIF, "keith": KEITH}
BOTH_SIDES: dict[str, dict[str, Callable[[PlainBoard], float]]] = {
    "motif": {"pip_lead": pip_lead, "contact_left": contact_left},
    "keith": {"pip_lead": pip_lead},
}


def measured(set_name: str, board: PlainBoard) -> dict[str, float]:
    """Every parameter of a set by its name."""
    if set_name in WHOLE:
        return {name: float(value) for name, value in WHOLE[set_name](board).items()}
    one, theirs = ONE_SIDE[set_name], other_view(board)
    return {
        **{name: float(measure(board)) for name, measure in one.items()},
        **{f"{name}_opponent": float(measure(theirs)) for name, measure in one.items()},
        **{name: float(measure(board)) for name, measure in BOTH_SIDES[set_name].items()},
    }


def position_class(board: PlainBoard) -> str:
    """The class by the wording of gnubg's definition."""
    mine = [place for place in PLACES if board[place] > 0]
    theirs = [place for place in range(25) if board[place] < 0]
    # A checker of theirs is in front of one of mine if it is on a lower place.
    if not any(there < here for here in mine for there in theirs):
        return "race"
    return "crashed" if crashed(board) or crashed(other_view(board)) else "contact"


def crashed(board: PlainBoard) -> bool:
    n = sum(own(board, place) for place in PLACES)
    ace, deuce = own(board, 1), own(board, 2)
    if n <= 6:
        return True
    if ace > 1:
        return n <= 6 + ace or (deuce > 1 and 1 + n - (ace + deuce) <= 6)
    return n <= 6 + (deuce - 1)
