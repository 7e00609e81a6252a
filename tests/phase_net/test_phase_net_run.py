"""The phase network: its inputs, its training, and the files of a run."""

import json
import math
import warnings
from dataclasses import replace
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from motif.board.movegen import ROLLS
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.contests import play_money_games
from motif.evaluators.nets.net import Net, NetDescription, described
from motif.evaluators.nets.net_evaluators import MoverScoreEvaluator
from motif.evaluators.phase import phase_scores
from motif.parameters import parameter_set
from motif.parameters.named_sets import features
from motif.parameters.phase_set import PHASE_SET
from motif.phase_net import PhaseNetSettings, train_phase_net
from motif.phase_net.phase_classifier import PhaseNet, onnx_bytes, read_layers
from motif.phase_net.phase_run import (
    ALL_EPOCHS,
    SMALL_GAIN,
    ReplayBuffer,
    Samples,
    difference_to_heuristic,
    drawn_of_each_game,
    duel,
    evenly,
    heuristic_samples,
    learn_heuristic,
    played_boards,
    round_samples,
)
from motif.phase_net.phase_training import PhaseNetTraining
from motif.players import EvaluatorPlayer, load
from motif.runtime.errors import FileError, MotifError, PlayerError, SettingError
from motif.runtime.streams import derive_states
from tests.games import some_boards, some_decisions

TINY = PhaseNetSettings(
    games=20,
    boards=1000,
    epochs=3,
    rounds=3,
    round_games=60,
    buffer=100,
    round_epochs=2,
    test_games=60,
    final_games=60,
)


@pytest.fixture(scope="module")
def learnt():
    """A net that has learned the heuristic's scores from a few thousand boards."""
    settings = PhaseNetSettings(games=150, boards=10_000, epochs=12)
    samples, validation = heuristic_samples(settings, seed=1)
    net = PhaseNet(settings.batch, seed=2)
    epochs, _ = learn_heuristic(net, settings, samples, validation)
    return net, epochs


def as_player(net: PhaseNet) -> EvaluatorPlayer:
    return EvaluatorPlayer(MoverScoreEvaluator("net", Net(onnx_bytes(net, "net"), "net"), PHASE_SET))


def test_boards_of_a_game_follow_one_another_and_the_winner_bears_off_last():
    played = played_boards(load("best-of-four"), 2, seed=3)
    assert set(played.game) == {0, 1}
    for game in (0, 1):
        rows = np.flatnonzero(played.game == game)
        boards, won = played.boards[rows], played.won[rows]
        for before, after in zip((Position.start().board, *boards), boards, strict=False):
            position = Position(before)
            reached = (play.position.board for roll in ROLLS.tolist() for play in legal_plays(position, roll))
            assert any((board == after).all() for board in reached)
        # Only the last play is missing, and it wins.
        assert not won[-1]
        assert all(first != second for first, second in pairwise(won))


def test_the_same_seed_gives_the_same_games_and_the_first_ones_of_more():
    few, many = (played_boards(load("random"), games, seed=5) for games in (3, 9))
    first = many.game < 3
    assert (few.boards == many.boards[first]).all()
    assert (few.won == many.won[first]).all()
    assert (played_boards(load("random"), 3, seed=6).boards[:20] != few.boards[:20]).any()


@pytest.mark.parametrize(("count", "wanted"), [(10, 3), (1000, 7), (5, 5), (3, 9), (0, 4)])
def test_rows_taken_evenly(count, wanted):
    rows = evenly(count, wanted)
    assert len(rows) == len(set(rows)) == min(count, wanted)
    steps = np.diff(np.concatenate([[-1], rows, [count]]))
    assert (rows >= 0).all()
    assert (rows < count).all()
    assert steps[1:-1].max(initial=1) - steps[1:-1].min(initial=count) <= 1


def test_boards_are_drawn_from_every_game_alike():
    played = played_boards(load("random"), 40, seed=8)
    rows = drawn_of_each_game(played, 3, np.random.default_rng(1))
    assert len(set(rows)) == len(rows) == 120
    assert (np.bincount(played.game[rows]) == 3).all()
    everything = drawn_of_each_game(played, 10_000, np.random.default_rng(1))
    assert sorted(everything) == list(range(len(played.game)))


