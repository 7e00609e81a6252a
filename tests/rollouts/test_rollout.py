"""Rollouts, compared with exact values, and the same for any number of workers."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest

import motif
from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import OUTPUTS, LookaheadEvaluator, Probabilities, StaticEvaluator, load_static
from motif.evaluators.model import table_model
from motif.evaluators.probabilities import HEADS
from motif.evaluators.static import filtered
from motif.parameters.position_class import position_class
from motif.players import CompiledPlayer
from motif.rollouts import RolloutResult, RolloutSettings, rollout
from motif.rollouts.tally import mean_and_error, p_value
from motif.rollouts.trials import TRIALS_A_CHECK, by_name
from motif.runtime.errors import PositionError, SettingError
from motif.runtime.progress import heard_by
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards
from tests.rollouts.exact import exact_chances, single_trials
from tests.runtime.test_streams import rolls_of

ALL_ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
PUBEVAL = load_static("pubeval")
MADE = evaluator_of(made_weights("keith", pairs=12, seed=1))


def rolled(position, evaluator=PUBEVAL, *, jobs=1, **settings) -> RolloutResult:
    return rollout(position, evaluator, RolloutSettings(**settings), jobs=jobs)


def test_progress_counts_trials():
    heard = []
    for settings in ({"trials": 3000}, {"trials": 100_000, "se": 0.05}):
        with heard_by(lambda what, done, total: heard.append((done, total))):
            rolled(Position.start(), cut=2, **settings)
        assert heard[-1] == (settings["trials"], settings["trials"])
        assert [done for done, _ in heard] == sorted(done for done, _ in heard)
        heard.clear()


def test_progress_moves_while_trials_with_lookahead_are_played():
    heard = []
    with heard_by(lambda what, done, total: heard.append((done, total))):
        rolled(Position.start(), LookaheadEvaluator(PUBEVAL, 1), trials=80, cut=1)
    assert heard == [(0, 80), (36, 80), (72, 80), (80, 80)]


# Name, own checkers, the opponent's in the opponent's numbering, and the five probabilities.
CERTAIN: list[tuple[str, dict[int, int], dict[int, int], list[int]]] = [
    ("the player on roll wins", {1: 1}, {1: 1}, [1, 0, 0, 0, 0]),
    ("two off with any roll", {1: 2}, {1: 2}, [1, 0, 0, 0, 0]),
    ("a gammon with any roll", {1: 2}, {6: 15}, [1, 1, 0, 0, 0]),
    ("a backgammon with any roll", {1: 2}, {25: 1, 6: 14}, [1, 1, 1, 0, 0]),
    ("a backgammon: one is still in my home", {2: 1}, {24: 1, 6: 14}, [1, 1, 1, 0, 0]),
]


@pytest.mark.parametrize(
    ("own", "opponent", "chances"), [pytest.param(*row[1:], id=row[0]) for row in CERTAIN]
)
def test_certain_wins(own, opponent, chances):
    result = rolled(Position.from_points(own, opponent), trials=100)
    assert result.mean[0].tolist() == [*chances, Probabilities(*chances).equity]
    assert result.se[0].tolist() == [0] * 6
    assert result.probabilities() == Probabilities(*chances)
    assert result.equity() == Probabilities(*chances).equity


def test_a_certain_loss():
    result = rolled(Position.from_points({6: 8}, {1: 1}), trials=100)
    assert result.mean[0].tolist() == [0, 0, 0, 0, 0, -1]
    result = rolled(Position.from_points({7: 15}, {1: 1}), trials=100)
    assert result.mean[0].tolist() == [0, 0, 0, 1, 0, -2]


@pytest.mark.parametrize(
    "finished", [Position.from_points({}, {25: 1, 6: 14}), Position.from_points({3: 2}, {})]
)
def test_a_finished_game_is_its_result(finished):
    assert rolled(finished, trials=10).equity() == outcome(finished)
    assert rolled(finished, trials=10, cut=1, stop_at_race=True).equity() == outcome(finished)


def test_two_checkers_against_one_on_the_ace_point():
    """The player on roll wins only if the roll bears both checkers off."""
    position = Position.from_points({6: 1, 5: 1}, {1: 1})
    winning = sum(
        (1 if roll[0] == roll[1] else 2)
        for roll in ALL_ROLLS
        if any(outcome(play.position) for play in legal_plays(position, roll))
    )
    assert winning == 6  # 65, 66, 55, 44, 33
    result = rolled(position, trials=3000)
    assert result.mean[0, 0] == pytest.approx(winning / 36, abs=4 * result.se[0, 0])
    assert result.se[0, 0] == pytest.approx(np.sqrt(winning / 36 * (1 - winning / 36) / 3000), rel=0.1)


ENDINGS = [
    Position.from_points({6: 1, 2: 1}, {3: 1, 2: 1}),
    Position.from_points({5: 2, 3: 1}, {4: 2, 1: 1}),
    Position.from_points({4: 1, 1: 2}, {13: 3, 1: 12}),  # a gammon is possible
]


@pytest.mark.parametrize("evaluator", [PUBEVAL, MADE], ids=["pubeval", "weights"])
def test_small_endings(evaluator):
    player = CompiledPlayer("both sides", evaluator.model)
    result = rolled(ENDINGS, evaluator, trials=3000, seed=4)
    for k, position in enumerate(ENDINGS):
        expected = exact_chances(player, position)
        assert (np.abs(result.mean[k, :5] - expected) <= 4 * result.se[k, :5] + 1e-12).all()
        assert (0 < expected[0] < 1) == (0 < result.mean[k, 0] < 1)


def test_mean_and_error_are_those_of_the_trials():
    board = Position.start().board
    results = single_trials(board, 0, 60, PUBEVAL.model, seed=9)
    assert np.unique(results[:, 5]).tolist() == sorted({-3, -2, -1, 1, 2, 3} & set(results[:, 5]))
    found = rolled(Position.start(), trials=60, seed=9)
    np.testing.assert_allclose(found.mean[0], results.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.se[0], results.std(axis=0, ddof=1) / np.sqrt(60), atol=1e-12)
    assert found.trials.tolist() == [60]
    np.testing.assert_allclose(found.sd, found.se * np.sqrt(60))
    assert found.seconds >= 0
    assert found.mean.shape == found.se.shape == (1, len(HEADS)) == (1, 6)


def test_the_error_formula():
    values = np.random.default_rng(1).normal(0.3, 2.0, (50, 4))
    mean, se = mean_and_error(values.sum(axis=0), (values**2).sum(axis=0), 50)
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(se, values.std(axis=0, ddof=1) / np.sqrt(50))
    # Rounding must not lead to the root of a negative number.
    third = np.full(3, 0.1)
    mean, se = mean_and_error(np.array([third.sum()]), np.array([(third**2).sum()]), 3)
    assert se[0] == pytest.approx(0, abs=1e-8)


def test_p_value_of_a_difference():
    assert p_value(0.0, 0.1) == 1
    assert p_value(-0.196, 0.1) == p_value(0.196, 0.1) == pytest.approx(0.05, abs=1e-3)
    # The 97.5 % points of Student's t with 1 and 9 degrees of freedom, from tables.
    assert p_value(12.706, 1.0, 2) == pytest.approx(0.05, abs=1e-5)
    assert p_value(2.262, 1.0, 10) == pytest.approx(0.05, abs=1e-4)
    # Without a variance, the sign test: two equal results prove little, 36 a lot.
    assert (p_value(0.0, 0.0, 2), p_value(0.1, 0.0, 2), p_value(-0.1, 0.0, 36)) == (1, 0.5, 2.0**-35)
    assert np.isnan(p_value(0.1, np.nan, 1))


def test_a_single_trial_has_no_error():
    result = rolled(Position.start(), trials=1)
    assert np.isnan(result.se).all()
    assert np.isfinite(result.mean).all()


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return np.concatenate([some_boards("pubeval", 8, seed=1), some_boards("random", 4, seed=2)])


@pytest.mark.parametrize(
    "options",
    [
        {"trials": 30},
        {"trials": 150, "stratified": True, "cut": 4},
        {"trials": 20, "luck_plies": 2, "cut": 6, "scoring": "dmp"},
        {"trials": 2000, "se": 0.05, "cut": 2},
    ],
    ids=["plain", "stratified", "luck", "se"],
)
def test_the_same_for_any_number_of_workers(boards, options):
    one = rolled(boards, seed=3, **options)
    two = rolled(boards, seed=3, jobs=2, **options)
    assert one.trials.tolist() == two.trials.tolist()
    assert one.mean.tobytes() == two.mean.tobytes()
    assert one.se.tobytes() == two.se.tobytes()


@pytest.mark.parametrize("options", [{}, {"stratified": True}, {"luck_plies": 1, "cut": 3}])
@pytest.mark.parametrize("at_once", [1, 7, 40])
def test_the_same_for_any_size_of_block(boards, at_once, options, monkeypatch):
    whole = rolled(boards[:3], trials=40, **options)
    monkeypatch.setattr(sys.modules["motif.rollouts.trials"], "_TRIALS_AT_ONCE", at_once)
    parts = rolled(boards[:3], trials=40, **options)
    assert parts.mean.tobytes() == whole.mean.tobytes()
    assert parts.se.tobytes() == whole.se.tobytes()


def test_more_trials_go_on_where_fewer_stopped():
    board = Position.start().board
    few, many = (rolled(Position.start(), trials=n).mean[0] * n for n in (20, 50))
    rest = single_trials(board, 0, 50, PUBEVAL.model)[20:].sum(axis=0)
    np.testing.assert_allclose(few + rest, many, atol=1e-9)


def test_each_position_has_separate_streams(boards):
    position = Position(boards[0])
    result = rolled([position, position], trials=50)
    assert result.mean[0].tolist() != result.mean[1].tolist()
    assert result.mean[0].tolist() == rolled(position, trials=50).mean[0].tolist()
    trials = single_trials(position.board, 1, 50, PUBEVAL.model)
    np.testing.assert_allclose(result.mean[1], trials.mean(axis=0), atol=1e-12)
    assert rolled(position, trials=50, seed=1).mean.tolist() != rolled(position, trials=50).mean.tolist()


def test_trials_stop_at_a_wanted_error(boards):
    wanted, options = 0.012, {"cut": 3, "seed": 2}
    boards = boards[::3]
    result = rolled(boards, MADE, trials=5000, se=wanted, **options)
    assert (result.se[:, 5] <= wanted).all()
    assert (result.trials % TRIALS_A_CHECK == 0).all()
    assert len(set(result.trials.tolist())) > 1
    for row, trials in enumerate(result.trials.tolist()):
        # The trials are the first ones, and fewer would not have been enough.
        whole = rolled(boards, MADE, trials=trials, **options)
        assert whole.mean[row].tobytes() == result.mean[row].tobytes()
        if trials > TRIALS_A_CHECK:
            assert rolled(boards, MADE, trials=trials - TRIALS_A_CHECK, **options).se[row, 5] > wanted
    assert rolled(boards[:2], MADE, trials=400, se=1e-9, **options).trials.tolist() == [400, 400]


def test_many_seeds_agree_with_the_standard_error():
    """The means of 300 rollouts scatter by their standard error."""
    boards = np.repeat(Position.start().board[None], 300, axis=0)
    result = rolled(boards, MADE, trials=40, cut=2)
    ratio = result.mean.std(axis=0, ddof=1) / np.sqrt((result.se**2).mean(axis=0))
    assert (np.abs(ratio[[0, 5]] - 1) < 0.17).all()  # four standard errors of a standard deviation


def test_a_cut_beyond_the_end_of_the_game_changes_nothing(boards):
    whole, cut = rolled(boards, trials=5), rolled(boards, trials=5, cut=2500)
    assert cut.mean.tobytes() == whole.mean.tobytes()


def test_a_cut_after_one_ply_is_one_ply_of_lookahead():
    """The same plays with drawn instead of counted rolls: equal within four standard errors."""
    positions = [Position.start(), *map(Position, some_boards("pubeval", 3, seed=8))]
    result = rolled(positions, MADE, trials=4000, cut=1, seed=2)
    exact = LookaheadEvaluator(MADE, 1, "full").evaluate_many(
        np.array([position.board for position in positions])
    )
    assert (np.abs(result.mean[:, :5] - exact) <= 4 * result.se[:, :5] + 1e-6).all()
    assert (result.se[:, 0] > 0).all()


def follow(position: Position, trial: int, stops) -> Probabilities:
    """The value for the player on roll where a trial, played by hand, ends."""
    dice = rolls_of(0, 0, trial, 300).tolist()
    player = CompiledPlayer("made up", MADE.model)
    for ply, (high, low) in enumerate(dice):
        if outcome(position) or stops(position, ply):
            value = MADE.evaluate(position)
            return value.switch_sides() if ply % 2 else value
        position = player.choose(position, (high, low)).position
    raise AssertionError("the game does not end")


@pytest.mark.parametrize("plies", [1, 2, 3, 8])
def test_a_cut_game_is_valued_for_the_player_who_was_on_roll(plies):
    results = single_trials(Position.start().board, 0, 5, MADE.model, cut=plies)
    followed = [follow(Position.start(), trial, lambda _, ply: ply == plies) for trial in range(5)]
    np.testing.assert_allclose(results[:, :5], followed, atol=1e-6)
    assert ((results[:, 0] > 0) & (results[:, 0] < 1)).all()


def test_stopping_at_the_race():
    position = Position.from_points({15: 2, 3: 7}, {15: 1, 4: 7})
    assert position_class(position) == "contact"
    results = single_trials(position.board, 0, 12, MADE.model, stop_at_race=True)
    followed = [
        follow(position, trial, lambda where, _: position_class(where) == "race") for trial in range(12)
    ]
    np.testing.assert_allclose(results[:, :5], followed, atol=1e-6)
    assert ((results[:, 0] > 0) & (results[:, 0] < 1)).any()


def test_a_race_is_played_to_its_end():
    race = Position.from_points({6: 5, 5: 5, 4: 5}, {6: 5, 5: 5, 4: 5})
    stopped = rolled(race, MADE, trials=20, stop_at_race=True)
    assert stopped.mean.tobytes() == rolled(race, MADE, trials=20).mean.tobytes()


def test_contact_games_end_where_the_race_begins():
    results = single_trials(Position.start().board, 0, 40, MADE.model, stop_at_race=True)
    whole = single_trials(Position.start().board, 0, 40, MADE.model)
    # With contact to the end the two are the same game; otherwise an evaluation replaces the result.
    same = (results == whole).all(axis=1)
    assert not same.all()
    assert ((results[~same, 0] > 0) & (results[~same, 0] < 1)).all()


SMALL = Position.from_points({8: 2, 3: 2}, {8: 2, 3: 2})


def filtering(kept: int, units: int = 0, margin: float = math.inf, scale: float = 1.0) -> StaticEvaluator:
    """Return an evaluator with a move filter, whose point tables are multiplied by `scale`."""
    weights = made_weights("keith", pairs=5, kept=kept, filter_units=units, margin=margin, seed=5)
    steps = {name: rows * np.float32(scale) for name, rows in weights.move_filter.steps.items()}
    return evaluator_of(replace(weights, move_filter=replace(weights.move_filter, steps=steps)))


def test_a_move_filter_that_keeps_every_play_changes_nothing():
    evaluator = filtering(32)
    assert filtered(evaluator).model.kept == 32
    assert max(len(legal_plays(SMALL, roll)) for roll in ALL_ROLLS) <= 32
    results = [rolled(SMALL, evaluator, trials=60, every_play=every) for every in (True, False)]
    assert results[0].mean.tobytes() == results[1].mean.tobytes()
    assert 0 < results[0].mean[0, 0] < 1


def test_a_move_filter_that_keeps_one_play_plays_by_its_table(boards):
    evaluator = filtering(1)
    table = StaticEvaluator("the table", table_model(evaluator.weights.move_filter.tables()))
    by_filter, by_table = rolled(boards, evaluator, trials=10), rolled(boards, table, trials=10)
    assert by_filter.mean.tobytes() == by_table.mean.tobytes()
    every_play = rolled(boards, evaluator, trials=10, every_play=True)
    assert every_play.mean.tobytes() != by_filter.mean.tobytes()


CLOSED = dict.fromkeys(range(1, 7), 2)
LATE_ENDINGS = [
    Position.from_points({**CLOSED, 8: 3}, {25: 1, 6: 2, 5: 2, 3: 2, 1: 1}),
    Position.from_points({24: 1, 7: 1, 6: 2, 3: 1}, {20: 1, 8: 3, 6: 4, 5: 4, 3: 3}),
]


@pytest.mark.parametrize(
    ("kept", "units", "scale"),
    [(2, 0, 1), (5, 0, 1), (2, 1, 1), (5, 16, 1), (4, 16, 0), (4, 16, 1e-30), (4, 16, 1e4)],
)
def test_a_move_filter_keeps_the_best_plays_by_its_scores(kept, units, scale):
    """One with hidden units keeps twice as many in late endings with contact."""
    evaluator = filtered(filtering(kept, units, scale=scale))
    player = CompiledPlayer("filtered", evaluator.model)
    differ = 0
    for position in [*map(Position, some_boards("pubeval", 60, seed=4)), *LATE_ENDINGS]:
        for roll in [(6, 1), (3, 2), (2, 2)]:
            plays = legal_plays(position, roll)
            chosen = player.choose(position, roll).position
            is_late = position in LATE_ENDINGS
            kept_plays = plays_by_filter(evaluator, position, plays)[: kept * (2 if is_late and units else 1)]
            differ += is_late and chosen not in kept_plays[:kept]
            assert chosen in kept_plays
            equities = evaluator.equity_many(np.array([play.board for play in kept_plays]))
            assert evaluator.equity_many(chosen.board[None])[0] == equities.min()
    assert scale != 1 or (differ > 0) == (units > 0)


def plays_by_filter(evaluator: StaticEvaluator, position: Position, plays) -> list[Position]:
    """Positions after the plays, the best by the move filter of the position's class first."""
    scores = filter_scores(evaluator, position, plays)
    return [plays[k].position for k in np.argsort(-scores, kind="stable")]


