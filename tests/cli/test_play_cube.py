"""Matches and money games with the cube in the terminal, typed as the prompts offer."""

import io
import json
import re
from dataclasses import replace

import pytest

from motif.board.game_record import CubeAction
from motif.board.match_file import read_match
from motif.cli.main import main
from motif.evaluators import load_evaluator
from motif.session.advisor import Advisor
from motif.session.session import GameSession, Seat, SessionRules
from tests.cli.robot import PROMPT, Robot

PEOPLE = ("human", "human", "--names", "Ann,Bob", "--hint-player", "motif-v1", "--seed", "7")
OPPONENT = ("pubeval", "--hint-player", "motif-v1", "--seed", "2027")
"""PubEval begins with 54: the first question is whether to double."""
TO_ROLL = "human: roll (Enter) or double to 2 [?]: "


class Keyboard(io.StringIO):
    """Standard input of somebody who sees the output so far."""

    def __init__(self, answers, capsys) -> None:
        super().__init__()
        self.answers, self.capsys, self.shown = answers, capsys, ""

    def readline(self, size=-1) -> str:
        printed = self.capsys.readouterr()
        self.shown += printed.out + printed.err
        return self.answers(self.shown) + "\n"


@pytest.fixture
def person(monkeypatch, capsys):
    """Run `motif play` with one fixed answer per kind of question; return the output."""

    def run(words, **ways):
        def answer(shown: str) -> str:
            prompt = PROMPT.match(shown.rpartition("\n")[2])
            assert prompt, shown[-500:]
            assert shown.count("]: ") < 900, shown[-2000:]
            heads = {": take": "take", ": roll": "roll", "to play": "plays", "anyway": "why", "": "yes"}
            kind = next(kind for words, kind in heads.items() if words in prompt["head"])
            return ways.get(kind, {"take": "take", "roll": "", "why": "yes", "plays": "1", "yes": "no"}[kind])

        keyboard = Keyboard(answer, capsys)
        monkeypatch.setattr("sys.stdin", keyboard)
        code = main(["play", *map(str, words)])
        return code, keyboard.shown + "".join(capsys.readouterr())

    return run


def kinds(robot: Robot) -> set[str]:
    return {re.sub(r" such as .*| 1-\d+", "", kind) for kind in robot.typed}


def actions(path) -> list[list[tuple[int, str]]]:
    """The cube actions of each recorded game."""
    games = read_match(path).games
    return [[(act.player, act.kind) for act in game.actions if isinstance(act, CubeAction)] for game in games]


def test_a_robot_types_all_that_the_cube_offers(monkeypatch, capsys, tmp_path):
    path = tmp_path / "all.mat"
    robot = Robot(str(tmp_path / "robot.mat"), seed=7)
    monkeypatch.setattr("sys.stdin", Keyboard(lambda shown: robot.answer(shown[len(robot.screen) :]), capsys))
    words = ["human", "human", "--names", "Ann,Bob", "--hint-player", "pubeval", "--seed", "7"]
    assert main(["play", *words, "--beavers", "--no-jacoby", "--save", str(path)]) == 0
    assert kinds(robot) >= {"roll", "double", "take", "pass", "beaver", "undo", "hint", "resign", "yes", "no"}
    games = read_match(path).games
    assert [bool(game.result) for game in games] == [True, True, False]
    assert "beaver" in [kind for _, kind in actions(path)[0]]


def test_an_empty_line_rolls_and_a_word_doubles(typing):
    ending = typing(["", "17"], *OPPONENT)
    assert (ending.code, ending.err) == (0, "")
    assert ending.out.startswith("human against pubeval: money play, Jacoby rule. ")
    assert re.search(
        rf"{re.escape(TO_ROLL)}\n\n Position ID: .*\n[^\[]*rolled 43\n[^\[]*human to play 43 \[", ending.out
    )
    assert ending.out.count("Position ID:") == 3  # before the roll and after it, and after the next roll
    assert ending.out.count("     rolled 43\n") == 1
    for word in ("double", "d", "redouble", "DOUBLE"):
        out = typing([word, "roll"], *OPPONENT).out
        assert f"{TO_ROLL}{word}\nhuman doubles to 2.\npubeval takes.\n" in out
        assert "O: pubeval (cube: 2)\n" in out
        # Without access to the cube, the dice are rolled at once, and `roll` was typed at the play.
        assert "you have already rolled: type a play or its number" in out
    assert "you have not rolled yet: type roll or double, not '17'" in typing(["17"], *OPPONENT).out


