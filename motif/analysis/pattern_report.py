"""What the patterns of a weight file do along positions: how often each is large, where, and its worth.

Positions where a pattern is largest and smallest are drawn as text and as Markdown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motif.analysis.evaluator_analysis import judgement
from motif.analysis.explain.judged import EQUITY
from motif.board.diagram import text_diagram
from motif.board.packed import Board, pack_many
from motif.board.position import Position
from motif.evaluators import WeightFile
from motif.evaluators.pattern_words import words_of_patterns
from motif.evaluators.patterns import squash_patterns
from motif.evaluators.probabilities import (
    EQUITY_BOUND,
    EQUITY_WEIGHTS,
    OUTPUTS,
    equities,
    write_consistent,
)
from motif.evaluators.weight_file import Patterns
from motif.parameters.named_sets import features
from motif.parameters.position_class import CLASS_NAMES, classify_many, plan_name, plans_many
from motif.runtime.errors import DatasetError, SettingError, shown
from motif.runtime.parallel import one_thread

ON = 0.5
"""From here on a squashed sum is large, and from minus this on small."""
_TENTHS = (10, 90)
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ToldPattern:
    """What a pattern does along positions."""

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
class PatternBoard:
    """A position where a pattern is large or small."""

    board: Board
    """(26,)"""
    squashed: float
    """The pattern there, -1 to 1."""
    equity: float
    """What the weights say of the position, in points."""
    adds: float
    """How much more that is than with the pattern at its mean."""


@dataclass(frozen=True, eq=False)
class Extremes:
    """Where a pattern is largest and where it is smallest, the most extreme first."""

    largest: tuple[PatternBoard, ...]
    smallest: tuple[PatternBoard, ...]


@one_thread()
def told_patterns(weights: WeightFile, class_name: str, head: str, boards: Board) -> tuple[ToldPattern, ...]:
    """Return the patterns that add to a head of a class along its own of `boards` (n, 26).

    Those that move most come first; there may be none.

    Raises `DatasetError` where no board is of the class.
    """
    patterns = weights.patterns_by_class.get(class_name)
    if patterns is None or patterns.added_to(head) is None:
        return ()
    seen = _seen(weights, class_name, boards)
    about = words_of_patterns(weights, class_name)
    squashed = squash_patterns(seen.sums)
    least, most = np.percentile(squashed, _TENTHS, axis=0)
    adds = np.sum([of.worth * of.amounts * squashed for of in seen.heads.values()], axis=0)
    amounts = seen.heads[head].amounts

    def beyond(column: int, where: npt.NDArray[np.bool_]) -> float:
        return float(adds[where, column].mean() - adds[:, column].mean()) + 0.0

    told = [
        ToldPattern(
            name=name,
            words=about[name].words,
            share=about[name].share,
            amount=float(amounts[:, k].mean()),
            on=float((squashed[:, k] >= ON).mean()),
            off=float((squashed[:, k] <= -ON).mean()),
            moves=float(adds[:, k].std()),
            high=beyond(k, squashed[:, k] >= most[k]),
            low=beyond(k, squashed[:, k] <= least[k]),
        )
        for k, name in enumerate(patterns.names)
    ]
    return tuple(sorted(told, key=lambda pattern: -pattern.moves))


@one_thread()
def extremes(weights: WeightFile, class_name: str, name: str, boards: Board, count: int) -> Extremes:
    """Return the `count` of the class's `boards` (n, 26) where a pattern is largest, and smallest.

    Raises `SettingError` for a pattern that the class does not have, `DatasetError` where no board is of it.
    """
    patterns = pattern_of(weights, class_name, name)
    # The same board twice says nothing new.
    seen = _seen(weights, class_name, np.unique(boards, axis=0))
    place = patterns.names.index(name)
    squashed = squash_patterns(seen.sums[:, place])
    values = seen.equities(np.zeros(len(squashed)), place)
    adds = values - seen.equities(squashed - squashed.mean(), place)

    def some(rows: Sequence[int]) -> tuple[PatternBoard, ...]:
        return tuple(
            PatternBoard(seen.boards[row], float(squashed[row]), float(values[row]), float(adds[row]))
            for row in rows
        )

    order = np.argsort(seen.sums[:, place], kind="stable")
    return Extremes(some(order[::-1][:count].tolist()), some(order[:count].tolist()))


def pattern_of(weights: WeightFile, class_name: str, name: str) -> Patterns:
    """Return the patterns of a class, of which one is called `name`; raises `SettingError` where none is."""
    patterns = weights.patterns_by_class.get(class_name)
    if patterns is None:
        raise SettingError(f"the weights {weights.name!r} have no patterns for {class_name} positions")
    if name not in patterns.names:
        few = ", ".join(patterns.names[:3])
        raise SettingError(
            f"no pattern of {class_name} positions is called {shown(name)}: there are {len(patterns.names)}, "
            f"such as {few}"
        )
    return patterns


@dataclass(frozen=True, eq=False)
class _Head:
    """A head of a class that patterns add to."""

    raw: _Floats
    """(n,): its raw sums, with all patterns."""
    amounts: _Floats
    """(n, m): what each pattern adds to the raw sum where it is 1."""
    bound: float
    """The equity that its squashed sum, -1 to 1, is multiplied by."""

    @property
    def worth(self) -> float:
        """What a unit of the raw sum is worth on average, in points."""
        return float((self.bound * (1 - np.tanh(self.raw) ** 2)).mean())


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the patterns of a class are on positions."""

    boards: Board
    """(n, 26)"""
    heads: dict[str, _Head]
    """Those that the patterns add to, which make the equity."""
    sums: _Floats
    """(n, m), before they are squashed."""

    def equities(self, less: _Floats, place: int) -> _Floats:
        """The equities (n,) where a pattern is smaller by `less` (n,)."""
        squashed = {name: np.tanh(of.raw - of.amounts[:, place] * less) for name, of in self.heads.items()}
        if EQUITY in squashed:
            return EQUITY_BOUND * squashed[EQUITY]
        rows = np.zeros((len(less), len(OUTPUTS)))
        for name, values in squashed.items():
            rows[:, OUTPUTS.index(name)] = (values + 1) / 2
        write_consistent(pack_many(self.boards), rows)
        return equities(rows)


