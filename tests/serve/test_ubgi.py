"""`serve ubgi`: the checks of bgci's controller, the words of three versions, and arbitrary input."""

import io
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.identifiers import position_from_gnubg_id
from motif.board.match_state import MatchState, match_id
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.board.xgid_ogid import xgid
from motif.serve.opponent import Opponent
from motif.serve.ubgi import UbgiEngine, input_lines
from tests.board.fibs_lines import fibs_board, line_of
from tests.faults.processes import Stop, ending, running, wait_until, work_on
from tests.fuzz.mutations import mutated
from tests.strategies import positions, rolls

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 300
START = "4HPwATDgc/ABMA"
ON_BAR, BEARING_OFF, FORCED = "Np7BQSCYZ/AAWA", "/z0AADDeaxsAAA", "t02oASACAAAAAA"
"""What bgci's check asks about."""
LATEST = Opponent("latest")
CASH = Position.from_points({6: 2, 5: 2, 4: 2}, {6: 4, 5: 4, 4: 4})


@pytest.fixture
def engine() -> UbgiEngine:
    return UbgiEngine(LATEST)


def said(engine: UbgiEngine, *lines: str) -> list[str]:
    return [answer for line in lines for answer in engine.answers(line)]


def test_the_session_of_the_specification(engine):
    hello = said(engine, "ubgi")
    assert hello[0].startswith("id name motif ")
    assert "proto 0.2" in hello
    assert "key engine.ply int 1..4 1" in hello
    assert hello[-1] == "ubgiok"
    assert said(engine, "isready") == ["readyok"]
    assert said(engine, "newgame", f"position gnubgid {START}", "dice 3 1") == []
    assert said(engine, "go chequer") == ["bestmove 8/5 6/5"]
    assert said(engine, "go") == said(engine, "go role chequer") == ["bestmove 8/5 6/5"]
    assert said(engine, "go cube") == ["bestcube nodouble"]
    assert said(engine, "go turn") == ["bestturn cube=nodouble move=8/5 6/5"]
    assert not engine.has_quit
    assert said(engine, "stop", "", "quit") == []
    assert engine.has_quit


@pytest.mark.parametrize(
    ("identifier", "dice", "word"), [(ON_BAR, "5 3", "bar"), (BEARING_OFF, "5 5", "off"), (FORCED, "5 1", "")]
)
@pytest.mark.parametrize("go", ["go chequer", "go role chequer", "go role chequer movetime 100"])
def test_what_bgci_checks(engine, identifier, dice, word, go):
    """Bar and off as words, never as 25 and 0; a legal play; no objection to the lines before."""
    before = ("ubgi", "isready", "newgame", "isready", "setoption name Variant value backgammon")
    assert not [line for line in said(engine, *before) if line.startswith("error")]
    (answer,) = said(engine, f"position gnubgid {identifier}", f"dice {dice}", go)
    moves = answer.removeprefix("bestmove ")
    places = [place for move in moves.split() for place in move.split("/")]
    assert not {"25", "0"} & set(places)
    assert not word or word in places
    roll = tuple(map(int, dice.split()))
    assert find_play(moves, legal_plays(position_from_gnubg_id(identifier), roll))


@settings(max_examples=60)
@given(positions(), rolls())
def test_every_play_is_legal_and_written_step_by_step(position, roll):
    engine = UbgiEngine(LATEST)
    high, low = roll
    (answer,) = said(engine, f"position gnubgid {position.gnubg_id}", f"dice {low} {high}", "go")
    if answer.startswith("error"):
        assert "the game is over" in answer
        return
    steps = answer.removeprefix("bestmove ").replace("pass", "").split()
    assert "*" not in answer
    assert "(" not in answer
    plays = {play.moves for play in legal_plays(position, roll)}
    places = [[{"bar": "25", "off": "0"}.get(place, place) for place in step.split("/")] for step in steps]
    assert tuple((int(start), int(end)) for start, end in places) in plays


