"""How many plays a move filter keeps, and what it loses."""

import numpy as np
import pytest

from motif.evaluators.model import MAX_KEPT
from motif.evaluators.weight_file import FilterUnits
from motif.learning.move_filter import ImitatingClass, imitate, imitating_filter
from motif.learning.rows import class_rows
from motif.sampling.sample import SampleSettings
from tests.evaluators.made_weights import made_weights
from tests.sampling.folders import made

STEPS = np.zeros((2, 25, 4), np.float32)
UNITS = FilterUnits(np.zeros(1, np.float32), STEPS[None], np.zeros(1, np.float32))


def losing(*millipoints: float, decisions: int) -> ImitatingClass:
    """A class in which 1, 2, ... kept plays lose so much per decision."""
    losses = np.zeros(MAX_KEPT)
    losses[: len(millipoints)] = np.array(millipoints) * decisions / 1000
    return ImitatingClass(STEPS, UNITS, losses, decisions)


@pytest.mark.parametrize(
    ("contact", "race", "kept"),
    [
        ([0.85], [0.8], 1),
        ([3, 2, 1.0, 0.9], [3, 2, 0.7, 0.6], 4),
        ([3, 1.3], [0, 0], 3),
        ([99] * 40, [99], 32),
    ],
)
def test_the_fewest_plays_that_lose_little_are_kept(contact, race, kept):
    classes = {
        "contact": losing(*contact[:MAX_KEPT], decisions=300),
        "race": losing(*race, decisions=100),
    }
    found = imitating_filter(classes)
    assert (found.kept, sorted(found.units)) == (kept, ["contact", "race"])


def test_losses_are_those_of_held_out_decisions(tmp_path):
    weights = made_weights("keith", hidden={"contact": 3})
    settings = SampleSettings(player="simple", games=40, trials=1, rate=0.3, cut=1, seed=1)
    folder = made(tmp_path / "samples", settings)
    with class_rows([folder], weights.parameters, 0.3, 1) as rows:
        contact = rows["contact"]
        first, again = (imitate(contact, weights, 3) for _ in range(2))
    assert first.decisions == len(contact) - contact.training
    assert first.losses.tobytes() == again.losses.tobytes()
    assert first.losses[0] > 0
    assert (np.diff(first.losses) <= 0).all()
    assert (first.losses >= 0).all()
