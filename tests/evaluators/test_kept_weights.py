"""Weight files cached in a binary form."""

import errno
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from motif.evaluators import read_weight_file, weight_cache, weight_reader
from motif.evaluators.weight_file import WeightFile
from motif.runtime.errors import WeightFileError
from tests.evaluators.made_weights import made_weights


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder, in which files of any size are cached."""
    monkeypatch.setattr(weight_cache, "cache_folder", lambda name: tmp_path / name)
    monkeypatch.setattr(weight_reader, "_LARGE", 0)
    return tmp_path / "weights"


def saved(tmp_path, seed: int, **changes: object):
    weights = made_weights(
        pairs=3, kept=4, filter_units=2, margin=0.5, hidden={"contact": 3, "crashed": 1}, seed=seed
    )
    rows = np.array([[-0.5, 0.25], [0.5, 0.75]], np.float32)
    fields = {**vars(weights), "calibration": {"race": rows}, **changes}
    path = tmp_path / f"made-{seed}.yaml"
    WeightFile(**fields).save(path)
    return path


def lines(weights: WeightFile) -> str:
    return "".join(weights._lines())


def test_a_file_is_the_same_read_and_kept(folder, tmp_path, monkeypatch):
    path = saved(tmp_path, 1)
    first = read_weight_file(path)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(weight_reader, "parse_large_yaml", lambda text: pytest.fail("parsed again"))
    second = read_weight_file(path)
    assert lines(first) == lines(second) == path.read_text()
    assert second.parameters is first.parameters
    for class_name, heads in first.classes.items():
        for head, weights in heads.items():
            kept = second.classes[class_name][head]
            assert list(second.classes[class_name]) == list(heads)
            assert type(kept.bias) is type(weights.bias)
            for name in ("linear", "pairs", "quadratic"):
                one, other = getattr(weights, name), getattr(kept, name)
                assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


@pytest.mark.parametrize("bearoff", [False, True])
def test_a_file_of_linear_heads_alone(folder, tmp_path, bearoff):
    weights = made_weights(classes={"contact": ["win"], "race": ["win"]}, bearoff=bearoff)
    weights.save(tmp_path / "linear.yaml")
    texts = [lines(read_weight_file(tmp_path / "linear.yaml")) for _ in range(2)]
    assert texts == [(tmp_path / "linear.yaml").read_text()] * 2


def test_a_changed_byte_is_read_again(folder, tmp_path):
    path = saved(tmp_path, 2)
    read_weight_file(path)
    path.write_text(path.read_text().replace("name: made-up", "name: made-us"))
    assert read_weight_file(path).name == "made-us"
    path.write_text(path.read_text().replace("sha256:", "sha256:0"))
    with pytest.raises(WeightFileError, match=r"parameters\.fingerprint"):
        read_weight_file(path)
    assert len(list(folder.iterdir())) == 2


def other_facts(arrays: dict[str, np.ndarray], **changes: object) -> dict[str, np.ndarray]:
    facts = {**json.loads(arrays["facts"].tobytes()), **changes}
    return {**arrays, "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8)}


def without(name: str):
    return lambda arrays: {key: array for key, array in arrays.items() if key != name}


def other(name: str, change):
    return lambda arrays: {**arrays, name: change(arrays[name])}


FOREIGN = [
    without("weights/classes/contact/win/quadratic"),
    without("facts"),
    lambda arrays: other_facts(arrays, digest="0" * 64),
    lambda arrays: other_facts(arrays, format="motif-kept-weights/0"),
    lambda arrays: other_facts(arrays, fingerprint="sha256:0"),
    lambda arrays: other_facts(arrays, parameters=["blots"]),
    other("weights/classes/contact/win/pairs", lambda pairs: pairs + np.int16(1000)),
    other("weights/classes/contact/win/pairs", lambda pairs: pairs - np.int16(1000)),
    other("weights/classes/contact/win/pairs", lambda pairs: pairs[:-1]),
    other("weights/classes/contact/win/quadratic", lambda weights: weights[:-1]),
    other("weights/classes/contact/win/linear", lambda weights: weights[:-1]),
    other("weights/classes/contact/win/linear", lambda weights: np.array([{"an": "object"}], object)),
    other("weights/hidden_layers/contact/bias", lambda bias: bias[:-1]),
    other("weights/hidden_layers/contact/points", lambda points: points[:, :1]),
    other("weights/move_filter/steps/contact", lambda steps: steps[:, 1:]),
    other("weights/move_filter/units/contact/bias", lambda bias: bias[1:]),
    other("weights/move_filter/units/contact/points", lambda points: points[1:]),
    other("weights/calibration/race", lambda knots: knots.ravel()),
]


@pytest.mark.parametrize("change", FOREIGN)
def test_a_foreign_file_is_made_again(folder, tmp_path, change):
    path = saved(tmp_path, 3)
    expected = lines(read_weight_file(path))
    (kept,) = folder.iterdir()
    content = kept.read_bytes()
    with np.load(kept) as arrays:
        changed = change(dict(arrays))
    np.savez(kept, **changed)
    assert kept.read_bytes() != content
    assert lines(read_weight_file(path)) == expected
    assert kept.read_bytes() == content


@pytest.mark.parametrize("damage", [b"", b"no arrays", b"\x80\x05cnothing\nhere\n.", None])
def test_a_damaged_file_is_made_again(folder, tmp_path, damage):
    path = saved(tmp_path, 4)
    expected = lines(read_weight_file(path))
    (kept,) = folder.iterdir()
    content = kept.read_bytes()
    kept.write_bytes(content[: len(content) // 2] if damage is None else damage)
    assert lines(read_weight_file(path)) == expected
    assert kept.read_bytes() == content


def test_few_are_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(weight_cache, "_MAX_KEPT_FILES", 2)
    for seed in range(4):
        read_weight_file(saved(tmp_path, seed))
    assert len(list(folder.iterdir())) == 2


def test_small_files_are_not_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(weight_reader, "_LARGE", 1 << 18)
    read_weight_file(saved(tmp_path, 5))
    assert not folder.exists()


def test_what_json_cannot_hold_is_not_kept(folder, tmp_path):
    path = saved(tmp_path, 6, fit={3: "a number for a key"})
    assert [read_weight_file(path).fit for _ in range(2)] == [{3: "a number for a key"}] * 2
    assert not folder.exists()


def test_faults_are_reported_and_not_kept(folder, tmp_path):
    path = saved(tmp_path, 7)
    path.write_text(path.read_text() + "\n]")
    with pytest.raises(WeightFileError):
        read_weight_file(path)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_no_error(folder, tmp_path):
    folder.write_text("a file")
    assert read_weight_file(saved(tmp_path, 8)).name == "made-up"


def test_a_folder_that_is_read_only_now_is_read(folder, tmp_path, monkeypatch):
    path = saved(tmp_path, 8)
    first = read_weight_file(path)

    def refuse(path: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "touch", refuse)
    monkeypatch.setattr(weight_reader, "parse_large_yaml", lambda text: pytest.fail("parsed again"))
    assert lines(read_weight_file(path)) == lines(first)


def test_what_is_kept_is_named_by_the_digest(folder, tmp_path):
    path = saved(tmp_path, 9)
    read_weight_file(path)
    assert [kept.stem for kept in folder.iterdir()] == [hashlib.sha256(path.read_bytes()).hexdigest()]
