"""Sessions with the cube: who may turn it when, the points of games, the end of a match, undoing."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from motif.board.game_record import CubeAction, GameResult, game_facts
from motif.board.mat_file import mat_text, parse_mat
from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.position import Position
from motif.players.resignations import is_accepted
from motif.rollouts.games import SeededDice
from motif.runtime.errors import RecordError, SettingError
from motif.session.session import GameSession, Seat, SessionRules

ANN, BOB = Seat("Ann"), Seat("Bob")
MONEY = SessionRules(jacoby=True)
BEAVERS = SessionRules(jacoby=True, beavers=True)
RACCOONS = SessionRules(beavers=True, raccoons=True)
RACE = Position.from_points({6: 2, 1: 1}, {6: 2, 1: 1})
GAMMON = Position.from_points({1: 1}, {13: 15})
"""The player on roll wins a gammon with any roll."""


def begun(rules: SessionRules, dice=(3, 1), score=(0, 0)) -> GameSession:
    session = GameSession((ANN, BOB), (), rules)
    session.score = score
    session.begin(dice)
    return session


def turn(session: GameSession, roll=(2, 1)) -> None:
    """Roll, if necessary, and make the first legal play."""
    if session.roll is None:
        session.set_dice(roll)
    session.play(session.plays[0])


def place(session: GameSession, position: Position) -> None:
    """Put `position` on the board, before the roll."""
    session._progress.position = position


def resign(session: GameSession, winner: int, offered: str = "single") -> None:
    """Let the other player lose at the next turn."""
    while session.on_roll == winner or session.roll is None:
        turn(session) if session.roll else session.set_dice((2, 1))
    session.resign(offered)


def test_the_cube_goes_to_the_player_who_takes():
    session = begun(MONEY)
    assert not session.can_double  # the opening dice are rolled
    turn(session)
    assert (session.on_roll, session.can_double) == (1, True)
    session.turn_cube("double")
    assert (session.on_roll, session.to_decide, session.answers) == (1, 0, ("take", "drop"))
    assert (session.cube, session.state().doubled, session.state().decision) == (1, True, "opponent")
    with pytest.raises(RecordError, match="has not been taken or dropped"):
        session.set_dice((2, 1))
    session.turn_cube("take")
    assert (session.cube, session.state().cube_owner, session.doubled) == (2, "opponent", False)
    assert not session.can_double
    turn(session)
    assert session.state().cube_owner == "me"
    assert session.can_double
    turn(session)
    assert not session.can_double  # Ann owns it
    with pytest.raises(RecordError, match="you cannot double now"):
        session.turn_cube("double")


def test_a_dropped_double_scores_what_the_cube_showed_before():
    session = begun(MONEY)
    turn(session)
    session.turn_cube("double")
    session.turn_cube("take")
    turn(session)
    session.turn_cube("double")
    session.turn_cube("drop")
    assert session.result == GameResult(0, 2)
    assert session.score == (2, 0)
    facts = game_facts(session.record().games[0])
    assert (facts.cube, facts.doubles, facts.dropped, facts.kind) == (2, 2, True, None)
    assert facts.in_words("Bob") == "2 points: Bob passed the double"


def test_the_first_double_dropped_scores_one_point():
    session = begun(SessionRules(length=5))
    turn(session)
    session.turn_cube("double")
    session.turn_cube("drop")
    assert (session.result, session.score) == (GameResult(1, 1), (0, 1))
    with pytest.raises(RecordError, match="no double to take"):
        session.turn_cube("take")


@pytest.mark.parametrize(
    ("rules", "doubled", "points"),
    [
        (MONEY, False, 1),
        (MONEY, True, 4),
        (SessionRules(), False, 2),
        (SessionRules(length=9), False, 2),
        (SessionRules(length=9), True, 4),
    ],
)
def test_gammons_count_once_doubled_with_the_jacoby_rule(rules, doubled, points):
    session = begun(rules)
    turn(session)
    if doubled:
        session.turn_cube("double")
        session.turn_cube("take")
    assert session.resignations() == (
        ["single"] if rules.jacoby and not doubled else ["single", "gammon", "backgammon"]
    )
    place(session, GAMMON)
    turn(session)
    assert session.result == GameResult(1, points)
    assert session.record().games[0].result.points == points


def test_the_words_for_the_result():
    found = set()
    for rules, seed in ((rules, seed) for rules in (MONEY, SessionRules()) for seed in range(6)):
        game = one_random_game(seed, rules)
        facts, won = game_facts(game), abs(outcome(game.actions[-1].play.position))
        kind = ["a single game", "a gammon", "a backgammon"][won - 1]
        counts_one = ", which counts as 1 point without a double (Jacoby rule)" * (rules.jacoby and won > 1)
        assert facts.in_words("Bob") == kind + counts_one
        assert facts.turns == len(game.actions)
        found.add((rules.jacoby, won > 1))
    assert len(found) == 4


def one_random_game(seed: int, rules: SessionRules):
    session = GameSession((ANN, BOB), (), rules)
    random_game(session, random.Random(seed), doubles=0.0, resigns=0.0)
    return session.record().games[0]


def test_beavers_keep_the_cube():
    session = begun(BEAVERS)
    turn(session)
    session.turn_cube("double")
    assert session.answers == ("take", "drop", "beaver")
    session.turn_cube("beaver")
    # The double is taken, so the doubler rolls.
    assert (session.on_roll, session.to_decide, session.answers, session.can_double) == (1, 1, (), False)
    assert (session.cube, session.state().cube_owner) == (4, "opponent")
    session.set_dice((2, 1))
    assert (session.cube, session.state().cube_owner) == (4, "opponent")
    assert session.resignations() == ["single", "gammon", "backgammon"]
    turn(session)
    assert (session.cube, session.state().cube_owner, session.can_double) == (4, "me", True)
    record = session.record()
    assert parse_mat(mat_text(record)) == record
    session.undo()
    session.undo()
    assert (session.cube, session.doubled, session.to_decide) == (1, True, 0)


@pytest.mark.parametrize("offered", ["single", "gammon", "backgammon"])
def test_a_resignation_accepts_a_pending_beaver(offered):
    session = begun(BEAVERS)
    turn(session)
    session.turn_cube("double")
    session.turn_cube("beaver")
    session.resign(offered)
    record = session.record()
    assert parse_mat(mat_text(record)) == record
    facts = game_facts(record.games[0])
    assert (facts.kind, facts.cube, facts.result) == (offered, 4, session.result)


def test_a_raccoon_leaves_the_cube_with_the_player_who_beavered():
    session = begun(RACCOONS)
    turn(session)
    assert not session.can_raccoon
    session.turn_cube("double")
    assert not session.can_raccoon
    session.turn_cube("beaver")
    assert (session.on_roll, session.can_raccoon, session.can_double) == (1, True, False)
    session.turn_cube("raccoon")
    assert (session.can_raccoon, session.answers) == (False, ())
    with pytest.raises(RecordError, match="no beaver to raccoon"):
        session.turn_cube("raccoon")
    assert (session.cube, session.state().cube_owner, session.state().raccoons) == (8, "opponent", True)
    turn(session)
    assert (session.cube, session.state().cube_owner, session.can_double) == (8, "me", True)
    record = session.record()
    assert parse_mat(mat_text(record)) == record
    for _ in range(2):
        session.undo()
    assert (session.cube, session.can_raccoon, session.on_roll) == (4, True, 1)


def test_no_raccoons_where_they_are_not_allowed():
    session = begun(BEAVERS)
    turn(session)
    session.turn_cube("double")
    session.turn_cube("beaver")
    with pytest.raises(RecordError, match="no beaver to raccoon"):
        session.turn_cube("raccoon")


def test_no_beavers_where_they_are_not_allowed():
    for rules in (MONEY, SessionRules(length=7)):
        session = begun(rules)
        turn(session)
        session.turn_cube("double")
        with pytest.raises(RecordError, match="no double to beaver"):
            session.turn_cube("beaver")


def test_resignations_are_worth_the_cube():
    session = begun(SessionRules(length=9))
    turn(session)
    session.turn_cube("double")
    session.turn_cube("take")
    session.set_dice((6, 1))
    session.resign("gammon")
    assert session.result == GameResult(0, 4, resigned=True)
    record = session.record()
    assert parse_mat(mat_text(record)) == record
    assert (
        game_facts(record.games[0]).in_words("Bob") == "a gammon with the cube at 2: 4 points, Bob resigned"
    )


def test_resignations_that_are_enough_whatever_the_position():
    class Never:
        def equity_many(self, boards):
            raise AssertionError("asked")

    match = begun(SessionRules(length=3), score=(2, 0))
    turn(match)
    assert is_accepted(match.position, match.state(), Never(), "single")
    money = begun(MONEY)
    turn(money)
    assert is_accepted(money.position, money.state(), Never(), "single")


@pytest.mark.parametrize(
    ("length", "score", "crawford"),
    [(5, (4, 0), True), (5, (3, 4), True), (5, (3, 3), False), (1, (0, 0), False), (2, (1, 0), True)],
)
def test_the_crawford_game(length, score, crawford):
    session = begun(SessionRules(length=length), score=score)
    turn(session)
    assert session.state().crawford == crawford
    assert session.can_double == (not crawford and length > 1)


def test_the_cube_is_back_after_the_crawford_game():
    session = begun(SessionRules(length=5), score=(4, 2))
    resign(session, winner=1)
    session.begin((1, 3))
    assert session.score == (4, 3)
    turn(session)
    assert not session.state().crawford
    # Ann needs one point: the cube is dead for her, but not for Bob.
    assert (session.on_roll, session.can_double) == (0, False)
    turn(session)
    assert (session.on_roll, session.can_double) == (1, True)
    resign(session, winner=1)
    assert session.score == (4, 4)
    session.begin((3, 1))
    turn(session)
    assert not session.state().crawford
    assert not session.can_double


@pytest.mark.parametrize("offers", [["double"], ["double", "beaver"]])
def test_after_a_resignation_no_double_is_on_offer(offers):
    session = begun(RACCOONS)
    turn(session)
    for kind in offers:
        session.turn_cube(kind)
    session.resign("single")
    assert not session.doubled
    assert not session.can_raccoon
    assert session.answers == ()
    assert session.state().decision == "me"


def test_a_cube_that_wins_the_match_already_is_dead():
    session = begun(SessionRules(length=5), score=(3, 1))
    turn(session)
    session.turn_cube("double")
    session.turn_cube("take")
    turn(session)
    # A two-cube is enough for Ann's two points.
    assert (session.on_roll, session.can_double) == (0, False)


def test_a_match_ends_on_its_own():
    session = begun(SessionRules(length=3), score=(2, 2))
    assert session.match_winner is None
    resign(session, winner=1, offered="gammon")
    assert (session.match_winner, session.score) == (1, (2, 4))
    with pytest.raises(RecordError, match="the match is over"):
        session.begin((3, 1))
    assert session.state().game_state == "resigned"
    assert begun(MONEY).match_winner is None


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"length": 65}, "length must be 1 to 64 points"),
        ({"length": -1}, "length must be 1 to 64 points"),
        ({"length": 3, "jacoby": True}, "the Jacoby rule is for money play"),
        ({"length": 3, "beavers": True}, "beavers are for money play"),
        ({"cube": False, "jacoby": True}, "the Jacoby rule needs the cube"),
        ({"cube": False, "beavers": True}, "beavers need the cube"),
        ({"cube": False, "raccoons": True}, "raccoons need the cube"),
        ({"length": 3, "raccoons": True}, "raccoons are for money play"),
        ({"length": "3"}, "length must be a whole number, not '3'"),
        ({"jacoby": "yes"}, "jacoby must be True or False, not 'yes'"),
    ],
)
def test_rules_that_do_not_go_together(rules, said):
    with pytest.raises(SettingError, match=said):
        SessionRules(**rules)


def test_raccoons_allow_beavers():
    assert SessionRules(raccoons=True) == SessionRules(beavers=True, raccoons=True)


def test_without_the_cube_there_are_no_doubles():
    session = begun(SessionRules(length=5, cube=False))
    turn(session)
    assert not session.can_double


def test_undo_goes_back_across_doubles_and_takes():
    session = begun(MONEY)
    turn(session)
    before = session.state()
    session.turn_cube("double")
    offered = session.state()
    session.turn_cube("take")
    turn(session, (6, 4))
    session.undo()
    assert (session.roll, session.cube) == ((6, 4), 2)
    session.undo()
    assert (session.state(), session.doubled) == (offered, True)
    session.undo()
    assert (session.state(), session.can_double, session.roll) == (before, True, None)
    # Now rolled without a double, but with the same dice.
    session.set_dice(session.known_roll)
    assert (session.roll, session.cube) == ((6, 4), 1)
    session.undo()
    assert (session.on_roll, session.roll) == (0, (3, 1))
    assert not session.can_undo


def test_undo_passes_over_the_cube_actions_of_players():
    from motif.players import load

    session = GameSession((ANN, Seat("random", load("random"))), (), MONEY)
    session.begin((3, 1))
    first = session.position
    turn(session)
    session.turn_cube("double")
    session.turn_cube("take")
    session.undo()
    assert session.doubled
    session.undo()
    assert (session.position, session.roll) == (first, (3, 1))


def test_a_double_that_was_not_answered_is_on_record():
    session = begun(MONEY)
    turn(session)
    session.turn_cube("double")
    record = session.record()
    assert record.games[0].actions[-1] == CubeAction(1, "double")
    assert parse_mat(mat_text(record)) == record


def random_game(
    session: GameSession, chance: random.Random, *, doubles=0.15, resigns=0.01, undoes=0.0
) -> None:
    """One more game of a session, played at random to its end."""
    dice = SeededDice(chance.randrange(1000))
    session.begin(dice.opening(session.games))
    while session.result is None:
        state = session.state()
        assert (state.length, state.cube) == (session.rules.length, session.cube)
        if session.can_undo and chance.random() < undoes:
            session.undo()
        elif session.doubled:
            session.turn_cube(chance.choice([*session.answers, "take"]))
        elif session.roll is not None:
            if chance.random() < resigns:
                session.resign(chance.choice(session.resignations()))
            else:
                session.play(chance.choice(session.plays))
        elif session.can_double and chance.random() < doubles:
            session.turn_cube("double")
        elif session.can_raccoon and chance.random() < 0.5:
            session.turn_cube("raccoon")
        else:
            session.set_dice(dice.roll(session.games, session.ply))


def cube_after(kinds: list[str]) -> int:
    """The cube at the end of a game with these cube actions."""
    return 2 ** (kinds.count("take") + 2 * kinds.count("beaver") + kinds.count("raccoon"))


@settings(max_examples=8, deadline=None)
@example(6089, RACCOONS)
@given(
    st.integers(0, 10**9),
    st.sampled_from([MONEY, BEAVERS, RACCOONS, SessionRules(), *map(SessionRules, (1, 2, 5, 7))]),
)
def test_random_sessions_obey_the_rules(seed, rules):
    chance = random.Random(seed)
    session = GameSession((ANN, BOB), (), rules)
    while session.games < 3 and session.match_winner is None:
        random_game(session, chance, undoes=0.1)
    record = session.record()
    assert parse_mat(mat_text(record)) == record
    score, at_match_point = [0, 0], 0
    for game in record.games:
        assert game.score == tuple(score)
        kinds = [action.kind for action in game.actions if isinstance(action, CubeAction)]
        if rules.length and max(score) == rules.length - 1:
            at_match_point += 1
            assert at_match_point > 1 or not kinds
        cube, points = cube_after(kinds), game.result.points
        if "drop" in kinds:
            assert points == cube
        elif game.result.resigned:
            assert points in (cube, 2 * cube, 3 * cube)
        else:
            won = abs(outcome(game.actions[-1].play.position))
            assert points == cube * (1 if rules.jacoby and not kinds else won)
        score[game.result.winner] += points
    assert tuple(score) == session.score
    if session.match_winner is not None:
        assert max(score) >= rules.length > max(record.games[-1].score)
        assert score[session.match_winner] == max(score)


def test_legal_plays_are_those_of_the_position():
    session = begun(MONEY)
    turn(session)
    place(session, RACE)
    session.set_dice((6, 1))
    assert session.plays == legal_plays(RACE, (6, 1))
