"""Ranked legal plays, with one equity per play and its source.

`hint`, `explain`, the tutor, match analysis, the web page and the library use this ranking, so a play has the
same equity everywhere.

A lookahead evaluator evaluates only the most promising plays to full depth (`MoveFilter`). The `FULL_DEPTH`
best plays and requested plays are always evaluated to full depth; other plays keep their shallower equity,
but at most the lowest equity at full depth.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, overload

import numpy as np
import numpy.typing as npt

from motif.board.diagram import describe_score, svg_diagram
from motif.board.match_state import MatchState
from motif.board.moves import Play, PlayBatch, check_goes_on, decode_path, play_batches
from motif.board.packed import HOME, POINTS, Board
from motif.board.position import Position
from motif.board.rules import gammons_count
from motif.evaluators import OUTPUTS, LookaheadEvaluator, Probabilities
from motif.evaluators.cube_model import NO_CUBE, CubeModel, best_of_double, without_cube
from motif.evaluators.evaluator import ROLLOUT_SOURCE, Evaluator, PlayEstimates, best_few, without_ties
from motif.evaluators.probabilities import switch_sides, switched_equities
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.errors import PlayError
from motif.runtime.frames import Tabular
from motif.runtime.layout import counted, html_table, side_by_side, text_table

ROLLOUT, EXACT = "rollout", "exact"
FULL_DEPTH = 5
"""Number of best plays per roll that are always evaluated to full depth."""
EXACT_SOURCE = 11
"""Value in `PlayEstimates.sources`: exact, from bearoff tables or because the game is over."""
_SHOWN = 10
_PLY = "-ply"
_State = TypeVar("_State", bound="MatchState | None")


def cube_model_of(state: MatchState | None) -> CubeModel:
    """Return the cube model of `state`, with the mover as side 0; None means cubeless money play."""
    # Without a cube, only match play and the Jacoby rule differ from cubeless money play.
    if state is None or not (state.has_cube or state.length or not gammons_count(state)):
        return NO_CUBE
    # Imported here because it is slow.
    from motif.doubling.cube_states import cube_model_for

    cube_model = cube_model_for(state)
    return cube_model if state.has_cube else without_cube(cube_model)


@dataclass(frozen=True)
class RankedPlay:
    """A legal play and its equity for the mover."""

    play: Play
    equity: float
    difference: float
    """Equity relative to the best play, at most 0."""
    source: str
    """Source of the equity: ``0-ply``, ``2-ply`` ..., ``rollout`` or ``exact``."""
    probabilities: Probabilities | None = None
    """The mover's probabilities after the play, if requested."""

    @property
    def chances(self) -> Probabilities:
        """The `probabilities`; raises `PlayError` unless they were requested."""
        if self.probabilities is None:
            raise PlayError(f"the ranking has no probabilities of {self.play}")
        return self.probabilities

    @property
    def plies(self) -> int:
        """Plies of lookahead; 0 if the equity comes from another source."""
        return int(self.source.removesuffix(_PLY)) if self.source.endswith(_PLY) else 0

    @property
    def shown_difference(self) -> str:
        """The difference of the equities with three decimals, as shown; without a negative zero."""
        best = round(self.equity - self.difference, 3)
        return f"{round(round(self.equity, 3) - best, 3) + 0.0:.3f}"

    def __str__(self) -> str:
        return f"{self.play} {self.equity:+z.3f}"

    def to_dict(self) -> dict[str, object]:
        """Return all fields for JSON; `moves` are (from, to) with 25 for the bar and 0 for off."""
        chances = {} if self.probabilities is None else self.probabilities._asdict()
        return {
            "notation": self.play.notation,
            "position": self.play.position.gnubg_id,
            "moves": [list(move) for move in self.play.moves],
            "equity": self.equity,
            "source": self.source,
            **chances,
        }


