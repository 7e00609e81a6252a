"""The three equities of a cube decision, for many positions in one state of the match at once."""

from dataclasses import replace
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from motif.board.match_state import MatchState
from motif.cube.curves import Curve
from motif.cube.efficiency import DEFAULT_EFFICIENCY, Efficiency, checked_efficiency
from motif.cube.match_equity import MatchEquityTable, aways, match_equity_table
from motif.cube.match_play import match_curve
from motif.cube.money import DOUBLE_PASS, money_curve
from motif.cube.outcomes import Floats, Outcomes, outcomes
from motif.evaluators.probabilities import Probabilities

DOUBLED_WORTH = 2.0
"""What a unit of the doubled cube is worth, in units of the cube before it."""


class CubeCurves(NamedTuple):
    """What the player on roll has over his chance to win, in points of the current cube for money and as
    chances to win the match in match play."""

    no_double: Curve
    double_take: Curve | None
    """None where he may not double."""
    double_pass: float


class CubeEquities(NamedTuple):
    """Of n positions, for the player on roll, in units of `CubeCurves`; each float64 (n,)."""

    no_double: Floats
    double_take: Floats
    double_pass: Floats


def may_double(state: MatchState) -> bool:
    """Whether the rules let the player on roll double: he has access to the cube, and it is not the
    Crawford game."""
    return state.cube_owner != "opponent" and not state.crawford


def cube_is_useful(state: MatchState) -> bool:
    """Whether a double can be of use to the player on roll: in a match he must need more points than the
    cube shows."""
    return may_double(state) and not (state.length and aways(state)[0] <= state.cube)


def cube_curves(
    found: Outcomes, state: MatchState, x: float | Floats, table: MatchEquityTable | None = None
) -> CubeCurves:
    """The curves of `found` in `state` at efficiency `x`; a match without a `table` has the default one."""
    legal = may_double(state)
    if not state.length:
        now = money_curve(found, state.cube_owner, state.jacoby, x)
        then = None
        if legal:
            taken = money_curve(found, "opponent", state.jacoby, x)
            then = Curve(taken.chances, DOUBLED_WORTH * taken.values)
        return CubeCurves(now, then, DOUBLE_PASS)
    table = table or match_equity_table()
    now = match_curve(found, state, x, table)
    taken_state = replace(state, cube=2 * state.cube, cube_owner="opponent")
    then = match_curve(found, taken_state, x, table) if legal else None
    return CubeCurves(now, then, table.after_game(state, state.cube))


def cube_equities(
    probabilities: npt.ArrayLike,
    state: MatchState,
    x: float | Floats,
    table: MatchEquityTable | None = None,
) -> CubeEquities:
    """The three equities of n positions, `probabilities` (n, 5), all in `state`, whose player on roll may
    double.  `x` is a number or (n,)."""
    found = outcomes(probabilities)
    curves = cube_curves(found, state, x, table)
    if curves.double_take is None:
        raise ValueError("the player on roll may not double")
    passed = np.full(len(found.win), curves.double_pass)
    return CubeEquities(curves.no_double.at(found.win), curves.double_take.at(found.win), passed)


class Scale(NamedTuple):
    """How match-winning chances become equities: -1 is a single game lost at the current cube, 1 one won.

    That is gnubg's normalised money equity (EMG).  For money both are the same."""

    middle: float
    half: float

    def equity(self, value: float | Floats) -> float | Floats:
        """The equity of a value of `CubeCurves`."""
        return (value - self.middle) / self.half


def scale(state: MatchState, table: MatchEquityTable | None = None) -> Scale:
    """The scale of equities in `state`."""
    if not state.length:
        return Scale(0.0, 1.0)
    table = table or match_equity_table()
    won, lost = (table.after_game(state, points) for points in (state.cube, -state.cube))
    return Scale((won + lost) / 2, (won - lost) / 2)


def chosen_efficiency(efficiency: float | Efficiency | None, position_class: str, pips: int | None) -> float:
    """x itself where it is given; otherwise that of the class, by default gnubg's."""
    if isinstance(efficiency, int | float):
        return checked_efficiency(float(efficiency))
    return (efficiency or DEFAULT_EFFICIENCY).of(position_class, pips)


@overload
def cubeful_equity(
    probabilities: Probabilities,
    state: MatchState,
    *,
    position_class: str = ...,
    pips: int | None = ...,
    efficiency: float | Efficiency | Floats | None = ...,
    table: MatchEquityTable | None = ...,
) -> float: ...


@overload
def cubeful_equity(
    probabilities: npt.NDArray[np.floating],
    state: MatchState,
    *,
    position_class: str = ...,
    pips: int | None = ...,
    efficiency: float | Efficiency | Floats | None = ...,
    table: MatchEquityTable | None = ...,
) -> Floats: ...


def cubeful_equity(
    probabilities: Probabilities | npt.NDArray[np.floating],
    state: MatchState,
    *,
    position_class: str = "contact",
    pips: int | None = None,
    efficiency: float | Efficiency | Floats | None = None,
    table: MatchEquityTable | None = None,
) -> float | Floats:
    """What a position is worth to the player on roll with the cube as it lies in `state`.

    In units of the current cube for money, normalised (see `Scale`) in a match.  It is the value without
    a double before this roll.  For an array (n, 5) of probabilities the result is float64 (n,), and
    `efficiency` may be (n,) too.  Raises `SettingError` as `cube_decision` does.
    """
    found = outcomes(probabilities)
    if isinstance(efficiency, np.ndarray):
        x: float | Floats = efficiency
    else:
        x = chosen_efficiency(efficiency, position_class, pips)
    values = scale(state, table).equity(cube_curves(found, state, x, table).no_double.at(found.win))
    return values if isinstance(probabilities, np.ndarray) and probabilities.ndim > 1 else float(values[0])  # type: ignore[index]
