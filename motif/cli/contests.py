"""Commands that play contests: match and tournament."""

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated, Any

from motif.cli.options import (
    PLAYERS,
    ClusterOption,
    JobsOption,
    JsonOption,
    SeedOption,
    Settings,
    argument,
    command,
    complete_player,
    option,
    picture_option,
)
from motif.cli.printing import note, print_table, printed_json, say
from motif.evaluators.known_players import own_name
from motif.runtime.errors import SettingError
from motif.runtime.layout import counted, p_text, percent, plus_minus
from motif.runtime.parallel import working_on
from motif.runtime.settings import SIGNIFICANCE

if TYPE_CHECKING:
    from motif.contests import ContestResult, TournamentResult
    from motif.contests.result import CubelessFigures, LuckAdjusted


_PLAYERS = f"{PLAYERS} Also: random, best-of-four."


@dataclass(frozen=True)
class ContestChoice:
    """Match length and rules of a contest."""

    length: Annotated[int, option("Match length in points; 0 for money games.")] = 0
    cube: Annotated[bool | None, option("Play with a doubling cube.", show_default="in matches")] = None
    jacoby: Annotated[
        bool | None, option("Jacoby rule in money games with a cube.", show_default="jacoby")
    ] = None

    @property
    def has_cube(self) -> bool:
        """Whether there is a doubling cube."""
        return bool(self.length) if self.cube is None else self.cube

    @property
    def has_jacoby(self) -> bool:
        """Whether the Jacoby rule applies; raises `SettingError` if it was given but cannot apply."""
        if self.jacoby is not None and (self.length or not self.has_cube):
            raise SettingError("--jacoby and --no-jacoby require money games with --cube, without --length")
        return self.jacoby is not False


