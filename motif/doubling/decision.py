"""Cube decisions: whether to double, whether to take, and how close the decision is.

A market window consists of the win probabilities from which to double, to cash and to play for a gammon.
"""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from motif.board.marks import BAD, DOUBTFUL, VERY_BAD
from motif.board.match_state import MatchState, Raise
from motif.board.position import Position
from motif.board.rules import allows_beavers, is_double_useful, may_double
from motif.doubling.cube_states import cube_model_for, state_after_take
from motif.doubling.equities import (
    DOUBLED_WORTH,
    CubeCurves,
    Curve,
    Efficiency,
    as_efficiency,
    check_valued,
    cube_curves,
    outcomes,
    scale,
    value_of_pass,
)
from motif.doubling.exact import CubeValues, exact_equities
from motif.doubling.match_equity import MatchEquityTable
from motif.evaluators import Evaluator
from motif.evaluators.cube_model import BEAVERED, EPSILON, best_answers
from motif.evaluators.probabilities import WIN, WIN_GAMMON, Probabilities, switch_sides
from motif.runtime.arrays import FloatArray
from motif.runtime.errors import SettingError
from motif.runtime.frames import Tabular
from motif.runtime.layout import html_lines, sentence

_DEGREES = ((DOUBTFUL, "borderline"), (BAD, "close"), (VERY_BAD, "clear"))
"""Upper limits of the equity differences for these words: gnubg does not mark errors in borderline
decisions, and marks errors in very clear decisions as blunders.
"""
_BEYOND = "very clear"
_HOPELESS = 5e-4
"""Win probability, shown as 0.0 %, up to which no double is recommended, even if it costs nothing."""
_SHOWN = 5e-4
"""Smallest difference that is not shown as 0.000."""
_DOUBLES = ("double", "redouble")
_WAITS = ("no double", "no redouble", "roll")
_PASSES = ("pass", "drop")
ANSWERS = ("take", *_PASSES, "beaver")
"""Actions of the player who is doubled."""
_RACCOONS = ("raccoon", "no raccoon")


class Verdict(NamedTuple):
    """A statement about a cube decision."""

    key: str
    """Key of the sentence in the phrase files, such as ``take``."""
    cost: float = 0.0
    """Equity lost by the other action."""
    degree: str = ""
    """How clear the decision is: ``borderline``, ``close``, ``clear`` or ``very clear``."""


