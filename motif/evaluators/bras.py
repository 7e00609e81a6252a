"""BRAS, the Backgammon Relative Advantage Score (2025): eleven features, fixed weights, one tanh.

D = sum of weight x feature; g(D) = tanh(D / 3); S_me = 50 + 50 g(D) and S_op = 100 - S_me, in per cent.
The score has the form of a weight file with only linear weights, so play, rollouts, lookahead and analyses
treat BRAS as one, with S_me / 100 as its win probability.

The player ``bras:FILE`` reads your own weights from a YAML file; omitted weights are the article's::

    format: motif-bras/1
    sigma: 3.0
    weights: {blot: 1.6, prime: 1.8}
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motif.board.packed import Board
from motif.board.position import Position, PositionLike
from motif.evaluators.known_players import BRAS_PREFIX
from motif.evaluators.static import StaticEvaluator, weights_model
from motif.evaluators.weight_file import WeightFile, linear_head
from motif.parameters.bras_set import BRAS_SET
from motif.parameters.named_sets import features
from motif.runtime.arrays import FloatArray
from motif.runtime.documents import Entry, yaml_document
from motif.runtime.errors import PlayerError, WeightFileError, plain_text, shown
from motif.runtime.files import text_of
from motif.runtime.limits import YAML_FILE

SIGMA = 3.0
ARTICLE_WEIGHTS = {
    "pip": 2.2,
    "bar": 2.0,
    "off": 1.6,
    "hb": 1.5,
    "prime": 1.3,
    "anch": 0.6,
    "blot": 1.1,
    "stack": 0.4,
    "out": 0.5,
    "x1": 1.0,
    "x2": -0.6,
}
"""The article's weights by feature."""

NAME, _FORMAT = "bras", "motif-bras/1"
_MAX_NUMBER = 1000.0
"""Limit of weights and sigma: beyond it every score is 0 or 100."""
_MIN_SIGMA = 0.001


@dataclass(frozen=True)
class BrasFormula:
    """The parameters of the score: a weight for each feature, and sigma."""

    weights: Mapping[str, float] = field(default_factory=lambda: ARTICLE_WEIGHTS, hash=False)
    sigma: float = SIGMA
    """The value of D for which g is tanh(1), above 0."""

    @property
    def row(self) -> FloatArray:
        """The weights (11,) in the order of the parameter set."""
        return np.array([self.weights[name] for name in BRAS_SET.names])

    def raw_scores(self, boards: Board) -> FloatArray:
        """Return D of each of `boards` int8 (n, 26), for the player on roll: float64 (n,)."""
        # Not a matrix product: its last bits may depend on the number of rows.
        return np.asarray((features(BRAS_SET, boards).astype(np.float64) * self.row).sum(axis=1))

    def percent(self, boards: Board) -> FloatArray:
        """Return S (n,), 0 to 100, of the player on roll in each of `boards` (n, 26)."""
        return self.squashed(self.raw_scores(boards))

    def squashed(self, raw: npt.ArrayLike) -> FloatArray:
        """Return S of each D in `raw`, an array of any shape."""
        return np.asarray(50 + 50 * np.tanh(np.asarray(raw) / self.sigma))


ARTICLE = BrasFormula()
"""The formula of the article."""


class BrasEvaluator(StaticEvaluator):
    """BRAS as an evaluator.

    Parameters
    ----------
    formula
        The weights and sigma, by default the article's.
    name
        Name of the player.
    """

    def __init__(self, formula: BrasFormula = ARTICLE, name: str = NAME) -> None:
        self.formula = formula
        heads = {"win": linear_head(0.0, formula.row / formula.sigma)}
        weights = WeightFile(name, 0, None, BRAS_SET, {"contact": heads})
        super().__init__(name, weights_model(weights), weights, gives_chances=False)

    def details(self, position: PositionLike) -> dict[str, object]:
        """Return the features, D, g, S_me and S_op of one position; see `Evaluator.details`."""
        position = Position.of(position)
        score = float(self.formula.raw_scores(position.board[None])[0])
        g = math.tanh(score / self.formula.sigma)
        scores = {"D": score, "g": g, "S_me": 50 + 50 * g, "S_op": 50 - 50 * g}
        return {"features": super().details(position)["features"], **scores}


def load_bras(path: str) -> BrasEvaluator:
    """Load BRAS with the weights in the YAML file at `path`.

    Parameters
    ----------
    path
        A file with ``format`` and ``weights`` by feature, ``sigma``, or both.

    Raises
    ------
    PlayerError
        If `path` is empty.
    WeightFileError
        If the file cannot be read, has an unknown key or a number out of range.
    """
    if not path:
        raise PlayerError(f"{BRAS_PREFIX!r} must be followed by the path of a YAML file")
    return BrasEvaluator(read_formula(Path(path)), BRAS_PREFIX + path)


def read_formula(path: Path) -> BrasFormula:
    """Read a formula from a YAML file, see `load_bras`; omitted weights are the article's."""
    where = plain_text(str(path))
    text = text_of(path, WeightFileError, YAML_FILE, "no such file of BRAS weights")
    document = yaml_document(text, where, WeightFileError)
    document.mapping(("format", "sigma", "weights"), wanted="a mapping with format, sigma and weights")
    if document["format"].value != _FORMAT:
        document["format"].fail(f"must be {_FORMAT}")
    weights, sigma = document.get("weights", {}), document.get("sigma", SIGMA)
    weights.mapping(BRAS_SET.names)
    own = {name: _number(entry) for name, entry in weights.items()}
    if not _number(sigma) >= _MIN_SIGMA:
        sigma.fail(f"must be at least {_MIN_SIGMA:g}, not {sigma.value}")
    return BrasFormula({**ARTICLE_WEIGHTS, **own}, float(sigma.value))


def _number(entry: Entry) -> float:
    """Return the number of an entry, which must be below `_MAX_NUMBER` in magnitude."""
    if not abs(entry.number()) < _MAX_NUMBER:
        entry.fail(f"must be a number below {_MAX_NUMBER:g}, not {entry.value:g}")
    return float(entry.value)


def formula_of(name: str) -> BrasFormula:
    """Return the formula of the player called `name`, ``bras`` or ``bras:FILE``.

    Raises `PlayerError` for other names.
    """
    if name == NAME:
        return ARTICLE
    if name.startswith(BRAS_PREFIX):
        return load_bras(name.removeprefix(BRAS_PREFIX)).formula
    raise PlayerError(
        f"the player must be {NAME} or {BRAS_PREFIX}FILE.yaml, not {shown(name)}: only BRAS has a score S"
    )
