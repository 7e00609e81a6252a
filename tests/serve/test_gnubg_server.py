"""`serve gnubg`: answers to recorded requests of gnubg, over sockets, whatever else arrives."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.fibs_board import fibs_lines, parse_fibs_board
from motif.board.match_state import MatchState
from motif.board.position import Position
from motif.cli.main import main
from motif.evaluators.probabilities import Probabilities
from motif.players.gnubg import board_after, chances, evaluation_questions
from motif.runtime.errors import PlayerError, SettingError
from motif.serve.gnubg_server import ConnectionLimits, Conversation, GnubgServer, Rules
from motif.serve.opponent import Opponent
from tests.board.fibs_lines import fibs_board, line_of
from tests.board.oracle import legal_results
from tests.faults.processes import Stop, running, wait_until
from tests.fuzz.mutations import mutated
from tests.serve.recorded import conversation, requests

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 300
START = Position.start()
OPENING = conversation()[0][0]
START_POINTS = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
BEFORE_ROLL = OPENING.replace(":2:1:2:1:", ":0:0:0:0:")
LOST = {1: 15}
"""Checkers that no roll bears off, nor one of them: the opponent has two on the ace point."""


@pytest.fixture(scope="module")
def latest() -> Opponent:
    return Opponent("latest")


@pytest.fixture
def talk(latest) -> Conversation:
    return Conversation(latest)


def request(position: Position, roll=(0, 0), **changes) -> str:
    """The line with which gnubg asks its external player 1, on roll in `position`."""
    plain = replace(fibs_board(position), your_dice=roll, opponent_dice=roll, redoubles=1)
    cube = {name: changes.pop(name) for name in plain.cube._fields if name in changes}
    return line_of(replace(plain, cube=plain.cube._replace(**cube), **changes))


def test_every_recorded_request_gets_a_legal_answer(talk):
    for line in requests():
        board, answer = parse_fibs_board(line), talk.answer(f"\0{line}")
        if board.doubled:
            assert answer in ("take", "drop", "beaver", "accept")
        elif answer.startswith("resign"):
            assert board.counts.opponent_off + board.counts.your_off >= 13
        elif board.roll is None:
            assert answer in ("roll", "double")
        else:
            position = board.position.board.tolist()
            assert board_after(position, answer) in legal_results(tuple(position), board.roll)
    assert len(requests()) > 100


def test_gnubgs_own_answers_are_answers_to_the_same_questions(talk):
    """motif asks the same player to roll, to take or to play."""
    kinds = {"roll": "r/d", "double": "r/d", "take": "t/d", "drop": "t/d", "beaver": "t/d"}
    for line, theirs in conversation():
        ours = talk.answer(line)
        if not ours.startswith("resign"):
            assert kinds.get(ours, "play") == kinds.get(theirs, "play"), line


@pytest.mark.parametrize(
    ("line", "state"),
    [
        (OPENING, MatchState(length=3, player=0)),
        # Player 1 has doubled, is named first there, and is on roll.
        (
            f"board:root:gnubg:5:1:2:{START_POINTS}:1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(length=5, own_score=1, opponent_score=2, doubled=True, decision="opponent"),
        ),
        # Player 1 plays: player 0 is named first.
        (
            f"board:gnubg:root:5:1:2:{START_POINTS}:1:3:1:3:1:2:0:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(length=5, own_score=2, opponent_score=1, cube=2, cube_owner="opponent"),
        ),
        (
            f"board:gnubg:root:3:2:0:{START_POINTS}:-1:2:1:2:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0",
            MatchState(length=3, own_score=2, crawford=True, player=0),
        ),
        (
            f"board:gnubg:root:3:2:1:{START_POINTS}:-1:2:1:2:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:1:1",
            MatchState(length=3, own_score=2, opponent_score=1, player=0),
        ),
        # For money; the opponent's redouble to 4 was beavered.
        (
            f"board:gnubg:root:0:0:0:{START_POINTS}:-1:0:0:0:0:4:1:0:1:1:-1:0:25:0:0:0:0:0:0:0:1",
            MatchState(cube=2, cube_owner="me", player=0),
        ),
    ],
)
def test_a_request_contains_score_and_cube(line, state):
    assert parse_fibs_board(line).match_state(request=True) == state


def test_on_fibs_you_are_named_first():
    board = parse_fibs_board(
        f"board:You:other:5:3:1:{START_POINTS}:1:6:2:0:0:2:1:0:0:1:-1:0:25:0:0:0:0:2:0:0:0"
    )
    mine = MatchState(length=5, own_score=3, opponent_score=1, cube=2, cube_owner="me")
    assert board.match_state() == mine
    # The other player, who had the cube, has doubled: nobody may double.
    doubled = parse_fibs_board(
        f"board:You:other:5:3:1:{START_POINTS}:-1:0:0:0:0:2:0:0:0:1:-1:0:25:0:0:0:0:0:0:0:0"
    )
    theirs = MatchState(5, 1, 3, 2, "me", doubled=True, decision="opponent", player=0)
    assert doubled.match_state() == theirs


def test_cubes_and_scores_matter(talk):
    """No doubles at double match point; at 2-away 2-away both players should double and take."""
    assert talk.answer(request(START, length=3, your_score=2, opponent_score=2, did_crawford=1)) == "roll"
    assert talk.answer(request(START, length=0)) == "roll"
    winning = Position.from_points({2: 2, 1: 2}, {6: 5, 5: 5, 4: 5})
    assert talk.answer(request(winning)) == "double"
    assert talk.answer(request(winning, you_may_double=0)) == "roll"
    assert talk.answer(request(winning, was_doubled=1)) == "drop"
    losing = Position.from_points({6: 5, 5: 5, 4: 5}, {6: 5, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2})
    assert talk.answer(request(losing, was_doubled=1)) == "beaver"
    assert Conversation(talk._opponent, Rules(beavers=False)).answer(request(losing, was_doubled=1)) == "take"
    assert talk.answer(request(losing, was_doubled=1, length=7)) == "take"


def test_a_player_who_was_redoubled_takes_or_drops(talk):
    """A beaver and a raccoon look alike: the previous dice show which player is asked."""
    offer = {"was_doubled": 1, "opponent_may_double": 1, "you_may_double": 0}
    won = Position.from_points({2: 2, 1: 2}, {6: 4, 5: 4, 4: 4})
    lost = Position.from_points({6: 5, 5: 5, 4: 5}, {2: 2, 1: 2})
    for first, answers in ((START, ["accept", "drop"]), (START.switch_sides(), ["drop", "accept"])):
        side = 1 if first is START else -1
        assert talk.answer(request(START, (3, 1), turn=side)) == "8/5 6/5"
        offered = [request(position, value=4, **offer) for position in (won, lost)]
        assert [talk.answer(line) for line in offered] == answers
    assert parse_fibs_board(offered[0]).match_state(request=True, raises=2) == MatchState()


def test_a_lost_game_is_resigned_once(talk):
    lost = Position.from_points(LOST, {1: 2})
    assert talk.answer(request(lost)) == "resign single"  # by the Jacoby rule
    assert talk.answer(request(lost)) == "roll"
    assert talk.answer(request(lost, (2, 1))) == "1/0 1/0"
    assert talk.answer(request(START)) == "roll"
    gammon = Position.from_points({7: 15}, {1: 2})
    assert talk.answer(request(gammon, value=2, you_may_double=0)) == "resign gammon"
    assert talk.answer(request(gammon, (6, 6), value=2, you_may_double=0)) == "7/1 7/1 7/1 7/1"
    # A client that asks as it would ask gnubg does not expect resignations.
    assert talk.answer(f"{request(lost)} beavers off") in ("roll", "double")
    talk = Conversation(talk._opponent)
    # A player who may still bear one off, or see the opponent miss, plays on.
    assert not talk.answer(request(Position.from_points({7: 3, 1: 12}, {1: 2}), length=7)).startswith(
        "resign g"
    )
    assert not talk.answer(request(Position.from_points(LOST, {6: 2}))).startswith("resign")
    assert not talk.answer(request(Position.from_points({1: 4}, {1: 2}))).startswith("resign")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("", "Error: no command given"),
        ("nonsense", "Error: syntax error, unexpected 'nonsense'"),
        ("board:", "Error: invalid FIBS board 'board:': it must have 52 fields, not 1"),
        (OPENING.replace(":5:0:3:", ":5:0:13:"), "Error: invalid position: "),
        (OPENING.replace(":-1:2:1:", ":0:2:1:"), "Error: the game is over"),
        (OPENING.replace(":3:0:0:", ":3:3:0:", 1), "Error: invalid match state: the match is over"),
        (line_of(fibs_board(Position.from_points({}, {3: 2}))), "Error: the game is over"),
        (f"{OPENING} jacobyrule", "Error: syntax error: jacobyrule is on or off"),
        (f"{OPENING} what", "Error: syntax error, unexpected 'what'"),
        (f"{OPENING} noise 0.1", "Error: noise"),
        (f"{OPENING} resignation 4", "Error: resignation must be 0 to 3"),
        ("evaluation", "Error: syntax error: expected evaluation fibsboard BOARD"),
        (f"evaluation fibsboard {OPENING} plies 9", "Error: plies must be 0 to 3"),
        ("set prompt >", "Error: set option 'prompt' not supported"),
        ("set", "Error: set option '' not supported"),
        ("help", "\tNo help information available"),
        ("set debug on", "Debug output ON"),
        ("set interface old", "New interface OFF"),
    ],
)
def test_other_lines(talk, line, answer):
    assert talk.answer(line).startswith(answer)


def test_the_version_has_gnubgs_four_lines(talk):
    names = [line.partition(": ")[0] for line in talk.answer("version").split("\n")]
    assert names == ["Interface", "RFBF", "Engine", "Software"]
    assert talk.answer("exit") is None


def test_motifs_own_client_reads_the_answers(talk, latest):
    """The questions of `motif.players.gnubg` to gnubg, and its reading of the answers."""
    boards = np.array([START.board, Position.from_points({6: 2}, {5: 3}).board])
    for board, question in zip(boards, evaluation_questions(boards, 0), strict=True):
        expected = latest.evaluation(Position(board), MatchState(), cubeful=False)
        assert chances(talk.answer(question)) == pytest.approx(expected[:5], abs=1e-6)
    (line,) = fibs_lines(boards[:1], np.array([[3, 1]]))
    assert board_after(START.board.tolist(), talk.answer(line)) in legal_results(
        tuple(START.board.tolist()), (3, 1)
    )


def test_what_an_evaluation_is_worth(talk):
    def numbers(options: str, **changes) -> list[float]:
        answer = talk.answer(f"evaluation fibsboard {request(START, **changes)} {options}")
        return [float(word) for word in answer.split()]

    plain = numbers("plies 0 cubeless")
    assert plain[5] == pytest.approx(Probabilities(*plain[:5]).equity, abs=1e-5)
    cubeful = [numbers("plies 0 cube on jacobyrule off", value=2, **rights)[5] for rights in (
        {"opponent_may_double": 0}, {}, {"you_may_double": 0}
    )]  # fmt: skip
    assert cubeful[0] > cubeful[1] > cubeful[2]
    ahead, behind = (
        numbers("plies 0 cubeful", length=5, your_score=own, opponent_score=other)[5]
        for own, other in ((3, 1), (1, 3))
    )
    assert 0 < behind < 0.5 < ahead < 1
    assert numbers("plies 1 prune on deterministic noise 0")[:5] != plain[:5]


@pytest.mark.parametrize(
    ("points", "turn", "answer"), [(1, 1, "accept"), (1, -1, "reject"), (2, -1, "accept"), (3, -1, "accept")]
)
def test_resignations_are_judged_as_gnubg_does(talk, points, turn, answer):
    """The player whose turn it is offers; the answers are gnubg 1.07's for these boards."""
    line = line_of(replace(fibs_board(Position.from_points({1: 1}, {7: 5, 6: 5, 5: 5})), turn=turn))
    assert talk.answer(f"{line} resignation {points} jacobyrule off") == answer


