"""The three equities of a cube decision by Janowski's model, for many positions in one match state.

`motif.evaluators.cube_model` contains the model and its sources.  In money play, equity is in units of the
cube; in match play, it is the match-winning probability.

The model interpolates between the equities of a dead and of a live cube by the cube efficiency x, from 0
(dead) to 1 (live). The defaults are gnubg's values for each position class (`EvalEfficiency` in its
eval.c); docs/how-to/cube.md has values fitted to motif's cubeful rollouts.
"""

from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motif.board.match_state import MatchState
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.board.rules import MAX_VALUED_LENGTH, gammons_count, may_double
from motif.doubling.match_equity import MatchEquityTable, aways, match_equity_table
from motif.evaluators.cube_model import (
    CENTRED_CUBE,
    DEAD,
    EFFICIENCY,
    EVEN,
    MATCH_CUBE,
    MONEY_CUBE,
    OPPONENTS_CUBE,
    OWN_CUBE,
    CubeModel,
    curve_values,
    curves,
    efficiencies,
    efficiency_codes,
    ends_of,
    one_state,
)
from motif.evaluators.probabilities import OUTPUTS, WIN, outside_range, switched_equities
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.arrays import FloatArray, IntArray
from motif.runtime.errors import SettingError, shown

# Estimates may be slightly outside 0 to 1 because of float32 rounding.
_ROUNDING = 1e-6
DOUBLE_PASS = 1.0
"""Value of double/pass, in units of the cube before the double."""
DOUBLED_WORTH = 2.0
"""Factor from units of the doubled cube to units of the cube before the double."""
_LEVELS_BEYOND = 3
"""Number of cube levels from the last useful level on, which may be doubled and immediately redoubled."""
_OWNERS = {"me": OWN_CUBE, "centre": CENTRED_CUBE, "opponent": OPPONENTS_CUBE}

BEAROFF = "bearoff"
"""Class of a race with all checkers of both sides at home, in addition to `CLASS_NAMES`."""
EFFICIENCY_CLASSES = (*CLASS_NAMES, BEAROFF)


@dataclass(frozen=True)
class Efficiency:
    """Cube efficiency by position class; in a race, it grows with the player on roll's pips, within bounds.

    A value outside 0 to 1 raises `SettingError`.
    """

    contact: float = 0.68
    crashed: float = 0.68
    bearoff: float = 0.60
    race_base: float = 0.55
    race_per_pip: float = 0.00125
    race_lowest: float = 0.60
    race_highest: float = 0.70

    def __post_init__(self) -> None:
        for x in self.numbers().tolist():
            if not 0 <= x <= 1:
                raise SettingError(f"a cube efficiency must be 0 to 1, not {x:g}")

    def of(self, position: Position | None) -> float:
        """Return the x of `position` for the player on roll, or of contact positions without one."""
        return self.contact if position is None else float(self.of_boards(position.board[None])[0])

    def of_boards(self, boards: Board) -> FloatArray:
        """Return the x, float64 (n,), of `boards` int8 (n, 26), each from the side of the player on roll."""
        return np.asarray(efficiencies(self.numbers(), pack_many(boards)))

    def numbers(self) -> FloatArray:
        """Return the fields in the order of `motif.evaluators.cube_model.EFFICIENCY` for kernels."""
        return np.array([getattr(self, name) for name in EFFICIENCY])


DEFAULT_EFFICIENCY = Efficiency()
"""gnubg's cube efficiencies."""


def as_efficiency(efficiency: float | Efficiency | None) -> Efficiency:
    """Return `efficiency`, by default gnubg's; a number is the x of every position.

    Raises `SettingError` for other types.
    """
    if efficiency is None or isinstance(efficiency, Efficiency):
        return efficiency or DEFAULT_EFFICIENCY
    if not isinstance(efficiency, Real) or isinstance(efficiency, bool):
        raise SettingError(f"efficiency must be a number, not {shown(efficiency)}", "efficiency")
    return Efficiency(**{**dict.fromkeys(EFFICIENCY, float(efficiency)), "race_per_pip": 0.0})


def efficiency_classes(boards: Board) -> npt.NDArray[np.int8]:
    """Return the indices into `EFFICIENCY_CLASSES` (n,) of the classes of `boards` (n, 26)."""
    return np.asarray(efficiency_codes(pack_many(boards)))


def efficiency_class(position: Position) -> str:
    """Return the class of `position`, one of `EFFICIENCY_CLASSES`."""
    return EFFICIENCY_CLASSES[int(efficiency_classes(position.board[None])[0])]


def outcomes(probabilities: npt.ArrayLike) -> FloatArray:
    """Convert the five cumulative probabilities (5,) or (n, 5) to win probabilities and shares (n, 5).

    The shares are those of gammons and backgammons among wins, then among losses.  Raises `SettingError`
    for invalid probabilities.
    """
    rows = np.atleast_2d(np.asarray(probabilities, np.float64))
    if rows.ndim != 2 or rows.shape[1] != len(OUTPUTS):
        raise SettingError(f"the shape of the probabilities must be (n, {len(OUTPUTS)}), not {rows.shape}")
    bad = outside_range(rows, _ROUNDING)
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        raise SettingError(f"{OUTPUTS[column]} is {rows[row, column]:g}: it must be 0 to 1")
    return np.asarray(ends_of(rows))


class Curve(NamedTuple):
    """Equities of n positions as functions of the win probability, each at k values."""

    chances: FloatArray
    """Win probabilities (n, k), ascending from 0 to 1."""
    values: FloatArray
    """Equities (n, k)."""

    def at(self, chances: FloatArray) -> FloatArray:
        """Return the equities (n,) at one win probability per position."""
        return np.asarray(curve_values(self.chances, self.values, np.ascontiguousarray(chances)))


