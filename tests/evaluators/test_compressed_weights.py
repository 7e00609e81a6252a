"""Weight files compressed by xz."""

import lzma
import zlib

import pytest

from motif.evaluators import load_static, read_weight_file
from motif.runtime.errors import WeightFileError
from motif.runtime.limits import YAML_UNPACKED
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
        (lambda content: content[:-20], "truncated"),
        (lambda content: content[:40] + bytes(20) + content[60:], "damaged compressed data"),
        (lambda content: content + b"x", "damaged compressed data: bytes follow its end"),
        (lambda content: content + content, "damaged compressed data: bytes follow its end"),
        (lambda content: b"no file of xz's", "must be a mapping|not YAML|document"),
    ],
)
def test_damaged_ones_are_reported_in_one_line(compressed, damage, message):
    compressed.write_bytes(damage(compressed.read_bytes()))
    with pytest.raises(WeightFileError, match=message) as caught:
        read_weight_file(compressed)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("piece", [b"\0", b" ", b"a: [0, 0]\n"])
def test_what_holds_too_much_is_not_unpacked(compressed, piece):
    compressed.write_bytes(lzma.compress(piece * (YAML_UNPACKED.size // len(piece) + 1), preset=0))
    with pytest.raises(WeightFileError, match=r"name\.yaml\.xz: the file holds more than 32 MB unpacked"):
        read_weight_file(compressed)


def test_what_asks_for_too_much_memory_is_not_unpacked(compressed):
    plain = lzma.compress(b"a: 1\n", preset=0)
    # The size of the dictionary is in the block's header, which ends in its own checksum.
    header = bytearray(plain[12 : 12 + 4 * (plain[12] + 1)])
    place = header.index(0x21) + 2
    header[place] = 38
    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    compressed.write_bytes(plain[:12] + header + plain[12 + len(header) :])
    with pytest.raises(WeightFileError, match="damaged compressed data: Memory usage limit exceeded"):
        read_weight_file(compressed)
