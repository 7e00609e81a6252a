"""Match files of every kind, recognised by their first bytes."""

import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from motif.board.game_record import GameResult
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_file import READ_SUFFIXES, match_paths, read_match, write_match
from motif.board.sgf_file import sgf_text
from motif.runtime.errors import RecordError, SettingError
from tests.board.test_mat_file import BY_GNUBG

ROOT = Path(__file__).resolve().parents[2]
RECORD = parse_mat(BY_GNUBG)


@pytest.mark.parametrize("name", ["a.mat", "a.sgf", "a.txt", "a"])
def test_a_file_is_recognised_by_its_beginning(tmp_path, name):
    for text in (mat_text(RECORD), sgf_text(RECORD)):
        path = tmp_path / name
        for content in (text.encode(), b"\xef\xbb\xbf\n" + text.encode()):
            path.write_bytes(content)
            assert read_match(path) == RECORD


@pytest.mark.parametrize("name", ["a.mat", "a.sgf", "a.SGF"])
def test_what_is_written_is_read(tmp_path, name):
    write_match(tmp_path / name, RECORD)
    assert read_match(str(tmp_path / name)) == RECORD
    assert ((tmp_path / name).read_text("utf-8")[0] == "(") == (name != "a.mat")


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(sgf_text(RECORD).encode())))
    assert read_match("-") == RECORD
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(RecordError, match=r"^standard input: not a \.mat file"):
        read_match(Path("-"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"Snowie\n", "(`import auto FILE`, then `export match mat FILE.mat`)"),
        ("a.gvab", b"OGXM\1", "GammonView can export it as .mat"),
        ("a.xgp", b"RGMH", "it contains a position, not a match: copy its XGID in eXtreme Gammon"),
        (
            "position.txt",
            b"XGID=-b----E-C:0:0:1:31:0:0:0:0:10\n",
            "it contains positions, not a record",
        ),
        ("a.sgf", b"Snowie", "line 1: not an .sgf file: it must begin with (;GM[6]"),
        ("a.sgf", b"\n", "not an .sgf file: it contains no game"),
        ("a.xg", b"", "a.xg: the file is empty"),
        ("a.xg", b"RGM", "a.xg: not an .xg file: it must begin with RGMH"),
        ("a.bgf", b"", "a.bgf: the file is empty"),
        ("a.bgf", b"BGF", "a.bgf: not a .bgf file: it must begin with a line of JSON"),
        ("a.mat", b" 3 point match\n", "the file contains no game"),
        ("a.mat", b" 3 point match\r Game 1\n", "the file contains no game"),
        ("a.sgf", b"(;GM[1])", "the game must be backgammon (GM[6]), not GM[1]"),
    ],
)
def test_messages_about_other_files_give_advice(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordError) as caught:
        read_match(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.mat", "a.sgf"])
def test_a_record_without_games_is_not_written(tmp_path, name):
    with pytest.raises(RecordError, match=rf"{name}: the record contains no game$"):
        write_match(tmp_path / name, replace(RECORD, games=()))
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a.mat", "a.sgf"])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"players": ("a", "b", "c")}, "a record must have the names of two players"),
        ({"players": (None, "b")}, "a record must have the names of two players"),
        ({"length": -5}, "a match must have 0 to 32767 points, not -5"),
        (
            {"games": (replace(RECORD.games[2], actions=RECORD.games[2].actions[1:]),)},
            "game 1: illegal play of 55: 8/3(2) 6/1*(2)",
        ),
        (
            {"games": (replace(RECORD.games[0], result=GameResult(1, 97)),)},
            "game 1: a resignation cannot cost 97 points",
        ),
    ],
)
def test_records_of_no_legal_play_are_not_written(tmp_path, name, changes, said):
    with pytest.raises(RecordError, match=re.escape(said)):
        write_match(tmp_path / name, replace(RECORD, **changes))
    assert not (tmp_path / name).exists()


def test_a_game_after_the_end_of_the_match_is_refused(tmp_path):
    late = replace(RECORD, length=3, games=(replace(RECORD.games[0], score=(3, 1)),))
    (tmp_path / "a.mat").write_text(mat_text(late))
    with pytest.raises(RecordError, match=r"a\.mat: game 1: the match to 3 points is over at 3 to 1$"):
        read_match(tmp_path / "a.mat")


def test_two_matches_in_a_file_are_refused(tmp_path):
    won = replace(RECORD, length=2, games=RECORD.games[:1])
    assert max(won.games[0].score_after) >= 2
    sgf, mat = tmp_path / "a.sgf", tmp_path / "a.mat"
    sgf.write_text(2 * sgf_text(won))
    over = r"game 2: the match to 2 points is over after game 1 at \d to \d, but this game begins at 0 to 0$"
    with pytest.raises(RecordError, match=over):
        read_match(sgf)
    mat.write_text(2 * mat_text(won))
    said = "another match begins with '2 point match'; a file must contain a single match"
    with pytest.raises(RecordError, match=rf"a\.mat: line \d+: game 1, move \d+: {said}$"):
        read_match(mat)
    with pytest.raises(RecordError, match=r"copy\.mat: game 2: the match to 2 points is over after game 1"):
        write_match(tmp_path / "copy.mat", replace(won, games=2 * won.games))


def test_players_keep_their_columns(tmp_path):
    games = (RECORD.games[0], replace(RECORD.games[0], score=(0, 1)))
    text = mat_text(replace(RECORD, players=("Ann", "Bob"), length=0, games=games))
    first, second = text.rsplit("Game 2", 1)
    swapped = second.replace("Ann", "-").replace("Bob", "Ann", 1).replace("-", "Bob", 1)
    (tmp_path / "a.mat").write_text(f"{first}Game 2{swapped}")
    with pytest.raises(RecordError, match="game 2: Bob and Ann have changed columns since the previous game"):
        read_match(tmp_path / "a.mat")


def test_files_of_a_folder(tmp_path):
    for name in ("b.mat", "a.sgf", "c.xg", "notes.txt", "d.BGF"):
        (tmp_path / name).touch()
    (tmp_path / "e.mat").mkdir()
    single = tmp_path / "notes.txt"
    names = [path.name for path in match_paths([single, tmp_path])]
    assert names == ["notes.txt", "a.sgf", "b.mat", "c.xg", "d.BGF"]
    with pytest.raises(
        RecordError, match=r"the folder contains no match files \(\.mat, \.sgf, \.xg, \.bgf\)$"
    ):
        list(match_paths([tmp_path / "e.mat"]))


def test_other_suffixes_are_not_written(tmp_path):
    with pytest.raises(SettingError, match=r"a\.xg: the suffix of a match file must be \.mat or \.sgf$"):
        write_match(tmp_path / "a.xg", RECORD)


_FORMATS = re.compile(r"\.mat(?:, \.\w+){2,}(?:,? (?:or|and) \.\w+)?|\.mat, \.\w+,? (?:or|and) \.\w+")
"""A list in a text of formats that are read, which are more than two."""


def test_texts_that_list_the_formats_list_all():
    sources = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "motif").rglob("*.py")]
    sources += (ROOT / "motif" / "serve" / "web" / "texts").glob("*.json")
    lists = {
        (str(path.relative_to(ROOT)), found)
        for path in sources
        for found in _FORMATS.findall(" ".join(path.read_text("utf-8").split()))
    }
    assert {path for path, _ in lists} >= {"README.md", "motif/library.py", "motif/serve/web/texts/de.json"}
    wrong = [one for one in sorted(lists) if set(re.findall(r"\.\w+", one[1])) != set(READ_SUFFIXES)]
    assert not wrong