def test_undo_works_across_a_double(typing, tmp_path):
    path = tmp_path / "games.mat"
    out = typing(["double", "undo", "", "17", "undo", "undo", "17"], *OPPONENT, "--save", path).out
    assert out.count("human doubles to 2.") == 1
    assert actions(path) == [[]]
    assert [turn.roll for turn in read_match(path).games[0].actions[:2]] == [(5, 4), (4, 3)]


def test_hints_at_a_cube_decision(typing):
    out = typing(["hint"], *OPPONENT).out
    hint = re.search(
        r"The cube according to motif-v1, with equities for human:\n"
        r" +no double +([+-][.\d]+)\n"
        r" +double, take +([+-][.\d]+)\n"
        r" +double, pass +\+1.000\n +A .* no double: ",
        out,
    )
    assert float(hint[1]) > float(hint[2])
    out = typing(["hint"], *OPPONENT, "--length", "5").out
    assert len(re.findall(r"[+-]\d\.\d{3} +\d+\.\d\d % MWC\n", out)) == 3


def test_a_player_doubles_and_a_person_passes(person, tmp_path):
    path = tmp_path / "games.mat"
    code, shown = person([*OPPONENT, "--games", 2, "--save", path, "--json"], take="pass")
    assert code == 0
    asked = "human: take at 2, or pass and lose 1 point [?]: "
    assert "pubeval doubles to 2.\n" in shown
    assert shown.index("     doubles to 2\n") < shown.index(asked)
    assert (
        "human passes.\npubeval wins 1 point: human passed the double. Score: human 0, pubeval 1.\n" in shown
    )
    assert actions(path) == [[(1, "double"), (0, "drop")]] * 2
    document = json.loads(re.search(r"\{\"players.*\}", shown)[0])
    assert document["score"] == [0, 2]
    assert [(game["points"], game["dropped"], game["doubles"]) for game in document["games"]] == [
        (1, True, 1)
    ] * 2


def test_a_player_takes_and_is_redoubled(person, tmp_path):
    code, shown = person(["random", *OPPONENT[1:], "--games", 1, "--save", tmp_path / "a.mat"], roll="double")
    assert code == 0
    (acts,) = actions(tmp_path / "a.mat")
    assert acts[:2] == [(0, "double"), (1, "take")]
    assert "human doubles to 2.\nrandom takes.\n" in shown
    # PubEval's scores are not probabilities: the advisor handles the cube, as for `random`.
    assert "random redoubles to 4.\n" in shown
    assert "human takes.\n" in shown


def test_a_match_to_its_end(person, tmp_path):
    path = tmp_path / "match.mat"
    words = [*OPPONENT, "--length", 3, "--save", path, "--json"]
    code, shown = person(words)
    assert code == 0
    assert "human against pubeval: a 3-point match. " in shown
    assert "Another game?" not in shown
    record = read_match(path)
    score = [0, 0]
    for game in record.games:
        assert game.score == tuple(score)
        score[game.result.winner] += game.result.points
    document = json.loads(re.search(r"\{\"players.*\}", shown)[0])
    assert (document["length"], document["score"], document["unfinished"]) == (3, score, False)
    winner = score.index(max(score))
    assert document["winner"] == document["players"][winner]
    assert f"{document['winner']} wins the 3-point match: {max(score)} to {min(score)}.\n" in shown
    assert record.length == 3
    first = path.read_text("utf-8")
    path.unlink()
    assert person(words)[1] == shown
    assert path.read_text("utf-8") == first


def test_the_crawford_game_asks_for_no_double(typing):
    lines = ["resign", "single", "yes", "yes", "1", "1", "1", "1"]
    ending = typing(lines, *PEOPLE, "--length", "2")
    assert ending.code == 0
    game = ending.out.partition("Game 2. ")[2]
    assert "starts. Crawford game: no doubling.\n" in game
    assert re.search(r" 2-point match, Crawford game\n.* \(cube: 1\)\n", game)
    assert len(re.findall(r"\w rolled \d\d and", game)) == 4
    assert "or double" not in game


