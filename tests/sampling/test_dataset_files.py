"""Datasets on disk: the schema, the manifest, and messages about damaged datasets."""

import errno
import json
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from motif.board.identifiers import position_from_gnubg_id
from motif.board.position import Position
from motif.evaluators import OUTPUTS
from motif.parameters.position_class import CLASS_NAMES
from motif.runtime.errors import DatasetError, FileError, IncompleteDatasetWarning
from motif.runtime.package import VERSION
from motif.sampling.dataset import read_dataset, read_parts
from motif.sampling.dataset_files import (
    SCHEMA,
    DatasetPart,
    checksum,
    read_manifest,
    write_manifest,
    write_part,
)
from tests.sampling.folders import QUICK, files, made, on_call


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "samples", replace(QUICK, games=3))


def test_schema_and_metadata(folder):
    table = pq.read_table(folder / "part-00000.parquet")
    assert table.schema.names == [
        "position", *OUTPUTS, "equity", "equity_se", "trials", "game", "ply", "decision", "chosen", "cls"
    ]  # fmt: skip
    types = {name: str(table.schema.field(name).type) for name in table.schema.names}
    assert types["position"] == "string"
    assert {types[name] for name in (*OUTPUTS, "equity", "equity_se")} == {"float"}
    assert {types[name] for name in ("trials", "game", "ply")} == {"int32"}
    assert (types["decision"], types["chosen"]) == ("int64", "bool")
    assert set(table["cls"].to_pylist()) <= set(CLASS_NAMES)
    assert not any(column.null_count for column in table.columns)
    provenance = json.loads(table.schema.metadata[b"motif"])
    assert provenance.pop("player_fingerprint").startswith("sha256:")
    assert provenance == {**asdict(replace(QUICK, games=3)), "games_a_part": 1, "motif": VERSION}


def test_the_stored_values_are_read(folder):
    samples = read_dataset(folder)
    tables = pa.concat_tables(
        [pq.read_table(folder / name) for name in sorted(files(folder)) if name.startswith("part-")]
    )
    assert len(samples) == tables.num_rows == read_manifest(folder).positions
    rows = tables.to_pylist()
    for row, stored in enumerate(rows):
        assert Position(samples.boards[row]) == position_from_gnubg_id(stored["position"])
        assert samples.probabilities[row].tolist() == [stored[name] for name in OUTPUTS]
        assert CLASS_NAMES[samples.position_class[row]] == stored["cls"]
        for name in ("equity", "equity_se", "trials", "game", "ply", "decision", "chosen"):
            assert getattr(samples, name)[row] == stored[name]
    parts = list(read_parts(folder))
    assert len(parts) == 3
    assert np.concatenate([part.boards for part in parts]).tobytes() == samples.boards.tobytes()


def test_the_manifest(folder):
    document = json.loads((folder / "_manifest.json").read_text())
    assert (document["format"], document["complete"]) == ("motif-dataset/1", True)
    assert document["positions"] == len(read_dataset(folder))
    for number, part in enumerate(document["parts"]):
        path = folder / f"part-{number:05d}.parquet"
        assert part == {
            "name": path.name,
            "rows": pq.read_metadata(path).num_rows,
            "sha256": checksum(path),
        }
    manifest = read_manifest(folder)
    assert manifest.settings == document["settings"]
    assert [vars(part) for part in manifest.parts] == document["parts"]
    assert manifest.complete


def test_the_fingerprint_is_that_of_the_content(folder, tmp_path):
    again = made(tmp_path / "again", replace(QUICK, games=3))
    other = made(tmp_path / "other", replace(QUICK, games=3, seed=1))
    assert (
        read_manifest(again).fingerprint
        == read_manifest(folder).fingerprint
        != read_manifest(other).fingerprint
    )
    assert read_manifest(folder).fingerprint.startswith("sha256:")


def refusal(folder) -> str:
    with pytest.raises(DatasetError) as caught:
        read_dataset(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_no_dataset(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: not a dataset (there is no _manifest.json)"
    assert refusal(tmp_path / "none") == f"{tmp_path / 'none'}: not a dataset (there is no _manifest.json)"


def test_an_empty_dataset(tmp_path):
    write_manifest(tmp_path, {}, [], complete=True)
    assert refusal(tmp_path) == f"{tmp_path}: the dataset is empty"


def test_a_missing_part(folder):
    (folder / "part-00001.parquet").unlink()
    assert refusal(folder) == f"{folder / 'part-00001.parquet'}: missing, although the manifest lists it"


@pytest.mark.parametrize("kept", [0, 4, 100, -8, -1])
def test_a_truncated_part(folder, kept):
    path = folder / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:kept])
    assert refusal(folder).startswith(f"{path}: damaged: ")


def test_a_byte_that_was_flipped(folder):
    path = folder / "part-00002.parquet"
    whole = path.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :])
        assert refusal(folder).startswith(f"{path}: damaged: ")
    path.write_bytes(whole)
    assert len(read_dataset(folder)) == read_manifest(folder).positions


