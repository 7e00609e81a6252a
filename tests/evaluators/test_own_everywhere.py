"""Your own evaluator is accepted wherever a built-in one is, and gives the same results."""

from dataclasses import replace

import numpy as np
import pytest

from motif.analysis.match.match_analysis import analyse_match
from motif.benchmarks.benchmark_files import BenchmarkFile
from motif.board.match_state import MatchState
from motif.board.moves import play_batches
from motif.board.position import Position
from motif.contests import play_matches, play_money_games, play_tournament
from motif.doubling.cubeful_rollout import roll_out_cube
from motif.evaluators import LookaheadEvaluator, load_static
from motif.evaluators.own import as_evaluator
from motif.library import cube, rank
from motif.players import load_player
from motif.rollouts import compare_plays, rollout
from motif.rollouts.rollout_evaluator import load_rollout
from motif.rollouts.rollout_settings import RolloutSettings
from motif.runtime.errors import MotifError, SettingError
from motif.sampling.dataset import read_dataset
from motif.sampling.sample import SampleSettings, sample
from tests.benchmarks.rates import error_rate
from tests.games import some_boards, some_decisions

START = "4HPwATDgc/ABMA"
NAME = "keith-v1"
BUILT_IN = load_static(NAME)
CUBE = "dPexAAB07zMAAA"


class Plain:
    """The built-in evaluator as a class that does not use motif."""

    def evaluate_many(self, boards):
        return BUILT_IN.evaluate_many(boards)


OWN = as_evaluator(Plain())
every_evaluator = pytest.mark.parametrize("evaluator", [BUILT_IN, OWN], ids=["built-in", "own"])


@every_evaluator
def test_values_and_plays(evaluator):
    boards, rolls = some_decisions("pubeval", 30, seed=1)
    rows = evaluator.evaluate_many(boards)
    assert rows.shape == (30, 5)
    assert ((rows >= 0) & (rows <= 1)).all()
    (plays,) = play_batches(boards, rolls)
    values = evaluator.play_equities(boards, plays)
    best = evaluator.best_plays(boards, rolls)
    np.testing.assert_allclose(best.equities, np.maximum.reduceat(values, plays.offsets[:-1]))
    np.testing.assert_allclose(values, -evaluator.equity_many(plays.boards), atol=1e-6)
    deeper = LookaheadEvaluator(evaluator, 1).evaluate_many(boards[:2])
    np.testing.assert_allclose(deeper, LookaheadEvaluator(BUILT_IN, 1).evaluate_many(boards[:2]), atol=1e-3)


@every_evaluator
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cut": 4},
        {"stratified": True},
        {"luck_plies": 2, "cut": 6},
        {"stop_at_race": True},
        {"scoring": "dmp"},
        {"stop_at_bearoff": True},
        {"se": 0.1, "trials": 648, "cut": 4},
    ],
    ids=str,
)
def test_rollouts(evaluator, changes):
    settings = RolloutSettings(**{"trials": 36, "seed": 3, "every_play": True, **changes})
    expected, result = (rollout(START, one, settings, jobs=1) for one in (BUILT_IN, evaluator))
    assert result.trials.tolist() == expected.trials.tolist()
    np.testing.assert_allclose(result.mean, expected.mean, atol=1e-3)


@every_evaluator
def test_compared_plays_and_cubes(evaluator):
    settings = RolloutSettings(36, cut=4, seed=1, every_play=True)
    for more in (settings, replace(settings, eliminate=True)):
        expected, compared = (
            compare_plays(Position.from_id(START), (3, 1), one, more, candidates=3, jobs=1)
            for one in (BUILT_IN, evaluator)
        )
        assert [play.play for play in compared.plays] == [play.play for play in expected.plays]
    state = MatchState()
    expected, rolled = (
        roll_out_cube(Position.from_id(CUBE), state, one, settings, jobs=1) for one in (BUILT_IN, evaluator)
    )
    np.testing.assert_allclose(rolled.mean, expected.mean, atol=0.03)
    assert rolled.action == expected.action


@every_evaluator
def test_questions(evaluator):
    expected, ranking = rank(START, "31", BUILT_IN), rank(START, "31", evaluator)
    assert [one.play for one in ranking] == [one.play for one in expected]
    for match in ({}, {"length": 5, "score": (2, 3)}):
        assert cube(CUBE, evaluator, **match).action == cube(CUBE, BUILT_IN, **match).action