def test_no_play_is_a_pass(engine):
    dance = Position.from_points({25: 1, 6: 2}, {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2})
    assert said(engine, f"position gnubgid {dance.gnubg_id}", "dice 6 5", "go") == ["bestmove pass"]


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["nonsense"], "error bad_command 'nonsense'"),
        (["UBGI"], "error bad_command 'UBGI'"),
        (["position gnubgid xyz"], "error bad_value invalid position 'xyz'"),
        (["position"], "error bad_value expected position gnubgid ID"),
        (["dice 7 1"], "error bad_value invalid roll"),
        (["dice 3"], "error bad_value dice are two numbers from 1 to 6, not '3'"),
        (
            ["go depth"],
            "error bad_value expected movetime, depth, nodes, trials, each followed by a value, not 'depth'",
        ),
        (["go"], "error bad_state no position"),
        ([f"position gnubgid {START}", "go"], "error bad_state no dice"),
        ([f"position gnubgid {START}", "go sideways"], "error bad_value"),
        (["go role"], "error bad_value a role is one of chequer, cube, turn"),
        (["set engine.ply 9"], "error bad_value engine.ply must be 1 to 4, not 9"),
        (["setoption name Ply value 9"], "error bad_value Ply must be 0 to 3, not 9"),
        (["set engine.ply x"], f"error bad_value 'x' must be a whole number from 0 to {2**63 - 1}"),
        (
            ["set engine.seed 9223372036854775808"],
            "error bad_value '9223372036854775808' must be a whole number",
        ),
        (["set engine.ply 0"], "error bad_value engine.ply must be 1 to 4, not 0"),
        (["set engine.threads 2"], "error bad_value '2' is not 1"),
        (["set game.variant nackgammon"], "error bad_value 'nackgammon' is not backgammon"),
        (["set engine.colour 1"], "error unsupported 'engine.colour'"),
        (["set x"], "error bad_value expected set KEY VALUE"),
        (["get engine.colour"], "error unsupported 'engine.colour'"),
        (["setoption name Colour value 1"], "error unsupported 'Colour'"),
        (
            ["newsession type match length 0"],
            "error bad_value the length of a match session must be at least 1, not 0",
        ),
        (["setcube value 2"], "error bad_value expected setcube value N owner WHO"),
        (
            ["setcube value 3 owner p0"],
            "error bad_value invalid match state: the cube must be a power of two up to 32768, not 3",
        ),
        (["setturn p2"], "error bad_value 'p2' is not p0 or p1"),
        (
            ["newsession type match length 3", "setscore 3 0", f"position gnubgid {START}", "go cube"],
            "error bad_state invalid match state: the match is over",
        ),
        (["XGID=nonsense"], "sorry"),
        (["board:a:b"], "sorry"),
    ],
)
def test_what_cannot_be_obeyed(engine, lines, answer):
    *before, last = [said(engine, line) for line in lines]
    assert before == [[]] * len(before)
    assert last[0].startswith(answer)
    assert said(engine, "isready") == ["readyok"]


@pytest.mark.parametrize("invalid", ["position gnubgid xyz", "position startpos"])
def test_after_an_invalid_position_there_is_none(engine, invalid):
    valid = f"position gnubgid {START}"
    lines = said(engine, valid, "dice 3 1", invalid, "go chequer", valid, "go chequer")
    refused, nothing, chosen = lines
    assert refused.startswith("error bad_value")
    assert nothing == "error bad_state no position"
    assert chosen == "bestmove 8/5 6/5"


@pytest.mark.parametrize("invalid", ["dice 7 1", "dice 4"])
def test_after_invalid_dice_there_are_none(engine, invalid):
    valid = ("dice 3 1", "go chequer")
    lines = said(engine, f"position gnubgid {START}", "dice 3 1", invalid, "go chequer", *valid)
    refused, nothing, chosen = lines
    assert refused.startswith("error bad_value")
    assert nothing == "error bad_state no dice"
    assert chosen == "bestmove 8/5 6/5"


def test_keys_are_set_and_reported(engine):
    keys = [line.split()[1] for line in said(engine, "keys")]
    assert keys == ["game.variant", "engine.ply", "engine.threads", "engine.seed"]
    assert said(engine, "set engine.ply 3", "get engine.ply") == ["value engine.ply 3"]
    assert said(engine, "set engine.ply 1", "get engine.ply") == ["value engine.ply 1"]
    # Version 0.1 counts plies like gnubg.
    assert said(engine, "setoption name Ply value 1", "get engine.ply") == ["value engine.ply 2"]
    assert said(engine, "set engine.seed 7", "setoption name Seed value 8", "get engine.seed") == [
        "value engine.seed 8"
    ]
    largest = 2**63 - 1
    assert f"0..{largest}" in said(engine, "keys")[3]
    assert said(engine, f"set engine.seed {largest}", "get engine.seed") == [f"value engine.seed {largest}"]
    for beyond in (largest + 1, "9" * 19, "9" * 20, "9" * 4000):
        assert said(engine, f"set engine.seed {beyond}")[0].startswith("error bad_value ")
    assert said(engine, "setoption name Deterministic value true", "set game.variant backgammon") == []


