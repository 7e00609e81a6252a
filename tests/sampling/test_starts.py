"""Self-play that begins at given positions."""

import json
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import motif
from motif.board.moves import legal_plays
from motif.board.position import Position
from motif.cli.main import main
from motif.parameters.position_class import position_class
from motif.runtime.errors import DatasetError, PositionError, SettingError
from motif.sampling.dataset import Dataset, read_dataset
from motif.sampling.dataset_files import read_manifest
from motif.sampling.sample import SampleSettings, sample
from tests.sampling.folders import QUICK, differences, made
from tools.rare_positions import KINDS, rare_positions

EVERY = SampleSettings(player="pubeval", games=60, label="pubeval", candidates=1, seed=3)
"""Every position of the games, with labels that cost little."""


@pytest.fixture(scope="module")
def starts() -> np.ndarray:
    return np.array([one.board for one in islice(rare_positions(1), 4 * len(KINDS))])


@pytest.fixture(scope="module")
def played(starts, tmp_path_factory) -> Dataset:
    return read_dataset(made(tmp_path_factory.mktemp("starts") / "ds", EVERY, starts=starts))


def first_of(data: Dataset, game: int) -> np.ndarray:
    return data.boards[(data.game == game) & (data.ply == 0)]


def test_games_begin_at_the_positions_in_turn(starts, played):
    for game in range(EVERY.games):
        assert first_of(played, game).tolist() == [starts[game % len(starts)].tolist()]


def test_first_plays_are_legal_and_any_roll_may_be_the_first(played):
    doubles = 0
    for game in range(EVERY.games):
        after = played.boards[(played.game == game) & (played.ply == 1)]
        if not len(after):  # the first play ended the game
            continue
        start = Position(first_of(played, game)[0])
        rolls = [
            (high, low)
            for high in range(1, 7)
            for low in range(1, high + 1)
            if any((play.position.board == after[0]).all() for play in legal_plays(start, (high, low)))
        ]
        assert rolls
        doubles += all(high == low for high, low in rolls)
    assert doubles > 0


def test_the_starting_position_has_an_opening_roll(tmp_path):
    """Games from the starting position are the usual ones, and never begin with a double."""
    made(tmp_path / "usual")
    made(tmp_path / "given", starts=Position.start().board[None])
    one, other = (read_dataset(tmp_path / name) for name in ("usual", "given"))
    for name, column in one.columns().items():
        assert np.array_equal(column, other.columns()[name]), name


def test_the_same_bytes_for_any_number_of_jobs(starts, tmp_path):
    for name, jobs in (("one", 1), ("two", 2)):
        sample(QUICK, tmp_path / name, starts=starts, jobs=jobs)
    assert differences(tmp_path / "one", tmp_path / "two") == []


def test_resumed_only_with_the_same_positions(starts, tmp_path):
    made(tmp_path / "ds", starts=starts)
    made(tmp_path / "ds", starts=starts, resume=True)
    for other in (starts[1:], None):
        with pytest.raises(DatasetError, match="made with starts ="):
            made(tmp_path / "ds", starts=other, resume=True)


@pytest.mark.parametrize(
    ("settings", "count", "message"),
    [
        (QUICK, 0, "starts must be at least one position, not 0"),
        (replace(QUICK, player="wildbg"), 2, "starts: wildbg cannot begin at them; a weight file can"),
    ],
)
def test_starts_that_cannot_be_used(settings, count, message, starts, tmp_path):
    with pytest.raises(SettingError) as caught:
        sample(settings, tmp_path / "ds", starts=starts[:count], jobs=1)
    assert str(caught.value) == message
    assert not (tmp_path / "ds").exists()


def test_the_game_must_go_on(starts, tmp_path):
    over = np.zeros(26, np.int8)
    over[3] = 2
    with pytest.raises(PositionError, match="the game is over"):
        sample(QUICK, tmp_path / "ds", starts=np.array([starts[0], over]), jobs=1)


