"""Money games between two players, with a doubling cube or without."""

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
"""Games that are played by default."""


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
    """Play money games between two players.

    Every sequence of dice is played twice, with the seats swapped.  There are no beavers.  Games with and
    without a cube have the same dice.

    Parameters
    ----------
    first, second
        Players in any form: names, weights, or evaluators of your own.
    games
        Number of games, rounded up to an even number.
    cube
        Whether there is a doubling cube.
    jacoby
        Games with a cube: whether gammons count only after a double.
    luck_adjusted
        Whether to adjust the result for luck, too: by the newest weights, or by this player.
    until_certain
        Whether cubeless games end after the pair that makes it certain which player is better.
    error_rate
        Share of contests between equal players, at most, that end with a difference called certain.
    seed
        Dice seed.
    jobs
        Number of processes; the result does not depend on it.

    Returns
    -------
    ContestResult
        The first player's result: ``.ppg`` is the points won per game.

    Raises
    ------
    PlayerError
        For an unknown player.
    SettingError
        For fewer than 2 games, an invalid seed or error rate, and for `until_certain` with a cube or with
        `luck_adjusted`.

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
        raise SettingError(
            "until_certain is for money games without a cube, not adjusted for luck", "until_certain"
        )
    contest = new_contest(ContestRules(0, cube, jacoby), luck_adjusted)
    test = SequentialTest(error_rate) if until_certain else None
    played = play_pairs_of_games(contest, one, other, games, seed, jobs, test)
    if cube:
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
    """Play pairs of `games`, up to the one that makes it certain for `test`."""
    blocks = []
    with closing(played_blocks(contest, first, second, games, seed, jobs)) as playing:
        for block in playing:
            looked = test.add(block.values) if test else len(block.values)
            blocks.append(PlayedPairs(block.values[:looked], block.luck[:looked], 2 * looked))
            if test and test.certain:
                break
    return joined(blocks)
