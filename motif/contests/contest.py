"""Contests between two players: money games, cubeless or with a doubling cube, and matches."""

from motif.board.rules import check_match_length
from motif.contests.pairs import new_contest, play_contest
from motif.contests.result import ContestResult, ContestRules, contest_result
from motif.contests.sequential import SequentialTest
from motif.players.player import PlayerLike, load_player
from motif.runtime.errors import SettingError
from motif.runtime.settings import SIGNIFICANCE, check_count, check_flag, check_seed, check_significance

GAMES, MATCHES = 1000, 100
"""Default numbers of money games and of matches."""


def play_money_games(
    first: PlayerLike,
    second: PlayerLike,
    games: int = GAMES,
    *,
    cube: bool = False,
    jacoby: bool = True,
    luck_adjusted: bool | PlayerLike = False,
    until_certain: bool = False,
    significance: float = SIGNIFICANCE,
    seed: int = 0,
    jobs: int | None = None,
) -> ContestResult:
    """Play money games between two players; each sequence of dice is used twice, with the seats swapped.

    Parameters
    ----------
    first, second
        Player names, weights, or evaluators of your own.
    games
        Number of games, rounded up to an even number.
    cube
        Whether to use a doubling cube (without beavers); the dice do not depend on it.
    jacoby
        Whether gammons count only after a double, in games with a cube.
    luck_adjusted
        Also adjust the result for luck, by the newest weights or by this player.
    until_certain
        Stop cubeless games as soon as the better player is certain.
    significance
        Maximum probability that equal players are called different.
    seed, jobs
        Dice seed; number of processes, which does not affect the result.

    Returns
    -------
    ContestResult
        The first player's result; ``ppg`` is points won per game.

    Raises
    ------
    PlayerError, WeightFileError, SettingError
        For an unknown player; for invalid numbers, or `until_certain` with a cube or luck adjustment.

    Examples
    --------
    >>> import motif
    >>> motif.play_money_games("pubeval", "random", 60, jobs=1).wins > 50
    True
    """
    seed, games = check_seed(seed), check_count("games", games, 2)
    check_significance(significance)
    check_flag("until_certain", until_certain)
    if until_certain and (cube or luck_adjusted is not False):
        raise SettingError("until_certain requires cubeless games without luck adjustment", "until_certain")
    contest = new_contest(ContestRules(0, cube, jacoby), luck_adjusted)
    test = SequentialTest(significance) if until_certain else None
    played = play_contest(contest, load_player(first), load_player(second), games, seed, jobs, test)
    return contest_result(contest.rules, played, contest.judge, significance, test)


def play_matches(
    first: PlayerLike,
    second: PlayerLike,
    matches: int = MATCHES,
    *,
    length: int = 7,
    cube: bool = True,
    luck_adjusted: bool | PlayerLike = False,
    seed: int = 0,
    jobs: int | None = None,
) -> ContestResult:
    """Play matches between two players; each sequence of dice is used twice, with the seats swapped.

    Parameters
    ----------
    first, second
        Player names, weights, or evaluators of your own.
    matches
        Number of matches, rounded up to an even number.
    length
        Match length in points, 1 to 64.
    cube
        Whether to use a doubling cube.
    luck_adjusted
        Also adjust the result for luck, by the newest weights or by this player.
    seed
        Dice seed.
    jobs
        Number of processes; does not affect the result.

    Returns
    -------
    ContestResult
        The first player's result; ``mwc`` is the share of matches won.

    Raises
    ------
    PlayerError, WeightFileError
        For an unknown player.
    SettingError
        For fewer than 2 matches, or an invalid length or seed.

    Examples
    --------
    >>> import motif
    >>> motif.play_matches("simple", "simple", 4, length=1, jobs=1).mwc
    0.5
    """
    one, other = load_player(first), load_player(second)
    seed, matches = check_seed(seed), check_count("matches", matches, 2)
    check_match_length(length)
    contest = new_contest(ContestRules(length, cube), luck_adjusted)
    played = play_contest(contest, one, other, matches, seed, jobs)
    return contest_result(contest.rules, played, contest.judge)
