"""The fit of patterns: it finds what was planted, sees whole decisions, and gives the same bytes again."""

from dataclasses import replace

import numpy as np

from motif.board.packed import pack_many
from motif.evaluators.patterns import squash_patterns
from motif.evaluators.weight_file import Patterns
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


def error_of(rows: PatternRows, patterns: Patterns) -> float:
    sums = patterns.sums(rows.features, pack_many(rows.boards))
    values = EQUITY.predict(rows.raw + squash_patterns(sums) @ patterns.amounts)
    return float(np.sqrt(np.mean((values - rows.labels)[rows.which] ** 2)))


def test_a_planted_bend_is_found():
    rows, others = planted(), planted(seed=1)
    patterns, of_plans = fit_patterns(rows, PatternSettings(8, passes=150, ranking=1.0, rate=0.01))
    assert not of_plans
    before = float(np.sqrt(np.mean((EQUITY.predict(others.raw) - others.labels) ** 2)))
    assert error_of(others, patterns) < 0.2 * before
    assert (np.diff(np.abs(patterns.amounts)) <= 0).all()


def test_a_threshold_leaves_few_inputs():
    rows = planted()
    settings = PatternSettings(8, passes=150, ranking=1.0, threshold=0.2, rate=0.01)
    patterns = fit_patterns(rows, settings).patterns
    used = np.abs(patterns.inputs).max(axis=0)
    assert (patterns.points == 0).mean() > 0.6
    assert used[:2].min() > 3 * used[2:].max()


def test_the_same_rows_and_settings_give_the_same_bytes():
    first, second = (
        fit_patterns(planted(2000), PatternSettings(5, passes=2, ranking=1.0, seed=3)).patterns
        for _ in range(2)
    )
    for part in ("amounts", "bias", "inputs", "points"):
        assert getattr(first, part).tobytes() == getattr(second, part).tobytes()
    other = fit_patterns(planted(2000), PatternSettings(5, passes=2, ranking=1.0, seed=4)).patterns
    assert other.inputs.tobytes() != first.inputs.tobytes()


def in_two_plans(rows: PatternRows) -> PatternRows:
    """The same rows, in half of which the bend goes the other way."""
    plans = np.arange(len(rows.raw)) // 4 % 2 * 5
    values = np.arctanh(np.clip(rows.labels / 3, -0.999, 0.999))
    labels = EQUITY.predict(np.where(plans == 5, 2 * rows.raw - values, values)).astype(np.float32)
    return replace(rows, labels=labels, plans=plans)


def test_plans_weigh_a_planted_bend_in_their_own_ways():
    rows = in_two_plans(planted())
    settings = PatternSettings(8, passes=150, ranking=1.0, rate=0.01)
    patterns, of_plans = fit_patterns(rows, settings)
    assert list(of_plans) == [0, 5]
    together = fit_patterns(replace(rows, plans=None), settings).patterns
    for plan, amounts in of_plans.items():
        own = replace(rows, which=rows.which[rows.plans == plan])
        errors = [error_of(own, each) for each in (replace(patterns, amounts=amounts), together)]
        assert errors[0] < 0.3 * errors[1]


def test_a_fit_goes_on_from_where_another_one_ended():
    rows = in_two_plans(planted())
    first = fit_patterns(rows, PatternSettings(8, passes=40, ranking=1.0, rate=0.01))
    same = fit_patterns(rows, PatternSettings(8, passes=1, ranking=1.0, rate=0.0, start=first))
    for plan, amounts in first.plan_amounts.items():
        own = replace(rows, which=rows.which[rows.plans == plan])
        before = error_of(own, replace(first.patterns, amounts=amounts))
        assert abs(error_of(own, replace(same.patterns, amounts=same.plan_amounts[plan])) - before) < 1e-4
    more = fit_patterns(rows, PatternSettings(10, passes=1, ranking=1.0, rate=0.0, start=first))
    assert len(more.patterns.names) == 10
    assert np.count_nonzero(more.patterns.amounts) == 8
