"""Plays, read and written in players' notation, such as ``bar/22 13/8*(2)``.

Points are in the mover's numbering, 25 is the bar and 0 is off, as in `motif.board.moves`. The style is
gnubg's: the moves of one checker are joined, and intermediate points are shown only where the checker hits.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from motif.board.identifiers import quoted
from motif.board.packed import OWN_BAR, POINTS
from motif.board.position import Position
from motif.runtime.errors import PlayError

OFF = 0
"""The place of checkers borne off."""
NO_MOVE = "no move"
"""Text shown for a play without moves, whose notation is empty."""
MAX_MOVES = 4
"""Maximum number of single-die moves in a play."""

_POINT = r"(?:bar|b|off|o|[0-9]{1,2})"
_CHECKER = re.compile(
    rf"(?P<start>{_POINT})(?P<stops>(?:/{_POINT}\*?)+|(?:-{_POINT}\*?)+)(?:\((?P<count>[1-{MAX_MOVES}])\))?",
    re.IGNORECASE | re.ASCII,
)
_NAMED_POINTS = {"bar": OWN_BAR, "b": OWN_BAR, "off": OFF, "o": OFF}
_PLAYS_SHOWN = 5


class MarkedMove(NamedTuple):
    """A move read from notation; it may span several dice."""

    start: int
    """1 to 24, or 25 for the bar."""
    end: int
    """1 to 24, or 0 for off."""
    hit: bool
    """Whether the notation marks a hit."""


@dataclass(frozen=True)
class Play:
    """One play of a roll, legal unless `is_legal` says otherwise."""

    position: Position
    """Position after the play, from the side of the next player on roll."""
    moves: tuple[tuple[int, int], ...]
    """Moves of single dice (from, to) in the mover's numbering; 25 is the bar and 0 is off."""
    hits: tuple[bool, ...]
    """Whether each move hits a blot."""
    is_legal: bool = True
    """False for a play that a record contains although the rules forbid it."""

    @property
    def notation(self) -> str:
        """The play in standard notation, such as ``8/5* 6/5``; empty for a dance."""
        return format_moves(self.moves, self.hits)

    @property
    def hit_points(self) -> set[int]:
        """Points on which the play hits a blot, in the mover's numbering."""
        return {end for (_, end), hit in zip(self.moves, self.hits, strict=True) if hit}

    def __str__(self) -> str:
        return self.notation or ("cannot move" if self.is_legal else "not played")

    def __repr__(self) -> str:
        return f"<play {self}>"


def format_moves(moves: Sequence[tuple[int, int]], hits: Sequence[bool]) -> str:
    """Return the notation of single-die `moves` (from, to) with their `hits`; empty for no moves.

    The notation depends neither on the order of the moves nor on which of several checkers on a point moved
    on.
    """
    hit_points = {end for (_, end), hit in zip(moves, hits, strict=True) if hit}
    checkers = Counter(
        (start, *(point for point in between if point in hit_points), end)
        for start, *between, end in _paths(moves)
    )
    words = []
    starred: set[int] = set()
    for (start, *between, end), count in checkers.items():
        starred.update(between)
        word = _name(start) + "".join(f"/{_name(point)}*" for point in between) + f"/{_name(end)}"
        if end in hit_points - starred:
            starred.add(end)
            word += "*"
        words.append(word + (f"({count})" if count > 1 else ""))
    return " ".join(words)


def parse_moves(text: str, *, forward: bool = True) -> list[MarkedMove]:
    """Parse the moves in `text`, in order; ``8/5*/3`` is two moves, ``13/8`` is one.

    The bar is ``bar``, ``b`` or 25; off is ``off``, ``o`` or 0; ``(2)`` repeats a move; ``*`` is optional;
    hyphens may replace slashes, as in ``13-8-3``. Legality is not checked, except that checkers must move
    `forward`.  Raises `PlayError` if `text` is invalid.
    """
    moves: list[MarkedMove] = []
    for word in text.replace(",", " ").split():
        match = _CHECKER.fullmatch(word)
        if not match:
            wrong = f"{quoted(word)} is not a move such as 8/5, bar/22 or 6/off(2)"
            raise PlayError(f"invalid play {quoted(text)}: {wrong}")
        moves += _checker_moves(text, match, forward) * int(match["count"] or 1)
        if len(moves) > MAX_MOVES:
            raise PlayError(f"invalid play {quoted(text)}: more than {MAX_MOVES} moves")
    return moves


