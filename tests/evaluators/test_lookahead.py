"""Lookahead, compared with all 36 rolls played out in plain Python."""

from itertools import pairwise

import numpy as np
import pytest

from motif.board.match_state import MatchState
from motif.board.movegen import ROLL_COUNTS, ROLL_SHARES, ROLLS
from motif.board.moves import legal_plays, play_batches
from motif.board.outcome import Outcome, outcome
from motif.board.position import Position
from motif.doubling.cube_states import cube_model_for
from motif.evaluators import (
    Evaluator,
    LookaheadEvaluator,
    Probabilities,
    load_evaluator,
    load_static,
)
from motif.evaluators.evaluator import first_best
from motif.evaluators.known_players import default_player
from motif.evaluators.lookahead import DEPTHS
from motif.evaluators.lookahead_kernels import (
    _PAIR_OF_ROLL,
    _SEVENTH_OF_PAIR,
    _SEVENTH_SHARES,
    _SEVENTHS,
    _THIRDS,
)
from motif.evaluators.probabilities import HEADS
from motif.parameters.position_class import CLASS_NAMES
from motif.players import load
from motif.runtime.errors import PlayerError, PositionError
from tests.evaluators import tesauro
from tests.evaluators.made_weights import evaluator_of, made_weights
from tests.games import some_boards

THROWS = {(high, low): 1 + (high != low) for high in range(1, 7) for low in range(1, high + 1)}
"""Roll -> in how many of the 36 ways the dice show it."""

BASES = {
    "pubeval": load_static("pubeval"),
    "keith": evaluator_of(made_weights("keith", pairs=12, seed=1)),
    "keith with equity": evaluator_of(
        made_weights("keith", classes=dict.fromkeys(("contact", "race"), HEADS), seed=2)
    ),
    "win only": evaluator_of(made_weights("keith", classes={"contact": ["win"], "race": ["win"]}, seed=3)),
}
every_base = pytest.mark.parametrize("base", BASES.values(), ids=BASES)


def worth(base: Evaluator, before: Position, after: Position) -> float:
    """The value of a play for its mover; for PubEval, by the class before the play."""
    if base is not BASES["pubeval"] or outcome(after):
        return -float(base.equity_many(after.board[None])[0])
    plain = tuple(before.board.tolist())
    weights = tesauro.weights_for(plain)
    score = tesauro.score(tesauro.other_view(tuple(after.board.tolist())), weights) - weights[-1]
    intercept, slope = base.model.calibration[CLASS_NAMES.index(tesauro.position_class(plain))]
    return float(np.tanh(slope * score - intercept))


def looked_ahead(base: Evaluator, position: Position, plies: int) -> tuple[np.ndarray, float]:
    """Probabilities and ranking equity of the player on roll at `plies`, by brute force.

    Replies are the best plays by static evaluation.
    """
    if plies == 0 or outcome(position):
        return (
            np.array(base.evaluate(position), float),
            float(base.equity_many(position.board[None])[0]),
        )
    chances, equity = np.zeros(5), 0.0
    for throw, count in THROWS.items():
        plays = [play.position for play in legal_plays(position, throw)]
        values = [worth(base, position, after) for after in plays]
        best = int(np.argmax(values))
        below = looked_ahead(base, plays[best], plies - 1)
        chances += count * np.array(Probabilities(*below[0]).switch_sides())
        equity += count * (values[best] if plies == 1 else -below[1])
    return chances / 36, equity / 36


def positions_to_look_from() -> list[Position]:
    boards = [*some_boards("pubeval", 4, seed=5), *some_boards("random", 2, seed=6)]
    return [
        Position.start(),
        Position.from_points({1: 2}, {2: 1}),  # some rolls end the game
        Position.from_points({25: 2, 13: 3}, {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 7: 2}),  # nearly all dance
        *map(Position, boards),
    ]


@every_base
def test_one_ply(base):
    evaluator = LookaheadEvaluator(base, 1, "full")
    positions = positions_to_look_from()
    boards = np.array([position.board for position in positions])
    rows, equities = evaluator.evaluate_many(boards), evaluator.equity_many(boards)
    assert rows.dtype == np.float32
    for position, row, equity in zip(positions, rows, equities, strict=True):
        expected_row, expected_equity = looked_ahead(base, position, 1)
        np.testing.assert_allclose(row, expected_row, atol=2e-6)
        assert equity == pytest.approx(expected_equity, abs=2e-6)


TINY = [
    Position.from_points({1: 1}, {1: 1}),
    Position.from_points({2: 1, 1: 1}, {2: 1}),
    Position.from_points({6: 1, 2: 1}, {3: 2}),
]


