"""High-level functions for positions, plays, cube decisions and matches.

They take positions, rolls and players in the forms that `rank` describes.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from motif.analysis.cube_records import cube_answers
from motif.analysis.explain.explanation import Explanation, explain_play
from motif.analysis.judge import JUDGE, MatchOptions, for_match, is_score, judge_name
from motif.analysis.match.match_analysis import WORST, MatchAnalysis, analyse_match
from motif.analysis.phrases import LANGUAGE
from motif.analysis.turn import TurnDecision, decide_turn
from motif.board.game_record import MatchRecord
from motif.board.identifiers import gnubg_ids
from motif.board.match_file import read_match
from motif.board.match_state import MatchState
from motif.board.moves import Play, RollLike, as_roll, check_legal, checked_roll
from motif.board.moves import legal_plays as plays_of
from motif.board.notation import find_play
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.parsing import parse_position
from motif.board.position import Position, PositionLike, Positions, as_boards
from motif.doubling import CubeDecision, match_equity_table
from motif.doubling.match_equity import DEFAULT_TABLE
from motif.evaluators import OUTPUTS, Evaluator, Probabilities
from motif.evaluators.bearoff import BearoffChances, bearoff_chances
from motif.evaluators.known_players import LATEST, with_lookahead
from motif.evaluators.lookahead import MAX_PLIES
from motif.evaluators.probabilities import equities
from motif.library_options import MatchKeywords, lists_fields
from motif.players.player import PlayerLike, evaluator_of
from motif.players.ranking import Ranking, rank_plays
from motif.rollouts import RolloutSettings
from motif.runtime.arrays import ArrayLike, Float32Array
from motif.runtime.errors import PlayerError, PlayError, RecordError, SettingError, shown
from motif.runtime.frames import frame
from motif.runtime.parallel import worker_count
from motif.runtime.settings import changed, check_flag, is_whole

if TYPE_CHECKING:
    from pandas import DataFrame

    from motif.board.packed import Board

Value = Callable[[npt.NDArray[np.int8]], ArrayLike]
"""Function that returns the equities (n,) of boards int8 (n, 26) for the player on roll."""


@lists_fields(MatchOptions)
def rank(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike | None = None,
    **match: Unpack[MatchKeywords],
) -> Ranking:
    """Rank the legal plays of a roll by equity.

    Parameters
    ----------
    position
        A `Position`, an ID (GNUbg ID, ``PositionID:MatchID``, XGID, OGID or 20-letter key), or 26 numbers.
    roll
        The two dice, such as ``(3, 1)`` or ``"31"``; optional if the ID includes a roll.
    player
        A name such as ``"latest@1"``, a weight file, weights, or an object with ``evaluate_many(boards)``;
        by default the newest weights with 2-ply lookahead.
    **match
        Match and cube, which override those of the position: match `length` in points, `score` as ``(3, 5)``
        or ``"3-5"`` (player on roll first), `cube` value and its `owner` (``"me"`` for the player on
        roll, ``"opponent"`` or ``"none"``), `crawford`; and for money play `jacoby`, `beavers` and
        `raccoons`.
        By default plays are valued for money play without a cube.  An XGID, an OGID, an ID with a match ID
        and the position of a `Game` have a match and cube of their own, and plays are valued with them.

    Returns
    -------
    Ranking
        The plays, best first, with the equities and probabilities of the player who makes them.  With a match
        or cube (``valued_for`` names them) `equity` is cubeful; ``probabilities.equity`` is always cubeless.

    Raises
    ------
    PositionError, PlayError, PlayerError, WeightFileError, SettingError
        For an invalid position, roll, player, match or cube.

    Examples
    --------
    >>> import motif
    >>> print(motif.rank("4HPwATDgc/ABMA", "31", "motif-v1").best)
    8/5 6/5
    """
    parsed, state = position_and_match(position)
    dice, evaluator = given_roll(roll, state), _judging(player)
    state = for_match(evaluator, match_options(match), state)
    return rank_plays(parsed, dice, evaluator, state, with_probabilities=True)


def best_play(position: PositionLike, roll: RollLike | None = None, *, value: Value | None = None) -> Play:
    """Choose the legal play that is best according to your own value function; `rank` takes a player.

    Parameters
    ----------
    position, roll
        As for `rank`.
    value
        Function that takes the positions after the plays, boards int8 (n, 26), and returns n equities in
        points.  Boards and equities are those of the opponent, the next player on roll, so the play with the
        lowest equity is chosen (the first if several are equal).  Plays that win the game are not passed to
        `value`: they count as -1, -2 or -3.  Required.

    Returns
    -------
    Play
        The play, which has no moves if the player cannot move.

    Raises
    ------
    SettingError
        If `value` is missing, or does not return n finite numbers.
    PositionError, PlayError
        For an invalid position or roll.

    Examples
    --------
    At double match point only the probability of winning counts:

    >>> import motif
    >>> def at_double_match_point(boards):
    ...     return 2 * motif.evaluate_many(boards, "motif-v1")[:, 0] - 1
    >>> print(motif.best_play("4HPwATDgc/ABMA", "31", value=at_double_match_point))
    8/5 6/5
    """
    if value is None or not callable(value):
        hint = "; the best play of a player is rank(...).best" if value is None else ""
        raise SettingError(f"value must be a function of boards, not {shown(value)}{hint}", "value")
    parsed, state = position_and_match(position)
    plays = plays_of(parsed, given_roll(roll, state))
    boards = np.array([play.position.board for play in plays])
    equities_after = finished_points_many(pack_many(boards).view(np.int64)).astype(np.float64)
    goes_on = equities_after == 0
    if goes_on.any():
        returned, wanted = value(boards[goes_on]), int(goes_on.sum())
        try:
            given = np.asarray(returned)
        except ValueError:  # lists of different lengths
            given = np.empty(0)
        if given.shape != (wanted,) or given.dtype.kind not in "fiu" or not np.isfinite(given).all():
            raise SettingError(f"value must return {wanted} finite numbers, one for each board", "value")
        equities_after[goes_on] = given
    return plays[int(np.argmin(equities_after))]


@overload
def evaluate(position: str | Position, player: PlayerLike = LATEST) -> Probabilities: ...
@overload
def evaluate(
    position: list[Position] | list[str] | list[Position | str] | tuple[Position | str, ...],
    player: PlayerLike = LATEST,
) -> list[Probabilities]: ...
@overload
def evaluate(position: PositionLike, player: PlayerLike = LATEST) -> Probabilities: ...
def evaluate(position: object, player: PlayerLike = LATEST) -> Probabilities | list[Probabilities]:
    """Return the probabilities and the cubeless equity of the player on roll, before the roll.

    Parameters
    ----------
    position
        Position in any form that `rank` takes, or a list, tuple, array or series of positions and IDs; for
        boards (n, 26) use `evaluate_many`.
    player
        A name such as ``"latest@1"``, a weight file, weights, or an object with ``evaluate_many(boards)``;
        by default the newest weights without lookahead.

    Returns
    -------
    Probabilities or list of Probabilities
        Five cumulative probabilities (wins include gammons, and gammons include backgammons); ``.equity`` is
        the cubeless equity in points.

    Raises
    ------
    PositionError, PlayerError, WeightFileError
        For an invalid position or player.

    Examples
    --------
    >>> import motif
    >>> motif.evaluate("4HPwATDgc/ABMA", "motif-v1").win > 0.5
    True
    """
    evaluator = evaluator_of(player)
    is_one = isinstance(position, str) or getattr(position, "ndim", None) == 0
    if isinstance(position, Iterable) and not is_one:
        items = list(position)
        if not items or isinstance(items[0], Position | str):
            return [Probabilities(*map(float, row)) for row in evaluator.evaluate_many(as_boards(items))]
    return evaluator.evaluate(Position.of(cast(PositionLike, position)))


@overload
def evaluate_many(
    positions: Positions, player: PlayerLike = LATEST, *, as_frame: Literal[False] = False
) -> Float32Array: ...
@overload
def evaluate_many(
    positions: Positions, player: PlayerLike = LATEST, *, as_frame: Literal[True]
) -> "DataFrame": ...
def evaluate_many(
    positions: Positions, player: PlayerLike = LATEST, *, as_frame: bool = False
) -> "Float32Array | DataFrame":
    """Return the probabilities of the player on roll for many positions.

    Parameters
    ----------
    positions
        Boards int8 (n, 26), a data frame of boards, or a list, tuple, array or series of positions and
        IDs.
    player
        As for `evaluate`.
    as_frame
        Whether to return a pandas data frame, with the index of a series or a data frame, or a polars one if
        pandas is not installed.

    Returns
    -------
    ndarray or DataFrame
        Array float32 (n, 5) in the order of `Probabilities`, or a data frame that also has GNUbg IDs and
        cubeless equities.

    Raises
    ------
    PositionError, PlayerError, WeightFileError
        For an invalid position (the message names its row) or player.
    SettingError
        With `as_frame`, if neither pandas nor polars is installed.
    """
    check_flag("as_frame", as_frame)
    boards: Board = as_boards(positions)
    rows = evaluator_of(player).evaluate_many(boards)
    if not as_frame:
        return rows
    values = rows.astype(np.float64)
    table = frame(
        {
            "position": gnubg_ids(boards),
            **dict(zip(OUTPUTS, values.T, strict=True)),
            "equity": equities(values),
        }
    )
    # Series and data frames of pandas, but not of polars.
    return table.set_axis(cast("DataFrame", positions).index) if hasattr(positions, "iloc") else table


def legal_plays(position: PositionLike, roll: RollLike | None = None, die: int | None = None) -> list[Play]:
    """Return the legal plays of a roll, one for each resulting position.

    Parameters
    ----------
    position, roll
        As for `rank`.
    die
        The second die if `roll` is a single die: ``legal_plays(position, 3, 1)``.

    Returns
    -------
    list of Play
        The plays; if the player cannot move, one play without moves.

    Raises
    ------
    PositionError
        For an invalid position, or if the game is over.
    PlayError
        For an invalid roll.

    Examples
    --------
    >>> import motif
    >>> len(motif.legal_plays("4HPwATDgc/ABMA", 3, 1))
    16
    """
    parsed, state = position_and_match(position)
    return plays_of(parsed, given_roll(roll, state) if die is None else checked_roll(roll, die))


@lists_fields(MatchOptions)
def cube(
    position: PositionLike,
    player: PlayerLike | None = None,
    *,
    met: str | Path | None = None,
    efficiency: float | None = None,
    **match: Unpack[MatchKeywords],
) -> CubeDecision:
    """Decide whether to double and whether to take.

    Parameters
    ----------
    position
        As for `rank`.
    player
        As for `rank`.
    met
        Match equity table: a name, or a file in gnubg's XML format; by default ``"kazaross-xg2"``.
    efficiency
        Cube efficiency of Janowski's model, 0 (dead cube) to 1 (live cube).  By default the efficiency
        depends on the class of position, and bearoff positions with few checkers are decided exactly.
    **match
        As for `rank`, but by default money play with a centred cube.

    Returns
    -------
    CubeDecision
        The actions of both players, and the equities of no double, double/take and double/pass.

    Raises
    ------
    PositionError, PlayerError, WeightFileError, SettingError
        For an invalid position, player, match or cube.

    Examples
    --------
    >>> import motif
    >>> motif.cube("AQAAiAAAAAAAAA").action
    'double, take'
    """
    parsed, state = position_and_match(position)
    evaluator, table = _judging(player), match_equity_table(DEFAULT_TABLE if met is None else str(met))
    question = [(parsed, match_options(match).state_of(state))]
    answers = cube_answers(question, evaluator, evaluator.name, efficiency=efficiency, table=table)
    return next(answers).decision


@lists_fields(MatchOptions)
def decide(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike | None = None,
    **match: Unpack[MatchKeywords],
) -> TurnDecision:
    """Decide what to do now: play, roll, double, take, beaver, pass, accept or reject.

    With a roll, given or in the ID, choose the best play; without one, decide whether to roll or to double.
    If a double or a resignation has been offered in the ID, respond to it.

    Parameters
    ----------
    position, roll, player, **match
        As for `rank`.

    Returns
    -------
    TurnDecision
        The ``.action``, and the ``.play`` if the action is ``"play"``.

    Raises
    ------
    PositionError, PlayError, PlayerError, WeightFileError, SettingError
        For an invalid position, roll, player, match or cube.

    Examples
    --------
    >>> import motif
    >>> motif.decide("4HPwATDgc/ABMA", "31", "motif-v1").action
    'play'
    """
    parsed, state = position_and_match(position)
    dice = as_roll(roll) if roll is not None else None if state is None else state.dice
    return decide_turn(parsed, dice, state, _judging(player), match_options(match))


@lists_fields(MatchOptions)
def explain(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike | None = None,
    *,
    better: str | Play | None = None,
    versus: str | Play | None = None,
    language: str = LANGUAGE,
    **match: Unpack[MatchKeywords],
) -> Explanation:
    """Explain why one play is better than another, in words and term by term.

    Parameters
    ----------
    position, roll, **match
        As for `rank`.
    player
        As for `rank`, but with named terms: weights, ``"bras"`` or ``"phase"``.
    better, versus
        The plays to compare, in notation such as ``"24/23 13/10"``; by default the best and the second best.
    language
        Language of the reasons: ``"en"`` or ``"de"``.

    Returns
    -------
    Explanation
        The reasons, largest first, and the terms of the difference; ``print`` shows the reasons.

    Raises
    ------
    PositionError, PlayError, PlayerError, WeightFileError, SettingError
        For an invalid position, roll, player, match or cube.

    Examples
    --------
    >>> import motif
    >>> motif.explain("4HPwATDgc/ABMA", "31", "motif-v1").better.notation
    '8/5 6/5'
    """
    parsed, state = position_and_match(position)
    dice, evaluator = given_roll(roll, state), _judging(player)
    legal = plays_of(parsed, dice)
    plays = [None if play is None else legal_play(play, legal, dice) for play in (better, versus)]
    state = for_match(evaluator, match_options(match), state)
    return explain_play(evaluator, parsed, dice, *plays, state=state, language=language)


def bearoff(position: PositionLike) -> BearoffChances:
    """Return the probabilities of a position in which both sides bear off, from the bearoff tables.

    Parameters
    ----------
    position
        As for `rank`.

    Returns
    -------
    BearoffChances
        The probabilities, and whether they are exact for best play by both sides or for each side minimising
        its number of rolls.

    Raises
    ------
    PositionError
        For an invalid position, or if a side has a checker outside its home board.
    """
    return bearoff_chances(Position.of(position))


def analyse(
    record: MatchRecord | Path | str,
    player: PlayerLike | None = None,
    *,
    fast: bool = False,
    deep: bool = False,
    worst: int = WORST,
    cube: bool = True,
    jacoby: bool | None = None,
    confirm: RolloutSettings | bool = True,
    jobs: int | None = None,
) -> MatchAnalysis:
    """Analyse a match: find errors, rate the players and measure their luck.

    Parameters
    ----------
    record
        A .mat, .sgf, .xg or .bgf file, or the result of `read_match`.
    player
        As for `rank`.
    fast, deep
        Whether the player, which must be given by name, looks ahead less or further.
    worst
        Number of worst plays and of worst cube decisions to list.
    cube
        Whether to judge cube decisions.
    jacoby
        Whether the Jacoby rule applies in money games; by default as recorded.
    confirm
        How to roll out the errors that lookahead finds: rollout settings, True for the default settings, or
        False for no rollouts.  True has no effect on a player without lookahead or without weights.
    jobs
        Number of processes, by default all cores.

    Returns
    -------
    MatchAnalysis
        Error rates and luck of both players, the worst decisions and every decision.

    Raises
    ------
    RecordError
        For a record that cannot be read.
    PlayerError, WeightFileError, SettingError
        For an invalid player or contradictory settings.
    """
    if not isinstance(record, MatchRecord):
        if not isinstance(record, Path | str):
            raise RecordError(f"invalid match {shown(record)}: it must be a file or a MatchRecord")
        record = read_match(record)
    if player is None or isinstance(player, str):
        player = judge_name(player, fast, deep)
    elif fast or deep:
        raise SettingError("fast and deep require a player given by name")
    for label, flag in (("fast", fast), ("deep", deep), ("cube", cube), ("jacoby", jacoby)):
        if flag is not None:
            check_flag(label, flag)
    worker_count(jobs)
    evaluator = evaluator_of(player)
    return analyse_match(record, evaluator, worst=worst, cube=cube, jacoby=jacoby, confirm=confirm, jobs=jobs)


def load_evaluator(player: PlayerLike, plies: int = 0) -> Evaluator:
    """Return the evaluator of a player.

    Parameters
    ----------
    player
        A name such as ``"latest"``, weights, a player, or an object with ``evaluate_many(boards)``.
    plies
        Plies of lookahead to add, 0 to 3; 0 for none.

    Returns
    -------
    Evaluator
        The evaluator, with any lookahead added.

    Raises
    ------
    PlayerError, WeightFileError
        For an unknown player, a player that cannot evaluate positions, or an invalid number of plies.

    Examples
    --------
    >>> import motif
    >>> motif.load_evaluator("motif-v1", plies=1).name
    'motif-v1@1'
    """
    evaluator = evaluator_of(player)
    if not is_whole(plies) or not 0 <= int(plies) <= MAX_PLIES:
        raise PlayerError(f"plies must be 0 to {MAX_PLIES}, not {shown(plies)}", "plies")
    if not plies:
        return evaluator
    if evaluator.without_lookahead is not evaluator:
        raise PlayerError(f"{evaluator.name!r} already looks ahead")
    return with_lookahead(evaluator, int(plies))


def position_and_match(position: PositionLike) -> tuple[Position, MatchState | None]:
    """Return a position in any form with its match state, if any."""
    if isinstance(position, str):
        return parse_position(position)
    parsed = Position.of(position)
    return parsed, parsed.match


def given_roll(roll: RollLike | None, state: MatchState | None) -> tuple[int, int]:
    """Return a roll, by default that of the match state; raises `PlayError` if there is none."""
    if roll is not None:
        return as_roll(roll)
    if state is None or state.dice is None:
        raise PlayError("missing roll, such as (3, 1) or '31': the position has none")
    return state.dice


def legal_play(play: str | Play, legal: Sequence[Play], dice: tuple[int, int]) -> Play:
    """Return a play given in notation or as a `Play`; raises `PlayError` if it is not among the `legal`."""
    if isinstance(play, str):
        return find_play(play, legal)
    if not isinstance(play, Play):
        raise PlayError(f"a play must be a Play, or notation such as '8/5 6/5', not {shown(play)}")
    check_legal(play, legal, dice)
    return play


def match_options(match: MatchKeywords) -> MatchOptions:
    """Return the keywords for match and cube as options."""
    score = match.get("score")
    if score is not None and not isinstance(score, str):
        # A text such as "-1-2" would not show what was given.
        text = "-".join(map(str, score if np.ndim(score) else [score]))
        if not is_score(text):
            raise SettingError(
                f"invalid score {shown(score)}: it must be two whole numbers such as (3, 5)", "score"
            )
        return changed(MatchOptions(), {**match, "score": text})
    return changed(MatchOptions(), match)


def _judging(player: PlayerLike | None) -> Evaluator:
    return evaluator_of(JUDGE if player is None else player)
