"""Ask about a position, in one call each: a position, a roll and a player may be given in any form.

A position is a `Position`, an ID (GNUbg's, ``PositionID:MatchID``, an XGID, an OGID, a 20-letter key) or 26
numbers.  A roll is ``(3, 1)`` or ``"31"``; where the ID holds one it may be left out.  A player is a name
such as ``"latest"`` or ``"motif-v14@2"``, a player, weights, or an evaluator of your own (`motif.Evaluator`);
by default it is the newest weights, looking two plies ahead.  Match and cube are keywords: ``length=7,
score=(3, 5), cube=2, owner="me", crawford=True``, for money ``jacoby=True``; an ID may hold them.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from motif.analysis.cube_records import cube_answers
from motif.analysis.explain import Explanation, explain_play
from motif.analysis.judge import JUDGE, MatchOptions, for_match, judge_name
from motif.analysis.match import MatchAnalysis, analyse_match
from motif.analysis.match.match_analysis import WORST
from motif.analysis.phrases import LANGUAGE
from motif.analysis.position_records import SHOWN
from motif.analysis.turn import TurnDecision, decide_turn
from motif.board.game_record import MatchRecord
from motif.board.identifiers import gnubg_ids
from motif.board.match_file import read_match
from motif.board.match_state import MatchState
from motif.board.moves import Play, RollLike, as_roll
from motif.board.moves import legal_plays as plays_of
from motif.board.notation import find_play
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.parsing import parse_position
from motif.board.position import Position, PositionLike, Positions, as_boards
from motif.doubling import CubeDecision, match_equity_table
from motif.doubling.cube_states import cube_maker
from motif.doubling.cubeful_rollout import CubeRollout, roll_out_cube
from motif.doubling.match_equity import DEFAULT_TABLE
from motif.evaluators import OUTPUTS, Evaluator, LookaheadEvaluator, Probabilities
from motif.evaluators.bearoff import BearoffChances, bearoff_chances
from motif.evaluators.named import LATEST
from motif.evaluators.probabilities import equities
from motif.library_options import ComparedKeywords, MatchKeywords, RolloutKeywords, lists_fields
from motif.players.player import PlayerLike, as_player
from motif.players.ranking import Ranking, rank_plays
from motif.rollouts import Comparison, RolloutResult, RolloutSettings
from motif.rollouts import compare_plays as compared
from motif.rollouts.comparison import CANDIDATES
from motif.rollouts.trials import rollout as roll_out
from motif.runtime.errors import PlayerError, PlayError, PositionError, SettingError, changed, shown
from motif.runtime.frames import frame

if TYPE_CHECKING:
    from pandas import DataFrame

    from motif.board.packed import Board

Value = Callable[[npt.NDArray[np.int8]], npt.ArrayLike]
"""Boards int8 (n, 26) to the n equities of their players on roll."""


@lists_fields(MatchOptions)
def rank(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike | None = None,
    **match: Unpack[MatchKeywords],
) -> Ranking:
    """Return the legal plays of a roll, the best first, with the mover's equities.

    ``rank("4HPwATDgc/ABMA", "31")[0]`` is the best one.  The roll is ``(3, 1)`` or ``"31"``, and may be left
    out where the ID holds one.  The player is a name, a player or an evaluator; by default the newest weights
    two plies ahead.

    Match and cube are keywords: ``length=7, score=(3, 5), cube=2, owner="me", crawford=True``, for money
    ``jacoby=True``; the ID may hold them, too.  Plays are then valued for these, else for money without a
    cube.

    Raises `PositionError`, `PlayError`, `PlayerError` and `SettingError`, each in one line, for what makes
    no sense.
    """
    place, state = _placed(position)
    dice, evaluator = _rolled(roll, state), _judging(player)
    context, _ = for_match(evaluator, _options(match), state)
    return rank_plays(place, dice, evaluator, context, chances_for=SHOWN)


def best_play(position: PositionLike, roll: RollLike | None = None, *, value: Value) -> Play:
    """Choose the legal play that your own value function prefers.

    Parameters
    ----------
    position, roll
        As `rank` takes them.
    value
        A function of boards int8 (n, 26), the positions after the plays, that returns n equities in points.
        Each board is seen by its player on roll, the opponent of the player who chooses, and the equity is
        that player's: the play with the lowest one is chosen, of equal ones the first. Games that a play wins
        are worth -1, -2 or -3; `value` is not asked about them.

    Returns
    -------
    Play
        A dance is a play without moves.

    Raises
    ------
    SettingError
        When `value` does not give n finite numbers.
    PositionError, PlayError
        As by `rank`.

    Examples
    --------
    At double match point gammons do not count, so the chance of winning decides:

    >>> import motif
    >>> def at_double_match_point(boards):
    ...     return 2 * motif.evaluate_many(boards, "motif-v1")[:, 0] - 1
    >>> print(motif.best_play("4HPwATDgc/ABMA", "31", value=at_double_match_point))
    8/5 6/5
    """
    place, state = _placed(position)
    plays = plays_of(place, _rolled(roll, state))
    boards = np.array([play.position.board for play in plays])
    equities_after = finished_points_many(pack_many(boards).view(np.int64)).astype(np.float64)
    goes_on = equities_after == 0
    if goes_on.any():
        given = np.asarray(value(boards[goes_on]))
        wanted = int(goes_on.sum())
        if given.shape != (wanted,) or given.dtype.kind not in "fiu" or not np.isfinite(given).all():
            raise SettingError(f"value must give {wanted} finite numbers, one for each board", "value")
        equities_after[goes_on] = given
    return plays[int(np.argmin(equities_after))]


@overload
def evaluate(position: list[Position] | list[str], player: PlayerLike = LATEST) -> list[Probabilities]: ...
@overload
def evaluate(position: PositionLike, player: PlayerLike = LATEST) -> Probabilities: ...
def evaluate(
    position: PositionLike | list[Position], player: PlayerLike = LATEST
) -> Probabilities | list[Probabilities]:
    """Return the five probabilities of the player on roll, before the roll; ``.equity`` is the cubeless one.

    Of a list of positions it is a list of these; for arrays there is `evaluate_many`.  It is the static
    evaluation, unless the player looks ahead (``"latest@2"``).  Raises `PositionError` and `PlayerError`.
    """
    evaluator = evaluator_of(player)
    if isinstance(position, list) and position and isinstance(position[0], Position | str):
        rows = evaluator.evaluate_many(as_boards(position))
        return [Probabilities(*map(float, row)) for row in rows]
    return evaluator.evaluate(Position.of(cast(PositionLike, position)))


@overload
def evaluate_many(
    positions: Positions, player: PlayerLike = LATEST, *, as_frame: Literal[False] = False
) -> npt.NDArray[np.float32]: ...
@overload
def evaluate_many(
    positions: Positions, player: PlayerLike = LATEST, *, as_frame: Literal[True]
) -> "DataFrame": ...
def evaluate_many(
    positions: Positions, player: PlayerLike = LATEST, *, as_frame: bool = False
) -> "npt.NDArray[np.float32] | DataFrame":
    """Return the five probabilities of each of `positions`: float32 (n, 5), in the order of `Probabilities`.

    `positions` are int8 (n, 26), or a list of positions and IDs.  With `as_frame` a DataFrame, with the GNUbg
    IDs and the cubeless equities (see `frame`).
    """
    boards: Board = as_boards(positions)
    rows = evaluator_of(player).evaluate_many(boards)
    if not as_frame:
        return rows
    values = rows.astype(np.float64)
    return frame(
        {
            "position": gnubg_ids(boards),
            **dict(zip(OUTPUTS, values.T, strict=True)),
            "equity": equities(values),
        }
    )


def legal_plays(position: PositionLike, roll: RollLike | None = None, die: int | None = None) -> list[Play]:
    """List the legal plays of a roll with distinct results; a dance is one play without moves.

    The roll is ``(3, 1)``, ``"31"`` or two arguments, ``3, 1``; it may be left out where the ID holds one.
    Raises `PlayError` for a roll that dice cannot show, `PositionError` when the game is over.
    """
    place, state = _placed(position)
    if die is not None:
        if not isinstance(roll, int):
            raise PlayError(f"a roll is two dice, such as 3, 1 or '31', not {shown((roll, die))}")
        roll = (roll, die)
    return plays_of(place, _rolled(roll, state))


@lists_fields(RolloutSettings)
def rollout(
    positions: PositionLike | Positions,
    player: PlayerLike = LATEST,
    settings: RolloutSettings | None = None,
    *,
    jobs: int | None = None,
    **changes: Unpack[RolloutKeywords],
) -> RolloutResult:
    """Roll out one position, several, or an array (n, 26): ``rollout(ID, trials=1296, cut=8)``.

    The player plays both sides; weights do so some hundred times as fast as other players.  `changes` are
    fields of the `settings`.  Trial t of position k uses the random stream (seed, k, t): the result does not
    depend on `jobs`.  Raises `SettingError`, and `PositionError` naming the first row that is no position.
    """
    return roll_out(positions, evaluator_of(player), settings, jobs=jobs, **changes)


@lists_fields(MatchOptions)
def cube(
    position: PositionLike,
    player: PlayerLike | None = None,
    *,
    met: str | Path | None = None,
    efficiency: float | None = None,
    **match: Unpack[MatchKeywords],
) -> CubeDecision:
    """Decide whether to double, and whether to take: ``cube("dPexAAB07zMAAA").action``.

    For money with the cube in the centre, unless the ID or keywords say otherwise; these, the player and what
    is raised are those of `rank`.  `met` is a match equity table, a name or a file; `efficiency` the x of
    Janowski's model, by default that of the class of position.
    """
    place, state = _placed(position)
    evaluator, table = _judging(player), match_equity_table(DEFAULT_TABLE if met is None else str(met))
    question = [(place, _options(match).state_of(state))]
    answers = cube_answers(question, evaluator, evaluator.name, efficiency=efficiency, table=table)
    return next(answers).decision


@lists_fields(MatchOptions)
def decide(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike | None = None,
    **match: Unpack[MatchKeywords],
) -> TurnDecision:
    """Decide what to do now: ``decide(game.position).action`` is play, roll, double, take, beaver or pass.

    With a roll, given or in the ID, it is the best ``.play``.  Without one it is to roll or to double; where
    the ID says that a double is on offer, the answer to it.  The arguments are those of `rank`.
    """
    place, state = _placed(position)
    dice = as_roll(roll) if roll is not None else None if state is None else state.dice
    return decide_turn(place, dice, state, _judging(player), _options(match))


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
    """Explain why one play is better than another, term by term and in words: ``print(explain(ID, "31"))``.

    By default the best play is compared with the second best; ``versus="24/23 13/10"`` names another one.
    The reasons are in English, or with ``language="de"`` in German.  Roll, player and the keywords of match
    and cube are those of `rank`.
    """
    place, state = _placed(position)
    dice, evaluator = _rolled(roll, state), _judging(player)
    legal = plays_of(place, dice)
    plays = [find_play(play, legal) if isinstance(play, str) else play for play in (better, versus)]
    context, _ = for_match(evaluator, _options(match), state)
    return explain_play(evaluator, place, dice, *plays, context=context, language=language)


@lists_fields(RolloutSettings)
@lists_fields(MatchOptions)
def compare_plays(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike = LATEST,
    settings: RolloutSettings | None = None,
    *,
    plays: Sequence[str | Play] = (),
    candidates: int = CANDIDATES,
    cubeful: bool = False,
    jobs: int | None = None,
    **keywords: Unpack[ComparedKeywords],
) -> Comparison:
    """Roll out the best plays of a roll, or those named, with the same dice: ``compare_plays(ID, "31")``.

    `keywords` are those of match and cube, and fields of the settings: ``trials=1296, eliminate=True``.  With
    `cubeful` both sides double within the trials.
    """
    match, changes = _parted(keywords)
    place, state = _placed(position)
    dice, evaluator = _rolled(roll, state), evaluator_of(player)
    legal = plays_of(place, dice)
    named = [find_play(play, legal) if isinstance(play, str) else play for play in plays]
    options = _options(match)
    context, _ = for_match(evaluator, options, state)
    return compared(
        place,
        dice,
        evaluator,
        changed(settings or RolloutSettings(), changes),
        plays=named or None,
        candidates=candidates,
        cube_model=context.cube_model,
        cubes=cube_maker(options.state_of(state)) if cubeful else None,
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
    """Roll out a cube decision, with both sides doubling; the keywords are those of `compare_plays`."""
    match, changes = _parted(keywords)
    place, state = _placed(position)
    rules = changed(settings or RolloutSettings(), changes)
    return roll_out_cube(place, _options(match).state_of(state), evaluator_of(player), rules, jobs=jobs)


def _parted(keywords: ComparedKeywords) -> tuple[MatchKeywords, RolloutKeywords]:
    names = MatchKeywords.__annotations__
    match = {name: value for name, value in keywords.items() if name in names}
    changes = {name: value for name, value in keywords.items() if name not in names}
    return cast(MatchKeywords, match), cast(RolloutKeywords, changes)


def bearoff(position: PositionLike) -> BearoffChances:
    """Return the exact chances of a position in which both sides bear off.

    Raises `PositionError` for any other.
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
    """Find the errors and the luck of both players of a match, rate them, and list what cost most.

    Parameters
    ----------
    record
        A .mat, .sgf, .xg or .bgf file, or what `read_match` makes of one.
    player
        Judges; by default the newest weights two plies ahead.
    fast, deep
        Whether to look ahead less, or further.
    worst
        How many of the worst plays and cube decisions are listed.
    cube
        Whether cube decisions are judged; leave them out where nobody had a cube.
    jacoby
        The rule in money games, by default as the record shows.
    confirm
        How errors are rolled out; False believes the player.
    jobs
        Processes for long work.
    """
    if not isinstance(record, MatchRecord):
        if not isinstance(record, Path | str):
            raise PositionError(f"a match is a file or a MatchRecord, not {shown(record)}")
        record = read_match(record)
    if player is None or isinstance(player, str):
        player = judge_name(player, fast, deep)
    elif fast or deep:
        raise SettingError("fast and deep are for players that are named")
    evaluator = evaluator_of(player)
    return analyse_match(record, evaluator, worst=worst, cube=cube, jacoby=jacoby, confirm=confirm, jobs=jobs)


