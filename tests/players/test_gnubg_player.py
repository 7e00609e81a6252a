"""The player gnubg with a stand-in for the program; tests/peers uses the real one."""

import json
import os
import pickle
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from motif.board.identifiers import gnubg_id
from motif.board.moves import Play, legal_plays
from motif.board.position import Position
from motif.players import gnubg_process, load
from motif.players import gnubg_process as idle
from motif.players import gnubg_process as program
from motif.players.gnubg_process import idle_processes
from motif.runtime.errors import PlayerError, PositionError
from tests.board.fibs_lines import fibs_board, line_of
from tests.peers.games import decisions
from tests.players import fake_gnubg

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in is a script with its program's name")

START = Position.start()
CHANCES = "0.521514 0.153921 0.007563 0.129847 0.007546 0.067119"
NO_STATES = np.zeros(1, np.uint64)
FINISHED = Position.from_points({}, {3: 2})


def play_question(position: Position, roll: tuple[int, int]) -> str:
    return line_of(fibs_board(position, roll))


def evaluation_question(position: Position, plies: int) -> str:
    line = line_of(fibs_board(position))
    return f"evaluation fibsboard {line} plies {plies} cubeless prune on jacobyrule off"


def as_gnubg_writes(play: Play) -> str:
    """Die by die, without stars, and with a space at the end."""
    named = {25: "bar", 0: "off"}
    return "".join(f"{named.get(start, start)}/{named.get(end, end)} " for start, end in play.moves)


class Fake:
    """The stand-in's folder, with its script and its record."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "gnubg"
        self.program.write_text(f"#!{sys.executable} -IS\n" + Path(fake_gnubg.__file__).read_text())
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.does()

    def does(self, answers=None, fails: str = "", dies_at=(), waits_for: int = 0, taken: int = 0) -> None:
        """`answers`: question -> answer, "" for any other; `dies_at`: numbers of questions from 1 on.

        The stand-in does not answer before `waits_for` questions have been asked; `taken`: starts without a
        free port.
        """
        known = {"": CHANCES} if answers is None else answers
        script = {"answers": known, "fails": fails, "dies_at": list(dies_at), "waits_for": waits_for}
        script["taken"] = taken
        (self.folder / "script.json").write_text(json.dumps(script))
        idle_processes.end()

    def lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    @property
    def starts(self) -> list[dict]:
        return [json.loads(line) for line in self.lines("starts")]

    @property
    def living(self) -> list[int]:
        return [start["pid"] for start in self.starts if is_living(start["pid"])]


def is_living(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    found = Path(f"/proc/{pid}/stat")
    return not found.exists() or found.read_text().rpartition(")")[2].split()[0] not in "ZX"


PATIENCE = 300.0
"""Seconds that only a program that hangs takes, even on a busy machine."""


def wait_until(happened) -> None:
    limit = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The stand-in; waiting programs do not end on their own."""
    monkeypatch.setenv("FAKE_GNUBG", str(tmp_path))
    monkeypatch.setattr(idle, "SECONDS_TO_WAIT", 2 * PATIENCE)
    stop_clock()
    made = Fake(tmp_path)
    monkeypatch.setenv(program.VARIABLE, str(made.program))
    yield made
    idle_processes.end()
    assert made.living == []
    stop_clock()


def stop_clock() -> None:
    """Forget the time of the next check for idle programs: the next question sets it again."""
    if (timer := idle_processes._timer) is not None:
        timer.cancel()
        idle_processes._timer = None


@pytest.fixture
def other_temporary_folder(tmp_path_factory, monkeypatch):
    """An empty folder with a short name, in which temporary folders are made."""
    with tempfile.TemporaryDirectory(prefix="m") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


def test_it_plays_what_gnubg_says(fake):
    random = np.random.default_rng(1)
    chosen = [(position, roll, random.choice(plays)) for position, roll, plays in decisions(60, seed=8)]
    fake.does({play_question(position, roll): as_gnubg_writes(play) for position, roll, play in chosen})
    boards = np.array([position.board for position, _, _ in chosen])
    rolls = np.array([roll for _, roll, _ in chosen])
    # At 1-ply gnubg also chooses in races.
    results = load("gnubg@1").choose_many(boards, rolls, NO_STATES)
    assert results.tolist() == [play.position.board.tolist() for _, _, play in chosen]
    assert any(any(play.hits) for _, _, play in chosen)


