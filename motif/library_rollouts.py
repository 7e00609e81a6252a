"""High-level functions for rollouts."""

from collections.abc import Iterable
from typing import Unpack, cast

from motif.analysis.judge import MatchOptions, for_match
from motif.board.moves import Play, RollLike
from motif.board.moves import legal_plays as plays_of
from motif.board.position import PositionLike, Positions
from motif.doubling.cube_states import cube_model_for
from motif.doubling.cubeful_rollout import CubeRollout, roll_out_cube
from motif.evaluators.known_players import LATEST
from motif.library import given_roll, legal_play, match_options, position_and_match
from motif.library_options import ComparedKeywords, MatchKeywords, RolloutKeywords, lists_fields
from motif.players.player import PlayerLike, evaluator_of
from motif.players.ranking import cube_model_of
from motif.rollouts import Comparison, RolloutResult, RolloutSettings
from motif.rollouts import compare_plays as compared
from motif.rollouts.comparison import CANDIDATES
from motif.rollouts.trials import rollout as roll_out
from motif.runtime.settings import check_flag, settings_with


@lists_fields(RolloutSettings)
def rollout(
    positions: PositionLike | Positions,
    player: PlayerLike = LATEST,
    settings: RolloutSettings | None = None,
    *,
    jobs: int | None = None,
    **changes: Unpack[RolloutKeywords],
) -> RolloutResult:
    """Roll out one or more positions.

    The player plays both sides.  Weights are about a hundred times as fast as other players.

    Parameters
    ----------
    positions
        Position in any form that `rank` takes, a list of positions and IDs, or boards int8 (n, 26).
    player
        A player in any form, by default the newest weights without lookahead.
    settings
        Settings of the rollout; by default those of ``RolloutSettings()``.
    jobs
        Number of processes, by default all cores; the result does not depend on it.
    **changes
        Fields of `RolloutSettings` that override `settings`, such as ``trials=1296, cut=8``.

    Returns
    -------
    RolloutResult
        Means of probabilities and equity with their standard errors, for each position.

    Raises
    ------
    PositionError, PlayerError, WeightFileError, SettingError
        For an invalid position (the message names its row), player or setting.

    Examples
    --------
    >>> import motif
    >>> motif.rollout("4HPwATDgc/ABMA", "pubeval", trials=36, cut=4, jobs=1).trials
    array([36])
    """
    rules = settings_with(RolloutSettings, settings, changes)
    rules.check_effects()
    return roll_out(positions, evaluator_of(player), rules, jobs=jobs)


@lists_fields(RolloutSettings)
@lists_fields(MatchOptions)
def compare_plays(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike = LATEST,
    settings: RolloutSettings | None = None,
    *,
    plays: Iterable[str | Play] | str | Play | None = None,
    candidates: int = CANDIDATES,
    cubeful: bool = False,
    jobs: int | None = None,
    **keywords: Unpack[ComparedKeywords],
) -> Comparison:
    """Roll out candidate plays of a roll with the same dice.

    Parameters
    ----------
    position, roll
        As for `rank`.
    player
        A player in any form, by default the newest weights without lookahead; it plays both sides.
    settings
        Settings of the rollout; by default those of ``RolloutSettings()``.
    plays
        The play or plays to compare, in notation such as ``"8/5 6/5"``; by default the best plays according
        to the player.  Plays that lead to the same position are one play.
    candidates
        Number of plays to compare without `plays`, at least 1.
    cubeful
        Whether the cube is in play although neither `position` nor a keyword gives a match or a cube.
    jobs
        Number of processes, by default all cores; the result does not depend on it.
    **keywords
        Match and cube as for `rank`, and fields of `RolloutSettings` such as ``trials=1296, eliminate=True``.
        With a match or a cube, both sides double, take and pass in the trials, without beavers and raccoons.

    Returns
    -------
    Comparison
        The plays, best first, with equities, differences from the best play and their standard errors.

    Raises
    ------
    PositionError, PlayError, PlayerError, WeightFileError, SettingError
        For an invalid position, roll, player, match or cube.

    Examples
    --------
    >>> import motif
    >>> rolled = motif.compare_plays("4HPwATDgc/ABMA", "31", "pubeval", trials=36, cut=4, candidates=2)
    >>> len(rolled.plays)
    2
    """
    match, changes = _parted(keywords)
    parsed, state = position_and_match(position)
    dice, evaluator = given_roll(roll, state), evaluator_of(player)
    legal = plays_of(parsed, dice)
    several = [plays] if isinstance(plays, str | Play) or not isinstance(plays, Iterable) else plays
    check_flag("cubeful", cubeful)
    named = None if plays is None else [legal_play(cast("str | Play", play), legal, dice) for play in several]
    options = match_options(match)
    valued_state = for_match(evaluator, options, state)
    rules = settings_with(RolloutSettings, settings, changes)
    rules.check_effects(compared=True)
    options.check_rollout()
    return compared(
        parsed,
        dice,
        evaluator,
        rules,
        plays=named,
        candidates=candidates,
        cube_model=cube_model_for(options.state_of(state)) if cubeful else cube_model_of(valued_state),
        jobs=jobs,
    )


@lists_fields(RolloutSettings)
@lists_fields(MatchOptions)
def rollout_cube(
    position: PositionLike,
    player: PlayerLike = LATEST,
    settings: RolloutSettings | None = None,
    *,
    jobs: int | None = None,
    **keywords: Unpack[ComparedKeywords],
) -> CubeRollout:
    """Roll out a cube decision, with the cube in play in the trials.

    Parameters
    ----------
    position
        As for `rank`.
    player, settings, jobs, **keywords
        As for `compare_plays`; there are no beavers and raccoons.

    Returns
    -------
    CubeRollout
        Equities of no double and double/take, with their standard errors, and the best action.

    Raises
    ------
    PositionError, PlayerError, WeightFileError, SettingError
        For an invalid position, player, setting, match or cube.
    """
    match, changes = _parted(keywords)
    parsed, state = position_and_match(position)
    rules, options = settings_with(RolloutSettings, settings, changes), match_options(match)
    rules.check_effects()
    options.check_rollout()
    return roll_out_cube(parsed, options.state_of(state), evaluator_of(player), rules, jobs=jobs)


def _parted(keywords: ComparedKeywords) -> tuple[MatchKeywords, RolloutKeywords]:
    names = MatchKeywords.__annotations__
    match = {name: value for name, value in keywords.items() if name in names}
    changes = {name: value for name, value in keywords.items() if name not in names}
    return cast(MatchKeywords, match), cast(RolloutKeywords, changes)
