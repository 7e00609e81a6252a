"""Stratified dice: how evenly first rolls occur, and whether the standard errors are right."""

from functools import partial

import numpy as np
import pytest

from motif.board.movegen import ROLL_COUNTS, ROLLS
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import LookaheadEvaluator
from motif.evaluators.model import Model, random_model
from motif.evaluators.probabilities import OUTPUTS, switch_sides
from motif.evaluators.static import prepared
from motif.players import CompiledPlayer
from motif.rollouts import RolloutSettings, rollout
from motif.rollouts.playout import CYCLE, ROUND, first_rolls, roll_trials
from motif.rollouts.tally import Tally
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.rollouts.exact import single_trials

MADE = evaluator_of(made_weights("keith", pairs=12, seed=1))
PAIR_COUNTS = np.outer(ROLL_COUNTS, ROLL_COUNTS)


def counted(numbers: np.ndarray) -> list[int]:
    return np.bincount(numbers, minlength=21).tolist()


def test_a_round_holds_each_first_roll_once_and_each_second_one():
    rolls = first_rolls(3, 17, 0, 2 * CYCLE)
    for start in range(0, len(rolls), ROUND):
        for which in (0, 1):
            assert counted(rolls[start : start + ROUND, which]) == ROLL_COUNTS.tolist()


def test_a_cycle_holds_each_pair_once():
    rolls = first_rolls(3, 17, 0, 2 * CYCLE)
    for cycle in (rolls[:CYCLE], rolls[CYCLE:]):
        pairs = np.zeros((21, 21), int)
        np.add.at(pairs, tuple(cycle.T), 1)
        assert (pairs == PAIR_COUNTS).all()


def test_each_item_seed_and_cycle_has_another_arrangement():
    dealt = [first_rolls(0, 0, 0, CYCLE), first_rolls(0, 0, CYCLE, CYCLE)]
    dealt += [first_rolls(0, 1, 0, CYCLE), first_rolls(1, 0, 0, CYCLE)]
    assert len({rolls.tobytes() for rolls in dealt}) == len(dealt)


def test_each_roll_is_as_likely_at_any_place():
    """This also holds within an incomplete round: over many items, the first trial has every roll."""
    for place in (0, 100):
        seen = np.array([first_rolls(0, item, place, 1)[0] for item in range(3600)])
        for which in (0, 1):
            expected = 100 * ROLL_COUNTS
            chi2 = ((np.bincount(seen[:, which], minlength=21) - expected) ** 2 / expected).sum()
            assert chi2 < 50  # 20 degrees of freedom: p = .0002


def test_trials_are_played_with_these_rolls():
    """Truncated after one ply, only the first roll matters: 36 trials cover all rolls exactly."""
    positions = [Position.start(), Position.from_points({8: 3, 6: 4, 3: 2}, {20: 2, 6: 5})]
    for trials in (ROUND, 3 * ROUND):
        settings = RolloutSettings(trials, cut=1, stratified=True, seed=5)
        result = rollout(positions, MADE, settings, jobs=1)
        exact = LookaheadEvaluator(MADE, 1, "full").evaluate_many(np.array([it.board for it in positions]))
        np.testing.assert_allclose(result.mean[:, :5], exact, atol=1e-6)
    # With enough trials to estimate the effect of the first roll, the error is exact.
    assert (result.se < 1e-9).all()


def test_two_plies_are_exact_after_a_cycle():
    result = rollout(Position.start(), MADE, RolloutSettings(CYCLE, cut=2, stratified=True), jobs=1)
    player = CompiledPlayer("made up", MADE.model)
    replies = [player.choose(Position.start(), tuple(roll)).position for roll in ROLLS.tolist()]
    values = LookaheadEvaluator(MADE, 1, "full").evaluate_many(np.array([reply.board for reply in replies]))
    exact = (switch_sides(values) * (ROLL_COUNTS / 36)[:, None]).sum(axis=0)
    np.testing.assert_allclose(result.probabilities(), exact, atol=1e-6)
    plain = rollout(Position.start(), MADE, RolloutSettings(CYCLE, cut=2), jobs=1)
    assert (plain.se > 1e-4).all()
    assert (result.se < 1e-9).all()


@pytest.mark.parametrize("model", [MADE.model, random_model()], ids=["weights", "random"])
@pytest.mark.parametrize("luck_plies", [0, 1, 2])
def test_stored_first_plies_change_no_trial(model: Model, luck_plies: int):
    """Trials rolled out together choose the plays of the first rolls once; separate trials choose again."""
    rules = {"stratified": True, "cut": 4, "luck_plies": luck_plies}
    boards = np.array([Position.start().board, Position.from_points({8: 3, 6: 4, 3: 2}, {20: 2, 6: 5}).board])
    together = np.zeros((len(boards), 3 * ROUND, len(OUTPUTS)))
    ready, space = prepared(model)
    items = np.array([7, 8])
    roll_trials(ready, RolloutSettings(**rules).rules(), pack_many(boards), items, 2, 0, space, together)
    for board, item, results in zip(boards, items, together, strict=True):
        alone = single_trials(board, item, 3 * ROUND, model, seed=2, **rules)
        np.testing.assert_array_equal(results, alone[:, : len(OUTPUTS)])


