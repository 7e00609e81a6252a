"""Two players on the same decisions."""

import math
import statistics
from dataclasses import asdict, replace

import numpy as np
import pytest

from motif.benchmarks.choices import summary
from motif.benchmarks.losses import Losses, PairedRate, paired
from motif.runtime.errors import BenchmarkError

CONTACT, RACE = 0, 2
ONE = {"a": [0.0, 0.5, 0.25], "b": [0.125, 0.0]}
OTHER = {"a": [0.0, 0.25, 0.5], "b": [0.0, 0.5]}
CLASSES = {"a": [CONTACT, RACE, CONTACT], "b": [RACE, CONTACT]}


def losses(values: dict[str, list[float]]) -> list[Losses]:
    return [
        Losses(
            path,
            np.array(some),
            np.ones(len(some), bool),
            np.array(CLASSES[path], np.int8),
            np.arange(len(some)),
        )
        for path, some in values.items()
    ]


def by_hand(*differences: float) -> PairedRate:
    count = len(differences)
    error = 1000 * statistics.stdev(differences) / math.sqrt(count)
    return PairedRate(1000 * statistics.mean(differences), pytest.approx(error), count)


def test_differences_by_hand():
    found = paired(losses(ONE), losses(OTHER))
    assert found.files == {"a": by_hand(0, 0.25, -0.25), "b": by_hand(0.125, -0.5)}
    assert found.classes == {"contact": by_hand(0, -0.25, -0.5), "race": by_hand(0.25, 0.125)}
    assert found.overall == by_hand(0, 0.25, -0.25, 0.125, -0.5)


def test_a_difference_is_that_of_the_error_rates():
    one, other = losses(ONE), losses(OTHER)
    found, first, second = paired(one, other), summary(one), summary(other)
    assert found.overall.difference == pytest.approx(first.overall.er - second.overall.er)
    for name, rate in found.classes.items():
        assert rate.difference == pytest.approx(first.classes[name].er - second.classes[name].er)
    assert list(asdict(found)) == ["files", "classes", "overall"]


def test_a_player_compared_with_itself():
    assert paired(losses(ONE), losses(ONE)).overall == PairedRate(0, 0, 5)


def test_one_decision_has_no_error():
    alone = [Losses("a", np.array([0.5]), np.ones(1, bool), np.zeros(1, np.int8), np.zeros(1, int))]
    assert math.isnan(paired(alone, alone).overall.se)


def test_errors_are_those_of_games():
    """Decisions of one game share its luck; games of different files are different games."""
    together = [replace(part, games=np.zeros(len(part.losses), int)) for part in losses(ONE)]
    whole = summary(together)
    assert math.isnan(whole.files["a"].se)
    deviations = np.concatenate([ONE["a"], ONE["b"]]) - whole.overall.er / 1000
    assert whole.overall.se == pytest.approx(1000 * math.sqrt(2 * 2 * deviations[:3].sum() ** 2) / 5)
    others = [replace(part, games=np.zeros(len(part.losses), int)) for part in losses(OTHER)]
    assert paired(together, others).overall.se == pytest.approx(1000 * math.sqrt(2 * 2 * 0.225**2) / 5)


def test_no_file_at_all():
    with pytest.raises(BenchmarkError, match="at least one benchmark file is needed"):
        paired([], [])