def test_no_question_where_the_cube_is_dead(typing):
    out = typing(["1", "1", "1"], *PEOPLE, "--length", "1").out
    assert "or double" not in out
    out = typing(["1", "double", "take", "1", "1"], *PEOPLE, "--length", "2").out
    assert out.count("or double") == 1
    assert "doubles to 2.\n" in out


def test_the_owner_of_the_cube_redoubles(typing, tmp_path):
    path = tmp_path / "a.mat"
    lines = ["1", "double", "take", "1", "redouble", "drop"]
    out = typing(lines, *PEOPLE, "--save", path).out
    first, second = (
        re.search(r"(\w+) redoubles to 4\.\n", out)[1],
        re.search(r"(\w+) doubles to 2\.\n", out)[1],
    )
    assert {first, second} == {"Ann", "Bob"}
    assert f"{first}: roll (Enter) or double to 4 [" in out
    assert f"{second}: take at 4, or pass and lose 2 points [?]: " in out
    assert f"{first} wins 2 points: {second} passed the double." in out
    assert [kind for _, kind in actions(path)[0]] == ["double", "take", "double", "drop"]


def test_beavers(typing, tmp_path):
    path = tmp_path / "a.mat"
    lines = ["1", "double", "beaver", "1", "redouble", "hint"]
    out = typing(lines, *PEOPLE, "--beavers", "--save", path).out
    assert re.search(r"\w+: take at 2, beaver to 4, or pass and lose 1 point \[\?\]", out)
    assert "beavers to 4.\n" in out
    assert "(cube: 4)" in out
    assert re.search(r"\w+: take at 8, beaver to 16, or pass and lose 4 points \[\?\]", out)
    assert [kind for _, kind in actions(path)[0]] == ["double", "beaver", "double"]
    assert "please type one of: take, pass\n" in typing(["1", "double", "beaver"], *PEOPLE).out


def test_raccoons(typing, tmp_path):
    path = tmp_path / "a.mat"
    lines = ["1", "double", "beaver", "what", "hint", "raccoon", "undo", "", "1"]
    ending = typing(lines, *PEOPLE, "--raccoons", "--save", path)
    assert re.search(r"\w+: roll \(Enter\) or raccoon to 8 \[\?\]", ending.out)
    assert "please type one of: roll, raccoon\n" in ending.out
    assert "If beavered, do not raccoon" in ending.out
    assert ending.out.count("raccoons to 8.\n") == 1
    assert [kind for _, kind in actions(path)[0]] == ["double", "beaver"]
    path = tmp_path / "b.mat"
    out = typing([*lines[:6], "1"], *PEOPLE, "--raccoons", "--save", path).out
    assert "(cube: 8)" in out
    assert [kind for _, kind in actions(path)[0]] == ["double", "beaver", "raccoon"]
    assert "raccoon" not in typing(lines[:3], *PEOPLE, "--beavers").out


def test_the_tutor_objects_to_a_raccoon(typing):
    lines = ["1", "yes", "double", "yes", "beaver", "raccoon", "no", ""]
    out = typing(lines, *PEOPLE, "--raccoons", "--tutor", "motif-v1").out
    assert re.search(r"motif-v1: a raccoon costs 0\.\d+ points\.", out)
    assert "Raccoon anyway? [yes, no, why" in out


def test_players_raccoon_by_their_own_probabilities(typing):
    """A robot that was beavered by mistake."""
    advisor = Advisor(load_evaluator("motif-v1"))
    session = GameSession((Seat("a"), Seat("b")), (), SessionRules(beavers=True, raccoons=True))
    session.begin((3, 1))
    for roll in ((3, 1), (2, 1)):
        if session.roll is None:
            session.set_dice(roll)
        session.play(session.plays[0])
    session.turn_cube("double")
    session.turn_cube("beaver")
    decision = advisor.cube(session)
    before = replace(session.state(), cube=1, cube_owner="centre", doubled=False, decision="me")
    assert decision.state == before
    assert (advisor.raises(session) == "raccoon") == (decision.double_take > 0)


def test_dice_of_a_real_board(typing, tmp_path):
    path = tmp_path / "a.mat"
    lines = ["52", "1", "double", "take", "double", "31", "1", "hint", "31", "1"]
    out = typing(lines, *PEOPLE, "--dice", "manual", "--save", path).out
    assert "Roll of Bob, such as 31, or double [?]: " in out
    assert "Bob doubles to 2.\n" in out
    # Ann owns the cube: Bob cannot double again.
    assert "Roll of Bob, such as 31 [?]: " in out
    assert "The cube according to motif-v1, with equities for Ann:" in out
    assert actions(path) == [[(1, "double"), (0, "take")]]