def test_it_is_not_asked_for_forced_plays(fake):
    dance = Position.from_points({25: 1, 6: 2}, {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2})
    only = Position.from_points({24: 1, 1: 14}, {13: 2})
    player = load("gnubg")
    assert player.choose(dance, (6, 5)).notation == ""
    assert len(legal_plays(only, (6, 6))) == 1
    player.choose(only, (6, 6))
    assert fake.starts == []


def test_in_a_race_at_0_ply_the_best_by_value_is_chosen(fake):
    race, roll = Position.from_points({6: 1, 5: 1, 1: 1}, {6: 2, 5: 2}), (3, 1)
    plays = legal_plays(race, roll)
    fake.does({"": "0.5 0 0 0 0 0", evaluation_question(plays[2].position, 0): "0.25 0 0 0 0 -0.5"})
    assert load("gnubg").choose(race, roll) == plays[2]
    fake.does({"": "0.5 0 0 0 0 0"})
    assert load("gnubg").choose(race, roll) == plays[0]
    fake.does({"": as_gnubg_writes(plays[1])})
    assert load("gnubg@1").choose(race, roll) == plays[1]


def test_evaluations_are_gnubgs_numbers(fake):
    second = Position.from_points({6: 2}, {5: 3})
    fake.does({evaluation_question(START, 2): CHANCES, evaluation_question(second, 2): "1 0 0 0 0 1"})
    rows = load("gnubg@2").evaluate_many([START.board, FINISHED.board, second.board])
    start = [0.521514, 0.153921, 0.007563, 0.129847, 0.007546]
    assert rows.dtype == np.float32
    assert rows.tolist() == np.float32([start, [1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]).tolist()
    assert len(fake.lines("questions")) == 2


def test_its_surroundings_are_its_own(fake, monkeypatch):
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    monkeypatch.setenv("DISPLAY", ":0")
    load("gnubg@3").evaluate(START)
    (start,) = fake.starts
    commands = fake.lines("commands")
    assert "set evaluation chequerplay evaluation plies 3" in commands
    assert "set evaluation chequerplay evaluation cubeful off" in commands
    assert "set evaluation chequerplay evaluation noise 0" in commands
    assert start["words"][:3] == ["--tty", "--quiet", "--no-rc"]
    assert start["environment"]["HOME"] == start["folder"] == start["words"][3].removeprefix("--prefsdir=")
    assert start["environment"]["LC_ALL"] == "C"
    assert not {"PYTHONHOME", "DISPLAY"} & set(start["environment"])
    # Ctrl-C in a terminal reaches only its own session.
    assert start["session"] == start["pid"]


def test_no_choice_when_the_game_is_over(fake):
    with pytest.raises(PositionError, match="the game is over"):
        load("gnubg").choose(FINISHED, (3, 1))
    assert fake.starts == []


def test_one_gnubg_serves_all_players_one_after_the_other(fake):
    for _ in range(3):
        pickle.loads(pickle.dumps(load("gnubg"))).evaluate(START)
    assert len(fake.starts) == 1
    load("gnubg@1").evaluate(START)
    assert len(fake.starts) == 2


def test_threads_have_one_each(fake):
    fake.does(waits_for=2)
    player = load("gnubg")
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(player.evaluate, [START, START]))
    assert found[0] == found[1]
    assert len(fake.starts) == len(fake.living) == 2
    player.evaluate(START)
    assert len(fake.starts) == 2


def test_it_ends_when_there_are_no_more_questions(fake, monkeypatch):
    load("gnubg").evaluate(START)
    assert len(fake.living) == 1
    monkeypatch.setattr(idle, "SECONDS_TO_WAIT", 0.2)
    stop_clock()
    load("gnubg").evaluate(START)
    assert len(fake.starts) == 1
    wait_until(lambda: not fake.living)
    load("gnubg").evaluate(START)
    assert len(fake.starts) == 2


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_closing_ends_it_and_leaves_nothing(fake, other_temporary_folder):
    threads = threading.active_count()
    files = open_files()
    player = load("gnubg")
    for _ in range(3):
        player.evaluate(START)
        assert list(other_temporary_folder.iterdir()) == []
        assert len(fake.living) == 1
        player.close()
        assert fake.living == []
    assert open_files() == files
    assert threading.active_count() <= threads + 1


