"""One evaluator for each position class: ``composite:race=A,contact=B,crashed=C``.

wildbg works this way: one net for contact, one for races. Each part is a player that evaluates without
lookahead: a weight file, a hand-made player or a net. ``@1`` or ``@2`` after the name applies to the whole
composition.
"""

import re
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from motif.board.identifiers import quoted
from motif.board.packed import Board, pack_many
from motif.board.position import as_boards
from motif.evaluators.evaluator import Evaluator
from motif.evaluators.known_players import COMPOSITE_PREFIX, load_evaluator
from motif.evaluators.probabilities import OUTPUTS
from motif.parameters.position_class import CLASS_NAMES, classify_many
from motif.runtime.arrays import Float32Array, FloatArray
from motif.runtime.errors import PlayerError, did_you_mean

_DEFAULTS = {"crashed": "contact"}
"""For a class without a part, the class whose part is used."""
_NEXT_PART = re.compile(r",(?=\w+=)")
_FORM = f"{COMPOSITE_PREFIX}race=PLAYER,contact=PLAYER[,crashed=PLAYER]"


class CompositeEvaluator(Evaluator):
    """An evaluator with a part for each position class.

    Parameters
    ----------
    parts
        An evaluator for each of ``race``, ``contact`` and ``crashed``, which defaults to that of ``contact``.
    name
        Name of the player; by default made from the names of the parts.

    Raises
    ------
    PlayerError
        If a class has no evaluator, or a name is not a class.
    """

    def __init__(self, parts: Mapping[str, Evaluator], name: str = "") -> None:
        for class_name in parts:
            if class_name not in CLASS_NAMES:
                hint = did_you_mean(class_name, CLASS_NAMES) or f"; there are {', '.join(CLASS_NAMES)}"
                raise PlayerError(f"no position class is called {quoted(class_name)}{hint}")
        missing = [name for name in CLASS_NAMES if name not in parts and _DEFAULTS.get(name) not in parts]
        if missing:
            needed = " and ".join(name for name in missing if name not in _DEFAULTS)
            raise PlayerError(f"the composition needs an evaluator for {needed}: {_FORM}")
        self.name = name or COMPOSITE_PREFIX + ",".join(f"{key}={one.name}" for key, one in parts.items())
        self.parts = tuple(parts[name] if name in parts else parts[_DEFAULTS[name]] for name in CLASS_NAMES)
        """The parts in the order of the class codes."""

    @property
    def gives_chances(self) -> bool:
        """See `Evaluator.gives_chances`."""
        return all(part.gives_chances for part in self.parts)

    def evaluate_many(self, positions: npt.ArrayLike) -> Float32Array:
        """See `Evaluator.evaluate_many`."""
        boards = as_boards(positions)
        values = np.empty((len(boards), len(OUTPUTS)), np.float32)
        self._fill(boards, values, lambda part, some: part.evaluate_many(some))
        return values

    def equity_many(self, boards: Board) -> FloatArray:
        """See `Evaluator.equity_many`; a part with an equity head uses it."""
        values = np.empty(len(boards))
        self._fill(boards, values, lambda part, some: part.equity_many(some))
        return values

    def _fill(
        self,
        boards: Board,
        values: npt.NDArray[np.floating],
        of_part: Callable[[Evaluator, Board], npt.NDArray[np.floating]],
    ) -> None:
        codes = classify_many(pack_many(boards))
        for code, part in enumerate(self.parts):
            rows = codes == code
            if rows.any():
                values[rows] = of_part(part, boards[rows])


def load_composite(text: str) -> CompositeEvaluator:
    """Load the composition that `text`, such as ``race=wildbg,contact=latest``, describes.

    Raises
    ------
    PlayerError
        If a part is not ``CLASS=PLAYER``, repeats a class, or names a player that does not evaluate.
    """
    parts: dict[str, Evaluator] = {}
    for part in _NEXT_PART.split(text):
        class_name, equals, player = part.partition("=")
        if not equals or not player:
            raise PlayerError(f"invalid part {quoted(part)}: the composition must be {_FORM}")
        if class_name in parts:
            raise PlayerError(f"{quoted(COMPOSITE_PREFIX + text)} names {class_name} twice")
        if player.startswith(COMPOSITE_PREFIX):
            raise PlayerError(f"invalid part {quoted(part)}: a composition cannot be part of another")
        parts[class_name] = load_evaluator(player)
    return CompositeEvaluator(parts, COMPOSITE_PREFIX + text)