@dataclass(frozen=True)
class MarketWindow:
    """A player's market window at one cube efficiency, in win probabilities at fixed gammon rates."""

    name: str
    """``dead``, ``live``, or ``efficiency`` for the efficiency of the model."""
    efficiency: float
    double_point: float | None
    """Lowest win probability of a correct double; None if there is none."""
    cash_point: float
    """Lowest win probability of a correct pass; 1 if there is none."""
    too_good_point: float | None
    """Lowest win probability at which playing for a gammon beats cashing; None if it never gains 0.0005."""

    @property
    def take_point(self) -> float:
        """Lowest win probability with which the opponent should take."""
        return 1 - self.cash_point

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name, for JSON."""
        return {**asdict(self), "take_point": self.take_point}


_FIELDS = (
    "action", "no_double", "double_take", "double_pass", "take_point", "cash_point", "value",
    "mwc_no_double", "mwc_double_take", "mwc_double_pass",
    "should_double", "should_take", "should_beaver", "should_raccoon", "exact", "efficiency",
)  # fmt: skip
"""Attributes of `CubeDecision` that its JSON record contains."""


@dataclass(frozen=True, repr=False)
class CubeDecision(Tabular):
    """The best cube actions of both players before a roll.

    Equities are for the player on roll.  For money, they are in units of the cube before the double; in a
    match, they are normalised so that winning a single game at that cube is 1 and losing it is -1. If the
    player on roll may not double, values of a double are None and `should_take` is False.
    """

    action: str
    """The actions, such as ``double, take``, ``no double, take``, ``redouble, pass``, ``too good to double,
    pass``, ``no double, beaver`` or ``no double, dead cube``.
    """
    no_double: float
    double_take: float | None
    double_pass: float | None
    mwc_no_double: float | None
    """Match-winning probability without a double. This and the next two fields are None for money."""
    mwc_double_take: float | None
    mwc_double_pass: float | None
    cash_point: float | None
    """Win probability of the player on roll from which the opponent should pass a double."""
    should_double: bool
    should_take: bool
    """Whether the opponent should take a double, beavers included."""
    should_beaver: bool
    should_raccoon: bool
    """Whether the player on roll should raccoon a beaver; False if raccoons are not allowed."""
    exact: bool
    """Whether the equities are exact. The take point, cash point and windows always come from the model."""
    state: MatchState
    _model: "_WindowModel" = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, object]:
        """Return all fields by name, for JSON; ``cubeless`` is the equity of the probabilities for money."""
        record = {name: getattr(self, name) for name in _FIELDS}
        record["windows"] = [window.to_dict() for window in self.windows]
        record["opponent_windows"] = [window.to_dict() for window in self.opponent_windows]
        chances = {**self.probabilities._asdict(), "cubeless": self.probabilities.equity}
        return record | self.state.cube_record() | chances

    @property
    def equities(self) -> dict[str, float]:
        """The equities by the actions of both players, as ``double, take``; only one without a double."""
        equities = {
            "no double": self.no_double,
            "double, take": self.double_take,
            "double, pass": self.double_pass,
        }
        return {name: equity for name, equity in equities.items() if equity is not None}

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        return ["", "equity"], [[name, f"{equity:+z.3f}"] for name, equity in self.equities.items()]

    def __str__(self) -> str:
        return f"{sentence(self.action)}\n{super().__str__()}"

    def _repr_html_(self) -> str:
        return html_lines([sentence(self.action)]) + super()._repr_html_()

    @property
    def probabilities(self) -> Probabilities:
        """The evaluator's cubeless probabilities of the player on roll."""
        return self._model.probabilities

    @property
    def efficiency(self) -> float:
        """Cube efficiency in Janowski's model."""
        return self._model.efficiency

    @property
    def take_point(self) -> float | None:
        """Lowest win probability with which the opponent should take a double."""
        return None if self.cash_point is None else 1 - self.cash_point

    @property
    def answer(self) -> Literal["take", "pass", "beaver"]:
        """The best answer to a double."""
        return "beaver" if self.should_beaver else "take" if self.should_take else "pass"

    def answer_to(self, raised: Raise) -> Literal["take", "pass", "beaver"]:
        """Return the best answer to a double, or to the beaver or raccoon that has answered it."""
        if raised == "double" or self.double_take is None:
            return self.answer
        if raised == "beaver":
            plays_on = BEAVERED * self.double_take > -DOUBLED_WORTH
        else:
            plays_on = BEAVERED * BEAVERED * self.double_take < BEAVERED * DOUBLED_WORTH
        return "take" if plays_on else "pass"

    @property
    def value(self) -> float:
        """Equity if both players act correctly."""
        if self.doubled is None or not is_double_useful(self.state):
            return self.no_double
        return self.doubled if self.should_double else max(self.no_double, self.doubled)

    @property
    def doubled(self) -> float | None:
        """Equity of a double with the best answer."""
        if self.double_take is None or self.double_pass is None:
            return None
        return min(self._answered("beaver" if self.should_beaver else "take"), self.double_pass)

    @property
    def raccooned(self) -> float | None:
        """Equity after a double, a beaver and a raccoon; None if raccoons are not allowed."""
        if self.double_take is None or not _allows_raccoons(self.state):
            return None
        return BEAVERED * BEAVERED * self.double_take

    @cached_property
    def windows(self) -> tuple[MarketWindow, ...]:
        """Market windows of the player on roll (dead, at `efficiency`, live), if a double is useful."""
        return self._windows(outcomes(self.probabilities), self.state)

    @cached_property
    def opponent_windows(self) -> tuple[MarketWindow, ...]:
        """Market windows of the opponent, in win probabilities of the opponent."""
        turned_ends = np.asarray(switch_sides(outcomes(self.probabilities)), np.float64)
        return self._windows(turned_ends, self.state.switch_sides())

    def _windows(self, ends: FloatArray, state: MatchState) -> tuple[MarketWindow, ...]:
        if not is_double_useful(state):
            return ()
        efficiencies = (("dead", 0.0), ("efficiency", self.efficiency), ("live", 1.0))
        return tuple(_window(name, ends, state, x, self._model.table) for name, x in efficiencies)

    @property
    def double_name(self) -> Literal["double", "redouble"]:
        """``redouble`` if the player on roll owns the cube, otherwise ``double``."""
        return "redouble" if self.state.cube_owner == "me" else "double"

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Statements about the double and the answer, in the order of their sentences."""
        if self.doubled is None:
            return (Verdict("crawford" if self.state.crawford else "owned"),)
        verdicts = [self._double_verdict(self.doubled), self._answer_verdict()]
        if self.raccooned is not None:
            right, wrong = ("raccoon", "no raccoon") if self.should_raccoon else ("no raccoon", "raccoon")
            verdicts.append(Verdict(right, self.cost(wrong)))
        return (*verdicts, *[Verdict("exact")] * self.exact)

    def _double_verdict(self, doubled: float) -> Verdict:
        margin = abs(self.no_double - doubled)
        if margin < _SHOWN:
            return Verdict("same double" if is_double_useful(self.state) else "dead")
        wait = "too good" if self.action.startswith("too good") else "no double"
        return Verdict("double" if self.should_double else wait, margin, _degree(margin))

    def _answer_verdict(self) -> Verdict:
        margin = self.cost("take" if self.answer == "pass" or self.should_beaver else "pass")
        if margin < _SHOWN:
            return Verdict("same beaver" if self.should_beaver else "same answer")
        return Verdict(self.answer, margin, _degree(margin))

    def cost(self, action_taken: str) -> float:
        """Return the equity lost by a cube action (0 or more).

        The actions of the player on roll are ``double`` or ``redouble``, which mean the same, and ``no
        double``, ``no redouble`` or ``roll``; the opponent's are ``take``, ``pass`` or ``drop``, and
        ``beaver``; after a beaver, the player on roll has ``raccoon`` and ``no raccoon``. Raises
        `SettingError` for other actions and for actions that the rules do not allow in this state.
        """
        if action_taken in _WAITS:
            # Rounding can make equal values slightly negative.
            return max(0.0, self.value - self.no_double)
        if action_taken not in (*_DOUBLES, *ANSWERS, *_RACCOONS):
            raise SettingError(f"{action_taken!r} is not a cube action")
        if self.doubled is None:
            raise SettingError(f"{action_taken}: the player on roll may not double")
        if action_taken in _DOUBLES:
            return self.value - min(self.value, self.doubled)
        if action_taken in _RACCOONS:
            return self._answered("beaver") - self._beavered(action_taken == "raccoon")
        return self._answered(action_taken) - self.doubled

    def _answered(self, answer: str) -> float:
        """Return the equity of a double followed by the opponent's `answer`."""
        assert self.double_take is not None
        assert self.double_pass is not None
        if answer in _PASSES:
            return self.double_pass
        if answer == "take":
            return self.double_take
        if not allows_beavers(self.state):
            raise SettingError("beaver: beavers are not allowed")
        return self._beavered(self.should_raccoon)

    def _beavered(self, raccoons: bool) -> float:
        """Return the equity after a double and a beaver, with a raccoon if `raccoons`."""
        assert self.double_take is not None
        if not raccoons:
            return BEAVERED * self.double_take
        if self.raccooned is None:
            raise SettingError("raccoon: raccoons are not allowed")
        return self.raccooned


