"""eXtreme Gammon files and gammonview documents, read with the same plays, cube and scores."""

import gzip
import random
import sys
import zlib
from dataclasses import replace

import pytest

from motif.board.game_record import (
    CubeAction,
    GameProgress,
    GameRecord,
    GameResult,
    MatchRecord,
    Turn,
    crawford_game,
    illegal_plays,
)
from motif.board.mat_file import mat_text, parse_mat
from motif.board.match_file import parse_bgf, parse_xg
from motif.board.moves import legal_plays
from motif.board.notation import Play
from motif.board.position import Position
from motif.runtime.errors import RecordError
from tests.board.xg_writer import xg_content

gvformat = pytest.importorskip("gvformat")


def match(seed: int, length: int = 0) -> MatchRecord:
    """Random finished games with doubles; `length` only bounds the scores."""
    chance = random.Random(seed)
    games = tuple(_game(chance, (chance.randrange(3), chance.randrange(3))) for _ in range(3))
    return MatchRecord(("Ann", "Bob"), length, games, (("EventDate", "2026.10.25"),))


def _game(chance: random.Random, score: tuple[int, int]) -> GameRecord:
    progress, actions, player = GameProgress(), [], chance.randrange(2)
    resigns_after = chance.choice([None, chance.randrange(5, 40)])

    def act(action):
        progress.apply(action)
        actions.append(action)

    while progress.result is None:
        if resigns_after is not None and len(actions) > resigns_after and isinstance(actions[-1], Turn):
            return GameRecord(score, tuple(actions), GameResult(1 - player, progress.cube, resigned=True))
        if actions and progress.cube < 8 and progress.cube_owner in (None, player) and chance.random() < 0.05:
            act(CubeAction(player, "double"))
            act(CubeAction(1 - player, "take" if chance.random() < 0.8 else "drop"))
            if progress.result is not None:
                break
        dice = chance.randint(1, 6), chance.randint(1, 6)
        roll = max(dice), min(dice)
        act(Turn(player, roll, chance.choice(legal_plays(progress.position, roll))))
        player = 1 - player
    return GameRecord(score, tuple(actions), progress.result)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("length", [0, 25])
def test_files_of_extreme_gammon(seed, length):
    record = match(seed, length)
    assert parse_xg(xg_content(record), "match.xg") == record


def test_players_are_in_gammonviews_order():
    record = match(1)
    turned = parse_xg(xg_content(replace(record, players=("Zoe", "Ann"))), "match.xg")
    assert turned.players == ("Ann", "Zoe")
    assert [game.score for game in turned.games] == [game.score[::-1] for game in record.games]
    assert [action.player for action in turned.games[0].actions] == [
        1 - action.player for action in record.games[0].actions
    ]


@pytest.mark.parametrize(
    ("answers", "resigned", "points"),
    [
        (("beaver",), True, 8),
        (("beaver", "drop"), False, 2),
        (("beaver", "raccoon"), True, 8),
        (("beaver", "raccoon", "drop"), False, 4),
    ],
)
def test_beavers(answers, resigned, points):
    opening = Turn(0, (3, 1), legal_plays("4HPwATDgc/ABMA", (3, 1))[0])
    cube = [CubeAction(number % 2, kind) for number, kind in enumerate(("double", *answers), 1)]
    progress = GameProgress()
    for action in (opening, *cube):
        progress.apply(action)
    if resigned:
        cube.append(Turn(1, (2, 1), legal_plays(progress.position, (2, 1))[0]))
    winner = 0 if resigned else 1 - cube[-1].player
    game = GameRecord((0, 0), (opening, *cube), GameResult(winner, points, resigned=resigned))
    later = match(1).games[0]
    record = replace(match(0), games=(game, replace(later, score=game.score_after)))
    assert parse_xg(xg_content(record), "match.xg") == record


def test_the_jacoby_rule():
    record = match(2)
    record = replace(record, tags=(*record.tags, ("Jacoby", "On")))
    assert parse_xg(xg_content(record), "match.xg") == record


@pytest.mark.parametrize("crawford", [1, 2, None])
def test_the_crawford_game(crawford):
    games = tuple(
        replace(game, score=score, crawford=number == crawford)
        for number, (game, score) in enumerate(zip(match(1).games, ((2, 1), (4, 1), (4, 3)), strict=True))
    )
    record = parse_xg(xg_content(MatchRecord(("Ann", "Bob"), 5, games)), "match.xg")
    assert crawford_game(record) == crawford