LIMITS = ConnectionLimits()


@contextmanager
def serving(opponent: Opponent, limits: ConnectionLimits = LIMITS):
    """A server that runs within the block."""
    with GnubgServer(opponent, "127.0.0.1", 0, limits=limits) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield listening
        finally:
            listening.shutdown()
            thread.join()


@pytest.fixture
def server(latest):
    with serving(latest) as listening:
        yield listening


class Client:
    """A plain socket, and its lines."""

    def __init__(self, server: GnubgServer) -> None:
        self.socket = socket.create_connection(server.server_address, SECONDS)
        self._lines = self.socket.makefile("rb")

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *failure) -> None:
        self._lines.close()
        self.socket.close()

    def says(self, octets: bytes) -> None:
        self.socket.sendall(octets)

    def hears(self) -> str:
        return self._lines.readline().decode()

    def ask(self, line: str) -> str:
        self.says(line.encode() + b"\n\0")
        return self.hears()


def test_a_connection_is_answered_line_by_line(server):
    with Client(server) as client:
        client.says(OPENING[:50].encode())
        client.says(OPENING[50:].encode() + b"\n\0" + b"version\r\n")
        assert board_after(START.board.tolist(), client.hears())
        assert [client.hears().partition(":")[0] for _ in range(4)] == [
            "Interface",
            "RFBF",
            "Engine",
            "Software",
        ]
        client.says(b"exit\n")
        assert client.hears() == ""


