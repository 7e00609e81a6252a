"""The command `cube`."""

import json
import re

import pytest

from motif import cube
from motif.board.identifiers import gnubg_ids
from motif.board.match_state import MatchState, match_id
from motif.board.parsing import parse_position
from motif.board.position import Position
from motif.doubling import cube_decision
from motif.evaluators import Probabilities

RACE = "dPexAAB07zMAAA"
OVER = gnubg_ids(Position.from_points({}, {6: 5, 5: 5}).board[None])[0]
START_XGID = "XGID=-b----E-C---eE---c-e----B-"


def test_what_programs_get(motif_json):
    found = motif_json("cube", RACE, "--player", "pubeval")
    assert {"action", "no_double", "double_take", "double_pass", "take_point"} <= set(found)
    chances = Probabilities(*(found[name] for name in Probabilities._fields))
    position, _ = parse_position(RACE)
    decision = cube_decision(chances, MatchState(), position)
    assert found["action"] == decision.action
    assert found["no_double"] == pytest.approx(decision.no_double)
    assert found["double_take"] == pytest.approx(decision.double_take)
    assert found["double_pass"] == 1
    assert found["take_point"] == pytest.approx(1 - found["cash_point"])
    record = cube(RACE, "pubeval").to_dict()
    assert {name: found[name] for name in record} == record
    assert set(found) - set(record) == {"words", "class", "player", "position"}
    assert found["cubeless"] == chances.equity
    assert found["class"] == "race"
    assert found["efficiency"] == pytest.approx(0.55 + 0.00125 * 81)
    assert [window["name"] for window in found["windows"]] == ["dead", "efficiency", "live"]
    assert found["mwc_no_double"] is None
    assert (found["cube"], found["owner"], found["length"]) == (1, "centre", 0)


def test_what_people_get(motif):
    text = motif("cube", RACE, "--player", "pubeval").out
    for words in ("pips 81", "no double", "double, take", "your window", "opponent's window", "costs"):
        assert words in text
    assert "against best action" in text
    assert "too inaccurate for cube decisions" in motif("cube", RACE, "--player", "pubeval").err
    assert motif("cube", RACE, "--player", "motif-v1").err == ""
    # A wrong pass is an error of the opponent.
    assert re.search(r"double, pass +\+1\.000 *\n", text)
    text = motif("cube", RACE, "--player", "pubeval", "--length", "7", "--score", "3-5").out
    assert "MWC" in text
    text = motif("cube", RACE, "--cube", "2", "--owner", "me", "--player", "pubeval").out
    assert "redouble, take" in text
    text = motif("cube", RACE, "--owner", "opponent", "--player", "pubeval").out
    assert "The opponent owns the cube, so only they can double." in text


def test_ids_bring_their_match_along(motif_json):
    state = MatchState(length=7, own_score=3, opponent_score=5, cube=2, cube_owner="me")
    found = motif_json("cube", f"{RACE}:{match_id(state)}", "--player", "pubeval")
    assert (found["length"], found["score"], found["cube"], found["owner"]) == (7, [3, 5], 2, "me")
    overridden = motif_json("cube", f"{RACE}:{match_id(state)}", "--player", "pubeval", "--score", "0-0")
    assert (overridden["score"], overridden["cube"]) == ([0, 0], 2)
    assert overridden["no_double"] != found["no_double"]
    flags = ("--length", "7", "--score", "3-5", "--cube", "2", "--owner", "me", "--player", "pubeval")
    assert motif_json("cube", RACE, *flags) == found


def test_an_xgid_with_dice_and_money_rules(motif_json):
    found = motif_json("cube", f"{START_XGID}:0:0:1:31:0:0:3:0:10", "--player", "pubeval")
    assert (found["jacoby"], found["beavers"]) == (True, True)
    found = motif_json("cube", f"{START_XGID}:0:0:1:31:0:0:3:0:10", "--no-jacoby", "--player", "pubeval")
    assert (found["jacoby"], found["beavers"]) == (False, True)
    doubled = motif_json("cube", f"{START_XGID}:0:0:1:D:2:3:0:7:10", "--player", "pubeval")
    assert (doubled["length"], doubled["cube"], doubled["owner"]) == (7, 1, "centre")


LAST_ROLL = "AQAAiAAAAAAAAA"


