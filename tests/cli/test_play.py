"""Games in the terminal, played by typing what the screen offers."""

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from motif.board.game_record import uses_cube
from motif.board.match_file import read_match
from motif.cli.interrupts import interruptible
from motif.cli.main import main
from tests.cli.robot import COLOURS, Robot

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 600
"""Only what hangs takes so long, also where kernels are compiled and the machine is busy."""
OPPONENT = ("pubeval", "--hint-player", "pubeval", "--seed", "7", "--no-cube")


class Keyboard(io.StringIO):
    """Standard input typed by a robot that sees the output so far."""

    def __init__(self, robot, capsys) -> None:
        super().__init__()
        self.robot, self.capsys = robot, capsys

    def readline(self, size=-1) -> str:
        printed = self.capsys.readouterr()
        return self.robot.answer(printed.out + printed.err) + "\n"


@pytest.fixture
def robot_plays(monkeypatch, capsys, tmp_path):
    """Let a robot play, and return it with the exit code and the saved file."""

    def run(*words, seed=0):
        robot, file = Robot("robot.mat", seed), tmp_path / "robot.mat"
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.stdin", Keyboard(robot, capsys))
        return robot, main(["play", *words]), file

    return run


def kinds(robot: Robot) -> set[str]:
    """The robot's inputs, by kind."""
    return {re.sub(r" such as .*| 1-\d+", "", kind) for kind in robot.typed}


AT_A_DECISION = {
    "a play", "its number", "plays", "hint", "undo", "resign", "board", "pips", "save FILE", "help", "quit"
}  # fmt: skip


def test_whole_games_by_typing_what_is_offered(robot_plays):
    robot, code, file = robot_plays(*OPPONENT)
    assert code == 0
    assert kinds(robot) == AT_A_DECISION | {"yes", "no", "back", "backgammon"}
    assert robot.games_begun == 3
    record = read_match(file)
    assert record.players == ("human", "pubeval")
    first, second = record.games[:2]
    assert first.result is not None
    assert not first.result.resigned
    assert second.result is None or second.result.resigned
    assert "is not a legal play" not in robot.screen


def test_two_people_with_dice_of_their_own(robot_plays):
    robot, code, file = robot_plays(
        "human", "human", "--names", "Ann,Bob", "--dice", "manual", "--hint-player", "pubeval", "--no-cube",
        seed=1,
    )  # fmt: skip
    assert code == 0
    assert kinds(robot) >= AT_A_DECISION | {"two dice", "yes", "no", "back", "backgammon"}
    assert read_match(file).players == ("Ann", "Bob")
    assert (
        "Bob, do you accept? [yes, no]: " in robot.screen or "Ann, do you accept? [yes, no]" in robot.screen
    )


def wait_for_prompt(descriptor: int) -> str:
    """The terminal's output up to the next prompt, or to the end."""
    shown, limit = b"", time.monotonic() + SECONDS
    while not COLOURS.sub("", shown.decode("utf-8", "replace")).endswith("]: "):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, limit - time.monotonic()))
        assert ready, shown
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux's error when no process has the terminal open
            part = b""
        if not part:
            break
        shown += part
    return shown.decode()


def end_by(process, number: signal.Signals) -> None:
    """Send a signal until it is received: between a prompt and reading an answer it may get lost."""
    limit = time.monotonic() + SECONDS
    while time.monotonic() < limit:
        process.send_signal(number)
        try:
            # A second one must not arrive while the first is being handled.
            process.wait(60)
            return
        except subprocess.TimeoutExpired:
            continue