def test_a_player_who_cannot_look_ahead_has_one_ply():
    engine = UbgiEngine(Opponent("random"))
    assert "key engine.ply int 1..1 1" in said(engine, "keys")
    assert said(engine, "set engine.ply 2") == ["error bad_value engine.ply must be 1 with random, not 2"]


def test_a_match_is_reported_by_ids_and_by_commands_of_version_0_1(engine):
    cash = CASH.gnubg_id
    (money,) = said(engine, f"position gnubgid {cash}", "go cube")
    assert money == "bestcube double"
    at_match_point = MatchState(length=3, own_score=2, opponent_score=2)
    for line in (
        f"position gnubgid {cash}:{match_id(at_match_point)}",
        f"position xgid {xgid(CASH, at_match_point)}",
    ):
        assert said(engine, line, "go cube") == ["bestcube nodouble"]
    crawford = ["newsession type match length 3 crawford on", "setscore 2 0", f"position gnubgid {cash}"]
    assert said(engine, *crawford, "go cube") == ["bestcube nodouble"]
    theirs = ["newsession type money jacoby on", "setcube value 2 owner p1"]
    assert said(engine, *theirs, "go cube") == ["bestcube nodouble"]
    assert said(engine, "setturn p1", "go cube") == ["bestcube double"]
    assert said(engine, "newgame", f"position gnubgid {cash}", "go cube") == ["bestcube double"]


def test_the_cube_is_back_after_the_crawford_game(engine):
    trailing = ["setturn p1", f"position gnubgid {CASH.gnubg_id}", "go cube"]
    said(engine, "newsession type match length 3 crawford on", "setscore 1 0")
    assert said(engine, *trailing) == ["bestcube double"]
    for lines in (["setscore 2 0", "newgame"], ["setturn p0"]):
        assert said(engine, *lines, *trailing) == ["bestcube nodouble"]
    assert said(engine, "newgame", "setscore 2 1", *trailing) == ["bestcube double"]


@pytest.mark.parametrize("go", [[], [f"position gnubgid {START}", "dice 3 1", "go cube", "go"]])
def test_the_crawford_game_ends_by_the_score_whatever_was_asked_in_it(engine, go):
    trailing = ["setturn p1", f"position gnubgid {CASH.gnubg_id}", "go cube"]
    said(engine, "newsession type match length 3 crawford on", "setscore 2 0", *go, "newgame", *go)
    assert said(engine, *trailing) == ["bestcube nodouble"]
    said(engine, "newgame", "setscore 2 0")
    assert said(engine, *trailing) == ["bestcube nodouble"]
    said(engine, "setscore 2 1", "newgame")
    assert said(engine, *trailing) == ["bestcube double"]
    said(engine, "newgame", "setscore 0 0", "newgame", "setscore 2 1")
    assert said(engine, *trailing) == ["bestcube nodouble"]


def test_dice_and_position_come_in_any_order(engine):
    said(engine, "dice 3 1", f"position gnubgid {START}")
    assert said(engine, "go role chequer") == ["bestmove 8/5 6/5"]
    said(engine, f"position gnubgid {BEARING_OFF}", f"position gnubgid {START}")
    assert said(engine, "go") == ["bestmove 8/5 6/5"]
    said(engine, "newgame", f"position gnubgid {START}")
    assert said(engine, "go") == ["error bad_state no dice"]


def test_dice_of_an_id_are_for_its_position_alone(engine):
    rolled = f"position xgid {xgid(Position.start(), MatchState(dice=(6, 1)))}"
    assert said(engine, rolled, "go") == said(engine, "dice 3 1", rolled, "go") == ["bestmove 13/7 8/7"]
    assert said(engine, f"position gnubgid {START}", "go") == ["bestmove 8/5 6/5"]
    said(engine, "newgame", rolled, f"position gnubgid {START}")
    assert said(engine, "go") == ["error bad_state no dice"]


def test_a_double_in_an_id_is_answered(engine):
    doubled = MatchState(doubled=True, decision="opponent")
    assert said(engine, f"position xgid {xgid(CASH, doubled)}", "go cube") == ["bestcube drop"]
    start = f"position xgid {xgid(Position.start(), doubled)}"
    assert said(engine, start, "go cube") == ["bestcube take"]
    beavers = replace(doubled, beavers=True)
    start = f"position xgid {xgid(Position.start(), beavers)}"
    assert said(engine, start, "go cube") == ["bestcube take"]
    assert said(engine, "position gnubgid sGfwATDgc/ABMA:QRkAAAAAAAAE", "go cube") == ["bestcube take"]


