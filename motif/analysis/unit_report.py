"""The hidden units of a weight file along positions: how often each is large, where, and what it is worth.

Positions where a unit is largest and smallest are drawn as text and as Markdown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.analysis.evaluator_analysis import judgement
from motif.board.diagram import text_diagram
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators import WeightFile
from motif.evaluators.hidden_layer import squash_units
from motif.evaluators.hidden_unit_words import words_of_units
from motif.evaluators.probabilities import (
    EQUITY_WEIGHTS,
    OUTPUTS,
    equities,
    write_consistent,
)
from motif.evaluators.weight_file import HiddenLayer
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.errors import DatasetError, SettingError, shown
from motif.runtime.parallel import one_thread

ON = 0.5
"""From here on a unit's value is large, and from minus this on small."""
_TENTHS = (10, 90)
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class UnitSummary:
    """What a hidden unit does along positions."""

    name: str
    words: str
    """What is there where it is large."""
    share: float
    """Of what it is over typical positions, how much these words tell: R^2, 0 to 1."""
    amount: float
    """What it adds to the raw sum where it is 1."""
    on: float
    """Share of the positions on which it is `ON` or more."""
    off: float
    """Share of those on which it is -`ON` or less."""
    moves: float
    """How far it moves the equity: one standard deviation, in points."""
    high: float
    """What it adds to the equity on the tenth of the positions where it is largest, beside its mean."""
    low: float
    """The same where it is smallest."""


@dataclass(frozen=True, eq=False)
class UnitBoard:
    """A position where a unit is large or small."""

    board: Board
    """(26,)"""
    squashed: float
    """The unit there, -1 to 1."""
    equity: float
    """What the weights say of the position, in points."""
    adds: float
    """How much more that is than with the unit at its mean."""


@dataclass(frozen=True, eq=False)
class Extremes:
    """Where a unit is largest and where it is smallest, the most extreme first."""

    largest: tuple[UnitBoard, ...]
    smallest: tuple[UnitBoard, ...]


@one_thread()
def unit_summaries(weights: WeightFile, class_name: str, head: str, boards: Board) -> tuple[UnitSummary, ...]:
    """Return the hidden units that add to a head of a class along its own of `boards` (n, 26).

    Those that move most come first; there may be none.

    Raises `DatasetError` where no board is of the class.
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

    def beyond(column: int, where: npt.NDArray[np.bool_]) -> float:
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
    """Return the `count` of the class's `boards` (n, 26) where a unit is largest, and smallest.

    Raises `SettingError` for a unit that the class does not have, `DatasetError` where no board is of it.
    """
    layer = layer_with(weights, class_name, name)
    # The same board twice says nothing new.
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
    return Extremes(boards_of(order[::-1][:count].tolist()), boards_of(order[:count].tolist()))


def layer_with(weights: WeightFile, class_name: str, name: str) -> HiddenLayer:
    """Return the hidden layer of a class; raises `SettingError` unless it has a unit called `name`."""
    layer = weights.hidden_of(class_name)
    if layer is None:
        raise SettingError(f"the weights {weights.name!r} have no hidden units for {class_name} positions")
    if name not in layer.names:
        few = ", ".join(layer.names[:3])
        raise SettingError(
            f"no hidden unit of {class_name} positions is called {shown(name)}: there are "
            f"{len(layer.names)}, such as {few}"
        )
    return layer


@dataclass(frozen=True, eq=False)
class _Head:
    """A head of a class that hidden units add to."""

    raw: _Floats
    """(n,): its raw sums, with all units."""
    outputs: _Floats
    """(m,): what each unit adds to the raw sum where it is 1."""
    bound: float
    """The equity that its value, -1 to 1, is multiplied by."""

    @property
    def worth(self) -> float:
        """What a unit of the raw sum is worth on average, in points."""
        return float((self.bound * (1 - np.tanh(self.raw) ** 2)).mean())


@dataclass(frozen=True, eq=False)
class _UnitSums:
    """The hidden units of a class on positions."""

    boards: Board
    """(n, 26)"""
    heads: dict[str, _Head]
    """Those that the units add to, which make the equity."""
    sums: _Floats
    """(n, m), before they are squashed."""

    def equities(self, less: _Floats, place: int) -> _Floats:
        """Return the equities (n,) where a unit is smaller by `less` (n,)."""
        squashed = {name: np.tanh(of.raw - of.outputs[place] * less) for name, of in self.heads.items()}
        rows = np.zeros((len(less), len(OUTPUTS)))
        for name, values in squashed.items():
            rows[:, OUTPUTS.index(name)] = (values + 1) / 2
        write_consistent(pack_many(self.boards), rows)
        return equities(rows)


def _seen(weights: WeightFile, class_name: str, boards: Board) -> _UnitSums:
    own = boards[classify_many(pack_many(boards)) == CLASS_NAMES.index(class_name)]
    if not len(own):
        raise DatasetError(f"there are no {class_name} positions to see hidden units on")
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
    """How often a unit is large, and what it is worth, in a sentence or two."""
    return (
        f"These inputs tell {unit.share:.0%} of it. It is on in {unit.on:.0%} of the positions, off in "
        f"{unit.off:.0%}. On the tenth where it is largest it is worth {unit.high:+.3f} points beside "
        f"its mean, on the tenth where it is smallest {unit.low:+.3f}."
    )


def board_blocks(found: Sequence[UnitBoard]) -> Iterator[tuple[str, str]]:
    """Yield a line on each board, and the board drawn; X is the player on roll."""
    for one in found:
        line = f"unit {one.squashed:+.2f}, worth {one.adds:+.3f} of an equity of {one.equity:+.3f}"
        yield line, text_diagram(Position(one.board))


def kinds(found: Extremes) -> tuple[tuple[str, tuple[UnitBoard, ...]], ...]:
    """Both kinds of boards with their headings."""
    return ("Where it is largest", found.largest), ("Where it is smallest", found.smallest)


def extremes_text(found: Extremes) -> str:
    """Return the boards as text."""
    blocks: list[str] = []
    for heading, boards in kinds(found):
        blocks += [heading, *("\n".join(block) for block in board_blocks(boards))]
    return "\n\n".join(blocks)


def unit_markdown(unit: UnitSummary, found: Extremes, level: int = 3) -> Iterator[str]:
    """Yield what a unit is about, and its boards, as lines of Markdown below a heading of a `level`."""
    yield from (f"{'#' * level} {unit.name}", "", f"*{unit.words}*", "", facts_of(unit), "")
    for heading, boards in kinds(found):
        yield from (f"**{heading}**", "")
        for line, board in board_blocks(boards):
            yield from (f"{line[0].upper()}{line[1:]}:", "", "```text", *board.split("\n"), "```", "")