class CubeCurves(NamedTuple):
    """Equities of the player on roll as functions of the win probability.

    The equities are in units of the current cube for money, and match-winning probabilities in a match.
    """

    no_double: Curve
    double_take: Curve | None
    """Equities after double/take; None if the player on roll may not double."""
    double_pass: float

    @property
    def doubled(self) -> Curve:
        """`double_take`, which is not None; raises `SettingError` if the player on roll may not double."""
        if self.double_take is None:
            raise SettingError("the player on roll may not double")
        return self.double_take


def cube_curves(
    ends: FloatArray, state: MatchState, x: float | FloatArray, table: MatchEquityTable | None = None
) -> CubeCurves:
    """Return the curves of `ends` (n, 5), from `outcomes`, in `state` at efficiency `x`.

    `table` is by default Kazaross-XG2.
    """
    share = np.ascontiguousarray(np.broadcast_to(np.asarray(x, np.float64), len(ends)))
    held = Curve(*curves(fixed_cube_model(state, table, EquityScale()), share, ends))
    taken = None
    if may_double(state):
        then = replace(state, cube=2 * state.cube, cube_owner="opponent")
        unit = EquityScale() if state.length else EquityScale(half=1 / DOUBLED_WORTH)
        taken = Curve(*curves(fixed_cube_model(then, table, unit), share, ends))
    return CubeCurves(held, taken, value_of_pass(state, table))


def value_of_pass(state: MatchState, table: MatchEquityTable | None = None) -> float:
    """Return the value of double/pass, in the units of `CubeCurves`."""
    return (table or match_equity_table()).after_game(state, state.cube) if state.length else DOUBLE_PASS


def cubeful_equities(probabilities: npt.ArrayLike, state: MatchState, x: float | FloatArray) -> FloatArray:
    """Return the cubeful equities (n,) of `probabilities` (n, 5), without a double before this roll.

    They are in units of the current cube for money, and normalised (see `EquityScale`) in a match; the
    efficiency `x` is a number or (n,).
    """
    ends = outcomes(probabilities)
    values = cube_curves(ends, state, x).no_double.at(ends[:, WIN])
    return np.asarray(scale(state).equity(values))


class EquityScale(NamedTuple):
    """Converts match-winning probabilities to normalised equities and back.

    Normalised equity is 1 for a single game won at the current cube and -1 for one lost, as in gnubg (EMG).
    Money equities are not changed.
    """

    middle: float = 0.0
    half: float = 1.0

    def equity(self, value: float | FloatArray) -> float | FloatArray:
        """Convert a value of `CubeCurves` to an equity."""
        return (value - self.middle) / self.half

    def value(self, equity: float) -> float:
        """Convert an equity to a value of `CubeCurves`."""
        return self.middle + self.half * equity


def check_valued(state: MatchState) -> None:
    """Raise `SettingError` for a match that is too long for cube equities."""
    if state.length > MAX_VALUED_LENGTH:
        raise SettingError(
            f"length must be at most {MAX_VALUED_LENGTH} points for cube equities, not {state.length}"
        )


def scale(state: MatchState, table: MatchEquityTable | None = None) -> EquityScale:
    """Return the scale of equities in `state`."""
    if not state.length:
        return EquityScale()
    table = table or match_equity_table()
    win, loss = (table.after_game(state, points) for points in (state.cube, -state.cube))
    return EquityScale((win + loss) / 2, (win - loss) / 2)


def fixed_cube_model(
    state: MatchState,
    table: MatchEquityTable | None,
    unit: EquityScale,
    efficiency: Efficiency = DEFAULT_EFFICIENCY,
) -> CubeModel:
    """Return the cube model of `state` without later doubles; the player on roll is side 0.

    `table` is by default Kazaross-XG2; equities are in `unit`.  Raises `SettingError` for a finished match.
    """
    results = range(-EVEN, EVEN + 1)
    if not state.length:
        kind, last, played_out = MONEY_CUBE, 0, np.zeros(2, np.int64)
        points = np.array(results, np.float64)
        values = np.stack([points if gammons_count(state) else np.sign(points), DOUBLED_WORTH * points])
    else:
        kind = DEAD if is_valued_without_cube(state) else MATCH_CUBE
        last, played_out = _last_level(state)
        table = table or match_equity_table()
        cubes = [state.cube << level for level in range(last + _LEVELS_BEYOND)]
        values = np.array([[table.after_game(state, cube * won) for won in results] for cube in cubes])
    worth = np.asarray(unit.equity(values))
    both = np.stack([worth, switched_equities(worth[:, ::-1])])
    return one_state(kind, _OWNERS[state.cube_owner], last, both, played_out, efficiency.numbers())


def is_valued_without_cube(state: MatchState) -> bool:
    """Return whether equities in a match are those of a dead cube.

    This is the case in the Crawford game and when neither player needs more points than the value of the
    cube.  At 2-away 2-away a double can gain, but the game then decides the match, and the value of the cube
    is ignored, as in gnubg (`fDoCubeful` in its eval.c).
    """
    own, opponent = aways(state)
    return state.crawford or max(own, opponent) <= state.cube or own == opponent == 2


def _last_level(state: MatchState) -> tuple[int, IntArray]:
    """Return the last useful cube level, and the level at which its double is played out.

    The first is the last level at which a double may be useful to both players; a player for whom the cube
    is useless is redoubled immediately.
    """
    own, opponent = aways(state)
    last = 0
    while min(own, opponent) > state.cube << last + 1:
        last += 1
    doubled = state.cube << last + 1
    redoubled = np.array([own <= doubled < opponent, opponent <= doubled < own], np.int64)
    return last, last + 1 + redoubled
