"""The fit of move filters with hidden units, to choices of a known filter."""

import numpy as np
import pytest

from motif.board.movegen import ROLLS
from motif.board.moves import play_batches
from motif.board.packed import pack_many
from motif.evaluators.weight_file import FilterUnits, FilterWeights
from motif.fitting.filter_fit import FilterDecisions, fit_filter
from tests.evaluators.made_weights import made_filter_units, random_steps
from tests.games import some_boards


def choices_of(planted: FilterWeights, boards: np.ndarray, seed: int) -> FilterDecisions:
    """The plays of random rolls, whose equities are the scores of a filter."""
    rolls = ROLLS[np.random.default_rng(seed).integers(0, len(ROLLS), len(boards))]
    (batch,) = play_batches(boards, rolls)
    packed = pack_many(batch.boards)
    return FilterDecisions(batch.offsets, packed, planted.scores("contact", packed))


def mean_loss(decisions: FilterDecisions, steps: np.ndarray, units: FilterUnits | None) -> float:
    """What is lost per decision if the play with the highest score is made."""
    fitted = FilterWeights(1, {"contact": steps}, {} if units is None else {"contact": units})
    scores, losses = fitted.scores("contact", decisions.packed), []
    for first, last in zip(decisions.starts, decisions.starts[1:], strict=False):
        here = decisions.equities[first:last]
        losses.append(here.max() - here[np.argmax(scores[first:last])])
    return float(np.mean(losses))


@pytest.fixture(scope="module")
def planted() -> FilterWeights:
    """A filter whose hidden units matter more than its point table, in units of an equity."""
    rng = np.random.default_rng(1)
    steps, units = random_steps(rng), made_filter_units(rng, 2)
    units = FilterUnits(units.bias, units.points, np.array([1.5, -1.5], np.float32))
    return FilterWeights(1, {"contact": np.float32(0.03) * steps}, {"contact": units})


@pytest.fixture(scope="module")
def decisions(planted) -> tuple[FilterDecisions, FilterDecisions]:
    boards = some_boards("simple", 2600, seed=2)
    return choices_of(planted, boards[:2000], 3), choices_of(planted, boards[2000:], 4)


def test_hidden_units_learn_what_a_point_table_cannot(planted, decisions):
    train, other = decisions
    steps, units = fit_filter(train, planted.steps["contact"], 5)
    with_table = mean_loss(other, planted.steps["contact"], None)
    assert mean_loss(other, planted.steps["contact"], planted.units["contact"]) == 0
    assert mean_loss(other, steps, units) < 0.3 * with_table


def test_the_same_seed_gives_the_same_filter(planted, decisions):
    few = FilterDecisions(decisions[0].starts[:101], *decisions[0][1:])
    first, again, other = (fit_filter(few, planted.steps["contact"], seed) for seed in (1, 1, 2))
    assert first[0].tobytes() == again[0].tobytes() != other[0].tobytes()
    for part in ("bias", "points", "outputs"):
        assert getattr(first[1], part).tobytes() == getattr(again[1], part).tobytes()


def test_decisions_without_a_choice_teach_nothing(planted, decisions):
    plays = decisions[0].packed[:50]
    single = FilterDecisions(np.arange(51), plays, np.zeros(50))
    steps, units = fit_filter(single, planted.steps["contact"], 1)
    np.testing.assert_allclose(steps, planted.steps["contact"], atol=1e-6)
    assert np.isfinite(units.outputs).all()