@command(
    "match pubeval random --games 1000",
    "match motif-v1 motif-v0 --until-certain",
    "match latest motif-v1 --length 5 --games 20",
    "match latest motif-v1 --cube --games 100 --luck-adjusted",
)
def match(
    first: Annotated[str, argument(_PLAYERS, "A", autocompletion=complete_player)],
    second: Annotated[str, argument("The opponent.", "B", autocompletion=complete_player)],
    *,
    games: Annotated[
        int | None,
        option(
            "Number of money games, or of matches with --length (even); with --until-certain, the maximum.",
            show_default="1000 games or 100 matches",
        ),
    ] = None,
    rules: Annotated[ContestChoice, Settings()],
    luck_adjusted: Annotated[
        bool, option("Luck-adjust the result, for a standard error several times smaller.")
    ] = False,
    until_certain: Annotated[bool, option("Stop as soon as one player is significantly better.")] = False,
    significance: Annotated[
        float,
        option(
            "Significance level of --until-certain and the interval: accepted probability of finding a "
            "difference between equal players.",
            "P",
        ),
    ] = SIGNIFICANCE,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Play money games or matches between two players.

    With --length the players play matches with the cube and the Crawford rule, and choose plays for the
    score.  They make cube decisions by motif's cube model, with their own probabilities.

    Every sequence of dice is played twice, with the seats swapped.  The p-value is the probability of a
    difference at least this large between equal players.  The interval (--json) is a confidence sequence: it
    covers the true points per game with probability 1 - significance however often you look, so you may
    extend a contest after seeing its result.  --until-certain stops when the interval excludes 0; the points
    per game are then biased away from 0, but the interval and p remain valid.

    --luck-adjusted subtracts the luck of each roll: its gain over the average roll, by the newest weights.
    This reduces the variance of the result without changing its expected value, whatever the weights.
    """
    from motif.contests import play_matches, play_money_games

    length, cube, jacoby = rules.length, rules.has_cube, rules.has_jacoby
    if until_certain and (length or cube or luck_adjusted):
        raise SettingError("--until-certain requires money games without a cube and without luck adjustment")
    if significance != SIGNIFICANCE and (length or cube):
        raise SettingError("--significance: has no effect in matches and with a cube")
    # "latest" and the name of the newest weights are the same player.
    first, second = own_name(first), own_name(second)
    same: dict[str, Any] = {"seed": seed, "jobs": jobs, "cube": cube, "luck_adjusted": luck_adjusted}
    if games is not None:
        same["matches" if length else "games"] = games
    with working_on(cluster):
        if length:
            result = play_matches(first, second, length=length, **same)
        else:
            same |= {"jacoby": jacoby, "until_certain": until_certain, "significance": significance}
            result = play_money_games(first, second, **same)
    if not until_certain:
        _note_odd(games, result.count)
    if printed_json(json, {**result.to_dict(), "players": [first, second], "seed": seed}):
        return
    _print_result(result, first, second, until_certain)


def _print_result(result: "ContestResult", first: str, second: str, until_certain: bool) -> None:
    from motif.contests.result import too_few

    if result.rules.length:
        say(_match_sentence(result, first, second))
    elif result.cubeless:
        _print_games(result, result.cubeless, first, second, until_certain)
    else:
        stake = f"{result.stake:.2f} points at stake on average"
        say(f"{_points_sentence(result, first, second, result.games)}; with the cube, {stake}")
    adjusted = result.luck_adjusted
    if adjusted is not None:
        what = (
            f"{first} wins {_share(adjusted)} of the matches{_chance(adjusted)}"
            if result.rules.length
            else _points_sentence(adjusted, first, second, level=_level(result))
        )
        say(f"luck-adjusted by {adjusted.judge}: {what}")
    if result.se is None:
        say(f"{_counted(result.count, result.rules.length)}: {too_few(result.rules.length)}")


def _print_games(
    result: "ContestResult", cubeless: "CubelessFigures", first: str, second: str, until_certain: bool
) -> None:
    print_table(
        ("", "games won", "gammons", "backgammons"),
        [
            (first, *map(str, (result.wins, cubeless.gammons, cubeless.backgammons))),
            (second, *map(str, (result.losses, cubeless.gammons_lost, cubeless.backgammons_lost))),
        ],
    )
    if until_certain:
        say(_why(result.games, cubeless, first, second))
    # This p allows for stopping at any time, so it is larger than ± suggests.
    more = ", valid under optional stopping" * until_certain
    say(_points_sentence(result, first, second, result.games, more, _level(result)))


def _note_odd(wanted: int | None, played: int) -> None:
    """Note that an odd number of games was rounded up."""
    if wanted is not None and played == wanted + 1:
        note(f"each sequence of dice is played twice: {played:,} games instead of {wanted:,}")


def _match_sentence(result: "ContestResult", first: str, second: str) -> str:
    cube = "" if result.rules.cube else ", without a cube"
    chance = "" if result.p_value is None else f"{p_text(result.p_value)}; "
    return (
        f"{first} wins {_share(result)} of {_counted(result.matches, result.rules.length)} "
        f"against {second}{cube} ({chance}{result.games / result.matches:.1f} games per match)"
    )


def _share(of: "ContestResult | LuckAdjusted") -> str:
    return f"{_percent(of.mean)}{'' if of.se is None else f' ± {_percent(of.se)}'} %"


def _chance(of: "ContestResult | LuckAdjusted", more: str = "") -> str:
    return "" if of.p_value is None else f" ({p_text(of.p_value)}{more})"


def _counted(count: int, length: int = 0) -> str:
    """Return the number of games, or of matches: ``2 matches to 5 points``."""
    return (
        f"{counted(count, 'match', 'matches')} to {counted(length, 'point')}"
        if length
        else counted(count, "game")
    )


def _level(result: "ContestResult") -> float:
    """Return the p-value below which a result counts as a win."""
    return result.cubeless.significance if result.cubeless else SIGNIFICANCE


def _points_sentence(
    of: "ContestResult | LuckAdjusted",
    first: str,
    second: str,
    games: int = 0,
    more: str = "",
    level: float = SIGNIFICANCE,
) -> str:
    """Return which player is ahead and by how much, over a number of `games` unless it is 0."""
    over = f" over {counted(games, 'game')}" if games else ""
    points = f"{abs(of.mean):.3f}{plus_minus(of.se, '.3f')} points per game{over}{_chance(of, more)}"
    if of.mean == 0:
        return f"{first} and {second} are even: {points}"
    winner, loser = (first, second) if of.mean > 0 else (second, first)
    is_clear = of.p_value is not None and of.p_value < level
    return f"{winner} {'beats' if is_clear else 'is ahead of'} {loser} by {points}"


def _why(games: int, cubeless: "CubelessFigures", first: str, second: str) -> str:
    from motif.contests.result import CERTAIN

    low, high = cubeless.interval
    better = "no significant difference"
    if cubeless.stopped == CERTAIN:
        better = f"{first if low > 0 else second} is better"
    ended = f"{better} ({100 * (1 - cubeless.significance):g} % confidence)"
    return (
        f"stopped after {counted(games, 'game')}: {ended}; "
        f"from {low:+z.4f} to {high:+z.4f} points per game for {first}"
    )


@command(
    "tournament simple pubeval bras --games 1000",
    "tournament latest motif-v1 bras --length 5 --games 20",
    "tournament latest motif-v1 keith-v1 --games 200 --luck-adjusted",
)
def tournament(
    names: Annotated[list[str], argument(_PLAYERS, "PLAYER...", autocompletion=complete_player)],
    *,
    games: Annotated[
        int | None,
        option(
            "Number of money games, or of matches with --length, per pairing (even).",
            show_default="1000 games or 100 matches",
        ),
    ] = None,
    rules: Annotated[ContestChoice, Settings()],
    luck_adjusted: Annotated[
        bool,
        option(
            "Luck-adjust points and the ratings based on them, for standard errors several times smaller."
        ),
    ] = False,
    plot: Annotated[Path | None, picture_option("Plot of the ratings with error bars")] = None,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Play a round robin and rate the players.

    Each pairing is played as in `motif match`, with its own seed, which --json shows: `motif match A B
    --games N --seed SEED` repeats it.  --luck-adjusted adjusts the points and the ratings based on them, but
    not games won and Elo.
    """
    from motif.contests import play_tournament

    played: dict[str, Any] = {"length": rules.length, "cube": rules.has_cube, "jacoby": rules.has_jacoby}
    seats = [own_name(name) for name in names]
    with working_on(cluster):
        result = play_tournament(seats, games, **played, luck_adjusted=luck_adjusted, seed=seed, jobs=jobs)
    _note_odd(games, result.games)
    if plot:
        from motif.reports.strength_plots import plot_ratings

        plot_ratings(result, plot)
    if printed_json(json, result.to_dict()):
        return
    print_tournament(result)


_UNKNOWN_WIDTH = 80
"""Columns assumed for a terminal of unknown width."""
_WIDE, _NARROW = len("  +0.475"), len(" +.475")
_UNLIKELY = 0.01


def print_tournament(result: "TournamentResult") -> None:
    """Print the ratings and the cross table, with notes."""
    from motif.contests.result import too_few

    labels = [_label(place) for place in range(len(result.names))]
    _print_ratings(result, labels)
    what = "Percent of matches won" if result.length else "Points per game"
    errors = ", ± standard error" if result.has_errors else ""
    say(f"{what}, row against column{errors}; {_counted(result.games, result.length)} per pairing:\n")
    room = shutil.get_terminal_size((_UNKNOWN_WIDTH, 0)).columns - len(labels[-1])
    width = _WIDE if room >= _WIDE * len(labels) else _NARROW
    at_once = max(1, room // width)
    for start in range(0, len(labels), at_once):
        print("\n".join(_cross_lines(result, labels, slice(start, start + at_once), width)) + "\n")
    points, won = ("Percent", "matches") if result.length else ("Points", "games")
    meaning = "± is one standard error" if result.has_errors else too_few(result.length)
    say(f"Ratings have mean 0; {meaning}.")
    if result.judge:
        what = "Percentages are" if result.length else "Points are"
        say(f"{what} luck-adjusted by {result.judge}; {won} won and Elo are not.")
    say(f"{points}: weighted least squares over all pairings.")
    say(f"Elo: Bradley-Terry model of the {won} won, with half a win added to each side.")
    if result.fit < _UNLIKELY:
        say(
            f"A single rating does not fit the {points.lower()} ({p_text(result.fit)}): compare the pairings."
        )


def _label(place: int) -> str:
    """Return A, B, ..., Z, AA, AB, ..."""
    more, last = divmod(place, len(ascii_uppercase))
    return (_label(more - 1) if more else "") + ascii_uppercase[last]


def _print_ratings(result: "TournamentResult", labels: Sequence[str]) -> None:
    won, games = result.won(), result.games * (len(result.names) - 1)
    rows = [
        (
            label,
            result.names[player],
            percent(won[player] / games),
            *_points_cells(result, player),
            f"{result.elo.values[player]:+z.0f}{plus_minus(result.elo.se[player], '.0f')}",
        )
        for label, player in zip(labels, result.order, strict=True)
    ]
    columns = "games won", "points per game", "rating in points"
    if result.length:
        second = "luck-adjusted" if result.judge else "± standard error" if result.has_errors else ""
        columns = "matches won", second, "rating in percent"
    print_table(("", "player", *columns, "Elo"), rows, left=2)


def _points_cells(result: "TournamentResult", player: int) -> tuple[str, str]:
    """Return points per game and rating; for matches, the share won with its error and the rating."""
    rating, rating_se = result.points.values[player], result.points.se[player]
    total, total_se = (values[player] for values in result.totals())
    if result.length:
        mean = f"{100 * (0.5 + total):.1f} " if result.judge else ""
        return (
            f"{mean}± {_percent(total_se)} %" if result.has_errors else f"{mean}%" if mean else "",
            f"{100 * rating:+z.1f}{plus_minus(100 * rating_se, '.1f')}",
        )
    return f"{total:+z.3f}{plus_minus(total_se, '.3f')}", f"{rating:+z.3f}{plus_minus(rating_se, '.3f')}"


def _cross_lines(
    result: "TournamentResult", labels: Sequence[str], columns: slice, width: int
) -> Iterator[str]:
    """Yield the lines of the cross table: points, and standard errors below them if known."""
    ppg, se = result.cross
    number = _percent if result.length else _wide if width == _WIDE else _narrow

    def shown(ahead: float) -> str:
        if result.length:
            return number(0.5 + ahead)
        return ("-" if ahead < 0 else "+") + number(abs(ahead))

    def line(label: str, cells: Sequence[str]) -> str:
        return (label.ljust(len(labels[-1])) + "".join(cell.rjust(width) for cell in cells)).rstrip()

    others = result.order[columns]
    yield line("", labels[columns])
    for label, player in zip(labels, result.order, strict=True):
        points = [shown(ppg[player, other]) for other in others]
        errors = ["±" + number(se[player, other]) for other in others]
        for text, cells in ((label, points), ("", errors))[: 1 + result.has_errors]:
            yield line(text, ["" if o == player else cell for o, cell in zip(others, cells, strict=True)])


def _wide(value: float) -> str:
    return "?" if math.isnan(value) else f"{value:.3f}"


def _percent(value: float) -> str:
    return "?" if math.isnan(value) else f"{100 * value:.1f}"


def _narrow(value: float) -> str:
    """Return a value as four characters, such as .475 or 1.48."""
    text = _wide(value)
    return text[1:] if text.startswith("0") else "?" if math.isnan(value) else f"{value:.2f}"