def in_terminal(*words, **environment):
    """`motif play` in a terminal: the process, and the descriptor of the other end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), "play", *words],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, close_fds=True,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
    )  # fmt: skip
    os.close(theirs)
    return process, ours


def test_whole_games_in_a_real_terminal(tmp_path):
    process, terminal = in_terminal(*OPPONENT, "--save", str(tmp_path / "all.mat"))
    robot, shown = Robot(str(tmp_path / "robot.mat")), ""
    try:
        while (shown := wait_for_prompt(terminal)).endswith("]: "):
            os.write(terminal, robot.answer(shown).encode() + b"\n")
        assert process.wait(SECONDS) == 0, shown
    finally:
        process.kill()
        os.close(terminal)
    assert kinds(robot) >= AT_A_DECISION
    games = read_match(tmp_path / "all.mat").games
    assert [bool(game.result) for game in games] == [True, True, False]
    assert not games[0].result.resigned


def test_colours_only_where_a_terminal_has_them():
    for environment, expected in (({}, True), ({"NO_COLOR": "1", "TERM": "dumb"}, False)):
        process, terminal = in_terminal(*OPPONENT, **environment)
        try:
            shown = wait_for_prompt(terminal)
            os.write(terminal, b"\x04")
            assert process.wait(SECONDS) == 0
        finally:
            process.kill()
            os.close(terminal)
        assert ("\x1b[" in shown) == expected
        assert "+13-14-15-16-17-18------19-20-21-22-23-24-+" in COLOURS.sub("", shown)


def test_interrupts_that_are_lost_are_repeated_until_the_games_are_saved(motif, monkeypatch, tmp_path):
    heard = []

    def run(view, games):
        with interruptible("such as a rollout"):
            while True:
                try:
                    if not heard:
                        os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.01)
                except KeyboardInterrupt:  # dropped, as Python does in finalizers
                    heard.append("interrupt")
                    if len(heard) == 4:
                        raise

    monkeypatch.setattr("motif.session.terminal_view.TerminalView.run", run)
    monkeypatch.setattr("motif.cli.interrupts.SECONDS_TO_STOP", 0.3)
    monkeypatch.setattr("motif.cli.interrupts.SECONDS_TO_LEAVE", 0.2)
    path = tmp_path / "games.mat"
    ending = motif("play", "pubeval", "simple", "--games", 2, "--save", path)
    assert ending.code == 130
    assert " ".join(ending.err.split()) == f"motif: interrupted; the games so far are in {path}"
    assert path.exists()
    assert len(heard) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interruptions_save_what_was_played(tmp_path, number):
    path = tmp_path / "games.mat"
    process, terminal = in_terminal(*OPPONENT, "--save", str(path))
    try:
        wait_for_prompt(terminal)
        os.write(terminal, b"1\n")
        wait_for_prompt(terminal)
        end_by(process, number)
        shown = wait_for_prompt(terminal)
        assert process.wait(SECONDS) == 130
    finally:
        process.kill()
        os.close(terminal)
    said = shown.replace("\r", "").rpartition("\nmotif: ")[2]
    assert " ".join(said.split()) == f"interrupted; the games so far are in {path}"
    (game,) = read_match(path).games
    assert len(game.actions) >= 3
    assert game.result is None
    assert list(tmp_path.iterdir()) == [path]


def test_the_end_of_the_input_saves_too(typing, tmp_path):
    path = tmp_path / "games.mat"
    ending = typing(["1", "2"], *OPPONENT, "--save", path)
    assert (ending.code, ending.err) == (0, "")
    assert ending.out.endswith(f"Saved to {path}\n")
    assert len(read_match(path).games[0].actions) >= 4


def test_json_has_the_result_alone_on_stdout(typing):
    ending = typing(["resign", "backgammon", "yes", "no"], *OPPONENT, "--json")
    assert ending.code == 0
    assert "human to play" in ending.err
    document = json.loads(ending.out)
    turns = document["games"][0].pop("turns")
    assert turns <= 1
    assert document == {
        "players": ["human", "pubeval"],
        "length": 0,
        "cube": False,
        "jacoby": False,
        "beavers": False,
        "raccoons": False,
        "score": [0, 3],
        "winner": None,
        "games": [
            {"winner": "pubeval", "points": 3, "resigned": True, "cube": 1, "doubles": 0, "dropped": False}
        ],
        "unfinished": False,
        "errors": None,
        "dice": "seed",
        "seed": 7,
        "save": None,
    }


def test_the_same_seed_gives_the_same_games(typing):
    lines = ["1"] * 12
    assert typing(lines, *OPPONENT) == typing(lines, *OPPONENT)
    shown = typing([], "pubeval", "--hint-player", "pubeval").out
    seed = re.search(r"--seed (\d+) repeats the rolls", shown)[1]
    assert typing([], *OPPONENT[:3], "--seed", seed).out == shown


def test_undo_brings_no_new_luck(typing, tmp_path):
    def rolls(name, *lines):
        typing(lines, *OPPONENT, "--save", tmp_path / name)
        return [turn.roll for turn in read_match(tmp_path / name).games[0].actions]

    plain = rolls("plain.mat", "1", "1", "1")
    again = rolls("again.mat", "1", "undo", "2", "1", "undo", "1")
    assert min(len(plain), len(again)) >= 4
    assert all(one == other for one, other in zip(plain, again, strict=False))


def test_players_alone_give_a_demonstration(motif, tmp_path):
    path = tmp_path / "games.mat"
    words = ("pubeval", "simple", "--no-cube", "--games", 2, "--seed", 3, "--save", path, "--json")
    ending = motif("play", *words)
    assert ending.code == 0
    assert "[" not in ending.err
    assert ending.err.count("Position ID:") > 40
    document = json.loads(ending.out)
    record = read_match(path)
    assert [game.result.points for game in record.games] == [game["points"] for game in document["games"]]
    assert record.players == ("pubeval", "simple")
    assert not uses_cube(record)
    assert motif("play", "random", "random", "--seed", 3).out.count("starts.") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("8/1", "the opponent has made the 1 point: '8/1' is not a legal play; legal plays are "),
        ("7/1", "you have no checker on 7: '7/1' is not a legal play; legal plays are "),
        ("nonsense", "invalid play 'nonsense': 'nonsense' is not a move such as 8/5, bar/22 or 6/off(2)"),
        ("0", "there is no play 0; the plays are numbered 1 to "),
        ("999999999999999999999", "there is no play 9999; the plays are numbered 1 to "),
        ("undo", "there is nothing to undo in this game"),
        ("13/7", "13/7 is 6 pips, which 32 does not allow: '13/7' is not a legal play; legal plays are "),
        ("save", "save needs a file name, such as save game.mat"),
        ("save /dev/null/x.mat", "not saved: /dev/null"),
        ("double", "you have already rolled: type a play or its number"),
    ],
)
def test_impossible_requests_get_a_one_line_error(typing, line, said):
    plain, ending = typing([""], *OPPONENT), typing(["", line], *OPPONENT)
    assert ending.code == 0
    added = ending.out.replace("\r", "").removesuffix("\n").splitlines()
    prompts = [k for k, text in enumerate(added) if "]: " in text]
    assert prompts[-1] - prompts[-2] == 2
    assert said in added[prompts[-1] - 1]
    assert len(plain.out.splitlines()) == len(added) - 2


def hinted(out: str) -> list[str]:
    """The plays of the last hint, in order."""
    rows = out.rpartition("The best plays according to ")[2].partition("\n")[2].split("]: ")[0]
    return re.findall(r"^ +\d+  (\S+(?: \S+)*?) +[-+]\d\.\d{3}$", rows, re.MULTILINE)


def test_number_1_of_a_hint_plays_the_best(typing):
    shown = typing(["", "hint"], *OPPONENT).out
    best = hinted(shown)
    assert len(best) == 8
    numbers = re.findall(r"^ +(\d+)  .* [-+]\d\.\d{3}$", shown, re.MULTILINE)
    assert numbers == list("12345678")
    for number in ("1", "3"):
        out = typing(["", "hint", number], *OPPONENT).out
        assert re.search(rf"human rolled \d\d and plays {re.escape(best[int(number) - 1])}\.\n", out)


def test_a_number_counts_in_the_last_list(typing):
    listing = typing(["", "plays"], *OPPONENT).out
    plays = re.findall(r"^ +\d+  (\d\S*(?: \S+)*)$", listing, re.MULTILINE)
    for lines in (["1"], ["plays", "1"], ["hint", "plays", "1"]):
        assert f"and plays {plays[0]}.\n" in typing(["", *lines], *OPPONENT).out
    # Plays that a hint does not show are ranked, too.
    assert re.search(r"and plays \S+", typing(["", "hint", str(len(plays))], *OPPONENT).out)
    assert "the plays are numbered 1 to" in typing(["", "hint", str(len(plays) + 1)], *OPPONENT).out


def test_a_file_of_another_user_is_not_overwritten(typing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.mat").write_text("precious")
    ending = typing(["save mine.mat", "save New.mat", "1", "save New.mat"], *OPPONENT)
    assert "not saved: mine.mat: already exists; choose another name" in ending.out
    assert ending.out.count("Saved to New.mat") == 2
    assert Path("mine.mat").read_text() == "precious"
    assert read_match(Path("New.mat")).games
    refused = typing([], *OPPONENT, "--save", "mine.mat")
    assert (refused.code, refused.err) == (
        2,
        "motif: error: mine.mat: already exists; choose another name\n",
    )


def test_quit_asks_about_unsaved_games(typing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ending = typing(["1", "quit", "back", "quit", "maybe", "save a.mat"], *OPPONENT)
    assert ending.out.count("Save the match? [save FILE, no, back]: ") == 3
    assert ending.out.count("please type one of: save FILE, no, back") == 1
    assert len(read_match(Path("a.mat")).games[0].actions) >= 2
    assert typing(["save b.mat", "quit", "1"], *OPPONENT).out.count("to play") == 2
    kept = typing(["1", "quit"], *OPPONENT, "--save", "c.mat")
    assert "Save the match?" not in kept.out
    assert len(read_match(Path("c.mat")).games[0].actions) >= 2


def test_quit_and_help_work_at_every_question(typing, tmp_path):
    kept = ("--save", tmp_path / "a.mat")
    over = ["resign single", "yes"]
    for lines, head in (
        ([*over, "?", "quit"], "Another game?"),
        (["resign", "help", "quit"], "Resign what?"),
        (["resign single", "?", "q"], "Give pubeval 1 point and end the game?"),
    ):
        ending = typing([*lines, "never"], *OPPONENT, *kept)
        assert (ending.code, ending.err) == (0, "")
        shown = ending.out.split(f"{head} [")[1:]
        assert len(shown) == 2
        assert re.search(r"^  quit +ends the session$", shown[0], re.MULTILINE)
        assert shown[1].endswith(f"]: {lines[-1]}\nSaved to {tmp_path / 'a.mat'}\n")
        (tmp_path / "a.mat").unlink()


def test_a_board_is_drawn_before_a_double_is_asked_for_with_dice_of_your_own(typing):
    out = typing(["52", "1", "31", "1"], "human", "human", *OPPONENT[1:3], "--dice", "manual").out
    asked = out.index("Roll of human 2, such as 31, or double [?]: ")
    assert out.rindex("X: human 2", 0, asked) > out.index("human 1 rolled 52 and plays")


def test_a_terminal_breaks_lines_between_words_and_no_board(tmp_path):
    process, terminal = in_terminal("pubeval", "--hint-player", "pubeval", "--seed", "2027", COLUMNS="60")
    shown = wait_for_prompt(terminal)
    try:
        for line in (b"?", b"", b"14/9 14/13", b"hint"):
            os.write(terminal, line + b"\n")
            shown += wait_for_prompt(terminal)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    lines = COLOURS.sub("", shown).replace("\r", "").split("\n")
    assert max(map(len, lines)) <= 60
    assert " money play, Jacoby rule" in lines
    assert sum(line.startswith(" +12-11-10-") and line.endswith("-+") for line in lines) == 2
    assert " ".join(line.strip() for line in lines).count("is not a legal play; legal plays are ") == 1


@pytest.mark.parametrize("opponent", ["motif-v1", "random"])
def test_a_declined_resignation_goes_on(typing, opponent):
    # After ten random plays a gammon is more likely than not.  The advisor judges for `random`.
    lines = [*["1"] * 10, "resign", "single", "yes", "pips", "resign", "backgammon", "yes"]
    out = typing(lines, opponent, "--hint-player", "motif-v1", "--seed", "1", "--no-cube").out
    declined = f"{opponent} declines: playing on has an equity of +1."
    accepted = f"{opponent} wins a backgammon: human resigned. Score: human 0, {opponent} 3."
    assert -1 < out.find(declined) < out.find("pip counts: human ") < out.find(accepted)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "no player is called 'nobody'"),
        (("--games", "0"), "--games must be at least 1, not 0"),
        (("--seed", "-1"), "--seed must be 0 to"),
        (("--hint-player", "random"), "'random' chooses plays but cannot evaluate"),
        (("--names", "Ann"), "--names must be two different names such as Ann,Bob, not 'Ann'"),
        (("--names", "Ann,Ann"), "--names must be two different names"),
        (("--dice", "loaded"), "--dice"),
        (("--save", "/dev/null/x.mat"), "/dev/null"),
        (("a", "b", "c"), "unexpected argument 'c'"),
    ],
)
def test_bad_options_end_in_one_line(typing, words, said):
    ending = typing([], *words)
    assert (ending.code, ending.out) == (2, "")
    assert ending.err.startswith("motif: error: ")
    assert ending.err.count("\n") == 1
    assert said in ending.err


def test_a_person_plays_nowhere_else(motif):
    ending = motif("match", "human", "pubeval")
    assert ending.code == 2
    assert "'human' is available only in `motif play`" in ending.err


def test_the_session_in_the_docs(typing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how-to" / "play.md").read_text("utf-8")
    words = re.search(r"`motif play (.*)`\):\n", page)[1].split()
    _, shown, record = (block.strip("`\n") for block in re.findall(r"^```\n[^`]*\n```$", page, re.MULTILINE))
    answers = re.findall(r"\]:(?: (.*))?$", shown, re.MULTILINE)
    out = typing(answers, *words).out
    assert [line.rstrip() for line in out.splitlines()] == shown.splitlines()
    written = Path("game.mat").read_text("utf-8").splitlines()
    assert [line.rstrip() for line in written][1:] == record.splitlines()[1:]


def test_an_unknown_resignation_is_answered_with_the_possible_ones(typing):
    out = typing(["resign foo", "quit", "no"], *OPPONENT).out
    assert "type resign, resign single, resign gammon or resign backgammon, not 'resign foo'" in out
