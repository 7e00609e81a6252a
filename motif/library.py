"""What one asks most, in one call each: a position, a roll and a player may be given in any form.

A position is a `Position`, an ID (GNUbg's, ``PositionID:MatchID``, an XGID, an OGID, a 20-letter key) or 26
numbers.
A roll is ``(3, 1)`` or ``"31"``; where the ID holds one it may be left out.  A player is a name such as
``"latest"`` or ``"motif-v6@2"``, a player or an evaluator; where none is given, it is who judges on the
command line, too: the newest weights, looking two plies ahead.  Match and cube are keywords:
``length=7, score=(3, 5), cube=2, owner="me", crawford=True``, for money ``jacoby=True``; an ID may hold them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from motif.analysis.cube_records import cube_answers
from motif.analysis.explain import Explanation, explain_choice
from motif.analysis.judge import JUDGE, MatchOptions, for_match
from motif.analysis.match import MatchAnalysis, analyse_match
from motif.analysis.phrases import LANGUAGE
from motif.analysis.position_records import SHOWN
from motif.analysis.ranking import Ranking, rank_plays
from motif.board.game_record import MatchRecord
from motif.board.identifiers import gnubg_ids
from motif.board.match_file import read_match
from motif.board.match_state import MatchState
from motif.board.moves import Play, RollLike, as_roll, legal_plays
from motif.board.notation import find_play
from motif.board.outcome import finished_points_many
from motif.board.packed import pack_many
from motif.board.parsing import parse_position
from motif.board.position import Position, PositionLike, Positions, as_boards
from motif.cube import CubeDecision
from motif.evaluators import OUTPUTS, Evaluator, Probabilities
from motif.evaluators.named import LATEST
from motif.evaluators.probabilities import equities
from motif.players.player import Player, as_player
from motif.runtime.errors import PlayError, PositionError, SettingError, changed, shown
from motif.runtime.frames import frame

if TYPE_CHECKING:
    from motif.board.packed import Board

PlayerLike = Player | Evaluator | str
Value = Callable[[npt.NDArray[np.int8]], npt.ArrayLike]
"""Boards int8 (n, 26) to the n equities of their players on roll."""


def rank(
    position: PositionLike, roll: RollLike | None = None, player: PlayerLike | None = None, **match: Any
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
    plays = legal_plays(place, _rolled(roll, state))
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


def evaluate(position: PositionLike, player: PlayerLike = LATEST) -> Probabilities:
    """Return the five chances of the player on roll, before the roll; ``.equity`` is the cubeless one.

    The static evaluation, without lookahead, unless the player looks ahead (``"latest@2"``).  Raises
    `PositionError` and `PlayerError`.
    """
    return _evaluator(player).evaluate(Position.of(position))


def evaluate_many(
    positions: Positions, player: PlayerLike = LATEST, *, as_frame: bool = False
) -> "npt.NDArray[np.float32] | Any":
    """Return the five chances of each of `positions`: float32 (n, 5), in the order of `Probabilities`.

    `positions` are int8 (n, 26), or a list of positions and IDs.  With `as_frame` a DataFrame, with the GNUbg
    IDs and the cubeless equities (see `frame`).
    """
    boards: Board = as_boards(positions)
    rows = _evaluator(player).evaluate_many(boards)
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


def cube(position: PositionLike, player: PlayerLike | None = None, **match: Any) -> CubeDecision:
    """Whether to double, and whether to take: ``cube("dPexAAB07zMAAA").action``.

    For money with the cube in the centre, unless the ID or keywords say otherwise; these, the player and what
    is raised are those of `rank`.
    """
    place, state = _placed(position)
    evaluator = _judging(player)
    return next(cube_answers([(place, _options(match).state_of(state))], evaluator, evaluator.name)).decision


def explain(
    position: PositionLike,
    roll: RollLike | None = None,
    player: PlayerLike | None = None,
    *,
    better: str | Play | None = None,
    versus: str | Play | None = None,
    language: str = LANGUAGE,
    **match: Any,
) -> Explanation:
    """Why one play is better than another, term by term and in words: ``print(explain(ID, "31"))``.

    By default the best play is compared with the second best; ``versus="24/23 13/10"`` names another one.
    The reasons are in English, or with ``language="de"`` in German.  Roll, player and the keywords of match
    and cube are those of `rank`.
    """
    place, state = _placed(position)
    dice, evaluator = _rolled(roll, state), _judging(player)
    legal = legal_plays(place, dice)
    plays = [find_play(play, legal) if isinstance(play, str) else play for play in (better, versus)]
    context, _ = for_match(evaluator, _options(match), state)
    return explain_choice(evaluator, place, dice, *plays, context=context, language=language)


def analyse(
    record: MatchRecord | Path | str, player: PlayerLike | None = None, **settings: Any
) -> MatchAnalysis:
    """Errors, luck and ratings of both players of a match, and what cost most.

    `record` is a .mat, .sgf, .xg or .bgf file, or what `read_match` makes of one; `settings` are those of
    `motif.analysis.match.analyse_match`, such as ``worst=5``.
    """
    if not isinstance(record, MatchRecord):
        if not isinstance(record, Path | str):
            raise PositionError(f"a match is a file or a MatchRecord, not {shown(record)}")
        record = read_match(record)
    return analyse_match(record, _judging(player), **settings)


def _placed(position: PositionLike) -> tuple[Position, MatchState | None]:
    return parse_position(position) if isinstance(position, str) else (Position.of(position), None)


def _rolled(roll: RollLike | None, state: MatchState | None) -> tuple[int, int]:
    if roll is not None:
        return as_roll(roll)
    if state is None or state.dice is None:
        raise PlayError("a roll is missing, such as (3, 1) or '31': the position holds none")
    return state.dice


def _options(match: dict[str, Any]) -> MatchOptions:
    score = match.get("score")
    if score is not None and not isinstance(score, str):
        match = {**match, "score": "-".join(map(str, score if np.ndim(score) else [score]))}
    return changed(MatchOptions(), match)


def _judging(player: PlayerLike | None) -> Evaluator:
    return _evaluator(JUDGE if player is None else player)


def _evaluator(player: PlayerLike) -> Evaluator:
    if isinstance(player, Evaluator):
        return player
    return as_player(player).opinion()