@pytest.mark.parametrize("seed", range(3))
def test_documents_of_gammonview(seed, monkeypatch):
    """gammonview converts every file to this form."""
    record = match(seed, 25)
    document = gvformat.mat_to_ogxm(mat_text(record))
    monkeypatch.setattr(gvformat, "convert_bgf", lambda content: document)
    again = parse_bgf(b"{}", "match.bgf")
    assert again.games == record.games


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("timestamp", 1e12),
        ("timestamp", 1e17),
        ("timestamp", 1e300),
        ("timestamp", float("inf")),
        ("timestamp", float("nan")),
        ("match_length", float("inf")),
        ("match_length", float("nan")),
    ],
)
def test_a_number_out_of_range_is_damage(key, number, monkeypatch):
    document = gvformat.mat_to_ogxm(mat_text(match(0))) | {key: number}
    monkeypatch.setattr(gvformat, "convert_bgf", lambda content: document)
    with pytest.raises(RecordError, match=r"^match\.bgf: gammonview finds no match in it \("):
        parse_bgf(b"{}", "match.bgf")


def with_first_turn(turn: Turn) -> MatchRecord:
    """A match whose only game is resigned after `turn`."""
    game = GameRecord((0, 0), (turn,), GameResult(0, 1, resigned=True))
    return replace(match(0), games=(game,))


def test_an_illegal_play_is_kept_as_it_was_made():
    wrong = Turn(0, (2, 1), legal_plays("4HPwATDgc/ABMA", (6, 5))[0])
    read = parse_xg(xg_content(with_first_turn(wrong)), "match.xg")
    (illegal,) = illegal_plays(read)
    assert (illegal.game, illegal.move, illegal.roll, illegal.play) == (1, 1, "21", wrong.play.notation)
    assert read.games[0].actions[0].play.position == wrong.play.position
    assert parse_mat(mat_text(read)).games == read.games


def test_a_set_up_position_with_dice_is_an_illegal_play(monkeypatch):
    wrong = Turn(0, (2, 1), legal_plays("4HPwATDgc/ABMA", (6, 5))[0])
    content = xg_content(with_first_turn(wrong))
    document = gvformat.convert_xg(content)
    ply = document["games"][0]["plies"][0]
    monkeypatch.setattr(gvformat, "convert_bgf", lambda content: document)
    ply["action_id"] = 31
    assert parse_bgf(b"{}", "match.bgf").games == parse_xg(content, "match.xg").games
    del ply["d1"]
    with pytest.raises(RecordError, match=r"match\.bgf: game 1, action 1: a position was set up here; "):
        parse_bgf(b"{}", "match.bgf")


def test_a_game_may_be_resigned_after_a_roll():
    record = with_first_turn(Turn(0, (2, 1), None))
    assert parse_xg(xg_content(record), "match.xg") == record


def test_a_roll_may_be_forfeited():
    record = with_first_turn(Turn(0, (2, 1), None))
    reply = Turn(1, (3, 1), legal_plays("4HPwATDgc/ABMA", (3, 1))[0])
    (game,) = record.games
    read = parse_xg(
        xg_content(replace(record, games=(replace(game, actions=(*game.actions, reply)),))), "match.xg"
    )
    assert [str(illegal) for illegal in illegal_plays(read)] == ["game 1, move 1, Ann, 21: not played"]
    assert read.games[0].actions[1] == reply


def test_a_play_that_checkers_cannot_make_is_named():
    onto_a_point = Turn(0, (5, 1), Play(Position.start().switch_sides(), ((24, 19),), (False,)))
    with pytest.raises(RecordError, match=r"match\.xg: game 1, action 1: no play of the roll"):
        parse_xg(xg_content(with_first_turn(onto_a_point)), "match.xg")


@pytest.mark.parametrize("cut", [3, 100, 8232, 8300, 9000])
def test_damaged_files_are_refused_in_one_line(cut):
    content = xg_content(match(0))
    with pytest.raises(RecordError, match=r"^match\.xg: ") as caught:
        parse_xg(content[:cut], "match.xg")
    assert "\n" not in str(caught.value)
    with pytest.raises(RecordError, match=r"^match\.bgf: gammonview cannot read it as a \.bgf file"):
        parse_bgf(b'{"format": "BGF"}\n' + content[:cut], "match.bgf")


@pytest.mark.parametrize("payload", [b"", b":", b":)\n", b":)\n\x00", b":)\n\x00\xfa"])
def test_a_payload_that_ends_early_is_refused(payload):
    for content in (payload, gzip.compress(payload), zlib.compress(payload)):
        with pytest.raises(RecordError, match=r"^match\.bgf: gammonview cannot read it as a \.bgf file"):
            parse_bgf(b'{"format": "BGF"}\n' + content, "match.bgf")


def test_a_file_that_ends_in_its_header_is_cut_short():
    pytest.importorskip("gvformat")
    with pytest.raises(RecordError, match=r"\(it is cut short\)$"):
        parse_xg(b"RGMH", "match.xg")


def test_without_gammonview(monkeypatch):
    monkeypatch.setitem(sys.modules, "gvformat", None)
    with pytest.raises(RecordError) as caught:
        parse_xg(b"RGMH", "match.xg")
    assert str(caught.value) == (
        "match.xg: reading an .xg file requires gammonview: pip install '.[xg]' in the checkout; "
        "or export the match from eXtreme Gammon as .mat"
    )
