"""The manifest: its faults are reported when it is read, and fixed when sampling resumes."""

import json
import os
from dataclasses import replace

import pytest

from motif.runtime.errors import DatasetError, FileError, shown
from motif.sampling.dataset import read_dataset
from motif.sampling.dataset_files import read_manifest
from tests.sampling.folders import QUICK, differences, files, made

SETTINGS = replace(QUICK, games=4)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return made(tmp_path_factory.mktemp("whole") / "samples", SETTINGS)


@pytest.fixture
def folder(whole, tmp_path):
    copy = tmp_path / "samples"
    copy.mkdir()
    for name, content in files(whole).items():
        (copy / name).write_bytes(content)
    return copy


def resumed(folder):
    return made(folder, SETTINGS, resume=True)


def refusal(folder, action=read_dataset) -> str:
    with pytest.raises(DatasetError) as caught:
        action(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


TEXTS = [
    (b"", "not JSON: Expecting value: line 1 column 1 (char 0)"),
    (b"{", "not JSON: Expecting property name"),
    (b"\xff\xfe\xff", "not JSON: "),
    (b"[" * 100_000, "not JSON: maximum recursion depth"),
    (b"[]", "the document: must be an object, not []"),
    (b"null", "the document: must be an object, not None"),
    (b"3", "the document: must be an object, not 3"),
    (b"{}", "format: missing"),
    (b'{"parts": [{"rows": 1, "rows": 2}]}', "not JSON: duplicate key 'rows'"),
    (b'{"format": 1}', "format: must be of type str, not 1"),
]


@pytest.mark.parametrize(("text", "said"), TEXTS)
def test_invalid_manifests(whole, folder, text, said):
    (folder / "_manifest.json").write_bytes(text)
    assert refusal(folder).startswith(f"{folder / '_manifest.json'}: damaged: {said}")
    assert differences(resumed(folder), whole) == []


@pytest.mark.parametrize("kept", [1, 30, 200, 700, -2])
def test_a_truncated_manifest(whole, folder, kept):
    path = folder / "_manifest.json"
    path.write_bytes(path.read_bytes()[:kept])
    assert refusal(folder).startswith(f"{path}: damaged: not JSON: ")
    assert differences(resumed(folder), whole) == []


def change(key, value):
    def changed(document):
        document[key] = value

    return changed


def change_part(key, value):
    def changed(document):
        document["parts"][1][key] = value

    return changed


CHANGES = [
    (change("settings", 7), "settings: must be of type dict, not 7"),
    (change("complete", "no"), "complete: must be of type bool, not 'no'"),
    (change("complete", 1), "complete: must be of type bool, not 1"),
    (change("parts", {}), "parts: must be of type list, not {}"),
    (change("parts", [1]), "parts[0]: must be an object, not 1"),
    (change("parts", [{"name": "part-00000.parquet"}]), "parts[0].rows: missing"),
    (lambda document: document["parts"].append(document["parts"][0]), "parts: a part is listed twice"),
    (lambda document: document.pop("parts"), "parts: missing"),
    (lambda document: document["parts"][1].pop("sha256"), "parts[1].sha256: missing"),
    (change_part("rows", -3), "parts[1].rows: must be 0 to 1000000, not -3"),
    (change_part("rows", 10**9), "parts[1].rows: must be 0 to 1000000, not 1000000000"),
    (change_part("rows", 10**4000), f"parts[1].rows: must be 0 to 1000000, not {shown(10**4000)}"),
    (
        change_part("name", "part-0000\u0661.parquet"),
        "parts[1].name: 'part-0000\u0661.parquet' is not the name of a part",
    ),
    (change_part("rows", "3"), "parts[1].rows: must be of type int, not '3'"),
    (change_part("rows", True), "parts[1].rows: must be of type int, not True"),
    (change_part("rows", 3.0), "parts[1].rows: must be of type int, not 3.0"),
    (change_part("sha256", "abc"), "parts[1].sha256: 'abc' is not a checksum"),
    *(
        (change_part("name", name), f"parts[1].name: {name!r} is not the name of a part")
        for name in ("../part-00000.parquet", "/etc/passwd", "part-0.parquet", "part-00001.parquet\n", "")
    ),
]


@pytest.mark.parametrize(("changed", "said"), CHANGES)
def test_a_manifest_with_wrong_values(whole, folder, changed, said):
    path = folder / "_manifest.json"
    document = json.loads(path.read_text())
    changed(document)
    path.write_text(json.dumps(document))
    assert refusal(folder) == f"{path}: damaged: {said}"
    before = files(folder)
    assert refusal(folder, lambda folder: made(folder, SETTINGS)) == f"{path}: damaged: {said}"
    assert files(folder) == before
    assert differences(resumed(folder), whole) == []


def test_a_later_format_is_left_alone(folder):
    path = folder / "_manifest.json"
    path.write_text('{"format": "motif-dataset/2"}')
    before = files(folder)
    for action in (read_dataset, resumed):
        said = f"{path}: format must be 'motif-dataset/1', not 'motif-dataset/2'"
        assert refusal(folder, action) == said
    assert files(folder) == before


def modified(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("part-*")}


@pytest.mark.parametrize("fault", ["lost", "torn"])
def test_whole_parts_are_kept_without_their_manifest(whole, folder, fault):
    """A damaged and a misplaced part are made again; the two other parts are not touched."""
    manifest, first, torn = (
        folder / name for name in ("_manifest.json", "part-00001.parquet", "part-00002.parquet")
    )
    if fault == "lost":
        manifest.unlink()
    else:
        manifest.write_text("{")
    first.write_bytes((folder / "part-00003.parquet").read_bytes())
    torn.write_bytes(torn.read_bytes()[:-20])
    before = modified(folder)
    resumed(folder)
    after = modified(folder)
    assert {name for name in before if before[name] != after[name]} == {first.name, torn.name}
    assert differences(folder, whole) == []


def test_parts_of_another_dataset_are_not_written_over(folder):
    (folder / "_manifest.json").unlink()
    before = files(folder)
    said = refusal(folder, lambda folder: made(folder, replace(SETTINGS, seed=6), resume=True))
    assert said == f"{folder / 'part-00000.parquet'}: cannot be resumed: made with seed = 5, not 6"
    assert files(folder) == before


def test_a_manifest_with_parts_of_another_dataset(whole, folder):
    path = folder / "_manifest.json"
    document = json.loads(path.read_text())
    document["parts"].append({"name": "part-00009.parquet", "rows": 1, "sha256": "0" * 64})
    path.write_text(json.dumps(document))
    assert refusal(folder).endswith("part-00009.parquet: missing, although the manifest lists it")
    assert differences(resumed(folder), whole) == []
    assert len(read_manifest(folder).parts) == 4


@pytest.mark.parametrize("fault", ["torn", "missing", "emptied", "swapped", "foreign", "flipped"])
def test_only_damaged_parts_are_made_again(whole, folder, tmp_path, fault):
    name = "part-00001.parquet"
    path, content = folder / name, (folder / name).read_bytes()
    damaged = {name}
    if fault == "missing":
        path.unlink()
    elif fault == "swapped":
        other = folder / "part-00002.parquet"
        path.write_bytes(other.read_bytes())
        other.write_bytes(content)
        damaged.add(other.name)
    else:
        foreign = made(tmp_path / "foreign", replace(SETTINGS, seed=9, games=2))
        path.write_bytes(
            {
                "torn": content[: len(content) // 2],
                "emptied": b"",
                "foreign": (foreign / name).read_bytes(),
                "flipped": content[:50] + bytes([content[50] ^ 1]) + content[51:],
            }[fault]
        )
    assert refusal(folder).startswith(f"{path}: {'missing' if fault == 'missing' else 'damaged'}")
    before = modified(folder)
    resumed(folder)
    after = modified(folder)
    assert {part for part in after if before.get(part) != after[part]} == damaged
    assert differences(folder, whole) == []


def test_a_false_number_of_rows_is_mended(whole, folder):
    path = folder / "_manifest.json"
    document = json.loads(path.read_text())
    document["parts"][0]["rows"] += 1
    path.write_text(json.dumps(document))
    assert "rows of the expected columns" in refusal(folder)
    assert differences(resumed(folder), whole) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_part_that_never_ends_is_not_read(folder):
    part = folder / "part-00000.parquet"
    part.unlink()
    os.mkfifo(folder / "pipe")
    part.symlink_to("pipe")
    assert refusal(folder) == f"{part}: not a regular file"
    for lost in (folder / "nothing.json", folder / "_manifest.json"):
        lost.unlink(missing_ok=True)
        with pytest.raises(FileError, match="cannot be written: it is not a regular file"):
            resumed(folder)
