"""Sampled positions of whole games, with the labels that a rollout would give."""

from collections import defaultdict
from dataclasses import replace
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

import motif
from motif.board.movegen import ROLLS
from motif.board.moves import legal_plays, play_batches
from motif.board.outcome import finished_points_many, outcome
from motif.board.packed import pack_many
from motif.board.position import Position
from motif.evaluators import load_static
from motif.parameters.position_class import CLASS_NAMES, position_class
from motif.players import load
from motif.rollouts import RolloutSettings
from motif.runtime.errors import PlayerError, SettingError
from motif.runtime.streams import derive_states
from motif.sampling.dataset import Dataset, read_dataset
from motif.sampling.sample import SampleSettings, sample
from motif.sampling.self_play import DECISIONS_A_GAME
from tests.evaluators import tesauro
from tests.rollouts.exact import single_trials
from tests.sampling.folders import QUICK, made

ALL_ROLLS = [(int(high), int(low)) for high, low in ROLLS]
# Only the chosen position of each decision is recorded, so the dataset contains the games themselves.
GAMES = SampleSettings(player="pubeval", games=12, trials=2, candidates=1, cut=1, seed=3)
EVERY_PLAY = replace(GAMES, games=3, candidates=0)


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> Dataset:
    return read_dataset(made(tmp_path_factory.mktemp("games") / "samples", GAMES))


@pytest.fixture(scope="module")
def every_play(tmp_path_factory) -> Dataset:
    return read_dataset(made(tmp_path_factory.mktemp("every") / "samples", EVERY_PLAY))


def rows_by_decision(samples: Dataset) -> dict[int, list[int]]:
    rows = defaultdict(list)
    for row, decision in enumerate(samples.decision.tolist()):
        rows[decision].append(row)
    return dict(rows)


def position(samples: Dataset, row: int) -> Position:
    return Position(samples.boards[row])


def decisions_with_the_position_before(samples: Dataset):
    """(position before the roll, rows of the decision), for decisions whose predecessor is recorded."""
    rows = rows_by_decision(samples)
    for decision, here in rows.items():
        before = [row for row in rows.get(decision - 1, []) if samples.chosen[row]]
        if before:
            yield position(samples, before[0]), here


def plays_by_roll(before: Position) -> dict[tuple[int, int], set[bytes]]:
    """The boards after the legal plays of each roll, except those after which the game has ended."""
    found = []
    for batch in play_batches(np.repeat(before.board[None], len(ROLLS), axis=0), ROLLS):
        goes_on = finished_points_many(pack_many(batch.boards).view(np.int64)) == 0
        for start, end in pairwise(batch.offsets.tolist()):
            found.append({batch.boards[k].tobytes() for k in range(start, end) if goes_on[k]})
    return dict(zip(ALL_ROLLS, found, strict=True))


def rolls_that_give(before: Position, after: set[Position]) -> list[tuple[int, int]]:
    """Rolls whose legal plays, except those that end the game, are `after`."""
    boards = {one.board.tobytes() for one in after}
    return [roll for roll, plays in plays_by_roll(before).items() if plays == boards]


def test_games_begin_at_the_start_and_go_on_by_legal_plays(games):
    for game in range(4):
        rows = np.flatnonzero(games.game == game)
        assert position(games, rows[0]) == Position.start()
        assert games.ply[rows].tolist() == list(range(len(rows)))
        assert games.decision[rows].tolist() == [game * DECISIONS_A_GAME + k for k in range(len(rows))]
        for row in rows[1:]:
            plays = plays_by_roll(position(games, row - 1)).values()
            assert any(games.boards[row].tobytes() in each for each in plays)
    assert games.chosen.all()


def test_the_first_roll_is_no_double(tmp_path):
    settings = replace(GAMES, games=60, trials=1, rate=1.0)
    samples = read_dataset(made(tmp_path / "openings", settings))
    openings = [position(samples, row) for row in np.flatnonzero(samples.ply == 1)]
    rolls = [roll for roll in ALL_ROLLS if roll[0] != roll[1]]
    usual = {load("pubeval").choose(Position.start(), roll).position for roll in rolls}
    assert len(openings) == 60
    assert set(openings) <= usual