def test_bare_positions_of_the_draft(engine):
    start = Position.start()
    assert said(engine, xgid(start, MatchState(dice=(3, 1)))) == ["8/5 6/5"]
    assert said(engine, line_of(fibs_board(start, (3, 1)))) == ["8/5 6/5"]
    assert said(engine, xgid(start)) == said(engine, line_of(fibs_board(start))) == ["roll"]
    assert said(engine, xgid(CASH)) == ["double"]
    assert said(engine, xgid(CASH, MatchState(doubled=True, decision="opponent"))) == ["drop"]
    assert said(engine, xgid(start, MatchState(doubled=True, decision="opponent", beavers=True))) == ["take"]
    dance = Position.from_points({25: 1, 6: 2}, {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2})
    assert said(engine, line_of(fibs_board(dance, (6, 5)))) == [""]


SEEDS = [
    line.encode()
    for line in (
        f"position gnubgid {START}", "dice 3 1", "go chequer", "go role cube movetime 5", "go turn",
        "set engine.seed 3", "get engine.ply", "setoption name EvalMode value cubeful",
        "setcube value 2 owner p0",
        "newsession type match length 5 jacoby off crawford on", "setscore 4 3", "setturn p1", "newgame",
        f"position xgid {xgid(Position.start(), MatchState(dice=(3, 1)))}",
        line_of(fibs_board(Position.start(), (3, 1))),
    )
]  # fmt: skip


@settings(max_examples=200)
@given(st.lists(st.sampled_from(SEEDS) | mutated(SEEDS), min_size=1, max_size=8))
def test_whatever_comes_lines_are_answered(lines):
    engine = UbgiEngine(LATEST)
    for octets in lines:
        for answer in engine.answers(octets.decode("utf-8", "replace").replace("\n", " ")):
            assert answer == "" or answer.isprintable()


def test_a_line_that_is_too_long_is_one_error(engine):
    text = f"isready\n{'x' * 4096}\nisready\n{'y' * 100_000}\n{'z' * 4095}\nisready\n{'x' * 9000}"
    assert [said(engine, line) for line in input_lines(io.StringIO(text))] == [
        ["readyok"],
        ["error bad_command the line is longer than 4096 characters"],
        ["readyok"],
        ["error bad_command the line is longer than 4096 characters"],
        said(engine, "z" * 4095),
        ["readyok"],
        ["error bad_command the line is longer than 4096 characters"],
    ]
    assert list(input_lines(io.StringIO(""))) == []


INTERRUPTED = "motif: interrupted; no longer answering\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_ends_while_it_computes(tmp_path, number):
    """During hours of compiled code, in which the main thread would not receive signals."""
    stop = Stop(tmp_path / "stop", "motif.serve.opponent:Opponent.play")
    with running(
        "serve", "ubgi", "--player", "rollout:pubeval,trials=10000000", stop=stop, stdin=PIPE
    ) as process:
        process.stdin.write(f"position gnubgid {START}\ndice 2 1\ngo\n")
        process.stdin.flush()
        wait_until(lambda: stop.reached, process)
        stop.go()
        work_on(process)
        process.send_signal(number)
        assert ending(process) == (130, "", INTERRUPTED)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_ends_while_it_waits_and_while_its_output_is_not_read(number):
    with running("serve", "ubgi", "--player", "pubeval", stdin=PIPE) as process:
        process.stdin.write("ubgi\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(number)
        assert ending(process)[::2] == (130, INTERRUPTED)
    with running("serve", "ubgi", "--player", "pubeval", stdin=PIPE) as process:
        process.stdin.write("keys\n" * 10_000)  # the answers fill the pipe
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(number)
        assert process.wait(SECONDS) == 130
        assert process.stderr.read() == INTERRUPTED


def test_the_command_answers_at_once_and_ends_with_its_input():
    words = [sys.executable, str(ROOT / "cli.py"), "serve", "ubgi", "--player", "pubeval"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen(words, **pipes) as process:
        for line in ("ubgi", "isready", f"position gnubgid {START}", "dice 6 1", "go"):
            process.stdin.write(f"{line}\n")
        hello = [process.stdout.readline() for _ in range(10)]
        assert hello[-2:] == ["ubgiok\n", "readyok\n"]
        assert process.stdout.readline() == "bestmove 13/7 8/7\n"
        process.stdin.close()
        assert process.wait(SECONDS) == 0
    done = subprocess.run(words, input="quit\nubgi\n", capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (0, "")