class _WindowModel(NamedTuple):
    """Inputs of the market windows of a decision."""

    probabilities: Probabilities
    efficiency: float
    table: MatchEquityTable | None


def cube_decision(
    probabilities: Probabilities,
    state: MatchState,
    position: Position | None = None,
    evaluator: Evaluator | None = None,
    *,
    efficiency: float | Efficiency | None = None,
    table: MatchEquityTable | None = None,
) -> CubeDecision:
    """Make the cube decision before the roll in `state` from cubeless probabilities.

    Parameters
    ----------
    probabilities
        The five probabilities of the player on roll.
    state
        Match, score and cube.
    position
        The position: its class determines the cube efficiency (by default that of contact positions), and
        equities of bearoffs with few checkers are exact (see `motif.doubling.exact`).
    evaluator
        The evaluator of `probabilities`.  If it looks ahead from `position`, both players may double at
        every node of the lookahead.
    efficiency
        The cube efficiency of the model, which then decides alone.
    table
        The match equity table, by default Kazaross-XG2.

    Raises
    ------
    SettingError
        For invalid probabilities or efficiency, and for a finished match.
    """
    known, exact = None, False
    if position is not None and efficiency is None:
        known = exact_equities(position, state, table)
        exact = known is not None
        if evaluator and evaluator.without_lookahead is not evaluator and not exact:
            known = _values_ahead(evaluator, position, state, table)
    x = as_efficiency(efficiency).of(position)
    return _decision(probabilities, state, x, table, known, exact=exact)