def test_finished_games_are_left_out(games, every_play):
    for samples in (games, every_play):
        assert not any(outcome(position(samples, row)) for row in range(len(samples)))
    # From the last position of a game, the game can end at once.
    for game in range(GAMES.games):
        last = position(games, np.flatnonzero(games.game == game)[-1])
        assert any(outcome(play.position) for roll in ALL_ROLLS for play in legal_plays(last, roll))


def test_dances_and_forced_plays_are_recorded(every_play):
    dances = forced = 0
    for before, rows in decisions_with_the_position_before(every_play):
        if len(rows) == 1:
            forced += 1
            dances += position(every_play, rows[0]) == before.switch_sides()
    assert dances > 3
    assert forced > dances


def test_all_plays_of_a_roll_are_candidates_and_the_player_chose(every_play):
    player = load("pubeval")
    checked = 0
    for before, rows in decisions_with_the_position_before(every_play):
        after = {position(every_play, row) for row in rows}
        assert len(after) == len(rows)
        rolls = rolls_that_give(before, after)
        assert rolls, before
        chosen = {position(every_play, row) for row in rows if every_play.chosen[row]}
        choices = {player.choose(before, roll).position for roll in rolls}
        assert chosen <= choices or (not chosen and any(map(outcome, choices)))
        checked += 1
    assert checked > 100


