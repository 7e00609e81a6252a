"""Statistical tests of an evaluator's scores: properties that it claims, and how its scores are spread.

Two kinds.  A property is looked for on every position, and holds or does not: bounds, antisymmetry, that the
score falls where a position gets worse.  A hypothesis about the positions has a p-value: that raw sums are
normal, that their mean is 0, that classes do not differ.  Positions of one game resemble each other, so
p-values are somewhat too small; with thousands of positions a tiny difference is significant, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motif.analysis.evaluator_analysis import EvaluatorAnalysis, judgement
from motif.benchmarks.losses import rows_of_classes
from motif.board.packed import HOME, OWN_BAR, POINTS, Board
from motif.evaluators import StaticEvaluator
from motif.runtime.errors import PlayerError
from motif.runtime.parallel import one_thread

HOLDS, FAILS, KNOWN = "holds", "does not hold", "for information"
REJECTED, KEPT = "rejected", "not rejected"
"""Verdicts: on a property, on what is merely told, and on a hypothesis."""
LEVEL = 0.05
"""P-value below which a hypothesis is rejected."""

_EXACT = 1e-6
"""Relative error of float32: a difference below it is rounding."""
_PLAYED = 1e-4
"""Share of the value's range by which the compiled evaluator, in single precision, may differ."""
_FEWEST = 20
"""Positions that a test needs."""
_PERCENT = 100