def test_what_a_killed_start_has_left_is_removed(fake, other_temporary_folder):
    old, new = other_temporary_folder / "motif-gnubg-old", other_temporary_folder / "motif-gnubg-new"
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, 0))
    load("gnubg").evaluate(START)
    assert list(other_temporary_folder.iterdir()) == [new]


def test_one_that_has_died_is_replaced(fake):
    fake.does(dies_at=[2])
    player = load("gnubg")
    first = player.evaluate(START)
    assert player.evaluate(START) == first
    assert len(fake.starts) == 2
    os.kill(fake.starts[1]["pid"], signal.SIGKILL)
    assert player.evaluate(START) == first
    assert len(fake.starts) == 3


def test_one_that_always_dies_is_replaced_once(fake):
    fake.does(dies_at=range(100))
    message = r"gnubg exited with code 3 before answering 'evaluation .*line was what a terrible position"
    with pytest.raises(PlayerError, match=message) as caught:
        load("gnubg").evaluate(START)
    assert len(fake.starts) == 2
    assert "\n" not in str(caught.value)


def test_one_that_cannot_start_says_why(fake):
    fake.does(fails="at the start")
    message = r"gnubg exited with code 1 at startup; its last line was gnubg: cannot open weights"
    with pytest.raises(PlayerError, match=message):
        load("gnubg").evaluate(START)


def test_one_that_never_listens_is_given_up(fake, monkeypatch):
    monkeypatch.setattr(gnubg_process, "_SECONDS_TO_START", 0.5)
    fake.does(fails="to listen")
    with pytest.raises(PlayerError, match=r"gnubg did not start listening within 0\.5 s"):
        load("gnubg").evaluate(START)
    assert fake.living == []


def test_one_that_never_answers_is_given_up(fake, monkeypatch):
    monkeypatch.setattr(gnubg_process, "_SECONDS_TO_ANSWER", 0.3)
    fake.does(fails="to answer")
    with pytest.raises(PlayerError, match=r"gnubg did not answer 'board:you"):
        load("gnubg").choose(START, (3, 1))
    assert fake.living == []


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("8/5 6/4", "gnubg returned the illegal play '8/5 6/4'"),
        ("", "gnubg returned the illegal play ''"),
        ("8/5", "gnubg returned the illegal play '8/5'"),
        ("24/18 24/18 13/7 13/7", "gnubg returned the illegal play"),
        ("Error: badly formed board", "gnubg returned 'Error: badly formed board', which is not a play"),
        (CHANCES, "which is not a play"),
        ("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "which is not a play"),
    ],
)
def test_a_play_that_is_none_is_refused(fake, answer, what):
    fake.does({"": answer})
    with pytest.raises(PlayerError) as caught:
        load("gnubg").choose(START, (3, 1))
    assert what in str(caught.value)
    assert str(caught.value).endswith(f", for 31 in {gnubg_id(START)}")


@pytest.mark.parametrize(
    "answer", ["", "8/5 6/5", "0.5 0.1", "2 0 0 0 0 3", "nan 0 0 0 0 0", "-0.1 0 0 0 0 0"]
)
def test_an_evaluation_that_is_none_is_refused(fake, answer):
    fake.does({"": answer})
    with pytest.raises(PlayerError, match="which is not an evaluation") as caught:
        load("gnubg").evaluate(START)
    assert str(caught.value).endswith(f"for the probabilities of {gnubg_id(START)}")


def test_an_interruption_does_not_mix_up_answers(fake):
    def interrupt_when_asked():
        wait_until(lambda: fake.lines("questions"))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    fake.does(fails="to answer")
    player = load("gnubg")
    interrupting = threading.Thread(target=interrupt_when_asked)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        player.evaluate(START)
    interrupting.join()
    assert fake.living == []


def test_the_program_that_a_variable_names(fake, monkeypatch, tmp_path):
    assert program.gnubg_path() == str(fake.program.resolve())
    for wrong in (tmp_path / "none", tmp_path, tmp_path / "script.json"):
        monkeypatch.setenv(program.VARIABLE, str(wrong))
        with pytest.raises(PlayerError, match=r"MOTIF_GNUBG=.* is not an executable file"):
            load("gnubg")
    fake.program.write_text("#!/nowhere/at/all\n")
    monkeypatch.setenv(program.VARIABLE, str(fake.program))
    with pytest.raises(PlayerError, match=r"cannot start .*/gnubg: No such file"):
        load("gnubg").evaluate(START)