def _values_ahead(
    evaluator: Evaluator, position: Position, state: MatchState, table: MatchEquityTable | None
) -> CubeValues:
    cube_model, board = cube_model_for(state, table), position.board[None]
    held, taken = evaluator.cube_equities(board, cube_model, 0)[0].tolist()
    if not is_double_useful(state) and (then := state_after_take(state)):
        # Lookahead makes no useless doubles, but the opponent can use the cube after this one.
        taken = evaluator.cube_equities(board, cube_model._replace(state=then), 0)[0, 0]
    return cube_values(state, held, taken, table)


def cube_values(
    state: MatchState, held: float, taken: float, table: MatchEquityTable | None = None
) -> CubeValues:
    """Return the values of a decision from the equities without a double and after double/take."""
    unit = scale(state, table)
    if not may_double(state):
        return CubeValues(unit.value(held), None, None)
    return CubeValues(unit.value(held), unit.value(taken), value_of_pass(state, table))


def with_rollout(decision: CubeDecision, no_double: float, double_take: float) -> CubeDecision:
    """Return `decision` with the equities of a rollout; the player on roll must be allowed to double."""
    state, (probabilities, x, table) = decision.state, decision._model
    known = cube_values(state, no_double, double_take, table)
    return _decision(probabilities, state, x, table, known, exact=False)


def _decision(
    probabilities: Probabilities,
    state: MatchState,
    x: float,
    table: MatchEquityTable | None,
    known: CubeValues | None,
    *,
    exact: bool,
) -> CubeDecision:
    """Make the decision from `known` values, which may be `exact`, or by the model."""
    check_valued(state)
    ends = outcomes(probabilities)
    curves = cube_curves(ends, state, x, table)
    double, wins = curves.double_take, ends[:, WIN]
    values = known or CubeValues(
        float(curves.no_double.at(wins)[0]),
        None if double is None else float(double.at(wins)[0]),
        None if double is None else curves.double_pass,
    )
    mwc = values if state.length else (None, None, None)
    no_double, double_take, double_pass = (
        None if value is None else float(scale(state, table).equity(value)) for value in values
    )
    assert no_double is not None
    gammons = not exact and bool(ends[0, WIN_GAMMON] > 0)
    return CubeDecision(
        **best_action(
            state, no_double, double_take, double_pass, wins=float(ends[0, WIN]), gammons=gammons
        )._asdict(),
        no_double=no_double,
        double_take=double_take,
        double_pass=double_pass,
        mwc_no_double=mwc[0],
        mwc_double_take=mwc[1],
        mwc_double_pass=mwc[2],
        cash_point=None if double is None else cash_point(curves),
        should_raccoon=double_take is not None and double_take > 0 and _allows_raccoons(state),
        exact=exact,
        state=state,
        _model=_WindowModel(probabilities, x, table),
    )


