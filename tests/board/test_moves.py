"""Legal plays, compared with numbers counted by hand and with the slow enumerator in `oracle`."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings

from motif.board.movegen import MAX_PLAYS, ROLL_COUNTS, ROLLS, roll_numbers
from motif.board.moves import Play, decode_path, legal_plays, play_batches
from motif.board.outcome import Outcome, outcome
from motif.board.packed import Board
from motif.board.position import Position
from motif.runtime.errors import PlayError
from tests.board import oracle
from tests.board.oracle import PlainBoard
from tests.strategies import positions, rolls

Roll = tuple[int, int]

START = {24: 2, 13: 5, 8: 3, 6: 5}
LONE = dict.fromkeys(range(10, 25), 1)

# Own checkers, then the opponent's in the opponent's numbering: point p is the mover's 25 - p.
# Every number below is counted by hand; `test_the_oracle_counts_alike` checks the counting.
GOLDEN: list[tuple[str, dict[int, int], dict[int, int], Roll, int]] = [
    # Both dice, in either order.
    ("one checker, two ways to one place", {13: 1}, {1: 2}, (2, 1), 1),
    ("one checker, the lower die first is blocked", {13: 1}, {13: 2}, (2, 1), 1),
    ("one checker, the higher die first is blocked", {13: 1}, {14: 2}, (2, 1), 1),
    ("one checker, both first steps blocked: a dance", {13: 1}, {13: 2, 14: 2}, (2, 1), 1),
    ("two checkers, each die by either", {13: 1, 8: 1}, {1: 2}, (2, 1), 4),
    ("two checkers on one point", {13: 2}, {1: 2}, (2, 1), 2),
    ("a 6-5 from the midpoint: 13/2, 13/7 13/8", {13: 2}, {1: 2}, (6, 5), 2),
    ("10/4 is no play: it leaves no 4", {24: 1, 10: 1}, {5: 2, 11: 2}, (6, 4), 1),
    ("at first each die has but one checker", {20: 1, 14: 1}, {7: 2, 17: 2}, (6, 2), 2),
    ("only 24/18/17 plays both", {24: 1}, {2: 2, 3: 2, 4: 2, 5: 2, 6: 2}, (6, 1), 1),
    # Only one die.
    ("both play alone, not together: the higher", {13: 1}, {15: 2}, (2, 1), 1),
    ("the higher alone, by two checkers", {24: 1, 21: 1}, {2: 2, 5: 2, 8: 2, 11: 2}, (6, 1), 2),
    ("only the lower plays", {13: 1}, {14: 2, 15: 2}, (2, 1), 1),
    ("only the lower plays, by two checkers", {24: 1, 21: 1}, {7: 2, 8: 2, 10: 2, 11: 2}, (6, 1), 2),
    ("one die bears off, then nothing is left", {2: 1}, {1: 2}, (6, 5), 1),
    ("6 or 3, not both: the 6", {10: 1}, {24: 2}, (6, 3), 1),
    # Hits.
    ("hit on the way or not: two plays", {13: 1}, {13: 1}, (2, 1), 2),
    ("two blots on the way: two plays", {13: 1}, {13: 1, 14: 1}, (2, 1), 2),
    ("a blot where the checker stops", {13: 1}, {15: 1}, (2, 1), 1),
    ("hit on the way and where it stops", {13: 1}, {13: 1, 15: 1}, (2, 1), 2),
    ("point on the blot, pick and pass, or not", {8: 1, 6: 1}, {20: 1}, (3, 1), 6),
    ("two blots hit by two or by one", {8: 2}, {19: 1, 20: 1}, (3, 2), 3),
    ("a double has one way: it must hit", {24: 1}, {3: 1}, (2, 2), 1),
    ("four blots hit in a row", {24: 1}, {3: 1, 5: 1, 7: 1, 9: 1, 11: 1}, (2, 2), 1),
    # The bar.
    ("one on the bar, either die enters", {25: 1, 13: 1}, {6: 2}, (2, 1), 3),
    ("one on the bar, one die enters", {25: 1, 13: 1}, {1: 2}, (2, 1), 2),
    ("one on the bar, none enters: a dance", {25: 1, 13: 1}, {1: 2, 2: 2}, (2, 1), 1),
    ("only the lower enters, the higher is blocked", {25: 1}, {6: 2, 7: 2}, (6, 1), 1),
    ("either enters, not both play: the higher", {25: 1}, {7: 2}, (6, 1), 1),
    ("entering hits, or not", {25: 1, 6: 2}, {4: 1}, (4, 3), 4),
    ("two on the bar, both enter", {25: 2, 6: 1}, {12: 2}, (6, 4), 1),
    ("two on the bar, the lower enters", {25: 2, 6: 1}, {6: 2}, (6, 4), 1),
    ("two on the bar, the higher enters", {25: 2, 6: 1}, {4: 2}, (6, 4), 1),
    ("two on the bar, none enters: a dance", {25: 2, 6: 1}, {4: 2, 6: 2}, (6, 4), 1),
    ("two on the bar, a double: two more moves", {25: 2, 13: 1}, {8: 2}, (3, 3), 4),
    ("three on the bar, one stays", {25: 3, 6: 2}, {12: 2}, (5, 3), 1),
    ("three on the bar, a double: one more move", {25: 3, 6: 2}, {8: 2}, (2, 2), 2),
    ("four on the bar, a double enters all", {25: 4, 6: 2}, {8: 2}, (2, 2), 1),
    ("five on the bar, a double leaves one", {25: 5, 6: 2}, {8: 2}, (2, 2), 1),
    ("closed out: a dance", {25: 1, 6: 5}, {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2}, (6, 5), 1),
    ("in front of a full prime: a dance", {24: 2}, {2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 2}, (6, 5), 1),
    ("nothing is borne off while one is on the bar", {25: 1, 1: 2}, {6: 2}, (6, 1), 1),
    # Bearing off.
    ("exact: both off, or 6/3/off", {6: 1, 3: 1}, {1: 2}, (6, 3), 2),
    ("exact: both off, or 6/1 5/off", {6: 1, 5: 1}, {1: 2}, (6, 5), 2),
    ("larger dice bear off the rearmost", {3: 2}, {1: 2}, (6, 5), 1),
    ("a 4 from 5, or from 3 once 5/2 is played", {5: 1, 3: 1}, {1: 2}, (4, 3), 2),
    ("no 5 from 2 with a checker on 6", {6: 1, 2: 1}, {1: 2}, (5, 1), 2),
    ("not with a checker outside", {7: 1, 1: 1}, {1: 2}, (6, 1), 1),
    ("the last checker comes home, then one is off", {8: 1, 6: 1}, {1: 2}, (6, 2), 2),
    ("against an anchor", {6: 2, 4: 1}, {20: 2}, (5, 1), 2),
    ("2/1/off plays both dice, 2/off but one", {2: 1}, {1: 2}, (2, 1), 1),
    ("the last checker takes one die", {1: 1}, {1: 2}, (2, 1), 1),
    ("both dice to the end: 6/4*/off, not 6/off", {6: 1}, {21: 1}, (6, 2), 1),
    # Doubles.
    ("four off", {6: 4}, {1: 2}, (6, 6), 1),
    ("three off with the fourth unused", {2: 3}, {1: 2}, (5, 5), 1),
    ("6/1 comes before 4/off", {6: 1, 4: 1}, {1: 2}, (5, 5), 1),
    ("a gap: 2/1 and 1/off mixed", {2: 2, 1: 3}, {1: 2}, (1, 1), 2),
    ("two of four, then blocked", {13: 1}, {18: 2}, (2, 2), 1),
    ("three of four, then blocked", {14: 1, 10: 1}, {23: 2}, (4, 4), 1),
    ("none of four: a dance", {13: 2}, {14: 2}, (2, 2), 1),
    ("two checkers share four: 4-0, 3-1, 2-2", {24: 2}, {3: 1}, (2, 2), 3),
    ("start 66: at most 2 from 24 and 3 from 8", START, START, (6, 6), 11),
    ("start 55: at least one 13/8", START, START, (5, 5), 4),
    ("15 lone checkers: 15 + 15 * 14 pairs, 23 of them 7 pips of one", LONE, {24: 2}, (6, 1), 202),
]  # fmt: skip

# Positions from games with too many plays to count by hand; the numbers are the oracle's.
FROM_THE_ORACLE: list[tuple[str, dict[int, int], dict[int, int], Roll, int]] = [
    ("start 21", START, START, (2, 1), 15),
    ("start 31", START, START, (3, 1), 16),
    ("start 43", START, START, (4, 3), 17),
    ("start 64", START, START, (6, 4), 14),
    ("start 65", START, START, (6, 5), 7),
    ("start 22", START, START, (2, 2), 75),
    ("start 33", START, START, (3, 3), 73),
    ("start 44", START, START, (4, 4), 52),
    ("15 lone checkers share four", LONE, {24: 2}, (1, 1), 1654),
]


# The plays, for cases where a wrong play would give the same count: own checkers left after each play.
EXACT: list[tuple[str, dict[int, int], dict[int, int], Roll, list[dict[int, int]]]] = [
    ("both play alone, not together: the higher", {13: 1}, {15: 2}, (2, 1), [{11: 1}]),
    ("6 or 3, not both: the 6", {10: 1}, {24: 2}, (6, 3), [{4: 1}]),
    ("either enters, not both play: the higher", {25: 1}, {7: 2}, (6, 1), [{19: 1}]),
    ("only the lower enters", {25: 2, 6: 1}, {6: 2}, (6, 4), [{25: 1, 21: 1, 6: 1}]),
    ("only the lower plays", {13: 1}, {14: 2, 15: 2}, (2, 1), [{12: 1}]),
    ("24/18 10/6 is the only way to play both", {24: 1, 10: 1}, {5: 2, 11: 2}, (6, 4), [{18: 1, 6: 1}]),
    ("no 5 from 2 with a checker on 6", {6: 1, 2: 1}, {1: 2}, (5, 1), [{1: 2}, {2: 1}]),
    ("not with a checker outside", {7: 1, 1: 1}, {1: 2}, (6, 1), [{1: 1}]),
    ("three of four, then blocked", {14: 1, 10: 1}, {23: 2}, (4, 4), [{6: 2}]),
    ("a dance leaves all where it was", {25: 1, 13: 1}, {1: 2, 2: 2}, (2, 1), [{25: 1, 13: 1}]),
]

unfinished = positions().filter(lambda position: outcome(position) == Outcome.UNFINISHED)

SEEN_IN_GAMES = 2_500
"""Decisions of random games compared with the oracle in the quick run."""

Decision = tuple[PlainBoard, Roll, set[PlainBoard]]


def plain(position: Position) -> PlainBoard:
    return tuple(position.board.tolist())


def results(plays: list[Play]) -> set[PlainBoard]:
    return {plain(play.position) for play in plays}


def random_decisions(seed: int) -> Iterator[Decision]:
    """An endless stream of decisions from random games: the board, the roll and the oracle's results."""
    random = np.random.default_rng(seed)
    board = plain(Position.start())
    while True:
        high, low = sorted((int(die) for die in random.integers(1, 7, 2)), reverse=True)
        legal = oracle.legal_results(board, (high, low))
        yield board, (high, low), legal
        board = sorted(legal)[random.integers(len(legal))]
        if all(checkers >= 0 for checkers in board) or all(checkers <= 0 for checkers in board):
            board = plain(Position.start())