Values = Callable[[Board], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class ScoreTest:
    """One test and what came of it."""

    name: str
    question: str
    found: str
    """In words and numbers."""
    verdict: str
    p: float | None = None
    """P-value; None for a property."""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON has of it."""
        return asdict(self)


def score_tests(analysis: EvaluatorAnalysis, evaluator: StaticEvaluator) -> list[ScoreTest]:
    """Test the scores that `evaluator` gives to the positions of `analysis`, which is an analysis of it."""
    weights = evaluator.weights
    if weights is None:
        raise PlayerError(f"the player {evaluator.name!r} has no weights to test")

    def values(boards: Board) -> npt.NDArray[np.float64]:
        raw = judgement(weights, analysis.head, boards, analysis.scale.raw_factor).raw
        return analysis.scale.values(raw)

    with one_thread():
        return [
            *_bounds(analysis),
            *_antisymmetry(analysis, values),
            *_played(analysis, evaluator),
            *_monotone(analysis, values),
            *_hypotheses(analysis),
        ]


def _verdict(holds: bool) -> str:
    return HOLDS if holds else FAILS


def _bounds(analysis: EvaluatorAnalysis) -> Iterator[ScoreTest]:
    features, scale = analysis.judged.features, analysis.scale
    sizes = np.abs(features).max(axis=0)
    beyond = int((np.abs(features) > 1 + _EXACT).sum())
    largest = analysis.parameters.names[int(sizes.argmax())]
    # BRAS's differences cannot leave -1 to 1; other sets scale by what is large, not by what is possible.
    claimed = scale.value == "S"
    yield ScoreTest(
        "bounds of features",
        "Does every feature lie within -1 and 1?",
        f"the largest is {largest}, {sizes.max():.3f}; {beyond:,} of {features.size:,} values lie beyond",
        _verdict(beyond == 0) if claimed or beyond == 0 else KNOWN,
    )
    low, high = float(analysis.values.min()), float(analysis.values.max())
    yield ScoreTest(
        f"bounds of {scale.named}",
        f"Does {scale.named} lie within {scale.low:g} and {scale.high:g}?",
        f"{scale.shown(low)} to {scale.shown(high)}",
        _verdict(scale.low <= low and high <= scale.high),
    )


def _antisymmetry(analysis: EvaluatorAnalysis, values: Values) -> Iterator[ScoreTest]:
    scale = analysis.scale
    if scale.value != "S" and analysis.head not in ("win", "equity"):
        # The other side of a chance to win a gammon is another head's.
        return
    switched = np.ascontiguousarray(-analysis.boards[:, ::-1])
    rest = analysis.values + values(switched) - (scale.low + scale.high)
    largest, unit = float(np.abs(rest).max()), f" {scale.unit}" if scale.unit else ""
    claimed = scale.value == "S"
    holds = largest <= _EXACT * (scale.high - scale.low)
    found = f"the sum is off by {largest:.2g}{unit} at most and by {rest.mean():+.2g}{unit} on average"
    if not claimed and not holds:
        found += ": half of the mean is what it is worth on average to be on roll"
    yield ScoreTest(
        "antisymmetry",
        f"Is the sum of {scale.named} before and after sides are switched always {scale.low + scale.high:g}?",
        found,
        _verdict(holds) if claimed or holds else KNOWN,
    )


def _played(analysis: EvaluatorAnalysis, evaluator: StaticEvaluator) -> Iterator[ScoreTest]:
    weights = evaluator.weights
    if analysis.head != "win" or weights is None or weights.calibration or weights.bearoff:
        # Calibrated probabilities and those of the tables are not functions of a raw sum.
        return
    chances = _PERCENT * evaluator.evaluate_many(analysis.boards)[:, 0].astype(np.float64)
    largest = float(np.abs(chances - analysis.values).max())
    yield ScoreTest(
        "the playing evaluator",
        f"Is {analysis.scale.named} the win chance that the evaluator plays by, in percent?",
        f"the largest difference is {largest:.2g}",
        _verdict(largest <= _PLAYED * (analysis.scale.high - analysis.scale.low)),
    )


def _monotone(analysis: EvaluatorAnalysis, values: Values) -> Iterator[ScoreTest]:
    """Where a position gets worse and stays legal, BRAS's score claims to fall.

    Others need not: a pip more can be worth having, to keep a prime for one roll longer.
    """
    scale = analysis.scale
    claimed = scale.value == "S"
    for name, what, make in (
        ("one pip more", "a checker moves back by one pip, both points still made", _moved_back),
        ("a blot is hit", "a blot of the player on roll goes to the bar", _hit),
    ):
        rows, worse = make(analysis.boards)
        if len(rows) < _FEWEST:
            continue
        change = values(worse) - analysis.values[rows]
        falls = change < 0
        yield ScoreTest(
            name,
            f"Does {scale.named} fall where {what}?",
            f"in {_PERCENT * falls.mean():.1f} % of {len(rows):,} positions; "
            f"by {-change.mean():.2f} on average",
            _verdict(bool(falls.all())) if claimed or falls.all() else KNOWN,
        )


def _moved_back(boards: Board) -> tuple[npt.NDArray[np.int64], Board]:
    """Rows with neighbouring made points, and their boards with a checker moved from the lower to the upper.

    Three to five checkers below and two to four above: no blot comes or goes, and no stack.
    """
    own = boards[:, 1 : POINTS + 1]
    # Within one part of the board (1 to 6, 7 to 18, 19 to 24), whose points may count differently.
    same_part = np.array([point % HOME != 0 for point in range(1, POINTS)])
    fits = (own[:, :-1] >= 3) & (own[:, :-1] <= 5) & (own[:, 1:] >= 2) & (own[:, 1:] <= 4) & same_part
    rows = np.flatnonzero(fits.any(axis=1))
    places = fits[rows].argmax(axis=1) + 1
    worse = boards[rows].copy()
    worse[np.arange(len(rows)), places] -= 1
    worse[np.arange(len(rows)), places + 1] += 1
    return rows, worse


def _hit(boards: Board) -> tuple[npt.NDArray[np.int64], Board]:
    """Rows with an own blot, and their boards with the one nearest to bearing off on the bar."""
    blots = boards[:, 1 : POINTS + 1] == 1
    rows = np.flatnonzero(blots.any(axis=1))
    places = blots[rows].argmax(axis=1) + 1
    worse = boards[rows].copy()
    every = np.arange(len(rows))
    worse[every, places] = 0
    worse[every, OWN_BAR] += 1
    return rows, worse


def _hypotheses(analysis: EvaluatorAnalysis) -> Iterator[ScoreTest]:
    # Imported where they are used: the statistics of SciPy take half a second.
    from scipy.stats import kruskal, normaltest

    raw, name = analysis.judged.raw, analysis.scale.raw
    if len(raw) < _FEWEST or np.ptp(raw) == 0:
        return
    skewness, kurtosis = moments(raw)
    statistic, p = (float(number) for number in normaltest(raw))
    yield _hypothesis(
        "normality",
        f"Is {name} normally distributed? (D'Agostino and Pearson)",
        f"skewness {skewness:+.2f}, excess kurtosis {kurtosis:+.2f}; K² = {statistic:,.1f}",
        p,
    )
    if analysis.scale.value == "S":
        yield _mean_of_zero(raw)
    groups = [raw[rows] for rows in rows_of_classes(analysis.judged.classes).values() if len(rows) >= _FEWEST]
    if len(groups) > 1:
        statistic, p = (float(number) for number in kruskal(*groups))
        yield _hypothesis(
            "classes",
            f"Is {name} spread alike in {len(groups)} classes? (Kruskal and Wallis)",
            f"H = {statistic:,.1f}",
            p,
        )


def _mean_of_zero(raw: npt.NDArray[np.float64]) -> ScoreTest:
    from scipy.stats import norm

    error = float(raw.std(ddof=1) / np.sqrt(len(raw)))
    z = float(raw.mean() / error)
    found = f"mean {raw.mean():+.3f}, standard error {error:.3f}; z = {z:+.1f}"
    return _hypothesis("a mean of 0", "Is D 0 on average?", found, float(2 * norm.sf(abs(z))))


def _hypothesis(name: str, question: str, found: str, p: float) -> ScoreTest:
    return ScoreTest(name, question, found, REJECTED if p < LEVEL else KEPT, p)


def moments(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Skewness and excess kurtosis, both 0 for a normal distribution."""
    from scipy.stats import kurtosis, skew

    return float(skew(values)), float(kurtosis(values))