@every_base
@pytest.mark.parametrize("plies", [2, 3])
def test_more_plies_in_tiny_endings(base, plies):
    for position in TINY[: 5 - plies]:
        expected_row, expected_equity = looked_ahead(base, position, plies)
        evaluator = LookaheadEvaluator(base, plies, "full")
        np.testing.assert_allclose(evaluator.evaluate(position), expected_row, atol=2e-6)
        assert evaluator.equity_many(position.board[None])[0] == pytest.approx(expected_equity, abs=2e-6)


def test_two_plies_where_every_reply_ends_the_game():
    # The player on roll bears off the last checker.
    position = Position.from_points({1: 1}, {1: 1})
    for plies in (1, 2, 3):
        evaluator = LookaheadEvaluator(BASES["keith"], plies)
        assert evaluator.evaluate(position) == Probabilities(1, 0, 0, 0, 0)


@pytest.mark.parametrize("plies", [1, 2])
def test_finished_games_stay_what_they_are(plies):
    won = Position.from_points({}, {25: 1, 6: 14})
    evaluator = LookaheadEvaluator(BASES["keith"], plies)
    assert outcome(won) == Outcome.WIN_BACKGAMMON
    assert evaluator.evaluate(won) == Probabilities(1, 1, 1, 0, 0)
    assert evaluator.evaluate(won.switch_sides()) == Probabilities(0, 0, 0, 1, 1)
    mixed = np.stack([won.board, Position.from_points({1: 1}, {1: 1}).board, won.switch_sides().board])
    assert evaluator.evaluate_many(mixed).tolist() == [[1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 1]]


def test_each_position_alone_or_many_at_once():
    boards = np.concatenate([some_boards("pubeval", 600, seed=7), Position.start().board[None]])
    evaluator = LookaheadEvaluator(BASES["keith"], 1)
    together = evaluator.evaluate_many(boards)
    for row in (0, 511, 512, 513, 600):
        assert together[row].tolist() == evaluator.evaluate_many(boards[row : row + 1])[0].tolist()
    assert evaluator.evaluate_many(boards[:0]).shape == (0, 5)


def test_rows_that_are_no_positions_are_refused():
    with pytest.raises(PositionError, match="row 0: invalid position"):
        LookaheadEvaluator(BASES["keith"], 1).evaluate_many(np.zeros((1, 26), np.int8))


def test_by_name():
    assert load_evaluator("pubeval@2").name == load("pubeval@2").name == "pubeval@2"
    assert load_evaluator("pubeval@0").name == "pubeval"
    position = Position.from_points({3: 1, 1: 1}, {4: 1})
    expected = looked_ahead(BASES["pubeval"], position, 1)[0]
    np.testing.assert_allclose(load_evaluator("pubeval@1").evaluate(position), expected, atol=1e-6)


def test_by_a_weight_files_name(tmp_path):
    path = tmp_path / "keith.yaml"
    weights = made_weights("keith", pairs=12, seed=1)
    weights.save(path)
    position = TINY[1]
    assert load_evaluator(str(path)).name == str(path)
    evaluator = load_evaluator(f"{path}@1")
    assert evaluator.name == f"{path}@1"
    np.testing.assert_allclose(
        evaluator.evaluate(position), looked_ahead(BASES["keith"], position, 1)[0], atol=1e-6
    )


KNOWN = (
    "there are pubeval, simple, bras, bras:FILE.yaml, phase, latest, .*motif-v0, motif-v1, motif-v[0-9]+, "
    ".*FILE.yaml, .*, each also with @1 to @3, and random, .*"
)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        *((name, KNOWN) for name in ("", "nobody", "@1")),
        *(
            (name, r"did you mean 'pubeval'\?")
            for name in ("PubEval", " pubeval", "pubeval@", "pubeval@x", "pubeval@-1", "pubeval@٣")
        ),
    ],
)
def test_names_that_mean_nothing(name, hint):
    message = f"^no player is called '{name}'; {hint}$"
    for loader in (load, load_evaluator):
        with pytest.raises(PlayerError, match=message):
            loader(name)


def test_where_weights_are_needed_no_other_players_are_offered():
    with pytest.raises(
        PlayerError, match=r"^no player is called 'nobody'; there are pubeval, .*, FILE\.yaml$"
    ):
        load_static("nobody")


def test_latest_is_the_newest_version_that_came_along():
    newest, latest = load_static(default_player()), load_static("latest")
    assert latest.name == newest.name == default_player()
    assert load_evaluator("latest@1").name == f"{newest.name}@1"


