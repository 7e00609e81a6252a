"""Matches between two players."""

from motif.board.rules import check_match_length
from motif.contests.pairs import new_contest, play_contest
from motif.contests.result import ContestResult, ContestRules, contest_result
from motif.players.player import PlayerLike, as_player
from motif.runtime.settings import check_count, check_seed

MATCHES = 100
"""Default number of matches."""


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
    PlayerError
        For an unknown player.
    SettingError
        For fewer than 2 matches, or an invalid length or seed.

    Examples
    --------
    >>> import motif
    >>> motif.play_matches("simple", "simple", 4, length=1, jobs=1).mwc
    0.5
    """
    one, other = as_player(first), as_player(second)
    check_seed(seed)
    check_count("matches", matches, 2)
    check_match_length(length)
    contest = new_contest(ContestRules(length, cube), luck_adjusted)
    played = play_contest(contest, one, other, matches, seed, jobs)
    return contest_result(contest.rules, played, contest.judge)