def test_not_with_recorded_games(matches, starts, tmp_path):
    with pytest.raises(SettingError, match=r"^starts: not allowed with recorded games$"):
        motif.sample(player="pubeval", recorded=matches, starts=starts, out=tmp_path / "ds", jobs=1)


def test_games_are_left_after_some_plies(starts, played, tmp_path):
    left = read_dataset(made(tmp_path / "ds", replace(EVERY, plies=4), starts=starts))
    early = played.ply <= 4
    for name in ("boards", "game", "ply", "decision", "chosen", "equity"):
        assert np.array_equal(getattr(left, name), getattr(played, name)[early]), name


def test_plies_do_not_apply_to_other_games(matches, tmp_path):
    with pytest.raises(SettingError, match=r"^plies: not allowed with recorded games$"):
        motif.sample(player="pubeval", recorded=matches, plies=4, out=tmp_path / "ds", jobs=1)
    with pytest.raises(SettingError, match=r"^plies: wildbg cannot leave games early; a weight file can$"):
        motif.sample(player="wildbg", games=2, plies=4, out=tmp_path / "ds", jobs=1)


def test_the_command_and_the_library_do_the_same(tmp_path, capsys):
    ids = [one.gnubg_id for one in islice(rare_positions(2), 6)]
    (tmp_path / "starts.txt").write_text("# rare\n" + "\n".join(ids) + "\n")
    words = "sample --games 7 --trials 2 --cut 2 --player pubeval --json --jobs 1 --starts"
    assert main([*words.split(), str(tmp_path / "starts.txt"), "--out", str(tmp_path / "one")]) == 0
    said = json.loads(capsys.readouterr().out)
    result = motif.sample(
        player="pubeval", games=7, trials=2, cut=2, starts=ids, out=tmp_path / "other", jobs=1
    )
    assert differences(tmp_path / "one", tmp_path / "other") == []
    assert said["positions"] == result.positions
    assert "starts" in read_manifest(tmp_path / "one").settings


def test_a_bad_line_is_named(tmp_path, capsys):
    (tmp_path / "starts.txt").write_text("4HPwATDgc/ABMA\nnonsense\n")
    words = [
        "sample",
        "--games",
        "7",
        "--starts",
        str(tmp_path / "starts.txt"),
        "--out",
        str(tmp_path / "ds"),
    ]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert "starts.txt: line 2:" in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "ds").exists()


def test_rare_positions_are_those_of_their_seed():
    one, other = (list(islice(rare_positions(5), 30)) for _ in range(2))
    assert one == other
    assert list(islice(rare_positions(6), 30)) != one
    assert len(set(one)) == 30


@pytest.mark.parametrize("kind", KINDS)
def test_rare_positions_are_of_their_kind(kind):
    positions = list(islice(rare_positions(3, [kind]), 50))
    boards = np.array([one.board for one in positions])
    home, bar = boards[:, 1:7], -boards[:, 0]
    back = bar - np.minimum(home, 0).sum(axis=1), np.maximum(boards[:, 19:], 0).sum(axis=1)
    anchors = (home <= -2).sum(axis=1)
    assert {
        "last-checker": (back[0] == 1).all(),
        "both-back": (np.minimum(*back) >= 4).all(),
        "one-back": (np.maximum(*back) >= 6).all(),
        "blitz": (back[0] <= 5).all(),
        "hit": (bar + (boards[:, 1:9] < 0).sum(axis=1) > 0).all(),
        "closeout": ((home >= 2).all(axis=1) & (bar > 0)).all(),
        "race": all(position_class(one) == "race" for one in positions),
        "anywhere": True,
        "primes": ((boards >= 2).sum(axis=1) >= 4).all(),
        "anchor": (anchors >= 1).all() and not (boards[:, 13:] > 0).any(),
        "holding": (boards[:, 4:9] <= -2).any(axis=1).all(),
        "back-game": (anchors >= 2).all() and not (boards[:, 15:] > 0).any(),
        "middle": (-np.minimum(boards[:, 1:8], 0).sum(axis=1) == 2).all(),
        "straggler": (-np.minimum(boards[:, 1:13], 0).sum(axis=1) == 1).all(),
    }[kind]
