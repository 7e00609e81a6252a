"""Datasets in Python: arrays, frames, slices, splits, and a folder written and read again."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

import motif
from motif.board.identifiers import gnubg_ids
from motif.evaluators.probabilities import OUTPUTS, equities
from motif.learning.rows import held_out, validation_games
from motif.parameters import parameter_set
from motif.runtime.errors import DatasetError, SettingError
from motif.sampling.dataset import Dataset, read_dataset
from motif.sampling.dataset_files import MANIFEST, read_manifest
from tests.games import some_boards

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def data() -> Dataset:
    boards = some_boards("pubeval", 300, seed=41)
    random = np.random.default_rng(41)
    win, gammon, lose_gammon = random.random(300), random.random(300), random.random(300)
    chances = [win, gammon * win, 0.1 * gammon * win, lose_gammon * (1 - win), 0 * win]
    columns = dict(zip(OUTPUTS, chances, strict=True))
    return Dataset.from_frame({"position": gnubg_ids(boards), **columns, "game": np.arange(300) // 10})


def same(one: Dataset, other: Dataset) -> bool:
    fields = {name: value for name, value in vars(one).items() if name != "origin"}
    return all(np.array_equal(value, getattr(other, name), equal_nan=value.dtype.kind == "f")
               for name, value in fields.items())  # fmt: skip


def test_arrays_for_scikit_learn(data):
    names = parameter_set("motif").names
    assert data.X().shape == (300, len(names))
    assert np.allclose(data.X(scaled=False) * parameter_set("motif").scales, data.X(), rtol=1e-5)
    assert data.X("keith").shape == (300, len(parameter_set("keith").names))
    assert np.allclose(data.y(), equities(data.y("probabilities").astype(float)), atol=1e-6)
    assert (data.y("lose_gammon") == data.probabilities[:, 3]).all()
    assert (data.groups == np.arange(300) // 10).all()
    assert len(set(data.decisions)) == 300
    assert data.positions[3].board.tolist() == data.boards[3].tolist()
    with pytest.raises(SettingError, match=r"target must be one of equity, .*, not array\("):
        data.y(np.array(["win", "equity"]))
    with pytest.raises(SettingError, match=r"target must be one of equity, .*, not 'wins'; did you mean"):
        data.y("wins")


def test_unscaled_pip_counts_are_plain_pip_counts(data):
    names = list(parameter_set("motif").names)
    pips = data.X(scaled=False)[:, names.index("pip_count")]
    counted = np.maximum(data.boards[:, 1:], 0) @ np.arange(1, 26)
    assert np.allclose(pips, counted, atol=1e-3)


def test_slices_masks_and_sums(data):
    assert len(data[:10]) == 10
    assert same(data[[4, 7]], data.rows(np.array([4, 7])))
    assert len(data[5]) == 1
    assert (data[data.y("win") > 0.5].y("win") > 0.5).all()
    twice = data[:100] + data[100:]
    assert (twice.boards == data.boards).all()
    # Games of another dataset get new numbers.
    assert len(set((data + data).groups)) == 60
    assert repr(data) == "<dataset of 300 positions, 30 games>"
    assert repr(data[0]) == "<dataset of 1 position, 1 game>"


def test_a_split_holds_out_whole_games_and_those_that_a_fit_would(data, tmp_path):
    train, validation = data.split(0.2, seed=3)
    assert len(train) + len(validation) == 300
    assert not set(train.groups) & set(validation.groups)
    assert len(set(validation.groups)) == 6
    data.write(tmp_path / "data")
    assert same(held_out([tmp_path / "data"], 0.2, 3)[0], validation)
    with pytest.raises(SettingError, match="validation must be at least 0 and below 1, not 1"):
        data.split(1)
    with pytest.raises(SettingError, match="seed must be a whole number, not 'x'"):
        data.split(seed="x")
    with pytest.raises(SettingError, match="seed must be at least 0, not -1"):
        data.split(seed=-1)


def test_what_is_written_is_read_again_and_by_pandas(data, tmp_path):
    folder = data.write(tmp_path / "data")
    assert same(motif.read_dataset(folder), data)
    frame = pandas.read_parquet(folder)
    assert list(frame["position"]) == gnubg_ids(data.boards)
    assert same(Dataset.from_frame(frame), data)
    assert same(Dataset.from_frame(data.to_frame()), data)
    with pytest.raises(DatasetError, match="already contains a dataset"):
        data.write(folder)
    (other := tmp_path / "other").mkdir()
    (other / "notes.txt").touch()
    with pytest.raises(DatasetError, match="other: not a dataset: the folder is not empty and has no _mani"):
        data.write(other)


def test_a_manifest_of_the_plain_name_is_read(data, tmp_path):
    folder = data.write(tmp_path / "data")
    (folder / MANIFEST).rename(folder / "manifest.json")
    assert same(read_dataset(folder), data)
    assert json.loads((folder / "manifest.json").read_text())["positions"] == 300


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"win": None}, "the data frame lacks the column 'win': it must have position, win, "),
        ({"position": ["x"]}, "position: "),
        ({"win": [1.5]}, "win of row 0 is 1.5: it must be 0 to 1"),
        ({"win_gammon": [1.0]}, "win_gammon of row 0 is 1.0: it must be at most win"),
        ({"lose_gammon": [1.0]}, "lose_gammon of row 0 is 1.0: it must be at most 1 - win"),
        ({"equity": [99]}, "equity of row 0 is 99.0: it must be that of the probabilities"),
        ({"equity": [float("nan")]}, "equity of row 0 is nan: it must be that of the probabilities"),
        ({"equity_se": [-1]}, "equity_se of row 0 is -1.0: it must be at least 0"),
        ({"equity_se": [float("inf")]}, "equity_se of row 0 is inf: it must be finite"),
        ({"trials": [0]}, "trials of row 0 is 0: it must be a whole number from 1 to"),
        ({"win": ["often"]}, "win: all values must be of type float32"),
        ({"game": ["first"]}, "game of row 0 is 'first': it must be a whole number from 0 to 2147483647"),
        ({"game": [1.5]}, "game of row 0 is 1.5: it must be a whole number"),
        ({"game": [2**31]}, "game of row 0 is 2147483648: it must be a whole number"),
        ({"game": [-1]}, "game of row 0 is -1: it must be a whole number from 0 to"),
        ({"game": [True]}, "game of row 0 is True: it must be a whole number"),
        ({"trials": [float("nan")]}, "trials of row 0 is nan: it must be a whole number"),
        ({"trials": [1e300]}, "trials of row 0 is 1e+300: it must be a whole number"),
        ({"ply": [-1]}, "ply of row 0 is -1: it must be a whole number from 0 to"),
        ({"ply": pandas.array([None], "Int32")}, "ply of row 0 is nan: it must be a whole number"),
        ({"decision": [2**70]}, "decision of row 0 is 1180591620717411303424: it must be a whole number"),
        ({"decision": ["7"]}, "decision of row 0 is '7': it must be a whole number"),
        ({"chosen": ["False"]}, "chosen of row 0 is 'False': it must be True or False"),
        ({"chosen": [1]}, "chosen of row 0 is 1: it must be True or False"),
        ({"chosen": [float("nan")]}, "chosen of row 0 is nan: it must be True or False"),
        ({"win": [0.5, 0.5]}, "win must have 1 rows, like position, not 2 rows"),
        ({"equity": [[0.0]]}, "equity must have 1 rows, like position, not the shape (1, 1)"),
    ],
)
def test_invalid_frames(data, changed, said):
    frame = {name: list(values)[:1] for name, values in data.to_frame().items()} | changed
    if changed.get("win", 1) is None:
        del frame["win"]
    with pytest.raises(DatasetError) as refused:
        Dataset.from_frame(frame)
    assert str(refused.value).startswith(said)


def test_a_table_of_pyarrow(data, tmp_path):
    folder = data.write(tmp_path / "data")
    table = pq.read_table(folder)
    assert same(Dataset.from_frame(table), Dataset.from_frame(data.to_frame()))
    with pytest.raises(DatasetError, match="the data frame lacks the column 'win'"):
        Dataset.from_frame(table.drop_columns(["win"]))


def test_numbers_of_frames_may_be_of_any_whole_type(data):
    columns = dict(data[:2].to_frame().items())
    columns |= {"game": [3.0, 4.0], "trials": pandas.array([6, 7], "Int64"), "ply": np.array([1, 2], np.int8)}
    columns |= {
        "chosen": np.array([True, False], object),
        "decision": np.array([2**40, 2**40 + 1], np.uint64),
    }
    given = Dataset.from_frame(columns)
    assert given.game.tolist() == [3, 4]
    assert given.trials.tolist() == [6, 7]
    assert given.ply.tolist() == [1, 2]
    assert given.chosen.tolist() == [True, False]
    assert given.decision.tolist() == [2**40, 2**40 + 1]
    assert {name: getattr(given, name).dtype for name in ("game", "trials", "decision", "chosen")} == {
        name: getattr(data, name).dtype for name in ("game", "trials", "decision", "chosen")
    }


def test_rounding_of_probabilities_in_frames(data):
    columns = dict(data[:1].to_frame().items()) | {name: [0.0] for name in OUTPUTS} | {"equity": [1.0]}
    assert Dataset.from_frame(columns | {"win": [1.0000001]}).y("win") == [1]
    assert Dataset.from_frame(columns | {"win": [-1e-9], "equity": [-1.0]}).y("win") == [0]


def test_datasets_of_the_same_games_in_memory_have_the_same_games_in_a_fit(data, tmp_path):
    folder = data.write(tmp_path / "data")
    again, part = read_dataset(folder), Dataset.from_frame(data.to_frame())[:150]
    assert again.origin.games_key == part.origin.games_key == data.origin.games_key != ""
    pieces = [again.write(tmp_path / "again"), part.write(tmp_path / "part"), folder]
    assert len({read_manifest(place).games_key for place in pieces}) == 1
    held = validation_games([folder], 0.2, 3)
    assert validation_games(pieces, 0.2, 3).tolist() == held.tolist()
    # A sum gives the games of the second dataset new numbers.
    assert (data + data).origin.games_key == ""


def test_a_fit_refuses_the_same_dataset_twice(data, tmp_path):
    folder = data.write(tmp_path / "data")
    with pytest.raises(
        motif.MotifError, match=r"/data: the dataset is given twice: it is that in dataset 1$"
    ):
        motif.fit([data, folder, data], parameters="keith", heads="win")


@pytest.fixture(scope="module")
def choices(data) -> Dataset:
    """Decisions of three plays each, two decisions per game."""
    rows = np.arange(300)
    return replace(
        data, decision=rows // 3, game=(rows // 6).astype(np.int32), ply=(rows // 3 % 2).astype(np.int32)
    )


def test_shuffled_rows_of_decisions_are_written_together(choices, tmp_path):
    order = np.random.default_rng(5).permutation(len(choices))
    written = read_dataset(choices[order].write(tmp_path / "shuffled"))
    assert (np.diff(written.decision) >= 0).all()
    by_row = np.lexsort((choices.equity, choices.decision))
    assert same(written[np.lexsort((written.equity, written.decision))], choices[by_row])


def test_frames_of_two_datasets_joined_by_hand_are_refused(choices):
    first, second = (half.to_frame() for half in (choices[:150], choices[150:]))
    second = second.assign(decision=second["decision"] - 50, ply=second["ply"])
    with pytest.raises(
        DatasetError, match=r"^decision 0 is of game 0 in row 2 and of game 25 in row 150: .*\+$"
    ):
        Dataset.from_frame(pandas.concat([first, second], ignore_index=True))
    with pytest.raises(DatasetError, match=r"^decision 0 is of ply 0 in row 0 and of ply 1 in row 1: "):
        Dataset.from_frame(first.assign(ply=np.arange(150) % 2))


def test_without_games_each_decision_is_one(choices):
    frame = choices.to_frame().drop(columns="game").assign(decision=7 - choices.decision // 2 + 50)
    assert Dataset.from_frame(frame.drop(columns="ply")).game.tolist() == [49 - k // 6 for k in range(300)]


def test_large_numbers_of_games_are_counted_anew(choices):
    large = replace(
        choices, game=choices.game + np.int32(2**31 - 51), decision=choices.decision + (2**63 - 101)
    )
    both = large + large
    assert both.game.dtype == np.int32
    assert both.game.tolist() == [k // 6 for k in range(600)]
    assert both.decision.tolist() == [k // 3 for k in range(600)]
    assert (choices + choices).game.tolist() == [k // 6 for k in range(600)]
    assert (large + choices).game.min() == 0
    assert (choices + large[:0]).game.tolist() == choices.game.tolist()


def test_ids_of_a_frame_are_read_together_and_other_positions_one_by_one(data):
    boards = data.boards[:40]
    columns = {name: data.y(name)[:40] for name in OUTPUTS}
    as_ids = Dataset.from_frame({"position": gnubg_ids(boards), **columns})
    as_boards = Dataset.from_frame({"position": list(boards), **columns})
    assert (as_ids.boards == as_boards.boards).all()
    with pytest.raises(DatasetError, match=r"^position: row 1: "):
        Dataset.from_frame({"position": [gnubg_ids(boards[:1])[0], "?" * 14], **{n: [0, 0] for n in OUTPUTS}})
