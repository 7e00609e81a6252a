"""Seeds: one check wherever the library takes one."""

import numpy as np
import pytest

from motif.benchmarks.benchmark_files import BenchmarkFile
from motif.board.position import Position
from motif.contests import play_money_games
from motif.evaluators import load_static
from motif.learning.fit_settings import FitSettings
from motif.players import load
from motif.rollouts import RolloutSettings, rollout
from motif.runtime.errors import SettingError
from motif.runtime.settings import SEED_LIMIT, check_seed
from motif.sampling.sample import SampleSettings
from tests.benchmarks.rates import error_rate

START = Position.start()
ONE_DECISION = BenchmarkFile(
    "made up", START.board[None], np.array([[3, 1]]), np.array([0, 1]), START.board[None], np.zeros(1)
)
USES = {
    "check_seed": check_seed,
    "choose": lambda seed: load("random").choose(START, (3, 1), seed=seed),
    "play_money_games": lambda seed: play_money_games(load("random"), load("random"), 2, seed=seed, jobs=1),
    "error_rate": lambda seed: error_rate(load("random"), ONE_DECISION, seed=seed, jobs=1),
    "rollout": lambda seed: rollout(
        START, load_static("simple"), RolloutSettings(1, cut=1, seed=seed), jobs=1
    ),
    "sample": lambda seed: SampleSettings(1, 1, player="simple", seed=seed).check(),
    "fit": lambda seed: FitSettings(seed=seed).check(),
}
BAD = [
    (-1, "seed must be at least 0, not -1"),
    (SEED_LIMIT, "seed must be below 2**63, not 9223372036854775808"),
    (2**64, "seed must be below 2**63, not 18446744073709551616"),
    (10**5000, "seed must be below 2**63, not a number of 16610 bits"),
    (1.0, "seed must be a whole number, not 1.0"),
    (None, "seed must be a whole number, not None"),
    ("7", "seed must be a whole number, not '7'"),
]


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize(("seed", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_seeds(use, seed, message):
    with pytest.raises(SettingError) as caught:
        use(seed)
    assert str(caught.value) == message


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("seed", [0, SEED_LIMIT - 1, np.int64(7), np.uint64(7)])
def test_good_seeds(use, seed):
    use(seed)
