"""A tournament as tables that fit a terminal: the ratings, and everyone against everyone."""

import math
import shutil
from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING

from motif.cli.common import print_table

if TYPE_CHECKING:
    from motif.players.tournament import TournamentResult

_UNKNOWN_WIDTH = 80
"""Columns of a terminal that does not tell."""
_WIDE, _NARROW = len("  +0.475"), len(" +.475")
_UNLIKELY = 0.01


def print_tournament(result: "TournamentResult") -> None:
    """Print ratings, cross table, and what is to be said about them."""
    labels = [_label(place) for place in range(len(result.names))]
    _print_ratings(result, labels)
    print(f"Points a game of the row against the column, ± standard error, {result.games} games each:\n")
    room = shutil.get_terminal_size((_UNKNOWN_WIDTH, 0)).columns - len(labels[-1])
    width = _WIDE if room >= _WIDE * len(labels) else _NARROW
    at_once = max(1, room // width)
    for start in range(0, len(labels), at_once):
        print("\n".join(_cross_lines(result, labels, slice(start, start + at_once), width)) + "\n")
    print("Ratings: their mean is 0; ± is one standard error.  Points: weighted least squares over all")
    print("pairings; Elo: Bradley and Terry's model of the games won, half a win added on either side.")
    if result.fit < _UNLIKELY:
        print(f"Points do not add up along the rating (p = {result.fit:.1g}): look at the pairings too.")


def _label(place: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    more, last = divmod(place, len(ascii_uppercase))
    return (_label(more - 1) if more else "") + ascii_uppercase[last]


def _print_ratings(result: "TournamentResult", labels: Sequence[str]) -> None:
    total, total_se = result.totals()
    won, games = result.won(), result.games * (len(result.names) - 1)
    rows = [
        (
            label,
            result.names[player],
            f"{100 * won[player] / games:.1f} %",
            f"{total[player]:+.3f} ± {_wide(total_se[player])}",
            f"{result.points.values[player]:+.3f} ± {result.points.se[player]:.3f}",
            f"{result.elo.values[player]:+.0f} ± {result.elo.se[player]:.0f}",
        )
        for label, player in zip(labels, result.order, strict=True)
    ]
    print_table(("", "player", "games won", "points a game", "rating in points", "Elo"), rows, left=2)


def _cross_lines(
    result: "TournamentResult", labels: Sequence[str], columns: slice, width: int
) -> Iterator[str]:
    """Two lines for each row: points, and below them their errors."""
    ppg, se = result.cross
    number = _wide if width == _WIDE else _narrow

    def line(label: str, cells: Sequence[str]) -> str:
        return (label.ljust(len(labels[-1])) + "".join(cell.rjust(width) for cell in cells)).rstrip()

    others = result.order[columns]
    yield line("", labels[columns])
    for label, player in zip(labels, result.order, strict=True):
        signs = ["-" if ppg[player, other] < 0 else "+" for other in others]
        points = [sign + number(abs(ppg[player, other])) for sign, other in zip(signs, others, strict=True)]
        errors = ["±" + number(se[player, other]) for other in others]
        for text, cells in ((label, points), ("", errors)):
            yield line(text, ["" if o == player else cell for o, cell in zip(others, cells, strict=True)])


def _wide(value: float) -> str:
    return "?" if math.isnan(value) else f"{value:.3f}"


def _narrow(value: float) -> str:
    """Four letters: .475 or 1.48."""
    text = _wide(value)
    return text[1:] if text.startswith("0") else "?" if math.isnan(value) else f"{value:.2f}"
