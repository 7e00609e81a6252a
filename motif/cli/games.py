"""The command match."""

from typing import TYPE_CHECKING, Annotated

import typer

from motif.cli.common import (
    PLAYERS,
    ClusterOption,
    JobsOption,
    JsonOption,
    SeedOption,
    example,
    json_line,
    print_table,
)
from motif.runtime.parallel import working_on

if TYPE_CHECKING:
    from motif.players.match import MatchResult

_PLAYERS = f"random, {PLAYERS}"


def register(app: typer.Typer) -> None:
    """Add this group's commands to `app`."""
    app.command(epilog=example("motif match pubeval random --games 1000"))(match)


def match(
    first: Annotated[str, typer.Argument(metavar="A", help=_PLAYERS)],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    games: Annotated[int, typer.Option("--games", metavar="N", help="Money games, an even number.")] = 1000,
    json: JsonOption = False,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Let two players play money games.

    Every sequence of dice is played twice, with the seats swapped.
    """
    from motif.players import load
    from motif.players.match import play_match

    players = load(first), load(second)
    with working_on(cluster):
        result = play_match(*players, games, seed=seed, jobs=jobs)
    if json:
        print(json_line({**result.as_dict(), "players": [first, second], "seed": seed}))
        return
    print_table(
        ("", "games won", "of them gammons", "of them backgammons"),
        [
            (first, *map(str, (result.wins, result.gammons, result.backgammons))),
            (second, *map(str, (result.losses, result.gammons_lost, result.backgammons_lost))),
        ],
    )
    print(_sentence(result, first, second))


def _sentence(result: "MatchResult", first: str, second: str) -> str:
    points = f"{abs(result.ppg):.3f} ± {result.se:.3f} points a game over {result.games} games"
    if result.ppg == 0:
        return f"{first} and {second} are even: {points} (p = {result.p_value:.2g})"
    winner, loser = (first, second) if result.ppg > 0 else (second, first)
    return f"{winner} beats {loser} by {points} (p = {result.p_value:.2g})"