@pytest.mark.parametrize("plies", [4, 17])
def test_too_many_plies(plies):
    with pytest.raises(PlayerError, match=f"^pubeval@{plies}: lookahead must be 1 to 3 plies$"):
        load(f"pubeval@{plies}")


def test_more_plies_than_python_can_count():
    with pytest.raises(PlayerError, match=r"^no player is called 'pubeval@9+'\.\.\.; there are ") as caught:
        load("pubeval@" + "9" * 5000)
    assert len(str(caught.value).partition("; there are ")[0]) < 120


def test_lookahead_is_not_for_two():
    with pytest.raises(PlayerError, match=r"^'pubeval@1' looks ahead; a player without @ is needed here$"):
        load("pubeval@1@1")


@pytest.mark.parametrize("name", ["random@1", "random@0"])
def test_who_cannot_evaluate_cannot_look_ahead(name):
    message = "^the player 'random' has no values: it cannot evaluate, look ahead or roll out$"
    with pytest.raises(PlayerError, match=message):
        load(name)
    with pytest.raises(PlayerError, match=message):
        load_static("random")


def test_the_evaluator_behind_the_lookahead_is_the_one_that_was_given():
    base = load_static("pubeval")
    assert LookaheadEvaluator(base, 2).without_lookahead is base
    assert base.without_lookahead is base


class General(Evaluator):
    """An evaluator that motif treats as not compiled."""

    def __init__(self, base: Evaluator) -> None:
        self.base, self.name = base, base.name

    def evaluate_many(self, positions):
        return self.base.evaluate_many(positions)

    def equity_many(self, boards):
        return self.base.equity_many(boards)

    def play_equities(self, before, plays):
        return self.base.play_equities(before, plays)


@pytest.mark.parametrize(
    ("plies", "count"), [(1, 300), (2, 12), pytest.param(2, 300, marks=pytest.mark.slow)]
)
def test_kernels_see_what_the_general_way_sees(plies, count):
    base = load_static(default_player())
    boards = some_boards("pubeval", count, seed=11)
    compiled = LookaheadEvaluator(base, plies, "full")
    general = LookaheadEvaluator(General(base), plies, "full")
    np.testing.assert_allclose(compiled.equity_many(boards), general.equity_many(boards), rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        compiled.evaluate_many(boards), general.evaluate_many(boards), rtol=0, atol=1e-6
    )


