"""Market windows: from which chance to win on to double, to cash, and to play on for a gammon."""

from dataclasses import dataclass

import numpy as np

from motif.board.match_state import MatchState
from motif.cube.equities import CubeCurves, Curve, Floats, Outcomes, cube_curves, cube_is_useful
from motif.cube.match_equity import MatchEquityTable

BEAVERED = 2.0
"""What a unit is worth that the cube was beavered for, in units before the beaver."""

_ALMOST = 1e-9


@dataclass(frozen=True)
class Window:
    """One player's window at one efficiency, in his chances to win the game; shares of gammons stay."""

    name: str
    """``dead``, ``live``, or ``efficiency``: the model's own."""
    efficiency: float
    double_point: float | None
    """Least chance with which a double is right; None when it never is."""
    cash_point: float
    """From here on the opponent passes; 1 when he never should."""
    too_good_point: float | None
    """From here on playing for a gammon is better than cashing; None when it never is."""

    @property
    def take_point(self) -> float:
        """Chance to win that the opponent needs to take."""
        return 1 - self.cash_point


def market_windows(
    ends: Outcomes, state: MatchState, x: float, table: MatchEquityTable | None = None
) -> tuple[Window, ...]:
    """The windows of the player on roll with a dead cube, at efficiency `x` and with a live one; none
    where no double can be of use to him.  `ends` holds one position."""
    if not cube_is_useful(state):
        return ()
    efficiencies = (("dead", 0.0), ("efficiency", x), ("live", 1.0))
    return tuple(_window(name, ends, state, value, table) for name, value in efficiencies)


def cash_point(curves: CubeCurves) -> float:
    """The chance from which on the opponent of the first position passes; 1 when he never should."""
    curve = curves.doubled
    point = _first_reached(curve.chances[0], curve.values[0] - curves.double_pass)
    return 1.0 if point is None else point


def _window(name: str, ends: Outcomes, state: MatchState, x: float, table: MatchEquityTable | None) -> Window:
    curves = cube_curves(ends, state, x, table)
    cash = cash_point(curves)
    beavers = state.beavers and not state.length
    places = _places(curves, cash, beavers)
    no_double, double_take = _over(curves.no_double, places), _over(curves.doubled, places)
    if beavers:
        double_take = np.where(double_take < 0, BEAVERED * double_take, double_take)
    doubled = _first_reached(places, np.minimum(double_take, curves.double_pass) - no_double)
    late = places >= cash
    good = _first_reached(places[late], no_double[late] - curves.double_pass, _ALMOST)
    return Window(name, x, doubled, cash, good)


def _places(curves: CubeCurves, cash: float, beavers: bool) -> Floats:
    """Chances between which everything that a window compares is straight."""
    curve = curves.doubled
    places = [curves.no_double.chances[0], curve.chances[0], np.array([cash])]
    even = _first_reached(curve.chances[0], curve.values[0]) if beavers else None
    if even is not None:
        places.append(np.array([even]))
    return np.unique(np.concatenate(places))


def _over(curve: Curve, places: Floats) -> Floats:
    """The first position's equity at each of `places`."""
    rows = np.zeros(len(places), np.int64)
    return Curve(curve.chances[rows], curve.values[rows]).at(places)


def _first_reached(places: Floats, values: Floats, least: float = -_ALMOST) -> float | None:
    """Where `values`, straight between `places`, first come up to 0 (to more than 0 if `least` is more)."""
    rows = np.flatnonzero(values >= least)
    if not len(rows):
        return None
    k = int(rows[0])
    if k == 0:
        return float(places[0])
    before, after = float(values[k - 1]), float(values[k])
    part = min(max(-before / (after - before), 0.0), 1.0)
    return float(places[k - 1] + part * (places[k] - places[k - 1]))
