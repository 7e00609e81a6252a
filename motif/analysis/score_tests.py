"""Statistical tests of an evaluator's scores: its properties and the distribution of its scores.

A property is checked on every position and holds or does not: bounds, antisymmetry, a lower score for a worse
position.  A hypothesis has a p-value: raw sums are normal, their mean is 0, classes do not differ.  Positions
of one game resemble each other, so p-values are too small: over games, the standard error of a mean was
1.6 times as large for bras and for motif-v1.  With thousands of positions, even a tiny
difference is significant.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np

from motif.analysis.evaluator_analysis import EvaluatorAnalysis, judgement
from motif.benchmarks.losses import rows_of_classes
from motif.board.packed import HOME, OWN_BAR, POINTS, Board
from motif.evaluators import StaticEvaluator
from motif.evaluators.static import weights_of
from motif.runtime.arrays import BoolArray, FloatArray, IntArray
from motif.runtime.layout import percent
from motif.runtime.parallel import one_thread

HOLDS, FAILS, FOR_INFORMATION = "holds", "does not hold", "for information"
REJECTED, KEPT = "rejected", "not rejected"
"""Verdicts on properties and on hypotheses."""
LEVEL = 0.05
"""P-value below which a hypothesis is rejected."""

_EXACT = 1e-6
"""Relative rounding error of float32."""
_PLAYED = 1e-4
"""Tolerance for the single-precision evaluator, as a share of the value's range."""
_MIN_ROWS = 20
"""Minimum number of positions of a test."""

ValuesOf = Callable[[Board], FloatArray]


@dataclass(frozen=True)
class ScoreTest:
    """One test and its result."""

    name: str
    question: str
    found: str
    """The result in words."""
    verdict: str
    p: float | None = None
    """P-value; None for a property."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON record."""
        return asdict(self)


def score_tests(analysis: EvaluatorAnalysis, evaluator: StaticEvaluator) -> list[ScoreTest]:
    """Test the scores of `evaluator` on the positions of `analysis`, its own analysis."""
    weights = weights_of(evaluator)

    def values(boards: Board) -> FloatArray:
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


def _verdict(holds: bool, claimed: bool = True) -> str:
    return HOLDS if holds else FAILS if claimed else FOR_INFORMATION


def _bounds(analysis: EvaluatorAnalysis) -> Iterator[ScoreTest]:
    features, scale = analysis.judged.features, analysis.scale
    sizes = np.abs(features).max(axis=0)
    beyond = int((np.abs(features) > 1 + _EXACT).sum())
    largest = analysis.parameters.names[int(sizes.argmax())]
    # BRAS's differences are bounded by 1; other sets scale by large rather than maximum values.
    claimed = scale.value == "S"
    yield ScoreTest(
        "bounds of features",
        "Is every feature between -1 and 1?",
        f"the largest is {largest}, {sizes.max():.3f}; {beyond:,} of {features.size:,} values are outside",
        _verdict(beyond == 0, claimed),
    )
    low, high = float(analysis.values.min()), float(analysis.values.max())
    yield ScoreTest(
        f"bounds of {scale.named}",
        f"Is {scale.named} between {scale.low:g} and {scale.high:g}?",
        f"{scale.shown(low)} to {scale.shown(high)}",
        _verdict(scale.low <= low and high <= scale.high),
    )


def _antisymmetry(analysis: EvaluatorAnalysis, values: ValuesOf) -> Iterator[ScoreTest]:
    scale = analysis.scale
    if scale.value != "S" and analysis.head not in ("win", "equity"):
        # The opponent's gammon probability belongs to another head.
        return
    switched = np.ascontiguousarray(-analysis.boards[:, ::-1])
    rest = analysis.values + values(switched) - (scale.low + scale.high)
    largest, unit = float(np.abs(rest).max()), f" {scale.unit}" if scale.unit else ""
    claimed = scale.value == "S"
    holds = largest <= _EXACT * (scale.high - scale.low)
    found = f"the sum is off by {largest:.2g}{unit} at most and by {rest.mean():+.2g}{unit} on average"
    if not claimed and not holds:
        found += "; half of the mean is the average value of being on roll"
    yield ScoreTest(
        "antisymmetry",
        f"Do {scale.named} before and after switching sides always add up to {scale.low + scale.high:g}?",
        found,
        _verdict(holds, claimed),
    )


def _played(analysis: EvaluatorAnalysis, evaluator: StaticEvaluator) -> Iterator[ScoreTest]:
    weights = evaluator.weights
    if analysis.head != "win" or weights is None or weights.calibration or weights.bearoff:
        # Calibrated and table probabilities are not functions of a raw sum.
        return
    chances = 100 * evaluator.evaluate_many(analysis.boards)[:, 0].astype(np.float64)
    largest = float(np.abs(chances - analysis.values).max())
    yield ScoreTest(
        "the playing evaluator",
        f"Does {analysis.scale.named} equal the win probability used in play, in per cent?",
        f"the largest difference is {largest:.2g}",
        _verdict(largest <= _PLAYED * (analysis.scale.high - analysis.scale.low)),
    )


