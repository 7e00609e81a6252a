"""Players choose legal plays, the same for one decision as for many, and the best ones by their evaluator."""

import pickle

import numpy as np
import pytest
from scipy import stats

from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.evaluators import OUTPUTS, load_static
from motif.evaluators.probabilities import HEADS
from motif.players import CompiledPlayer, EvaluatorPlayer, Player, load
from motif.runtime.errors import PlayerError, PlayError, PositionError, WeightFileError
from motif.runtime.streams import derive_states
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_decisions
from tests.runtime.test_streams import TOO_UNLIKELY

MADE = {
    "keith": evaluator_of(made_weights("keith", pairs=20, seed=1)),
    "motif": evaluator_of(made_weights("motif", pairs=50, seed=2)),
    "equity heads": evaluator_of(
        made_weights("motif", classes={"contact": HEADS, "crashed": HEADS, "race": OUTPUTS}, pairs=30, seed=3)
    ),
    "win only": evaluator_of(made_weights("keith", classes={"contact": ["win"], "race": ["win"]}, seed=4)),
}
NAMES = ("random", "simple", "pubeval", "bras", "phase", "best-of-four")
every_player = pytest.mark.parametrize(
    "player",
    [*map(load, NAMES), CompiledPlayer("made", MADE["keith"].model), EvaluatorPlayer(MADE["motif"])],
    ids=lambda player: player.name,
)


@pytest.fixture(scope="module")
def decisions():
    """Boards and rolls of ordinary games and of random play."""
    sets = [some_decisions("pubeval", 200, seed=1), some_decisions("random", 100, seed=2)]
    return np.concatenate([boards for boards, _ in sets]), np.concatenate([rolls for _, rolls in sets])


def states(count: int, seed: int = 0) -> np.ndarray:
    return derive_states(seed, 0, count, 0)


@every_player
def test_choices_are_legal_and_well_written(player, decisions):
    for board, roll in zip(*(part[::3] for part in decisions), strict=True):
        position, dice = Position(board), tuple(roll.tolist())
        play = player.choose(position, dice)
        assert play in legal_plays(position, dice)
        if not play.moves:
            assert play.notation == ""
            assert play.position == position.switch_sides()


@every_player
def test_one_decision_is_chosen_as_many_are(player, decisions):
    boards, rolls = (part[::3] for part in decisions)
    together = player.choose_many(boards, rolls, np.tile(states(1), len(boards)))
    alone = [player.choose(Position(b), tuple(r.tolist())) for b, r in zip(boards, rolls, strict=True)]
    assert [Position(board) for board in together] == [play.position for play in alone]


def test_the_dice_may_come_in_any_order():
    for player in (load("pubeval"), EvaluatorPlayer(MADE["keith"])):
        assert player.choose(Position.start(), (1, 3)) == player.choose(Position.start(), (3, 1))
    assert load("pubeval").choose(Position.start(), (3, 1)).notation == "8/5 6/5"
    assert load("pubeval").choose(Position.start(), (6, 1)).notation == "13/7 8/7"
    assert load("pubeval").choose(Position.start(), (4, 2)).notation == "8/4 6/4"