def difference(position: Position, roll: Roll, legal: set[PlainBoard]) -> str:
    """Describe the errors of `legal_plays`; empty if it agrees with `legal`."""
    plays = legal_plays(position, roll)
    found = results(plays)
    lines = [f"not found: {board}" for board in sorted(legal - found)]
    lines += [f"not legal: {board}" for board in sorted(found - legal)]
    if len(plays) != len(found):
        lines.append(f"{len(plays) - len(found)} duplicates")
    return "\n".join([f"{position!r} with {roll}:", *lines]) if lines else ""


@pytest.fixture(scope="module")
def game_decisions() -> list[Decision]:
    endless = random_decisions(seed=1)
    return [next(endless) for _ in range(SEEN_IN_GAMES)]


@pytest.mark.parametrize(
    ("own", "opponent", "roll", "number"),
    [pytest.param(*row[1:], id=row[0]) for row in GOLDEN + FROM_THE_ORACLE],
)
def test_number_of_plays(own, opponent, roll, number):
    position = Position.from_points(own, opponent)
    assert len(legal_plays(position, roll)) == number
    assert difference(position, roll, oracle.legal_results(plain(position), roll)) == ""


@pytest.mark.parametrize(
    ("own", "opponent", "roll", "left"), [pytest.param(*row[1:], id=row[0]) for row in EXACT]
)
def test_exact_plays(own, opponent, roll, left):
    found = [play.position.switch_sides() for play in legal_plays(Position.from_points(own, opponent), roll)]
    expected = [Position.from_points(points, opponent) for points in left]
    assert Counter(found) == Counter(expected)