def test_several_connections_at_a_time(server):
    clients = [Client(server) for _ in range(5)]
    answers = {client.ask(OPENING) for client in (*clients, *reversed(clients))}
    assert len(answers) == 1
    for client in clients:
        client.__exit__()


def test_whatever_comes_it_goes_on_serving(server):
    for octets in (
        b"\0\0\n",
        b"\xff\xfe\n",
        b"a" * 100_000 + b"\n",
        b"GET / HTTP/1.1\r\n",
        OPENING.encode()[:60],
    ):
        with Client(server) as client:
            client.says(octets)
            if octets.endswith(b"\n"):
                assert client.hears().startswith("Error: ")
    with Client(server) as client:
        client.says(b"b" * 50_000)
        assert client.hears() == "Error: a line must have at most 4096 bytes\n"
        client.says(b"b" * 50_000 + b"\nhelp\n")
        assert client.hears() == "\tNo help information available\n"
    for _ in range(20):
        killed = Client(server)
        killed.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        killed.says(OPENING.encode() + b"\n")
        killed.__exit__()
    with Client(server) as client:
        assert client.ask(BEFORE_ROLL) == "roll\n"


@pytest.mark.parametrize("method", [b"GET /", b"POST /x?y", b"OPTIONS *", b"POST /" + b"x" * 9000])
def test_web_pages_are_not_answered(server, monkeypatch, method):
    asked = []
    monkeypatch.setattr(server, "ask", lambda conversation, line: asked.append(line) or "")
    with Client(server) as client:
        client.says(method + b" HTTP/1.1\r\nHost: x\r\n\r\n" + OPENING.encode() + b"\n")
        if len(method) > 4096:
            assert client.hears() == "Error: a line must have at most 4096 bytes\n"
        assert client.hears() == "Error: this is no web server\n"
        with suppress(ConnectionError):  # closed with unread lines
            assert client.hears() == ""
    assert asked == []


