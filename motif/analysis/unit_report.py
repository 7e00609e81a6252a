"""Hidden units of a weight file over positions: when each is on, and its effect on the equity."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from motif.analysis.evaluator_analysis import judgement, of_class
from motif.board.diagram import fit_width, text_diagram
from motif.board.identifiers import gnubg_id
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators import WeightFile
from motif.evaluators.hidden_layer import squash_units
from motif.evaluators.hidden_unit_words import words_of_units
from motif.evaluators.probabilities import EQUITY_WEIGHTS, OUTPUTS, equities, write_consistent
from motif.evaluators.weight_file import HiddenLayer
from motif.parameters.named_sets import features
from motif.runtime.arrays import BoolArray, FloatArray
from motif.runtime.errors import DatasetError, SettingError, shown
from motif.runtime.frames import Row, Tabular
from motif.runtime.layout import percent
from motif.runtime.parallel import one_thread

ON = 0.5
"""A unit is on from this value, and off from minus this value."""
_TENTHS = (10, 90)


@dataclass(frozen=True)
class UnitSummary:
    """Statistics of a hidden unit over positions."""

    name: str
    words: str
    """Description of the positions where the unit is large."""
    share: float
    """R^2 of the described inputs over typical positions, 0 to 1."""
    amount: float
    """Output weight: its contribution to the raw sum at value 1."""
    on: float
    """Share of positions with a value of at least `ON`."""
    off: float
    """Share of positions with a value of at most -`ON`."""
    moves: float
    """Standard deviation of its effect on the equity, in points."""
    high: float
    """Mean effect on the equity over the tenth of positions where the unit is largest, minus the overall
    mean."""
    low: float
    """The same for the tenth where it is smallest."""


@dataclass(frozen=True, eq=False)
class UnitBoard:
    """A position where a unit is large or small."""

    board: Board
    """(26,)"""
    squashed: float
    """Value of the unit, -1 to 1."""
    equity: float
    """Equity of the position, in points."""
    adds: float
    """Equity minus the equity with the unit at its mean."""

    def to_dict(self) -> Row:
        """Return the position and its figures for JSON."""
        return {
            "position": gnubg_id(Position(self.board)),
            "activation": self.squashed,
            "equity": self.equity,
            "adds": self.adds,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Extremes(Tabular):
    """Positions where a unit is largest and smallest, most extreme first."""

    weights: str
    class_name: str
    unit: UnitSummary
    """The unit over all positions."""
    largest: tuple[UnitBoard, ...]
    smallest: tuple[UnitBoard, ...]

    def records(self) -> list[Row]:
        """Return a row for each position."""
        ends = {"largest": self.largest, "smallest": self.smallest}
        return [{"end": end, **board.to_dict()} for end, boards in ends.items() for board in boards]

    def to_dict(self) -> Row:
        """Return the unit and the positions for JSON."""
        return {
            "weights": self.weights,
            "class": self.class_name,
            "hidden_unit": asdict(self.unit),
            "largest": [board.to_dict() for board in self.largest],
            "smallest": [board.to_dict() for board in self.smallest],
        }

    def __str__(self) -> str:
        return f"{self.unit.name}: {self.unit.words}\n{facts_of(self.unit)}\n\n{extremes_text(self)}"


@one_thread()
def unit_summaries(weights: WeightFile, class_name: str, head: str, boards: Board) -> tuple[UnitSummary, ...]:
    """Return the hidden units of a head over the `boards` (n, 26) of the class, largest effect first.

    Raises `DatasetError` if no board is of the class.
    """
    layer = weights.hidden_of(class_name)
    if layer is None or layer.added_to(head) is None:
        return ()
    seen = _seen(weights, class_name, boards)
    about = words_of_units(weights, class_name)
    squashed = squash_units(seen.sums)
    least, most = np.percentile(squashed, _TENTHS, axis=0)
    adds = np.sum([of.worth * of.outputs * squashed for of in seen.heads.values()], axis=0)
    outputs = seen.heads[head].outputs

    def beyond(column: int, where: BoolArray) -> float:
        return float(adds[where, column].mean() - adds[:, column].mean()) + 0.0

    told = [
        UnitSummary(
            name=name,
            words=about[name].words,
            share=about[name].share,
            amount=float(outputs[k]),
            on=float((squashed[:, k] >= ON).mean()),
            off=float((squashed[:, k] <= -ON).mean()),
            moves=float(adds[:, k].std()),
            high=beyond(k, squashed[:, k] >= most[k]),
            low=beyond(k, squashed[:, k] <= least[k]),
        )
        for k, name in enumerate(layer.names)
    ]
    return tuple(sorted(told, key=lambda unit: -unit.moves))


@one_thread()
def extremes(weights: WeightFile, class_name: str, name: str, boards: Board, count: int) -> Extremes:
    """Return the `count` boards of the class, out of `boards` (n, 26), where a unit is largest and smallest.

    Raises `SettingError` for an unknown unit, `DatasetError` if no board is of the class.
    """
    layer = layer_with(weights, class_name, name)
    unit = next(of for of in unit_summaries(weights, class_name, "win", boards) if of.name == name)
    seen = _seen(weights, class_name, np.unique(boards, axis=0))
    place = layer.names.index(name)
    squashed = squash_units(seen.sums[:, place])
    values = seen.equities(np.zeros(len(squashed)), place)
    adds = values - seen.equities(squashed - squashed.mean(), place)

    def boards_of(rows: Sequence[int]) -> tuple[UnitBoard, ...]:
        return tuple(
            UnitBoard(seen.boards[row], float(squashed[row]), float(values[row]), float(adds[row]))
            for row in rows
        )

    order = np.argsort(seen.sums[:, place], kind="stable")
    ends = (boards_of(rows[:count].tolist()) for rows in (order[::-1], order))
    return Extremes(weights.name, class_name, unit, *ends)


def layer_with(weights: WeightFile, class_name: str, name: str) -> HiddenLayer:
    """Return the hidden layer of a class; raises `SettingError` if it has no unit `name`."""
    layer = weights.hidden_of(class_name)
    if layer is None:
        raise SettingError(f"the weights {weights.name!r} have no hidden units for {class_name} positions")
    if name not in layer.names:
        few = ", ".join(layer.names[:3])
        raise SettingError(
            f"unknown hidden unit {shown(name)} for {class_name} positions: there are {len(layer.names)}, "
            f"such as {few}"
        )
    return layer


@dataclass(frozen=True, eq=False)
class _Head:
    """A head with hidden units."""

    raw: FloatArray
    """(n,): raw sums."""
    outputs: FloatArray
    """(m,): output weights."""
    bound: float
    """Equity per unit of its value, -1 to 1."""

    @property
    def worth(self) -> float:
        """Mean derivative of the equity with respect to the raw sum, in points."""
        return float((self.bound * (1 - np.tanh(self.raw) ** 2)).mean())


@dataclass(frozen=True, eq=False)
class _UnitSums:
    """The hidden units of a class on positions."""

    boards: Board
    """(n, 26)"""
    heads: dict[str, _Head]
    """Heads with hidden units, which make up the equity."""
    sums: FloatArray
    """(n, m), before squashing."""

    def equities(self, less: FloatArray, place: int) -> FloatArray:
        """Return the equities (n,) with a unit reduced by `less` (n,)."""
        rows = np.zeros((len(less), len(OUTPUTS)))
        for name, of in self.heads.items():
            rows[:, OUTPUTS.index(name)] = (np.tanh(of.raw - of.outputs[place] * less) + 1) / 2
        write_consistent(pack_many(self.boards), rows)
        return equities(rows)


def _seen(weights: WeightFile, class_name: str, boards: Board) -> _UnitSums:
    own = of_class(boards, class_name)
    if not len(own):
        raise DatasetError(f"there are no {class_name} positions to evaluate hidden units on")
    packed = pack_many(own)
    layer = weights.hidden_of(class_name)
    assert layer is not None
    sums = layer.sums(features(weights.parameters, own), packed)
    heads = {}
    for name in weights.heads_of(class_name):
        if (outputs := layer.added_to(name)) is not None:
            bound = EQUITY_WEIGHTS[OUTPUTS.index(name)] / 2
            heads[name] = _Head(judgement(weights, name, own).raw, outputs.astype(np.float64), bound)
    return _UnitSums(own, heads, sums)


def facts_of(unit: UnitSummary) -> str:
    """Return sentences on how often a unit is on, and its effect on the equity."""
    return (
        f"These inputs explain {percent(unit.share, 0)} of the unit. It is on in {percent(unit.on, 0)} of "
        f"the positions and off in {percent(unit.off, 0)}. In the tenth of positions where it is largest it "
        f"adds {unit.high:+z.3f} points to the equity relative to its mean, in the tenth where it is "
        f"smallest {unit.low:+z.3f}."
    )


def board_blocks(found: Sequence[UnitBoard]) -> Iterator[tuple[str, str]]:
    """Yield a line on each board and its text diagram; X is the player on roll."""
    for one in found:
        line = f"unit {one.squashed:+z.2f}, adds {one.adds:+z.3f} to an equity of {one.equity:+z.3f}"
        yield line, text_diagram(Position(one.board))


def kinds(found: Extremes) -> tuple[tuple[str, tuple[UnitBoard, ...]], ...]:
    """Return both kinds of boards with headings."""
    return ("Where it is largest", found.largest), ("Where it is smallest", found.smallest)


def extremes_text(found: Extremes, width: int | None = None) -> str:
    """Return the boards as text diagrams, fitted to `width` columns if given."""
    blocks: list[str] = []
    for heading, boards in kinds(found):
        blocks += [heading, *(f"{line}\n{fit_width(board, width)}" for line, board in board_blocks(boards))]
    return "\n\n".join(blocks)