def test_what_the_net_is_shown():
    samples, validation = heuristic_samples(TINY, seed=4)
    assert (len(samples.targets), len(validation.targets)) == (900, 100)
    assert samples.inputs.shape == (900, 48)
    assert 0 <= min(samples.targets) < max(samples.targets) <= 1
    outcomes = round_samples(replace(TINY, round_games=400), seed=4)
    assert set(outcomes.targets) == {0, 1}
    # Each side makes half of the boards of a game, give or take one.
    assert outcomes.targets.mean() == pytest.approx(0.5, abs=4 * 0.5 / 400**0.5)


def test_the_buffer_keeps_the_newest_and_some_of_the_old():
    buffer = ReplayBuffer(100, seed=1)
    for age in range(12):
        rows = np.full((40, 48), age, np.float32)
        held = buffer.add(Samples(rows, rows[:, 0]))
        assert len(held.targets) == min(40 * (age + 1), 100)
        assert (held.inputs[:, 7] == held.targets).all()
        assert (held.targets == age).sum() == 40
    counts = np.bincount(held.targets.astype(int), minlength=12)
    assert counts[10] == pytest.approx(40 * 0.6, abs=12)
    assert counts[:10].sum() > 20
    many = np.arange(500, dtype=np.float32)
    drawn = buffer.add(Samples(np.tile(many[:, None], 48), many)).targets
    assert len(set(drawn)) == 100
    assert drawn.max() > 400 > 100 > drawn.min()


def test_a_net_taught_the_heuristic_plays_as_it_does(learnt):
    net, epochs = learnt
    boards = some_boards("best-of-four", 500, seed=9)
    errors = net.scores(features(PHASE_SET, boards)) - phase_scores(boards)
    assert np.abs(errors).max() < 0.1 * np.ptp(phase_scores(boards))
    assert epochs[-1].rmse_validation < epochs[0].rmse_validation / 3
    before, rolls = some_decisions("best-of-four", 400, seed=10)
    states = derive_states(0, 0, len(before), 0)
    chosen, best = (p.choose_many(before, rolls, states) for p in (as_player(net), load("phase")))
    lost = phase_scores(best) - phase_scores(chosen)
    assert (chosen == best).all(axis=1).mean() > 0.8
    assert lost.mean() < 0.002
    assert play_money_games(as_player(net), load("random"), 100, jobs=1).wins > 85


def test_the_onnx_file_scores_as_the_net_itself(learnt, tmp_path):
    net, _ = learnt
    boards = some_boards("random", 300, seed=11)
    (tmp_path / "net.onnx").write_bytes(onnx_bytes(net, "net"))
    player = load(f"onnx:{tmp_path / 'net.onnx'}")
    scores = net.scores(features(PHASE_SET, boards))
    assert player.evaluate_many(boards)[:, 0] == pytest.approx(np.clip(1 - scores, 0, 1), abs=1e-6)


def test_outcomes_that_depend_on_a_feature_are_learnt(learnt):
    """A planted case: the player who has borne off more checkers wins."""
    boards = some_boards("random", 4000, seed=12)
    inputs = features(PHASE_SET, boards)
    places = {name: k for k, name in enumerate(PHASE_SET.names)}
    ahead = sum(
        inputs[:, places[f"{phase}_borne_off"]] - inputs[:, places[f"{phase}_opponent_borne_off"]]
        for phase in ("early", "mid", "late")
    )
    clear = ahead != 0
    inputs, targets = inputs[clear], (ahead[clear] > 0).astype(np.float32)
    net = PhaseNet(50, seed=3)
    losses = list(net.train(inputs[:-300], targets[:-300], 20, 0.001))
    assert losses[-1] < losses[0] / 2
    assert ((net.scores(inputs[-300:]) > 0.5) == targets[-300:]).mean() > 0.93


def test_stage_1_ends_after_that_many_epochs_of_small_gain():
    settings = replace(TINY, epochs=20, patience=3, gain=1e9)
    samples, validation = heuristic_samples(settings, seed=1)
    for chosen, count, stopped in (
        (settings, 4, SMALL_GAIN),
        (replace(settings, gain=0.0, patience=21), 20, ALL_EPOCHS),
    ):
        epochs, why = learn_heuristic(PhaseNet(50, seed=1), chosen, samples, validation)
        assert (len(epochs), why) == (count, stopped)
        assert [epoch.epoch for epoch in epochs] == list(range(1, count + 1))