@dataclass(frozen=True, repr=False)
class Ranking(Tabular, Sequence[RankedPlay]):
    """The legal plays of a roll, best first."""

    position: Position
    roll: tuple[int, int]
    player: str
    """Name of the player that ranks the plays."""
    plays: tuple[RankedPlay, ...] = field(repr=False)
    valued_for: str = ""
    """Match score and cube; empty for cubeless money play."""

    @property
    def best(self) -> Play:
        """The best play."""
        return self.plays[0].play

    def of(self, play: Play) -> RankedPlay:
        """Return the ranked form of `play`; raises `PlayError` for a play of another roll."""
        for one in self.plays:
            if one.play.position == play.position:
                return one
        raise PlayError("illegal play of {1}{2}: {0}".format(play, *self.roll))

    @overload
    def __getitem__(self, index: int) -> RankedPlay: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RankedPlay, ...]: ...
    def __getitem__(self, index: int | slice) -> RankedPlay | tuple[RankedPlay, ...]:
        return self.plays[index]

    def __len__(self) -> int:
        return len(self.plays)

    def __iter__(self) -> Iterator[RankedPlay]:
        return iter(self.plays)

    def to_dict(self) -> dict[str, object]:
        """Return all fields for JSON."""
        return {
            "plays": [play.to_dict() for play in self.plays],
            "position": self.position.gnubg_id,
            "roll": list(self.roll),
            "player": self.player,
            **({"valued_for": self.valued_for} if self.valued_for else {}),
        }

    def records(self) -> list[dict[str, object]]:
        """Return one row per play."""
        rows = [play.to_dict() | {"difference": play.difference} for play in self.plays]
        names = [name for name in (*_FRAME, *OUTPUTS) if any(name in row for row in rows)]
        return [{_FRAME.get(name, name): row.get(name) for name in names} for row in rows]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (str(one.play), f"{one.equity:+z.3f}", one.shown_difference if rank else "", one.source)
            for rank, one in enumerate(self.plays[:_SHOWN])
        ]

    def _heading(self) -> str:
        can_move = bool(self.plays[0].play.moves)
        count = counted(len(self.plays), "legal play") if can_move else "no legal play"
        valued = f", valued for {self.valued_for}" * bool(self.valued_for)
        return "{} of {}{}, ranked by {}{}".format(count, *self.roll, self.player, valued)

    def __str__(self) -> str:
        return f"{self._heading()}\n{text_table(_COLUMNS, self._rows())}"

    def _repr_html_(self) -> str:
        board = svg_diagram(self.position, moves=self.plays[0].play.moves, size=380)
        return side_by_side(board, html_table(_COLUMNS, self._rows())) + self._heading()


_COLUMNS = ("play", "equity", "difference", "source")
_FRAME = {name: name for name in ("notation", "equity", "difference", "source", "position")} | {
    "notation": "play"
}
"""Columns of a frame, by JSON name."""


def rank_plays(
    position: Position,
    roll: tuple[int, int],
    evaluator: Evaluator,
    state: MatchState | None = None,
    *,
    full_depth: int = FULL_DEPTH,
    asked: Sequence[Play] = (),
    with_probabilities: bool = False,
    name: str = "",
) -> Ranking:
    """Rank the legal plays of a roll, best first; ties are in the order of `best_first`.

    The `full_depth` best plays and those in `asked` are evaluated to full depth.  `name` is shown
    for the evaluator, if not its own.  Raises `PositionError` if the game is over.
    """
    check_goes_on(position)
    (batch,) = play_batches(position.board[None], np.array([roll]))
    rows = np.zeros(len(batch.boards), np.bool_)
    for play in asked:
        rows |= (batch.boards == play.position.board).all(axis=1)
    estimates = estimate_plays(position.board[None], batch, evaluator, state, full_depth, rows)
    (values, sources), order = estimates, best_first(estimates, position.board[None], batch, evaluator)
    chances: list[Probabilities | None] = [None] * len(order)
    if with_probabilities:
        known = probabilities_of(evaluator, state, batch.boards, sources)
        chances = [Probabilities(*five) for five in known.tolist()]
    best = float(values[order[0]])
    plays = tuple(
        RankedPlay(
            Play(Position(batch.boards[row]), *decode_path(int(batch.paths[row]), roll)),
            float(values[row]),
            float(values[row]) - best,
            source_words(int(sources[row])),
            chances[row],
        )
        for row in order.tolist()
    )
    valued_for = "" if state is None else describe_score(state)
    return Ranking(position, roll, name or evaluator.name, plays, valued_for)


def rows_by_state(states: Iterable[_State]) -> dict[_State, list[int]]:
    """Return the row numbers of each of the distinct `states` of decisions."""
    rows: dict[_State, list[int]] = {}
    for row, state in enumerate(states):
        rows.setdefault(state, []).append(row)
    return rows