def test_plays_of_random_games_agree_with_the_oracle(game_decisions):
    found = [difference(Position(board), roll, legal) for board, roll, legal in game_decisions]
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.slow
def test_plays_of_many_random_games_agree_with_the_oracle():
    endless = random_decisions(seed=2)
    for _ in range(50_000):
        board, roll, legal = next(endless)
        assert difference(Position(board), roll, legal) == ""


@settings(max_examples=300, deadline=None)
@given(unfinished, rolls())
def test_plays_of_any_position_agree_with_the_oracle(position, roll):
    assert difference(position, roll, oracle.legal_results(plain(position), roll)) == ""


def replayed(board: PlainBoard, roll: Roll, play: Play) -> PlainBoard:
    """`board` after the moves of `play`, each checked for legality and hits; not switched."""
    dice = sorted([*roll] * 2 if roll[0] == roll[1] else roll)
    for (source, target), hits in zip(play.moves, play.hits, strict=True):
        # A checker is borne off with the smallest remaining die that suffices.
        die = next(die for die in dice if (die == source - target if target else die >= source))
        dice.remove(die)
        assert oracle.may_move(board, source, die)
        assert hits == (target > 0 and board[target] == -1)
        board = oracle.after_move(board, source, die)
    return board


@settings(max_examples=300, deadline=None)
@given(unfinished, rolls())
def test_moves_lead_to_the_position(position, roll):
    high, low = roll
    before = plain(position)
    orders = [[high] * 4] if high == low else [[high, low], [low, high]]
    most = max(oracle.play_in_order(before, order)[0] for order in orders)
    for play in legal_plays(position, roll):
        after = replayed(before, roll, play)
        assert oracle.other_view(after) == plain(play.position)
        assert len(play.moves) == most