@pytest.mark.parametrize("evaluator", MADE.values(), ids=MADE)
def test_compiled_choices_are_those_of_the_evaluator(evaluator, decisions):
    """Compared by equity, because two plays may have exactly the same value."""
    boards, rolls = decisions
    compiled = CompiledPlayer("compiled", evaluator.model)
    slow = EvaluatorPlayer(evaluator)
    by_kernel = compiled.choose_many(boards, rolls, states(len(boards)))
    by_evaluator = slow.choose_many(boards, rolls, states(len(boards)))
    same = (by_kernel == by_evaluator).all(axis=1)
    assert same.mean() > 0.98
    np.testing.assert_allclose(
        evaluator.equity_many(by_kernel), evaluator.equity_many(by_evaluator), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", ["pubeval", "simple"])
def test_table_players_are_those_of_their_evaluator(name, decisions):
    boards, rolls = decisions
    by_kernel = load(name).choose_many(boards, rolls, states(len(boards)))
    by_evaluator = EvaluatorPlayer(load_static(name)).choose_many(boards, rolls, states(len(boards)))
    assert (by_kernel == by_evaluator).all(axis=1).mean() > 0.98


def test_a_winning_play_is_taken():
    position = Position.from_points({6: 1, 1: 1}, {1: 1})
    for player in (*map(load, ("simple", "pubeval", "pubeval@1")), EvaluatorPlayer(MADE["motif"])):
        assert outcome(player.choose(position, (6, 1)).position) == -1


def test_random_play_is_as_likely_as_any_other():
    position, roll = Position.start(), (6, 1)
    plays = legal_plays(position, roll)
    count = 20_000
    boards = np.repeat(position.board[None], count, axis=0)
    chosen = load("random").choose_many(boards, np.tile(roll, (count, 1)), states(count))
    numbers = [int((chosen == play.position.board).all(axis=1).sum()) for play in plays]
    assert sum(numbers) == count
    assert float(stats.chisquare(numbers).pvalue) > TOO_UNLIKELY
    again = load("random").choose_many(boards, np.tile(roll, (count, 1)), states(count))
    assert again.tobytes() == chosen.tobytes()


def test_random_play_depends_on_the_seed():
    chosen = {load("random").choose(Position.start(), (2, 2), seed=seed).notation for seed in range(40)}
    assert len(chosen) > 15
    once, again = (load("random").choose(Position.start(), (2, 2), seed=3) for _ in range(2))
    assert once == again


@pytest.mark.parametrize("name", ["random", "pubeval", "pubeval@1"])
def test_no_choice_when_the_game_is_over(name):
    with pytest.raises(PositionError, match="the game is over"):
        load(name).choose(Position.from_points({}, {3: 2}), (3, 1))


@pytest.mark.parametrize("roll", [(0, 1), (7, 3), (2, -1)])
def test_no_choice_for_no_roll(roll):
    with pytest.raises(PlayError, match="each die must be 1 to 6"):
        load("pubeval").choose(Position.start(), roll)


def test_players_lend_their_evaluators_opinion():
    position = Position.start()
    for name in ("pubeval", "simple", "pubeval@1"):
        player = load(name)
        assert player.name == name
        assert player.evaluator is not None
        assert player.evaluate(position) == player.evaluator.evaluate(position)
        rows = player.evaluate_many(position.board[None])
        assert rows.tolist() == player.evaluator.evaluate_many(position.board[None]).tolist()


def test_the_random_player_has_no_opinion():
    player = load("random")
    message = "the player 'random' chooses plays but cannot evaluate positions"
    with pytest.raises(PlayerError, match=message):
        player.evaluate(Position.start())
    with pytest.raises(PlayerError, match=message):
        player.evaluate_many(Position.start().board[None])


def test_a_weight_file_is_a_player(tmp_path):
    path = tmp_path / "made.yaml"
    made_weights("keith", pairs=20, seed=1).save(path)
    player = load(str(path))
    assert isinstance(player, CompiledPlayer)
    assert player.name == str(path)
    assert player.evaluate(Position.start()) == MADE["keith"].evaluate(Position.start())
    ahead = load(f"{path}@1")
    assert isinstance(ahead, EvaluatorPlayer)
    assert ahead.name == f"{path}@1"
    with pytest.raises(WeightFileError, match=r"none\.yaml: no such weight file"):
        load(str(tmp_path / "none.yaml"))


def test_a_player_with_lookahead_takes_the_best_of_what_it_sees():
    position, roll = Position.from_points({6: 2, 5: 1, 1: 1}, {3: 2, 2: 1}), (5, 1)
    player = load("pubeval@1")
    plays = legal_plays(position, roll)
    worth = [-player.evaluator.equity_many(play.position.board[None])[0] for play in plays]
    assert player.choose(position, roll) == plays[int(np.argmax(worth))]


@every_player
def test_players_travel_to_other_processes(player, decisions):
    boards, rolls = decisions
    copy: Player = pickle.loads(pickle.dumps(player))
    args = boards[:20], rolls[:20], states(20)
    assert copy.choose_many(*args).tobytes() == player.choose_many(*args).tobytes()
