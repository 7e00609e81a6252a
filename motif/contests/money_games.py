"""Money games between two players, cubeless or with a doubling cube."""

from contextlib import closing
from dataclasses import replace

from motif.contests.pairs import Contest, joined, new_contest, played_blocks
from motif.contests.result import (
    ALL_PLAYED,
    CERTAIN,
    ContestResult,
    ContestRules,
    PlayedPairs,
    contest_result,
    cubeless_figures,
)
from motif.contests.sequential import ERROR_RATE, SequentialTest, certain_interval
from motif.players.player import Player, PlayerLike, as_player
from motif.rollouts.rollout_settings import check_count, check_error_rate
from motif.runtime.errors import SettingError, check_seed

GAMES = 1000
"""Default number of games."""


def play_money_games(
    first: PlayerLike,
    second: PlayerLike,
    games: int = GAMES,
    *,
    cube: bool = False,
    jacoby: bool = True,
    luck_adjusted: bool | PlayerLike = False,
    until_certain: bool = False,
    error_rate: float = ERROR_RATE,
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
    error_rate
        Maximum probability that equal players are called different.
    seed, jobs
        Dice seed; number of processes, which does not affect the result.

    Returns
    -------
    ContestResult
        The first player's result; ``ppg`` is points won per game.

    Raises
    ------
    PlayerError, SettingError
        For an unknown player; for invalid numbers, or `until_certain` with a cube or luck adjustment.

    Examples
    --------
    >>> import motif
    >>> motif.play_money_games("pubeval", "random", 60, jobs=1).wins > 50
    True
    """
    one, other = as_player(first), as_player(second)
    check_seed(seed)
    check_count("games", games, 2)
    check_error_rate(error_rate)
    if until_certain and (cube or luck_adjusted is not False):
        raise SettingError("until_certain requires cubeless games without luck adjustment", "until_certain")
    contest = new_contest(ContestRules(0, cube, jacoby), luck_adjusted)
    test = SequentialTest(error_rate) if until_certain else None
    played = play_pairs_of_games(contest, one, other, games, seed, jobs, test)
    return _result(contest, played, error_rate, test)


def _result(
    contest: Contest, played: PlayedPairs, error_rate: float, test: SequentialTest | None
) -> ContestResult:
    if contest.rules.cube:
        return contest_result(contest.rules, played, contest.judge)
    is_certain = test is not None and test.certain
    interval = certain_interval(played.values, error_rate)
    figures = cubeless_figures(played.values, interval, error_rate, CERTAIN if is_certain else ALL_PLAYED)
    result = contest_result(contest.rules, played, contest.judge, figures)
    return result if test is None else replace(result, p_value=test.p_value)


def play_pairs_of_games(
    contest: Contest,
    first: Player,
    second: Player,
    games: int,
    seed: int,
    jobs: int | None,
    test: SequentialTest | None = None,
) -> PlayedPairs:
    """Play pairs of `games`, until `test` is certain."""
    blocks = []
    with closing(played_blocks(contest, first, second, games, seed, jobs)) as playing:
        for block in playing:
            looked = test.add(block.values) if test else len(block.values)
            blocks.append(PlayedPairs(block.values[:looked], block.luck[:looked], 2 * looked))
            if test and test.certain:
                break
    return joined(blocks)