def load_evaluator(player: PlayerLike, plies: int = 0) -> Evaluator:
    """Return the evaluator of a player in any form; with `plies` it looks this many plies ahead.

    `player` is a name, weights, or an object with a method ``evaluate_many(boards)``.  Raises `PlayerError`
    for a name that means nothing, for a player that only chooses plays, and for plies that are too many.
    """
    evaluator = evaluator_of(player)
    if not plies:
        return evaluator
    if evaluator.without_lookahead is not evaluator:
        raise PlayerError(f"{evaluator.name!r} looks ahead already")
    if isinstance(player, str):
        return evaluator_of(f"{player}@{plies}")
    return LookaheadEvaluator(evaluator, plies)


def evaluator_of(player: PlayerLike) -> Evaluator:
    """Return the evaluator of a player in any form: a name, weights, or an object with ``evaluate_many``.

    Raises `PlayerError` for a name that means nothing and for a player that only chooses plays.
    """
    return player if isinstance(player, Evaluator) else as_player(player).require_evaluator()


def _placed(position: PositionLike) -> tuple[Position, MatchState | None]:
    if isinstance(position, str):
        return parse_position(position)
    place = Position.of(position)
    return place, place.match


def _rolled(roll: RollLike | None, state: MatchState | None) -> tuple[int, int]:
    if roll is not None:
        return as_roll(roll)
    if state is None or state.dice is None:
        raise PlayError("a roll is missing, such as (3, 1) or '31': the position holds none")
    return state.dice


def _options(match: MatchKeywords) -> MatchOptions:
    score = match.get("score")
    if score is not None and not isinstance(score, str):
        text = "-".join(map(str, score if np.ndim(score) else [score]))
        return changed(MatchOptions(), {**match, "score": text})
    return changed(MatchOptions(), match)


def _judging(player: PlayerLike | None) -> Evaluator:
    return evaluator_of(JUDGE if player is None else player)
