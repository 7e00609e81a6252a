"""Records of games as .mat files: gnubg reads motif's files, and motif reads gnubg's."""

import re
from pathlib import Path

import pytest

from motif.board.game_record import GameRecord, MatchRecord, Turn
from motif.board.identifiers import gnubg_id
from motif.board.match_file import read_match, write_match
from motif.board.position import Position
from motif.cli.main import main
from motif.players import load
from motif.rollouts.games import SeededDice
from motif.session.session import GameSession, Seat
from tests.board.test_mat_file import played

# Otherwise gnubg would count gammons as one point, and its own player would continue the game.
ONLY_READ = [
    "set jacoby off",
    "set automatic game off", "set automatic roll off", "set automatic move off",
    "set player 0 human", "set player 1 human",
]  # fmt: skip
GNUBG_PLAYS_GNUBG = [
    "set automatic game on", "set automatic roll on", "set automatic move on",
    "set player 0 gnubg", "set player 1 gnubg",
    "set player 0 chequer evaluation plies 0", "set player 1 chequer evaluation plies 0",
    "set player 0 cube evaluation plies 0", "set player 1 cube evaluation plies 0",
    "set output board off",
]  # fmt: skip


def lines(path: Path) -> list[list[str]]:
    """Return the words of each nonempty line, with the moves of a play in a fixed order."""
    # After a drop, or a roll that was not played, gnubg continues in the same line.
    text = re.sub(r"(?<=\S) +(?=Game |Wins )", "\n", path.read_text("utf-8"))
    found = [line.split() for line in text.splitlines() if not line.startswith(";")]
    return [sorted(words) if any("/" in word for word in words) else words for words in found if words]


def final_position(record: MatchRecord) -> Position:
    """Return the position after the last turn of the last game."""
    played = [turn.play for turn in record.games[-1].actions if isinstance(turn, Turn) and turn.play]
    return played[-1].position


def imported(gnubg, path: Path, copy: Path) -> str:
    """Let gnubg read `path` and write the result to `copy`; return gnubg's output."""
    return gnubg._run([*ONLY_READ, f"import mat {path}", "show board", f"export match mat {copy}"])


def assert_read_by_gnubg(gnubg, record: MatchRecord, folder: Path) -> None:
    path, copy = folder / "motif.mat", folder / "gnubg.mat"
    write_match(path, record)
    said = imported(gnubg, path, copy)
    for complaint in ("WARNING", "Unrecognised", "not a valid", "had errors", "doesn't follow"):
        assert complaint not in said
    assert lines(copy) == lines(path)
    assert read_match(copy).games == record.games
    ids = [line.split()[-1] for line in said.splitlines() if "Position ID:" in line]
    position = final_position(record)
    assert {gnubg_id(position), gnubg_id(position.switch_sides())} & set(ids)


@pytest.mark.parametrize("seed", range(6))
def test_random_games_with_the_cube(gnubg, tmp_path, seed):
    assert_read_by_gnubg(gnubg, played(seed), tmp_path)


def test_sessions_of_players(gnubg, tmp_path):
    session = GameSession((Seat("Ann", load("pubeval")), Seat("Bob", load("simple"))))
    dice = SeededDice(11)
    for game in range(8):
        session.begin(dice.opening(game))
        while session.result is None:
            if session.roll is None:
                session.set_dice(dice.roll(game, session.ply))
            seat = session.seats[session.on_roll]
            if game == 3 and session.ply == 9:
                session.resign("gammon")
                continue
            session.play(seat.player.choose(session.position, session.roll))
    assert any(game.result.points > 1 for game in session.record().games)
    assert_read_by_gnubg(gnubg, session.record(), tmp_path)


@pytest.mark.parametrize("turns", [1, 2, 7, 30])
def test_unfinished_games(gnubg, tmp_path, turns):
    game = next(game for game in played(3).games if len(game.actions) > turns)
    record = MatchRecord(("Ann", "rollout:pubeval,cut=7"), 7, (GameRecord((2, 5), game.actions[:turns]),))
    write_match(tmp_path / "motif.mat", record)
    said = imported(gnubg, tmp_path / "motif.mat", tmp_path / "gnubg.mat")
    assert "WARNING" not in said
    assert lines(tmp_path / "gnubg.mat") == lines(tmp_path / "motif.mat")


def test_a_game_in_the_terminal_is_read_back(gnubg, tmp_path, monkeypatch, capsys):
    from tests.cli.robot import Robot
    from tests.cli.test_play import Keyboard

    robot = Robot(str(tmp_path / "robot.mat"))
    monkeypatch.setattr("sys.stdin", Keyboard(robot, capsys))
    path, copy = tmp_path / "motif.mat", tmp_path / "gnubg.mat"
    assert main(["play", "pubeval", "--hint-player", "pubeval", "--seed", "7", "--save", str(path)]) == 0
    said = imported(gnubg, path, copy)
    assert "WARNING" not in said
    assert lines(copy) == lines(path)
    assert [bool(game.result) for game in read_match(copy).games] == [True, True, False]


@pytest.mark.parametrize(("session", "seed"), [("new match 5", 5), ("new match 3", 6), ("new match 9", 7)])
def test_matches_of_gnubg_are_read(gnubg, tmp_path, session, seed):
    theirs, ours = tmp_path / "gnubg.mat", tmp_path / "motif.mat"
    gnubg._run([*GNUBG_PLAYS_GNUBG, f"set seed {seed}", session, f"export match mat {theirs}"])
    record = read_match(theirs)
    assert record.length == int(session.split()[-1])
    assert all(game.result is not None for game in record.games)
    totals = list(record.games[-1].score)
    totals[record.games[-1].result.winner] += record.games[-1].result.points
    assert max(totals) >= record.length
    for before, after in zip(record.games, record.games[1:], strict=False):
        score = list(before.score)
        score[before.result.winner] += before.result.points
        assert tuple(score) == after.score
    write_match(ours, record)
    assert read_match(ours) == record
