""".mat files: compared with a file of gnubg 1.07, and round trips; tests/peers asks gnubg itself."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motif.board.game_record import (
    CubeAction,
    GameProgress,
    GameRecord,
    GameResult,
    MatchRecord,
    ScoreJump,
    Turn,
    crawford_game,
    illegal_plays,
    score_jumps,
    with_crawford,
)
from motif.board.mat_file import mat_name, mat_text, parse_mat
from motif.board.match_file import read_match, write_match
from motif.board.moves import legal_plays
from motif.board.notation import find_play
from motif.board.position import Position
from motif.runtime.errors import RecordError

BY_GNUBG = """\
; [EventDate "2026.11.20"]

 5 point match

 Game 1
 Ann Lee : 0                    bob : 0
  1) 31: 8/5 6/5                 65: 24/18 18/13 
  2) 44: 24/20 24/20 13/9 13/9   63: 
      Wins 2 points

 Game 2
 Ann Lee : 2                    bob : 0
  1) 21: 24/23 13/11              Doubles => 2
  2)  Takes                      66: 24/18 24/18 13/7 13/7
  3)  Doubles => 4                Drops
      Wins 2 points

 Game 3
 Ann Lee : 4                    bob : 0
  1)                             43: 24/20 13/10 
  2) 55: 8/3 8/3 6/1* 6/1        61: 