def test_restarted_training_forgets_the_steps_but_not_the_net():
    samples, _ = heuristic_samples(TINY, seed=7)
    net = PhaseNet(50, seed=1)
    first = list(net.train(*samples, 3, 0.001))
    again = list(net.train(*samples, 2, 1e-6))
    assert again[0] < first[-1]
    # Such small steps do not change the net.
    assert again[1] == pytest.approx(again[0], rel=0.1)


def test_ctrl_c_is_heard_while_a_net_is_trained(monkeypatch):
    samples, _ = heuristic_samples(TINY, seed=7)
    net = PhaseNet(50, seed=1)

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(net.regressor), "_backprop", interrupt)
    with warnings.catch_warnings():
        # scikit-learn's warning that it was interrupted is not an error here.
        warnings.simplefilter("default")
        with pytest.raises(KeyboardInterrupt):
            next(net.train(*samples, 1, 0.001))


def test_a_duel_counts_as_a_match_does():
    players = load("phase"), load("random")
    match = play_money_games(*players, 100, seed=4, jobs=1)
    counted = duel(*players, 100, seed=4, jobs=1)
    assert (counted.games, counted.wins) == (match.games, match.wins)
    assert (counted.ppg, counted.ppg_se) == (match.ppg, match.se)
    assert counted.win_share == match.wins / match.games
    itself = duel(players[0], load("phase"), 100, seed=4, jobs=1)
    # With the same dice for both, a player and its copy win one game of each pair.
    assert (itself.win_share, itself.win_share_se) == (0.5, 0)
    # One more pair, won by both, would change the share.
    won = duel(load("motif-v1"), load("random"), 60, seed=1, jobs=1)
    assert won.win_share == 1
    assert 0.01 < won.win_share_se < 0.05


def test_few_boards_are_one_batch():
    samples, _ = heuristic_samples(TINY, seed=7)
    few = [rows[:7] for rows in samples]
    net = PhaseNet(50, seed=1)
    assert all(map(math.isfinite, net.train(*few, 2, 0.001)))
    assert net.regressor.batch_size == 7
    list(net.train(*samples, 1, 0.001))
    assert net.regressor.batch_size == 50


class Run(NamedTuple):
    folder: Path
    training: PhaseNetTraining
    said: list[str]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """A whole run with one worker."""
    folder, said = tmp_path_factory.mktemp("run") / "one", []
    return Run(folder, train_phase_net(folder, TINY, jobs=1, tell=said.append), said)


def test_a_whole_run(run, tmp_path):
    folder, training, said = run
    again = train_phase_net(tmp_path, TINY, jobs=2)
    names = {"pretrained.onnx", "refined.onnx", "history.csv", "phase-net.json"}
    assert {path.name for path in folder.iterdir()} == names
    for name in names - {"phase-net.json"}:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes()
    summary = json.loads((folder / "phase-net.json").read_text())
    assert summary == training.to_dict()
    assert list(summary["matches"][0])[:4] == ["player", "opponent", "games", "wins"]
    assert summary["stage_2"]["rounds"][0]["versus_previous"]["games"] == TINY.test_games
    for name in ("settings", "stage_1", "stage_2", "matches", "difference_to_heuristic", "epochs"):
        assert getattr(again, name) == getattr(training, name)
    assert len(said) > 5
    assert [row.round for row in training.epochs] == [0] * 3 + [1, 1, 2, 2, 3, 3]
    rounds = training.stage_2.rounds
    assert [measured.boards for measured in rounds] == [60, 100, 100]
    wins = [measured.versus_heuristic.wins for measured in rounds]
    assert training.stage_2.chosen_round == 1 + wins.index(max(wins))
    pairs = [(games.player, games.opponent) for games in training.matches]
    assert pairs[-1] == ("refined", "pretrained")
    assert len(set(pairs)) == 7
    assert {opponent for _, opponent in pairs} == {"random", "phase", "simple", "pretrained"}


def test_the_refined_file_is_the_net_that_was_measured(run):
    refined = load(f"onnx:{run.folder / 'refined.onnx'}")
    reported = next(one for one in run.training.matches if (one.player, one.opponent) == ("refined", "phase"))
    again = duel(refined, load("phase"), TINY.final_games, seed=TINY.step_seed(5), jobs=1)
    assert reported.result == again


