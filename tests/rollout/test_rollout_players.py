"""Rollouts as evaluators and players, by name."""

import numpy as np
import pytest

from motif.benchmark import error_rate
from motif.benchmark.benchmark_files import BenchmarkFile
from motif.board.moves import legal_plays, play_batches
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.players import EvaluatorPlayer, load
from motif.players.match import play_match
from motif.rollout import RolloutEvaluator, RolloutSettings, load_rollout
from motif.rollout.rollout_evaluator import items_of
from motif.runtime.errors import PlayerError, SettingError, WeightFileError
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards
from tests.rollout.exact import single_trials

MADE = evaluator_of(made_weights("keith", pairs=12, seed=1))
FAST = "rollout:motif-v2,trials=4,cut=2"


def evaluator(candidates=0, **settings) -> RolloutEvaluator:
    return RolloutEvaluator("made up", MADE, RolloutSettings(**settings), candidates)


def items(boards) -> np.ndarray:
    return items_of(pack_many(np.asarray(boards)))


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return some_boards("pubeval", 6, seed=1)


def test_values_are_means_of_trials(boards):
    rolled = evaluator(trials=10, cut=3, seed=4)
    values = rolled.evaluate_many(boards)
    for board, item, value in zip(boards, items(boards), values, strict=True):
        trials = single_trials(board, item, 10, MADE.model, seed=4, cut=3)
        np.testing.assert_allclose(value, trials[:, :5].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(
        rolled.equity_many(boards), [v.equity for v in map(rolled.evaluate, map(Position, boards))], atol=1e-6
    )


def test_a_value_does_not_depend_on_the_company(boards):
    rolled = evaluator(trials=5, stratified=True)
    together = rolled.evaluate_many(boards)
    alone = np.concatenate([rolled.evaluate_many(board[None]) for board in boards])
    assert together.tobytes() == alone.tobytes()
    assert len(set(items(boards).tolist())) == len(boards)
    assert (items(boards) >= 0).all()


def test_plays_are_compared_with_the_dice_of_their_decision():
    rolled = evaluator(trials=12, cut=4)
    before = Position.start().board[None]
    batch = next(play_batches(before, np.array([[3, 1]])))
    found = rolled.play_equities(before, batch)
    (item,) = items(before)
    for play, equity in zip(legal_plays(Position.start(), (3, 1)), found, strict=True):
        assert equity == pytest.approx(
            -single_trials(play.position.board, item, 12, MADE.model, cut=4)[:, 5].mean()
        )


def test_only_candidates_are_rolled_out(boards):
    rolls = np.array([[3, 1], [6, 5], [2, 2], [4, 1], [5, 3], [6, 6]])
    batch = next(play_batches(boards, rolls))
    full = evaluator(trials=6, cut=2).play_equities(boards, batch)
    found = evaluator(3, trials=6, cut=2).play_equities(boards, batch)
    static = MADE.play_equities(boards, batch)
    for start, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        order = np.argsort(-static[start:end], kind="stable") + start
        chosen, others = order[:3], order[3:]
        assert found[chosen].tolist() == full[chosen].tolist()
        assert (found[others] == np.minimum(static[others], found[chosen].min())).all()


def test_chances_stay_chances_without_luck():
    position = Position.from_points({6: 1, 2: 1}, {3: 1, 2: 1})
    values = evaluator(trials=2, luck_plies=5).evaluate(position)
    assert all(0 <= value <= 1 for value in values)


def test_names():
    player = load("rollout:motif-v2,trials=72,cut=7,stratified,stop-at-bearoff,seed=3,candidates=4")
    assert isinstance(player, EvaluatorPlayer)
    rolled = player.evaluator
    assert rolled.settings == RolloutSettings(72, cut=7, stratified=True, stop_at_bearoff=True, seed=3)
    assert rolled.candidates == 4
    assert load_rollout("rollout:pubeval").settings == RolloutSettings(36)
    others = load_rollout("rollout:simple,stop-at-race,every-play,luck-plies=all,scoring=dmp").settings
    assert others == RolloutSettings(36, stop_at_race=True, every_play=True, luck_plies=3000, scoring="dmp")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rollout:", "a player is missing"),
        ("rollout:,cut=3", "a player is missing"),
        ("rollout:nobody", "no player is called 'nobody'"),
        ("rollout:pubeval@1", "looks ahead"),
        ("rollout:random", "cannot evaluate"),
        ("rollout:pubeval,", "'' is no option; there are trials=N, cut=N"),
        ("rollout:pubeval,fast", "'fast' is no option"),
        ("rollout:pubeval,trials=many", "'trials=many': a whole number is needed"),
        ("rollout:pubeval,trials=-1", "'trials=-1': a whole number is needed"),
        ("rollout:pubeval,trials=" + "9" * 5000, "a whole number is needed"),
        ("rollout:pubeval,trials=0", "trials must be at least 1, not 0"),
        ("rollout:pubeval,stratified=1", "'stratified=1' is no option"),
        ("rollout:pubeval,cut", "'cut' is no option"),
        ("rollout:pubeval,stop_at_race", "'stop_at_race' is no option"),
        ("rollout:pubeval,se=0.1", "'se=0.1' is no option"),
        ("rollout:pubeval,cut=3,cut=3", "'cut=3': given twice"),
        ("rollout:pubeval,scoring=chess", "scoring must be money"),
        ("rollout:pubeval,luck-plies=x", "'luck-plies=x': luck_plies must be"),
    ],
)
def test_a_bad_name_is_refused(name, said):
    with pytest.raises(PlayerError) as caught:
        load(name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_missing_weight_file_is_named():
    with pytest.raises(WeightFileError, match=r"none\.yaml"):
        load("rollout:none.yaml,trials=3")


def test_a_player_has_a_number_of_trials():
    with pytest.raises(SettingError, match="no se"):
        evaluator(se=0.01)
    with pytest.raises(SettingError, match="candidates must be at least 0"):
        evaluator(-1)


def test_matches_are_the_same_for_any_number_of_workers():
    players = load(f"{FAST},candidates=2,stop-at-bearoff"), load("simple")
    one, two = (play_match(*players, 4, seed=1, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert one.games == 4


def test_benchmarks_take_rollouts(boards):
    rolls = np.array([[3, 1], [6, 5], [2, 1], [4, 1], [5, 3], [6, 6]])
    player = load(f"{FAST},stratified")
    chosen = player.choose_many(boards, rolls, np.zeros(len(boards), np.uint64))
    benchmark = BenchmarkFile(
        "made", boards, rolls, np.arange(len(boards) + 1), chosen, np.full(len(boards), 0.25)
    )
    for jobs in (1, 2):
        rate = error_rate(player, benchmark, jobs=jobs)
        assert (rate.er, rate.unlisted) == (pytest.approx(250), 0)
