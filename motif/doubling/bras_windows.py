"""Doubling windows of BRAS: the scores S from which to double and to drop.

For money play, the article considers a double from D = 0.5 (the early zone), calls a game live from S of
about 62 to 65, and drops from S of about 80. `window_in` recalibrates these limits on a `DoublingSet`, the
positions of a player's self-play games up to the first double of each game.  It fits the shares of doubles
and of passes as logistic functions of S, and returns the S at which each share is one half.
"""

from contextlib import suppress
from dataclasses import asdict, dataclass

import numpy as np

from motif.board.match_state import MatchState
from motif.board.packed import Board, pack_many
from motif.doubling.cube_states import cube_model_for
from motif.doubling.efficiency_fit import boards_of_self_play
from motif.doubling.equities import DOUBLE_PASS, efficiency_classes
from motif.evaluators import Evaluator
from motif.evaluators.bras import ARTICLE, BrasFormula
from motif.evaluators.cube_model import cube_pairs
from motif.evaluators.probabilities import WIN
from motif.parameters.position_class import RACE
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.errors import SettingError
from motif.runtime.frames import Row, Tabular
from motif.runtime.settings import check_count, check_seed

LIVE_FROM = (62.0, 65.0)
"""Range of S from which the article doubles."""
DROP_FROM = 80.0
"""S from which the article drops."""
EARLY_FROM = 0.5
"""D from which the article considers a double."""
RANGE = 0.5
"""Width of the ranges of D in the tables, as in the article."""

_STEPS = 100
_CONVERGED = 1e-9
_RESAMPLES = 200
_MIN_USABLE = 0.9
"""Minimum share of resamples in which the decisions change with the score."""
_UNCHANGED = "too few games: the decisions do not change with the score"
_TRIAL = 2**41
"""Trial number in the random streams of these games."""


@dataclass(frozen=True)
class ScoreWindow:
    """Scores S of the player on roll from which the decision is to double, and to drop."""

    double_from: float
    double_se: float
    drop_from: float
    drop_se: float
    positions: int
    games: int
    player: str
    """Name of the player that makes the decisions."""


MEASURED = ScoreWindow(69.7, 0.3, 75.5, 0.6, 50_625, 4_000, "motif-v22")
"""Result of `window_in` for motif-v22's doubling set (``motif cube-windows --games 4000 --seed 1``)."""


def score_action(score: float, double_from: float, drop_from: float) -> str:
    """Return the cube action at S = `score` in the window between `double_from` and `drop_from`."""
    if score < double_from:
        return "no double, take"
    return "double, take" if score < drop_from else "double, pass"


@dataclass(frozen=True, repr=False, eq=False)
class DoublingSet(Tabular):
    """Contact positions of a player's self-play games, each up to its first double.

    Every array is (n,), with one value per position for the player on roll.
    """

    formula: BrasFormula
    """The formula of the score."""
    player: str
    """Name of the player that plays the games and makes the decisions."""
    games: int
    game: IntArray
    """Index of each position's game."""
    raw: FloatArray
    """Raw scores D."""
    chances: FloatArray
    """Win probabilities according to the player."""
    doubles: BoolArray
    """Whether the player doubles, or is too good to double."""
    drops: BoolArray
    """Whether the opponent passes a double."""

    @property
    def scores(self) -> FloatArray:
        """Scores S."""
        return self.formula.squashed(self.raw)

    @property
    def early_from(self) -> float:
        """S at which the early zone begins."""
        return float(self.formula.squashed(EARLY_FROM))

    @property
    def early(self) -> dict[str, float]:
        """Where the early zone begins, and the shares of positions and doubles in it, for JSON."""
        early = self.raw >= EARLY_FROM
        return {
            "d_from": EARLY_FROM,
            "score_from": self.early_from,
            "share": float(early.mean()),
            "doubles": float(self.doubles[early].mean()) if early.any() else 0.0,
            "share_of_doubles": float(early[self.doubles].mean()) if self.doubles.any() else 0.0,
        }

    def ranges(self) -> "list[ScoreRange]":
        """Group the positions by ranges of D, `RANGE` wide, without empty ranges."""
        numbers = np.floor(self.raw / RANGE).astype(np.int64)
        columns = self.scores, self.chances, self.doubles, self.drops
        found = []
        for number in np.unique(numbers).tolist():
            here, low = numbers == number, number * RANGE
            means = (float(column[here].mean()) for column in columns)
            found.append(ScoreRange(low, low + RANGE, int(here.sum()), *means))
        return found

    def records(self) -> list[Row]:
        """Return a row for each of the `ranges`."""
        return [asdict(score_range) for score_range in self.ranges()]

    def to_dict(self) -> Row:
        """Return a dict for JSON: mean and SD of scores and win probabilities, early zone and ranges."""
        return {
            "score_mean": float(self.scores.mean() / 100),
            "score_sd": float(self.scores.std() / 100),
            "chance_mean": float(self.chances.mean()),
            "chance_sd": float(self.chances.std()),
            "early": self.early,
            "ranges": self.records(),
        }