def _allows_raccoons(state: MatchState) -> bool:
    return state.raccoons and allows_beavers(state)


class BestAction(NamedTuple):
    """The best cube actions of both players; see the fields of `CubeDecision`."""

    action: str
    should_double: bool = False
    should_take: bool = False
    should_beaver: bool = False


def best_action(
    state: MatchState,
    no_double: float,
    double_take: float | None,
    double_pass: float | None,
    *,
    wins: float,
    gammons: bool,
) -> BestAction:
    """Return the best cube actions.

    `wins` is the probability that the player on roll wins, and `gammons` tells whether they can win a gammon.
    """
    if not may_double(state):
        why = "Crawford game" if state.crawford else "the opponent owns the cube"
        return BestAction(f"no double, {why}")
    double = "redouble" if state.cube_owner == "me" else "double"
    if double_take is None or double_pass is None:
        return BestAction(f"no {double}, dead cube")
    takes = double_take < double_pass
    beavers = takes and allows_beavers(state) and double_take < 0
    answer = "beaver" if beavers else "take" if takes else "pass"
    if not is_double_useful(state):
        return BestAction(f"no {double}, dead cube", should_take=takes)
    doubled = min(BEAVERED * double_take if beavers else double_take, double_pass)
    # Without gammons, playing on gains nothing; an apparent gain is a rounding error of the model.
    doubles = wins > _HOPELESS and (doubled >= no_double - EPSILON or (not takes and not gammons))
    too_good = gammons and no_double > double_pass
    own = double if doubles else f"too good to {double}" if too_good else f"no {double}"
    return BestAction(f"{own}, {answer}", doubles, takes, beavers)


def _degree(margin: float) -> str:
    return next((word for limit, word in _DEGREES if margin < limit), _BEYOND)


def cash_point(curves: CubeCurves) -> float:
    """Return the win probability of the first position from which the opponent passes, at most 1."""
    curve = curves.doubled
    point = _first_reached(curve.chances[0], curve.values[0] - curves.double_pass)
    return 1.0 if point is None else point


def _window(
    name: str, ends: FloatArray, state: MatchState, x: float, table: MatchEquityTable | None
) -> MarketWindow:
    curves = cube_curves(ends, state, x, table)
    cash = cash_point(curves)
    beavers = allows_beavers(state)
    places = _places(curves, cash, beavers)
    no_double, double_take = _over(curves.no_double, places), _over(curves.doubled, places)
    doubled = _first_reached(places, best_answers(double_take, curves.double_pass, beavers) - no_double)
    late = places >= cash
    gains = (no_double[late] - curves.double_pass) / scale(state, table).half
    good = _first_reached(places[late], gains, EPSILON) if gains.max(initial=0) >= _SHOWN else None
    return MarketWindow(name, x, doubled, cash, good)


def _places(curves: CubeCurves, cash: float, beavers: bool) -> FloatArray:
    """Return the win probabilities between which all equities of a window are linear."""
    curve = curves.doubled
    places = [curves.no_double.chances[0], curve.chances[0], np.array([cash])]
    even = _first_reached(curve.chances[0], curve.values[0]) if beavers else None
    if even is not None:
        places.append(np.array([even]))
    return np.unique(np.concatenate(places))


def _over(curve: Curve, places: FloatArray) -> FloatArray:
    """Return the equity of the first position at each of the win probabilities `places`."""
    rows = np.zeros(len(places), np.int64)
    return Curve(curve.chances[rows], curve.values[rows]).at(places)


def _first_reached(places: FloatArray, values: FloatArray, least: float = -EPSILON) -> float | None:
    """Return where `values`, which are linear between `places`, first reach 0 (exceed it if `least` > 0)."""
    rows = np.flatnonzero(values >= least)
    if not len(rows):
        return None
    k = int(rows[0])
    if k == 0:
        return float(places[0])
    before, after = float(values[k - 1]), float(values[k])
    part = min(max(-before / (after - before), 0.0), 1.0)
    return float(places[k - 1] + part * (places[k] - places[k - 1]))