def test_a_last_roll_is_exact(motif, motif_json):
    found = motif_json("cube", LAST_ROLL, "--player", "pubeval")
    assert (found["exact"], found["action"]) == (True, "double, take")
    assert found["no_double"] == pytest.approx(1 / 18)
    text = motif("cube", LAST_ROLL, "--player", "pubeval").out
    assert text.lower().count("exact, from the bearoff tables") == 1
    assert re.search(r"no double +\+0\.056 +-0\.055 *\n", text)
    assert "waiting costs 0.055" in text
    assert "window" not in text
    modelled = motif_json("cube", LAST_ROLL, "--efficiency", "0.6", "--player", "pubeval")
    assert not modelled["exact"]


@pytest.mark.parametrize("score", ["2-1", "2-2", "1-1"])
def test_match_winning_chances_are_not_those_of_rounded_equities(motif, motif_json, score):
    words = ("cube", LAST_ROLL, "--length", 3, "--score", score, "--player", "pubeval")
    shown = re.search(r"no double .* (\S+) %", motif(*words).out)[1]
    assert shown == f"{100 * motif_json(*words)['mwc_no_double']:.2f}"


def test_many_positions_at_once(motif, motif_json, tmp_path):
    path = tmp_path / "positions"
    state = MatchState(length=7, own_score=3, opponent_score=5, cube=2, cube_owner="me")
    names = [RACE, LAST_ROLL, f"{RACE}:{match_id(state)}"]
    path.write_text("# positions\n\n" + "\n".join(names))
    text = motif("cube", "--batch", path, "--json", "--player", "pubeval").out
    records = [json.loads(line) for line in text.splitlines()]
    assert records == [motif_json("cube", name, "--player", "pubeval") for name in names]
    lines = motif("cube", "--batch", path, "--player", "pubeval").out.splitlines()
    assert [line.split()[0] for line in lines] == [RACE, LAST_ROLL, RACE]
    assert lines[1].endswith("double, take  exact")


def test_a_batch_says_what_is_wrong_and_where(motif, tmp_path):
    path = tmp_path / "positions"
    path.write_text(f"{RACE}\nnonsense\n")
    ending = motif("cube", "--batch", path)
    assert (ending.code, ending.out) == (2, "")
    assert "line 2" in ending.err
    path.write_text(f"{RACE}\n{OVER}\n")
    ending = motif("cube", "--batch", path)
    assert (ending.code, ending.out) == (2, "")
    assert f"{OVER}: the game is over" in ending.err
    for words in (("cube",), ("cube", RACE, "--batch", path)):
        ending = motif(*words)
        assert (ending.code, ending.err.count("\n")) == (2, 1)


def test_raccoons(motif, motif_json):
    found = motif_json("cube", LAST_ROLL, "--raccoons", "--player", "pubeval")
    assert (found["beavers"], found["raccoons"], found["should_raccoon"]) == (True, True, True)
    assert "If beavered, raccoon: not doing so costs 0.222." in found["words"]
    assert not motif_json("cube", LAST_ROLL, "--beavers", "--player", "pubeval")["should_raccoon"]
    for words in (("--no-beavers",), ("--length", 5)):
        ending = motif("cube", LAST_ROLL, "--raccoons", *words)
        assert (ending.code, ending.err.count("\n")) == (2, 1)


def test_the_crawford_game(motif_json):
    found = motif_json("cube", RACE, "--length", 5, "--score", "4-2", "--crawford", "--player", "pubeval")
    assert found["action"] == "no double, Crawford game"
    assert (found["double_take"], found["take_point"], found["windows"]) == (None, None, [])


def test_tables_and_efficiencies_are_chosen(motif_json):
    flags = ("--length", "7", "--score", "3-5", "--player", "pubeval")
    usual = motif_json("cube", RACE, *flags)
    assert motif_json("cube", RACE, *flags, "--met", "Kazaross-XG2") == usual
    assert motif_json("cube", RACE, *flags, "--met", "rockwell-kazaross")["take_point"] != usual["take_point"]
    assert motif_json("cube", RACE, "--efficiency", "0", "--player", "pubeval")["efficiency"] == 0


def test_what_looks_ahead_is_said(motif):
    words = ("cube", "4HPwATDgc/ABMA", "--player", "pubeval@1")
    ahead = "The windows are those of the cube model without lookahead; the equities look ahead."
    modelled = "The windows and equities are those of the cube model; the probabilities are 1-ply."
    for more, shown, other in (((), ahead, modelled), (("--efficiency", 0.6), modelled, ahead)):
        text = motif(*words, *more).out
        assert shown in text
        assert other not in text


def test_bras_shows_its_own_windows(motif, motif_json):
    found = motif_json("cube", "4HPwATDgc/ABMA", "--player", "bras")["bras"]
    assert found["S"] == pytest.approx(50)
    assert (found["live_from"], found["drop_from"]) == ([62, 65], 80)
    assert found["action"] == found["measured_action"] == "no double, take"
    text = motif("cube", "4HPwATDgc/ABMA", "--player", "bras").out
    assert "The BRAS score S of the player on roll is 50.0." in text
    assert "passes from 80: no double, take." in text
    assert "bras" not in motif_json("cube", RACE, "--player", "pubeval")


