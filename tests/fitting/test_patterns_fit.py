"""The fit of patterns: it finds what was planted, sees whole decisions, and gives the same bytes again."""

import numpy as np

from motif.board.packed import pack_many
from motif.evaluators.patterns import squash_patterns
from motif.fitting.pattern_fit import PatternRows, PatternSettings, fit_patterns
from motif.fitting.problem import EQUITY
from tests.games import some_boards

SIZE = 6


def planted(count: int = 6000, seed: int = 0) -> PatternRows:
    """Rows whose labels have a bend where two features come together, which no line can follow."""
    random = np.random.default_rng(seed)
    features = random.random((count, SIZE)).astype(np.float32)
    raw = random.normal(0, 0.3, count).astype(np.float32)
    bend = 0.4 * squash_patterns(6 * features[:, 0] + 6 * features[:, 1] - 8)
    boards = some_boards("random", count, seed=1)
    return PatternRows(
        features,
        boards,
        np.arange(count),
        raw,
        EQUITY.predict(raw + bend).astype(np.float32),
        np.arange(count) // 4,
    )


def error(rows: PatternRows, patterns) -> float:
    sums = patterns.sums(rows.features, pack_many(rows.boards))
    values = EQUITY.predict(rows.raw + squash_patterns(sums) @ patterns.amounts)
    return float(np.sqrt(np.mean((values - rows.labels) ** 2)))


def test_a_planted_bend_is_found():
    rows, others = planted(), planted(seed=1)
    patterns = fit_patterns(rows, PatternSettings(8, passes=150, ranking=1.0, rate=0.01))
    before = float(np.sqrt(np.mean((EQUITY.predict(others.raw) - others.labels) ** 2)))
    assert error(others, patterns) < 0.2 * before
    assert (np.diff(np.abs(patterns.amounts)) <= 0).all()


def test_a_threshold_leaves_few_inputs():
    rows = planted()
    patterns = fit_patterns(rows, PatternSettings(8, passes=150, ranking=1.0, threshold=0.2, rate=0.01))
    used = np.abs(patterns.inputs).max(axis=0)
    assert (patterns.points == 0).mean() > 0.6
    assert used[:2].min() > 3 * used[2:].max()


def test_the_same_rows_and_settings_give_the_same_bytes():
    first, second = (
        fit_patterns(planted(2000), PatternSettings(5, passes=2, ranking=1.0, seed=3)) for _ in range(2)
    )
    for part in ("amounts", "bias", "inputs", "points"):
        assert getattr(first, part).tobytes() == getattr(second, part).tobytes()
    other = fit_patterns(planted(2000), PatternSettings(5, passes=2, ranking=1.0, seed=4))
    assert other.inputs.tobytes() != first.inputs.tobytes()
