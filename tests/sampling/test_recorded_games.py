"""Positions of recorded games, labelled by rollouts, an evaluator or the result."""

import json
from dataclasses import replace

import numpy as np
import pytest

from motif.board.game_record import GameRecord, GameResult, Turn
from motif.board.identifiers import gnubg_id
from motif.board.mat_file import parse_mat
from motif.board.match_file import read_match, write_match
from motif.board.moves import legal_plays
from motif.board.outcome import outcome
from motif.board.packed import unpack_many
from motif.board.position import Position
from motif.cli.main import main
from motif.evaluators import load_static
from motif.learning.rows import pooled_parts, validation_games
from motif.runtime.errors import DatasetError, SettingError
from motif.sampling.dataset import in_one_pool, joined, read_dataset
from motif.sampling.dataset_files import read_manifest
from motif.sampling.recorded_games import finished, read_games, recorded_game
from motif.sampling.sample import SampleSettings, sample
from tests.board.test_mat_file import played

SETTINGS = SampleSettings(player="motif-v1", trials=36, cut=4, candidates=3, seed=5)
BY_OUTCOME = SampleSettings(player="motif-v1", label="outcome")


def turns(game: GameRecord) -> list[Turn]:
    return [action for action in game.actions if isinstance(action, Turn) and action.play is not None]


def test_games_are_those_of_the_records(matches):
    games = read_games([matches])
    records = [game for seed in range(3) for game in played(seed).games if turns(game)]
    assert len(games) == len(records)
    for game, record in zip(games, records, strict=True):
        positions = [turn.play.position.board.tolist() for turn in turns(record)]
        assert unpack_many(game.after).tolist() == positions
        assert game.rolls.tolist() == [list(turn.roll) for turn in turns(record)]
        assert game.winner == (-1 if record.result is None else record.result.winner)


def test_illegal_plays_are_left_out():
    text = " 5 point match\n\n Game 1\n Ann : 0   Bob : 0\n  1) 31: 8/5   64: 24/14\n  2) 42: 8/4 6/4\n"
    record = parse_mat(text).games[0]
    game = recorded_game(record)
    assert game is not None
    assert (game.rolls.tolist(), game.movers.tolist()) == ([[6, 4], [4, 2]], [1, 0])
    legal = [turn.play.position.board.tolist() for turn in turns(record)[1:]]
    assert unpack_many(game.after).tolist() == legal


def test_every_decision_is_recorded_with_the_play_made(matches, tmp_path):
    sample(SETTINGS, tmp_path / "ds", recorded=read_games([matches]), jobs=1)
    samples = joined([read_dataset(tmp_path / "ds")])
    records = [game for seed in range(3) for game in played(seed).games if turns(game)]
    made = [
        gnubg_id(turn.play.position)
        for record in records
        for turn in turns(record)
        if not outcome(turn.play.position)
    ]
    chosen = [gnubg_id(Position(board)) for board in samples.boards[samples.chosen]]
    assert chosen == made
    for decision in np.unique(samples.decision)[:40].tolist():
        rows = samples.decision == decision
        assert 1 <= rows.sum() <= SETTINGS.candidates
        game, ply = int(samples.game[rows][0]), int(decision) % (1 << 16)
        turn = turns(records[game])[ply - 1]
        before = Position.start() if ply == 1 else turns(records[game])[ply - 2].play.position
        if ply > 1 and turns(records[game])[ply - 2].player == turn.player:
            continue
        legal = {play.position.board.tobytes() for play in legal_plays(before, turn.roll)}
        assert all(board.tobytes() in legal for board in samples.boards[rows])
    assert (samples.trials == SETTINGS.trials).all()


def test_the_same_bytes_for_any_number_of_jobs(matches, tmp_path):
    games = read_games([matches])
    for name, jobs in (("one", 1), ("two", 2)):
        sample(SETTINGS, tmp_path / name, recorded=games, jobs=jobs)
    one, two = (read_manifest(tmp_path / name) for name in ("one", "two"))
    assert one == two
    assert one.settings["recorded"].startswith("sha256:")
    again = sample(SETTINGS, tmp_path / "one", recorded=games, resume=True, jobs=1)
    assert read_manifest(tmp_path / "one") == one
    assert again.positions > 0
    with pytest.raises(DatasetError, match="cannot be resumed: made with recorded = "):
        sample(SETTINGS, tmp_path / "one", recorded=games[::-1], resume=True, jobs=1)


def test_the_rate_is_the_share_of_recorded_decisions(matches, tmp_path):
    games = read_games([matches])
    sample(replace(SETTINGS, rate=0.2, label="motif-v1"), tmp_path / "ds", recorded=games, jobs=1)
    samples = joined([read_dataset(tmp_path / "ds")])
    decisions = sum(len(game.rolls) for game in games)
    assert 0 < len(np.unique(samples.decision)) < decisions / 2
    expected = load_static("motif-v1").evaluate_many(samples.boards)
    assert (samples.probabilities == expected).all()


def ended(points: int, winner: int, *, resigned: bool = False) -> GameRecord:
    """Two rolls, then the end of the game by agreement."""
    position = Position.start()
    first = legal_plays(position, (3, 1))[0]
    second = legal_plays(first.position, (6, 4))[0]
    actions = (Turn(0, (3, 1), first), Turn(1, (6, 4), second))
    return GameRecord((0, 0), actions, GameResult(winner, points, resigned=resigned))