def test_a_run_that_is_stopped_leaves_nothing(tmp_path):
    def stop(line: str) -> None:
        if line.startswith("round 1"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_phase_net(tmp_path / "run", TINY, jobs=1, tell=stop)
    assert not (tmp_path / "run").exists()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("x")
    with pytest.raises(SettingError, match=r"run: the folder is not empty \(it contains mine\.txt\)"):
        train_phase_net(tmp_path / "run", TINY)
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="file: cannot be created"):
        train_phase_net(tmp_path / "file", TINY)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"games": 0}, "games must be at least 1, not 0"),
        ({"boards": 99}, "boards must be at least 100, not 99"),
        ({"batch": 4, "boards": 9}, "boards must be at least 10, not 9"),
        ({"buffer": 3}, "buffer must be at least 100, not 3"),
        ({"round_games": -1}, "round_games must be at least 1"),
        ({"final_games": 58}, "final_games must be at least 60"),
        ({"rounds": 100_000}, "rounds must be at most 9900"),
        ({"rate": 0.0}, "rate must be above 0"),
        ({"round_rate": float("nan")}, "round_rate must be above 0"),
        ({"gain": -1.0}, "gain must be at least 0"),
        ({"stage": "3"}, "stage must be both, 1 or 2, not '3'"),
        ({"stage": "2"}, "stage 2 alone requires start, a net to continue from"),
        ({"opponent": "simple,simple"}, "opponent must name different players, not 'simple,simple'"),
        ({"opponent": "simple,"}, "opponent must name different players"),
        ({"opponent": "simple,pubeval", "round_games": 3}, "round_games must be at least 4, not 3"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": 2**60}, "seed must be below"),
    ],
)
def test_settings_out_of_range(changed, message):
    with pytest.raises(SettingError, match=message):
        replace(TINY, **changed).check()


def test_opponents_share_the_games_and_begin_half_of_them():
    """Whether the boards after the first play are those of the same player, game by game."""
    simple, chance = load("simple"), load("random")
    played = played_boards(simple, 6, 5, chance)
    assert set(played.game) == set(range(6))
    by_simple = played_boards(simple, 6, 5)
    for game in range(6):
        first = played.boards[played.game == game][0]
        same = (first == by_simple.boards[by_simple.game == game][0]).all()
        assert same == (game % 2 == 0)
        # The board's maker and the winner differ: the two sides take turns.
        won = played.won[played.game == game]
        assert (won[1:] != won[:-1]).all()
    later = played_boards(simple, 2, 5, chance, first=4)
    assert (later.boards == played.boards[played.game >= 4]).all()


def test_samples_come_from_games_with_each_opponent():
    settings = replace(TINY, round_games=300, boards_a_game=2, opponent="random")
    samples = round_samples(settings, seed=4)
    assert len(samples.targets) == 600
    # Two boards of a game, from both sides equally often.
    assert samples.targets.mean() == pytest.approx(0.5, abs=4 * 0.5 / 600**0.5)
    both = replace(settings, opponent="random,best-of-four,composite:race=simple,contact=pubeval")
    assert both.opponents == ("random", "best-of-four", "composite:race=simple,contact=pubeval")
    assert len(round_samples(replace(both, round_games=301), seed=4).targets) == 602


def test_one_stage_after_the_other(run, tmp_path):
    first = train_phase_net(tmp_path / "1", replace(TINY, stage="1"), jobs=1)
    assert {path.name for path in (tmp_path / "1").iterdir()} == {
        *("pretrained.onnx", "history.csv", "phase-net.json"),
    }
    assert first.stage_2 is None
    start = str(tmp_path / "1" / "pretrained.onnx")
    assert (run.folder / "pretrained.onnx").read_bytes() == Path(start).read_bytes()
    second = train_phase_net(tmp_path / "2", replace(TINY, stage="2", start=start), jobs=1)
    assert second.stage_1 is None
    assert min(row.round for row in second.epochs) == 1
    assert not (tmp_path / "2" / "pretrained.onnx").exists()
    # The net starts from the end of stage 1.
    errors = [each.stage_2.rmse_validation_before for each in (run.training, second)]
    assert errors[0] == pytest.approx(errors[1], abs=1e-6)
    assert {games.player for games in second.matches} == {"start", "refined"}
    assert second.difference_to_heuristic.keys() == {"start", "refined"}


