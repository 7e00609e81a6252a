"""The cost of wrong cube decisions, on made-up rollouts, and the choice of positions."""

import numpy as np
import pytest

from motif.doubling.equities import efficiency_classes
from motif.evaluators import load_static
from motif.evaluators.probabilities import equities
from tools.cube_costs import KINDS, Decisions, Rolled, costs, near_doubles, rms_error

# Equities without a double and after a take: too early, a double, a pass, too good.
TRUTH = np.array([[0.3, 0.1], [0.6, 0.8], [0.9, 1.3], [1.2, 1.4]])


def decided(doubles: list[int], takes: list[int]) -> Decisions:
    return Decisions(np.array(doubles, bool), np.array(takes, bool), TRUTH)


def test_right_decisions_cost_nothing():
    right = decided([0, 1, 1, 0], [1, 1, 0, 0])
    assert costs(right, np.stack([TRUTH, TRUTH])).any() == np.False_


def test_the_cost_of_wrong_decisions():
    lost = costs(decided([1, 0, 0, 1], [0, 1, 1, 0]), np.stack([TRUTH, TRUTH]))
    expected = np.zeros((4, len(KINDS)))
    expected[0, 0], expected[1, 1], expected[2, 1], expected[3, 0] = 0.2, 0.2, 0.1, 0.2
    expected[0, 3], expected[2, 2] = 0.9, 0.3
    assert lost == pytest.approx(expected)


def test_chance_does_not_count_as_error():
    """Decisions that are ties cost nothing on average, however much the rollouts scatter."""
    random = np.random.default_rng(3)
    ties = np.tile([0.8, 0.8], (20_000, 1))
    rolled = ties + 0.3 * random.normal(size=(2, *ties.shape))
    doubles = random.random(len(ties)) < 0.5
    lost = costs(Decisions(doubles, np.ones(len(ties), bool), ties), rolled)
    assert lost[:, 0].mean() == pytest.approx(0, abs=0.01)
    assert rms_error(Decisions(doubles, doubles, ties), Rolled(rolled, np.full(rolled.shape, 0.3))) < 0.03


def test_positions_are_spread_over_the_range():
    evaluator = load_static("pubeval")
    boards = near_doubles(evaluator, 28, "contact")
    assert len(np.unique(boards, axis=0)) == len(boards) > 14
    assert not efficiency_classes(boards).any()
    values = equities(evaluator.evaluate_many(boards))
    assert 0.2 <= values.min() < 0.4 < 0.6 < values.max() <= 0.9