def test_the_path_and_the_usual_folders_are_looked_through(fake, monkeypatch, tmp_path):
    monkeypatch.delenv(program.VARIABLE)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program.gnubg_path() == str(fake.program)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(program, "_GAMES_FOLDERS", str(tmp_path))
    assert program.gnubg_path() == str(fake.program)
    monkeypatch.setattr(program, "_GAMES_FOLDERS", str(tmp_path / "none"))
    with pytest.raises(PlayerError, match=r"gnubg is not installed \(.*apt install gnubg.*MOTIF_GNUBG"):
        load("gnubg")


@pytest.mark.parametrize("name", ["gnubg@4", "gnubg@9"])
def test_too_many_plies_are_refused(fake, name):
    with pytest.raises(PlayerError, match=f"{name}: lookahead must be 0 to 3 plies"):
        load(name)


@pytest.mark.parametrize("name", ["gnubg@", "gnubg@x", "gnubg@-1", "gnubg@10", "gnubg@1@1"])
def test_other_names_are_refused(fake, name):
    with pytest.raises(PlayerError, match="no player is called"):
        load(name)


def test_names_say_how_far_it_looks(fake):
    assert [load(name).name for name in ("gnubg", "gnubg@0", "gnubg@2")] == ["gnubg", "gnubg", "gnubg@2"]


def test_a_port_that_was_taken_is_left_to_others(fake):
    fake.does(taken=3)
    load("gnubg").evaluate(START)
    assert len(fake.starts) == 4
    assert len(fake.living) == 1
    ports = [line for line in fake.lines("commands") if line.startswith("external 127.0.0.1:")]
    assert len(set(ports)) == 4


def test_one_that_never_gets_a_port_says_why(fake):
    fake.does(taken=100)
    message = r"gnubg exited with code 0 at startup; .*: Address already in use"
    with pytest.raises(PlayerError, match=message):
        load("gnubg").evaluate(START)
    assert fake.living == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there a port can be reserved")
def test_a_reserved_port_is_given_only_once():
    with gnubg_process._free_port() as port, gnubg_process._free_port() as other, socket.socket() as third:
        assert port != other
        with pytest.raises(OSError, match="in use"):
            third.bind(("127.0.0.1", port))
        third.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        third.bind(("127.0.0.1", port))
        third.listen()


ASKING = """
import sys, time
from motif.players import load
from motif.players import gnubg_process
from motif.board.position import Position
gnubg_process.SECONDS_TO_WAIT = 1000
load("gnubg").evaluate(Position.start())
print("asked", flush=True)
if sys.argv[1] == "idle":
    time.sleep(1000)
"""
WITHOUT_SIGNALS_OF_PIPES = """
from motif.players import gnubg_process
gnubg_process.fcntl, gnubg_process._kill_without_writer = None, lambda reader, pid: None
"""


@pytest.mark.parametrize("before", ["", WITHOUT_SIGNALS_OF_PIPES], ids=["signals", "a shell"])
@pytest.mark.parametrize("at", ["idle", pytest.param("the end", marks=pytest.mark.slow)])
def test_it_does_not_outlive_its_caller(fake, at, before):
    with subprocess.Popen([sys.executable, "-c", before + ASKING, at], stdout=subprocess.PIPE) as caller:
        assert caller.stdout.readline() == b"asked\n"
        if at == "idle":
            assert len(fake.living) == 1
            caller.kill()
        caller.wait(PATIENCE)
    wait_until(lambda: not fake.living)


@pytest.mark.slow
def test_it_does_not_outlive_a_caller_who_waits_for_an_answer(fake):
    fake.does(fails="to answer")
    with subprocess.Popen([sys.executable, "-c", ASKING, "asking"], stdout=subprocess.PIPE) as caller:
        wait_until(lambda: len(fake.lines("questions")) >= 1)
        caller.kill()
        caller.wait(PATIENCE)
    if sys.platform == "linux":
        wait_until(lambda: not fake.living)
    for pid in fake.living:
        os.kill(pid, signal.SIGKILL)