def test_bras_with_weights_of_your_own(motif, motif_json, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("format: motif-bras/1\nweights: {pip: 6}\n")
    found = motif_json("cube", RACE, "--player", f"bras:{path}")["bras"]
    usual = motif_json("cube", RACE, "--player", "bras")["bras"]
    assert found["S"] != usual["S"]
    # The measured window is for the article's score.
    assert set(usual) - set(found) == {"measured", "measured_action"}
    assert (
        "measures the scores from which these weights double and pass"
        in motif("cube", RACE, "--player", f"bras:{path}").out
    )


@pytest.mark.parametrize("command", ["cube", "cube-efficiency", "cube-windows"])
def test_the_examples_work(motif, command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^    motif (.*)$", motif(command, "--help").out, re.MULTILINE)
    examples = [example for example in examples if "FILE" not in example]
    assert examples
    for example in examples:
        ending = motif(*example.split())
        assert (ending.code, ending.err) == (0, "")
        assert {"cube": "costs", "cube-windows": "the article's S"}.get(command, "gnubg's x") in ending.out


def test_fitted_efficiencies(motif, motif_json):
    words = ("cube-efficiency", "--player", "pubeval", "--positions", 3, "--trials", 5, "--rounds", 1)
    found = motif_json(*words, "--jobs", 1)
    assert {"name", "x", "se", "default", "positions", "games"} <= set(found["classes"][0])
    ending = motif("cube-efficiency", "--positions", 1)
    assert (ending.code, ending.err.count("\n")) == (2, 1)


def test_measured_windows(motif, motif_json, tmp_path):
    words = ("cube-windows", "--player", "pubeval", "--games", 100, "--seed", 2)
    found = motif_json(*words)
    assert {"double_from", "double_se", "drop_from", "drop_se", "positions", "games"} <= set(found)
    assert found["early"]["score_from"] == pytest.approx(58.26, abs=0.005)
    assert sum(one["positions"] for one in found["ranges"]) == found["positions"]
    (tmp_path / "mine.yaml").write_text("format: motif-bras/1\nweights: {pip: 6}\n")
    own = motif_json(*words, "--score", f"bras:{tmp_path / 'mine.yaml'}", "--plot", tmp_path / "own.svg")
    assert own["positions"] == found["positions"]
    assert own["double_from"] != found["double_from"]
    assert (tmp_path / "own.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--games", 1), "--games must be at least 2, not 1"),
        (
            ("--score", "pubeval"),
            "the player must be bras or bras:FILE.yaml, not 'pubeval': only BRAS has a score S",
        ),
        (("--score", "bras:none.yaml"), "none.yaml: no such file of BRAS weights"),
        (("--plot", "windows.gif"), "the name of a picture must end in .png or .svg"),
        (("--plot", "."), "is a folder, not a file"),
    ],
)
def test_windows_that_cannot_be_measured(motif, monkeypatch, tmp_path, words, said):
    monkeypatch.chdir(tmp_path)
    ending = motif("cube-windows", "--player", "pubeval", *words)
    assert (ending.code, ending.out) == (2, "")
    assert said in ending.err
    assert ending.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((RACE, "--score", "3-5"), "--score needs a match: give --length"),
        ((RACE, "--length", "7", "--score", "3:5"), "it must be two whole numbers such as 3-5"),
        ((RACE, "--length", "7", "--score", "7-5"), "the match is over"),
        ((RACE, "--length", "7", "--score", "3-5", "--crawford"), "a player must be 1-away"),
        ((RACE, "--crawford"), "no Crawford game"),
        ((RACE, "--length", "7", "--cube", "2"), "a player owns a cube at 2: give --owner"),
        ((RACE, "--length", "7", "--jacoby"), "for money play"),
        ((RACE, "--owner", "them"), "me, opponent or none"),
        ((RACE, "--cube", "3"), "must be a power of two"),
        ((RACE, "--met", "mine"), "unknown match equity table 'mine'"),
        ((RACE, "--efficiency", "1.1"), "0 to 1"),
        ((OVER,), "the game is over"),
        ((), "missing argument"),
    ],
)
def test_bad_input_is_one_line(motif, words, reason):
    ending = motif("cube", *words, "--player", "pubeval")
    assert (ending.code, ending.out) == (2, "")
    assert ending.err.count("\n") == 1
    assert reason in ending.err