def test_a_fault_of_its_own_is_one_line_to_one_client(server, monkeypatch):
    def fail(*words):
        raise RuntimeError("a fault\nin two lines")

    monkeypatch.setattr(server.opponent, "play", fail)
    with Client(server) as client:
        assert client.ask(OPENING) == "Error: internal error: RuntimeError: a fault in two lines\n"
        assert client.ask("help") == "\tNo help information available\n"


def test_one_too_many_is_closed_and_the_others_stay(latest):
    with serving(latest, ConnectionLimits(connections=1)) as server, Client(server) as first:
        assert first.ask("help")
        with Client(server) as second:
            assert second.socket.recv(1) == b""
        assert first.ask("help")


def closed(client: Client) -> bool:
    """Whether the server closes the connection; waits for it."""
    try:
        return client.socket.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("octets", [b"", OPENING[:50].encode(), b"x" * 10_000])
def test_a_connection_that_sends_no_line_is_closed(latest, octets):
    # A client whose line is too long is answered, and idle from then on.
    with serving(latest, ConnectionLimits(silent=0.3, idle=0.3)) as server, Client(server) as client:
        client.says(octets)
        while not closed(client):
            pass


def test_a_line_that_comes_byte_by_byte_does_not_hold_the_place(latest):
    with serving(latest, ConnectionLimits(silent=0.5)) as server, Client(server) as client:
        client.socket.settimeout(0.01)
        is_open = True
        while is_open:
            with suppress(ConnectionError):  # if it is closed, the next line fails
                client.says(b"x")
            with suppress(TimeoutError):
                is_open = not closed(client)


def test_a_session_may_be_idle_for_longer_than_a_silent_connection(latest):
    with serving(latest, ConnectionLimits(silent=0.3)) as server, Client(server) as session:
        assert session.ask("help")
        with Client(server) as silent:
            assert closed(silent)
        assert session.ask("help")
    with serving(latest, ConnectionLimits(idle=0.3)) as server, Client(server) as session:
        assert session.ask("help")
        assert closed(session)


AT_ONCE = ConnectionLimits(silent_when_full=0.0, idle_when_full=0.0)


def test_64_silent_connections_block_no_client(latest):
    with serving(latest, AT_ONCE) as server, ExitStack() as stack:
        silent = [stack.enter_context(Client(server)) for _ in range(64)]
        with Client(server) as client:
            assert client.ask("help")
            assert closed(silent[0])
            # Later clients also replace silent ones before a session.
            more = [stack.enter_context(Client(server)) for _ in range(63)]
            assert all(closed(one) for one in silent[1:])
            assert client.ask("help")
            assert more[-1].ask("help")