def replaced_part(folder, table) -> str:
    """The message about a dataset whose first part is another table, with the manifest adjusted."""
    manifest = read_manifest(folder)
    first, *rest = manifest.parts
    path = folder / first.name
    pq.write_table(table, path)
    parts = [DatasetPart(path.name, first.rows, checksum(path)), *rest]
    write_manifest(folder, manifest.settings, parts, complete=True)
    return refusal(folder).removeprefix(f"{path}: ")


def test_a_part_of_another_shape(folder):
    table = pq.read_table(folder / "part-00000.parquet")
    rows = table.num_rows
    problem = f"damaged: it does not contain {rows} rows of the expected columns"
    assert replaced_part(folder, table.drop_columns(["chosen"])) == problem
    assert replaced_part(folder, table.slice(1)) == problem


def test_a_part_with_an_invalid_position(folder):
    table = pq.read_table(folder / "part-00000.parquet")
    ids = table["position"].to_pylist()
    ids[1] = "AAAAAAAAAAAAA!"
    wrong = table.set_column(0, "position", pa.array(ids))
    assert replaced_part(folder, wrong).startswith("row 1: invalid position 'AAAAAAAAAAAAA!'")


def test_a_part_with_an_unknown_class(folder):
    table = pq.read_table(folder / "part-00000.parquet")
    classes = pa.array(["blitz"] * table.num_rows, SCHEMA.field("cls").type)
    wrong = table.set_column(table.num_columns - 1, "cls", classes)
    assert replaced_part(folder, wrong) == "unknown position class 'blitz'"


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [("equity_se", -0.5, "at least 0"), ("trials", 0, "at least 1"), ("game", -1, "at least 0")],
)
def test_a_part_with_an_impossible_number(folder, name, value, rule):
    table = pq.read_table(folder / "part-00000.parquet")
    place = table.column_names.index(name)
    values = [*table[name].to_pylist()[:1], value, *table[name].to_pylist()[2:]]
    wrong = table.set_column(place, name, pa.array(values, SCHEMA.field(name).type))
    assert replaced_part(folder, wrong) == f"{name} of row 1 is {value}: it must be {rule}"


def test_a_part_whose_metadata_count_too_many_rows(folder, monkeypatch):
    path, rows = folder / "part-00000.parquet", read_manifest(folder).parts[0].rows
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *arguments, **options: iter(()))
    assert refusal(folder) == f"{path}: damaged: it contains 0 rows, not {rows}"


def test_a_part_with_a_missing_value(folder):
    table = pq.read_table(folder / "part-00000.parquet")
    for place, field in enumerate(SCHEMA):
        values = [None, *table[place].to_pylist()[1:]]
        wrong = table.set_column(place, field.name, pa.array(values, field.type))
        assert replaced_part(folder, wrong) == "damaged: a value is missing"


def test_a_part_with_a_column_of_another_type(folder):
    table = pq.read_table(folder / "part-00000.parquet")
    for place, field in enumerate(SCHEMA):
        wrong = table.set_column(place, field.name, pa.nulls(table.num_rows, pa.float64()))
        assert replaced_part(folder, wrong).startswith("damaged: it does not contain ")


def test_a_part_with_a_column_of_columns(folder):
    table = pq.read_table(folder / "part-00000.parquet")
    for name in ("position", "cls", "equity"):
        group = pa.StructArray.from_arrays([table[name].combine_chunks()], ["inner"])
        wrong = table.set_column(table.column_names.index(name), name, group)
        assert replaced_part(folder, wrong).startswith("damaged: it does not contain ")


def full_disk(*arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")


def write_half(table, handle, **options):
    handle.write(b"half a part")
    full_disk()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_while_a_part_is_written(tmp_path, monkeypatch, jobs):
    folder, whole = tmp_path / "samples", made(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", on_call(4, pq.write_table, write_half))
        with pytest.raises(FileError) as caught:
            made(folder, jobs=jobs)
    path = folder / "part-00003.parquet"
    assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    left, complete = files(folder), files(whole)
    assert sorted(left) == ["_manifest.json", *(f"part-{k:05d}.parquet" for k in range(3))]
    assert all(left[name] == complete[name] for name in left if name.startswith("part-"))
    assert not json.loads(left["_manifest.json"])["complete"]
    with pytest.warns(IncompleteDatasetWarning, match="has 3 of 7 parts because the sample was interrupted"):
        assert sorted(set(read_dataset(folder).game.tolist())) <= [0, 1, 2]
    made(folder, resume=True)
    assert files(folder) == complete


def test_a_part_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    columns = {name: np.zeros(0) for name in SCHEMA.names} | {"position": [], "cls": np.zeros(0, np.int8)}
    columns |= {"chosen": np.zeros(0, bool)}
    with monkeypatch.context() as patch:
        patch.setattr(pq, "write_table", write_half)
        with pytest.raises(FileError, match="cannot be written"):
            write_part(tmp_path, 0, columns, {})
    assert files(tmp_path) == {}