def estimate_plays(
    before: Board,
    batch: PlayBatch,
    evaluator: Evaluator,
    state: MatchState | None,
    full_depth: int = FULL_DEPTH,
    asked: BoolArray | None = None,
) -> PlayEstimates:
    """Return the estimates (m,) of all plays of the decisions on `before` (n, 26), in one state of the match.

    The `full_depth` best plays of each decision, and those in `asked` (m,), are evaluated to full depth.
    """
    cube_model = cube_model_of(state)
    estimates = evaluator.play_estimates(before, batch, cube_model)
    values, sources = estimates.values.copy(), estimates.sources.copy()
    if cube_model.is_cubeless:
        known = evaluator.without_lookahead.is_exact(batch.boards)
        sources[known] = EXACT_SOURCE
    else:
        known = _set_exact(before, batch, state, values, sources)
    if not isinstance(evaluator, LookaheadEvaluator):
        return PlayEstimates(values, sources)
    full = evaluator.sources_of(batch.boards)
    best = best_few(without_ties(values, before, batch, evaluator), batch, full_depth)
    wanted = best if asked is None else best | asked
    deeper = wanted & (sources != full) & ~known
    if deeper.any():
        opponents = evaluator.with_cube(cube_model, side=1)
        values[deeper] = switched_equities(opponents.equity_many(batch.boards[deeper]))
        sources[deeper] = full[deeper]
    # Plays with fewer plies rank below those evaluated to full depth.
    seen = (sources == full) | known
    least = np.full(len(batch.offsets) - 1, np.inf)
    np.minimum.at(least, batch.decision[best & seen], values[best & seen])
    shallow = ~seen
    values[shallow] = np.minimum(values, least[batch.decision])[shallow]
    return PlayEstimates(values, sources)


def _set_exact(
    before: Board,
    batch: PlayBatch,
    state: MatchState | None,
    values: FloatArray,
    sources: IntArray,
) -> BoolArray:
    """Write exact cubeful equities; return which plays have one, bool (m,)."""
    known = np.zeros(len(values), np.bool_)
    if state is None or not state.has_cube:
        return known
    from motif.doubling.equities import scale
    from motif.doubling.exact import exact_equities, prepare_plays

    boards = batch.boards
    home = (boards[:, HOME + 1 :] <= 0).all(axis=1) & (boards[:, : POINTS - HOME + 1] >= 0).all(axis=1)
    opponent, cube_model = state.switch_sides(), cube_model_of(state)
    prepared = -1
    for row in np.flatnonzero(home).tolist():
        decision = int(batch.decision[row])
        if decision != prepared:
            prepare_plays(Position(before[decision]), state)
            prepared = decision
        equities = exact_equities(Position(boards[row]), opponent)
        if equities is None:
            continue
        unit = scale(opponent)
        held = unit.equity(equities.no_double)
        taken = held if equities.double_take is None else unit.equity(equities.double_take)
        value = best_of_double(cube_model, 1, np.array([[held, taken]]))
        values[row], sources[row], known[row] = switched_equities(value)[0], EXACT_SOURCE, True
    return known


def best_first(
    estimates: PlayEstimates, before: Board, batch: PlayBatch, evaluator: Evaluator
) -> npt.NDArray[np.intp]:
    """Return the row numbers of the plays (m,), by decision, best first.

    Ties in the values are broken by `without_ties`, then by depth, the deepest first, then by the order of
    the legal plays.
    """
    values = without_ties(estimates.values, before, batch, evaluator)
    # Sorts in descending order of values and sources.
    return np.lexsort((-estimates.sources, switched_equities(values), batch.decision))


def source_words(source: int) -> str:
    """Return the name of one of `PlayEstimates.sources`."""
    return {ROLLOUT_SOURCE: ROLLOUT, EXACT_SOURCE: EXACT}.get(source, f"{source}{_PLY}")


def plies_of(evaluator: Evaluator) -> int:
    """Return an evaluator's plies of lookahead."""
    return evaluator.plies if isinstance(evaluator, LookaheadEvaluator) else 0


def probabilities_of(
    evaluator: Evaluator, state: MatchState | None, boards: Board, sources: IntArray
) -> FloatArray:
    """Return the mover's probabilities (n, 5) after plays to `boards` (n, 26), at the equities' depth."""
    chances = np.empty((len(boards), len(OUTPUTS)))
    for source in np.unique(sources).tolist():
        same = sources == source
        opponents = _with_plies(evaluator, source).with_cube(cube_model_of(state), side=1)
        chances[same] = switch_sides(opponents.evaluate_many(boards[same]).astype(np.float64))
    return chances


def _with_plies(evaluator: Evaluator, plies: int) -> Evaluator:
    """Return the evaluator with at most `plies` of lookahead."""
    while isinstance(evaluator, LookaheadEvaluator) and evaluator.plies > plies:
        evaluator = evaluator.below
    return evaluator