def test_the_net_that_wins_against_the_opponents_is_kept(tmp_path, learnt):
    net, _ = learnt
    (tmp_path / "net.onnx").write_bytes(onnx_bytes(net, "net"))
    start = str(tmp_path / "net.onnx")
    settings = replace(TINY, stage="2", start=start, opponent="simple,pubeval", round_rate=0.001)
    training = train_phase_net(tmp_path / "out", settings, jobs=1)
    rounds = training.stage_2.rounds
    wins = [sum(of.wins for of in each.versus_opponents.values()) for each in rounds]
    assert [each.versus_opponents.keys() for each in rounds] == [{"simple", "pubeval"}] * 3
    assert training.stage_2.chosen_round == 1 + wins.index(max(wins))
    opponents = [games.opponent for games in training.matches if games.player == "refined"]
    assert opponents == ["random", "phase", "simple", "pubeval", "start"]


def test_a_training_goes_on_from_the_file(learnt, tmp_path):
    net, _ = learnt
    path = tmp_path / "net.onnx"
    path.write_bytes(onnx_bytes(net, "net"))
    inputs = features(PHASE_SET, some_boards("random", 300, seed=5))
    for scaling in (True, False):
        again = PhaseNet(50, seed=9, start=read_layers(path), scaling=scaling)
        np.testing.assert_allclose(again.scores(inputs), net.scores(inputs), atol=1e-5)
        # The net is the same after a round trip, with or without scaling in training.
        (tmp_path / "again.onnx").write_bytes(onnx_bytes(again, "again"))
        for one, other in zip(read_layers(tmp_path / "again.onnx"), read_layers(path), strict=True):
            for ours, theirs in zip(one, other, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


def test_without_scaling_the_net_learns_from_plain_counts(tmp_path):
    settings = replace(TINY, scaling=False, stage="1", games=100, boards=5000, epochs=10)
    samples, validation = heuristic_samples(settings, seed=1)
    net = PhaseNet(50, seed=2, scaling=False)
    epochs, _ = learn_heuristic(net, settings, samples, validation)
    # The net learns, but far more slowly: this is the reason for scaling.
    assert 0.05 < epochs[-1].rmse_validation < 0.75 * epochs[0].rmse_validation
    # The file expects scaled inputs, like all players.
    boards = some_boards("random", 200, seed=3)
    scores = as_player(net).evaluator.evaluate_many(boards)[:, 0]
    np.testing.assert_allclose(scores, np.clip(1 - net.scores(features(PHASE_SET, boards)), 0, 1), atol=1e-4)


def test_the_difference_to_the_heuristic(learnt):
    net, _ = learnt
    _, validation = heuristic_samples(TINY, seed=4)
    found = difference_to_heuristic(net, validation)
    assert found.boards == 100
    expected = math.sqrt(found.mean**2 + found.variance)
    assert expected == pytest.approx(net.rmse(*validation), rel=1e-4)
    assert abs(found.mean) <= found.mean_size <= expected
    shifted = difference_to_heuristic(net, Samples(validation.inputs, validation.targets - 0.25))
    assert shifted.mean == pytest.approx(found.mean + 0.25, abs=1e-6)
    assert shifted.variance == pytest.approx(found.variance, abs=1e-7)


def test_files_that_no_training_goes_on_from(tmp_path, learnt):
    net, _ = learnt
    (tmp_path / "text.onnx").write_text("no net")
    other = described(onnx_bytes(net, "x"), NetDescription("x", "features", parameter_set("bras")))
    (tmp_path / "other.onnx").write_bytes(other)
    wildbg = resources.files("motif") / "data" / "wildbg" / "race.onnx"
    for path, message in (
        (tmp_path / "none.onnx", "none.onnx: no such net"),
        (tmp_path / "text.onnx", "text.onnx: not an ONNX net"),
        (tmp_path / "other.onnx", "other.onnx: not a net of the features of the set phase"),
        (Path(str(wildbg)), "race.onnx: not a net of the features of the set phase"),
    ):
        with pytest.raises(MotifError, match=message):
            train_phase_net(tmp_path / "out", replace(TINY, start=str(path)))
        assert not (tmp_path / "out").exists()
    with pytest.raises(PlayerError, match="no player is called 'nobody'"):
        train_phase_net(tmp_path / "out", replace(TINY, opponent="simple,nobody"))