def _seen(weights: WeightFile, class_name: str, boards: Board) -> _Seen:
    own = boards[classify_many(pack_many(boards)) == CLASS_NAMES.index(class_name)]
    if not len(own):
        raise DatasetError(f"there are no {class_name} positions to see patterns on")
    packed = pack_many(own)
    patterns = weights.patterns_by_class[class_name]
    sums = patterns.sums(features(weights.parameters, own), packed)
    plans, plan_of = np.unique(plans_many(packed), return_inverse=True)
    at = [weights.patterns_at(class_name, plan_name(plan)) for plan in plans]
    heads = {}
    for name in weights.heads_of(class_name):
        if patterns.added_to(name) is None:
            continue
        amounts = np.array([of.added_to(name) for of in at if of is not None], np.float64)[plan_of]
        bound = EQUITY_BOUND if name == EQUITY else EQUITY_WEIGHTS[OUTPUTS.index(name)] / 2
        heads[name] = _Head(judgement(weights, name, own).raw, amounts, bound)
    return _Seen(own, heads, sums)


def facts_of(pattern: ToldPattern) -> str:
    """How often a pattern is large, and what it is worth, in a sentence or two."""
    return (
        f"These inputs tell {pattern.share:.0%} of it. It is on in {pattern.on:.0%} of the positions, off in "
        f"{pattern.off:.0%}. On the tenth where it is largest it is worth {pattern.high:+.3f} points beside "
        f"its mean, on the tenth where it is smallest {pattern.low:+.3f}."
    )


def board_blocks(found: Sequence[PatternBoard]) -> Iterator[tuple[str, str]]:
    """Yield a line on each board, and the board drawn; X is the player on roll."""
    for one in found:
        line = f"pattern {one.squashed:+.2f}, worth {one.adds:+.3f} of an equity of {one.equity:+.3f}"
        yield line, text_diagram(Position(one.board))


def kinds(found: Extremes) -> tuple[tuple[str, tuple[PatternBoard, ...]], ...]:
    """Both kinds of boards with their headings."""
    return ("Where it is largest", found.largest), ("Where it is smallest", found.smallest)


def pattern_text(found: Extremes) -> str:
    """Return the boards as text."""
    blocks: list[str] = []
    for heading, boards in kinds(found):
        blocks += [heading, *("\n".join(block) for block in board_blocks(boards))]
    return "\n\n".join(blocks)


def pattern_markdown(pattern: ToldPattern, found: Extremes, level: int = 3) -> Iterator[str]:
    """Yield what a pattern is about, and its boards, as lines of Markdown below a heading of a `level`."""
    yield from (f"{'#' * level} {pattern.name}", "", f"*{pattern.words}*", "", facts_of(pattern), "")
    for heading, boards in kinds(found):
        yield from (f"**{heading}**", "")
        for line, board in board_blocks(boards):
            yield from (f"{line[0].upper()}{line[1:]}:", "", "```text", *board.split("\n"), "```", "")