@dataclass(frozen=True)
class ScoreRange:
    """Means of the positions in a range of D."""

    d_from: float
    d_to: float
    positions: int
    score: float
    """Mean score S."""
    chance: float
    """Mean win probability according to the player."""
    doubles: float
    """Share of positions in which the player doubles."""
    drops: float
    """Share of positions in which the opponent passes a double."""


def doubling_set(
    evaluator: Evaluator, games: int, *, formula: BrasFormula = ARTICLE, seed: int = 0
) -> DoublingSet:
    """Collect positions and cube decisions from money games of an evaluator against itself.

    See `motif.cube_windows`; raises `SettingError` if `games` is below 2 or `seed` is invalid.
    """
    check_seed(seed)
    check_count("games", games, 2)
    game, boards = _undoubled(evaluator, games, seed)
    contact = efficiency_classes(boards) < RACE
    game, boards = game[contact], boards[contact]
    chances = evaluator.evaluate_many(boards).astype(np.float64)
    doubles, drops = _decided(chances, boards)
    raw = formula.raw_scores(boards)
    return DoublingSet(formula, evaluator.name, games, game, raw, chances[:, WIN], doubles, drops)


def window_in(positions: DoublingSet, seed: int = 0) -> ScoreWindow:
    """Return the scores at which half of the decisions in `positions` are to double, and to drop.

    The standard errors are estimated from bootstrap samples of whole games, without the few in which the
    decisions do not change with the score.  Raises `SettingError` if these are more than a tenth, or if the
    decisions of all games do not change with the score.
    """
    scores = positions.scores
    double = _switch(scores, positions.doubles, positions.game, seed)
    drop = _switch(scores, positions.drops, positions.game, seed)
    return ScoreWindow(*double, *drop, len(scores), positions.games, positions.player)


def _undoubled(evaluator: Evaluator, games: int, seed: int) -> tuple[IntArray, Board]:
    """Return the games and boards of all positions up to the first double of each game, without the first."""
    undoubled = np.ones(games, np.bool_)
    parts = []
    for numbers, boards in boards_of_self_play(evaluator, games, seed, _TRIAL):
        waiting = undoubled[numbers]
        if waiting.any():
            parts.append((numbers[waiting], boards[waiting]))
            chances = evaluator.evaluate_many(boards[waiting]).astype(np.float64)
            undoubled[numbers[waiting][_decided(chances, boards[waiting])[0]]] = False
        if not undoubled.any():
            break
    numbers, boards = map(np.concatenate, zip(*parts, strict=True))
    return numbers, boards


def _decided(chances: FloatArray, boards: Board) -> tuple[BoolArray, BoolArray]:
    """Return whether to double (or play on, too good to double) and whether to pass, for each of `boards`."""
    held, taken = cube_pairs(cube_model_for(MatchState()), 0, pack_many(boards), chances).T
    return (np.minimum(taken, DOUBLE_PASS) >= held) | (held > DOUBLE_PASS), taken >= DOUBLE_PASS


def _switch(scores: FloatArray, decisions: BoolArray, games: IntArray, seed: int) -> tuple[float, float]:
    """Return the score at which half of the `decisions` are true, and its standard error over games."""
    random = np.random.default_rng(seed)
    _, group = np.unique(games, return_inverse=True)
    count = int(group.max()) + 1 if len(group) else 0
    half, draws = _half(scores, decisions, np.ones(len(scores))), []
    for _ in range(_RESAMPLES):
        weights = random.multinomial(count, np.full(count, 1 / count))[group].astype(float)
        with suppress(SettingError):
            draws.append(_half(scores, decisions, weights))
    if len(draws) < _MIN_USABLE * _RESAMPLES:
        message = f"only {len(draws)} of {_RESAMPLES} resamples have decisions that change with the score"
        raise SettingError(f"too few games for a standard error: {message}")
    return half, float(np.std(draws, ddof=1))


def _half(scores: FloatArray, decisions: BoolArray, weights: FloatArray) -> float:
    """Fit a logistic function to `decisions` by Newton's method; return the score at which it is one half.

    If a score separates all decisions, so that the fit diverges, return the middle of the gap.
    """
    present = weights > 0
    not_yet, already = scores[present & ~decisions], scores[present & decisions]
    if not len(not_yet) or not len(already):
        raise SettingError(_UNCHANGED)
    if not_yet.max() <= already.min():
        return float(not_yet.max() + already.min()) / 2
    if already.max() <= not_yet.min():
        return float(already.max() + not_yet.min()) / 2
    # Import here, because SciPy's special functions take a tenth of a second to import.
    from scipy.special import expit

    scale = (scores - 50) / 10
    offset, slope = 0.0, 1.0
    for _ in range(_STEPS):
        share = expit(offset + slope * scale)
        rest = weights * (decisions - share)
        spread = weights * share * (1 - share)
        gradient = np.array([rest.sum(), (rest * scale).sum()])
        mixed = (spread * scale).sum()
        step = np.linalg.solve([[spread.sum(), mixed], [mixed, (spread * scale**2).sum()]], gradient)
        step /= max(1.0, np.abs(step).max())
        offset, slope = offset + step[0], slope + step[1]
        if np.abs(step).max() < _CONVERGED:
            break
    return float(50 - 10 * offset / slope)
