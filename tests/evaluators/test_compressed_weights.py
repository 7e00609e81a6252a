"""Weight files that xz has compressed."""

import lzma

import pytest

from motif.evaluators import load_static, read_weight_file, weight_reader
from motif.runtime.errors import WeightFileError
from tests.evaluators.made_weights import made_weights


@pytest.fixture
def compressed(tmp_path):
    made_weights("keith", pairs=12, seed=1).save(tmp_path / "plain.yaml")
    path = tmp_path / ("long-" * 30 + "name.yaml.xz")
    path.write_bytes(lzma.compress((tmp_path / "plain.yaml").read_bytes()))
    return path


def test_they_hold_the_same(compressed):
    plain = compressed.with_name("plain.yaml")
    assert repr(read_weight_file(compressed)) == repr(read_weight_file(plain))
    one, other = (load_static(str(path)).evaluate("4HPwATDgc/ABMA") for path in (compressed, plain))
    assert one == other


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-20], "cut short"),
        (lambda content: content[:40] + bytes(20) + content[60:], "its compression is damaged"),
        (lambda content: b"no file of xz's", "must be a mapping|not YAML|document"),
    ],
)
def test_damaged_ones_are_told_in_one_line(compressed, damage, message):
    compressed.write_bytes(damage(compressed.read_bytes()))
    with pytest.raises(WeightFileError, match=message) as caught:
        read_weight_file(compressed)
    assert "\n" not in str(caught.value)


def test_what_holds_too_much_is_not_unpacked(compressed, monkeypatch):
    monkeypatch.setattr(weight_reader, "_LARGEST", 100)
    with pytest.raises(WeightFileError, match="holds more than"):
        read_weight_file(compressed)