def test_each_decision_has_one_chosen_play_unless_it_ended_the_game(games, every_play):
    for samples in (games, every_play):
        last = {int(game): int(samples.decision[samples.game == game].max()) for game in set(samples.game)}
        for decision, rows in rows_by_decision(samples).items():
            chosen = int(samples.chosen[rows].sum())
            assert chosen == 1 or (chosen == 0 and decision == last[decision // DECISIONS_A_GAME])


def test_classes_are_those_of_the_positions(games):
    found = [CLASS_NAMES[code] for code in games.position_class]
    assert found == [position_class(position(games, row)) for row in range(len(games))]
    assert set(found) == set(CLASS_NAMES)


def test_labels_are_what_a_rollout_gives(tmp_path):
    """Trial t of decision d of game g uses the stream (seed, g * 65536 + d, t)."""
    samples, model = read_dataset(made(tmp_path / "samples")), load_static(QUICK.player).model
    for row in range(0, len(samples), max(1, len(samples) // 40)):
        item = int(samples.decision[row])
        assert item // DECISIONS_A_GAME == samples.game[row]
        assert item % DECISIONS_A_GAME == samples.ply[row]
        results = single_trials(
            samples.boards[row], item, QUICK.trials, model, seed=QUICK.seed, cut=QUICK.cut
        )
        found = [*samples.probabilities[row], samples.equity[row]]
        np.testing.assert_allclose(found, results.mean(axis=0), atol=1e-6)
        error = results[:, 5].std(ddof=1) / np.sqrt(QUICK.trials)
        assert samples.equity_se[row] == pytest.approx(error, abs=1e-6)


def test_labels_of_the_first_game_are_what_the_library_gives(every_play):
    # The k-th position of a list is rolled out by the stream of item k.
    rows = [row for row in range(len(every_play)) if every_play.decision[row] in (0, 3, 7)]
    assert len(rows) > 10
    settings = RolloutSettings(trials=EVERY_PLAY.trials, cut=EVERY_PLAY.cut, seed=EVERY_PLAY.seed)
    for row in rows:
        item = int(every_play.decision[row])
        result = motif.rollout(
            [position(every_play, row)] * (item + 1), load_static("pubeval"), settings, jobs=1
        )
        np.testing.assert_allclose(every_play.probabilities[row], result.mean[item, :5], atol=1e-6)
        assert every_play.equity[row] == pytest.approx(result.mean[item, 5], abs=1e-6)


@pytest.mark.parametrize(("decide", "trials"), [("evaluator", 36), ("evaluator", 72), ("rollout", 36)])
def test_stratified_labels_and_their_errors_are_what_the_library_gives(tmp_path, decide, trials):
    chosen = replace(EVERY_PLAY, games=1, trials=trials, candidates=4, decide=decide, stratified=True)
    samples = read_dataset(made(tmp_path / "samples", chosen))
    settings = RolloutSettings(trials=trials, cut=chosen.cut, seed=chosen.seed, stratified=True)
    rows = [row for row in range(len(samples)) if samples.decision[row] in (0, 2, 5)]
    assert len(rows) > 3
    for row in rows:
        item = int(samples.decision[row])
        result = motif.rollout(
            [position(samples, row)] * (item + 1), load_static("pubeval"), settings, jobs=1
        )
        np.testing.assert_allclose(samples.probabilities[row], result.mean[item, :5], atol=1e-6)
        assert samples.equity[row] == pytest.approx(result.mean[item, 5], abs=1e-6)
        assert samples.equity_se[row] == pytest.approx(result.se[item, 5], abs=1e-6)
    assert (samples.equity_se >= 0).all()


def test_candidates_of_a_decision_are_rolled_out_with_the_same_dice(every_play):
    # All positions are one checker's step apart: their labels differ by far less than single trials.
    spread_within = [
        every_play.equity[rows].std() for rows in rows_by_decision(every_play).values() if len(rows) > 5
    ]
    assert np.mean(spread_within) < every_play.equity.std() / 2


def test_more_trials_begin_with_the_same_ones(tmp_path):
    few = read_dataset(made(tmp_path / "few", QUICK))
    many = read_dataset(made(tmp_path / "many", replace(QUICK, trials=6)))
    assert few.boards.tobytes() == many.boards.tobytes()
    rest = 2 * many.equity - few.equity
    assert (np.abs(rest) <= 3 + 1e-5).all()
    assert (few.trials == 3).all()
    assert (many.trials == 6).all()


def test_a_single_trial_has_no_error(tmp_path):
    samples = read_dataset(made(tmp_path / "one", replace(QUICK, trials=1, games=1)))
    assert np.isnan(samples.equity_se).all()


@pytest.mark.parametrize("wanted", [2, 4])
def test_candidates_are_the_chosen_play_the_best_ones_and_some_others(tmp_path, wanted):
    samples = read_dataset(made(tmp_path / "some", replace(GAMES, games=4, candidates=wanted)))
    full, others = 0, 0
    for before, rows in decisions_with_the_position_before(samples):
        assert len(rows) <= wanted
        plain = tuple(before.board.tolist())
        after = {tuple(samples.boards[row].tolist()) for row in rows}
        chosen = {tuple(samples.boards[row].tolist()) for row in rows if samples.chosen[row]}
        boards = {samples.boards[row].tobytes() for row in rows}
        possible = [roll for roll, plays in plays_by_roll(before).items() if boards <= plays]
        scores = [tesauro.scores(plain, roll) for roll in possible]
        # Find the roll: its plays include all candidates, and its best play was chosen.
        fitting = [
            each
            for each in scores
            if after <= set(each) and (not chosen or {max(each, key=each.get)} == chosen)
        ]
        if not fitting:
            pytest.fail(f"no roll gives {after} from {before!r}")
        if len(fitting) == 1 and len(fitting[0]) > wanted and len(rows) == wanted:
            best = sorted(fitting[0], key=fitting[0].get, reverse=True)[: 1 + wanted // 2]
            assert sum(play in after for play in best) >= len(best) - 1  # floats of equal scores
            full += set(best) <= after
            others += len(after - set(best))
    assert full > 50
    # Half of the other candidates are drawn from the remaining plays.
    assert (others > 0) == (wanted - 1 - wanted // 2 > 0)


def test_replies_are_the_best_plays_of_one_roll_after_each_candidate(tmp_path):
    # Until the first recorded decision, both samples play the same games.
    plain = replace(GAMES, games=40, candidates=4, rate=0.1, seed=4)
    before = rows_by_decision(plays := read_dataset(made(tmp_path / "plays", plain)))
    after = rows_by_decision(
        replies := read_dataset(made(tmp_path / "replies", replace(plain, replies=True)))
    )
    player, checked, games_seen = load("pubeval"), 0, set()
    states = derive_states(0, 0, 4 * len(ROLLS), 0)
    for decision in sorted(before):
        game = decision // DECISIONS_A_GAME
        if game in games_seen or decision % DECISIONS_A_GAME == 0:
            continue
        games_seen.add(game)
        candidates = [position(plays, row) for row in before[decision]]
        found = [position(replies, row) for row in after[decision]]
        if len(found) == len(candidates) > 1:
            boards = np.array([one.board for one in candidates] * len(ROLLS))
            best = player.choose_many(
                boards, np.repeat(ROLLS, len(candidates), axis=0), states[: len(boards)]
            )
            by_roll = best.reshape(len(ROLLS), len(candidates), -1)
            assert (by_roll == np.array([one.board for one in found])).all(axis=(1, 2)).any()
            assert (replies.ply[after[decision]] == plays.ply[before[decision]] + 1).all()
            assert (replies.chosen[after[decision]] == plays.chosen[before[decision]]).all()
            checked += 1
    assert checked > 30
    assert not any(outcome(position(replies, row)) for row in range(len(replies)))


def test_replies_are_labelled_like_other_positions(tmp_path):
    settings = replace(QUICK, replies=True)
    samples, model = read_dataset(made(tmp_path / "samples", settings)), load_static(QUICK.player).model
    for row in range(0, len(samples), max(1, len(samples) // 20)):
        item = int(samples.decision[row])
        results = single_trials(
            samples.boards[row], item, QUICK.trials, model, seed=QUICK.seed, cut=QUICK.cut
        )
        assert samples.equity[row] == pytest.approx(results[:, 5].mean(), abs=1e-6)
    lookahead = replace(settings, label="pubeval@1")
    labelled = read_dataset(made(tmp_path / "lookahead", lookahead))
    assert labelled.boards.tobytes() == samples.boards.tobytes()


def test_only_static_compiled_players_choose_replies(tmp_path):
    with pytest.raises(SettingError, match=r"^replies: wildbg cannot choose them; a weight file can$"):
        sample(replace(QUICK, player="wildbg", replies=True), tmp_path / "samples")


def test_the_rate_is_the_share_of_decisions(tmp_path, games):
    # With one candidate per decision, the games are the same.
    some = read_dataset(made(tmp_path / "some", replace(GAMES, rate=0.3)))
    whole = {int(item): games.boards[row].tobytes() for row, item in enumerate(games.decision)}
    assert all(whole[int(item)] == some.boards[row].tobytes() for row, item in enumerate(some.decision))
    expected, deviation = 0.3 * len(games), np.sqrt(0.3 * 0.7 * len(games))
    assert abs(len(some) - expected) < 4 * deviation
    assert set(some.game.tolist()) <= set(range(GAMES.games))


@pytest.mark.parametrize("wanted", CLASS_NAMES)
def test_rates_by_class_count_the_position_before_the_roll(tmp_path, games, wanted):
    rates = {"rate": 0.0, "crashed_rate": 0.0, "race_rate": 0.0}
    rates["rate" if wanted == "contact" else f"{wanted}_rate"] = 1.0
    some = read_dataset(made(tmp_path / "some", replace(GAMES, **rates)))
    class_before = {
        int(games.decision[row]) + 1: CLASS_NAMES[games.position_class[row]] for row in range(len(games))
    }
    expected = [int(item) for item in games.decision if class_before.get(int(item), "contact") == wanted]
    assert some.decision.tolist() == expected
    assert len(expected) > 10


def test_noise_makes_random_plays(tmp_path):
    share = {}
    for noise in (0.0, 0.5):
        samples = read_dataset(made(tmp_path / str(noise), replace(EVERY_PLAY, noise=noise)))
        best = 0
        count = 0
        for before, rows in decisions_with_the_position_before(samples):
            if len(rows) < 5:
                continue
            after = {position(samples, row) for row in rows}
            (chosen,) = [position(samples, row) for row in rows if samples.chosen[row]] or [None]
            rolls = rolls_that_give(before, after)
            best += chosen in {load("pubeval").choose(before, roll).position for roll in rolls}
            count += 1
        share[noise] = best / count
    assert share[0.0] == 1
    assert 0.35 < share[0.5] < 0.75


def test_deciding_by_rollouts_plays_the_best_of_all_plays(tmp_path):
    settings = SampleSettings(player="simple", games=2, trials=6, decide="rollout", cut=2, seed=1)
    samples = read_dataset(made(tmp_path / "rollouts", settings))
    assert position(samples, 0) == Position.start()
    rows = rows_by_decision(samples)
    for here in list(rows.values())[:-1]:
        if samples.chosen[here].any():
            (chosen,) = (row for row in here if samples.chosen[row])
            # Labels belong to the next player on roll, so the mover's best is the lowest.
            assert samples.equity[chosen] <= samples.equity[here].min() + 1e-6
    checked = 0
    for before, here in decisions_with_the_position_before(samples):
        assert rolls_that_give(before, {position(samples, row) for row in here})
        checked += 1
    assert checked > 40
    assert len(samples) > 10 * checked
    model = load_static("simple").model
    for row in (0, 1, len(samples) // 2):
        results = single_trials(samples.boards[row], int(samples.decision[row]), 6, model, seed=1, cut=2)
        assert samples.equity[row] == pytest.approx(results[:, 5].mean(), abs=1e-6)


def test_the_result_says_what_was_done(tmp_path):
    result = sample(QUICK, tmp_path / "samples", jobs=1)
    assert (result.games, result.trials, result.folder) == (7, 3, tmp_path / "samples")
    assert result.positions == len(read_dataset(tmp_path / "samples"))
    facts = result.to_dict()
    assert list(facts) == ["positions", "trials", "games", "seconds", "games_per_second"]
    assert facts["games_per_second"] == pytest.approx(7 / result.seconds)


BAD: list[tuple[dict, str]] = [
    ({"games": 0}, "games must be at least 1, not 0"),
    ({"trials": 0}, "trials must be at least 1, not 0"),
    ({"candidates": -1}, "candidates must be at least 0, not -1"),
    ({"cut": -1}, "cut must be at least 0, not -1"),
    ({"seed": -1}, "seed must be at least 0, not -1"),
    ({"seed": 2**63}, f"seed must be below 2**63, not {2**63}"),
    ({"rate": 0.0}, "rate must be above 0 if crashed_rate and race_rate are not, not 0.0"),
    ({"rate": -0.1}, "rate must be between 0 and 1, not -0.1"),
    ({"rate": 1.5}, "rate must be between 0 and 1, not 1.5"),
    ({"rate": float("nan")}, "rate must be between 0 and 1, not nan"),
    ({"crashed_rate": -1}, "crashed_rate must be between 0 and 1, not -1"),
    ({"race_rate": 2.0}, "race_rate must be between 0 and 1, not 2.0"),
    ({"noise": 1.0}, "noise must be at least 0 and below 1, not 1.0"),
    ({"noise": -0.1}, "noise must be at least 0 and below 1, not -0.1"),
    ({"stratified": True}, "stratified: trials must be a multiple of 36, not 3"),
    ({"decide": "coin"}, "decide must be evaluator or rollout, not 'coin'"),
    ({"decide": "rollout", "replies": True}, "replies: not allowed with decisions by rollouts"),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[row[1][:40] for row in BAD])
def test_settings_out_of_range(tmp_path, changes, message):
    with pytest.raises(SettingError) as caught:
        sample(replace(QUICK, **changes), tmp_path / "samples")
    assert str(caught.value) == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("player", ["random", "nobody"])
def test_only_evaluators_can_sample(tmp_path, player):
    with pytest.raises(PlayerError):
        sample(replace(QUICK, player=player), tmp_path / "samples")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("jobs", "label", "asked"), [(1, "rollout", 0), (2, "rollout", 1), (2, "pubeval", 0)]
)
def test_a_second_process_compiles_where_several_are_to_roll_out(monkeypatch, tmp_path, jobs, label, asked):
    calls = []
    monkeypatch.setattr(import_module("motif.sampling.sample"), "precompile_in_background", calls.append)
    sample(SampleSettings(games=1, trials=1, player="simple", label=label), tmp_path / "data", jobs=jobs)
    assert calls == ["motif.sampling.sample:warm_up"] * asked
