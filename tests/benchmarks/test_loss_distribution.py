"""The distribution of losses, compared with counting them one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motif.benchmarks.losses import LIMITS, loss_distribution


def test_an_example_by_hand():
    losses = np.array([0, 0, 0.004, 0.005, 0.02, 0.03, 0.1, 0.25])
    listed = np.array([True, False, True, True, True, True, True, False])
    found = loss_distribution(losses, listed)
    assert found.best_found == 1 / 8
    assert found.at_most == {"0": 2 / 8, "5": 4 / 8, "20": 5 / 8, "50": 6 / 8, "100": 7 / 8}
    assert found.above == 1 / 8
    assert found.lost == pytest.approx([9 / 409, 20 / 409, 30 / 409, 100 / 409, 250 / 409])
    assert (found.median, found.largest) == (12.5, 250)
    assert [it.name for it in found.ranges] == [
        "0",
        "0 to 5",
        "5 to 20",
        "20 to 50",
        "50 to 100",
        "above 100",
    ]
    assert [it.decisions for it in found.ranges] == [2 / 8, 2 / 8, 1 / 8, 1 / 8, 1 / 8, 1 / 8]
    names = [
        "best_found",
        "at_most",
        "above_100",
        "lost",
        "median",
        "percentile_90",
        "percentile_99",
        "largest",
    ]
    assert list(found.to_dict()) == names


@given(st.lists(st.integers(0, 400), min_size=1, max_size=60))
def test_every_loss_is_counted_once(lost):
    losses = np.array([loss / 1000 for loss in lost])
    found = loss_distribution(losses, np.ones(len(lost), bool))
    for limit in LIMITS:
        assert found.at_most[str(limit)] == pytest.approx(sum(loss <= limit for loss in lost) / len(lost))
    assert found.above == pytest.approx(sum(loss > 100 for loss in lost) / len(lost))
    ranges = found.ranges
    assert sum(it.decisions for it in ranges) == pytest.approx(1)
    assert sum(it.lost for it in ranges) == pytest.approx(1 if any(lost) else 0)
    assert ranges[2].lost == pytest.approx(sum(loss for loss in lost if 5 < loss <= 20) / (sum(lost) or 1))
    assert found.largest == pytest.approx(max(lost))
    assert found.percentile_90 <= found.percentile_99 <= found.largest
    assert sum(loss <= found.median + 1e-9 for loss in lost) >= len(lost) / 2