@every_evaluator
def test_contests(evaluator):
    player = load_player(evaluator)
    expected, result = (play_money_games(one, "simple", 20, seed=1, jobs=1) for one in (BUILT_IN, player))
    assert result == expected
    assert play_money_games(player, "simple", 8, jobs=2) == play_money_games(BUILT_IN, "simple", 8, jobs=1)
    matches = [play_matches(one, "simple", 4, length=3, jobs=1) for one in (BUILT_IN, player)]
    assert matches[0].wins == matches[1].wins
    assert play_tournament([player, "simple", "random"], 4, jobs=1).names == (player.name, "simple", "random")


@every_evaluator
def test_benchmarks(evaluator):
    boards, rolls = some_decisions("pubeval", 20, seed=2)
    best = load_player(BUILT_IN).choose_many(boards, rolls, np.zeros(20, np.uint64))
    benchmark = BenchmarkFile("made", boards, rolls, np.arange(21), best, np.full(20, 0.1))
    rate = error_rate(load_player(evaluator), benchmark, jobs=1)
    assert rate.unlisted == 0


@every_evaluator
def test_a_match_is_analysed(evaluator, tmp_path):
    from motif.board.match_file import read_match
    from motif.cli.main import main

    path = tmp_path / "match.mat"
    assert main(["play", "pubeval", "random", "--length", "1", "--seed", "1", "--save", str(path)]) == 0
    expected, analysis = (analyse_match(read_match(path), one, jobs=1) for one in (BUILT_IN, evaluator))
    assert analysis.analyst == evaluator.name
    for one, other in zip(analysis.players, expected.players, strict=True):
        assert one.luck.total == pytest.approx(other.luck.total, rel=1e-3)


@every_evaluator
@pytest.mark.parametrize(
    "changes",
    [{}, {"candidates": 3, "rate": 0.5}, {"stratified": True, "trials": 36, "cut": 2}, {"noise": 0.2}],
    ids=str,
)
def test_samples(evaluator, changes, tmp_path):
    plan = {"games": 2, "trials": 2, "cut": 2, "player": NAME, "seed": 5, **changes}
    settings = SampleSettings(**plan)
    result = sample(settings, tmp_path / "a", player=evaluator, jobs=1)
    data = read_dataset(tmp_path / "a")
    assert len(data) == result.positions > 20
    assert np.isfinite(data.equity).all()
    assert ((data.probabilities >= -1e-6) & (data.probabilities <= 1 + 1e-6)).all()
    assert data.trials.tolist() == [settings.trials] * len(data)
    made = np.unique(data.decision)
    assert [int(data.chosen[data.decision == one].sum()) for one in made] == [1] * len(made)
    if settings.candidates:
        assert np.unique(data.decision, return_counts=True)[1].max() == settings.candidates
    sample(settings, tmp_path / "b", player=evaluator, jobs=2)
    again = read_dataset(tmp_path / "b")
    assert np.array_equal(again.boards, data.boards)
    assert np.array_equal(again.equity, data.equity)


def test_labels_by_an_own_evaluator(tmp_path):
    settings = SampleSettings(2, player="simple", label="Plain", rate=0.2)
    sample(settings, tmp_path, labeller=OWN, jobs=1)
    data = read_dataset(tmp_path)
    np.testing.assert_allclose(data.probabilities, BUILT_IN.evaluate_many(data.boards), atol=1e-6)


def test_rollouts_do_not_choose_plays_of_an_own_evaluator(tmp_path):
    with pytest.raises(SettingError, match="decide: Plain cannot choose plays by rollouts"):
        sample(SampleSettings(2, player="Plain", decide="rollout"), tmp_path, player=OWN)


def test_a_rollout_of_a_file_by_name(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import motif\nBASE = motif.load_static('keith-v1')\n\n\n"
        "class Mine:\n    def evaluate_many(self, boards):\n        return BASE.evaluate_many(boards)\n"
    )
    items = "trials=36,cut=2,every-play"
    boards = some_boards("pubeval", 3, seed=1)
    expected, rolled = (
        load_rollout(f"rollout:{name},{items}").evaluate_many(boards) for name in (NAME, path)
    )
    np.testing.assert_allclose(rolled, expected, atol=1e-3)


def test_what_cannot_go_to_workers_is_said():
    import threading

    class Locked(Plain):
        def __init__(self):
            self.lock = threading.Lock()

    with pytest.raises(
        MotifError, match=r"the work cannot be sent to other processes: TypeError: .*; use jobs=1"
    ):
        play_money_games(load_player(Locked()), "simple", 40, jobs=2)