def find_play(text: str, plays: Sequence[Play]) -> Play:
    """Return the play among the legal `plays` that `text` describes; an empty text is a dance.

    The order of moves and the intermediate points do not matter, but the play must hit wherever the text
    has a star.  If several plays match, the play with the fewest hits is returned.  Raises `PlayError` if
    no play matches, listing the nearest plays, or if several plays remain.
    """
    moves = parse_moves(text)
    stars = {move.end for move in moves if move.hit}
    shift = _shift((move.start, move.end) for move in moves)
    matches = [
        play
        for play in plays
        if _shift(play.moves) == shift and stars <= play.hit_points and _lands_freely(moves, play)
    ]
    if not matches:
        nearest = sorted(plays, key=lambda play: _distance(shift, _shift(play.moves)))
        raise PlayError(f"{quoted(text)} is not a legal play; {_listing(nearest)}")
    fewest = min(len(play.hit_points) for play in matches)
    best = [play for play in matches if len(play.hit_points) == fewest]
    if len(best) > 1:
        raise PlayError(f"{quoted(text)} can mean several plays; {_listing(best)}")
    return best[0]


def _paths(moves: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the points visited by each moved checker; the rearmost checkers and longest paths come first."""
    rest = sorted(moves, reverse=True)
    paths = []
    while rest:
        path = list(rest.pop(0))
        while following := [move for move in rest if move[0] == path[-1]]:
            rest.remove(following[0])
            path.append(following[0][1])
        paths.append(path)
    return paths


def _name(point: int) -> str:
    return {OWN_BAR: "bar", OFF: "off"}.get(point, str(point))


def _checker_moves(text: str, match: re.Match[str], forward: bool) -> list[MarkedMove]:
    """Return the moves of the checker that `match` found in `text`."""
    moves = []
    start = _point(match["start"])
    for stop in re.split("[/-]", match["stops"])[1:]:
        end, hit = _point(stop.rstrip("*")), stop.endswith("*")
        is_backward = OFF < start < end <= POINTS and not forward
        if start > OWN_BAR or not (start > end or is_backward):
            raise PlayError(
                f"invalid play {quoted(text)}: in {quoted(match[0])} a checker cannot move "
                f"from {_name(start)} to {_name(end)}"
            )
        if hit and end == OFF:
            raise PlayError(
                f"invalid play {quoted(text)}: in {quoted(match[0])} a checker borne off cannot hit"
            )
        moves.append(MarkedMove(start, end, hit))
        start = end
    return moves


def _point(name: str) -> int:
    return int(_NAMED_POINTS.get(name.lower(), name))


def _shift(moves: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the change in the number of checkers on each changed point."""
    change: Counter[int] = Counter()
    for start, end in moves:
        change[start] -= 1
        change[end] += 1
    return {point: count for point, count in change.items() if count}


def _distance(shift: dict[int, int], other: dict[int, int]) -> int:
    """Return the number of checkers that are on different points after two plays."""
    return sum(abs(shift.get(point, 0) - other.get(point, 0)) for point in shift.keys() | other.keys())


def _lands_freely(moves: Sequence[MarkedMove], play: Play) -> bool:
    """Return whether `play` leaves no opposing checker on the points where `moves` land."""
    board = play.position.board
    return all(board[OWN_BAR - move.end] <= 0 for move in moves if 1 <= move.end <= POINTS)


def _listing(plays: Sequence[Play]) -> str:
    texts = [play.notation for play in plays[:_PLAYS_SHOWN]]
    if texts in ([], [""]):
        return "no move is possible"
    more = len(plays) - len(texts)
    return "legal plays are " + ", ".join(texts) + (f" and {more} more" if more else "")