def _monotone(analysis: EvaluatorAnalysis, values: ValuesOf) -> Iterator[ScoreTest]:
    """Test whether the score falls if a position gets worse, as BRAS claims.

    Other evaluators make no such claim: one more pip can help to keep a prime for another roll.
    """
    scale = analysis.scale
    claimed = scale.value == "S"
    for name, what, make in (
        ("one pip more", "a checker moves back one pip and both points stay made", _moved_back),
        ("a blot is hit", "a blot of the player on roll is hit", _hit),
    ):
        rows, worse = make(analysis.boards)
        if len(rows) < _MIN_ROWS:
            continue
        change = values(worse) - analysis.values[rows]
        falls = change < 0
        yield ScoreTest(
            name,
            f"Does {scale.named} fall if {what}?",
            f"in {percent(falls.mean())} of {len(rows):,} positions; by {-change.mean():.2f} on average",
            _verdict(bool(falls.all()), claimed),
        )


def _moved_back(boards: Board) -> tuple[IntArray, Board]:
    """Return rows with adjacent made points, and boards with a checker moved to the higher point.

    With three to five checkers on the lower point and two to four on the higher one, no blot or stack
    changes.
    """
    own = boards[:, 1 : POINTS + 1]
    # Only within points 1 to 6, 7 to 18 or 19 to 24, which may be weighted differently.
    same_part = np.array([point % HOME != 0 for point in range(1, POINTS)])
    fits = (own[:, :-1] >= 3) & (own[:, :-1] <= 5) & (own[:, 1:] >= 2) & (own[:, 1:] <= 4) & same_part
    return _moved(boards, fits, lambda places: places + 1)


def _hit(boards: Board) -> tuple[IntArray, Board]:
    """Return rows with an own blot, and boards with the foremost one on the bar."""
    return _moved(boards, boards[:, 1 : POINTS + 1] == 1, lambda places: np.full_like(places, OWN_BAR))


def _moved(boards: Board, fits: BoolArray, target: Callable[[IntArray], IntArray]) -> tuple[IntArray, Board]:
    """Return rows with a point that `fits` (n, p), and boards with a checker moved from the first one."""
    rows = np.flatnonzero(fits.any(axis=1))
    every, places = np.arange(len(rows)), fits[rows].argmax(axis=1) + 1
    worse = boards[rows].copy()
    worse[every, places] -= 1
    worse[every, target(places)] += 1
    return rows, worse


def _hypotheses(analysis: EvaluatorAnalysis) -> Iterator[ScoreTest]:
    # A slow import.
    from scipy.stats import kruskal, normaltest

    raw, name = analysis.judged.raw, analysis.scale.raw
    if len(raw) < _MIN_ROWS or np.ptp(raw) == 0:
        return
    skewness, kurtosis = moments(raw)
    statistic, p = (float(number) for number in normaltest(raw))
    yield _hypothesis(
        "normality",
        f"Is {name} normally distributed? (D'Agostino and Pearson)",
        f"skewness {skewness:+z.2f}, excess kurtosis {kurtosis:+z.2f}; K² = {statistic:,.1f}",
        p,
    )
    if analysis.scale.value == "S":
        yield _mean_of_zero(raw)
    groups = [
        raw[rows] for rows in rows_of_classes(analysis.judged.classes).values() if len(rows) >= _MIN_ROWS
    ]
    if len(groups) > 1:
        statistic, p = (float(number) for number in kruskal(*groups))
        yield _hypothesis(
            "classes",
            f"Does {name} have the same distribution in all {len(groups)} classes? (Kruskal and Wallis)",
            f"H = {statistic:,.1f}",
            p,
        )


def _mean_of_zero(raw: FloatArray) -> ScoreTest:
    from scipy.stats import norm

    error = float(raw.std(ddof=1) / np.sqrt(len(raw)))
    z = float(raw.mean() / error)
    found = f"mean {raw.mean():+z.3f}, standard error {error:.3f}; z = {z:+z.1f}"
    return _hypothesis("a mean of 0", "Is D 0 on average?", found, float(2 * norm.sf(abs(z))))


def _hypothesis(name: str, question: str, found: str, p: float) -> ScoreTest:
    return ScoreTest(name, question, found, REJECTED if p < LEVEL else KEPT, p)


def moments(values: FloatArray) -> tuple[float, float]:
    """Return skewness and excess kurtosis; both are 0 for a normal distribution."""
    from scipy.stats import kurtosis, skew

    return float(skew(values)), float(kurtosis(values))