def filter_scores(evaluator: StaticEvaluator, position: Position, plays) -> np.ndarray:
    of_class = "race" if position_class(position) == "race" else "contact"
    boards = np.array([play.position.board for play in plays])
    return evaluator.weights.move_filter.scores(of_class, pack_many(boards))


@pytest.mark.parametrize("margin", [0.0, 1.5])
def test_a_move_filter_drops_plays_by_its_margin(margin):
    """In late endings with contact it does not, nor if it keeps all plays of a roll."""
    evaluator = filtered(filtering(4, 3, margin))
    player = CompiledPlayer("filtered", evaluator.model)
    fewer = 0
    for position in [*map(Position, some_boards("pubeval", 60, seed=4)), *LATE_ENDINGS]:
        for roll in [(6, 1), (3, 2), (2, 2)]:
            plays = legal_plays(position, roll)
            kept_plays = plays_by_filter(evaluator, position, plays)[: 8 if position in LATE_ENDINGS else 4]
            if position not in LATE_ENDINGS and len(plays) > 4:
                scores = np.sort(filter_scores(evaluator, position, plays))[::-1][:4]
                within = int((scores >= scores[0] - margin).sum())
                fewer += within < len(kept_plays)
                kept_plays = kept_plays[:within]
            equities = evaluator.equity_many(np.array([play.board for play in kept_plays]))
            chosen = player.choose(position, roll).position
            assert chosen in kept_plays
            assert evaluator.equity_many(chosen.board[None])[0] == equities.min()
    assert fewer > 50