def test_people_may_resign_before_they_type_the_dice(typing):
    lines = ["52", "1", "resign", "yes", "no", "hint", "resign single", "yes", "yes", "no"]
    out = typing(lines, *PEOPLE, "--dice", "manual").out
    assert re.search(r"Ann declines\.\n", out)
    assert re.search(r"Ann wins a single game.*Bob resigned", out)


def test_the_record_may_be_sgf(typing, tmp_path):
    lines = ["1", "double", "beaver", "1", "save copy.txt", f"save {tmp_path / 'copy.sgf'}"]
    path = tmp_path / "a.sgf"
    out = typing(lines, *PEOPLE, "--beavers", "--save", path).out
    assert "not saved: copy.txt: the suffix of a match file must be .mat or .sgf\n" in out
    assert path.read_text().startswith("(;")
    assert actions(path) == [[(1, "double"), (0, "beaver")]]
    assert path.read_bytes() == (tmp_path / "copy.sgf").read_bytes()


def test_auto_roll_asks_only_where_it_takes_a_thought(typing):
    asked = typing(["", "17", "", "1"], *OPPONENT).out
    assert asked.count("or double") == 2
    automatic = typing(["17", "1"], *OPPONENT, "--auto-roll").out
    assert automatic.count("or double") == 0
    assert re.findall(" rolled .. and.*", asked) == re.findall(" rolled .. and.*", automatic)


@pytest.mark.parametrize("lines", [["1"], ["1", "double"], ["1", "double", "take"]])
def test_the_end_of_the_input_saves_the_cube(typing, tmp_path, lines):
    path = tmp_path / "games.mat"
    ending = typing(lines, *PEOPLE, "--save", path)
    assert ending.code == 0
    assert ending.out.endswith(f"Saved to {path}\n")
    assert [kind for _, kind in actions(path)[0]] == lines[1:]


def test_resignations_count_the_cube(typing):
    out = typing(["1", "double", "take", "resign", "gammon", "yes", "yes", "no"], *PEOPLE).out
    assert re.search(r"Give \w+ 4 points and end the game\?", out)
    at_once = typing(["1", "double", "take", "resign gammon", "yes", "yes", "no"], *PEOPLE).out
    assert re.search(r"Give \w+ 4 points and end the game\?", at_once)
    assert "Resign what?" not in at_once
    assert re.search(r"wins a gammon with the cube at 2: 4 points, \w+ resigned\. Score", out)
    # Gammons without a double count one point: there is nothing to choose.
    out = typing(["resign gammon", "resign", "yes", "yes", "no"], *PEOPLE).out
    assert "Resign what?" not in out
    why = "under the Jacoby rule, gammons do not count before a double."
    assert f"You cannot resign a gammon: {why}\n" in out
    assert f"You resign a single game: {why}\n" in out
    assert re.search(r"wins a single game: \w+ resigned\.", out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--length", "-1"), "length must be 1 to 64 points (0: money play), not -1"),
        (("--length", "65"), "length must be 1 to 64 points"),
        (("--length", "3", "--jacoby"), "the Jacoby rule is for money play"),
        (("--length", "3", "--beavers"), "beavers are for money play"),
        (("--no-cube", "--beavers"), "beavers need the cube"),
        (("--no-cube", "--raccoons"), "raccoons need the cube"),
        (("--length", "3", "--raccoons"), "raccoons are for money play"),
        (("--length", "3", "--games", "2"), "--games requires money play"),
        (("--tutor", "random"), "'random' chooses plays but cannot evaluate"),
        (("--tutor-limit", "0.1"), "--tutor-limit requires --tutor"),
        (("--tutor-limit", "-1"), "--tutor-limit must be at least 0"),
        (("--tutor-limit", "nan"), "--tutor-limit must be at least 0"),
    ],
)
def test_bad_options_end_in_one_line(typing, words, said):
    ending = typing([], *words)
    assert (ending.code, ending.out) == (2, "")
    assert ending.err.startswith("motif: error: ")
    assert ending.err.count("\n") == 1
    assert said in ending.err