class Made:
    """Values of trials with effects of the first roll, the second, their interaction, and noise."""

    def __init__(self, seed: int, together: float) -> None:
        random = np.random.default_rng(seed)
        self.first, self.second = random.normal(0, 0.5, 21), random.normal(0, 0.5, 21)
        self.both = random.normal(0, together, (21, 21))
        self.spread = random.uniform(0.3, 0.9, (21, 21))

    def tally(self, item: int, trials: int) -> Tally:
        tally = Tally(2, lambda first, wanted: first_rolls(0, item, first, wanted))
        a, b = first_rolls(0, item, 0, trials).T
        noise = self.spread[a, b] * np.random.default_rng(item).normal(size=trials)
        values = self.first[a] + self.second[b] + self.both[a, b] + noise
        tally.add(np.column_stack([values, 1 - 2 * values]))
        return tally


@pytest.mark.parametrize("trials", [10, 36, 72, 100, 360, 1260, 1296, 1400])
@pytest.mark.parametrize("together", [0.0, 0.3])
def test_the_standard_error_matches_the_scatter(trials, together):
    made = Made(7, together)
    tallies = [made.tally(item, trials) for item in range(200)]
    scatter = np.std([tally.mean()[0] for tally in tallies], ddof=1)
    # Stated errors differ far less from each other than means.
    stated = np.sqrt(np.mean([tally.covariance()[0, 0] for tally in tallies[:50]]))
    random = np.sqrt(np.mean([tally_without(made, item, trials) for item in range(30)]))
    # The scatter itself has a standard error of one in 20.
    assert stated > scatter * (1 - 4 / 20)
    if together == 0 and trials % ROUND == 0 and trials != ROUND:
        assert stated == pytest.approx(scatter, rel=4 / 20)
    if trials >= 2 * ROUND:
        assert stated < 0.9 * random
    if trials >= CYCLE and trials % ROUND == 0:
        assert stated == pytest.approx(scatter, rel=4 / 20)


def test_the_standard_error_matches_the_scatter_where_only_doubles_go_on():
    """With most games cashed after one roll, all the variance is in the rolls that a round holds once."""
    goes_on, results, stated = np.equal(*ROLLS.T), [], []
    for item in range(600):
        first = first_rolls(0, item, 0, 2 * ROUND)
        ends = np.random.default_rng(item).choice([-1.0, 1.0], len(first))
        tally = Tally(1, partial(first_rolls, 0, item))
        tally.add(np.where(goes_on[first[:, 0]], ends, 1.0)[:, None])
        results.append(tally.mean()[0])
        stated.append(tally.covariance()[0, 0])
    assert np.sqrt(np.mean(stated)) == pytest.approx(np.std(results, ddof=1), rel=0.12)


def tally_without(made: Made, item: int, trials: int) -> float:
    """The variance of the mean with random dice."""
    tally = made.tally(item, trials)
    tally._rolls_of = None
    return tally.covariance()[0, 0]


def test_covariances_are_those_of_the_columns():
    """The second column is 1 minus twice the first, and the result does not depend on portions."""
    made = Made(3, 0.2)
    for trials in (100, 1500, 2700):
        covariance = made.tally(0, trials).covariance()
        np.testing.assert_allclose(covariance, covariance[0, 0] * np.array([[1, -2], [-2, 4]]), rtol=1e-9)


@pytest.mark.parametrize(
    "options", [{"cut": 3}, pytest.param({"cut": 3, "luck_plies": 1}, marks=pytest.mark.slow)]
)
def test_standard_errors_of_rollouts_match_the_scatter(options):
    """300 rollouts of one position with different dice scatter by their standard error."""
    boards = np.repeat(Position.start().board[None], 300, axis=0)
    result = rollout(boards, MADE, RolloutSettings(2 * ROUND, stratified=True, **options), jobs=1)
    ratio = result.mean.std(axis=0, ddof=1) / np.sqrt((result.se**2).mean(axis=0))
    assert (np.abs(ratio[[0, 5]] - 1) < 0.17).all()
    plain = rollout(boards[:100], MADE, RolloutSettings(2 * ROUND, **options), jobs=1)
    assert (result.se**2).mean(axis=0)[5] < 0.9 * (plain.se**2).mean(axis=0)[5]


@pytest.mark.slow
@pytest.mark.parametrize("trials", [360, 1296])
def test_standard_errors_of_longer_rollouts_match_the_scatter(trials):
    boards = np.repeat(Position.start().board[None], 1000, axis=0)
    result = rollout(boards, MADE, RolloutSettings(trials, stratified=True, cut=6), jobs=1)
    ratio = result.mean.std(axis=0, ddof=1) / np.sqrt((result.se**2).mean(axis=0))
    assert (np.abs(ratio[[0, 5]] - 1) < 0.09).all()
