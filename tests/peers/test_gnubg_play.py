"""Matches played in the terminal: gnubg reads their records, cube included."""

import random

import pytest

from motif.board.match_file import read_match, write_match
from motif.cli.main import main
from motif.session.session import GameSession, Seat, SessionRules
from tests.cli.robot import MAX_ANSWERS, PROMPT
from tests.cli.test_play_cube import Keyboard
from tests.peers.test_gnubg_mat import assert_read_by_gnubg, imported, lines
from tests.session.test_game_session_cube import random_game


@pytest.mark.parametrize(
    ("seed", "rules"),
    [
        *((seed, SessionRules(beavers=True)) for seed in range(3)),
        *((seed, SessionRules(length=length)) for seed, length in enumerate((1, 3, 7), 3)),
    ],
)
def test_random_sessions(gnubg, tmp_path, seed, rules):
    session, chance = GameSession((Seat("Ann"), Seat("Bob")), (), rules), random.Random(seed)
    while session.games < 5 and session.match_winner is None:
        random_game(session, chance, undoes=0.05)
    assert_read_by_gnubg(gnubg, session.record(), tmp_path)


@pytest.mark.parametrize("acts", [["double"], ["double", "take"], ["double", "beaver"]])
def test_games_left_at_a_cube_action(gnubg, tmp_path, acts):
    session = GameSession((Seat("Ann"), Seat("Bob")), (), SessionRules(beavers=True))
    session.begin((3, 1))
    for _ in range(3):
        session.play(session.plays[0])
        session.set_dice((6, 2))
    session.play(session.plays[0])
    for act in acts:
        session.turn_cube("double") if act == "double" else session.turn_cube(act)
    write_match(tmp_path / "motif.mat", session.record())
    said = imported(gnubg, tmp_path / "motif.mat", tmp_path / "gnubg.mat")
    assert "WARNING" not in said
    assert lines(tmp_path / "gnubg.mat") == lines(tmp_path / "motif.mat")


def test_a_match_against_the_newest_player(gnubg, tmp_path, monkeypatch, capsys):
    answers = 0

    def answer(shown: str) -> str:
        nonlocal answers
        answers += 1
        assert answers < MAX_ANSWERS, shown
        head = PROMPT.match(shown.rpartition("\n")[2])["head"]
        return "take" if "take" in head else "" if "roll (Enter)" in head else "1"

    path, copy = tmp_path / "motif.mat", tmp_path / "gnubg.mat"
    monkeypatch.setattr("sys.stdin", Keyboard(answer, capsys))
    assert main(["play", "latest", "--length", "3", "--seed", "7", "--save", str(path)]) == 0
    record = read_match(path)
    last = record.games[-1]
    assert record.length == 3
    assert last.score[last.result.winner] + last.result.points >= 3
    said = imported(gnubg, path, copy)
    assert "WARNING" not in said
    assert lines(copy) == lines(path)
    assert read_match(copy).games == record.games
