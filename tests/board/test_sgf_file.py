""".sgf files: compared with a file of gnubg 1.07, and round trips; tests/peers asks gnubg itself."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.analysis.match.record_walk import walk
from motif.board.game_record import (
    Annotation,
    CubeAction,
    GameRecord,
    GameResult,
    MatchRecord,
    Turn,
    crawford_game,
    game_facts,
    jacoby_rule,
    uses_cube,
)
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_file import read_match, write_match
from motif.board.sgf_file import parse_sgf, sgf_text
from motif.runtime.errors import RecordError
from tests.board.test_mat_file import BY_GNUBG as MAT
from tests.board.test_mat_file import played

BY_GNUBG = """\
(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.07.001]MI[length:5][game:0][ws:0][bs:0]PW[gnubg]PB[root]\
DT[2026-11-22]RU[Crawford]RE[B+2R]GS[M:23 17 0.000000][C:2 4 0.000000][D:0 0 0.000000]
;W[21mkxw]A[0][mkxw E ver 3 0.498554 0.136997 0.007681 0.141456 0.006642 -0.008409 0C 0 1 0.000000 1]
;B[65aggl]
;W[32wuxu]
;B[66aglrlrlr]BM[2]LU[0.31]C[A good roll
of course, for \\]root.]
;W[31mjhg]
;B[43yddg]
;W[53ytjg]
;B[double]
;W[take]
;B[43yddg]
)
(;FF[4]GM[6]AP[GNU Backgammon:1.07.001]MI[length:5][game:1][ws:0][bs:2]PW[gnubg]PB[root]
RU[Crawford]RE[W+1]
;W[31hefe]
(;B[double]
;W[drop])
(;B[21lnab])
)
"""


def test_a_file_of_gnubg_is_read():
    text = BY_GNUBG.replace("RE[W+1]", "RE[B+1]")
    record = parse_sgf(text)
    assert (record.players, record.length) == (("gnubg", "root"), 5)
    assert record.tags == (("EventDate", "2026.11.22"),)
    first, second = record.games
    assert [game.score for game in record.games] == [(0, 0), (0, 2)]
    assert first.result == GameResult(1, 2, resigned=True)
    turns = [action for action in first.actions if isinstance(action, Turn)]
    assert [str(turn.play) for turn in turns[:4]] == ["24/23 13/11", "24/13", "24/21 23/21", "24/18 13/7(3)"]
    assert str(turns[5].play) == "bar/18*"
    kinds = [(action.player, action.kind) for action in first.actions if isinstance(action, CubeAction)]
    assert kinds == [(1, "double"), (0, "take")]
    assert (second.result, len(second.actions)) == (GameResult(1, 1), 3)


def test_mat_and_sgf_files_contain_the_same():
    record = parse_mat(MAT)
    text = sgf_text(record)
    assert parse_sgf(text) == record
    assert "DT[2026-11-20]" in text
    assert ";PL[B]DI[63]" in text
    assert ";B[61]" in text
    assert mat_text(parse_sgf(text)) == mat_text(record)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**9))
def test_random_games_are_read_as_they_were_written(seed):
    record = played(seed)
    assert parse_sgf(sgf_text(record)) == record


@pytest.mark.parametrize(
    "tags",
    [
        (("Site", "here: \\ [there]"), ("Transcriber", "Ann")),
        (("EventDate", "about 1996"),),
        (("\x85EventDate", "2026.11.20"), ("Site", "a\u2028b")),
        (("EventDate", "1996.06.01"), ("Event", "Keith's applet"), ("Jacoby", "On")),
        (("Event", "first"), ("Round", "2"), ("Site", "x"), ("EventDate", "2026.01.02"), ("Annotator", "B")),
    ],
)
def test_tags_come_back(tags):
    record = replace(played(3), tags=tags)
    assert parse_sgf(sgf_text(record)) == record


def test_the_jacoby_rule_is_reported():
    record = played(7, gammon=True)
    text = sgf_text(record)
    assert "RU[" not in text
    ruled = parse_sgf(text.replace("RE[", "RU[Jacoby]RE["))
    assert jacoby_rule(ruled)
    assert parse_sgf(sgf_text(ruled)) == ruled


def test_automatic_doubles_are_read_and_written():
    text = BY_GNUBG.replace("length:5", "length:0").replace("RU[Crawford]", "RU[Jacoby]CV[2]", 1)
    record = parse_sgf(text.replace("RE[B+2R]", "RE[B+4R]").replace("RE[W+1]", "RE[B+1]"))
    first, second = record.games
    assert (first.first_cube, first.result) == (2, GameResult(1, 4, resigned=True))
    assert (second.first_cube, second.result) == (1, GameResult(1, 1))
    assert "RU[Jacoby]CV[2]RE[B+4R]" in sgf_text(record)
    assert parse_sgf(sgf_text(record)) == record
    assert {chance.state.cube for chance in walk(record).chances if chance.game == 1} == {2}
    with pytest.raises(RecordError, match=r"game 1: only \.sgf files can begin with the cube at 2"):
        mat_text(record)


def test_after_an_automatic_double_gammons_still_need_another_one():
    """Under the Jacoby rule."""
    game = replace(played(7, gammon=True).games[0], first_cube=4)
    for points in (4, 8):
        record = MatchRecord(("a", "b"), 0, (replace(game, result=replace(game.result, points=points)),))
        assert parse_sgf(sgf_text(record)) == record
        assert jacoby_rule(record) == (points == 4)
        assert game_facts(record.games[0]).jacoby == (points == 4)


def test_games_without_a_cube_are_reported():
    text = BY_GNUBG.replace("RE[W+1]", "RE[B+1]").replace("RU[", "RU[NoCube:")
    record = parse_sgf(text)
    assert not uses_cube(record)
    assert "RU[NoCube:Crawford]" in sgf_text(record)
    assert parse_sgf(sgf_text(record)) == parse_mat(mat_text(record)) == record
    # A session may continue with the cube.
    assert uses_cube(parse_sgf(text.replace("NoCube:", "", 1)))


def test_the_crawford_game_is_reported():
    game = parse_mat(MAT).games[0]
    games = tuple(replace(game, score=score) for score in ((0, 0), (4, 0), (4, 2)))
    lines = [line for line in sgf_text(MatchRecord(("a", "b"), 5, games)).splitlines() if "RU[" in line]
    assert [line.partition("RU")[2].partition("]")[0] for line in lines] == [
        "[Crawford",
        "[Crawford:CrawfordGame",
        "[Crawford",
    ]


POST_CRAWFORD = """\
(;FF[4]GM[6]AP[GNU Backgammon:1.07.001]MI[length:5][game:0][ws:4][bs:3]PW[gnubg]PB[root]RU[Crawford]
;B[52lqac];W[66xrxrmgmg];B[31qtst];W[41femi])
"""


@pytest.mark.parametrize("rules", ["RU[Crawford]", ""])
def test_a_game_after_the_crawford_game(rules):
    record = parse_sgf(POST_CRAWFORD.replace("RU[Crawford]", rules))
    assert (record.games[0].crawford, crawford_game(record)) == (False, None)
    text = sgf_text(record)
    assert "RU[Crawford]" in text
    assert parse_sgf(text) == record
    assert crawford_game(parse_mat(mat_text(record))) is None


def test_a_crawford_game_that_is_inferred_needs_no_mark():
    record = parse_sgf(POST_CRAWFORD.replace("RU[Crawford]", "RU[Crawford:CrawfordGame]"))
    assert (record.games[0].crawford, crawford_game(record)) == (None, 0)
    assert "RU[Crawford:CrawfordGame]" in sgf_text(record)


def test_the_crawford_game_may_be_a_later_one():
    first = POST_CRAWFORD.replace("ws:4][bs:3", "ws:4][bs:1")
    second = POST_CRAWFORD.replace("RU[Crawford]", "RU[Crawford:CrawfordGame]")
    record = parse_sgf(first + second)
    assert crawford_game(record) == 1
    assert parse_sgf(sgf_text(record)) == record


@pytest.mark.parametrize("rule", ["Nackgammon", "Hypergammon1"])
def test_variations_are_named(rule):
    with pytest.raises(RecordError) as caught:
        parse_sgf(POST_CRAWFORD.replace("RU[Crawford]", f"RU[Crawford:{rule}]"), "games.sgf")
    said = f"the variation '{rule}' is not supported: the game must be backgammon"
    assert str(caught.value) == f"games.sgf: line 1: game 1: {said}"


def test_old_macs_line_ends():
    text = BY_GNUBG.replace("RE[W+1]", "RE[B+1]")
    assert parse_sgf(text.replace("\n", "\r")) == parse_sgf(text)


def test_notes_are_comments_with_gnubgs_marks():
    record = parse_mat(MAT)
    notes = {
        (0, 1): Annotation("bad [because]\nit runs", "bad"),
        (1, 1): Annotation("passing costs more: take"),
    }
    text = sgf_text(record, notes)
    assert "C[bad [because\\]\nit runs]BM[1]" in text
    assert "C[passing costs more\\: take]" in text
    assert parse_sgf(text) == record
    plain = mat_text(record, notes)
    assert "; game 1, move 1, bob: bad [because]\n; game 1, move 1, bob: it runs\n" in plain
    assert "; game 2, move 1, bob: passing" in plain
    assert parse_mat(plain) == record


def test_encodings_of_files(tmp_path):
    record = replace(parse_mat(MAT), players=("Jörg", "Åsa"))
    path = tmp_path / "games.sgf"
    write_match(path, record)
    assert read_match(path) == record
    path.write_bytes(sgf_text(record).encode("latin-1"))
    assert read_match(path) == record


def test_the_encoding_is_that_of_ca_or_of_windows(tmp_path):
    record = replace(parse_mat(MAT), players=("Šime Žiža", "Mü’ller"))
    path, text = tmp_path / "games.sgf", sgf_text(record)
    path.write_bytes(text.encode("cp1252"))
    assert read_match(path) == record
    for name, encoding in (("windows-1250", "cp1250"), ("ISO-8859-5", "iso8859-5"), ("no-such", "utf-8")):
        players = ("Жижа", "Bob") if encoding == "iso8859-5" else ("Šime Žiža", "Bob")
        text = sgf_text(replace(record, players=players)).replace("CA[UTF-8]", f"CA[{name}]")
        path.write_bytes(text.encode(encoding))
        assert read_match(path).players == players
    path.with_suffix(".mat").write_bytes(mat_text(record).encode("utf-16"))
    assert read_match(path.with_suffix(".mat")) == record


BEAVER = """\
(;FF[4]GM[6]MI[length:0][game:0][ws:0][bs:0]PW[a]PB[b]
;W[31hefe];B[double];W[double]{take};B[61lrqr])
"""


def test_the_take_of_a_beaver_is_written_but_implied():
    """gnubg reads the cube at half its value without the take."""
    without, with_take = (parse_sgf(BEAVER.format(take=take)) for take in ("", ";B[take]"))
    assert with_take == without == parse_mat(mat_text(without))
    assert [action.kind for action in without.games[0].actions if isinstance(action, CubeAction)] == [
        "double",
        "beaver",
    ]
    assert ";W[double]\n;B[take]\n;B[61" in sgf_text(without)
    assert parse_sgf(sgf_text(without)) == without


def test_a_resignation_may_be_a_move_of_its_own():
    text = BY_GNUBG.replace("RE[W+1]", "RE[B+1]")
    resigned = text.replace("RE[B+2R]", "RE[B+2]").replace("yddg]\n)", "yddg]\n;W[resign:1]\n;B[accept]\n)")
    assert resigned.count("resign:1") == 1
    assert parse_sgf(resigned) == parse_sgf(text)


@pytest.mark.parametrize("result", ["?", "Void", "0", "Draw", "W+F", "B+T", "B+R", "W+?", " "])
def test_results_without_points_are_none(result):
    text = BEAVER.format(take="").replace("PB[b]", f"PB[b]RE[{result}]")
    assert parse_sgf(text).games[0].result is None


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("(;FF", "FF", "line 1: not an .sgf file: it must begin with (;GM[6]"),
        ("(;FF", "(FF", "line 1: a property must be part of a node, which begins with ;"),
        ("GM[6]", "GM[1]", "line 1: game 1: the game must be backgammon (GM[6]), not GM[1]"),
        (";W[21mkxw]", ";W[21mkxa]", "line 2: game 1: '13/11 24/1' is not a legal play; legal plays are"),
        (";W[21mkxw]", ";W[71mkxw]", "line 2: game 1: '71mkxw' is not a move such as 31hefe, double"),
        (";W[21mkxw]", ";B[21lnba]", "line 2: game 1: invalid play '13/11 23/24'"),
        (";W[take]", ";W[pass]", "line 11: game 1: 'pass' is not a move"),
        (";W[take]\n", "", "line 11: game 1: the double has not been taken or dropped"),
        ("RE[B+2R]", "RE[B+7]", "line 1: game 1: a resignation cannot cost 7 points with the cube at 2"),
        ("RE[B+2R]", "RE[Bob]", "line 1: game 1: the result must have the form W+2 or B+1R, not 'Bob'"),
        ("length:5", "length:99999", "line 1: game 1: MI[length] must be at most 32767, not 99999"),
        (";W[31mjhg]", ";AE[a:y]AW[a]", "line 7: game 1: a position was set up here"),
        (";W[31mjhg]", ";CV[4]", "line 7: game 1: the cube was set to '4' here"),
        ("RU[", "CV[2]RU[", "line 1: game 1: the cube begins at '2': the first cube must be 1 in a match"),
        (
            "length:5",
            "length:0]CV[3",
            "line 1: game 1: the cube begins at '3': the first cube must be a power of",
        ),
        (";W[31mjhg]", ";CP[w]", "line 7: game 1: the cube was given to a player here"),
        (";W[31mjhg]", ";CO[b]", "line 7: game 1: the cube was given to a player here"),
        ("(;FF", "(;)(;FF", "games.sgf: game 1: it is empty"),
        (";W[31mjhg]", ";W[31mjhg", "line 7: game 1"),
        ("(;B[21lnab])\n)", "(;B[21lnab]", "line 20: the file ends in the middle of a game"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(before, after, said):
    text = BY_GNUBG.replace("RE[W+1]", "RE[B+1]").replace(before, after, 1)
    with pytest.raises(RecordError) as caught:
        parse_sgf(text, "games.sgf")
    assert str(caught.value).startswith("games.sgf: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", " \n", "()", "(;)" * 2, "(" * 5000 + ")" * 5000, "(;C[" + "\\" * 5001])
def test_odd_texts_are_read_or_refused_in_one_line(text):
    try:
        games = parse_sgf(text).games
    except RecordError as error:
        games, text = (), str(error)
    assert games == (GameRecord(),) * len(games)
    assert games or "\n" not in text