"""  # noqa: W291
"""Game 1 is resigned after a roll, game 2 ends with a drop, and game 3 stops after a dance."""


def test_a_file_of_gnubg_is_read():
    record = parse_mat(BY_GNUBG)
    assert (record.players, record.length) == (("Ann Lee", "bob"), 5)
    assert record.tags == (("EventDate", "2026.11.20"),)
    first, second, third = record.games
    assert [game.score for game in record.games] == [(0, 0), (2, 0), (4, 0)]
    assert first.result == GameResult(0, 2, resigned=True)
    assert [turn.roll for turn in first.actions] == [(3, 1), (6, 5), (4, 4), (6, 3)]
    assert first.actions[0].play.notation == "8/5 6/5"
    assert first.actions[1].play.notation == "24/13"
    assert first.actions[2].play.notation == "24/20(2) 13/9(2)"
    assert first.actions[3] == Turn(1, (6, 3), None)
    kinds = [(action.player, action.kind) for action in second.actions if isinstance(action, CubeAction)]
    assert kinds == [(1, "double"), (0, "take"), (0, "double"), (1, "drop")]
    assert second.result == GameResult(0, 2)
    assert third.actions[1].play.notation == "8/3(2) 6/1*(2)"
    assert third.actions[2].play.moves == ()
    assert third.result is None


def test_a_file_of_gnubg_is_written_again():
    assert mat_text(parse_mat(BY_GNUBG)).split() == BY_GNUBG.split()
    written = [line.rstrip() for line in mat_text(parse_mat(BY_GNUBG)).splitlines()]
    assert written == [line.rstrip() for line in BY_GNUBG.splitlines()]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" 5 point match", "; made by hand\n\n 5 Point Match"),
        (" 5 point match", "5 point match"),
        ("\n", "\r\n"),
        ("24/18 18/13", "24/13"),
        ("63: ", "63: ????"),
        ("61: \n", "61: \n\n"),
        # gnubg writes this after a roll that was not played.
        ("63: \n      Wins 2 points\n\n Game 2", "63: \n      Wins 2 points  \n Game 2"),
        ("61: ", "61: Cannot Move"),
        ("61: \n", "61:"),
        ("      Wins 2 points", "      Wins 2 points and the match"),
        ("25/", "bar/"),
        ("Ann Lee : ", "Ann Lee, 1602.50 : "),
        ("Doubles => 2", "doubles"),
    ],
)
def test_other_ways_to_write_the_same(before, after):
    text = BY_GNUBG.replace(before, after)
    read = parse_mat(text)
    assert replace(read, tags=()) == replace(parse_mat(BY_GNUBG), tags=())


def test_game_after_a_roll_that_was_not_played():
    last = "  2) 44: 24/20 24/20 13/9 13/9   63: \n      Wins 2 points"
    for glued, winner in (
        ("  2) 44: 24/20 24/20 13/9 13/9   63:  Wins 2 points", 1),
        ("  2) 43:       Wins 2 points", 0),
        ("  2) 43:                         Wins 2 points", 1),
    ):
        game = parse_mat(BY_GNUBG.replace(last, glued)).games[0]
        assert game.result == GameResult(winner, 2, resigned=True)
        assert game.actions[-1].play is None
    unfinished = BY_GNUBG.replace(last + "\n\n Game 2", "  2) 43:  Game 2")
    games = parse_mat(unfinished).games
    assert (len(games), games[0].result) == (3, None)
    assert games[0].actions[-1] == Turn(0, (4, 3), None)


@pytest.mark.parametrize(
    ("before", "after", "words", "counts"),
    [
        ("8/5 6/5", "8/5", "8/5", {8: 2, 5: 1, 6: 5}),
        ("8/5 6/5", "8/5 6/4", "8/5 6/4", {8: 2, 5: 1, 6: 4, 4: 1}),
        ("8/5 6/5", "8/5 6/8 6/5", "8/5 6/8 6/5", {8: 3, 6: 3, 5: 2}),
        ("8/5 6/5", "13/8 6/off", "13/8 6/off", {13: 4, 8: 4, 6: 4}),
    ],
)
def test_an_illegal_play_is_kept_as_it_was_made(before, after, words, counts, tmp_path):
    record = parse_mat(BY_GNUBG.replace(before, after))
    assert illegal_plays(record) == [(1, 1, "Ann Lee", "31", words)]
    play = record.games[0].actions[0].play
    mover = play.position.switch_sides()
    assert {point: mover.board[point] for point in counts} == counts
    assert record.games[1:] == parse_mat(BY_GNUBG).games[1:]
    assert [turn.roll for turn in record.games[0].actions] == [(3, 1), (6, 5), (4, 4), (6, 3)]
    for name in ("a.mat", "a.sgf"):
        write_match(tmp_path / name, record)
        assert read_match(tmp_path / name) == record


@pytest.mark.parametrize("nothing", ["", "????", "Cannot Move"])
@pytest.mark.parametrize("suffix", [".mat", ".sgf"])
def test_a_roll_that_was_not_played_is_forfeited_if_the_opponent_goes_on(nothing, suffix, tmp_path):
    text = BY_GNUBG.replace("63: \n", f"63: {nothing}\n  3) 21: 8/7 6/4\n")
    record = parse_mat(text)
    assert illegal_plays(record) == [(1, 2, "bob", "63", "not played")]
    forfeited, last = record.games[0].actions[-2:]
    assert forfeited.play.position == record.games[0].actions[-3].play.position.switch_sides()
    assert last.play.notation == "8/7 6/4"
    path = tmp_path / f"match{suffix}"
    write_match(path, record)
    assert read_match(path).games[0].actions == record.games[0].actions


def test_an_illegal_play_that_hits_puts_the_blot_on_the_bar():
    record = parse_mat(BY_GNUBG.replace("8/3 8/3 6/1* 6/1", "8/3 8/3 8/3 6/2 "))
    assert illegal_plays(record) == [(3, 2, "Ann Lee", "55", "8/3(3) 6/2")]
    hit = BY_GNUBG.replace("43: 24/20 13/10", "62: 24/18 13/11").replace("8/3 8/3 6/1* 6/1", "8/7* 6/3")
    (one,) = illegal_plays(parse_mat(hit))
    assert one.play == "8/7* 6/3"
    after = parse_mat(hit).games[2].actions[1].play.position
    assert after.board[25] == 1


def test_an_illegal_play_is_only_what_its_moves_say(tmp_path):
    record = parse_mat(BY_GNUBG.replace("8/5 6/5", "8/5"))
    game = record.games[0]
    turn = game.actions[0]
    wrong = replace(turn, play=replace(turn.play, moves=((13, 10),)))
    legal = replace(turn, play=replace(turn.play, is_legal=True))
    for other in (wrong, legal):
        changed = replace(record, games=(replace(game, actions=(other, *game.actions[1:])),))
        with pytest.raises(RecordError, match="game 1: illegal play of 31: "):
            write_match(tmp_path / "a.mat", changed)


def test_a_play_that_cannot_be_made_after_an_illegal_one_names_both():
    text = BY_GNUBG.replace("8/5 6/5", "8/5 6/4").replace("13/9 13/9", "13/9 3/2")
    said = "line 8: game 1, move 2: '24/20 24/20 13/9 3/2' is not a legal play; .*; an earlier play of the "
    with pytest.raises(RecordError, match=said + "game is illegal, 31: 8/5 6/4$"):
        parse_mat(text)


def test_a_resignation_may_have_a_cell_of_its_own():
    resigned = BY_GNUBG.replace("63: \n", "Resigns\n")
    game = parse_mat(resigned).games[0]
    assert (len(game.actions), game.result) == (3, GameResult(0, 2, resigned=True))
    assert parse_mat(resigned.replace("Resigns", "Resigns 2 points")).games[0] == game
    with pytest.raises(RecordError, match="line 8: game 1, move 2: expected a resignation such as 'Resigns'"):
        parse_mat(resigned.replace("Resigns", "Resigns now"))


OF_SERVERS = """\
5 point match

 Game 1
 Ann : {}                          Bob : {}
  1) 31: 8/5 6/5                 41: 24/23 13/9
  2) 42: 8/4 6/4                 {}