def decisions(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    boards = some_boards("pubeval", count, seed=seed)
    rolls = np.random.default_rng(seed).integers(1, 7, (count, 2))
    return boards, np.sort(rolls, axis=1)[:, ::-1]


@pytest.mark.parametrize("depth", DEPTHS)
def test_each_ply_sees_the_plays_that_its_filter_lets_through(depth):
    base = load_static(default_player())
    boards, rolls = decisions(40, seed=12)
    (plays,) = play_batches(boards, rolls)
    static = base.play_equities(boards, plays)
    evaluator = LookaheadEvaluator(base, 1, depth)
    values = evaluator.play_equities(boards, plays)
    deep = -evaluator.equity_many(plays.boards)
    limits = DEPTHS[depth].filters[0]
    for first, last in pairwise(plays.offsets):
        before, after, deeper = static[first:last], values[first:last], deep[first:last]
        order = np.argsort(-before, kind="stable")
        seen = np.isin(np.arange(len(before)), order[: limits.plays]) & (
            before >= before.max() - limits.within
        )
        while DEPTHS[depth].returns and seen.sum() > 1:
            behind = ~seen & (before > deeper[seen].max())
            if not behind.any():
                break
            seen |= np.isin(np.arange(len(before)), order[behind[order]][: limits.plays])
        np.testing.assert_allclose(after[seen], deeper[seen], atol=1e-12)
        np.testing.assert_allclose(after[~seen], np.minimum(before[~seen], deeper[seen].min()), atol=1e-12)


def test_a_play_that_was_left_behind_returns_when_the_best_turn_out_worse():
    base = load_static("latest")
    boards, rolls = decisions(400, seed=15)
    (plays,) = play_batches(boards, rolls)
    static = base.play_equities(boards, plays)
    narrow = LookaheadEvaluator(base, 1, "narrow")
    deep, values = -narrow.equity_many(plays.boards), narrow.play_equities(boards, plays)
    best = np.maximum.reduceat(values, plays.offsets[:-1])[plays.decision]
    several = np.bincount(plays.decision[values == deep], minlength=len(boards))[plays.decision] > 1
    looked_better = several & (static > best + 1e-12)
    assert looked_better.sum() > 20
    np.testing.assert_allclose(values[looked_better], deep[looked_better], atol=1e-12)
    narrow.depth = narrow.depth._replace(returns=False)
    forgetful = narrow.play_equities(boards, plays)
    first = first_best(values, plays.offsets[:-1])
    assert (deep[first] >= deep[first_best(forgetful, plays.offsets[:-1])] - 1e-12).all()
    assert (forgetful[looked_better] != deep[looked_better]).any()


def test_the_best_play_is_the_same_whether_or_not_lonely_plays_are_seen_deeper():
    evaluator = LookaheadEvaluator(load_static(default_player()), 2)
    boards, rolls = decisions(60, seed=13)
    (plays,) = play_batches(boards, rolls)
    best = first_best(evaluator.play_equities(boards, plays), plays.offsets[:-1])
    assert (evaluator.best_plays(boards, rolls).boards == plays.boards[best]).all()


def test_each_third_of_the_rolls_is_like_the_whole():
    assert [ROLL_COUNTS[third == _THIRDS].sum() for third in range(3)] == [12] * 3
    pips = np.where(ROLLS[:, 0] == ROLLS[:, 1], 4 * ROLLS[:, 0], ROLLS.sum(axis=1)) * ROLL_COUNTS
    assert [pips[third == _THIRDS].sum() for third in range(3)] == [pips.sum() / 3] * 3
    for die in range(1, 7):
        assert all(((die == ROLLS).any(axis=1) & (third == _THIRDS)).any() for third in range(3))


def test_thin_lookahead_comes_near_to_the_whole():
    base = load_static(default_player())
    boards = some_boards("pubeval", 120, seed=14)
    whole, thin = (LookaheadEvaluator(base, 2, depth) for depth in ("narrow", "thin"))
    whole.depth = whole.depth._replace(shares=thin.depth.shares, thin=False)
    static = base.equity_many(boards)
    error = thin.equity_many(boards) - whole.equity_many(boards)
    assert np.sqrt(np.mean(error**2)) < 0.25 * np.sqrt(np.mean((static - whole.equity_many(boards)) ** 2))
    # A single ply uses every roll.
    one = LookaheadEvaluator(base, 1, "thin")
    equities = one.equity_many(boards)
    one.depth = one.depth._replace(thin=False)
    assert (one.equity_many(boards) == equities).all()


def test_sevenths_see_each_pair_of_rolls_as_often_as_it_comes():
    pairs = np.zeros((len(ROLLS), len(ROLLS)))
    for throw in range(36):
        seen = _SEVENTH_OF_PAIR[(_PAIR_OF_ROLL[:, None] + throw) % 36] == _SEVENTHS
        assert np.allclose((seen * _SEVENTH_SHARES).sum(axis=1), 1)
        pairs += seen * _SEVENTH_SHARES / 36
    assert np.allclose(pairs, ROLL_SHARES)


def test_sparse_lookahead_is_right_on_average():
    base = load_static(default_player())
    boards = some_boards("pubeval", 400, seed=15)
    whole, sparse = (LookaheadEvaluator(base, 2, depth) for depth in ("narrow", "sparse"))
    whole.depth = whole.depth._replace(shares=sparse.depth.shares, thin=False)
    truth = whole.equity_many(boards)
    error = sparse.equity_many(boards) - truth
    spread = error.std() / len(boards) ** 0.5
    assert abs(error.mean()) < 4 * spread
    assert error.std() < 0.5 * np.std(base.equity_many(boards) - truth)
    with_cube = [
        evaluator.cube_equities(boards[:60], cube_model_for(MatchState()), 0) for evaluator in (whole, sparse)
    ]
    assert np.abs(np.diff(with_cube, axis=0)).mean() < 0.05


def test_who_is_not_compiled_sees_every_roll():
    general = LookaheadEvaluator(General(load_static(default_player())), 2, "thin")
    whole = LookaheadEvaluator(general.without_lookahead, 2, "thin")
    whole.depth = whole.depth._replace(thin=False)
    boards = some_boards("pubeval", 2, seed=14)
    assert (general.equity_many(boards) == whole.equity_many(boards)).all()


def test_the_depth_is_in_the_name():
    assert load_evaluator("pubeval@2").name == "pubeval@2"
    assert load_evaluator("pubeval@2:normal").name == "pubeval@2"
    assert load_evaluator("pubeval@2:wide").name == "pubeval@2:wide"
    with pytest.raises(
        PlayerError, match=r"pubeval@2:deep: the depth after the plies must be one of narrow, normal, wide"
    ):
        load_evaluator("pubeval@2:deep")
