"""Records of games as .sgf files: gnubg reads motif's files, and motif reads gnubg's."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from motif.board.game_record import (
    Annotation,
    CubeAction,
    GameProgress,
    GameRecord,
    GameResult,
    MatchRecord,
    Turn,
)
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_file import read_match, write_match
from motif.board.moves import legal_plays
from motif.board.sgf_file import parse_sgf, sgf_text
from tests.board.test_mat_file import played
from tests.peers.test_gnubg_mat import GNUBG_PLAYS_GNUBG, ONLY_READ

COMPLAINTS = ("WARNING", "Unrecognised", "not a valid", "had errors", "doesn't follow", "Illegal", "rror")


def loaded(gnubg, path: Path, *copies: Path) -> str:
    """Let gnubg load `path` and write the result to `copies`, by their suffixes; return gnubg's output."""
    ways = {".mat": "export match mat", ".sgf": "save match"}
    saved = [f"{ways[copy.suffix]} {copy}" for copy in copies]
    return gnubg._run([*ONLY_READ, f"load match {path}", *saved])


@pytest.mark.parametrize("seed", range(4))
def test_random_games_with_the_cube(gnubg, tmp_path, seed):
    record = played(seed)
    path, sgf, mat = (tmp_path / name for name in ("motif.sgf", "gnubg.sgf", "gnubg.mat"))
    write_match(path, record)
    said = loaded(gnubg, path, sgf, mat)
    assert not [complaint for complaint in COMPLAINTS if complaint in said]
    assert read_match(sgf).games == record.games
    assert read_match(mat).games == record.games


def test_comments_are_ignored(gnubg, tmp_path):
    record = played(2)
    notes = {
        (number, place): Annotation("a comment: [with brackets]\nand a second line", "very bad")
        for number, game in enumerate(record.games)
        for place in range(0, len(game.actions), 3)
    }
    path, copy = tmp_path / "motif.sgf", tmp_path / "gnubg.sgf"
    write_match(path, record, notes)
    said = loaded(gnubg, path, copy)
    assert not [complaint for complaint in COMPLAINTS if complaint in said]
    assert read_match(copy).games == record.games
    text = copy.read_text("utf-8")
    assert text.count("and a second line") == len(notes)
    path, copy = tmp_path / "motif.mat", tmp_path / "gnubg.mat"
    write_match(path, record, notes)
    said = gnubg._run([*ONLY_READ, f"import mat {path}", f"export match mat {copy}"])
    assert not [complaint for complaint in COMPLAINTS if complaint in said]
    assert read_match(copy).games == record.games


def test_beavers(gnubg, tmp_path):
    progress, actions, chance = GameProgress(), [], random.Random(3)
    opening = legal_plays(progress.position, (3, 1))[0]
    start = [
        Turn(0, (3, 1), opening),
        CubeAction(1, "double"),
        CubeAction(0, "beaver"),
    ]
    for action in start:
        progress.apply(action)
        actions.append(action)
    for player in (1, 0, 1):
        action = Turn(player, (2, 1), chance.choice(legal_plays(progress.position, (2, 1))))
        progress.apply(action)
        actions.append(action)
    record = MatchRecord(
        ("a", "b"), 0, (GameRecord((0, 0), tuple(actions), GameResult(0, 4, resigned=True)),)
    )
    path, copy, mat = (tmp_path / name for name in ("motif.sgf", "gnubg.sgf", "gnubg.mat"))
    write_match(path, record)
    said = loaded(gnubg, path, copy, mat)
    assert not [complaint for complaint in COMPLAINTS if complaint in said]
    assert read_match(copy).games == read_match(mat).games == record.games


@pytest.mark.parametrize(("session", "seed"), [("new match 5", 5), ("new match 1", 6), ("new match 9", 7)])
def test_matches_of_gnubg(gnubg, tmp_path, session, seed):
    sgf, mat, copy = (tmp_path / name for name in ("gnubg.sgf", "gnubg.mat", "again.mat"))
    saved = [f"save match {sgf}", f"export match mat {mat}"]
    gnubg._run([*GNUBG_PLAYS_GNUBG, f"set seed {seed}", session, *saved])
    record = read_match(mat)
    assert read_match(sgf) == record
    again = parse_sgf(sgf_text(record))
    assert parse_mat(mat_text(again)) == record
    ours = tmp_path / "motif.sgf"
    write_match(ours, record)
    loaded(gnubg, ours, copy)
    assert replace(read_match(copy), tags=()) == replace(record, tags=())