"""


DOUBLED = "Doubles => 2\n  3)  Takes                       "


@pytest.mark.parametrize(
    ("score", "end", "result"),
    [
        ((0, 0), "Losses 1 point\n      Wins 1 point", GameResult(0, 1, True)),
        ((0, 0), "51: 24/23 13/8\n  3) Losses 2 points             Wins 2 points", GameResult(1, 2, True)),
        (
            (0, 0),
            "51: 24/23 13/8\n  3) 42: 24/22 24/20   3)  Losses 2 point   Wins 2 point",
            GameResult(1, 2, True),
        ),
        ((0, 0), "Resigned Game\n      Wins 1 point", GameResult(0, 1, True)),
        ((0, 0), "Resigned Match\n      Wins 5 points and the match", GameResult(0, 3, True)),
        ((0, 0), "Resign gammon\n      Wins 2 points", GameResult(0, 2, True)),
        ((0, 0), "Doubles ==> 2\n  3)  Takes                       51: 13/8 24/23", None),
        ((0, 0), "51: 13/8 24/23\n      Wins 0 point", None),
        # Only the points that the winner needs.
        ((4, 0), DOUBLED + "51: 13/8 24/23\n      Wins 1 point", GameResult(0, 2, True)),
        ((2, 0), DOUBLED + "51: 13/8 24/23\n      Wins 3 points", GameResult(0, 4, True)),
        ((3, 4), DOUBLED + "66: ????\n      Wins 2008 point and the match", GameResult(0, 6, True)),
        ((0, 0), "65: ???\n      Wins 4 point", GameResult(0, 3, True)),
        ((0, 0), "00: ????\n      Wins 2008 point", GameResult(0, 3, True)),
        ((0, 0), "????\n      Wins 1 point and the match", GameResult(0, 1, True)),
        ((0, 0), "65:  ????\n      Wins 1 point", GameResult(0, 1, True)),
        ((0, 0), "51: 13/8 24/23\n      Wins 100 points", GameResult(0, 3, True)),
        ((0, 0), "Concedes\n  5)  Wins 2 point", GameResult(0, 2, True)),
        ((0, 0), "62: Concedes\n  5)  Wins 2 point", GameResult(0, 2, True)),
        ((0, 0), "51: 13/8 24/23\n  3) 32: Concedes                Wins 2 point", GameResult(1, 2, True)),
        ((0, 0), "51: 13/8 24/23\n      Wins 2 points with a gammon", GameResult(0, 2, True)),
        ((0, 0), "Doubles => 2\n  3)  Drops      Wins 1 point", GameResult(1, 1)),
        ((0, 0), "Doubles => 2\n  3)  Passes     Wins 1 point", GameResult(1, 1)),
    ],
)
def test_results_of_servers(score, end, result):
    (game,) = parse_mat(OF_SERVERS.format(*score, end)).games
    assert (game.result, illegal_plays(MatchRecord(("Ann", "Bob"), 5, (game,)))) == (result, [])
    assert game.actions[:3] == parse_mat(OF_SERVERS.format(*score, "")).games[0].actions


def test_points_that_contradict_the_score_are_still_noticed():
    text = OF_SERVERS.format(0, 0, "Doubles => 2\n  3)  Takes   51: 13/8 24/23\n      Wins 1 point")
    record = parse_mat(text + "\n Game 2\n Ann : 1                          Bob : 0\n")
    assert score_jumps(record) == [ScoreJump(2, (1, 0), (2, 0))]
    over = OF_SERVERS.format(0, 0, "Doubles => 2\n  3)  Drops\n  {}Wins 2 points")
    with pytest.raises(RecordError, match="the game is worth 1 points, not 2"):
        parse_mat(over.format(" " * 38))
    with pytest.raises(RecordError, match="names the loser as the winner"):
        parse_mat(over.format(""))


def test_the_last_checkers():
    records = (played(seed, gammon=True) for seed in range(20))
    record = next(record for record in records if record.games[0].result.winner == 0)
    *lines, last, won = mat_text(record).rstrip().splitlines()
    for end in (f"{last} {won.strip()}", f"{last.rstrip()} 0/0\n{won}", f"{last.rstrip()}  {won.strip()}"):
        assert parse_mat("\n".join([*lines, end])) == record


@pytest.mark.parametrize("before", [0, 6, 8])
def test_a_game_played_to_its_end_with_fewer_points_than_it_is_worth(before):
    record = played(7, gammon=True)
    (result,) = (game.result for game in record.games)
    score = [0, 0]
    score[result.winner] = before
    late = replace(record, length=9, games=(replace(record.games[0], score=tuple(score)),))
    assert result.points > 1
    text = mat_text(late).replace(f"Wins {result.points} points", "Wins 1 point and the match")
    assert parse_mat(text).games[0].result == result


def test_encodings_of_files(tmp_path):
    record = replace(parse_mat(BY_GNUBG), players=("Jörg", "Åsa"))
    path = tmp_path / "games.mat"
    write_match(path, record)
    assert read_match(path) == record
    path.write_bytes(mat_text(record).encode("latin-1"))
    assert read_match(path) == record
    path.write_bytes(mat_text(record).encode("utf-8-sig"))
    assert read_match(path) == record


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (" 5 point match", "", "line 5: not a .mat file: it must begin with a line such as '7 point match'"),
        (" 5 point", " 99999 point", "line 3: the length must be at most 32767, not 99999"),
        (" Game 1", " Match 1", "line 5: expected a line such as 'Game 1', not 'Match 1'"),
        (
            "Ann Lee : 0",
            "Ann Lee   0",
            "line 6: game 1: expected the players and scores, such as 'Ann : 0     Bob : 0'",
        ),
        ("Ann Lee : 4", "Ann Lee : 40000", "line 19: game 3: a score must be at most 32767"),
        ("8/5 6/5", "8/5 3/2", "line 7: game 1, move 1: '8/5 3/2' is not a legal play; legal plays are"),
        ("8/5 6/5", "8/5 24/19", "line 7: game 1, move 1: '8/5 24/19' is not a legal play; legal plays are"),
        ("8/5 6/5", "8/5* 6/5", "line 7: game 1, move 1: '8/5* 6/5' is not a legal play; legal plays are"),
        ("8/5 6/5", "23/24 6/5", "line 7: game 1, move 1: invalid play '23/24 6/5': in '23/24' a checker"),
        ("8/5 6/5", "8/5 x", "line 7: game 1, move 1: invalid play '8/5 x'"),
        (
            "  1) 31:",
            "  1) 71:",
            "line 7: game 1, move 1: invalid roll: each die must be 1 to 6, not 7",
        ),
        ("6/1* 6/1", "6/1* 5/1", "line 21: game 3, move 2: '8/3 8/3 6/1* 5/1' is not a legal play"),
        (" Takes ", " Drops ", "line 14: game 2, move 2: the game is over"),
        (" Takes ", "       ", "line 14: game 2, move 2: the double has not been taken or dropped"),
        ("Doubles => 4", "Doubles => 8", "line 15: game 2, move 3: the cube is at 2 and cannot be"),
        ("Doubles => 4", "Raccoons => 4", "line 15: game 2, move 3: raccoons are for money play"),
        (" Drops\n", " Drops all\n", "line 15: game 2, move 3: 'drops all' is not a cube action"),
        (
            " Doubles => 4                Drops\n      Wins 2 points",
            "             Drops",
            "no double to drop",
        ),
        (
            "63: \n",
            "63: Illegal play (5;0;1;0;1;Ann;bob;0;0;0;1;) \n",
            "game 1, move 2: a position was set up here",
        ),
        ("Wins 2 points\n\n Game 2", "Wins a lot\n\n Game 2", "expected a result such as 'Wins 2 points'"),
        ("Wins 2 points\n\n Game 3", "Wins 4 points\n\n Game 3", "is worth 2 points, not 4"),
        (
            "      Wins 2 points\n\n Game 3",
            40 * " " + "Wins 2 points\n\n Game 3",
            "names the loser as the winner",
        ),
        (
            "Wins 2 points\n\n Game 3",
            "Wins 2 points\n 21:\n\n Game 3",
            "line 17: game 2, move 3: the game is",
        ),
        (
            "63: \n",
            "63: \n  3)                                21: 8/7 6/4\n",
            "line 9: game 1, move 3: the previous roll 63 was not played",
        ),
        (
            "  1)                             43:",
            "  1) 43:",
            "line 21: game 3, move 2: the other player is on roll",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(before, after, said):
    text = BY_GNUBG.replace(before, after)
    assert text != BY_GNUBG
    with pytest.raises(RecordError) as caught:
        parse_mat(text, "games.mat")
    assert str(caught.value).startswith("games.mat: line ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_empty(tmp_path):
    with pytest.raises(RecordError, match=r"none\.mat: cannot be read: No such file"):
        read_match(tmp_path / "none.mat")
    (tmp_path / "empty.mat").touch()
    with pytest.raises(RecordError, match=r"empty\.mat: not a \.mat file"):
        read_match(tmp_path / "empty.mat")


def test_a_gammon_under_the_jacoby_rule_counts_one_point():
    record = played(7, gammon=True)
    text = mat_text(record)
    points = record.games[0].result.points
    assert points > 1
    single = text.replace(f"Wins {points} points", "Wins 1 point")
    assert parse_mat(single).games[0].result.points == 1
    # A match has no Jacoby rule.
    assert parse_mat(single.replace(" 0 point match", " 9 point match")).games[0].result.points == points


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Ann Lee", "Ann Lee"),
        ("rollout:pubeval,trials=36", "rollout pubeval trials=36"),
        (" a\tb\n", "a b"),
        (":", "player"),
        ("", "player"),
        ("x" * 500, "x" * 60),
    ],
)
def test_names_are_made_valid(name, written):
    assert mat_name(name) == written
    record = parse_mat(mat_text(MatchRecord((name, "bob"), 0, (GameRecord(),))))
    assert record.players == (written, "bob")


def test_beavers_and_raccoons():
    progress = GameProgress()
    opening = legal_plays(Position.start(), (3, 1))[0]
    reply = legal_plays(opening.position, (2, 1))[0]
    actions = [
        Turn(0, (3, 1), opening),
        CubeAction(1, "double"),
        CubeAction(0, "beaver"),
        CubeAction(1, "raccoon"),
        Turn(1, (2, 1), reply),
    ]
    for action in actions:
        progress.apply(action)
    assert (progress.cube, progress.cube_owner) == (8, 0)
    with pytest.raises(RecordError, match="a raccoon must answer the other player's beaver"):
        progress.apply(CubeAction(0, "raccoon"))
    record = MatchRecord(("a", "b"), 0, (GameRecord((0, 0), tuple(actions)),))
    text = mat_text(record)
    assert [word for word in text.split() if word.isdigit()][-3:] == ["2", "4", "8"]
    assert parse_mat(text) == record
    # As written by gnubg.
    assert parse_mat(text.replace("Raccoons", "Beavers")) == record
    with pytest.raises(RecordError, match=r"game 1, move 2: beavers are for money play$"):
        parse_mat(text.replace("0 point match", "3 point match"))


@pytest.mark.parametrize("text", ["24/14", "24/18 18/14", "24/20 20/14"])
def test_plays_are_spelled_out_die_by_die(text):
    play = find_play(text, legal_plays(Position.start(), (6, 4)))
    record = MatchRecord(("a", "b"), 0, (GameRecord((0, 0), (Turn(0, (6, 4), play),)),))
    line = mat_text(record).splitlines()[-1].rstrip()
    assert line in ("  1) 64: 24/18 18/14", "  1) 64: 24/20 20/14")


def played(seed: int, *, gammon: bool = False) -> MatchRecord:
    """A record of random games with cube actions; with `gammon`, one cubeless gammon."""
    chance = random.Random(seed)
    while True:
        games = tuple(_game(chance, cube=not gammon) for _ in range(1 if gammon else 3))
        if not gammon or (games[0].result and games[0].result.points > 1 and not games[0].result.resigned):
            return MatchRecord(("Ann", "Bob 2"), 0, games, (("EventDate", "2026.11.20"),))


def _game(chance: random.Random, *, cube: bool) -> GameRecord:
    progress, actions = GameProgress(), []
    player = chance.randrange(2)
    end = chance.choice([None, None, "resign", "leave", "leave before playing"]) if cube else None
    last = chance.randrange(1, 40)
    score = (chance.randrange(9), chance.randrange(9))

    def act(action):
        progress.apply(action)
        actions.append(action)

    while progress.result is None:
        if cube and actions and progress.cube_owner in (None, player) and chance.random() < 0.1:
            act(CubeAction(player, "double"))
            act(CubeAction(1 - player, "take" if chance.random() < 0.8 else "drop"))
            continue
        roll = max(dice := (chance.randint(1, 6), chance.randint(1, 6))), min(dice)
        plays = legal_plays(progress.position, roll)
        if end and len(actions) >= last and len(plays) > 1:
            if end != "leave":
                act(Turn(player, roll, None))
            points = progress.cube * chance.randint(1, 3)
            result = GameResult(chance.randrange(2), points, resigned=True) if end == "resign" else None
            return GameRecord(score, tuple(actions), result)
        act(Turn(player, roll, chance.choice(plays)))
        player = 1 - player
    return GameRecord(score, tuple(actions), progress.result)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**9))
def test_random_games_are_read_as_they_were_written(seed):
    record = played(seed)
    text = mat_text(record)
    assert parse_mat(text) == record


@pytest.mark.parametrize("odd", ["\r", "\x85", "\u2028", "\x00"])
def test_control_characters_become_spaces_in_tags(odd):
    text = BY_GNUBG.replace('[EventDate "2026', f'[{odd}EventDate "20{odd}26')
    assert parse_mat(text).tags == (("EventDate", "20 26.11.20"),)


def test_line_ends_in_tags_are_not_written():
    """An SGF file may have them; in this format a tag is one line."""
    record = replace(parse_mat(BY_GNUBG), tags=(("Si\u2028te", "a\u2028b\nc"),))
    text = mat_text(record)
    assert parse_mat(text).tags == (("Si te", "a b c"),)
    assert mat_text(parse_mat(text)) == text


def test_old_macs_line_ends():
    assert parse_mat(BY_GNUBG.replace("\n", "\r")) == parse_mat(BY_GNUBG)


@pytest.mark.parametrize("name", ["#1 fan", ";Ann", "; [Event] x"])
def test_names_that_begin_like_a_comment(name):
    record = replace(parse_mat(BY_GNUBG), players=(name, "#bob"))
    text = mat_text(record)
    assert parse_mat(text) == record
    assert parse_mat(text.replace(" Game 2\n", " Game 2\n\n; a comment\n")) == record


@pytest.mark.parametrize(
    ("sides", "names"),
    [
        ("A]b:c;[(x) : 2              12:30 bob : 1", ("A]b c;[(x)", "12 30 bob")),
        ("a: 3 b : 2              bob : 1", ("a 3 b", "bob")),
        ("Ann : 2              b :: x : 1", ("Ann", "b x")),
        ("a : 3 b : 2              bob : 1", None),
        ("a:b: 2              bob: 1", None),
        ("Ann : 2               : 1", ("Ann", "player")),
        ("10:2:1", None),
        (" : 2              bob : 1", ("player", "bob")),
    ],
)
def test_colons_in_names_of_other_programs(sides, names):
    text = f" 5 point match\n\n Game 1\n {sides}\n  1) 31: 8/5 6/5\n"
    if names is None:
        with pytest.raises(
            RecordError, match=r"^text: line 4: game 1: expected the players and scores, .*, not"
        ):
            parse_mat(text)
        return
    record = parse_mat(text)
    assert record.players == names
    assert record.games[0].score == (2, 1)


@pytest.mark.parametrize(
    "title", ["Some title", "Final, 3 point match", "; made by hand\nTitle\n\n# and more"]
)
def test_titles_before_the_length(title):
    assert parse_mat(f"{title}\n{BY_GNUBG}") == parse_mat(BY_GNUBG)


def test_the_length_is_not_found_after_a_game():
    games = BY_GNUBG.partition(" 5 point match\n")[2]
    with pytest.raises(RecordError, match=r"^text: line 2: not a \.mat file"):
        parse_mat(f"{games}{BY_GNUBG}")


@pytest.mark.parametrize("end", [":", " :", ": "])
def test_a_colon_after_the_number_of_a_game(end):
    text = BY_GNUBG
    for number in (1, 2, 3):
        text = text.replace(f" Game {number}\n", f" Game {number}{end}\n")
    assert parse_mat(text) == parse_mat(BY_GNUBG)


@pytest.mark.parametrize("value", ["NackGammon", "Hypergammon", "Tavli"])
def test_variations_are_named(value):
    with pytest.raises(RecordError) as caught:
        parse_mat(f'; [Variation "{value}"]\n{BY_GNUBG}', "games.mat")
    said = f"games.mat: the variation '{value}' is not supported: the game must be backgammon"
    assert str(caught.value) == said


def test_backgammon_is_no_variation():
    text = f'; [Variation "Backgammon"]\n{BY_GNUBG}'
    assert parse_mat(text).games == parse_mat(BY_GNUBG).games


def test_a_match_without_a_crawford_game():
    record = parse_mat(BY_GNUBG)
    assert crawford_game(record) == 2
    assert crawford_game(parse_mat(f'; [Crawford "On"]\n{BY_GNUBG}')) == 2
    without = parse_mat(f'; [Crawford "Off"]\n{BY_GNUBG}')
    assert crawford_game(without) is None
    assert [game.crawford for game in without.games] == [None, None, False]
    assert parse_mat(mat_text(without)) == without
    assert '; [Crawford "Off"]' in mat_text(replace(without, tags=()))
    assert '; [Crawford "Off"]' in mat_text(replace(without, tags=(("Crawford", "On"),)))


def test_a_crawford_game_that_cannot_be_inferred():
    record = parse_mat(BY_GNUBG)
    first = replace(record.games[2], score=(4, 1))
    late = replace(record, games=(*record.games[:2], first, *record.games[2:]))
    marked = with_crawford(late, [None, None, False, True])
    assert (crawford_game(late), crawford_game(marked)) == (2, 3)
    text = mat_text(marked)
    assert '; [Crawford "Game 4"]' in text
    assert parse_mat(text).games == marked.games
    assert mat_text(parse_mat(text)) == text


@pytest.mark.parametrize(("stated", "crawford"), [([None, None, True], 2), ([True, True, False], None)])
def test_a_tag_that_contradicts_the_record_is_replaced(stated, crawford):
    record = with_crawford(parse_mat(BY_GNUBG), stated)
    for tag in ("On", "Off"):
        text = mat_text(replace(record, tags=(("Crawford", tag),)))
        assert crawford_game(parse_mat(text)) == crawford


def test_marks_that_say_what_is_inferred_are_dropped():
    record = parse_mat(BY_GNUBG)
    assert with_crawford(record, [False, False, True]) == record
    assert with_crawford(record, [None, None, None]) == record
    assert crawford_game(with_crawford(record, [True, True, False])) is None