@settings(max_examples=200, deadline=None)
@given(unfinished, rolls())
def test_no_checker_is_lost(position, roll):
    for play in legal_plays(position, roll):
        borne_off = sum(target == 0 for _, target in play.moves)
        assert play.position.own_off == position.opponent_off
        assert play.position.opponent_off == position.own_off + borne_off
        assert -int(play.position.board[0]) <= int(position.board[25])
        assert int(play.position.board[25]) == -int(position.board[0]) + sum(play.hits)


@settings(max_examples=200, deadline=None)
@given(unfinished, rolls())
def test_a_player_passes_only_if_nothing_can_be_played(position, roll):
    plays = legal_plays(position, roll)
    movable = any(oracle.may_move(plain(position), source, die) for source in range(1, 26) for die in roll)
    passes = [play for play in plays if not play.moves]
    assert len(passes) == (0 if movable else 1)
    if passes:
        assert plays == [Play(position.switch_sides(), (), ())]


def test_the_order_of_the_dice_does_not_matter():
    for high, low in ROLLS:
        assert legal_plays(Position.start(), (low, high)) == legal_plays(Position.start(), (high, low))


def arrays_of(decisions: list[Decision]) -> tuple[Board, np.ndarray]:
    boards = np.array([board for board, _, _ in decisions], np.int8)
    return boards, np.array([roll for _, roll, _ in decisions])


@pytest.mark.parametrize("rows_at_once", [1, 4_000, 1 << 20])
def test_batches_equal_single_decisions(game_decisions, rows_at_once):
    decisions = game_decisions[:300]
    boards, rolls = arrays_of(decisions)
    done = 0
    for batch in play_batches(boards, rolls, rows_at_once):
        assert len(batch.boards) == len(batch.paths) == batch.offsets[-1] <= rows_at_once + MAX_PLAYS
        for start, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
            roll = decisions[done][1]
            rows = zip(batch.boards[start:end], batch.paths[start:end], strict=True)
            plays = [Play(Position(board), *decode_path(int(path), roll)) for board, path in rows]
            assert plays == legal_plays(Position(boards[done]), roll)
            done += 1
    assert done == len(boards)


def test_small_batches_are_several(game_decisions):
    boards, rolls = arrays_of(game_decisions)
    assert len(list(play_batches(boards, rolls, rows_at_once=1))) > 10
    assert len(list(play_batches(boards, rolls))) == 1
    assert list(play_batches(boards[:0], rolls[:0])) == []


@pytest.mark.parametrize("roll", [(0, 1), (1, 7), (-3, 3), (2.5, 1)])
def test_a_bad_roll_is_an_error_that_names_the_die(roll):
    wrong = next(die for die in roll if die not in range(1, 7))
    rule = "1 to 6" if isinstance(wrong, int) else "a whole number from 1 to 6"
    with pytest.raises(PlayError, match=f"^invalid roll: each die must be {rule}, not {wrong}"):
        legal_plays(Position.start(), roll)


def test_a_roll_is_found_among_all():
    assert roll_numbers(ROLLS).tolist() == list(range(21))
    assert roll_numbers(ROLLS[:0]).tolist() == []


def test_all_36_rolls_are_counted():
    throws = Counter((max(a, b), min(a, b)) for a in range(1, 7) for b in range(1, 7))
    assert {
        (int(high), int(low)): int(n) for (high, low), n in zip(ROLLS, ROLL_COUNTS, strict=True)
    } == throws