def test_the_session_that_has_been_idle_longest_makes_room(latest):
    with serving(latest, replace(AT_ONCE, connections=3)) as server, ExitStack() as stack:
        sessions = [stack.enter_context(Client(server)) for _ in range(3)]
        for session in (*sessions, sessions[0]):
            assert session.ask("help")
        new = stack.enter_context(Client(server))
        assert closed(sessions[1])
        for session in (sessions[0], sessions[2], new):
            assert session.ask("help")


def test_who_waits_for_an_answer_is_not_idle(latest, monkeypatch):
    thinks, may_answer = threading.Event(), threading.Event()

    def think(*question):
        thinks.set()
        assert may_answer.wait(SECONDS)
        return Opponent.cube(latest, *question)

    monkeypatch.setattr(latest, "cube", think)
    with serving(latest, replace(AT_ONCE, connections=1)) as server, Client(server) as first:
        first.says(BEFORE_ROLL.encode() + b"\n")
        assert thinks.wait(SECONDS)
        with Client(server) as second:
            assert closed(second)
        may_answer.set()
        assert first.hears() == "roll\n"


def test_a_port_that_is_taken(latest, server):
    with pytest.raises(SettingError, match=r"cannot listen on 127\.0\.0\.1:\d+: Address already in use"):
        GnubgServer(latest, "127.0.0.1", server.server_address[1])
    with pytest.raises(SettingError, match=r"cannot listen on nowhere\.invalid:0: "):
        GnubgServer(latest, "nowhere.invalid", 0)


@settings(max_examples=300)
@given(mutated([line.encode() for line in requests()[::7]]) | st.binary(max_size=300))
def test_any_line_gets_one_answer(octets):
    answer = Conversation(STATIC).answer(octets.replace(b"\n", b" ").decode("utf-8", "replace"))
    if answer is None or answer.startswith(("Interface", "\t")):
        return
    assert answer.isascii()
    assert answer == "" or answer.isprintable()
    assert len(answer) <= 200


STATIC = Opponent("latest")


def test_the_same_seed_plays_the_same():
    def plays(seed: int) -> list[str | None]:
        talk = Conversation(Opponent("random", seed))
        return [talk.answer(line) for line, _ in conversation()]

    assert plays(1) == plays(1) != plays(2)


def test_an_unknown_player():
    with pytest.raises(PlayerError, match="no player"):
        Opponent("nobody")


def test_the_command(tmp_path):
    words = [sys.executable, str(ROOT / "cli.py"), "serve", "gnubg", "--port", "0", "--player", "pubeval"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        said = ""
        while not (ready := re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", said)):
            said = process.stderr.readline()
            assert said
        with socket.create_connection(("127.0.0.1", int(ready[1])), SECONDS) as client:
            client.sendall(BEFORE_ROLL.encode() + b"\n")
            assert client.recv(100) == b"roll\n"
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(SECONDS) == 130
        assert process.stderr.read() == f"motif: interrupted; no longer listening on 127.0.0.1:{ready[1]}\n"


def is_closed(client: socket.socket) -> bool:
    """Return whether the server closed the connection; the system resets one whose question was not read."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_ends_while_it_thinks_and_others_wait(tmp_path, number):
    stop = Stop(tmp_path / "stop", "motif.serve.opponent:Opponent.evaluation")
    words = ("serve", "gnubg", "--port", 0, "--player", "pubeval", "--idle", 600)
    with running(*words, stop=stop) as process, ExitStack() as stack:
        port = next(int(found[1]) for line in process.stderr if (found := re.search(r":(\d+)$", line)))
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS)) for _ in range(5)
        ]
        for client in clients[1:3]:
            client.sendall(f"evaluation fibsboard {BEFORE_ROLL} plies 0\n".encode())
        wait_until(lambda: stop.reached, process)
        process.send_signal(number)
        assert process.wait(SECONDS) == 130  # it would take an hour
        assert process.stderr.read() == f"motif: interrupted; no longer listening on 127.0.0.1:{port}\n"
        assert all(map(is_closed, clients))


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "1e9"])
def test_an_idle_time_that_cannot_be(capsys, seconds):
    assert main(["serve", "gnubg", "--port", "0", "--idle", seconds]) == 2
    errors = capsys.readouterr().err
    assert "--idle" in errors
    assert errors.count("\n") == 1