@pytest.mark.parametrize(
    ("points", "winner", "labels"),
    [
        (1, 0, [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]),
        (2, 0, [[0, 0, 0, 1, 0], [1, 1, 0, 0, 0]]),
        (3, 1, [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]),
    ],
)
def test_the_winner_labels_every_position(points, winner, labels, tmp_path):
    """Player 1 is on roll after the first play, and player 0 after the second."""
    game = recorded_game(ended(points, winner, resigned=True))
    sample(BY_OUTCOME, tmp_path / "ds", recorded=[game], jobs=1)
    samples = joined([read_dataset(tmp_path / "ds")])
    assert samples.probabilities.tolist() == labels
    assert samples.chosen.all()
    assert (samples.trials == 1).all()


def test_an_unfinished_game_keeps_its_number_and_has_no_outcome(tmp_path):
    unfinished = recorded_game(replace(ended(1, 0), result=None))
    won = recorded_game(ended(1, 0, resigned=True))
    for label in ("outcome", "motif-v1"):
        settings = replace(BY_OUTCOME, label=label)
        sample(settings, tmp_path / label, recorded=[unfinished, won, unfinished], jobs=1)
    by_outcome, valued = (read_dataset(tmp_path / label) for label in ("outcome", "motif-v1"))
    assert set(by_outcome.game.tolist()) == {1}
    assert set(valued.game.tolist()) == {0, 1, 2}
    # All three games have the same plays, so they are one game in a fit.
    for data in in_one_pool([by_outcome, valued]):
        assert set(data.game.tolist()) == {0}


def test_the_same_recorded_games_are_held_out_together(matches, tmp_path):
    """Whatever the label, the files, their order and their format."""
    paths = [matches / f"{seed}.mat" for seed in range(3)]
    write_match(tmp_path / "first.sgf", read_match(paths[0]))
    folders = [tmp_path / name for name in ("all", "some", "results", "again")]
    valued = replace(BY_OUTCOME, label="motif-v1")
    sample(valued, folders[0], recorded=read_games([matches]), jobs=1)
    sample(valued, folders[1], recorded=read_games(paths[1::-1]), jobs=1)
    sample(BY_OUTCOME, folders[2], recorded=read_games(paths), jobs=1)
    sample(replace(valued, seed=2), folders[3], recorded=read_games([tmp_path / "first.sgf"]), jobs=1)
    plays, datasets = dict[int, set[bytes]](), list(map(read_dataset, folders))
    for part in (*pooled_parts(folders), *in_one_pool(datasets)):
        for game in np.unique(part.game):
            made = part.boards[part.chosen & (part.game == game)].tobytes()
            plays.setdefault(int(game), set()).add(made)
    # Each game has one number, and no two games have the same one.
    assert {len(known) for known in plays.values()} == {1}
    assert len(set.union(*plays.values())) == len(plays) == len(np.unique(datasets[0].game))
    held = set(validation_games(folders, 0.4, 1).tolist())
    assert 0 < len(held) < len(plays)


def test_rows_of_recorded_games_keep_their_games(matches, tmp_path):
    folder = tmp_path / "whole"
    sample(replace(BY_OUTCOME, label="motif-v1"), folder, recorded=read_games([matches]), jobs=1)
    part = read_dataset(folder)[::2]
    written = read_dataset(part.write(tmp_path / "part"))
    assert written.origin == part.origin
    assert len(written.origin.recorded_games) == len(read_games([matches]))
    manifest = json.loads((folder / "_manifest.json").read_text())
    manifest["recorded_games"] = manifest["recorded_games"][:1]
    (folder / "_manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DatasetError, match=r"game \d+ is not one of its 1 recorded games"):
        validation_games([folder], 0.4, 1)


def test_games_without_a_winner_are_not_finished():
    unfinished = recorded_game(replace(ended(1, 0), result=None))
    won = recorded_game(ended(1, 0, resigned=True))
    assert finished([unfinished, won]) == [won]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"games": 3}, "games: not allowed with recorded games, which are all used"),
        ({"noise": 0.1}, "noise: not allowed with recorded games"),
        ({"decide": "rollout"}, "decide: not allowed with recorded games"),
        ({"label": "outcome", "candidates": 4}, "candidates: the label outcome allows only actual plays"),
        (
            {"label": "outcome", "candidates": 1, "replies": True},
            "replies: the label outcome allows only actual plays",
        ),
        ({"rate": 2.0}, "rate must be between 0 and 1, not 2.0"),
    ],
)
def test_what_recorded_games_cannot_have(change, message, tmp_path):
    game = recorded_game(ended(1, 0, resigned=True))
    with pytest.raises(SettingError) as error:
        sample(replace(SETTINGS, **change), tmp_path / "ds", recorded=[game], jobs=1)
    assert str(error.value) == message
    assert not (tmp_path / "ds").exists()


def test_the_command(matches, tmp_path, capsys):
    out = tmp_path / "ds"
    words = ["sample", "--from", *(str(matches / f"{seed}.mat") for seed in (0, 1)), "--label", "outcome"]
    assert main([*words, "--out", str(out), "--jobs", "1"]) == 0
    assert "labelled by outcome" in capsys.readouterr().out
    assert main(["calibrate", str(out), "--player", "motif-v1", "--json"]) == 0
    capsys.readouterr()
    empty = tmp_path / "empty"
    empty.mkdir()
    for more, message in (
        (["--from", str(empty)], "the folder contains no match files (.mat, .sgf, .xg, .bgf)"),
        (["--label", "outcome", "--games", "3"], "--label: outcome applies only to recorded games"),
        ([], "--games must be at least 1, not 0; give it, or matches in --from"),
        (["--games", "3", "--label", "nobody", "--trials", "2"], "no player is called 'nobody'"),
    ):
        assert main(["sample", *more, "--out", str(tmp_path / "other")]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "other").exists()