def test_luck_is_that_of_the_play_that_a_margin_leaves():
    """Otherwise the mean of the luck would not be zero."""
    plain, adjusted = (
        rolled(Position.start(), filtering(4, 3, 0.0), trials=2592, stratified=True, luck_plies=plies)
        for plies in (0, 3)
    )
    assert adjusted.mean[0, 5] == pytest.approx(plain.mean[0, 5], abs=3 * plain.se[0, 5])


def test_the_library_function_gives_the_same_trials():
    result = motif.rollout(Position.start(), PUBEVAL, motif.RolloutSettings(trials=3), jobs=1)
    assert result.mean.tobytes() == rolled(Position.start(), trials=3).mean.tobytes()
    assert motif.RolloutSettings is RolloutSettings
    assert motif.rollout(Position.start(), PUBEVAL, RolloutSettings(1), jobs=1).trials.tolist() == [1]


def test_positions_lists_and_arrays(boards):
    from_array = rolled(boards, trials=2)
    from_list = rolled([Position(board) for board in boards], trials=2)
    assert from_array.mean.tobytes() == from_list.mean.tobytes()
    assert rolled(boards[:0], trials=2).mean.shape == rolled([], trials=2).mean.shape == (0, 6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trials": 0}, "trials must be at least 1, not 0"),
        ({"trials": -5}, "trials must be at least 1, not -5"),
        ({"trials": 2**31}, f"trials must be below 2**31, not {2**31}"),
        ({"trials": 36.5}, "trials must be a whole number, not 36.5"),
        ({"cut": -1}, "cut must be at least 0, not -1"),
        ({"luck_plies": -1}, "luck_plies must be at least 0, not -1"),
        ({"se": -0.1}, "se must be at least 0 and finite, not -0.1"),
        ({"se": float("nan")}, "se must be at least 0 and finite, not nan"),
        ({"scoring": "chess"}, "scoring must be money, dmp or no-gammons, not 'chess'"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"seed": 2**64}, f"seed must be below 2**63, not {2**64}"),
        ({"static_cube": True}, "static_cube: has no effect without a cube"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(SettingError) as caught:
        rolled(Position.start(), **settings)
    assert str(caught.value) == message


@pytest.mark.parametrize("positions", [1, 2])
def test_a_bad_number_of_jobs(positions):
    with pytest.raises(SettingError, match="jobs must be at least 1"):
        rolled([Position.start()] * positions, trials=1, jobs=0)


def test_invalid_positions():
    with pytest.raises(PositionError, match="row 0: invalid position"):
        rolled(np.zeros((1, 26), np.int8), trials=1)


def test_the_names_of_the_columns():
    assert list(by_name(np.arange(6.0))) == [*OUTPUTS, "equity"]
